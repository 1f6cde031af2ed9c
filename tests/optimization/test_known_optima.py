"""Forty problems: ten each without constraints, with bounds, with linear and with other
constraints, against SciPy with derivatives written by hand, and against optima that are known.

Optima are exact ones, those of Hock and Schittkowski, "Test examples for nonlinear programming
codes", 1981, or for convex problems those of conic solvers, in tests/data/optima.json; ``python
tests/optimization/test_known_optima.py`` computes these again with CVXPY.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.special as special
import sympy as sp

import sympy_einsum as se

OPTIMA = Path(__file__).parent.parent / "data" / "optima.json"
rng = np.random.default_rng(7)
m, n, k = sp.symbols("m n k", integer=True, positive=True)
A, b, x = se.TensorSymbol("A", m, n), se.TensorSymbol("b", m), se.TensorSymbol("x", n)
c, w = se.tensors("c w", n)
S = se.TensorSymbol("S", n, n, symmetric=True)
U, V, T = se.TensorSymbol("U", m, k), se.TensorSymbol("V", n, k), se.TensorSymbol("T", m, n)
s, t = sp.symbols("s t", real=True)
p = [se.TensorSymbol("x", length) for length in range(8)]
a_, b_ = rng.standard_normal((12, 5)), rng.standard_normal(12)
c_ = rng.uniform(0.5, 1.5, 5)
s_ = a_.T @ a_ / 12
labels, counts = np.sign(b_), rng.poisson(3, 12).astype(float)
t_ = rng.uniform(0.2, 1, (6, 2)) @ rng.uniform(0.2, 1, (2, 4)) + rng.uniform(0, 0.3, (6, 4))
ONES, STORED = np.ones(5), "stored"


@dataclass
class Case:
    """Define a problem: ours, and the value and the gradient by hand of the flat vector.

    ``limits`` are (kind, value, Jacobian) of constraints as SciPy takes them, ``optimum`` is a
    value that is known, or ``STORED``.
    """

    name: str
    problem: se.Problem
    value: Callable[..., float]
    derivative: Callable[..., Sequence[Any]]
    start: Sequence[float]
    data: Mapping[Any, Any] = field(default_factory=dict)
    bounds: Sequence[Any] | None = None
    limits: Sequence[Any] = ()
    optimum: float | str | None = None

    @property
    def sign(self) -> int:
        return -1 if self.problem.maximize else 1


def linear(kind, rows, right):
    """Return constraints rows @ x - right, = 0 or >= 0."""
    rows, right = np.atleast_2d(np.asarray(rows, float)), np.atleast_1d(right)
    return kind, lambda z: rows @ z - right, lambda z: rows


def huber(r):
    return np.sqrt(1 + r**2) - 1


def powell(x):
    terms = x[0] + 10 * x[1], x[2] - x[3], x[1] - 2 * x[2], x[0] - x[3]
    return terms[0] ** 2 + 5 * terms[1] ** 2 + terms[2] ** 4 + 10 * terms[3] ** 4


def powell_gradient(x):
    q, r, u, v = x[0] + 10 * x[1], x[2] - x[3], x[1] - 2 * x[2], x[0] - x[3]
    return [2 * q + 40 * v**3, 20 * q + 4 * u**3, 10 * r - 8 * u**3, -10 * r - 40 * v**3]


BEALE = (1.5, 2.25, 2.625)


def beale(x):
    return sum((y - x[0] * (1 - x[1] ** (i + 1))) ** 2 for i, y in enumerate(BEALE))


def beale_gradient(x):
    found = np.zeros(2)
    for i, y in enumerate(BEALE, 1):
        r = y - x[0] * (1 - x[1] ** i)
        found += 2 * r * np.array([-(1 - x[1] ** i), i * x[0] * x[1] ** (i - 1)])
    return found


def wood(x):
    return (
        100 * (x[1] - x[0] ** 2) ** 2
        + (1 - x[0]) ** 2
        + 90 * (x[3] - x[2] ** 2) ** 2
        + (1 - x[2]) ** 2
        + 10.1 * ((x[1] - 1) ** 2 + (x[3] - 1) ** 2)
        + 19.8 * (x[1] - 1) * (x[3] - 1)
    )


def wood_gradient(x):
    q, r = x[1] - x[0] ** 2, x[3] - x[2] ** 2
    return [
        -400 * x[0] * q - 2 * (1 - x[0]),
        200 * q + 20.2 * (x[1] - 1) + 19.8 * (x[3] - 1),
        -360 * x[2] * r - 2 * (1 - x[2]),
        180 * r + 20.2 * (x[3] - 1) + 19.8 * (x[1] - 1),
    ]


def brown(x):
    return (x[0] - 1e6) ** 2 + (x[1] - 2e-6) ** 2 + (x[0] * x[1] - 2) ** 2


def brown_gradient(x):
    r = 2 * (x[0] * x[1] - 2)
    return [2 * (x[0] - 1e6) + r * x[1], 2 * (x[1] - 2e-6) + r * x[0]]


def negative_binomial():
    """The negative logarithmic likelihood, by coefficients and the logarithm of theta."""
    theta, eta = sp.exp(t), A @ x
    likelihood = se.gammaln(b + theta) - se.gammaln(theta) + theta * t + b * eta
    likelihood -= (b + theta) * se.log(theta + se.exp(eta))

    def value(z):
        own, mu = np.exp(z[5]), np.exp(a_ @ z[:5])
        found = special.gammaln(counts + own) - special.gammaln(own) + own * z[5]
        return -(found + counts * (a_ @ z[:5]) - (counts + own) * np.log(own + mu)).sum()

    def derivative(z):
        own, mu = np.exp(z[5]), np.exp(a_ @ z[:5])
        r = (counts + own) / (own + mu)
        last = special.digamma(counts + own) - special.digamma(own) + z[5] + 1 - np.log(own + mu)
        return np.append(-(counts - mu * r) @ a_, -own * (last - r).sum())

    problem = se.Problem(-likelihood.sum() + (t - 1) ** 2 / 2, [x, t])
    return Case(
        "negative binomial",
        problem,
        lambda z: value(z) + (z[5] - 1) ** 2 / 2,
        lambda z: derivative(z) + np.append(np.zeros(5), z[5] - 1),
        [*np.zeros(5), 1],
        {A: a_, b: counts},
    )


def gaussian_process():
    """The negative logarithmic likelihood by three logarithms of hyperparameters."""
    points = np.linspace(0, 3, 12)
    squares, y = (points[:, None] - points) ** 2, np.sin(points) + b_ / 9
    D, z = se.TensorSymbol("D", m, m), se.TensorSymbol("z", 3)
    K = se.exp(z[0]) * se.exp(-D * se.exp(-z[1])) + se.exp(z[2]) * se.Delta(m)
    f = b @ se.solve(K, b) / 2 + se.logdet(K) / 2

    def matrices(z):
        own = np.exp(z[0] - squares * np.exp(-z[1]))
        return own + np.exp(z[2]) * np.eye(12), own

    def value(z):
        K, _ = matrices(z)
        return y @ np.linalg.solve(K, y) / 2 + np.linalg.slogdet(K)[1] / 2

    def derivative(z):
        K, own = matrices(z)
        v = np.linalg.solve(K, y)
        outer = np.linalg.inv(K) - np.outer(v, v)
        changes = own, own * squares * np.exp(-z[1]), np.exp(z[2]) * np.eye(12)
        return [(outer * change).sum() / 2 for change in changes]

    return Case(
        "gaussian process", se.Problem(f, z), value, derivative, [0, 0, -2], {D: squares, b: y}
    )


def factorization(name, bounds, limits):
    def parts(z):
        return z[:12].reshape(6, 2), z[12:].reshape(4, 2)

    def value(z):
        u, v = parts(z)
        return ((t_ - u @ v.T) ** 2).sum() + (z @ z) / 5

    def derivative(z):
        u, v = parts(z)
        r = 2 * (u @ v.T - t_)
        return np.concatenate([(r @ v).ravel(), (r.T @ u).ravel()]) + 2 * z / 5

    f = ((T - U @ V.T) ** 2).sum() + ((U**2).sum() + (V**2).sum()) / 5
    start = np.random.default_rng(3).uniform(0.1, 1, 20)
    problem = se.Problem(f, [U, V], limits)
    # The singular values, less a fifth, are those of the product.
    sizes = np.linalg.svd(t_)[1]
    found = np.maximum(sizes[:2] - 0.2, 0)
    optimum = (sizes**2).sum() - (sizes[:2] ** 2).sum()
    optimum += ((sizes[:2] - found) ** 2).sum() + 2 * found.sum() / 5
    return Case(
        name,
        problem,
        value,
        derivative,
        start,
        {T: t_, k: 2},
        bounds,
        optimum=optimum if not limits else None,
    )


def softmax_regression():
    W, Y = se.TensorSymbol("W", n, k), se.TensorSymbol("Y", m, k)
    y = np.eye(3)[rng.integers(0, 3, 12)]
    f = (se.logsumexp(A @ W, axis=1) - (Y * (A @ W)).sum(axis=1)).sum() + (W**2).sum() / 2

    def value(z):
        scores = a_ @ z.reshape(5, 3)
        return special.logsumexp(scores, axis=1).sum() - (y * scores).sum() + z @ z / 2

    def derivative(z):
        return (a_.T @ (special.softmax(a_ @ z.reshape(5, 3), axis=1) - y)).ravel() + z

    data = {A: a_, Y: y}
    return Case("softmax", se.Problem(f, W), value, derivative, np.zeros(15), data, optimum=STORED)


WITHOUT = [
    Case(
        "Powell", se.Problem(powell(p[4]), p[4]), powell, powell_gradient, [3, -1, 0, 1], optimum=0
    ),
    Case("Beale", se.Problem(beale(p[2]), p[2]), beale, beale_gradient, [1, 1], optimum=0),
    Case("Wood", se.Problem(wood(p[4]), p[4]), wood, wood_gradient, [-3, -1, -3, -1], optimum=0),
    Case("Brown", se.Problem(brown(p[2]), p[2]), brown, brown_gradient, [1, 1], optimum=0),
    Case(
        "robust regression",
        se.Problem((se.sqrt(1 + (A @ x - b) ** 2) - 1).sum(), x),
        lambda z: huber(a_ @ z - b_).sum(),
        lambda z: a_.T @ ((a_ @ z - b_) / np.sqrt(1 + (a_ @ z - b_) ** 2)),
        np.zeros(5),
        {A: a_, b: b_},
        optimum=STORED,
    ),
    Case(
        "largest entry, smooth",
        se.Problem(se.logsumexp(A @ x + b) + x @ x / 9, x),
        lambda z: special.logsumexp(a_ @ z + b_) + z @ z / 9,
        lambda z: a_.T @ special.softmax(a_ @ z + b_) + 2 * z / 9,
        ONES,
        {A: a_, b: b_},
        optimum=STORED,
    ),
    negative_binomial(),
    gaussian_process(),
    factorization("factorization", None, []),
    softmax_regression(),
]


def obstacle():
    """A string that is stretched over an obstacle."""
    size = 40
    height = 0.3 - 4 * (np.linspace(0, 1, size) - 0.6) ** 2
    low = se.TensorSymbol("low", n)
    f = ((x[1:] - x[:-1]) ** 2).sum() + x[0] ** 2 + x[n - 1] ** 2

    def value(z):
        return (np.diff(z, prepend=0, append=0) ** 2).sum()

    def derivative(z):
        return -2 * np.diff(np.diff(z, prepend=0, append=0))

    bounds = [(own, None) for own in height]
    problem = se.Problem(f, x, [x >= low])
    data = {low: height}
    return Case("obstacle", problem, value, derivative, np.ones(size), data, bounds, optimum=STORED)


def elastic_net():
    v = se.TensorSymbol("v", n)
    f = se.softplus(-b * (A @ (x - v))).sum() + x.sum() + v.sum() + (x - v) @ (x - v) / 4

    def value(z):
        z, own = z[:5] - z[5:], z.sum()
        return np.logaddexp(0, -labels * (a_ @ z)).sum() + own + z @ z / 4

    def derivative(z):
        z = z[:5] - z[5:]
        found = -a_.T @ (labels * special.expit(-labels * (a_ @ z))) + z / 2
        return np.append(1 + found, 1 - found)

    problem = se.Problem(f, [x, v], [x >= 0, v >= 0])
    data, box = {A: a_, b: labels}, [(0, None)] * 10
    return Case(
        "elastic net", problem, value, derivative, ONES.repeat(2), data, box, optimum=STORED
    )


def deconvolution():
    """Nonnegative intensities from Poisson's counts."""
    rows = np.abs(a_)
    f = (A @ x).sum() - b @ se.log(A @ x)
    problem = se.Problem(f, x, [x >= 0])

    def value(z):
        return (rows @ z).sum() - counts @ np.log(rows @ z)

    def derivative(z):
        return rows.T @ (1 - counts / (rows @ z))

    data, box = {A: rows, b: counts}, [(0, None)] * 5
    return Case("deconvolution", problem, value, derivative, ONES, data, box, optimum=STORED)


def machine_without_offset():
    a = se.TensorSymbol("a", m)
    f = a.sum() - ((a * b) @ A) @ ((a * b) @ A) / 2
    problem = se.Problem(f, a, [a >= 0, a <= t], maximize=True)
    gram = labels[:, None] * a_ @ a_.T * labels

    def value(z):
        return z @ gram @ z / 2 - z.sum()

    def derivative(z):
        return gram @ z - 1

    data, box = {A: a_, b: labels, t: 0.8}, [(0, 0.8)] * 12
    return Case("machine", problem, value, derivative, np.full(12, 0.4), data, box, optimum=STORED)


y2, y3, y4, y5, y7 = (p[length] for length in (2, 3, 4, 5, 7))
# Of Hock and Schittkowski, by number.
WITH_BOUNDS = [
    Case(
        "1",
        se.Problem(100 * (y2[1] - y2[0] ** 2) ** 2 + (1 - y2[0]) ** 2, y2, [y2[1] >= -1.5]),
        lambda z: 100 * (z[1] - z[0] ** 2) ** 2 + (1 - z[0]) ** 2,
        lambda z: [-400 * z[0] * (z[1] - z[0] ** 2) - 2 * (1 - z[0]), 200 * (z[1] - z[0] ** 2)],
        [-2, 1],
        bounds=[(None, None), (-1.5, None)],
        optimum=0,
    ),
    Case(
        "3",
        se.Problem(y2[1] + 1e-5 * (y2[1] - y2[0]) ** 2, y2, [y2[1] >= 0]),
        lambda z: z[1] + 1e-5 * (z[1] - z[0]) ** 2,
        lambda z: [-2e-5 * (z[1] - z[0]), 1 + 2e-5 * (z[1] - z[0])],
        [10, 1],
        bounds=[(None, None), (0, None)],
        optimum=0,
    ),
    Case(
        "4",
        se.Problem((y2[0] + 1) ** 3 / 3 + y2[1], y2, [y2[0] >= 1, y2[1] >= 0]),
        lambda z: (z[0] + 1) ** 3 / 3 + z[1],
        lambda z: [(z[0] + 1) ** 2, 1],
        [1.125, 0.125],
        bounds=[(1, None), (0, None)],
        optimum=8 / 3,
    ),
    Case(
        "5",
        se.Problem(
            se.sin(y2.sum()) + (y2[0] - y2[1]) ** 2 - 1.5 * y2[0] + 2.5 * y2[1] + 1,
            y2,
            [y2[0] >= -1.5, y2[0] <= 4, y2 <= [4, 3], y2[1] >= -3],
        ),
        lambda z: np.sin(z.sum()) + (z[0] - z[1]) ** 2 - 1.5 * z[0] + 2.5 * z[1] + 1,
        lambda z: np.cos(z.sum()) + 2 * (z[0] - z[1]) * np.array([1, -1]) + [-1.5, 2.5],
        [0, 0],
        bounds=[(-1.5, 4), (-3, 3)],
        optimum=-np.sqrt(3) / 2 - np.pi / 3,
    ),
    Case(
        "45",
        se.Problem(
            2 - y5[0] * y5[1] * y5[2] * y5[3] * y5[4] / 120, y5, [y5 >= 0, y5 <= [1, 2, 3, 4, 5]]
        ),
        lambda z: 2 - np.prod(z) / 120,
        lambda z: [-np.prod(np.delete(z, i)) / 120 for i in range(5)],
        [2] * 5,  # outside
        bounds=[(0, i) for i in range(1, 6)],
        optimum=1,
    ),
    factorization("nonnegative factorization", [(0, None)] * 20, [U >= 0, V >= 0]),
    obstacle(),
    elastic_net(),
    deconvolution(),
    machine_without_offset(),
]


def chemical_equilibrium():
    costs = np.array([-6.089, -17.164, -34.054, -5.914, -24.721, -14.986, -24.1, -10.708])
    costs = np.append(costs, [-26.662, -22.179])
    rows = np.array(
        [
            [1, 2, 2, 0, 0, 1, 0, 0, 0, 1],
            [0, 0, 0, 1, 2, 1, 1, 0, 0, 0],
            [0, 0, 1, 0, 0, 0, 1, 1, 2, 1],
        ]
    )
    f = (x * (c + se.log(x / x.sum()))).sum()
    problem = se.Problem(f, x, [sp.Eq(A @ x, b), x >= 1e-6])

    def derivative(z):
        return costs + np.log(z / z.sum())

    return Case(
        "112",
        problem,
        lambda z: z @ derivative(z),
        derivative,
        np.full(10, 0.1),
        {c: costs, A: rows, b: [2, 1, 1]},
        [(1e-6, None)] * 10,
        [linear("eq", rows, [2, 1, 1])],
        optimum=-47.76109,
    )


def experiments():
    """The shares of experiments that determine parameters best."""
    P = se.TensorSymbol("q", m)
    information = A.T @ (P[:, None] * A)
    problem = se.Problem(se.logdet(information), P, [sp.Eq(P.sum(), 1), P >= 0], maximize=True)

    def value(z):
        return -np.linalg.slogdet(a_.T @ (z[:, None] * a_))[1]

    def derivative(z):
        return -(a_ @ np.linalg.inv(a_.T @ (z[:, None] * a_)) * a_).sum(axis=1)

    limits = [linear("eq", np.ones(12), 1)]
    start, box = np.full(12, 1 / 12), [(0, 1)] * 12
    data = {A: a_}
    return Case("experiments", problem, value, derivative, start, data, box, limits, optimum=STORED)


def quantile_regression():
    """The sum of weighted excesses and shortfalls, by the quantile 0.3."""
    over, under = se.tensors("over under", m)
    f = 0.3 * over.sum() + 0.7 * under.sum()
    limits = [sp.Eq(A @ x + over - under, b), over >= 0, under >= 0]
    rows = np.hstack([a_, np.eye(12), -np.eye(12)])
    costs = np.repeat([0, 0.3, 0.7], [5, 12, 12])
    return Case(
        "quantile regression",
        se.Problem(f, [x, over, under], limits),
        lambda z: costs @ z,
        lambda z: costs,
        np.ones(29),
        {A: a_, b: b_},
        [(None, None)] * 5 + [(0, None)] * 24,
        [linear("eq", rows, b_)],
        optimum=STORED,
    )


def turnover():
    """A portfolio whose changes cost."""
    buy, sell, held = se.tensors("buy sell held", n)
    own = held + buy - sell
    f = c @ own - own @ S @ own - (buy.sum() + sell.sum()) / 20
    limits = [sp.Eq(own.sum(), 1), own >= 0, buy >= 0, sell >= 0]
    first = np.array([0.5, 0.5, 0, 0, 0])
    turn = np.hstack([np.eye(5), -np.eye(5)])

    def value(z):
        own = first + turn @ z
        return own @ s_ @ own - c_ @ own + z.sum() / 20

    def derivative(z):
        own = first + turn @ z
        return turn.T @ (2 * s_ @ own - c_) + 1 / 20

    return Case(
        "turnover",
        se.Problem(f, [buy, sell], limits, maximize=True),
        value,
        derivative,
        np.full(10, 0.1),
        {c: c_, S: s_, held: first},
        [(0, None)] * 10,
        [linear("eq", turn.sum(axis=0), 0), linear("ineq", turn, -first)],
        optimum=STORED,
    )


WITH_LINEAR = [
    Case(
        "21",
        se.Problem(
            y2[0] ** 2 / 100 + y2[1] ** 2 - 100,
            y2,
            [10 * y2[0] - y2[1] >= 10, (y2[0] >= 2) & (y2[0] <= 50), (y2 >= -50) & (y2 <= 50)],
        ),
        lambda z: z[0] ** 2 / 100 + z[1] ** 2 - 100,
        lambda z: [z[0] / 50, 2 * z[1]],
        [-1, -1],  # outside
        bounds=[(2, 50), (-50, 50)],
        limits=[linear("ineq", [10, -1], 10)],
        optimum=-99.96,
    ),
    Case(
        "24",
        se.Problem(
            ((y2[0] - 3) ** 2 - 9) * y2[1] ** 3 / (27 * sp.sqrt(3)),
            y2,
            [
                y2[0] / sp.sqrt(3) >= y2[1],
                y2[0] + sp.sqrt(3) * y2[1] >= 0,
                y2[0] + sp.sqrt(3) * y2[1] <= 6,
                y2 >= 0,
            ],
        ),
        lambda z: ((z[0] - 3) ** 2 - 9) * z[1] ** 3 / (27 * np.sqrt(3)),
        lambda z: (
            np.array([2 * (z[0] - 3) * z[1] ** 3, 3 * ((z[0] - 3) ** 2 - 9) * z[1] ** 2])
            / (27 * np.sqrt(3))
        ),
        [1, 0.5],
        bounds=[(0, None)] * 2,
        limits=[
            linear("ineq", [[1 / np.sqrt(3), -1], [1, np.sqrt(3)], [-1, -np.sqrt(3)]], [0, 0, -6])
        ],
        optimum=-1,
    ),
    Case(
        "28",
        se.Problem(
            (y3[0] + y3[1]) ** 2 + (y3[1] + y3[2]) ** 2,
            y3,
            [sp.Eq(y3[0] + 2 * y3[1] + 3 * y3[2], 1)],
        ),
        lambda z: (z[0] + z[1]) ** 2 + (z[1] + z[2]) ** 2,
        lambda z: [2 * (z[0] + z[1]), 2 * (z[0] + 2 * z[1] + z[2]), 2 * (z[1] + z[2])],
        [-4, 1, 1],
        limits=[linear("eq", [1, 2, 3], 1)],
        optimum=0,
    ),
    Case(
        "35",
        se.Problem(
            9
            - 8 * y3[0]
            - 6 * y3[1]
            - 4 * y3[2]
            + 2 * y3[0] ** 2
            + 2 * y3[1] ** 2
            + y3[2] ** 2
            + 2 * y3[0] * (y3[1] + y3[2]),
            y3,
            [y3[0] + y3[1] + 2 * y3[2] <= 3, y3 >= 0],
        ),
        lambda z: (
            9 - [8, 6, 4] @ z + 2 * z[0] ** 2 + 2 * z[1] ** 2 + z[2] ** 2 + 2 * z[0] * z[1:].sum()
        ),
        lambda z: [
            -8 + 4 * z[0] + 2 * z[1] + 2 * z[2],
            -6 + 4 * z[1] + 2 * z[0],
            -4 + 2 * z[2] + 2 * z[0],
        ],
        [0.5] * 3,
        bounds=[(0, None)] * 3,
        limits=[linear("ineq", [-1, -1, -2], -3)],
        optimum=1 / 9,
    ),
    Case(
        "36",
        se.Problem(
            y3[0] * y3[1] * y3[2],
            y3,
            [y3[0] + 2 * y3[1] + 2 * y3[2] <= 72, y3 >= 0, y3 <= [20, 11, 42]],
            maximize=True,
        ),
        lambda z: -np.prod(z),
        lambda z: [-z[1] * z[2], -z[0] * z[2], -z[0] * z[1]],
        [10] * 3,
        bounds=[(0, 20), (0, 11), (0, 42)],
        limits=[linear("ineq", [-1, -2, -2], -72)],
        optimum=-3300,
    ),
    Case(
        "48",
        se.Problem(
            (y5[0] - 1) ** 2 + (y5[1] - y5[2]) ** 2 + (y5[3] - y5[4]) ** 2,
            y5,
            [sp.Eq(y5.sum(), 5), sp.Eq(y5[2] - 2 * (y5[3] + y5[4]), -3)],
        ),
        lambda z: (z[0] - 1) ** 2 + (z[1] - z[2]) ** 2 + (z[3] - z[4]) ** 2,
        lambda z: [
            2 * (z[0] - 1),
            2 * (z[1] - z[2]),
            -2 * (z[1] - z[2]),
            2 * (z[3] - z[4]),
            -2 * (z[3] - z[4]),
        ],
        [3, 5, -3, 2, -2],
        limits=[linear("eq", [[1, 1, 1, 1, 1], [0, 0, 1, -2, -2]], [5, -3])],
        optimum=0,
    ),
    chemical_equilibrium(),
    experiments(),
    quantile_regression(),
    turnover(),
]


def thomson():
    """Five charges on a sphere, as far apart as they can be."""
    X = se.TensorSymbol("X", 5, 3)
    first, second = np.triu_indices(5, 1)
    f = sum(
        1 / se.sqrt((X[int(i)] - X[int(j)]) @ (X[int(i)] - X[int(j)]))
        for i, j in zip(first, second, strict=True)
    )

    def value(z):
        z = z.reshape(5, 3)
        return (1 / np.linalg.norm(z[first] - z[second], axis=1)).sum()

    def derivative(z):
        z, found = z.reshape(5, 3), np.zeros((5, 3))
        between = z[first] - z[second]
        pull = between / np.linalg.norm(between, axis=1)[:, None] ** 3
        np.subtract.at(found, first, pull)
        np.add.at(found, second, pull)
        return found.ravel()

    def rows(z):
        found = np.zeros((5, 5, 3))
        found[range(5), range(5)] = 2 * z.reshape(5, 3)
        return found.reshape(5, 15)

    limits = [("eq", lambda z: (z.reshape(5, 3) ** 2).sum(axis=1) - 1, rows)]
    start = np.random.default_rng(1).standard_normal(15)
    problem = se.Problem(f, X, [sp.Eq((X**2).sum(axis=1), se.Ones(5))])
    return Case("Thomson", problem, value, derivative, start, limits=limits, optimum=6.474691494688)


def ellipse():
    """The smallest ellipse around points, |L p + v| <= 1."""
    L, v = se.TensorSymbol("L", n, n), se.TensorSymbol("v", n)
    points = a_[:, :2]
    limits = [(((A @ L.T + v[None]) ** 2).sum(axis=1)) <= 1, L[0, 0] >= 0.01, L[1, 1] >= 0.01]
    limits += [sp.Eq(L[0, 1], 0)]

    def value(z):
        return -np.log(z[0] * z[3])

    def moved(z):
        return points @ z[:4].reshape(2, 2).T + z[4:]

    def rows(z):
        inner = moved(z)
        by_matrix = (inner[:, :, None] * points[:, None]).reshape(-1, 4)
        return -2 * np.hstack([by_matrix, inner])

    return Case(
        "ellipse",
        se.Problem(-se.log(L[0, 0]) - se.log(L[1, 1]), [L, v], limits),
        value,
        lambda z: [-1 / z[0], 0, 0, -1 / z[3], 0, 0],
        [1, 0, 0, 1, 0, 0],
        {A: points},
        [(0.01, None), (0, 0), (None, None), (0.01, None), (None, None), (None, None)],
        [("ineq", lambda z: 1 - (moved(z) ** 2).sum(axis=1), rows)],
        optimum=STORED,
    )


def risk_budget():
    limits = [x @ S @ x <= t, sp.Eq(x.sum(), 1), x >= 0]
    own = 1.3 / np.linalg.inv(s_).sum()
    return Case(
        "risk",
        se.Problem(c @ x, x, limits, maximize=True),
        lambda z: -c_ @ z,
        lambda z: -c_,
        ONES / 5,
        {c: c_, S: s_, t: own},
        [(0, None)] * 5,
        [("ineq", lambda z: own - z @ s_ @ z, lambda z: -2 * s_ @ z), linear("eq", ONES, 1)],
        optimum=STORED,
    )


def rosen_suzuki(x):
    return (
        x[0] ** 2
        + x[1] ** 2
        + 2 * x[2] ** 2
        + x[3] ** 2
        - 5 * x[0]
        - 5 * x[1]
        - 21 * x[2]
        + 7 * x[3]
    )


def hundred(x):
    return (
        (x[0] - 10) ** 2
        + 5 * (x[1] - 12) ** 2
        + x[2] ** 4
        + 3 * (x[3] - 11) ** 2
        + 10 * x[4] ** 6
        + 7 * x[5] ** 2
        + x[6] ** 4
        - 4 * x[5] * x[6]
        - 10 * x[5]
        - 8 * x[6]
    )


WITH_CURVED = [
    Case(
        "6",
        se.Problem((1 - y2[0]) ** 2, y2, [sp.Eq(10 * (y2[1] - y2[0] ** 2), 0)]),
        lambda z: (1 - z[0]) ** 2,
        lambda z: [2 * (z[0] - 1), 0],
        [-1.2, 1],
        limits=[("eq", lambda z: 10 * (z[1] - z[0] ** 2), lambda z: [-20 * z[0], 10])],
        optimum=0,
    ),
    Case(
        "7",
        se.Problem(
            se.log(1 + y2[0] ** 2) - y2[1], y2, [sp.Eq((1 + y2[0] ** 2) ** 2 + y2[1] ** 2, 4)]
        ),
        lambda z: np.log(1 + z[0] ** 2) - z[1],
        lambda z: [2 * z[0] / (1 + z[0] ** 2), -1],
        [2, 2],
        limits=[
            (
                "eq",
                lambda z: (1 + z[0] ** 2) ** 2 + z[1] ** 2 - 4,
                lambda z: [4 * z[0] * (1 + z[0] ** 2), 2 * z[1]],
            )
        ],
        optimum=-np.sqrt(3),
    ),
    Case(
        "10",
        se.Problem(y2[0] - y2[1], y2, [-3 * y2[0] ** 2 + 2 * y2[0] * y2[1] - y2[1] ** 2 + 1 >= 0]),
        lambda z: z[0] - z[1],
        lambda z: [1, -1],
        [-10, 10],  # outside
        limits=[
            (
                "ineq",
                lambda z: -3 * z[0] ** 2 + 2 * z[0] * z[1] - z[1] ** 2 + 1,
                lambda z: [-6 * z[0] + 2 * z[1], 2 * z[0] - 2 * z[1]],
            )
        ],
        optimum=-1,
    ),
    Case(
        "39",
        se.Problem(
            -y4[0],
            y4,
            [sp.Eq(y4[1], y4[0] ** 3 + y4[2] ** 2), sp.Eq(y4[0] ** 2 - y4[1] - y4[3] ** 2, 0)],
        ),
        lambda z: -z[0],
        lambda z: [-1, 0, 0, 0],
        [2] * 4,
        limits=[
            (
                "eq",
                lambda z: [z[1] - z[0] ** 3 - z[2] ** 2, z[0] ** 2 - z[1] - z[3] ** 2],
                lambda z: [[-3 * z[0] ** 2, 1, -2 * z[2], 0], [2 * z[0], -1, 0, -2 * z[3]]],
            )
        ],
        optimum=-1,
    ),
    Case(
        "43",
        se.Problem(
            rosen_suzuki(y4),
            y4,
            [
                8 - y4 @ y4 - y4[0] + y4[1] - y4[2] + y4[3] >= 0,
                10 - y4 @ y4 - y4[1] ** 2 - y4[3] ** 2 + y4[0] + y4[3] >= 0,
                5 - y4[:3] @ y4[:3] - y4[0] ** 2 - 2 * y4[0] + y4[1] + y4[3] >= 0,
            ],
        ),
        rosen_suzuki,
        lambda z: [2 * z[0] - 5, 2 * z[1] - 5, 4 * z[2] - 21, 2 * z[3] + 7],
        [0] * 4,
        limits=[
            (
                "ineq",
                lambda z: [
                    8 - z @ z + z @ [-1, 1, -1, 1],
                    10 - z**2 @ [1, 2, 1, 2] + z[0] + z[3],
                    5 - z**2 @ [2, 1, 1, 0] + z @ [-2, 1, 0, 1],
                ],
                lambda z: [
                    -2 * z + [-1, 1, -1, 1],
                    -2 * z * [1, 2, 1, 2] + [1, 0, 0, 1],
                    -2 * z * [2, 1, 1, 0] + [-2, 1, 0, 1],
                ],
            )
        ],
        optimum=-44,
    ),
    Case(
        "71",
        se.Problem(
            y4[0] * y4[3] * y4[:3].sum() + y4[2],
            y4,
            [y4[0] * y4[1] * y4[2] * y4[3] >= 25, sp.Eq(y4 @ y4, 40), y4 >= 1, y4 <= 5],
        ),
        lambda z: z[0] * z[3] * z[:3].sum() + z[2],
        lambda z: [z[3] * (z[:3].sum() + z[0]), z[0] * z[3], z[0] * z[3] + 1, z[0] * z[:3].sum()],
        [1, 5, 5, 1],
        bounds=[(1, 5)] * 4,
        limits=[
            (
                "ineq",
                lambda z: np.prod(z) - 25,
                lambda z: [np.prod(np.delete(z, i)) for i in range(4)],
            ),
            ("eq", lambda z: z @ z - 40, lambda z: 2 * z),
        ],
        optimum=17.0140173,
    ),
    Case(
        "100",
        se.Problem(
            hundred(y7),
            y7,
            [
                127 - 2 * y7[0] ** 2 - 3 * y7[1] ** 4 - y7[2] - 4 * y7[3] ** 2 - 5 * y7[4] >= 0,
                282 - 7 * y7[0] - 3 * y7[1] - 10 * y7[2] ** 2 - y7[3] + y7[4] >= 0,
                196 - 23 * y7[0] - y7[1] ** 2 - 6 * y7[5] ** 2 + 8 * y7[6] >= 0,
                -4 * y7[0] ** 2
                - y7[1] ** 2
                + 3 * y7[0] * y7[1]
                - 2 * y7[2] ** 2
                - 5 * y7[5]
                + 11 * y7[6]
                >= 0,
            ],
        ),
        hundred,
        lambda z: [
            2 * (z[0] - 10),
            10 * (z[1] - 12),
            4 * z[2] ** 3,
            6 * (z[3] - 11),
            60 * z[4] ** 5,
            14 * z[5] - 4 * z[6] - 10,
            4 * z[6] ** 3 - 4 * z[5] - 8,
        ],
        [1, 2, 0, 4, 0, 1, 1],
        limits=[
            (
                "ineq",
                lambda z: [
                    127 - 2 * z[0] ** 2 - 3 * z[1] ** 4 - z[2] - 4 * z[3] ** 2 - 5 * z[4],
                    282 - 7 * z[0] - 3 * z[1] - 10 * z[2] ** 2 - z[3] + z[4],
                    196 - 23 * z[0] - z[1] ** 2 - 6 * z[5] ** 2 + 8 * z[6],
                    -4 * z[0] ** 2
                    - z[1] ** 2
                    + 3 * z[0] * z[1]
                    - 2 * z[2] ** 2
                    - 5 * z[5]
                    + 11 * z[6],
                ],
                lambda z: [
                    [-4 * z[0], -12 * z[1] ** 3, -1, -8 * z[3], -5, 0, 0],
                    [-7, -3, -20 * z[2], -1, 1, 0, 0],
                    [-23, -2 * z[1], 0, 0, 0, -12 * z[5], 8],
                    [-8 * z[0] + 3 * z[1], -2 * z[1] + 3 * z[0], -4 * z[2], 0, 0, -5, 11],
                ],
            )
        ],
        optimum=680.6300573,
    ),
    thomson(),
    ellipse(),
    risk_budget(),
]
GROUPS = {
    "without constraints": (WITHOUT, "BFGS"),
    "bounds": (WITH_BOUNDS, "L-BFGS-B"),
    "linear": (WITH_LINEAR, "SLSQP"),
    "curved": (WITH_CURVED, "SLSQP"),
}
CASES = [(own, method) for cases, method in GROUPS.values() for own in cases]


def by_hand(case, method):
    """Return the lowest value that SciPy finds with the derivatives by hand."""
    options = {
        "BFGS": {"gtol": 1e-9},
        "L-BFGS-B": {"gtol": 1e-10, "ftol": 1e-16, "maxiter": 10**4},
        "SLSQP": {"ftol": 1e-13, "maxiter": 1000},
    }[method]
    limits = [{"type": kind, "fun": value, "jac": rows} for kind, value, rows in case.limits]
    return scipy.optimize.minimize(
        case.value,
        case.start,
        jac=lambda z: np.asarray(case.derivative(z), float),
        bounds=case.bounds,
        constraints=limits or (),
        method=method,
        options=options,
    )


def test_there_are_ten_of_each():
    assert [len(cases) for cases, _ in GROUPS.values()] == [10] * 4


@pytest.mark.parametrize(("case", "method"), CASES, ids=[case.name for case, _ in CASES])
def test_optimum(case, method):
    start = dict(zip(case.problem.variables, split(case), strict=True))
    result = case.problem.solve(case.data, start)
    assert result.success, result.message
    assert result.iterations < 100
    found = case.sign * result.value
    vector = case.problem.pack({x: result[x] for x in case.problem.variables})
    assert np.isclose(case.value(vector), found, rtol=1e-9, atol=1e-12)
    for kind, value, _ in case.limits:
        gaps = np.asarray(value(vector))
        assert np.all(np.abs(gaps) < 1e-7 if kind == "eq" else gaps > -1e-7)
    derivatives = case.problem.scipy(case.data, start)["jac"](vector)
    np.testing.assert_allclose(derivatives, case.derivative(vector), rtol=1e-8, atol=1e-8)
    theirs = by_hand(case, method)
    assert found <= theirs.fun + 1e-6 * (1 + abs(theirs.fun))
    if case.optimum is not None:
        stored = json.loads(OPTIMA.read_text())
        known = stored[case.name] if case.optimum == STORED else case.optimum
        assert abs(found - known) < 1e-6 * (1 + abs(known))


def split(case):
    """Return the start as arrays of the variables."""
    return [*case.problem.unpack(np.asarray(case.start, float), case.data).values()]


def references():
    """Return the optima of conic solvers by case."""
    import cvxpy as cp

    data = {case.name: list(case.data.values()) for case, _ in CASES}
    z, u, v = cp.Variable(5), cp.Variable(5), cp.Variable(5)
    q, r = cp.Variable(12), cp.Variable(12)
    W, L = cp.Variable((5, 3)), cp.Variable((2, 2))
    y = data["softmax"][1]
    costs, risks, first = data["turnover"]
    own = first + u - v
    low = data["obstacle"][0]
    string = cp.Variable(len(low))
    ends = cp.hstack([0, string, 0])
    rows = data["deconvolution"][0]
    signed = labels[:, None] * a_
    shift = cp.Variable(2)
    moved = a_[:, :2] @ L.T + np.ones((12, 1)) @ cp.reshape(shift, (1, 2), order="C")
    net = cp.sum(cp.logistic(-signed @ (u - v))) + cp.sum(u + v) + cp.sum_squares(u - v) / 4
    problems = {
        "robust regression": (
            cp.sum(cp.norm(cp.vstack([np.ones(12), a_ @ z - b_]), 2, axis=0)) - 12,
            [],
        ),
        "largest entry, smooth": (cp.log_sum_exp(a_ @ z + b_) + cp.sum_squares(z) / 9, []),
        "softmax": (
            cp.sum(cp.log_sum_exp(a_ @ W, axis=1))
            - cp.sum(cp.multiply(y, a_ @ W))
            + cp.sum_squares(W) / 2,
            [],
        ),
        "obstacle": (cp.sum_squares(cp.diff(ends)), [string >= low]),
        "elastic net": (net, [u >= 0, v >= 0]),
        "deconvolution": (cp.sum(rows @ z) - counts @ cp.log(rows @ z), [z >= 0]),
        "machine": (cp.sum_squares(signed.T @ q) / 2 - cp.sum(q), [q >= 0, q <= 0.8]),
        "experiments": (-cp.log_det(a_.T @ cp.diag(q) @ a_), [q >= 0, cp.sum(q) == 1]),
        "quantile regression": (
            0.3 * cp.sum(q) + 0.7 * cp.sum(r),
            [a_ @ z + q - r == b_, q >= 0, r >= 0],
        ),
        "turnover": (
            cp.quad_form(own, risks) - costs @ own + cp.sum(u + v) / 20,
            [cp.sum(own) == 1, own >= 0, u >= 0, v >= 0],
        ),
        "ellipse": (
            -cp.log(L[0, 0]) - cp.log(L[1, 1]),
            [cp.norm(moved, 2, axis=1) <= 1, L[0, 1] == 0],
        ),
        "risk": (-c_ @ z, [cp.quad_form(z, s_) <= data["risk"][2], cp.sum(z) == 1, z >= 0]),
    }
    tight = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
    return {
        name: cp.Problem(cp.Minimize(f), limits).solve(solver="CLARABEL", **tight)
        for name, (f, limits) in problems.items()
    }


if __name__ == "__main__":
    OPTIMA.write_text(json.dumps(references(), indent=1) + "\n")
