"""Properties of values: signs, symmetry, diagonals, definiteness."""

from __future__ import annotations

import random

import numpy as np
import pytest
import sympy
from sympy import Symbol, symbols

import sympy_einsum as se
from sympy_einsum.analysis.properties import (
    has_cholesky,
    is_diagonal,
    is_nonnegative,
    is_positive,
    is_real,
    is_semidefinite,
    is_symmetric,
)
from sympy_einsum.verification import Samples

COUNT = 300
n, m = symbols("n m", integer=True, positive=True)
k = symbols("k", integer=True, nonnegative=True)
A, B = se.tensors("A B", n, n)
X = se.TensorSymbol("X", (m, n))
S, T = se.tensors("S T", n, n, symmetric=True)
K, L = se.tensors("K L", n, n, psd=True)
D, E = se.tensors("D E", n, n, diagonal=True)
x, z = se.tensors("x z", n)
y = se.TensorSymbol("y", n, positive=True)
w = se.TensorSymbol("w", m, nonnegative=True)
empty = se.TensorSymbol("e", k, positive=True)
lam = Symbol("lambda", positive=True)
t = Symbol("t")

NONNEGATIVE = [
    x @ x,
    (A @ x) @ (A @ x),
    x @ A.T @ A @ x,
    x @ K @ x,
    x @ K @ K @ K @ x,
    x @ S @ S @ x,
    x @ (K * L) @ x,
    x @ X.T @ (w * (X @ x)),
    se.norm(x),
    (A * A).sum(),
    K.trace(),
    K.diagonal(),
    se.det(K),
    A.trace() ** 2,
    se.einsum("i,j,i,j->", x, z, z, x),
    se.einsum("ij,ik,lj,lk->", A, A, A, A),
    empty.sum(),
    se.relu(x),
    se.einsum("i->ii", y),
    x**2 * w.sum(),
    x**2 + z**2,
    se.TensorSymbol("W", n, n, nonnegative=True).trace(),
]
POSITIVE = [
    y,
    x**2 + se.exp(z),
    se.exp(x).sum(),
    y.sum(),
    y[0],
    y[1:],
    y[1:].sum() + 1,
    se.softmax(x),
    se.softplus(x),
    1 + x @ x,
    lam * (y @ y),
]
UNKNOWN = [
    x @ z,
    x @ A @ x,
    x @ K @ L @ x,
    x @ S @ x,
    (A @ A).trace(),
    (t * x + z) @ (t * x + z),  # t may be complex
    se.logsumexp(x),
    -(x @ x),
    A,
    y - 1,
    y[:1] - y[1:2],
]


@pytest.mark.parametrize(
    ("matrix", "known"),
    [
        (se.elementwise(lambda a, b: sympy.sin(a - b) ** 2, A, A.T), True),
        (se.elementwise(lambda a, b: sympy.sin(a - b), A, A.T), False),
        (se.elementwise(lambda a, b: sympy.sin(a * b) + a, A, S), False),
        (se.elementwise(lambda a, b: sympy.Max(a, b), T, S), True),
        (A + A.T + S, True),
        (A + B.T + S, False),
        (A + S, False),
    ],
    ids=str,
)
def test_symmetry_of_products(matrix, known):
    assert is_symmetric(matrix) is known


def test_signs():
    assert [e for e in NONNEGATIVE if not is_nonnegative(e)] == []
    assert [e for e in NONNEGATIVE if is_positive(e)] == []
    assert [e for e in POSITIVE if not (is_positive(e) and is_nonnegative(e))] == []
    assert [e for e in UNKNOWN if is_nonnegative(e)] == []


def test_sympy_queries_are_answered():
    assert (x @ x).is_nonnegative is True
    assert (x @ x).is_positive is None
    assert (x @ z).is_nonnegative is None
    assert (1 + x @ x).is_positive is True
    assert se.exp(x).sum().is_positive is True
    assert sympy.Abs(x @ x) is x @ x
    assert sympy.sqrt((x @ K @ x) ** 2) is x @ K @ x
    complex_vector = t * se.Constant([1j, 2.0])
    assert (complex_vector @ complex_vector).is_nonnegative is None
    # Of numbers alone the value is known.
    assert (se.Constant([1j, 2.0]) @ se.Constant([1j, 2.0])).is_nonnegative is True
    assert (se.Constant([3j, 2.0]) @ se.Constant([3j, 2.0])).is_nonnegative is False


ROWS, ROOTS = X.T[:, None, :] - X.T[None, :, :], (X**2).sum(axis=0)
DISCONNECTED = ROOTS[:, None] + ROOTS[None, :] - 2 * X.T @ X
SPACED = x[:, None] - x[None, :]
KERNELS = {
    "kernel": (se.exp(-(ROWS**2).sum(axis=2) / (2 * lam**2)), "symmetric semidefinite"),
    "kernel of products": (lam * se.exp(-DISCONNECTED / lam), "symmetric semidefinite"),
    "kernel of numbers": (se.exp(-(SPACED**2) / 2), "symmetric semidefinite"),
    "kernel and noise": (
        se.exp(-(SPACED**2)) + lam * se.Delta(n),
        "symmetric semidefinite definite",
    ),
    "kernel and noises": (
        3 * se.exp(-(ROWS**2).sum(axis=2)) + se.diag(y),
        "symmetric semidefinite definite",
    ),
    "weighted kernel": (
        se.exp(-se.einsum("ijk,k->ij", ROWS**2, w)),
        "symmetric semidefinite",
    ),
    "kernel of a form": (se.exp(X.T @ X), "symmetric semidefinite"),
    "kernel times a kernel": (
        se.exp(-(SPACED**2)) * se.exp(-DISCONNECTED) * (X.T @ X),
        "symmetric semidefinite",
    ),
    "growing": (se.exp((ROWS**2).sum(axis=2)), "symmetric"),
    "weights of any sign": (
        se.exp(-se.einsum("ijk,k->ij", ROWS**2, se.TensorSymbol("v", m))),
        "symmetric",
    ),
    "scaled by any number": (se.exp(t * SPACED**2), "symmetric"),
    "between two": (se.exp(-((x[:, None] - z[None, :]) ** 2)), ""),
    "sum of two": (se.exp(-((x[:, None] + x[None, :]) ** 2)), "symmetric"),
    "one axis more": (se.exp(x[:, None] + z[None, :] + X.T @ X), ""),
    "both axes alike": (se.exp(x[:, None] + x[None, :] + X.T @ X), "symmetric semidefinite"),
    "cubes": (se.exp(-(SPACED**3)), ""),
    "squares": (SPACED**2, "symmetric"),
    "distances": ((ROWS**2).sum(axis=2), "symmetric"),
}
MATRICES = {
    "Gram": (X.T @ X, "symmetric semidefinite"),
    "sandwich": (X @ S @ X.T, "symmetric"),
    "definite sandwich": (X @ K @ X.T, "symmetric semidefinite"),
    "weighted Gram": (se.einsum("ki,k,kj->ij", X, w, X), "symmetric semidefinite"),
    "square": (S @ S, "symmetric semidefinite"),
    "two symmetric ones": (S @ T, ""),
    "nested": (S @ T @ S, "symmetric"),
    "Kalman": (X.T @ (X @ K @ X.T) @ X + K, "symmetric semidefinite definite"),
    "regularised": (A @ A.T + lam * se.Delta(n), "symmetric semidefinite definite"),
    "sum with its transpose": (A + A.T, "symmetric"),
    "sum of a vector with itself": (x[:, None] + x[None, :], "symmetric"),
    "Hadamard": (K * L, "symmetric semidefinite"),
    "product of definite ones": (K @ L, ""),
    "outer": (se.einsum("i,j->ij", x, x), "symmetric semidefinite"),
    "inverse of a composite": (se.inv(X.T @ X + S), "symmetric"),
    "adjugate": (se.adj(K + X.T @ X), "symmetric semidefinite"),
    "elementwise": (se.exp(S), "symmetric"),
    "elementwise of both": (se.elementwise(sympy.Max, A, A.T), "symmetric"),
    "elementwise of one": (se.exp(A), ""),
    "minus": (-K, "symmetric"),
    "diagonals": (D @ E, "symmetric diagonal"),
    "diagonal inverse": (D.inv() @ E, "symmetric diagonal"),
    "zero at zero": (se.tanh(D), "symmetric diagonal"),
    "one at zero": (se.exp(D), "symmetric"),
    "masked": (D * A, "symmetric diagonal"),
    "placed": (se.einsum("i->ii", y), "symmetric semidefinite definite diagonal"),
    "placed, of unknown sign": (se.einsum("i->ii", x), "symmetric diagonal"),
    "ones": (se.Ones(n, n), "symmetric semidefinite"),
    "square matrix": (A @ A, ""),
    "of lengths that differ": (X, ""),
    **KERNELS,
}


@pytest.mark.parametrize("name", MATRICES)
def test_matrices(name):
    matrix, words = MATRICES[name]
    known = {
        "symmetric": is_symmetric(matrix),
        "semidefinite": is_semidefinite(matrix),
        "definite": has_cholesky(matrix),
        "diagonal": is_diagonal(matrix),
    }
    assert {word for word, value in known.items() if value} == set(words.split()), known


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_have_their_inferred_properties(name):
    assert_true_of_values(KERNELS[name][0])


def test_properties_of_matrices_hold_for_no_other_tensors():
    for value in (x, x @ x, lam, sympy.Integer(2), se.Zeros(2, 3), se.einsum("i,jk->ijk", x, A)):
        assert not is_symmetric(value)
        assert not is_diagonal(value)


def test_real_values():
    assert all(map(is_real, [x, se.sin(x) * 2, lam]))
    assert not is_real(se.elementwise(lambda v: sympy.I * v, x))
    assert not is_real(se.elementwise(lambda v: sympy.I * v, x) + z)


def random_product(rng):
    """Return a random product of a few matrices and vectors with repeated operands."""
    pool = rng.sample([A, S, T, K, L, D, x, z, y, se.exp(A), A + A.T], 3)
    operands = [rng.choice(pool) for _ in range(rng.randint(2, 5))]
    letters = "abcd"[: rng.randint(2, 4)]
    terms = ["".join(rng.choice(letters) for _ in range(o.order)) for o in operands]
    used = sorted({letter for term in terms for letter in term})
    output = rng.sample(used, min(len(used), rng.choice([0, 1, 2, 2])))
    product = se.einsum(f"{','.join(terms)}->{''.join(output)}", *operands)
    return (
        product + rng.choice([A.T @ A, K, S])
        if len(output) == 2 and rng.random() < 0.3
        else product
    )


def assert_true_of_values(expr):
    data = Samples([expr])
    found = 0
    for _, (value,) in data.draw(3):
        size = 1e-9 * (1 + abs(value).max())
        if is_nonnegative(expr):
            found |= 1
            assert value.min() >= -size, expr
        if is_positive(expr):
            found |= 2
            assert value.min() > 0, expr
        if is_symmetric(expr):
            found |= 4
            assert abs(value - value.T).max() <= size, expr
        if is_diagonal(expr):
            found |= 8
            assert abs(value - np.diag(value.diagonal())).max() <= size, expr
        if is_semidefinite(expr):
            found |= 16
            assert np.linalg.eigvalsh(value).min() >= -size, expr
        if has_cholesky(expr):
            found |= 32
            assert np.linalg.eigvalsh(value).min() > 0, expr
    return found


def test_properties_of_random_products():
    rng = random.Random(1)
    found = 0
    for _ in range(COUNT):
        found |= assert_true_of_values(random_product(rng))
    assert found & 31 == 31, "some property was never met"


def test_properties_of_deep_graphs_take_linear_time_and_no_recursion():
    e = x
    for _ in range(3000):
        e = se.tanh(A @ e) + e * e
    assert is_nonnegative(e @ e)
    assert is_symmetric(se.einsum("i,j->ij", e, e))
    for _ in range(100):
        e = se.exp((e @ e) / 2 + 1) * e
    assert (e @ e).is_nonnegative is True


def test_functions_of_positive_tensors():
    v = se.TensorSymbol("v", n, nonnegative=True)
    assert se.simplify(se.Abs(y)) is y
    assert se.simplify(se.sqrt(y**2)) is y
    assert se.simplify(se.sqrt(v**2)) is v
    assert se.simplify(se.sign(y)) is se.Ones(n)
    assert se.simplify(se.sign(v)) is se.sign(v)
    assert se.simplify(se.relu(se.exp(x))) is se.exp(x)
    assert se.simplify(se.Abs(x)) is se.Abs(x)
    assert se.gradient(se.Abs(y).sum(), y) is se.Ones(n)


def test_declared_symmetric_tensors_are_their_transposes():
    for matrix in (S, K, D):
        assert matrix.T is matrix
        assert matrix.transpose(0, 1) is matrix
        assert (2 * matrix).T is 2 * matrix
    assert A.T is not A
    assert (D @ D).T is not D
    assert se.simplify((D @ D).T) is D @ D


def test_symmetric_sums_are_built_as_their_own_transposes():
    """Sums of terms that are symmetric, or each other's transposes."""
    for total in (lam * se.eye(n) + K, A + A.T, A @ A.T - se.diag(x) / 2 + S, K - se.outer(x, x)):
        assert total.T is total
    for total in (K + A, A - A.T, 2 * A + A.T, S + K @ S):
        assert total.T is not total
