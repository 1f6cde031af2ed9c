"""Walking and rebuilding expression graphs: iterative, each node once. Written once, used by all.

A graph mixes our nodes with stock SymPy scalars. ``children`` is the only place that knows how to
descend: our nodes have ``operands`` (their ``args`` show stock code the leaves only, see
expressions/base.py), stock expressions have ``args``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sympy import Basic


def children(node: Basic) -> tuple[Basic, ...]:
    """Return the nodes directly below: operands of a tensor expression, args of a stock one."""
    operands = getattr(node, "operands", None)
    return node.args if operands is None else operands


def postorder(
    roots: Iterable[Basic], children: Callable[[Basic], Sequence[Basic]] | None = None
) -> list[Basic]:
    """All nodes reachable from the roots, each once, operands before the nodes that use them.

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
        if node is None:  # what stands below has been visited since
            order.append(stack.pop())
            continue
        if node in seen:
            continue
        seen.add(node)
        if children is not None:
            below = children(node)
        else:  # every pass walks: no call for each node
            operands = getattr(node, "operands", None)
            below = node.args if operands is None else operands
        if below:
            stack += (node, None)
            stack += below[::-1]
        else:
            order.append(node)
    return order


def transform(
    roots: Sequence[Basic],
    visit: Callable[[Basic, tuple[Basic, ...]], Basic],
    children: Callable[[Basic], Sequence[Basic]] = children,
) -> list[Basic]:
    """Bottom-up rewriting: ``visit(node, new_children)`` returns the replacement of each node,
    once."""
    rewritten: dict[Basic, Basic] = {}
    for node in postorder(roots, children):
        rewritten[node] = visit(node, tuple([rewritten[child] for child in children(node)]))
    return [rewritten[root] for root in roots]
