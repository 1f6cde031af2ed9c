"""Helper functions of entries, against NumPy's, SciPy's and mpmath's."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from runtime_helpers import helper, raw
from scipy import special

RANDOM = np.random.default_rng(3)
POINTS = np.concatenate(
    [
        np.array([0.0, -0.0, 1e-320, 1e-300, -1e-21, 1e-9, 0.5, 1.0, -1.0, 30.0, -700.0, 705.0]),
        np.array([750.0, -760.0, np.inf, -np.inf, np.nan]),
        RANDOM.standard_normal(50) * 10,
    ]
)
INF, NAN = np.inf, np.nan


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def each(name, *arrays):
    """A function of numbers at each entry of some arrays."""
    return np.array([raw(name)(*numbers) for numbers in zip(*arrays, strict=True)])


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("numba_elementary.exp", np.exp),
        ("numba_elementary.expm1", np.expm1),
        ("numba_elementary.tanh", np.tanh),
        ("numba_elementary.log", np.log),
        ("numba_elementary.log1p", np.log1p),
    ],
)
def test_elementary_functions(name, function):
    found, expected = each(name, POINTS), function(POINTS)
    # The last bits of numbers below the normal ones are lost.
    assert_allclose(found, expected, rtol=2e-15, atol=1e-307)
    assert_array_equal(np.isfinite(found), np.isfinite(expected))


def test_the_parts_of_an_exponential():
    for x in (0.0, 0.3, -20.5, 700.0, -740.0):
        rest, a, b = raw("numba_elementary.exponent_parts")(np.float64(x))
        assert abs(rest) < 0.5
        # Both factors are powers of two.
        assert math.frexp(a)[0] == math.frexp(b)[0] == 0.5
        assert_allclose((1 + rest) * a * b, np.exp(x), rtol=1e-15, atol=1e-320)


PAIRS = np.array(
    [(2, 1), (1, 2), (3, 3), (NAN, 1), (1, NAN), (INF, 1), (-INF, -INF), (0, 0), (-1, 0), (0, 2)],
    float,
).T


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("numba_numbers.maximum", np.maximum),
        ("numba_numbers.minimum", np.minimum),
        ("numba_numbers.fmax", np.fmax),
        ("numba_numbers.fmin", np.fmin),
        ("numba_numbers.heaviside", np.heaviside),
        ("numba_numbers.logaddexp", np.logaddexp),
        ("numba_numbers.xlogy", special.xlogy),
        ("numba_numbers.xlog1py", special.xlog1py),
        ("numba_numbers.rel_entr", special.rel_entr),
    ],
)
def test_functions_of_two_numbers(name, function):
    assert_allclose(each(name, *PAIRS), function(*PAIRS), rtol=1e-15)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("numba_numbers.finite", lambda x: np.where(np.isfinite(x), x, 0)),
        ("numba_numbers.sign", np.sign),
        ("numba_numbers.nan_to_num", np.nan_to_num),
        ("numba_numbers.sinc", np.sinc),
        ("numba_numbers.ndtr", special.ndtr),
        ("numba_numbers.entr", special.entr),
        ("numba_numbers.softplus", lambda x: np.logaddexp(0, x)),
        ("numba_numbers.sigmoid_derivative", lambda x: special.expit(x) * special.expit(-x)),
    ],
)
def test_functions_of_a_number(name, function):
    points = POINTS[np.isfinite(POINTS)] if name.endswith(("sinc", "derivative")) else POINTS
    assert_allclose(each(name, points), function(points), rtol=1e-13, atol=1e-300)


def test_the_sigmoid_of_a_number():
    points = POINTS[POINTS > -700]
    assert_allclose(each("numba_numbers.sigmoid", points), special.expit(points), rtol=1e-15)
    assert raw("numba_numbers.sigmoid")(-INF) == 0


def test_numbers_by_conditions():
    where, loggamma = raw("numba_numbers.where"), raw("numba_numbers.loggamma")
    assert (where(True, 1.0, 2.0), where(False, 1.0, 2.0)) == (1, 2)
    assert_allclose(loggamma(4.5), special.loggamma(4.5))
    assert math.isnan(loggamma(-0.5))


@pytest.mark.parametrize("count", [1, 1000])
@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("numpy_functions.sigmoid", special.expit),
        ("numpy_functions.softplus", lambda x: np.logaddexp(0, x)),
        ("numpy_functions.sigmoid_derivative", lambda x: special.expit(x) * special.expit(-x)),
    ],
)
def test_functions_of_few_and_many_entries(name, function, count):
    x = np.resize(np.array([-800.0, 0.0, 3.0, -3.0, 1e-9, 800.0]), count)
    assert_allclose(helper(name)(x), function(x), rtol=1e-14, atol=1e-320)
    # Scalars among the arguments of generated code stay numbers of Python.
    assert_allclose(helper(name)(-0.7), function(-0.7), rtol=1e-14)


@pytest.mark.parametrize("kind", [float, np.float32, int])
@pytest.mark.parametrize("count", [1, 40])
def test_logaddexp(count, kind):
    points = np.array([-3e38, -700.0, -1.0, 0.0, 2.0, 2.5, 800.0, 3e38])
    points = [*points, -INF, INF, np.nan] if kind is not int else points[1:-1]
    x = np.resize(np.array(points, kind), (count, len(points)))
    with np.errstate(all="ignore"):
        expected = np.logaddexp(x[:, None], x[:, :, None])
    found = helper("numpy_functions.logaddexp_by_log1p")(x[:, None], x[:, :, None])
    assert found.dtype == expected.dtype
    assert_allclose(found, expected, rtol=1e-14 if kind is not np.float32 else 1e-6)
    assert_allclose(
        helper("numpy_functions.logaddexp_by_log1p")(x[:, :4], 0.5), np.logaddexp(x[:, :4], 0.5)
    )


@pytest.mark.parametrize("order", [1, 2, 4])
def test_quotients_of_repeated_integrals_of_erfc(order):
    x = np.array([-5.0, 0.0, 1.0, 3.9, 4.1, 30.0])

    def exact(v):
        below, own = 2 / mp.sqrt(mp.pi) * mp.exp(-(v**2)), mp.erfc(v)
        for n in range(1, order + 1):
            below, own = own, (below - 2 * v * own) / (2 * n)
        return -2 * order * own / below

    with mp.workdps(80):
        expected = [float(exact(mp.mpf(v))) for v in x]
    found = raw("special_functions.erfcx_rate")(order, x)
    # The recurrence loses digits just below 4, where the continued fraction begins.
    assert_allclose(found, expected, rtol=10.0 ** (2 * order - 15))


def mpmath_at(function, points):
    with mp.workdps(60):
        return [float(function(mp.mpf(float(v)))) for v in points]


NEAR_0 = np.array([1e-8, -1e-3, 0.5, -0.99, 1.01, -7.0, 40.0])


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("special_functions.sinhc", lambda v: mp.sinh(v) / v),
        ("special_functions.tanhc", lambda v: mp.tanh(v) / v),
        ("special_functions.log_sinhc", lambda v: mp.log(mp.sinh(v) / v)),
        ("special_functions.exprel", lambda v: mp.expm1(v) / v),
        ("special_functions.loggamma", lambda v: mp.loggamma(v) if v > 0 else mp.nan),
    ],
)
def test_functions_with_removable_singularities(name, function):
    assert_allclose(raw(name)(NEAR_0), mpmath_at(function, NEAR_0), rtol=1e-13)
    at_0 = raw(name)(np.array([0.0]))
    limit = {"log_sinhc": 0.0, "loggamma": INF}.get(name.partition(".")[2], 1.0)
    assert_array_equal(at_0, [limit])


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_derivatives_of_langevins_function(order):
    x = np.array([1e-6, 0.3, -0.9, 1.5, -6.0, 50.0])
    with mp.workdps(60):
        expected = [float(mp.diff(lambda v: mp.coth(v) - 1 / v, mp.mpf(v), order)) for v in x]
    assert_allclose(raw("special_functions.langevin")(order, x), expected, rtol=1e-9, atol=1e-40)
    at_0 = raw("special_functions.langevin")(order, np.array([0.0]))
    assert_allclose(at_0, [{1: 1 / 3, 3: -2 / 15}.get(order, 0.0)], atol=1e-15)


def _difference(order, x):
    """The difference that a rise by an eighth is, in doubles."""
    function = special.gammaln if order < 0 else lambda v: special.polygamma(order, v)
    return function(x + x / 8) - function(x)


@pytest.mark.parametrize("order", [-1, 0, 1, 2])
def test_differences_of_gamma_functions(order):
    x, k = np.array([0.5, 3.0, 1e6, 1e12]), np.array([2.0, 1e-3, 1.0, 3.0])

    def exact(v, step):
        with mp.workdps(60):
            v, step = mp.mpf(v), mp.mpf(step)
            function = mp.loggamma if order < 0 else lambda z: mp.psi(order, z)
            return float(function(v + step) - function(v))

    expected = [exact(*pair) for pair in zip(x, k, strict=True)]
    found = raw("special_functions.gamma_rise")(order, x, k, np.nan)
    assert_allclose(found, expected, rtol=1e-13)
    # The difference is taken where it loses few digits, also where nothing is added.
    rise = raw("numpy_functions.gamma_rise")
    difference = np.array([expected[0], np.nan, np.nan, np.nan])
    assert_allclose(rise(order, x, k, difference), expected, rtol=1e-13)
    assert_allclose(rise(order, x[2], k[2], np.float64(np.nan)), expected[2], rtol=1e-13)
    assert rise(order, 80.0, np.array([0.0, 10.0]), 7.0) == 7
    wide = np.array([0.5, 1.5, 3.0, 80.0, 1e12])
    assert_allclose(
        raw("numpy_functions.gamma_rise")(order, wide, wide / 8, _difference(order, wide)),
        raw("special_functions.gamma_rise")(order, wide, wide / 8, np.nan),
        rtol=2e-13,
    )
    # On the left of 0 the difference is taken as it is given.
    assert raw("special_functions.gamma_rise")(order, np.array([-0.5]), 1.0, 7.0) == 7


def test_the_polygamma_function_of_few_and_many_entries():
    polygamma, few = helper("numpy_functions.polygamma"), np.array([1e-90, 1e-3, 0.5, 8.9, 80, 1e9])
    many = np.resize(few, 1000)
    for order in (1, 2):
        expected = [float(mp.psi(order, mp.mpf(v))) for v in few]
        assert_allclose(polygamma(order, few), expected, rtol=2e-15)
        assert_allclose(polygamma(order, many), np.resize(expected, 1000), rtol=2e-15)
    many[3:6] = -0.5, 0, NAN
    assert_allclose(polygamma(1, many), special.polygamma(1, many), rtol=2e-15)


def test_differences_of_normal_distribution_functions():
    a, b = np.array([1.0, 9.0, -8.0, 30.0]), np.array([-2.0, 8.0, -9.0, 29.999])
    x = np.array([0.0, 8.5, -8.5, 30.0])

    def exact(a, b):
        with mp.workdps(400):
            return mp.ncdf(mp.mpf(a)) - mp.ncdf(mp.mpf(b))

    differences = [exact(*pair) for pair in zip(a, b, strict=True)]
    found = raw("special_functions.log_ndtr_difference")(a, b)
    assert_allclose(found, [float(mp.log(d)) for d in differences], rtol=1e-12)
    shares = [float(mp.npdf(mp.mpf(v)) / d) for v, d in zip(x, differences, strict=True)]
    assert_allclose(raw("special_functions.ndtr_share")(x, a, b), shares, rtol=1e-11)
    # NumPy's are of differences where they lose few digits.
    assert raw("numpy_functions.replaced")(1.0, True, np.add, 1.0, 2.0) == 3
    for own in (np.arange(4), np.arange(1), 1, 0):
        own = np.asarray(own)
        size = raw("numpy_functions.log_ndtr_difference")(a[own], b[own])
        logs = np.array([float(mp.log(difference)) for difference in differences])
        assert_allclose(size, logs[own], rtol=1e-12)
        found = raw("numpy_functions.ndtr_share_of_log")(x[own], a[own], b[own], size)
        assert_allclose(found, np.array(shares)[own], rtol=1e-11)


BESSEL_POINTS = np.array([1e-6, 0.1, 1.0, 3.0, 10.0, 60.0])


@pytest.mark.parametrize("order", [0, 1, 2, 5])
def test_spherical_bessel_functions(order):
    for name, function in (
        ("special_functions.spherical_jn", special.spherical_jn),
        ("special_functions.spherical_yn", special.spherical_yn),
        ("special_functions.spherical_in", special.spherical_in),
        ("numba_special.spherical_jn", special.spherical_jn),
        ("numba_special.spherical_yn", special.spherical_yn),
        ("numba_special.spherical_in", special.spherical_in),
    ):
        expected = function(order, BESSEL_POINTS)
        own = each if name.startswith("numba") else lambda name, n, x: raw(name)(n[0], x)
        found = own(name, [order] * len(BESSEL_POINTS), BESSEL_POINTS)
        assert_allclose(found, expected, rtol=1e-9, err_msg=name)
        if "_yn" not in name:
            at_0 = own(name, [order], np.zeros(1))
            assert_array_equal(at_0, [float(order == 0)])


@pytest.mark.parametrize("order", [1, 2, 4])
def test_kummers_function(order):
    x = np.array([-50.0, -9.0, -1e-9, 0.0, 0.5, 9.9, 10.1, 40.0])
    found = raw("special_functions.hyp1f1")(order, order + 1, x)
    assert_allclose(found, special.hyp1f1(order, order + 1, x), rtol=1e-12)


@pytest.mark.parametrize("order", [0.0, 1e-6, 0.5, 1.0, 1.75, 12.0, 130.0])
def test_decaying_bessel_functions(order):
    x = np.array([2e-9, 1e-3, 0.7, 3.0, 40.0, 1e4])
    for name in ("special_functions.kv", "special_functions.kve"):
        expected = getattr(special, name.partition(".")[2])(order, x)
        assert_allclose(raw(name)(order, x), expected, rtol=1e-12)
    for name in ("special_functions.k0e", "special_functions.k1e"):
        assert_allclose(raw(name)(x), getattr(special, name[-3:])(x), rtol=1e-12)


A, B = np.array([0.5, 2.0, -0.5, 3.0, 40.0]), np.array([1.5, 2.0, 2.25, -1.5, 50.0])


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("special_functions.beta", special.beta),
        ("special_functions.betaln", special.betaln),
        ("special_functions.binom", special.binom),
        ("torch_helpers.beta", special.beta),
        ("torch_helpers.betaln", special.betaln),
        ("numba_special.zeta", special.zeta),
    ],
)
def test_functions_of_two_arguments(name, function):
    a, b = (np.array([1.5, 2.0, 3.0, 40.0]), A[[0, 1, 3, 4]]) if "zeta" in name else (A, B)
    own = each if name.startswith("numba") else lambda name, a, b: helper(name)(a, b)
    assert_allclose(own(name, a, b), function(a, b), rtol=1e-12)


def test_zeta_functions():
    zeta = raw("numba_special.zeta")
    assert zeta(1.0) == INF
    assert_allclose(zeta(-0.5), float(mp.zeta(-0.5)))
    assert_allclose(zeta(2.0, 1e9), float(mp.zeta(2, mp.mpf(10) ** 9)))
    assert math.isnan(zeta(0.5, 2.0))
    s, a = np.array([2.0, 3.5]), np.array([1.0, 0.25])
    assert_allclose(raw("special_functions.zeta")(s, a), special.zeta(s, a))
    assert_allclose(raw("special_functions.zeta")(s), special.zeta(s))


@pytest.mark.parametrize(
    ("name", "function", "points"),
    [
        ("torch_helpers.gamma", special.gamma, [0.5, 4.0, -0.5, -3.7, 0.1, 30.0]),
        ("torch_helpers.cbrt", np.cbrt, [8.0, -27.0, 0.0, 1e-300, NAN, -INF]),
        ("torch_helpers.sign", np.sign, [2.0, -0.5, 0.0, NAN, -INF]),
    ],
)
def test_functions_that_torch_lacks(name, function, points):
    points = np.array(points)
    assert_allclose(helper(name)(points), function(points), rtol=1e-13)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("torch_helpers.maximum", np.maximum),
        ("torch_helpers.logaddexp", np.logaddexp),
        ("torch_helpers.heaviside", np.heaviside),
        ("torch_helpers.rel_entr", special.rel_entr),
    ],
)
def test_functions_of_torch_take_several_types(name, function):
    assert_allclose(helper(name)(*PAIRS), function(*PAIRS), rtol=1e-15)
    whole = np.array([2, 0, 1])
    assert_allclose(helper(name)(whole, 1.5), function(whole, 1.5), rtol=1e-6)


@pytest.mark.parametrize("name", ["polygamma", "sici", "airy"])
def test_functions_that_dask_applies_to_chunks(name):
    x = np.array([0.5, 1.0, 2.0, 7.0, 20.0])
    found = {
        "polygamma": lambda: helper("dask_helpers.polygamma")(2, x),
        "sici": lambda: helper("dask_helpers.sici")(x),
        "airy": lambda: helper("dask_helpers.airy")(x),
    }[name]()
    expected = special.polygamma(2, x) if name == "polygamma" else getattr(special, name)(x)
    assert_allclose(np.asarray(found), np.asarray(expected))


@pytest.mark.parametrize(
    ("name", "count"), [("erfi", 1), ("betaln", 2), ("hyp1f1", 3), ("exprel", 1), ("jv", 2)]
)
def test_functions_of_scipy_in_compiled_code(name, count):
    own = raw("numba_special.of_scipy")(name, count)
    for point in ((0.5, 1.5, 0.25), (2.0, 3.0, -1.0)):
        assert_allclose(own(*point[:count]), getattr(special, name)(*point[:count]))


@pytest.mark.parametrize(("name", "count"), [("sici", 2), ("fresnel", 2), ("airy", 4)])
def test_functions_of_scipy_with_several_values(name, count):
    own = raw("numba_special.of_scipy_with_values")(name, count)
    assert_allclose(own(0.75), getattr(special, name)(0.75))


def test_the_address_of_a_function_of_scipy():
    function = raw("numba_special.special_in_c")("erfi", "double (double, int __pyx_skip_dispatch)")
    assert function.symbol == "scipy_special_erfi"
    assert len(function.sig.args) == 2
    with pytest.raises(ValueError, match="values to unpack"):
        raw("numba_special.special_in_c")("erfi", "double (int)")


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_polygamma_functions(order):
    x = np.array([0.1, 1.0, 2.5, 30.0])
    found = each("numba_special.polygamma", [order] * 4, x)
    assert_allclose(found, special.polygamma(order, x), rtol=1e-13)


def test_branches_of_lamberts_function():
    x = np.array([-0.3678, -0.2, -1e-10, 0.0, 0.1, 1.0, 1e3, INF])
    found = each("numba_special.lambertw", x)
    assert_allclose(found[:-1], special.lambertw(x[:-1]).real, rtol=1e-12)
    assert found[-1] == INF
    lower = np.array([-0.3678, -0.2, -1e-5])
    found = each("numba_special.lambertw", lower, [-1] * 3)
    assert_allclose(found, special.lambertw(lower, -1).real, rtol=1e-12)
    assert raw("numba_special.lambertw")(0.0, -1) == -INF


def test_choices_and_polygamma_functions_of_cupy():
    where, polygamma = raw("cupy_helpers.where"), raw("cupy_helpers.polygamma")
    assert where(True, 1, 2) == 1
    assert where(np.False_, 1, 2) == 2
    chosen = where(np.array([True, False]), 0.1, 0.3)
    assert chosen.tolist() == [0.1, 0.3]
    x = np.array([0.5, 2.0], np.float32)
    assert where(x > 1, x, 0.25).dtype == np.float32
    assert polygamma(2, 0.5) == special.polygamma(2, 0.5)
