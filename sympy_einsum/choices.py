"""Choices among formulas, for derivatives.

May import: functions, nodes, einsum, elementwise. The derivative of ``where(x >= 0, sqrt(x), 0)`` is a choice
among the derivatives of its branches. By way of the tensor sqrt(x) it would be [x >= 0] times
1/(2 sqrt(x)), which is 0 times nan on the left of 0. So it is with the larger of two numbers, and
with choices inside of others.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary

from sympy import Add, Mul, Piecewise, preorder_traversal

from .einsum import Einsum, TensorAdd
from .elementwise import Elementwise, Slot, fill_value, slot, split_body
from .functions import CHOICES, may_be_infinite
from .nodes import TensorExpr

# Of longer formulas the inner parts stay tensors: written out, shared parts are repeated.
MAX_SIZE = 200

# None for a node that stays what it is: its entry mustn't keep it alive.
_opened: WeakKeyDictionary[Elementwise, Elementwise | None] = WeakKeyDictionary()


def opened(node: Any) -> Any:
    """The same node; if its body makes a choice, with what is computed entry by entry written in
    the body."""
    if not isinstance(node, Elementwise):
        return node
    if node not in _opened:
        _opened[node] = _open(node) if node.body.has(*CHOICES) else None
    found = _opened[node]
    return node if found is None else found


def _open(node: Elementwise) -> Elementwise | None:
    """The node with more in its body, None where it stays."""
    places: dict[Any, int] = {}
    room = MAX_SIZE

    def written(tensor: Any, times: int) -> Any:
        """What stands for a tensor in the body, at so many places."""
        nonlocal room
        value = fill_value(tensor)
        if value.is_number:
            return value
        formula = _formula(tensor)
        parts = list(islice(preorder_traversal(formula[0]), room + 1)) if formula else []
        if formula is None or times * len(parts) > room:
            return slot(places.setdefault(tensor, len(places)))
        room -= times * len(parts)
        uses = Counter(part.place for part in parts if isinstance(part, Slot))
        operands = enumerate(formula[1])
        return formula[0].xreplace({slot(k): written(o, times * uses[k]) for k, o in operands})

    body = written(node, 1)
    if body.is_number or body in (slot(0), node.body) or tuple(places) == node.operands:
        return None
    if not (body.has(Piecewise) or may_be_infinite(body)):
        return None
    return Elementwise._intern(tuple(places), (body,), node.shape)


def _formula(tensor: Any) -> tuple[Any, tuple[Any, ...]] | None:
    """A body, and its operands, for a tensor computed entry by entry and for a scalar that may be
    infinite; None for others."""
    if not isinstance(tensor, TensorExpr):
        body, operands = split_body(tensor)
        return (body, tuple(operands)) if may_be_infinite(body) else None
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
