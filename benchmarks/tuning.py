"""Measure what constants of ``sympy_einsum/core/tuning.py`` encode: weights of the cost model, and
the sizes from which one code is faster than another.

``python -m benchmarks.tuning`` prints a table; on one core with one thread, as the other
measurements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.core import tuning

from .tables import table
from .timing import interleaved

m, n, k = symbols("m n k", integer=True, positive=True)
SECONDS = 0.7
MATRIX, VECTOR = 500, 300
# Entries of arrays in memory, and in the cache.
LARGE, SMALL = 10**6, 10**4
NEVER = 10**9
RNG = np.random.default_rng(0)


def weights() -> list[tuple[str, str]]:
    """Return the costs of moving an entry and of functions of one, in multiplications: those of a
    product of a matrix and a vector in the cache, and those of a product of matrices."""
    A, B = RNG.standard_normal((2, MATRIX, MATRIX))
    S, x = RNG.standard_normal((VECTOR, VECTOR)), RNG.standard_normal(VECTOR)
    a, b = RNG.uniform(1, 2, (2, LARGE))
    c, d = RNG.uniform(1, 2, (2, SMALL))
    seconds = interleaved(
        {
            "matrices": lambda: A.dot(B),
            "vector": lambda: S.dot(x),
            "add": lambda: a + b,
            "add in the cache": lambda: c + d,
            "exp": lambda: np.exp(a),
            "log1p": lambda: np.log1p(a),
            "sqrt": lambda: np.sqrt(a),
            "divide": lambda: a / b,
        },
        SECONDS,
    )
    by_matrix, by_vector = seconds["matrices"] / MATRIX**3, seconds["vector"] / VECTOR**2
    entry, exp, log1p, root, quotient = [
        seconds[own] / LARGE for own in ("add", "exp", "log1p", "sqrt", "divide")
    ]
    cached = seconds["add in the cache"] / SMALL
    near, far = cached / by_vector, entry / by_vector
    return [
        ("ENTRY", f"{near:.1f} multiplications by a vector in the cache, {far:.1f} in memory"),
        ("SEARCH_ENTRY", f"{entry / by_matrix:.1f} multiplications of matrices"),
        ("FUNCTION", f"exp {exp / by_vector:.1f}, log1p {log1p / by_vector:.1f}"),
        ("ROOT", f"sqrt {root / by_vector:.1f}, quotient {quotient / by_vector:.1f}, with writing"),
    ]


@contextmanager
def tuned(name: str, value: int) -> Iterator[None]:
    """Compile with another value of a constant."""
    before = getattr(tuning, name)
    setattr(tuning, name, value)
    try:
        yield
    finally:
        setattr(tuning, name, before)


def gain(
    name: str, values: tuple[int, int], arguments: Any, exprs: Any, *data: np.ndarray
) -> float:
    """Return how much slower a function is with the second of two values of a constant."""
    calls: dict[str, Callable[[], object]] = {}
    for value in values:
        with tuned(name, value):
            function = se.lambdify(arguments, exprs)
            function(*data)
        calls[str(value)] = partial(function, *data)
    one, other = interleaved(calls, SECONDS).values()
    return other / one


def shown(kind: str, gains: Mapping[int, float]) -> str:
    return f"{kind} " + ", ".join([f"{size}: {own:.2f}" for size, own in gains.items()])


def row_blocks() -> str:
    """Compare rows at once with blocks of rows, for a softmax regression of 10 classes."""
    X, Y, W = se.TensorSymbol("X", m, n), se.TensorSymbol("Y", m, k), se.TensorSymbol("W", n, k)
    loss = se.logsumexp(X @ W, axis=1).sum() - (Y * (X @ W)).sum()
    results = [loss, se.gradient(loss, W)]
    gains = {}
    for rows in (50, 200, 1000, 10_000, 100_000):
        data = [RNG.standard_normal(shape) for shape in ((rows, 50), (rows, 10), (50, 10))]
        gains[rows] = gain("MIN_BLOCKED_ROWS", (0, NEVER), [X, Y, W], results, *data)
    return shown("whole / blocks at rows", gains)


def compared_slices() -> str:
    """Compare a library's maximum with comparing slices."""
    gains = {}
    for count in (2, 8, 16, 32, 64, 128):
        X = se.TensorSymbol("X", m, count)
        data = RNG.standard_normal((3000, count))
        gains[count] = gain("MAX_COMPARED_SLICES", (NEVER, 0), [X], X.max(axis=1), data)
    return shown("maximum / slices at entries", gains)


def sums(name: str, values: tuple[int, int], counts: Sequence[int]) -> dict[int, float]:
    """Compare two ways of long sums of vectors."""
    gains = {}
    for count in counts:
        vectors = [se.TensorSymbol(f"v{j}", n) for j in range(count)]
        total = sum([se.sqrt(own) for own in vectors[1:]], start=se.sqrt(vectors[0]))
        data = RNG.uniform(1, 2, (count, LARGE))
        gains[count] = gain(name, values, vectors, total, *data)
    return gains


def running_sums() -> str:
    """Compare a running total in new arrays with one in place."""
    return shown("new arrays / in place at terms", sums("MIN_RUNNING_SUMS", (0, NEVER), (20, 32)))


def summands() -> str:
    """Compare one formula with a running total, which needs less memory."""
    return shown("formula / running total at terms", sums("MAX_SUMMANDS", (1, NEVER), (4, 16, 32)))


MEASURED: dict[str, Callable[[], str]] = {
    "MIN_BLOCKED_ROWS": row_blocks,
    "MAX_COMPARED_SLICES": compared_slices,
    "MIN_RUNNING_SUMS": running_sums,
    "MAX_SUMMANDS": summands,
}


def main() -> None:
    """Print the measurements beside the constants."""
    rows = [*weights(), *[(name, measure()) for name, measure in MEASURED.items()]]
    texts = [[name, str(getattr(tuning, name)), measured] for name, measured in rows]
    print(table(["constant", "value", "measured"], texts))


if __name__ == "__main__":
    main()
