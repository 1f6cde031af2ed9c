"""Rows of ``numpy.linalg``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NoReturn

from .. import operations as ops
from ..core import TensorError, UnsupportedError, as_flag, as_list
from ..expressions import Operand, TensorLike, det, inv, matrix_power
from ._products import cross
from ._rows import NumpyRow as Row

_SQUARE = "Raises ShapeError for matrices that aren't square."
_COMPLEX = (
    "{} isn't supported: eigenvalues of a matrix that isn't symmetric are complex, and tensors are "
    "real; {} takes symmetric matrices"
)


def eigh(a: TensorLike, UPLO: str) -> ops.EighResult:
    _check_triangle(UPLO)
    return ops.eigh(a)


def eigvalsh(a: TensorLike, UPLO: str) -> Operand:
    _check_triangle(UPLO)
    return ops.eigvalsh(a)


def svd(
    a: TensorLike, full_matrices: bool, compute_uv: bool, hermitian: bool
) -> ops.SVDResult | Operand:
    as_flag(hermitian, "hermitian")
    if as_flag(compute_uv, "compute_uv"):
        return ops.svd(a, full_matrices)
    return ops.svdvals(a)


def pinv(a: TensorLike, hermitian: bool) -> Operand:
    as_flag(hermitian, "hermitian")
    return ops.pinv(a)


def multi_dot(arrays: Sequence[TensorLike]) -> Operand:
    arrays = as_list(arrays, "tensors")
    if len(arrays) < 2:
        raise TensorError("multi_dot takes at least two tensors")
    return reduce(ops.matmul, arrays)


def _check_triangle(name: str) -> None:
    if name not in ("L", "U"):
        raise TensorError(f"UPLO names the triangle that is read, 'L' or 'U', not {name!r}")


def _unsupported(message: str) -> NoReturn:
    raise UnsupportedError(message)


# fmt: off
ROWS = (
    Row("inv(a)", inv,
        "the inverses of square matrices",
        "se.gradient(snp.linalg.inv(S).trace(), S)", "-inv(S).T @ inv(S).T",
        "Raises ShapeError for other matrices."),
    Row("det(a)", det,
        "the determinants of square matrices",
        "se.gradient(snp.linalg.det(S), S)", "adj(S).T", "Raises ShapeError for other matrices."),
    Row("norm(x, ord=None, axis=None, keepdims=False)", ops.norm,
        "the norms of vectors or matrices; without axes the root of the sum of squares",
        "se.gradient(snp.linalg.norm(x), x), snp.linalg.norm(x, ord=1)",
        "(x/norm(x), Abs(x).sum())",
        "Raises ShapeError for an axis out of range, UnsupportedError for an order that has no "
        "derivative."),
    Row("matrix_power(a, n)", lambda a, n: matrix_power(a, n),
        "powers of square matrices; the exponent is an integer or an integer symbol",
        "snp.linalg.matrix_power(S, 3), snp.linalg.matrix_power(S, -1)", "(S @ (S @ S), inv(S))",
        _SQUARE),
    Row("eigh(a, UPLO='L') -> EighResult", eigh,
        "the eigenvalues and eigenvectors of symmetric matrices; code may read either triangle",
        'A = se.TensorSymbol("A", 2, 2)\n'
        "values, vectors = snp.linalg.eigh(A)\n"
        "se.lambdify([A], values)([[2.0, 1.0], [1.0, 2.0]]).round(12)", "array([1., 3.])",
        "Values and vectors are those of (A + A')/2, so derivatives are symmetric. Raises "
        "ShapeError for matrices that aren't square."),
    Row("eigvalsh(a, UPLO='L')", eigvalsh,
        "the eigenvalues of symmetric matrices; code may read either triangle",
        'A = se.TensorSymbol("A", 2, 2)\n'
        "largest = snp.linalg.eigvalsh(A)[-1]\n"
        "se.lambdify([A], se.gradient(largest, A))([[2.0, 1.0], [1.0, 2.0]]).round(12)",
        "array([[0.5, 0.5],\n"
        "       [0.5, 0.5]])", _SQUARE),
    Row("svd(a, full_matrices=True, compute_uv=True, hermitian=False) -> SVDResult | Operand",
        svd,
        "the singular values and vectors, without ``compute_uv`` the singular values only",
        "u, s, vh = snp.linalg.svd(A, full_matrices=False)\n"
        "u.shape, s.shape, vh.shape", "((2, 2), (2,), (2, 3))",
        "Raises UnsupportedError for the full matrices of one that isn't square, whose further "
        "columns are arbitrary."),
    Row("pinv(a, rcond: None = None, hermitian=False)", pinv,
        "the pseudoinverses, with NumPy's default tolerance",
        "snp.linalg.pinv(A).shape", "(3, 2)"),
    Row("lstsq(a, b, rcond: None = None) -> LstsqResult", ops.lstsq,
        "the least-squares solution for a matrix of full rank",
        "snp.linalg.lstsq(A.T, x)[0].shape", "(2,)",
        "Raises ShapeError if lengths don't match."),
    Row("vector_norm(x, /, *, axis=None, keepdims=False, ord: Order = 2)", ops.vector_norm,
        "the norms of the entries along some axes, taken as one vector",
        "snp.linalg.vector_norm(A, axis=1).shape", "(2,)", "Errors are those of ``norm``."),
    Row("matrix_norm(x, /, *, keepdims=False, ord: Order = 'fro')",
        lambda x, keepdims, ord: ops.norm(x, ord, (-2, -1), keepdims),
        "the norms of the matrices along the last two axes",
        "D = snp.diag(x)\n"
        'se.lambdify([x], snp.linalg.matrix_norm(D, ord="nuc"))([3.0, 0.0, -4.0])',
        "np.float64(7.0)", "Errors are those of ``norm``."),
    Row("cross(x1, x2, /, *, axis: int = -1)", lambda x1, x2, axis: cross(x1, x2, axis=axis),
        "the cross product of vectors of length 3",
        "snp.linalg.cross(x, y) == snp.cross(x, y)", "True",
        "Raises ShapeError for other lengths."),
    Row("multi_dot(arrays: Sequence[TensorLike])", multi_dot,
        "the product of matrices, in an order that the compiler chooses",
        "snp.linalg.multi_dot([A, S, x])", "A @ S @ x",
        "Raises ShapeError if lengths don't match, TensorError for fewer than two."),
    Row("matrix_transpose(x, /)", lambda x: ops.swapaxes(x, -1, -2),
        "the tensor with its last two axes exchanged",
        "snp.linalg.matrix_transpose(A).shape", "(3, 2)", "Raises ShapeError for a vector."),
    Row("diagonal(x, /, *, offset=0)", lambda x, offset: ops.diagonal(x, offset, -2, -1),
        "the diagonals of the matrices along the last two axes",
        "snp.linalg.diagonal(T).shape", "(2, 3)", "Raises ShapeError for a vector."),
    Row("trace(x, /, *, offset=0)",
        lambda x, offset: ops.sum(ops.diagonal(x, offset, -2, -1), axis=-1),
        "the traces of the matrices along the last two axes",
        "snp.linalg.trace(T).shape", "(2,)", "Raises ShapeError for a vector."),
    Row("eig(a) -> NoReturn", lambda a: _unsupported(_COMPLEX.format("eig", "eigh")),
        "eigenvalues of a matrix that isn't symmetric are complex",
        "snp.linalg.eig(S)",
        "Traceback (most recent call last):\n"
        "...\n"
        "sympy_einsum.UnsupportedError: eig isn't supported: eigenvalues of a matrix that isn't\n"
        "symmetric are complex, and tensors are real; eigh takes symmetric matrices"),
    Row("eigvals(a) -> NoReturn", lambda a: _unsupported(_COMPLEX.format("eigvals", "eigvalsh")),
        "eigenvalues of a matrix that isn't symmetric are complex",
        "snp.linalg.eigvals(S)",
        "Traceback (most recent call last):\n"
        "...\n"
        "sympy_einsum.UnsupportedError: eigvals isn't supported: eigenvalues of a matrix that\n"
        "isn't symmetric are complex, and tensors are real; eigvalsh takes symmetric matrices"),
    Row("matrix_rank(A, tol: object = None, hermitian=False) -> NoReturn",
        lambda A, **_: _unsupported(
            "matrix_rank isn't supported: it counts singular values, and has no derivative; count "
            "svdvals(A) of numbers"),
        "a rank has no derivative",
        "snp.linalg.matrix_rank(S)",
        "Traceback (most recent call last):\n"
        "...\n"
        "sympy_einsum.UnsupportedError: matrix_rank isn't supported: it counts singular values,\n"
        "and has no derivative; count svdvals(A) of numbers"),
)
