"""Name the common parts of long expressions: ``where h_1 = tanh(W_1 x)``.

An expression is a graph, a formula a tree, and unrolling a shared graph may grow exponentially. So
beyond ``tuning.MAX_UNNAMED_PARTS`` parts, nodes that are used more than once, long or deep get a
name. The text is then linear in the graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias
from weakref import WeakKeyDictionary

from sympy import Basic, Expr, MatrixBase, NDimArray, Symbol, preorder_traversal

from ..core import cached, children, postorder, transform, tuning
from ..expressions import (
    Elementwise,
    LeviCivita,
    Operand,
    Positions,
    Reshape,
    Slot,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    Triangle,
    Unknown,
    View,
    outermost,
)

# Sums written as an earlier sum plus the other terms.
Sums: TypeAlias = dict[TensorExpr, tuple[Operand, ...]]

# Size and depth of the text of an expression without names.
_extents: WeakKeyDictionary[TensorExpr, tuple[int, int]] = WeakKeyDictionary()


@cached(4096)
def _occurrences(body: Expr) -> tuple[Counter[int], int]:
    """Count the occurrences of each slot in the text of a body, and the other parts."""
    if body.is_Pow and body.exp == 2:
        # The sum of squares of x is written xᵀ x.
        found, rest = _occurrences(body.base)
        return found + found, rest
    parts = list(preorder_traversal(body))
    found = Counter(part.place for part in parts if isinstance(part, Slot))
    return found, len(parts) - found.total()


def partial_sums(order: Sequence[Basic]) -> Sums:
    """Write sums that contain all terms of an earlier sum as that sum plus the other terms: sums
    are flattened, so layer k of a residual network is the sum of all layers below."""
    last: dict[Operand, TensorAdd] = {}
    found: Sums = {}
    for node in order:
        if not isinstance(node, TensorAdd):
            continue
        terms = set(node.operands)
        earlier = dict.fromkeys([last[term] for term in node.operands if term in last])
        largest = sorted(earlier, key=lambda sum_: -len(sum_.operands))[: tuning.MAX_COMPARED_SUMS]
        part = next((sum_ for sum_ in largest if terms.issuperset(sum_.operands)), None)
        if part is not None:
            rest = terms.difference(part.operands)
            found[node] = (part, *[term for term in node.operands if term in rest])
        last.update(dict.fromkeys(node.operands, node))
    return found


def _text_children(node: Basic, sums: Sums | None = None) -> list[tuple[Basic, int]]:
    """Return the children of a node with the number of their occurrences in its text."""
    if sums and node in sums:
        return [(term, 1) for term in sums[node]]
    if isinstance(node, Elementwise):
        counts = _occurrences(node.body)[0]
        return [(operand, counts[k]) for k, operand in enumerate(node.operands)]
    return [(child, 1) for child in children(node)]


def is_long_text(root: Basic) -> bool:
    """Tell whether the text of an expression without names is too long to read."""
    parts, levels = text_extent(root)
    return parts > tuning.MAX_UNNAMED_PARTS or levels > tuning.MAX_UNNAMED_LEVELS


def text_extent(root: Basic) -> tuple[int, int]:
    """Return the size and the depth of the text of an expression without names; beyond
    ``tuning.MAX_UNNAMED_PARTS`` the size isn't counted."""
    extents: dict[Basic, tuple[int, int]] = {}

    def below(node: Basic) -> Sequence[Basic]:
        return () if isinstance(node, TensorExpr) and node in _extents else children(node)

    for node in postorder([root], below):
        known = _extents.get(node) if isinstance(node, TensorExpr) else None
        if known is None:
            own = _occurrences(node.body)[1] if isinstance(node, Elementwise) else 1
            parts = sum([extents[child][0] * times for child, times in _text_children(node)])
            levels = max([extents[child][1] for child in children(node)], default=0)
            known = min(own + parts, tuning.MAX_UNNAMED_PARTS + 1), levels + 1
            if isinstance(node, TensorExpr):
                _extents[node] = known
        extents[node] = known
    return extents[root]


def is_nameable(node: Basic) -> bool:
    """Tell whether a node may get a name; for a rearranged tensor the tensor itself does."""
    if isinstance(node, TensorExpr):
        return bool(node.operands) and not (isinstance(node, View) and node.core is not None)
    return bool(node.args and outermost(node))


def repeated_nodes(order: Sequence[Basic], known: Container[Basic], sums: Sums) -> set[Basic]:
    """List the nodes that are used more than once, leaves first; known nodes are leaves."""
    uses: Counter[Basic] = Counter()
    for node in reversed(order):
        passes_on = isinstance(node, TensorExpr) and not is_nameable(node)
        for child, times in () if node in known else _text_children(node, sums):
            uses[child] += times * (uses[node] if passes_on else 1)
    size: dict[Basic, int] = {}
    found = set()
    for node in order:
        below = () if node in known else _text_children(node, sums)
        size[node] = 1 + sum([size[child] * times for child, times in below])
        if uses[node] > 1 and size[node] > tuning.SMALL_PART and is_nameable(node):
            found.add(node)
            size[node] = 1
    return found


class Abbreviation:
    """Decide from the leaves up which nodes of a long expression get names; ``known`` nodes are
    leaves, ``joined`` sums are written as other tensors."""

    def __init__(
        self,
        root: Basic,
        order: Sequence[Basic],
        known: Container[Basic] = (),
        joined: Mapping[TensorExpr, tuple[Operand, ...]] = MappingProxyType({}),
    ):
        self.root = root
        # Sums written as an earlier sum plus the other terms.
        self.sums = partial_sums([node for node in order if node not in joined])
        self.repeated = repeated_nodes(order, known, {**self.sums, **joined})

    def names(self, node: Basic, is_big: bool) -> bool:
        """Tell whether a node gets a name: it is shared or big."""
        return node is not self.root and (node in self.repeated or is_big) and is_nameable(node)


def with_names(expr: Basic, rule: Mapping[Basic, Basic]) -> Basic:
    """Replace parts of a stock expression."""

    def visit(node: Basic, new: tuple[Basic, ...]) -> Basic:
        if node in rule:
            return rule[node]
        return node.func(*new) if new and new != node.args else node

    def below(node: Basic) -> Sequence[Basic]:
        return () if node in rule or isinstance(node, TensorExpr) else node.args

    return transform([expr], visit, below)[0]


def names(taken: set[str], stem: str = "h") -> Iterator[str]:
    """Yield names h_1, h_2, … that aren't taken in any spelling, such as h1."""
    k = 0
    while True:
        k += 1
        if not taken.intersection([f"{stem}{k}", f"{stem}_{k}", f"{stem}_{{{k}}}"]):
            yield f"{stem}_{k}"


def shown_names(nodes: Sequence[Basic]) -> set[str]:
    """Return the names that the formulas of some nodes contain: tensors, symbols and positions."""
    found = {node.name for node in nodes if isinstance(node, (TensorSymbol, Symbol, Unknown))}
    if any(isinstance(node, LeviCivita) for node in nodes):
        found |= {"epsilon", "ε"}
    for node in nodes:
        if isinstance(node, (Positions, Triangle)):
            found |= {s.name for s in node._own_symbols()}
    return found | length_names([node for node in nodes if isinstance(node, Reshape)])


def names_of_leaves(expr: object) -> set[str]:
    """Return the names in an expression or a container of expressions."""
    if isinstance(expr, Basic):
        return shown_names(postorder([expr], children))
    if isinstance(expr, dict):
        return names_of_leaves([*expr, *expr.values()])
    if isinstance(expr, (list, tuple, set, frozenset, MatrixBase, NDimArray)):
        return {name for part in expr for name in names_of_leaves(part)}
    return set()


def length_names(nodes: Sequence[Basic]) -> set[str]:
    """Return the names in the lengths of axes."""
    lengths = {n for node in nodes if isinstance(node, TensorExpr) for n in node.shape}
    return {s.name for length in lengths for s in length.free_symbols}
