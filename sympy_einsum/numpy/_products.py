"""NumPy's products of vectors and matrices, and what moves axes."""

from __future__ import annotations

from collections.abc import Sequence

from .. import operations as ops
from ..core import ShapeError
from ..expressions import Operand, TensorLike, shape_of
from ._options import Lengths, is_fortran_order
from ._shapes import broadcast_arrays


def einsum(*operands: TensorLike, optimize: object = None) -> Operand:
    """``numpy.einsum``, string or list form; ``optimize`` is accepted and not needed."""
    return ops.einsum(*operands)


def matvec(x1: TensorLike, x2: TensorLike) -> Operand:
    """``numpy.matvec``: stacks of matrices times stacks of vectors."""
    return ops.einsum("...ij,...j->...i", x1, x2)


def vecmat(x1: TensorLike, x2: TensorLike) -> Operand:
    """``numpy.vecmat``: stacks of vectors times stacks of matrices."""
    return ops.einsum("...i,...ij->...j", x1, x2)


def vecdot(x1: TensorLike, x2: TensorLike, *, axis: int = -1) -> Operand:
    """``numpy.vecdot``: the products of stacks of vectors, which lie along an axis of both."""
    x1, x2 = (ops.moveaxis(x, axis, -1) for x in (x1, x2))
    return ops.einsum("...i,...i->...", x1, x2)


def reshape(a: TensorLike, shape: Lengths, order: str = "C") -> Operand:
    """``numpy.reshape`` in the order of C or of Fortran."""
    lengths = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    if is_fortran_order("reshape", order):
        return ops.transpose(ops.reshape(ops.transpose(a), *lengths[::-1]))
    return ops.reshape(a, *lengths)


def ravel(a: TensorLike, order: str = "C") -> Operand:
    """``numpy.ravel`` in the order of C or of Fortran."""
    return ops.ravel(ops.transpose(a) if is_fortran_order("ravel", order) else a)


def concatenate(arrays: Sequence[TensorLike], axis: int = 0) -> Operand:
    """``numpy.concatenate``."""
    return ops.concatenate(arrays, axis)


def stack(arrays: Sequence[TensorLike], axis: int = 0) -> Operand:
    """``numpy.stack``."""
    return ops.stack(arrays, axis)


def unstack(x: TensorLike, *, axis: int = 0) -> tuple[Operand, ...]:
    """``numpy.unstack``: the pieces along an axis, whose length must be a number."""
    return ops.unstack(x, axis)


def cross(
    a: TensorLike,
    b: TensorLike,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Operand:
    """``numpy.cross``: the cross product of vectors with three entries."""
    places = [place if axis is None else axis for place in (axisa, axisb, axisc)]
    a, b = (ops.moveaxis(v, place, -1) for v, place in zip((a, b), places, strict=False))
    for number, vectors in enumerate((a, b), start=1):
        if shape_of(vectors)[-1] != 3:
            raise ShapeError(
                f"cross takes vectors with 3 entries, and operand {number} has "
                f"{shape_of(vectors)[-1]} along the axis; of two with 2 entries it is "
                "a[0]*b[1] - a[1]*b[0]"
            )
    a, b = broadcast_arrays(a, b)
    c = ops.subtract(
        ops.multiply(_turned(a, 1), _turned(b, 2)), ops.multiply(_turned(a, 2), _turned(b, 1))
    )
    return ops.moveaxis(c, -1, places[2])


def _turned(a: Operand, by: int) -> Operand:
    """The entries along the last axis, with the first of them put at the end."""
    parts = [ops.getitem(a, (..., slice(by, None))), ops.getitem(a, (..., slice(by)))]
    return ops.concatenate(parts, -1)


def matrix_transpose(a: TensorLike) -> Operand:
    """``numpy.matrix_transpose``."""
    return ops.swapaxes(a, -1, -2)
