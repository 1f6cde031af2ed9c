"""Hoist the part of a step that depends on inputs alone: compute it for all steps at once."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Basic

from ..contraction_order import nominal_size
from ..core import children, postorder, transform, tuning
from ..expressions import (
    BoundTensor,
    Operand,
    Recurrence,
    Scan,
    ScanInput,
    View,
    depending,
    over_batch,
    rebuild,
    replace_nodes,
    shape_of,
)


def hoist_inputs(exprs: Sequence[Operand]) -> list[Operand]:
    """Compute the largest parts of steps that depend on inputs alone before the loops, as batches.

    >>> import sympy_einsum as se
    >>> W, X = se.TensorSymbol("W", 3, 3), se.TensorSymbol("X", 9, 3)
    >>> last, _ = se.scan(lambda c, x: (se.sin(c + W @ x), None), se.Zeros(3), X)
    >>> print(hoist_inputs([last])[0])
    scan(lambda c, x: (sin(c + x), None), Zeros(3), X @ W.T)[0]
    """
    known: dict[object, Recurrence] = {}

    def visit(node: Operand, operands: tuple[Operand, ...]) -> Operand:
        built = rebuild(node, operands) if operands else node
        if not isinstance(built, Scan):
            return built
        if built.group not in known:
            known[built.group] = _hoisted(built.loop)
        return known[built.group].result(built.kind, built.place)

    return transform(exprs, visit)


def _hoisted(loop: Recurrence) -> Recurrence:
    """Return a loop whose step computes little from inputs alone."""
    entries: dict[Basic, Operand] = {own.symbol: own.stacked for own in loop.inputs}
    if not entries:
        return loop
    carries = [own.symbol for own in loop.carries]
    on_entries = {*depending(loop.outputs, entries)}
    on_carries = {*depending(loop.outputs, [*carries, loop.index])}
    room = tuning.MAX_HOISTED_ENTRIES * _size(*entries, *carries)
    known: dict[Basic, Operand] = {own.symbol: own.stacked for own in loop.invariants}
    found: dict[Operand, ScanInput] = {}

    def below(node: Basic) -> Sequence[Basic]:
        if node in on_carries:
            return children(node)
        if node not in on_entries or node in entries or node in found:
            return ()
        is_small = not isinstance(node, View) and _size(node) <= room
        batch = over_batch(node, entries, loop.length) if is_small else None
        if batch is None:
            return children(node)
        (stacked,) = replace_nodes([batch], known)
        number = len(loop.inputs) + len(found)
        symbol = BoundTensor("input", number, loop.level, shape_of(node))
        found[node] = ScanInput(symbol, stacked)
        return ()

    postorder(loop.outputs, below)
    if not found:
        return loop
    outputs = replace_nodes(loop.outputs, {node: own.symbol for node, own in found.items()})
    more = loop._replace(inputs=(*loop.inputs, *found.values()))
    return more.with_outputs(replace_nodes(outputs, known))


def _size(*nodes: Basic) -> int:
    return sum(nominal_size(shape_of(node)) for node in nodes)
