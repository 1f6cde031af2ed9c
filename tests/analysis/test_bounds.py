"""Intervals of entries: sharp where they can be, and containing all values."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from node_samples import SAMPLES, numeric
from oracles import LENGTHS
from sympy import FiniteSet, Interval, Rational, S, exp, log, oo, pi, sqrt

import sympy_einsum as se

n = sp.symbols("n", integer=True, positive=True)
r, t = sp.symbols("r t", positive=True)
u = sp.symbols("u", real=True)
x, y = se.TensorSymbol("x", 3), se.TensorSymbol("y", n)
A = se.TensorSymbol("A", 2, 3)
X = se.TensorSymbol("X", 3, 3)
K = se.TensorSymbol("K", 3, 3, psd=True)
p = se.TensorSymbol("p", 3, positive=True)


@pytest.mark.parametrize(
    ("e", "given", "expected"),
    [
        (x, {x: (-1, 2)}, Interval(-1, 2)),
        (x, {}, Interval(-oo, oo)),
        (p, {}, Interval.open(0, oo)),
        (p, {p: (-1, 2)}, Interval.Lopen(0, 2)),
        (x, {x: ([0, -1, 2], [3, 4, 5])}, Interval(-1, 5)),
        (x, {x: Interval.open(0, 1)}, Interval.open(0, 1)),
        (x, {x: (2, 2)}, FiniteSet(2)),
        (se.Zeros(3), {}, FiniteSet(0)),
        (se.Constant([1, -2]), {}, Interval(-2, 1)),
        (x @ x, {x: (-1, 2)}, Interval(0, 12)),
        (x**4, {x: (-2, 1)}, Interval(0, 16)),
        (x**3, {x: (-2, 1)}, Interval(-8, 1)),
        (1 / p, {p: (2, 4)}, Interval(Rational(1, 4), S.Half)),
        (se.norm(x), {x: (-1, 2)}, Interval(0, 2 * sqrt(3))),
        (se.norm(A @ x, 1), {A: (-1, 1), x: (0, 1)}, Interval(0, 6)),
        (y @ y, {y: (0, 1)}, Interval(0, n)),
        ((x**2).sum(), {x: (-r, r)}, Interval(0, 3 * r**2)),
        (x[0] * x[1], {x: (-1, 2)}, Interval(-2, 4)),
        (x[1:], {x: (-1, 2)}, Interval(-1, 2)),
        (se.cumsum(x), {x: (0, 1)}, Interval(0, 3)),
        (x @ K @ x, {}, Interval(0, oo)),
        (X.T @ X, {X: (-1, 1)}, Interval(-3, 3)),
        ((X.T @ X).trace(), {X: (-1, 1)}, Interval(0, 9)),
        (X - X.T, {X: (0, 1)}, Interval(-1, 1)),
        (x**4 - x**2, {x: (-1, 1)}, Interval(Rational(-1, 4), 0)),
        (x * (1 - x), {x: (0, 1)}, Interval(0, Rational(1, 4))),
        (se.sigmoid(x), {}, Interval.open(0, 1)),
        (se.tanh(A @ x), {}, Interval.open(-1, 1)),
        (se.softmax(x), {}, Interval.Lopen(0, 1)),
        (se.softmax(x), {x: (0, log(2))}, Interval(Rational(1, 5), S.Half)),
        (se.softmax(x) @ A.T, {A: (-1, 5)}, Interval(-1, 5)),
        (se.logsumexp(x), {x: (0, 1)}, Interval(log(3), 1 + log(3))),
        (se.exp(x).sum(), {x: (0, 1)}, Interval(3, 3 * exp(1))),
        (se.sin(x), {x: (0, pi)}, Interval(0, 1)),
        (se.cos(x), {x: (0, 7)}, Interval(-1, 1)),
        (se.softplus(x), {}, Interval.open(0, oo)),
        (se.relu(x), {x: (-3, 2)}, Interval(0, 2)),
        (abs(x), {x: (-3, 2)}, Interval(0, 3)),
        (se.max(x), {x: (-3, 2)}, Interval(-3, 2)),
        (se.argsort(x), {}, Interval(0, 2)),
        (se.svdvals(X), {X: (-1, 1)}, Interval(0, 3)),
        (se.det(X), {X: (-1, 1)}, Interval(-3 * sqrt(3), 3 * sqrt(3))),
        (se.eye(3) * t, {t: (1, 2)}, Interval(0, 2)),
        (sp.sqrt(1 + x @ x), {}, Interval(1, oo)),
        (u**2 - 2 * u, {u: (0, 3)}, Interval(-1, 3)),
        (se.inv(X), {X: (0, 1)}, Interval(-oo, oo)),
        (log(u), {u: (-1, 1)}, Interval(-oo, 0)),
    ],
)
def test_sharp_bounds(e, given, expected):
    assert se.bounds(e, given) == expected


def test_floats_are_rounded_outward():
    found = se.bounds(0.1 * x, {x: (0.1, 0.3)})
    assert found.start.is_Float
    assert Rational(found.start) <= Rational(0.1) * Rational(0.1)
    assert Rational(found.end) >= Rational(0.1) * Rational(0.3)
    assert float(found.end - found.start) == pytest.approx(0.02, rel=1e-12)


def test_long_endpoints_are_rounded():
    found = se.bounds((1 + x[0] ** 2) ** 40, {x: (0, Rational(1, 3))})
    exact = Rational(10, 9) ** 40
    assert found.end >= exact
    assert found.end - exact < Rational(1, 10**20)
    assert se.bounds(sp.exp(sp.exp(sp.exp(u))), {u: (0, 30)}).end > 10**100


@pytest.mark.parametrize("name", SAMPLES)
def test_all_values_lie_in_the_bounds(name):
    """Of every type of node, at data between the bounds that are given."""
    e = SAMPLES[name]
    data = numeric(e)
    symbols = [s for s in data if not getattr(s, "is_integer", False)]
    given = {s: (float(np.min(data[s])), float(np.max(data[s]))) for s in symbols}
    unknown = e.atoms(sp.core.function.AppliedUndef) or "undefined" in name
    if unknown:
        assert se.bounds(e, given) == Interval(-oo, oo)
        return
    values = np.asarray(se.lambdify([*data], e)(*data.values()), dtype=float)
    whole = {s: v for s, v in data.items() if s not in given}
    found = se.bounds(e, given).subs({**LENGTHS, **whole})
    slack = 1e-9 * (1 + np.abs(values).max())
    assert values.min() >= float(found.inf) - slack
    assert values.max() <= float(found.sup) + slack


def test_a_loop_is_unbounded():
    total, _ = se.scan(lambda c, row: (c + row, None), A[0], A)
    assert se.bounds(total, {A: (0, 1)}) == Interval(-oo, oo)


@pytest.mark.parametrize("seed", range(30))
def test_random_functions_of_one_entry(seed):
    """Sums and products of functions, against values at random points."""
    rng = np.random.default_rng(seed)
    w = se.TensorSymbol("w", 41)
    parts = [w, w**2, se.exp(w), se.sin(w), se.tanh(w), 1 / (1 + w**2), se.sigmoid(w), abs(w)]
    picked = rng.choice(len(parts), 3)
    f = parts[picked[0]] * parts[picked[1]] - int(rng.integers(1, 4)) * parts[picked[2]]
    low, width = Rational(int(rng.integers(-8, 8)), 4), Rational(int(rng.integers(1, 12)), 4)
    found = se.bounds(f, {w: (low, low + width)})
    values = se.lambdify([w], f)(np.linspace(float(low), float(low + width), 41))
    assert values.min() >= float(found.inf) - 1e-12
    assert values.max() <= float(found.sup) + 1e-12
    assert float(found.sup - found.inf) < 2 * (values.max() - values.min()) + 0.5


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({x: (2, 1)}, "lower bound of x"),
        ({x: 3}, "a pair"),
        ({x @ x: (0, 1)}, "given for symbols"),
        ({x: (se.Zeros(3, 3), 1)}, "shape"),
        ({x: (sp.I, 1)}, "real number"),
    ],
)
def test_wrong_bounds(given, told):
    with pytest.raises(se.TensorError, match=told):
        se.bounds(x @ x, given)


def test_complex_numbers_have_no_bounds():
    with pytest.raises(se.UnsupportedError, match="complex"):
        se.bounds(se.Constant([1j, 2]))
