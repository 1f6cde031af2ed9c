"""The derivative of a Piecewise, at the points that it names too.

May import: nothing of ours. A branch that holds at single points only, such as the first of
``Piecewise((1, Eq(x, 0)), (sin(x)/x, True))``, says the value there and nothing of the slope: its
own derivative is that of a constant. The derivative there is the limit of those beside it, and
nan where no limit is found. Where the limits differ, at a kink or jump, the branch's own derivative
is kept, as abs'(0) = 0 and sign' = 0 are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sympy import (
    Abs,
    AccumBounds,
    And,
    Eq,
    Expr,
    Ge,
    Gt,
    Le,
    Limit,
    Lt,
    Ne,
    Not,
    Or,
    Piecewise,
    PoleError,
    Pow,
    S,
    Symbol,
    zoo,
)
from sympy.core.relational import Relational

# No limits of longer formulas are looked for: SymPy takes seconds at this length, minutes beyond.
MAX_OPERATIONS = 40

_CLOSED: dict[Any, Any] = {Lt: Le, Gt: Ge, Ne: lambda *args: S.true}


def piecewise_derivative(
    expr: Piecewise, symbol: Symbol, derivative: Callable[[Expr, Symbol], Expr]
) -> Expr:
    """The derivative of a Piecewise by a symbol, given that of its branches."""
    branches = [(value, cond, _points(all_, symbol)) for value, cond, all_ in _branches(expr)]
    slopes = {k: derivative(value, symbol) for k, (value, _, _) in enumerate(branches)}
    wide = [(slopes[k], cond) for k, (_, cond, points) in enumerate(branches) if points is None]
    pieces: list[tuple[Any, Any]] = []
    for k, (_, cond, points) in enumerate(branches):
        if points is None:
            pieces.append((slopes[k], cond))
        elif points:
            beside = [slope for slope, other in wide if _touches(other, points[0], symbol)]
            if not _hold_there(beside, symbol, points[0]):
                pieces.append((_common_limit(beside, symbol, points[0], slopes[k]), cond))
    if not pieces:
        return S.NaN
    if branches[-1][1] is S.true:
        pieces[-1] = (pieces[-1][0], S.true)
    return Piecewise(*pieces)


def _branches(expr: Piecewise) -> Iterator[tuple[Any, Any, list[Any]]]:
    """Value, condition, and all that holds where the branch is taken; alternatives one by one."""
    excluded: list[Any] = []
    for value, cond in expr.args:
        alternatives = Or.make_args(cond)
        for alternative in alternatives:
            yield value, alternative, [*And.make_args(alternative), *excluded]
        excluded += [Not(part) for part in alternatives if isinstance(part, Relational)]


def _points(conditions: Sequence[Any], symbol: Symbol) -> list[Any] | None:
    """The point at which conditions hold together, in a list; an empty one for unknown points,
    None where they hold on more than points."""
    found: list[Any] | None = None
    bounds = set()
    for condition in conditions:
        if not isinstance(condition, (Eq, Ge, Le)) or symbol not in condition.free_symbols:
            continue
        if not all(isinstance(side, Expr) for side in condition.args):
            continue
        difference = (
            condition.gts - condition.lts
            if not isinstance(condition, Eq)
            else (condition.lhs - condition.rhs)
        )
        bounds.add(difference)
        if isinstance(condition, Eq) or -difference in bounds:
            zeros = _zeros(difference, symbol)
            found = found if zeros is None else zeros
    return found


def _zeros(expr: Expr, symbol: Symbol) -> list[Any] | None:
    """Where an expression is zero, as :func:`_points` says it."""
    factor = expr.as_independent(symbol, as_Add=False)[1]
    if isinstance(factor, Abs):
        return _zeros(factor.args[0], symbol)
    if isinstance(factor, Pow) and factor.exp.is_positive:
        return _zeros(factor.base, symbol)
    if not factor.is_polynomial(symbol):
        return None
    slope = factor.diff(symbol)
    return [] if symbol in slope.free_symbols else [symbol - factor / slope]


def _touches(cond: Any, point: Any, symbol: Symbol) -> bool:
    """Whether a condition holds next to a point, as far as can be seen."""
    parts = [_CLOSED.get(part.func, part.func)(*part.args) for part in And.make_args(cond)]
    return all(part.subs(symbol, point) is not S.false for part in parts)


def _hold_there(slopes: Sequence[Any], symbol: Symbol, point: Any) -> bool:
    """Whether one formula is all there is beside a point, and says what can be said there too."""
    if len(slopes) != 1:
        return False
    value = slopes[0].subs(symbol, point)
    if value.has(zoo) and not value.has(S.NaN):  # a pole, or poles that cancel
        return _limit(slopes[0], symbol, point) is S.NaN
    return not value.has(S.NaN)


def _common_limit(slopes: Sequence[Any], symbol: Symbol, point: Any, own: Expr) -> Any:
    """The limit of the slopes beside a point; ``own`` where they differ, NaN if there is none."""
    limits = []
    for slope in slopes:
        value = slope.subs(symbol, point)
        limits.append(_limit(slope, symbol, point) if value.has(S.NaN, zoo) else value)
    if S.NaN in limits:
        return S.NaN
    return limits[0] if len(set(limits)) == 1 else own


def _limit(expr: Expr, symbol: Symbol, point: Any) -> Any:
    if expr.count_ops() > MAX_OPERATIONS:
        return S.NaN
    try:
        value = Limit(expr, symbol, point, "+-").doit()
    except (ValueError, NotImplementedError, PoleError, TypeError, AttributeError):
        return S.NaN
    return S.NaN if value.has(Limit, zoo, AccumBounds) else value
