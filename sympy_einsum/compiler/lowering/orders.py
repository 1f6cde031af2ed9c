"""Lowering of maxima, minima and orders along axes."""

from __future__ import annotations

from itertools import product
from math import prod

from sympy import Integer, Max, Min

from ...core import tuning
from ...expressions import Extremum, ExtremumShare, NamedAxesFunction, Picked, Ranking, slot
from ..ir.instruction_rules import AxisPart
from .context import Lowering


def lower_extremum(builder: Lowering, node: Extremum) -> int:
    """Emit the largest or smallest entries."""
    (tensor,) = node.operands
    operand = builder.value(tensor)
    lengths = [tensor.shape[axis] for axis in node.axes]
    known = all(length.is_Integer for length in lengths)
    if not node.order or not known or not 1 < prod(lengths) <= tuning.MAX_COMPARED_SLICES:
        return builder.emit("extremum", operand, params=(node.name, _axes(node)))
    slices: list[AxisPart] = [None] * tensor.order
    parts = []
    for places in product(*map(range, lengths)):
        for axis, place in zip(node.axes, places, strict=True):
            slices[axis] = Integer(place)
        parts.append(builder.emit("slice", operand, params=(tuple(slices),)))
    compare = Max if node.name == "max" else Min
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        rest = parts[len(parts) // 2 * 2 :]
        body = compare(slot(0), slot(1))
        parts = [builder.emit("elementwise", *pair, params=(body,)) for pair in pairs] + rest
    return parts[0]


def lower_share(builder: Lowering, node: ExtremumShare) -> int:
    """Lower a tie-averaged subgradient: where entries are the extremum, divided by their count."""
    operand, top = builder.value(node.operands[0]), builder.value(node.extremum)
    axes = _axes(node)
    if axes is not None:
        entries = tuple("None" if k in axes else ":" for k in range(node.order))
        while entries[-1] == ":":
            entries = entries[:-1]
        top = builder.lowest(builder.emit("index", top, params=(entries,)))
    return builder.emit("share", operand, top, params=(axes,))


def lower_picked(builder: Lowering, node: Picked) -> int:
    """Lower entries along an axis in order, or running extrema."""
    (operand,) = node.operands
    if node.positions in builder.uses:
        return builder.value(node.gathered)
    return builder.emit("picked", builder.value(operand), params=(node.name, node.axes[0]))


def lower_ranking(builder: Lowering, node: Ranking) -> int:
    """Lower a ranking along an axis."""
    operand = builder.value(node.operands[0])
    return builder.emit("positions", operand, params=(node.name, node.axes[0]))


def _axes(node: NamedAxesFunction) -> tuple[int, ...] | None:
    return None if len(node.axes) == node.operands[0].order else node.axes
