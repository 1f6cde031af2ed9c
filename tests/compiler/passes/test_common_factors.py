"""Common factors of all terms of a sum are multiplied once, where that saves a product."""

from __future__ import annotations

import numpy as np
import pytest
from sympy import Rational, symbols

import sympy_einsum as se

n = symbols("n", integer=True, positive=True)
x, y, z = se.tensors("x y z", (n,))
DATA = [np.array([1.0, -2.0, 3.0]), np.array([0.5, 4.0, -1.0]), np.array([2.0, 0.0, -3.0])]


def compiled(*exprs, **options):
    return se.lambdify([x, y, z], list(exprs), **options)


def test_a_factor_of_two_terms_is_multiplied_once():
    source = compiled(x * y - z * x, optimize=False).source
    assert "x * (y - z)" in source


def test_products_that_are_needed_elsewhere_too_are_added():
    one, other = x * y, x * z
    function = compiled(one, other, one + other, optimize=False)
    assert function.source.count("x * ") == 2
    np.testing.assert_array_equal(function(*DATA)[2], DATA[0] * (DATA[1] + DATA[2]))


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ((2, -2, 2), "2 * (x + z - y)"),
        ((-2, -2, -2), "-2 * (x + y + z)"),
        ((Rational(1, 3), Rational(-1, 3), 0), "(x - y)"),
    ],
)
def test_a_number_is_multiplied_once_with_either_sign(numbers, expected):
    terms = [c * own for c, own in zip(numbers, (x, y, z), strict=True) if c]
    function = compiled(sum(terms[1:], terms[0]), optimize=False)
    assert expected in function.source
    wanted = sum(float(c) * own for c, own in zip(numbers, DATA, strict=True))
    np.testing.assert_allclose(function(*DATA)[0], wanted)


def test_different_numbers_stay_where_they_are():
    assert "(" not in compiled(2 * x + 3 * y, optimize=False).source.split("t1 = ")[1].split("#")[0]


def test_an_equal_sum_elsewhere_is_the_same_one():
    source = compiled(2 * x - 2 * y, ((x - y) ** 2).sum()).source
    assert source.count("x - y") == 1


def test_a_sum_that_is_written_to_is_no_other_ones():
    """Its diagonal is changed afterwards."""
    A = se.TensorSymbol("A", (n, n))
    B = se.TensorSymbol("B", (n, n))
    exprs = [2 * A - 2 * B, A - B + se.diag(x)]
    first, second = (np.arange(9.0).reshape(3, 3) ** power for power in (1, 2))
    found = se.lambdify([A, B, x], exprs)(first, second, DATA[0])
    np.testing.assert_array_equal(found[0], 2 * first - 2 * second)
    np.testing.assert_array_equal(found[1], first - second + np.diag(DATA[0]))


def test_a_multiple_that_is_known_is_multiplied_further():
    """With opposite sign in a sum, but not elsewhere."""
    exprs = [3 * x, y - 3 * x * y, -3 * x * z, 3 * x * (y + z), y + z - 3 * x * (y + z) * x]
    function = compiled(*exprs, optimize=False)
    a, b, c = DATA
    expected = [3 * a, b - 3 * a * b, -3 * a * c, 3 * a * (b + c), b + c - 3 * a * (b + c) * a]
    for found, value in zip(function(*DATA), expected, strict=True):
        np.testing.assert_array_equal(found, value)


def test_the_gradient_of_rosenbrock_takes_a_multiple_once():
    f = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
    source = se.lambdify([x], [f, se.gradient(f, x)]).source
    assert source.count("200 * ") == 1
