"""Conditions of indexing on axis lengths that are known only when arrays are given."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from sympy import Dummy, Expr, Max, Min, S, floor

from ...core import postorder
from ...expressions import (
    Einsum,
    Extremum,
    ExtremumShare,
    Operand,
    Positions,
    Ranking,
    Scan,
    TensorSymbol,
    Unit,
    View,
    is_window,
    shape_of,
)


def given_lengths(exprs: Sequence[Operand], given: Collection[Expr]) -> list[Expr]:
    """List the lengths of all axes in some expressions that depend on arguments."""
    if not any(symbol.is_Symbol and symbol.is_integer for symbol in given):
        return []
    found = {length: None for node in postorder(exprs) for length in shape_of(node)}
    return [length for length in found if not length.free_symbols.isdisjoint(given)]


def position_bounds(exprs: Sequence[Operand], given: Collection[Expr] = ()) -> dict[Expr, str]:
    """Return the expressions that mustn't be negative, with what is wrong if one is: every index
    and slice lies on its axis, and no maximum or minimum is taken of an empty axis; NumPy would cut
    a slice short, and the result would have another shape than the expression. An argument may have
    any value, whatever is assumed of it.

    >>> import sympy as sp
    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", sp.Symbol("n", integer=True, positive=True))
    >>> position_bounds([x.max()])
    {n - 1: 'axis 0 of x, of length n has no largest or smallest entry'}
    """
    found: dict[Expr, str] = {}
    axes = _axes_of_selectors(exprs)

    def add(bounds: Iterable[Expr], problem: str) -> None:
        for bound in bounds:
            found.setdefault(bound, problem)

    # Those of arguments come first, as their names are told.
    for node in sorted(postorder(exprs), key=lambda node: node not in axes):
        if isinstance(node, Unit):
            # An argument that is a position may be counted from the end.
            lowest = -node.length if node.position in given else 0
            ends = [node.position - lowest, node.length - 1 - node.position]
            axis = axes.get(node) or _axis_of_length(node.length)
            add(ends, f"position {node.position} lies outside of its axis, {axis}")
        elif isinstance(node, Positions) and S.Zero not in node.counts:
            low = high = node.start
            for step, count in zip(node.steps, node.counts, strict=True):
                end = step * (count - 1)
                low, high = (low, high + end) if step.is_positive else (low + end, high)
            rest = node.length - 1 - high
            # All windows of an axis: NumPy takes none that is longer than the axis.
            least = 1 if is_window(node) and low.is_zero and rest.is_zero else 0
            counts = [n if n.is_Symbol else n - least for n in node.counts]
            axis = axes.get(node) or _axis_of_length(node.length)
            problem = (
                f"positions {low} to {high} lie outside of their axis, {axis} (a slice, the shift "
                "of roll or the second vector of convolve or correlate is longer than its axis)"
            )
            if least:
                problem = (
                    f"a window of {node.counts[-1]} entries, or the second vector of convolve or "
                    f"correlate, is longer than its axis, {axis}"
                )
            add([low, rest, *counts], problem)
        elif isinstance(node, Scan):
            for bound, problem in _bounds_of_steps(node).items():
                add([bound], problem)
        elif _is_of_some(node):
            for k in node.axes:
                axis = _axis_of(node.operands[0], k)
                add([shape_of(node.operands[0])[k] - 1], f"{axis} has no largest or smallest entry")
    unsure = [bound for bound in found if not bound.is_number]
    return {b: found[b] for b in unsure if not b.free_symbols.isdisjoint(given) or not _is_sure(b)}


def _axes_of_selectors(exprs: Sequence[Operand]) -> Mapping[Operand, str]:
    """Describe for each index and slice the axis that it is applied to."""
    found: dict[Operand, str] = {}
    for node in postorder(exprs):
        if not isinstance(node, (Einsum, View)):
            continue
        for selector, labels in zip(node.operands, node.subscripts, strict=False):
            if not isinstance(selector, (Unit, Positions)):
                continue
            for other, own in zip(node.operands, node.subscripts, strict=False):
                if other is not selector and labels[-1] in own and isinstance(other, TensorSymbol):
                    found.setdefault(selector, _axis_of(other, own.index(labels[-1])))
    return found


def _axis_of(tensor: Operand, axis: int) -> str:
    length = shape_of(tensor)[axis]
    if isinstance(tensor, TensorSymbol):
        return f"axis {axis} of {tensor.name}, of length {length}"
    return _axis_of_length(length)


def _axis_of_length(length: Expr) -> str:
    return f"an axis of length {length}"


def _bounds_of_steps(node: Scan) -> dict[Expr, str]:
    """Return the bounds inside a loop, at the steps at which they may be lowest: the first, the
    last, and those beside the vertex of a parabola."""
    loop = node.loop
    first, last = S.Zero, loop.length - 1
    found: dict[Expr, str] = {}
    problem = "at a step of a loop positions lie outside of their axis"
    for bound in position_bounds(loop.outputs, {loop.index}):
        difference = bound.diff(loop.index)
        steps = [] if difference.is_negative else [first]
        if not difference.is_nonnegative:
            steps.append(last)
        curvature = difference.diff(loop.index)
        if not (curvature.is_nonpositive or curvature.has(loop.index)):
            vertex = floor(-difference.xreplace({loop.index: S.Zero}) / curvature)
            steps += [Min(Max(own, first), last) for own in (vertex, vertex + 1)]
        for own in steps:
            found.setdefault(bound.xreplace({loop.index: own}), problem)
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
