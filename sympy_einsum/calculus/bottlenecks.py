"""Cross-country derivatives: where all ways from a function to its variables go through nodes that
are smaller than both, the derivative is the product of those from one such node to the next, each
found from its smaller end; if that is cheaper than one sweep.

References
==========

[LMG20] S. Laue, M. Mitterreiter, J. Giesen, "A Simple and Efficient Tensor Calculus", AAAI 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import prod
from typing import NamedTuple, TypeAlias

from sympy import Expr, S

from ..analysis import cost
from ..contraction_order import nominal_length
from ..expressions import Delta, Operand, contract, shape_of
from ..rules import Step
from .sweeps import Graph, pullback, pushforward


class Part(NamedTuple):
    """A node, some below it, and whether the derivatives are found in reverse mode."""

    top: Operand
    bottom: tuple[Operand, ...]
    is_reverse: bool


Way: TypeAlias = list[Part]


def through_bottlenecks(y: Operand, variable: Operand, steps: list[Step] | None = None) -> Operand:
    """Compute the derivative of y by a variable, of shape y.shape + variable.shape, in the cheapest
    of reverse mode, forward mode and the product over bottlenecks."""
    wrt = (variable,)
    ways = [[Part(y, wrt, True)], [Part(y, wrt, False)]]
    way, _ = from_smaller_ends(y, wrt)
    if len(way) > 1:
        ways.append(way)
    found: list[tuple[Operand, list[Step]]] = []
    for way in ways:
        taken: list[Step] = []
        (derivative,) = chain_along_path(way, taken)
        found.append((derivative, taken))
    result, taken = min(found, key=lambda pair: cost([pair[0]]))
    if steps is not None:
        steps.extend(taken)
    return result


def chain_along_path(way: Way, steps: list[Step] | None) -> list[Operand]:
    """Chain the derivatives of the parts of a way to those by the variables at its end."""
    y = way[0].top
    results: list[Operand] = []
    for top, bottom, is_reverse in way:
        if is_reverse:
            shape = shape_of(top)
            parts = pullback([top], bottom, [identity(shape)], shape, steps)
        else:
            shapes = [shape_of(v) for v in bottom]
            pairs = zip(bottom, shapes, strict=True)
            parts = [pushforward(top, [v], [identity(s)], s, steps) for v, s in pairs]
        if top is not y:
            ends = zip(parts, bottom, strict=True)
            parts = [_chain(y, results[0], top, part, end) for part, end in ends]
        results = parts
    return results


def from_smaller_ends(y: Operand, wrt: tuple[Operand, ...]) -> tuple[Way, int]:
    """Return the way over bottlenecks, the smallest nodes on all ways from y to the variables, if
    they are smaller than both ends; and the number of nodes between y and the variables."""
    graph = Graph([y], wrt)
    nodes = [node for node in graph.order if node in graph.active]
    place = {node: k for k, node in enumerate(nodes)}
    # No way passes by a node which no edge passes, in an order of all nodes that are on some way.
    changes = [0] * (len(nodes) + 1)
    for node in nodes:
        for operand in graph.below(node):
            if operand in place and place[operand] + 1 < place[node]:
                changes[place[operand] + 1] += 1
                changes[place[node]] -= 1
    passing = accumulate(changes)
    through = [node for node, count in zip(nodes, passing, strict=False) if not count]
    # From a variable that comes later in the order no way goes down to the node.
    last = max((place[v] for v in wrt if v in place), default=-1)
    inner = [node for node in through if place[node] > last and node is not y]
    ends = _size([y]), _size(wrt)
    least = min((_size([node]) for node in inner), default=0)
    stops = [node for node in reversed(inner) if _size([node]) == least < min(ends)]
    groups = [(y,), *((node,) for node in stops), wrt]
    way = [
        Part(top, bottom, _size([top]) <= _size(bottom)) for (top, *_), bottom in pairwise(groups)
    ]
    return way, len(nodes)


def _size(nodes: Sequence[Operand]) -> int:
    """Count the entries of all nodes together."""
    return sum(prod(map(nominal_length, shape_of(node))) for node in nodes)


def _chain(y: Operand, left: Operand, middle: Operand, right: Operand, end: Operand) -> Operand:
    """Chain the derivative of y by a node with the derivative of that node by another."""
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
    """Return the derivative of a tensor of some shape by itself."""
    return Delta(*shape) if shape else S.One
