"""Axes along which a value is repeated are left out of computations and formulas."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from sympy import Symbol, srepr, symbols

import sympy_einsum as se

m, n, k = symbols("m n k", integer=True, positive=True)
eps = Symbol("epsilon", positive=True)
X, Y = se.TensorSymbol("X", m, n), se.TensorSymbol("Y", m, n)
T = se.TensorSymbol("T", m, k, n)
s, t = se.tensors("s t", m)
RNG = np.random.default_rng(5)
DATA = {
    X: RNG.normal(size=(3, 4)),
    Y: RNG.normal(size=(3, 4)),
    T: RNG.normal(size=(3, 2, 4)),
    s: RNG.uniform(1, 2, size=3),
    t: RNG.uniform(1, 2, size=3),
    eps: 0.1,
}


def norm_over(A, axis):
    return (A - se.mean(A, axis, keepdims=True)) / se.sqrt(se.var(A, axis, keepdims=True) + eps)


def numpy_norm_over(A, axis):
    return (A - A.mean(axis, keepdims=True)) / np.sqrt(A.var(axis, keepdims=True) + 0.1)


NORMALISED = [
    (norm_over(X, 1), numpy_norm_over(DATA[X], 1)),
    (norm_over(X, 0), numpy_norm_over(DATA[X], 0)),
    (norm_over(T, 2), numpy_norm_over(DATA[T], 2)),
    (norm_over(T, (0, 2)), numpy_norm_over(DATA[T], (0, 2))),
    (
        X / se.sqrt(se.mean(X**2, 1, keepdims=True) + eps),
        DATA[X] / np.sqrt((DATA[X] ** 2).mean(1, keepdims=True) + 0.1),
    ),
    (X / (t[:, None] + t[:, None] ** 2), DATA[X] / (DATA[t] + DATA[t] ** 2)[:, None]),
    (
        se.broadcast_to(s[:, None], (m, n)) * se.exp(t[:, None] + s[:, None]) + X,
        (DATA[s] * np.exp(DATA[s] + DATA[t]))[:, None] + DATA[X],
    ),
]


def value(e):
    names = sorted(e.free_symbols & DATA.keys(), key=str)
    return se.lambdify(names, e)(*[DATA[name] for name in names])


@pytest.mark.parametrize(("e", "expected"), NORMALISED, ids=range(len(NORMALISED)))
def test_values_and_texts(e, expected):
    np.testing.assert_allclose(value(e), expected, rtol=1e-12)
    np.testing.assert_allclose(value(se.simplify(e)), expected, rtol=1e-12)
    assert "Ones(1)" not in f"{e} {se.simplify(e)}"
    assert eval(srepr(e), {**vars(sympy), **vars(se)}) is e


@pytest.mark.parametrize("e", [e for e, _ in NORMALISED], ids=range(len(NORMALISED)))
def test_derivatives(e):
    variable = X if X in e.free_symbols else T
    assert se.check_derivative((e * e * e).sum(), variable)


def test_a_sum_of_columns_is_a_column():
    total = s[:, None] + t[:, None]
    assert total is (s + t)[:, None]
    assert se.exp(total) is se.exp(s + t)[:, None]
    assert (total + X) - X is se.broadcast_to((s + t)[:, None], (m, n))
    assert (s[:, None] + X) + t[:, None] is X + (s[:, None] + t[:, None])
    scalar = se.sum(s, keepdims=True)
    assert se.sqrt(scalar + eps) is se.reshape(se.sqrt(s.sum() + eps), 1)


def test_layer_norm_reads_as_vectors():
    deviations = se.sqrt(se.var(X, 1, keepdims=True) + eps)
    assert str(deviations[:, 0]).endswith(".sum(axis=1)/n)")
    assert str(se.softmax(X / t[:, None], axis=1)) == "softmax(diag(1/t) @ X, axis=1)"
    latex = se.latex(X / (t[:, None] + 1))
    assert latex == (r"\operatorname{diag}\left(\left(\mathbf{1} + t\right)^{\odot -1}\right) X")
