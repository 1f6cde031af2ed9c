"""Derivatives that users ask for in forums and issue trackers, typed as they type them.

A row is the topic, the shapes of the symbols, the function in NumPy's or SymPy's words, the
variables, and the derivative by NumPy; a row without variables is compared as it is. The questions
are from Stack Overflow, Mathematics and Cross Validated, the forum of PyTorch, and SymPy's issues;
the last rows are examples of the books below.

References
==========

J. Nocedal, S. J. Wright, "Numerical Optimization", 2006.
C. M. Bishop, "Pattern Recognition and Machine Learning", 2006.
"""

# ruff: noqa: E501

from __future__ import annotations

import numpy as np
import pytest
import sympy
from oracles import assert_close
from scipy.special import expit, softmax
from sympy import Determinant, Identity, MatrixSymbol, Rational, Trace, log, pi, symbols

import sympy_einsum as se

m, n, k = symbols("m n k", integer=True, positive=True)
LENGTHS = {m: 4, n: 3, k: 2}
inv, det, outer, trace, diag, eye = (
    np.linalg.inv,
    np.linalg.det,
    np.outer,
    np.trace,
    np.diag,
    np.eye,
)


# fmt: off
QUESTIONS = [
    ("squared Frobenius norm of X X'", {"X": (m, n)},
     lambda X: se.norm(X @ X.T) ** 2, "X",
     lambda X: 4 * X @ X.T @ X),
    ("distance of a Gram matrix", {"X": (m, n), "A": (n, n)},
     lambda X, A: se.trace((X.T @ X - A).T @ (X.T @ X - A)), "X",
     lambda X, A: 4 * X @ X.T @ X - 2 * X @ (A + A.T)),
    ("two factorizations with a common factor", {"P": (m, n), "Q": (m, k), "A": (m, 5), "B": (n, 5), "C": (k, 5)},
     lambda P, Q, A, B, C: se.norm(P - A @ B.T) ** 2 + se.norm(Q - A @ C.T) ** 2, "A",
     lambda P, Q, A, B, C: 2 * (A @ B.T - P) @ B + 2 * (A @ C.T - Q) @ C),
    ("loss with X B X'", {"Y": (n, n), "X": (n, n), "B": (n, n)},
     lambda Y, X, B: np.linalg.norm(Y - X @ B @ X.T, "fro") ** 2, "X",
     lambda Y, X, B: 2 * (X @ B @ X.T - Y) @ X @ B.T + 2 * (X @ B @ X.T - Y).T @ X @ B),
    ("logarithm of the determinant of A X B + C", {"A": (n, m), "X": (m, k), "B": (k, n), "C": (n, n)},
     lambda A, X, B, C: np.linalg.slogdet(A @ X @ B + C)[1], "X",
     lambda A, X, B, C: A.T @ inv(A @ X @ B + C).T @ B.T),
    ("determinant of a multiple of I plus x x'", {"x": n},
     lambda x: se.log(se.det(Rational(3, 10) * se.eye(n) + np.outer(x, x))), "x",
     lambda x: 2 * x / (0.3 + x @ x)),
    ("trace with X and its inverse", {"X": (n, n), "A": (n, n), "B": (n, n)},
     lambda X, A, B: (X.T @ A @ X.inv() @ B).trace(), "X",
     lambda X, A, B: A @ inv(X) @ B - inv(X).T @ A.T @ X @ B.T @ inv(X).T),
    ("trace of an inverse with X inside", {"A": (n, k), "X": (m, k), "B": (m, n), "C": (n, n), "D": (n, n)},
     lambda A, X, B, C, D: se.trace(np.linalg.inv(A @ X.T @ B + C) @ D), "X",
     lambda A, X, B, C, D: -B @ inv(A @ X.T @ B + C) @ D @ inv(A @ X.T @ B + C) @ A),
    ("trace with an entrywise quotient", {"A": (n, n), "X": (m, n), "B": (m, n)},
     lambda A, X, B: np.trace(A @ X.T @ (X / B)), "X",
     lambda A, X, B: (X / B) @ A + X @ A.T / B),
    ("derivative of vec(A X B) by vec(X)", {"A": (2, m), "X": (m, n), "B": (n, k)},
     lambda A, X, B: se.to_kronecker(se.diff(A @ X @ B, X), 2), "",
     lambda A, X, B: np.kron(B.T, A)),
    ("Kronecker product of a vector with itself", {"d": n, "A": (n, n**2)},
     lambda d, A: d @ A @ np.kron(d, d), "d",
     lambda d, A: A @ np.kron(d, d) + np.einsum("i,ijk,k->j", d, A.reshape(3, 3, 3), d) + np.einsum("i,ijk,j->k", d, A.reshape(3, 3, 3), d)),
    ("regularised least squares for L", {"L": (m, k), "t": m, "s": k, "D": (m, m)},
     lambda L, t, s, D: 3 * (L**2).sum() + (t - L @ s) @ D @ (t - L @ s), "L",
     lambda L, t, s, D: 6 * L + outer((D + D.T) @ (L @ s - t), s)),
    ("density of a normal distribution by its covariance", {"x": n, "u": n, "S": (n, n)},
     lambda x, u, S: se.exp(-(x - u) @ S.inv() @ (x - u) / 2) / se.sqrt((2 * pi) ** n * se.det(S)), "S",
     lambda x, u, S: (inv(S).T @ outer(x - u, x - u) @ inv(S).T - inv(S).T) / 2
     * np.exp(-(x - u) @ inv(S) @ (x - u) / 2) / np.sqrt((2 * np.pi) ** 3 * det(S))),
    ("divergence of two normal distributions", {"u": n, "S": (n, n), "w": n, "V": (n, n)},
     lambda u, S, w, V: (se.logdet(V) - se.logdet(S) - n + se.trace(V.inv() @ S) + (u - w) @ V.inv() @ (u - w)) / 2, "V",
     lambda u, S, w, V: (inv(V).T - inv(V).T @ (S.T + outer(u - w, u - w)) @ inv(V).T) / 2),
    ("divergence of discrete distributions", {"p": n, "q": n},
     lambda p, q: np.sum(p * np.log(p / q)), "p",
     lambda p, q: np.log(p / q) + 1),
    ("einsum with summed and kept indices", {"A": (2, 3, 4, 5), "B": (2, 3, 4, k)},
     lambda A, B: (np.einsum("ijkm,ijkn->imn", A, B) ** 2).sum(), "A",
     lambda A, B: 2 * np.einsum("imn,ijkn->ijkm", np.einsum("ijkm,ijkn->imn", A, B), B)),
    ("projections of the heads of attention", {"x": (2, 3, 4), "w": (5, 4, 3)},
     lambda x, w: (np.einsum("bsd,hdk->bhsk", x, w) ** 2).sum(), "w",
     lambda x, w: 2 * np.einsum("bhsk,bsd->hdk", np.einsum("bsd,hdk->bhsk", x, w), x)),
    ("attention by queries", {"Q": (m, 5), "K": (n, 5), "V": (n, k)},
     lambda Q, K, V: (se.softmax(Q @ K.T / np.sqrt(5), axis=1) @ V).sum(), "Q",
     lambda Q, K, V: (lambda P, v: (P * v - P * (P @ v)[:, None]) @ K / np.sqrt(5))(softmax(Q @ K.T / np.sqrt(5), axis=1), V.sum(axis=1))),
    ("cross-entropy of a softmax of A'y", {"A": (n, m), "y": n, "x": m},
     lambda A, y, x: -x @ se.log(se.softmax(A.T @ y)), "y",
     lambda A, y, x: A @ (x.sum() * softmax(A.T @ y) - x)),
    ("cross-entropy with labels that are integers", {"X": (4, 3)},
     lambda X: -se.log(se.softmax(X, axis=1))[np.arange(4), np.array([0, 2, 1, 0])].mean(), "X",
     lambda X: (softmax(X, axis=1) - eye(3)[[0, 2, 1, 0]]) / 4),
    ("Jacobian of softmax, written out", {"x": n},
     lambda x: np.exp(x) / np.sum(np.exp(x)), "x",
     lambda x: diag(softmax(x)) - outer(softmax(x), softmax(x))),
    ("entropy of a softmax", {"x": n},
     lambda x: -(se.softmax(x) * se.log(se.softmax(x))).sum(), "x",
     lambda x: -(lambda p: p * (np.log(p) - p @ np.log(p)))(softmax(x))),
    ("Hessian of logistic regression", {"X": (m, n), "w": n, "y": m},
     lambda X, w, y: -(y * se.log(1 / (1 + se.exp(-X @ w))) + (1 - y) * se.log(1 - 1 / (1 + se.exp(-X @ w)))).sum(), "w w",
     lambda X, w, y: X.T @ diag(expit(X @ w) * expit(-X @ w)) @ X),
    ("focal loss", {"x": n, "y": n},
     lambda x, y: -(y * (1 - se.sigmoid(x)) ** 2 * se.log(se.sigmoid(x))).sum(), "x",
     lambda x, y: y * (2 * expit(x) * expit(-x) ** 2 * np.log(expit(x)) - expit(-x) ** 3)),
    ("triplet loss", {"a": (m, n), "p": (m, n), "q": (m, n)},
     lambda a, p, q: np.maximum(np.sum((a - p) ** 2, axis=1) - np.sum((a - q) ** 2, axis=1) + 1, 0).mean(), "a",
     lambda a, p, q: 2 * (q - p) * (((a - p) ** 2 - (a - q) ** 2).sum(axis=1) > -1)[:, None] / 4),
    ("cosine similarity", {"v": n, "w": n},
     lambda v, w: v @ w / (np.linalg.norm(v) * np.linalg.norm(w)), "v",
     lambda v, w: (w - (v @ w) / (v @ v) * v) / np.sqrt((v @ v) * (w @ w))),
    ("diag(x)^2 A x", {"x": n, "A": (n, n)},
     lambda x, A: se.diag(x) @ se.diag(x) @ A @ x, "x",
     lambda x, A: diag(x**2) @ A + 2 * diag(x * (A @ x))),
    ("weights of a norm by the inverse", {"A": (m, n), "x": n, "b": m, "R": (m, m)},
     lambda A, x, b, R: (A @ x - b) @ R.inv() @ (A @ x - b), "R",
     lambda A, x, b, R: -inv(R).T @ outer(A @ x - b, A @ x - b) @ inv(R).T),
    ("Hessian of a norm of residuals", {"A": (m, n), "x": n, "b": m},
     lambda A, x, b: np.linalg.norm(b - A @ x), "x x",
     lambda A, x, b: (lambda r, s: A.T @ (eye(4) - outer(r, r) / s**2) @ A / s)(b - A @ x, np.linalg.norm(b - A @ x))),
    ("covariance of a sample", {"X": (m, n)},
     lambda X: (X - X.mean(axis=0, keepdims=True)).T @ (X - X.mean(axis=0, keepdims=True)) / (m - 1), "X",
     lambda X: (lambda D: np.einsum("bj,ia->ijba", D, eye(3)) + np.einsum("bi,ja->ijba", D, eye(3)))(X - X.mean(axis=0)) / 3),
    ("Laplacian of a graph by its weights", {"X": (m, n), "A": (m, m)},
     lambda X, A: se.trace(X.T @ (se.diag(A.sum(axis=1)) - A) @ X), "A",
     lambda X, A: (X**2).sum(axis=1)[:, None] - X @ X.T),
    ("gain of a Kalman filter by the noise", {"P": (n, n), "H": (k, n), "R": (k, k)},
     lambda P, H, R: P @ H.T @ np.linalg.inv(H @ P @ H.T + R), "R",
     lambda P, H, R: -np.einsum("ia,bj->ijab", P @ H.T @ inv(H @ P @ H.T + R), inv(H @ P @ H.T + R))),
    ("stress of a neo-Hookean material", {"F": (3, 3)},
     lambda F: (se.trace(F.T @ F) - 3) / 2 - se.log(se.det(F)) + se.log(se.det(F)) ** 2, "F",
     lambda F: F + (2 * np.log(det(F)) - 1) * inv(F).T),
    ("exponential of a matrix by a parameter of it", {"A": (n, n)},
     lambda A: se.diff(se.expm(symbols("t") * A), symbols("t")).subs(symbols("t"), 0), "",
     lambda A: A),
    ("points on a line, Rosenbrock's function", {"x": 5},
     lambda x: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum(), "x",
     lambda x: np.r_[0, 200 * (x[1:] - x[:-1] ** 2)] - np.r_[400 * x[:-1] * (x[1:] - x[:-1] ** 2) + 2 * (1 - x[:-1]), 0]),
    ("augmented Lagrangian of inequalities", {"x": n, "c": n, "A": (k, n), "b": k, "l": k},
     lambda x, c, A, b, l: c @ x + (se.Max(0, l - 10 * (A @ x - b)) ** 2 - l**2).sum() / 20, "x",
     lambda x, c, A, b, l: c - A.T @ np.maximum(0, l - 10 * (A @ x - b))),
    ("measure of a quasi-Newton matrix", {"B": (n, n)},
     lambda B: se.trace(B) - se.log(se.det(B)), "B",
     lambda B: eye(3) - inv(B).T),
    ("Fisher's criterion", {"w": n, "B": (n, n), "W": (n, n)},
     lambda w, B, W: (w @ B @ w) / (w @ W @ w), "w",
     lambda w, B, W: ((B + B.T) @ w - (w @ B @ w) / (w @ W @ w) * (W + W.T) @ w) / (w @ W @ w)),
    ("softmax regression by its weights", {"W": (k, n), "X": (m, n), "T": (m, k)},
     lambda W, X, T: -(T * se.log(se.softmax(X @ W.T, axis=1))).sum(), "W",
     lambda W, X, T: (T.sum(axis=1)[:, None] * softmax(X @ W.T, axis=1) - T).T @ X),
    ("curvature of a log-posterior", {"w": n, "X": (m, n), "t": m, "S": (n, n)},
     lambda w, X, t, S: -w @ S.inv() @ w / 2 + (t * se.log(se.sigmoid(X @ w)) + (1 - t) * se.log(1 - se.sigmoid(X @ w))).sum(), "w w",
     lambda w, X, t, S: -(inv(S) + inv(S).T) / 2 - X.T @ diag(expit(X @ w) * expit(-X @ w)) @ X),
    ("likelihood of principal components", {"W": (n, k), "S": (n, n)},
     lambda W, S: -(se.logdet(W @ W.T + se.eye(n)) + se.trace(se.inv(W @ W.T + se.eye(n)) @ S)) / 2, "W",
     lambda W, S: (lambda C: C @ (S + S.T) @ C @ W / 2 - C @ W)(inv(W @ W.T + eye(3)))),
]
# fmt: on
POSITIVE = {"p", "q", "B", "R", "S", "V", "W", "F"}


def data(shapes):
    """Draw arrays; square matrices are positive definite, but not symmetric."""
    rng = np.random.default_rng(7)
    arrays = []
    for name, shape in shapes.items():
        lengths = [
            int(sympy.sympify(s).subs(LENGTHS)) for s in np.atleast_1d(np.array(shape, object))
        ]
        array = rng.normal(size=lengths)
        if name in POSITIVE:
            is_square = len(lengths) == 2 and lengths[0] == lengths[1]
            array = (
                array @ array.T + eye(*lengths) * 2 + array / 4 if is_square else abs(array) + 0.5
            )
        arrays.append(array)
    return arrays


@pytest.mark.parametrize(
    ("shapes", "function", "variables", "expected"),
    [row[1:] for row in QUESTIONS],
    ids=[row[0] for row in QUESTIONS],
)
def test_derivatives_that_users_ask_for(shapes, function, variables, expected):
    arguments = {name: se.TensorSymbol(name, shape) for name, shape in shapes.items()}
    f = function(*arguments.values())
    wrt = [arguments[name] for name in variables.split()]
    derivative = se.diff(f, *wrt) if wrt else f
    arrays = data(shapes)
    found = se.lambdify(list(arguments.values()), derivative)(*arrays)
    reference = expected(*arrays)
    assert np.shape(found) == np.shape(reference)
    assert_close(found, reference, 1e-9, "derivative")


A, B, M = MatrixSymbol("A", 3, 3), MatrixSymbol("B", 3, 3), MatrixSymbol("M", n, m)
v, w = MatrixSymbol("v", 3, 1), MatrixSymbol("w", m, 1)
tA, tB, tM = (se.from_matrix(s) for s in (A, B, M))
tv, tw = se.from_matrix(v), se.from_matrix(w)
q, t = symbols("q t")
ISSUES = [
    ("a sum of traces and numbers", Trace(A.T * A) - 3, A, 2 * tA),
    ("a trace of a square", Trace(A**2 * B), A, (tA @ tB + tB @ tA).T),
    ("a sum of traces", Trace(A) + Trace(A**2), A, se.Delta(3) + 2 * tA.T),
    ("a square of a trace", Trace(Identity(3) - A) ** 2, A, 2 * (tA.trace() - 3) * se.Delta(3)),
    ("a trace times a matrix", Trace(A) * A, A,
     se.einsum("ij,kl->ijkl", tA, se.Delta(3)) + tA.trace() * se.Delta(3, 3)),
    ("a logarithm of a determinant", log(A.det()), A, tA.inv().T),
    ("a quotient by a determinant", q / Determinant(A), A, -q / tA.det() * tA.inv().T),
    ("a matrix by its entry", A, A[1, 2], se.diff(tA, tA[1, 2])),
    ("an entry by the matrix", A[1, 2], A, se.einsum("i,j->ij", *[se.Delta(3)[p] for p in (1, 2)])),
    ("a product by a scalar", (q * A) * (q * A), q, 2 * q * tA @ tA),
    ("an inverse by a scalar", (A + q * B).inv(), q, -se.inv(tA + q * tB) @ tB @ se.inv(tA + q * tB)),
    ("an explicit unit matrix", A + sympy.eye(3), A, se.Delta(3, 3)),
    ("a column by a scalar", v * t + v, t, tv),
    ("a quadratic form", v.T * A * v, v, tA @ tv + tA.T @ tv),
    ("a least-squares form", (M * w).T * (M * w), w, 2 * tM.T @ (tM @ tw)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "variable", "expected"),
    [row[1:] for row in ISSUES],
    ids=[row[0] for row in ISSUES],
)
def test_derivatives_of_matrix_expressions_that_sympy_had_wrong(function, variable, expected):
    is_scalar = getattr(function, "shape", ()) in ((), (1, 1))
    found = se.gradient(function, variable) if is_scalar else se.diff(function, variable)
    assert se.equal(found, expected) is True
