"""Define cases of Hessians of slices, running sums and maxima."""

from __future__ import annotations

from typing import Any

import numpy as np

import sympy_einsum as se

from .case import Case, normal, three
from .positions import (
    EPSILON,
    STEPS,
    VARIATION,
    S,
    U,
    W,
    X,
    first,
    hidden_markov,
    hinge,
    hinge_data,
    move,
    recurrent_data,
    recurrent_loss,
    seen,
    start,
    target,
    total_variation,
    x,
    y,
)
from .running import P, Q, clusters


def total_variation_hessian(X: Any) -> Any:
    rows, columns = X.shape
    here = X[:-1, :-1]
    down = X[1:, :-1] - here
    right = X[:-1, 1:] - here
    square = down * down
    square += right * right
    square += EPSILON
    inverse = 1 / np.sqrt(square)
    cube = inverse / square
    both = down * right
    both *= -cube
    down *= down
    down *= cube
    np.subtract(inverse, down, out=down)
    right *= right
    right *= cube
    np.subtract(inverse, right, out=right)
    by_down, by_right = down + both, right + both
    parts = {
        ((0, 0), (0, 0)): by_down + by_right,
        ((1, 0), (1, 0)): down,
        ((0, 1), (0, 1)): right,
        ((1, 0), (0, 1)): both,
        ((0, 0), (1, 0)): np.negative(by_down, out=by_down),
        ((0, 0), (0, 1)): np.negative(by_right, out=by_right),
    }
    H = np.zeros((rows, columns, rows, columns))
    for pair, value in parts.items():
        for (i, j), (p, q) in {pair, pair[::-1]}:
            block = H[i : i + rows - 1, j : j + columns - 1, p : p + rows - 1, q : q + columns - 1]
            diagonal = np.einsum("ijij->ij", block)
            diagonal += value
    return H


def recurrent_hessian(S: Any, start: Any, target: Any, W: Any, U: Any) -> Any:
    """Return the Hessian with respect to the first state."""
    inputs = S.dot(U.T)
    states = np.empty((STEPS, len(start)))
    h = start
    for t in range(STEPS):
        z = W.dot(h)
        z += inputs[t]
        h = np.tanh(z, out=states[t])
    derivatives = np.subtract(1, states**2)
    back = 2 * (h - target)
    weights = np.empty_like(derivatives)
    for t in range(STEPS - 1, -1, -1):
        np.multiply(derivatives[t], back, out=weights[t])
        back = weights[t].dot(W)
    weights *= states
    weights *= -2
    before = W
    H = np.zeros_like(W)
    for t in range(STEPS):
        weighted = before * weights[t][:, None]
        H += weighted.T.dot(before)
        after = before * derivatives[t][:, None]
        before = W.dot(after)
    H += 2 * after.T.dot(after)
    return H


def hidden_markov_hessian(first: Any, seen: Any, move: Any) -> Any:
    """Return the Hessian with respect to the first scores, via sums over all paths from a state."""
    back = seen[-1]
    for t in range(STEPS - 2, -1, -1):
        scores = move + back
        top = scores.max(axis=1)
        scores -= top[:, None]
        np.exp(scores, out=scores)
        back = np.log(scores.sum(axis=1))
        back += top
        back += seen[t]
    p = first + back
    p -= p.max()
    np.exp(p, out=p)
    p /= p.sum()
    H = p[:, None] * -p
    H.ravel()[:: len(p) + 1] += p
    return H


def hinge_hessian(X: Any, y: Any, w: Any) -> Any:
    H = np.zeros((len(w), len(w)))
    H.ravel()[:: len(w) + 1] = 2
    return H


def clusters_hessian(P: Any, Q: Any) -> Any:
    distances = P.dot(-2 * Q.T)
    distances += np.einsum("ij,ij->i", Q, Q)
    sizes = np.bincount(distances.argmin(axis=1), minlength=len(Q))
    H = np.zeros((*Q.shape, *Q.shape))
    np.einsum("ijij->ij", H)[...] = 2 * sizes[:, None]
    return H


JAX = ("jax",)
MEETING = recurrent_loss(se.numpy, S, start, target, W, U)
LIKELIHOOD = hidden_markov(se, first, seen, move)

CURVATURE = [
    Case("total variation, Hessian", lambda: ([X], se.hessian(VARIATION, X)),
         three((5, 4), (30, 32), (50, 60)), lambda r, c: normal((r, c)), total_variation_hessian,
         total_variation, order=2, value=False, peers=JAX),
    Case("recurrent network over rows, Hessian",
         lambda: ([S, start, target, W, U], se.hessian(MEETING, start)),
         three((4, 3), (32, 30), (300, 200)), recurrent_data, recurrent_hessian, recurrent_loss, 1,
         order=2, value=False, peers=JAX),
    Case("hidden Markov model, Hessian",
         lambda: ([first, seen, move], se.hessian(LIKELIHOOD, first)),
         three(3, 32, 200), lambda s: normal((s,), (STEPS, s), (s, s)), hidden_markov_hessian,
         hidden_markov, 0, order=2, value=False, peers=JAX),
    Case("hinge loss, Hessian", lambda: ([X, y, x], se.hessian(hinge(se.numpy, X, y, x), x)),
         three((12, 4), (2000, 50), (20000, 100)), hinge_data, hinge_hessian, hinge, 2, order=2,
         value=False, peers=(*JAX, "tensorgrad")),
    Case("k-means, Hessian", lambda: ([P, Q], se.hessian(clusters(se.numpy, P, Q), Q)),
         three((12, 3, 2), (1000, 10, 8), (20000, 30, 20)),
         lambda rows, count, width: normal((rows, width), (count, width)), clusters_hessian,
         clusters, 1, order=2, value=False, peers=JAX),
]  # fmt: skip
