"""Sums of squares that are recognised, and what isn't one."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from oracles import assert_close

import sympy_einsum as se
from sympy_einsum.optimization.packing import as_vector
from sympy_einsum.optimization.squares import residuals_of

m, n = sp.symbols("m n", integer=True, positive=True)
A, b, x = se.TensorSymbol("A", m, n), se.TensorSymbol("b", m), se.TensorSymbol("x", n)
t, s = sp.symbols("t s", real=True)
r = A @ x - b
rng = np.random.default_rng(0)
DATA = {A: rng.standard_normal((4, 3)), b: rng.standard_normal(4), x: rng.standard_normal(3)}
DATA |= {t: 0.7, s: -1.3}


@pytest.mark.parametrize(
    "objective",
    [
        (r**2).sum(),
        r @ r,
        r @ r / m,
        2 * (r**2).sum() + (x @ x) / 3,
        (A**2).sum() + (t - s) ** 2 + 5 * t**2,
        se.norm(r) ** 2,
        (se.outer(b, x) ** 2).sum() + se.exp(t) ** 2,
        (r**2).mean() + (x.sum() - 1) ** 2,
    ],
)
def test_sums_of_squares(objective):
    residuals = residuals_of(objective)
    if residuals is not None:
        residual = as_vector(residuals)
        value = se.lambdify([*DATA], residual)(*DATA.values())
        assert_close(value @ value, np.asarray(se.lambdify([*DATA], objective)(*DATA.values())))
    assert residuals is not None or objective.has(sp.exp)


@pytest.mark.parametrize(
    "objective",
    [
        r @ r - x @ x,
        r @ r + x.sum(),
        t * (r @ r),
        x @ A.T @ b,
        (r**3).sum(),
        (r**4).sum() + t,
        sp.Symbol("z") ** 2,
        se.exp(x).sum(),
        se.einsum("ii->", se.outer(x, x)) - 1,
        x @ x + 1,
    ],
)
def test_others(objective):
    assert residuals_of(objective) is None


def test_bounded_factorizations_end_soon():
    """Trust regions take thousands of steps where many bounds are active."""
    k = sp.Symbol("k", integer=True, positive=True)
    T, U, V = se.TensorSymbol("T", m, n), se.TensorSymbol("U", m, k), se.TensorSymbol("V", n, k)
    problem = se.Problem(((T - U @ V.T) ** 2).sum(), [U, V], [U >= 0, V >= 0])
    rng = np.random.default_rng(0)
    for rows, columns in ((9, 7), (40, 30)):
        values = {T: rng.uniform(size=(rows, columns))}
        start = {U: rng.uniform(size=(rows, 4)), V: rng.uniform(size=(columns, 4))}
        found = problem.solve(values, start)
        assert found.success
        assert found.iterations < 1000
