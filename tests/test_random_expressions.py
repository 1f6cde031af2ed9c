"""Random programs of the whole language: values and derivatives against JAX and NumPy, in both
modes, on every backend, for lengths that no plan was made for."""

import contextlib

import numpy as np
import pytest
from differential import KINDS, NoReferenceError, backends_for, check
from hypothesis import given, settings
from oracles import assert_close, assert_plain, evaluate
from random_settings import CONFIG

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum import testing

# What one function computes for lengths of all kinds, 1 among them.
OF_ANY_LENGTH = (
    *("functions", "pairs", "products", "reductions", "axes", "matrices", "running", "loops"),
)


def data_of(made):
    return dict(zip(made.tensors, made.arrays(), strict=True))


@pytest.mark.slow
def test_derivatives_agree_with_jax():
    numbers = iter(range(1, 1000))

    @given(testing.programs())
    @settings(CONFIG, max_examples=30)
    def every(made):
        found = check(made, set(backends_for(next(numbers))) - {"numba"})
        reasons = {reason for reason in found.values() if "'dask' has no loops" not in reason}
        assert reasons <= {""}, reasons

    every()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "derivatives"])
def test_other_kinds(kind):
    """At ties, of integers, for small lengths, of order three, with SymPy's scalars; and texts."""
    programs, act = KINDS[kind]

    @given(programs)
    @settings(CONFIG, max_examples=2)
    def few(made):
        with contextlib.suppress(NoReferenceError):
            assert not any(act(made, 1).values())

    few()


@pytest.mark.slow
@given(testing.programs(max_steps=10))
@settings(CONFIG, max_examples=150)
def test_values_agree_with_numpy(made):
    expected = made.run(testing.NUMPY, made.arrays())
    for found, reference in zip(evaluate(made.values, data_of(made)), expected, strict=True):
        assert_close(found, reference, 1e-9)


@pytest.mark.slow
@given(testing.programs())
@settings(CONFIG, max_examples=80)
def test_the_order_of_building_and_the_mode_dont_matter(made):
    """One program gives the same objects twice; derivatives contain nothing unevaluated."""
    again = made.run(testing.SYMBOLS, made.tensors)
    assert all(a == b and hash(a) == hash(b) for a, b in zip(made.values, again, strict=True))
    modes = [
        se.jacobian(made.result, made.tensors[1], mode=mode, simplify=simplify)
        for mode in ("forward", "reverse")
        for simplify in (False, True)
    ]
    for derivative in modes:
        assert_plain(derivative)
    first, *others = evaluate(modes, data_of(made))
    for other in others:
        assert_close(other, first, 1e-9)


@pytest.mark.slow
@given(testing.programs(max_order=1))
@settings(CONFIG, max_examples=60)
def test_products_with_derivatives(made):
    """jvp, vjp and hvp are products with the Jacobian and the Hessian."""
    x, last = made.tensors[0], made.result
    total = snp.mean(last)
    shape = getattr(last, "shape", ())
    v, u = se.TensorSymbol("v", x.shape), se.TensorSymbol("u", shape)
    rng = np.random.default_rng(1)
    data = data_of(made)
    exprs = [se.jacobian(last, x), se.hessian(total, x), last]
    jacobian, hessian, value = evaluate(exprs, data)
    data |= {v: rng.standard_normal(np.shape(data[x])), u: rng.standard_normal(np.shape(value))}
    operators = [se.jvp(last, x, v), se.vjp(last, x, u), se.hvp(total, x, v)]
    jvp, vjp, hvp = evaluate(operators, data)
    assert_close(jvp, np.tensordot(jacobian, data[v], x.order), 1e-9)
    assert_close(vjp, np.tensordot(data[u], jacobian, np.ndim(value)), 1e-9)
    assert_close(hvp, np.tensordot(hessian, data[v], x.order), 1e-9)


@given(testing.programs(max_order=1))
@settings(CONFIG, max_examples=60)
def test_mixed_derivatives_are_symmetric(made):
    """d2f/dx da is the transpose of d2f/da dx."""
    x, a = made.tensors[:2]
    f = snp.mean(made.result)
    one, other = evaluate([se.diff(f, x, a), se.diff(f, a, x)], data_of(made))
    assert_close(np.moveaxis(one, range(x.order), range(-x.order, 0)), other, 1e-8)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("lengths", [(1, 2, 3), (2, 1, 2), (4, 4, 4), (3, 0, 2)], ids=str)
@given(testing.programs(kinds=OF_ANY_LENGTH, numbers=False))
@settings(CONFIG, max_examples=40)
def test_one_function_serves_all_lengths(lengths, made):
    """Values and both modes at lengths that are equal, 1 or 0, for which no plan was made."""
    arrays = made.arrays(lengths=dict(zip(made.lengths, lengths, strict=True)))
    try:
        values = made.run(testing.NUMPY, arrays)
    except (IndexError, ValueError):  # the largest entry of nothing
        return
    # The mean of nothing: its factor 1/n is one of the whole product, also of an empty sum.
    if not all(np.all(np.isfinite(value)) for value in values):
        return
    expected = values[-1]
    modes = [se.diff(made.result, made.tensors[0], mode=mode) for mode in ("forward", "reverse")]
    value, forward, reverse = se.lambdify(made.tensors, [made.result, *modes])(*arrays)
    assert_close(value, expected, 1e-9)
    assert np.shape(forward) == np.shape(expected) + arrays[0].shape
    if np.all(np.isfinite(reverse)):
        assert_close(forward, reverse, 1e-9)
