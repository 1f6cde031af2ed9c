"""Entries of tensors as scalar expressions in entries of their operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from sympy import Dummy, Expr, Mul

from ..analysis import components
from ..core import postorder, tuning
from ..expressions import Delta, Einsum, Operand, TensorExpr, contract, is_tensor, order_of, slot
from .stable.nodes import local_body

# A tensor, and the positions, by number, at which it has an entry.
_Entry: TypeAlias = tuple[Operand, tuple[int, ...]]


def entry_of(root: TensorExpr, most: int) -> Expr:
    """Return the entry at any position as a scalar expression, in symbols for those of tensors that
    aren't computed entry by entry, by sums and products of up to ``most``, and of what is long."""
    found: dict[_Entry, Expr] = {}
    sizes: dict[_Entry, int] = {}
    formulas: dict[_Entry, tuple[Expr | None, tuple[_Entry, ...]]] = {}

    def below(entry: _Entry) -> Sequence[_Entry]:
        formulas[entry] = _formula(*entry, most) or (None, ())
        return formulas[entry][1]

    top = (root, tuple(range(root.order)))
    for entry in postorder([top], below):
        body, parts = formulas[entry]
        sizes[entry] = 1 + sum(sizes[part] for part in parts)
        if body is None or sizes[entry] > tuning.MAX_ENTRY_PARTS:
            found[entry] = Dummy(real=True) if is_tensor(entry[0]) else entry[0]
        else:
            found[entry] = body.xreplace({slot(k): found[part] for k, part in enumerate(parts)})
    return found[top]


def _formula(
    node: Operand, at: tuple[int, ...], most: int
) -> tuple[Expr, tuple[_Entry, ...]] | None:
    """Return an entry as a function of other entries; None where it is a sum of many."""
    local = local_body(node, most)
    if local is not None:
        return local[0], tuple([(part, at if order_of(part) else ()) for part in local[1]])
    if not isinstance(node, Einsum) or (isinstance(node, Delta) and node.order == 2):
        return None
    # Together those that have an index which is summed.
    groups = components([{*term}.difference(node.output) for term in node.subscripts])
    if type(node) is Einsum and len(groups) == 1 and len({*node.output}) == node.order:
        return None
    lengths = dict(enumerate(node.lengths))
    positions: dict[int, int] = {}
    parts: list[_Entry] = []
    for label, position in zip(node.output, at, strict=True):
        if label in positions:
            parts.append((Delta(lengths[label]), (positions[label], position)))
        positions.setdefault(label, position)
    for group in groups:
        operands = tuple([node.operands[k] for k in group])
        terms = [node.subscripts[k] for k in group]
        labels = [label for term in terms for label in term]
        is_whole = len(terms) == 1 and len({*labels}.intersection(positions)) == len(labels)
        outer = labels if is_whole else [label for label in positions if label in labels]
        part = operands[0] if is_whole else contract(operands, terms, outer, lengths)
        if part is node:
            return None
        parts.append((part, tuple([positions[label] for label in outer])))
    return Mul(*[slot(k) for k in range(len(parts))]), tuple(parts)
