"""Define cases of slices, entries, recurrences over rows, and packed parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import symbols

import sympy_einsum as se

from .case import Case, normal, three, with_gradient

m, n, k = symbols("m n k", integer=True, positive=True)
STEPS = 10  # of recurrences, which are unrolled
EPSILON = 0.01

x, X = se.TensorSymbol("x", (n,)), se.TensorSymbol("X", (m, n))
W, U, S = se.TensorSymbol("W", (n, n)), se.TensorSymbol("U", (n, k)), se.TensorSymbol("S", STEPS, k)
start, target = se.TensorSymbol("start", (n,)), se.TensorSymbol("target", (n,))
packed, y = se.TensorSymbol("packed", (n + 2,)), se.TensorSymbol("y", (m,))
first, move, seen = (
    se.TensorSymbol(name, shape)
    for name, shape in (("first", (n,)), ("move", (n, n)), ("seen", (STEPS, n)))
)


# --- Rosenbrock -----------------------------------------------------------------------------------


def rosenbrock(xp: Any, x: Any) -> Any:
    return xp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_gradient(x: Any) -> Any:
    a = x[:-1]
    r = x[1:] - a * a
    s = 1 - a
    value = 100 * r.dot(r) + s.dot(s)
    r *= 200
    g = np.zeros_like(x)
    g[1:] = r
    r *= a
    r += s
    r *= 2
    g[:-1] -= r
    return value, g


def rosenbrock_hessian(x: Any) -> Any:
    size = len(x)
    a = x[:-1]
    H = np.zeros((size, size))
    flat = H.ravel()
    main = flat[:: size + 1]
    main[1:] = 200
    main[:-1] += 1200 * a * a - 400 * x[1:] + 2
    side = -400 * a
    flat[1 :: size + 1] = side
    flat[size :: size + 1] = side
    return H


# --- images ---------------------------------------------------------------------------------------


def total_variation(xp: Any, X: Any) -> Any:
    here = X[:-1, :-1]
    return xp.sum(xp.sqrt((X[1:, :-1] - here) ** 2 + (X[:-1, 1:] - here) ** 2 + EPSILON))


def total_variation_gradient(X: Any) -> Any:
    here = X[:-1, :-1]
    down = X[1:, :-1] - here
    right = X[:-1, 1:] - here
    size = down * down
    size += right * right
    size += EPSILON
    np.sqrt(size, out=size)
    down /= size
    right /= size
    G = np.zeros_like(X)
    G[1:, :-1] = down
    G[:-1, 1:] += right
    down += right
    G[:-1, :-1] -= down
    return size.sum(), G


def laplacian(X: Any) -> Any:
    return X[2:, 1:-1] + X[:-2, 1:-1] + X[1:-1, 2:] + X[1:-1, :-2] - 4 * X[1:-1, 1:-1]


def laplacian_energy(xp: Any, X: Any) -> Any:
    return xp.sum(laplacian(X) ** 2)


def laplacian_gradient(X: Any) -> Any:
    L = X[2:, 1:-1] + X[:-2, 1:-1]
    L += X[1:-1, 2:]
    L += X[1:-1, :-2]
    L -= 4 * X[1:-1, 1:-1]
    entries = L.ravel()
    value = entries.dot(entries)
    L *= 2
    G = np.zeros_like(X)
    G[2:, 1:-1] = L
    G[:-2, 1:-1] += L
    G[1:-1, 2:] += L
    G[1:-1, :-2] += L
    L *= 4
    G[1:-1, 1:-1] -= L
    return value, G


def laplacian_hessian(X: Any) -> Any:
    rows, columns = X.shape
    H = np.zeros((rows, columns, rows, columns))
    parts = {(2, 1): 1, (0, 1): 1, (1, 2): 1, (1, 0): 1, (1, 1): -4}
    for (i, j), one in parts.items():
        for (p, q), other in parts.items():
            block = H[i : i + rows - 2, j : j + columns - 2, p : p + rows - 2, q : q + columns - 2]
            np.einsum("ijij->ij", block)[...] += 2 * one * other
    return H


# --- recurrences over the rows of an array --------------------------------------------------------


def recurrent_loss(xp: Any, S: Any, start: Any, target: Any, W: Any, U: Any) -> Any:
    h = start
    for t in range(STEPS):
        h = xp.tanh(W @ h + U @ S[t])
    return xp.sum((h - target) ** 2)


def recurrent_gradient(S: Any, start: Any, target: Any, W: Any, U: Any) -> Any:
    inputs = S.dot(U.T)
    states = np.empty((STEPS + 1, len(start)))
    states[0] = start
    for t in range(STEPS):
        h = W.dot(states[t])
        h += inputs[t]
        np.tanh(h, out=states[t + 1])
    e = states[-1] - target
    value = e.dot(e)
    derivatives = np.subtract(1, states[1:] ** 2)
    e *= 2
    back = np.multiply(derivatives[-1], e, out=derivatives[-1])
    for t in range(STEPS - 2, -1, -1):
        back = np.multiply(derivatives[t], back.dot(W), out=derivatives[t])
    return value, derivatives.T.dot(states[:-1]), derivatives.T.dot(S)


def hidden_markov(xp: Any, first: Any, seen: Any, move: Any) -> Any:
    total = se.logsumexp if xp is se else _plain_logsumexp(xp)
    state = first + seen[0]
    for t in range(1, STEPS):
        state = total(state[:, None] + move, 0) + seen[t]
    return total(state, 0)


def _plain_logsumexp(xp: Any) -> Any:
    def logsumexp(scores: Any, axis: int) -> Any:
        top = xp.max(scores, axis=axis, keepdims=True)
        return xp.log(xp.sum(xp.exp(scores - top), axis=axis)) + xp.squeeze(top, axis)

    return logsumexp


def hidden_markov_gradient(first: Any, seen: Any, move: Any) -> Any:
    state = first + seen[0]
    weights = np.empty((STEPS - 1, *move.shape))
    for t in range(STEPS - 1):
        scores = weights[t]
        np.add(state[:, None], move, out=scores)
        top = scores.max(axis=0)
        scores -= top
        np.exp(scores, out=scores)
        total = scores.sum(axis=0)
        scores /= total
        state = np.log(total)
        state += top
        state += seen[t + 1]
    top = state.max()
    back = np.exp(state - top)
    total = back.sum()
    value = np.log(total) + top
    back /= total
    for t in range(STEPS - 2, -1, -1):
        scores = weights[t]
        scores *= back
        back = scores.sum(axis=1)
    return value, weights.sum(axis=0)


# --- all parameters in one vector -----------------------------------------------------------------


def ridge(xp: Any, X: Any, y: Any, packed: Any) -> Any:
    w, bias, noise = packed[:-2], packed[-2], packed[-1]
    e = X @ w + bias - y
    return xp.sum(e**2) * xp.exp(-2 * noise) / 2 + y.shape[0] * noise + xp.sum(w**2)


def ridge_gradient(X: Any, y: Any, packed: Any) -> Any:
    w, noise = packed[:-2], packed[-1]
    e = X.dot(w)
    e += packed[-2]
    e -= y
    p = np.exp(-2 * noise)
    square = e.dot(e) * p
    e *= p
    g = np.empty_like(packed)
    g[:-2] = e.dot(X)
    g[:-2] += 2 * w
    g[-2] = e.sum()
    g[-1] = len(y) - square
    return square / 2 + len(y) * noise + w.dot(w), g


def ridge_hessian(X: Any, y: Any, packed: Any) -> Any:
    w = packed[:-2]
    size = len(w)
    e = X.dot(w)
    e += packed[-2]
    e -= y
    p = np.exp(-2 * packed[-1])
    H = np.empty((size + 2, size + 2))
    square = e.dot(e)
    np.multiply(X.T.dot(X), p, out=H[:-2, :-2])
    np.einsum("ii->i", H)[:-2] += 2
    H[:-2, -2] = H[-2, :-2] = p * X.sum(axis=0)
    H[:-2, -1] = H[-1, :-2] = -2 * p * e.dot(X)
    H[-2, -2] = len(y) * p
    H[-2, -1] = H[-1, -2] = -2 * p * e.sum()
    H[-1, -1] = 2 * p * square
    return H


# --- kinks ----------------------------------------------------------------------------------------


def hinge(xp: Any, X: Any, y: Any, w: Any) -> Any:
    return xp.sum(xp.maximum(0, 1 - y * (X @ w))) + xp.sum(w**2)


def hinge_gradient(X: Any, y: Any, w: Any) -> Any:
    margin = X.dot(w)
    margin *= y
    np.subtract(1, margin, out=margin)
    kept = margin > 0
    np.maximum(margin, 0, out=margin)
    g = np.where(kept, -y, 0).dot(X)
    g += 2 * w
    return margin.sum() + w.dot(w), g


def recurrent_data(size: int, features: int) -> list[Any]:
    S, start, target, W, U = normal(
        (STEPS, features), (size,), (size,), (size, size), (size, features)
    )
    return [S, start, target, W / size**0.5, U / features**0.5]


def hinge_data(rows: int, features: int) -> list[Any]:
    X, y, w = normal((rows, features), (rows,), (features,))
    return [X, np.sign(y), w / features**0.5]


ROSENBROCK = rosenbrock(se.numpy, x)
VARIATION = total_variation(se.numpy, X)
LAPLACIAN = laplacian_energy(se.numpy, X)
RIDGE = ridge(se.numpy, X, y, packed)
SLICING = ("jax", "pytensor")

POSITIONS = [
    Case("Rosenbrock, value and gradient", lambda: ([x], with_gradient(ROSENBROCK, x)),
         three(10, 1000, 10000), lambda s: normal((s,)), rosenbrock_gradient, rosenbrock,
         peers=SLICING),
    Case("Rosenbrock, Hessian", lambda: ([x], se.hessian(ROSENBROCK, x)),
         three(10, 1000, 3000), lambda s: normal((s,)), rosenbrock_hessian, rosenbrock,
         order=2, value=False, peers=SLICING),
    Case("total variation, value and gradient", lambda: ([X], with_gradient(VARIATION, X)),
         three((5, 4), (40, 30), (400, 300)), lambda r, c: normal((r, c)),
         total_variation_gradient, total_variation, peers=SLICING),
    Case("5-point Laplacian, value and gradient", lambda: ([X], with_gradient(LAPLACIAN, X)),
         three((5, 4), (40, 30), (400, 300)), lambda r, c: normal((r, c)),
         laplacian_gradient, laplacian_energy, peers=SLICING),
    Case("5-point Laplacian, Hessian", lambda: ([X], se.hessian(LAPLACIAN, X)),
         three((5, 4), (30, 32), (50, 60)), lambda r, c: normal((r, c)),
         laplacian_hessian, laplacian_energy, order=2, value=False, peers=SLICING),
    Case("recurrent network over rows, value and gradients",
         lambda: ([S, start, target, W, U], with_gradient(
             recurrent_loss(se.numpy, S, start, target, W, U), W, U)),
         three((4, 3), (32, 30), (300, 200)), recurrent_data, recurrent_gradient,
         recurrent_loss, (3, 4), peers=SLICING),
    Case("hidden Markov model, value and gradient",
         lambda: ([first, seen, move], with_gradient(hidden_markov(se, first, seen, move), move)),
         three(3, 32, 200), lambda s: normal((s,), (STEPS, s), (s, s)), hidden_markov_gradient,
         hidden_markov, 2, peers=SLICING),
    Case("ridge in one vector, value and gradient",
         lambda: ([X, y, packed], with_gradient(RIDGE, packed)),
         three((12, 4), (2000, 50), (20000, 200)), lambda r, c: normal((r, c), (r,), (c + 2,)),
         ridge_gradient, ridge, 2, peers=SLICING),
    Case("ridge in one vector, Hessian", lambda: ([X, y, packed], se.hessian(RIDGE, packed)),
         three((12, 4), (2000, 50), (5000, 400)), lambda r, c: normal((r, c), (r,), (c + 2,)),
         ridge_hessian, ridge, 2, order=2, value=False, peers=SLICING),
    Case("hinge loss, value and gradient",
         lambda: ([X, y, x], with_gradient(hinge(se.numpy, X, y, x), x)),
         three((12, 4), (2000, 50), (20000, 100)), hinge_data, hinge_gradient, hinge, 2,
         peers=(*SLICING, "tensorgrad")),
]  # fmt: skip
