"""Reductions over axes, such as sums and means, and normalisations along axes, such as softmax."""

from __future__ import annotations

from types import EllipsisType

from sympy import Expr, Max, Mul, S

from ..core import TensorError, as_flag, as_scalar, documentation_link, tuning, with_hints
from ..expressions import (
    LogSumExp,
    Operand,
    Softmax,
    TensorLike,
    as_operand,
    contract,
    order_of,
    shape_of,
    stretch,
)
from .arithmetic import add, divide, multiply, power
from .axes import Axes, as_axes, filled, reshape
from .indexing import getitem
from .numbers import squared
from .running import interval_products


@with_hints
def sum(A: TensorLike, axis: Axes = None, keepdims: bool = False) -> Operand:
    """Sum over some axes, by default over all.

    The result lacks these axes; with ``keepdims`` they remain, with length 1. Raises ShapeError for
    an axis out of range.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> se.sum(A, axis=0).shape
    (3,)
    """
    A = as_operand(A)
    order = order_of(A)
    axes = as_axes(axis, order)
    output = [k for k in range(order) if k not in axes]
    total = contract((A,), (range(order),), output, dict(enumerate(A.shape))) if order else A
    return restore_axes(total, A, axes) if as_flag(keepdims, "keepdims") else total


def restore_axes(reduced: Operand, A: Operand, axes: list[int]) -> Operand:
    """Reinsert the axes of a reduction with length 1."""
    return reshape(reduced, [S.One if k in axes else n for k, n in enumerate(shape_of(A))])


@with_hints
def mean(A: TensorLike, axis: Axes = None, keepdims: bool = False) -> Operand:
    """Return the mean over some axes; of no entries it is nan, as in NumPy, without a warning.

    Axes are as for :func:`sum`.

    Raises ShapeError for an axis out of range.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> se.mean(A, axis=1).shape
    (2,)
    """
    A = as_operand(A)
    total, count = sum(A, axis, keepdims), _count(A, axis)
    return filled(S.NaN, shape_of(total)) if count.is_zero else divide(total, count)


def _count(A: Operand, axis: Axes) -> Expr:
    return Mul(*[shape_of(A)[k] for k in as_axes(axis, order_of(A))])


@with_hints
def var(A: TensorLike, axis: Axes = None, ddof: Expr | int = 0, keepdims: bool = False) -> Operand:
    """Return the variance over some axes; the divisor is the count minus ``ddof``, or 0 if that is
    negative.

    Axes are as for :func:`sum`.

    Raises ShapeError for an axis out of range.

    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> se.var(x) == se.mean((x - se.mean(x)) ** 2)
    True
    """
    A = as_operand(A)
    centred = add(A, multiply(-1, _stretched(mean(A, axis, keepdims=True), A)))
    total = sum(squared(centred), axis, keepdims)
    divisor = _count(A, axis) - as_scalar(ddof, "ddof")
    if _count(A, axis).is_zero:
        return filled(S.NaN, shape_of(total))
    if _count(A, axis) == 1 and divisor.is_positive:
        # The mean of a single entry is that entry.
        return filled(S.Zero, shape_of(total))
    return divide(total, Max(divisor, 0))


def _stretched(reduced: Operand, A: Operand) -> Operand:
    return stretch(reduced, A.shape) if order_of(A) else reduced


@with_hints
def std(A: TensorLike, axis: Axes = None, ddof: Expr | int = 0, keepdims: bool = False) -> Operand:
    """Return the standard deviation over some axes.

    Axes and ``ddof`` are as for :func:`var`.

    Raises ShapeError for an axis out of range.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> se.std(A, axis=0).shape
    (3,)
    """
    return power(var(A, axis, ddof, keepdims), S.Half)


@with_hints
def prod(A: TensorLike, axis: Axes = None, keepdims: bool = False) -> Operand:
    """Return the product over some axes. Its derivative is free of division, so it is right at
    zeros.

    Axes are as for :func:`sum`.

    Raises ShapeError for an axis out of range.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> se.prod(A, axis=1).shape
    (2,)
    """
    A = as_operand(A)
    result = A
    axes = as_axes(axis, order_of(A))
    for k in sorted(axes, reverse=True):
        length = shape_of(result)[k]
        if not length.is_Integer or length > tuning.MAX_WRITTEN_FACTORS:
            result = getitem(interval_products(result, k), (..., 0, length))
            continue
        index: list[slice | int] = [slice(None)] * result.order
        factors = []
        for position in range(int(length)):
            index[k] = position
            factors.append(getitem(result, tuple(index)))
        result = multiply(*factors) if factors else filled(S.One, shape_of(result)[:k])
    return restore_axes(result, A, axes) if as_flag(keepdims, "keepdims") else result


def _axes_of(function: str, A: Operand, axis: Axes | EllipsisType) -> list[int]:
    """Return the axes of a softmax or log-sum-exp. For order 2 and above there is no default:
    frameworks take the last axis, SciPy all."""
    if axis is ...:
        if order_of(A) > 1:
            raise TensorError(
                f"{function} of a tensor of order {order_of(A)} needs an axis: axis=-1 for the "
                "last one, as the frameworks have it, axis=None for all together"
                + documentation_link("broadcasting")
            )
        axis = None
    return as_axes(axis, order_of(A))


@with_hints
def logsumexp(A: TensorLike, axis: Axes | EllipsisType = ..., keepdims: bool = False) -> Operand:
    """Return log Σ exp over some axes, computed without overflow.

    Its derivative is the softmax over the same axes [BV, §3.1.5].

    Parameters
    ==========

    A : a tensor; the log-sum-exp of a scalar is the scalar
    axis : an axis, several, or None for all; optional for a vector
    keepdims : whether the axes remain, with length 1

    Raises
    ======

    ShapeError : an axis is out of range or named twice
    TensorError : a tensor of order 2 or more without ``axis``

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> x, A = se.TensorSymbol("x", (n,)), se.TensorSymbol("A", (m, n))
    >>> se.diff(se.logsumexp(x), x) == se.softmax(x)
    True
    >>> se.logsumexp(A, axis=1).shape
    (m,)

    References
    ==========

    [BV] S. Boyd, L. Vandenberghe, "Convex Optimization", 2004.
    """
    A = as_operand(A)
    axes = _axes_of("logsumexp", A, axis)
    total = LogSumExp.over(A, axes)
    return restore_axes(total, A, axes) if as_flag(keepdims, "keepdims") else total


@with_hints
def softmax(A: TensorLike, axis: Axes | EllipsisType = ...) -> Operand:
    """Return exp(A) / Σ exp(A) over some axes, computed without overflow.

    Along the axes the derivative of p = softmax(x) is diag(p) - p pᵀ.

    Parameters
    ==========

    A : a tensor; the softmax of a scalar is 1
    axis : an axis, several, or None for all; optional for a vector

    Raises
    ======

    ShapeError : an axis is out of range or named twice
    TensorError : a tensor of order 2 or more without ``axis``

    Examples
    ========

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", (3,))
    >>> p = se.softmax(x)
    >>> se.diff(p, x) == se.diag(p) - se.einsum("i,j->ij", p, p)
    True
    """
    A = as_operand(A)
    axes = _axes_of("softmax", A, axis)
    return Softmax.over(A, axes) if axes else filled(S.One, shape_of(A))
