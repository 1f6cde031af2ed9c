"""Helper functions that run along an axis, against loops and NumPy's functions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from runtime_helpers import helper, raw

DIRECTIONS = pytest.mark.parametrize("backwards", [False, True])
RANDOM = np.random.default_rng(0)


def recurrence(x, b, backwards):
    if backwards:
        return recurrence(x[..., ::-1], b[..., ::-1], False)[..., ::-1]
    y = b.copy()
    for j in range(1, b.shape[-1]):
        y[..., j] += x[..., j - 1] * y[..., j - 1]
    return y


@DIRECTIONS
@pytest.mark.parametrize("n", [1, 2, 6])
@pytest.mark.parametrize(
    "name",
    [
        "array_helpers.recurrence",
        "numpy_running.recurrence",
        "expression_helpers.recurrence",
        "jax_helpers.recurrence",
        "numba_arrays.recurrence",
    ],
)
def test_recurrences(name, n, backwards):
    """... also where running products vanish."""
    x, b = RANDOM.standard_normal((3, n - 1)), RANDOM.standard_normal((3, n))
    x[1:2, n // 2 :] = 0
    x[2:] *= 1e-100
    assert_allclose(helper(name)(x, b, backwards), recurrence(x, b, backwards), rtol=1e-12)
    # One row of factors serves all.
    assert_allclose(helper(name)(x[:1], b, backwards), recurrence(x[:1], b, backwards), rtol=1e-12)
    for one, other in ((x[:1], b[:0]), (x[:0], b[:1])):
        assert helper(name)(one, other, backwards).shape == (0, n)


@DIRECTIONS
@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize(
    "name",
    [
        "array_helpers.running_products",
        "numpy_running.running_products",
        "expression_helpers.running_products",
        "numba_arrays.running_products",
    ],
)
def test_running_products(name, n, backwards):
    x = RANDOM.standard_normal((2, n)) + 1j * RANDOM.standard_normal((2, n))
    ones = np.ones((2, 1))
    expected = np.cumprod(np.concatenate([ones, x], -1), -1)
    if backwards:
        expected = np.cumprod(np.concatenate([ones, x[:, ::-1]], -1), -1)[:, ::-1]
    assert_allclose(helper(name)(x, backwards), expected)


ROWS = {
    "ordinary": RANDOM.standard_normal((2, 5)),
    "one entry": np.array([[2.0], [-3.0]]),
    "far apart": np.array([[-800.0, 0.0, -900.0], [1.0, 2.0, 3.0]]),
    "infinite": np.array([[-np.inf, 0.0, 1.0], [0.0, -np.inf, 2.0]]),
}


@pytest.mark.parametrize("x", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize(
    ("weights", "logs", "mean"),
    [
        (
            "array_helpers.running_weights",
            "array_helpers.logcumsumexp",
            "array_helpers.running_mean",
        ),
        (
            "numpy_running.running_weights",
            "numpy_running.logcumsumexp",
            "numpy_running.running_mean",
        ),
        (
            "expression_helpers.running_weights",
            "expression_helpers.logcumsumexp",
            "expression_helpers.running_mean",
        ),
        ("numba_arrays.running_weights", "numba_arrays.logcumsumexp", "numba_arrays.running_mean"),
        ("jax_helpers.running_weights", "array_helpers.logcumsumexp", "jax_helpers.running_mean"),
        (
            "torch_helpers.running_weights",
            "array_helpers.logcumsumexp",
            "array_helpers.running_mean",
        ),
    ],
)
def test_running_sums_of_exponentials(weights, logs, mean, x):
    with np.errstate(divide="ignore"):
        found = helper(weights)(x)
        y = np.logaddexp.accumulate(x, -1)
        assert_allclose(helper(logs)(found), y, rtol=1e-14)
        c = np.arange(1.0, x.size + 1).reshape(x.shape)
        finite = np.where(y == -np.inf, 0, y)
        # At [i, j] the weight of entry i in the mean up to j.
        weight = np.exp(np.where(np.tri(x.shape[1]).T, x[:, :, None] - finite[:, None], -np.inf))
        assert_allclose(helper(mean)(found, c, False), np.einsum("rij,ri->rj", weight, c))
        assert_allclose(helper(mean)(found, c, True), np.einsum("rij,rj->ri", weight, c))


def lagged(x, backwards, lag, count):
    n = x.shape[1]
    rows = [
        x[:, max(j + lag, 0) :] if backwards else x[:, : min(max(j - lag + 1, 0), n)]
        for j in range(count)
    ]
    return np.stack([own.sum(1) for own in rows], 1)


@DIRECTIONS
@pytest.mark.parametrize(("lag", "count"), [(0, 4), (1, 4), (-2, 6), (7, 2), (2, 1)])
@pytest.mark.parametrize("n", [1, 4])
def test_lagged_sums(n, lag, count, backwards):
    x = RANDOM.standard_normal((2, n, 3))
    expected = lagged(x, backwards, lag, count)
    names = ("array_helpers.lagged_cumsum", "torch_helpers.lagged_cumsum")
    for name in (*names, "expression_helpers.lagged_cumsum"):
        assert_allclose(helper(name)(x, 1, backwards, lag, count), expected, atol=1e-14)
    found = helper("numba_arrays.lagged_cumsum")(x, backwards, lag, count)
    assert_allclose(found, expected, atol=1e-14)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_running_functions_of_numba(n):
    x = RANDOM.integers(-2, 3, (2, n, 3)).astype(float)
    assert_array_equal(helper("numba_arrays.cumsum")(x, False), x.cumsum(1))
    assert_array_equal(helper("numba_arrays.cumsum")(x, True), x[:, ::-1].cumsum(1)[:, ::-1])
    assert_array_equal(helper("numba_arrays.cumprod")(x[:, :, 0]), x[:, :, 0].cumprod(1))
    if n > 2:
        x[0, 2, 1] = np.nan
    assert_array_equal(helper("numba_arrays.cummax")(x), np.maximum.accumulate(x, 1))
    assert_array_equal(helper("numba_arrays.cummin")(x), np.minimum.accumulate(x, 1))
    first = raw("numba_arrays.running_choices")(lambda before, own: before)
    assert_array_equal(first(x), np.broadcast_to(x[:, :1], x.shape) if n else x)
    assert_array_equal(helper("numba_arrays.sort")(x), np.sort(x, 1))
    assert_array_equal(helper("numba_arrays.argsort")(x), np.argsort(x, 1, kind="stable"))


@pytest.mark.parametrize("n", [1, 5])
def test_positions_of_extrema(n):
    """The first one of equal entries, or of those that are no numbers."""
    x = RANDOM.integers(0, 2, (2, n, 3)).astype(float)
    x[1, n // 2, 2] = np.nan
    assert_array_equal(helper("numba_arrays.argmax")(x), x.argmax(1, keepdims=True))
    assert_array_equal(helper("numba_arrays.argmin")(x), x.argmin(1, keepdims=True))
    for name in ("numba_arrays.argmax", "numba_arrays.argmin"):
        with pytest.raises(ValueError, match="no entries"):
            helper(name)(x[:, :0])


@pytest.mark.parametrize("n", [1, 6])
def test_positions_of_running_extrema(n):
    """The last one of equal entries so far."""
    x = RANDOM.integers(0, 3, (2, n, 3)).astype(float)
    best = np.maximum.accumulate(x, 1)
    expected = np.zeros(x.shape, int)
    for j in range(n):
        for i, k in np.ndindex(2, 3):
            expected[i, j, k] = np.flatnonzero(x[i, : j + 1, k] == best[i, j, k])[-1]
    names = ("array_helpers.last_equal", "cupy_helpers.last_equal")
    for name in (*names, "expression_helpers.last_equal"):
        assert_array_equal(helper(name)(x, best, 1), expected)
    assert_array_equal(helper("numba_arrays.last_equal")(x, best), expected)
    assert_array_equal(helper("numba_arrays.argcummax")(x), expected)
    assert_array_equal(helper("numba_arrays.argcummin")(-x), expected)
    accumulated = helper("cupy_helpers.running")(np.maximum, x, axis=1)
    assert_array_equal(accumulated, best)


@pytest.mark.parametrize(
    "name", ["array_helpers.mirrored", "torch_helpers.mirrored", "expression_helpers.mirrored"]
)
@pytest.mark.parametrize("n", [0, 1, 4])
def test_entries_at_the_larger_of_two_positions(name, n):
    x = RANDOM.standard_normal((2, n))
    i, j = np.indices((n, n))
    assert_array_equal(helper(name)(x, True), x[:, np.maximum(i, j)])
    assert_array_equal(helper(name)(x, False), x[:, np.minimum(i, j)])


def test_entries_that_are_not_finite_become_zeros():
    x = np.array([1.0, np.nan, -np.inf, np.inf, 0.0])
    helper("numba_arrays.make_finite")(x)
    assert_array_equal(x, [1, 0, 0, 0, 0])


def test_running_sums_of_exponentials_of_integers():
    x = np.array([[0, 3, -2], [1, 1, 900]])
    weights = helper("numpy_running.running_weights")(x)
    found = helper("numpy_running.logcumsumexp")(weights)
    assert_allclose(found, np.logaddexp.accumulate(x + 0.0, -1))
