"""Definiteness by structure, against eigenvalues of random data."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy import Rational, symbols

import sympy_einsum as se
from sympy_einsum.verification import Samples

m, n = symbols("m n", integer=True, positive=True)
a, b = symbols("a b", real=True)
c = symbols("c", positive=True)
A, B = se.TensorSymbol("A", m, n), se.TensorSymbol("B", n, m)
K, L = se.tensors("K L", n, n, psd=True)
P, R = se.tensors("P R", n, n, pd=True)
Q = se.TensorSymbol("Q", m, m, pd=True)
G = se.TensorSymbol("G", n, n, symmetric=True)
X = se.TensorSymbol("X", n, n)
D = se.TensorSymbol("D", n, n, diagonal=True)
x, v = se.TensorSymbol("x", n), se.TensorSymbol("v", m)
p = se.TensorSymbol("p", n, positive=True)
w = se.TensorSymbol("w", m, nonnegative=True)


def rows(*entries):
    return se.stack([se.stack([sp.sympify(entry) for entry in row]) for row in entries])


CASES = {
    "declared semidefinite": (K, "psd"),
    "declared definite": (P, "pd"),
    "Gram matrix": (A.T @ A, "psd"),
    "ridge": (A.T @ A + se.eye(n), "pd"),
    "weighted Gram matrix": (A.T @ se.diag(w) @ A, "psd"),
    "Gram matrix with exponentials": (A.T @ se.diag(se.exp(v)) @ A, "psd"),
    "weights in an interval": (A.T @ se.diag(2 - se.cos(v)) @ A, "psd"),
    "weights of both signs": (A.T @ se.diag(1 - 2 * se.cos(v)) @ A, None),
    "inner definite": (B.T @ P @ B, "psd"),
    "outer product": (se.outer(x, x), "psd"),
    "opposite": (-A.T @ A, "nsd"),
    "opposite of definite": (-P - K, "nd"),
    "sum": (K + L, "psd"),
    "sum with a definite one": (K + P, "pd"),
    "difference": (K - L, None),
    "positive multiple": (c * P, "pd"),
    "multiple of unknown sign": (a * P, None),
    "square as a factor": ((1 + a**2) * P, "pd"),
    "Hadamard": (K * L, "psd"),
    "Hadamard of definite": (P * R, "pd"),
    "Kronecker": (se.kron(K, P), "psd"),
    "Kronecker of definite": (se.kron(P, Q), "pd"),
    "Kronecker of different signs": (se.kron(P, -Q), "nd"),
    "Kronecker of a symmetric one": (se.kron(P, G), None),
    "product that isn't symmetric": (K @ L, None),
    "inverse": (se.inv(P), "pd"),
    "inverse of a sum": (se.inv(A.T @ A + se.eye(n)), "pd"),
    "pseudoinverse": (se.pinv(K), "psd"),
    "exponential": (se.expm(G), "pd"),
    "exponential of any matrix": (se.expm(X), None),
    "square": (G @ G, "psd"),
    "power of entries": (K**2, "psd"),
    "exponentials of entries": (se.exp(K), "psd"),
    "sine of entries": (se.sin(K), None),
    "polynomial of entries": (1 + K + 3 * K**3, "psd"),
    "diagonal": (se.diag(p), "pd"),
    "diagonal of unknown sign": (D, None),
    "identity": (se.eye(n), "pd"),
    "opposite of the identity": (-3 * se.eye(n), "nd"),
    "zeros": (se.Zeros(n, n), "psd"),
    "ones": (se.Ones(n, n), "psd"),
    "symmetric": (G, None),
    "symmetrised": (X + X.T, None),
    "asymmetric": (X, None),
    "Schur complement": (se.block([[P, B], [B.T, B.T @ se.inv(P) @ B + Q]]), "pd"),
    "Schur complement of zeros": (se.block([[P, B], [B.T, B.T @ se.inv(P) @ B]]), "psd"),
    "unknown Schur complement": (se.block([[P, B], [B.T, Q]]), None),
    "block diagonal": (se.block([[P, se.Zeros(n, m)], [se.Zeros(m, n), Q]]), "pd"),
    "numbers": (se.Constant([[2, 1], [1, 2]]), "pd"),
    "singular numbers": (se.Constant([[1, 1], [1, 1]]), "psd"),
    "negative numbers": (se.Constant([[-2, 1], [1, -2]]), "nd"),
    "indefinite numbers": (se.Constant([[1, 2], [2, 1]]), None),
    "floats": (se.Constant([[0.5, 0.1], [0.1, 0.3]]), "pd"),
    "singular floats": (se.Constant([[0.1, 0.1], [0.1, 0.1]]), None),
    "fractions": (se.Constant([[Rational(1, 2), 0], [0, Rational(1, 3)]]), "pd"),
    "minors": (rows([a**2 + 1, a], [a, 1]), "pd"),
    "singular minors": (rows([a**2, a], [a, 1]), "psd"),
    "wrong minors": (rows([1, a], [a, 1]), None),
    "dominance": (rows([2 + sp.sin(a), sp.cos(a) / 2], [sp.cos(a) / 2, 1]), "pd"),
    "three rows": (rows([3, sp.sin(a), 1], [sp.sin(a), 3, sp.cos(b)], [1, sp.cos(b), 3]), "pd"),
    "Hessian of least squares": (se.hessian(((A @ x - v) ** 2).sum(), x), "psd"),
    "Hessian of logistic regression": (
        se.hessian(se.softplus(A @ x).sum() + x @ x, x),
        "pd",
    ),
    "kernel": (se.exp(-((x[:, None] - x[None, :]) ** 2)), "psd"),
}


@pytest.mark.parametrize("name", CASES)
def test_structure(name):
    matrix, expected = CASES[name]
    assert se.is_definite(matrix) == expected
    if expected and matrix.free_symbols:
        for _, (value,) in Samples([matrix]).draw(3):
            signed = value if expected in ("pd", "psd") else -value
            smallest = np.linalg.eigvalsh(signed).min()
            size = 1e-9 * (1 + abs(value).max())
            assert np.allclose(value, value.T)
            assert smallest > (0 if expected in ("pd", "nd") else -size)


@pytest.mark.parametrize("shape", [(), (3,), (3, 4), (2, 2, 2)])
def test_other_shapes(shape):
    with pytest.raises(se.ShapeError, match="square matrices"):
        se.is_definite(se.TensorSymbol("T", shape))


def test_complex_matrices():
    with pytest.raises(se.UnsupportedError, match="complex"):
        se.is_definite(se.Constant([[1, 1j], [-1j, 1]]))


def test_a_definite_symbol_is_semidefinite():
    assert P.assumptions == ("pd", "psd")
    assert P.is_symmetric
    assert eval(sp.srepr(P), {**vars(sp), **vars(se)}) is P
    assert se.TensorSymbol("P", n, n, pd=False) is se.TensorSymbol("P", n, n)
