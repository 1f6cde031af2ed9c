"""Gathers: entries at the positions in arrays of integers, as products with one-hot factors."""

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

# Indices besides positions and slices.
Gather: TypeAlias = TensorExpr | np.ndarray | Sequence[int] | Sequence[bool]


def one_hot(indices: TensorLike, length: Length) -> Operand:
    """Return the tensor of shape indices.shape + (length,) with ones at the positions, zeros
    elsewhere.

    It is never written out where it is multiplied by something: a product with it along its last
    axis takes entries, one along the others adds entries up where the positions are.

    Parameters
    ==========

    indices : integers, an array of them, or a tensor whose entries are some, such as an argument or
        an ``argsort``; negative ones count from the end
    length : the length of the axis that they are positions on

    Raises
    ======

    ShapeError : a position isn't on the axis, as far as both are known; functions made by
        ``lambdify`` raise it for the others, where the library finds out
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
    """Convert indices to an operand; UnsupportedError for a comparison."""
    if isinstance(indices, (list, tuple, range, np.ndarray)) and not np.size(indices):
        return Constant(np.zeros(np.shape(indices), dtype=int))
    found = as_operand(list(indices) if isinstance(indices, range) else indices)
    if isinstance(found, Elementwise) and found.condition is not None:
        raise UnsupportedError(
            "a comparison of tensors can't be an index: how many entries it picks depends on their "
            "values; multiply by it, or use where, sum or mean with it"
        )
    return found


def take(
    a: TensorLike, indices: TensorLike, axis: int | None = None, mode: str = "raise"
) -> Operand:
    """Take the entries at some positions along an axis, in C order without one: the axis is
    replaced by those of the positions. With ``mode="clip"`` the first or last entry stands for
    positions that aren't on the axis, with ``"wrap"`` they go round.

    Raises ShapeError for an axis that isn't there, and errors as for :func:`one_hot`.

    >>> import sympy_einsum as se
    >>> A, p = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("p", (4, 5))
    >>> se.take(A, p, axis=1).shape, se.take(A, [5, 0, 0]).shape
    ((2, 4, 5), (3,))
    """
    a = as_operand(a)
    if not order_of(a):
        raise ShapeError("take needs a tensor of order 1 or more, not a scalar")
    along = ravel(a) if axis is None else a
    place = 0 if axis is None else as_axis(axis, along.order)
    positions = _on_axis(_positions(indices), along.shape[place], mode)
    return _gather(along, {place: positions}, place)


def _on_axis(positions: Operand, length: Expr, mode: str) -> Operand:
    """Positions for those that may not be on an axis."""
    if not isinstance(mode, str) or mode not in ("raise", "clip", "wrap"):
        raise TensorError(f"the mode of take is raise, clip or wrap, not {str(mode)[:80]!r}")
    if mode == "raise":
        return positions
    if isinstance(positions, Constant) and length.is_Integer and length:
        into = np.clip(positions.array, 0, int(length) - 1)
        return Constant(into if mode == "clip" else positions.array % int(length))
    if mode == "clip":
        return elementwise(lambda place: Max(Min(place, length - 1), 0), positions)
    return elementwise(lambda place: Mod(place, length), positions)


def take_along_axis(arr: TensorLike, indices: TensorLike, axis: int | None = -1) -> Operand:
    """Take the entry at a position of its own for each of the other axes: ``take_along_axis(A,
    argsort(A, axis), axis)`` is a sort. Axes of length 1 stretch.

    Raises ShapeError when the other axes don't fit, and errors as for :func:`one_hot`.

    >>> import sympy_einsum as se
    >>> A, p = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("p", (2, 5))
    >>> se.take_along_axis(A, p, axis=1).shape
    (2, 5)
    """
    arr, found = as_operand(arr), _positions(indices)
    arr = ravel(arr) if axis is None else arr
    place = 0 if axis is None else as_axis(axis, order_of(arr))
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
        if k == place:
            terms[0].append(order)
            terms[1].append(k)
            lengths[k], lengths[order] = theirs, ours
        elif same_length(ours, theirs):
            terms[0].append(k)
            terms[1].append(k)
            lengths[k] = ours
        elif S.One in (ours, theirs):
            wide = 1 if ours is S.One else 0
            terms[wide].append(k)
            terms[1 - wide].append(("one", k))
            lengths[k], lengths["one", k] = (theirs, ours) if wide else (ours, theirs)
        else:
            raise ShapeError(
                f"axis {k} of the positions has length {theirs}, that of the tensor {ours}"
            )
    hot = OneHot.at(found, lengths[order])
    return contract((arr, hot), (terms[0], [*terms[1], order]), range(order), lengths)


# --- in brackets


def is_gather(entry: object) -> bool:
    """Tell whether an entry in brackets is an array of positions or a mask, or a tensor of
    positions."""
    if isinstance(entry, (list, range, TensorExpr)):
        return True
    if isinstance(entry, (Expr, Boolean, MatrixExpr)):
        return isinstance(entry, Expr) and bool(outermost(entry))
    return isinstance(entry, np.ndarray) and (entry.ndim > 0 or entry.dtype == bool)


def gathered(A: TensorExpr, brackets: Sequence[object]) -> tuple[TensorExpr, list[object]]:
    """Apply the index arrays in brackets to a tensor; return it, and the remaining indices.

    The rule is NumPy's: arrays, and integers beside them, are broadcast together, and the result
    has their axes where the first of them stands, or in front if something stands between them.
    """
    entries = _for_all_axes(A, _with_positions(A, brackets))
    places = [k for k, e in enumerate(entries) if not (e is None or isinstance(e, slice))]
    axes = [sum(e is not None for e in entries[:place]) for place in places]
    adjacent = places[-1] - places[0] == len(places) - 1
    chosen = {axis: _positions(entries[k]) for axis, k in zip(axes, places, strict=True)}
    left: list[object] = [e for k, e in enumerate(entries) if k not in places]
    before = places[0] if adjacent else 0
    left[before:before] = [slice(None)] * max(map(order_of, chosen.values()))
    return _gather(A, chosen, axes[0] if adjacent else 0), left


def _for_all_axes(A: TensorExpr, entries: list[object]) -> list[object]:
    """Brackets without an ellipsis."""
    dots = [k for k, e in enumerate(entries) if e is Ellipsis]
    named = sum(e is not None and e is not Ellipsis for e in entries)
    if named > A.order:
        raise ShapeError(f"{named} indices for a tensor of order {A.order}, shape {A.shape}")
    if len(dots) > 1:
        raise TensorError("an index can have one ellipsis ('...') only")
    place = dots[0] if dots else len(entries)
    entries[place : place + len(dots)] = [slice(None)] * (A.order - named)
    return entries


def _with_positions(A: TensorExpr, brackets: Sequence[object]) -> list[object]:
    """Brackets with the positions of the ones in the place of masks."""
    found: list[object] = []
    for number, entry in enumerate(brackets):
        mask = np.asarray(entry) if isinstance(entry, list) else entry
        if not isinstance(mask, np.ndarray) or mask.dtype != bool:
            found.append(entry)
            continue
        rest = sum(e is not None for e in brackets[number + 1 :])
        in_front = Ellipsis not in found
        axis = sum(e is not None for e in found) if in_front else A.order - rest - mask.ndim
        for k, length in enumerate(mask.shape):
            known = A.shape[axis + k] if axis + k < A.order else S.NaN
            if not known.is_Integer or known != length:
                raise ShapeError(
                    f"a mask has length {length} on axis {k}, where axis {axis + k} of shape "
                    f"{A.shape} must have that length too"
                )
        found.extend(mask.nonzero())
    return found


def _gather(A: TensorExpr, chosen: dict[int, Operand], place: int) -> Operand:
    """A tensor with some axes replaced by those of positions, broadcast together, at a given
    place."""
    parts = _broadcast([*chosen.values()])
    common = max(parts, key=order_of)
    new: Labels = [("new", k) for k in range(order_of(common))]
    lengths: dict[Label, Expr] = dict(enumerate(A.shape))
    lengths.update(zip(new, shape_of(common), strict=True))
    operands: list[Operand] = [A]
    subscripts: list[Labels] = [range(A.order)]
    for axis, part in zip(chosen, parts, strict=True):
        try:
            operands.append(OneHot.at(part, A.shape[axis]))
        except ShapeError as error:
            raise ShapeError(f"axis {axis} of shape {A.shape}: {error}") from None
        subscripts.append((*(new if is_tensor(part) else ()), axis))
    kept: list[Label] = [axis for axis in range(A.order) if axis not in chosen]
    return contract(operands, subscripts, [*kept[:place], *new, *kept[place:]], lengths)


def _broadcast(parts: list[Operand]) -> list[Operand]:
    """Positions with new axes in front, and those of length 1 repeated as others need it."""
    constants = [part.array for part in parts if isinstance(part, Constant)]
    if len(constants) == len(parts) > 1:
        return [Constant(array) for array in np.broadcast_arrays(*constants)]
    order = max(map(order_of, parts))
    wide = [
        reshape(p, (S.One,) * (order - order_of(p)) + shape_of(p)) if is_tensor(p) else p
        for p in parts
    ]
    return broadcast_together(wide)
