"""Sums with terms of low rank that are only multiplied."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import assert_close
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.rules import by_low_rank

m, n, k, j = symbols("m n k j", integer=True, positive=True)
X, A = se.tensors("X A", m, n)
U, V, W = se.TensorSymbol("U", (m, k)), se.TensorSymbol("V", (n, k)), se.TensorSymbol("W", (n, j))
B, x = se.TensorSymbol("B", (m, k)), se.TensorSymbol("x", n)
K, H, P = se.TensorSymbol("K", (n, k)), se.TensorSymbol("H", (k, n)), se.TensorSymbol("P", (n, n))
NARROW, SQUARE = {m: 300, n: 200, k: 4, j: 5}, {m: 9, n: 9, k: 9, j: 9}

# Expressions that change for small k and j, and their values.
OPENED = {
    "a residual": ((X - U @ V.T) @ W, lambda X, U, V, W: (X - U @ V.T) @ W),
    "on the other side": (B.T @ (X - U @ V.T), lambda B, U, V, X: B.T @ (X - U @ V.T)),
    "two terms": (
        (2 * U @ V.T - B @ V.T) @ W,
        lambda B, U, V, W: (2 * U @ V.T - B @ V.T) @ W,
    ),
    "what is left stays together": (
        (X - U @ V.T - A) @ W,
        lambda A, U, V, W, X: (X - U @ V.T - A) @ W,
    ),
    "an identity": (
        (se.Delta(n) - K @ H) @ P,
        lambda H, K, P: (np.eye(len(K)) - K @ H) @ P,
    ),
    "inside a function": (
        se.exp((X - U @ V.T) @ W),
        lambda U, V, W, X: np.exp((X - U @ V.T) @ W),
    ),
}
KEPT = {
    "needed elsewhere": ((X - U @ V.T) @ W).sum() + se.exp(X - U @ V.T).sum(),
    "twice": (X - U @ V.T).T @ (X - U @ V.T),
    "its term is needed": ((X - U @ V.T) @ W).sum() + se.exp(U @ V.T).sum(),
    "no products": (X - A) @ W,
    "products of entries": (X - X * A) @ W,
    "nothing is summed": (X - U @ V.T) * A,
    "exact differences": (X - se.einsum("j,ij->ij", x, se.Ones(m, n))) @ W,
}


def lowered(expr, lengths):
    (found,), _ = by_low_rank([expr], lambda length: int(length.xreplace(lengths)))
    return found


@pytest.mark.parametrize("name", OPENED)
def test_narrow_terms_are_multiplied_first(name):
    expr = OPENED[name][0]
    opened = lowered(expr, NARROW)
    assert opened != expr
    assert se.equal(opened, expr)
    assert lowered(expr, SQUARE) == expr


@pytest.mark.parametrize("name", KEPT)
def test_what_stays(name):
    assert lowered(KEPT[name], NARROW) == KEPT[name]


@pytest.mark.parametrize(
    "lengths", [(30, 20, 2, 3), (3, 4, 7, 5), (1, 30, 1, 1), (0, 3, 2, 1), (4, 5, 0, 2)]
)
@pytest.mark.parametrize("name", OPENED)
def test_values(name, lengths):
    expr, right = OPENED[name]
    arguments = sorted(expr.atoms(se.TensorSymbol), key=str)
    sizes = dict(zip((m, n, k, j), lengths, strict=True))
    rng = np.random.default_rng(0)
    data = {s.name: rng.standard_normal([sizes[length] for length in s.shape]) for s in arguments}
    assert_close(se.lambdify(arguments, expr)(*data.values()), right(**data))


def test_each_call_is_planned_by_its_lengths():
    function = se.lambdify([X, U, V, W], (X - U @ V.T) @ W)
    rng = np.random.default_rng(0)
    for rows, columns, rank, width in [(6, 5, 40, 3), (400, 300, 2, 3), (7, 6, 50, 3)]:
        shapes = [(rows, columns), (rows, rank), (columns, rank), (columns, width)]
        data = [rng.standard_normal(shape) for shape in shapes]
        assert_close(function(*data), (data[0] - data[1] @ data[2].T) @ data[3])


def test_a_residual_that_is_far_smaller_keeps_its_digits():
    rng = np.random.default_rng(0)
    u, v, w = (
        rng.standard_normal((500, 3)),
        rng.standard_normal((400, 3)),
        rng.standard_normal((400, 2)),
    )
    small = 1e-9 * rng.standard_normal((500, 400))
    data = [u @ v.T + small, u, v, w]
    function = se.lambdify([X, U, V, W], (X - U @ V.T) @ W)
    bound = np.finfo(float).eps * (np.abs(data[0]) + np.abs(u) @ np.abs(v.T)) @ np.abs(w)
    assert np.all(np.abs(function(*data) - (data[0] - u @ v.T) @ w) <= 20 * bound)
