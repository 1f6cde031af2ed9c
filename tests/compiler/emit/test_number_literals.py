"""Exact numbers that no array can hold become the nearest floating-point numbers."""

from __future__ import annotations

import numpy as np
import pytest
from libraries import EVERY
from oracles import assert_close
from sympy import Integer, Max, Min, Rational, Symbol, sin

import sympy_einsum as se
import sympy_einsum.numpy as snp

x, y = se.tensors("x y", 2)
t = Symbol("t", real=True)
POINT, OTHER = np.array([0.5, -2.0]), np.array([1.0, 3.0])
SQUARE = POINT @ POINT
NUMBERS = {
    "an integer of more than 64 bits": Integer(2) ** 70,
    "beyond doubles": Integer(2) ** 5000,
    "negative": -(Integer(2) ** 5000),
    "that Python can't write": 3 * Integer(2) ** 20_000,
}
# Expressions with a number, and what NumPy makes of its nearest double.
USES = {
    "multiple": (lambda c: c * x, lambda c: c * POINT),
    "scalar": (lambda c: c * (x @ x), lambda c: c * SQUARE),
    "function of a scalar": (lambda c: c * sin(x @ x), lambda c: c * np.sin(SQUARE)),
    "maximum": (lambda c: Max(x @ x, c), lambda c: max(SQUARE, c)),
    "minimum": (lambda c: Min(x @ x, c), lambda c: min(SQUARE, c)),
    "condition": (lambda c: snp.where(x > c, x, y), lambda c: np.where(c < POINT, POINT, OTHER)),
    "sum": (lambda c: x + c, lambda c: POINT + c),
    "quotient": (lambda c: x / c, lambda c: POINT / c),
    "gradient": (lambda c: se.gradient((c * x**2).sum(), x), lambda c: 2 * c * POINT),
    "times a scalar": (lambda c: t * c + x @ x, lambda c: 0.75 * c + SQUARE),
    "power": (lambda c: (x + 3) ** c, lambda c: (POINT + 3) ** c),
    "root": (lambda c: (x + 3) ** (1 / c), lambda c: (POINT + 3) ** (1 / c)),
    "exponential": (lambda c: c ** (-x), lambda c: c ** (-POINT)),
    "entry": (lambda c: se.Constant([c, 1]) @ y, lambda c: np.array([c, 1.0]) @ OTHER),
    "fraction near 1": (lambda c: x * ((c + 1) / (c - 1)), lambda c: POINT),
}
OF_POSITIVE = ("power", "root", "exponential")


@pytest.fixture
def computed(backend):
    """Return values on a backend."""
    library = EVERY[backend]()

    def values(expression):
        arguments = [library.into(value) for value in (POINT, OTHER, 0.75)]
        return library.back(se.lambdify([x, y, t], expression, backend=backend)(*arguments))

    return values


@pytest.mark.parametrize("backend", EVERY)
@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_that_no_array_holds(computed, number):
    number = NUMBERS[number]
    for name, (expression, expected) in USES.items():
        if number < 0 and name in OF_POSITIVE:
            continue
        with np.errstate(all="ignore"):
            found = computed(expression(number))
            np.testing.assert_allclose(found, expected(float(number)), rtol=1e-12)


def test_numbers_that_cancel_are_exact():
    number = NUMBERS["beyond doubles"]
    assert number * x / number == x
    assert number * (x @ x) / number == x @ x
    assert_close(se.lambdify([x], number * x * (x / number))(POINT), POINT**2)


def test_fractions_are_rounded_once():
    number = Rational(2**200 + 1, 3**130)
    assert se.lambdify([x], number * x)(np.ones(2))[0] == float(number)
