"""Define cases of running sums, running products and maxima."""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import symbols

import sympy_einsum as se

from .case import Case, normal, rng, three, with_gradient

m, n, k, c = symbols("m n k c", integer=True, positive=True)
x, y = se.TensorSymbol("x", (n,)), se.TensorSymbol("y", (n,))
X, B = se.TensorSymbol("X", (m, n)), se.TensorSymbol("beta", (n,))
died = se.TensorSymbol("died", (m,), nonnegative=True)
P, Q = se.TensorSymbol("P", (m, k)), se.TensorSymbol("Q", (c, k))
blocks = se.TensorSymbol("blocks", (m, 2, n, 2))


# --- running sums and products --------------------------------------------------------------------


def cox(xp: Any, X: Any, died: Any, beta: Any) -> Any:
    """Return the partial likelihood of lifetimes in descending order."""
    scores = X @ beta
    return xp.sum(died * (xp.log(xp.cumsum(xp.exp(scores))) - scores))


def _cox_parts(X: Any, beta: Any) -> Any:
    scores = X.dot(beta)
    scores -= scores.max()
    risks = np.exp(scores)
    return scores, risks, risks.cumsum()


def cox_gradient(X: Any, died: Any, beta: Any) -> Any:
    scores, risks, total = _cox_parts(X, beta)
    value = np.log(total)
    value -= scores
    weights = died / total
    weights = weights[::-1].cumsum()[::-1]
    weights *= risks
    weights -= died
    return died.dot(value), weights.dot(X)


def cox_hessian(X: Any, died: Any, beta: Any) -> Any:
    _, risks, total = _cox_parts(X, beta)
    weights = died / total
    sums = X * risks[:, None]
    np.cumsum(sums, axis=0, out=sums)
    sums *= (np.sqrt(weights / total))[:, None]
    weights = weights[::-1].cumsum()[::-1]
    weights *= risks
    Y = X * np.sqrt(weights)[:, None]
    H = Y.T.dot(Y)
    H -= sums.T.dot(sums)
    return H


def survival(xp: Any, y: Any, x: Any) -> Any:
    """Return the squared distance of the survival function of hazards, given as logits, to data."""
    return xp.sum((xp.cumprod(1 / (1 + xp.exp(x))) - y) ** 2)


def _survival_parts(x: Any) -> Any:
    """Return survival in each period and hazard, both without cancellation."""
    small = np.exp(-np.abs(x))
    larger = 1 / (1 + small)
    small *= larger
    return np.where(x < 0, larger, small), np.where(x < 0, small, larger)


def survival_gradient(y: Any, x: Any) -> Any:
    live, hazard = _survival_parts(x)
    alive = live.cumprod()
    e = alive - y
    value = e.dot(e)
    e *= alive
    g = e[::-1].cumsum()[::-1]
    g *= -2
    g *= hazard
    return value, g


def survival_hessian(y: Any, x: Any) -> Any:
    live, hazard = _survival_parts(x)
    alive = live.cumprod()
    e = alive - y
    e *= alive
    derivative = e[::-1].cumsum()[::-1]
    alive *= alive
    alive += e
    alive *= 2
    curve = alive[::-1].cumsum()[::-1]
    curve *= hazard
    H = np.where(np.tri(len(x), dtype=bool), curve[:, None] * hazard, hazard[:, None] * curve)
    live *= hazard
    live *= derivative
    live *= 2
    H.ravel()[:: len(x) + 1] -= live
    return H


# --- maxima ---------------------------------------------------------------------------------------


def clusters(xp: Any, P: Any, Q: Any) -> Any:
    """Sum the squared distances of points to the nearest centre, the objective of k-means."""
    distances = xp.sum(P**2, axis=1)[:, None] - 2 * P @ Q.T + xp.sum(Q**2, axis=1)[None, :]
    return xp.sum(xp.min(distances, axis=1))


def clusters_gradient(P: Any, Q: Any) -> Any:
    distances = P.dot(-2 * Q.T)
    distances += np.einsum("ij,ij->i", Q, Q)
    nearest = distances.argmin(axis=1)
    points = P.ravel()
    value = distances.min(axis=1).sum() + points.dot(points)
    chosen = np.zeros_like(distances)
    chosen[np.arange(len(P)), nearest] = 2
    G = chosen.sum(axis=0)[:, None] * Q
    G -= chosen.T.dot(P)
    return value, G


def clusters_by_differences(xp: Any, P: Any, Q: Any) -> Any:
    """Sum them without cancellation for points close to centres."""
    distances = xp.sum((P[:, None] - Q[None]) ** 2, axis=2)
    return xp.sum(xp.min(distances, axis=1))


def clusters_by_differences_gradient(P: Any, Q: Any) -> Any:
    distances = np.empty((len(P), len(Q)))
    for j, centre in enumerate(Q):
        e = P - centre
        distances[:, j] = np.einsum("ij,ij->i", e, e)
    nearest = distances.argmin(axis=1)
    value = distances.min(axis=1).sum()
    e = Q[nearest]
    e -= P
    e *= 2
    G = np.zeros_like(Q)
    np.add.at(G, nearest, e)
    return value, G


def pooled(xp: Any, X: Any) -> Any:
    """Max-pool an image by 2 by 2 blocks."""
    return xp.sum(xp.max(X, axis=(1, 3)) ** 2)


def pooled_gradient(X: Any) -> Any:
    tops = np.maximum(X[:, 0], X[:, 1])
    tops = np.maximum(tops[:, :, 0], tops[:, :, 1])
    entries = tops.ravel()
    value = entries.dot(entries)
    G = np.empty_like(X)
    twice = 2 * tops
    for i in (0, 1):
        for j in (0, 1):
            np.multiply(X[:, i, :, j] == tops, twice, out=G[:, i, :, j])
    return value, G


# --- the cases ----------------------------------------------------------------------------------


def cox_data(rows: int, features: int) -> list[Any]:
    X, beta = normal((rows, features), (features,))
    return [X, rng().integers(2, size=rows).astype(float), beta / features**0.5]


def survival_data(size: int) -> list[Any]:
    (x,) = normal((size,))
    return [np.linspace(0.9, 0.1, size), x - np.log(size)]


COX = cox(se.numpy, X, died, B)
SURVIVAL = survival(se.numpy, y, x)
SLICING = ("jax", "pytensor")

RUNNING = [
    Case("Cox likelihood, value and gradient", lambda: ([X, died, B], with_gradient(COX, B)),
         three((12, 4), (2000, 20), (20000, 50)), cox_data, cox_gradient, cox, 2, peers=SLICING),
    Case("Cox likelihood, Hessian", lambda: ([X, died, B], se.hessian(COX, B)),
         three((12, 4), (2000, 20), (20000, 50)), cox_data, cox_hessian, cox, 2, order=2,
         value=False, peers=SLICING),
    Case("survival as a running product, value and gradient",
         lambda: ([y, x], with_gradient(SURVIVAL, x)),
         three(8, 1000, 10000), survival_data, survival_gradient, survival, 1, peers=SLICING),
    Case("survival as a running product, Hessian", lambda: ([y, x], se.hessian(SURVIVAL, x)),
         three(8, 300, 1500), survival_data, survival_hessian, survival, 1, order=2,
         value=False, peers=SLICING),
    Case("k-means, value and gradient",
         lambda: ([P, Q], with_gradient(clusters(se.numpy, P, Q), Q)),
         three((12, 3, 2), (1000, 10, 8), (20000, 30, 20)),
         lambda rows, count, width: normal((rows, width), (count, width)), clusters_gradient,
         clusters, 1, peers=SLICING),
    Case("k-means by differences, value and gradient",
         lambda: ([P, Q], with_gradient(clusters_by_differences(se.numpy, P, Q), Q)),
         three((12, 3, 2), (1000, 10, 8), (20000, 30, 20)),
         lambda rows, count, width: normal((rows, width), (count, width)),
         clusters_by_differences_gradient, clusters_by_differences, 1, peers=SLICING),
    Case("max-pooling, value and gradient",
         lambda: ([blocks], with_gradient(pooled(se.numpy, blocks), blocks)),
         three((3, 2), (20, 16), (200, 150)), lambda r, c: normal((r, 2, c, 2)), pooled_gradient,
         pooled, peers=SLICING),
]  # fmt: skip
