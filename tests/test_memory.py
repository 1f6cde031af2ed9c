"""Memory stays constant over many expressions that are built and dropped, and over many shapes that
a function is called with. ``python tests/test_memory.py`` counts to 10^5 and 10^4."""

import functools
import gc
import os
import pickle
import subprocess
import sys
import tracemalloc
import weakref
from pathlib import Path

import numpy as np
import pytest
import sympy
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.core.caching import LIVE
from sympy_einsum.core.tuning import CACHE_GROWTH_BYTES

m, n, k = symbols("m n k", integer=True, positive=True)


def built_and_dropped(number):
    """Build and drop a new expression, sometimes with a gradient, a text and code."""
    A, x = se.TensorSymbol(f"A{number}", (n, n)), se.TensorSymbol(f"x{number}", n)
    f = (number * se.exp(A @ x) + x[1:].sum()).sum()
    if number % 20 == 0:
        derivative = se.gradient(f, x)
        assert str(derivative)
    if number % 400 == 0:
        se.lambdify([A, x], derivative)(np.eye(2), np.ones(2))


def caller():
    """Return a function whose order of contraction depends on the lengths."""
    A, B, x = se.TensorSymbol("A", (m, n)), se.TensorSymbol("B", (n, k)), se.TensorSymbol("x", k)
    function = se.lambdify([A, B, x], [A @ B @ (A @ B).T, A @ B @ x])

    def call(number):
        first, second = 1 + number % 100, 1 + number // 100
        function(np.ones((first, second)), np.ones((second, 3)), np.ones(3))

    return call


def alive(run, numbers):
    """Count objects after all caches of bounded size have been emptied."""
    for number in numbers:
        run(number)
    sympy.core.cache.clear_cache()
    for cached in [o for o in gc.get_objects() if isinstance(o, functools._lru_cache_wrapper)]:
        if cached.cache_parameters()["maxsize"] is not None:
            cached.cache_clear()
    gc.collect()
    return len(gc.get_objects())


def left_behind(run, count):
    """Count the objects that a number of calls leaves behind."""
    before = alive(run, range(count // 4))
    return alive(run, range(count // 4, count)) - before


@pytest.mark.slow
@pytest.mark.parametrize(("name", "count"), [("built_and_dropped", 2000), ("caller()", 3000)])
def test_nothing_stays(name, count):
    """In a process of its own, undisturbed by other tests' objects."""
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


x = se.TensorSymbol("x", 500)
t = sympy.Symbol("t")
# Done with a product C @ x, whose constant takes two megabytes.
WORK = {
    "gradient": lambda y: se.gradient(se.sin(y).sum(), x),
    "gradient of a stock scalar": lambda y: se.gradient(sympy.sin(y @ y) * t, x),
    "stock derivative": lambda y: sympy.diff(sympy.exp(t * (y @ y)), t),
    "stock arithmetic": lambda y: sympy.expand((y.sum() + t) ** 3) / y.sum(),
    "stock assumptions": lambda y: (sympy.Abs(y.sum()).is_positive, sympy.sqrt(y.sum() ** 2)),
    "Hessian": lambda y: se.hessian(se.exp(y).sum(), x),
    "jvp": lambda y: se.jvp(se.tanh(y), x, x),
    "simplify": lambda y: se.simplify((y + 2 * y).sum() - y.sum()),
    "expand": lambda y: se.expand((y.sum() + t * x.sum()) ** 2),
    "equal": lambda y: se.equal(se.exp(y) * se.exp(-y), se.Ones(500)),
    "substitute": lambda y: (y * t).subs(t, 2).subs(x, 2 * x),
    "brackets of its text": lambda y: y.sum().precedence,
    "compare": lambda y: sympy.default_sort_key(sympy.sin(t * y.sum())),
    "lambdify": lambda y: se.lambdify([x], [y, se.sin(y).sum()])(np.ones(500)),
    "value": lambda y: y.sum().subs(x, se.Constant(np.ones(500))),
    "copies": lambda y: pickle.loads(pickle.dumps(y)),
}


@pytest.mark.parametrize("name", WORK)
def test_caches_hold_a_bounded_number_of_bytes(name):
    """Large constants that only cached results refer to are freed, and emptying the caches misses
    none."""
    constants = []
    for number in range(50):
        C = se.Constant(np.full((500, 500), number + 0.5))
        constants.append(weakref.ref(C))
        WORK[name](C @ x)
        del C
    gc.collect()
    # What the work makes of a constant, a transpose for instance, counts as well.
    assert sum(2e6 for C in constants if C() is not None) <= CACHE_GROWTH_BYTES + 4e6
    LIVE.relieve()
    gc.collect()
    assert not any(C() is not None for C in constants)


def test_texts_are_freed():
    """The text of a constant is freed with it, that of its transpose too."""
    X = se.TensorSymbol("X", 100, 100)

    def write(number):
        C = se.Constant(np.random.default_rng(number).random((100, 100)))
        assert len(str(se.gradient((C * X).sum() + (C @ X).sum(), X))) > 2e5

    write(0)
    tracemalloc.start()
    for number in range(1, 20):
        write(number)
    LIVE.relieve()
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 1e6


def resident():
    """Return the megabytes of this process."""
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
