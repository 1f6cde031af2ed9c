"""Helper functions that reduce axes, against NumPy's and SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from runtime_helpers import helper, raw
from scipy import special

RANDOM = np.random.default_rng(1)
ARRAYS = {
    "ordinary": RANDOM.standard_normal((3, 4)),
    "one entry": np.array([[2.5]]),
    "ties": np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 2.0]]),
    "far apart": np.array([[0.0, -800.0, -900.0], [1000.0, 999.0, 0.0]]),
    "infinite": np.array([[-np.inf, 0.0, 1.0], [-np.inf, -np.inf, -np.inf], [np.inf, 1.0, 2.0]]),
    "many short rows": RANDOM.standard_normal((500, 3)),
    "no rows": np.empty((0, 3)),
}
EACH = pytest.mark.parametrize("x", ARRAYS.values(), ids=ARRAYS)


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


@EACH
@pytest.mark.parametrize("axis", [(1,), (0, 1)])
def test_finite_maxima(x, axis):
    top = x.max(axis, keepdims=True, initial=-np.inf)
    top[~np.isfinite(top)] = 0
    names = ("array_helpers.max_shift", "numpy_reductions.max_shift", "torch_helpers.max_shift")
    for name in (*names, "cupy_helpers.max_shift", "expression_helpers.max_shift"):
        if x.size or axis == (1,):
            assert_array_equal(helper(name)(x, axis=axis), top)
    for name in (*names[:2], "cupy_helpers.max_shift", "expression_helpers.max_shift"):
        assert helper(name)(x[:, :0], axis=1).tolist() == [[0.0]] * len(x)


@EACH
@pytest.mark.parametrize("axis", [(1,), (0, 1)])
def test_logarithms_of_sums_of_exponentials(x, axis):
    expected = special.logsumexp(x, axis=axis) if x.size else np.full(x.sum(axis).shape, -np.inf)
    names = ("array_helpers.logsumexp", "numpy_reductions.logsumexp")
    for name in (*names, "expression_helpers.logsumexp"):
        assert_allclose(helper(name)(x, axis), expected, rtol=1e-14)


@EACH
def test_shares_of_exponentials(x):
    expected = special.softmax(x, axis=1) if x.size else x
    names = (
        *("array_helpers.softmax", "numpy_reductions.softmax", "torch_helpers.softmax"),
        *("cupy_helpers.softmax", "expression_helpers.softmax"),
    )
    for name in names:
        assert_allclose(helper(name)(x, (1,)), expected, rtol=1e-13)
    if x.size:
        for name in names:
            assert_allclose(helper(name)(x, (0, 1)), special.softmax(x), rtol=1e-13)


@pytest.mark.parametrize(
    "weights",
    [
        np.array([[1.0, 0.5, 0.25]]),
        np.array([[1.0, 1.0, 1.0]]),
        np.array([[1.0, 1e-20, 1e-30], [1.0, 1e-3, 0.0]]),
        np.array([[1.0]]),
    ],
)
@pytest.mark.parametrize(
    "name",
    ["array_helpers.log_total", "numpy_reductions.log_total", "cupy_helpers.log_total"],
)
def test_logarithms_of_sums_of_weights(name, weights):
    """Exactly, where the sum is 1 after rounding; an expression rounds it."""
    expected = np.log1p(np.sort(weights, 1)[:, :-1].sum(1))
    assert_allclose(helper(name)(weights, weights.sum(1), axis=1), expected, rtol=1e-15)
    found = helper("expression_helpers.log_total")(weights, None, axis=1)
    assert_allclose(found, expected, atol=1e-15)


def test_kernels_of_reductions_in_cupy():
    x = np.array([1.0, -2.0, np.inf, np.nan])
    assert_array_equal(helper("cupy_helpers.finite")(x), [1, -2, 0, 0])
    assert_array_equal(helper("cupy_helpers.below_one")(np.array([1, 0.5, 1e-30])), [0, 0.5, 1e-30])
    assert helper("cupy_helpers.log1p_with_ones")(1e-20, 1.0) == 1e-20
    assert helper("cupy_helpers.log1p_with_ones")(0.25, 3.25) == np.log(3.25)
    y = np.arange(6.0).reshape(2, 3)
    assert helper("cupy_helpers.sum_of_squares")(y) == 55
    inner = helper("cupy_helpers.inner")
    assert inner(y, y) == inner(y, y.copy()) == inner(y[::-1], y[::-1]) == 55
    assert_allclose(helper("cupy_helpers.shifted_exp")(x[:2], 1.0), np.exp([0, -3]))


@EACH
def test_tie_averaged_subgradients(x):
    names = (
        *("array_helpers.share", "numpy_reductions.share", "torch_helpers.share"),
        "expression_helpers.share",
    )
    for axis in (1, (0, 1)):
        top = x.max(axis, keepdims=True, initial=-np.inf)
        hits = (x == top).astype(float)
        for name in names:
            found = helper(name)(x, top, (axis,) if axis == 1 else axis)
            assert_array_equal(found, hits / hits.sum(axis, keepdims=True))
    mixed = np.array([[1.0, np.nan], [2.0, 2.0]])
    for name in names:
        found = helper(name)(mixed, mixed.max(1, keepdims=True), (1,))
        assert_array_equal(found, [[np.nan, np.nan], [0.5, 0.5]])


def test_shares_along_short_axes_of_large_arrays():
    x = RANDOM.integers(0, 2, (4, 500, 3)).astype(float)
    hits = (x == x.max(0, keepdims=True)).astype(float)
    found = helper("numpy_reductions.share")(x, x.max(0, keepdims=True), 0)
    assert_array_equal(found, hits / hits.sum(0))


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("shape", [(3, 4), (600, 2), (0, 4), (4, 0), (500, 1)])
def test_sums_over_the_last_axis(shape, keepdims):
    x = RANDOM.standard_normal(shape) + 1j * RANDOM.standard_normal(shape)
    for array in (x, x.real.copy(), x.real.astype(int)):
        for axis in (0, 1, None):
            found = helper("numpy_reductions.sums")(array, axis, keepdims)
            assert_allclose(found, array.sum(axis, keepdims=keepdims), atol=1e-13)
            assert found.dtype == array.sum(axis).dtype
        assert_array_equal(helper("expression_helpers.sums")(array, 1), array.sum(1))


@EACH
def test_largest_entries(x):
    found = helper("numpy_reductions.largest")(x, 1)
    assert_array_equal(found, x.max(1, keepdims=True, initial=-np.inf))
    if x.size:
        x = x.copy()
        x[0, 0] = np.nan
        assert_array_equal(helper("numpy_reductions.largest")(x, 1), x.max(1, keepdims=True))


def test_steps_of_reductions_that_may_be_reordered():
    add, larger = raw("numba_compiling.add"), raw("numba_compiling.larger")
    assert add(2.0, 3.0) == 5
    assert add(np.inf, -1.0) == np.inf
    assert larger(2.0, 3.0) == larger(3.0, 2.0) == larger(3.0, 3.0) == 3
    assert larger(-np.inf, -1.0) == -1
