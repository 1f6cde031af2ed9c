"""Padding of tensors along axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from sympy import Expr, Min, S

from ..core import (
    Length,
    ShapeError,
    TensorError,
    UnsupportedError,
    as_length,
    as_scalar,
    same_length,
)
from ..expressions import (
    Ones,
    Operand,
    Selection,
    TensorLike,
    as_operand,
    contract,
    order_of,
    shape_of,
)
from .arithmetic import add, multiply, subtract
from .axes import as_axis, filled, reshape
from .gathering import take
from .joining import concatenate
from .orders import max as max_, min as min_
from .pieces import flip, repeat, slice_along
from .quantiles import median
from .reductions import mean
from .running import counting

# Padding widths before and after axes, in NumPy's short and long forms.
Widths: TypeAlias = (
    Length | Sequence[Length] | Sequence[Sequence[Length]] | Mapping[int, Length | Sequence[Length]]
)
T = TypeVar("T")
Pair: TypeAlias = tuple[T, T]


def pad(
    A: TensorLike,
    pad_width: Widths,
    mode: str = "constant",
    constant_values: Widths = 0,
    *,
    end_values: Widths = 0,
    stat_length: Widths | None = None,
    reflect_type: str = "even",
) -> Operand:
    """Pad a tensor. Widths and values are one for all ends, a pair for the ends of each axis, or a
    pair per axis.

    Parameters
    ==========

    A : a tensor
    pad_width : the numbers of entries before and after each axis; also by axes, as ``{-1: (1, 2)}``
    mode : ``constant`` entries, the ``edge`` entry, a ``linear_ramp`` from the edge, the
        ``maximum``, ``mean``, ``median`` or ``minimum`` of the entries at that end, the reflection
        at the edge (``reflect``, without the edge itself, and ``symmetric``), or the opposite end
        (``wrap``)
    constant_values, end_values : the constants, and the last values of ramps
    stat_length : the number of entries of which a statistic is taken, by default all
    reflect_type : ``even``, or ``odd`` for twice the edge minus the reflection

    Raises
    ======

    TensorError : another mode
    ShapeError : numbers for another number of axes; when the compiled function is called, a
        reflection longer than an axis of symbolic length

    Examples
    ========

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> se.lambdify([x], se.pad(x, (1, 2)))([1, 2, 3])
    array([0, 1, 2, 3, 0, 0])
    >>> se.lambdify([x], se.pad(x, 2, "reflect"))([1, 2, 3])
    array([3, 2, 1, 2, 3, 2, 1])
    """
    A = as_operand(A)
    order = order_of(A)
    widths = _pairs(_by_axis(pad_width, order), order, "pad_width", as_length)
    if not isinstance(mode, str) or mode not in MODES:
        raise TensorError(f"pad supports the modes {', '.join(MODES)}, not {str(mode)[:80]!r}")
    if mode == "constant":
        values = _pairs(constant_values, order, "constant_values", _constant)
        distinct = {value for pair in values for value in pair}
        if len(distinct) == 1:
            return _constant_pad(A, widths, *distinct)
    elif mode == "linear_ramp":
        values = _pairs(end_values, order, "end_values", _constant)
    elif mode in _STATISTICS:
        values = _pairs(stat_length, order, "stat_length", _count)
    else:
        values = [(None, None)] * order
    if reflect_type not in ("even", "odd"):
        raise TensorError(f"reflect_type is even or odd, not {str(reflect_type)[:80]!r}")
    make = MODES[mode]
    if mode in ("reflect", "symmetric") and reflect_type == "odd":
        make = _reflected_frame(mode)
    for axis in range(order):
        first, last = make(A, axis, widths[axis], values[axis])
        parts = zip((first, last), widths[axis], strict=True)
        before, after = [[] if width is S.Zero else [part] for part, width in parts]
        A = concatenate([*before, A, *after], axis)
    return A


# --- the entries before and after one axis

Frame: TypeAlias = Callable[[Operand, int, Pair[Expr], Pair[Any]], Sequence[Operand]]


def _constant_frame(
    A: Operand, axis: int, widths: Pair[Expr], values: Pair[Expr]
) -> Sequence[Operand]:
    shape = shape_of(A)
    return [
        filled(value, (*shape[:axis], width, *shape[axis + 1 :]))
        for width, value in zip(widths, values, strict=True)
    ]


def _edges(A: Operand, axis: int) -> Pair[Operand]:
    length = shape_of(A)[axis]
    return slice_along(A, axis, 0, 1), slice_along(A, axis, length - 1, length)


def _edge_frame(A: Operand, axis: int, widths: Pair[Expr], values: Pair[None]) -> Sequence[Operand]:
    edges = zip(_edges(A, axis), widths, strict=True)
    return [repeat(edge, width, axis) for edge, width in edges]


def _ramps(A: Operand, axis: int, widths: Pair[Expr], values: Pair[Expr]) -> Sequence[Operand]:
    """Return end + (edge - end) k / width for k = 0, 1, …, reversed after the axis."""
    found = []
    for k, (edge, width, end) in enumerate(zip(_edges(A, axis), widths, values, strict=True)):
        shape = [width if other == axis else S.One for other in range(order_of(A))]
        weights = multiply(counting(width), 1 / width) if width else Ones(width)
        weights = reshape(flip(weights) if k else weights, tuple(shape))
        found.append(add(end, multiply(subtract(edge, end), weights)))
    return found


_STATISTICS: Mapping[str, Callable[..., Operand]] = {
    "maximum": max_,
    "mean": mean,
    "median": median,
    "minimum": min_,
}


def _statistic(of: Callable[..., Operand]) -> Frame:
    def frame(
        A: Operand, axis: int, widths: Pair[Expr], counts: Pair[Expr | None]
    ) -> Sequence[Operand]:
        length = shape_of(A)[axis]
        first, last = [
            length if count is None else Min(count, length) if length.is_Integer else count
            for count in counts
        ]
        ends = [slice_along(A, axis, 0, first), slice_along(A, axis, length - last, length)]
        return [
            repeat(of(end, axis=axis, keepdims=True), width, axis)
            for end, width in zip(ends, widths, strict=True)
        ]

    return frame


Bounds: TypeAlias = tuple[Expr | int | None, ...]
# For each mode the slices before and after an axis, given its length and the widths.
_SLICES: dict[str, Callable[[Expr, Expr, Expr], tuple[Bounds, Bounds]]] = {
    "reflect": lambda n, a, b: ((a, 0, -1), (n - 2, _reversed_stop(n - 2 - b), -1)),
    "symmetric": lambda n, a, b: ((a - 1, None, -1), (n - 1, _reversed_stop(n - 1 - b), -1)),
    "wrap": lambda n, a, b: ((n - a, n), (0, b)),
}


def _reversed_stop(stop: Expr) -> Expr | None:
    """Return the bound of a slice with a negative step: None in place of -1, which would count from
    the end."""
    return None if stop == -1 else stop


def _is_beyond(A: Operand, axis: int, widths: Pair[Expr], mode: str) -> bool:
    """Tell whether a width exceeds the number of entries of the axis."""
    longest = shape_of(A)[axis] - (1 if mode == "reflect" else 0)
    return any((longest - width).is_negative for width in widths)


def _indexed_frame(mode: str) -> Frame:
    """Return a frame of entries of the tensor: slices, or gathered entries if the widths exceed the
    axis."""

    def frame(A: Operand, axis: int, widths: Pair[Expr], values: Pair[None]) -> Sequence[Operand]:
        if _is_beyond(A, axis, widths, mode):
            return _gathered_frame(A, axis, widths, mode)
        return [
            slice_along(A, axis, *bounds) for bounds in _SLICES[mode](shape_of(A)[axis], *widths)
        ]

    return frame


def _gathered_frame(A: Operand, axis: int, widths: Pair[Expr], mode: str) -> Sequence[Operand]:
    length = shape_of(A)[axis]
    if not all(number.is_Integer for number in (length, *widths)) or not length:
        raise UnsupportedError(
            f"pad takes as many entries as an axis has, or lengths that are numbers, not {widths} "
            f"for the length {length} in mode {mode!r}"
        )
    positions = np.pad(np.arange(int(length)), [int(n) for n in widths], mode)  # type: ignore[call-overload]
    first = int(widths[0])
    return [take(A, k, axis) for k in (positions[:first], positions[first + int(length) :])]


def _reflected_frame(mode: str) -> Frame:
    """Return a frame of twice the edge minus the reflection."""

    def frame(A: Operand, axis: int, widths: Pair[Expr], values: Pair[None]) -> Sequence[Operand]:
        if _is_beyond(A, axis, widths, mode):
            raise UnsupportedError(
                f"pad has no odd reflection longer than an axis, as {widths} of axis {axis} of "
                f"length {shape_of(A)[axis]}; pad several times"
            )
        parts = zip(_edges(A, axis), MODES[mode](A, axis, widths, values), strict=True)
        return [subtract(multiply(2, edge), reflection) for edge, reflection in parts]

    return frame


MODES: Mapping[str, Frame] = {
    "constant": _constant_frame,
    "edge": _edge_frame,
    "linear_ramp": _ramps,
    **{mode: _statistic(of) for mode, of in _STATISTICS.items()},
    **{mode: _indexed_frame(mode) for mode in _SLICES},
}


# --- widths and values of the ends of axes


def _constant_pad(A: Operand, widths: Sequence[tuple[Expr, Expr]], value: Expr) -> Operand:
    """Pad with a constant: zero-pad, and add the value outside of the tensor."""
    padded = zero_pad(A, widths)
    if value is S.Zero:
        return padded
    ones = filled(S.One, shape_of(padded)) - zero_pad(filled(S.One, shape_of(A)), widths)
    return padded + value * ones


def zero_pad(A: Operand, widths: Sequence[tuple[Expr, Expr]]) -> Operand:
    """Pad with zeros; ``widths`` are the numbers before and after each axis."""
    order = order_of(A)
    operands, terms, output = [A], [tuple(range(order))], list(range(order))
    lengths = dict(enumerate(shape_of(A)))
    for axis, (before, after) in enumerate(widths):
        padded = lengths[axis] + before + after
        if not same_length(lengths[axis], padded):
            operands.append(Selection(padded, before, 1, lengths[axis]))
            terms.append((axis, order + axis))
            output[axis] = order + axis
            lengths[order + axis] = padded
    return contract(operands, terms, output, lengths)


def _constant(value: Length) -> Expr:
    return as_scalar(value, "a value beyond an axis")


def _count(value: Length | None) -> Expr | None:
    return None if value is None else as_length(value)


def _by_axis(value: Widths, order: int) -> Any:
    """Return the widths of all axes from a mapping from axes to widths."""
    if not isinstance(value, Mapping):
        return value
    widths: list[Any] = [(0, 0)] * order
    for axis, width in value.items():
        widths[as_axis(axis, order)] = width if isinstance(width, (tuple, list)) else (width, width)
    return widths


def _pairs(value: Any, order: int, name: str, read: Callable[[Any], T]) -> list[Pair[T]]:
    """Convert NumPy's forms, one number, one pair, or a pair per axis, to a pair per axis."""
    rows: list[Any] = list(value) if isinstance(value, (tuple, list, np.ndarray)) else [value]
    nested = [isinstance(row, (tuple, list, np.ndarray)) for row in rows]
    pairs = [tuple(row) for row in rows] if all(nested) else [tuple(rows)]
    pairs = [pair * 2 if len(pair) == 1 else pair for pair in pairs]
    pairs *= order if len(pairs) == 1 else 1
    if len(pairs) != order or any(len(pair) != 2 for pair in pairs):
        raise ShapeError(f"{name} {value!r} doesn't fit a tensor of order {order}")
    return [(read(before), read(after)) for before, after in pairs]
