"""Lowering of loops: one instruction for all results of a loop, with the plan of its body."""

from __future__ import annotations

from ...analysis import are_positions
from ...expressions import Scan
from ..ir.scans import ScanBody
from .context import Lowering


def lower_scan(builder: Lowering, node: Scan) -> int:
    """Lower a result of a loop, which is computed with the others."""
    group = node.group
    wanted = builder.loop_results[group]
    if group not in builder.loops:
        loop = node.loop
        positions = tuple(are_positions(loop))
        plan = builder.plan_body(loop.outputs)
        builder.contractions.extend(plan.contractions)
        body = ScanBody(loop, plan, tuple(wanted), positions)
        count = len(loop.invariants)
        inputs = [builder.value(operand) for operand in node.operands]
        inputs[len(inputs) - count :] = [
            _in_one_piece(builder, value) for value in inputs[len(inputs) - count :]
        ]
        builder.loops[group] = builder.emit_fresh("loop", *inputs, params=(body,))
    place = wanted.index((node.kind, node.place))
    return builder.emit("result", builder.loops[group], params=(place, node.shape))


def _in_one_piece(builder: Lowering, value: int) -> int:
    """Return an operand that every step reads; products would copy a slice each time."""
    base, axes = builder.untransposed(value)
    step = builder.instructions[base]
    if step.op != "slice" or len(step.shape) < 2:
        return value
    whole = builder.emit("contiguous", base)
    return whole if axes is None else builder.emit("transpose", whole, params=(axes,))
