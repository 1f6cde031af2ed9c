"""Intervals and their arithmetic.

Endpoints are exact: numbers stay SymPy's, and long or irrational ones are rounded outward, so that
an interval always contains all values. Endpoints may be symbols; where their order isn't known, an
endpoint is a ``Min`` or ``Max``.

References
==========

[MKC] R. E. Moore, R. B. Kearfott, M. J. Cloud, "Introduction to Interval Analysis", 2009, §2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor
from typing import NamedTuple, TypeAlias

from sympy import Expr, Function, Max, Min, Rational, S

from ..core import cached, tuning

# A candidate for an endpoint: its value, and whether it is excluded.
Endpoint: TypeAlias = tuple[Expr, bool]


class ValueRange(NamedTuple):
    """An interval of real numbers, with the endpoints that it excludes."""

    low: Expr
    high: Expr
    is_low_open: bool = False
    is_high_open: bool = False

    @property
    def is_nonnegative(self) -> bool:
        """Whether it contains no negative number."""
        return is_at_most(S.Zero, self.low) is True

    @property
    def is_positive(self) -> bool:
        """Whether it contains positive numbers only."""
        return self.is_nonnegative and (self.is_low_open or self.low.is_zero is False)

    @property
    def is_nonpositive(self) -> bool:
        """Whether it contains no positive number."""
        return is_at_most(self.high, S.Zero) is True

    @property
    def is_negative(self) -> bool:
        """Whether it contains negative numbers only."""
        return self.is_nonpositive and (self.is_high_open or self.high.is_zero is False)

    @property
    def is_bounded(self) -> bool:
        """Whether both endpoints are finite."""
        return not (self.low.is_infinite or self.high.is_infinite)

    @property
    def is_point(self) -> bool:
        """Whether it contains one number."""
        return self.low == self.high


REALS = ValueRange(S.NegativeInfinity, S.Infinity, True, True)
POSITIVE = ValueRange(S.Zero, S.Infinity, True, True)
NONNEGATIVE = ValueRange(S.Zero, S.Infinity, False, True)
UNIT = ValueRange(S.Zero, S.One)
SIGNED_UNIT = ValueRange(S.NegativeOne, S.One)


def point(value: Expr) -> ValueRange:
    """Return the interval of one number."""
    return rounded(ValueRange(value, value))


# --- endpoints ------------------------------------------------------------------------------------


def is_at_most(a: Expr, b: Expr) -> bool | None:
    """Tell whether one endpoint is at most another; None if that isn't known."""
    if a == b:
        return True
    if a.is_Rational and b.is_Rational:
        return bool(a <= b)
    if a is S.NegativeInfinity or b is S.Infinity:
        return True
    if a is S.Infinity or b is S.NegativeInfinity:
        return False
    if a.is_number and b.is_number:
        one, other = _approximation(a), _approximation(b)
        if one is None or other is None:
            return None
        if abs(one - other) > tuning.SAME_ENDPOINT * max(abs(one), abs(other)):
            return bool(one < other)
        return None  # equal numbers of different forms, perhaps
    gap = b - a
    if gap.is_extended_nonnegative:
        return True
    return False if gap.is_extended_negative else None


@cached(4096)
def _evaluated(number: Expr) -> Expr | None:
    """Evaluate a number to more digits than endpoints have; None if digits cancel."""
    value = number.evalf(tuning.ENDPOINT_DIGITS + 3)
    if not value.is_Float or not value.is_finite:
        return S.Zero if value.is_zero else None
    if any(type(node).__module__.startswith("sympy_einsum") for node in number.atoms(Function)):
        # SymPy keeps track of the digits of its own functions only.
        precise = number.evalf(3 * tuning.ENDPOINT_DIGITS)
        margin = Rational(1, 10**tuning.ENDPOINT_DIGITS)
        if not precise.is_Float or abs(value - precise) > abs(precise) * margin:
            return None
    return value


@cached(4096)
def _approximation(number: Expr) -> Expr | None:
    """Return a rational number near a real one; None if it can't be computed."""
    if number.is_Rational:
        return number
    value = _evaluated(number)
    return None if value is None else Rational(value)


def _extreme(candidates: Iterable[Endpoint], is_upper: bool) -> Endpoint:
    """Return the largest of some endpoints, or the least; of equal ones one that is included."""
    value, is_open = S.NegativeInfinity if is_upper else S.Infinity, True
    choice = Max if is_upper else Min
    for other, is_other_open in candidates:
        if other == value:
            is_open = is_open and is_other_open
            continue
        order = is_at_most(value, other) if is_upper else is_at_most(other, value)
        if order is None:
            if other.is_number and value.is_number:
                rounded_ends = [_rounded(end, is_upper) for end in (other, value)]
                value, is_open = choice(*rounded_ends), False
            else:
                value, is_open = choice(other, value), False
        elif order:
            value, is_open = other, is_other_open
    return value, is_open


def rational(interval: ValueRange) -> ValueRange:
    """Round endpoints that aren't rational outward."""
    low, high, is_low_open, is_high_open = interval
    if low.is_number and not low.is_Rational and low.is_finite:
        low, is_low_open = _rounded(low, is_upper=False), False
    if high.is_number and not high.is_Rational and high.is_finite:
        high, is_high_open = _rounded(high, is_upper=True), False
    return ValueRange(low, high, is_low_open, is_high_open)


def rounded(interval: ValueRange) -> ValueRange:
    """Round endpoints that are long outward to dyadic numbers."""
    low, high, is_low_open, is_high_open = interval
    if not _is_short(low):
        low, is_low_open = _rounded(low, is_upper=False), False
    if not _is_short(high):
        high, is_high_open = _rounded(high, is_upper=True), False
    if low is S.NegativeInfinity or low is S.NaN:
        low, is_low_open = S.NegativeInfinity, True
    if high is S.Infinity or high is S.NaN:
        high, is_high_open = S.Infinity, True
    return ValueRange(low, high, is_low_open, is_high_open)


def _is_short(value: Expr) -> bool:
    if value.is_Rational:
        return max(value.p.bit_length(), value.q.bit_length()) <= tuning.MAX_ENDPOINT_BITS
    if value.is_Float or value in (S.NaN, S.ComplexInfinity):
        return False
    return not value.is_number or value.is_infinite or value.count_ops() <= tuning.MAX_ENDPOINT_OPS


def _rounded(value: Expr, is_upper: bool) -> Expr:
    """Round a number up or down."""
    unbounded = S.Infinity if is_upper else S.NegativeInfinity
    if value.is_infinite:
        return value
    if value.is_extended_real is False or value in (S.NaN, S.ComplexInfinity):
        return unbounded
    approximate = _evaluated(value)
    if approximate is None:
        return unbounded
    if approximate == 0:
        return S.Zero
    mantissa_bits = floor(tuning.ENDPOINT_DIGITS * 3)
    exponent = int(approximate._mpf_[2]) + int(approximate._mpf_[3])
    if abs(exponent) > tuning.MAX_ENDPOINT_EXPONENT:
        is_large = exponent > 0
        if is_large:
            is_beyond = bool(approximate > 0) != is_upper
            limit = Rational(2) ** tuning.MAX_ENDPOINT_EXPONENT
            return (-limit if is_upper else limit) if is_beyond else unbounded
        tiny = Rational(2) ** -tuning.MAX_ENDPOINT_EXPONENT
        return (
            (tiny if approximate > 0 else S.Zero)
            if is_upper
            else (S.Zero if approximate > 0 else -tiny)
        )
    unit = Rational(2) ** (exponent - mantissa_bits)
    scaled = Rational(approximate) / unit
    below = scaled.p // scaled.q
    return unit * (below + 2 if is_upper else below - 1)


# --- sets -----------------------------------------------------------------------------------------


def hull(ranges: Sequence[ValueRange]) -> ValueRange:
    """Return the smallest interval that contains others."""
    low, is_low_open = _extreme([(r.low, r.is_low_open) for r in ranges], is_upper=False)
    high, is_high_open = _extreme([(r.high, r.is_high_open) for r in ranges], is_upper=True)
    return ValueRange(low, high, is_low_open, is_high_open)


def intersection(a: ValueRange, b: ValueRange) -> ValueRange:
    """Return the common part of two intervals; the first if they have none."""
    low, is_low_open = a.low, a.is_low_open
    if a.low == b.low:
        is_low_open = a.is_low_open or b.is_low_open
    elif is_at_most(a.low, b.low):
        low, is_low_open = b.low, b.is_low_open
    high, is_high_open = a.high, a.is_high_open
    if a.high == b.high:
        is_high_open = a.is_high_open or b.is_high_open
    elif is_at_most(b.high, a.high):
        high, is_high_open = b.high, b.is_high_open
    if is_at_most(low, high) is False:
        return a
    return ValueRange(low, high, is_low_open, is_high_open)


def lies_in(inner: ValueRange, outer: ValueRange) -> bool:
    """Tell whether an interval is part of another."""
    if not is_at_most(outer.low, inner.low) or not is_at_most(inner.high, outer.high):
        return False
    is_low_in = inner.is_low_open or not outer.is_low_open or inner.low != outer.low
    return is_low_in and (inner.is_high_open or not outer.is_high_open or inner.high != outer.high)


# --- arithmetic -----------------------------------------------------------------------------------


def plus(a: ValueRange, b: ValueRange) -> ValueRange:
    """Add two intervals."""
    opens = a.is_low_open or b.is_low_open, a.is_high_open or b.is_high_open
    return rounded(ValueRange(_endpoint_sum(a.low, b.low), _endpoint_sum(a.high, b.high), *opens))


def _endpoint_sum(x: Expr, y: Expr) -> Expr:
    """Add two endpoints; SymPy doesn't know that all numbers are finite, such as sigmoid(1)."""
    return x if x.is_infinite else y if y.is_infinite else x + y


def minus(a: ValueRange) -> ValueRange:
    """Negate an interval."""
    return ValueRange(-a.high, -a.low, a.is_high_open, a.is_low_open)


def times(a: ValueRange, b: ValueRange) -> ValueRange:
    """Multiply two intervals of independent values."""
    sides = [[(r.low, r.is_low_open), (r.high, r.is_high_open)] for r in (a, b)]
    products = [found for x in sides[0] for y in sides[1] for found in _endpoint_products(x, y)]
    low, is_low_open = _extreme(products, is_upper=False)
    high, is_high_open = _extreme(products, is_upper=True)
    return rounded(ValueRange(low, high, is_low_open, is_high_open))


def _endpoint_products(a: Endpoint, b: Endpoint) -> list[Endpoint]:
    """Return the product of two endpoints, or what it may be."""
    (x, is_x_open), (y, is_y_open) = a, b
    if x.is_zero or y.is_zero:
        is_attained = (x.is_zero and not is_x_open) or (y.is_zero and not is_y_open)
        return [(S.Zero, not is_attained)]
    if x.is_infinite or y.is_infinite:
        signs = [is_at_most(S.Zero, x), is_at_most(S.Zero, y)]
        if None in signs:
            return [(S.NegativeInfinity, True), (S.Infinity, True)]
        return [(S.Infinity if signs[0] is signs[1] else S.NegativeInfinity, True)]
    return [(x * y, is_x_open or is_y_open)]


def reciprocal(a: ValueRange) -> ValueRange:
    """Invert an interval where that is defined."""
    if a.low.is_zero and a.high.is_zero:
        return REALS
    if a.low.is_zero and not a.high.is_zero:
        return ValueRange(_inverse(a.high), S.Infinity, a.is_high_open, True)
    if a.high.is_zero and not a.low.is_zero:
        return ValueRange(S.NegativeInfinity, _inverse(a.low), True, a.is_low_open)
    if a.is_positive or a.is_negative:
        opens = a.is_high_open, a.is_low_open
        return rounded(ValueRange(_inverse(a.high), _inverse(a.low), *opens))
    return REALS


def _inverse(endpoint: Expr) -> Expr:
    return S.Zero if endpoint.is_infinite else 1 / endpoint


def absolute(a: ValueRange) -> ValueRange:
    """Return the absolute values of an interval."""
    if a.is_nonnegative:
        return a
    if a.is_nonpositive:
        return minus(a)
    high, is_high_open = _extreme(
        [(-a.low, a.is_low_open), (a.high, a.is_high_open)], is_upper=True
    )
    return ValueRange(S.Zero, high, False, is_high_open)


def interval_power(a: ValueRange, exponent: Expr) -> ValueRange:
    """Raise an interval to a rational power, where that is real."""
    if exponent.is_zero:
        return point(S.One)
    if exponent.is_negative:
        return reciprocal(interval_power(a, -exponent))
    if exponent.is_Integer and exponent.is_odd:
        return rounded(a._replace(low=_raised(a.low, exponent), high=_raised(a.high, exponent)))
    is_even = exponent.is_Integer
    base = absolute(a) if is_even else intersection(a, NONNEGATIVE)
    if not base.is_nonnegative:  # not real
        return REALS
    return rounded(
        base._replace(low=_raised(base.low, exponent), high=_raised(base.high, exponent))
    )


def _raised(endpoint: Expr, exponent: Expr) -> Expr:
    if endpoint.is_Rational and exponent.is_Integer:
        bits = max(endpoint.p.bit_length(), endpoint.q.bit_length()) * int(exponent)
        if bits > tuning.MAX_ENDPOINT_EXPONENT:
            # Rounded by ``rounded`` without computing its digits.
            return endpoint.evalf(tuning.ENDPOINT_DIGITS) ** int(exponent)
    return endpoint**exponent
