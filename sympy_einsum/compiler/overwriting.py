"""Which instructions can write their result over an operand that nothing needs any more.

A fresh array costs more than the arithmetic on it once it is larger than the processor's cache.
"""

from __future__ import annotations

from typing import Any

from sympy import S

from .instructions import VIEWS, Plan, origin

# What computes an array of its own.
OWNING = {"add", "multiply", "elementwise", "dot", "matmul", "einsum", "inv", "solve"}
OWNING |= {"weighted_gram", "add_transposed", "softmax"}
# Their results cost much more than an array to scale them into.
PRODUCTS = {"dot", "matmul", "inv", "solve", "weighted_gram"}
# So many sums one on the other are a running total.
RUNNING = 4
# Views with an entry for each entry of what they are a view of.
WHOLE = {"transpose", "reshape"}


def overwritten(plan: Plan) -> dict[int, int]:
    """For each instruction that can work in place, the place of the operand to be overwritten.

    Only arrays of two axes and more: for vectors it doesn't pay, but in a running total.
    """
    last = _last_uses(plan)
    found: dict[int, int] = {}
    added = [0] * len(plan.instructions)
    for number, (op, inputs, params, shape) in enumerate(plan.instructions):
        added[number] = 1 + added[inputs[0]] if op == "add" else 0
        if not _works_in_place(op, inputs, params):
            continue
        if len(shape) < 2 and (not shape or added[number] < RUNNING):
            continue
        origins = [origin(plan.instructions, k) for k in inputs]
        scaled = any(not plan.instructions[k].shape for k in inputs)
        for place, k in enumerate(inputs):
            source = origin(plan.instructions, k, WHOLE)
            own = plan.instructions[source].op
            if scaled and own in PRODUCTS:
                continue
            owned = own in OWNING and last[source] == number
            if owned and plan.instructions[k].shape == shape and origins.count(source) == 1:
                found[number] = place
                break
    return found


def _works_in_place(op: str, inputs: tuple[int, ...], params: tuple[Any, ...]) -> bool:
    """Whether an instruction is a single operation entry by entry."""
    if op == "elementwise":
        body = params[0]
        root = body.is_Pow and body.exp in (2, S.Half)
        return len(inputs) == 1 and bool(body.is_Function or root) and body.args[0].is_Symbol
    if op == "add":
        return len(inputs) == 1 or (len(inputs) == 2 and max(params[0]) > 0)
    return op == "multiply" and len(inputs) == 2


def _last_uses(plan: Plan) -> list[int]:
    """For each instruction the last one that reads its memory, through views too."""
    last = [0] * len(plan.instructions)
    for k in plan.results:
        last[k] = len(plan.instructions)
    for number in range(len(plan.instructions) - 1, -1, -1):
        op, inputs, _, _ = plan.instructions[number]
        read = max(number, last[number]) if op in VIEWS else number
        for k in inputs:
            last[k] = max(last[k], read)
    return last
