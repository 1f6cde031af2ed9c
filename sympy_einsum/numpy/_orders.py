"""NumPy's maxima, sorts, quantiles and gathers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from sympy import Basic, Max, Min

from .. import operations as ops
from ..core import TensorError, UnsupportedError, as_flag
from ..expressions import Constant, Operand, TensorLike, elementwise
from ._options import Axes, refuse


def max(
    a: TensorLike,
    axis: Axes = None,
    out: object = None,
    keepdims: bool = False,
    initial: TensorLike | None = None,
    where: TensorLike | None = True,
) -> Operand:
    """``numpy.max``; ``where`` is a condition or a tensor, and needs ``initial``."""
    refuse("max", {"out": out})
    return _extremum(ops.max_, Max, a, axis, keepdims, initial, where)


def min(
    a: TensorLike,
    axis: Axes = None,
    out: object = None,
    keepdims: bool = False,
    initial: TensorLike | None = None,
    where: TensorLike | None = True,
) -> Operand:
    """``numpy.min``; ``where`` is a condition or a tensor, and needs ``initial``."""
    refuse("min", {"out": out})
    return _extremum(ops.min_, Min, a, axis, keepdims, initial, where)


def _extremum(
    reduce: Callable[..., Operand],
    larger: Callable[..., Operand],
    a: TensorLike,
    axis: Axes,
    keepdims: bool,
    initial: TensorLike | None,
    where: TensorLike | None,
) -> Operand:
    if where is not None and where is not True:
        if initial is None:
            raise TensorError(
                "a maximum of what a condition leaves may be one of nothing: give initial"
            )
        a = ops.where(where, a, initial)
    value = reduce(a, axis, keepdims)
    return value if initial is None else elementwise(larger, value, initial)


def ptp(a: TensorLike, axis: Axes = None, out: object = None, keepdims: bool = False) -> Operand:
    """``numpy.ptp``."""
    refuse("ptp", {"out": out})
    return ops.ptp(a, axis, keepdims)


def argmax(
    a: TensorLike, axis: int | None = None, out: object = None, *, keepdims: bool = False
) -> Operand:
    """``numpy.argmax``; a tensor of integers, whose derivative is zero."""
    refuse("argmax", {"out": out})
    return ops.argmax(a, axis, keepdims)


def argmin(
    a: TensorLike, axis: int | None = None, out: object = None, *, keepdims: bool = False
) -> Operand:
    """``numpy.argmin``; a tensor of integers, whose derivative is zero."""
    refuse("argmin", {"out": out})
    return ops.argmin(a, axis, keepdims)


def sort(
    a: TensorLike,
    axis: int | None = -1,
    kind: object = None,
    order: object = None,
    *,
    stable: bool | None = None,
) -> Operand:
    """``numpy.sort``, by whatever algorithm."""
    _check_order("sort", order, stable)
    return ops.sort(a, axis)


def argsort(
    a: TensorLike,
    axis: int | None = -1,
    kind: object = None,
    order: object = None,
    *,
    stable: bool | None = None,
) -> Operand:
    """``numpy.argsort``, always a stable one; a tensor of integers, whose derivative is zero."""
    _check_order("argsort", order, stable)
    return ops.argsort(a, axis)


def partition(
    a: TensorLike,
    kth: int | Sequence[int],
    axis: int | None = -1,
    kind: object = None,
    order: object = None,
) -> Operand:
    """``numpy.partition``: sorted throughout, which is one for every ``kth``."""
    _check_order("partition", order, None)
    return ops.sort(a, axis)


def argpartition(
    a: TensorLike,
    kth: int | Sequence[int],
    axis: int | None = -1,
    kind: object = None,
    order: object = None,
) -> Operand:
    """``numpy.argpartition``: positions that sort throughout, which are some for every ``kth``."""
    _check_order("argpartition", order, None)
    return ops.argsort(a, axis)


def _check_order(name: str, order: object, stable: bool | None) -> None:
    """Entries of our tensors have no fields."""
    if order is not None:
        raise TensorError(f"{name} has no order={str(order)[:80]!r}: entries are numbers")
    if stable is not None:
        as_flag(stable, "stable")


def median(
    a: TensorLike,
    axis: Axes = None,
    out: object = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Operand:
    """``numpy.median`` along some axes, or of all entries."""
    refuse("median", {"out": out})
    return ops.median(a, axis, keepdims)


def quantile(
    a: TensorLike,
    q: TensorLike,
    axis: Axes = None,
    out: object = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Operand:
    """``numpy.quantile`` for one ``q`` or an array of some."""
    refuse("quantile", {"out": out})
    return ops.quantile(a, q, axis, method, keepdims)


def percentile(
    a: TensorLike,
    q: TensorLike,
    axis: Axes = None,
    out: object = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Operand:
    """``numpy.percentile`` for one ``q`` or an array of some."""
    refuse("percentile", {"out": out})
    return ops.percentile(a, q, axis, method, keepdims)


def compress(
    condition: TensorLike, a: TensorLike, axis: int | None = None, out: object = None
) -> Operand:
    """``numpy.compress`` by a condition of numbers: how many entries there are must be known."""
    refuse("compress", {"out": out})
    given = condition.array if isinstance(condition, Constant) else condition
    mask = np.array(None) if isinstance(given, Basic) else np.asarray(given)
    if mask.ndim != 1 or mask.dtype == object:
        raise UnsupportedError(
            "compress takes a vector of numbers or truth values as its condition: the shape of the "
            "result depends on them; multiply by a condition on symbols, or use where"
        )
    return ops.take(a, np.flatnonzero(mask), axis)


def take(
    a: TensorLike,
    indices: TensorLike,
    axis: int | None = None,
    out: object = None,
    mode: str = "raise",
) -> Operand:
    """``numpy.take``; positions that aren't on the axis are errors."""
    refuse("take", {"out": out})
    if not isinstance(mode, str) or mode != "raise":
        raise TensorError(f"take has no mode={str(mode)[:80]!r}: positions must be on the axis")
    return ops.take(a, indices, axis)
