"""Substitution of symbols, tensors, subexpressions and axis lengths, in nodes and around them."""

import numpy as np
import pytest
import sympy
from node_samples import SAMPLES, A, X, Y, inside, numeric, sample, t, u, v, x, y
from oracles import assert_close, evaluate, m, n, p
from sympy import Integer, Lambda, Piecewise, S

import sympy_einsum as se


@sample
def test_substituting_a_length(name):
    e = SAMPLES[name]
    if n not in e.free_symbols and not any(n in sympy.sympify(q).free_symbols for q in e.atoms()):
        return
    after = e.subs(n, 3)
    assert not after.has(n)
    before = tuple(getattr(e, "shape", ()))
    assert tuple(getattr(after, "shape", ())) == tuple(sympy.sympify(q).subs(n, 3) for q in before)
    assert e.xreplace({n: Integer(3)}) == after
    assert after.subs(m, 4).free_symbols.isdisjoint({n, m})


@sample
def test_renaming_a_tensor(name):
    e = SAMPLES[name]
    if x not in e.free_symbols:
        return
    z = se.TensorSymbol("z", (n,))
    after = e.subs(x, z)
    assert x not in after.free_symbols
    assert z in after.free_symbols
    assert after.subs(z, x) == e
    assert e.xreplace({x: z}) == after
    assert inside(name).subs(x, z).subs(z, x) == inside(name)
    assert inside(name).xreplace({x: z}).xreplace({z: x}) == inside(name)


def test_substituting_symbols():
    e = t * se.exp(u * x)
    assert e.subs(t, 2) == 2 * se.exp(u * x)
    assert e.subs({t: 2, u: 0}) == 2 * se.Ones(n)
    assert e.subs(t, x @ y) == (x @ y) * se.exp(u * x)
    assert (t * x).subs(t, 0) == se.Zeros(n)
    assert e.subs([(t, u), (u, 3)]) == 3 * se.exp(3 * x)
    f = x @ x
    assert (sympy.sin(f) * t).subs(t, 2) == 2 * sympy.sin(f)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_substituting_zeros_in_subgradients(axis):
    for share in (se.max_share, se.min_share):
        found = share(X, axis=axis).subs(X, se.Zeros(*X.shape))
        count = sympy.prod(X.shape if axis is None else X.shape[axis : axis + 1])
        assert found == se.Ones(*X.shape) / count
    assert se.gradient(x.max(), x).subs(x, se.Zeros(n)) == se.Ones(n) / n


def test_substituting_tensors():
    assert (X @ v).subs(X, X + Y) == (X + Y) @ v
    assert (x @ x).subs(x, y) == y @ y
    assert (x @ x).subs(x, A @ y) == (A @ y) @ (A @ y)
    assert (x @ y).subs({x: y, y: x}, simultaneous=True) == x @ y
    assert (x @ A @ y).subs({x: y, y: x}, simultaneous=True) == y @ A @ x
    assert (x @ A @ y).xreplace({x: y, y: x}) == y @ A @ x
    f = x @ y
    assert (sympy.sin(f) * t).subs(x, y) == sympy.sin(y @ y) * t
    assert se.exp(x).subs(x, se.Zeros(n)) == se.Ones(n)
    assert (sympy.sin(f) * t).subs(f, u) == sympy.sin(u) * t
    assert (x @ x).subs(x, se.Zeros(n)) == 0


def test_substituting_a_subexpression():
    e = se.exp(X @ v) + X @ v
    z = se.TensorSymbol("z", (n,))
    assert e.subs(X @ v, z) == se.exp(z) + z
    assert e.xreplace({X @ v: z}) == se.exp(z) + z


def test_a_substitution_of_the_wrong_shape_is_an_error():
    for new in (v, X, t, S.One, se.TensorSymbol("z", (p,))):
        with pytest.raises(se.TensorError):
            (A @ x).subs(x, new)
    with pytest.raises(se.TensorError):
        (A @ x).xreplace({x: v})


def test_substituting_axis_lengths():
    e = (X @ v).subs({n: 3, m: 4})
    assert e.shape == (3,)
    assert e.free_symbols == {se.TensorSymbol("X", (3, 4)), se.TensorSymbol("v", (4,))}
    assert X.subs(n, m).shape == (m, m)
    assert X.mean().subs({n: 3, m: 4}) == se.TensorSymbol("X", (3, 4)).sum() / 12
    f = x @ x
    e = (sympy.sin(f) * t).subs(n, 3)
    z = se.TensorSymbol("x", (3,))
    assert e == sympy.sin(z @ z) * t


def test_lengths_are_exchanged_in_one_pass():
    assert X.xreplace({n: m, m: n}).shape == (m, n)


def test_stock_code_substitutes_plain_numbers():
    """SymPy passes Python numbers, truth values and relations to xreplace."""
    f = x @ y
    assert Lambda(t, f * t)(2) == 2 * f
    assert (f * t).xreplace({t: 2}) == 2 * f
    assert (t * x).xreplace({t: 2}) == 2 * x
    assert (t * x).subs(t, 2.5) == 2.5 * x
    integral = sympy.integrate(sympy.exp(-f * t), (t, 0, 1))
    data = numeric(f)
    inner = data[x] @ data[y]
    assert_close(evaluate(integral, data), (1 - np.exp(-inner)) / inner)
    chosen = Piecewise((f, f > 0), (-f, True))
    assert chosen.xreplace({f > 0: S.true}) == f
    assert chosen.subs(f > 0, True) == f
