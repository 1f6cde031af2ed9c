"""Conversions to and from SymPy's matrices, arrays and indexed sums: equal values on both sides,
and an error where one side lacks a form."""

import numpy as np
import pytest
import sympy
from oracles import assert_close, data_for, evaluate, numeric_shape
from sympy import (
    BlockDiagMatrix,
    BlockMatrix,
    Determinant,
    DiagMatrix,
    FunctionMatrix,
    HadamardPower,
    HadamardProduct,
    Identity,
    ImmutableDenseMatrix,
    IndexedBase,
    Integer,
    KroneckerDelta,
    KroneckerProduct,
    Lambda,
    MatrixSymbol,
    OneMatrix,
    Permanent,
    Piecewise,
    Product,
    Sum,
    Symbol,
    Trace,
    ZeroMatrix,
    symbols,
)
from sympy.combinatorics import Permutation
from sympy.matrices.expressions.applyfunc import ElementwiseApplyFunction
from sympy.matrices.expressions.diagonal import DiagonalMatrix, DiagonalOf
from sympy.matrices.expressions.dotproduct import DotProduct
from sympy.matrices.expressions.matexpr import MatrixElement
from sympy.matrices.expressions.permutation import PermutationMatrix
from sympy.tensor.array.expressions import (
    ArrayAdd,
    ArrayContraction,
    ArrayDiagonal,
    ArrayElementwiseApplyFunc,
    ArraySymbol,
    ArrayTensorProduct,
    OneArray,
    PermuteDims,
    Reshape as ArrayReshape,
    ZeroArray,
)

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.convert import (
    from_array,
    from_indexed,
    from_matrix,
    to_array,
    to_indexed,
    to_matrix,
)

m, n, k = symbols("m n k", integer=True, positive=True)
LENGTHS = {n: 3, m: 2, k: 4}
t, u = symbols("t u", real=True)
x = se.TensorSymbol("x", (n,))
y = se.TensorSymbol("y", (n,))
b = se.TensorSymbol("b", (m,))
A = se.TensorSymbol("A", (m, n))
B = se.TensorSymbol("B", (m, n))
C = se.TensorSymbol("C", (n, k))
S = se.TensorSymbol("S", (n, n))
R = se.TensorSymbol("R", (n, n))
s = se.TensorSymbol("s", ())
T = se.TensorSymbol("T", (m, n, k))
C3 = se.TensorSymbol("C3", (m, 3))
A2 = se.TensorSymbol("A2", (2, n))
f = se.logsumexp(A @ x)


def values_of(expr):
    """Return data for the tensor symbols of an expression, and numbers for its ordinary symbols."""
    tensors = sorted((e for e in expr.free_symbols if isinstance(e, se.TensorSymbol)), key=str)
    data = data_for(tensors, lengths=LENGTHS)
    scalars = expr.free_symbols - set(tensors) - set(LENGTHS)
    return {**data, **dict.fromkeys(scalars, 0.7)}


def by_lambdify(expr):
    """Return the value of a tensor expression on given data."""
    data = values_of(expr)
    for length in expr.free_symbols & set(LENGTHS):
        data[length] = LENGTHS[length]
    return np.asarray(evaluate(expr, data), dtype=float)


def matrix_value(expr, data):
    """Substitute numbers into SymPy's matrix expression and evaluate it with SymPy."""
    expr = expr.subs(LENGTHS)
    # SymPy can't evaluate these two on explicit matrices.
    expr = expr.replace(DiagonalMatrix, lambda a: HadamardProduct(a, Identity(a.rows)))
    expr = expr.replace(
        DiagonalOf, lambda a: HadamardProduct(a, Identity(a.rows)) * OneMatrix(a.rows, 1)
    )
    rule = {}
    for symbol, array in data.items():
        if isinstance(symbol, se.TensorSymbol) and symbol.order:
            rows = np.reshape(array, (len(array), -1))
            rule[MatrixSymbol(symbol.name, *map(Integer, rows.shape))] = ImmutableDenseMatrix(rows)
        else:
            rule[Symbol(symbol.name, real=True)] = array
    expr = expr.subs(rule).doit().replace(Trace, lambda a: a.as_explicit().trace())
    if getattr(expr, "shape", ()):
        entries = expr.as_explicit().doit() if hasattr(expr, "as_explicit") else expr
        return np.array(entries.applyfunc(sympy.N).tolist(), dtype=float)
    return float(expr.doit())


MATRICES = {
    "symbol": A,
    "vector": x,
    "scalar": s + t * s,
    "product with a vector": A @ x,
    "row times matrix": b @ A,
    "chain": A @ S @ R @ C,
    "transposes": C.T @ S.T @ A.T,
    "quadratic form": x @ S @ x,
    "inner product": x @ y,
    "outer product": se.einsum("i,j->ij", b, x),
    "least squares": A.T @ (A @ x - b),
    "sum": A + 2 * B - A / 3,
    "shifted": A + t,
    "Hadamard": A * B,
    "Hadamard of a product": (A @ S) * B,
    "Hadamard power": A**3 / (1 + B**2),
    "trace": se.trace(S),
    "trace of a product": se.trace(S @ R.T),
    "trace of three": se.einsum("ij,jk,ik->", A, S, B),
    "entry sum": A.sum(),
    "row sums": A.sum(axis=1),
    "column sums": A.sum(axis=0),
    "mean": A.mean(axis=0),
    "inverse": se.inv(S) @ x,
    "inverse of a product": se.inv(S @ R).T,
    "determinant": se.det(S) * S,
    "log-determinant": se.logdet(S) + 1,
    "adjugate": se.adj(S),
    "diag": se.diag(x) @ S,
    "diag between": A @ se.diag(x * y) @ S,
    "diagonal": se.diag(S) * x,
    "diagonal of a product": se.einsum("ij,ji->i", S, R),
    "diagonal matrix of a diagonal": se.einsum("ii->i", S)[:, None] * se.Delta(n),
    "identity": S - 2 * se.Delta(n),
    "ones": se.Ones(m, n) - A,
    "column of ones": se.Ones(n) + x,
    "zeros": se.Zeros(m, n),
    "rows scaled": b[:, None] * A,
    "columns scaled": A * x[None, :],
    "both scaled": b[:, None] * A * x[None, :],
    "vector repeated": x[None, :] + A,
    "exp": se.exp(A @ S),
    "function of two scalars": se.sin(t * A + s),
    "function with a trace": se.exp(A / se.trace(S)),
    "function of a scalar": se.sin(x @ y) ** 2 / (1 + se.exp(x @ x)),
    "square root of a sum": se.sqrt(A**2 + B**2 + 1),
    "softmax of rows": se.softmax(A, axis=1),
    "softmax of columns": se.softmax(A, axis=0),
    "softmax": se.softmax(x),
    "log-sum-exp": se.logsumexp(A, axis=1),
    "gradient": se.gradient(f, x),
    "Hessian": se.hessian(f, x),
    "gradient by a matrix": se.gradient(f, A),
    "determinant's gradient": se.gradient(se.det(S), S),
    "inverse's gradient": se.gradient(se.inv(S).sum(), S),
    "logistic": se.hessian(se.softplus(A @ x).sum(), x),
    "entry": A[0, 1] + S[2, 2] * x[1],
    "entry of a product": (A @ S)[1, 0],
    "row": A[1, :] + x,
    "column": A[:, 2] - b,
    "slice": A[:, 1:] @ x[1:],
    "slice of a vector": x[:-1] @ y[1:],
    "constant": C3 @ se.Constant([[1.0, 2.0], [0.0, 1.0], [3.0, -1.0]]),
    "constant vector": se.Constant([1.0, 2.0]) @ A2,
    "unit vector": se.einsum("i,j->ij", se.Unit(n, 1), x),
    "selection": se.Selection(3, 2, -1, 3) * 2,
    "three on one index": se.einsum("i,i,i->", x, y, x),
    "vector between matrices": se.einsum("ij,j,kj->ik", A, x, B),
    "vectors reached by a matrix": se.einsum("ij,kj,lj,l->ik", A, A, A, b),
    "two matrices on two indices": se.einsum("ij,ij,i->j", A, B, b),
    "nested order three": se.einsum("ijk,k->ij", se.einsum("i,jk->ijk", b, S), x),
}
named = pytest.mark.parametrize("name", MATRICES)


@named
def test_to_matrix_has_the_same_value(name):
    expr = MATRICES[name]
    expected = by_lambdify(expr)
    found = np.asarray(matrix_value(to_matrix(expr), values_of(expr)))
    if expected.ndim == 1:
        assert found.shape == (len(expected), 1)
        found = found[:, 0]
    assert_close(found, expected)


@named
def test_there_and_back(name):
    expr = MATRICES[name]
    try:
        back = from_matrix(to_matrix(expr), vectors=True)
    except se.UnsupportedError:
        assert name in ("unit vector", "selection")
        return
    names = {Symbol("s", real=True): s}
    back = back.subs(names) if back.free_symbols & set(names) else back
    assert_close(by_lambdify(back), by_lambdify(expr))


def random_matrix(rng, depth, rows, columns):
    """Return a random expression for a matrix of a given shape."""
    leaves = {(m, n): [A, B], (n, n): [S, R], (n, k): [C]}
    if depth == 0:
        if (rows, columns) in leaves:
            return leaves[rows, columns][rng.integers(len(leaves[rows, columns]))]
        if (columns, rows) in leaves:
            return leaves[columns, rows][0].T
        vector = {n: x, m: b}
        if rows in vector and columns in vector:
            return se.einsum("i,j->ij", vector[rows], vector[columns])
        return se.Ones(rows, columns)
    lengths = [n, m, k]

    def other(r, c):
        return random_matrix(rng, int(rng.integers(depth)), r, c)

    choice = rng.integers(9)
    if choice == 0:
        return other(rows, columns) + random_matrix(rng, depth - 1, rows, columns)
    if choice == 1:
        return other(rows, columns) * other(rows, columns)
    if choice == 2:
        return se.tanh(other(rows, columns))
    if choice == 3:
        return other(columns, rows).T
    if choice == 4:
        vector = other(rows, columns).sum(axis=1)
        return vector[:, None] * other(rows, columns)
    if choice == 5:
        return other(rows, columns) * (other(n, n).trace() + 1)
    if choice == 6 and rows == columns:
        return se.diag(other(rows, columns).sum(axis=0)) + other(rows, columns)
    if choice == 7:
        return (1 + other(rows, columns) ** 2) ** -1
    inner = lengths[rng.integers(3)]
    return other(rows, inner) @ other(inner, columns)


@pytest.mark.parametrize("seed", range(40))
def test_random_matrices(seed):
    rng = np.random.default_rng(seed)
    lengths = [n, m, k]
    expr = random_matrix(rng, 3, lengths[seed % 3], lengths[seed // 3 % 3])
    matrix = to_matrix(expr)
    assert_close(matrix_value(matrix, values_of(expr)), by_lambdify(expr))
    back = from_matrix(matrix, vectors=True)
    assert_close(by_lambdify(back), by_lambdify(expr))


# --- from SymPy's matrices ------------------------------------------------------------------------

MA, MS, MR = MatrixSymbol("A", m, n), MatrixSymbol("S", n, n), MatrixSymbol("R", n, n)
Mx, My, Mb = MatrixSymbol("x", n, 1), MatrixSymbol("y", n, 1), MatrixSymbol("b", m, 1)
SYMPY_MATRICES = {
    "product": MA * MS * Mx,
    "power": MS**3,
    "negative power": MS**-2,
    "identity power": MS**0,
    "scalar multiple": 3 * t * MA,
    "adjoint": sympy.Adjoint(MA),
    "inverse": (MS * MR).I,
    "trace": Trace(MS * MR) * MA,
    "determinant": Determinant(MS) + sympy.exp(Trace(MR)),
    "entries": MS[0, 1] + MatrixElement(Mx.T * My, 0, 0),
    "hadamard": HadamardProduct(MA, MA + OneMatrix(m, n)),
    "hadamard power": HadamardPower(MS, 2) - MS,
    "diag": DiagMatrix(Mx) * MS,
    "diagonal matrix": DiagonalMatrix(MS) + MR,
    "diagonal of": DiagonalOf(MS).T * Mx,
    "identity": MS + Identity(n) - ZeroMatrix(n, n),
    "applied": ElementwiseApplyFunction(Lambda(u, u**2 + 1), MA),
    "kronecker": KroneckerProduct(MA, MS),
    "blocks": BlockMatrix([[MS, MA.T], [MA, OneMatrix(m, m)]]),
    "block diagonal": BlockDiagMatrix(MS, MA),
    "slice": MA[:1, 1:],
    "numbers": MatrixSymbol("A", m, 3) * sympy.Matrix([[1, 2], [3, 4], [5, 6]]),
    "dot product": DotProduct(Mx, My),
}


@pytest.mark.parametrize("name", SYMPY_MATRICES)
@pytest.mark.parametrize("vectors", [False, True])
def test_from_matrix_has_the_same_value(name, vectors):
    matrix = SYMPY_MATRICES[name]
    data = data_for([A, S, R, x, y, b], lengths=LENGTHS)
    expected = np.asarray(matrix_value(matrix, {**data, t: 0.7}))
    expr = from_matrix(matrix, vectors=vectors)
    named_data = {symbol.name: array for symbol, array in data.items()}
    arguments = {}
    for symbol in expr.free_symbols:
        if isinstance(symbol, se.TensorSymbol):
            shape = numeric_shape(symbol.shape, LENGTHS)
            arguments[symbol] = named_data[symbol.name].reshape(shape)
        else:
            arguments[symbol] = LENGTHS.get(symbol, 0.7)
    found = np.asarray(evaluate(expr, arguments), dtype=float)
    if vectors:
        found = found.reshape(expected.shape)
    else:
        assert found.shape == expected.shape
    assert_close(found, expected)


def test_symbols_keep_their_shape_unless_vectors_are_asked_for():
    assert from_matrix(Mx).shape == (n, 1)
    assert from_matrix(Mx, vectors=True) is x
    assert from_matrix(MA * Mx, vectors=True) is A @ x
    assert from_matrix(Mx.T * MS * Mx, vectors=True) is x @ S @ x
    assert from_matrix(Trace(MS)) is se.trace(S)
    assert from_matrix(t + 1) == t + 1


def test_derivatives_agree_with_sympys():
    """SymPy differentiates some matrix expressions itself."""
    for matrix in (Trace(MS * MR * MS), Trace(MS.I), Trace(MA.T * MA * MS), Mx.T * MS * Mx):
        for symbol, variable in ((MS, S), (MR, R), (MA, A), (Mx, x)):
            if not matrix.has(symbol):
                continue
            function = from_matrix(matrix, vectors=True)
            ours = se.gradient(function, variable)
            theirs = from_matrix(matrix.diff(symbol), vectors=True)
            assert_close(by_lambdify(ours), by_lambdify(theirs))


def test_sums_that_sympy_writes_itself_are_read():
    entry = (Mx.T * MS * My)[0, 0]
    assert entry.has(Sum)
    assert_close(by_lambdify(from_indexed(entry, vectors=True)), by_lambdify(x @ S @ y))
    traced = Trace(MS * MR).rewrite(Sum)
    assert_close(by_lambdify(from_indexed(traced)), by_lambdify(se.trace(S @ R)))


def test_from_indexed():
    IA, IB = IndexedBase("A", shape=(m, n)), IndexedBase("B", shape=(m, n))
    Ix, IS = IndexedBase("x", shape=(n,)), IndexedBase("S", shape=(n, n))
    assert from_indexed(Sum(IA[i, j] * Ix[j], (j, 0, n - 1)), [i]) is A @ x
    assert from_indexed(IA[i, j] + IB[i, j], [j, i]) is (A + B).T
    assert from_indexed(IA[i, j] + Ix[j], [i, j]) is (A.T + x[:, None]).T
    assert from_indexed(sympy.exp(IA[i, j]) * t, [i, j]) is t * se.exp(A)
    assert from_indexed(Sum(IS[i, i], (i, 0, n - 1))) is se.trace(S)
    assert from_indexed(IS[i, i], [i]) is se.diag(S)
    assert from_indexed(IS[i, j]) == S[i, j]
    assert from_indexed(IS[0, j], [j]) is S[0, :]
    assert from_indexed(Sum(t, (i, 0, n - 1))) == n * t
    assert from_indexed(KroneckerDelta(i, j), [(i, n), (j, n)]) is se.Delta(n)
    assert from_indexed(Ix[i], [(i, n), (j, m)]) is x[:, None] * se.Ones(n, m)
    twice = Sum(IA[i, j], (i, 0, m - 1), (j, 0, n - 1)) * Sum(Ix[i], (i, 0, n - 1))
    assert_close(by_lambdify(from_indexed(twice)), by_lambdify(A.sum() * x.sum()))
    part = Sum(Ix[i] ** 2, (i, 1, n - 1))
    assert_close(by_lambdify(from_indexed(part)), by_lambdify((x[1:] ** 2).sum()))


def test_sums_over_entries_of_tensors():
    rows, columns = (i, 0, n - 1), (j, 0, n - 1)
    for stock, expected in [
        (Sum(x[i], rows), x.sum()),
        (Sum(A[i, j] * x[j], columns), (A @ x)[i]),
        (Sum(A[i, j] * x[j], columns, (i, 0, m - 1)), (A @ x).sum()),
        (Sum(x[i] * S[i, j] * y[j], rows, columns), x @ S @ y),
        (Sum(x[i] * Sum(A[j, i], (j, 0, m - 1)), rows), (A @ x).sum()),
        (Sum((x[i + 1] - x[i]) ** 2, (i, 0, n - 2)), ((x[1:] - x[:-1]) ** 2).sum()),
        (Sum(x[i - 1] * y[n - i], (i, 1, n)), x @ y[::-1]),
        (Sum(x[i], (i, 1, n - 1)), x.sum() - x[0]),
        (Sum(i * x[i] + t, rows), snp.arange(n) @ x + t * n),
        (Sum(S[i, i] + se.inv(S)[i, i], rows), S.trace() + se.inv(S).trace()),
        (Sum((A @ x)[i] ** 2 + A[i, :] @ y, (i, 0, m - 1)), (A @ x) @ (A @ x) + (A @ y).sum()),
        (sympy.log(Sum(sympy.exp(x[i]), rows)), sympy.log(se.exp(x).sum())),
        (x[i] * Sum(y[i], rows), x[i] * y.sum()),
        (Product(x[i], rows), se.prod(x)),
    ]:
        value = stock.doit()
        assert not value.has(Sum, Product)
        at = {i: 1} if value.has(i) else {}
        assert_close(by_lambdify(value.subs(at)), by_lambdify(expected.subs(at)))
        if stock.has(Sum):
            assert_close(
                by_lambdify(se.gradient(stock.subs(at), x)),
                by_lambdify(se.gradient(expected.subs(at), x)),
            )
    assert from_indexed(Sum(A[i, j] * x[j], columns), [i]) is A @ x
    assert sympy.summation(x[i] ** 2, rows) is (x**2).sum()
    assert se.diff(Sum(x[i] ** 2, rows), x) is 2 * x
    with pytest.raises(se.ShapeError, match="index i takes positions from 0 to 7"):
        Sum(se.TensorSymbol("z", 4)[i], (i, 0, 7)).doit()
    IX, IY = IndexedBase("x", shape=(n,)), IndexedBase("y", shape=(n,))
    assert from_indexed(IX[i] * Sum(IY[i], rows)) == x[i] * y.sum()


def test_products_over_entries():
    IA, Ix = IndexedBase("A", shape=(m, n)), IndexedBase("x", shape=(n,))
    for stock, free, expected in [
        (Product(Ix[i], (i, 0, n - 1)), [], se.prod(x)),
        (t * Product(t * Ix[i] + i, (i, 1, n - 2)), [], t * se.prod((t * x + snp.arange(n))[1:-1])),
        (Product(IA[i, j], (j, 0, n - 1)), [i], se.prod(A, axis=1)),
        (Sum(Product(IA[i, j], (j, 0, n - 1)), (i, 0, m - 1)), [], se.prod(A, axis=1).sum()),
        (Product(Sum(IA[i, j] * Ix[j], (j, 0, n - 1)), (i, 0, m - 1)), [], se.prod(A @ x)),
        (Product(IA[i, j], (i, 0, m - 1), (j, 0, n - 1)), [], se.prod(A)),
        (Product(Ix[i] * Ix[j], (j, 0, n - 1)), [i], x**n * se.prod(x)),
    ]:
        found = from_indexed(stock, free)
        assert_close(by_lambdify(found), by_lambdify(expected))
    with pytest.raises(se.UnsupportedError, match="product over j from 0 to i must be in order"):
        from_indexed(Product(IA[i, j], (j, 0, i)), [i])


def test_to_indexed():
    entry = to_indexed(A @ S)
    assert str(entry) == "Sum(A[i, k]*S[k, j], (k, 0, n - 1))"
    p, q = symbols("p q", integer=True)
    assert str(to_indexed(A * 2, [p, q])) == "2*A[p, q]"
    assert str(to_indexed(A[0, :], [p])) == "A[0, p]"
    assert str(to_indexed(A[:, 1:], [p, q])) == "A[p, q + 1]"
    assert str(to_indexed(se.diag(x), [p, q])) == "KroneckerDelta(p, q)*x[p]"
    i_tensor = se.TensorSymbol("i", (n,))
    assert "i[j]" in str(to_indexed(i_tensor))


UNSUPPORTED = {
    "T, of shape": lambda: to_matrix(T),
    "T, of shape .m, n, k.": lambda: to_matrix(T.sum(axis=0)),
    "no sequence of matrix operations computes": lambda: to_matrix(
        se.einsum("ai,bi,ci,ab,bc,ca->", S, S, S, R, R, R)
    ),
    "Max of": lambda: to_matrix(se.Max(A, B)),
    "Reshape": lambda: to_matrix(A.reshape(n, m)),
    "would both become": lambda: to_matrix(x @ se.TensorSymbol("x", (n, 1))),
    "Permanent": lambda: from_matrix(Permanent(MS) * MS),
    "of type StrictLessThan": lambda: from_matrix(
        FunctionMatrix(n, n, Lambda((u, t), Piecewise((MS[u, t], u < 2), (0, True))))
    ),
    "expm of sympy_einsum": lambda: from_matrix(sympy.exp(MS)),
    "Sum": lambda: from_matrix(Sum(MS[u, u], (u, 0, n - 1))),
    "an integer exponent": lambda: from_matrix(MS**t),
    "Expm of shape": lambda: to_indexed(se.expm(S) @ x),
    "Reshape of shape": lambda: to_indexed(A.reshape(n, m)),
    "isn't a linear function": lambda: from_indexed(IndexedBase("x", shape=(n,))[i * j], [i, j]),
    "use to_matrix": lambda: to_array(se.inv(se.diag(x) + S)),
    "Max of 2 tensors": lambda: to_array(se.Max(A, B)),
    "as a tree": lambda: to_matrix(doubled(40)),
    "levels": lambda: to_matrix(nested(400)),
    "more than 1000 nodes": lambda: to_indexed(doubled(12)),
    "more than 10000 nodes": lambda: to_array(doubled(5000)),
}


def doubled(levels):
    e = S
    for _ in range(levels):
        e = se.tanh(e @ e)
    return e


def nested(levels):
    e = x
    for _ in range(levels):
        e = se.tanh(S @ e)
    return e


@pytest.mark.parametrize("message", UNSUPPORTED)
def test_nodes_without_counterpart_are_named(message):
    with pytest.raises(se.UnsupportedError, match=message):
        UNSUPPORTED[message]()


# --- sums over entries ----------------------------------------------------------------------------

i, j, l = symbols("i j l", integer=True)
NO_INDICES = {
    "inverse",
    "inverse of a product",
    "determinant",
    "log-determinant",
    "adjugate",
    "determinant's gradient",
    "inverse's gradient",
}
TENSORS = {
    **{name: e for name, e in MATRICES.items() if name not in NO_INDICES},
    "order three": T * 2 + se.einsum("i,j,k->ijk", b, x, se.Ones(k)),
    "contraction of order three": se.einsum("ijk,kj->i", T, C.T),
    "delta of order four": se.einsum("ik,jl->ijkl", se.Delta(m), A @ A.T),
    "Hessian of order four": se.hessian((se.softmax(A, axis=1) * B).sum(), A),
    "function of several": se.Max(A, B) + se.where(A > 0, A, B),
    "slices in a product": A[:, 1:] @ C[:-1, 1:],
    "slice of a slice": x[1:][0] * A[:, 1:][:, 1:],
    "concatenated": se.concatenate([A, A @ S], axis=0),
}


def indexed_value(expr, indices, shape, data):
    """Write out the sums of an expression in Indexed and substitute numbers."""
    expr = expr.subs(LENGTHS)
    arrays = {symbol.name: array for symbol, array in data.items()}
    value = np.empty(shape)
    for position in np.ndindex(shape):
        entry = expr.subs(dict(zip(indices, position, strict=True))).doit()
        rule = {
            e: arrays[str(e.base.label)][tuple(int(q) for q in e.indices)]
            for e in entry.atoms(sympy.Indexed)
        }
        rule |= {Symbol(name, real=True): arrays[name] for name in ("s", "t") if name in arrays}
        value[position] = float(sympy.sympify(entry.xreplace(rule)).doit())
    return value


@pytest.mark.parametrize("name", TENSORS)
def test_to_indexed_has_the_same_value(name):
    expr = TENSORS[name]
    expected = by_lambdify(expr)
    indices = symbols(f"p:{expected.ndim}", integer=True)
    entry = to_indexed(expr, indices)
    assert_close(indexed_value(entry, indices, expected.shape, values_of(expr)), expected)


@pytest.mark.parametrize("name", TENSORS)
def test_indexed_there_and_back(name):
    expr = TENSORS[name]
    expected = by_lambdify(expr)
    indices = symbols(f"p:{expected.ndim}", integer=True)
    entry = to_indexed(expr, indices)
    pairs = list(zip(indices, expr.shape, strict=True)) if indices else []
    if name == "function of several":
        with pytest.raises(se.UnsupportedError, match=r"ExprCondPair|Greater"):
            from_indexed(entry, pairs)
        return
    back = from_indexed(entry, pairs)
    names = {Symbol("s", real=True): s}
    back = back.subs(names) if back.free_symbols & set(names) else back
    assert_close(by_lambdify(back), expected)


# --- arrays ---------------------------------------------------------------------------------------

ARRAYS = {
    **MATRICES,
    **{name: e for name, e in TENSORS.items() if name != "function of several"},
    "reshaped": A.reshape(n, m) @ b,
    "Kronecker product": se.kron(A, S),
}


def array_value(expr, data):
    """Substitute numbers into an array expression and evaluate it with SymPy."""
    expr = expr.subs(LENGTHS)
    rule = {}
    for symbol, array in data.items():
        if not isinstance(symbol, se.TensorSymbol) or not symbol.order:
            rule[Symbol(symbol.name, real=True)] = sympy.Float(array)
            continue
        shape = tuple(map(Integer, array.shape))
        kind = MatrixSymbol(symbol.name, *shape) if len(shape) == 2 else None
        rule[kind or ArraySymbol(symbol.name, shape)] = sympy.ImmutableDenseNDimArray(array)

    def explicit(e):
        """Make each node explicit after its parts."""
        if e in rule:
            return rule[e]
        if isinstance(e, sympy.MatrixExpr) and e.has(MatrixSymbol):
            value = matrix_value(e, data)
            return sympy.ImmutableDenseNDimArray(value)
        if isinstance(e, sympy.Determinant):
            return sympy.Float(matrix_value(e, data))
        if isinstance(e, (sympy.MatrixExpr, OneArray, ZeroArray)):
            return sympy.Array(e.as_explicit())
        if isinstance(e, ArrayElementwiseApplyFunc):
            below = explicit(e.expr)
            apply = getattr(below, "applyfunc", lambda function: function(below))
            return apply(lambda entry: e.function(entry).xreplace(rule))
        if isinstance(e, ArrayContraction):
            return sympy.tensorcontraction(explicit(e.expr), *e.contraction_indices)
        if isinstance(e, ArrayDiagonal):
            return sympy.tensordiagonal(explicit(e.expr), *e.diagonal_indices)
        if isinstance(e, PermuteDims):
            return sympy.permutedims(explicit(e.expr), e.permutation)
        if isinstance(e, ArrayReshape):
            return explicit(e.expr).reshape(*map(int, e.shape))
        if isinstance(e, ArrayTensorProduct):
            return sympy.tensorproduct(*[explicit(part) for part in e.args])
        if isinstance(e, ArrayAdd):
            first, *others = [explicit(part) for part in e.args]
            return sum(others, first)
        if isinstance(e, sympy.NDimArray) or not e.args:
            return e
        return e.func(*[explicit(part) for part in e.args])

    value = explicit(expr)
    return np.array(value.tolist() if getattr(value, "shape", ()) else value, dtype=float)


@pytest.mark.parametrize("name", ARRAYS)
def test_to_array_has_the_same_value(name):
    expr = ARRAYS[name]
    array = to_array(expr)
    assert tuple(getattr(array, "shape", ())) == getattr(expr, "shape", ())
    assert_close(array_value(array, values_of(expr)), by_lambdify(expr))


@pytest.mark.parametrize("name", ARRAYS)
def test_array_there_and_back(name):
    expr = ARRAYS[name]
    try:
        back = from_array(to_array(expr))
    except se.UnsupportedError as error:
        assert "FunctionMatrix" in str(error)  # noqa: PT017
        return
    names = {Symbol("s", real=True): s}
    back = back.subs(names) if back.free_symbols & set(names) else back
    assert_close(by_lambdify(back), by_lambdify(expr))


def test_from_array():
    AT, Ax = ArraySymbol("T", (m, n, k)), ArraySymbol("x", (n,))
    assert from_array(PermuteDims(AT, [2, 0, 1])) is T.transpose(2, 0, 1)
    assert from_array(ArrayDiagonal(MS, (0, 1))) is se.diag(S)
    assert from_array(ArrayContraction(MS, (0, 1))) is se.trace(S)
    assert from_array(ArrayContraction(ArrayTensorProduct(MA, Ax), (1, 2))) is A @ x
    assert from_array(ArrayElementwiseApplyFunc(sympy.sin, Ax)) is se.sin(x)
    assert from_array(ArrayAdd(AT, ZeroArray(m, n, k))) is T
    assert from_array(AT[0, 1, 2] + 1) == T[0, 1, 2] + 1
    assert from_array(sympy.Array([1.0, 2.0])) is se.Constant([1.0, 2.0])
    assert from_array(sympy.tensor.array.expressions.convert_matrix_to_array(MA * MS)) is A @ S


BAD_SHAPES = {
    "2 indices for a tensor of order 1": lambda: to_indexed(x, [i, j]),
    "IndexedBase x has no shape": lambda: from_indexed(IndexedBase("x")[i], [i]),
    "1 indices for A": lambda: from_indexed(sympy.Indexed(IndexedBase("A", shape=(m, n)), i), [i]),
    "index i has length m in one place, n in another": lambda: from_indexed(
        IndexedBase("A", shape=(m, n))[i, i], [i]
    ),
    "length of index i can't be inferred": lambda: from_indexed(KroneckerDelta(i, j), [i, j]),
    "index i has length n, not m": lambda: from_indexed(IndexedBase("x", shape=(n,))[i], [(i, m)]),
}


@pytest.mark.parametrize("message", BAD_SHAPES)
def test_shapes_that_do_not_fit_are_named(message):
    with pytest.raises(se.ShapeError, match=message):
        BAD_SHAPES[message]()


def test_strings_are_refused():
    for function in (to_matrix, to_array, to_indexed):
        with pytest.raises(se.TensorError, match="string"):
            function("A")
    for function in (from_matrix, from_array, from_indexed):
        with pytest.raises(se.TensorError, match="SymPy object"):
            function("__import__('os')")


@pytest.mark.parametrize(
    ("rows", "columns", "entry"),
    [
        (3, 4, lambda i, j: i + 2 * j),
        (n, n, KroneckerDelta),
        (n - 1, n, lambda i, j: KroneckerDelta(i + 1, j)),
        (n, 2 * n, lambda i, j: KroneckerDelta(2 * i + 1, j)),
        (n, 1, lambda i, j: KroneckerDelta(i, 1)),
        (4, 3, lambda i, j: KroneckerDelta(i + 1, j)),
    ],
)
def test_matrices_by_a_function_are_read(rows, columns, entry):
    matrix = FunctionMatrix(rows, columns, Lambda((u, t), entry(u, t)))
    explicit = matrix.subs(n, 3) if matrix.has(n) else matrix
    expected = np.array(explicit.as_explicit().tolist(), dtype=float)
    assert_close(evaluate(from_matrix(matrix).subs(n, 3), {}), expected)


@pytest.mark.parametrize("rows", [n, n + 1])
def test_matrices_by_a_function_that_leave_the_shape_have_zeros_there(rows):
    matrix = FunctionMatrix(rows, n, Lambda((u, t), KroneckerDelta(u + 1, t)))
    expected = np.array(matrix.subs(n, 3).as_explicit().tolist(), dtype=float)
    assert_close(evaluate(from_matrix(matrix).subs(n, 3), {}), expected)


def test_cofactors_are_arrays_of_inverses():
    X = se.TensorSymbol("X", (3, 3))
    for e in (se.hessian(se.det(X), X), se.diff(se.adj(X), X), se.diff(se.adj(X), X, X)):
        assert_close(by_lambdify(from_array(to_array(e))), by_lambdify(e))


def test_permutations_are_read():
    matrix = PermutationMatrix(Permutation([2, 0, 1]))
    expected = np.array(matrix.as_explicit().tolist(), dtype=float)
    assert_close(evaluate(from_matrix(2 * matrix), {}), 2 * expected)


def test_powers_of_matrices_of_one_entry_may_be_broken():
    a, b = (sympy.MatrixSymbol(name, 3, 1) for name in "ab")
    product = from_matrix((a.T * a) ** sympy.S.Half * (a.T * b))
    assert product.shape == (1, 1)
    data = {se.TensorSymbol(name, (3, 1)): np.array([[1.0], [2.0], [2.0]]) for name in "ab"}
    assert_close(evaluate(product, data), [[27.0]])


@pytest.mark.parametrize(
    "function",
    [
        lambda S, x: se.inv(S),
        lambda S, x: se.inv(S @ S + S) @ x,
        lambda S, x: se.det(S) * x,
        lambda S, x: se.log(se.det(S)) + x @ se.inv(S) @ x,
        lambda S, x: se.adj(S) @ x,
        lambda S, x: se.matrix_power(S, 3),
        lambda S, x: se.inv(S) * x[:, None],
    ],
)
def test_functions_of_matrices_have_entries(function):
    S, x = se.TensorSymbol("S", n, n), se.TensorSymbol("x", n)
    e = function(S, x)
    indices = symbols("i j", integer=True)[: getattr(e, "order", 0)]
    back = from_indexed(to_indexed(e, indices), [(i, n) for i in indices])
    data = [np.array([[3.0, 1.0], [0.5, 2.0]]), np.array([1.0, -2.0])]
    one, other = [se.lambdify([S, x], own)(*data) for own in (e, back)]
    assert_close(one, other)


def test_stacks_of_inverses_have_no_entries():
    with pytest.raises(se.UnsupportedError, match=r"InvStack of shape \(m, n, n\)"):
        to_indexed(se.inv(se.TensorSymbol("F", m, n, n)))


@pytest.mark.parametrize("limits", [(0, n - 1), (0, n), (-2, n + 3), (1, n - 1), (2, 4), (0, 0)])
def test_a_delta_within_limits(limits):
    i, j = symbols("i j", integer=True)
    entries = IndexedBase("x", shape=(n,))
    e = from_indexed(Sum(KroneckerDelta(i, j, limits) * entries[j], (j, 0, n - 1)), [(i, n)])
    numbers = np.arange(1.0, 8.0)
    low, high = [int(sympy.sympify(limit).subs(n, 7)) for limit in limits]
    expected = [v if low <= k <= high else 0 for k, v in enumerate(numbers)]
    assert_close(se.lambdify([se.TensorSymbol("x", n)], e)(numbers), expected)
