"""Find the steps of chains: nodes of equal signatures at equal distances on long paths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from sympy import Basic

from ...core import tuning
from .graphs import SignedGraph


def long_paths(graph: SignedGraph) -> list[list[Basic]]:
    """Return disjoint paths from nodes to their deepest operands, from the longest on, each from
    the bottom to the top."""
    found: list[list[Basic]] = []
    seen: set[Basic] = set()
    least = tuning.MIN_REROLLED_STEPS
    depths = graph.depths
    for top in sorted(depths, key=depths.__getitem__, reverse=True):
        if depths[top] < least:
            break
        path: list[Basic] = []
        node: Basic | None = top
        while node is not None and node not in seen:
            seen.add(node)
            path.append(node)
            node = max(graph.below(node), key=graph.rank, default=None)
        if len(path) > least:
            found.append(path[::-1])
    return found


def runs(graph: SignedGraph, path: Sequence[Basic]) -> Iterator[tuple[Sequence[Basic], Basic]]:
    """Yield the nodes of a path in the last step of what may be a chain, from the top to the
    bottom, and the node of the step before that corresponds to the first. What others may consist
    of or depend on comes first: lower ones, and shorter steps."""
    signed = [graph.levels[-1][node] for node in path]
    found: list[tuple[int, int]] = []
    for period in _periods(signed):
        start = None
        for k in range(len(signed) - period + 1):
            if k < len(signed) - period and signed[k] == signed[k + period]:
                start = k if start is None else start
            elif start is not None:
                if k - start >= (tuning.MIN_REROLLED_STEPS - 2) * period:
                    found.append((k + period, period))
                start = None
    for end, period in sorted(found):
        yield path[end - period : end][::-1], path[end - period - 1]


def _periods(signed: Sequence[int]) -> list[int]:
    """Return the most frequent distances between equal signatures, in increasing order."""
    last: dict[int, int] = {}
    distances: Counter[int] = Counter()
    for k, own in enumerate(signed):
        if own in last:
            distances[k - last[own]] += 1
        last[own] = k
    least = tuning.MIN_REROLLED_STEPS - 2
    return sorted(p for p, n in distances.most_common(tuning.MAX_TRIED_PERIODS) if n >= least)
