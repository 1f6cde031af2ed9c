"""Memory stays flat over many expressions that are built and dropped, and over many shapes that a
function is called with. ``python tests/test_memory.py`` counts to 10^5 and 10^4."""

import functools
import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy
from sympy import symbols

import sympy_einsum as se

m, n, k = symbols("m n k", integer=True, positive=True)


def built_and_dropped(number):
    """An expression that no other is like, now and then with a gradient, a text and code."""
    A, x = se.TensorSymbol(f"A{number}", (n, n)), se.TensorSymbol(f"x{number}", n)
    f = (number * se.exp(A @ x) + x[1:].sum()).sum()
    if number % 20 == 0:
        slope = se.gradient(f, x)
        assert str(slope)
    if number % 400 == 0:
        se.lambdify([A, x], slope)(np.eye(2), np.ones(2))


def caller():
    """A function whose order of contraction depends on the lengths."""
    A, B, x = se.TensorSymbol("A", (m, n)), se.TensorSymbol("B", (n, k)), se.TensorSymbol("x", k)
    function = se.lambdify([A, B, x], [A @ B @ (A @ B).T, A @ B @ x])

    def call(number):
        first, second = 1 + number % 100, 1 + number // 100
        function(np.ones((first, second)), np.ones((second, 3)), np.ones(3))

    return call


def alive(run, numbers):
    """How many objects there are when all caches of a bounded size have been emptied."""
    for number in numbers:
        run(number)
    sympy.core.cache.clear_cache()
    for cached in [o for o in gc.get_objects() if isinstance(o, functools._lru_cache_wrapper)]:
        if cached.cache_parameters()["maxsize"] is not None:
            cached.cache_clear()
    gc.collect()
    return len(gc.get_objects())


def left_behind(run, count):
    """How many objects so many numbers leave behind."""
    before = alive(run, range(count // 4))
    return alive(run, range(count // 4, count)) - before


@pytest.mark.parametrize(("name", "count"), [("built_and_dropped", 2000), ("caller()", 3000)])
def test_nothing_stays(name, count):
    """In a process of its own, where no other test's objects come and go."""
    code = f"from test_memory import *; print(left_behind({name}, {count}))"
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parent)])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        check=True,
    )
    assert int(done.stdout) < count / 10


def resident():
    """The megabytes of this process."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096 / 2**20


if __name__ == "__main__":
    for name, run, count in (
        ("expressions", built_and_dropped, 10**5),
        ("shapes", caller(), 10**4),
    ):
        for part in range(5):
            objects = alive(run, range(part * count // 5, (part + 1) * count // 5))
            print(f"{name}, {part + 1}/5 of {count}: {objects} objects, {resident():.0f} MB")
