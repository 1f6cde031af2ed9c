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


def test_loops_of_all_kinds():
    """With one or two carries, inputs or the step's number, lengths 0 to 3 and symbols."""
    loops = []

    @given(testing.programs(kinds=["loops"], max_steps=2))
    @settings(CONFIG, max_examples=60)
    def drawn(made):
        loops.extend(step.parameters[0] for step in made.steps)
        value = evaluate(made.result, dict(zip(made.tensors, made.arrays(), strict=True)))
        assert_close(value, made.run(testing.NUMPY, made.arrays())[-1], 1e-9)

    drawn()
    assert {loop.carries for loop in loops} == {1, 2}
    assert {loop.inputs for loop in loops} == {0, 1, 2}
    assert {loop.length for loop in loops if not loop.inputs} == {0, 1, 2, 3, None}
    assert {loop.reverse for loop in loops} == {False, True}
    assert {loop.checkpoint for loop in loops} == {None, "sqrt"}
    assert {loop.result for loop in loops} == {None, 0, 1}
