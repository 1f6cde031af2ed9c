"""Expressions in several processes: forked while threads build, spawned, sent back and forth."""

import copy
import gc
import inspect
import multiprocessing
import os
import pickle
import sys
import threading

import numpy as np
import pytest
from oracles import m, n
from sympy import Symbol

import sympy_einsum as se

x = se.TensorSymbol("x", (n,))
A = se.TensorSymbol("A", (n, n))
t = Symbol("t")
THREADS = 8
FORKS = 10

# Threads build while processes are forked, on purpose; Python and JAX warn of that.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*fork:RuntimeWarning"),
]
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


def build_something(tag):
    w = se.TensorSymbol(f"process{tag}", (n,))
    return se.gradient(t * se.exp(A @ w + x).sum() ** 2, w)


def child(tag):
    """Build one object twice in a child process, call it, and use the collector."""
    same = build_something(tag) is build_something(tag)
    is_right = called() == 14
    os._exit(0 if same and is_right and gc.isenabled() else 1)


def called():
    """Compile a function and call it for the first time."""
    return se.lambdify(x, x @ x)(np.array([1.0, 2.0, 3.0]))


@pytest.mark.slow
@needs_fork
def test_a_fork_among_building_threads():
    """No child waits for a lock held by a thread of the parent."""
    called()  # Python's own lock for imports may be held, too
    stop = threading.Event()

    def build(slot):
        count = 0
        while not stop.is_set():
            count += 1
            build_something(f"{slot}_{count}")
            called()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=build, args=(slot,), daemon=True) for slot in range(THREADS)]
    context = multiprocessing.get_context("fork")
    codes = []
    try:
        for thread in threads:
            thread.start()
        for number in range(FORKS):
            process = context.Process(target=child, args=(f"child{number}",))
            process.start()
            process.join(20)
            codes.append(process.exitcode)
            if process.exitcode is None:
                process.kill()
                break
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    assert codes == [0] * FORKS


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_expressions_come_back_from_another_process(method):
    f = t * ((A @ x) ** 2).sum() + se.logdet(A)
    with multiprocessing.get_context(method).Pool(1) as pool:
        gradient = pool.apply_async(se.gradient, (f, [x, A])).get(timeout=250)
    assert gradient[0] is se.gradient(f, [x, A])[0]
    assert gradient[1] is se.gradient(f, [x, A])[1]


# --- compiled functions ---------------------------------------------------------------------------

B, C = se.TensorSymbol("B", (m, n)), se.TensorSymbol("C", (n, m))
z = se.TensorSymbol("z", (3,))
LOSS = t * ((A @ x) ** 2).sum()
POINT = np.array([0.5, -1.0, 2.0])
MATRIX = np.arange(9.0).reshape(3, 3)
# Functions of every kind, and what they are called with.
COMPILED = {
    "several": (lambda: se.lambdify([A, x, t], [LOSS, se.gradient(LOSS, x)]), (MATRIX, POINT, 3.0)),
    "unchecked": (lambda: se.lambdify([x], se.softmax(x), check=False), (POINT,)),
    "by lengths": (
        lambda: se.lambdify([B, C, A], B @ A @ C),
        (MATRIX[:2], MATRIX[:, :2], MATRIX),
    ),
    "a constant": (lambda: se.lambdify([z], np.ones((2000, 3)) @ z), (POINT,)),
    "dask": (lambda: se.lambdify([A, x], A @ x, "dask"), (MATRIX, POINT)),
    "auto": (lambda: se.lambdify([A, x], A @ x, "auto"), (MATRIX, POINT)),
}


@pytest.mark.parametrize("name", COMPILED)
def test_functions_are_pickled(name):
    build, values = COMPILED[name]
    function = build()
    expected = function(*values)
    lengths = {m: 3, n: 3}
    for again in (pickle.loads(pickle.dumps(function)), copy.deepcopy(function)):
        assert again.source == function.source
        assert again.cost(lengths) == function.cost(lengths)
        found = again(*values)
        pairs = zip(found, expected, strict=True) if name == "several" else [(found, expected)]
        for result, value in pairs:
            np.testing.assert_array_equal(np.asarray(result), np.asarray(value))


def test_functions_work_in_a_process_that_is_new():
    build, (matrix, point, _) = COMPILED["several"]
    function = build()
    arguments = [(matrix, point, float(k)) for k in range(3)]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.starmap_async(function, arguments).get(timeout=250)
    for (value, derivative), own in zip(found, arguments, strict=True):
        expected = function(*own)
        assert value == expected[0]
        np.testing.assert_array_equal(derivative, expected[1])


def test_a_function_shows_its_arguments():
    build, (matrix, point, _) = COMPILED["several"]
    function = build()
    assert str(inspect.signature(function)) == "(A, x, t)"
    assert function.__name__ == "function"
    assert function.__doc__.startswith("Generated from 2 expression(s).")
    assert function(t=1.0, A=matrix, x=point)[0] == function(matrix, point, 1.0)[0]
    with pytest.raises(TypeError, match="'t'"):
        function(matrix, point)


@pytest.mark.parametrize("name", ["_", "self", "function"])
def test_arguments_may_be_named_like_the_function(name):
    tensor = se.TensorSymbol(name, (n,))
    function = pickle.loads(pickle.dumps(se.lambdify([tensor], 2 * tensor)))
    np.testing.assert_array_equal(function(POINT), 2 * POINT)
