"""Products with all rows of a matrix, and all rows themselves, as one array."""

import numpy as np
import pytest
from sympy import symbols

import sympy_einsum as se

n, k = symbols("n k", integer=True, positive=True)
U, S, x = se.TensorSymbol("U", n, k), se.TensorSymbol("S", 3, k), se.TensorSymbol("x", k)
data = [np.random.default_rng(k).standard_normal(shape) for k, shape in enumerate([(4, 2), (3, 2)])]


@pytest.mark.parametrize(("rows", "dots"), [((0, 1, 2), 1), ((2, 0, 1), 1), ((0, 2), 2)])
def test_products_with_all_rows_are_one(rows, dots):
    expr = sum(se.sin(U @ S[row]) * (place + 1) for place, row in enumerate(rows))
    found = se.lambdify([U, S], expr)
    expected = sum(np.sin(data[0] @ data[1][row]) * (j + 1) for j, row in enumerate(rows))
    np.testing.assert_allclose(found(*data), expected)
    assert found.source.count(".dot(") == dots


def test_rows_at_equal_distances_are_a_slice():
    f = sum((se.tanh(U @ S[row]) * (row + 1)).sum() for row in range(3))
    found = se.lambdify([U, S], se.gradient(f, U))
    derivatives = [(row + 1) / np.cosh(data[0] @ data[1][row]) ** 2 for row in range(3)]
    np.testing.assert_allclose(found(*data), np.transpose(derivatives) @ data[1])
    assert found.source.count("np.array([") == 1


def test_dependent_rows_stay_in_order():
    """A matrix that depends on a row's product is multiplied after it."""
    first = se.tanh(U @ S[0])
    V = se.outer(first, x)
    expr = V @ S[0] + V @ S[1] + V @ S[2]
    arrays = [*data, np.array([1.0, -2])]
    outer = np.outer(np.tanh(data[0] @ data[1][0]), arrays[2])
    expected = (outer @ data[1].T).sum(1)
    np.testing.assert_allclose(se.lambdify([U, S, x], expr)(*arrays), expected)


def test_slices_of_a_vector_are_no_rows():
    y = se.TensorSymbol("y", k + 1)
    found = se.lambdify([U, y], U @ y[1:] + 2 * (U @ y[:-1]))
    value = np.array([1.0, 3, -2])
    np.testing.assert_allclose(found(data[0], value), data[0] @ (value[1:] + 2 * value[:-1]))
