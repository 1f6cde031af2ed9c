"""Batching of products of one matrix with all rows of another into one product."""

from __future__ import annotations

from typing import NamedTuple

from sympy import Integer, S

from ..ir.instruction_rules import Instruction
from ..ir.plans import Plan, Rewriting, of_instructions


class _RowProduct(NamedTuple):
    """A matrix multiplied by rows of another one, which may stand on its left."""

    matrix: int
    source: int
    is_left: bool


@of_instructions("dot")
def batched(plan: Plan) -> Plan:
    """Batch matrix-vector products: A x_i with every row of a matrix X are rows of X A', and x_i A
    are rows of X A."""
    found: dict[_RowProduct, dict[int, int]] = {}
    for number, step in enumerate(plan.instructions):
        row = _row(plan, step)
        if row is not None:
            found.setdefault(row[0], {})[number] = row[1]
    first: dict[int, _RowProduct] = {}
    for product, places in found.items():
        if len({*places.values()}) == plan.instructions[product.source].shape[0] > 1:
            first[min(places)] = product
    if not first:
        return plan
    new = Rewriting()
    products: dict[_RowProduct, int] = {}
    for number, step in enumerate(plan.instructions):
        row = _row(plan, step)
        if number in first:
            product = first[number]
            right = new.place[product.matrix]
            if not product.is_left:
                right = new.emit("transpose", right, params=((1, 0),))
            products[product] = new.emit("dot", new.place[product.source], right)
        if row is not None and row[0] in products:
            new.place.append(new.emit("slice", products[row[0]], params=((S(row[1]), None),)))
        else:
            new.keep(step)
    return new.plan(plan.results)


def _row(plan: Plan, step: Instruction) -> tuple[_RowProduct, int] | None:
    """Find the product with all rows of a matrix for that with one of its rows, and which row."""
    if step.op != "dot" or len(step.shape) != 1:
        return None
    is_left = len(plan.instructions[step.inputs[0]].shape) == 1
    vector, matrix = step.inputs if is_left else step.inputs[::-1]
    part = plan.instructions[vector]
    if part.op != "slice" or len(part.params[0]) != 2:
        return None
    place, rest = part.params[0]
    is_row = isinstance(place, Integer) and rest is None
    return (_RowProduct(matrix, part.inputs[0], is_left), int(place)) if is_row else None
