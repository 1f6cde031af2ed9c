"""Splitting, flipping, rolling and repeating along axes, as slices and concatenations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from sympy import Expr, Integer, Mod, S

from ..core import (
    Length,
    ShapeError,
    TensorError,
    UnsupportedError,
    as_length,
    as_list,
    as_scalar,
    same_length,
)
from ..expressions import Operand, TensorLike, as_operand, order_of, shape_of
from .axes import Axes, as_axes, as_axis, broadcast_to, expand_dims, ravel, reshape
from .indexing import getitem
from .joining import concatenate

# A tensor, or nested lists of tensors.
Nested: TypeAlias = Any


def slice_along(A: Operand, axis: int, *bounds: Expr | int | None) -> Operand:
    """Slice one axis."""
    return getitem(A, (*[slice(None)] * axis, slice(*bounds)))


def _as_integer(length: Expr, what: str) -> int:
    if not length.is_Integer:
        raise UnsupportedError(f"{what} needs a numeric length, not {length}")
    return int(length)


def flip(A: TensorLike, axis: Axes = None) -> Operand:
    """Reverse the entries along some axes, by default along all.

    Raises ShapeError for an axis out of range.

    >>> import sympy_einsum as se
    >>> se.flip(se.TensorSymbol("x", 3)) == se.TensorSymbol("x", 3)[::-1]
    True
    """
    A = as_operand(A)
    axes = as_axes(axis, order_of(A))
    reversed_axes = [
        slice(None, None, -1) if k in axes else slice(None) for k in range(order_of(A))
    ]
    return getitem(A, tuple(reversed_axes)) if reversed_axes else A


def roll(A: TensorLike, shift: Length | Sequence[Length], axis: Axes = None) -> Operand:
    """Roll the entries along axes; entries beyond the end reappear at the start. By default roll
    all entries in C order.

    A shift with symbols is taken modulo the length. A number is taken to be at most the length if
    that is symbolic; the compiled function raises ShapeError where it isn't. Raises ShapeError for
    an axis out of range.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> se.roll(x, 1) == se.concatenate([x[2:], x[:2]])
    True
    """
    A = as_operand(A)
    if axis is None:
        return reshape(roll(ravel(A), shift, 0), shape_of(A))
    axes = list(axis) if isinstance(axis, Sequence) else [axis]
    shifts = list(shift) if isinstance(shift, (tuple, list)) else [shift] * len(axes)
    axes *= len(shifts) if len(axes) == 1 else 1
    if len(shifts) != len(axes):
        raise ShapeError(f"roll got {len(shifts)} shifts for {len(axes)} axes")
    for k, number in zip(axes, shifts, strict=True):
        A = _rolled(A, as_scalar(number, "a shift"), as_axis(k, order_of(A)))
    return A


def _rolled(A: Operand, shift: Expr, axis: int) -> Operand:
    length = shape_of(A)[axis]
    if shift.is_integer is not True:
        raise TensorError(f"a shift is an integer, not {shift}")
    if length.is_Integer and shift.is_Integer:
        shift = Integer(int(shift) % max(int(length), 1))
    if shift is S.Zero:
        return A
    is_short = shift.is_nonnegative or shift.is_nonpositive
    is_short = is_short and (length - shift).is_nonnegative and (length + shift).is_nonnegative
    if shift.free_symbols and not is_short:
        shift = Mod(shift, length)
    # For a number it is checked when the function is called that the position is on the axis.
    start = -shift if shift.is_nonpositive else length - shift
    return concatenate([slice_along(A, axis, start, None), slice_along(A, axis, None, start)], axis)


def split(A: TensorLike, sections: int | Sequence[Length], axis: int = 0) -> list[Operand]:
    """Split along an axis into a number of equal parts, or at the given positions.

    Raises ShapeError if the number doesn't divide the axis, UnsupportedError if that can't be
    decided.

    >>> import sympy_einsum as se
    >>> [piece.shape for piece in se.split(se.TensorSymbol("x", 6), [1, 4])]
    [(1,), (3,), (2,)]
    """
    A = as_operand(A)
    axis = as_axis(axis, order_of(A))
    length = shape_of(A)[axis]
    if isinstance(sections, (int, np.integer, Integer)) and not isinstance(sections, bool):
        count = int(sections)
        if count < 1:
            raise TensorError(f"the number of sections is positive, not {count}")
        width = length / count
        if width.is_integer is False:
            raise ShapeError(
                f"axis {axis} of length {length} can't be divided into {count} equal parts"
            )
        if width.is_integer is None:
            raise UnsupportedError(
                f"it can't be decided whether {count} divides {length}, the length of axis {axis}; "
                "give the positions between the parts"
            )
        bounds = [k * width for k in range(1, count)]
    else:
        bounds = [as_scalar(b, "a position") for b in as_list(sections, "positions")]
    return _slices_between(A, axis, bounds)


def _slices_between(A: Operand, axis: int, bounds: Sequence[Expr]) -> list[Operand]:
    return [slice_along(A, axis, a, b) for a, b in pairwise([None, *bounds, None])]


def array_split(A: TensorLike, sections: int | Sequence[Length], axis: int = 0) -> list[Operand]:
    """Split along an axis into a number of parts whose lengths differ by at most one.

    Raises UnsupportedError for an axis of symbolic length, ShapeError for one out of range.

    >>> import sympy_einsum as se
    >>> [piece.shape for piece in se.numpy.array_split(se.TensorSymbol("x", 5), 2)]
    [(3,), (2,)]
    """
    A = as_operand(A)
    axis = as_axis(axis, order_of(A))
    if not isinstance(sections, (int, np.integer, Integer)) or sections < 1:
        return split(A, sections, axis)
    length, count = _as_integer(shape_of(A)[axis], "array_split"), int(sections)
    longer = length % count
    bounds = [k * (length // count) + min(k, longer) for k in range(1, count)]
    return _slices_between(A, axis, [Integer(b) for b in bounds])


def tile(A: TensorLike, reps: Length | Sequence[Length]) -> Operand:
    """Repeat a tensor ``reps`` times along each of the last axes, or along new leading axes.

    >>> import sympy_einsum as se
    >>> se.tile(se.TensorSymbol("X", 2, 3), (2, 1, 4)).shape
    (2, 2, 12)
    """
    A = as_operand(A)
    times = [as_length(n) for n in (reps if isinstance(reps, (tuple, list)) else (reps,))]
    times = [S.One] * (order_of(A) - len(times)) + times
    shape = (S.One,) * (len(times) - order_of(A)) + tuple(shape_of(A))
    split_shape = [n for pair in zip((S.One,) * len(shape), shape, strict=True) for n in pair]
    extended = [n for pair in zip(times, shape, strict=True) for n in pair]
    result = [m * n for m, n in zip(times, shape, strict=True)]
    return reshape(broadcast_to(reshape(A, tuple(split_shape)), tuple(extended)), tuple(result))


def repeat(A: TensorLike, repeats: Length | Sequence[int], axis: int | None = None) -> Operand:
    """Repeat every entry ``repeats`` times along an axis, by default in C order. One number per
    entry requires an axis of numeric length.

    Raises ShapeError unless ``repeats`` is one number or one per entry.

    >>> import sympy_einsum as se
    >>> se.repeat(se.TensorSymbol("X", 2, 3), 2, axis=1).shape
    (2, 6)
    """
    A = as_operand(A)
    if axis is None:
        A, axis = ravel(A), 0
    axis = as_axis(axis, order_of(A))
    length = shape_of(A)[axis]
    if isinstance(repeats, (tuple, list)) or (isinstance(repeats, np.ndarray) and repeats.ndim):
        times_of = [_as_integer(as_length(n), "repeat") for n in as_list(repeats, "numbers")]
        if len(times_of) != 1:
            if not same_length(length, Integer(len(times_of))):
                raise ShapeError(
                    f"repeat got {len(times_of)} numbers for an axis of length {length}"
                )
            entries = [slice_along(A, axis, k, k + 1) for k in range(len(times_of))]
            return concatenate(
                [repeat(e, n, axis) for e, n in zip(entries, times_of, strict=True)], axis
            )
        (repeats,) = times_of
    times = as_length(repeats)
    shape = list(shape_of(A))
    extended = (*shape[: axis + 1], times, *shape[axis + 1 :])
    result = (*shape[:axis], length * times, *shape[axis + 1 :])
    return reshape(broadcast_to(expand_dims(A, axis + 1), extended), result)


def block(arrays: Nested) -> Operand:
    """Assemble a tensor from nested lists of blocks: the innermost lists along the last axis, the
    next along the one before.

    Raises ShapeError for blocks of incompatible shapes, TensorError for unevenly nested lists.

    >>> import sympy_einsum as se
    >>> A, B = se.TensorSymbol("A", 2, 2), se.TensorSymbol("B", 2, 3)
    >>> se.block([[A, B], [B.T, se.Delta(3)]]).shape
    (5, 5)
    """
    depth = _depth(arrays)
    order = max(depth, *_orders(arrays))
    return _blocks(arrays, depth, order)


def _depth(arrays: Nested) -> int:
    if not isinstance(arrays, list):
        return 0
    depths = {_depth(inner) for inner in arrays}
    if len(depths) != 1:
        raise TensorError("block takes lists that aren't empty and are nested to one depth")
    return 1 + depths.pop()


def _orders(arrays: Nested) -> list[int]:
    if isinstance(arrays, list):
        return [order for inner in arrays for order in _orders(inner)]
    return [order_of(as_operand(arrays))]


def _blocks(arrays: Nested, depth: int, order: int) -> Operand:
    if isinstance(arrays, list):
        return concatenate([_blocks(inner, depth - 1, order) for inner in arrays], -depth)
    tensor = as_operand(arrays)
    return reshape(tensor, (S.One,) * (order - order_of(tensor)) + tuple(shape_of(tensor)))
