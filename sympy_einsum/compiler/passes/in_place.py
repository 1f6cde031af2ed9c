"""In-place operation: the instructions that can write their result over a dead operand.

A fresh array costs more than the arithmetic on it once it is larger than the processor's cache.
"""

from __future__ import annotations

from ...core import tuning
from ..ir.instructions import OPS
from ..ir.plans import Plan, origin, origins


def overwritten(plan: Plan) -> dict[int, int]:
    """Return for each instruction that can work in place the place of the operand to be
    overwritten.

    Only arrays of two axes and more: for vectors it doesn't pay, but in a running total. What is
    written to is kept, and not copied before.
    """
    added = [0] * len(plan.instructions)
    candidates: list[int] = []
    for number, step in enumerate(plan.instructions):
        op, inputs, _, shape = step
        added[number] = 1 + added[inputs[0]] if op == "add" else 0
        is_large = len(shape) > 1 or (shape and added[number] >= tuning.MIN_RUNNING_SUMS)
        if (op == "writable" or is_large) and OPS[op].in_place(step):
            candidates.append(number)
    if not candidates:
        return {}
    found: dict[int, int] = {}
    last = _last_uses(plan)
    sources = origins(plan.instructions)
    for number in candidates:
        op, inputs, _, shape = plan.instructions[number]
        scaled = op != "writable" and any(not plan.instructions[k].shape for k in inputs)
        for place, k in enumerate(inputs):
            source = origin(plan.instructions, k, lambda op: op.is_whole)
            own = OPS[plan.instructions[source].op]
            if scaled and own.is_superlinear:
                continue
            if not own.owns or last[source] != number or plan.instructions[k].shape != shape:
                continue
            if [sources[k] for k in inputs].count(source) == 1:
                found[number] = place
                break
    return found


def _last_uses(plan: Plan) -> list[int]:
    """Return for each instruction the last one that reads its memory, through views too."""
    last = [0] * len(plan.instructions)
    for k in plan.results:
        last[k] = len(plan.instructions)
    for number in range(len(plan.instructions) - 1, -1, -1):
        op, inputs, _, _ = plan.instructions[number]
        read = max(number, last[number]) if OPS[op].is_view else number
        for k in inputs:
            last[k] = max(last[k], read)
    return last
