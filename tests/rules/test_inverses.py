"""Inverses in products: other factors on the index between two inverses keep these from
cancelling."""

import numpy as np
import pytest

import sympy_einsum as se

A, B, x = se.TensorSymbol("A", 3, 3), se.TensorSymbol("B", 3, 3), se.TensorSymbol("x", 3)
a = np.array([[2.0, 1.0, 0.5], [0.0, 3.0, -1.0], [1.0, 0.5, 4.0]])
b, v = a[::-1] + np.eye(3), np.array([1.0, -2.0, 0.5])
i, j = np.linalg.inv(a), np.linalg.inv(a @ b)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (se.einsum("ab,bc,b->ac", A.inv(), A, x), i @ np.diag(v) @ a),
        (se.einsum("ab,bc->abc", A.inv(), A), np.einsum("ab,bc->abc", i, a)),
        (se.einsum("ab,bb->ab", A.inv(), A), i * a.diagonal()),
        (se.einsum("ab,ba->a", A.inv(), A), np.ones(3)),
        (se.einsum("ab,bc,b->ac", (A @ B).inv(), A, x), j @ np.diag(v) @ a),
        (se.einsum("ab,cb->ac", A.inv(), A), i @ a.T),
        (A.inv() @ A @ A.inv() @ x, i @ v),
        (se.inv(3 * se.einsum("aa->aa", A)) @ x, v / a.diagonal() / 3),
        (
            se.einsum("ab,bc,c->ac", A, B, 1 / se.einsum("aa,ac->c", A, B)),
            a @ b / (a.diagonal() @ b),
        ),
    ],
    ids=str,
)
def test_values(expr, expected):
    found = se.lambdify([A, B, x], se.simplify(expr))(a, b, v)
    np.testing.assert_allclose(found, expected, atol=1e-12)
