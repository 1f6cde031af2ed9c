"""NumPy's running sums, and triangles."""

from __future__ import annotations

from .. import operations as ops
from ..expressions import Operand, TensorLike
from ._options import refuse


def cumsum(
    a: TensorLike, axis: int | None = None, dtype: object = None, out: object = None
) -> Operand:
    """``numpy.cumsum``."""
    refuse("cumsum", {"dtype": dtype, "out": out})
    return ops.cumsum(a, axis)


def tri(N: TensorLike, M: TensorLike | None = None, k: int = 0, dtype: object = None) -> Operand:
    """``numpy.tri``."""
    return ops.tri(N, M, k)
