"""Fusion of chains of elementwise instructions, for libraries that run each as one kernel."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr

from ...core import tuning
from ...expressions import slot
from ..ir.instruction_rules import Instruction
from ..ir.instructions import OPS
from ..ir.plans import Plan, result_shape, without_dead_code


def fused(plan: Plan) -> Plan:
    """Fuse every elementwise instruction with its only user, if that is elementwise too, and write
    sums and products of several operands as functions of entries."""
    uses = plan.uses()
    instructions = list(plan.instructions)
    levels = dict.fromkeys(range(len(instructions)), 1)
    for number, step in enumerate(instructions):
        entry = _entry_of(step)
        if entry is None:
            continue
        body, inputs = entry, list(step.inputs)
        for k in step.inputs:
            inner = instructions[k]
            own = _entry_of(inner) if uses[k] == 1 else None
            if own is None or len(inputs) + len(inner.inputs) > tuning.MAX_FUSED_OPERANDS:
                continue
            if levels[k] >= tuning.MAX_FUSED_LEVELS:
                continue
            levels[number] = max(levels[number], levels[k] + 1)
            place = inputs.index(k)
            first = len(inputs)
            inputs += inner.inputs
            moved = {slot(j): slot(first + j) for j in range(len(inner.inputs))}
            body = body.xreplace({slot(place): own.xreplace(moved)})
        if len(inputs) == len(step.inputs) and (len(inputs) < 3 or step.op == "elementwise"):
            continue
        chain = _compact(body, inputs)
        shapes = [instructions[k].shape for k in chain.inputs]
        if result_shape(chain.op, shapes, chain.params) == step.shape:
            # else operands that give it its shape have cancelled
            instructions[number] = chain._replace(shape=step.shape)
    return without_dead_code(instructions, plan.results)


def _entry_of(step: Instruction) -> Expr | None:
    """Return the scalar body of an elementwise instruction on arrays; None for others."""
    body = OPS[step.op].body
    return body(step) if body is not None and step.shape else None


def _compact(body: Expr, inputs: Sequence[int]) -> Instruction:
    """Return the instruction with the operands that a body still has, each once."""
    merged = body.xreplace({s: slot(inputs.index(inputs[s.place])) for s in body.free_symbols})
    used = sorted(s.place for s in merged.free_symbols)
    renamed = merged.xreplace({slot(k): slot(j) for j, k in enumerate(used)})
    return Instruction("elementwise", tuple([inputs[k] for k in used]), (renamed,))
