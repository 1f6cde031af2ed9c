"""Least squares with sparse Jacobians, and Newton's method with structured Hessians."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.core import tuning
from sympy_einsum.optimization.functions import Instance

m, n, g, p = symbols("m n g p", integer=True, positive=True)
t, y, of = se.tensors("t y of", m)
a, b = se.tensors("a b", g)
c = sp.Symbol("c", real=True)
# A curve for each group, and one parameter for all.
CURVES = a[of] * se.exp(-(b[of] ** 2) * t) + c - y


@pytest.fixture
def always_sparse(monkeypatch):
    """Take any Jacobian with few entries for a large one."""
    monkeypatch.setattr(tuning, "MIN_SPARSE_JACOBIAN", 1)
    monkeypatch.setattr(tuning, "MAX_SPARSE_SHARE", 0.9)


def curves(count, groups):
    rng = np.random.default_rng(count)
    member = np.concatenate([np.arange(groups).repeat(3), rng.integers(0, groups, count)])
    times = rng.uniform(0, 2, len(member))
    heights, rates = rng.uniform(1, 2, groups), rng.uniform(0.7, 1.5, groups)
    values = heights[member] * np.exp(-(rates[member] ** 2) * times) + 0.3
    data = {t: times, of: member, y: values + 0.001 * rng.normal(size=len(member))}
    return data, {a: heights + 0.05, b: rates - 0.05, c: 0.2}


@pytest.mark.parametrize("sizes", [(30, 4), (200, 40)])
def test_sparse_jacobians_give_the_same_optimum(sizes, always_sparse):
    data, start = curves(*sizes)
    problem = se.Problem.least_squares([CURVES, 0.01 * a, 0.01 * b], [a, b, c])
    instance, vector = problem._prepared(data, start)
    assert instance.has_sparse_jacobian
    _, rows = instance.residual(vector)
    np.testing.assert_allclose(instance.sparse_jacobian(vector).toarray(), rows, atol=1e-12)
    found = problem.solve(data, start)
    assert (found.method, found.success) == ("least-squares", True)
    assert found.iterations < 30
    other = problem.solve(data, start, method="trust-exact")
    np.testing.assert_allclose(found[a], other[a], rtol=1e-5)
    np.testing.assert_allclose(found[c], other[c], rtol=1e-5)


def test_large_problems_are_sparse_by_themselves():
    data, start = curves(4000, 300)
    problem = se.Problem.least_squares(CURVES, [a, b, c])
    found = problem.solve(data, start)
    assert (found.method, found.success) == ("least-squares", True)
    # One dense column beside sparse ones; nothing is sparse where all columns are dense.
    assert problem._prepared(data, start)[0].has_sparse_jacobian
    x, A = se.TensorSymbol("x", n), se.TensorSymbol("A", m, n)
    dense = se.Problem.least_squares(se.exp(A @ x) - y, x)
    assert not dense._prepared({A: np.ones((2000, 60)), y: np.ones(2000)}, None)[
        0
    ].has_sparse_jacobian


def test_affine_residuals(always_sparse):
    x = se.TensorSymbol("x", m)
    problem = se.Problem.least_squares([x[1:] - x[:-1], 3 * (x - t)], x)
    data = np.random.default_rng(0).normal(size=50)
    found = problem.solve({t: data})
    rows = np.concatenate([np.diff(np.eye(50), axis=0), 3 * np.eye(50)])
    right = np.concatenate([np.zeros(49), 3 * data])
    assert found.success
    np.testing.assert_allclose(found[x], np.linalg.lstsq(rows, right)[0], atol=1e-8)


def test_bounds(always_sparse):
    data, start = curves(60, 5)
    problem = se.Problem.least_squares(
        [CURVES, 0.01 * a, 0.01 * b], [a, b, c], [a <= 1.5, c >= 0.3]
    )
    found = problem.solve(data, start)
    other = problem.solve(data, start, method="trust-constr")
    assert (found.method, found.success) == ("least-squares", True)
    np.testing.assert_allclose(found.value, other.value, rtol=1e-5)


def test_directions_that_nothing_depends_on(always_sparse):
    """The matrix of the normal equations is singular."""
    data, start = curves(60, 5)
    shift = sp.Symbol("shift", real=True)
    problem = se.Problem.least_squares(CURVES + shift, [a, b, c, shift])
    found = problem.solve(data, {**start, shift: 0.0})
    assert found.success
    assert found.value < 1e-3


@pytest.mark.parametrize("length", [2, 5, 300, 20_000])
def test_chains(length):
    x = se.TensorSymbol("x", n)
    chain = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
    # Not as a sum of squares.
    problem = se.Problem(
        se.log(1 + chain) if length < 10 else chain + se.exp(x - 1).sum() - x.sum(), x
    )
    method = "newton" if length < 600 else "auto"
    found = problem.solve({n: length}, start={x: np.full(length, 0.8)}, method=method)
    assert (found.method, found.success) == ("newton", True)
    np.testing.assert_allclose(found[x], 1, atol=1e-5)


def test_groups_with_a_robust_loss():
    data, start = curves(3000, 300)
    f = se.log(1 + 50 * CURVES**2).sum() + 0.1 * (a @ a + b @ b + c**2)
    problem = se.Problem(f, [a, b, c])
    found = problem.solve(data, start)
    assert (found.method, found.success) == ("newton", True)
    other = problem.solve(data, start, method="L-BFGS-B")
    np.testing.assert_allclose(found.value, other.value, rtol=1e-8)


def test_a_hessian_plus_one_of_low_rank():
    x = se.TensorSymbol("x", m)
    data = np.random.default_rng(0).normal(size=3000)
    problem = se.Problem(se.logsumexp(x + t) + (x**4).sum() + x @ x, x)
    found = problem.solve({t: data})
    assert (found.method, found.success) == ("newton", True)
    weights = np.exp(found[x] + data)
    np.testing.assert_allclose(
        weights / weights.sum() + 4 * found[x] ** 3 + 2 * found[x], 0, atol=1e-8
    )


@pytest.mark.parametrize("method", ["newton", "auto"])
def test_dense_hessians(method):
    A, x = se.TensorSymbol("A", m, n), se.TensorSymbol("x", n)
    rng = np.random.default_rng(0)
    problem = se.Problem(se.logsumexp(A @ x) + x @ x / 2, x)
    found = problem.solve({A: rng.normal(size=(7, 5))}, method=method)
    assert found.success
    assert found.method == "newton"


def test_a_start_at_which_the_objective_curves_downwards():
    x = se.TensorSymbol("x", n)
    problem = se.Problem((x**4 - x**2 + 0.1 * x).sum(), x)
    found = problem.solve(start={x: np.full(4, 0.1)}, method="newton")
    assert found.success
    np.testing.assert_allclose(4 * found[x] ** 3 - 2 * found[x] + 0.1, 0, atol=1e-7)


def test_curvatures_of_different_sizes_and_signs():
    """Damping by the diagonal took 10 and 11 steps."""
    x = se.TensorSymbol("x", 2)
    problem = se.Problem(1e6 * (x[0] - 1) ** 2 + (x[1] ** 2 - 1) ** 2 + x[0] * x[1], x)
    found = problem.solve(start={x: [1.0, 0.1]})
    assert (found.method, found.success) == ("newton", True)
    assert found.iterations <= 9
    np.testing.assert_allclose(found[x], [1, np.roots([4, 0, -4, 1]).min()], atol=1e-5)


def process(seed):
    """Return the problem of a Gaussian process's hyperparameters, data and a start."""
    rng = np.random.default_rng(seed)
    points = np.sort(rng.uniform(0, 10, 200))
    D, h = se.TensorSymbol("D", (m, m), symmetric=True), se.TensorSymbol("h", 3)
    K = sp.exp(h[0]) * se.exp(-D * sp.exp(-h[1])) + sp.exp(h[2]) * se.Delta(m)
    values = np.sin(points) + 0.2 * rng.normal(size=200)
    problem = se.Problem((y @ se.solve(K, y) + se.logdet(K)) / 2, h)
    return problem, {D: (points[:, None] - points) ** 2, y: values}, {h: [0.0, 0.0, -1.0]}


@pytest.mark.parametrize(("seed", "value"), [(1, -222.66078951120), (1000, -207.01081510083)])
def test_a_start_at_which_the_hessian_is_nearly_singular(seed, value, monkeypatch):
    """The first step, or a tenth of it, led to where the covariance is singular up to rounding
    errors."""
    monkeypatch.setattr(tuning, "MAX_SOLVER_ITERATIONS", 20)
    problem, values, start = process(seed)
    found = problem.solve(values, start)
    assert (found.method, found.success) == ("newton", True)
    np.testing.assert_allclose(found.value, value)


def test_an_end_among_rounding_errors(monkeypatch):
    """Steps of no length were taken without end, since they didn't raise the objective."""
    monkeypatch.setattr(tuning, "MAX_STEEPER", np.inf)
    monkeypatch.setattr(tuning, "MAX_SOLVER_ITERATIONS", 30)
    problem, values, start = process(1000)
    found = problem.solve(values, start, method="newton")
    assert found.iterations < 30


def test_few_hessians(monkeypatch):
    """Newton's method with a new one at each step took 4, and one more for the end."""
    calls, hessian = [], Instance.hessian
    monkeypatch.setattr(
        Instance, "hessian", lambda self, vector: calls.append(1) or hessian(self, vector)
    )
    rng = np.random.default_rng(0)
    A, w, y = se.TensorSymbol("A", m, n), se.TensorSymbol("w", n), se.TensorSymbol("y", m)
    rows = rng.normal(size=(60, 4))
    counts = rng.poisson(np.exp(rows @ [0.5, -0.4, 0.3, 0.1])).astype(float)
    found = se.Problem((se.exp(A @ w) - y * (A @ w)).sum(), w).solve(
        {A: rows, y: counts}, start={w: np.zeros(4)}
    )
    assert (found.method, found.success, len(calls)) == ("newton", True, 2)
    np.testing.assert_allclose(rows.T @ (np.exp(rows @ found[w]) - counts), 0, atol=1e-10)


def test_a_saddle_point_to_which_a_definite_hessian_leads():
    x = se.TensorSymbol("x", 2)
    f = x[0] ** 2 + x[1] ** 2 * (x[0] - 0.5) + x[1] ** 4
    found = se.Problem(f, x).solve(start={x: [1.0, 0.0]})
    assert (found.method, found.success) == ("newton", True)
    np.testing.assert_allclose(np.abs(found[x]), [1 / 6, 1 / 3**0.5], atol=1e-6)


def test_a_singular_hessian():
    x = se.TensorSymbol("x", n)
    found = se.Problem(se.exp(3 * x.sum()) - x.sum(), x).solve(start={x: [2.0, 1.0, -1.0]})
    assert (found.method, found.success) == ("newton", True)
    np.testing.assert_allclose(found[x].sum(), -np.log(3) / 3, atol=1e-8)
    np.testing.assert_allclose(np.diff(found[x]), [-1, -2], atol=1e-5)


def test_entries_at_bounds_across_which_the_objective_is_concave():
    x = se.TensorSymbol("x", 3)
    f = ((x - 1) ** 2).sum() - 4 * x[0] ** 2 + x[0] * x[1] * x[2]
    found = se.Problem(f, x, [x >= 0, x <= 3]).solve(start={x: [2.5, 0.5, 0.2]})
    assert (found.method, found.success) == ("newton", True)
    np.testing.assert_allclose(found[x], [3, 0, 1], atol=1e-12)


def test_a_problem_without_an_optimum():
    x = se.TensorSymbol("x", n)
    found = se.Problem(-((x[1:] * x[:-1]) ** 2).sum() + x.sum(), x).solve({n: 700})
    assert not found.success
    assert "unbounded" in found.message


@pytest.mark.parametrize("length", [1, 2, 40, 900])
@pytest.mark.parametrize("residuals", [False, True])
def test_newton_within_bounds(length, residuals, always_sparse):
    """A chain above an obstacle and below a ceiling; some bounds are equal."""
    x, low, high = se.tensors("x low high", n)
    rng = np.random.default_rng(length)
    lower = rng.normal(size=length)
    upper = lower + rng.choice([0, 0.1, 1, 1e6], length)
    limits = [x >= low, x <= high]
    if residuals:
        problem = se.Problem.least_squares([3 * (x[1:] - x[:-1]), se.exp(x / 9) - 1], x, limits)
    else:
        problem = se.Problem(9 * ((x[1:] - x[:-1]) ** 2).sum() + se.cosh(x).sum(), x, limits)
    found = problem.solve({low: lower, high: upper}, start={x: np.zeros(length)})
    assert found.success
    assert found.method == ("least-squares" if residuals else "newton")
    assert found.iterations < 25
    own = found[x]
    steps = np.diff(own, prepend=own[0], append=own[-1])
    rest = 2 * (np.exp(own / 9) - 1) * np.exp(own / 9) / 9 if residuals else np.sinh(own)
    derivatives = 18 * (steps[:-1] - steps[1:]) + rest
    np.testing.assert_allclose(np.clip(own - derivatives, lower, upper), own, atol=1e-7)


def test_positions_are_whole_numbers():
    data, start = curves(20, 3)
    problem = se.Problem.least_squares(CURVES, [a, b, c])
    assert problem.solve({**data, of: data[of].astype(float)}, start).success
    with pytest.raises(se.TensorError, match="of holds positions"):
        problem.solve({**data, of: data[of] + 0.5}, start)
