"""Strategies: every operation is drawn, with the requested shapes, and users' operations."""

import numpy as np
import pytest
from hypothesis import find, given, settings
from oracles import assert_close, evaluate, k, m
from random_settings import CONFIG

import sympy_einsum as se
from sympy_einsum import testing


@pytest.mark.parametrize("name", testing.OPERATIONS)
def test_every_operation_is_drawn(name):
    """With NumPy's value."""
    own = testing.OPERATIONS[name]
    given_ = [se.TensorSymbol("A", (3, 3)), se.TensorSymbol("x", 3)]

    @given(testing.programs(given=given_, operations={name: own}, kinds=[own.kind], max_steps=1))
    @settings(CONFIG, max_examples=3)
    def drawn(made):
        assert [step.name for step in made.steps] == [name]
        value = evaluate(made.result, dict(zip(made.tensors, made.arrays(), strict=True)))
        assert_close(value, made.run(testing.NUMPY, made.arrays())[-1], 1e-9)

    drawn()


@pytest.mark.parametrize("shape", [(), (m,), (2, 3), (k, m, 2)], ids=str)
def test_shapes_that_are_asked_for(shape):
    @given(testing.programs(shape, lengths={m: 4, k: 2}))
    @settings(CONFIG, max_examples=15)
    def fits(made):
        assert getattr(made.result, "shape", ()) == shape
        value = evaluate(made.result, dict(zip(made.tensors, made.arrays(), strict=True)))
        assert_close(value, made.run(testing.NUMPY, made.arrays())[-1], 1e-9)

    fits()


def test_operations_of_ones_own():
    """An error in one is found."""
    wrong = testing.Operation(
        "own", lambda xp, v: se.cosh(v) if xp is testing.SYMBOLS else np.sinh(v), testing.one
    )

    @given(testing.programs(operations={"wrong": wrong}, kinds=["own"]))
    @settings(CONFIG, max_examples=3)
    def compared(made):
        value = evaluate(made.result, dict(zip(made.tensors, made.arrays(), strict=True)))
        assert_close(value, made.run(testing.NUMPY, made.arrays())[-1], 1e-9)

    with pytest.raises(AssertionError, match="differs"):
        compared()


def test_a_program_shows_its_steps():
    x = se.TensorSymbol("x", (m,))
    made = find(testing.programs(given=[x], kinds=["reductions"]), lambda made: made.steps)
    first, *steps = str(made).splitlines()
    assert "x: (m,)" in first
    assert steps[0].strip().startswith("v1 = ")


@given(testing.derivatives(max_steps=3))
@settings(CONFIG, max_examples=10)
def test_derivatives(made):
    y, x, derivative = made
    assert getattr(derivative, "shape", ()) == getattr(y, "shape", ()) + x.shape


@given(testing.tensors(lengths=[2, m]))
@settings(CONFIG, max_examples=10)
def test_tensors(x):
    assert x.name == "x"
    assert {*x.shape} <= {2, m}
