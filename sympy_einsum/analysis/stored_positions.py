"""Positions that loops store: they are integers whatever the arguments are. Other whole numbers, as
counters and products of them, are stored in the type of the arguments, whose range is larger."""

from __future__ import annotations

from collections.abc import Collection

from sympy import Basic

from ..expressions import (
    VALUES,
    Einsum,
    OneHot,
    Operand,
    Positions,
    Ranking,
    Recurrence,
    Scan,
    View,
)


def are_positions(loop: Recurrence) -> list[bool]:
    """Tell for each output of a loop's step, next carries and values, whether it is made of
    positions: those of largest entries or in order, the number of the step, entries of positions,
    and carries of such.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", 3, 3)
    >>> last, _ = se.scan(lambda c, t: (se.argmax(A[c]), A[c, 0]), 0, length=9)
    >>> are_positions(last.loop)
    [True, False]
    """
    known: set[Basic] = {loop.index}
    known |= {c.symbol for c in loop.carries if c.init.is_Integer or _is_position(c.init, ())}
    given = [own for own in (*loop.inputs, *loop.invariants) if _is_position(own.stacked, ())]
    known |= {own.symbol for own in given}
    while True:
        wrong = {c.symbol for c in loop.carries if not _is_position(c.new, known)}
        if wrong.isdisjoint(known):
            return [_is_position(output, known) for output in loop.outputs]
        known -= wrong


def _is_position(node: Operand, known: Collection[Basic]) -> bool:
    """Tell whether an expression is made of positions where some symbols are."""
    if isinstance(node, View) and not node.scalars and node.core is not None:
        node = node.core
    if isinstance(node, Einsum):
        rest = [own for own in node.operands if not isinstance(own, (OneHot, Positions))]
        return len(rest) == 1 and _is_position(rest[0], known)
    if isinstance(node, Scan):
        place = node.place + (len(node.loop.carries) if node.kind == VALUES else 0)
        return are_positions(node.loop)[place]
    return node in known or isinstance(node, Ranking)
