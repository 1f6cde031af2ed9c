"""Ctrl+C at any moment leaves the next results right."""

import random
import signal
import time

import numpy as np
import pytest
from oracles import assert_close

import sympy_einsum as se

FUNCTIONS = [(se.tanh, np.tanh), (se.sin, np.sin), (se.exp, np.exp)]
x0, A0 = np.array([0.3, -0.2, 0.5]), np.arange(9).reshape(3, 3) / 20


def results(k):
    """Return the value and the gradient of a function that no other k has, by its number."""
    x, A = se.TensorSymbol(f"x{k}", 3), se.TensorSymbol(f"A{k}", 3, 3)
    f = hidden(k, x, A, 0)
    gradient = se.simplify(se.gradient(f @ f, A))
    return se.lambdify([x, A], [f @ f, gradient])(x0, A0)


def hidden(k, x, A, which):
    h = x
    for j in range(3):
        h = FUNCTIONS[(k + j) % 3][which]((1 + k / 50) * A @ h + x)
    return h


def expected(k):
    """Return them from NumPy, the gradient by central differences."""

    def value(A):
        h = hidden(k, x0, A, 1)
        return h @ h

    steps = 1e-5 * np.eye(9).reshape(9, 3, 3)
    derivatives = [(value(A0 + step) - value(A0 - step)) / 2e-5 for step in steps]
    return value(A0), np.reshape(derivatives, (3, 3))


def stop(number, frame):
    raise KeyboardInterrupt


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupted_derivation_and_compilation_can_be_repeated():
    results(0)
    start = time.perf_counter()
    results(1)
    whole = time.perf_counter() - start
    rng, before, interrupted = random.Random(0), signal.signal(signal.SIGALRM, stop), 0
    try:
        for k in range(2, 22):
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(0.01, 0.8) * whole)
                results(k)
            except KeyboardInterrupt:
                interrupted += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            value, gradient = results(k)
            true, derivatives = expected(k)
            assert_close(np.asarray(value), np.asarray(true), 1e-12)
            assert_close(gradient, derivatives, 1e-7)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert interrupted > 3
