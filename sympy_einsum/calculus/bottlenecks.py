"""Cross-country derivatives: where all ways from a function to a variable go through nodes that are
smaller than both, the derivative is the product of those from one such node to the next, each found
from its smaller end; if that is cheaper than one sweep.

References
==========

[LMG20] S. Laue, M. Mitterreiter, J. Giesen, "A Simple and Efficient Tensor Calculus", AAAI 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import TypeAlias

from sympy import Expr, Mul, S

from ..expressions import Delta, Operand, contract, shape_of
from ..rules import Step, cost
from .sweeps import Graph, pullback, pushforward

# A node, one below it, and whether the derivative is found in reverse mode.
Part: TypeAlias = tuple[Operand, Operand, bool]


def across(y: Operand, variable: Operand, steps: list[Step] | None = None) -> Operand:
    """The derivative of y by a variable, of shape y.shape + variable.shape: the cheapest of that in
    reverse mode, that in forward mode and the product over bottlenecks."""
    stops, size = _stops(y, variable)
    ways = [[(y, variable, is_reverse)] for is_reverse in (True, False)]
    if len(stops) > 2:
        ways.append([(a, b, bool(size(a) <= size(b))) for a, b in pairwise(stops)])
    found = []
    for way in ways:
        taken: list[Step] = []
        found.append((_along(y, way, taken), taken))
    result, taken = min(found, key=lambda pair: cost([pair[0]]))
    if steps is not None:
        steps.extend(taken)
    return result


def _along(y: Operand, way: Sequence[Part], steps: list[Step]) -> Operand:
    """The product of derivatives from one node to the next, each in one of the modes."""
    result = None
    for top, bottom, is_reverse in way:
        if is_reverse:
            shape = shape_of(top)
            (part,) = pullback([top], [bottom], [identity(shape)], shape, steps)
        else:
            shape = shape_of(bottom)
            part = pushforward(top, [bottom], [identity(shape)], shape, steps)
        result = part if result is None else _product(y, result, top, part, bottom)
    assert result is not None
    return result


def _stops(y: Operand, variable: Operand) -> tuple[list[Operand], Callable[[Operand], Expr | int]]:
    """The function, the smallest nodes that all ways to the variable go through, the variable; and
    how nodes are measured."""
    graph = Graph([y], [variable])
    nodes = [node for node in graph.order if node in graph.active]
    place = {node: k for k, node in enumerate(nodes)}
    # No way passes by a node which no edge passes, in an order of all nodes that are on some way.
    opened = [0] * (len(nodes) + 1)
    for node in nodes:
        for operand in graph.below(node):
            if operand in place and place[operand] + 1 < place[node]:
                opened[place[operand] + 1] += 1
                opened[place[node]] -= 1
    passing = accumulate(opened)
    through = [node for node, count in zip(nodes, passing, strict=False) if not count]
    inner = [node for node in through if node not in (y, variable)]
    known = all(n.is_number for node in (y, variable, *inner) for n in shape_of(node))
    size = _entries if known else _order
    least = min(map(size, inner), default=S.Zero)
    if least < min(size(y), size(variable)):
        return [y, *(node for node in inner[::-1] if size(node) == least), variable], size
    return [y, variable], size


def _entries(node: Operand) -> Expr:
    return Mul(*shape_of(node))


def _order(node: Operand) -> int:
    return len(shape_of(node))


def _product(y: Operand, left: Operand, middle: Operand, right: Operand, end: Operand) -> Operand:
    """What the derivatives of y by a node, and of this by another, make."""
    shapes = [shape_of(node) for node in (y, middle, end)]
    lengths = dict(enumerate([length for shape in shapes for length in shape]))
    first, second = len(shapes[0]), len(shapes[0]) + len(shapes[1])
    labels = list(lengths)
    return contract(
        (left, right),
        (labels[:second], labels[first:]),
        [*labels[:first], *labels[second:]],
        lengths,
    )


def identity(shape: Sequence[Expr]) -> Operand:
    """The derivative of what has a shape by itself."""
    return Delta(*shape) if shape else S.One
