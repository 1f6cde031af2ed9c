"""Semirings, expressions in them, and arrays of their elements."""

from __future__ import annotations

import numpy as np
from sympy import Symbol, symbols

import sympy_einsum as se

LENGTHS = dict(zip(symbols("m n k", integer=True, positive=True), (3, 4, 5), strict=True))
m, n, k = LENGTHS
A, B, C = se.TensorSymbol("A", m, n), se.TensorSymbol("B", n, k), se.TensorSymbol("C", m, n)
S, T = se.TensorSymbol("S", (n, n)), se.TensorSymbol("T", (m, n, k))
u, v, w = se.TensorSymbol("u", n), se.TensorSymbol("v", n), se.TensorSymbol("w", k)
c = Symbol("c", real=True)
ARGUMENTS = [A, B, C, S, T, u, v, w, c]


class Bottleneck:
    """The widest path: the largest of the smallest."""

    add, multiply = staticmethod(np.maximum), staticmethod(np.minimum)
    zero, one = -np.inf, np.inf


class Modular:
    """Integers modulo 7: every commutative ring is a semiring, and this one isn't idempotent."""

    zero, one = 0, 1

    @staticmethod
    def add(x, y):
        return (x + y) % 7

    @staticmethod
    def multiply(x, y):
        return (x * y) % 7


def logaddexp(x, y):
    return max(x, y) + np.log1p(np.exp(-abs(x - y))) if x != y else x + np.log(2)


# The operations on numbers, and the neutral elements.
MEANINGS = {
    "max-plus": (max, lambda x, y: x + y, -np.inf, 0),
    "min-plus": (min, lambda x, y: x + y, np.inf, 0),
    "max-times": (max, lambda x, y: x * y, 0, 1),
    "or-and": (lambda x, y: x or y, lambda x, y: x and y, False, True),
    "log": (logaddexp, lambda x, y: x + y, -np.inf, 0),
    "count": (lambda x, y: x + y, lambda x, y: x * y, 0, 1),
    Bottleneck: (max, min, -np.inf, np.inf),
    Modular: (Modular.add, Modular.multiply, 0, 1),
}
EXPRESSIONS = [
    A @ B,
    A @ B @ w,
    se.einsum("ij,ij->i", A, C),
    se.einsum("ij,jk,ik->", A, B, A @ B),
    se.einsum("ijk,jk->ijk", T, B),
    se.einsum("ijk,ijl->ikl", T, T),
    se.einsum("ijk,jk,j->ik", T, B, u),
    se.einsum("ii->i", S),
    se.einsum("ij->ijij", A),
    se.einsum("i,j->ijj", u, w),
    se.trace(S @ S),
    A.T @ A,
    A + C,
    A + A,
    2 * A + 3 * C,
    A * C * A,
    A**3 + A,
    (A + C) ** 2,
    ((A + C) ** 2).sum(),
    S + S.T,
    se.einsum("ij,i,ik->jk", A, A @ u, A),
    u[None, :] + A,
    A.sum(axis=0),
    A.sum() * u,
    se.Ones(m, n).sum() * u,
    se.Ones(m, n) @ B,
    se.Ones(m + 1).sum() * A,
    se.Delta(n) + S,
    se.diag(u) + S,
    se.diag(u),
    se.Delta(n),
    se.Zeros(m, n) + 0 * A,
    A + 1,
    A + 4,
    c * A + c,
    u @ v + c,
    A[0],
    A[1:, ::2],
    A[:, ::-1],
    se.flip(T[:, 1], 0),
    se.concatenate([A, C, B.T]),
    se.stack([A, C]).sum(axis=0),
    se.pad(u, (1, 2)),
    se.roll(u, 1),
    se.triu(S),
    se.tril(S, -1) @ u,
    se.cumsum(A, axis=1),
    se.cumsum(u[::-1]),
    se.tri(4, 4) @ u[:4],
    se.kron(u, w),
    A.reshape(n, m) @ A,
    se.convolve(u, v),
    se.correlate(u, v[:3]),
    se.sliding_window_view(u, 2).sum(axis=1),
    se.Constant(np.array([[1, 0, 2, 1]])).T @ w[:1],
    A.T,
    u,
]


def arrays(semiring, seed=0):
    generator = np.random.default_rng(seed)
    found = []
    for symbol in ARGUMENTS:
        shape = [int(length.subs(LENGTHS)) for length in getattr(symbol, "shape", ())]
        if semiring == "or-and":
            array = generator.random(shape) < 0.3
        elif semiring in ("count", Modular):
            array = generator.integers(0, 5, shape)
        else:
            array = generator.integers(0, 9, shape) / 4
            infinite = {"max-plus": -np.inf, "log": -np.inf, "min-plus": np.inf}.get(semiring, 0)
            array = np.where(generator.random(shape) < 0.2, infinite, array)
        found.append(array if shape else array.item())
    return found


def matches(value, expected, semiring):
    expected = np.asarray(expected)
    assert np.shape(value) == expected.shape
    kind = float if np.asarray(value).dtype.kind == "f" else int
    value, expected = np.asarray(value).astype(kind), expected.astype(kind)
    if semiring == "log":
        np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-12)
    else:
        np.testing.assert_array_equal(value, expected)


def hidden_markov_model(steps):
    """Return the total weight of all paths through the states: start, transitions, and emissions at
    each step."""
    start, moves = se.TensorSymbol("p", m), se.TensorSymbol("M", (m, m))
    seen = se.TensorSymbol("E", (steps, m))
    weight = start * seen[0]
    for step in range(1, steps):
        weight = (weight @ moves) * seen[step]
    return [start, moves, seen], weight.sum()
