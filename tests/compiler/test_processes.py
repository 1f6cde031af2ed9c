"""Expressions in several processes: forked while threads build, spawned, sent to and fro."""

import gc
import multiprocessing
import os
import sys
import threading
import warnings

import pytest
from oracles import n
from sympy import Symbol

import sympy_einsum as se

x = se.TensorSymbol("x", (n,))
A = se.TensorSymbol("A", (n, n))
t = Symbol("t")
THREADS = 8
FORKS = 10

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


def build_something(tag):
    w = se.TensorSymbol(f"process{tag}", (n,))
    return se.gradient(t * se.exp(A @ w + x).sum() ** 2, w)


def child(tag):
    """What a child does: the same object twice, and a collector that works."""
    same = build_something(tag) is build_something(tag)
    os._exit(0 if same and gc.isenabled() else 1)


@needs_fork
def test_a_fork_among_building_threads():
    """No child waits for a lock that one of the parent's threads holds."""
    stop = threading.Event()

    def build(slot):
        count = 0
        while not stop.is_set():
            count += 1
            build_something(f"{slot}_{count}")

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=build, args=(slot,), daemon=True) for slot in range(THREADS)]
    context = multiprocessing.get_context("fork")
    codes = []
    try:
        for thread in threads:
            thread.start()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
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
        gradient = pool.apply_async(se.gradient, (f, [x, A])).get(timeout=120)
    assert gradient[0] is se.gradient(f, [x, A])[0]
    assert gradient[1] is se.gradient(f, [x, A])[1]
