"""NumPy's running sums, and triangles."""

from __future__ import annotations

from sympy import S

from .. import operations as ops
from ..core import TensorError, as_flag
from ..expressions import Ones, Operand, TensorLike, as_operand, order_of, shape_of
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


def cumulative_prod(
    x: TensorLike, *, axis: int | None = None, include_initial: bool = False
) -> Operand:
    """``numpy.cumulative_prod``; only of a vector without an axis."""
    x = as_operand(x)
    if axis is None and order_of(x) != 1:
        raise TensorError("cumulative_prod of a tensor that is no vector needs an axis")
    place = ops.as_axis(0 if axis is None else axis, order_of(x))
    product = ops.cumprod(x, place)
    if not as_flag(include_initial, "include_initial"):
        return product
    first = [S.One if k == place else length for k, length in enumerate(shape_of(x))]
    return ops.concatenate([Ones(*first), product], place)


def tri(N: TensorLike, M: TensorLike | None = None, k: int = 0, dtype: object = None) -> Operand:
    """``numpy.tri``."""
    return ops.tri(N, M, k)
