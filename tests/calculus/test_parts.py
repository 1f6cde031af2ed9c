"""Derivatives by entries, slices and parts of an expression, and by SymPy's matrix symbols."""

import numpy as np
import pytest
import sympy as sp
from oracles import assert_close, data_for, evaluate

import sympy_einsum as se

n = sp.Symbol("n", integer=True, positive=True)
i = sp.Symbol("i", integer=True)
A, x = se.TensorSymbol("A", 4, 3), se.TensorSymbol("x", 3)
DATA = data_for([A, x])


def value(expr):
    return np.asarray(evaluate([expr], DATA)[0])


@pytest.mark.parametrize(
    ("part", "index"),
    [
        (x[0], (0,)),
        (x[-1], (-1,)),
        (x[1:], (slice(1, None),)),
        (x[::2], (slice(None, None, 2),)),
    ],
)
@pytest.mark.parametrize("y", [se.sin(x) @ x, se.tanh(A @ x), se.outer(x, x) * 2, x[1] ** 3, x])
def test_entries_and_slices(y, part, index):
    found = se.diff(y, part)
    full = value(se.diff(y, x))
    assert_close(value(found), full[(..., *index)])
    assert_close(
        value(se.diff(y, part, x)), value(se.diff(se.diff(y, x), x))[(..., *index, slice(None))]
    )


def test_entries_of_a_matrix():
    y = se.exp(A @ x).sum() * A
    assert_close(value(se.diff(y, A[1, 2])), value(se.diff(y, A))[..., 1, 2])
    assert_close(value(se.diff(y, A[1:3, 0])), value(se.diff(y, A))[..., 1:3, 0])
    assert sp.diff(x @ x, x[0]) == 2 * x[0]
    v = se.TensorSymbol("v", n)
    assert se.diff(v @ v, v[i]) == 2 * v[i]


def test_parts():
    layer = A @ x
    s = se.TensorSymbol("s", 4)
    for f in (se.exp, lambda v: se.sin(v) * v, lambda v: se.exp(v).sum()):
        assert se.diff(f(layer), layer) == se.diff(f(s), s).xreplace({s: layer})
    norm = x @ x
    assert se.equal(se.diff(sp.log(norm) ** 2, norm), 2 * sp.log(norm) / norm)
    with pytest.raises(se.TensorError, match="isn't a part of"):
        se.diff(se.exp(A @ x), x @ x)
    with pytest.raises(se.TensorError, match="depends on A otherwise than by A @ x"):
        se.diff(se.exp(A @ x) @ A @ x, A @ x)
    with pytest.raises(se.TensorError, match="can't differentiate with respect to"):
        se.diff(se.exp(x), se.Ones(3))
    with pytest.raises(se.UnsupportedError, match="no steps for derivatives by parts"):
        se.diff(x @ x, x[0], trace=True)


def test_matrix_symbols_are_variables():
    X, Y, v = sp.MatrixSymbol("X", n, n), sp.MatrixSymbol("Y", n, n), sp.MatrixSymbol("v", n, 1)
    T, U = se.TensorSymbol("X", n, n), se.TensorSymbol("Y", n, n)
    assert se.diff(sp.Trace(X * Y), X) == U.T
    assert se.gradient(sp.Trace(X.T * X), X) == 2 * T
    assert se.diff(sp.Determinant(X), X) == se.adj(T).T
    assert se.jacobian(X * v, v).shape == (n, 1, n, 1)
    assert se.diff(X * Y, X) == se.diff(T @ U, T)


def test_explicit_matrices_with_symbols():
    a, b, t = sp.symbols("a b t", real=True)
    M = sp.Matrix([[a, b, 0], [b, sp.Rational(1, 3), t]])
    numbers = np.array([[0.5, 2.0, 0.0], [2.0, 1 / 3, 0.7]])
    data = {**DATA, a: 0.5, b: 2.0, t: 0.7}

    def at(expr):
        return np.asarray(evaluate([expr], data)[0])

    assert_close(at(M @ x), numbers @ DATA[x])
    assert_close(at(se.einsum("ij,kj->ik", sp.Array(M.tolist()), A)), numbers @ DATA[A].T)
    assert_close(at(M * (x @ x)), numbers * (DATA[x] @ DATA[x]))
    assert_close(at(se.diff(M @ x, b)), np.array([DATA[x][1], DATA[x][0]]))
    assert se.simplify((M @ x)[1] - (b * x[0] + x[1] / 3 + t * x[2])) == 0
    assert se.simplify(se.from_matrix(M)[0, 1]) == b
    assert not (M @ x).atoms(sp.Float)
