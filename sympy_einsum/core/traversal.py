"""Iterative traversal and rebuilding of expression graphs, each node once.

A graph mixes our nodes, which have ``operands`` (their ``args`` are only the leaves, see
expressions/base.py), with stock SymPy scalars, which have ``args``; ``children`` covers both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sympy import Basic


def children(node: Basic) -> tuple[Basic, ...]:
    """Return the operands of a tensor expression, or the args of a stock expression."""
    operands = getattr(node, "operands", None)
    return node.args if operands is None else operands


def postorder(
    roots: Iterable[Basic], children: Callable[[Basic], Sequence[Basic]] | None = None
) -> list[Basic]:
    """Return all nodes reachable from the roots, each once, operands before their users.

    >>> from sympy.abc import x
    >>> from sympy import sin
    >>> postorder([sin(x) + sin(x)**2])[:2]
    [x, sin(x)]
    """
    order: list[Basic] = []
    seen: set[Basic] = set()
    stack: list[Basic | None] = list(roots)[::-1]
    while stack:
        node = stack.pop()
        if node is None:  # all nodes below have been visited
            order.append(stack.pop())
            continue
        if node in seen:
            continue
        seen.add(node)
        if children is not None:
            below = children(node)
        else:  # inlined: every pass traverses
            operands = getattr(node, "operands", None)
            below = node.args if operands is None else operands
        if below:
            stack += (node, None)
            stack += below[::-1]
        else:
            order.append(node)
    return order


def has_more_nodes(roots: Iterable[Basic], count: int) -> bool:
    """Tell whether a graph has more than ``count`` nodes, without walking over all of a large one.

    >>> from sympy.abc import x
    >>> from sympy import sin
    >>> has_more_nodes([sin(x) + x], 3), has_more_nodes([sin(x) + x], 2)
    (False, True)
    """
    seen: set[Basic] = set()
    stack = list(roots)
    while stack and len(seen) <= count:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += children(node)
    return len(seen) > count


def transform(
    roots: Sequence[Basic],
    visit: Callable[[Basic, tuple[Basic, ...]], Basic],
    children: Callable[[Basic], Sequence[Basic]] = children,
) -> list[Basic]:
    """Rewrite bottom-up: ``visit(node, new_children)`` returns the replacement of each node, and is
    called once for each."""
    rewritten: dict[Basic, Basic] = {}
    for node in postorder(roots, children):
        rewritten[node] = visit(node, tuple([rewritten[child] for child in children(node)]))
    return [rewritten[root] for root in roots]
