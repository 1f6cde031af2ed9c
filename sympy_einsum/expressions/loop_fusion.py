"""Loops over the same steps as one loop, without results that nothing needs."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from sympy import Basic

from ..core import children, postorder
from .base import Operand
from .graphs import shape_of
from .scans import VALUES, BoundTensor, Carry, Recurrence, Scan, ScanInput, step_index
from .substitution import replace_nodes, substitute_all


def fuse_loops(exprs: Sequence[Operand], prune: bool = True) -> list[Operand]:
    """Fuse the loops in some expressions that go over the same steps and don't need each other.

    Equal carries are computed once, and results that nothing needs not at all; without ``prune``
    a loop that has nothing to be fused with stays as it is.

    >>> import sympy_einsum as se
    >>> X = se.TensorSymbol("X", 9, 3)
    >>> (a, _), (b, _) = [se.scan(lambda c, x: (se.sin(c + x), c), X[0], Y) for Y in (X, 2 * X)]
    >>> fused, = fuse_loops([a + b])
    >>> len({node.group for node in fused.operands})
    1
    """
    roots = list(exprs)
    depth = 0
    while True:
        found = _loops_by_depth(roots)
        depth += 1
        if depth not in found:
            return roots
        for scans in found[depth].values():
            if prune or len({scan.group for scan in scans}) > 1:
                roots = replace_nodes(roots, _fused(scans))


def _loops_by_depth(roots: Sequence[Operand]) -> dict[int, dict[Hashable, list[Scan]]]:
    """Return the results of loops by how many loops there are below, length and direction: those
    with as many don't depend on each other."""
    depths: dict[Basic, int] = {}
    found: dict[int, dict[Hashable, list[Scan]]] = {}
    for node in postorder(roots):
        depth = max([depths[child] for child in children(node)], default=0)
        if isinstance(node, Scan):
            depth += 1
            alike = found.setdefault(depth, {})
            key = node.length, node.reverse, node.loop.recomputes
            alike.setdefault(key, []).append(node)
        depths[node] = depth
    return found


class _Parts(NamedTuple):
    """A loop, and how its symbols are written in the fused one."""

    loop: Recurrence
    names: dict[Basic, Basic]


def _fused(scans: Sequence[Scan]) -> dict[Basic, Basic]:
    """Return what replaces results of loops over the same steps: results of one loop."""
    parts = [_Parts(loop, {}) for loop in dict.fromkeys([scan.loop for scan in scans])]
    first = scans[0].loop
    level = max([part.loop.level for part in parts])
    index = step_index(level)
    inputs: dict[Operand, ScanInput] = {}
    invariants: dict[Operand, ScanInput] = {}
    for part in parts:
        part.names[part.loop.index] = index
        groups = (
            ("input", inputs, part.loop.inputs),
            ("invariant", invariants, part.loop.invariants),
        )
        for kind, known, group in groups:
            for own in group:
                if own.stacked not in known:
                    symbol = BoundTensor(
                        *(kind, len(known), level, shape_of(own.symbol), own.symbol.assumptions)
                    )
                    known[own.stacked] = ScanInput(symbol, own.stacked)
                part.names[own.symbol] = known[own.stacked].symbol
    carries = _equal_carries(parts, level)
    values: dict[Operand, int] = {}
    wanted: dict[Scan, tuple[str, int]] = {}
    by_loop = {part.loop: part for part in parts}
    places = {carry.symbol: k for k, carry in enumerate(carries)}
    for scan in scans:
        part = by_loop[scan.loop]
        if scan.kind == VALUES:
            (value,) = substitute_all([part.loop.values[scan.place]], part.names)
            wanted[scan] = VALUES, values.setdefault(value, len(values))
        else:
            wanted[scan] = scan.kind, places[part.names[part.loop.carries[scan.place].symbol]]
    kept = {place for kind, place in wanted.values() if kind != VALUES}
    loop, renumbered = _without_dead(
        Recurrence(
            *(first.length, first.reverse, first.recomputes, index, tuple(carries)),
            *(tuple(inputs.values()), tuple(invariants.values()), tuple(values)),
        ),
        kept,
    )
    return {
        scan: loop.result(kind, place if kind == VALUES else renumbered[place])
        for scan, (kind, place) in wanted.items()
    }


def _equal_carries(parts: Sequence[_Parts], level: int) -> list[Carry]:
    """Give equal carries one name each: those that start and go on equally, as the states of an
    automaton that can't be told apart."""
    own = [(part, carry) for part in parts for carry in part.loop.carries]
    classes: list[int] = [0] * len(own)
    keys: list[Any] = [(carry.init, carry.symbol.assumptions) for _, carry in own]
    count = 0
    while True:
        known: dict[Hashable, int] = {}
        classes = [known.setdefault((c, k), len(known)) for c, k in zip(classes, keys, strict=True)]
        for (part, carry), number in zip(own, classes, strict=True):
            old = carry.symbol
            part.names[old] = BoundTensor("carry", number, level, shape_of(old), old.assumptions)
        keys = []
        for part in parts:
            keys += substitute_all([carry.new for carry in part.loop.carries], part.names)
        if len(known) == count:
            break
        count = len(known)
    found: dict[int, Carry] = {}
    for (part, carry), number, new in zip(own, classes, keys, strict=True):
        symbol: Any = part.names[carry.symbol]
        found.setdefault(number, Carry(symbol, carry.init, new))
    return [found[number] for number in range(count)]


def _without_dead(loop: Recurrence, kept: Collection[int]) -> tuple[Recurrence, Mapping[int, int]]:
    """Return a loop without carries, inputs and invariants that its values and some carries don't
    need; and the new places of the carries."""
    places = {carry.symbol: k for k, carry in enumerate(loop.carries)}
    needed: dict[int, None] = {}
    used: set[Basic] = set()
    pending: list[Operand] = [*loop.values, *[loop.carries[k].symbol for k in sorted(kept)]]
    while pending:
        found = {*postorder(pending)}
        used |= found
        more = [k for s, k in places.items() if s in found and k not in needed]
        needed.update(dict.fromkeys(more))
        pending = [loop.carries[k].new for k in more]
    renumbered = {k: number for number, k in enumerate(sorted(needed))}
    names: dict[Basic, Basic] = {}
    carries = [loop.carries[k] for k in renumbered]
    inputs = [own for own in loop.inputs if own.symbol in used]
    invariants = [own for own in loop.invariants if own.symbol in used]
    for kind, symbols in (
        ("carry", [own.symbol for own in carries]),
        ("input", [own.symbol for own in inputs]),
        ("invariant", [own.symbol for own in invariants]),
    ):
        for number, own in enumerate(symbols):
            names[own] = BoundTensor(kind, number, loop.level, shape_of(own), own.assumptions)
    outputs = substitute_all([*[carry.new for carry in carries], *loop.values], names)
    return loop._replace(
        carries=tuple(
            [
                Carry(names[carry.symbol], carry.init, new)
                for carry, new in zip(carries, outputs, strict=False)
            ]
        ),
        inputs=tuple([ScanInput(names[own.symbol], own.stacked) for own in inputs]),
        invariants=tuple([ScanInput(names[own.symbol], own.stacked) for own in invariants]),
        values=tuple(outputs[len(carries) :]),
    ), renumbered
