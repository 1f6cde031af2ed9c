"""Random expressions that mix SymPy's scalars with tensors, nested both ways: all Python texts
evaluate back to the value."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
import scipy.special
import sympy
from sympy import S, symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

COUNT = 120
n, m = symbols("n m", integer=True, positive=True)
t, u = symbols("t u", positive=True)
x, y = se.tensors("x y", n)
b = se.TensorSymbol("b", m)
A, C = se.tensors("A C", n, n)
B = se.TensorSymbol("B", (m, n))
_RNG = np.random.default_rng(0)
DATA = {
    **{vector: _RNG.uniform(0.4, 1.2, 3) for vector in (x, y)},
    b: _RNG.uniform(0.4, 1.2, 2),
    **{matrix: _RNG.uniform(0.1, 1, (3, 3)) + 2 * np.eye(3) for matrix in (A, C)},
    B: _RNG.uniform(0.3, 1, (2, 3)),
    **{t: 0.7, u: 1.3, n: 3, m: 2},
}
TYPED = {**vars(sympy), **vars(se), **{s.name: s for s in DATA}}
NUMBERS = {"numpy": np, "math": math, "scipy": scipy, **{s.name: v for s, v in DATA.items()}}


class Mixed:
    """Random scalars, vectors and matrices made of each other."""

    def __init__(self, seed):
        self.choice = random.Random(seed)

    def scalar(self, depth):
        if depth <= 0:
            leaves = [t, u, x @ y, x @ x, A.trace(), S(3), S.Half, se.det(A), x[0], A[0, 1]]
            return self.choice.choice([*leaves, x @ A @ y, b.sum(), n, se.norm(x), sympy.pi])

        def f():
            return self.scalar(depth - 1)

        def v():
            return self.vector(depth - 1)

        def matrix():
            return self.matrix(depth - 1)

        def number(*values):
            return self.choice.choice(values)

        return self.choice.choice([
            lambda: f() + f(),
            lambda: f() - f(),
            lambda: f() * f(),
            lambda: f() / f(),
            lambda: f() / (f() + 2),
            lambda: -f(),
            lambda: f() ** 2,
            lambda: 1 / f(),
            lambda: sympy.sqrt(sympy.Abs(f()) + 1),
            lambda: sympy.exp(-f() / 10),
            lambda: sympy.sin(f()) * number(1, -1, 2, S(1) / 3),
            lambda: sympy.log(1 + sympy.Abs(f())) ** number(1, 2, -1, -2),
            lambda: v() @ v(),
            lambda: v().sum(),
            lambda: v() @ matrix() @ v(),
            lambda: matrix().trace(),
            lambda: sympy.Max(f(), f()),
            lambda: number(-2, 3, S(-1) / 2) / (f() * f()),
            lambda: f() ** number(-1, 1, 3) / number(2, 3, -2),
        ])()  # fmt: skip

    def vector(self, depth):
        if depth <= 0:
            return self.choice.choice([x, y, B.T @ b, A.diagonal(), x / 3])

        def f():
            return self.scalar(depth - 1)

        def v():
            return self.vector(depth - 1)

        def matrix():
            return self.matrix(depth - 1)

        functions = [se.sin, se.tanh, se.sigmoid, se.relu, se.Abs, se.softmax]
        return self.choice.choice([
            lambda: v() + v(),
            lambda: v() - v(),
            lambda: v() * v(),
            lambda: v() / (v() ** 2 + 1),
            lambda: f() * v(),
            lambda: v() / f(),
            lambda: matrix() @ v(),
            lambda: -v(),
            lambda: self.choice.choice(functions)(v()),
            lambda: f() - v(),
            lambda: v() ** self.choice.choice([2, 3]),
            lambda: matrix().sum(axis=self.choice.randint(0, 1)),
            lambda: se.einsum("ij,jk,k->i", matrix(), matrix(), v()),
        ])()  # fmt: skip

    def matrix(self, depth):
        if depth <= 0:
            return self.choice.choice([A, C, A.T, B.T @ B, se.diag(x), se.Delta(n)])

        def f():
            return self.scalar(depth - 1)

        def v():
            return self.vector(depth - 1)

        def matrix():
            return self.matrix(depth - 1)

        return self.choice.choice([
            lambda: matrix() + matrix(),
            lambda: matrix() - f() * matrix(),
            lambda: matrix() * matrix(),
            lambda: matrix() @ matrix(),
            lambda: matrix().T,
            lambda: f() * matrix(),
            lambda: se.einsum("i,j->ij", v(), v()),
            lambda: se.inv(self.choice.choice([A, C, A + C])),
            lambda: se.softmax(matrix(), axis=self.choice.randint(0, 1)),
            lambda: se.diag(v()),
            lambda: -matrix() / self.choice.choice([2, 3, S(1) / 3]),
            lambda: se.exp(-matrix() / 10),
            lambda: matrix() ** 2,
        ])()  # fmt: skip

    def expression(self):
        depth = self.choice.randint(1, 4)
        e = self.choice.choice([self.scalar] * 3 + [self.vector, self.matrix])(depth)
        wrt = self.choice.choice([None, None, None, x, A, y])
        return sympy.sympify(e if wrt is None else se.diff(e, wrt))


def value(e):
    return np.asarray(se.lambdify(list(DATA), e)(*DATA.values()), dtype=float)


@pytest.mark.parametrize("seed", range(COUNT))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_texts_evaluate_back(seed):
    e = Mixed(seed).expression()
    expected = value(e) if not e.has(S.NaN, S.ComplexInfinity, S.Infinity) else S.NaN
    if not np.isfinite(np.asarray(expected, dtype=float)).all():
        return
    texts = {printer(e) for printer in (str, repr, sympy.sstr, sympy.srepr)}
    found = [value(eval(text, dict(TYPED))) for text in texts]
    found.append(np.asarray(eval(sympy.pycode(e), dict(NUMBERS)), dtype=float))
    scale = 1 + np.abs(expected).max(initial=0)
    for result in found:
        assert result.shape == expected.shape
        np.testing.assert_allclose(result, expected, rtol=1e-7, atol=1e-9 * scale)


BRACKETS = [
    (1 - 2 / (x @ x), "1 - 2/(x @ x)"),
    (-2 * t / (x @ x), "-2*t/(x @ x)"),
    (-(x @ y) / (x @ x), "-(x @ y)/(x @ x)"),
    (3 - (x @ y) * t, "-t*(x @ y) + 3"),
    (t / (x @ x) ** 2, "t/(x @ x)**2"),
    (2 ** (x @ y), "2**(x @ y)"),
    (sympy.sin(x @ y), "sin(x @ y)"),
    (sympy.Max(x @ y, t), "Max(t, x @ y)"),
    (x / sympy.sqrt(x @ x), "x/norm(x)"),
    (x @ (se.softmax(A, axis=0).T @ y), "y @ softmax(A, axis=0) @ x"),
    (se.softmax(3 * se.outer(x * y, x), axis=0).T, "softmax(3*outer(x*y, x), axis=0).T"),
    (se.softmax(3 * A[:, ::-1].T, axis=1).T, "softmax(3*A[:, ::-1].T, axis=1).T"),
    (se.tanh(C @ y) @ (se.outer(A @ x, y) @ x), "x @ outer(y, A @ x) @ tanh(C @ y)"),
]


@pytest.mark.parametrize(("e", "text"), BRACKETS, ids=[row[1] for row in BRACKETS])
def test_brackets(e, text):
    assert str(e) == text
    for written in (text, sympy.srepr(e)):
        np.testing.assert_allclose(value(eval(written, dict(TYPED))), value(e))


def test_a_matrix_may_be_called_like_sympys_singletons():
    """``S`` is a covariance; ``S(1)/2`` in a text would call the matrix."""
    cov = se.TensorSymbol("S", (n, n))
    derivative = se.gradient(snp.maximum(cov, A).sum(), cov)
    back = eval(str(derivative), {**TYPED, "S": cov})
    data = {**DATA, cov: DATA[A] - 0.5}
    values = [se.lambdify(list(data), e)(*data.values()) for e in (derivative, back)]
    np.testing.assert_array_equal(*values)
    assert values[0].shape == (3, 3)
