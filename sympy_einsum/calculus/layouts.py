"""Numerator and denominator layout of derivatives."""

from __future__ import annotations

from collections.abc import Sequence

from ..core import TensorError
from ..expressions import Operand, order_of
from ..operations import transpose


def check_layout(layout: str) -> None:
    """Refuse an unknown layout."""
    if layout not in ("function-first", "wrt-first"):
        raise TensorError(f"layout is 'function-first' or 'wrt-first', not {layout!r}")


def wrt_first(result: Operand, order: int, blocks: Sequence[int]) -> Operand:
    """Move the axes of the last variable first, then those of the previous ones, the function's
    last."""
    axes: list[int] = []
    start = order
    for count in blocks:
        axes = [*range(start, start + count), *axes]
        start += count
    return transpose(result, [*axes, *range(order)]) if order_of(result) else result
