"""Entries of tensors as scalar expressions of the entries below: sums, entrywise products and
functions are written out down to nodes of other kinds, so that a symbol that occurs in several of
them is one symbol."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from sympy import Add, Basic, Dummy, Expr, Mul, S

from ..core import tuning
from ..expressions import (
    Einsum,
    Elementwise,
    Operand,
    TensorAdd,
    TensorExpr,
    View,
    is_variable,
    order_of,
    slot,
    split_body,
)

Labels = tuple[int, ...]


class Leaf(NamedTuple):
    """An entry of a node: the node, and the labels of its axes."""

    node: Operand
    labels: Labels


class EntryBodies:
    """Write entries as scalar expressions, in which a symbol stands for the entry of each leaf;
    ``kept`` nodes are leaves."""

    def __init__(self, kept: Container[Operand] = ()) -> None:
        self._kept = kept
        self.leaves: dict[Basic, Leaf] = {}
        self._symbols: dict[Leaf, Dummy] = {}
        self._found: dict[Leaf, Expr] = {}

    def leaf(self, node: Operand, labels: Labels) -> Expr:
        """Return the symbol of an entry that isn't written out."""
        own = Leaf(node, labels)
        if own not in self._symbols:
            self._symbols[own] = Dummy("entry", real=True)
            self.leaves[self._symbols[own]] = own
        return self._symbols[own]

    def entry(self, node: Operand, labels: Labels, depth: int = 0) -> Expr:
        """Return the entry of a node at some labels."""
        own = Leaf(node, labels)
        if own not in self._found:
            is_inner = node not in self._kept and depth < tuning.MAX_ENTRY_DEPTH
            expr = self._written(node, labels, depth) if is_inner else None
            if expr is None or expr.count_ops() > tuning.MAX_ENTRY_OPS:
                expr = self.leaf(node, labels)
            self._found[own] = expr
        return self._found[own]

    def written(self, node: Operand) -> Expr:
        """Return the entry of a node, at labels of its own."""
        return self.entry(node, tuple(range(order_of(node))))

    def _written(self, node: Operand, labels: Labels, depth: int) -> Expr | None:
        if not isinstance(node, TensorExpr):
            if is_variable(node):
                return None
            body, operands = split_body(node) if node.args else (node, [])
            return self._with_entries(body, operands, (), depth)
        if isinstance(node, Elementwise):
            return self._with_entries(node.body, node.operands, labels, depth)
        if isinstance(node, TensorAdd):
            return Add(*[self.entry(term, labels, depth + 1) for term in node.operands])
        if isinstance(node, Einsum):
            return self._factors(node, labels, depth)
        return None

    def _with_entries(
        self, body: Expr, operands: Sequence[Operand], labels: Labels, depth: int
    ) -> Expr:
        return body.xreplace(
            {
                slot(k): self.entry(o, labels if order_of(o) else (), depth + 1)
                for k, o in enumerate(operands)
            }
        )

    def _factors(self, node: Einsum, labels: Labels, depth: int) -> Expr | None:
        """Return the product of the entries of the operands; None if there is a sum, a diagonal, or
        an axis that selects."""
        if len({*node.output}) < len(node.output):
            return None
        at = dict(zip(node.output, labels, strict=True))
        if any(label not in at for term in node.subscripts for label in term):
            return None
        if any(isinstance(o, TensorExpr) and o.is_affine_selector for o in node.operands):
            return None
        if not isinstance(node, View) and not node.operands:
            return None
        pairs = zip(node.operands, node.subscripts, strict=True)
        factors = [self.entry(o, tuple([at[i] for i in term]), depth + 1) for o, term in pairs]
        return Mul(*factors) if factors else S.One
