"""Constants in derivatives: against JAX's stop_gradient, in every form of an expression."""

import numpy as np
import pytest
import sympy as sp
from libraries import LIBRARIES
from oracles import assert_close, data_for, evaluate, jax64

import sympy_einsum as se

A, x = se.TensorSymbol("A", 4, 3), se.TensorSymbol("x", 3)
t = sp.Symbol("t", real=True)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivatives_are_those_of_jax(mode):
    jax = jax64()
    jnp, stop = jax.numpy, jax.lax.stop_gradient
    data = data_for([A, x])

    def program(v):
        layer = data[A] @ v
        return (stop(jnp.tanh(layer)) * layer**2).sum() + stop(v) @ v + stop(v @ v) * jnp.sin(v[0])

    layer = A @ x
    f = (se.stop_gradient(se.tanh(layer)) * layer**2).sum() + se.stop_gradient(x) @ x
    f += se.stop_gradient(x @ x) * se.sin(x[0])
    assert_close(evaluate(f, data), float(program(data[x])))
    assert_close(evaluate(se.diff(f, x, mode=mode), data), np.asarray(jax.grad(program)(data[x])))
    second = evaluate(se.diff(f, x, 2, mode=mode), data)
    assert_close(second, np.asarray(jax.hessian(program)(data[x])))


def test_it_is_kept_by_derivatives_and_simplification():
    assert se.diff(se.stop_gradient(x), x) == se.Zeros(3, 3)
    assert se.diff(se.stop_gradient(t) * t, t) == se.stop_gradient(t)
    assert se.stop_gradient(2) == 2
    assert not se.equal(se.gradient(se.stop_gradient(x) @ x, x), 2 * x)
    assert str(se.gradient(se.stop_gradient(x) @ x, x)) == "stop_gradient(x)"
    assert se.simplify(se.gradient(se.stop_gradient(x) @ x, x)) == se.stop_gradient(x)
    assert se.stop_gradient(x).subs(x, se.Ones(3)) == se.Ones(3)


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "dask"])
def test_backends(backend):
    library = LIBRARIES[backend]()
    f = se.lambdify([x], se.exp(se.stop_gradient(x + 1) * x), backend)
    v = np.array([0.1, 0.2, 0.3])
    assert_close(library.back(f(library.into(v))), np.exp((v + 1) * v), 1e-6)
