"""Inlining of entrywise operands into nodes that choose among formulas, for derivatives.

The derivative of ``where(x >= 0, sqrt(x), 0)`` is a choice among the derivatives of its branches.
By way of the tensor sqrt(x) it would be [x >= 0] times 1/(2 sqrt(x)), which is 0 times nan on the
left of 0. So it is with the larger of two numbers, and with choices inside of others.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice

from sympy import Add, Expr, Mul, Piecewise, preorder_traversal

from ..core import has_choice, is_choice, may_be_infinite, tuning
from ..expressions import (
    Einsum,
    Elementwise,
    Operand,
    Slot,
    TensorAdd,
    TensorExpr,
    fill_value,
    is_condition,
    is_literal,
    slot,
    split_body,
)


def inline_operands(node: Operand) -> Operand:
    """Inline entrywise operands into the body of a node if it makes a choice; else return the
    node."""
    if not isinstance(node, Elementwise):
        return node
    if "inlined" not in node.memory:
        # None for a node that stays what it is: what holds itself is freed late.
        node.memory["inlined"] = _inline(node) if has_choice(node.body) else None
    found = node.memory["inlined"]
    return node if found is None else found


def _inline(node: Elementwise) -> Elementwise | None:
    """Inline operands into the body of a node; None if none can be."""
    if not _may_matter(node):
        return None
    places: dict[Operand, int] = {}
    room, inner = tuning.MAX_CHOICE_NODES, tuning.MAX_NESTED_CHOICES

    def place(tensor: Operand) -> Operand:
        return slot(places.setdefault(tensor, len(places)))

    def written(tensor: Operand, times: int) -> Operand:
        """Return a number, an inlined formula or a slot for a tensor with that number of uses."""
        nonlocal room, inner
        value = fill_value(tensor)
        if is_literal(value):
            return value
        formula = _formula(tensor)
        parts = list(islice(preorder_traversal(formula[0]), room + 1)) if formula else []
        choices = sum(map(is_choice, parts)) if tensor is not node else 0
        if formula is None or times * len(parts) > room or choices > (inner if times == 1 else 0):
            return place(tensor)
        room -= times * len(parts)
        inner -= choices
        body, operands = formula
        uses = Counter(part.place for part in parts if isinstance(part, Slot))
        values: dict[Operand, Operand] = {
            slot(k): written(o, times * uses[k]) for k, o in enumerate(operands)
        }
        tested = {own for part in parts if is_condition(part) for own in part.free_symbols}
        tests = {own: place(operands[own.place]) for own in tested if has_choice(values[own])}
        return _with_slots_replaced(body, values, values | tests)

    body = written(node, 1)
    if body.is_number or body in (slot(0), node.body):
        return None
    if not (body.has(Piecewise) or may_be_infinite(body)):
        return None
    return Elementwise._intern(tuple(places), (body,), node.shape)


def _may_matter(node: Elementwise) -> bool:
    """Tell whether an operand that could be inlined has a Piecewise or may be infinite: inlining
    maxima in maxima takes SymPy long, for nothing."""
    room = tuning.MAX_CHOICE_NODES
    # With how many choices may still be written below.
    pending: list[tuple[Operand, int]] = [(node, tuning.MAX_NESTED_CHOICES + 1)]
    while pending and room > 0:
        tensor, inner = pending.pop()
        formula = _formula(tensor)
        if formula is None:
            continue
        body, operands = formula
        if body.has(Piecewise) or may_be_infinite(body):
            return True
        room -= 1 + len(operands)
        inner -= has_choice(body)
        pending += [(operand, inner) for operand in operands if inner > 0]
    return bool(pending)


def _with_slots_replaced(
    body: Operand, values: dict[Operand, Operand], tests: dict[Operand, Operand]
) -> Operand:
    """Replace the slots of a body, those in its conditions by other values."""
    if is_condition(body):
        return body.xreplace(tests)
    if not body.args:
        return values.get(body, body)
    return body.func(*[_with_slots_replaced(arg, values, tests) for arg in body.args])


def _formula(tensor: Operand) -> tuple[Expr, tuple[Operand, ...]] | None:
    """Return the body and operands of a tensor computed entry by entry, or of a scalar that may be
    infinite or is made of symbols; None for others."""
    if not isinstance(tensor, TensorExpr):
        body, operands = split_body(tensor)
        is_plain = body.args and all(operand.is_Symbol for operand in operands)
        return (body, tuple(operands)) if is_plain or may_be_infinite(body) else None
    if not tensor.order:
        return None
    slots = [slot(k) for k in range(len(tensor.operands))]
    if isinstance(tensor, Elementwise):
        return tensor.body, tensor.operands
    if isinstance(tensor, TensorAdd):
        return Add(*slots), tensor.operands
    if isinstance(tensor, Einsum) and {()} < {(), *tensor.subscripts} <= {(), tensor.output}:
        return Mul(*slots), tensor.operands
    return None
