"""Arithmetic by operators and by SymPy's constructors: tensors keep their shape, scalars are parts
of stock expressions."""

import numpy as np
import pytest
import sympy
from node_samples import SAMPLES, A, B, X, Y, inside, numeric, sample, t, u, v, x, y
from oracles import assert_close, evaluate, m, n
from sympy import Add, Function, Mul, Pow, S

import sympy_einsum as se


def test_sums_through_operators_and_constructors():
    assert X + Y == Add(X, Y) == Y + X == sum([X, Y])
    assert (X + Y).shape == (n, m)
    assert isinstance(X + Y, se.TensorExpr)
    assert Add(X, Y, evaluate=True) == X + Y
    assert Add(X, Mul(-1, X)) == se.Zeros(n, m)
    assert X + 0 == X
    assert 0 + X == X


def test_multiples_through_operators_and_constructors():
    assert 2 * A == A * 2 == Mul(2, A) == Mul(A, 2) == A + A
    assert (2 * A).shape == (n, n)
    assert Mul(t, A) == t * A == A * t
    assert Mul(x @ y, A) == (x @ y) * A
    assert Mul(A, B) == A * B
    assert (A * B).shape == (n, n)
    assert A * 1 == A
    assert Mul(S.Half, A) == A / 2
    assert Mul(-1, A) == -A
    assert se.Zeros(n, n) == 0 * A
    assert se.Zeros(n, n) == A * 0


def test_powers_through_operators_and_constructors():
    assert Pow(X, 2) == X**2
    assert (X**2).shape == (n, m)
    assert x**1 == x
    assert (1 / x) == x**-1 == Pow(x, -1)
    data = numeric(X)
    assert_close(evaluate(2**X, data), 2 ** data[X])
    assert_close(evaluate(X**2 - X * X, data), np.zeros((3, 4)))
    assert_close(evaluate(X**t, {**data, t: 1.5}), data[X] ** 1.5)


def test_a_minus_a_keeps_its_shape():
    difference = A - A
    assert difference == se.Zeros(n, n)
    assert difference.shape == (n, n)
    assert (X @ v - X @ v) == se.Zeros(n)
    assert x @ y - y @ x == 0
    assert Add(X, -X).shape == (n, m)


def test_a_over_a_keeps_its_shape():
    assert (x / x).shape == (n,)
    assert Mul(x, Pow(x, -1)).shape == (n,)
    assert_close(evaluate(x / x, {x: np.array([1.0, 2.0, -3.0])}), np.ones(3))


def test_mixed_stock_and_tensor_terms_keep_their_shape():
    f = x @ y
    e = t * x + sympy.sin(f) * x - x * f
    assert e.shape == (n,)
    data = numeric(e)
    inner = data[x] @ data[y]
    assert_close(evaluate(e, data), data[x] * (0.7 + np.sin(inner) - inner))


def test_matmul_follows_numpy():
    assert (X @ v).shape == (n,)
    assert (x @ X).shape == (m,)
    assert (x @ y).is_commutative
    assert (X.T @ X).shape == (m, m)
    with pytest.raises(se.ShapeError):
        X @ X


def test_sum_of_a_generator_of_scalars_is_stock():
    e = sum(x[j] ** 2 for j in range(3))
    data = numeric(e)
    assert_close(evaluate(e, {x: data[x]}), np.sum(data[x] ** 2))


def test_order_zero_results_live_in_stock_expressions():
    f = x @ A @ x
    e = sympy.sin(f) * t + f**2
    assert isinstance(e, sympy.Add)
    assert e.args
    assert sympy.expand((f + 1) ** 2) == f**2 + 2 * f + 1
    assert sympy.factor(f**2 + 2 * f + 1) == (f + 1) ** 2
    assert sympy.Poly(f**2 + 3 * f, f).coeffs() == [1, 3]
    assert sympy.collect(f * t + f * u, f) == f * (t + u)
    assert sympy.simplify(sympy.sin(f) ** 2 + sympy.cos(f) ** 2) == 1
    assert sympy.cancel((f**2 - 1) / (f - 1)) == f + 1
    assert sympy.Matrix([[f, 1], [0, f]]).det() == f**2
    assert sympy.nsimplify(f * 0.5) == f / 2


@sample
def test_harmless_operations_do_no_harm(name):
    """doit, expand, simplify and the like preserve the value."""
    for e in (SAMPLES[name], inside(name)):
        shape = tuple(getattr(e, "shape", ()))
        for operation in (
            lambda e: e.doit(),
            sympy.expand,
            sympy.simplify,
            sympy.factor,
            sympy.together,
            sympy.powsimp,
            sympy.trigsimp,
            lambda e: e.xreplace({}),
            lambda e: e.subs({}),
            lambda e: e.replace(Function("h"), Function("k")),
            sympy.sympify,
        ):
            if operation in (sympy.factor, sympy.together) and shape:
                continue
            after = operation(e)
            assert tuple(getattr(after, "shape", ())) == shape
            if after != e and not e.atoms(sympy.core.function.AppliedUndef):
                data = numeric(e)
                assert_close(evaluate(after, data), evaluate(e, data))


@sample
def test_cse(name):
    e = inside(name)
    replacements, [reduced] = sympy.cse(e)
    for symbol, value in reversed(replacements):
        reduced = reduced.subs(symbol, value)
    assert reduced == e
    _, [alone] = sympy.cse(SAMPLES[name])
    assert alone is not None
