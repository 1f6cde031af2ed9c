"""SymPy's patterns with ``Wild`` on tensor expressions.

What is computed entry by entry is written as one of SymPy's scalars, in which slots stand for all
else, and there SymPy matches and replaces. So a ``Wild`` is a number or a tensor, whichever fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Add, Basic, Expr, Mul, S, Wild

from .. import operations as ops
from ..core import UnsupportedError, children, postorder
from ..expressions import (
    Einsum,
    Elementwise,
    Node,
    Operand,
    Operands,
    TensorAdd,
    as_basic,
    is_tensor,
    rebuild,
    shape_of,
    slot,
)


def is_pattern(query: object) -> bool:
    """Tell whether a query has a ``Wild`` in it."""
    return isinstance(query, Basic) and bool(query.atoms(Wild))


def wild_values(expr: Operand, pattern: Basic, old: bool = False) -> dict[Basic, Basic] | None:
    """Return values of the wild symbols for which a pattern is the expression; None without
    any."""
    entrywise = _Entrywise()
    scalar, own = entrywise.written(expr), entrywise.written(pattern, is_pattern=True)
    found = scalar.match(own, old=old)
    if found is None:
        return None
    return {entrywise.wild[w]: entrywise.read(value) for w, value in found.items()}


def with_patterns_replaced(
    root: Operand, pattern: Basic, value: Any, found: dict[Basic, Basic], exact: bool | None
) -> Operand:
    """Replace what matches a pattern by an expression in its wild symbols, or by what a function
    of these, by their names, returns."""

    def replaced_in_body(body: Operand) -> Operand:
        return with_patterns_replaced(body, pattern, value, found, exact)

    new: dict[Basic, Operand] = {}
    nodes = postorder([root])
    inner = [*filter(_is_opaque, nodes)]
    ends = {root, *[operand for node in inner for operand in children(node)]}
    for node in nodes:
        if node in inner:
            new[node] = rebuild(node, tuple([new[operand] for operand in children(node)]))
            new[node] = new[node]._map_body(replaced_in_body)
        if node in ends:
            new[node] = _replaced_entrywise(node, new, pattern, value, found, exact)
    return new[root]


def _replaced_entrywise(
    expr: Operand,
    new: dict[Basic, Operand],
    pattern: Basic,
    value: Any,
    found: dict[Basic, Basic],
    exact: bool | None,
) -> Operand:
    entrywise = _Entrywise(new)
    scalar, own = entrywise.written(expr), entrywise.written(pattern, is_pattern=True)

    def called(**values: Expr) -> Expr:
        meant = {name: entrywise.read(own) for name, own in values.items()}
        return entrywise.written(as_basic(value(**meant)))

    target = called if callable(value) else entrywise.written(as_basic(value), is_pattern=True)
    result, pairs = scalar.replace(own, target, map=True, exact=exact)
    found.update({entrywise.read(old): entrywise.read(to) for old, to in pairs.items()})
    if not pairs:
        return new.get(expr, expr) if _is_opaque(expr) else entrywise.read(scalar)
    result = entrywise.read(result)
    shape = shape_of(expr)
    return ops.broadcast_to(result, shape) if shape and not is_tensor(result) else result


class _Entrywise:
    """Expressions as SymPy's scalars, whose slots stand for what isn't computed entry by entry."""

    def __init__(self, new: dict[Basic, Operand] | None = None):
        self._new = new or {}
        self._slots: dict[Basic, Expr] = {}
        self._wild: dict[Basic, Wild] = {}

    @property
    def wild(self) -> dict[Basic, Basic]:
        """The wild symbols by those that SymPy gets to see."""
        return {own: symbol for symbol, own in self._wild.items()}

    def written(self, root: Operand, is_pattern: bool = False) -> Any:
        """Write an expression as a scalar."""
        known: dict[Basic, Any] = {}
        for node in postorder([root], lambda n: () if _is_opaque(n) else children(n)):
            if isinstance(node, Wild):
                known[node] = self._seen(node)
            elif _is_opaque(node):
                if is_pattern and node.atoms(Wild):
                    raise UnsupportedError(
                        f"patterns with Wild are matched entry by entry, and not inside of "
                        f"{node!s:.80}; find or replace what a function of your own recognises"
                    )
                known[node] = self._slots.setdefault(node, slot(len(self._slots)))
            else:
                below = [known[own] for own in children(node)]
                body = node.body if isinstance(node, Elementwise) else S.Zero
                wild: dict[Basic, Any] = {w: self._seen(w) for w in body.atoms(Wild)}
                known[node] = _scalar(node, below, wild)
        return known[root]

    def read(self, scalar: Expr) -> Operand:
        """Return the expression that a scalar is written for."""
        values = {own: self._new.get(node, node) for node, own in self._slots.items()}
        return scalar.xreplace({**values, **self.wild})

    def _seen(self, symbol: Wild) -> Wild:
        """Return a wild symbol with conditions on the expressions that are meant."""
        if symbol not in self._wild:

            def fits(value: Expr) -> bool:
                meant = self.read(value)
                return not meant.has(*symbol.exclude) and all(
                    own(meant) for own in symbol.properties
                )

            self._wild[symbol] = Wild(symbol.name, properties=[fits])
        return self._wild[symbol]


def _is_opaque(node: Basic) -> bool:
    """Tell whether a node isn't computed entry by entry from its operands."""
    if isinstance(node, Einsum):
        kept = [labels for labels in node.subscripts if labels]
        is_whole = all(labels == node.output for labels in kept)
        return not is_whole or len({*node.output}) < len(node.output)
    return isinstance(node, Node) and not isinstance(node, (TensorAdd, Elementwise))


def _scalar(node: Basic, below: Sequence[Any], wild: dict[Basic, Any]) -> Any:
    """Write a node as a scalar of those of its operands, with other wild symbols."""
    if isinstance(node, TensorAdd):
        return Add(*below)
    if isinstance(node, Einsum):
        return Mul(*below)
    if isinstance(node, Elementwise):
        return node.body.xreplace({slot(k): own for k, own in enumerate(below)} | wild)
    operands: Operands = tuple(below)
    return rebuild(node, operands) if operands else node
