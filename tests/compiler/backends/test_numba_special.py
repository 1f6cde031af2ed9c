"""Numba: special functions at large and small arguments, at poles, and at nan."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sympy
from scipy import special
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.core import ROWS

pytest.importorskip("numba")
x = se.TensorSymbol("x", symbols("n", integer=True, positive=True))
POINTS = np.array(
    [
        *(-1e5, -300.3, -30.0, -10.5, -3, -2.0, -1, -0.7, -0.3678, -0.3, -0.2, -1e-5, -1e-300),
        *(0.0, 1e-20, 1e-5, 0.2, 0.5, 1, 1.3, 2.5, 3, 9.99, 20, 50.5, 300, 1e4, np.inf),
        np.nan,
    ]
)
# What the functions with an order, or with more arguments, are tried with.
ORDERS = {"polygamma": 3, "besselj": 0, "bessely": 1, "besseli": 2, "besselk": 1, "jn": 3}
ORDERS |= {"spherical_in": 2, "expint": 2}
OTHERS = {"beta": 2.5, "betaln": 1.5, "binomial": 1.7}


def functions():
    """Return every function of one argument whose code calls SciPy."""
    for row in ROWS:
        name = row.function.__name__
        if name in ORDERS:
            yield lambda u, row=row, order=ORDERS[name]: row.function(order, u)
        elif name in OTHERS:
            yield lambda u, row=row, other=OTHERS[name]: row.function(u, other)
        elif row.arity == 1 and row.name and row.code is not None:
            yield row.function


SPECIAL = [se.elementwise(f, x) for f in functions()]
SPECIAL = [e for e in SPECIAL if "special." in se.codegen([x], e)]


def compared(exprs, points, rtol):
    """Compare with NumPy's values."""
    found, expected = [se.lambdify([x], exprs, name)(points) for name in ("numba", "numpy")]
    for expr, own, other in zip(exprs, found, expected, strict=True):
        assert own.dtype == other.dtype
        np.testing.assert_allclose(own, other, rtol=rtol, atol=1e-300, err_msg=str(expr))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("first", range(3))
def test_values(first):
    assert len(SPECIAL) > 30
    compared(SPECIAL[first::3], POINTS, 1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_of_other_orders_and_their_derivatives():
    orders = [se.besselj(2.5, x), se.elementwise(lambda u: sympy.jn(0, u), x), se.sinc(x)]
    orders.append(se.elementwise(lambda u: sympy.zeta(2, u) + sympy.zeta(2.5, abs(u)), x))
    derivatives = [se.gradient(e.sum(), x) for e in (se.gammaln(x), se.airyai(x), orders[2])]
    compared([*orders, *derivatives], POINTS, 1e-12)


def test_lambert():
    """SciPy's value is wrong near the branch point."""
    points = np.array([-0.36787944, -0.3678, -0.3, -1e-3, -1e-308])
    exprs = [se.LambertW(x), se.LambertW(x, -1)]
    for k, found in zip((0, -1), se.lambdify([x], exprs, "numba")(points), strict=True):
        exact = [float(mpmath.lambertw(point, k).real) for point in points]
        np.testing.assert_allclose(found, exact, rtol=1e-10)


def test_single_precision():
    found = se.lambdify([x], [se.digamma(x), se.erfinv(x)], "numba")(np.float32([0.25, 0.75]))
    for own, function in zip(found, (special.digamma, special.erfinv), strict=True):
        assert own.dtype == np.float32
        np.testing.assert_allclose(own, function([0.25, 0.75]), rtol=1e-6)
