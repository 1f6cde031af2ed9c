"""Define cases with factorizations: Gaussian processes, ridge regression, a Kalman filter step, the
normal density. The hand-written programs factor each matrix once, by LAPACK."""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import symbols

import sympy_einsum as se

from .case import Case, normal, rng, three, with_gradient

m, n, k = symbols("m n k", integer=True, positive=True)
scale, width, noise = symbols("scale width noise", positive=True)
P, R = se.TensorSymbol("P", (n, n), psd=True), se.TensorSymbol("R", (m, m), psd=True)
X, H = se.TensorSymbol("X", (m, n)), se.TensorSymbol("H", (m, n))
x, mean, y = se.TensorSymbol("x", n), se.TensorSymbol("mean", n), se.TensorSymbol("y", m)


# --- by hand --------------------------------------------------------------------------------------


def factor_and_solve(K: Any, x: Any) -> tuple[Any, Any, Any]:
    """Return the Cholesky factor as LAPACK stores it, inv(K) @ x, and x' inv(K) x + log det K."""
    from scipy.linalg import lapack

    U = lapack.dpotrf(K.T)[0]
    a = lapack.dpotrs(U, x)[0]
    return U, a, x.dot(a) + 2 * np.log(U.diagonal()).sum()


def inverse_by(U: Any) -> Any:
    from scipy.linalg import lapack

    upper = np.triu(lapack.dpotri(U)[0])
    inverse = upper + upper.T
    inverse.ravel()[:: len(U) + 1] *= 0.5
    return inverse


def density_gradient(K: Any, x: Any) -> Any:
    """Return the gradient of a quadratic form plus log-determinant, from one factor."""
    U, a, value = factor_and_solve(K, x)
    outer = a[:, None] * a
    return value, a, np.subtract(inverse_by(U), outer, out=outer)


def process_gradient(P: Any, x: Any) -> Any:
    value, _, gradient = density_gradient(P, x)
    return value, gradient


def distances(X: Any) -> Any:
    squares = np.einsum("ij,ij->i", X, X)
    D = X.dot(X.T)
    D *= -2
    D += squares
    D += squares[:, None]
    return D


def kernel(X: Any, scale: float, width: float, noise: float) -> Any:
    D = distances(X)
    E = D / (-2 * width**2)
    np.exp(E, out=E)
    K = scale * E
    K.ravel()[:: len(K) + 1] += noise
    return D, E, K


def hyperparameter_gradient(X: Any, y: Any, scale: float, width: float, noise: float) -> Any:
    D, E, K = kernel(X, scale, width, noise)
    value, _, M = density_gradient(K, y)
    by_scale, by_noise = E.ravel().dot(M.ravel()), M.trace()
    D *= E
    return value, by_scale, scale / width**3 * D.ravel().dot(M.ravel()), by_noise


def hyperparameter_hessian(X: Any, y: Any, scale: float, width: float, noise: float) -> Any:
    D, E, K = kernel(X, scale, width, noise)
    U, a, _ = factor_and_solve(K, y)
    inverse = inverse_by(U)
    F = D * E
    F *= scale / width**3
    solved = [inverse.dot(E), inverse.dot(F), inverse]
    derivatives = [E.dot(a), F.dot(a), a]

    def entry(i: int, j: int) -> float:
        along = 2 * derivatives[i].dot(inverse.dot(derivatives[j]))
        return along - solved[i].ravel().dot(solved[j].T.ravel())

    def twice(M: Any) -> float:
        return inverse.ravel().dot(M.ravel()) - a.dot(M.dot(a))

    mixed = entry(0, 1) + twice(F) / scale
    D *= 1 / width**3
    D -= 3 / width
    F *= D
    last = entry(1, 1) + twice(F)
    side = [entry(0, 2), entry(1, 2)]
    return entry(0, 0), mixed, side[0], last, side[1], entry(2, 2)


def ridge_gradient(X: Any, y: Any, noise: float) -> Any:
    from scipy.linalg import lapack

    K = X.T.dot(X)
    K.ravel()[:: len(K) + 1] += noise
    U, a, value = factor_and_solve(K, X.T.dot(y))
    root = lapack.dtrtri(U)[0].ravel("K")
    return value, root.dot(root) - a.dot(a)


def filter_gradient(P: Any, R: Any, H: Any, mean: Any, y: Any) -> Any:
    S = H.dot(P).dot(H.T)
    S += R
    value, a, M = density_gradient(S, y - H.dot(mean))
    return value, -2 * a.dot(H), H.T.dot(M).dot(H), M


def normal_gradient(P: Any, x: Any, mean: Any) -> Any:
    value, a, M = density_gradient(P, x - mean)
    M *= 0.5
    return value / 2, -a, M


# --- for the peers --------------------------------------------------------------------------------


def density(xp: Any, K: Any, x: Any) -> Any:
    return x @ xp.linalg.solve(K, x) + xp.linalg.slogdet(K)[1]


def filter_step(xp: Any, P: Any, R: Any, H: Any, mean: Any, y: Any) -> Any:
    return density(xp, H @ P @ H.T + R, y - H @ mean)


def log_density(xp: Any, P: Any, x: Any, mean: Any) -> Any:
    return density(xp, P, x - mean) / 2


# --- ours -----------------------------------------------------------------------------------------


def ours_density(K: Any, x: Any) -> Any:
    return x @ se.inv(K) @ x + se.logdet(K)


def ours_process() -> Any:
    squares = (X**2).sum(axis=1)
    D = squares[:, None] + squares[None, :] - 2 * X @ X.T
    return ours_density(scale * se.exp(-D / (2 * width**2)) + noise * se.Delta(m), y)


def ours_hessian() -> list[Any]:
    process, names = ours_process(), (scale, width, noise)
    pairs = [(i, j) for i in range(3) for j in range(i, 3)]
    return [se.diff(process, names[i], names[j]) for i, j in pairs]


RIDGE = ours_density(X.T @ X + noise * se.Delta(n), X.T @ y)
FILTER = ours_density(H @ P @ H.T + R, y - H @ mean)
NORMAL = ours_density(P, x - mean) / 2


def definite(size: int) -> Any:
    root = rng().standard_normal((size, size))
    return root @ root.T + size * np.eye(size)


def process_data(rows: int, columns: int) -> list[Any]:
    return [*normal((rows, columns), (rows,)), 1.5, 0.8, 0.1]


FACTORS = [
    Case("Gaussian process, declared definite",
         lambda: ([P, x], with_gradient(ours_density(P, x), P)), three(5, 100, 400),
         lambda s: [definite(s), *normal((s,))], process_gradient, density, 0),
    Case("Gaussian process by hyperparameters, value and gradient",
         lambda: ([X, y, scale, width, noise], with_gradient(ours_process(), scale, width, noise)),
         three((5, 2), (100, 5), (400, 10)), process_data, hyperparameter_gradient),
    Case("Gaussian process by hyperparameters, Hessian",
         lambda: ([X, y, scale, width, noise], ours_hessian()),
         three((5, 2), (100, 5), (400, 10)), process_data, hyperparameter_hessian),
    Case("ridge regression with log det, value and gradient",
         lambda: ([X, y, noise], with_gradient(RIDGE, noise)),
         three((8, 5), (500, 100), (2000, 400)), lambda r, c: [*normal((r, c), (r,)), 0.5],
         ridge_gradient),
    Case("Kalman filter's step, value and gradients",
         lambda: ([P, R, H, mean, y], with_gradient(FILTER, mean, P, R)),
         three((5, 3), (100, 50), (400, 200)),
         lambda s, r: [definite(s), definite(r), *normal((r, s), (s,), (r,))], filter_gradient,
         filter_step, (3, 0, 1)),
    Case("normal density, value and gradients",
         lambda: ([P, x, mean], with_gradient(NORMAL, mean, P)), three(5, 100, 400),
         lambda s: [definite(s), *normal((s,), (s,))], normal_gradient, log_density, (2, 0)),
]  # fmt: skip
