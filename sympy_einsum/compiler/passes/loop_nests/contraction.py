"""Array contraction: an array of which only one row at a time is needed is stored as that row."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from ...ir.code import Code, nodes, rewritten, subscript
from ...ir.loops import Allocate, variable_name

_OUTERMOST = variable_name(0)


def with_rows(items: Sequence[list[ast.stmt]], results: Sequence[Code]) -> list[list[ast.stmt]]:
    """Return the statements of the items on the top level. Where everything that is done with an
    array stands in one outermost loop, and always in its row of that number, the array is that row:
    it stays in the cache."""
    uses = [Counter[str]() for _ in items]
    rows = [Counter[str]() for _ in items]
    used_by: defaultdict[str, set[int]] = defaultdict(set)
    for number, item in enumerate(items):
        for node in nodes(ast.Module(item, [])):
            if isinstance(node, ast.Name):
                uses[number][node.id] += 1
                used_by[node.id].add(number)
            elif _is_in_row(node):
                rows[number][node.value.id] += 1
    returned = {node.id for code in results for node in nodes(code) if isinstance(node, ast.Name)}
    found = []
    for number, item in enumerate(items):
        contracted = {
            own.array
            for own in item
            if isinstance(own, Allocate)
            and len(own.shape) > 1
            and own.array not in returned
            and used_by[own.array] == {number}
            and uses[number][own.array] == 1 + rows[number][own.array]
        }
        found.append(rewritten(item, _Contraction(contracted)) if contracted else item)
    return found


def _is_in_row(node: Any) -> bool:
    """Tell whether a tree is an entry of an array, in its row of the number of the outermost loop's
    iteration."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return False
    return isinstance(node.slice, ast.Tuple) and node.slice.elts[0] is _OUTERMOST


class _Contraction:
    """Removes the first axis of some arrays."""

    def __init__(self, arrays: set[str]):
        self.arrays = arrays

    def __call__(self, node: Any) -> Any:
        if isinstance(node, Allocate) and node.array in self.arrays:
            return Allocate(node.array, node.shape[1:], node.kind)
        if _is_in_row(node) and node.value.id in self.arrays:
            return subscript(node.value, node.slice.elts[1:])
        return None
