"""Bessel functions of half-integer orders on every backend, and powers times such functions,
against mpmath."""

import mpmath
import numpy as np
import pytest
import sympy
from libraries import LIBRARIES, allowances_for
from scipy import special
from sympy import Rational, symbols

import sympy_einsum as se

n = symbols("n", integer=True, positive=True)
s = symbols("s", positive=True)
x = se.TensorSymbol("x", n)
half = Rational(1, 2)
POINTS = np.array([1e-10, 1e-4, 0.3, 1.7, 2.5, 9.9, 19.9, 20.1, 60.0, 690.0])
KINDS = {
    "j": (se.besselj, mpmath.besselj),
    "y": (se.bessely, mpmath.bessely),
    "i": (se.besseli, mpmath.besseli),
    "k": (se.besselk, mpmath.besselk),
    "scaled k": (se.kve, lambda order, v: mpmath.exp(v) * mpmath.besselk(order, v)),
}
ORDERS = [half, Rational(3, 2), 2.5, Rational(9, 2), -half, -1.5, Rational(-5, 2)]


def expected(function, order, points=POINTS):
    with mpmath.workdps(400):
        return np.array([float(function(mpmath.mpf(float(order)), mpmath.mpf(p))) for p in points])


@pytest.mark.parametrize("backend", LIBRARIES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_of_half_integer_orders_on_every_backend(kind, backend):
    function, reference = KINDS[kind]
    library = LIBRARIES[backend]()
    given = [function(order, x) for order in ORDERS]
    with allowances_for(backend):
        compute = se.lambdify([x], given, backend=backend)
        for order, found in zip(ORDERS, compute(library.array(POINTS)), strict=True):
            wanted = expected(reference, order)
            # Between their zeros the oscillating ones are as large as this.
            size = np.sqrt(2 / np.pi / POINTS) * (POINTS > 1) if kind in "jy" else 0
            bound = 1e-13 * np.maximum(np.abs(wanted), size)
            assert (np.abs(library.back(found) - wanted) <= bound).all(), order


@pytest.mark.filterwarnings("ignore")
def test_next_to_zero_and_far_out():
    points = np.array([0.0, 1e-300, 1000.0])
    given = [se.besselk(Rational(9, 2), x), se.bessely(Rational(9, 2), x), se.besselj(2.5, x)]
    k, y, j = se.lambdify([x], given)(points)
    assert k.tolist() == [np.inf, np.inf, 0]
    assert y[:2].tolist() == [-np.inf, -np.inf]
    assert j[:2].tolist() == [0, 0]


def test_other_orders_are_refused_by_name():
    jax = pytest.importorskip("jax")
    assert jax
    with pytest.raises(se.UnsupportedError, match="jv"):
        se.lambdify([x], se.besselj(Rational(1, 3), x), backend="jax")


@pytest.mark.parametrize("backend", [name for name in LIBRARIES if name in ("jax", "torch")])
@pytest.mark.parametrize("kind", ["k", "scaled k"])
def test_decaying_ones_of_any_order(kind, backend):
    """By a quadrature, where the library has no such function or only those of order 0 and 1."""
    function, of_scipy = {"k": (se.besselk, special.kv), "scaled k": (se.kve, special.kve)}[kind]
    library, points = LIBRARIES[backend](), POINTS[1:]
    orders = [0, 1, 2, 5, Rational(1, 3), 1.3, 33.25, 1e-9]
    given = [function(order, x) for order in orders]
    given += [se.diff(value.sum(), x) for value in given]
    results = se.lambdify([x], given, backend=backend)(library.array(points))
    for k, order in enumerate(map(float, orders)):
        wanted = of_scipy(order, points)
        np.testing.assert_allclose(library.back(results[k]), wanted, rtol=2e-13, err_msg=str(order))
        derivative = -(of_scipy(abs(order - 1), points) + of_scipy(order + 1, points)) / 2
        derivative = derivative if kind == "k" else wanted + derivative
        found = library.back(results[k + len(orders)])
        np.testing.assert_allclose(found, derivative, rtol=1e-10, err_msg=str(order))
    k = symbols("k", real=True)
    edges = library.array(np.array([0.0, 1e-300, -1.0, np.nan, 1e300, np.inf]))
    found = library.back(se.lambdify([x, k], function(k, x), backend=backend)(edges, 0.0))
    tail = [0, 0] if kind == "k" else [1.2533141373155e-150, 0]
    np.testing.assert_allclose(found, [np.inf, 690.8914594, np.nan, np.nan, *tail], rtol=1e-9)


@pytest.mark.parametrize("order", [half, 1, 1.3, Rational(3, 2), 2, 2.5])
@pytest.mark.parametrize(
    "argument", [x, s * x, se.sqrt(x) * sympy.sqrt(3) / s], ids=["plain", "scaled", "of a root"]
)
def test_powers_times_functions_of_the_second_kind(order, argument):
    """Matérn kernels, with derivatives whose parts would cancel near 0."""
    kernel = argument**order * special.kv(order, argument)
    variable = x if argument is x else s
    derivatives = [kernel]
    for _ in range(2):
        derivatives.append(se.diff(derivatives[-1].sum() if variable is x else kernel, variable))
        kernel = derivatives[-1]
    points = np.array([1e-12, 1e-3, 0.5, 4.0])
    found = se.lambdify([x, s], derivatives)(points, 1.3)
    exactly = mpmath.mpf(float(order))

    def value(point, scale):
        inside = mpmath.mpf(point)
        if argument is not x:
            root = mpmath.sqrt(3 * inside) / scale
            inside = inside * scale if argument == s * x else root
        return inside**exactly * mpmath.besselk(exactly, inside)

    # Differences are taken at three times as many digits.
    with mpmath.workdps(30):
        for count, own in enumerate(found):
            wanted = [
                mpmath.diff(lambda v: value(v, mpmath.mpf(1.3)), mpmath.mpf(p), count)
                if variable is x
                else mpmath.diff(lambda v, p=p: value(p, v), mpmath.mpf(1.3), count)
                for p in points
            ]
            np.testing.assert_allclose(own, np.array(wanted, dtype=float), rtol=1e-12)


def test_a_matern_kernel_where_points_coincide():
    X = se.TensorSymbol("X", n, 2)
    distances = se.sqrt(((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    z = sympy.sqrt(5) * distances / s
    kernel = z**2.5 * special.kv(2.5, z) * 2**-1.5 / special.gamma(2.5)
    found = se.lambdify([X, s], kernel)([[1.0, 2.0], [1.0, 2.0], [1.5, 0.0]], 0.7)
    assert found[0].tolist()[:2] == pytest.approx([1, 1])
    z = np.sqrt(5) * np.hypot(0.5, 2) / 0.7
    assert found[0, 2] == pytest.approx((1 + z + z**2 / 3) * np.exp(-z))
