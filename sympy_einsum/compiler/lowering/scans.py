"""Lowering of loops: one instruction for all results of a loop, with the plan of its body."""

from __future__ import annotations

from ...expressions import Scan
from ..ir.scans import ScanBody
from .context import Lowering


def lower_scan(builder: Lowering, node: Scan) -> int:
    """A result of a loop, which is computed with the others."""
    group = node.group
    wanted = builder.loop_results[group]
    if group not in builder.loops:
        loop = node.loop
        body = ScanBody(loop, builder.plan_body(loop.outputs), tuple(wanted))
        inputs = [builder.value(operand) for operand in node.operands]
        builder.loops[group] = builder.emit_fresh("loop", *inputs, params=(body,))
    place = wanted.index((node.kind, node.place))
    return builder.emit("result", builder.loops[group], params=(place, node.shape))
