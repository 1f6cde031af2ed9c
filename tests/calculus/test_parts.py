"""Derivatives by entries, slices and parts of an expression, and by SymPy's matrix symbols."""

import numpy as np
import pytest
import sympy as sp
from oracles import assert_close, data_for, evaluate
from sympy.tensor.array.expressions import ArrayContraction, ArraySymbol, ArrayTensorProduct

import sympy_einsum as se

n = sp.Symbol("n", integer=True, positive=True)
i = sp.Symbol("i", integer=True)
A, x = se.TensorSymbol("A", 4, 3), se.TensorSymbol("x", 3)
DATA = data_for([A, x])


def as_tensor(symbol):
    return se.TensorSymbol(str(symbol), symbol.shape)


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
    with pytest.raises(se.UnsupportedError, match="no steps for derivatives by parts"):
        se.gradient(x @ x, [x, x[0]], trace=True)


@pytest.mark.parametrize("part", [x[0], x[1:], A[1, 2], A[1:3, 0], A[:, ::2]], ids=str)
def test_every_operator_takes_entries_and_slices(part):
    f = se.exp(A @ x).sum() * (x @ x)
    assert se.gradient(f, part) == se.diff(f, part)
    assert_close(value(se.hessian(f, part)), value(se.diff(f, part, part)))
    assert se.jacobian(A @ x, part) == se.diff(A @ x, part)
    by_hand = [se.diff(f, v) for v in (x, part, A)]
    assert se.gradient(f, [x, part, A]) == by_hand
    blocks = se.hessian(f, [part, x])
    for v, row in zip((part, x), blocks, strict=True):
        for w, block in zip((part, x), row, strict=True):
            assert_close(value(block), value(se.diff(f, v, w)))
    first = se.jacobian(A @ x, part, layout="wrt-first")
    assert first == se.diff(A @ x, part, layout="wrt-first")


def test_entries_of_matrix_and_array_symbols_are_variables():
    X, Y = sp.MatrixSymbol("X", 4, 3), sp.MatrixSymbol("Y", 3, 4)
    T, U = se.TensorSymbol("X", 4, 3), se.TensorSymbol("Y", 3, 4)
    assert se.gradient(sp.Trace(X * Y), X[1, 2]) == U[2, 1]
    assert se.diff(X * Y, X[1, 2]) == se.diff(T @ U, T[1, 2])
    P, Q = ArraySymbol("P", (2, 3, n)), ArraySymbol("Q", (n, 4))
    product = ArrayContraction(ArrayTensorProduct(P, Q), (2, 3))
    assert se.diff(product, Q) == se.diff(
        se.einsum("ijk,kl->ijl", as_tensor(P), as_tensor(Q)), as_tensor(Q)
    )
    assert se.diff(product, P[0, 1, 2]).shape == (2, 3, 4)


def test_matrix_expressions_with_one_entry_are_scalars():
    """SymPy writes a quadratic form as a matrix with one entry."""
    M, v, b = sp.MatrixSymbol("M", n, n), sp.MatrixSymbol("v", n, 1), sp.MatrixSymbol("b", n, 1)
    T, u, w = se.TensorSymbol("M", n, n), se.TensorSymbol("v", n, 1), se.TensorSymbol("w", n, 1)
    assert se.gradient(v.T * M * v, v) == T @ u + T.T @ u
    assert se.gradient(v.T * M * v, M) == u @ u.T
    assert se.gradient((M * v - b).T * (M * v - b), v) == 2 * T.T @ (T @ u - se.from_matrix(b))
    assert se.hessian(v.T * M * v, v).shape == (n, 1, n, 1)
    assert se.hvp(v.T * M * v, v, w) == T @ w + T.T @ w
    with pytest.raises(se.ShapeError, match=r"gradient takes a scalar, .* or take its trace\(\)"):
        se.gradient(u.T @ T @ u, u)
    with pytest.raises(se.ShapeError, match="use jacobian, or sum it"):
        se.gradient(M * v, v)


def test_what_is_no_variable_and_no_function():
    base, a, b = sp.IndexedBase("x", shape=(n,)), *sp.symbols("a b")
    total = sp.Sum(base[i] ** 2, (i, 0, n - 1))
    for variable in (base, base[i]):
        with pytest.raises(se.TensorError, match=r"of type Indexed.* by from_indexed"):
            se.gradient(total, variable)
    assert se.gradient(se.from_indexed(total), se.TensorSymbol("x", n)) == 2 * se.TensorSymbol(
        "x", n
    )
    with pytest.raises(se.TensorError, match="or a list of them"):
        se.gradient(a**2 + b, sp.Matrix([a, b]))
    for function in (sp.Matrix([a * b, b]), sp.Array([a * b, b])):
        name = "from_matrix" if isinstance(function, sp.MatrixBase) else "from_array"
        with pytest.raises(se.TensorError, match=f"; {name} makes one tensor of it"):
            se.jacobian(function, [a, b])
        by_a, _ = se.jacobian(getattr(se, name)(function), [a, b])
        assert by_a.shape == function.shape


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
