"""NumPy's functions that give arrays other shapes, split them, or bring several to one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

import numpy as np
from sympy import Integer, S

from .. import operations as ops
from ..core import (
    Length,
    Shape,
    ShapeError,
    TensorError,
    UnsupportedError,
    as_flag,
    as_list,
    as_shape,
    same_length,
    same_name_hint,
)
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
from ._rows import NO_AXIS, NO_FIT, Lengths, NumpyRow as Row, check_type

_CLASH = "Raises ShapeError if the lengths of the other axes differ."
_KNOWN = (
    "Raises UnsupportedError for an axis of symbolic length, ShapeError for a position that is out "
    "of range."
)


def at_least(order: int, tensor: TensorLike) -> Operand:
    """Add axes of length 1 up to an order: before the tensor's axes, for order 3 also behind those
    of vectors and matrices."""
    tensor = as_operand(tensor)
    if order == 3 and order_of(tensor) in (1, 2):
        tensor = ops.expand_dims(tensor, -1)
    missing = max(order - order_of(tensor), 0)
    return ops.reshape(tensor, (S.One,) * missing + shape_of(tensor))


def _all_at_least(order: int, arys: Sequence[TensorLike]) -> Operand | tuple[Operand, ...]:
    """Add axes of length 1 to tensors; return a tuple, or the tensor if there is only one."""
    new = [at_least(order, tensor) for tensor in arys]
    return new[0] if len(new) == 1 else tuple(new)


def _is_fortran_order(name: str, order: str) -> bool:
    """Tell whether an order is Fortran's, where the first axis varies fastest."""
    if not isinstance(order, str) or order not in ("C", "F"):
        raise UnsupportedError(
            f"{name} knows the orders 'C' and 'F', not {order!r}: expressions have no memory"
        )
    return order == "F"


def reshape(a: TensorLike, shape: Lengths, order: str) -> Operand:
    lengths = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    if _is_fortran_order("reshape", order):
        return ops.transpose(ops.reshape(ops.transpose(a), *lengths[::-1]))
    return ops.reshape(a, *lengths)


def ravel(a: TensorLike, order: str) -> Operand:
    return ops.ravel(ops.transpose(a) if _is_fortran_order("ravel", order) else a)


def resize(a: TensorLike, new_shape: Lengths) -> Operand:
    a, shape = (
        ops.ravel(a),
        as_shape((new_shape,)),
    )
    (size,), count = shape_of(a), prod(shape, start=S.One)
    if not (size.is_Integer and count.is_Integer):
        raise UnsupportedError(
            f"resize takes lengths that are numbers, not {size} entries for the shape {shape}; "
            "tile and slices take symbols"
        )
    if not size:
        return ops.broadcast_to(S.Zero, shape)
    return ops.reshape(ops.tile(a, -(-count // size))[:count], shape)


def rollaxis(a: TensorLike, axis: int, start: int) -> Operand:
    order = order_of(as_operand(a))
    axis = ops.as_axis(axis, order)
    if isinstance(start, bool) or not isinstance(start, (int, np.integer)):
        raise TensorError(f"the start of rollaxis is an integer, not {start!r}")
    if not -order <= start <= order:
        raise ShapeError(f"start {start} is out of range for a tensor of order {order}")
    place = start + order if start < 0 else start
    return ops.moveaxis(a, axis, place - 1 if axis < place else place)


def broadcast_shapes(args: Sequence[Lengths]) -> Shape:
    shapes = [as_shape((arg,)) for arg in args]
    order = max(map(len, shapes), default=0)
    found = [S.One] * order
    for shape in shapes:
        for axis, length in enumerate(shape, start=order - len(shape)):
            if found[axis] is S.One:
                found[axis] = length
            elif length is not S.One and not same_length(length, found[axis]):
                raise ShapeError(
                    f"shapes {', '.join(map(str, shapes))} don't fit: axis {axis - order} has the "
                    f"lengths {found[axis]} and {length}, neither of them 1"
                    + same_name_hint(found[axis], length)
                )
    return tuple(found)


def broadcast_arrays(args: Sequence[TensorLike]) -> tuple[Operand, ...]:
    tensors = [as_operand(arg) for arg in args]
    shape = broadcast_shapes(list(map(shape_of, tensors)))
    return tuple([ops.broadcast_to(tensor, shape) for tensor in tensors])


def meshgrid(xi: Sequence[TensorLike], sparse: bool, indexing: str) -> tuple[Operand, ...]:
    if indexing not in ("xy", "ij"):
        raise TensorError(f"meshgrid takes indexing='xy' or 'ij', not {indexing!r}")
    vectors = [ops.ravel(vector) for vector in xi]
    places = list(range(len(vectors)))
    if indexing == "xy":
        places[:2] = places[:2][::-1]
    grids = []
    for place, vector in zip(places, vectors, strict=True):
        shape = [S.One] * len(vectors)
        shape[place] = shape_of(vector)[0]
        grids.append(ops.reshape(vector, shape))
    return tuple(grids) if as_flag(sparse, "sparse") else broadcast_arrays(grids)


def asarray(a: TensorLike, dtype: object) -> Operand:
    if dtype is not None:
        check_type(dtype)
    return as_operand(a)


def array(object: Nested, dtype: object = None, ndmin: int = 0) -> Operand:
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


def rot90(m: TensorLike, k: int, axes: tuple[int, int]) -> Operand:
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
    axis = min(1, order_of(as_operand(ary)) - 1)
    return _split_along(axis, "hsplit", ary, indices_or_sections)


def vsplit(ary: TensorLike, indices_or_sections: int | Sequence[Length]) -> list[Operand]:
    if order_of(as_operand(ary)) < 2:
        raise ShapeError("vsplit takes a tensor of order 2 or more")
    return ops.split(ary, indices_or_sections, 0)


def _tensors(tup: TensorLike | Sequence[TensorLike]) -> Sequence[TensorLike]:
    """Return the tensors of a list, or the slices of a tensor along its first axis."""
    return ops.unstack(tup) if isinstance(tup, TensorExpr) else as_list(tup, "tensors")


def _stacked(order: int, tup: Sequence[TensorLike], axis: int) -> Operand:
    return ops.concatenate([at_least(order, tensor) for tensor in _tensors(tup)], axis)


def hstack(tup: Sequence[TensorLike]) -> Operand:
    tensors = [at_least(1, tensor) for tensor in _tensors(tup)]
    return ops.concatenate(tensors, min([1, *[order_of(t) - 1 for t in tensors[:1]]]))


def column_stack(tup: Sequence[TensorLike]) -> Operand:
    tensors = [as_operand(tensor) for tensor in _tensors(tup)]
    columns = [ops.transpose(at_least(2, t)) if order_of(t) < 2 else t for t in tensors]
    return ops.concatenate(columns, 1)


def _positions(obj: object, length: Operand) -> list[int]:
    """Return the positions on an axis that an integer, a slice, a list or a mask selects."""
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
    """Split a tensor along an axis at positions."""
    before = (slice(None),) * axis
    ends = pairwise([0, *cuts, shape_of(arr)[axis]])
    return [ops.getitem(arr, (*before, slice(a, b))) for a, b in ends]


def delete(arr: TensorLike, obj: object, axis: int | None) -> Operand:
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


def insert(arr: TensorLike, obj: object, values: Nested, axis: int | None) -> Operand:
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


# fmt: off
ROWS = (
    Row("reshape(a, shape, order: str = 'C')", reshape,
        "the entries in another shape, in C or Fortran order",
        'in_c, in_f = snp.reshape(A, (3, 2)), snp.reshape(A, (3, 2), order="F")\n'
        "in_c[:, 1].as_explicit(), in_f[:, 1].as_explicit()",
        "([A[0, 1], A[1, 0], A[1, 2]], [A[1, 1], A[0, 2], A[1, 2]])",
        "Raises ShapeError if the numbers of entries aren't provably equal."),
    Row("ravel(a, order: str = 'C')", ravel,
        "all entries as a vector, in C or Fortran order",
        'snp.ravel(A)[:2].as_explicit(), snp.ravel(A, order="F")[:2].as_explicit()',
        "([A[0, 0], A[0, 1]], [A[0, 0], A[1, 0]])", "Raises UnsupportedError for another order."),
    Row("concatenate(arrays: Sequence[TensorLike], axis: int = 0)", ops.concatenate,
        "tensors joined along an axis",
        'both = snp.concatenate([x, se.TensorSymbol("z", n)])\n'
        "both.shape, se.gradient((both**2).sum(), x)", "((n + 3,), 2*x)", _CLASH),
    Row("stack(arrays: Sequence[TensorLike], axis: int = 0)", ops.stack,
        "tensors of one shape joined along a new axis",
        "snp.stack([x, y]).shape, snp.stack([x, y], axis=1).shape", "((2, 3), (3, 2))",
        "Raises ShapeError if the shapes differ."),
    Row("unstack(x, *, axis: int = 0) -> tuple[Operand, ...]", ops.unstack,
        "the slices along an axis of known length",
        "snp.unstack(A), [column.shape for column in snp.unstack(A, axis=1)]",
        "((A[0, :], A[1, :]), [(2,), (2,), (2,)])",
        "Raises UnsupportedError for a symbolic length."),
    Row("matrix_transpose(a)", lambda a: ops.swapaxes(a, -1, -2),
        "the tensor with its last two axes exchanged",
        "snp.matrix_transpose(T).shape", "(2, 4, 3)", "Raises ShapeError for a vector."),
    Row("atleast_1d(*arys) -> Operand | tuple[Operand, ...]", lambda arys: _all_at_least(1, arys),
        "a scalar as a vector of length 1, other tensors as they are; a tuple for several "
        "arguments",
        "snp.atleast_1d(t).shape", "(1,)"),
    Row("atleast_2d(*arys) -> Operand | tuple[Operand, ...]", lambda arys: _all_at_least(2, arys),
        "a vector as a matrix with one row, matrices as they are; a tuple for several arguments",
        "snp.atleast_2d(x).shape", "(1, 3)"),
    Row("atleast_3d(*arys) -> Operand | tuple[Operand, ...]", lambda arys: _all_at_least(3, arys),
        "a tensor with at least three axes: a vector is along the middle one, a matrix along the "
        "first two; a tuple for several arguments",
        "[tensor.shape for tensor in snp.atleast_3d(x, A)]", "[(1, 3, 1), (2, 3, 1)]"),
    Row("resize(a, new_shape)", resize,
        "the entries in C order in another shape, repeated where there are too few",
        "snp.resize(x, (2, 2)).as_explicit()", "[[x[0], x[1]], [x[2], x[0]]]",
        "Raises UnsupportedError for symbolic lengths."),
    Row("rollaxis(a, axis: int, start: int = 0)", rollaxis,
        "the tensor with an axis moved before another",
        "snp.rollaxis(T, 2).shape", "(4, 2, 3)", NO_AXIS),
    Row("broadcast_shapes(*args: Lengths) -> Shape", broadcast_shapes,
        "the shape that shapes broadcast to",
        "snp.broadcast_shapes((m, 1), (n,))", "(m, n)",
        "Raises ShapeError for lengths that aren't provably equal."),
    Row("broadcast_arrays(*args, subok=False) -> tuple[Operand, ...]", broadcast_arrays,
        "tensors broadcast to their common shape",
        "[tensor.shape for tensor in snp.broadcast_arrays(A, x)]", "[(2, 3), (2, 3)]",
        NO_FIT),
    Row("meshgrid(*xi, copy=True, sparse=False, indexing='xy') -> tuple[Operand, ...]", meshgrid,
        "each vector broadcast along an axis of its own; with ``sparse`` the other axes have "
        "length 1",
        "shapes_of = lambda grids: [grid.shape for grid in grids]\n"
        "shapes_of(snp.meshgrid(x, w[:2])), shapes_of(snp.meshgrid(x, w[:2], sparse=True))",
        "([(2, 3), (2, 3)], [(1, 3), (2, 1)])",
        'Raises TensorError for ``indexing`` other than ``"xy"`` and ``"ij"``.'),
    Row("asarray(a, dtype=None, order=None)", asarray,
        "a tensor as it is, an array of numbers as a constant",
        "snp.asarray(x) is x, snp.asarray(np.array([1.0, 2.0]))", "(True, Constant([1.0, 2.0]))",
        "Raises TensorError for other values.", ignored="order"),
    Row("astype(x, dtype: object, *, copy=True)",
        lambda x, dtype: asarray(x, float if dtype is None else dtype),
        "the tensor itself for floating-point types: entries of tensors have no type",
        "snp.astype(x, float) is x", "True", "Raises UnsupportedError for other types."),
    Row("copy(a, order='K', subok=False)", as_operand,
        "the tensor itself, since expressions are immutable",
        "snp.copy(x) is x", "True", ignored="order"),
    Row("isscalar(element) -> bool", lambda element: order_of(as_operand(element)) == 0,
        "whether there are no axes",
        "snp.isscalar(x), snp.isscalar(x @ x)", "(False, True)"),
    Row("array(object: Nested, dtype=None, *, copy=True, ndmin=0)", array,
        "nested lists of tensors, SymPy scalars and numbers as one tensor",
        "turn = snp.array([[se.cos(t), -se.sin(t)], [se.sin(t), se.cos(t)]])\n"
        "turn.shape, se.diff(turn[0, 1], t)", "((2, 2), -cos(t))",
        "Raises ShapeError for lists whose items have different shapes, UnsupportedError for "
        "types that would change entries."),
    Row("fliplr(m)", lambda m: ops.flip(m, 1),
        "the tensor with its second axis reversed",
        "snp.fliplr(A) == A[:, ::-1]", "True", "Raises ShapeError for a vector or a scalar."),
    Row("flipud(m)", lambda m: ops.flip(m, 0),
        "the tensor with its first axis reversed",
        "snp.flipud(A) == A[::-1]", "True", "Raises ShapeError for a scalar."),
    Row("rot90(m, k=1, axes: tuple[int, int] = (0, 1))", rot90,
        "the tensor rotated by k right angles in the plane of two axes",
        "snp.rot90(A).shape, snp.rot90(A) == A.T[::-1]", "((3, 2), True)",
        "Raises ShapeError if these aren't two axes of the tensor, TensorError if k isn't an "
        "integer."),
    Row("hsplit(ary, indices_or_sections: int | Sequence[Length]) -> list[Operand]", hsplit,
        "the parts along the second axis, or along the only axis of a vector",
        "[part.shape for part in snp.hsplit(A, [2])]", "[(2, 2), (2, 1)]",
        "Raises ShapeError if the number of parts doesn't divide the length."),
    Row("vsplit(ary, indices_or_sections: int | Sequence[Length]) -> list[Operand]", vsplit,
        "the parts along the first axis of a tensor with at least two axes",
        "[part.shape for part in snp.vsplit(A, 2)]", "[(1, 3), (1, 3)]",
        "Raises ShapeError for a vector, or if the number of parts doesn't divide the length."),
    Row("dsplit(ary, indices_or_sections: int | Sequence[Length]) -> list[Operand]",
        lambda ary, indices_or_sections: _split_along(2, "dsplit", ary, indices_or_sections),
        "the parts along the third axis",
        "front, back = snp.dsplit(T, [1])\n"
        "front.shape, back.shape", "((2, 3, 1), (2, 3, 3))",
        "Raises ShapeError for fewer than three axes, or if the number of parts doesn't divide "
        "the length."),
    Row("vstack(tup: Sequence[TensorLike])", lambda tup: _stacked(2, tup, 0),
        "tensors joined along the first axis; vectors are rows",
        "snp.vstack([A, x]).shape", "(3, 3)", _CLASH),
    Row("hstack(tup: Sequence[TensorLike])", hstack,
        "tensors joined along the second axis, vectors along the first",
        "snp.hstack([A, A]).shape, snp.hstack([x, x]).shape", "((2, 6), (6,))", _CLASH),
    Row("dstack(tup: Sequence[TensorLike])", lambda tup: _stacked(3, tup, 2),
        "tensors joined along the third axis",
        "snp.dstack([A, B]).shape", "(2, 3, 2)", _CLASH),
    Row("column_stack(tup: Sequence[TensorLike])", column_stack,
        "matrices, and vectors as columns, joined along the second axis",
        "snp.column_stack([snp.ones(3), S, x]).shape", "(3, 5)",
        "Raises ShapeError if the lengths of the first axes differ."),
    Row("append(arr, values, axis: int | None = None)",
        lambda arr, values, axis: ops.concatenate([arr, values], axis),
        "two tensors joined along an axis, without one flattened in C order",
        "snp.append(x, [0]).shape", "(4,)", _CLASH),
    Row("delete(arr, obj: object, axis: int | None = None)", delete,
        "the tensor without some positions of an axis",
        "snp.delete(x, [1]).as_explicit()", "[x[0], x[2]]", _KNOWN),
    Row("insert(arr, obj: object, values: Nested, axis: int | None = None)", insert,
        "the tensor with values inserted before some positions of an axis",
        "snp.insert(x, 1, 7).as_explicit()", "[x[0], 7, x[1], x[2]]", _KNOWN),
)
