"""First and second derivatives of maxima, sorts and gathers."""

import builtins

import numpy as np
import pytest
from oracles import assert_close, jax64
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

m, n, k, b = symbols("m n k b", integer=True, positive=True)
SIZES = {m: 3, n: 4, k: 5, b: 2}
A, x, T = se.TensorSymbol("A", (m, n)), se.TensorSymbol("x", n), se.TensorSymbol("T", (b, m, n))
w, W = se.TensorSymbol("w", n), se.TensorSymbol("W", (n, k))
p, q = se.TensorSymbol("p", k), se.TensorSymbol("q", k)
P, I = se.TensorSymbol("P", (b, k)), se.TensorSymbol("I", (k, n))
rng = np.random.default_rng(5)
DATA = {
    **{s: rng.standard_normal([SIZES[length] for length in s.shape]) for s in (A, x, T, w, W)},
    p: np.array([0, 2, 2, 1, 0]),
    q: np.array([3, 3, -1, 0, 1]),
    P: rng.integers(0, 3, (2, 5)),
    I: rng.integers(0, 3, (5, 4)),
}
TIED = {**DATA, A: np.round(DATA[A]), x: np.array([1.0, 2.0, 2.0, -1.0]), T: np.round(DATA[T])}

# A scalar of each function, in NumPy's names, and the variable. What is applied to the entries
# isn't linear, so that second derivatives are there.
CASES = {
    "max": (lambda np: np.max(x) ** 2 * (x @ x), x),
    "max of rows": (lambda np: (np.max(A, axis=1) ** 3).sum(), A),
    "max of an inner function": (lambda np: np.exp(np.max(np.sin(A) * x[None], axis=0)) @ x, A),
    "max over two axes": (lambda np: (np.max(T**2, axis=(0, 2)) ** 2).sum(), T),
    "min with the axis kept": (lambda np: ((A - np.min(A, axis=0, keepdims=True)) ** 2).sum(), A),
    "peak to peak": (lambda np: (np.ptp(A, axis=1) ** 2).sum(), A),
    "max of a max": (lambda np: np.max(np.max(A, axis=1) * 2) ** 2, A),
    "share of the max": (lambda np: (A / np.max(A)).sum() * A[0, 0], A),
    "distance to the nearest": (
        lambda np: np.min(((A[:, None] - W.T[None]) ** 2).sum(-1), axis=1).sum(),
        W,
    ),
    "hinge": (lambda np: np.max(1 - A @ x) ** 2 + np.maximum(0, 1 - A @ x).sum(), x),
    "log-sum-exp by hand": (
        lambda np: np.log(np.exp(x - np.max(x)).sum()) + np.max(x),
        x,
    ),
    "sort": (lambda np: (np.sort(x) ** 2) @ w * np.sort(x)[1], x),
    "sort of columns": (lambda np: (np.sort(A, axis=0) ** 2 * A).sum(), A),
    "sort in the middle": (lambda np: (np.sort(T, axis=1) ** 2 * T).sum(), T),
    "sort of all": (lambda np: np.sort(A, axis=None)[3] ** 2, A),
    "median": (lambda np: (np.median(A, axis=1) ** 2).sum(), A),
    "quantile": (lambda np: np.quantile(A, 0.3) ** 2, A),
    "position of the max": (lambda np: x[np.argmax(x)] ** 3, x),
    "rows by order": (lambda np: (A[np.argsort(A[:, 0])] ** 2 * A).sum(), A),
    "taken": (lambda np: (x[p[: k - 2]] ** 3).sum(), x),
    "taken along an axis": (lambda np: (np.take(A, p, axis=0) ** 2 * I).sum(), A),
    "taken by a matrix": (lambda np: (A[P] ** 2 @ x).sum(), A),
    "taken in two axes": (lambda np: (A[p, q] ** 3).sum(), A),
    "taken along": (lambda np: (np.take_along_axis(A, I, axis=0) ** 2 * I).sum(), A),
    "taken twice": (lambda np: (A[p][:, q] ** 2).sum(), A),
    "an outer gather": (lambda np: (T[:, p, q] ** 2).sum(0) @ q, T),
    "embedding": (lambda np: ((A[p] @ W - np.outer(p, q)) ** 2).sum(), A),
    "embedding, weights": (lambda np: ((A[p] @ W) ** 2).sum(), W),
    "sum of rows taken": (lambda np: (A[p].sum(0) ** 2).sum(), A),
    "shared positions": (lambda np: (A[p] * A[p] * A[p]).sum() * A[0, 0], A),
    "a mask": (lambda np: (A[:, 0] * 2) @ A[:, 1] + (x[:3] ** 3).sum(), A),
}


def called(function, namespace, values):
    """Return the value of a case for other tensors than symbols."""
    names = {"A": A, "x": x, "T": T, "w": w, "W": W, "p": p, "q": q, "P": P, "I": I}
    scope = {"__builtins__": builtins, "k": 5, **{name: values[s] for name, s in names.items()}}
    return type(function)(function.__code__, scope)(namespace)


def differences(function, at, step=1e-6):
    """Return the derivative by central differences, new axes last."""
    at = np.asarray(at, float)
    columns = []
    for position in np.ndindex(at.shape):
        moved = np.zeros(at.shape)
        moved[position] = step
        columns.append((function(at + moved) - function(at - moved)) / (2 * step))
    columns = np.reshape(columns, (*at.shape, *np.shape(columns[0])))
    return np.moveaxis(columns, range(at.ndim), range(-at.ndim, 0))


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    function, variable = CASES[name]
    f = function(snp)
    gradient, hessian = se.gradient(f, variable), se.hessian(f, variable)
    compiled = se.lambdify(list(DATA), [f, gradient])
    value, derivative = compiled(*DATA.values())
    assert_close(value, called(function, np, DATA), 1e-12)

    def moved(at):
        return called(function, np, {**DATA, variable: at})

    assert_close(derivative, differences(moved, DATA[variable]), 1e-7)
    second = se.lambdify(list(DATA), hessian)(*DATA.values())
    derivatives = differences(
        lambda at: compiled(*{**DATA, variable: at}.values())[1], DATA[variable]
    )
    assert_close(second, derivatives, 1e-7)


def test_ties_share_as_in_jax():
    jax = jax64()
    names = [name for name in CASES if {"max", "min", "peak"} & {*name.split()}]

    def derivative(name):
        function, variable = CASES[name]
        return jax.grad(lambda at: called(function, jax.numpy, {**TIED, variable: at}))

    theirs = jax.jit(lambda given: [derivative(n)(given[CASES[n][1].name]) for n in names])
    found = theirs({s.name: value for s, value in TIED.items()})
    gradients = [se.gradient(CASES[name][0](snp), CASES[name][1]) for name in names]
    ours = se.lambdify(list(TIED), gradients)(*TIED.values())
    for name, one, other in zip(names, ours, found, strict=True):
        assert_close(one, other, 1e-12, name)


def test_medians_are_compared_and_have_short_derivatives():
    """They are nan where an entry is nan; nothing else checks for it."""
    x, y = se.tensors("x y", 5)
    chosen = snp.where(se.median(x) > snp.nanmedian(y), x[0], y[0])
    f = se.lambdify([x, y], [chosen, se.median(y)])
    one, other = np.arange(5.0), np.array([7, 1, np.nan, 2, 3])
    np.testing.assert_array_equal(f(one, other), [7, np.nan])
    np.testing.assert_array_equal(f(one + 1, other), [1, np.nan])
    assert str(se.gradient(se.median(x), x)) == "one_hot(argsort(x)[2], 5)"
