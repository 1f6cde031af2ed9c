"""Sums of many terms: compiled as accumulation in place, with common factors outside."""

import importlib.util
import tracemalloc

import numpy as np
import pytest
from oracles import m, n
from sympy import Symbol, cos

import sympy_einsum as se

MANY = 10_000
t = Symbol("t", real=True)
x = se.TensorSymbol("x", (n,))
X = se.TensorSymbol("X", (m, n))
vectors = [se.TensorSymbol(f"v{j}", (n,)) for j in range(MANY)]
rng = np.random.default_rng(7)
DATA = rng.standard_normal((MANY, 3))
POINT = np.array([0.3, -0.7, 1.1])


def statements(function):
    return [line.partition("  #")[0].strip() for line in function.source.splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("term", "value", "factor"),
    [
        (lambda v: v, lambda s: s, None),
        (lambda v: t * v, lambda s: 0.6 * s, "t * t1"),
        (lambda v: -3 * cos(t) * v, lambda s: -3 * np.cos(0.6) * s, "np.cos(t) * t1"),
        (lambda v: x * v, lambda s: POINT * s, "x * t1"),
    ],
)
def test_many_terms(term, value, factor):
    count = MANY if factor is None else 1000
    total = sum((term(v) for v in vectors[1:count]), term(vectors[0]))
    function = se.lambdify([t, x, *vectors[:count]], total)
    expected = value(DATA[:count].sum(0))
    np.testing.assert_allclose(function(0.6, POINT, *DATA[:count]), expected, rtol=1e-10)
    lines = statements(function)
    assert sum("out=" in line for line in lines) > count - 20
    if factor is not None:
        assert sum(" * " in line for line in lines) <= 2
        assert any(factor in line for line in lines)


BACKENDS = ["numpy", *[name for name in ("jax", "torch", "dask") if importlib.util.find_spec(name)]]
FEW = 90


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("factor", [1, t, x])
def test_the_libraries_agree(backend, factor):
    """Terms of several kinds: signs, functions, constants, broadcast and diagonal ones."""
    Y = se.TensorSymbol("Y", (n, n))
    few = vectors[:FEW]
    terms = [
        (-1) ** j * se.sin(factor * v)[:, None] * (Y if j % 7 else 1) for j, v in enumerate(few)
    ]
    total = sum(terms[1:], terms[0]) + se.einsum("i->ii", x) + 2
    values = rng.standard_normal((3, 3))
    result = se.lambdify([t, x, Y, *few], total, backend=backend)(
        *[_array(value, backend) for value in (0.6, POINT, values, *DATA[:FEW])]
    )
    number = {1: 1, t: 0.6, x: POINT}[factor]
    expected = 2 + np.diag(POINT)
    for j, v in enumerate(DATA[:FEW]):
        expected = expected + (-1) ** j * np.sin(number * v)[:, None] * (values if j % 7 else 1)
    tolerance = 1e-4 if backend == "jax" else 1e-10
    np.testing.assert_allclose(np.asarray(result), expected, rtol=tolerance, atol=tolerance)


def _array(value, backend):
    if not np.ndim(value):
        return value
    if backend == "torch":
        import torch

        return torch.tensor(value)
    if backend == "dask":
        import dask.array

        return dask.array.from_array(value)
    return value


def test_no_term_outlives_the_next():
    total = sum(se.exp(k * se.sin(X) + k) for k in range(1, 80))
    function = se.lambdify(X, total)
    value = rng.standard_normal((300, 200))
    expected = sum(np.exp(k * np.sin(value) + k) for k in range(1, 80))
    np.testing.assert_allclose(function(value), expected, rtol=1e-10)
    tracemalloc.start()
    try:
        function(value)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * value.nbytes


def test_shared_values_are_computed_once():
    terms = [se.exp(v) for v in vectors[:40]]
    function = se.lambdify(vectors[:40], [sum(terms[1:], terms[0]), terms[3] * 2, terms[5].sum()])
    values = np.exp(DATA[:40])
    total, third, fifth = function(*DATA[:40])
    np.testing.assert_allclose(total, values.sum(0))
    np.testing.assert_allclose(third, 2 * values[3])
    np.testing.assert_allclose(fifth, values[5].sum())
    assert function.source.count("np.exp") == 40


def test_a_sum_with_a_diagonal_leaves_the_same_sum_without_it_alone():
    matrices = [se.TensorSymbol(f"M{j}", (n, n)) for j in range(30)]
    total = sum(matrices[1:], matrices[0])
    values = rng.standard_normal((30, 3, 3))
    function = se.lambdify([x, *matrices], [total + se.einsum("i->ii", x), total.T @ x, total])
    first, second, third = function(POINT, *values)
    np.testing.assert_allclose(third, values.sum(0))
    np.testing.assert_allclose(second, values.sum(0).T @ POINT)
    np.testing.assert_allclose(first, values.sum(0) + np.diag(POINT))


@pytest.mark.parametrize("kinds", [(int, float), (np.float32, np.float64), (np.float32,), (int,)])
def test_types_are_promoted_as_in_a_plain_sum(kinds):
    few = vectors[:60]
    function = se.lambdify(few, sum(few[1:], few[0]))
    values = [np.arange(3).astype(kinds[j % len(kinds)]) for j in range(60)]
    before = [value.copy() for value in values]
    result = function(*values)
    assert result.dtype == sum(values[1:], values[0]).dtype
    np.testing.assert_allclose(result, 60 * np.arange(3))
    for value, kept in zip(values, before, strict=True):
        np.testing.assert_array_equal(value, kept)


def test_a_short_sum_is_one_expression():
    few = vectors[:5]
    function = se.lambdify(few, sum(few[1:], few[0]))
    assert " v0 + v1 + v2 + v3 + v4 " in function.source


def test_long_sums_inside_terms_of_long_sums():
    """Hundreds of levels, each needed by one term of the next only."""
    few, e, expected = vectors[:20], x, POINT
    for _ in range(200):
        e = sum(few, se.cos(e))
        expected = DATA[:20].sum(0) + np.cos(expected)
    np.testing.assert_allclose(se.lambdify([x, *few], e)(POINT, *DATA[:20]), expected)
