"""Basic indexing: products with unit vectors and selection matrices."""

from __future__ import annotations

from types import EllipsisType
from typing import TypeAlias

import numpy as np
from sympy import Expr, S, ceiling
from sympy.core.relational import Relational

from ..core import (
    Label,
    Labels,
    ShapeError,
    TensorError,
    UnsupportedError,
    as_scalar,
    documentation_link,
)
from ..expressions import Operand, Selection, TensorExpr, TensorLike, Unit, as_operand, contract
from .gathering import Gather, gathered, is_gather

# An index of one axis; None is a new axis.
Position: TypeAlias = Expr | int | slice | EllipsisType | None
Index: TypeAlias = Position | Gather | tuple[Position | Gather, ...]


def getitem(A: TensorLike, index: Index) -> Operand:
    """Index as in NumPy, by integers, integer symbols, slices, ``None``, ``...``, arrays and
    tensors of positions, and constant masks.

    A position contracts the axis with a unit vector, a slice with a selection matrix, so
    derivatives of entries and slices need no rules."""
    A = as_operand(A)
    entries = list(index) if isinstance(index, tuple) else [index]
    if any(map(is_gather, entries)):
        A, entries = gathered(A, entries)
    named = sum(1 for e in entries if e is not None and e is not Ellipsis)
    if named > A.order:
        raise ShapeError(f"{named} indices for a tensor of order {A.order}, shape {A.shape}")
    dots = sum(1 for e in entries if e is Ellipsis)
    if dots > 1:
        raise TensorError("an index can have one ellipsis ('...') only")
    if not dots:
        entries.append(Ellipsis)
    start = next(k for k, e in enumerate(entries) if e is Ellipsis)
    entries[start : start + 1] = [slice(None)] * (A.order - named)
    operands: list[Operand] = [A]
    subscripts: list[Labels] = [tuple(range(A.order))]
    output: list[Label] = []
    lengths: dict[Label, Expr] = dict(enumerate(A.shape))
    axis = 0
    for number, entry in enumerate(entries):
        if entry is None:
            output.append(("new", number))
            lengths[("new", number)] = S.One
            continue
        if isinstance(entry, slice):
            selection = _selection(A.shape[axis], entry)
            if selection is None:
                output.append(axis)
            else:
                label = ("slice", number)
                operands.append(selection)
                subscripts.append((label, axis))
                lengths[label] = selection.shape[0]
                output.append(label)
        else:
            operands.append(_unit(A, axis, entry))
            subscripts.append((axis,))
        axis += 1
    return contract(operands, subscripts, output, lengths)


_NO_POSITIONS = (list, tuple, range, TensorExpr, Relational, bool, np.bool_)


def _unit(A: TensorExpr, axis: int, position: Expr) -> Operand:
    if getattr(position, "ndim", 0) or isinstance(position, _NO_POSITIONS):
        raise UnsupportedError(
            "a tensor is indexed by integers, integer symbols, slices, None and '...', not by "
            f"{type(position).__name__}; multiply by a mask, or stack the entries"
        )
    if hasattr(position, "__index__"):
        position = position.__index__()
    try:
        return Unit(A.shape[axis], position)
    except ShapeError as error:
        raise ShapeError(f"axis {axis} of shape {A.shape}: {error}") from None


def _selection(length: Expr, index_slice: slice) -> Operand | None:
    """Return the selection matrix of a slice, None for the whole axis."""
    step = as_scalar(1 if index_slice.step is None else index_slice.step, "the step of a slice")
    if step.is_integer is not True or not (step.is_positive or step.is_negative):
        raise TensorError(
            f"the step of a slice is an integer that is known to be positive or negative, not "
            f"{index_slice.step!r}"
        )
    if index_slice.start is None and index_slice.stop is None and step is S.One:
        return None
    bounds = [
        None if b is None else as_scalar(b, "a bound of a slice")
        for b in (index_slice.start, index_slice.stop)
    ]
    if all(part is None or part.is_Integer for part in (length, step, *bounds)):
        start, stop = (None if part is None else int(part) for part in bounds)
        positions = range(int(length))[start : stop : int(step)]
        if not positions:
            return _empty(length)
        return Selection(length, positions.start, step, len(positions))
    ends = (S.Zero, length) if step.is_positive else (length - 1, S.NegativeOne)
    first, last = (
        end if bound is None else _bound(bound, length)
        for bound, end in zip(bounds, ends, strict=True)
    )
    count = ceiling((last - first) / step)
    if count.is_nonpositive:
        return _empty(length)
    furthest = last - 1 if step.is_positive else last + 1
    if any(end.is_negative or (length - 1 - end).is_negative for end in (first, furthest)):
        raise ShapeError(
            f"the slice {first}:{last} doesn't lie within an axis of length {length}"
            + documentation_link("slices")
        )
    return Selection(length, first, step, count)


def _empty(length: Expr) -> Operand:
    return Selection(length, 0, 1, 0)


def _bound(value: Expr, length: Expr) -> Expr:
    """Convert a bound of a slice; negative ones count from the end."""
    bound = as_scalar(value, "a bound of a slice")
    if bound.is_integer is False:
        raise TensorError(f"the bounds of a slice are integers or integer symbols, not {value!r}")
    return length + bound if bound.is_negative else bound
