"""Carries of loops that are kept symmetric."""

from __future__ import annotations

from dataclasses import replace

from ...expressions import Operand, TensorAdd, View, slot
from ..ir.instruction_rules import Instruction
from ..ir.plans import Plan, of_instructions
from ..ir.scans import BODIES, ScanBody


@of_instructions(*BODIES)
def keep_symmetric(plan: Plan) -> Plan:
    """Replace the next values of symmetric carries by their symmetric parts: the antisymmetric
    parts, of rounding errors, might grow from step to step."""
    instructions = []
    for step in plan.instructions:
        if step.op in BODIES:
            body = step.params[0].with_plan(keep_symmetric)
            if isinstance(body, ScanBody):
                body = replace(body, plan=_with_symmetric_parts(body))
            step = step._replace(params=(body,))
        instructions.append(step)
    return plan._replace(instructions=instructions)


def _with_symmetric_parts(body: ScanBody) -> Plan:
    instructions, results = [*body.plan.instructions], [*body.plan.results]
    for place, carry in enumerate(body.loop.carries):
        if not carry.symbol.is_symmetric or _is_symmetric_part(carry.new):
            continue
        old, new = results[place], len(instructions) + 2
        shape = instructions[old].shape
        instructions += [
            Instruction("transpose", (old,), ((1, 0),), shape),
            Instruction("add", (old, new - 2), ((1, 1),), shape),
            Instruction("elementwise", (new - 1,), (slot(0) / 2,), shape),
        ]
        results = [new if number == old else number for number in results]
    return body.plan._replace(instructions=instructions, results=results)


def _is_symmetric_part(value: Operand) -> bool:
    """Tell whether a matrix is a multiple of a sum that has the transpose of each of its terms."""
    core = value.core if isinstance(value, View) else value
    return isinstance(core, TensorAdd) and core.is_symmetric
