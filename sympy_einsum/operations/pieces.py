"""Tensors taken apart along axes, turned, shifted, repeated and framed: slices, and slices written
side by side. NumPy's functions of these names say what each does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from sympy import Expr, Integer, S

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
from ..expressions import (
    Operand,
    Selection,
    TensorLike,
    as_operand,
    contract,
    order_of,
    shape_of,
)
from .axes import (
    Axes,
    as_axes,
    as_axis,
    broadcast_to,
    expand_dims,
    filled,
    ravel,
    reshape,
)
from .indexing import getitem
from .joining import concatenate

# Tensors, or nested lists of such.
Nested: TypeAlias = Any
# Numbers of entries before and after an axis, in NumPy's short and long forms.
Widths: TypeAlias = Length | Sequence[Length] | Sequence[Sequence[Length]]


def _cut(A: Operand, axis: int, *bounds: Expr | int | None) -> Operand:
    return getitem(A, (*[slice(None)] * axis, slice(*bounds)))


def _known(length: Expr, what: str) -> int:
    if not length.is_Integer:
        raise UnsupportedError(f"{what} needs a length that is a number, not {length}")
    return int(length)


def flip(A: TensorLike, axis: Axes = None) -> Operand:
    """The entries in reverse order along some axes, all without ``axis``; of the same shape.

    Raises ShapeError for an axis that isn't there.

    >>> import sympy_einsum as se
    >>> se.flip(se.TensorSymbol("x", 3)) == se.TensorSymbol("x", 3)[::-1]
    True
    """
    A = as_operand(A)
    axes = as_axes(axis, order_of(A))
    turned = [slice(None, None, -1) if k in axes else slice(None) for k in range(order_of(A))]
    return getitem(A, tuple(turned)) if turned else A


def roll(A: TensorLike, shift: Length | Sequence[Length], axis: Axes = None) -> Operand:
    """The entries moved along axes; what leaves at the end comes in at the start. Without ``axis``
    all of them in C order. Of the same shape.

    Raises ShapeError for an axis that isn't there, UnsupportedError for a shift that isn't known to
    be shorter than its axis.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> se.roll(x, 1) == se.concatenate([x[2:], x[:2]])
    True
    """
    A = as_operand(A)
    if axis is None:
        return reshape(_rolled(ravel(A), as_scalar(shift, "a shift"), 0), shape_of(A))
    axes = list(axis) if isinstance(axis, Sequence) else [axis]
    shifts = list(shift) if isinstance(shift, (tuple, list)) else [shift] * len(axes)
    axes *= len(shifts) if len(axes) == 1 else 1
    if len(shifts) != len(axes):
        raise ShapeError(f"roll got {len(shifts)} shifts for {len(axes)} axes")
    for own, number in zip(axes, shifts, strict=True):
        A = _rolled(A, as_scalar(number, "a shift"), as_axis(own, order_of(A)))
    return A


def _rolled(A: Operand, shift: Expr, axis: int) -> Operand:
    length = shape_of(A)[axis]
    if shift.is_integer is not True:
        raise TensorError(f"a shift is an integer, not {shift}")
    if length.is_Integer and shift.is_Integer:
        shift = Integer(int(shift) % max(int(length), 1))
    if shift is S.Zero:
        return A
    # Symbolic shifts and lengths: what is cut lies on the axis, which is checked with numbers.
    place = length - shift if not shift.is_negative else -shift
    return concatenate([_cut(A, axis, place, None), _cut(A, axis, None, place)], axis)


def split(A: TensorLike, sections: int | Sequence[Length], axis: int = 0) -> list[Operand]:
    """Pieces along an axis: so many of equal length, or those between the given positions.

    Raises ShapeError where the axis can't be divided so, UnsupportedError where that isn't known.

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
                f"it isn't known whether {count} divides {length}, the length of axis {axis}; give "
                "the positions between the pieces"
            )
        bounds = [k * width for k in range(1, count)]
    else:
        bounds = [as_scalar(b, "a position") for b in as_list(sections, "positions")]
    return _between(A, axis, bounds)


def _between(A: Operand, axis: int, bounds: Sequence[Expr]) -> list[Operand]:
    return [_cut(A, axis, a, b) for a, b in pairwise([None, *bounds, None])]


def array_split(A: TensorLike, sections: int | Sequence[Length], axis: int = 0) -> list[Operand]:
    """The same where the pieces may differ in length by one.

    Raises UnsupportedError for an axis without a number for its length, ShapeError for one that
    isn't there.

    >>> import sympy_einsum as se
    >>> [piece.shape for piece in se.numpy.array_split(se.TensorSymbol("x", 5), 2)]
    [(3,), (2,)]
    """
    A = as_operand(A)
    axis = as_axis(axis, order_of(A))
    if not isinstance(sections, (int, np.integer, Integer)) or sections < 1:
        return split(A, sections, axis)
    length, count = _known(shape_of(A)[axis], "array_split"), int(sections)
    longer = length % count
    bounds = [k * (length // count) + min(k, longer) for k in range(1, count)]
    return _between(A, axis, [Integer(b) for b in bounds])


def tile(A: TensorLike, reps: Length | Sequence[Length]) -> Operand:
    """The tensor side by side with itself, so many times along each of the last axes; new axes come
    first.

    >>> import sympy_einsum as se
    >>> se.tile(se.TensorSymbol("X", 2, 3), (2, 1, 4)).shape
    (2, 2, 12)
    """
    A = as_operand(A)
    times = [as_length(n) for n in (reps if isinstance(reps, (tuple, list)) else (reps,))]
    times = [S.One] * (order_of(A) - len(times)) + times
    shape = (S.One,) * (len(times) - order_of(A)) + tuple(shape_of(A))
    apart = [n for pair in zip((S.One,) * len(shape), shape, strict=True) for n in pair]
    wide = [n for pair in zip(times, shape, strict=True) for n in pair]
    whole = [m * n for m, n in zip(times, shape, strict=True)]
    return reshape(broadcast_to(reshape(A, tuple(apart)), tuple(wide)), tuple(whole))


def repeat(A: TensorLike, repeats: Length | Sequence[int], axis: int | None = None) -> Operand:
    """Every entry so many times in a row along an axis, along all in C order without one. With a
    number for each entry the axis has a length in numbers.

    Raises ShapeError where there are as many numbers as neither 1 nor entries.

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
        times_of = [_known(as_length(n), "repeat") for n in as_list(repeats, "numbers")]
        if len(times_of) != 1:
            if not same_length(length, Integer(len(times_of))):
                raise ShapeError(
                    f"repeat got {len(times_of)} numbers for an axis of length {length}"
                )
            pieces = [_cut(A, axis, k, k + 1) for k in range(len(times_of))]
            return concatenate(
                [repeat(p, n, axis) for p, n in zip(pieces, times_of, strict=True)], axis
            )
        (repeats,) = times_of
    times = as_length(repeats)
    shape = list(shape_of(A))
    wide = (*shape[: axis + 1], times, *shape[axis + 1 :])
    whole = (*shape[:axis], length * times, *shape[axis + 1 :])
    return reshape(broadcast_to(expand_dims(A, axis + 1), wide), whole)


def pad(
    A: TensorLike, pad_width: Widths, mode: str = "constant", constant_values: Length = 0
) -> Operand:
    """A frame around a tensor: ``constant`` entries, the ``edge``, its reflection at the edge
    (``reflect``, which leaves out the edge itself, and ``symmetric``), or the other end (``wrap``).

    Raises TensorError for another mode, ShapeError where a reflection is longer than the axis.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> se.lambdify([x], se.pad(x, (1, 2)))([1, 2, 3])
    array([0, 1, 2, 3, 0, 0])
    """
    A = as_operand(A)
    widths = _widths(pad_width, order_of(A))
    if not isinstance(mode, str) or mode not in ("constant", *_FRAMES):
        raise TensorError(f"pad knows the modes constant, {', '.join(_FRAMES)}, not {mode!r}")
    value = as_scalar(constant_values, "the value of constant_values")
    if mode == "constant":
        return _framed(A, widths, value)
    for axis, (before, after) in enumerate(widths):
        cuts = _FRAMES[mode](shape_of(A)[axis], before, after)
        frame = [_cut(A, axis, *bounds) for bounds in cuts]
        if mode == "edge":
            frame = [repeat(p, n, axis) for p, n in zip(frame, (before, after), strict=True)]
        first, last = ([] if n is S.Zero else [p] for p, n in zip(frame, widths[axis], strict=True))
        A = concatenate([*first, A, *last], axis)
    return A


Bounds: TypeAlias = tuple[Expr | int | None, ...]
# For each mode the slices before and after an axis, given its length and their lengths.
_FRAMES: dict[str, Callable[[Expr, Expr, Expr], tuple[Bounds, Bounds]]] = {
    "edge": lambda n, a, b: ((0, 1), (n - 1, n)),
    "reflect": lambda n, a, b: ((a, 0, -1), (n - 2, _behind(n - 2 - b), -1)),
    "symmetric": lambda n, a, b: ((a - 1, None, -1), (n - 1, _behind(n - 1 - b), -1)),
    "wrap": lambda n, a, b: ((n - a, n), (0, b)),
}


def _behind(stop: Expr) -> Expr | None:
    """The bound of a slice to the front, where -1 would count from the end."""
    return None if stop == -1 else stop


def _framed(A: Operand, widths: Sequence[tuple[Expr, Expr]], value: Expr) -> Operand:
    """The tensor among equal entries: written into zeros, and the value into what it leaves."""
    placed = among_zeros(A, widths)
    if value is S.Zero:
        return placed
    ones = filled(S.One, shape_of(placed)) - among_zeros(filled(S.One, shape_of(A)), widths)
    return placed + value * ones


def among_zeros(A: Operand, widths: Sequence[tuple[Expr, Expr]]) -> Operand:
    """A tensor with so many zeros before and after its entries along each axis."""
    order = order_of(A)
    operands, terms, output = [A], [tuple(range(order))], list(range(order))
    lengths = dict(enumerate(shape_of(A)))
    for axis, (before, after) in enumerate(widths):
        whole = lengths[axis] + before + after
        if not same_length(lengths[axis], whole):
            operands.append(Selection(whole, before, 1, lengths[axis]))
            terms.append((axis, order + axis))
            output[axis] = order + axis
            lengths[order + axis] = whole
    return contract(operands, terms, output, lengths)


def _widths(given: Widths, order: int) -> list[tuple[Expr, Expr]]:
    """NumPy's forms: a number for all, a pair for all, a pair for each axis."""
    rows: list[Any] = list(given) if isinstance(given, (tuple, list, np.ndarray)) else [given]
    nested = [isinstance(row, (tuple, list, np.ndarray)) for row in rows]
    pairs = [tuple(row) for row in rows] if all(nested) else [tuple(rows)]
    pairs = [pair * 2 if len(pair) == 1 else pair for pair in pairs]
    pairs *= order if len(pairs) == 1 else 1
    if len(pairs) != order or any(len(pair) != 2 for pair in pairs):
        raise ShapeError(f"pad_width {given!r} doesn't fit a tensor of order {order}")
    return [(as_length(before), as_length(after)) for before, after in pairs]


def block(arrays: Nested) -> Operand:
    """A tensor put together from nested lists of blocks: the innermost lists along the last axis,
    those around them along the one before.

    Raises ShapeError where blocks don't fit together, TensorError where lists are nested unevenly.

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
