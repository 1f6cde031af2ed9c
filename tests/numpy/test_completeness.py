"""Every name of NumPy's is supported, or refused with a reason."""

import importlib
import pickle
import re
import warnings

import numpy as np
import pytest
from sympy import Symbol

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.numpy._refused import _BY_NAME, refusal

x = se.TensorSymbol("x", 3)
A = se.TensorSymbol("A", 3, 3)
PUBLIC = [name for name in dir(np) if not name.startswith("_")]
CALLABLE = [name for name in PUBLIC if callable(getattr(np, name))]
# What NumPy asks us for; the rest of what is refused wants to read an array, or none.
OF_ONE = [
    *("argwhere", "flatnonzero", "nonzero", "trim_zeros", "unique", "unique_all", "unique_counts"),
    *("unique_inverse", "unique_values", "histogram", "histogram_bin_edges"),
    *("histogramdd", "empty_like", "bitwise_count", "packbits", "unpackbits", "frexp", "spacing"),
    *("diag_indices_from", "ix_", "tril_indices_from", "triu_indices_from", "sort_complex"),
    *("common_type", "min_scalar_type", "result_type", "array2string", "array_repr", "array_str"),
    *(
        "datetime_as_string",
        "is_busday",
        "isnat",
    ),
]
OF_TWO = [
    *("histogram2d", "isin", "array_equiv", "intersect1d", "setdiff1d", "setxor1d", "union1d"),
    *("extract", "copyto", "left_shift", "right_shift", "bitwise_left_shift", "nextafter"),
    *("bitwise_right_shift", "gcd", "lcm", "fill_diagonal"),
]
OF_MORE = {
    "apply_along_axis": (np.sum, 0, x),
    "apply_over_axes": (np.sum, A, 0),
    "place": (x, x, x),
    "put": (x, x, x),
    "putmask": (x, x, x),
    "put_along_axis": (x, x, x, 0),
    "einsum_path": ("i,i", x, x),
}
ASKED = {
    **dict.fromkeys(OF_ONE, (x,)),
    **dict.fromkeys(OF_TWO, (x, x)),
    **OF_MORE,
}


@pytest.mark.parametrize("name", CALLABLE)
def test_every_name_is_there_or_refused(name):
    if hasattr(snp, name):
        assert refusal(name) is None
    else:
        with pytest.raises(AttributeError, match=f"no attribute '{name}': "):
            getattr(snp, name)


def test_refused_names_are_in_numpy():
    assert set(_BY_NAME) <= set(PUBLIC)
    with pytest.raises(AttributeError, match=r"no attribute 'nothing'$"):
        snp.nothing  # noqa: B018


@pytest.mark.parametrize("name", ASKED)
def test_numpy_tells_the_reason(name):
    with pytest.raises(se.UnsupportedError, match=re.escape(refusal(name)) + "$"):
        getattr(np, name)(*ASKED[name])


def test_packages_are_refused():
    with pytest.raises(AttributeError, match="only fft and linalg have a counterpart"):
        snp.ma  # noqa: B018
    assert {name for name in dir(np.fft) if name[0] not in "_h"} <= {*dir(snp.fft), "test"}
    assert np.lib.stride_tricks.sliding_window_view(x, 2) == snp.sliding_window_view(x, 2)
    with pytest.raises(AttributeError, match="it is a type"):
        snp.float64  # noqa: B018


def test_packages_are_modules():
    for name in ("linalg", "fft"):
        package = importlib.import_module(f"sympy_einsum.numpy.{name}")
        assert package is getattr(snp, name)
        assert dir(package) == sorted(package.__all__)
        for own in package.__all__:
            assert pickle.loads(pickle.dumps(getattr(package, own))) is getattr(package, own)
    with pytest.raises(se.ParseError, match=r"no UnsupportedError of numpy\.linalg"):
        se.parse_python("def f(x):\n    return np.linalg.UnsupportedError(x)", shapes={"x": ()})


def test_numbers_are_no_arrays():
    """Results without axes are NumPy scalars, as NumPy's own are."""
    numbers = np.array([3.0, np.nan, 1.0])
    functions = [snp.median, snp.nanmedian, snp.nanmax, snp.nanmin, snp.all, snp.any]
    functions += [lambda v: snp.quantile(v, 0.3), lambda v: snp.nanpercentile(v, 30)]
    functions += [lambda v: snp.where(v[0] > 0, v[2], -1), lambda v: snp.allclose(v, 1)]
    with np.errstate(all="ignore"):
        found = se.lambdify([x], [f(x) for f in functions])(numbers)
    assert [type(value) for value in found] == [np.float64] * len(functions)


def test_bitwise_functions_are_for_conditions():
    with pytest.raises(se.UnsupportedError, match="compare them first, or use logical_and"):
        np.bitwise_and(x, x)
    mask = np.array([True, False, True])
    assert mask & (x > 0) == (x > 0) & mask
    assert np.invert(x > 0) == ~(x > 0)


def grads(f, values):
    """Return the derivative of an entrywise function, at some values."""
    v = se.TensorSymbol("v", len(values))
    with np.errstate(all="ignore"):
        return se.lambdify([v], se.gradient(snp.sum(f(v)), v))(np.array(values)).tolist()


def test_derivatives_at_special_points():
    """The derivatives are JAX's."""
    nan, inf = np.nan, np.inf
    assert grads(lambda v: np.clip(v, -1, 2), [-2.0, -1.0, 0.0, 2.0, 3.0]) == [0, 0.5, 1, 0.5, 0]
    points = ([-1.0, 0.0, 2.0], [1.0, 3.0, -2.0])
    assert grads(lambda v: np.interp(v, *points), [-2.0, -1.0, 0.0, 2.0, 3.0]) == [
        0,
        2,
        -2.5,
        -2.5,
        0,
    ]
    assert grads(np.nan_to_num, [3.0, nan, inf]) == [1, 0, 0]
    assert grads(lambda v: np.nan_to_num(1 / v, posinf=5), [2.0, 0.0]) == [-0.25, 0]
    assert grads(lambda v: np.nansum(v**2), [3.0, nan]) == [6, 0]
    assert grads(np.nanmean, [3.0, nan, 1.0]) == [0.5, 0, 0.5]
    assert grads(np.nanmax, [3.0, nan, 1.0, 3.0]) == [0.5, 0, 0, 0.5]
    assert grads(lambda v: np.nanmin(v**2), [3.0, nan, -1.0]) == [0, 0, -2]
    assert grads(np.nanmax, [nan, nan]) == [0, 0]
    assert grads(np.nancumsum, [3.0, nan, 1.0]) == [3, 0, 1]
    assert grads(np.nancumprod, [3.0, nan, 2.0]) == [4, 0, 3]
    assert grads(lambda v: np.where(np.isnan(v), 0, v**2), [3.0, nan]) == [6, 0]
    assert grads(lambda v: np.mod(v, 2) * v, [3.0, 2.0, -1.0]) == [4, 2, 0]
    assert grads(lambda v: np.prod(v[None], axis=1), [0.0, 0.0, 3.0]) == [0, 0, 0]
    assert grads(lambda v: np.prod(v[None], axis=1), [0.0, 2.0, 3.0]) == [6, 0, 0]
    assert grads(lambda v: np.power(0.0, v), [1.0, 0.5]) == [0, 0]


def test_values_without_nan():
    """As NumPy's, also along rows without nan or with nothing else."""
    nan, inf = np.nan, np.inf
    M = se.TensorSymbol("M", 5, 3)
    rows = np.array([[1, nan, 3], [nan, nan, nan], [2, -inf, nan], [-inf, -inf, nan], [4, 5, inf]])
    names = ["nanmax", "nanmin", "nancumsum", "nancumprod"]
    for name in names:
        found = se.lambdify([M], getattr(np, name)(M, axis=1))(rows)
        with warnings.catch_warnings(action="ignore"):
            expected = getattr(np, name)(rows, axis=1)
        np.testing.assert_array_equal(found, expected, err_msg=name)
    for name in ("nanargmax", "nanargmin"):
        found = se.lambdify([M], getattr(np, name)(M, axis=1))(rows)[[0, 2, 3, 4]]
        np.testing.assert_array_equal(found, getattr(np, name)(rows[[0, 2, 3, 4]], axis=1))


@pytest.mark.parametrize("mask", [np.array([True, False, True]), np.ones(3), [False] * 3])
def test_masks_of_numbers(mask):
    found = se.lambdify([x], np.compress(mask, x))(np.arange(3.0))
    np.testing.assert_array_equal(found, np.compress(mask, np.arange(3.0)))


def test_shapes_and_positions_that_dont_fit():
    with pytest.raises(se.ShapeError, match=r"axis -1 has the lengths 2 and 3, neither of them 1$"):
        snp.broadcast_shapes((2,), (3,))
    with pytest.raises(se.ShapeError, match=r"position 7 is out of range for an axis of length 3$"):
        snp.take(A, 7, axis=0)


def test_a_condition_that_is_no_number_is_refused():
    with pytest.raises(se.UnsupportedError, match="use where"):
        np.compress(x > 0, x)
    with pytest.raises(se.UnsupportedError, match="lengths that are numbers"):
        snp.resize(se.TensorSymbol("y", Symbol("k", integer=True, positive=True)), 3)


@pytest.mark.parametrize("name", ["vstack", "hstack", "dstack", "column_stack"])
def test_a_tensor_is_a_list_of_its_pieces(name):
    stack = getattr(snp, name)
    assert stack(A) == stack(list(se.unstack(A)))


# Some results are nan, of which NumPy warns too.
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_quantiles_and_nan():
    """As NumPy's, also for ties and empty axes."""
    nan = np.nan
    rows = np.array([[1, nan, 3, 3], [nan, nan, nan, nan], [2, 5, 1, 1], [4, 5, nan, nan]])
    M = se.TensorSymbol("M", *rows.shape)
    for method in ("linear", "lower", "higher", "midpoint"):
        for f in (np.quantile, np.nanquantile):
            found = se.lambdify([M], f(M, [0, 0.3, 1], axis=1, method=method))(rows)
            with warnings.catch_warnings(action="ignore"):
                expected = f(rows, [0, 0.3, 1], axis=1, method=method)
            np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert grads(lambda v: np.nanmedian(v) ** 2, [3.0, 1.0, nan, 2.0, 7.0]) == [2.5, 0, 0, 2.5, 0]


METHODS = [
    *("linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf", "averaged_inverted_cdf"),
    *("closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased"),
    "normal_unbiased",
]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_methods_of_quantiles(method):
    """Also of symbolic lengths, beyond the first and the last entry, and beside nan."""
    v = se.TensorSymbol("v", Symbol("k", integer=True, positive=True))
    shares = [0, 0.05, 0.25, 0.3, 0.5, 0.9, 1]
    of_all, of_numbers = (f(v, shares, method=method) for f in (np.quantile, np.nanquantile))
    compute = se.lambdify([v], [of_all, of_numbers, se.gradient((of_all**2).sum(), v)])
    for count in (1, 2, 5, 10):
        numbers = np.random.default_rng(count).standard_normal(count)
        *found, gradient = compute(numbers)
        expected = np.quantile(numbers, shares, method=method)
        np.testing.assert_allclose(found, [expected, expected], rtol=1e-12)
        steps = 1e-6 * np.eye(count)
        ends = [(np.quantile(numbers + s * steps, shares, 1, method=method) ** 2) for s in (1, -1)]
        np.testing.assert_allclose(gradient, (ends[0] - ends[1]).sum(0) / 2e-6, atol=1e-6)
        beside = np.append(numbers, np.nan)
        np.testing.assert_allclose(compute(beside)[1], expected, rtol=1e-12)


# Some are of fewer entries than are needed, of which NumPy warns too.
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_deviations_from_some_entries():
    M = se.TensorSymbol("M", 3, 4)
    numbers = np.random.default_rng(0).standard_normal((3, 4))
    mask = numbers > -0.5
    centre = numbers.mean(axis=1, keepdims=True) + 1
    for name in ("var", "std", "nanvar", "nanstd"):
        f = getattr(np, name)
        for options in ({"where": mask, "ddof": 1}, {"mean": centre}, {"mean": 0.5, "where": mask}):
            found = se.lambdify([M], f(M, axis=1, **options))(numbers)
            np.testing.assert_allclose(found, f(numbers, axis=1, **options), rtol=1e-12)


def test_options_of_numpy_2():
    M, numbers = se.TensorSymbol("M", 2, 3), np.arange(6.0).reshape(2, 3)
    for options in ({"axis": 1, "include_initial": True}, {"axis": 0}):
        found = se.lambdify([M], np.cumulative_prod(M, **options))(numbers)
        np.testing.assert_array_equal(found, np.cumulative_prod(numbers, **options))
    assert np.ones_like(M, shape=4) == se.Ones(4)
    assert np.zeros_like(M, shape=(2,)) == se.Zeros(2)
    assert np.full_like(M, 3, shape=(1, 2)) == 3 * se.Ones(1, 2)
    assert float(snp.euler_gamma) == np.euler_gamma


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("edges", [[1.0, 2, 2, 2, 4], [4.0, 4, 2, -1]])
def test_searches_among_ties(side, edges):
    values = np.array([-1.0, 0, 4, 1, 2, 2, 3, 4, 5, np.nan])
    v, a = se.TensorSymbol("v", len(values)), se.TensorSymbol("a", len(edges))
    found = se.lambdify([v], np.digitize(v, edges, side == "left"))(values)
    np.testing.assert_array_equal(found, np.digitize(values, edges, side == "left"))
    rising = np.sort(edges)
    found = se.lambdify([a, v], np.searchsorted(a, v, side))(rising, values)
    np.testing.assert_array_equal(found, np.searchsorted(rising, values, side))
    assert found.dtype.kind == "i"


def test_wrong_searches():
    with pytest.raises(se.TensorError, match="rise or fall, not both"):
        np.digitize(x, [1, 3, 2])
    with pytest.raises(se.ShapeError, match=r"searchsorted takes a vector, not .* \(3, 3\)"):
        np.searchsorted(A, x)
    with pytest.raises(se.ShapeError, match="as many values as positions, not 2"):
        np.interp(x, x, [1, 2])


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_weighted_quantiles(axis):
    """As NumPy's, beside weights that are 0 and entries that are nan."""
    M, W = se.tensors("M W", 4, 6)
    rng = np.random.default_rng(3)
    numbers, weights = rng.standard_normal((4, 6)), rng.integers(0, 3, (4, 6)).astype(float)
    weights[0], weights[:, 0] = 1, 2
    shares, options = [0, 0.1, 0.35, 0.8, 1], {"axis": axis, "method": "inverted_cdf"}
    percents = np.multiply(shares, 100)
    broken = np.where(rng.random((4, 6)) < 0.2, np.nan, numbers)
    broken[0, 0] = 1.0
    for data in (numbers, broken):
        calls = [(np.quantile, shares), (np.nanquantile, shares), (np.nanpercentile, percents)]
        own = [f(M, q, weights=W, **options) for f, q in calls]
        found = se.lambdify([M, W], own)(data, weights)
        with warnings.catch_warnings(action="ignore"):
            for value, (f, q) in zip(found, calls, strict=True):
                np.testing.assert_allclose(value, f(data, q, weights=weights, **options))
    y = np.quantile(M, 0.35, weights=W, **options)
    assert se.check_derivative(y, M) < 1e-6
    zeros = se.lambdify([M, W], se.gradient((y**2).sum() if axis in (0, 1) else y, W))
    assert not zeros(numbers, weights).any()
    if axis == 1:
        known = np.quantile(M, 0.6, weights=[1.0, 0, 2, 3, 0, 1], **options)
        expected = np.quantile(numbers, 0.6, weights=[1.0, 0, 2, 3, 0, 1], **options)
        np.testing.assert_allclose(se.lambdify([M], known)(numbers), expected)
        assert np.isnan(se.lambdify([M, W], y)(numbers, 0 * weights)).all()
        with pytest.raises(se.UnsupportedError, match="method='inverted_cdf', not 'hazen'"):
            np.quantile(M, 0.5, axis, method="hazen", weights=W)
        with pytest.raises(se.ShapeError, match="takes weights of that shape"):
            np.quantile(M, 0.5, axis, method="inverted_cdf", weights=W[0, :3])


def test_polynomials_from_roots_and_points():
    """As NumPy's, with derivatives."""
    rng = np.random.default_rng(6)
    u, v, r, w = (se.TensorSymbol(name, n) for name, n in zip("uvrw", (6, 3, 4, 6), strict=True))
    t, Y = se.TensorSymbol("t", 6), se.TensorSymbol("Y", 6, 2)
    data = [rng.uniform(0.5, 2, symbol.shape) for symbol in (u, v, r, w, t, Y)]
    calls = [
        lambda u, v, r, w, t, Y: np.polydiv(u, v)[0],
        lambda u, v, r, w, t, Y: np.polydiv(u, v)[1],
        lambda u, v, r, w, t, Y: np.polydiv(v, u)[1],
        lambda u, v, r, w, t, Y: np.polydiv(u, v[:1])[0],
        lambda u, v, r, w, t, Y: np.poly(r),
        lambda u, v, r, w, t, Y: np.polyfit(t, u, 2),
        lambda u, v, r, w, t, Y: np.polyfit(t, Y, 1, w=w),
        lambda u, v, r, w, t, Y: np.bincount([0, 3, 1, 3, 3, 0], u, minlength=7),
    ]
    for call in calls:
        own = call(u, v, r, w, t, Y)
        found = se.lambdify([u, v, r, w, t, Y], own)(*data)
        np.testing.assert_allclose(found, call(*data), rtol=1e-9)
        for symbol in own.free_symbols:
            assert se.check_derivative(own, symbol, samples=1) < 1e-5
    for wrong in (
        lambda: np.poly(A),
        lambda: np.bincount(x),
        lambda: np.polyfit(x, x, 1, cov=True),
    ):
        with pytest.raises(se.UnsupportedError):
            wrong()
    with pytest.raises(se.TensorError, match="known degree"):
        np.polyfit(x, x, Symbol("d"))
    with pytest.raises(se.TensorError, match="integers from 0 on"):
        np.bincount([-1, 2], x[:2])
