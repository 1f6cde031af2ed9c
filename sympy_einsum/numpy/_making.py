"""NumPy's shapes, and tensors made from them."""

from __future__ import annotations

import sympy
from sympy import S

from .. import operations as ops
from ..core import as_shape
from ..expressions import Delta, Operand, TensorLike, Zeros, as_operand, order_of, shape_of
from ._options import Lengths


def shape(a: TensorLike) -> Operand:
    """``numpy.shape``: the tuple of axis lengths."""
    return shape_of(as_operand(a))


def ndim(a: TensorLike) -> int:
    """``numpy.ndim``."""
    return order_of(as_operand(a))


def size(a: TensorLike, axis: int | None = None) -> Operand:
    """``numpy.size``: the number of entries, or the length of an axis."""
    lengths = shape(a)
    return sympy.Mul(*lengths) if axis is None else lengths[ops.as_axis(axis, len(lengths))]


def full(shape: Lengths, fill_value: TensorLike) -> Operand:
    """``numpy.full`` with a scalar."""
    value = as_operand(fill_value)
    if order_of(value):
        return ops.broadcast_to(value, shape)
    lengths = as_shape(shape if isinstance(shape, (tuple, list)) else (shape,))
    return ops.filled(value, lengths) if lengths else value


def ones(shape: Lengths, dtype: object = None) -> Operand:
    """``numpy.ones``."""
    return full(shape, S.One)


def zeros(shape: Lengths, dtype: object = None) -> Operand:
    """``numpy.zeros``."""
    return Zeros(*(shape if isinstance(shape, (tuple, list)) else (shape,)))


def eye(N: TensorLike, M: TensorLike | None = None, k: int = 0, dtype: object = None) -> Operand:
    """``numpy.eye``."""
    return ops.eye(N, M, k)


def identity(n: TensorLike, dtype: object = None) -> Operand:
    """``numpy.identity``."""
    return Delta(n)


def ones_like(a: TensorLike, dtype: object = None, *, shape: Lengths | None = None) -> Operand:
    """``numpy.ones_like``, also of another shape."""
    return full_like(a, S.One, shape=shape)


def zeros_like(a: TensorLike, dtype: object = None, *, shape: Lengths | None = None) -> Operand:
    """``numpy.zeros_like``, also of another shape."""
    return full_like(a, S.Zero, shape=shape)


def full_like(
    a: TensorLike, fill_value: TensorLike, dtype: object = None, *, shape: Lengths | None = None
) -> Operand:
    """``numpy.full_like``, also of another shape."""
    return full(shape_of(as_operand(a)) if shape is None else shape, fill_value)
