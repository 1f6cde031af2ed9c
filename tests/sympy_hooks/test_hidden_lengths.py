"""Axis lengths and names inside of tensors in stock algorithms."""

import numpy as np
import pytest
from oracles import assert_close, evaluate, n
from sympy import (
    Derivative,
    Integral,
    Limit,
    Piecewise,
    Product,
    Sum,
    Symbol,
    cos,
    diff,
    exp,
    expand_log,
    factorial,
    gamma,
    integrate,
    laplace_transform,
    limit,
    log,
    oo,
    powdenest,
    product,
    series,
    sin,
    solve,
    sqrt,
    summation,
    symbols,
)

import sympy_einsum as se

t = Symbol("t", real=True)
k = Symbol("k", integer=True, nonnegative=True)
x, y = se.tensors("x y", n)
A = se.TensorSymbol("A", n, n)
h = se.TensorSymbol("h", 2)
DATA = {
    x: np.array([0.5, -0.1, 0.3]),
    y: np.array([0.2, 0.25, -0.75]),
    A: np.arange(9.0).reshape(3, 3) / 7,
    h: np.array([0.4, -0.6]),
    t: 0.7,
}

DEPENDENT = [
    x @ x,
    sin(x @ x),
    t * (x @ x),
    se.norm(x),
    x @ x + n,
    x.mean(),
    exp(-(x @ x)) * n**2,
    se.det(A) / 2,
    Piecewise((x @ x, t > 0), (n, True)),
    sqrt(1 + (x @ A @ x) ** 2),
]
ALGORITHMS = {
    "Sum": lambda f: Sum(f, (n, 1, 3)).doit(),
    "summation": lambda f: summation(f, (n, 1, k)),
    "Product": lambda f: Product(f, (n, 1, 3)).doit(),
    "product": lambda f: product(f, (n, 1, k)),
    "limit": lambda f: limit(f, n, oo),
    "Limit": lambda f: Limit(f, n, 1),
    "series": lambda f: series(f, n, 0, 2),
    "integrate": lambda f: integrate(f, n),
    "Integral": lambda f: Integral(f, (n, 1, 3)),
    "diff": lambda f: diff(f, n),
    "Derivative": lambda f: Derivative(f, n),
    "solve": lambda f: solve(f - 1, n),
}


@pytest.mark.parametrize("f", DEPENDENT, ids=str)
def test_lengths_are_found(f):
    assert f.has(n)
    assert not f.has(k)
    assert f.is_constant(n) is False
    assert f.is_constant(k) is True
    assert f.is_constant() is False


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("f", DEPENDENT, ids=str)
def test_a_length_is_never_taken_for_constant(f, name):
    """There is neither sum nor limit over an axis length; the message names the tensor."""
    with pytest.raises(
        se.UnsupportedError, match=r"n: it is an axis length (of [xA], of shape|or)"
    ):
        ALGORITHMS[name](f)


def test_lengths_in_bounds_and_beside_tensors():
    assert Sum(x @ x, (k, 1, n)).doit() == n * (x @ x)
    assert integrate(t * (x @ x), (t, 0, n)) == n**2 * (x @ x) / 2
    assert solve(n * t - (x @ x), t) == [(x @ x) / n]
    assert diff(sin(t * (x @ x)), t) == (x @ x) * cos(t * (x @ x))
    assert Sum(n * (h @ h), (n, 1, 3)).doit() == 6 * (h @ h)
    assert limit((h @ h) / n, n, oo) == 0
    assert series(exp(n * (h @ h)), n, 0, 2).removeO() == 1 + n * (h @ h)


@pytest.mark.parametrize("f", DEPENDENT, ids=str)
def test_rebuilding_from_args(f):
    """Stock traversals rebuild by func and args; replacing a length there changes the tensors."""
    assert f.func(*f.args) == f
    shorter = f.replace(n, Symbol("m", integer=True, positive=True))
    assert not shorter.has(n)
    assert shorter == f.subs(n, Symbol("m", integer=True, positive=True))


# --- integrals and series of tensors -------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "known"),
    [
        (lambda: integrate(x, (t, 0, 1)), x),
        (lambda: integrate(exp(-t) * A, (t, 0, oo)), A),
        (lambda: integrate(A, (t, 0, 1), (k, 0, 2)), 2 * A),
        (lambda: integrate(x, t), t * x),
        (lambda: integrate(se.Zeros(n), (t, 0, 1)), se.Zeros(n)),
        (lambda: integrate(se.Constant([1, 2]), (t, 0, 1)), se.Constant([1, 2])),
        (lambda: integrate(se.Ones(n), (t, 0, 1)), se.Ones(n)),
        (lambda: summation(x, (k, 1, 1)), x),
        (lambda: summation(x, (k, 1, 3)), 3 * x),
        (lambda: product(x, (k, 1, 1)), x),
        (lambda: integrate(sin(t) * x + t * y, (t, 0, 1)), (1 - cos(1)) * x + y / 2),
    ],
)
def test_integrals_of_tensors(made, known):
    """Integrals that give a symbol, zeros or a constant."""
    assert made() == known


def test_a_symbol_is_rebuilt_from_no_arguments():
    assert x.func(*x.args) is x
    with pytest.raises(se.TensorError, match="takes the 0 arguments"):
        x.func(y)


def test_integral_transforms_of_tensors_are_refused():
    with pytest.raises(se.UnsupportedError, match="no LaplaceTransform of tensors"):
        laplace_transform(exp(-t) * x, t, k)


@pytest.mark.parametrize(
    ("term", "known"),
    [
        (lambda f: f**k / factorial(k), exp),
        (lambda f: (-f) ** k / factorial(k), lambda f: exp(-f)),
        (lambda f: f ** (2 * k) / factorial(2 * k) * (-1) ** k, cos),
        (lambda f: t * f**k / factorial(k), lambda f: t * exp(f)),
        (lambda f: f ** (k + 1) / gamma(k + 1), lambda f: f * exp(f)),
    ],
)
@pytest.mark.parametrize("f", [x @ x, x @ A @ y, t * (x @ y), h @ h, se.norm(x)], ids=str)
def test_power_series_are_summed(term, known, f):
    found = Sum(term(f), (k, 0, oo)).doit()
    assert_close(evaluate(found, DATA), evaluate(known(f), DATA))


def test_polar_dummies_leave_tensors():
    """SymPy substitutes polar numbers for all free symbols while it simplifies powers."""
    f = exp(log(x @ x) * 2)
    assert powdenest((f**t) ** 2, polar=True).has(x)
    assert expand_log(log((x @ x) ** 2), force=True) == 2 * log(x @ x)


# --- symbols of one name -------------------------------------------------------------------------

OTHER = Symbol("n")
z = se.TensorSymbol("z", OTHER)


@pytest.mark.parametrize(
    "made",
    [
        lambda: x @ z,
        lambda: x + z,
        lambda: se.einsum("i,i->", x, z),
        lambda: (x @ x).subs(x, z),
        lambda: se.inv(se.TensorSymbol("B", n, OTHER)),
        lambda: se.TensorSymbol("S", n, OTHER, symmetric=True),
        lambda: se.concatenate([A, se.TensorSymbol("B", n, OTHER)], axis=0),
        lambda: se.stack([x, z]),
        lambda: z.broadcast_to(3, n),
        lambda: se.TensorSymbol("B", n, OTHER).trace(),
    ],
)
def test_symbols_of_one_name_are_distinguished(made):
    with pytest.raises(se.ShapeError, match=r"Symbol\('n'\) and Symbol\('n', integer=True.*\) are"):
        made()


def test_other_lengths_need_no_such_hint():
    m = symbols("m", integer=True, positive=True)
    with pytest.raises(se.ShapeError) as error:
        x @ se.TensorSymbol("z", m)
    assert "Symbol(" not in str(error.value)
