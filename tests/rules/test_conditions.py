"""Conditions in derivatives: like terms are collected, positive factors divided out, ties
preserved."""

import numpy as np
import pytest
from sympy import Eq, Max, Piecewise, Rational, Symbol, diff, exp, symbols

import sympy_einsum as se

m, n = symbols("m n", integer=True, positive=True)
X, w = se.TensorSymbol("X", (n, m)), se.TensorSymbol("w", m)
x, y = se.tensors("x y", n)
a = Symbol("a", positive=True)
t = Symbol("t", real=True)
R = y - X @ w
HALF = Rational(1, 2)


def up(z):
    return se.step(z, HALF)


@pytest.mark.parametrize(
    ("expr", "variable", "expected"),
    [
        (se.Max(t * R, (t - 1) * R), w, -X.T @ (t * up(R) + (t - 1) * up(-R))),
        (se.Min(t * R, (t - 1) * R), w, -X.T @ (t * up(-R) + (t - 1) * up(R))),
        (se.Max(t * R + y, (t - 1) * R + y), w, -X.T @ (t * up(R) + (t - 1) * up(-R))),
        (se.Max(2 * R, R), w, -X.T @ (2 * up(R) + up(-R))),
        (se.Max(a * R, -R), w, -X.T @ (a * up(R) - up(-R))),
        (se.relu(a * x), x, a * se.step(x)),
        (se.relu(2 * x + 2 * y), x, 2 * se.step(x + y)),
        (se.relu(-3 * x), x, -3 * se.step(-x)),
        (abs(t * x - (t - 2) * x), x, 2 * se.sign(x)),
        (se.Max(x + y, x - y), x, se.Ones(n) * (up(y) + up(-y))),
        (
            se.relu(se.exp(y) * x),
            x,
            se.elementwise(lambda u, v: se.masked(se.step(u), exp(v)), x, y),
        ),
    ],
    ids=str,
)
def test_conditions_are_as_short_as_can_be(expr, variable, expected):
    assert se.gradient(expr.sum(), variable) == se.simplify(expected)


@pytest.mark.parametrize("tau", [0.3, -2.0, 0.0, 1.0])
def test_ties_are_shared_as_before(tau):
    rng = np.random.default_rng(0)
    rows, point = rng.standard_normal((5, 3)), rng.standard_normal(3)
    data = rows @ point + np.array([1.0, -2.0, 0.0, 0.0, 3.0])
    data[2:4] = rows[2:4] @ point
    r = data - rows @ point
    weights = np.where(r > 0, tau, np.where(r < 0, tau - 1, tau - 0.5))
    found = se.gradient(se.Max(t * R, (t - 1) * R).sum(), w)
    np.testing.assert_allclose(
        se.lambdify([X, w, y, t], found)(rows, point, data, tau), -rows.T @ weights
    )


@pytest.mark.parametrize(
    ("expr", "values"),
    [
        (se.step(t * x - (t - 2) * x, HALF), [0, 0.5, 1]),
        (se.sign(exp(t) * x), [-1, 0, 1]),
        (se.step(se.exp(y) * x), [0, 0, 1]),
        (se.step(-a * x, HALF), [1, 0.5, 0]),
        (se.step(a * x - a * x, HALF) + 0 * x, [0.5, 0.5, 0.5]),
        (se.elementwise(lambda u: Piecewise((1, t * u > (t - 1) * u), (2, True)), x), [2, 2, 1]),
        (se.elementwise(lambda u: Piecewise((1, Eq(t * u, (t - 1) * u)), (2, True)), x), [2, 1, 2]),
        (se.elementwise(lambda u: Piecewise((1, (t - 1) * u >= t * u), (2, True)), x), [1, 1, 2]),
    ],
    ids=str,
)
def test_values_of_conditions_stay(expr, values):
    data = np.array([-2.0, 0, 1.5]), np.array([0.4, -1, 2])
    for form in (expr, se.simplify(expr)):
        found = se.lambdify([x, y, t, a], form)(*data, 0.25, 0.5)
        np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize("factor", [t, -a, t**2, se.sin(a)])
def test_factors_of_unknown_sign_stay(factor):
    found = se.lambdify([x, t, a], se.simplify(se.step(factor * x)))
    for value in (-1.3, 0.0, 0.7):
        entries = np.array([-1.0, 2])
        scale = float(factor.subs({t: value, a: 4}))
        np.testing.assert_array_equal(found(entries, value, 4), np.heaviside(scale * entries, 0))


def test_common_numeric_factors_go():
    assert se.simplify(se.step(x / 2 + y / 2)) == se.step(x + y)
    assert se.simplify(se.step(HALF * x * se.sin(x) + HALF * se.cos(x))) == se.step(
        x * se.sin(x) + se.cos(x)
    )
    for left in (se.step(x / 2 + y / 3), se.step(x * se.sin(x) / 2 + se.cos(x) / 3)):
        assert se.simplify(left) == left


def test_conditions_of_scalars():
    u = Symbol("u", real=True)
    assert se.diff(Max(t * u, (t - 1) * u), u) == t * up(u) + (t - 1) * up(-u)
    assert se.simplify(se.step(2 * a * (x @ y))) == se.step(x @ y)
    assert se.simplify(se.sign(t * (x @ y) - (t - 1) * (x @ y))) == se.sign(x @ y)
    assert diff(Max(2 * u, u), u).subs(u, 1) == 2
