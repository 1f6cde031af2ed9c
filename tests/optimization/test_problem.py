"""Problems against SciPy with functions written by hand, and against optima that are known."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
import sympy as sp
from oracles import assert_close
from scipy.special import expit, logsumexp, softmax

import sympy_einsum as se

m, n, k = sp.symbols("m n k", integer=True, positive=True)
A, b = se.TensorSymbol("A", m, n), se.TensorSymbol("b", m)
x, c = se.TensorSymbol("x", n), se.TensorSymbol("c", n)
u, v = se.tensors("u v", n)
S = se.TensorSymbol("S", n, n, symmetric=True)
t, C = sp.symbols("t C", real=True)
pair = se.TensorSymbol("y", 2)
rng = np.random.default_rng(0)
ROWS, COLUMNS = 9, 4
a_, b_ = rng.standard_normal((ROWS, COLUMNS)), rng.standard_normal(ROWS)
c_ = rng.uniform(0.5, 1.5, COLUMNS)
s_ = a_.T @ a_ / ROWS + np.eye(COLUMNS) / 10
labels = np.sign(b_)
ZERO = np.zeros(COLUMNS)


def by_hand(function, start, **options):
    """Minimise by SLSQP with finite differences, from several starts."""
    found = [
        scipy.optimize.minimize(
            function,
            start + shift,
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 500},
            **options,
        )
        for shift in (0, 0.1)
    ]
    return min(found, key=lambda result: (not result.success, result.fun)).x


def equals(function):
    return {"type": "eq", "fun": function}


def at_least_zero(function):
    return {"type": "ineq", "fun": function}


def rosenbrock():
    f = (1 - pair[0]) ** 2 + 100 * (pair[1] - pair[0] ** 2) ** 2
    return se.Problem(f, pair), {}, {pair: [-1.2, 1]}, {pair: [1, 1]}


def long_rosenbrock():
    f = ((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2).sum()
    return se.Problem(f, x), {n: 30}, None, {x: np.ones(30)}


def logistic_regression():
    f = se.softplus(-b * (A @ x)).sum() + x @ x / 2

    def own(w):
        return np.logaddexp(0, -labels * (a_ @ w)).sum() + w @ w / 2

    def jac(w):
        return -a_.T @ (labels * expit(-labels * (a_ @ w))) + w

    best = scipy.optimize.root(jac, ZERO, tol=1e-13).x
    assert own(best) <= own(ZERO)
    return se.Problem(f, x), {A: a_, b: labels}, None, {x: best}


def softmax_regression():
    W, Y = se.TensorSymbol("W", n, k), se.TensorSymbol("Y", m, k)
    f = (se.logsumexp(A @ W, axis=1) - (Y * (A @ W)).sum(axis=1)).sum() + (W**2).sum() / 2
    y = np.eye(3)[rng.integers(0, 3, ROWS)]

    def derivative(w):
        return (a_.T @ (softmax(a_ @ w.reshape(4, 3), axis=1) - y)).ravel() + w

    best = scipy.optimize.root(derivative, np.zeros(12), tol=1e-13).x.reshape(4, 3)
    return se.Problem(f, W), {A: a_, "Y": y}, None, {W: best}


def ridge():
    f = ((A @ x - b) ** 2).sum() + t * (x @ x)
    best = np.linalg.solve(a_.T @ a_ + 2 * np.eye(4), a_.T @ b_)
    return se.Problem(f, x, parameters=[A, b, t]), {A: a_, b: b_, "t": 2.0}, None, {x: best}


def linear_least_squares():
    p = se.Problem.least_squares(A @ x - b, x)
    return p, {A: a_, b: b_}, None, {x: np.linalg.lstsq(a_, b_)[0]}


def bounded_least_squares():
    p = se.Problem.least_squares(A @ x - b, x, [x >= 0])
    return p, {A: a_, b: b_}, None, {x: scipy.optimize.nnls(a_, b_)[0]}


def two_residuals():
    p = se.Problem.least_squares([A @ x - b, 3 * x, x.sum() - 1], x)
    rows = np.vstack([a_, 3 * np.eye(4), np.ones((1, 4))])
    return p, {A: a_, b: b_}, None, {x: np.linalg.lstsq(rows, [*b_, 0, 0, 0, 0, 1])[0]}


def exponential_fit():
    times, y = np.linspace(0, 2, ROWS), 2 * np.exp(-0.7 * np.linspace(0, 2, ROWS))
    p = se.Problem.least_squares(pair[0] * se.exp(pair[1] * b) - se.TensorSymbol("d", m), pair)
    return p, {b: times, "d": y}, {pair: [1, 0]}, {pair: [2, -0.7]}


def bounded_fit():
    times, y = np.linspace(0, 2, ROWS), 2 * np.exp(-0.7 * np.linspace(0, 2, ROWS))
    r = pair[0] * se.exp(pair[1] * b) - se.TensorSymbol("d", m)

    def own(z):
        return z[0] * np.exp(z[1] * times) - y

    box = ([0, -0.5], [np.inf, 0])
    tight = dict.fromkeys(("ftol", "xtol", "gtol"), 1e-14)
    best = scipy.optimize.least_squares(own, [1, -0.1], bounds=box, **tight).x
    p = se.Problem.least_squares(r, pair, [pair[0] >= 0, pair[1] >= -0.5, pair[1] <= 0])
    return p, {b: times, "d": y}, {pair: [1, -0.1]}, {pair: best}


def nonnegative_least_squares():
    p = se.Problem(((A @ x - b) ** 2).sum(), x, [x >= 0])
    return p, {A: a_, b: b_}, None, {x: scipy.optimize.nnls(a_, b_)[0]}


def boxed_least_squares():
    p = se.Problem(((A @ x - b) ** 2).sum(), x, [(x >= -0.1) & (x <= 0.1)])
    best = scipy.optimize.lsq_linear(a_, b_, (-0.1, 0.1), tol=1e-15, method="bvls").x
    return p, {A: a_, b: b_}, None, {x: best}


def portfolio():
    f = x @ S @ x / 2 - c @ x

    def own(w):
        return w @ s_ @ w / 2 - c_ @ w

    more = {"bounds": [(0, None)] * 4, "constraints": equals(lambda w: w.sum() - 1)}
    best = by_hand(own, ZERO + 0.25, **more)
    return se.Problem(f, x, [sp.Eq(x.sum(), 1), x >= 0]), {S: s_, c: c_}, None, {x: best}


def portfolio_of_a_return():
    f = c @ x - 3 * x @ S @ x
    limits = [sp.Eq(x.sum(), 1), x >= 0, x <= 0.4]

    def own(w):
        return 3 * w @ s_ @ w - c_ @ w

    more = {"bounds": [(0, 0.4)] * 4, "constraints": equals(lambda w: w.sum() - 1)}
    best = by_hand(own, ZERO + 0.25, **more)
    return se.Problem(f, x, limits, maximize=True), {S: s_, c: c_}, None, {x: best}


def dual_of_support_vectors():
    a = se.TensorSymbol("a", m)
    f = a.sum() - ((a * b) @ A) @ ((a * b) @ A) / 2 - a @ a / 10
    limits = [a >= 0, a <= C, sp.Eq(a @ b, 0)]

    def own(z):
        return (z * labels) @ a_ @ a_.T @ (z * labels) / 2 + z @ z / 10 - z.sum()

    more = {"bounds": [(0, 0.7)] * ROWS, "constraints": equals(lambda z: z @ labels)}
    best = by_hand(own, np.full(ROWS, 0.1), **more)
    return se.Problem(f, a, limits, maximize=True), {A: a_, b: labels, C: 0.7}, None, {a: best}


def lasso():
    r = A @ (u - v) - b
    p = se.Problem(r @ r / 2 + C * (u.sum() + v.sum()), [u, v], [u >= 0, v >= 0])
    best = np.zeros(4)
    for _ in range(5000):  # proximal gradient steps
        step = best - a_.T @ (a_ @ best - b_) / np.linalg.norm(a_, 2) ** 2
        best = np.sign(step) * np.maximum(abs(step) - 1 / np.linalg.norm(a_, 2) ** 2, 0)
    return p, {A: a_, b: b_, C: 1.0}, None, {u: np.maximum(best, 0), v: np.maximum(-best, 0)}


def quadratic_with_equations():
    f, rows, right = x @ S @ x / 2 - c @ x, a_[:2], b_[:2]
    system = np.block([[s_, rows.T], [rows, np.zeros((2, 2))]])
    best = np.linalg.solve(system, np.concatenate([c_, right]))[:4]
    return se.Problem(f, x, [sp.Eq(A @ x, b)]), {S: s_, c: c_, A: rows, b: right}, None, {x: best}


def quadratic_with_inequalities():
    f = x @ S @ x / 2 - c @ x
    rows, right = np.abs(a_[:3]), np.full(3, 0.1)
    limit = at_least_zero(lambda z: right - rows @ z)
    best = by_hand(lambda z: z @ s_ @ z / 2 - c_ @ z, ZERO, constraints=limit)
    return se.Problem(f, x, [A @ x <= b]), {S: s_, c: c_, A: rows, b: right}, None, {x: best}


def largest_entropy():
    p = se.TensorSymbol("p", n, nonnegative=True)
    faces = np.arange(1.0, 7)
    rate = scipy.optimize.brentq(lambda r: softmax(r * faces) @ faces - 4.5, -5, 5, xtol=1e-15)
    problem = se.Problem(se.entr(p).sum(), p, [sp.Eq(p.sum(), 1), sp.Eq(p @ c, 4.5)], maximize=True)
    return problem, {c: faces}, None, {p: softmax(rate * faces)}


def water_filling():
    noise = np.array([0.1, 0.4, 2.0, 0.7])
    level = scipy.optimize.brentq(lambda w: np.maximum(w - noise, 0).sum() - 1, 0, 5, xtol=1e-15)
    p = se.Problem(se.log(x + c).sum(), x, [x >= 0, sp.Eq(x.sum(), 1)], maximize=True)
    return p, {c: noise}, None, {x: np.maximum(level - noise, 0)}


def log_barrier():
    rows = np.vstack([np.eye(4), -np.eye(4)])
    p = se.Problem(c @ x - se.log(1 - A @ x).sum(), x)
    # By entry c + 2 x/(1 - x^2) = 0.
    best = (1 - np.sqrt(1 + c_**2)) / c_
    return p, {A: rows, c: c_}, None, {x: best}


def analytic_center():
    p = se.Problem(-se.log(b - A @ x).sum(), x)
    rows, right = np.vstack([a_, -a_]), np.ones(2 * ROWS)
    return p, {A: rows, b: right}, {x: ZERO + 0.01}, {x: ZERO}


def largest_singular_value():
    f = x @ A.T @ A @ x
    _, _, right = np.linalg.svd(a_)
    start = right[0] + 0.3
    return se.Problem(f, x, [sp.Eq(x @ x, 1)], maximize=True), {A: a_}, {x: start}, {x: right[0]}


def disc():
    p = se.Problem(pair[0] + pair[1], pair, [pair @ pair <= 1])
    return p, {}, None, {pair: [-np.sqrt(0.5)] * 2}


def nearest_point_of_two_sets():
    f = ((u - v) ** 2).sum()
    limits = [u @ u <= 1, v.sum() >= 5]
    p = se.Problem(f, [u, v], limits)
    return p, {n: 4}, None, {u: np.full(4, 0.5), v: np.full(4, 1.25)}


def linear_program():
    rows, right = np.abs(a_[:3]), np.ones(3)
    best = scipy.optimize.linprog(c_, -rows, -right).x
    return se.Problem(c @ x, x, [A @ x >= b, x >= 0]), {c: c_, A: rows, b: right}, None, {x: best}


def chebyshev_approximation():
    p = se.Problem(t, [x, t], [A @ x - b <= t, b - A @ x <= t])
    rows = np.block([[a_, -np.ones((ROWS, 1))], [-a_, -np.ones((ROWS, 1))]])
    costs, free = [0] * 4 + [1], (None, None)
    best = scipy.optimize.linprog(costs, rows, np.concatenate([b_, -b_]), bounds=free).x
    return p, {A: a_, b: b_}, None, {x: best[:4], t: best[4]}


def matrix_with_row_sums():
    X, M = se.TensorSymbol("X", m, n), se.TensorSymbol("M", m, n)
    limits = [sp.Eq(X.sum(axis=1), se.Ones(m)), X >= 0]
    value = rng.uniform(0, 1, (3, 5))
    best = np.empty((3, 5))
    for row, goal in zip(best, value, strict=True):  # projections to the simplex
        excess = lambda shift, goal: np.maximum(goal - shift, 0).sum() - 1  # noqa: E731
        row[:] = np.maximum(goal - scipy.optimize.brentq(excess, -2, 2, (goal,), xtol=1e-15), 0)
    return se.Problem(((X - M) ** 2).sum(), X, limits), {M: value}, None, {X: best}


def transport():
    P, D = se.TensorSymbol("P", m, n), se.TensorSymbol("D", m, n)
    rows, columns = np.array([0.2, 0.5, 0.3]), np.array([0.1, 0.4, 0.2, 0.3])
    costs = rng.uniform(0, 1, (3, 4))
    kernel = np.exp(-costs / 0.5)
    left = np.ones(3)
    for _ in range(2000):  # Sinkhorn's iteration
        right = columns / (kernel.T @ left)
        left = rows / (kernel @ right)
    f = (P * D).sum() - se.entr(P).sum() / 2
    p = se.Problem(f, P, [sp.Eq(P.sum(axis=1), b), sp.Eq(P.sum(axis=0), c), P >= 0])
    return p, {D: costs, b: rows, c: columns}, None, {P: left[:, None] * kernel * right}


def covariance():
    L, M = se.TensorSymbol("L", n, n), se.TensorSymbol("M", n, n)
    precision = L @ L.T
    f = (precision * M).sum() - se.logdet(precision)
    p = se.Problem(f, L, [L[0, 1:] >= 0, L[0, 1:] <= 0, L[1, 2] >= 0, L[1, 2] <= 0])
    value = s_[:3, :3]
    best = np.linalg.cholesky(np.linalg.inv(value))
    return p, {M: value}, {L: np.eye(3)}, {L: best}


def scalars():
    r, s = sp.symbols("r s", real=True)
    p = se.Problem((r - 1) ** 2 + (s + 2) ** 2 + r * s, [r, s], [r >= 0, s >= -1])
    best = by_hand(
        lambda z: (z[0] - 1) ** 2 + (z[1] + 2) ** 2 + z[0] * z[1],
        np.zeros(2),
        bounds=[(0, 9), (-1, 9)],
    )
    return p, {}, None, dict(zip((r, s), best, strict=True))


def different_shapes():
    U, w = se.TensorSymbol("U", 2, 3), se.TensorSymbol("w", 4)
    f = ((U - 1) ** 2).sum() + ((w + 1) ** 2).sum() + (t - U[1, 2]) ** 2
    limits = [U[0] <= 0.5, sp.Eq(w[0], t)]
    # t = w0 minimises (w0 + 1)^2 + (w0 - U12)^2 and U12 moves to it: U12 = 1/3, w0 = -1/3.
    best_u = np.array([[0.5, 0.5, 0.5], [1, 1, 1 / 3]])
    best = {U: best_u, w: [-1 / 3, -1, -1, -1], t: -1 / 3}
    return se.Problem(f, [U, w, t], limits), {}, None, best


def entries_as_bounds():
    limits = [x[0] >= 1, 2 * x[1:3] <= -1, -x[3] >= 2]
    return se.Problem(x @ x, x, limits), {n: 4}, None, {x: [1, -0.5, -0.5, -2]}


def bounds_by_data():
    lower, upper = se.tensors("l h", n)
    p = se.Problem(((x - c) ** 2).sum(), x, [x >= lower, x <= upper])
    low, high = np.array([0, 2, -1, 0.0]), np.array([0.2, 3, 1, 9])
    return p, {c: c_, "l": low, "h": high}, None, {x: np.clip(c_, low, high)}


def isotonic():
    p = se.Problem(((x - c) ** 2).sum(), x, [x[1:] >= x[:-1]])
    y = np.array([1.0, 3, 2, 2.5, 0, 5])
    best = scipy.optimize.isotonic_regression(y).x
    return p, {c: y}, None, {x: best}


def poisson_regression():
    counts = rng.poisson(3, ROWS).astype(float)
    f = (se.exp(A @ x) - b * (A @ x)).sum()

    def derivative(w):
        return a_.T @ (np.exp(a_ @ w) - counts)

    best = scipy.optimize.root(derivative, ZERO, tol=1e-13).x
    return se.Problem(f, x), {A: a_, b: counts}, None, {x: best}


def geometric_program():
    f = se.logsumexp(A @ x + b)

    def own(z):
        return logsumexp(a_ @ z + b_)

    limit = at_least_zero(lambda z: 1 - z @ z)
    best = by_hand(own, ZERO, constraints=limit)
    return se.Problem(f, x, [x @ x <= 1]), {A: a_, b: b_}, None, {x: best}


def rosenbrock_in_a_disc():
    f = (1 - pair[0]) ** 2 + 100 * (pair[1] - pair[0] ** 2) ** 2

    def own(z):
        return (1 - z[0]) ** 2 + 100 * (z[1] - z[0] ** 2) ** 2

    best = by_hand(own, np.zeros(2), constraints=at_least_zero(lambda z: 1 - z @ z))
    return se.Problem(f, pair, [pair @ pair <= 1]), {}, {pair: [0, 0]}, {pair: best}


def ill_conditioned():
    curvatures = 10.0 ** np.linspace(0, 8, 6)
    right = rng.uniform(0.5, 1.5, 6) * np.sqrt(curvatures)
    p = se.Problem((u * x**2).sum() / 2 - c @ x, x)
    return p, {u: curvatures, c: right}, None, {x: right / curvatures}


def symmetric_precision():
    """The asymmetric part of the variable changes nothing."""
    Y = se.TensorSymbol("Y", n, n)
    own = (Y + Y.T) / 2
    p = se.Problem((own * S).sum() - se.logdet(own), Y)
    return p, {S: s_}, {Y: np.eye(4)}, {Y: np.linalg.inv(s_)}


def root_of_a_matrix():
    X, M = se.TensorSymbol("X", n, n), se.TensorSymbol("M", n, n)
    sizes, directions = np.linalg.eigh(s_)
    best = (directions * np.sqrt(sizes)) @ directions.T
    return se.Problem(((X @ X - M) ** 2).sum(), X), {M: s_}, {X: np.eye(4)}, {X: best}


def recurrence():
    """The parameters of a loop, from its states."""
    r, s = sp.symbols("r s", real=True)
    _, path = se.scan(lambda y, _: (y + (r - s * y) / 10, y), 1 + 0 * r, length=m)
    states = [1.0]
    for _ in range(7):
        states.append(states[-1] + (0.3 - 0.8 * states[-1]) / 10)
    return se.Problem.least_squares(path - b, [r, s]), {b: states}, {r: 0, s: 0}, {r: 0.3, s: 0.8}


def logarithms_of_positive_variables():
    q = se.TensorSymbol("q", n, positive=True)
    return se.Problem(c @ q - se.log(q).sum(), q), {c: c_}, None, {q: 1 / c_}


def roots_within_bounds():
    p = se.Problem(x @ x - c @ se.sqrt(x), x, [(x >= 0) & (x <= 1)])
    return p, {c: [0.5, 2, 4, 9]}, None, {x: [0.25, 4 ** (-1 / 3), 1, 1]}


def matrix_equation():
    X, M, R = [se.TensorSymbol(*own) for own in [("X", n, k), ("M", n, k), ("R", m, k)]]
    rows, right, goal = a_[:2], rng.standard_normal((2, 3)), rng.standard_normal((4, 3))
    best = goal + np.linalg.pinv(rows) @ (right - rows @ goal)
    p = se.Problem(((X - M) ** 2).sum(), X, [sp.Eq(A @ X, R)])
    return p, {A: rows, M: goal, R: right}, None, {X: best}


def independent_table():
    """The distribution with given sums that has the largest entropy."""
    P = se.TensorSymbol("P", m, n, nonnegative=True)
    rows, columns = np.array([0.2, 0.5, 0.3]), np.array([0.1, 0.4, 0.2, 0.3])
    sums = [sp.Eq(P.sum(axis=1), b), sp.Eq(P.sum(axis=0), c)]
    p = se.Problem(se.entr(P).sum(), P, sums, maximize=True)
    return p, {b: rows, c: columns}, None, {P: np.outer(rows, columns)}


def repeated_inequalities():
    rows, right = np.abs(a_[:3]), np.full(3, 0.1)
    limit = at_least_zero(lambda z: right - rows @ z)
    best = by_hand(lambda z: z @ s_ @ z / 2 - c_ @ z, ZERO, constraints=limit)
    given = {A: np.vstack([rows, rows, 3 * rows[:1]]), b: [*right, *right, 0.3]}
    return (
        se.Problem(x @ S @ x / 2 - c @ x, x, [A @ x <= b]),
        {S: s_, c: c_, **given},
        None,
        {x: best},
    )


def procrustes():
    Q, M = se.TensorSymbol("Q", n, n), se.TensorSymbol("M", m, n)
    goal = rng.standard_normal((ROWS, COLUMNS))
    left, _, right = np.linalg.svd(a_.T @ goal)
    best = left @ right
    start = np.linalg.qr(best + rng.standard_normal((4, 4)) / 9)[0]
    start = start * np.sign((start * best).sum(axis=0))
    p = se.Problem(((A @ Q - M) ** 2).sum(), Q, [sp.Eq(Q.T @ Q, se.Delta(n))])
    return p, {A: a_, M: goal}, {Q: start}, {Q: best}


def rows_in_balls():
    X = se.TensorSymbol("X", m, n)
    best = a_ / np.maximum(1, np.linalg.norm(a_, axis=1))[:, None]
    p = se.Problem(((X - A) ** 2).sum(), X, [(X**2).sum(axis=1) <= 1])
    return p, {A: a_}, None, {X: best}


def largest_box():
    """Of a given surface without a lid."""
    y = se.TensorSymbol("y", 3)
    surface = y[0] * y[1] + 2 * y[0] * y[2] + 2 * y[1] * y[2]
    p = se.Problem(y[0] * y[1] * y[2], y, [sp.Eq(surface, 12), y >= 0], maximize=True)
    return p, {}, {y: [1, 1, 1]}, {y: [2, 2, 1]}


def trace_of_an_inverse():
    X, M = se.TensorSymbol("X", n, n), se.TensorSymbol("M", n, n)
    p = se.Problem((X * M).sum(), X, [se.trace(se.inv(X)) <= 1, sp.Eq(X, X.T)])
    roots = np.sqrt([1.0, 2, 3])
    return p, {M: np.diag(roots**2)}, {X: 5 * np.eye(3)}, {X: np.diag(roots.sum() / roots)}


CASES = [
    *(rosenbrock, long_rosenbrock, logistic_regression, softmax_regression, ridge),
    *(linear_least_squares, bounded_least_squares, two_residuals, exponential_fit, bounded_fit),
    *(nonnegative_least_squares, boxed_least_squares, portfolio, portfolio_of_a_return),
    *(dual_of_support_vectors, lasso, quadratic_with_equations, quadratic_with_inequalities),
    *(largest_entropy, water_filling, log_barrier, analytic_center, largest_singular_value, disc),
    *(nearest_point_of_two_sets, linear_program, chebyshev_approximation, matrix_with_row_sums),
    *(transport, covariance, scalars, different_shapes, entries_as_bounds, bounds_by_data),
    *(isotonic, poisson_regression, geometric_program, rosenbrock_in_a_disc),
    *(ill_conditioned, symmetric_precision, root_of_a_matrix, recurrence),
    *(logarithms_of_positive_variables, roots_within_bounds, matrix_equation, independent_table),
    *(repeated_inequalities, procrustes, rows_in_balls, largest_box, trace_of_an_inverse),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_solutions(case):
    problem, values, start, expected = case()
    result = problem.solve(values, start)
    assert result.success, result.message
    for symbol, value in expected.items():
        assert_close(np.asarray(result[symbol]), np.asarray(value), 2e-6)
        assert np.shape(result[symbol]) == np.shape(value)
    assert result.residual < 1e-6
    assert all(np.all(violation_of(problem, c, values, result) < 1e-7) for c in problem.constraints)
    check_conditions(problem, values, result)


def given(problem, values, result):
    own = {str(key): np.asarray(value) for key, value in values.items()}
    symbols = [*problem.variables, *problem.parameters]
    arrays = {s: own[str(s)] for s in problem.parameters if str(s) in own}
    arrays |= {s: np.asarray(result[s], float) for s in problem.variables}
    assert len(arrays) == len(symbols)
    return arrays


def violation_of(problem, constraint, values, result):
    arrays = given(problem, values, result)
    gap = se.lambdify([*arrays], constraint.gap)(*arrays.values())
    return np.abs(gap) if constraint.is_equation else np.maximum(gap, 0)


def check_conditions(problem, values, result):
    """The public formulas of the conditions hold with the public multipliers."""
    arrays = given(problem, values, result)
    multipliers = dict(zip(problem._multipliers, result.multipliers.values(), strict=True))
    arguments = [*arrays, *multipliers]
    data = [*arrays.values(), *multipliers.values()]
    for equation in problem.kkt.stationarity:
        value = se.lambdify(arguments, equation.lhs)(*data)
        assert_close(np.asarray(value), np.zeros(np.shape(value)), 1e-5)
    for equation in problem.kkt.complementarity:
        value = se.lambdify(arguments, equation.lhs)(*data)
        assert_close(np.asarray(value), np.zeros(np.shape(value)), 1e-5)
    for constraint in problem.constraints:
        if not constraint.is_equation:
            assert np.all(np.asarray(result.multipliers[constraint.relation]) >= 0)


# --- how it is solved


def squares(subject_to=()):
    return se.Problem(((A @ x - b) ** 2).sum(), x, subject_to)


@pytest.mark.parametrize(
    ("problem", "method"),
    [
        (squares(), "lstsq"),
        (squares([x >= 0]), "lsq-linear"),
        (se.Problem((A @ x - b) @ (A @ x - b) / 2 + (x.sum() - 1) ** 2, x), "lstsq"),
        (se.Problem((A @ x - b) @ (A @ x - b) / m + 3 * (x**2).sum(), x), "lstsq"),
        (se.Problem(se.exp(A @ x).sum() - (A @ x) @ b, x), "newton"),
        (se.Problem(se.exp(A @ x).sum() + (A @ x) @ b, x, [x >= -1]), "newton"),
        (squares([x.sum() <= 1]), "SLSQP"),
        (se.Problem.least_squares(A @ x - b, x), "lstsq"),
        (se.Problem.least_squares(A @ x - b, x, x >= 0), "lsq-linear"),
        (se.Problem.least_squares(se.exp(A @ x / 9) - b, x), "least-squares"),
        (se.Problem(x.sum(), x, [A @ x >= b - 9, x >= -9]), "linprog"),
    ],
)
def test_the_method_follows_from_what_is_known(problem, method):
    result = problem.solve({A: a_, b: b_})
    assert result.method == method
    assert result.success


@pytest.mark.parametrize(
    "method",
    [
        *("SLSQP", "trust-constr", "augmented-lagrangian", "COBYLA", "COBYQA", "L-BFGS-B", "TNC"),
        *("Nelder-Mead", "Powell", "newton"),
    ],
)
def test_methods_with_bounds(method):
    result = squares([x >= 0]).solve({A: a_, b: b_}, method=method)
    assert result.success
    assert result.method == method
    assert_close(result[x], scipy.optimize.nnls(a_, b_)[0], 1e-6)


@pytest.mark.parametrize(
    "method", ["BFGS", "CG", "newton-cg", "trust-ncg", "trust-exact", "trust-krylov", "slsqp"]
)
def test_methods_without_bounds(method):
    result = squares().solve({A: a_, b: b_}, method=method)
    assert_close(result[x], np.linalg.lstsq(a_, b_)[0], 1e-7)


def test_compiled_code_serves_all_solves(monkeypatch):
    from sympy_einsum.optimization import functions

    calls = []
    original = functions.lambdify
    monkeypatch.setattr(functions, "lambdify", lambda *a: calls.append(a) or original(*a))
    problem = squares([x >= 0, x.sum() <= 1, x @ x <= 2])
    first = problem.solve({A: a_, b: b_})
    count = len(calls)
    assert count < 12
    for rows in (5, 7, 9):
        result = problem.solve({A: a_[:rows], b: b_[:rows]})
        assert result.success
    assert len(calls) == count
    assert_close(result[x], first[x])


def test_many_unknowns():
    """Beyond dense Hessians: by products with them."""
    f = ((x - c) ** 2).sum() / 2 + ((x[1:] - x[:-1]) ** 2).sum()
    size, goal = 700, np.random.default_rng(1).standard_normal(700)
    steps = np.diff(np.eye(size), axis=0)
    matrix = np.eye(size) + 2 * steps.T @ steps
    assert_close(se.Problem(f, x).solve({c: goal})[x], np.linalg.solve(matrix, goal), 1e-6)
    problem = se.Problem(f, x, [sp.Eq(x.sum(), 1), x @ x <= 1000])
    system = np.block([[matrix, np.ones((size, 1))], [np.ones((1, size)), np.zeros((1, 1))]])
    expected = np.linalg.solve(system, [*goal, 1])
    result = problem.solve({c: goal})
    assert result.success, result.message
    assert_close(result[x], expected[:-1], 1e-6)
    assert_close(
        np.asarray(result.multipliers[problem.constraints[0].relation]), expected[-1], 1e-5
    )


def test_values_by_name_of_any_kind():
    expected = squares().solve({A: a_, b: b_})[x]
    sparse = scipy.sparse.csr_array(a_)
    assert_close(squares().solve({"A": sparse, "b": [*b_]}, {"x": (1, 2, 3, 4)})[x], expected)
    assert_close(squares().solve({"A": sp.Matrix(a_), "b": sp.Array(b_)})["x"], expected)


def test_data_decide_what_is_a_bound():
    """A constraint with a parameter as a factor bounds entries, unless that is 0."""
    problem = se.Problem(((x - 1) ** 2).sum(), x, [c * x <= 0.5])
    result = problem.solve({c: [1.0, 2.0, -1.0]})
    assert result.method == "lsq-linear"
    assert_close(result[x], np.array([0.5, 0.25, 1]), 1e-7)
    assert_close(result.multipliers[problem.constraints[0].relation], np.array([1, 0.75, 0]), 1e-6)
    result = problem.solve({c: [1.0, 0.0, -1.0]})
    assert result.method == "SLSQP"
    assert_close(result[x], np.array([0.5, 1, 1]), 1e-7)


def test_of_several_bounds_the_tightest_has_the_multiplier():
    limits = [x >= 0, x >= 1, x >= -3]
    result = se.Problem(x @ x, x, limits).solve({n: 2})
    assert_close(result[x], np.ones(2))
    assert [list(result.multipliers[limit]) for limit in limits] == [[0, 0], [2, 2], [0, 0]]


@pytest.mark.parametrize("size", [1, 1e8, 1e16])
def test_sums_with_large_right_sides_are_no_bounds(size):
    goal = size * np.array([1.0, 2, 3])
    found = se.Problem(((x - c) ** 2).sum(), x, [x.sum() <= t]).solve({c: goal, t: 3 * size})
    assert found.success, found.message
    assert_close(found[x] / size, np.array([0.0, 1, 2]), 1e-6)
    p = se.Problem(x @ x, x, [10**8 * x[0] + x[1] <= t, 3 * x <= 2 * t])
    arguments = p.scipy({n: 3, t: size})
    assert_close(arguments["bounds"].ub, np.full(3, 2 * size / 3), 1e-12)
    assert_close(arguments["constraints"][0].A, np.array([[1e8, 1, 0]]))


@pytest.mark.parametrize("method", ["auto", "L-BFGS-B", "trust-constr"])
def test_infinite_bounds_are_none(method):
    low, high = se.tensors("l h", n)
    p = se.Problem(x @ S @ x / 2 - c @ x, x, [x >= low, 2 * x <= high])
    data = {S: s_, c: c_, "l": [-np.inf, 1, -np.inf, -np.inf]}
    found = p.solve({**data, "h": [0.2, np.inf, np.inf, np.inf]}, method=method)
    finite = se.Problem(p.objective, x, [x[1] >= 1, 2 * x[0] <= 0.2]).solve({S: s_, c: c_})
    assert (found.success, finite.success) == (True, True)
    assert_close(found[x], finite[x], 1e-6)
    pairs = zip(found.multipliers.values(), finite.multipliers.values(), (1, 0), strict=True)
    for multipliers, value, place in pairs:
        assert_close(multipliers, np.squeeze(value) * np.eye(4)[place], 1e-5)
    free = p.solve({**data, "l": np.full(4, -np.inf), "h": np.full(4, np.inf)})
    assert_close(free[x], np.linalg.solve(s_, c_), 1e-8)
    for name, value in [("l", np.inf), ("h", -np.inf), ("l", np.nan), ("c", np.inf)]:
        assert f"the value of {name} isn't finite" in message(
            lambda name=name, value=value: p.solve(
                {**data, "h": np.ones(4), name: [0, value, 1, 1]}
            )
        )
    rows = se.Problem(x @ x, x, [A @ x <= b])
    assert "b isn't finite" in message(lambda: rows.solve({A: a_[:2], b: [1, np.inf]}))


def test_multipliers_are_prices():
    """Of a unit more on the right side."""
    limit = A @ x <= b
    rows, right = np.abs(a_[:3]), np.full(3, 0.1)
    for maximize, sign in ((False, -1), (True, 1)):
        f = sign * (c @ x - x @ S @ x / 2)
        problem = se.Problem(f, x, [limit], maximize=maximize)
        result = problem.solve({S: s_, c: c_, A: rows, b: right})
        prices = []
        for shift in np.eye(3) * 1e-5:
            ends = [problem.solve({S: s_, c: c_, A: rows, b: right + h}) for h in (shift, -shift)]
            prices.append(sign * (ends[0].value - ends[1].value) / 2e-5)
        assert_close(result.multipliers[limit], np.array(prices), 1e-5)


def test_lengths_without_data():
    assert_close(se.Problem(((x - 1) ** 2).sum(), x).solve({"n": 3})[x], np.ones(3))
    assert_close(se.Problem(((x - 1) ** 2).sum(), x).solve(start={x: [0, 0]})[x], np.ones(2))
    free = se.Problem((se.Ones(k).sum() - t) ** 2 + (x @ x), [x, t])
    assert_close(np.asarray(free.solve({k: 5, n: 2})[t]), np.asarray(5.0))


def test_a_start_of_some_variables():
    p = se.Problem(((u - 1) ** 4).sum() + ((v + u) ** 2).sum(), [u, v])
    result = p.solve(start={u: [5.0, 5.0]})
    assert_close(result[v], -result[u], 1e-6)


def test_singular_matrices_on_the_way():
    """They aren't errors, but points to avoid; at the start they are named."""
    X = se.TensorSymbol("X", 2, 2)
    f = (X.inv() ** 2).sum() + (X**2).sum()
    assert_close(se.Problem(f, X).solve(start={X: [[3, 1], [0, 2]]}).value, 4.0, 1e-7)
    with pytest.raises(se.TensorError, match=r"inv\(X\)|X.inv"):
        se.Problem(f, X).solve(start={X: np.ones((2, 2))})


def test_gradients_that_are_infinite_at_bounds():
    """Of the entropy at 0: by a method for many unknowns too."""
    p = se.Problem(se.entr(x).sum() - c @ x, x, [x >= 0, sp.Eq(x.sum(), 1)], maximize=True)
    costs = np.array([0.0, 1, 5, 30])
    for method in ("SLSQP", "augmented-lagrangian", "trust-constr"):
        result = p.solve({c: costs}, method=method)
        assert_close(result[x], softmax(-costs), 1e-6)


def test_zeros_are_exact_where_the_start_is_a_pole():
    """The gradient is infinite where all entries are at their bounds, but not where some are."""
    rows, counts = np.abs(a_), np.abs(b_) + np.array([5, 0, 0, 0, 0, 0, 0, 0, 0])
    p = se.Problem((A @ x - b * se.log(A @ x)).sum(), x, [x >= 0])
    result = p.solve({A: rows, b: counts})
    derivative = rows.T @ (1 - counts / (rows @ result[x]))
    assert result.success
    assert np.any(result[x] == 0)
    assert_close(np.minimum(derivative, result[x]), ZERO, 1e-7)
    assert_close(result.multipliers[x >= 0], np.maximum(derivative, 0), 1e-6)


def test_many_constraints_by_products():
    goal = np.arange(600) / 100 + rng.standard_normal(600)
    result = se.Problem(((x - c) ** 2).sum(), x, [x[1:] >= x[:-1]]).solve({c: goal})
    assert result.method == "augmented-lagrangian"
    assert_close(result[x], scipy.optimize.isotonic_regression(goal).x, 1e-6)


@pytest.mark.parametrize("limits", [[], [u >= -5], [u @ u <= 100], [u >= -5, u.sum() <= 50]])
@pytest.mark.parametrize("method", ["auto", "SLSQP"])
def test_saddle_points_are_left(limits, method):
    M = se.TensorSymbol("M", n, n)
    p = se.Problem(((M - se.outer(u, u)) ** 2).sum(), u, limits)
    root = np.array([1.0, -2.0, 0.5])
    result = p.solve({M: np.outer(root, root)}, {u: np.zeros(3)}, method)
    assert result.success
    assert_close(np.outer(result[u], result[u]), np.outer(root, root), 1e-6)


def test_saddle_points_among_constraints_are_left():
    """Those that aren't active, as many as unknowns, and one that is, with a gradient of 0."""
    limits = [pair.sum() <= 10, (pair**2).sum() <= 9]
    p = se.Problem(pair[0] * pair[1] + (pair**4).sum(), pair, limits)
    found = p.solve(start={pair: [0.0, 0.0]})[pair]
    assert_close(np.sort(found), np.array([-0.5, 0.5]), 1e-6)
    bounded = se.Problem(t**3 / 10 - t**2, t, [t**3 <= 0, t >= -2])
    assert_close(bounded.solve(start={t: 0.0})[t], -2.0)


def test_flat_minima_are_kept():
    assert se.Problem(t**4, t).solve(start={t: 0.0})[t] == 0


def test_inflections_are_left():
    assert "unbounded" in se.Problem(t**3, t).solve().message
    assert_close(se.Problem(t**3, t, [t >= -2]).solve(start={t: 0.0})[t], -2.0)
    flat = se.Problem((pair[1] - 1) ** 2 + pair[0] ** 3 + pair[0] ** 4, pair)
    result = flat.solve(start={pair: [0.0, 0.0]})
    assert result.success
    assert_close(result[pair], np.array([-0.75, 1.0]), 1e-6)
    assert_close(se.Problem((u**4).sum(), u).solve(start={u: [0.0, 1.0]})[u], np.zeros(2), 0.05)


def test_bounds_of_one_entry_twice():
    """The tightest of each side, and its multiplier."""
    limit = se.concatenate([pair, 2 * pair]) <= se.TensorSymbol("h", 4)
    p = se.Problem((pair - 5) @ (pair - 5), pair, [limit])
    result = p.solve({"h": [4.0, 1, 6, 5]})
    assert result.method == "lsq-linear"
    assert_close(result[pair], np.array([3.0, 1.0]))
    (multiplier,) = result.multipliers.values()
    assert_close(multiplier, np.array([0, 8, 2, 0]), 1e-6)


def test_equal_bounds_have_multipliers_of_any_sign():
    limits = [x >= c, x <= c, x.sum() <= 100]
    for goal in (3, -3):
        result = se.Problem(((x - goal) ** 2).sum(), x, limits).solve({c: [1.0, 0.5]})
        assert result.success
        assert_close(result[x], np.array([1.0, 0.5]))
        lower, upper, _ = result.multipliers.values()
        assert_close(lower - upper, 2 * (result[x] - goal), 1e-6)


@pytest.mark.parametrize("method", ["lsq-linear", "least-squares"])
@pytest.mark.parametrize("limits", [[0.0, 2], [2, 0], [0, 0], [0, 0, 5], [0, 3, 0, 1]])
def test_squares_with_equal_bounds(method, limits):
    goal = np.array([3.0, 1, -2, 4])[: len(limits)]
    p = se.Problem(((x - c) ** 2).sum(), x, [x <= u, x >= 0])
    result = p.solve({c: goal, u: limits}, method=method)
    assert result.success
    assert_close(result[x], np.clip(goal, 0, limits), 1e-8)


@pytest.mark.parametrize("assumption", ["negative", "nonpositive", "positive", "nonnegative"])
def test_assumed_signs_are_bounds(assumption):
    s = sp.Symbol("s", **{assumption: True})
    sign = -1 if s.is_nonpositive else 1
    p = se.Problem((s - C) ** 2, s)
    result = p.solve({C: -3.0 * sign})
    assert (result[s], result.multipliers[s]) == (0, 6)
    assert_close(p.solve({C: 3.0 * sign})[s], 3.0 * sign)


def test_dependent_equations():
    """The nearest orthogonal matrix: nine equations, of which six are independent."""
    X, M = se.TensorSymbol("X", n, n), se.TensorSymbol("M", n, n)
    p = se.Problem(((X - M) ** 2).sum(), X, [sp.Eq(X.T @ X, se.Delta(n))])
    value = s_[:3, :3] + a_[:3, :3] / 5
    result = p.solve({M: value}, {X: np.eye(3)})
    left, _, right = np.linalg.svd(value)
    assert (result.success, result.method) == (True, "SLSQP")
    multipliers = next(iter(result.multipliers.values()))
    assert_close(multipliers, multipliers.T, 1e-8)
    assert_close(result[X], left @ right, 1e-6)


def test_constant_objective():
    p = se.Problem(se.Ones(n).sum() * 0 + 3, x, [sp.Eq(x.sum(), 2), x >= 0])
    result = p.solve({n: 3})
    assert result.value == 3
    assert_close(result[x].sum(), 2.0)


# --- what comes back


def test_progress():
    seen = []
    result = se.Problem((1 - pair[0]) ** 2 + 100 * (pair[1] - pair[0] ** 2) ** 2, pair).solve(
        start={pair: [-1.2, 1]}, callback=seen.append
    )
    assert list(result.history) == seen
    assert [iteration.number for iteration in seen] == [*range(1, result.iterations + 1)]
    assert seen[-1].value < seen[0].value
    assert all(a.seconds <= b.seconds for a, b in itertools.pairwise(seen))


@pytest.mark.parametrize("limits", [[], [pair >= 0], [pair @ pair <= 1]])
@pytest.mark.parametrize("truth", [bool, np.bool_])
def test_the_callback_stops(limits, truth):
    f = (1 - pair[0]) ** 2 + 100 * (pair[1] - pair[0] ** 2) ** 2
    result = se.Problem(f, pair, limits).solve(callback=lambda state: truth(state.number == 3))
    assert (result.iterations, result.success) == (3, False)
    assert "callback" in result.message


def test_results_print_as_tables():
    result = squares([x >= 0]).solve({A: a_, b: b_})
    lines = repr(result).splitlines()
    assert lines[0].startswith(f"minimum {result.value:.9g}, lsq-linear, ")
    assert lines[1].split()[:2] == ["x", "(4,)"]
    assert lines[2].startswith("multiplier of x >= 0")
    html = result._repr_html_()
    assert html.count("<tr>") == 3
    assert "x &gt;= 0" in html


def test_results_are_plotted():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = se.Problem(pair[0], pair, [pair @ pair <= 1]).solve().plot()
    assert [line.get_label() for line in axes.lines] == ["objective", "violation"]


def test_formulas():
    p = squares([A @ x <= b, x >= 0, sp.Eq(x.sum(), 1)])
    first, second, third = p._multipliers
    assert [str(symbol) for symbol in p._multipliers] == ["lambda_1", "lambda_2", "mu_1"]
    expected = p.objective + first @ (A @ x - b) - second @ x + third * (x.sum() - 1)
    assert se.equal(p.lagrangian, expected)
    (derivative,) = p.kkt.stationarity
    assert se.equal(derivative.lhs, 2 * A.T @ (A @ x - b) + A.T @ first - second + third)
    assert p.to_latex().splitlines()[1:-1] == [
        r"\min_{x} \quad & \left(A x - b\right)^{\top} \left(A x - b\right) \\",
        r"\text{s.t.} \quad & A x \leq b \\",
        r"& x \geq 0 \\",
        r"& \mathbf{1}^{\top} x = 1",
    ]
    text = p.kkt._repr_latex_()
    assert text.count("&") == 8
    assert r"\lambda_{1} &\geq 0" in text


def test_multipliers_have_names_of_their_own():
    taken = sp.Symbol("lambda_1", real=True)
    p = se.Problem(x @ x + taken * x.sum(), x, [x.sum() >= 1, x[0] <= 5])
    assert [str(symbol) for symbol in p._multipliers] == ["lambda_2", "lambda_3"]
    assert p.kkt.stationarity[0].has(taken)


def test_the_lagrangian_of_a_maximum_subtracts():
    p = se.Problem(c @ x, x, [x @ x <= 1], maximize=True)
    assert se.equal(p.lagrangian, c @ x - p._multipliers[0] * (x @ x - 1))


# --- for those who call SciPy


def test_scipy_arguments():
    limits = [x >= 0, sp.Eq(x.sum(), 1), x @ S @ x <= 0.9]
    p = se.Problem(se.exp(c @ x) + x @ S @ x, x, limits)
    arguments = p.scipy({S: s_, c: c_}, {x: ZERO + 0.25})
    assert list(arguments) == ["fun", "x0", "jac", "hess", "bounds", "constraints"]
    point, own = np.array([0.1, 0.3, 0.2, 0.4]), np.eye(4) * 1e-6
    derivative = [(arguments["fun"](point + h) - arguments["fun"](point - h)) / 2e-6 for h in own]
    assert_close(arguments["jac"](point), np.array(derivative), 1e-6)
    curve = [(arguments["jac"](point + h) - arguments["jac"](point - h)) / 2e-6 for h in own]
    assert_close(arguments["hess"](point), np.array(curve), 1e-6)
    found = scipy.optimize.minimize(
        **arguments, method="trust-constr", options={"gtol": 1e-9, "xtol": 1e-12}
    )
    assert_close(found.x, p.solve({S: s_, c: c_})[x], 1e-4)


def test_products_with_hessians():
    p = se.Problem((x**4).sum(), x, [(x**3).sum() <= 1])
    arguments = p.scipy({n: 600})
    point, direction = rng.standard_normal(600), rng.standard_normal(600)
    assert_close(arguments["hessp"](point, direction), 12 * point**2 * direction)
    operator = arguments["constraints"][0].hess(point, np.array([2.0]))
    assert_close(operator @ direction, 12 * point * direction)


@pytest.mark.parametrize("name", ["weight_0", "weight_1", "direction_0", "direction_1"])
def test_parameters_of_any_name(name):
    taken = sp.Symbol(name, real=True)
    p = se.Problem(t**4 - taken * t, t, [t**2 <= 1])
    assert_close(p.solve({taken: 8.0}, method="trust-constr")[t], 1.0, 1e-5)
    instance, vector = p._prepared({taken: 8.0}, {t: 0.5})
    assert_close(instance.hessian_product(vector, np.ones(1)), np.array([3.0]))
    assert_close(instance.constraint_product(vector, np.ones(1), np.ones(1)), np.array([2.0]))


def test_packing():
    U = se.TensorSymbol("U", m, k)
    p = se.Problem((U**2).sum() + x @ x + t**2, [x, U, t])
    vector = p.pack({x: [1, 2], "U": [[3, 4, 5], [6, 7, 8]], t: 9})
    assert_close(vector, np.arange(1.0, 10))
    back = p.unpack(vector)
    assert_close(back[U], np.array([[3.0, 4, 5], [6, 7, 8]]))
    assert_close(p.unpack(np.zeros(4), {n: 1, m: 2, "k": 1})[U], np.zeros((2, 1)))


def test_problems_are_pickled():
    import pickle

    p = squares([x >= 0])
    p.solve({A: a_, b: b_})
    again = pickle.loads(pickle.dumps(p))
    assert_close(again.solve({A: a_, b: b_})["x"], scipy.optimize.nnls(a_, b_)[0], 1e-6)


# --- what goes wrong


def message(call, kind=se.TensorError):
    with pytest.raises(kind) as error:
        call()
    return str(error.value)


def test_wrong_problems():
    said = message(lambda: se.Problem(A @ x, x), se.ShapeError)
    assert "shape (m,)" in said
    assert "sum" in said
    assert "occurs neither" in message(lambda: se.Problem(x @ x, [x, u]))
    alike = se.TensorSymbol("x", 3)
    assert "shape (n,)" in message(lambda: se.Problem(x @ x, alike))
    assert "add it to parameters" in message(lambda: se.Problem(c @ x, x, parameters=[A]))
    assert "one name" in message(lambda: se.Problem(x @ x + alike @ alike, [x, alike]))
    X = se.TensorSymbol("X", n, n, symmetric=True)
    assert "Y + Y.T" in message(lambda: se.Problem((X**2).sum(), X), se.UnsupportedError)
    assert "constraint 2, False" in message(lambda: se.Problem(x @ x, x, [x >= 0, x == 1]))
    assert "Eq(h, 0)" in message(lambda: se.Problem(x @ x, x, [sp.Ne(x.sum(), 0)]))
    assert "no relation" in message(lambda: se.Problem(x @ x, x, [x]))
    assert "never holds" in message(lambda: se.Problem(x @ x, x, [sp.false]))
    assert "True or False" in message(lambda: se.Problem(x @ x, x, maximize="yes"))
    complex_residual = lambda: se.Problem.least_squares([x, 1j * t], [x, t])  # noqa: E731
    assert "the residual is complex" in message(complex_residual, se.UnsupportedError)
    assert "a variable is" in message(lambda: se.Problem(x @ x, [x[0]]))


@pytest.mark.parametrize("assumption", ["integer", "even", "zero"])
def test_integers_are_refused(assumption):
    s = sp.Symbol("s", **{assumption: True})
    message(lambda: se.Problem((s - t) ** 2, s), se.UnsupportedError)


def test_what_always_holds_is_no_constraint():
    positive = se.TensorSymbol("q", n, positive=True)
    assert (
        se.Problem(positive @ positive, positive, [positive >= 0]).constraints[0].left == positive
    )
    assert se.Problem(x @ x, x, [x >= x, sp.true]).constraints == []


def test_wrong_data():
    p = squares()
    assert "parameter b, of shape (m,)" in message(lambda: p.solve({A: a_}))
    assert "perhaps b is meant" in message(lambda: p.solve({A: a_, "bb": b_}))
    said = message(lambda: p.solve({A: a_, b: b_[:3]}), se.ShapeError)
    assert all(part in said for part in ("axis 0 of b", "9", "(3,)", "axis 0 of A"))
    assert "2 axes" in message(lambda: p.solve({A: b_, b: b_}), se.ShapeError)
    said = message(lambda: p.solve({A: a_, b: b_}, {x: [1.0, 2.0]}), se.ShapeError)
    assert "axis 0 of x" in said
    assert "entry (0, 1) is nan" in message(lambda: p.solve({A: [[1, np.nan]], b: [1]}))
    assert "real numbers" in message(lambda: p.solve({A: a_ * 1j, b: b_}))
    assert "real numbers" in message(lambda: p.solve({A: a_, b: "text"}))
    assert "{'n': 10}" in message(lambda: se.Problem(x @ x, x).solve(), se.ShapeError)
    assert "whole number" in message(lambda: se.Problem(x @ x, x).solve({n: 2.5}))
    assert "dictionary" in message(lambda: p.solve([a_, b_]))
    said = message(lambda: p.solve({se.TensorSymbol("A", 2): a_}))
    assert "shape or assumptions differ ((2,), not (m, n))" in said
    assert "no entries" in message(lambda: se.Problem(c @ x, x).solve({c: []}), se.ShapeError)
    assert "4 entries" in message(lambda: p.unpack([1.0], {A: a_}), se.ShapeError)


def test_wrong_methods():
    p = squares([x >= 0])
    data = {A: a_, b: b_}
    said = message(lambda: p.solve(data, method="SLQP"), se.UnsupportedError)
    assert "perhaps 'SLSQP'" in said
    said = message(lambda: p.solve(data, method="BFGS"), se.UnsupportedError)
    assert "has bounds" in said
    assert "lsq-linear" in said
    for method in ("lstsq", "linprog"):
        message(lambda method=method: p.solve(data, method=method), se.UnsupportedError)
    p = squares([x.sum() <= 1])
    assert "other than bounds" in message(lambda: p.solve(data, method="TNC"))
    message(lambda: p.solve(data, method=np.ones(2)), se.UnsupportedError)
    assert "tolerance" in message(lambda: p.solve(data, tolerance=0))
    assert "function" in message(lambda: p.solve(data, callback=3))


def test_starts_outside_the_domain():
    p = se.Problem(x.sum() - se.log(b - A @ x).sum(), x)
    said = message(lambda: p.solve({A: np.eye(2), b: [1.0, 1.0]}, {x: [0.0, 3.0]}))
    assert "start" in said
    assert "log(b - A @ x) is nan at entry (1,), where b - A @ x is -2" in said
    empty = se.Problem(-se.log(x).sum() - se.log(-x).sum(), x)
    assert "any of the starts" in message(lambda: empty.solve({n: 2}))


@pytest.mark.parametrize(
    ("constraint", "start", "reason"),
    [
        (se.log(pair).sum() >= 0, [1, -2], "log(y) is nan at entry (1,), where y is -2"),
        (se.sqrt(pair).sum() >= 1, [1, 0], "1/sqrt(y) is inf at entry (1,), where y is 0"),
        (se.norm(pair - 1) <= 1, [1, 1], "(y - 1)/norm(y - 1) is nan at entry (0,)"),
        (1 / (pair[0] - 3) <= 1, [3, 1], "-1 + 1/(y[0] - 3) is inf"),
    ],
)
def test_constraints_that_are_not_finite(constraint, start, reason):
    p = se.Problem(pair @ pair, pair, [constraint])
    said = message(lambda: p.solve(start={pair: start}))
    assert f"the constraint {p.constraints[0]} or its gradient isn't finite at the start" in said
    assert reason in said
    assert p.solve().success


@pytest.mark.parametrize("method", ["auto", "SLSQP", "trust-constr", "augmented-lagrangian"])
def test_steps_out_of_the_domain_of_a_constraint(method):
    p = se.Problem(pair.sum(), pair, [se.log(pair).sum() >= -3])
    found = p.solve(start={pair: [5.0, 9.0]}, method=method)
    assert found.success, found.message
    assert_close(found[pair], np.full(2, np.exp(-1.5)), 1e-6)


@pytest.mark.parametrize("size", [4, 600])
@pytest.mark.parametrize("method", ["auto", "L-BFGS-B", "TNC", "Newton-CG", "trust-krylov"])
def test_steps_out_of_the_domain_of_the_objective(method, size):
    costs = np.random.default_rng(0).uniform(-9, 9, size)
    p = se.Problem(c @ x - se.log(1 - x).sum() - se.log(1 + x).sum(), x)
    found = p.solve({c: costs}, method=method)
    assert found.success, found.message
    # By entry c + 2 x/(1 - x^2) = 0.
    assert_close(found[x], (1 - np.sqrt(1 + costs**2)) / costs, 1e-6)


def test_objectives_that_fall_slowly():
    p = se.Problem(-se.log(x).sum(), x, [x >= 1])
    assert "the objective still falls" in p.solve({n: 2}).message


UNBOUNDED = {
    "linear": se.Problem(c @ x, x),
    "linear program": se.Problem(c @ x, x, [x.sum() <= 5]),
    "concave": se.Problem(-(x @ x) + c @ x, x),
    "exponential": se.Problem(-se.exp(x - c).sum(), x),
    "with bounds": se.Problem(-((x - c) ** 2).sum(), x, [x >= 0]),
    "maximum": se.Problem((x - c) @ x, x, maximize=True),
    "line": se.Problem(x.sum() ** 2 - c[0] * (x[0] - x[1]), x),
}


@pytest.mark.parametrize("problem", UNBOUNDED.values(), ids=UNBOUNDED)
def test_unbounded(problem):
    result = problem.solve({c: [1.0, 2.0]})
    assert not result.success
    assert "unbounded" in result.message
    assert "x[" in result.message
    assert result.iterations < 100
    assert "no optimum" in repr(result)


@pytest.mark.parametrize("power", [1, 2])
def test_large_values_are_not_unbounded(power):
    limits = [t <= 1, t >= 0]
    p = se.Problem(-C * t**power, t, limits)
    for scale in (1e21, 1e25):
        result = p.solve({C: scale})
        assert result.success
        assert result[t] == 1
        assert p.scipy({C: scale})["fun"](np.ones(1)) == -scale
    assert "unbounded" in se.Problem(-C * t**power, t).solve({C: 1e25}).message


INFEASIBLE = {
    "linear program": se.Problem(c @ x, x, [x.sum() >= 5, x >= 0, x <= 1]),
    "bounds": se.Problem(x @ x, x, [x >= 2, x <= c]),
    "quadratic": se.Problem(x @ x, x, [x.sum() >= 5, x >= 0, x <= 1]),
    "curved": se.Problem(c @ x, x, [x.sum() >= 5, x @ x <= 1]),
    "equation": se.Problem(x @ x, x, [sp.Eq(x @ x, c[0] - 2)]),
}


@pytest.mark.parametrize("problem", INFEASIBLE.values(), ids=INFEASIBLE)
def test_infeasible(problem):
    result = problem.solve({c: [1.0, 2.0], n: 2} if c in problem.parameters else {n: 2})
    assert not result.success
    assert "is violated by" in result.message
    assert any(str(constraint) in result.message for constraint in problem.constraints)


def test_kinks_are_told():
    result = se.Problem(se.Abs(x - c).sum() + x.sum() ** 2 / 100, x).solve({c: [1.0, -1.0]})
    assert result.success or "kinks" in result.message


@pytest.mark.parametrize("method", ["auto", "trust-exact", "trust-krylov", "trust-ncg"])
def test_derivatives_that_are_not_finite(method):
    f = sp.sqrt(((u - c) ** 2).sum())
    result = se.Problem(f, u).solve({c: [3.0, -1.0]}, method=method)
    assert not result.success
    assert "kinks" in result.message


@pytest.mark.parametrize("limits", [[], [u @ u <= 100], [u >= -5]])
def test_of_failed_ends_the_lowest_is_returned(limits):
    p = se.Problem(sp.sqrt((u - c) @ (u - c)), u, limits)
    for goal in ([3.0, -1.0], [3.0, -1.0, 0.0]):
        assert_close(p.solve({c: goal})[u], np.array(goal), 1e-6)


def test_scipy_is_loaded_when_it_is_needed():
    code = (
        "import sys, sympy_einsum as se\n"
        "x = se.TensorSymbol('x', 3)\n"
        "p = se.Problem(((x - 1)**2).sum(), x, [x >= 0])\n"
        "p.lagrangian, p.kkt, p.to_latex()\n"
        "print('scipy.optimize' in sys.modules)\n"
        "p.solve()\n"
        "print('scipy.optimize' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "True"]


def test_equations_that_follow_from_others():
    """The sums of rows and of columns have one total."""
    cost, plan = se.TensorSymbol("cost", m, n), se.TensorSymbol("plan", m, n)
    given, wanted = se.TensorSymbol("given", m), se.TensorSymbol("wanted", n)
    sums = [sp.Eq(plan.sum(axis=1), given), sp.Eq(plan.sum(axis=0), wanted)]
    objective = (cost * plan).sum() + (plan * se.log(plan)).sum() / 20
    problem = se.Problem(objective, plan, [*sums, plan >= 0])
    costs = np.random.default_rng(0).uniform(size=(5, 7))
    values = {cost: costs, given: np.ones(5) / 5, wanted: np.ones(7) / 7}
    found = problem.solve(values)
    assert (found.success, found.method) == (True, "SLSQP")
    # Sinkhorn's iterations.
    kernel, left, right = np.exp(-20 * costs), np.ones(5), np.ones(7)
    for _ in range(5000):
        left = values[given] / (kernel @ right)
        right = values[wanted] / (kernel.T @ left)
    np.testing.assert_allclose(found[plan], left[:, None] * kernel * right, atol=1e-7)


def test_equations_that_contradict_others():
    total = x.sum()
    found = se.Problem(x @ x, x, [sp.Eq(total, 1), sp.Eq(2 * total, 2), sp.Eq(total, 3)]).solve(
        {n: 2}
    )
    assert not found.success
    assert "is violated" in found.message


def test_long_constraints_are_shortened():
    v = se.TensorSymbol("v", 2)
    long = sum(se.sin(k * v).sum() for k in range(1, 20))
    result = se.Problem(v @ v, v, [long >= 1]).solve()
    *_, row = repr(result).splitlines()
    assert row.startswith("multiplier of ")
    assert len(row) < 100
