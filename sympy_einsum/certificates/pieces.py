"""Curvature of functions in pieces, such as Huber's."""

from __future__ import annotations

from itertools import pairwise

import sympy
from sympy import Abs, Basic, Expr, Interval, Piecewise, S

from ..analysis import ValueRange, is_defined, is_smooth
from ..core import derivative
from .signs import requirements_of_sign


def pieces_curvature(expr: Piecewise, symbol: Basic, own: ValueRange, is_convex: bool) -> bool:
    """Tell whether a function in pieces is convex, or concave, on an interval: each piece is so, it
    is continuous, and one-sided derivatives rise, or fall, where pieces meet.

    >>> from sympy.abc import t
    >>> from sympy_einsum.analysis import REALS
    >>> huber = Piecewise((t**2, abs(t) <= 1), (2 * abs(t) - 1, True))
    >>> pieces_curvature(huber, t, REALS, True), pieces_curvature(huber, t, REALS, False)
    (True, False)
    """
    parts = _parts(expr, symbol, Interval(own.low, own.high, own.is_low_open, own.is_high_open))
    if parts is None:
        return False
    for interval, piece in parts:
        inside = {symbol: ValueRange(interval.start, interval.end, True, True)}
        if not is_smooth(piece) or not is_defined(piece, inside):
            return False
        second = derivative(derivative(piece, symbol), symbol)
        if requirements_of_sign(second, inside, [symbol], is_convex) != frozenset():
            return False
    for (left, before), (right, after) in pairwise(parts):
        if left.end != right.start:
            return False
        jump = (after - before).subs(symbol, left.end)
        if sympy.simplify(jump) != 0:
            return False
        rise = sympy.simplify((after - before).diff(symbol).subs(symbol, left.end))
        if not (rise.is_nonnegative if is_convex else rise.is_nonpositive):
            return False
    return True


def _parts(expr: Piecewise, symbol: Basic, domain: Interval) -> list[tuple[Interval, Expr]] | None:
    """Return the intervals of the pieces in order, without absolute values."""
    if expr.free_symbols != {symbol}:
        return None
    real = sympy.Dummy(real=True)
    rest, found = domain, []
    for piece, condition in expr.args:
        try:
            where = S.Reals if condition is S.true else condition.xreplace({symbol: real}).as_set()
        except (NotImplementedError, TypeError, ValueError):
            return None
        own, rest = rest & where, rest - where
        for part in own.args if isinstance(own, sympy.Union) else (own,):
            if isinstance(part, Interval):
                found.append((part, piece))
            elif not isinstance(part, (sympy.FiniteSet, type(S.EmptySet))):
                return None
    split = [own for part, piece in found for own in _without_absolute_values(part, piece, symbol)]
    return sorted(split, key=lambda pair: (pair[0].start, pair[0].end))


def _without_absolute_values(
    part: Interval, piece: Expr, symbol: Basic
) -> list[tuple[Interval, Expr]]:
    if not piece.has(Abs(symbol)):
        return [(part, piece)]
    if part.start >= 0:
        return [(part, piece.subs(Abs(symbol), symbol))]
    if part.end <= 0:
        return [(part, piece.subs(Abs(symbol), -symbol))]
    halves = Interval(part.start, 0), Interval(0, part.end)
    return [
        (halves[0], piece.subs(Abs(symbol), -symbol)),
        (halves[1], piece.subs(Abs(symbol), symbol)),
    ]
