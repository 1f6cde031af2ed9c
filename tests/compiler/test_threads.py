"""Eight threads that build expressions, compile them and call functions at once."""

import numpy as np
import pytest
from at_once import at_once
from libraries import LIBRARIES
from sympy import symbols

import sympy_einsum as se

ROUNDS = 6
m, n = symbols("m n", integer=True, positive=True)
B, x = se.TensorSymbol("B", (m, n)), se.TensorSymbol("x", n)


def made(tag):
    """Return a user's function: a value, its gradient and its Hessian."""
    w = se.TensorSymbol(f"w{tag}", n)
    f = (se.tanh(B @ w) ** 2).sum() + se.logsumexp(w) * (w[1:] * w[:-1]).sum()
    return se.lambdify([B, w], [f, se.gradient(f, w), se.hessian(f, w)])


def arguments(number):
    """Return arrays whose lengths differ from call to call."""
    rng = np.random.default_rng(number)
    rows, columns = 1 + number % 4, 2 + number % 3
    return rng.standard_normal((rows, columns)), rng.standard_normal(columns)


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_same_function_is_called():
    """With lengths that no thread has used before."""
    expected = [made("")(*arguments(number)) for number in range(ROUNDS)]
    function = made("")

    def work(slot):
        order = np.random.default_rng(slot).permutation(ROUNDS)
        return {number: function(*arguments(number)) for number in order}

    for found in at_once(work):
        for number in range(ROUNDS):
            assert_same(found[number], expected[number])


@pytest.mark.parametrize("is_shared", [True, False], ids=["the same", "different"])
def test_functions_are_built_and_called(is_shared):
    def work(slot):
        own = made("" if is_shared else slot)
        return own.source, [own(*arguments(number)) for number in range(ROUNDS)]

    found = at_once(work)
    for slot, (source, results) in enumerate(found):
        alone, expected = work(slot)
        assert source == alone
        for one, other in zip(results, expected, strict=True):
            assert_same(one, other)


@pytest.mark.parametrize("backend", [name for name in LIBRARIES if name != "jax"])
def test_backends_are_called(backend):
    """JAX compiles in threads of its own."""
    library = LIBRARIES[backend]()
    f = (B @ x) @ (B @ x)
    function = se.lambdify([B, x], [f, se.gradient(f, x)], backend)

    def work(slot):
        return [library.back(part) for part in function(*map(library.into, arguments(slot)))]

    for slot, found in enumerate(at_once(work)):
        for one, other in zip(
            found, se.lambdify([B, x], [f, se.gradient(f, x)])(*arguments(slot)), strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=1e-12)
