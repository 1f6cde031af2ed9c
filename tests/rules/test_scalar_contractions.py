"""Distribution of products without axes."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import assert_close
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.core import postorder
from sympy_einsum.expressions import TensorAdd
from sympy_einsum.rules import distribute_scalar_contractions

m, n, k = symbols("m n k", integer=True, positive=True)
X, M, U, V = (
    se.TensorSymbol(name, s)
    for name, s in zip("XMUV", [(m, n), (m, n), (m, k), (n, k)], strict=True)
)
A, E = se.tensors("A E", m, m)
u, v, x = se.TensorSymbol("u", m), se.TensorSymbol("v", n), se.TensorSymbol("x", m)


def outer(a, b):
    return se.einsum("i,j->ij", a, b)


# Products that are multiplied out, and their values.
DISCONNECTED = {
    "an outer product": (
        ((X - outer(u, v)) * M).sum(),
        lambda M, X, u, v: ((X - np.outer(u, v)) * M).sum(),
    ),
    "a narrow product": (
        ((X - 3 * U @ V.T) * M).sum() ** 2,
        lambda M, U, V, X: ((X - 3 * U @ V.T) * M).sum() ** 2,
    ),
    "a trace": (
        (A - outer(x, x) - E @ outer(u, x)).trace(),
        lambda A, E, u, x: np.trace(A - np.outer(x, x) - E @ np.outer(u, x)),
    ),
    "a diagonal": (
        ((outer(u, u) + x @ u * se.Delta(m)) @ E).trace(),
        lambda E, u, x: np.trace((np.outer(u, u) + x @ u * np.eye(len(u))) @ E),
    ),
    "inside of a term": (
        (A * (E - outer(u, x) - 2 * E @ (A - outer(E @ u, x)) @ E)).sum(),
        lambda A, E, u, x: (A * (E - np.outer(u, x) - 2 * E @ (A - np.outer(E @ u, x)) @ E)).sum(),
    ),
    "a quadratic form": (
        u @ (A - outer(x, u)) @ x,
        lambda A, u, x: u @ (A - np.outer(x, u)) @ x,
    ),
}
RESIDUAL = X - U @ V.T
KEPT = {
    "twice": (RESIDUAL**2).sum(),
    "two sums": ((A - outer(x, x)) @ (E - outer(u, u))).trace(),
    "needed elsewhere": (RESIDUAL * M).sum() + se.exp(RESIDUAL).sum(),
    "a result of its own": [(RESIDUAL * M).sum(), RESIDUAL],
    "no products": ((X - M) * se.exp(X)).sum(),
    "exact differences": ((A - outer(u, se.Ones(m))) @ E).trace(),
    "products of entries": ((X - X * M) * se.exp(X)).sum(),
}


def sums_in(expr):
    return {node for node in postorder([expr]) if isinstance(node, TensorAdd)}


def arguments_of(expr):
    return sorted(expr.atoms(se.TensorSymbol), key=str)


@pytest.mark.parametrize("lengths", [(5, 4, 2), (1, 3, 1), (0, 2, 3), (3, 0, 2), (2, 3, 0)])
@pytest.mark.parametrize("name", DISCONNECTED)
def test_values(name, lengths):
    expr, right = DISCONNECTED[name]
    sizes = dict(zip((m, n, k), lengths, strict=True))
    rng = np.random.default_rng(0)
    arguments = arguments_of(expr)
    data = {s.name: rng.standard_normal([sizes[length] for length in s.shape]) for s in arguments}
    (apart,) = distribute_scalar_contractions([expr])
    for form in (expr, apart):
        assert_close(se.lambdify(arguments, form, optimize=False)(*data.values()), right(**data))


@pytest.mark.parametrize("name", DISCONNECTED)
def test_no_sum_is_left(name):
    (apart,) = distribute_scalar_contractions([DISCONNECTED[name][0]])
    assert not sums_in(apart)


@pytest.mark.parametrize("name", KEPT)
def test_what_stays(name):
    exprs = KEPT[name] if isinstance(KEPT[name], list) else [KEPT[name]]
    assert distribute_scalar_contractions(exprs) is exprs


def test_nothing_of_the_size_of_the_sum_is_computed():
    f = se.lambdify([A, E, u, x], DISCONNECTED["inside of a term"][0])
    assert "subtract" not in f.source
    assert "[:, None]" not in f.source


def test_exact_cancellations_are_preserved():
    means = outer(u, se.Ones(n))
    (apart,) = distribute_scalar_contractions([((X - means - outer(u, v)) * M).sum()])
    assert sums_in(apart) == {X - means}


def test_a_residual_that_is_far_smaller_keeps_its_digits():
    rng = np.random.default_rng(0)
    a, b, w = (rng.standard_normal(shape) for shape in [(50, 3), (40, 3), (50, 40)])
    data = [a @ b.T + 1e-9 * rng.standard_normal((50, 40)), a, b, w]
    value = se.lambdify([X, U, V, M], (RESIDUAL * M).sum())(*data)
    bound = np.finfo(float).eps * ((np.abs(data[0]) + np.abs(a) @ np.abs(b.T)) * np.abs(w)).sum()
    assert abs(value - ((data[0] - a @ b.T) * w).sum()) <= 5 * bound
