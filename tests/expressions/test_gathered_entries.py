"""One-hot factors at positions that are constant, repeated or rearranged: they are built from fewer
positions."""

import numpy as np
import pytest

import sympy_einsum as se

x, p, P = se.TensorSymbol("x", 5), se.TensorSymbol("p", 2), se.TensorSymbol("P", (2, 3))
VALUES = {
    x: np.array([2.0, 3.0, 5.0, 7.0, 11.0]),
    p: np.array([1, 0]),
    P: np.array([[1, 2, 0], [1, 2, 0]]),
}
ones = np.ones(2, int)
CASES = {
    "zeros": (se.Zeros(2), 0 * ones),
    "ones": (se.Ones(2), ones),
    "one number": (3 * se.Ones(2, 2), 3 * np.ones((2, 2), int)),
    "transposed": (P.T, VALUES[P].T),
    "with an axis of length 1": (P[:, None, :], VALUES[P][:, None, :]),
    "repeated": (se.outer(p, se.Ones(3)), np.outer(VALUES[p], np.ones(3, int))),
    "a multiple": (2 * p, 2 * VALUES[p]),
    "a diagonal": (se.diag(p), np.diag(VALUES[p])),
    "of a matrix": (P[:, :2].diagonal(), VALUES[P][:, :2].diagonal()),
}


@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives(name):
    positions, numbers = CASES[name]
    taken = x[positions]
    weights = np.cos(np.arange(numbers.size)).reshape(numbers.shape)
    derivative = se.gradient((taken * weights).sum(), x)
    assert taken.shape == positions.shape
    value, gradient = se.lambdify(list(VALUES), [taken, derivative])(*VALUES.values())
    np.testing.assert_array_equal(value, VALUES[x][numbers])
    expected = np.zeros(5)
    np.add.at(expected, numbers, weights)
    np.testing.assert_allclose(gradient, expected)


def test_they_are_written_with_fewer():
    assert x[se.Zeros(2)] == x[0] * se.Ones(2)
    assert x[3 * se.Ones(2)] == x[3] * se.Ones(2)
    assert x[P.T] == x[P].T
