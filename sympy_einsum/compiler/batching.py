"""Products of one matrix with all rows of another one, each by itself, are one product."""

from __future__ import annotations

from sympy import Integer, S

from .instruction_rules import Instruction
from .plans import Plan, result_shape, without_dead_code


def batched(plan: Plan) -> Plan:
    """The plan with products A x_i of a matrix with every row of another as rows of X A'."""
    found: dict[tuple[int, int], dict[int, int]] = {}
    for number, step in enumerate(plan.instructions):
        row = _row(plan, step)
        if row is not None:
            matrix, source, position = row
            found.setdefault((matrix, source), {})[number] = position
    first: dict[int, tuple[int, int]] = {}
    for pair, places in found.items():
        if len({*places.values()}) == plan.instructions[pair[1]].shape[0] > 1:
            first[min(places)] = pair
    if not first:
        return plan
    instructions: list[Instruction] = []
    moved: list[int] = []
    products: dict[tuple[int, int], int] = {}

    def add(op: str, inputs: tuple[int, ...], *params: object) -> int:
        shape = result_shape(op, [instructions[k].shape for k in inputs], params)
        instructions.append(Instruction(op, inputs, params, shape))
        return len(instructions) - 1

    for number, step in enumerate(plan.instructions):
        row = _row(plan, step)
        if number in first:
            matrix, source = first[number]
            turned = add("transpose", (moved[matrix],), (1, 0))
            products[matrix, source] = add("dot", (moved[source], turned))
        if row is not None and row[:2] in products:
            moved.append(add("cut", (products[row[:2]],), (S(row[2]), None)))
        else:
            instructions.append(step._replace(inputs=tuple([moved[k] for k in step.inputs])))
            moved.append(len(instructions) - 1)
    return without_dead_code(instructions, [moved[k] for k in plan.results])


def _row(plan: Plan, step: Instruction) -> tuple[int, int, int] | None:
    """Of the product of a matrix with a row of another one: both, and which row."""
    if step.op != "dot" or len(plan.instructions[step.inputs[0]].shape) != 2:
        return None
    matrix, vector = step.inputs
    cut = plan.instructions[vector]
    if cut.op != "cut" or len(cut.params[0]) != 2:
        return None
    place, rest = cut.params[0]
    is_row = isinstance(place, Integer) and rest is None
    return (matrix, cut.inputs[0], int(place)) if is_row else None
