"""Define cases in semirings."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp
from sympy import symbols

import sympy_einsum as se

from .case import Case, normal, rng, three

m, n, k = symbols("m n k", integer=True, positive=True)
A, B = se.TensorSymbol("A", (m, n)), se.TensorSymbol("B", (n, k))
start, moves = se.TensorSymbol("start", (m,)), se.TensorSymbol("moves", (m, m))
seen = se.TensorSymbol("seen", (10, m))
stack, other = se.TensorSymbol("stack", (m, n, n)), se.TensorSymbol("other", (m, n, n))


def viterbi() -> Any:
    """Build the weight of the best path of ten steps."""
    weight = start * seen[0]
    for step in range(1, 10):
        weight = (weight @ moves) * seen[step]
    return weight.sum()


def shortest(A: Any, B: Any) -> Any:
    """Multiply in min-plus row by row, so that sums stay in the cache."""
    result = np.empty((len(A), B.shape[1]))
    for row, total in zip(A, result, strict=True):
        (row[:, None] + B).min(axis=0, out=total)
    return result


def likely(A: Any, B: Any) -> Any:
    return np.stack([logsumexp(row[:, None] + B, axis=0) for row in A])


def best(start: Any, moves: Any, seen: Any) -> Any:
    weight = start + seen[0]
    for step in range(1, 10):
        weight = (weight[:, None] + moves).max(axis=0) + seen[step]
    return weight.max()


def reached(A: Any, B: Any) -> Any:
    return np.stack([(row[:, None] & B).any(axis=0) for row in A])


def pairs(stack: Any, other: Any) -> Any:
    return np.stack([shortest(*both) for both in zip(stack, other, strict=True)])


def matrices(size: int) -> list[Any]:
    return normal((size, size), (size, size))


SEMIRINGS = [
    Case("min-plus matrix product", lambda: ([A, B], A @ B), three(10, 300, 600), matrices,
         shortest, semiring="min-plus"),
    Case("log matrix product", lambda: ([A, B], A @ B), three(10, 100, 300), matrices, likely,
         semiring="log"),
    Case("or-and matrix product", lambda: ([A, B], A @ B), three(10, 300, 600),
         lambda size: [rng().random((size, size)) < 0.01] * 2, reached, semiring="or-and"),
    Case("min-plus products of many matrices",
         lambda: ([stack, other], se.einsum("aij,ajk->aik", stack, other)),
         three((3, 4), (300, 20), (1000, 40)),
         lambda count, size: normal((count, size, size), (count, size, size)), pairs,
         semiring="min-plus"),
    Case("Viterbi, ten steps", lambda: ([start, moves, seen], viterbi()), three(3, 100, 1000),
         lambda size: normal((size,), (size, size), (10, size)), best, semiring="max-plus"),
]  # fmt: skip
