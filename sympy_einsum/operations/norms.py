"""Norms of vectors and matrices, and condition numbers."""

from __future__ import annotations

from typing import TypeAlias

from sympy import Expr, Ne, S

from ..core import ShapeError, UnsupportedError, as_flag, as_scalar, with_hints
from ..expressions import (
    Operand,
    TensorLike,
    as_operand,
    elementwise,
    inv,
    order_of,
    square_matrices,
    stacked_matrices,
)
from .arithmetic import divide, multiply, power
from .axes import Axes, as_axes, moveaxis
from .conditions import compare, where
from .decompositions import svdvals
from .indexing import getitem
from .numbers import squared
from .orders import extremum_or, min as min_
from .reductions import restore_axes, sum as sum_

# The orders of norms that NumPy accepts.
Order: TypeAlias = Expr | float | str | None


@with_hints
def norm(A: TensorLike, ord: Order = None, axis: Axes = None, keepdims: bool = False) -> Operand:
    """Return a norm as NumPy defines it; by default the Euclidean norm of a vector and the
    Frobenius norm of other tensors.

    Along one axis, a number ``ord`` is the p-norm, 0 counts the nonzero entries, inf and -inf are
    the largest and the smallest absolute value. Along two axes, ``"fro"`` is the Frobenius norm,
    ``"nuc"`` the sum of the singular values, 2 and -2 the largest and the smallest of them, 1 and
    -1 the largest and the smallest column sum of absolute values, inf and -inf those of row sums.

    A norm isn't differentiable where it is 0; derivatives of absolute values are 0 there.

    Parameters
    ==========

    A : a tensor; the norm of a scalar is its absolute value
    ord : the order of the norm
    axis : one axis for vector norms, two for matrix norms; None for all
    keepdims : whether the axes remain, with length 1

    Raises
    ======

    ShapeError : an axis is out of range, or an ``ord`` for more than two axes
    UnsupportedError : another norm

    Examples
    ========

    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> se.equal(se.norm(x) ** 2, x @ x)
    True
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> se.norm(A, "nuc") == se.svdvals(A).sum()
    True
    """
    A = as_operand(A)
    axes = as_axes(axis, order_of(A))
    if not order_of(A):
        return abs(A)
    p = ord if ord is None or isinstance(ord, str) else as_scalar(ord, "ord")
    if p is None or p == "fro":
        return power(sum_(squared(A), axis, keepdims), S.Half)
    if len(axes) > 2:
        raise ShapeError(
            f"norm with ord={ord!r} takes one axis or two, not the {len(axes)} of shape {A.shape}"
        )
    total = _matrix_norm(A, p, axes) if len(axes) == 2 else _vector_norm(A, p, axes)
    return restore_axes(total, A, axes) if as_flag(keepdims, "keepdims") else total


def vector_norm(
    x: TensorLike, ord: Order = 2, axis: Axes = None, keepdims: bool = False
) -> Operand:
    """Return the p-norm of the entries along some axes, as of one vector.

    Axes are as for :func:`sum`. Raises UnsupportedError for other norms.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> se.numpy.linalg.vector_norm(A) == se.norm(A)
    True
    """
    x = as_operand(x)
    axes = as_axes(axis, order_of(x))
    total = _vector_norm(x, 2 if ord is None else as_scalar(ord, "ord"), axes)
    return restore_axes(total, x, axes) if as_flag(keepdims, "keepdims") else total


def _vector_norm(A: Operand, p: Expr | str, axes: list[int]) -> Operand:
    if isinstance(p, str):
        raise UnsupportedError(f"norm of a vector takes a number as ord, not {p!r}")
    if p == 0:
        return sum_(where(compare(Ne, A, 0), 1, 0), axes)
    if p == 2:
        return power(sum_(squared(A), axes), S.Half)
    absolute = elementwise(abs, A)
    if p.is_infinite:
        return _extreme(p, absolute, axes)
    if p == 1:
        return sum_(absolute, axes)
    return power(sum_(power(absolute, p), axes), 1 / p)


def _matrix_norm(A: Operand, p: Expr | str, axes: list[int]) -> Operand:
    if p == "nuc":
        return sum_(svdvals(moveaxis(A, axes, (-2, -1))), -1)
    if p in (2, -2):
        position = 0 if p == 2 else -1
        return getitem(svdvals(moveaxis(A, axes, (-2, -1))), (..., position))
    if not isinstance(p, str) and p in (1, -1, S.Infinity, S.NegativeInfinity):
        rows, columns = axes if p.is_infinite else axes[::-1]
        total = sum_(elementwise(abs, A), columns)
        return _extreme(p, total, [rows - (columns < rows)])
    raise UnsupportedError(
        f"norm of a matrix supports ord='fro', 'nuc', 1, 2, inf and their negatives, not {p!r}"
    )


def _extreme(p: Expr, sizes: Operand, axes: list[int]) -> Operand:
    # The maximum of no entries is 0, as in NumPy.
    return extremum_or(sizes, axes, "max", S.Zero) if p.is_extended_positive else min_(sizes, axes)


def cond(x: TensorLike, p: Order = None) -> Operand:
    """Return the condition number of a matrix, or of each matrix along the last two axes of a
    tensor: the ratio of the largest to the smallest singular value, its inverse for ``p=-2``, and
    for other norms the product of the norms of the matrix and of its inverse.

    Raises
    ======

    ShapeError : there are fewer than two axes; another norm than 2 and -2 of matrices that aren't
        square

    Examples
    ========

    >>> import sympy_einsum as se
    >>> s = se.svdvals(X := se.TensorSymbol("X", (3, 3)))
    >>> se.numpy.linalg.cond(X) == s[0] / s[-1]
    True
    """
    matrices = stacked_matrices(x, "cond")
    if p is None or p in (2, -2):
        values = svdvals(matrices)
        ends = [getitem(values, (..., k)) for k in (0, -1)]
        return divide(*(ends[::-1] if p == -2 else ends))
    matrices = square_matrices(matrices, "cond")
    return multiply(*[norm(X, p, (-2, -1)) for X in (matrices, inv(matrices))])
