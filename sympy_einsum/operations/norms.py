"""Norms of vectors and of matrices, and condition numbers."""

from __future__ import annotations

from typing import TypeAlias

from sympy import Expr, Ne, S

from ..core import ShapeError, UnsupportedError, as_flag, as_scalar
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

# Orders of norms that NumPy accepts.
Order: TypeAlias = Expr | float | str | None


def norm(A: TensorLike, ord: Order = None, axis: Axes = None, keepdims: bool = False) -> Operand:
    """Return the norms of NumPy: the Euclidean one of a vector and the Frobenius one of anything
    else, if there is no ``ord``; else of a vector, or along one axis, its p-norm for a number p,
    the number of entries that aren't 0 for 0, the largest and the smallest size of an entry for inf
    and -inf; of a matrix, or along two axes, ``"fro"``, ``"nuc"`` (the sum of the singular values),
    2 and -2 (the largest and the smallest of them), 1 and -1 (the largest and the smallest column,
    each by the sum of its entries' sizes), inf and -inf (the same of rows).

    A norm has no derivative where it is 0; those that are made of sizes of entries have 0 there.

    Parameters
    ==========

    A : a tensor; a scalar's norm is its absolute value
    ord : which norm
    axis : one axis for norms of vectors, two for those of matrices; None for all
    keepdims : whether the axes stay, with length 1

    Raises
    ======

    ShapeError : an axis isn't there, or an ``ord`` for more than two axes
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
    if not order_of(A):
        return abs(A)
    axes = as_axes(axis, A.order)
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
    """Compute the p-norm of all entries along some axes, as if these were one.

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
        place = 0 if p == 2 else -1
        return getitem(svdvals(moveaxis(A, axes, (-2, -1))), (..., place))
    if not isinstance(p, str) and p in (1, -1, S.Infinity, S.NegativeInfinity):
        rows, columns = axes if p.is_infinite else axes[::-1]
        total = sum_(elementwise(abs, A), columns)
        return _extreme(p, total, [rows - (columns < rows)])
    raise UnsupportedError(
        f"norm of a matrix supports ord='fro', 'nuc', 1, 2, inf and their negatives, not {p!r}"
    )


def _extreme(p: Expr, sizes: Operand, axes: list[int]) -> Operand:
    # The largest size of nothing is 0, as in NumPy.
    return extremum_or(sizes, axes, "max", S.Zero) if p.is_extended_positive else min_(sizes, axes)


def cond(x: TensorLike, p: Order = None) -> Operand:
    """Return the condition number of a matrix, or of each along the last two axes of a tensor: the
    ratio of the largest and the smallest singular value, the inverse of that for ``p=-2``, and for
    other norms the product of those of the matrix and of its inverse.

    Raises
    ======

    ShapeError : there are no two axes; another norm than 2 and -2 of matrices that aren't square

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
        ends = [getitem(values, (..., place)) for place in (0, -1)]
        return divide(*(ends[::-1] if p == -2 else ends))
    matrices = square_matrices(matrices, "cond")
    return multiply(*[norm(X, p, (-2, -1)) for X in (matrices, inv(matrices))])
