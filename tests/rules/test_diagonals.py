"""Matrices declared diagonal: their algebra, and code without matrix products."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from libraries import LIBRARIES
from sympy import symbols

import sympy_einsum as se

n, m = symbols("n m", integer=True, positive=True)
D, E = se.tensors("D E", n, n, diagonal=True)
A = se.TensorSymbol("A", (n, n))
X = se.TensorSymbol("X", (n, m))
x = se.TensorSymbol("x", n)
rng = np.random.default_rng(5)
d, e = (np.diag(rng.uniform(0.5, 2, 4)) for _ in range(2))
VALUES = {
    D: d,
    E: e,
    A: rng.standard_normal((4, 4)),
    X: rng.standard_normal((4, 3)),
    x: rng.standard_normal(4),
}
a, v = VALUES[A], VALUES[x]
inverse = np.linalg.inv(d)
# With what NumPy makes of it.
CASES = {
    "square": (D @ D, d @ d),
    "product": (D @ E @ A, d @ e @ a),
    "from the right": (A @ D @ E, a @ d @ e),
    "quadratic form": (x @ D @ x, v @ d @ v),
    "inverse": (D.inv(), inverse),
    "solution": (D.inv() @ x, inverse @ v),
    "congruence": (D @ A @ D.inv() + E, d @ a @ inverse + e),
    "Hadamard": (D * A, d * a),
    "trace": ((D @ E).trace(), np.trace(d @ e)),
    "itself": (D, d),
    "added": (D @ D + A, d @ d + a),
    "inverse of a product": (se.inv(D @ E), np.linalg.inv(d @ e)),
    "elementwise": (se.tanh(D) @ x, np.tanh(d) @ v),
    "sum": ((D + E) @ x, (d + e) @ v),
    "inverse of a sum": (se.inv(D + E) @ A, np.linalg.inv(d + e) @ a),
    "weights": (X.T @ D @ X, VALUES[X].T @ d @ VALUES[X]),
    "multiple": (2 * D @ A, 2 * d @ a),
    "gradient": (se.gradient(x @ D.inv() @ x, x), 2 * inverse @ v),
    "outer": (se.einsum("ij,kl->ijkl", D, E), np.einsum("ij,kl->ijkl", d, e)),
    "determinant": (se.det(D), np.linalg.det(d)),
    "determinant of a sum": (se.det(D + E @ D), np.linalg.det(d + e @ d)),
    "determinant of a multiple": (se.det(2 * D), np.linalg.det(2 * d)),
    "its logarithm": (se.logdet(D @ E), np.linalg.slogdet(d @ e)[1]),
    "its derivative": (se.diff(se.det(D), D), np.linalg.det(d) * inverse),
    "adjugate": (se.adj(D) @ x, np.linalg.det(d) * inverse @ v),
    "sum of matrices": (D + E, d + e),
    "diagonal": (D.diagonal(), d.diagonal()),
    "sum of all": (D.sum(), d.sum()),
    "sum of rows": (D.sum(axis=1), d.sum(axis=1)),
}


@pytest.mark.parametrize("name", CASES)
def test_products_with_diagonals(name):
    expr, value = CASES[name]
    arguments = [symbol for symbol in VALUES if symbol in expr.free_symbols]
    values = [VALUES[symbol] for symbol in arguments]
    function = se.lambdify(arguments, expr)
    np.testing.assert_allclose(function(*values), value, atol=1e-13)
    stock = sympy.lambdify(arguments, expr, "numpy")
    np.testing.assert_allclose(stock(*values), value, atol=1e-13)
    assert "linalg" not in function.source
    assert "D.dot" not in function.source


def test_diagonal_matrices_commute():
    assert se.equal(D @ E, E @ D) is True
    assert se.equal(D @ A @ E.inv() @ E, D @ A) is True
    assert se.equal(D @ E @ D.inv() @ x, E @ x) is True
    assert se.equal(D @ A, A @ D) is False
    vector = se.TensorSymbol("D'", n)
    assert se.equal(D @ x, se.diag(vector) @ x) is False


@pytest.mark.parametrize(
    "entries", [[1.5, -2, 3, 0.5], [0, 2, 3, 4.0], [0, 0, 1, 2.0], [3.0], [0.0]]
)
@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "dask"])
def test_singular_diagonals(entries, backend):
    library = LIBRARIES[backend]()
    entries = np.array(entries)
    others = [np.prod(np.delete(entries, k)) for k in range(len(entries))]
    function = se.lambdify([D], [se.det(D), se.adj(D), se.diff(se.det(D), D)], backend=backend)
    results = function(library.into(np.diag(entries)))
    for result, expected in zip(results, [entries.prod(), *[np.diag(others)] * 2], strict=True):
        np.testing.assert_allclose(library.back(result), expected, rtol=1e-6)


def test_cores_of_diagonal_hessians_are_computed_alone():
    k = symbols("k", integer=True, positive=True)
    M, U, V = (
        se.TensorSymbol(name, shape)
        for name, shape in {"M": (m, n), "U": (m, k), "V": (n, k)}.items()
    )
    hessian = se.hessian(((M * (U @ V.T)) ** 2).sum() + (U**2).sum(), U)
    blocks = se.simplify(se.einsum("ijik->ijk", hessian))
    compiled = se.lambdify([M, V], blocks)
    assert compiled.cost({m: 10**6, n: 3, k: 2}).bytes < 10**9  # not 10**13
    mask, v = rng.standard_normal((5, 4)), rng.standard_normal((4, 3))
    whole = se.lambdify([M, V], hessian)(mask, v)
    np.testing.assert_allclose(compiled(mask, v), np.einsum("ijik->ijk", whole), rtol=1e-12)
