"""Whole powers of products, entry by entry."""

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
