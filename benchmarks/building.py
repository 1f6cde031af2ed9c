"""Measure the processor time to build derivatives and generate code, and its growth exponents."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import log
from typing import Any

import numpy as np
from sympy import symbols
from sympy.core.cache import clear_cache

import sympy_einsum as se

from .contenders import installed

n = symbols("n", integer=True, positive=True)
SIZE = 4
# Maximum number of layers for JAX, whose trace recurses and whose XLA takes minutes.
MAX_TRACED = 1000
MAX_COMPILED = 100


def network(count: int, tag: str) -> tuple[list[Any], Any, list[Any]]:
    """Build a multilayer perceptron: arguments, the loss, and the weights."""
    x = se.TensorSymbol(f"x{tag}", (n,))
    weights = [se.TensorSymbol(f"W{j}{tag}", (n, n)) for j in range(count)]
    h: Any = x
    for W in weights:
        h = se.tanh(W @ h)
    return [x, *weights], h @ h, weights


def shared(count: int, tag: str) -> tuple[list[Any], Any, list[Any]]:
    """Build y ← y y, a graph that is exponential as a tree."""
    M = se.TensorSymbol(f"M{tag}", (n, n))
    h: Any = M
    for j in range(count):
        h = se.sin(h) * h if j % 2 else h * h
    return [M], h.sum(), [M]


def chain(count: int, tag: str) -> tuple[list[Any], Any, list[Any]]:
    """Build a chain of matrix products."""
    x = se.TensorSymbol(f"x{tag}", (n,))
    factors = [se.TensorSymbol(f"M{j}{tag}", (n, n)) for j in range(count)]
    h: Any = x
    for factor in factors:
        h = h @ factor
    return [x, *factors], h @ x, [factors[count // 2]]


def iteration(count: int, tag: str) -> tuple[list[Any], Any, list[Any]]:
    """Build u ← sin(u) + x / 2."""
    x = se.TensorSymbol(f"x{tag}", (n,))
    u: Any = x
    for _ in range(count):
        u = se.sin(u) + x / 2
    return [x], u.sum(), [x]


def tower(count: int, tag: str) -> tuple[list[Any], Any, list[Any]]:
    """Build layers that share one matrix."""
    x, A = se.TensorSymbol(f"x{tag}", (n,)), se.TensorSymbol(f"A{tag}", (n, n))
    h: Any = x
    for _ in range(count):
        h = se.tanh(A @ h)
    return [x, A], h.sum(), [A]


def wide(count: int, tag: str) -> tuple[list[Any], Any, list[Any]]:
    """Build a sum of different terms."""
    x = se.TensorSymbol(f"x{tag}", (n,))
    total = sum([se.sin(j * x) for j in range(1, count + 1)], start=se.Zeros(n))
    return [x], total.sum(), [x]


GRAPHS: dict[str, Callable[[int, str], tuple[list[Any], Any, list[Any]]]] = {
    "network": network,
    "shared": shared,
    "chain": chain,
    "iteration": iteration,
    "tower": tower,
    "wide": wide,
}
# The position of the differentiated argument, where it isn't the weights.
WRT = {"shared": 0, "iteration": 0, "tower": 1, "wide": 0}


def plain(name: str, count: int) -> Callable[..., Any]:
    """Return the function of a graph on arrays, for JAX."""
    import jax.numpy as jnp

    def network(x: Any, *weights: Any) -> Any:
        for W in weights:
            x = jnp.tanh(W @ x)
        return x @ x

    def chain(x: Any, *factors: Any) -> Any:
        h = x
        for factor in factors:
            h = h @ factor
        return h @ x

    def shared(h: Any) -> Any:
        for j in range(count):
            h = jnp.sin(h) * h if j % 2 else h * h
        return h.sum()

    def iteration(x: Any) -> Any:
        u = x
        for _ in range(count):
            u = jnp.sin(u) + x / 2
        return u.sum()

    def tower(x: Any, A: Any) -> Any:
        for _ in range(count):
            x = jnp.tanh(A @ x)
        return x.sum()

    def wide(x: Any) -> Any:
        return sum([jnp.sin(j * x) for j in range(1, count + 1)]).sum()

    made = [network, chain, shared, iteration, tower, wide]
    return {function.__name__: function for function in made}[name]


def by_jax(name: str, count: int, compiled: bool) -> float | None:
    """Return the seconds that JAX needs to trace the gradient, or to lower and compile it."""
    if not installed("jax") or count > (MAX_COMPILED if compiled else MAX_TRACED):
        return None
    import jax

    vector, matrix = np.ones(SIZE), np.ones((SIZE, SIZE))
    given = {"shared": [matrix], "iteration": [vector], "wide": [vector]}
    arrays = given.get(name, [vector, *[matrix] * (1 if name == "tower" else count)])
    wrt: Any = tuple(range(1, count + 1)) if name == "network" else count // 2 + 1
    gradient = jax.grad(plain(name, count), WRT.get(name, wrt))
    start = time.process_time()
    if compiled:
        jax.jit(gradient).lower(*arrays).compile()
    else:
        jax.make_jaxpr(gradient)(*arrays)
    return time.process_time() - start


def run(counts: tuple[int, ...] = (10, 100, 1000, 10000), repeats: int = 3) -> list[dict[str, Any]]:
    """Return a row for each graph and size: milliseconds for us and for JAX."""
    rows = []
    for name, make in GRAPHS.items():
        for count in counts:
            bare = build = generate = float("inf")
            for repeat in range(repeats):
                clear_cache()
                # New names each time, because derivatives are memoised.
                arguments, loss, wrt = make(count, f"_{count}_{repeat}")
                start = time.process_time()
                unsimplified = se.gradient(loss, wrt, simplify=False)
                between = time.process_time()
                bare = min(bare, between - start)
                gradient = se.gradient(loss, wrt)
                middle = time.process_time()
                build = min(build, middle - between)
                assert len(gradient) == len(unsimplified)
                se.lambdify(arguments, gradient)
                generate = min(generate, time.process_time() - middle)
            row = {
                "graph": name,
                "count": count,
                "unsimplified": bare * 1e3,
                "build": build * 1e3,
                "generate": generate * 1e3,
                "jax trace": _ms(by_jax(name, count, False)),
                "jax compile": _ms(by_jax(name, count, True)),
            }
            rows.append(row)
            print(row, flush=True)
    return rows


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3


def exponent(rows: list[dict[str, Any]], graph: str, key: str) -> float | None:
    """Return the growth exponent between the two largest sizes."""
    found = [(row["count"], row[key]) for row in rows if row["graph"] == graph and row[key]]
    if len(found) < 2:
        return None
    (a, s), (b, t) = found[-2:]
    return log(t / s) / log(b / a)
