"""Functions of multiples and of functions, entry by entry: what isn't rearranged, and what is."""

import numpy as np
import pytest

import sympy_einsum as se

A, x = se.TensorSymbol("A", 3, 3), se.TensorSymbol("x", 3)
a = np.array([[-1.0, 2.0, 3.0], [0.5, -4.0, 1.0], [2.0, 2.0, 5.0]])
v = np.array([1.0, -2.0, 0.5])


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (se.Abs(-2 * A), 2 * np.abs(a)),
        (se.Abs(-2 * A.T), 2 * np.abs(a.T)),
        (se.Abs(-2 * se.einsum("ii->ii", A)), 2 * np.diag(np.abs(a.diagonal()))),
        (se.cos(-se.einsum("ii->ii", A)), np.cos(np.diag(a.diagonal()))),
        (se.sqrt(4 * se.einsum("ii->ii", A**2)), 2 * np.diag(np.abs(a.diagonal()))),
        (se.Abs(-3 * se.diag(x)), 3 * np.diag(np.abs(v))),
        (se.exp(-se.outer(x, se.Ones(3))), np.exp(-np.outer(v, np.ones(3)))),
    ],
    ids=str,
)
def test_functions_of_multiples(expr, expected):
    np.testing.assert_allclose(se.lambdify([A, x], se.simplify(expr))(a, v), expected)


def test_a_reshaped_multiple_is_a_multiple():
    assert se.reshape(2 * A, (9,)) == 2 * se.reshape(A, (9,))
