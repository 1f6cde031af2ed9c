"""Scheduling of instructions such that large arrays are live for a short time only."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import S

from ..ir.instruction_rules import Instruction
from ..ir.instructions import OPS
from ..ir.plans import Plan, origins

# Views that cost nothing wherever they stand: others may turn out to be copies.
FREE = ("transpose", "index", "slice", "diagonal")


def reductions_first(plan: Plan) -> Plan:
    """Schedule every instruction that reduces a large array right after its operands: the large
    array can then be overwritten sooner."""
    return plan.in_order(_order(plan.instructions))


def _order(instructions: Sequence[Instruction]) -> list[int]:
    # For each instruction that after which it stands: itself, or what it reads. Writes count as
    # part of the array that they write to.
    after: list[int] = []
    written: dict[int, int] = {}
    origin = origins(instructions)
    axes = [sum([length is not S.One for length in step.shape]) for step in instructions]
    for number, step in enumerate(instructions):
        # A reduction has fewer axes than an operand.
        is_reduction = max([axes[k] for k in step.inputs], default=0) > max(axes[number], 1)
        place = number
        if step.op in FREE or (is_reduction and not OPS[step.op].is_view):
            sources = {origin[k] for k in step.inputs}
            if any(instructions[source].op != "argument" for source in sources):
                needed = [*step.inputs, *[written[s] for s in sources if s in written]]
                place = max([after[k] for k in needed])
        if step.op == "write":
            written[origin[step.inputs[0]]] = number
        after.append(place)
    return sorted(range(len(instructions)), key=lambda number: (after[number], number))
