"""Expectations, variances and covariances: the Matrix Cookbook's formulas, and Gauss and Hermite's
quadrature of functions written in NumPy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from oracles import assert_close
from sympy import Rational, Symbol, cos, exp, sin, sinh, sqrt, symbols

import sympy_einsum as se

k, m, n, p, q = symbols("k m n p q", integer=True, positive=True)
x, mu, shift = se.tensors("x mu s", n)
Sigma = se.TensorSymbol("Sigma", n, n, symmetric=True)
LAW = {x: se.Gaussian(mu, Sigma)}
E2 = Sigma + se.outer(mu, mu)


def mean(e):
    return se.expectation(e, LAW)


# --- the Matrix Cookbook --------------------------------------------------------------------------

A, B, C, D = [se.TensorSymbol(name, n, n) for name in "ABCD"]
F, G = se.TensorSymbol("F", p, n), se.TensorSymbol("G", q, n)
f, g = se.TensorSymbol("f", p), se.TensorSymbol("g", q)
G2, g2 = se.TensorSymbol("H", p, n), se.TensorSymbol("h", p)
K, L = se.TensorSymbol("K", q, n), se.TensorSymbol("L", m, n)
c, l = se.TensorSymbol("c", q), se.TensorSymbol("l", m)
a, b, d, e = se.tensors("a b d e", n)
U, V = se.tensors("U V", n, n, symmetric=True)
Fm, Gm, Hm, Km, Lm = F @ mu + f, G @ mu + g, G2 @ mu + g2, K @ mu + c, L @ mu + l
yF, yG, yH, yK, yL = F @ x + f, G @ x + g, G2 @ x + g2, K @ x + c, L @ x + l


def tr(M):
    return se.trace(M)


FORMULAS = {
    # 6.2.2, 8.2.1: linear and quadratic forms
    "(351) E[Fx]": (mean(F @ x), F @ mu),
    "(352) Var[Fx]": (se.variance(F @ x, LAW), F @ Sigma @ F.T),
    "(353) Cov[Fx, Gx]": (se.covariance(F @ x, G @ x, LAW), F @ Sigma @ G.T),
    "(321) E[(Fx+f)(Gx+g)']": (mean(se.outer(yF, yG)), F @ Sigma @ G.T + se.outer(Fm, Gm)),
    "(322) E[xx']": (mean(se.outer(x, x)), E2),
    "(323) E[xa'x]": (mean(x * (a @ x)), E2 @ a),
    "(324) E[x'ax']": (mean((x @ a) * x), a @ E2),
    "(325) E[(Fx)(Fx)']": (mean(se.outer(F @ x, F @ x)), F @ E2 @ F.T),
    "(326) E[(x+a)(x+a)']": (mean(se.outer(x + a, x + a)), Sigma + se.outer(mu + a, mu + a)),
    "(327) E[(Fx+f)'(Hx+h)]": (mean(yF @ yH), tr(F @ Sigma @ G2.T) + Fm @ Hm),
    "(328) E[x'x]": (mean(x @ x), tr(Sigma) + mu @ mu),
    "(329) E[x'Ax]": (mean(x @ A @ x), tr(A @ Sigma) + mu @ A @ mu),
    "(330) E[(Fx)'(Fx)]": (
        mean((F @ x) @ (F @ x)),
        tr(F @ Sigma @ F.T) + (F @ mu) @ (F @ mu),
    ),
    "(331) E[(x+a)'(x+a)]": (mean((x + a) @ (x + a)), tr(Sigma) + (mu + a) @ (mu + a)),
    # 8.2.2: the mean and variance of square forms
    "(379) Var[x'Ax]": (
        se.variance(x @ A @ x, LAW),
        tr(A @ Sigma @ (A + A.T) @ Sigma) + mu @ (A + A.T) @ Sigma @ (A + A.T) @ mu,
    ),
    "(380) E[(x-s)'A(x-s)]": (
        mean((x - shift) @ A @ (x - shift)),
        (mu - shift) @ A @ (mu - shift) + tr(A @ Sigma),
    ),
    # 6.2.3, 8.2.3: cubic forms
    "(332) E[(Fx+f)(Gx+g)'(Kx+c)]": (
        mean(yF * (yG @ yK)),
        (F @ Sigma @ G.T + se.outer(Fm, Gm)) @ Km + tr(G @ Sigma @ K.T) * Fm + F @ Sigma @ K.T @ Gm,
    ),
    "(333) E[xx'x]": (mean(x * (x @ x)), 2 * Sigma @ mu + (tr(Sigma) + mu @ mu) * mu),
    "(334) E[(Fx+f)(Fx+f)'(Fx+f)]": (
        mean(yF * (yF @ yF)),
        (2 * F @ Sigma @ F.T + se.outer(Fm, Fm)) @ Fm + tr(F @ Sigma @ F.T) * Fm,
    ),
    "(335) E[(Fx+f)e'(Gx+g)(Lx+l)']": (
        mean(se.outer(yF, yL) * (g @ yG)),
        se.outer(Fm, g @ (G @ Sigma @ L.T + se.outer(Gm, Lm)))
        + se.outer((F @ Sigma @ G.T + se.outer(Fm, Gm)) @ g, Lm)
        + (g @ Gm) * (F @ Sigma @ L.T - se.outer(Fm, Lm)),
    ),
    "(383) E[xb'xx']": (
        mean((b @ x) * se.outer(x, x)),
        se.outer(mu, b @ E2) + se.outer(E2 @ b, mu) + (b @ mu) * (Sigma - se.outer(mu, mu)),
    ),
    # 8.2.4: quartic forms
    "(384) E[xx'xx']": (
        mean((x @ x) * se.outer(x, x)),
        2 * E2 @ E2 + (mu @ mu) * (Sigma - se.outer(mu, mu)) + tr(Sigma) * E2,
    ),
    "(385) E[xx'Axx']": (
        mean((x @ A @ x) * se.outer(x, x)),
        E2 @ (A + A.T) @ E2 + (mu @ A @ mu) * (Sigma - se.outer(mu, mu)) + tr(A @ Sigma) * E2,
    ),
    "(386) E[x'xx'x]": (
        mean((x @ x) ** 2),
        2 * tr(Sigma @ Sigma) + 4 * mu @ Sigma @ mu + (tr(Sigma) + mu @ mu) ** 2,
    ),
    "(387) E[x'Axx'Bx]": (
        mean((x @ A @ x) * (x @ B @ x)),
        tr(A @ Sigma @ (B + B.T) @ Sigma)
        + mu @ (A + A.T) @ Sigma @ (B + B.T) @ mu
        + (tr(A @ Sigma) + mu @ A @ mu) * (tr(B @ Sigma) + mu @ B @ mu),
    ),
    "(388) E[a'xb'xd'xe'x]": (
        mean((a @ x) * (b @ x) * (d @ x) * (e @ x)),
        (a @ E2 @ b) * (d @ E2 @ e)
        + (a @ E2 @ d) * (b @ E2 @ e)
        + (a @ E2 @ e) * (b @ E2 @ d)
        - 2 * (a @ mu) * (b @ mu) * (d @ mu) * (e @ mu),
    ),
    "(389) E[(Fx+f)(Gx+g)'(Kx+c)(Lx+l)']": (
        mean(se.outer(yF, yL) * (yG @ yK)),
        (F @ Sigma @ G.T + se.outer(Fm, Gm)) @ (K @ Sigma @ L.T + se.outer(Km, Lm))
        + (F @ Sigma @ K.T + se.outer(Fm, Km)) @ (G @ Sigma @ L.T + se.outer(Gm, Lm))
        + (Gm @ Km) * (F @ Sigma @ L.T - se.outer(Fm, Lm))
        + tr(G @ Sigma @ K.T) * (F @ Sigma @ L.T + se.outer(Fm, Lm)),
    ),
    "(390) E[(Fx+f)'(Hx+h)(Gx+g)'(Kx+c)]": (
        mean((yF @ yH) * (yG @ yK)),
        tr(F @ Sigma @ (G.T @ K + K.T @ G) @ Sigma @ G2.T)
        + (Fm @ G2 + Hm @ F) @ Sigma @ (G.T @ Km + K.T @ Gm)
        + (tr(F @ Sigma @ G2.T) + Fm @ Hm) * (tr(G @ Sigma @ K.T) + Gm @ Km),
    ),
    # 8.1.1, 8.2: Gaussian integrals
    "E[exp(b'x)]": (mean(se.exp(b @ x)), se.exp(b @ mu + b @ Sigma @ b / 2)),
    "E[x exp(b'x)]": (
        mean(x * se.exp(b @ x)),
        (mu + Sigma @ b) * se.exp(b @ mu + b @ Sigma @ b / 2),
    ),
    "Cov[x, exp(b'x)]": (
        se.covariance(x, se.exp(b @ x), LAW),
        Sigma @ b * se.exp(b @ mu + b @ Sigma @ b / 2),
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_the_matrix_cookbook(name):
    found, expected = FORMULAS[name]
    assert se.equal(found, expected)


def test_isotropic_quadratic_forms():
    """[MC, 381, 382]"""
    s = Symbol("s", positive=True)
    law = {x: se.Gaussian(mu, s**2 * se.eye(n))}
    centred = {x: se.Gaussian(se.Zeros(n), s**2 * se.eye(n))}
    assert se.equal(se.variance(x @ U @ x, law), 2 * s**4 * tr(U @ U) + 4 * s**2 * mu @ U @ U @ mu)
    assert se.equal(se.covariance(x @ U @ x, x @ V @ x, centred), 2 * s**4 * tr(U @ V))


def test_moments_of_quadratic_forms():
    """Their cumulants are 2^(k-1) (k-1)! tr((US)^k) [MP, theorem 3.2b.2]."""
    centred = {x: se.Gaussian(se.Zeros(n), Sigma)}
    t1, t2, t3, t4 = [tr(se.matrix_power(U @ Sigma, power)) for power in (1, 2, 3, 4)]
    moments = [t1, t1**2 + 2 * t2, t1**3 + 6 * t1 * t2 + 8 * t3]
    moments.append(t1**4 + 12 * t1**2 * t2 + 12 * t2**2 + 32 * t1 * t3 + 48 * t4)
    for power, expected in enumerate(moments, start=1):
        found = se.expectation((x @ U @ x) ** power, centred)
        assert se.equal(found, expected) is not False  # None: by numbers, traces of many factors
        # Equal pairings are counted: as many terms as there are partitions of the power.
        assert len(found.as_ordered_terms()) == (1, 2, 3, 5)[power - 1]


def test_covariances_that_are_not_declared_symmetric():
    """They stand in the order in which there are fewer transposes."""
    S = se.TensorSymbol("S", n, n)
    law = {x: se.Gaussian(mu, S)}
    assert se.equal(se.variance(F @ x, law), F @ S @ F.T)
    assert se.equal(se.expectation(x @ A @ x, law), mu @ A @ mu + tr(A @ S))
    assert str(se.expectation(x @ A @ x, law)) == "mu @ A @ mu + (S @ A).trace()"
    kronecker = se.einsum("ik,jl->ijkl", A, B)
    X = se.TensorSymbol("X", n, n)
    found = se.expectation(X.T @ X, {X: se.Gaussian(se.Zeros(n, n), kronecker)})
    assert se.equal(found, tr(A) * B)


def test_the_matrix_normal_distribution():
    """[Gupta, Nagar, Matrix Variate Distributions, theorem 2.3.5]"""
    X, M = se.tensors("X M", m, n)
    R, S = se.TensorSymbol("R", m, m, symmetric=True), se.TensorSymbol("S", n, n, symmetric=True)
    P, Q = se.TensorSymbol("P", m, m), se.TensorSymbol("Q", n, n)
    W = se.TensorSymbol("W", n, m)
    law = {X: se.Gaussian(M, se.einsum("ik,jl->ijkl", R, S))}
    for e, expected in [
        (X @ Q @ X.T, tr(S @ Q.T) * R + M @ Q @ M.T),
        (X.T @ P @ X, tr(R @ P.T) * S + M.T @ P @ M),
        (X @ W @ X, R @ W.T @ S + M @ W @ M),
        (X.T @ P @ X @ Q, (tr(R @ P.T) * S + M.T @ P @ M) @ Q),
        (se.exp(tr(W @ X)), se.exp(tr(W @ M) + tr(W @ R @ W.T @ S) / 2)),
        (se.ravel(X), se.ravel(M)),
    ]:
        assert se.equal(se.expectation(e, law), expected)
    assert se.equal(se.variance(X, law), se.einsum("ik,jl->ijkl", R, S))
    assert se.equal(se.variance(X @ a, law), (a @ S @ a) * R)


# --- quadrature -----------------------------------------------------------------------------------


def quadrature(function, mean, covariance, points):
    """The expectation of a function of NumPy's of a tensor, by Gauss and Hermite's rule."""
    mean = np.asarray(mean, float)
    size = mean.size
    nodes, weights = np.polynomial.hermite_e.hermegauss(points)
    weights = weights / weights.sum()
    values, vectors = np.linalg.eigh(np.reshape(covariance, (size, size)))
    root = vectors * np.sqrt(np.maximum(values, 0))
    total = 0.0
    for position in product(range(points), repeat=size):
        z = root @ nodes[list(position)] + mean.ravel()
        weight = np.prod(weights[list(position)])
        total = total + weight * np.asarray(function(z.reshape(mean.shape)))
    return total


MEAN2 = np.array([0.3, -0.5])
ROOT2 = np.array([[0.6, 0.0], [0.2, 0.4]])
COVARIANCE2 = ROOT2 @ ROOT2.T
MATRIX = np.array([[0.5, -1.0], [0.3, 0.7], [1.1, -0.2]])
SQUARE = np.array([[0.4, 0.1], [-0.2, 0.3]])
VECTOR3, VECTOR2 = np.array([0.2, -0.4, 0.9]), np.array([0.8, -0.3])
z, w2, w3 = se.TensorSymbol("z", 2), se.TensorSymbol("w", 2), se.TensorSymbol("v", 3)
M3, M2 = se.TensorSymbol("M", 3, 2), se.TensorSymbol("N", 2, 2)
mu2, S2 = se.TensorSymbol("mu", 2), se.TensorSymbol("S", 2, 2)
DATA = [MEAN2, COVARIANCE2, MATRIX, SQUARE, VECTOR2, VECTOR3]
ARGUMENTS = [mu2, S2, M3, M2, w2, w3]

FUNCTIONS = {
    "quartic": ((z @ M2 @ z) ** 2, lambda v: (v @ SQUARE @ v) ** 2),
    "sixth": ((z @ z) ** 2 * se.outer(z, z), lambda v: (v @ v) ** 2 * np.outer(v, v)),
    "eighth": (z**8 + z[0] ** 3 * z[1] ** 5, lambda v: v**8 + v[0] ** 3 * v[1] ** 5),
    "mixed degrees": (
        (z @ M2 @ z + w2 @ z + 3) ** 3,
        lambda v: (v @ SQUARE @ v + VECTOR2 @ v + 3) ** 3,
    ),
    "entrywise": (
        (M3 @ z - w3) ** 3 * (M3 @ z),
        lambda v: (MATRIX @ v - VECTOR3) ** 3 * (MATRIX @ v),
    ),
    "diagonals": (
        se.einsum("i,ij,i->ij", z, M2, z) + se.diag(z),
        lambda v: v[:, None] * SQUARE * v[:, None] + np.diag(v),
    ),
    "exp": (se.exp(M3 @ z + w3), lambda v: np.exp(MATRIX @ v + VECTOR3)),
    "products of exp": (
        se.outer(se.exp(M3 @ z), se.exp(z)),
        lambda v: np.outer(np.exp(MATRIX @ v), np.exp(v)),
    ),
    "polynomial times exp": (
        (z @ M2 @ z) * z[0] * se.exp(M3 @ z + w3),
        lambda v: (v @ SQUARE @ v) * v[0] * np.exp(MATRIX @ v + VECTOR3),
    ),
    "sums of exp": (
        (se.exp(z) + z).sum() ** 2 * z,
        lambda v: (np.exp(v) + v).sum() ** 2 * v,
    ),
    "cos": (se.cos(M3 @ z + w3), lambda v: np.cos(MATRIX @ v + VECTOR3)),
    "sin times polynomial": (
        se.sin(M3 @ z + w3) * (z @ z) * z[1],
        lambda v: np.sin(MATRIX @ v + VECTOR3) * (v @ v) * v[1],
    ),
    "sin times cos times exp": (
        se.outer(se.sin(M3 @ z), se.cos(z)) * exp(w2 @ z),
        lambda v: np.outer(np.sin(MATRIX @ v), np.cos(v)) * np.exp(VECTOR2 @ v),
    ),
    "powers of sin": (
        sin(w2 @ z) ** 3 * cos(z[0] + 1) * z,
        lambda v: np.sin(VECTOR2 @ v) ** 3 * np.cos(v[0] + 1) * v,
    ),
    "sinh": (sinh(w2 @ z) * z, lambda v: np.sinh(VECTOR2 @ v) * v),
    "other bases": (2 ** (M3 @ z), lambda v: 2 ** (MATRIX @ v)),
    "exp of a square": (
        exp(-((w2 @ z) ** 2)) * (z @ z),
        lambda v: np.exp(-((VECTOR2 @ v) ** 2)) * (v @ v),
    ),
    "exp of squares entry by entry": (
        se.exp(-((M3 @ z - w3) ** 2) / 2 + M3 @ z),
        lambda v: np.exp(-((MATRIX @ v - VECTOR3) ** 2) / 2 + MATRIX @ v),
    ),
    "exp of squares times others": (
        se.outer(se.exp(-(z**2)), z) * (z @ z),
        lambda v: np.outer(np.exp(-(v**2)), v) * (v @ v),
    ),
    "products of squares": (
        se.outer(se.exp(-(z**2)), se.exp(-((M3 @ z) ** 2) / 4)),
        lambda v: np.outer(np.exp(-(v**2)), np.exp(-((MATRIX @ v) ** 2) / 4)),
    ),
    "exp of a quadratic form": (
        exp(-(z @ M2 @ z) + w2 @ z) * se.outer(z, z),
        lambda v: np.exp(-(v @ SQUARE @ v) + VECTOR2 @ v) * np.outer(v, v),
    ),
    "a norm": (
        exp(-((M3 @ z - w3) @ (M3 @ z - w3)) / 3) * z,
        lambda v: np.exp(-((MATRIX @ v - VECTOR3) ** 2).sum() / 3) * v,
    ),
    "different forms": (
        exp(-((z - w2) @ M2 @ (z + w2)) - z @ z) * (w2 @ z),
        lambda v: np.exp(-(v - VECTOR2) @ SQUARE @ (v + VECTOR2) - v @ v) * (VECTOR2 @ v),
    ),
    "a quadratic form times a square": (
        exp(-(z @ M2 @ z)) * se.exp(-(z**2) / 2),
        lambda v: np.exp(-(v @ SQUARE @ v)) * np.exp(-(v**2) / 2),
    ),
    "stacks of quadratic forms": (
        se.exp(-se.einsum("i,ai,aj,j->a", z, M3, M3, z)) * se.exp(M3 @ z),
        lambda v: np.exp(-((MATRIX @ v) ** 2)) * np.exp(MATRIX @ v),
    ),
    "cos times exp of a quadratic form": (
        exp(-(z @ M2 @ z)) * sin(w2 @ z + 1) * z,
        lambda v: np.exp(-(v @ SQUARE @ v)) * np.sin(VECTOR2 @ v + 1) * v,
    ),
}


@pytest.mark.parametrize("zero_mean", [False, True], ids=["mean", "centred"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_expectations_by_quadrature(name, zero_mean):
    e, function = FUNCTIONS[name]
    mean = np.zeros(2) if zero_mean else MEAN2
    law = {z: se.Gaussian(se.Zeros(2) if zero_mean else mu2, S2)}
    found = se.lambdify(ARGUMENTS, se.expectation(e, law), cse=True)(*DATA)
    assert_close(found, quadrature(function, mean, COVARIANCE2, 32), 1e-8)


PAIRS = ["quartic", "entrywise", "exp", "cos", "exp of a square", "sinh"]


@pytest.mark.parametrize("one", PAIRS)
@pytest.mark.parametrize("other", ["diagonals", "exp", "sinh"])
def test_covariances_by_quadrature(one, other):
    law = {z: se.Gaussian(mu2, S2)}
    (e1, f1), (e2, f2) = FUNCTIONS[one], FUNCTIONS[other]
    found = se.lambdify(ARGUMENTS, se.covariance(e1, e2, law))(*DATA)
    both = quadrature(lambda v: np.multiply.outer(f1(v), f2(v)), MEAN2, COVARIANCE2, 32)
    means = [quadrature(own, MEAN2, COVARIANCE2, 32) for own in (f1, f2)]
    assert_close(found, both - np.multiply.outer(*means), 1e-8)


def test_several_variables_by_quadrature():
    y = se.TensorSymbol("y", 2)
    law = {z: se.Gaussian(mu2, S2), y: se.Gaussian(w2, M2 @ M2.T)}
    covariance = np.zeros((4, 4))
    covariance[:2, :2], covariance[2:, 2:] = COVARIANCE2, SQUARE @ SQUARE.T
    mean = np.concatenate([MEAN2, VECTOR2])
    for e, function in [
        ((z @ M2 @ y) ** 2 * y, lambda v: (v[:2] @ SQUARE @ v[2:]) ** 2 * v[2:]),
        (se.exp(z + y) * z, lambda v: np.exp(v[:2] + v[2:]) * v[:2]),
        (cos(z @ w2 - y @ w2), lambda v: np.cos((v[:2] - v[2:]) @ VECTOR2)),
        (exp(-((z - y) ** 2).sum()), lambda v: np.exp(-((v[:2] - v[2:]) ** 2).sum())),
        (exp(-(((z - y) @ w2) ** 2)), lambda v: np.exp(-(((v[:2] - v[2:]) @ VECTOR2) ** 2))),
        (exp(-(z @ M2 @ y)) * z, lambda v: np.exp(-(v[:2] @ SQUARE @ v[2:])) * v[:2]),
    ]:
        found = se.lambdify(ARGUMENTS, se.expectation(e, law))(*DATA)
        assert_close(found, quadrature(function, mean, covariance, 9), 1e-5)
    found = se.lambdify(ARGUMENTS, se.covariance(exp(-(z @ M2 @ y)), y, law))(*DATA)
    scalar = quadrature(lambda v: np.exp(-(v[:2] @ SQUARE @ v[2:])), mean, covariance, 9)
    both = quadrature(lambda v: np.exp(-(v[:2] @ SQUARE @ v[2:])) * v[2:], mean, covariance, 9)
    assert_close(found, both - scalar * VECTOR2, 1e-5)


def test_matrices_by_quadrature():
    X = se.TensorSymbol("X", 2, 2)
    tall = se.TensorSymbol("P", 2, 2)
    covariance = se.einsum("ik,jl->ijkl", S2, M2 @ M2.T)
    law = {X: se.Gaussian(tall, covariance)}
    numbers = np.einsum("ik,jl->ijkl", COVARIANCE2, SQUARE @ SQUARE.T)
    means = np.array([[0.1, -0.6], [0.4, 0.2]])
    for e, function in [
        (X @ X.T @ X, lambda V: V @ V.T @ V),
        (se.exp(X) * X.T, lambda V: np.exp(V) * V.T),
        (exp(-(X * X).sum() / 2) * X, lambda V: np.exp(-(V * V).sum() / 2) * V),
        (exp(-(X @ X).trace() / 2), lambda V: np.exp(-np.trace(V @ V) / 2)),
        (se.exp(-(X**2)) * X, lambda V: np.exp(-(V**2)) * V),
        (se.ravel(X) @ se.ravel(X.T), lambda V: V.ravel() @ V.T.ravel()),
    ]:
        found = se.lambdify([*ARGUMENTS, tall], se.expectation(e, law))(*DATA, means)
        assert_close(found, quadrature(function, means, numbers, 9), 1e-5)


def test_singular_covariances():
    law = {z: se.Gaussian(mu2, se.outer(w2, w2))}
    for name in ("quartic", "exp", "exp of a quadratic form", "exp of a square", "a norm"):
        e, function = FUNCTIONS[name]
        found = se.lambdify(ARGUMENTS, se.expectation(e, law))(*DATA)
        expected = quadrature(function, MEAN2, np.outer(VECTOR2, VECTOR2), 40)
        assert_close(found, expected, 1e-8)


def test_by_sampling():
    """Once without quadrature: a million draws."""
    draws = np.random.default_rng(3).multivariate_normal(MEAN2, COVARIANCE2, 10**6)
    e = FUNCTIONS["polynomial times exp"][0]
    found = se.lambdify(ARGUMENTS, se.expectation(e, {z: se.Gaussian(mu2, S2)}))(*DATA)
    forms = np.einsum("ki,ij,kj->k", draws, SQUARE, draws) * draws[:, 0]
    expected = (forms[:, None] * np.exp(draws @ MATRIX.T + VECTOR3)).mean(axis=0)
    assert_close(found, expected, 0.02)


# --- scalars, and what stays ----------------------------------------------------------------------

t, v = symbols("t v", real=True)
s = Symbol("s", positive=True)


def test_moments_of_a_scalar():
    law = {t: se.Gaussian(0, s)}
    for power in range(13):
        double = np.prod(np.arange(power - 1, 0, -2)) if power % 2 == 0 else 0
        assert se.expectation(t**power, law) == int(double) * s ** (power // 2)
    assert se.variance(t**2, law) == 2 * s**2
    assert se.covariance(t, t**3, law) == 3 * s**2
    assert se.expectation(exp(t), law) == exp(s / 2)
    assert se.expectation(exp(-(t**2) / 2), law) == 1 / sqrt(s + 1)
    assert se.expectation(cos(t * v), law) == exp(-s * v**2 / 2)
    assert se.expectation(sin(t) ** 2 + cos(t) ** 2, law) == 1


def test_what_is_not_random_stays():
    law = {t: se.Gaussian(0, 1)}
    for e in (se.logdet(A) * x, se.inv(A) @ x, x.sum(), v):
        assert se.expectation(e, law) == e
        assert se.variance(e, law) == 0 * se.variance(e, law)
    assert se.equal(se.expectation(t**2 * se.inv(A), law), se.inv(A))
    weights = se.softmax(A @ a)
    assert se.equal(se.expectation(t**4 * weights, law), 3 * weights)


def test_axes_of_length_zero_and_one():
    for length in (0, 1):
        u, shape = se.TensorSymbol("u", length), (length, length)
        S = se.TensorSymbol("S", *shape)
        law = {u: se.Gaussian(se.Zeros(length), S)}
        assert se.expectation(u, law) == se.Zeros(length)
        assert se.equal(se.expectation(u @ u, law), S.trace())
        assert se.equal(se.expectation(se.outer(u, u), law), S)
        assert se.equal(se.expectation(exp(u.sum()), law), exp(S.sum() / 2))


def test_sums_keep_their_lengths():
    """A sum over an axis along which an expectation is constant."""
    law = {t: se.Gaussian(0, 1)}
    still = {x: se.Gaussian(se.Zeros(n), se.Zeros(n, n))}
    assert se.expectation(se.exp(x).sum() + se.cos(x).sum(), still) == 2 * n
    assert se.expectation(se.exp(-(x**2)).sum() + (x**2).sum(), still) == n
    assert se.expectation(se.cos(t * (x - x)).sum(), law) == n
    assert se.expectation((t + x).sum(), law) == x.sum()
    assert se.equal(se.expectation(((t + x) ** 2).sum(), law), x @ x + n)
    assert se.expectation(se.exp(t * se.Ones(n)).sum(), law) == n * exp(Rational(1, 2))


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: se.Gaussian([0, 0], [[1, 2], [0, 1]]), r"entry \[0, 1\] is 2 and entry \[1, 0\]"),
        (lambda: se.Gaussian([0, 0], [[1, 2], [2, 1]]), "eigenvalue -1"),
        (lambda: se.Gaussian(mu, A @ B), r"A @ B isn't symmetric.* \(ij -> ji\)"),
        (lambda: se.Gaussian(0, -1), "variance -1 is negative"),
        (lambda: se.expectation(x, {x: 3}), "is a Gaussian"),
        (lambda: se.expectation(x, [x]), "dictionary"),
        (lambda: se.expectation(x, {}), "dictionary"),
        (lambda: se.expectation(x, {x @ x: se.Gaussian(0, 1)}), "over symbols, not over 'x @ x'"),
        (lambda: se.expectation(x, {x: se.Gaussian(x, Sigma)}), "depends on x"),
        (lambda: se.expectation(s, {s: se.Gaussian(0, 1)}), "s is declared positive"),
        (lambda: se.expectation(U, {U: se.Gaussian(A, se.Delta(n, n))}), "declared symmetric"),
    ],
)
def test_bad_distributions_are_refused(made, message):
    with pytest.raises(se.TensorError, match=message):
        made()


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: se.Gaussian(0, Sigma), r"2 axes, of lengths \(n, n\), .* mean 0 has 0"),
        (lambda: se.Gaussian(mu, 1), r"write 1 \* eye\(n\)"),
        (lambda: se.Gaussian(F, A), "ik,jl->ijkl"),
        (lambda: se.Gaussian(mu, F), "axis 0 of the covariance F has length p"),
        (lambda: se.expectation(x, {x: se.Gaussian(0, 1)}), "x has 1 axes"),
        (lambda: se.expectation(x, {x: se.Gaussian(f, F @ F.T)}), "axis 0 of x has length n"),
    ],
)
def test_wrong_shapes_are_refused(made, message):
    with pytest.raises(se.ShapeError, match=message):
        made()


@pytest.mark.parametrize(
    ("e", "message"),
    [
        (se.relu(x), r"relu\(x\), the relu"),
        (se.log(x @ x), "log"),
        (1 / t, "1/t"),
        (se.inv(se.outer(x, x) + A), "the Inv of"),
        (exp(t**3), "degree at most 2"),
        (exp(exp(t)), "degree at most 2"),
        (se.sin(x**2), r"sin\(x\*\*2\)"),
        (exp(t**2 / 2), "infinite"),
        ((x @ x) ** 6, "pairings|terms"),
        (se.sqrt(x @ x), "norm|sqrt"),
        (se.max(x), "Extremum"),
    ],
    ids=str,
)
def test_other_functions_are_refused(e, message):
    law = {x: se.Gaussian(mu, Sigma), t: se.Gaussian(0, 1)}
    with pytest.raises(se.UnsupportedError, match=message):
        se.expectation(e, law)


def test_deep_expressions_are_refused():
    e = x
    for _ in range(400):
        e = se.exp(A @ e)
    with pytest.raises(se.UnsupportedError):
        mean(e)
