"""SymPy's matrices and arrays, symbolic and explicit, in place of tensors: as operands, variables,
and in substitutions."""

import pickle

import numpy as np
import pytest
import sympy
from sympy import (
    Array,
    BlockMatrix,
    Determinant,
    FunctionMatrix,
    HadamardPower,
    HadamardProduct,
    I,
    Identity,
    ImmutableSparseMatrix,
    Inverse,
    KroneckerProduct,
    Lambda,
    MatAdd,
    MatMul,
    Matrix,
    MatrixSymbol,
    OneMatrix,
    Rational,
    SparseMatrix,
    Trace,
    Transpose,
    ZeroMatrix,
    log,
    pi,
    sqrt,
    symbols,
)
from sympy.tensor.array.expressions import ArrayContraction, ArraySymbol, ArrayTensorProduct

import sympy_einsum as se

m, n, p, q = symbols("m n p q", integer=True, positive=True)
i, j = symbols("i j", integer=True)
t = symbols("t", real=True)
M, N, v = MatrixSymbol("M", n, n), MatrixSymbol("N", n, n), MatrixSymbol("v", n, 1)
X, Y = se.tensors("X Y", n, n)
x, y = se.TensorSymbol("x", n), se.TensorSymbol("y", 3)
A = se.TensorSymbol("A", 3, 3)
MT, NT, VT = map(se.from_matrix, (M, N, v))
RATIONAL = Matrix(3, 3, [Rational(1, k + 1) for k in range(9)])
EXACT = Matrix(3, 3, [sqrt(2), 1, 0, pi, Rational(1, 2), 0, 0, sqrt(2) / 3, 1 + sqrt(2)])


# --- matrix expressions as operands


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (lambda: X @ M, lambda: X @ MT),
        (lambda: M @ X, lambda: MT @ X),
        (lambda: M * X, lambda: MT @ X),
        (lambda: M @ x, lambda: MT @ x),
        (lambda: x @ M, lambda: x @ MT),
        (lambda: X + M, lambda: X + MT),
        (lambda: M - X, lambda: MT - X),
        (lambda: (M + 2 * N.T) @ X @ M**-1, lambda: (MT + 2 * NT.T) @ X @ se.inv(MT)),
        (lambda: X + Identity(n) + ZeroMatrix(n, n), lambda: X + se.Delta(n)),
        (lambda: X @ OneMatrix(n, 1), lambda: X @ se.Ones(n, 1)),
        (lambda: X - HadamardPower(M, 2), lambda: X - MT**2),
        (lambda: X + HadamardProduct(M, N), lambda: X + MT * NT),
        (lambda: M[0, 1] * X, lambda: MT[0, 1] * X),
        (lambda: Trace(M) * X + Determinant(N), lambda: se.trace(MT) * X + se.det(NT)),
        (lambda: Trace(M) / (x @ x), lambda: se.trace(MT) / (x @ x)),
        (lambda: (x @ x) * M, lambda: (x @ x) * MT),
        (lambda: M[1:, :] @ X, lambda: MT[1:] @ X),
        (lambda: X + BlockMatrix([[M]]), lambda: X + MT),
        (lambda: se.exp(M), lambda: se.exp(MT)),
        (lambda: se.einsum("ij,kj->ik", M, X), lambda: MT @ X.T),
        (lambda: se.solve(M, N), lambda: se.solve(MT, NT)),
        (lambda: MatMul(X, M), lambda: X @ MT),
        (lambda: MatAdd(X, M), lambda: X + MT),
        (lambda: HadamardProduct(X, M), lambda: X * MT),
        (lambda: HadamardPower(X, 3), lambda: X**3),
        (lambda: KroneckerProduct(X, M), lambda: se.kron(X, MT)),
        (lambda: Trace(X), lambda: se.trace(X)),
        (lambda: sympy.det(X), lambda: se.det(X)),
        (lambda: Inverse(X) + Transpose(X), lambda: se.inv(X) + X.T),
    ],
)
def test_operands(given, expected):
    assert given() == expected()


@pytest.mark.parametrize("action", [lambda: X * M, lambda: X / M, lambda: M / X])
def test_ambiguous_expressions_are_refused(action):
    with pytest.raises(se.TensorError, match="entry by entry"):
        action()


def test_array_expressions():
    T = ArraySymbol("T", (n, n, n))
    Z = se.TensorSymbol("Z", n, n, n)
    assert Z + se.TensorSymbol("T", n, n, n) == Z + T
    trace = ArrayContraction(ArrayTensorProduct(M, N), (1, 2), (0, 3))
    assert se.gradient(trace, M) == NT.T
    assert se.equal(trace, se.trace(MT @ NT))


# --- as functions and variables


@pytest.mark.parametrize(
    ("function", "variable", "gradient"),
    [
        (Trace(M * N), M, lambda: NT.T),
        (
            (v.T * M * v)[0, 0],
            v,
            lambda: se.outer(MT @ VT.sum(axis=1) + MT.T @ VT.sum(axis=1), se.Ones(1)),
        ),
        (log(Determinant(M)), M, lambda: se.inv(MT).T),
        (M[0, 1] * t, M, lambda: t * se.gradient(MT[0, 1], MT)),
        (Trace(M) ** 2 + sympy.exp(Trace(N)), M, lambda: 2 * se.trace(MT) * se.Delta(n)),
    ],
)
def test_gradients(function, variable, gradient):
    assert se.equal(se.gradient(function, variable), gradient())
    assert se.check_derivative(function, variable) < 1e-5


def test_the_rest_of_the_calculus():
    assert se.hessian(Trace(M.T * M), M) == 2 * se.Delta(n, n)
    assert se.equal(se.jvp(Trace(M * N), M, N), se.trace(NT @ NT))
    assert se.jacobian(M * v, v) == se.jacobian(MT @ VT, VT)
    assert se.diff(t * M, t) == MT
    assert se.simplify(M * M.I) == se.Delta(n)
    assert se.equal(M * N, N * M) is False
    assert se.equal(Trace(M * N), Trace(N * M)) is True
    assert se.latex(M * N) == "M N"


def test_compiled():
    compiled = se.lambdify([M, v], [M * v, Trace(M), (v.T * M * v)[0, 0]])
    matrix, column = np.array([[1.0, 2], [3, 4]]), np.array([[1.0], [2]])
    product, trace, form = compiled(matrix, column)
    np.testing.assert_array_equal(product, matrix @ column)
    assert (trace, form) == (5, (column.T @ matrix @ column).item())


def test_substituted():
    assert (X @ Y).subs(X, M) == MT @ Y
    assert se.from_matrix(M * N).subs(M, X) == X @ NT
    assert sympy.sin(se.trace(X)).subs(X, M) == sympy.sin(se.trace(MT))
    e = (y @ A @ y).subs({A: RATIONAL, y: Matrix([1, 2, 3])})
    column = Matrix([1, 2, 3])
    assert se.einsum("i->i", e * se.Ones(1)).as_explicit()[0] == (column.T * RATIONAL * column)[0]
    assert (x @ X).subs({x: Matrix([1, 2])}).shape == (2,)


# --- Kronecker products, matrices by a formula


@pytest.mark.parametrize(
    "make",
    [
        lambda B, C: se.kron(B, C),
        lambda B, C: se.kron(B.T, C @ C.T),
        lambda B, C: 3 * se.kron(C, B),
        lambda B, C: se.kron(B, se.kron(C, B)),
    ],
)
def test_kronecker_products_there_and_back(make):
    e = make(se.TensorSymbol("B", (m, n)), se.TensorSymbol("C", (p, q)))
    matrix = se.to_matrix(e)
    assert matrix.has(KroneckerProduct)
    assert se.from_matrix(matrix) == e
    values = {m: 2, n: 3, p: 4, q: 1}
    leaves = [se.TensorSymbol("B", (2, 3)), se.TensorSymbol("C", (4, 1))]
    arrays = [np.arange(1.0, 7).reshape(2, 3), np.array([[1.0], [-2], [3], [5]])]
    explicit = matrix.subs(values).doit().as_explicit()
    known = {
        MatrixSymbol(leaf.name, *leaf.shape)[place]: value
        for leaf, array in zip(leaves, arrays, strict=True)
        for place, value in np.ndenumerate(array)
    }
    found = np.array(explicit.subs(known), dtype=float)
    np.testing.assert_allclose(found, se.lambdify(leaves, e.subs(values))(*arrays))


def test_kronecker_products_of_vectors_are_columns():
    u, w = se.TensorSymbol("u", n), se.TensorSymbol("w", m)
    assert se.to_matrix(se.kron(u, w)) == KroneckerProduct(
        MatrixSymbol("u", n, 1), MatrixSymbol("w", m, 1)
    )
    with pytest.raises(se.UnsupportedError, match="Reshape"):
        se.to_matrix(X.reshape(-1))


@pytest.mark.parametrize(
    "entry", [1 / (i + j + 1), i, i - 2 * j, sympy.exp(-((i - j) ** 2)) * t, sympy.Max(i, j)]
)
def test_matrices_by_a_formula_of_any_size(entry):
    matrix = FunctionMatrix(m, n, Lambda((i, j), entry))
    tensor = se.from_matrix(matrix)
    assert tensor.shape == (m, n)
    small = tensor.subs({m: 3, n: 2})
    expected = [[entry.subs({i: a, j: b}) for b in range(2)] for a in range(3)]
    assert sympy.simplify(Matrix(small.as_explicit()) - Matrix(expected)) == sympy.zeros(3, 2)
    B = se.TensorSymbol("B", (m, n))
    found = se.lambdify([B, t], tensor + B)(np.zeros((3, 2)), 0.5)
    np.testing.assert_allclose(found, np.array(Matrix(expected).subs(t, 0.5), dtype=float))


def test_matrices_by_a_formula_with_entries():
    matrix = FunctionMatrix(n, n, Lambda((i, j), M[i, j] * N[j, i]))
    assert se.from_matrix(matrix) == MT * NT.T


# --- exact numbers


@pytest.mark.parametrize("matrix", [RATIONAL, EXACT, Matrix(2, 2, [10**30, 1, -3, Rational(1, 7)])])
def test_explicit_matrices_stay_exact(matrix):
    kinds = (Matrix, sympy.ImmutableMatrix, SparseMatrix, ImmutableSparseMatrix)
    tensor = se.from_matrix(matrix)
    assert tensor.as_explicit() == Array(matrix.tolist())
    for kind in kinds:
        assert se.from_matrix(kind(matrix)) is tensor
    assert se.from_array(Array(matrix.tolist())) is tensor
    assert se.Constant(matrix.tolist()) is tensor
    assert se.to_matrix(tensor) == matrix
    assert pickle.loads(pickle.dumps(tensor)) is tensor
    namespace = {**vars(sympy), **vars(se)}
    assert eval(str(tensor), namespace) is tensor
    assert eval(sympy.srepr(tensor), namespace) is tensor
    assert tensor.subs(Rational(1, 7), 5) is tensor
    np.testing.assert_array_equal(tensor.array, np.array(matrix.tolist(), dtype=float))


def test_numbers_that_arrays_hold_are_arrays():
    assert se.from_matrix(Matrix([[1, 2]])).array.dtype.kind == "i"
    assert se.from_matrix(Matrix([[1, 0.5, Rational(1, 3)]])) is se.Constant([[1, 0.5, 1 / 3]])
    assert se.from_matrix(Matrix([[sympy.oo, 1]])) is se.Constant([[np.inf, 1.0]])
    np.testing.assert_array_equal(se.Constant([I, 1]).array, [1j, 1])
    with pytest.raises(se.UnsupportedError):
        se.Constant([t, 1])


def test_explicit_matrices_in_products():
    for e, expected in (
        (RATIONAL @ A, lambda B: RATIONAL * B),
        (A @ RATIONAL.T, lambda B: B * RATIONAL.T),
        (RATIONAL - A, lambda B: RATIONAL - B),
        (Array(RATIONAL.tolist()) * A, lambda B: B.multiply_elementwise(RATIONAL)),
        (se.inv(RATIONAL) @ A, lambda B: RATIONAL.inv() * B),
        (se.trace(A) * EXACT, lambda B: B.trace() * EXACT),
        (EXACT * se.trace(A), lambda B: B.trace() * EXACT),
    ):
        B = Matrix(3, 3, range(1, 10))
        explicit = Matrix(e.subs(A, B).as_explicit())
        assert sympy.simplify(explicit - expected(B)) == sympy.zeros(3, 3)
        values = se.lambdify(A, e)(np.arange(1.0, 10).reshape(3, 3))
        np.testing.assert_allclose(values, np.array(expected(B), dtype=float), rtol=1e-12)


def test_arrays_beside_tensors():
    assert Array([1, 2, 3]) * y == y * Array([1, 2, 3]) == se.Constant([1, 2, 3]) * y
    assert Array([1, 2, 3]) / y == se.Constant([1, 2, 3]) / y


def test_exact_numbers_are_written_exactly():
    tensor = Matrix([[Rational(1, 3), sqrt(2)]]) @ se.TensorSymbol("z", 2)
    assert se.latex(tensor) == (r"\left[\begin{matrix}\frac{1}{3} & \sqrt{2}\end{matrix}\right] z")
    assert se.to_indexed(tensor, [0]).has(Rational(1, 3))


def test_objects_with_a_sympy_conversion():
    """An object with a SymPy conversion is read by it, as by sympify."""
    x = se.TensorSymbol("x", 3)

    class Wrapped:
        def __init__(self, value):
            self.value = value

        def _sympy_(self):
            return self.value

    assert se.sin(Wrapped(x)) == se.sin(x)
    assert se.einsum("i->", Wrapped(Wrapped(x))) == x.sum()
    assert se.simplify(Wrapped(Matrix([1, 2]))) == se.from_matrix(Matrix([1, 2]))
