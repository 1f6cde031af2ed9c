"""Gathers: entries at arrays of integer positions, as products with one-hot factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from sympy import Expr, Max, Min, Mod, S
from sympy.logic.boolalg import Boolean
from sympy.matrices.expressions.matexpr import MatrixExpr

from ..core import (
    Label,
    Labels,
    Length,
    ShapeError,
    TensorError,
    UnsupportedError,
    as_length,
    same_length,
    same_name_hint,
)
from ..expressions import (
    Constant,
    Elementwise,
    OneHot,
    Operand,
    TensorExpr,
    TensorLike,
    as_operand,
    broadcast_together,
    contract,
    elementwise,
    is_tensor,
    order_of,
    outermost,
    shape_of,
)
from .axes import as_axis, ravel, reshape

# Indices that gather: tensors and arrays of positions, and masks.
Gather: TypeAlias = TensorExpr | np.ndarray | Sequence[int] | Sequence[bool]


def one_hot(indices: TensorLike, length: Length) -> Operand:
    """Return the tensor of shape indices.shape + (length,) with ones at the positions and zeros
    elsewhere.

    A product doesn't materialise it: contracting its last axis gathers entries, contracting the
    others scatters and adds them.

    Parameters
    ==========

    indices : an integer, an array of integers, or a tensor with integer entries, such as an
    argument
        or an ``argsort``; negative ones count from the end
    length : the length of the axis of the positions

    Raises
    ======

    ShapeError : a position is out of range, if both are numbers; functions made by ``lambdify``
        raise it otherwise, if the library checks
    TensorError : constants that aren't integers

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> x, p = se.TensorSymbol("x", n), se.TensorSymbol("p", m)
    >>> se.one_hot(p, n) @ x == x[p]
    True
    >>> print(se.lambdify([p, x], se.gradient((x[p]**2).sum(), x))([0, 2, 2], [1.0, 2.0, 3.0]))
    [ 2.  0. 12.]
    """
    return OneHot.at(_positions(indices), as_length(length))


def _positions(indices: TensorLike) -> Operand:
    """Convert positions to an operand; UnsupportedError for a comparison."""
    if isinstance(indices, (list, tuple, range, np.ndarray)) and not np.size(indices):
        return Constant(np.zeros(np.shape(indices), dtype=int))
    found = as_operand(list(indices) if isinstance(indices, range) else indices)
    if isinstance(found, Elementwise) and found.condition is not None:
        raise UnsupportedError(
            "a comparison of tensors can't be an index: the number of selected entries depends on "
            "its values; multiply by it, or use where, sum or mean with it"
        )
    return found


def take(
    a: TensorLike, indices: TensorLike, axis: int | None = None, mode: str = "raise"
) -> Operand:
    """Take the entries at some positions along an axis, or of all entries in C order; the axes of
    the positions replace the axis. ``mode="clip"`` clips positions out of range, ``"wrap"`` takes
    them modulo the length.

    Raises ShapeError for an axis out of range, and the errors of :func:`one_hot`.

    >>> import sympy_einsum as se
    >>> A, p = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("p", (4, 5))
    >>> se.take(A, p, axis=1).shape, se.take(A, [5, 0, 0]).shape
    ((2, 4, 5), (3,))
    """
    a = as_operand(a)
    if not order_of(a):
        raise ShapeError("take needs a tensor of order 1 or more, not a scalar")
    A = ravel(a) if axis is None else a
    k = 0 if axis is None else as_axis(axis, A.order)
    positions = _with_mode(_positions(indices), A.shape[k], mode)
    return _gather(A, {k: positions}, k)


def _with_mode(positions: Operand, length: Expr, mode: str) -> Operand:
    """Clip or wrap positions."""
    if not isinstance(mode, str) or mode not in ("raise", "clip", "wrap"):
        raise TensorError(f"the mode of take is raise, clip or wrap, not {str(mode)[:80]!r}")
    if mode == "raise":
        return positions
    if isinstance(positions, Constant) and length.is_Integer and length:
        into = np.clip(positions.array, 0, int(length) - 1)
        return Constant(into if mode == "clip" else positions.array % int(length))
    if mode == "clip":
        return elementwise(lambda k: Max(Min(k, length - 1), 0), positions)
    return elementwise(lambda k: Mod(k, length), positions)


def take_along_axis(arr: TensorLike, indices: TensorLike, axis: int | None = -1) -> Operand:
    """Take entries along an axis at positions that depend on the other axes: ``take_along_axis(A,
    argsort(A, axis), axis)`` is sorted. Axes of length 1 are broadcast.

    Raises ShapeError for incompatible other axes, and the errors of :func:`one_hot`.

    >>> import sympy_einsum as se
    >>> A, p = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("p", (2, 5))
    >>> se.take_along_axis(A, p, axis=1).shape
    (2, 5)
    """
    arr, found = as_operand(arr), _positions(indices)
    arr = ravel(arr) if axis is None else arr
    along = 0 if axis is None else as_axis(axis, order_of(arr))
    if order_of(found) != order_of(arr):
        raise ShapeError(
            f"take_along_axis takes positions of order {order_of(arr)}, as the tensor has, not "
            f"{order_of(found)}"
        )
    order = arr.order
    lengths: dict[Label, Expr] = {}
    terms: list[list[Label]] = [[], []]
    for k in range(order):
        ours, theirs = arr.shape[k], found.shape[k]
        if k == along:
            terms[0].append(order)
            terms[1].append(k)
            lengths[k], lengths[order] = theirs, ours
        elif same_length(ours, theirs):
            terms[0].append(k)
            terms[1].append(k)
            lengths[k] = ours
        elif S.One in (ours, theirs):
            stretched = 1 if ours is S.One else 0
            terms[stretched].append(k)
            terms[1 - stretched].append(("one", k))
            lengths[k], lengths["one", k] = (theirs, ours) if stretched else (ours, theirs)
        else:
            raise ShapeError(
                f"axis {k} of the positions has length {theirs}, that of the tensor {ours}"
                + same_name_hint(theirs, ours)
            )
    hot = OneHot.at(found, lengths[order])
    return contract((arr, hot), (terms[0], [*terms[1], order]), range(order), lengths)


# --- indexing


def is_gather(entry: object) -> bool:
    """Tell whether an index is an array or a tensor of positions, or a mask."""
    if isinstance(entry, (list, range, TensorExpr)):
        return True
    if isinstance(entry, (Expr, Boolean, MatrixExpr)):
        return isinstance(entry, Expr) and bool(outermost(entry))
    return isinstance(entry, np.ndarray) and (entry.ndim > 0 or entry.dtype == bool)


def gathered(A: TensorExpr, indices: Sequence[object]) -> tuple[TensorExpr, list[object]]:
    """Apply the index arrays among the indices to a tensor; return it, and the remaining indices.

    As in NumPy, arrays, and integers among the indices, are broadcast together; their axes come
    where the first of them is, or in front if they aren't adjacent."""
    entries = _without_ellipsis(A, _with_positions(A, indices))
    numbers = [k for k, e in enumerate(entries) if not (e is None or isinstance(e, slice))]
    axes = [sum(e is not None for e in entries[:k]) for k in numbers]
    adjacent = numbers[-1] - numbers[0] == len(numbers) - 1
    positions = {axis: _positions(entries[k]) for axis, k in zip(axes, numbers, strict=True)}
    remaining: list[object] = [e for k, e in enumerate(entries) if k not in numbers]
    before = numbers[0] if adjacent else 0
    remaining[before:before] = [slice(None)] * max(map(order_of, positions.values()))
    return _gather(A, positions, axes[0] if adjacent else 0), remaining


def _without_ellipsis(A: TensorExpr, entries: list[object]) -> list[object]:
    """Replace the ellipsis by slices."""
    dots = [k for k, e in enumerate(entries) if e is Ellipsis]
    named = sum(e is not None and e is not Ellipsis for e in entries)
    if named > A.order:
        raise ShapeError(f"{named} indices for a tensor of order {A.order}, shape {A.shape}")
    if len(dots) > 1:
        raise TensorError("an index can have one ellipsis ('...') only")
    start = dots[0] if dots else len(entries)
    entries[start : start + len(dots)] = [slice(None)] * (A.order - named)
    return entries


def _with_positions(A: TensorExpr, indices: Sequence[object]) -> list[object]:
    """Replace masks by the positions of their ones."""
    found: list[object] = []
    for number, entry in enumerate(indices):
        mask = np.asarray(entry) if isinstance(entry, (list, bool, np.bool_)) else entry
        if not isinstance(mask, np.ndarray) or mask.dtype != bool:
            found.append(entry)
            continue
        if not mask.ndim:
            raise UnsupportedError(f"a mask has an axis at least; {entry!r} has none")
        rest = sum(e is not None for e in indices[number + 1 :])
        in_front = Ellipsis not in found
        axis = sum(e is not None for e in found) if in_front else A.order - rest - mask.ndim
        for k, length in enumerate(mask.shape):
            expected = A.shape[axis + k] if axis + k < A.order else S.NaN
            if not expected.is_Integer or expected != length:
                raise ShapeError(
                    f"a mask has length {length} on axis {k}, where axis {axis + k} of shape "
                    f"{A.shape} must have that length too"
                )
        found.extend(mask.nonzero())
    return found


def _gather(A: TensorExpr, positions: dict[int, Operand], start: int) -> Operand:
    """Replace some axes of a tensor by those of positions, broadcast together, from axis ``start``
    on."""
    parts = _broadcast([*positions.values()])
    common = max(parts, key=order_of)
    new: Labels = [("new", k) for k in range(order_of(common))]
    lengths: dict[Label, Expr] = dict(enumerate(A.shape))
    lengths.update(zip(new, shape_of(common), strict=True))
    operands: list[Operand] = [A]
    subscripts: list[Labels] = [range(A.order)]
    for axis, part in zip(positions, parts, strict=True):
        try:
            operands.append(OneHot.at(part, A.shape[axis]))
        except ShapeError as error:
            raise ShapeError(f"axis {axis} of shape {A.shape}: {error}") from None
        subscripts.append((*(new if is_tensor(part) else ()), axis))
    rest: list[Label] = [axis for axis in range(A.order) if axis not in positions]
    return contract(operands, subscripts, [*rest[:start], *new, *rest[start:]], lengths)


def _broadcast(parts: list[Operand]) -> list[Operand]:
    """Broadcast positions of different orders together."""
    constants = [part.array for part in parts if isinstance(part, Constant)]
    if len(constants) == len(parts) > 1:
        return [Constant(array) for array in np.broadcast_arrays(*constants)]
    order = max(map(order_of, parts))
    stretched = [
        reshape(p, (S.One,) * (order - order_of(p)) + shape_of(p)) if is_tensor(p) else p
        for p in parts
    ]
    return broadcast_together(stretched)
