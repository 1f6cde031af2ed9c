"""Axes of tensors: transposition, insertion, removal, reshaping, broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from sympy import Expr, Integer, S, Tuple

from ..core import (
    Length,
    Shape,
    ShapeError,
    TensorError,
    as_list,
    as_scalar,
    as_shape,
    same_length,
    same_name_hint,
)
from ..expressions import (
    Operand,
    TensorLike,
    as_operand,
    contract,
    order_of,
    reshape_node as reshape_tensor,
    shape_of,
    stretch,
)

# An axis, several, or None for all.
Axes: TypeAlias = int | Sequence[int] | None


def filled(value: Expr, shape: Shape) -> Operand:
    """Return a tensor of a shape whose entries are one scalar."""
    return contract((value,), ((),), range(len(shape)), dict(enumerate(shape)))


def as_axis(axis: int, order: int) -> int:
    """Convert to an axis number from 0 on; negative ones count from the end."""
    if isinstance(axis, bool) or not isinstance(axis, (int, Integer, np.integer)):
        raise TensorError(f"an axis is an integer, not {axis!r}")
    if not -order <= axis < order:
        raise ShapeError(f"axis {axis} is out of range for a tensor of order {order}")
    return int(axis) % order


def as_axes(axis: Axes, order: int) -> list[int]:
    """Convert None (all axes), one axis or several to a list of distinct axes."""
    if axis is None:
        return list(range(order))
    axes = [as_axis(a, order) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    if len(set(axes)) != len(axes):
        raise ShapeError(f"axis {axis} names an axis twice")
    return axes


def transpose(a: TensorLike, axes: Sequence[int] | None = None) -> Operand:
    """Permute the axes; without ``axes`` reverse them.

    Raises ShapeError unless ``axes`` is a permutation of all axes.

    >>> import sympy_einsum as se
    >>> T = se.TensorSymbol("T", (2, 3, 4))
    >>> se.transpose(T).shape, se.transpose(T, (1, 0, 2)).shape
    ((4, 3, 2), (3, 2, 4))
    """
    a = as_operand(a)
    order = order_of(a)
    new = list(range(order))[::-1] if axes is None else as_axes(as_list(axes, "axes"), order)
    if len(new) != order:
        raise ShapeError(f"transpose needs each of the {order} axes once, not {axes}")
    if not order:
        return a
    return contract((a,), (range(order),), new, dict(enumerate(a.shape)))


def swapaxes(a: TensorLike, axis1: int, axis2: int) -> Operand:
    """Exchange two axes.

    Raises ShapeError for an axis out of range.

    >>> import sympy_einsum as se
    >>> T = se.TensorSymbol("T", (2, 3, 4))
    >>> se.swapaxes(T, 0, 2).shape
    (4, 3, 2)
    """
    a = as_operand(a)
    axes = list(range(order_of(a)))
    i, j = as_axis(axis1, len(axes)), as_axis(axis2, len(axes))
    axes[i], axes[j] = axes[j], axes[i]
    return transpose(a, axes)


def moveaxis(a: TensorLike, source: Axes, destination: Axes) -> Operand:
    """Move axes to new positions; the other axes keep their order.

    Raises ShapeError for different numbers of sources and destinations, or an axis out of range.

    >>> import sympy_einsum as se
    >>> T = se.TensorSymbol("T", (2, 3, 4))
    >>> se.moveaxis(T, 0, -1).shape
    (3, 4, 2)
    """
    a = as_operand(a)
    order = order_of(a)
    old, new = as_axes(source, order), as_axes(destination, order)
    if len(old) != len(new):
        raise ShapeError(f"moveaxis needs as many sources as destinations, not {old} and {new}")
    axes = [axis for axis in range(order) if axis not in old]
    for position, axis in sorted(zip(new, old, strict=True)):
        axes.insert(position, axis)
    return transpose(a, axes)


def expand_dims(a: TensorLike, axis: Axes) -> Operand:
    """Insert axes of length 1 at the given positions of the result.

    Raises ShapeError for a position out of range.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> se.expand_dims(A, 0).shape
    (1, 2, 3)
    """
    a = as_operand(a)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    order = order_of(a) + count
    new = set(as_axes(axis, order))
    old = iter(shape_of(a))
    return reshape(a, [S.One if k in new else next(old) for k in range(order)])


def squeeze(a: TensorLike, axis: Axes = None) -> Operand:
    """Remove axes of length 1, all of them without ``axis``.

    Raises ShapeError for an axis of another length.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (1, 3))
    >>> se.squeeze(A).shape
    (3,)
    """
    a = as_operand(a)
    shape = shape_of(a)
    if axis is None:
        axes = [k for k, length in enumerate(shape) if length is S.One]
    else:
        axes = as_axes(axis, len(shape))
        for k in axes:
            if shape[k] is not S.One:
                raise ShapeError(f"can't squeeze axis {k}: its length is {shape[k]}, not 1")
    return reshape(a, [length for k, length in enumerate(shape) if k not in axes])


def reshape(A: TensorLike, *shape: Length | Sequence[Length]) -> Operand:
    """Reshape in C order; one length may be -1.

    Raises ShapeError unless the numbers of entries are provably equal.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> se.reshape(A, 3, -1).shape
    (3, 2)
    """
    A = as_operand(A)
    listed = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list, Tuple)) else shape
    new = [as_scalar(length, "a length of the new shape") for length in listed]
    if not order_of(A):
        if any(length not in (1, -1) for length in new):
            raise ShapeError(f"can't reshape a scalar to {tuple(new)}")
        return filled(A, (S.One,) * len(new)) if new else A
    return reshape_tensor(A, new)


def ravel(A: TensorLike) -> Operand:
    """Return the entries in C order as a vector.

    Its length is the product of the tensor's lengths.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> se.ravel(A).shape
    (6,)
    """
    return reshape(A, -1)


def broadcast_to(array: TensorLike, shape: Length | Sequence[Length]) -> Operand:
    """Broadcast to a shape: repeat along axes of length 1, and along new leading axes.

    Raises ShapeError for a shape with fewer axes, or one that differs on an axis whose length isn't
    1.

    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> se.broadcast_to(x, (2, 3)).shape
    (2, 3)
    """
    array = as_operand(array)
    new = as_shape(shape if isinstance(shape, (tuple, list)) else (shape,))
    if not order_of(array):
        return filled(array, new) if new else array
    if array.order > len(new):
        raise ShapeError(f"can't broadcast shape {array.shape} to {new}: it has more axes")
    extended = reshape(array, (S.One,) * (len(new) - array.order) + array.shape)
    for axis, (old, length) in enumerate(zip(extended.shape, new, strict=True)):
        if old is not S.One and not same_length(old, length):
            raise ShapeError(
                f"can't broadcast shape {array.shape} to {new}: axis {axis} has length {old}, "
                f"not {length} or 1" + same_name_hint(old, length)
            )
    return stretch(extended, new)
