"""Derivative terms of functions of matrices: against differences, JAX, and values at special
points."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import assert_close, jax64
from sympy import Symbol

import sympy_einsum as se

n = 3
A = se.TensorSymbol("A", (n, n))
M = se.TensorSymbol("M", (3, 3))
S = se.TensorSymbol("S", (2, n, n))
TALL, WIDE = se.TensorSymbol("T", (2, 4, 3)), se.TensorSymbol("W", (3, 5))
b = se.TensorSymbol("b", (n, 2))
small = se.TensorSymbol("C", (2, 2))


def definite(X):
    return X @ se.swapaxes(X, -1, -2) + 2 * se.Delta(n)[(None,) * (X.order - 2)]


# Functions, with everything whose sign could be any squared.
CASES = {
    "inv": (se.inv, S),
    "solve with stacks": (lambda X: se.solve(X, b), S),
    "solve with a vector": (lambda X: se.solve(X, b[:, 0]), S),
    "det": (se.det, S),
    "adj": (se.adj, S),
    "logdet": (se.logdet, S),
    "sign of det": (lambda X: se.slogdet(X).sign, S),
    "power": (lambda X: se.matrix_power(X, -2), S),
    "cholesky": (lambda X: se.cholesky(definite(X)), A),
    "cholesky of stacks": (lambda X: se.cholesky(definite(X)), S),
    "eigenvalues": (se.eigvalsh, A),
    "eigenvalues of stacks": (se.eigvalsh, S),
    "eigenvectors": (lambda X: se.eigh(X).eigenvectors ** 2, A),
    "eigenvectors of stacks": (lambda X: se.eigh(X).eigenvectors ** 2, S),
    **{
        f"{name} of {X.name}": (function, X)
        for X in (A, TALL, WIDE)
        for name, function in {
            "singular values": se.svdvals,
            "left vectors": lambda X: se.svd(X, full_matrices=False).U ** 2,
            "right vectors": lambda X: se.svd(X, full_matrices=False).Vh ** 2,
            "pinv": se.pinv,
            "Q": lambda X: se.qr(X).Q ** 2,
            "R": lambda X: se.qr(X).R,
        }.items()
    },
    "lstsq": (lambda X: se.lstsq(X.T, b[0, 0] * se.Ones(5)).x, WIDE),
    "residuals": (lambda X: se.lstsq(X.T, X.T[:, 0] ** 2).residuals, WIDE),
    "nuclear norm": (lambda X: se.norm(X, "nuc", axis=(1, 2)), TALL),
    "spectral norm": (lambda X: se.norm(X, 2), WIDE),
    "smallest singular value": (lambda X: se.norm(X, -2), WIDE),
    "largest column": (lambda X: se.norm(X, 1), WIDE),
    "smallest row": (lambda X: se.norm(X, -np.inf, axis=(2, 1)), TALL),
    "largest entry": (lambda X: se.norm(X, np.inf, axis=2, keepdims=True), TALL),
    "condition by rows": (lambda X: se.numpy.linalg.cond(X, np.inf), A),
    "condition": (lambda X: se.numpy.linalg.cond(X), A),
    "expm": (se.expm, S),
    "expm in a direction": (lambda X: se.expm(X / 2, X.T, se.exp(X)), small),
    "expm of a product": (lambda X: se.expm(X @ X.T / 4) @ b[:2], se.TensorSymbol("V", (2, 3))),
    "number of entries": (lambda X: se.norm(X, 0, axis=1), TALL),
}


FEW = ["solve with stacks", "det", "sign of det", "cholesky of stacks", "eigenvectors of stacks"]
FEW += ["left vectors of T", "pinv of W", "R of T", "expm in a direction"]


@pytest.mark.parametrize("name", CASES)
def test_derivatives_by_differences(name):
    function, X = CASES[name]
    y = function(X)
    assert se.check_derivative(y, X, samples=1) < 1e-6
    weighted = (y**2).sum() if getattr(y, "shape", ()) else y**2
    assert se.check_derivative(se.gradient(weighted, X), X, samples=1) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("count", [-2, -1, 0, 1, 2, 5])
def test_symbolic_powers_against_jax(count):
    jax = jax64()
    k = Symbol("k", integer=True)
    rng = np.random.default_rng(count + 2)
    W, X = rng.standard_normal((2, 3, 3))
    functions = [
        lambda A, k, power: power(A, k).trace(),
        lambda A, k, power: (power(A.T @ W, k - 1) @ power(A, k)).sum(),
    ]
    ours = [function(M, k, se.matrix_power) for function in functions]

    def theirs(A):
        return [function(A, count, jax.numpy.linalg.matrix_power) for function in functions]

    own = [ours, [se.gradient(y, M) for y in ours], [se.hessian(y, M) for y in ours]]
    references = [theirs, jax.jacrev(theirs), jax.hessian(theirs)]
    expected = jax.jit(lambda A: [reference(A) for reference in references])(X)
    for found, values in zip(se.lambdify([M, k], own)(X, count), expected, strict=True):
        for one, value in zip(found, values, strict=True):
            np.testing.assert_allclose(one, value, rtol=1e-8, atol=1e-8 * np.abs(value).max())
    stacks = se.matrix_power(S, k)
    weighted = se.lambdify([S, k], se.gradient((stacks**2).sum(), S))
    stacked = rng.standard_normal(S.shape)
    expected = jax.grad(lambda A: (jax.numpy.linalg.matrix_power(A, count) ** 2).sum())(stacked)
    np.testing.assert_allclose(weighted(stacked, count), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_symbolic_powers_of_singular_matrices(count):
    """A factor 0 annihilates a negative power of a singular matrix; JAX has the exponent as a
    number."""
    jax = jax64()
    k, c = Symbol("k", integer=True), Symbol("c", real=True)
    x = np.outer([1.0, 2.0, -1.0], [0.5, 1.0, 3.0])
    y = se.matrix_power(M + c * se.Delta(3), k)[0, 1]
    own = [se.gradient(y, M), se.diff(y, c), se.diff(y, c, c)]

    def theirs(A, shift):
        return jax.numpy.linalg.matrix_power(A + shift * jax.numpy.eye(3), count)[0, 1]

    derivative = jax.grad(theirs, 1)
    expected = [jax.grad(theirs)(x, 0.0), derivative(x, 0.0), jax.grad(derivative, 1)(x, 0.0)]
    total = se.matrix_power(M, k).trace()
    own += [se.gradient(total, M), se.exp(se.gradient(total, M)), se.hessian(total, M)]
    expected += [count * np.linalg.matrix_power(x, max(count - 1, 0)).T]
    trace = jax.hessian(lambda A: jax.numpy.linalg.matrix_power(A, count).trace())
    expected += [np.exp(expected[3]), trace(x)]
    for found, value in zip(se.lambdify([M, k, c], own)(x, count, 0.0), expected, strict=True):
        np.testing.assert_allclose(found, value, atol=1e-12)
    with pytest.raises(np.linalg.LinAlgError):
        se.lambdify([M, k], own[3])(np.zeros((3, 3)), -1)


def of_jax(jax):
    """Return the value in JAX, summed to one number."""
    linalg = jax.numpy.linalg

    def total(X, Y, T, W, positive):
        values, vectors = linalg.eigh(X)
        U, s, V = linalg.svd(W, full_matrices=False)
        Q, R = linalg.qr(T)
        parts = [linalg.inv(Y), linalg.det(Y), linalg.slogdet(Y)[1], values, vectors**2]
        parts += [U**2, s, V**2, Q**2, R**2, linalg.pinv(W), linalg.cholesky(positive)]
        parts += [jax.scipy.linalg.expm(positive)]
        return sum((part**3).sum() for part in parts)

    return total


@pytest.mark.slow
def test_derivatives_against_jax():
    """The plain gradient of a function of symmetric matrices is symmetric, as JAX's is."""
    jax = jax64()
    rng = np.random.default_rng(5)
    P = se.TensorSymbol("P", (n, n))
    symbols = [A, S, TALL, WIDE, P]
    U, s, V = se.svd(WIDE, full_matrices=False)
    Q, R = se.qr(TALL)
    parts = [se.inv(S), se.det(S), se.logdet(S), se.eigvalsh(A), se.eigh(A)[1] ** 2]
    parts += [U**2, s, V**2, Q**2, R**2, se.pinv(WIDE), se.cholesky(P), se.expm(P)]
    total = sum((part**3).sum() for part in parts)
    arrays = [rng.standard_normal([int(k) for k in X.shape]) for X in symbols]
    arrays[-1] = arrays[-1] @ arrays[-1].T + np.eye(n)
    expected = jax.jit(jax.grad(of_jax(jax), range(5)))(*arrays)
    found = se.lambdify(symbols, se.gradient(total, symbols))(*arrays)
    for value, wanted in zip(found, expected, strict=True):
        assert_close(value, wanted, 1e-9)


def test_both_modes_agree():
    y = se.expm(S) @ se.cholesky(definite(S))
    functions = [se.jacobian(y, S, mode=mode) for mode in ("forward", "reverse")]
    point = np.random.default_rng(6).standard_normal((2, n, n))
    assert_close(*se.lambdify([S], functions)(point), 1e-9)


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_values_on_other_libraries(backend):
    library = jax64().numpy if backend == "jax" else pytest.importorskip(backend)
    # JAX compiles each function for each shape: one case of each function.
    names = FEW if backend == "jax" else [*CASES]
    exprs, symbols = [], {b}
    for name in names:
        function, X = CASES[name]
        y = function(X)
        exprs.append(y)
        symbols.add(X)
    symbols = sorted(symbols, key=str)
    rng = np.random.default_rng(8)
    arrays = [rng.standard_normal([int(k) for k in X.shape]) for X in symbols]
    expected = se.lambdify(symbols, exprs)(*arrays)
    found = se.lambdify(symbols, exprs, backend)(*[library.asarray(own) for own in arrays])
    for k, (value, wanted) in enumerate(zip(found, expected, strict=True)):
        assert_close(value, wanted, 1e-8, names[k])


def test_singular_matrices_of_a_stack():
    """Derivatives of determinants are polynomials; JAX has the first at singular matrices too."""
    rank = np.outer([1.0, 2.0, -1.0], [0.5, 1.0, 3.0])
    stack = np.stack([rank, rank + np.diag([0.0, 1.0, 0.0]), np.eye(3)])
    X = se.TensorSymbol("X", (3, 3, 3))
    single = se.TensorSymbol("Y", (3, 3))
    derivatives = [se.jacobian(se.det(X), X), se.hessian(se.det(X).sum(), X)]
    first, second = se.lambdify([X], derivatives)(stack)
    by_one = se.lambdify([single], [se.adj(single).T, se.cofactors(single, 2)])
    for k, matrix in enumerate(stack):
        assert_close(first[k, k], by_one(matrix)[0])
        assert_close(second[k, :, :, k], by_one(matrix)[1])
        assert not first[k, k - 1].any()


def test_equal_eigenvalues_have_no_derivatives_of_vectors():
    values, vectors = se.eigh(A)
    derivatives = [se.jacobian(values, A), se.jacobian(vectors, A)]
    with np.errstate(all="ignore"):
        of_values, of_vectors = se.lambdify([A], derivatives)(np.eye(n))
    assert np.isfinite(of_values).all()
    assert not np.isfinite(of_vectors).all()
