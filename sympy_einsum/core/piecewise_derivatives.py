"""Derivatives of Piecewise, including the points at its boundaries.

A branch that holds at single points only, such as the first of ``Piecewise((1, Eq(x, 0)),
(sin(x)/x, True))``, gives the value there but not the derivative. The derivative at the point is
the limit of those of the adjacent branches, and nan where no limit is found. Where the limits
differ, at a kink or jump, it is the derivative of the branch itself, as abs'(0) = 0 and sign' = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import reduce

from sympy import (
    Abs,
    AccumBounds,
    Add,
    And,
    Dummy,
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
    Rational,
    S,
    Symbol,
    cos,
    cosh,
    expand,
    factorial,
    sin,
    sinh,
    tan,
    tanh,
    zoo,
)
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from . import tuning
from .rows import row_of

_CLOSED: dict[type[Relational], Callable[..., Boolean]] = {Lt: Le, Gt: Ge, Ne: lambda *args: S.true}


def piecewise_derivative(
    expr: Piecewise, symbol: Symbol, derivative: Callable[[Expr, Symbol], Expr]
) -> Expr:
    """Differentiate a Piecewise by a symbol, given the derivatives of its branches."""
    branches = [(value, cond, _points(all_, symbol)) for value, cond, all_ in _branches(expr)]
    derivatives = {k: derivative(value, symbol) for k, (value, _, _) in enumerate(branches)}
    on_intervals = [
        (derivatives[k], cond) for k, (_, cond, points) in enumerate(branches) if points is None
    ]
    pieces: list[tuple[Expr, Boolean]] = []
    for k, (_, cond, points) in enumerate(branches):
        if points is None:
            pieces.append((derivatives[k], cond))
        elif points:
            adjacent = [
                formula
                for formula, other in on_intervals
                if _may_hold_near(other, points[0], symbol)
            ]
            if not _extends_to(adjacent, symbol, points[0]):
                pieces.append((_common_limit(adjacent, symbol, points[0], derivatives[k]), cond))
    if not pieces:
        return S.NaN
    if branches[-1][1] is S.true:
        pieces[-1] = (pieces[-1][0], S.true)
    return Piecewise(*pieces)


def _branches(expr: Piecewise) -> Iterator[tuple[Expr, Boolean, list[Boolean]]]:
    """Yield value, condition, and the conjunction of all conditions under which the branch is
    taken, for each alternative of an Or."""
    excluded: list[Boolean] = []
    for value, cond in expr.args:
        alternatives = Or.make_args(cond)
        for alternative in alternatives:
            yield value, alternative, [*And.make_args(alternative), *excluded]
        excluded += [Not(part) for part in alternatives if isinstance(part, Relational)]


def _points(conditions: Sequence[Boolean], symbol: Symbol) -> list[Expr] | None:
    """Solve the conjunction of conditions for its point: [point], [] if it can't be solved, None if
    the conditions hold on more than points."""
    found: list[Expr] | None = None
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


def _zeros(expr: Expr, symbol: Symbol) -> list[Expr] | None:
    """Solve an expression for its zero; the result is as in :func:`_points`."""
    factor = expr.as_independent(symbol, as_Add=False)[1]
    if isinstance(factor, Abs):
        return _zeros(factor.args[0], symbol)
    if isinstance(factor, Pow) and factor.exp.is_positive:
        return _zeros(factor.base, symbol)
    if not factor.is_polynomial(symbol):
        return None
    coefficient = factor.diff(symbol)
    return [] if symbol in coefficient.free_symbols else [symbol - factor / coefficient]


def _may_hold_near(cond: Boolean, point: Expr, symbol: Symbol) -> bool:
    """Tell whether a condition may hold next to a point."""
    parts = [_CLOSED.get(part.func, part.func)(*part.args) for part in And.make_args(cond)]
    return all(part.subs(symbol, point) is not S.false for part in parts)


def _extends_to(derivatives: Sequence[Expr], symbol: Symbol, point: Expr) -> bool:
    """Tell whether the only adjacent formula gives the derivative at the point itself."""
    if len(derivatives) != 1:
        return False
    value = derivatives[0].subs(symbol, point)
    if value.has(zoo) and not value.has(S.NaN):  # a pole, or poles that cancel
        return _limit(derivatives[0], symbol, point) is S.NaN
    return not value.has(S.NaN)


def _common_limit(derivatives: Sequence[Expr], symbol: Symbol, point: Expr, fallback: Expr) -> Expr:
    """Return the common limit of derivatives at a point; ``fallback`` if the limits differ, NaN if
    one doesn't exist."""
    limits = []
    for derivative in derivatives:
        value = derivative.subs(symbol, point)
        limits.append(_limit(derivative, symbol, point) if value.has(S.NaN, zoo) else value)
    if S.NaN in limits:
        return S.NaN
    return limits[0] if len(set(limits)) == 1 else fallback


def _limit(expr: Expr, symbol: Symbol, point: Expr) -> Expr:
    size = expr.count_ops()
    if size > tuning.MAX_SERIES_OPERATIONS:
        return S.NaN
    with suppress(_NoSeriesError):
        power, coefficients = _Series(symbol, point).of(expr)
        if power > 0 or coefficients:
            return _limit_at_zero(power, coefficients)
    if size > tuning.MAX_LIMIT_OPERATIONS:
        return S.NaN
    try:
        value = Limit(expr, symbol, point, "+-").doit()
    except (ValueError, NotImplementedError, PoleError, TypeError, AttributeError):
        return S.NaN
    return S.NaN if value.has(Limit, zoo, AccumBounds) else value


Laurent = tuple[int, list[Expr]]


def _limit_at_zero(power: int, coefficients: list[Expr]) -> Expr:
    """Return the limit of a series, infinite at a pole of even order only."""
    if power >= 0:
        return S.Zero if power else coefficients[0]
    is_infinite = power % 2 == 0 and coefficients[0].is_extended_real and coefficients[0].is_number
    return coefficients[0] * S.Infinity if is_infinite else S.NaN


class _NoSeriesError(Exception):
    """An expression has no Laurent series, or it can't be decided whether a coefficient is 0."""


class _Series:
    """Laurent series at a point: the least power, and coefficients from there on, the first of
    which isn't 0 (no coefficients if all are 0)."""

    def __init__(self, symbol: Symbol, point: Expr):
        self.symbol, self.point = symbol, point

    def of(self, expr: Expr) -> Laurent:
        """Return the series of an expression."""
        if self.symbol not in expr.free_symbols:
            return _without_leading_zeros(0, [expr, *[S.Zero] * (tuning.SERIES_TERMS - 1)])
        if isinstance(expr, (tan, tanh)):
            above, below = (sin, cos) if isinstance(expr, tan) else (sinh, cosh)
            return self.of(above(expr.args[0]) / below(expr.args[0]))
        if expr == self.symbol:
            return _without_leading_zeros(
                0, [self.point, S.One, *[S.Zero] * (tuning.SERIES_TERMS - 2)]
            )
        row = row_of(type(expr))
        if not (expr.is_Add or expr.is_Mul or expr.is_Pow or (row and row.is_analytic)):
            raise _NoSeriesError
        parts = [self.of(arg) for arg in expr.args]
        if expr.is_Add:
            return reduce(_series_sum, parts)
        if expr.is_Mul:
            return reduce(_series_product, parts)
        if expr.is_Pow and expr.exp.is_Integer:
            factor = parts[0] if expr.exp > 0 else _series_reciprocal(parts[0])
            return reduce(_series_product, [factor] * abs(int(expr.exp)))
        return self._composed(expr, parts)

    def _composed(self, expr: Expr, parts: list[Laurent]) -> Laurent:
        """Compose a function with a series by its derivatives."""
        moving = [k for k, arg in enumerate(expr.args) if self.symbol in arg.free_symbols]
        power, coefficients = parts[moving[0]]
        if len(moving) != 1 or power < 0:
            raise _NoSeriesError
        start, *steps = ([S.Zero] * power + coefficients)[: tuning.SERIES_TERMS] or [S.NaN]
        if expr.is_Pow and not (start.is_positive if moving == [0] else expr.base.is_positive):
            raise _NoSeriesError
        u = Dummy(real=True)
        outer: Expr = expr.func(*[u if k == moving[0] else arg for k, arg in enumerate(expr.args)])
        total: Laurent = (0, [S.Zero] * tuning.SERIES_TERMS)
        rest = _without_leading_zeros(1, steps)
        raised = _without_leading_zeros(0, [S.One, *[S.Zero] * (tuning.SERIES_TERMS - 1)])
        for k in range(tuning.SERIES_TERMS):
            value = outer.subs(u, start)
            if not value.is_finite or value.is_real is False:
                raise _NoSeriesError
            term = [value / factorial(k) * c for c in raised[1]]
            total = _series_sum(total, (raised[0], term))
            raised = _series_product(raised, rest)
            outer = outer.diff(u)
        return total


def _without_leading_zeros(power: int, coefficients: Sequence[Expr]) -> Laurent:
    """Strip leading zeros."""
    for k, coefficient in enumerate(coefficients):
        if not _is_zero(coefficient):
            return power + k, list(coefficients[k:])
    return power + len(coefficients), []


def _is_zero(value: Expr) -> bool:
    if value.is_zero is None:
        value = expand(value)
    if value.is_zero is not None:
        return bool(value.is_zero)
    symbols = sorted(value.free_symbols, key=str)
    samples = {s: Rational(37 + 19 * k, 100) for k, s in enumerate(symbols)}
    number = value.subs(samples).evalf(30)
    if not (number.is_number and abs(number) > 1e-9):
        raise _NoSeriesError
    return False


def _series_sum(one: Laurent, other: Laurent) -> Laurent:
    low = min(one[0], other[0])
    high = min(one[0] + len(one[1]), other[0] + len(other[1]))
    total = [S.Zero] * (high - low)
    for power, coefficients in (one, other):
        for k, coefficient in enumerate(coefficients[: max(high - power, 0)], start=power - low):
            total[k] += coefficient
    return _without_leading_zeros(low, total)


def _series_product(one: Laurent, other: Laurent) -> Laurent:
    count = min(len(one[1]), len(other[1]))
    pairs = [zip(one[1][: k + 1], reversed(other[1][: k + 1]), strict=True) for k in range(count)]
    total = [expand(Add(*[a * b for a, b in found])) for found in pairs]
    return _without_leading_zeros(one[0] + other[0], total)


def _series_reciprocal(series: Laurent) -> Laurent:
    power, coefficients = series
    if not coefficients:
        raise _NoSeriesError
    inverse = [1 / coefficients[0]]
    for k in range(1, len(coefficients)):
        lower = Add(*[coefficients[j] * inverse[k - j] for j in range(1, k + 1)])
        inverse.append(expand(-lower / coefficients[0]))
    return _without_leading_zeros(-power, inverse)
