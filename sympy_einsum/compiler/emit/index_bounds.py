"""Conditions of indexing on axis lengths that are known only when arrays are given."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sympy import Dummy, Expr, Max, Min, S, floor

from ...core import postorder
from ...expressions import (
    Extremum,
    ExtremumShare,
    Operand,
    Positions,
    Ranking,
    Scan,
    Unit,
    is_window,
    shape_of,
)


def given_lengths(exprs: Sequence[Operand], given: Collection[Expr]) -> list[Expr]:
    """List the lengths of all axes in some expressions that depend on arguments."""
    if not any(symbol.is_Symbol and symbol.is_integer for symbol in given):
        return []
    found = {length: None for node in postorder(exprs) for length in shape_of(node)}
    return [length for length in found if not length.free_symbols.isdisjoint(given)]


def position_bounds(exprs: Sequence[Operand], given: Collection[Expr] = ()) -> list[Expr]:
    """List the expressions that mustn't be negative, so that every index and slice lies on its axis
    and no maximum or minimum is taken of an empty axis; NumPy would cut a slice short, and the
    result would have another shape than the expression. An argument may have any value, whatever
    is assumed of it.

    >>> import sympy as sp
    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", sp.Symbol("n", integer=True, positive=True))
    >>> position_bounds([x[2:5].sum()])
    [n - 5]
    """
    found: dict[Expr, None] = {}
    for node in postorder(exprs):
        if isinstance(node, Unit):
            # An argument that is a position may be counted from the end.
            lowest = -node.length if node.position in given else 0
            ends = [node.position - lowest, node.length - 1 - node.position]
            found.update(dict.fromkeys(ends))
        elif isinstance(node, Positions) and S.Zero not in node.counts:
            low = high = node.start
            for step, count in zip(node.steps, node.counts, strict=True):
                end = step * (count - 1)
                low, high = (low, high + end) if step.is_positive else (low + end, high)
            rest = node.length - 1 - high
            # All windows of an axis: NumPy takes none that is longer than the axis.
            least = 1 if is_window(node) and low.is_zero and rest.is_zero else 0
            counts = [n if n.is_Symbol else n - least for n in node.counts]
            found.update(dict.fromkeys([low, rest, *counts]))
        elif isinstance(node, Scan):
            found.update(dict.fromkeys(_bounds_of_steps(node)))
        elif _is_of_some(node):
            lengths = shape_of(node.operands[0])
            found.update(dict.fromkeys([lengths[axis] - 1 for axis in node.axes]))
    unsure = [bound for bound in found if not bound.is_number]
    return [b for b in unsure if not b.free_symbols.isdisjoint(given) or not _is_sure(b)]


def _bounds_of_steps(node: Scan) -> list[Expr]:
    """List the bounds inside a loop, at the steps at which they may be lowest: the first, the last,
    and those beside the vertex of a parabola."""
    loop = node.loop
    first, last = S.Zero, loop.length - 1
    found = []
    for bound in position_bounds(loop.outputs, {loop.index}):
        slope = bound.diff(loop.index)
        steps = [] if slope.is_negative else [first]
        if not slope.is_nonnegative:
            steps.append(last)
        curvature = slope.diff(loop.index)
        if not (curvature.is_nonpositive or curvature.has(loop.index)):
            vertex = floor(-slope.xreplace({loop.index: S.Zero}) / curvature)
            steps += [Min(Max(own, first), last) for own in (vertex, vertex + 1)]
        found += [bound.xreplace({loop.index: own}) for own in steps]
    return found


def _is_of_some(node: Operand) -> bool:
    """Tell whether a node needs at least one entry along its axes."""
    if isinstance(node, Ranking):
        return node.name in ("argmax", "argmin")
    return isinstance(node, (Extremum, ExtremumShare))


def _is_sure(bound: Expr) -> bool:
    """Tell whether a bound is never negative, also where a length is 0."""
    lengths = {s: Dummy(integer=True, nonnegative=True) for s in bound.free_symbols}
    return bool(bound.is_Symbol or bound.xreplace(lengths).is_nonnegative)
