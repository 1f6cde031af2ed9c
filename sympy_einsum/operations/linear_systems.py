"""Linear systems of matrices, and of each matrix along the last two axes of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sympy import Expr, Mul

from ..core import ShapeError, same_length
from ..expressions import (
    Operand,
    TensorLike,
    Zeros,
    as_operand,
    inv,
    min_length,
    order_of,
    shape_of,
    square_matrices,
    stacked_matrices,
)
from .arithmetic import add, multiply, power
from .axes import as_axes, as_axis, ravel, reshape, transpose
from .decompositions import pinv, svdvals
from .products import matmul
from .reductions import sum as sum_


def tensorsolve(a: TensorLike, b: TensorLike, axes: Sequence[int] | None = None) -> Operand:
    """Solve tensordot(a, x, x.ndim) = b for x, after moving ``axes`` of a to its end.

    Raises
    ======

    ShapeError : the leading axes of a, those of b, and the others have different numbers of entries

    Examples
    ========

    >>> import sympy_einsum as se
    >>> A, b = se.TensorSymbol("A", (2, 3, 6)), se.TensorSymbol("b", (2, 3))
    >>> se.numpy.linalg.tensorsolve(A, b).shape
    (6,)
    """
    tensor, right = as_operand(a), as_operand(b)
    last = [] if axes is None else as_axes(axes, order_of(tensor))
    tensor = transpose(tensor, [k for k in range(order_of(tensor)) if k not in last] + last)
    inner = shape_of(tensor)[order_of(right) :]
    size = Mul(*inner)
    if not same_length(size, Mul(*shape_of(right))) or not inner:
        raise ShapeError(
            f"tensorsolve takes a tensor whose axes beyond those of shape {shape_of(right)} have "
            f"as many entries, not one of shape {shape_of(tensor)}"
        )
    return reshape(solve(reshape(tensor, size, size), ravel(right)), *inner)


def tensorinv(a: TensorLike, ind: int = 2) -> Operand:
    """Return the inverse of a tensor as a map from its last axes to its first ``ind`` axes.

    Raises
    ======

    ShapeError : the first axes and the others have different numbers of entries

    Examples
    ========

    >>> import sympy_einsum as se
    >>> se.numpy.linalg.tensorinv(se.TensorSymbol("A", (2, 3, 6))).shape
    (6, 2, 3)
    """
    tensor = as_operand(a)
    count = as_axis(ind, order_of(tensor))
    first, last = shape_of(tensor)[:count], shape_of(tensor)[count:]
    size = Mul(*last)
    if not count or not same_length(size, Mul(*first)):
        raise ShapeError(
            f"tensorinv takes a tensor whose first {count} axes have as many entries as the "
            f"others, not one of shape {shape_of(tensor)}"
        )
    return reshape(inv(reshape(tensor, size, size)), *last, *first)


class LstsqResult(NamedTuple):
    """The result of ``lstsq``, as in NumPy."""

    x: Operand
    residuals: Operand
    rank: Expr
    s: Operand


def solve(a: TensorLike, b: TensorLike) -> Operand:
    """Solve a @ x = b for x, where b is a vector or a matrix, or both are stacks of matrices, whose
    leading axes are broadcast. The expression is inv(a) @ b, computed without the inverse.

    Raises
    ======

    ShapeError : a isn't square, or b has another number of rows

    Examples
    ========

    >>> import sympy_einsum as se
    >>> A, b = se.TensorSymbol("A", (2, 3, 3)), se.TensorSymbol("b", 3)
    >>> se.solve(A, b).shape
    (2, 3)
    """
    matrices = square_matrices(a, "solve")
    right = as_operand(b)
    if not order_of(right):
        raise ShapeError("solve takes a vector or matrices on the right, not a scalar")
    return matmul(inv(matrices), right)


def lstsq(a: TensorLike, b: TensorLike) -> LstsqResult:
    """Return the x of least norm that minimises ‖a @ x - b‖, for a vector or a matrix b: pinv(a) @
    b. The matrix a must have full rank; the returned rank is its shorter length.

    Raises
    ======

    ShapeError : a isn't a matrix, or b has another number of rows
    UnsupportedError : the lengths of a can't be compared

    Examples
    ========

    >>> import sympy_einsum as se
    >>> A, b = se.TensorSymbol("A", (4, 3)), se.TensorSymbol("b", 4)
    >>> se.lstsq(A, b).x == se.pinv(A) @ b
    True
    """
    matrix, right = stacked_matrices(a, "lstsq"), as_operand(b)
    if matrix.order != 2 or order_of(right) not in (1, 2):
        raise ShapeError(
            "lstsq takes a matrix and a vector or a matrix, not tensors of shapes "
            f"{matrix.shape} and {shape_of(right)}; pinv takes stacks of matrices"
        )
    rows, columns = matrix.shape
    rank = min_length(rows, columns)
    x = matmul(pinv(matrix), right)
    if rank is columns and (rows - columns).is_positive:
        residual = add(matmul(matrix, x), multiply(-1, right))
        residuals = sum_(power(residual, 2), 0, keepdims=order_of(right) == 1)
    else:
        residuals = Zeros(0)
    return LstsqResult(x, residuals, rank, svdvals(matrix))
