"""Powers of products and of multiples, entry by entry."""

from __future__ import annotations

import pytest
from sympy import Symbol, symbols

import sympy_einsum as se
from sympy_einsum.rules.powers import expand_power

n = symbols("n", integer=True, positive=True)
x, y = se.tensors("x y", n)
t = Symbol("t")


@pytest.mark.parametrize(
    ("power", "expected"),
    [
        ((x * y) ** 2, x**2 * y**2),
        ((t * x) ** 2, t**2 * x**2),
        (se.outer(x, y) ** 3, se.outer(x**3, y**3)),
        (x**2, None),
    ],
    ids=str,
)
def test_powers_of_products(power, expected):
    assert expand_power(power, frozenset()) == expected


A = se.TensorSymbol("A", n, n)
z = A @ x


@pytest.mark.parametrize(
    ("product", "expected"),
    [
        (x / se.sqrt(t * x), se.sqrt(t * x) / t),
        (x * (t * x) ** 2, t**2 * x**3),
        (x * y / se.sqrt(t * x), y * se.sqrt(t * x) / t),
        (z * y / se.sqrt(t * z), y * se.sqrt(t * z) / t),
        (z / (t * z), se.Ones(n) / t),
        (x * z / (t * x * z) ** 2, 1 / (x * z) / t**2),
        (se.sign(x) / se.Abs(x), 1 / x),
        (se.sign(z) * se.Abs(z) ** 3, z**3),
        (se.sign(x) / se.Abs(y), se.sign(x) / se.Abs(y)),
        (A.diagonal() / A.diagonal(), se.Ones(n)),
        (A.diagonal() * x / se.diagonal(A.T), x),
        (se.einsum("ij,i->ij", A, 1 / A.diagonal()), se.einsum("ij,i->ij", A, 1 / A.diagonal())),
    ],
    ids=str,
)
def test_powers_of_multiples_and_of_diagonals(product, expected):
    assert se.simplify(product) == se.simplify(expected)
    assert se.check_derivative(product, x) < 1e-6
