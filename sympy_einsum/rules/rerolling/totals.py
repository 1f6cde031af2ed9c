"""Sums of terms that differ by positions only, as sums over steps: contractions, or sums of
batches."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from sympy import Add, Basic, Expr, Integer

from ...contraction_order import nominal_size
from ...core import children, digest, tuning
from ...expressions import (
    BoundTensor,
    Einsum,
    Operand,
    Positions,
    TensorAdd,
    View,
    contract,
    depending,
    is_slice,
    order_of,
    over_batch,
    rebuild,
    shape_of,
    total_of,
)
from .graphs import SignedGraph, Slot, are_alike

# How far the selectors in operands are from those of another term; None for other operands that
# differ. An operand may be the same here and another one elsewhere.
Offsets: TypeAlias = Mapping[Slot, int | None]


def with_equal_terms(graph: SignedGraph) -> dict[Basic, Operand]:
    """Return the sums of a graph that have many equal terms, with sums over steps for these."""
    least = tuning.MIN_REROLLED_STEPS
    # Totals that contain others are running ones.
    totals = [
        node
        for node in graph.order
        if isinstance(node, (TensorAdd, Add))
        and len(children(node)) >= least
        and node not in graph.parts
    ]
    if not totals:
        return {}
    signed = _signed(graph)
    found: dict[Basic, Operand] = {}
    for total in totals:
        groups: dict[int, list[Operand]] = {}
        for term in children(total):
            groups.setdefault(signed[term], []).append(term)
        runs = [own for terms in groups.values() for own in _runs(graph, terms)]
        sums = [(own.terms, value) for own in runs if (value := own.total()) is not None]
        if sums:
            gone = {term for terms, _ in sums for term in terms}
            left = [term for term in children(total) if term not in gone]
            found[total] = total_of([*left, *[value for _, value in sums]])
    return found


def _signed(graph: SignedGraph) -> dict[Basic, int]:
    """Return signatures that are equal for terms which differ by positions only."""
    found: dict[Basic, int] = {}
    for node in graph.order:
        own = digest(node) if node.is_Number else graph.levels[0][node]
        found[node] = hash((own, *sorted([found[part] for part in graph.below(node)])))
    return found


def _runs(graph: SignedGraph, terms: Sequence[Operand]) -> Iterator[_Run]:
    """Yield terms whose positions advance by the same from one to the next."""
    if len(terms) < tuning.MIN_REROLLED_STEPS:
        return
    pattern = min(terms, key=graph.place)
    offsets = {term: _offsets(graph, pattern, term) for term in terms}
    alike = {term: own for term, own in offsets.items() if own is not None}
    varying = [*dict.fromkeys([slot for own in alike.values() for slot in own])]
    slots = [own for own in varying if isinstance(graph.below(own[0])[own[1]], Positions)]
    rows = {term: [own.get(slot) or 0 for slot in slots] for term, own in alike.items()}
    order = sorted(rows, key=rows.__getitem__)
    steps = [
        [after - before for before, after in zip(rows[one], rows[other], strict=True)]
        for one, other in pairwise(order)
    ]
    start = 0
    while start < len(steps):
        end = start + 1
        while end < len(steps) and steps[end] == steps[start]:
            end += 1
        if end - start + 1 >= tuning.MIN_REROLLED_STEPS:
            yield _Run(
                graph,
                pattern,
                order[start : end + 1],
                {*varying},
                dict(zip(slots, rows[order[start]], strict=True)),
                dict(zip(slots, steps[start], strict=True)),
            )
            end += 1
        start = end


def _offsets(graph: SignedGraph, pattern: Operand, term: Operand) -> Offsets | None:
    """Return how far the selectors in a term are from those of another one; None if anything else
    differs."""
    found: dict[Slot, int | None] = {}
    paired: dict[Basic, Basic] = {}
    pending = [(pattern, term)] if term is not pattern else []
    while pending:
        own, other = pending.pop()
        if own in paired:
            if paired[own] is not other:
                return None
            continue
        paired[own] = other
        pairing = graph.pairing(own, other)
        if pairing is None:
            return None
        others = graph.below(other)
        for k, part in enumerate(graph.below(own)):
            counterpart = others[pairing[k]]
            if part is counterpart or (part.is_Number and part == counterpart):
                continue
            found[own, k] = None
            if not are_alike(part, counterpart):
                pending.append((part, counterpart))
                continue
            offset = counterpart.start - part.start
            if not offset.is_Integer:
                return None
            found[own, k] = int(offset)
    return found


class _Run(NamedTuple):
    """Terms of a sum, the operands of nodes in which they differ, the offsets of the first one's
    positions from those of a pattern, and those from one to the next."""

    graph: SignedGraph
    pattern: Operand
    terms: Sequence[Operand]
    varying: Collection[Slot]
    first: Mapping[Slot, int]
    steps: Mapping[Slot, int]

    def total(self) -> Operand | None:
        """Return the sum of the terms as one over steps; None where that takes much memory."""
        entries: dict[Basic, Operand] = {}
        symbols: dict[tuple[Basic, int, int], BoundTensor] = {}
        selected: dict[Slot, Basic] = {}
        count = Integer(len(self.terms))
        for (node, k), offset in self.first.items():
            selector = self.graph.below(node)[k]
            length, start, steps, counts = selector.data
            step = self.steps[node, k]
            if not step:
                data = (length, start + offset, steps, counts)
                selected[node, k] = Positions._build((), data)
                continue
            key = selector, offset, step
            if key not in symbols:
                symbols[key] = BoundTensor("selector", len(symbols), -1, shape_of(selector))
                data = (length, start + offset, (Integer(step), *steps), (count, *counts))
                entries[symbols[key]] = Positions._build((), data)
            selected[node, k] = symbols[key]
        new: dict[Basic, Operand] = {}
        read = 0
        for node in self.graph.walk([self.pattern]):
            below = self.graph.below(node)
            own = [
                selected.get((node, k), new[part]) if (node, k) in self.varying else part
                for k, part in enumerate(below)
            ]
            new[node] = self.graph.rebuilt(node, own)
            if any((node, k) in selected for k in range(len(below))) and is_slice(node):
                read += nominal_size(shape_of(node))
        term = new[self.pattern]
        varying = {*depending([term], entries)}
        core = term.operands[-1] if isinstance(term, View) and term.operands else term
        parts = {*varying} - {*entries, term, core}
        if any(nominal_size(shape_of(n)) > tuning.MAX_HOISTED_ENTRIES * read for n in parts):
            return None
        return _summed(term, entries, varying, count)


def _summed(
    term: Operand, entries: Mapping[Basic, Operand], varying: set[Basic], count: Expr
) -> Operand | None:
    """Return the sum of a term over all steps."""
    if term not in varying:
        return None
    is_view = isinstance(term, View) and isinstance(term.core, Einsum)
    if is_view and varying.isdisjoint(term.scalars):
        core = _summed(term.core, entries, varying, count)
        return None if core is None else rebuild(term, (*term.scalars, core))
    operands: Sequence[Operand] = (term,)
    terms: Sequence[Sequence[int]] = (range(order_of(term)),)
    output: Sequence[int] = terms[0]
    lengths = dict(enumerate(shape_of(term)))
    if isinstance(term, Einsum):
        operands, terms, output = term.operands, term.subscripts, term.output
        lengths = dict(enumerate(term.lengths))
    label = len(lengths)
    batches: list[Operand] = []
    for operand in operands:
        value = over_batch(operand, entries, count) if operand in varying else operand
        if value is None:
            return None
        batches.append(value)
    labels = [
        (label, *own) if operand in varying else own
        for operand, own in zip(operands, terms, strict=True)
    ]
    return contract(batches, labels, output, {**lengths, label: count})
