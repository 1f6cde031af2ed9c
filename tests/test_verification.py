"""Checks by numbers: derivatives against finite differences, and equality of expressions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sympy import Symbol, symbols

import sympy_einsum as se
from sympy_einsum.verification import Samples

m, n = symbols("m n", integer=True, positive=True)
X, Y = se.tensors("X Y", n, m)
A, B = se.tensors("A B", n, n)
v, w = se.tensors("v w", n)
BIG = 10**14
ROOT = se.sqrt(1 + v**2 / BIG)
H = X @ se.inv(X.T @ X) @ X.T
S = se.TensorSymbol("S", (n, n), symmetric=True)
K = se.TensorSymbol("K", (n, n), psd=True)
D = se.TensorSymbol("D", (n, n), diagonal=True)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (H @ H, H),
        (H @ X, X),
        (H.T, H),
        (se.inv(X.T @ X) @ X.T @ X, se.Delta(m)),
        (X @ se.inv(X.T @ X), se.inv(X @ X.T) @ X),  # never both defined, but for square X
        (
            se.inv(A + X @ X.T),
            A.inv() - A.inv() @ X @ se.inv(se.Delta(m) + X.T @ A.inv() @ X) @ X.T @ A.inv(),
        ),
        (BIG * (ROOT - 1), v**2 / (1 + ROOT)),  # rounding errors of a percent
        (se.log(se.cosh(20 * v)), se.log(2 * se.cosh(20 * v)) - se.log(2)),
    ],
)
def test_equal_expressions_are_never_called_different(left, right):
    assert se.equal(left, right) in (True, None)
    assert se.equal(left, 2 * left) is not True


def test_equal_takes_no_sample_for_the_axis_lengths_to_be_in_one_order():
    assert se.equal(H, 2 * H) is False
    wide = X.T @ se.inv(X @ X.T)
    assert se.equal(wide, 2 * wide) is False
    both = [Samples([e]).draw(3) for e in (H, wide)]
    assert [len(list(drawn)) for drawn in both] == [3, 3]


def test_equal_of_lengths_positions_and_nothing():
    i = symbols("i", integer=True)
    assert se.equal(se.Ones(n) / n, se.Ones(n)) is False
    assert se.equal(v * n, v * (n + 1)) is False
    assert se.equal(A[i, 0], A[0, i]) is False
    assert se.equal(v[1:], v[:-1]) is False
    z = se.TensorSymbol("z", (0, 3))
    assert se.equal(z, 2 * z) is True
    assert se.equal(v, se.TensorSymbol("u", 3)) is False


def test_many_lengths_make_no_large_samples():
    T = se.TensorSymbol("T", symbols("d0:12", integer=True, positive=True))
    assert se.equal(T.sum(), 2 * T.sum()) is False


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (se.logdet(X.T @ X) + v @ H @ v, X),
        (se.inv(X.T @ X) @ X.T @ v, X),
        (X @ se.inv(X.T @ X) @ X.T @ v, v),
        (se.logdet(K) + v @ K.inv() @ v, K),
        (v @ S.inv() @ v, S),
        (v @ D.inv() @ v, D),
        (se.relu(A @ v).sum(), A),
        (se.Abs(v).sum(), v),
    ],
)
def test_derivatives_are_checked_where_they_exist(f, x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert se.check_derivative(f, x) < 1e-8


def test_a_wrong_derivative_is_found_and_shown():
    data = Samples([v @ v, 3 * v], first=[v])
    values, _ = next(data.draw(1))
    largest = int(abs(values[0]).argmax())
    with pytest.raises(se.TensorError, match=r"differs from finite differences by .*: entry \["):
        se.check_derivative(v @ v, v, 3 * v, samples=1)
    with pytest.raises(se.TensorError, match=rf"entry \[{largest}\] is "):
        se.check_derivative(v @ v, v, 3 * v, samples=1)
    t = Symbol("t")
    with pytest.raises(se.TensorError, match=r"by 0\.\d+: it is -?\d"):
        se.check_derivative(t**2, t, 3 * t, samples=1)


def test_a_symmetric_variable_is_moved_along_symmetric_matrices():
    # The antisymmetric part of a derivative by it says nothing.
    f = v @ S @ w
    assert se.check_derivative(f, S, se.einsum("i,j->ij", w, v)) < 1e-8
    with pytest.raises(se.TensorError, match="differs"):
        se.check_derivative(f, S, se.einsum("i,j->ij", v, v))


def test_data_have_the_structure_that_is_declared():
    P = se.TensorSymbol("P", (n, n), positive=True)
    for seed in range(6):
        data = Samples([S, K, D, P, X])
        values = dict(zip(data.symbols, data.arguments(seed), strict=True))
        assert np.allclose(values[S], values[S].T)
        assert np.linalg.eigvalsh(values[K]).min() > 0
        assert not (values[D] - np.diag(values[D].diagonal())).any()
        assert values[P].min() > 0
        assert np.linalg.cond(values[X]) < 100
