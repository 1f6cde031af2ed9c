"""Factors of decompositions in products give their matrix, its inverse or the identity."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import assert_close, evaluate, k, m, n
from sympy import Symbol

import sympy_einsum as se

rng = np.random.default_rng(12)
tall = rng.standard_normal((5, 3))
S, y = se.TensorSymbol("S", n, n, pd=True), se.TensorSymbol("y", n)
A = se.TensorSymbol("A", n, n)
M = se.TensorSymbol("M", m + n, n)
Q = se.TensorSymbol("Q", k, m + n, n)
DATA = {
    S: tall.T @ tall,
    A: tall.T @ tall,
    y: rng.standard_normal(3),
    M: tall,
    Q: rng.standard_normal((4, 5, 3)),
}
L, (w, V), (q, R), (U, s, Vh) = se.cholesky(S), se.eigh(S), se.qr(M), se.svd(M, False)
stack = se.svd(Q, False)
JOINED = {
    "Cholesky": (L @ L.T, S),
    "Cholesky, inverse": (se.inv(L).T @ se.inv(L) @ y, se.inv(S) @ y),
    "whitened": (((se.inv(L) @ y) ** 2).sum(), y @ se.inv(S) @ y),
    "solved twice": (se.solve(L.T, se.solve(L, y)), se.inv(S) @ y),
    "norm of the factor": ((L**2).sum(), S.trace()),
    "logarithms": (2 * se.log(L.diagonal()).sum(), se.logdet(S)),
    "eigenvalues": (V @ se.diag(w) @ V.T, S),
    "eigenvectors": (V.T @ V @ y, y),
    "rows of eigenvectors": (V @ V.T, se.Delta(n)),
    "trace": ((V.T @ V).trace(), n),
    "QR": (q @ R, M),
    "orthonormal": (q.T @ q, se.Delta(n)),
    "SVD": (U @ se.diag(s) @ Vh, M),
    "left vectors": (U.T @ U, se.Delta(n)),
    "right vectors": (Vh @ Vh.T, se.Delta(n)),
    "SVD of a stack": (se.einsum("ijk,ik,ikl->ijl", *stack), Q),
    "left vectors of a stack": (
        se.einsum("ijk,ijl->ikl", stack.U, stack.U),
        se.einsum("i,j->ijj", se.Ones(k), se.Ones(n)),
    ),
}


@pytest.mark.parametrize("name", JOINED)
def test_factors_are_joined(name):
    given, wanted = JOINED[name]
    assert se.simplify(given) == se.simplify(wanted)
    assert se.equal(given, wanted)
    assert_close(evaluate(given, DATA), evaluate(wanted, DATA))


@pytest.mark.parametrize(
    "e",
    [
        L.T @ L,
        V @ se.diag(w**2 + 1) @ V.T,
        U @ U.T,
        se.log(L.diagonal() + 1).sum(),
        se.log(se.einsum("ij->i", L)).sum(),
        se.einsum("ik,jk,k->ij", L, L, y),
        # Not known to be symmetric: the derivative by A would be another one.
        se.cholesky(A) @ se.cholesky(A).T,
        se.log(se.cholesky(A).diagonal()).sum(),
    ],
)
def test_others_are_not(e):
    assert se.simplify(e).has(se.Cholesky, se.EigenVectors, se.LeftVectors)
    assert_close(evaluate(se.simplify(e), DATA), evaluate(e, DATA))


def test_the_gradient_of_a_log_likelihood_by_its_cholesky_factor():
    noise = Symbol("s")
    K = A @ A.T + noise * se.Delta(n)
    factor = se.cholesky(K)
    white = se.solve(factor, y)
    f = white @ white / 2 + se.log(factor.diagonal()).sum()
    textbook = y @ se.inv(K) @ y / 2 + se.logdet(K) / 2
    gradient = se.gradient(f, A)
    assert gradient == se.gradient(textbook, A)
    assert not gradient.has(se.Cholesky)
    values = {A: rng.standard_normal((3, 3)), y: DATA[y], noise: 0.3}
    step = 1e-6 * rng.standard_normal((3, 3))
    moved = [evaluate(f, {**values, A: values[A] + sign * step}) for sign in (1, -1)]
    expected = (moved[0] - moved[1]) / 2
    np.testing.assert_allclose((evaluate(gradient, values) * step).sum(), expected, rtol=1e-6)
