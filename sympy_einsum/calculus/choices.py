"""Inlining of entrywise operands into nodes that choose among formulas, for derivatives.

The derivative of ``where(x >= 0, sqrt(x), 0)`` is a choice among the derivatives of its branches.
By way of the tensor sqrt(x) it would be [x >= 0] times 1/(2 sqrt(x)), which is 0 times nan on the
left of 0. So it is with the larger of two numbers, and with choices inside of others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

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


class _Inlined(NamedTuple):
    """A formula whose slots get operands: numbers, tensors, or formulas in their turn."""

    body: Operand
    operands: Sequence[Operand]
    chosen: Sequence[Operand | _Inlined]
    tested: Sequence[int]


def _inline(node: Elementwise) -> Elementwise | None:
    """Inline operands into the body of a node; None if none can be."""
    room, inner, matters = tuning.MAX_CHOICE_NODES, tuning.MAX_NESTED_CHOICES, False

    def choose(tensor: Operand, times: int) -> Operand | _Inlined:
        """Return a number, a formula to inline or the tensor itself for one with that number of
        uses."""
        nonlocal room, inner, matters
        formula = _formula(tensor)
        if not isinstance(formula, _Formula):
            return tensor if formula is None else formula
        if times * formula.size > room:
            return tensor
        choices = formula.choices if tensor is not node else 0
        if choices > (inner if times == 1 else 0):
            return tensor
        room -= times * formula.size
        inner -= choices
        matters = matters or formula.matters
        pairs = zip(formula.operands, formula.uses, strict=True)
        chosen = [choose(operand, times * uses) for operand, uses in pairs]
        return _Inlined(formula.body, formula.operands, chosen, formula.tested)

    places: dict[Operand, int] = {}

    def write(own: Operand | _Inlined) -> Operand:
        if not isinstance(own, _Inlined):
            return own if is_literal(own) else slot(places.setdefault(own, len(places)))
        values: dict[Operand, Operand] = {
            slot(k): write(operand) for k, operand in enumerate(own.chosen)
        }
        nested = [k for k in own.tested if has_choice(values[slot(k)])]
        tests: dict[Operand, Operand] = {slot(k): write(own.operands[k]) for k in nested}
        return _with_slots_replaced(own.body, values, values | tests)

    found = choose(node, 1)
    # SymPy takes long to compare maxima of maxima.
    if not matters:
        return None
    body = write(found)
    if body.is_number or body in (slot(0), node.body):
        return None
    if not (body.has(Piecewise) or may_be_infinite(body)):
        return None
    return Elementwise._intern(tuple(places), (body,), node.shape)


def _with_slots_replaced(
    body: Operand, values: dict[Operand, Operand], tests: dict[Operand, Operand]
) -> Operand:
    """Replace the slots of a body, those in its conditions by other values."""
    if is_condition(body):
        return body.xreplace(tests)
    if not body.args:
        return values.get(body, body)
    return body.func(*[_with_slots_replaced(arg, values, tests) for arg in body.args])


class _Formula(NamedTuple):
    """A formula in slots.

    size : the number of its parts, as far as these may be inlined
    choices : those that choose among formulas
    matters : whether it has cases, or may be infinite
    uses : how often the slot of each operand occurs
    tested : the slots in conditions
    """

    body: Expr
    operands: Sequence[Operand]
    size: int
    choices: int
    matters: bool
    uses: Sequence[int]
    tested: Sequence[int]


def _formula(tensor: Operand) -> _Formula | Operand | None:
    """Return the number that all entries are, or the formula of a tensor that is computed entry by
    entry, or of a scalar that may be infinite or is made of symbols; None for others."""
    if not isinstance(tensor, TensorExpr):
        return _analysed(tensor)
    if "formula" not in tensor.memory:
        tensor.memory["formula"] = _analysed(tensor)
    found: _Formula | Operand | None = tensor.memory["formula"]
    return found


def _analysed(tensor: Operand) -> _Formula | Operand | None:
    value = fill_value(tensor)
    if is_literal(value):
        return value
    formula = _body_and_operands(tensor)
    if formula is None:
        return None
    body, operands = formula
    parts = list(islice(preorder_traversal(body), tuning.MAX_CHOICE_NODES + 1))
    tested = {own for part in parts if is_condition(part) for own in part.free_symbols}
    uses = Counter(part.place for part in parts if isinstance(part, Slot))
    return _Formula(
        body,
        operands,
        len(parts),
        sum(map(is_choice, parts)),
        body.has(Piecewise) or may_be_infinite(body),
        [uses[k] for k in range(len(operands))],
        [own.place for own in tested],
    )


def _body_and_operands(tensor: Operand) -> tuple[Expr, tuple[Operand, ...]] | None:
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
        # An index that is repeated embeds a diagonal.
        is_diagonal = len({*tensor.output}) < tensor.order
        return None if is_diagonal else (Mul(*slots), tensor.operands)
    return None
