"""Derivatives of kernels by scales of the rows, where two points coincide: against
mpmath, with jitter of which rounding errors are a large multiple."""

import mpmath
import numpy as np
import pytest
from sympy import Rational, exp, sqrt, symbols

import sympy_einsum as se

n, d = symbols("n d", integer=True, positive=True)
scale = symbols("s", positive=True)
X, weights = se.TensorSymbol("X", n, d), se.TensorSymbol("W", n, n)
scales = se.TensorSymbol("l", d, positive=True)
rng = np.random.default_rng(0)
POINTS = rng.normal(size=(4, 3)) + 10
POINTS[3] = POINTS[1]
WEIGHTS = rng.normal(size=(4, 4))
MATERN = {
    1: lambda r, exp, sqrt: exp(-r),
    3: lambda r, exp, sqrt: (1 + sqrt(3) * r) * exp(-sqrt(3) * r),
    5: lambda r, exp, sqrt: (1 + sqrt(5) * r + r**2 * 5 / 3) * exp(-sqrt(5) * r),
}


def kernel(Z, order, jitter):
    squares = ((Z[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2)
    return MATERN[order](se.sqrt(squares + Rational(jitter)), se.exp, sqrt)


def exact(rows, order, jitter):
    rows = [[mpmath.mpf(a) for a in row] for row in rows]
    jitter = mpmath.mpf(jitter)

    def entry(one, other):
        squares = mpmath.fsum([(a - b) ** 2 for a, b in zip(one, other, strict=True)])
        return MATERN[order](mpmath.sqrt(squares + jitter), mpmath.exp, mpmath.sqrt)

    return np.array([[entry(one, other) for other in rows] for one in rows])


def derivatives(function, point):
    """Gradient and Hessian of a function of arrays by the entries of a point, by differences."""
    h, places = mpmath.mpf(10) ** -40, range(len(point))

    def at(*steps):
        moved = [
            mpmath.mpf(a) + h * sum(d for k, d in steps if k == i)
            for i, a in zip(places, point, strict=True)
        ]
        return function(moved)

    def second(i, j):
        ends = at((i, 1), (j, 1)) + at((i, -1), (j, -1)) - at((i, 1), (j, -1)) - at((i, -1), (j, 1))
        return ends / (4 * h**2)

    gradient = [(at((i, 1)) - at((i, -1))) / (2 * h) for i in places]
    return gradient, [[second(i, j) for j in places] for i in places]


SCALED = {
    "divided": (X / scale, lambda x, s: x / s),
    "multiplied": (X * scale, lambda x, s: x * s),
    "by a logarithm": (X * exp(-scale), lambda x, s: x * mpmath.exp(-s)),
    "to a power": ((X**2) ** scale, lambda x, s: (mpmath.mpf(x) ** 2) ** s),
    "in a sine": (se.sin(X * scale), lambda x, s: mpmath.sin(x * s)),
}


@pytest.mark.parametrize("jitter", ["1e-12", "1e-30", "1e-36"])
@pytest.mark.parametrize("order", MATERN)
@pytest.mark.parametrize("name", SCALED)
def test_by_a_length_scale(name, order, jitter):
    rows, function = SCALED[name]
    K = kernel(rows, order, jitter)
    total = (weights * K).sum()
    outputs = [d for f in (K, total) for d in (se.diff(f, scale), se.diff(f, scale, 2))]
    found = se.lambdify([X, scale, weights], outputs)(POINTS, 0.7, WEIGHTS)
    with mpmath.workdps(130):
        (first,), ((second,),) = derivatives(
            lambda s: exact([[function(a, s[0]) for a in row] for row in POINTS], order, jitter),
            [0.7],
        )
        expected = [first, second, (WEIGHTS * first).sum(), (WEIGHTS * second).sum()]
    for k, (own, wanted) in enumerate(zip(found, expected, strict=True)):
        wanted = np.array(wanted, dtype=float)
        np.testing.assert_allclose(own, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())
        if k < 2:
            assert own[1, 3] == 0
            assert not np.diag(own).any()


@pytest.mark.parametrize("jitter", ["1e-12", "1e-36"])
@pytest.mark.parametrize("order", MATERN)
@pytest.mark.parametrize(
    ("rows", "function"),
    [
        (X / scales[None, :], lambda x, s: x / s),
        (X * scales[None, :], lambda x, s: x * s),
        (X * se.exp(-scales)[None, :], lambda x, s: x * mpmath.exp(-s)),
    ],
    ids=["divided", "multiplied", "by logarithms"],
)
def test_by_a_scale_of_each_feature(rows, function, order, jitter):
    total = (weights * kernel(rows, order, jitter)).sum()
    outputs = [se.gradient(total, scales), se.hessian(total, scales)]
    at = [0.7, 1.1, 1.9]
    found = se.lambdify([X, scales, weights], outputs)(POINTS, at, WEIGHTS)

    def reference(s):
        scaled = [[function(a, b) for a, b in zip(row, s, strict=True)] for row in POINTS]
        return (WEIGHTS * exact(scaled, order, jitter)).sum()

    with mpmath.workdps(130):
        expected = derivatives(reference, at)
    for own, wanted in zip(found, expected, strict=True):
        wanted = np.array(wanted, dtype=float)
        np.testing.assert_allclose(own, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())


def test_a_value_is_computed_as_it_is_written():
    """The scale is taken out of differences for derivatives only: there it is multiplied to more
    entries."""
    squares = ((X / scale)[:, None, :] - (X / scale)[None, :, :]) ** 2
    source = se.lambdify([X, scale], squares.sum(axis=2)).source
    assert "(1 / s) * X  # (n, d)" in source
