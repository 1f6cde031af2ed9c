"""Maxima and order along axes."""

from __future__ import annotations

from ..expressions import Extremum, ExtremumShare, NamedAxesFunction, Picked, Ranking
from .context import Lowering


def lower_extremum(builder: Lowering, node: Extremum) -> int:
    """The largest or smallest entries."""
    operand = builder.value(node.operands[0])
    return builder.emit("extremum", operand, params=(node.name, _axes(node)))


def lower_share(builder: Lowering, node: ExtremumShare) -> int:
    """Where these are, divided by how many they are."""
    operand, top = builder.value(node.operands[0]), builder.value(node.extremum)
    axes = _axes(node)
    if axes is not None:
        entries = tuple("None" if k in axes else ":" for k in range(node.order))
        while entries[-1] == ":":
            entries = entries[:-1]
        top = builder.lowest(builder.emit("index", top, params=(entries,)))
    return builder.emit("share", operand, top, params=(axes,))


def lower_picked(builder: Lowering, node: Picked) -> int:
    """Entries along an axis in order, or the largest so far."""
    (operand,) = node.operands
    if node.positions in builder.uses:
        return builder.value(node.gathered)
    return builder.emit("picked", builder.value(operand), params=(node.name, node.axes[0]))


def lower_ranking(builder: Lowering, node: Ranking) -> int:
    """Ranking along an axis."""
    operand = builder.value(node.operands[0])
    return builder.emit("positions", operand, params=(node.name, node.axes[0]))


def _axes(node: NamedAxesFunction) -> tuple[int, ...] | None:
    return None if len(node.axes) == node.operands[0].order else node.axes
