"""NumPy's functions that join and split arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from sympy import Integer, S

from .. import operations as ops
from ..core import Length, ShapeError, TensorError, UnsupportedError, as_list
from ..expressions import (
    Constant,
    Operand,
    TensorExpr,
    TensorLike,
    as_operand,
    is_literal,
    order_of,
    shape_of,
)
from ..operations import Nested
from ._options import check_type
from ._shapes import atleast_1d, atleast_2d, atleast_3d


def fliplr(m: TensorLike) -> Operand:
    """``numpy.fliplr``: the second axis reversed.

    Raises ShapeError for a vector or a scalar.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> snp.fliplr(A) == A[:, ::-1]
    True
    """
    return ops.flip(m, 1)


def flipud(m: TensorLike) -> Operand:
    """``numpy.flipud``: the first axis reversed.

    Raises ShapeError for a scalar.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> snp.flipud(A) == A[::-1]
    True
    """
    return ops.flip(m, 0)


def rot90(m: TensorLike, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Operand:
    """``numpy.rot90``: turned by k right angles in the plane of two axes.

    Raises ShapeError when the axes aren't two of the tensor's, TensorError when k is no integer.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> snp.rot90(A).shape, snp.rot90(A) == A.T[::-1]
    ((3, 2), True)
    """
    m = as_operand(m)
    plane = ops.as_axes(as_list(axes, "axes"), order_of(m))
    if len(plane) != 2:
        raise ShapeError(f"rot90 turns in the plane of two axes, not {axes!r}")
    first, second = plane
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
        raise TensorError(f"the number of right angles is an integer, not {k!r}")
    turns = k % 4
    if turns == 2:
        return ops.flip(m, (first, second))
    if turns == 1:
        m = ops.flip(m, second)
    turned = ops.swapaxes(m, first, second) if turns else m
    return ops.flip(turned, second) if turns == 3 else turned


def _split_along(
    axis: int, name: str, ary: TensorLike, indices_or_sections: int | Sequence[Length]
) -> list[Operand]:
    ary = as_operand(ary)
    if order_of(ary) <= axis:
        raise ShapeError(f"{name} takes a tensor of order {axis + 1} or more, not {order_of(ary)}")
    return ops.split(ary, indices_or_sections, axis)


def hsplit(ary: TensorLike, indices_or_sections: int | Sequence[Length]) -> list[Operand]:
    """``numpy.hsplit``: along the second axis, the only one of a vector.

    Raises ShapeError for a number of parts that doesn't divide the length.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> left, right = snp.hsplit(se.TensorSymbol("A", (2, 5)), [2])
    >>> left.shape, right.shape
    ((2, 2), (2, 3))
    >>> snp.hsplit(se.TensorSymbol("x", 5), 2)
    Traceback (most recent call last):
    ...
    sympy_einsum.ShapeError: axis 0 of length 5 can't be divided into 2 equal parts
    """
    return _split_along(min(1, order_of(as_operand(ary)) - 1), "hsplit", ary, indices_or_sections)


def vsplit(ary: TensorLike, indices_or_sections: int | Sequence[Length]) -> list[Operand]:
    """``numpy.vsplit``: along the first axis of two or more.

    Raises ShapeError for a vector, or a number of parts that doesn't divide the length.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> top, bottom = snp.vsplit(se.TensorSymbol("A", (4, 5)), 2)
    >>> top.shape, bottom.shape
    ((2, 5), (2, 5))
    """
    if order_of(as_operand(ary)) < 2:
        raise ShapeError("vsplit takes a tensor of order 2 or more")
    return ops.split(ary, indices_or_sections, 0)


def dsplit(ary: TensorLike, indices_or_sections: int | Sequence[Length]) -> list[Operand]:
    """``numpy.dsplit``: along the third axis.

    Raises ShapeError for fewer than three axes, or a number of parts that doesn't divide the
    length.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> front, back = snp.dsplit(se.TensorSymbol("T", (2, 3, 4)), [1])
    >>> front.shape, back.shape
    ((2, 3, 1), (2, 3, 3))
    """
    return _split_along(2, "dsplit", ary, indices_or_sections)


def _tensors(tup: TensorLike | Sequence[TensorLike]) -> Sequence[TensorLike]:
    """Those of a list, or the pieces of a tensor along its first axis."""
    return ops.unstack(tup) if isinstance(tup, TensorExpr) else as_list(tup, "tensors")


def _all(at_least: Callable[..., Operand], tup: Sequence[TensorLike]) -> list[Operand]:
    return [at_least(tensor) for tensor in _tensors(tup)]


def vstack(tup: Sequence[TensorLike]) -> Operand:
    """``numpy.vstack``: one above the other; vectors are rows.

    Raises ShapeError when the lengths of the other axes differ.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A, x = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("x", 3)
    >>> snp.vstack([A, x]).shape
    (3, 3)
    """
    return ops.concatenate(_all(atleast_2d, tup), 0)


def hstack(tup: Sequence[TensorLike]) -> Operand:
    """``numpy.hstack``: side by side; vectors one after the other.

    Raises ShapeError when the lengths of the other axes differ.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A, x = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("x", 3)
    >>> snp.hstack([A, A]).shape, snp.hstack([x, x]).shape
    ((2, 6), (6,))
    """
    tensors = _all(atleast_1d, tup)
    return ops.concatenate(tensors, min([1, *[order_of(t) - 1 for t in tensors[:1]]]))


def dstack(tup: Sequence[TensorLike]) -> Operand:
    """``numpy.dstack``: along the third axis.

    Raises ShapeError when the lengths of the other axes differ.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A, B = se.tensors("A B", 2, 3)
    >>> snp.dstack([A, B]).shape
    (2, 3, 2)
    """
    return ops.concatenate(_all(atleast_3d, tup), 2)


def column_stack(tup: Sequence[TensorLike]) -> Operand:
    """``numpy.column_stack``: vectors as columns, and matrices, side by side.

    Raises ShapeError when the lengths of the first axes differ.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> X, y = se.TensorSymbol("X", (4, 2)), se.TensorSymbol("y", 4)
    >>> snp.column_stack([snp.ones(4), X, y]).shape
    (4, 4)
    """
    tensors = [as_operand(tensor) for tensor in _tensors(tup)]
    columns = [atleast_2d(t) if order_of(t) < 2 else t for t in tensors]
    return ops.concatenate(
        [ops.transpose(c) if order_of(t) < 2 else c for c, t in zip(columns, tensors, strict=True)],
        1,
    )


def append(arr: TensorLike, values: TensorLike, axis: int | None = None) -> Operand:
    """``numpy.append``: one after the other along an axis; without one both in C order.

    Raises ShapeError when the lengths of the other axes differ.

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> n = symbols("n", integer=True, positive=True)
    >>> x = se.TensorSymbol("x", n)
    >>> snp.append(x, [0]).shape
    (n + 1,)
    """
    return ops.concatenate([arr, values], axis)


def _positions(obj: object, length: Operand) -> list[int]:
    """Return the positions on an axis that an integer, a slice or a list names."""
    if not length.is_Integer:
        raise UnsupportedError(f"this needs an axis whose length is a number, not {length}")
    count = int(length)
    if isinstance(obj, slice):
        return list(range(count)[obj])
    found = np.asarray(obj) if isinstance(obj, (int, np.integer, list, tuple, np.ndarray)) else None
    if found is not None and found.dtype == bool:
        return [int(k) for k in np.flatnonzero(found)]
    if found is None or found.ndim > 1 or (found.dtype.kind not in "iu" and found.size):
        raise TensorError(f"positions are integers, a slice or a mask, not {str(obj)[:80]!r}")
    return [int(k) + (count if k < 0 else 0) for k in np.atleast_1d(found)]


def _between(arr: Operand, axis: int, cuts: Sequence[int]) -> list[Operand]:
    """Return the pieces between positions."""
    before = (slice(None),) * axis
    ends = pairwise([0, *cuts, shape_of(arr)[axis]])
    return [ops.getitem(arr, (*before, slice(a, b))) for a, b in ends]


def delete(arr: TensorLike, obj: object, axis: int | None = None) -> Operand:
    """``numpy.delete``: what is left without some positions of an axis.

    The axis has a number for its length: UnsupportedError for a symbol. Raises ShapeError for a
    position outside.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 5)
    >>> snp.delete(x, [1, 3]).as_explicit()
    [x[0], x[2], x[4]]
    """
    arr, axis = ops.running_axis(arr, axis)
    length = shape_of(arr)[axis]
    gone = sorted(set(_positions(obj, length)))
    if any(not 0 <= k < length for k in gone):
        raise ShapeError(f"position {gone} is out of range for axis {axis} of length {length}")
    before = (slice(None),) * axis
    starts = [0, *[k + 1 for k in gone]]
    pieces = zip(starts, [*gone, length], strict=True)
    kept = [ops.getitem(arr, (*before, slice(a, b))) for a, b in pieces if a < b]
    return ops.concatenate(kept, axis) if kept else ops.getitem(arr, (*before, slice(0, 0)))


def insert(arr: TensorLike, obj: object, values: Nested, axis: int | None = None) -> Operand:
    """``numpy.insert``: values before some positions of an axis.

    The axis has a number for its length: UnsupportedError for a symbol. Raises ShapeError for a
    position outside.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> snp.insert(x, 1, 7).as_explicit()
    [x[0], 7, x[1], x[2]]
    """
    arr, axis = ops.running_axis(arr, axis)
    length = shape_of(arr)[axis]
    places = _positions(obj, length)
    if any(not 0 <= k <= length for k in places):
        raise ShapeError(f"position {places} is out of range for axis {axis} of length {length}")
    new = array(values)
    if not isinstance(obj, (slice, Sequence, np.ndarray)):
        # As in NumPy: a single position takes values whose first axis goes there.
        new = ops.moveaxis(array(new, ndmin=order_of(arr)), 0, axis)
        count = shape_of(new)[axis]
        if not count.is_Integer:
            raise UnsupportedError(f"insert needs a number of values, not {count}")
        places = places * int(count)
    shape = (*shape_of(arr)[:axis], Integer(len(places)), *shape_of(arr)[axis + 1 :])
    new = ops.broadcast_to(new, shape)
    order = sorted(range(len(places)), key=lambda k: places[k])
    pieces = _between(arr, axis, [places[k] for k in order])
    before = (slice(None),) * axis
    inserted = [ops.getitem(new, (*before, slice(k, k + 1))) for k in order]
    parts = [p for pair in zip(pieces, inserted, strict=False) for p in pair] + pieces[-1:]
    return ops.concatenate(parts, axis)


def array(object: Nested, dtype: object = None, *, copy: bool = True, ndmin: int = 0) -> Operand:
    """``numpy.array``: nested lists of tensors, SymPy scalars and numbers, stacked.

    Raises ShapeError for lists whose entries have different shapes, UnsupportedError for types that
    would change them.

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> t = symbols("t")
    >>> turn = snp.array([[se.cos(t), -se.sin(t)], [se.sin(t), se.cos(t)]])
    >>> turn.shape, se.diff(turn[0, 1], t)
    ((2, 2), -cos(t))
    """
    if dtype is not None:
        check_type(dtype)
    if isinstance(object, (list, tuple)):
        parts = [array(inner) for inner in object]
        are_numbers = all(is_literal(part) or isinstance(part, Constant) for part in parts)
        is_constant = are_numbers and len(set(map(shape_of, parts))) == 1
        made = as_operand(object) if is_constant else ops.stack(parts)
    else:
        made = as_operand(object)
    missing = max(ndmin - order_of(made), 0)
    return ops.reshape(made, (S.One,) * missing + tuple(shape_of(made))) if missing else made
