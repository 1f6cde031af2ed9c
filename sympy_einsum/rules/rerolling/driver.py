"""Reroll chains into loops, those of which others consist first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sympy import Basic

from ...core import postorder, tuning
from ...expressions import Operand
from ..partial_sums import with_partial_sums
from .chains import long_paths, runs
from .graphs import LoopValue, SignedGraph
from .steps import StepChain
from .totals import with_equal_terms


def reroll(
    exprs: Sequence[Operand], fuses: bool = False, keeps_integers: bool = True
) -> Sequence[Operand]:
    """Replace chains of equal steps by loops, and sums of terms at different positions by sums over
    steps. ``fuses`` says whether steps that compute entry by entry would be one loop over entries,
    ``keeps_integers`` whether values of steps that only add and multiply may be integers.

    >>> import sympy_einsum as se
    >>> W, X, h = se.TensorSymbol("W", 3, 3), se.TensorSymbol("X", 20, 3), se.TensorSymbol("h", 3)
    >>> for t in range(20):
    ...     h = se.tanh(W @ h + X[t])
    >>> print(reroll([h])[0])
    scan(lambda c, x: (tanh(W @ c + x), None), h, X)[0]
    """
    for _ in range(tuning.MAX_REROLLING_PASSES):
        rerolled = _rerolled_once(exprs, fuses, keeps_integers)
        if rerolled is None:
            break
        exprs = rerolled
    return exprs


def _rerolled_once(
    exprs: Sequence[Operand], fuses: bool, keeps_integers: bool
) -> list[Operand] | None:
    """Roll up sums of equal terms, or chains; None if there are none."""
    graph = SignedGraph(exprs)
    if max(graph.depths.values(), default=0) >= tuning.MIN_REROLLED_STEPS:
        nested = with_partial_sums(exprs)
        graph = graph if nested is exprs else SignedGraph(nested)
    sums = with_equal_terms(graph)
    if sums:
        return _replaced(graph, {total: LoopValue(own) for total, own in sums.items()})
    found: list[dict[Basic, LoopValue]] = []
    claimed: set[Basic] = set()
    for path in long_paths(graph):
        for step, before in runs(graph, path):
            if step[0] in claimed:
                continue
            rerolled = StepChain(graph, step, before).rerolled(claimed, fuses, keeps_integers)
            if rerolled is not None:
                found.append(rerolled[0])
                claimed.update(rerolled[1])
                graph.stored.update(rerolled[0])
    while found:
        replaced = _replaced(graph, {node: own for each in found for node, own in each.items()})
        if replaced is not None:
            return replaced
        found.pop()
    return None


def _replaced(graph: SignedGraph, results: Mapping[Basic, LoopValue]) -> list[Operand] | None:
    """Return the roots with other expressions for some nodes; None if one needs itself: a loop may
    start with what a value of another one depends on."""

    def below(node: Basic) -> Sequence[Basic]:
        return (results[node].result,) if node in results else graph.below(node)

    rewritten: dict[Basic, Basic] = {}
    for node in postorder(graph.roots, below):
        if any(own not in rewritten for own in below(node)):
            return None
        new = [rewritten[own] for own in below(node)]
        rewritten[node] = results[node].of(new[0]) if node in results else graph.rebuilt(node, new)
    return [rewritten[root] for root in graph.roots]
