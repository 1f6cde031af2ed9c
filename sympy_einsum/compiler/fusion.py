"""Chains of elementwise instructions as one, for libraries that make one kernel of each."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sympy import Add, Mul

from ..expressions import slot
from .instructions import Plan, result_shape, without_dead_code

CHAINED = {"add", "multiply", "elementwise"}
# Kernels of more operands aren't made.
MAX_OPERANDS = 16


def fused(plan: Plan) -> Plan:
    """The plan with every elementwise instruction that one other uses, and that is elementwise
    too, made a part of that."""
    uses = Counter(k for step in plan.instructions for k in step.inputs)
    uses.update(plan.results)
    written = {step.inputs[0] for step in plan.instructions if step.op == "write_diagonal"}
    instructions = list(plan.instructions)
    for number, step in enumerate(instructions):
        if step.op not in CHAINED or not step.shape or number in written:
            continue
        body, inputs = _body(step), list(step.inputs)
        for k in step.inputs:
            inner = instructions[k]
            chained = inner.op in CHAINED and uses[k] == 1 and inner.shape and k not in written
            if not chained or len(inputs) + len(inner.inputs) > MAX_OPERANDS:
                continue
            place = inputs.index(k)
            first = len(inputs)
            inputs += inner.inputs
            moved = {slot(j): slot(first + j) for j in range(len(inner.inputs))}
            body = body.xreplace({slot(place): _body(inner).xreplace(moved)})
        if len(inputs) == len(step.inputs):
            continue
        chain = step._replace(op="elementwise", **_compact(body, inputs))
        shapes = [instructions[k].shape for k in chain.inputs]
        if result_shape(chain.op, shapes, chain.params) == step.shape:
            instructions[number] = chain  # else operands that give it its shape have cancelled
    return without_dead_code(instructions, plan.results)


def _body(step: Any) -> Any:
    """What an instruction does to an entry."""
    slots = [slot(k) for k in range(len(step.inputs))]
    if step.op == "elementwise":
        return step.params[0]
    if step.op == "multiply":
        return Mul(*slots)
    return Add(*[sign * own for sign, own in zip(step.params[0], slots, strict=True)])


def _compact(body: Any, inputs: list[int]) -> dict[str, Any]:
    """The operands that a body still has, each once."""
    used = sorted(s.place for s in body.free_symbols)
    kept = list(dict.fromkeys(inputs[k] for k in used))
    renamed = {slot(k): slot(kept.index(inputs[k])) for k in used}
    return {"inputs": tuple(kept), "params": (body.xreplace(renamed),)}
