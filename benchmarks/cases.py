"""List the cases: an expression, the best hand-written program, and the plain function that other
libraries differentiate, for sizes tiny, mid and large."""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

from .case import EVERY_PEER, Case, normal, rng, three, with_gradient
from .curvature import CURVATURE
from .factors import FACTORS
from .fourier import FOURIER
from .positions import POSITIONS
from .running import RUNNING
from .semirings import SEMIRINGS
from .steps import STEPPING
from .windows import WINDOWS

m, n, k, r = symbols("m n k r", integer=True, positive=True)
A, K, L = (se.TensorSymbol(name, (n, n)) for name in "AKL")
X, T = se.TensorSymbol("X", (m, n)), se.TensorSymbol("T", (m, n))
U, V = se.TensorSymbol("U", (m, k)), se.TensorSymbol("V", (n, k))
Y = se.TensorSymbol("Y", (m, k))
W = se.TensorSymbol("W", (n, k))
C = se.TensorSymbol("C", (n, m, k))
P, Q, R = se.TensorSymbol("P", (n, r)), se.TensorSymbol("Q", (m, r)), se.TensorSymbol("R", (k, r))
x, v, w = (se.TensorSymbol(name, (n,)) for name in "xvw")
u = se.TensorSymbol("u", (n,))
y = se.TensorSymbol("y", (m,))
CHAIN = [se.TensorSymbol(f"A{j}", (n, n)) for j in range(6)]
Q1, K1, V1 = (se.TensorSymbol(name, (m, k)) for name in ("Q1", "K1", "V1"))
W1, W2 = se.TensorSymbol("W1", (n, k)), se.TensorSymbol("W2", (k, r))
Z = se.TensorSymbol("Z", (m, r))


# --- hand-written programs ---------------------------------------------------------------------


def sigmoid(z: Any) -> Any:
    if z.size < 1000:
        from scipy.special import expit

        return expit(z)
    return 1 / (1 + np.exp(-z))


def softplus(z: Any) -> Any:
    if z.size < 30:
        return np.logaddexp(0, z)
    return np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))


def add_transposed(M: Any) -> Any:
    if len(M) < 1000:
        return M + M.T
    total = np.empty_like(M)
    for i in range(0, len(M), 256):
        for j in range(0, len(M), 256):
            a, b = slice(i, i + 256), slice(j, j + 256)
            np.add(M[a, b], M[b, a].T, out=total[a, b])
    return total


def quadratic_joint(A: Any, x: Any) -> Any:
    t = A.T.dot(x)
    return x.dot(t), A.dot(x) + t, add_transposed(A)


def logistic_weights(X: Any, y: Any, w: Any) -> Any:
    z = X.dot(w)
    z *= y
    p = sigmoid(z)
    return z, p


def gram(X: Any, d: Any) -> Any:
    if X.shape[1] < 50:
        return (X.T * d).dot(X)
    Z = X * np.sqrt(d)[:, None]
    return Z.T.dot(Z)


def logistic_hessian(X: Any, y: Any, w: Any) -> Any:
    _, p = logistic_weights(X, y, w)
    d = p * (1 - p)
    d *= y * y
    return gram(X, d)


def logistic_gradient(X: Any, y: Any, w: Any) -> Any:
    z = X.dot(w)
    z *= -y
    return softplus(z).sum(), -X.T.dot(y * sigmoid(z))


def logistic_joint(X: Any, y: Any, w: Any) -> Any:
    z = X.dot(w)
    z *= -y
    p = sigmoid(z)
    d = p * (1 - p)
    d *= y * y
    return softplus(z).sum(), -X.T.dot(y * p), gram(X, d)


def block_diagonal(core: Any, count: int) -> Any:
    size = len(core)
    H = np.zeros((count, size, count, size), core.dtype)
    np.einsum("ikil->ikl", H)[...] = core
    return H


def factorization_core(T: Any, U: Any, V: Any) -> Any:
    return 2 * V.T.dot(V)


def factorization_gradient(T: Any, U: Any, V: Any) -> Any:
    E = U.dot(V.T)
    E -= T
    e = E.ravel()
    return e.dot(e), 2 * E.dot(V)


def cp_core(C: Any, P: Any, Q: Any, R: Any) -> Any:
    core = Q.T.dot(Q)
    core *= R.T.dot(R)
    core *= 2
    return core


def cp_gradient(C: Any, P: Any, Q: Any, R: Any) -> Any:
    N = (Q[:, None, :] * R).reshape(-1, Q.shape[1])
    E = P.dot(N.T)
    E -= C.reshape(len(C), -1)
    e = E.ravel()
    G = E.dot(N)
    G *= 2
    return e.dot(e), G


def chain_gradient(u: Any, v: Any, *M: Any) -> Any:
    left = u.dot(M[0]).dot(M[1])
    right = M[3].dot(M[4].dot(M[5].dot(v)))
    return left.dot(M[2].dot(right)), left[:, None] * right


def ladder() -> tuple[list[Any], list[list[int]]]:
    """Build a network of 16 tensors, two rows of eight."""
    names: dict[Any, int] = {}
    tensors, labels = [], []
    for row in range(2):
        for c in range(8):
            own = [("h", row, j) for j in (c - 1, c) if 0 <= j < 7] + [("v", c)]
            labels.append([names.setdefault(name, len(names)) for name in own])
            tensors.append(se.TensorSymbol(f"G{row}{c}", (n,) * len(own)))
    return tensors, labels


LADDER, LABELS = ladder()


def ladder_by_hand(*G: Any) -> Any:
    size = len(G[0])
    t = G[7].dot(G[15].T)
    for j in range(6, 0, -1):
        # (left, right, rung) of both rows, from the right end.
        t = np.matmul(t, G[8 + j])
        t = G[j].reshape(size, -1).dot(t.reshape(size, -1).T)
    return G[0].ravel().dot(t.dot(G[8]).ravel())


def softmax_rows(S: Any) -> Any:
    E = S - S.max(axis=1, keepdims=True)
    np.exp(E, out=E)
    E /= E.sum(axis=1, keepdims=True)
    return E


def multinomial_gradient(X: Any, Y: Any, W: Any) -> Any:
    S = X.dot(W)
    top = S.max(axis=1, keepdims=True)
    # The rows of Y sum to one, so the largest scores cancel in the value.
    S -= top
    E = np.exp(S)
    total = E.sum(axis=1, keepdims=True)
    value = np.log(total).sum() - Y.ravel().dot(S.ravel())
    E /= total
    E -= Y
    return value, X.T.dot(E)


def network_gradient(X: Any, Z: Any, W1: Any, W2: Any) -> Any:
    H = np.tanh(X.dot(W1))
    E = H.dot(W2)
    E -= Z
    e = E.ravel()
    E2 = 2 * E
    G2 = H.T.dot(E2)
    D = E2.dot(W2.T)
    D *= 1 - H**2
    return e.dot(e), X.T.dot(D), G2


def with_blocks(H: Any, X: Any, weights: Any) -> Any:
    """Add X' diag(w) X for each column of weights to the block of that class or unit."""
    for j, w in enumerate(weights.T):
        H[:, j, :, j] += (X.T * w).dot(X)
    return H


def gram_of_products(X: Any, P: Any) -> Any:
    """Sum X ⊗ P ⊗ X ⊗ P over rows."""
    Z = (X[:, :, None] * P[:, None, :]).reshape(len(X), -1)
    return Z.T.dot(Z).reshape((X.shape[1], P.shape[1]) * 2)


def multinomial_hessian(X: Any, Y: Any, W: Any) -> Any:
    P = softmax_rows(X.dot(W))
    H = gram_of_products(X, P)
    np.negative(H, out=H)
    return with_blocks(H, X, P)


def network_hessian(X: Any, Z: Any, W1: Any, W2: Any) -> Any:
    H = np.tanh(X.dot(W1))
    E = H.dot(W2)
    E -= Z
    derivative = 1 - H * H
    result = gram_of_products(X, derivative)
    result *= (2 * W2.dot(W2.T))[:, None, :]
    curve = E.dot(W2.T)
    curve *= derivative
    curve *= H
    curve *= -4
    return with_blocks(result, X, curve)


def gaussian_process(K: Any, x: Any) -> Any:
    inverse = np.linalg.inv(K)
    a = inverse.dot(x)
    value = x.dot(a) + np.linalg.slogdet(K)[1]
    gradient = inverse.T - inverse.T.dot(x)[:, None] * a
    return value, gradient


def attention_gradient(Q1: Any, K1: Any, V1: Any) -> Any:
    S = softmax_rows(Q1.dot(K1.T))
    O = S.dot(V1)
    o = O.ravel()
    G = (2 * O).dot(V1.T)
    G -= np.einsum("ij,ij->i", S, G)[:, None]
    G *= S
    return o.dot(o), G.dot(K1)


def hessian_vector(X: Any, y: Any, w: Any, v: Any) -> Any:
    _, p = logistic_weights(X, y, w)
    d = p * (1 - p)
    d *= y * y
    d *= X.dot(v)
    return X.T.dot(d)


# --- plain functions for the peers ----------------------------------------------------------------


def chain_value(xp: Any, u: Any, v: Any, *M: Any) -> Any:
    for matrix in M:
        u = u @ matrix
    return u @ v


def logistic_value(xp: Any, X: Any, y: Any, w: Any) -> Any:
    return xp.sum(xp.log(1 + xp.exp(-y * (X @ w))))


def cp_value(xp: Any, C: Any, P: Any, Q: Any, R: Any) -> Any:
    return xp.sum((C - xp.einsum("ir,jr,kr->ijk", P, Q, R)) ** 2)


def factorization_value(xp: Any, T: Any, U: Any, V: Any) -> Any:
    return xp.sum((T - U @ V.T) ** 2)


def multinomial_value(xp: Any, X: Any, Y: Any, W: Any) -> Any:
    S = X @ W
    return xp.sum(xp.log(xp.sum(xp.exp(S), 1))) - xp.sum(Y * S)


def network_value(xp: Any, X: Any, Z: Any, W1: Any, W2: Any) -> Any:
    return xp.sum((xp.tanh(X @ W1) @ W2 - Z) ** 2)


def process_value(xp: Any, K: Any, x: Any) -> Any:
    return x @ xp.linalg.inv(K) @ x + xp.linalg.slogdet(K)[1]


def attention_value(xp: Any, Q1: Any, K1: Any, V1: Any) -> Any:
    S = xp.exp(Q1 @ K1.T)
    return xp.sum(((S / xp.sum(S, 1)[:, None]) @ V1) ** 2)


LOGISTIC = snp.sum(snp.log(1 + snp.exp(-y * (X @ w))))
FACTORIZATION = ((T - U @ V.T) ** 2).sum()
CP = ((C - se.einsum("ir,jr,kr->ijk", P, Q, R)) ** 2).sum()
SCORES = X @ W
MULTINOMIAL = se.logsumexp(SCORES, axis=1).sum() - (Y * SCORES).sum()
NETWORK = ((se.tanh(X @ W1) @ W2 - Z) ** 2).sum()
ATTENTION = ((se.softmax(Q1 @ K1.T, axis=1) @ V1) ** 2).sum()


def chain_expression() -> Any:
    return chain_value(None, u, v, *CHAIN)


def process_expression() -> Any:
    return x @ se.inv(K) @ x + se.logdet(K)


def logistic_data(size: int) -> list[Any]:
    X, y, w = normal((10 * size, size), (10 * size,), (size,))
    return [X, np.sign(y), w / size]


def definite_data(size: int) -> list[Any]:
    K, x = normal((size, size), (size,))
    return [K @ K.T + size * np.eye(size), x]


def labels_data(rows: int, features: int, classes: int) -> list[Any]:
    X, W = normal((rows, features), (features, classes))
    return [X, np.eye(classes)[rng().integers(classes, size=rows)], W / features]


def network_data(m: int, n: int, k: int, r: int) -> list[Any]:
    return [a / 3 for a in normal((m, n), (m, r), (n, k), (k, r))]


WITHOUT_AUTOGRAD = tuple(peer for peer in EVERY_PEER if peer != "autograd")

CASES = [
    Case("quadratic, Hessian", lambda: ([A, x], se.hessian(x @ A @ x, x)),
         three(5, 500, 2000), lambda s: normal((s, s), (s,)), lambda A, x: add_transposed(A),
         lambda xp, A, x: x @ A @ x, 1, 2, False, EVERY_PEER),
    Case("logistic, Hessian", lambda: ([X, y, w], se.hessian(LOGISTIC, w)),
         three(5, 200, 600), logistic_data, logistic_hessian, logistic_value, 2, 2, False,
         EVERY_PEER),
    Case("factorization, Hessian", lambda: ([T, U, V], se.hessian(FACTORIZATION, U)),
         three((5, 2), (100, 5), (300, 8)), lambda s, k: normal((s, s), (s, k), (s, k)),
         lambda T, U, V: block_diagonal(factorization_core(T, U, V), len(U)),
         factorization_value, 1, 2, False, EVERY_PEER),
    Case("CP, Hessian", lambda: ([C, P, Q, R], se.hessian(CP, P)),
         three((4, 2), (40, 6), (70, 8)), lambda s, r: normal((s, s, s), (s, r), (s, r), (s, r)),
         lambda C, P, Q, R: block_diagonal(cp_core(C, P, Q, R), len(P)), cp_value, 1, 2, False,
         EVERY_PEER),
    Case("quadratic, value and gradient", lambda: ([A, x], with_gradient(x @ A @ x, x)),
         three(5, 500, 2000), lambda s: normal((s, s), (s,)),
         lambda A, x: quadratic_gradient(A, x), lambda xp, A, x: x @ A @ x, 1,
         peers=EVERY_PEER),
    Case("logistic, value and gradient", lambda: ([X, y, w], with_gradient(LOGISTIC, w)),
         three(5, 200, 600), logistic_data, logistic_gradient, logistic_value, 2,
         peers=EVERY_PEER),
    Case("factorization, value and gradient", lambda: ([T, U, V], with_gradient(FACTORIZATION, U)),
         three((5, 2), (100, 5), (300, 8)), lambda s, k: normal((s, s), (s, k), (s, k)),
         factorization_gradient, factorization_value, 1, peers=EVERY_PEER),
    Case("CP, value and gradient", lambda: ([C, P, Q, R], with_gradient(CP, P)),
         three((4, 2), (50, 8), (150, 10)), lambda s, r: normal((s, s, s), (s, r), (s, r), (s, r)),
         cp_gradient, cp_value, 1, peers=EVERY_PEER),
    Case("chain, value and gradient",
         lambda: ([u, v, *CHAIN], with_gradient(chain_expression(), CHAIN[2])),
         three(5, 200, 600),
         lambda s: [*normal((s,), (s,)), *[M / s**0.5 for M in normal(*[(s, s)] * 6)]],
         chain_gradient, chain_value, 4, peers=EVERY_PEER),
    Case("16-operand network",
         lambda: (LADDER, se.einsum(*[i for p in zip(LADDER, LABELS, strict=True) for i in p], [])),
         three(3, 8, 24), lambda s: [G / s for G in normal(*[(s,) * len(own) for own in LABELS])],
         ladder_by_hand),
    Case("quadratic, all three",
         lambda: ([A, x], [*with_gradient(x @ A @ x, x), se.hessian(x @ A @ x, x)]),
         three(5, 500, 2000), lambda s: normal((s, s), (s,)), quadratic_joint),
    Case("logistic, all three",
         lambda: ([X, y, w], [*with_gradient(LOGISTIC, w), se.hessian(LOGISTIC, w)]),
         three(5, 200, 600), logistic_data, logistic_joint),
    Case("softmax regression, value and gradient",
         lambda: ([X, Y, W], with_gradient(MULTINOMIAL, W)),
         three((10, 4, 3), (2000, 50, 10), (20000, 100, 10)), labels_data, multinomial_gradient,
         multinomial_value, 2, peers=EVERY_PEER),
    Case("two-layer network, value and gradients",
         lambda: ([X, Z, W1, W2], with_gradient(NETWORK, W1, W2)),
         three((6, 4, 3, 2), (500, 50, 50, 10), (4000, 200, 100, 10)),
         network_data, network_gradient, network_value, (2, 3), peers=EVERY_PEER),
    Case("softmax regression, Hessian", lambda: ([X, Y, W], se.hessian(MULTINOMIAL, W)),
         three((10, 4, 3), (2000, 20, 10), (5000, 60, 10)), labels_data, multinomial_hessian,
         multinomial_value, 2, 2, False, WITHOUT_AUTOGRAD),
    Case("two-layer network, Hessian", lambda: ([X, Z, W1, W2], se.hessian(NETWORK, W1)),
         three((6, 4, 3, 2), (500, 20, 20, 10), (2000, 40, 25, 10)), network_data,
         network_hessian, network_value, 2, 2, False, WITHOUT_AUTOGRAD),
    Case("Gaussian process, value and gradient",
         lambda: ([K, x], with_gradient(process_expression(), K)),
         three(5, 100, 400), definite_data, gaussian_process, process_value, 0),
    Case("attention, value and gradient",
         lambda: ([Q1, K1, V1], with_gradient(ATTENTION, Q1)),
         three((5, 3), (128, 32), (512, 64)),
         lambda m, k: [a / k**0.5 for a in normal((m, k), (m, k), (m, k))],
         attention_gradient, attention_value, 0, peers=EVERY_PEER),
    Case("logistic, Hessian times vector", lambda: ([X, y, w, v], se.hvp(LOGISTIC, w, v)),
         three(5, 200, 600), lambda s: [*logistic_data(s), *normal((s,))], hessian_vector),
    Case("factorization, core of the Hessian", lambda: ([T, U, V], 2 * V.T @ V),
         three((5, 2), (100, 5), (300, 8)), lambda s, k: normal((s, s), (s, k), (s, k)),
         factorization_core),
    Case("CP, core of the Hessian", lambda: ([C, P, Q, R], 2 * (Q.T @ Q) * (R.T @ R)),
         three((4, 2), (40, 6), (70, 8)), lambda s, r: normal((s, s, s), (s, r), (s, r), (s, r)),
         cp_core),
    *FACTORS,
    *FOURIER,
    *POSITIONS,
    *CURVATURE,
    *RUNNING,
    *STEPPING,
    *WINDOWS,
    *SEMIRINGS,
]  # fmt: skip


def quadratic_gradient(A: Any, x: Any) -> Any:
    t = A.T.dot(x)
    return x.dot(t), t + A.dot(x)
