"""NumPy's functions that give arrays other shapes, or bring several to one."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from sympy import S

from .. import operations as ops
from ..core import Shape, ShapeError, TensorError, UnsupportedError, as_flag, as_shape, same_length
from ..expressions import Operand, TensorLike, as_operand, order_of, shape_of
from ._options import Lengths, refuse


def _at_least(order: int, arrays: Sequence[TensorLike]) -> Operand | tuple[Operand, ...]:
    """Tensors with axes of length 1 before theirs, up to an order; a single one by itself."""
    new = []
    for tensor in map(as_operand, arrays):
        missing = max(order - order_of(tensor), 0)
        new.append(ops.reshape(tensor, (S.One,) * missing + shape_of(tensor)))
    return new[0] if len(new) == 1 else tuple(new)


def atleast_1d(*arys: TensorLike) -> Operand | tuple[Operand, ...]:
    """``numpy.atleast_1d``."""
    return _at_least(1, arys)


def atleast_2d(*arys: TensorLike) -> Operand | tuple[Operand, ...]:
    """``numpy.atleast_2d``: a vector is a row."""
    return _at_least(2, arys)


def atleast_3d(*arys: TensorLike) -> Operand | tuple[Operand, ...]:
    """``numpy.atleast_3d``: a vector lies along the axis in the middle, a matrix along the first
    two."""
    tensors = [
        ops.expand_dims(tensor, -1) if order_of(tensor) == 2 else tensor
        for tensor in map(as_operand, arys)
    ]
    rows = [ops.expand_dims(t, -1) if order_of(t) == 1 else t for t in tensors]
    return _at_least(3, rows)


def resize(a: TensorLike, new_shape: Lengths) -> Operand:
    """``numpy.resize``: the entries in C order, again from the first on where they are too few;
    both shapes are numbers."""
    a, shape = (
        ops.ravel(a),
        as_shape(new_shape if isinstance(new_shape, (tuple, list)) else (new_shape,)),
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


def rollaxis(a: TensorLike, axis: int, start: int = 0) -> Operand:
    """``numpy.rollaxis``: an axis moved before another."""
    order = order_of(as_operand(a))
    axis = ops.as_axis(axis, order)
    if isinstance(start, bool) or not isinstance(start, (int, np.integer)):
        raise TensorError(f"the start of rollaxis is an integer, not {start!r}")
    if not -order <= start <= order:
        raise ShapeError(f"start {start} is out of range for a tensor of order {order}")
    place = start + order if start < 0 else start
    return ops.moveaxis(a, axis, place - 1 if axis < place else place)


def broadcast_shapes(*args: Lengths) -> Shape:
    """``numpy.broadcast_shapes``: axes are aligned at the end, those of length 1 stretch."""
    shapes = [as_shape(arg if isinstance(arg, (tuple, list)) else (arg,)) for arg in args]
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
                )
    return tuple(found)


def broadcast_arrays(*args: TensorLike, subok: bool = False) -> tuple[Operand, ...]:
    """``numpy.broadcast_arrays``: tensors repeated to their common shape."""
    tensors = [as_operand(arg) for arg in args]
    shape = broadcast_shapes(*map(shape_of, tensors))
    return tuple([ops.broadcast_to(tensor, shape) for tensor in tensors])


def meshgrid(
    *xi: TensorLike, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Operand, ...]:
    """``numpy.meshgrid``: each vector along an axis of its own; with ``sparse`` the other axes have
    length 1."""
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
    return tuple(grids) if as_flag(sparse, "sparse") else broadcast_arrays(*grids)


def asarray(a: TensorLike, dtype: object = None, order: str | None = None) -> Operand:
    """``numpy.asarray``: a tensor as it is, an array of numbers as a constant."""
    return as_operand(a) if dtype is None else astype(a, dtype)


def astype(x: TensorLike, dtype: object, *, copy: bool = True) -> Operand:
    """``numpy.astype`` to floating-point numbers: entries of tensors have no type, so there is
    nothing to change."""
    try:
        kind = np.dtype(dtype).kind  # type: ignore[call-overload]
    except TypeError:
        kind = ""
    if kind != "f":
        raise UnsupportedError(
            f"entries of tensors are real numbers and can't become {dtype!r}; round them with trunc"
        )
    return as_operand(x)


def copy(a: TensorLike, order: str = "K", subok: bool = False) -> Operand:
    """``numpy.copy``: the tensor itself, expressions don't change."""
    refuse("copy", {"order": order})
    return as_operand(a)


def isscalar(element: TensorLike) -> bool:
    """``numpy.isscalar``: whether there are no axes."""
    return order_of(as_operand(element)) == 0
