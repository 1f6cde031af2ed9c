"""Signs of scalar expressions on intervals: by factors, by roots of polynomials, by bisection.

References
==========

[MKC] R. E. Moore, R. B. Kearfott, M. J. Cloud, "Introduction to Interval Analysis", 2009.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import sympy
from sympy import Basic, Expr, Mul, PolynomialError, S

from ..analysis import Ranges, ValueRange, rough_range, scalar_range
from ..core import cached, tuning
from .proofs import Requirement

Found = frozenset[Requirement]


def requirements_of_sign(
    expr: Expr, ranges: Ranges, varying: Collection[Basic], is_nonnegative: bool
) -> Found | None:
    """Return what has to hold of parameters for an expression to be nonnegative, or nonpositive,
    on the intervals of its symbols: the empty set if nothing has to, None if that isn't known."""
    if _has_other_sign(expr, ranges, varying, is_nonnegative):
        return None
    found = _of_form(expr, ranges, varying, is_nonnegative)
    if found is not None:
        return found
    if expr.count_ops() > tuning.MAX_SIGN_OPS:
        return None
    forms = _forms(expr)
    for form in forms:
        found = _of_form(form, ranges, varying, is_nonnegative)
        if found is not None:
            return found
    free = expr.free_symbols
    if len(free) == 1 and free <= set(varying):
        (symbol,) = free
        own = ranges[symbol]
        for form in (expr, *forms):
            signed = form if is_nonnegative else -form
            if _polynomial_is_nonnegative(signed, symbol, own):
                return frozenset()
        shortest = min((expr, *forms), key=lambda form: form.count_ops())
        signed = shortest if is_nonnegative else -shortest
        if _is_nonnegative_by_parts(signed, symbol, own):
            return frozenset()
    return None


def _has_other_sign(
    expr: Expr, ranges: Ranges, varying: Collection[Basic], is_nonnegative: bool
) -> bool:
    """Tell by a few values whether to give up."""
    symbols = sorted(expr.free_symbols, key=str)
    if not symbols or not set(symbols) <= set(varying):
        return False
    for shift in range(tuning.TRIED_POINTS):
        point = {s: _tried(ranges[s], shift + 3 * k) for k, s in enumerate(symbols)}
        value = expr.xreplace(point).evalf(15)
        size = tuning.TRIED_SIZE
        if value.is_Float and (value < -size if is_nonnegative else value > size):
            return True
    return False


def _tried(own: ValueRange, number: int) -> Expr:
    """Return a point in an interval."""
    share = sympy.Rational(2 * (number * 5 % tuning.TRIED_POINTS) + 1, 2 * tuning.TRIED_POINTS)
    low = own.low if own.low.is_finite and own.low.is_number else None
    high = own.high if own.high.is_finite and own.high.is_number else None
    if low is not None and high is not None:
        return sympy.N(low + (high - low) * share, 15)
    if low is not None:
        return sympy.N(low + share / (1 - share), 15)
    if high is not None:
        return sympy.N(high - share / (1 - share), 15)
    return sympy.N((2 * share - 1) / (share * (1 - share)), 15)


@cached(1024)
def _forms(expr: Expr) -> tuple[Expr, ...]:
    """Return equal forms, in which the sign may be seen."""
    steps: list[Callable[[Expr], Expr]] = [sympy.factor, _as_quotient]
    forms = []
    for step in steps:
        try:
            forms.append(step(expr))
        except (PolynomialError, NotImplementedError, TypeError):
            continue
    return tuple(dict.fromkeys([form for form in forms if form != expr]))


def _as_quotient(expr: Expr) -> Expr:
    """Return a factored quotient with like powers combined."""
    return sympy.factor(sympy.powsimp(sympy.expand_mul(sympy.together(expr))))


def _of_form(
    expr: Expr, ranges: Ranges, varying: Collection[Basic], is_nonnegative: bool
) -> Found | None:
    own = scalar_range(expr, ranges)
    if own.is_nonnegative if is_nonnegative else own.is_nonpositive:
        return frozenset()
    sign, unknown = is_nonnegative, []
    for factor in Mul.make_args(expr):
        own = scalar_range(factor, ranges)
        if own.is_nonnegative:
            continue
        if own.is_nonpositive:
            sign = not sign
        elif factor.free_symbols & set(varying):
            return None
        else:
            unknown.append(factor)
    if not unknown:
        return frozenset() if sign else None
    base, is_kept = _without_powers(Mul(*unknown))
    return frozenset({(base, sign)}) if is_kept else frozenset()


def _without_powers(factor: Expr) -> tuple[Expr, bool]:
    """Return an expression of the same sign without odd powers, and whether it has any sign but
    +."""
    bases = []
    for part in Mul.make_args(factor):
        base, exponent = part.as_base_exp()
        if exponent.is_even:
            continue
        bases.append(base if exponent.is_odd else part)
    return Mul(*bases), bool(bases)


def _polynomial_is_nonnegative(expr: Expr, symbol: Basic, own: ValueRange) -> bool:
    """Tell by Sturm's theorem whether a rational function of one symbol is nonnegative."""
    numerator, denominator = sympy.fraction(sympy.together(expr))
    product = numerator * denominator
    if not product.is_polynomial(symbol):
        return False
    try:
        polynomial = sympy.Poly(product, symbol)
    except PolynomialError:
        return False
    if polynomial.get_domain() not in (sympy.ZZ, sympy.QQ):
        return False
    if polynomial.degree() > tuning.MAX_STURM_DEGREE or not own.low.is_extended_real:
        return False
    if not all(end.is_infinite or end.is_Rational for end in (own.low, own.high)):
        return False
    low = None if own.low.is_infinite else own.low
    high = None if own.high.is_infinite else own.high
    _coefficient, factors = polynomial.sqf_list()
    odd = sympy.Poly(1, symbol)
    for factor, multiplicity in factors:
        if multiplicity % 2:
            odd *= factor
    # A change of sign is a root of odd multiplicity inside.
    roots = odd.count_roots(low, high) if odd.degree() > 0 else 0
    roots -= sum(1 for end in {low, high} if end is not None and odd.eval(end) == 0)
    if roots:
        return False
    inside = _inner_point(own)
    for shift in range(polynomial.degree() + 1):
        value = polynomial.eval(inside + sympy.Rational(shift, 97))
        if value != 0 and _contains(own, inside + sympy.Rational(shift, 97)):
            return bool(value > 0)
    return False


def _inner_point(own: ValueRange) -> Expr:
    if own.is_bounded:
        return (own.low + own.high) / 2
    if own.low.is_infinite:
        return S.Zero if own.high.is_infinite else own.high - 1
    return own.low + 1


def _contains(own: ValueRange, value: Expr) -> bool:
    return bool(own.low < value) and bool(value < own.high)


def _is_nonnegative_by_parts(expr: Expr, symbol: Basic, own: ValueRange) -> bool:
    """Tell by intervals, halved until the sign is seen, whether an expression is nonnegative
    [MKC, §6.2]."""
    ends = [end for end in (own.low, own.high) if not end.is_number and not end.is_infinite]
    if ends:
        return False
    pending = [(own, 0)]
    for _ in range(tuning.MAX_SIGN_PARTS):
        if not pending:
            return True
        part, depth = pending.pop()
        found = rough_range(expr, {symbol: part})
        if found.is_nonnegative:
            continue
        if found.is_negative or depth == tuning.MAX_SIGN_BISECTIONS:
            return False
        middle = _middle(part)
        pending.append((part._replace(high=middle, is_high_open=False), depth + 1))
        pending.append((part._replace(low=middle, is_low_open=False), depth + 1))
    return False


def _middle(part: ValueRange) -> Expr:
    """Return a point that divides an interval, an infinite one at doubled distances from 0."""
    if part.is_bounded:
        return (part.low + part.high) / 2
    if part.low.is_infinite and part.high.is_infinite:
        return S.Zero
    if part.high.is_infinite:
        return sympy.Max(2 * part.low, 1) if part.low.is_nonnegative else S.Zero
    return sympy.Min(2 * part.high, -1) if part.high.is_nonpositive else S.Zero
