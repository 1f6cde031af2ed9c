"""Power series of scalar functions of power series: by derivatives where a function is smooth, by
SymPy's series where it isn't, from both sides."""

from __future__ import annotations

import sympy
from sympy import (
    Abs,
    Basic,
    Dummy,
    Expr,
    Heaviside,
    Integer,
    Max,
    Min,
    Mod,
    Piecewise,
    PoleError,
    S,
    Symbol,
    ceiling,
    floor,
    frac,
    sign,
)
from sympy.core.relational import Relational

from ..core import (
    UnsupportedError,
    cached,
    derivative,
    floor_divide,
    is_choice,
    postorder,
    relu,
    rint,
    step,
    trunc,
)

# Functions that jump, or have no derivative, where their argument is 0; beside choices.
_KINKS = (Abs, sign, Heaviside, step, floor, ceiling, frac, Mod, rint, trunc, floor_divide)
_INFINITE = (S.NaN, S.ComplexInfinity, S.Infinity, S.NegativeInfinity)


class NoSeriesError(UnsupportedError):
    """A function has no power series; the message says why."""


class MoreTermsError(UnsupportedError):
    """A power series isn't found with the terms computed, but may be with more."""


@cached(4096)
def coefficients_of(
    expr: Expr, variable: Symbol, unknown: tuple[Symbol, ...], order: int, side: str
) -> tuple[dict[int, Expr], int | None]:
    """Expand an expression in a variable at 0.

    Parameters
    ==========

    unknown : symbols for coefficients that aren't known
    order : the power below which coefficients are computed
    side : "+" or "-" for the expansion for positive or negative values, "+-" for one that holds for
        both

    Returns
    =======

    The nonzero coefficients, and the power from which on they aren't known, None for a polynomial.

    Raises NoSeriesError where there is no power series.

    >>> from sympy import sin
    >>> from sympy.abc import t
    >>> coefficients_of(sin(t) / t, t, (), 3, "+-")
    ({0: 1, 2: -1/6}, 3)
    """
    end: int | None = order
    found = _by_derivatives(expr, variable, order)
    if found is None:
        found = _by_series(expr, variable, order, side)
    elif len(found) < order and expr.free_symbols.isdisjoint(unknown):
        end = None  # a derivative is zero
    affected = [k for k, value in found.items() if not value.free_symbols.isdisjoint(unknown)]
    if affected:
        end = min([order, *affected])
    known = {k: value for k, value in found.items() if end is None or k < end}
    return {k: value for k, value in known.items() if value != 0}, end


def _is_smooth_at_zero(expr: Expr, variable: Symbol) -> bool:
    """Tell whether no part of an expression has a kink, a jump or a root of 0 at 0."""

    def at_zero(part: Basic) -> Basic:
        return part.xreplace({variable: S.Zero})

    for part in postorder([expr], lambda node: node.args):
        if variable not in part.free_symbols:
            continue
        if isinstance(part, Relational):
            values = [at_zero(part.lhs - part.rhs)]
        elif part.is_Pow and not (part.exp.is_Integer and part.exp.is_nonnegative):
            base = at_zero(part.base)
            values = [] if base.is_nonzero else [base]
        elif isinstance(part, _KINKS) or (is_choice(part) and not isinstance(part, Piecewise)):
            first, *others = map(at_zero, part.args)
            values = [first - other for other in others] or [first]
        else:
            continue
        if any(value.is_number for value in values):
            return False
    return True


def _by_derivatives(expr: Expr, variable: Symbol, order: int) -> dict[int, Expr] | None:
    """Return the coefficients by derivatives; None where one isn't finite or jumps."""
    found: dict[int, Expr] = {}
    current, factorial = expr, S.One
    # One more than needed: of a root the first infinite derivative may be the next one.
    for power in range(order + 1):
        if not _is_smooth_at_zero(current, variable):
            return None
        value = current.xreplace({variable: S.Zero}) / factorial
        if value.has(*_INFINITE):
            return None
        if power < order:
            found[power] = value
        current = derivative(current, variable)
        factorial *= power + 1
        if current is S.Zero:
            break
    return found


def _by_series(expr: Expr, variable: Symbol, order: int, side: str) -> dict[int, Expr]:
    """Return the coefficients by SymPy's series for positive values, and for negative ones."""
    positive = Dummy(variable.name, positive=True)
    plain = _in_absolute_values(expr, variable)
    found = []
    for own, factor in (("+", S.One), ("-", S.NegativeOne)):
        if own in side:
            terms = _one_sided(plain.xreplace({variable: factor * positive}), positive, order)
            found.append({power: value * factor**power for power, value in terms.items()})
    first, last = found[0], found[-1]
    powers = first.keys() | last.keys()
    if any(sympy.simplify(first.get(k, S.Zero) - last.get(k, S.Zero)) != 0 for k in powers):
        raise NoSeriesError("it has a kink or a jump there")
    return first


def _in_absolute_values(expr: Expr, variable: Symbol) -> Expr:
    """Write what SymPy has no series of in absolute values and signs."""
    rewritten: dict[Basic, Basic] = {}
    for node in postorder([expr], lambda node: node.args):
        args = [rewritten[arg] for arg in node.args]
        built = node if args == list(node.args) else node.func(*args)
        if isinstance(built, relu):
            built = (args[0] + Abs(args[0])) / 2
        elif isinstance(built, (Max, Min)):
            factor = Integer(1 if isinstance(built, Max) else -1)
            built = args[0]
            for other in args[1:]:
                built = (built + other + factor * Abs(built - other)) / 2
        elif isinstance(built, (step, Heaviside)):
            built = (1 + sign(args[0])) / 2
        elif not isinstance(built, (Abs, sign)) and not _is_smooth_at_top(built, variable):
            raise NoSeriesError("it has a kink or a jump there")
        rewritten[node] = built
    return rewritten[expr]


def _is_smooth_at_top(part: Basic, variable: Symbol) -> bool:
    is_kinked = isinstance(part, (*_KINKS, Relational)) or is_choice(part)
    return not is_kinked or _is_smooth_at_zero(part, variable)


def _one_sided(expr: Expr, variable: Symbol, order: int) -> dict[int, Expr]:
    try:
        total = sympy.expand(sympy.series(expr, variable, 0, max(order, 1)).removeO())
    except (PoleError, NotImplementedError, ValueError, TypeError, RecursionError, AttributeError):
        raise NoSeriesError("it has an essential singularity or a branch there") from None
    found: dict[int, Expr] = {}
    for term in sympy.Add.make_args(total):
        value, power = term.as_coeff_exponent(variable)
        if not power.is_Integer or variable in value.free_symbols or value.has(*_INFINITE):
            raise NoSeriesError("it has a logarithm, a fractional power or a singularity there")
        if int(power) < order:
            found[int(power)] = found.get(int(power), S.Zero) + value
    return found
