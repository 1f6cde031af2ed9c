"""Simplifications that SymPy makes for positive and real symbols when it builds an expression hold
for tensors."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from sympy import Rational, symbols

import sympy_einsum as se

n = symbols("n", integer=True, positive=True)
x = se.TensorSymbol("x", n)
y = se.TensorSymbol("y", n, positive=True)
z = se.TensorSymbol("z", n, nonnegative=True)
X = np.array([-1.5, 0.0, 0.5, 2.0])
SQUARES = se.TensorSymbol("A", n, n) ** 2 @ x**2

BUILT = [
    (abs(y), y),
    (sympy.Abs(y), y),
    (se.sqrt(y**2), y),
    (sympy.sqrt(y**2), y),
    ((y**3) ** Rational(1, 3), y),
    (se.sign(y), se.Ones(n)),
    (se.Max(y, 0), y),
    (se.relu(se.exp(x)), se.exp(x)),
    (abs(z), z),
    (se.sqrt(z**2), z),
    (se.sqrt(x**2), abs(x)),
    (1 / se.sqrt(x), x ** Rational(-1, 2)),
    (abs(x**2 + 1), x**2 + 1),
    (abs(se.softmax(x)), se.softmax(x)),
    (se.sqrt(se.exp(x) ** 2), se.exp(x)),
    (abs(y * y + se.exp(x)), y * y + se.exp(x)),
    (abs(SQUARES + SQUARES[::-1]), SQUARES + SQUARES[::-1]),
]


@pytest.mark.parametrize(("built", "known"), BUILT, ids=range(len(BUILT)))
def test_construction(built, known):
    assert se.equal(built, known)
    assert str(built) == str(known)


@pytest.mark.parametrize(
    "e",
    [abs(x), se.sign(x), se.sign(z), (x**3) ** Rational(1, 3), abs(x * y), se.log(x**2)],
    ids=str,
)
def test_unknown_cases_stay(e):
    assert isinstance(e, se.Elementwise)


def test_logarithms_of_powers():
    assert se.simplify(se.log(y**2)) is 2 * se.log(y)
    assert se.simplify(se.log(1 / y)) is -se.log(y)
    assert se.simplify(se.log(x**2)) is se.log(x**2)


@pytest.mark.parametrize("e", [se.sqrt(x**2), (x**2) ** Rational(3, 2)])
def test_values_and_derivatives_at_zero(e):
    power = 1 if e == abs(x) else 3
    value, derivative = se.lambdify([x], [e, se.diff(se.sum(e), x)])(X)
    np.testing.assert_allclose(value, np.abs(X) ** power, rtol=1e-14)
    np.testing.assert_allclose(
        derivative, power * np.abs(X) ** (power - 1) * np.sign(X), rtol=1e-14
    )
