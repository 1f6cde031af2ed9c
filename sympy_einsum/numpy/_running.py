"""NumPy's running sums, and triangles."""

from __future__ import annotations

from .. import operations as ops
from ..core import TensorError
from ..expressions import Operand, TensorLike, as_operand, order_of
from ._options import refuse


def cumsum(
    a: TensorLike, axis: int | None = None, dtype: object = None, out: object = None
) -> Operand:
    """``numpy.cumsum``."""
    refuse("cumsum", {"dtype": dtype, "out": out})
    return ops.cumsum(a, axis)


def cumprod(
    a: TensorLike, axis: int | None = None, dtype: object = None, out: object = None
) -> Operand:
    """``numpy.cumprod``."""
    refuse("cumprod", {"dtype": dtype, "out": out})
    return ops.cumprod(a, axis)


def cumulative_prod(x: TensorLike, *, axis: int | None = None) -> Operand:
    """``numpy.cumulative_prod``; only of a vector without an axis."""
    if axis is None and order_of(as_operand(x)) != 1:
        raise TensorError("cumulative_prod of a tensor that is no vector needs an axis")
    return ops.cumprod(x, axis)


def tri(N: TensorLike, M: TensorLike | None = None, k: int = 0, dtype: object = None) -> Operand:
    """``numpy.tri``."""
    return ops.tri(N, M, k)
