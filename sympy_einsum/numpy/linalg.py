"""``numpy.linalg``, of matrices and of stacks of them. Functions whose results depend on a
count of numbers, or are complex, are refused by name.

>>> import numpy as np
>>> import sympy_einsum as se
>>> import sympy_einsum.numpy as snp
>>> A, b = se.TensorSymbol("A", (3, 3)), se.TensorSymbol("b", 3)
>>> snp.linalg.solve(A, b) == np.linalg.solve(A, b)
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from .. import operations as ops
from ..core import TensorError, UnsupportedError, as_flag, as_list
from ..expressions import Operand, TensorLike, det as _det, inv as _inv, matrix_power as _power
from ..operations import (
    cholesky,
    cond,
    matmul,
    outer,
    qr,
    slogdet,
    solve,
    svdvals,
    tensordot,
    tensorinv,
    tensorsolve,
)
from ._options import Axes
from ._products import cross as _cross, vecdot

__all__ = [
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]


def __dir__() -> list[str]:
    return __all__


def inv(a: TensorLike) -> Operand:
    """``numpy.linalg.inv``: the inverses of square matrices.

    Raises ShapeError for others.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (3, 3))
    >>> se.gradient(snp.linalg.inv(A).trace(), A)
    -inv(A).T @ inv(A).T
    """
    return _inv(a)


def det(a: TensorLike) -> Operand:
    """``numpy.linalg.det``: the determinants of square matrices.

    Raises ShapeError for others.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (3, 3))
    >>> se.gradient(snp.linalg.det(A), A)
    adj(A).T
    """
    return _det(a)


def norm(
    x: TensorLike, ord: ops.Order = None, axis: Axes = None, keepdims: bool = False
) -> Operand:
    """``numpy.linalg.norm``: of vectors and matrices; without axes the root of the sum of
    squares.

    Raises ShapeError for axes that aren't there, UnsupportedError for an order that has no
    derivative.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> se.gradient(snp.linalg.norm(x), x)
    x/norm(x)
    >>> se.lambdify([x], snp.linalg.norm(x, ord=1))([1.0, -2.0, 3.0])
    np.float64(6.0)
    """
    return ops.norm(x, ord, axis, keepdims)


def matrix_power(a: TensorLike, n: TensorLike) -> Operand:
    """``numpy.linalg.matrix_power``: of square matrices, by whole numbers, also negative
    ones, or by a symbol that is an integer.

    Raises ShapeError for matrices that aren't square.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (3, 3))
    >>> snp.linalg.matrix_power(A, 3), snp.linalg.matrix_power(A, -1)
    (A @ (A @ A), inv(A))
    """
    return _power(a, n)


def eigh(a: TensorLike, UPLO: str = "L") -> ops.EighResult:
    """``numpy.linalg.eigh`` of symmetric matrices, of which either triangle may be read.

    Values and vectors are those of (A + A')/2, so derivatives are symmetric. Raises ShapeError
    for matrices that aren't square.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (2, 2))
    >>> values, vectors = snp.linalg.eigh(A)
    >>> se.lambdify([A], values)([[2.0, 1.0], [1.0, 2.0]]).round(12)
    array([1., 3.])
    """
    _check_triangle(UPLO)
    return ops.eigh(a)


def eigvalsh(a: TensorLike, UPLO: str = "L") -> Operand:
    """``numpy.linalg.eigvalsh`` of symmetric matrices, of which either triangle may be read.

    Raises ShapeError for matrices that aren't square.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (2, 2))
    >>> largest = snp.linalg.eigvalsh(A)[-1]
    >>> se.lambdify([A], se.gradient(largest, A))([[2.0, 1.0], [1.0, 2.0]]).round(12)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    _check_triangle(UPLO)
    return ops.eigvalsh(a)


def svd(
    a: TensorLike, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> ops.SVDResult | Operand:
    """``numpy.linalg.svd``; that of a symmetric matrix is the same. Without ``compute_uv`` the
    singular values only.

    Raises UnsupportedError for the full matrices of one that isn't square: their further
    columns are arbitrary.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (4, 3))
    >>> u, s, vh = snp.linalg.svd(A, full_matrices=False)
    >>> u.shape, s.shape, vh.shape
    ((4, 3), (3,), (3, 3))
    """
    as_flag(hermitian, "hermitian")
    if as_flag(compute_uv, "compute_uv"):
        return ops.svd(a, full_matrices)
    return ops.svdvals(a)


def pinv(a: TensorLike, rcond: None = None, hermitian: bool = False) -> Operand:
    """``numpy.linalg.pinv`` with NumPy's default for what counts as 0.

    Raises UnsupportedError for another ``rcond``.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.linalg.pinv(se.TensorSymbol("A", (4, 3))).shape
    (3, 4)
    """
    _of_full_rank("pinv", rcond)
    as_flag(hermitian, "hermitian")
    return ops.pinv(a)


def lstsq(a: TensorLike, b: TensorLike, rcond: None = None) -> ops.LstsqResult:
    """``numpy.linalg.lstsq`` of a matrix of full rank.

    Raises ShapeError for lengths that don't fit, UnsupportedError for another ``rcond``.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A, b = se.TensorSymbol("A", (4, 2)), se.TensorSymbol("b", 4)
    >>> snp.linalg.lstsq(A, b)[0].shape
    (2,)
    """
    _of_full_rank("lstsq", rcond)
    return ops.lstsq(a, b)


def vector_norm(
    x: TensorLike, /, *, axis: Axes = None, keepdims: bool = False, ord: ops.Order = 2
) -> Operand:
    """``numpy.linalg.vector_norm``: of the entries along the axes, as one vector.

    Errors are those of ``norm``.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.linalg.vector_norm(se.TensorSymbol("A", (2, 3)), axis=1).shape
    (2,)
    """
    return ops.vector_norm(x, ord, axis, keepdims)


def matrix_norm(x: TensorLike, /, *, keepdims: bool = False, ord: ops.Order = "fro") -> Operand:
    """``numpy.linalg.matrix_norm``: of the matrices along the last two axes.

    Errors are those of ``norm``.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (2, 2))
    >>> se.lambdify([A], snp.linalg.matrix_norm(A, ord="nuc"))([[3.0, 0.0], [0.0, -4.0]])
    np.float64(7.0)
    """
    return ops.norm(x, ord, (-2, -1), keepdims)


def cross(x1: TensorLike, x2: TensorLike, /, *, axis: int = -1) -> Operand:
    """``numpy.linalg.cross``: the cross product of vectors with three entries.

    Raises ShapeError for other lengths.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> a, b = se.tensors("a b", 3)
    >>> snp.linalg.cross(a, b) == snp.cross(a, b)
    True
    """
    return _cross(x1, x2, axis=axis)


def multi_dot(arrays: Sequence[TensorLike]) -> Operand:
    """``numpy.linalg.multi_dot``: the matrix product of all, in an order that compiled code
    finds.

    Raises ShapeError for lengths that don't fit, TensorError for less than two.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A, B = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("B", (3, 4))
    >>> snp.linalg.multi_dot([A, B, se.TensorSymbol("x", 4)])
    A @ B @ x
    """
    arrays = as_list(arrays, "tensors")
    if len(arrays) < 2:
        raise TensorError("multi_dot takes at least two tensors")
    result = arrays[0]
    for array in arrays[1:]:
        result = ops.matmul(result, array)
    return result


def matrix_transpose(x: TensorLike, /) -> Operand:
    """``numpy.linalg.matrix_transpose``: the last two axes exchanged.

    Raises ShapeError for a vector.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.linalg.matrix_transpose(se.TensorSymbol("A", (2, 3))).shape
    (3, 2)
    """
    return ops.swapaxes(x, -1, -2)


def diagonal(x: TensorLike, /, *, offset: int = 0) -> Operand:
    """``numpy.linalg.diagonal``, of the last two axes.

    Raises ShapeError for a vector.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.linalg.diagonal(se.TensorSymbol("T", (5, 3, 3))).shape
    (5, 3)
    """
    return ops.diagonal(x, offset, -2, -1)


def trace(x: TensorLike, /, *, offset: int = 0) -> Operand:
    """``numpy.linalg.trace``, of the last two axes.

    Raises ShapeError for a vector.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.linalg.trace(se.TensorSymbol("T", (5, 3, 3))).shape
    (5,)
    """
    return ops.sum(ops.diagonal(x, offset, -2, -1), axis=-1)


def eig(a: TensorLike) -> NoReturn:
    """``numpy.linalg.eig`` is refused by an UnsupportedError: eigenvalues of a matrix that
    isn't symmetric are complex.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.linalg.eig(se.TensorSymbol("A", (3, 3)))
    Traceback (most recent call last):
    ...
    sympy_einsum.UnsupportedError: eig isn't supported: eigenvalues of a matrix that isn't
    symmetric are complex, and tensors are real; eigh takes symmetric matrices
    """
    raise UnsupportedError(
        "eig isn't supported: eigenvalues of a matrix that isn't symmetric are complex, and "
        "tensors are real; eigh takes symmetric matrices"
    )


def eigvals(a: TensorLike) -> NoReturn:
    """``numpy.linalg.eigvals`` is refused by an UnsupportedError, as :func:`eig` is.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.linalg.eigvals(se.TensorSymbol("A", (3, 3)))
    Traceback (most recent call last):
    ...
    sympy_einsum.UnsupportedError: eigvals isn't supported: eigenvalues of a matrix that
    isn't symmetric are complex, and tensors are real; eigvalsh takes symmetric matrices
    """
    raise UnsupportedError(
        "eigvals isn't supported: eigenvalues of a matrix that isn't symmetric are complex, "
        "and tensors are real; eigvalsh takes symmetric matrices"
    )


def matrix_rank(A: TensorLike, tol: object = None, hermitian: bool = False) -> NoReturn:
    """``numpy.linalg.matrix_rank`` is refused by an UnsupportedError.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.linalg.matrix_rank(se.TensorSymbol("A", (3, 3)))
    Traceback (most recent call last):
    ...
    sympy_einsum.UnsupportedError: matrix_rank isn't supported: it counts singular values,
    and has no derivative; count svdvals(A) of numbers
    """
    raise UnsupportedError(
        "matrix_rank isn't supported: it counts singular values, and has no derivative; count "
        "svdvals(A) of numbers"
    )


def _of_full_rank(name: str, rcond: None) -> None:
    if rcond is not None:
        raise UnsupportedError(
            f"{name} takes no rcond={str(rcond)[:80]}: how many singular values count as 0 depends "
            "on the numbers, and where their number changes there is no derivative; leave it out"
        )


def _check_triangle(name: str) -> None:
    if name not in ("L", "U"):
        raise TensorError(f"UPLO names the triangle that is read, 'L' or 'U', not {name!r}")
