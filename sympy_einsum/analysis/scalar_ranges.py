"""Intervals of scalar expressions: the natural interval extension, with the ranges of functions,
and bisection where a symbol occurs more than once.

References
==========

[MKC] R. E. Moore, R. B. Kearfott, M. J. Cloud, "Introduction to Interval Analysis", 2009, §5, §6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import sympy
from sympy import Basic, Expr, Rational, S, pi

from ..core import (
    ROWS,
    cached,
    derivative,
    exprel,
    logaddexp,
    masked,
    postorder,
    relu,
    sigmoid,
    sigmoid_derivative,
    softplus,
    step,
    tuning,
    xlogy,
)
from .value_ranges import (
    NONNEGATIVE,
    POSITIVE,
    REALS,
    SIGNED_UNIT,
    UNIT,
    ValueRange,
    absolute,
    hull,
    intersection,
    interval_power,
    is_at_most,
    lies_in,
    minus,
    plus,
    point,
    rational,
    reciprocal,
    rounded,
    times,
)

Ranges: TypeAlias = Mapping[Basic, ValueRange]


def assumed_range(symbol: Expr) -> ValueRange:
    """Return the interval that SymPy's assumptions about a scalar allow."""
    if symbol.is_positive:
        low = S.One if symbol.is_integer else S.Zero
        return ValueRange(low, S.Infinity, low is S.Zero, True)
    if symbol.is_negative:
        high = S.NegativeOne if symbol.is_integer else S.Zero
        return ValueRange(S.NegativeInfinity, high, True, high is S.Zero)
    if symbol.is_nonnegative:
        return NONNEGATIVE
    return minus(NONNEGATIVE) if symbol.is_nonpositive else REALS


# --- functions ------------------------------------------------------------------------------------

_from_table = {row.function.__name__: row.function for row in ROWS}


def _table_functions(names: str) -> list[Callable[..., Expr]]:
    return [_from_table[name] for name in names.split()]


ZERO, ONE = point(S.Zero), point(S.One)
PAST_ONE = ValueRange(S.One, S.Infinity, False, True)
# Increasing functions of one argument: where they are defined, and the limits at both ends.
_LIMITS: dict[Callable[..., Expr], tuple[ValueRange, Expr, Expr]] = {
    sympy.exp: (REALS, S.Zero, S.Infinity),
    sympy.log: (POSITIVE, S.NegativeInfinity, S.Infinity),
    sympy.sinh: (REALS, S.NegativeInfinity, S.Infinity),
    sympy.tanh: (REALS, S.NegativeOne, S.One),
    sympy.asinh: (REALS, S.NegativeInfinity, S.Infinity),
    sympy.acosh: (PAST_ONE, S.Zero, S.Infinity),
    sympy.atanh: (
        ValueRange(S.NegativeOne, S.One, True, True),
        S.NegativeInfinity,
        S.Infinity,
    ),
    sympy.atan: (REALS, -pi / 2, pi / 2),
    sympy.asin: (SIGNED_UNIT, -pi / 2, pi / 2),
    sympy.erf: (REALS, S.NegativeOne, S.One),
    sympy.erfi: (REALS, S.NegativeInfinity, S.Infinity),
    sympy.sign: (REALS, S.NegativeOne, S.One),
    sympy.floor: (REALS, S.NegativeInfinity, S.Infinity),
    sympy.ceiling: (REALS, S.NegativeInfinity, S.Infinity),
    relu: (REALS, S.Zero, S.Infinity),
    sigmoid: (REALS, S.Zero, S.One),
    softplus: (REALS, S.Zero, S.Infinity),
    exprel: (REALS, S.Zero, S.Infinity),
    **dict.fromkeys(_table_functions("log_sigmoid log_ndtr"), (REALS, S.NegativeInfinity, S.Zero)),
    **dict.fromkeys(_table_functions("ndtr"), (REALS, S.Zero, S.One)),
    **dict.fromkeys(
        _table_functions("trunc rint real_cbrt"), (REALS, S.NegativeInfinity, S.Infinity)
    ),
}
# They attain their limits.
_STEPS = {sympy.sign, sympy.floor, sympy.ceiling, relu, *_table_functions("trunc rint")}
# Functions that grow as exponentials do.
_GROWING = {sympy.exp, sympy.sinh, sympy.cosh, sympy.erfi, exprel, *_table_functions("erfcx")}
# Decreasing ones.
_FALLING: dict[Callable[..., Expr], tuple[ValueRange, Expr, Expr]] = {
    sympy.acos: (SIGNED_UNIT, pi, S.Zero),
    sympy.erfc: (REALS, Rational(2), S.Zero),
    **dict.fromkeys(_table_functions("erfcx"), (REALS, S.Infinity, S.Zero)),
}


def _monotone(function: Callable[..., Expr], argument: ValueRange, is_falling: bool) -> ValueRange:
    domain, at_low, at_high = (_FALLING if is_falling else _LIMITS)[function]
    inside = intersection(argument, domain)
    ends = []
    for end, is_open, own, limit, is_last in (
        (inside.low, inside.is_low_open, domain.low, at_low, False),
        (inside.high, inside.is_high_open, domain.high, at_high, True),
    ):
        is_upper = is_last != is_falling
        value = limit if end == own else _value(function, end, limit, is_upper)
        ends.append((value, (is_open and function not in _STEPS) or value.is_infinite is True))
    if is_falling:
        ends.reverse()
    (low, is_low_open), (high, is_high_open) = ends
    if function in _STEPS:
        is_low_open, is_high_open = low.is_infinite is True, high.is_infinite is True
    found = rounded(ValueRange(low, high, is_low_open, is_high_open))
    limits = (at_high, at_low) if is_falling else (at_low, at_high)
    return intersection(found, ValueRange(*limits))


def _value(function: Callable[..., Expr], end: Expr, limit: Expr, is_upper: bool) -> Expr:
    """Return the value at an end of an interval, or a bound where there is none."""
    value = _value_or_bound(function, end, limit, is_upper)
    if value in (S.ComplexInfinity, S.NaN):
        return S.Infinity if is_upper else S.NegativeInfinity
    return value


def _value_or_bound(function: Callable[..., Expr], end: Expr, limit: Expr, is_upper: bool) -> Expr:
    """Return the value at an end of an interval, or a bound of one that is too large or small."""
    if function not in _GROWING or not end.is_number:
        return function(end)
    far = sympy.Integer(tuning.FAR_ARGUMENT)
    is_far = is_at_most(far, end) or is_at_most(end, -far)
    large = Rational(2) ** far
    if not is_far or (limit is S.Zero and function is not sympy.exp):
        return function(end)
    if limit is S.Zero:
        return 1 / large if is_upper else S.Zero
    if limit is S.Infinity:
        return S.Infinity if is_upper else large
    return -large if is_upper else S.NegativeInfinity


def _even(function: Callable[..., Expr], at_infinity: Expr) -> Callable[..., ValueRange]:
    """Return the range of an even function that is monotone for positive arguments."""

    def range_of(argument: ValueRange) -> ValueRange:
        size = absolute(argument)
        far_is_upper = at_infinity is S.Infinity
        near, far = [
            _value(function, end, at_infinity, is_upper) if end.is_finite else at_infinity
            for end, is_upper in ((size.low, not far_is_upper), (size.high, far_is_upper))
        ]
        ends = [
            ValueRange(value, value, is_open, is_open)
            for value, is_open in ((near, size.is_low_open), (far, size.is_high_open))
        ]
        return rounded(hull(ends))

    return range_of


def _sinusoid(function: Callable[..., Expr], maximum: Expr) -> Callable[..., ValueRange]:
    """Return the range of a sine or cosine with a maximum at ``maximum``."""

    def range_of(argument: ValueRange) -> ValueRange:
        if not argument.is_bounded or not (argument.low.is_number and argument.high.is_number):
            return SIGNED_UNIT
        turns = [(end - maximum) / (2 * pi) for end in (argument.low, argument.high)]
        if sympy.N(turns[1] - turns[0]) >= 1:
            return SIGNED_UNIT
        ends = [function(argument.low), function(argument.high)]
        values = [ValueRange(end, end) for end in ends]
        if sympy.floor(turns[1]) != sympy.ceiling(turns[0]) - 1:
            values.append(point(S.One))
        half = [turn - S.Half for turn in turns]
        if sympy.floor(half[1]) != sympy.ceiling(half[0]) - 1:
            values.append(point(S.NegativeOne))
        return intersection(rounded(hull(values)), SIGNED_UNIT)

    return range_of


def _concave(
    function: Callable[..., Expr], domain: ValueRange, top: Expr, ends: tuple[Expr, Expr]
) -> Callable[..., ValueRange]:
    """Return the range of a function that rises up to ``top`` and falls beyond."""

    def range_of(argument: ValueRange) -> ValueRange:
        inside = intersection(argument, domain)
        values = []
        for end, is_open, own, limit in (
            (inside.low, inside.is_low_open, domain.low, ends[0]),
            (inside.high, inside.is_high_open, domain.high, ends[1]),
        ):
            value = limit if end == own else function(end)
            values.append(ValueRange(value, value, is_open, is_open))
        if not (inside.high - top).is_nonpositive and not (inside.low - top).is_nonnegative:
            values.append(point(function(top)))
        return rounded(hull(values))

    return range_of


def _largest_of(*arguments: ValueRange) -> ValueRange:
    low = rounded(ValueRange(sympy.Max(*[a.low for a in arguments]), S.Infinity)).low
    high = sympy.Max(*[a.high for a in arguments])
    opens = (
        all(a.is_low_open for a in arguments if a.low == low),
        all(a.is_high_open for a in arguments if a.high == high),
    )
    return rounded(ValueRange(low, high, *opens))


def _log_add(a: ValueRange, b: ValueRange) -> ValueRange:
    low = logaddexp(a.low, b.low) if not (a.low.is_infinite or b.low.is_infinite) else None
    high = logaddexp(a.high, b.high) if not (a.high.is_infinite or b.high.is_infinite) else None
    if low is None:
        low = sympy.Max(a.low, b.low)
    return rounded(ValueRange(low, S.Infinity if high is None else high))


def _squared(a: ValueRange) -> ValueRange:
    return interval_power(a, Rational(2))


def _times_log(a: ValueRange, b: ValueRange) -> ValueRange:
    return times(a, _monotone(sympy.log, b, is_falling=False))


_FUNCTIONS: dict[Callable[..., Expr], Callable[..., ValueRange]] = {
    sympy.Abs: absolute,
    sympy.Max: _largest_of,
    sympy.Min: lambda *arguments: minus(_largest_of(*map(minus, arguments))),
    sympy.cosh: _even(sympy.cosh, S.Infinity),
    sympy.sech: _even(sympy.sech, S.Zero),
    sympy.sin: _sinusoid(sympy.sin, pi / 2),
    sympy.cos: _sinusoid(sympy.cos, S.Zero),
    sigmoid_derivative: _even(sigmoid_derivative, S.Zero),
    logaddexp: _log_add,
    xlogy: _times_log,
    masked: lambda weight, value: hull([times(weight, value), ZERO]),
    step: lambda x, at_0=ZERO: hull(
        [
            *([] if x.is_nonpositive else [ONE]),
            *([] if x.is_positive else [ZERO, at_0]),
        ]
    ),
    sympy.Heaviside: lambda x, at_0: hull(
        [
            *([] if x.is_negative else [ONE]),
            *([] if x.is_positive else [point(S.Zero)]),
            at_0,
        ]
    ),
    sympy.KroneckerDelta: lambda a, b: UNIT,
    **dict.fromkeys(_table_functions("sinhc"), lambda x: PAST_ONE),
    **dict.fromkeys(_table_functions("tanhc"), lambda x: ValueRange(S.Zero, S.One, True, False)),
    **dict.fromkeys(_table_functions("log_sinhc"), lambda x: NONNEGATIVE),
    **dict.fromkeys(
        _table_functions("langevin"),
        lambda x, *order: REALS if order else ValueRange(S.NegativeOne, S.One, True, True),
    ),
    **dict.fromkeys(
        _table_functions("entr"),
        _concave(
            lambda x: -x * sympy.log(x) if not x.is_zero else S.Zero,
            NONNEGATIVE,
            sympy.exp(-1),
            (S.Zero, S.NegativeInfinity),
        ),
    ),
    **dict.fromkeys(
        _table_functions("rel_entr"), lambda a, b: _times_log(a, times(a, reciprocal(b)))
    ),
    **dict.fromkeys(
        _table_functions("modulus"),
        lambda a, b: interval_power(
            plus(interval_power(a, Rational(2)), interval_power(b, Rational(2))), S.Half
        ),
    ),
    **dict.fromkeys(_table_functions("unless_nan"), lambda a, b: a),
    **dict.fromkeys(_table_functions("stop_gradient nan_to_num"), lambda a: a),
    **dict.fromkeys(_table_functions("isnan isinf isfinite"), lambda a: UNIT),
}


# --- expressions ----------------------------------------------------------------------------------


def scalar_range(expr: Expr, ranges: Ranges) -> ValueRange:
    """Return an interval that contains the values of a scalar expression, given those of its
    symbols; values that aren't real are left out.

    >>> from sympy.abc import t
    >>> from sympy import S
    >>> found = scalar_range(t**2 - t, {t: ValueRange(S.Zero, S.One)})
    >>> found.low, found.high
    (-1/4, 0)
    """
    known = {s: r for s, r in ranges.items() if s in expr.free_symbols}
    return _of_body(expr, tuple(known.items()))


@cached(4096)
def _of_body(expr: Expr, ranges: tuple[tuple[Basic, ValueRange], ...]) -> ValueRange:
    known = dict(ranges)
    found = _natural(expr, known)
    if len(known) == 1 and not found.is_point and _occurs_again(expr):
        ((symbol, own),) = known.items()
        if own.is_bounded and own.low.is_number and own.high.is_number:
            exact = _polynomial_range(expr, symbol, own)
            if exact is None:
                exact = _bisected(expr, symbol, own, _smooth_derivative(expr, symbol), 0)
            return intersection(found, exact)
    return found


def _polynomial_range(expr: Expr, symbol: Basic, own: ValueRange) -> ValueRange | None:
    """Return the values at the ends and at the critical points; None for what is no polynomial."""
    if not expr.is_polynomial(symbol):
        return None
    polynomial = sympy.Poly(expr, symbol)
    if polynomial.get_domain() not in (sympy.ZZ, sympy.QQ) or polynomial.degree() < 1:
        return None
    if polynomial.degree() > tuning.MAX_EXACT_DEGREE:
        return None
    ends = [(own.low, own.is_low_open), (own.high, own.is_high_open)]
    values = [
        ValueRange(value, value, is_open, is_open)
        for value, is_open in [(polynomial.eval(end), is_open) for end, is_open in ends]
    ]
    for root in sympy.real_roots(polynomial.diff(symbol), multiple=True):
        if root > own.low and root < own.high:
            values.append(rounded(point(expr.xreplace({symbol: root}).expand())))
    return rounded(hull([rounded(value) for value in values]))


def rough_range(expr: Expr, ranges: Ranges) -> ValueRange:
    """Return an interval that contains the values of a scalar expression, computed fast."""
    return _natural(expr, ranges, is_rational=True)


def _occurs_again(expr: Expr) -> bool:
    """Tell whether a symbol occurs more than once, so that intervals of parts aren't
    independent."""
    (symbol,) = expr.free_symbols
    return expr.count(symbol) > 1


@cached(1024)
def _smooth_derivative(expr: Expr, symbol: Basic) -> Expr | None:
    """Return the derivative of an expression that has one everywhere; None for others."""
    if not is_smooth(expr):
        return None
    found = derivative(expr, symbol)
    return found if is_smooth(found) else None


def _bisected(
    expr: Expr, symbol: Basic, own: ValueRange, first_derivative: Expr | None, depth: int
) -> ValueRange:
    """Return the hull of the intervals on both halves, down to pieces on which the expression is
    monotone [MKC, §6.2]."""
    here = {symbol: own}
    found = _natural(expr, here, is_rational=True)
    if first_derivative is not None and (
        (rising := _natural(first_derivative, here, is_rational=True)).is_nonnegative
        or rising.is_nonpositive
    ):
        ends = [
            _natural(expr, {symbol: ValueRange(end, end, is_open, is_open)}, is_rational=True)
            for end, is_open in ((own.low, own.is_low_open), (own.high, own.is_high_open))
        ]
        ends = [
            end._replace(is_low_open=is_open, is_high_open=is_open)
            for end, is_open in zip(ends, (own.is_low_open, own.is_high_open), strict=True)
        ]
        return intersection(found, hull(ends))
    if depth == tuning.MAX_RANGE_BISECTIONS:
        return found
    middle = (own.low + own.high) / 2
    halves = (
        own._replace(high=middle, is_high_open=False),
        own._replace(low=middle, is_low_open=False),
    )
    pieces = [_bisected(expr, symbol, half, first_derivative, depth + 1) for half in halves]
    return intersection(found, hull(pieces))


def _natural(expr: Expr, ranges: Ranges, is_rational: bool = False) -> ValueRange:
    """Return the natural interval extension: each operation on the intervals of its operands, with
    endpoints that are rational, or exact."""
    found: dict[Basic, ValueRange] = dict(ranges)

    def below(node: Basic) -> tuple[Basic, ...]:
        if node in found or not isinstance(node, Expr):
            return ()
        if isinstance(node, sympy.Piecewise):
            return tuple([piece.expr for piece in node.args])
        return node.args

    for node in postorder([expr], below):
        if node not in found and isinstance(node, Expr):
            own = _of_operation(node, found)
            found[node] = rational(own) if is_rational else own
    return found[expr]


def _of_operation(node: Expr, found: Ranges) -> ValueRange:
    if node.is_number and not node.args:
        return point(node) if node.is_extended_real and node.is_finite else REALS
    if node.is_Add:
        total = point(S.Zero)
        for term in node.args:
            total = plus(total, found[term])
        return total
    if node.is_Mul:
        product = point(S.One)
        for factor in node.args:
            product = times(product, found[factor])
        return product
    if node.is_Pow:
        return _of_power(found[node.base], node.exp, found[node.exp])
    if isinstance(node, sympy.Piecewise):
        return hull([found[piece.expr] for piece in node.args])
    if not node.args:
        return assumed_range(node)
    arguments = [found.get(arg, REALS) for arg in node.args]
    if node.func in _LIMITS and len(arguments) == 1:
        return _monotone(node.func, arguments[0], is_falling=False)
    if node.func in _FALLING and len(arguments) == 1:
        return _monotone(node.func, arguments[0], is_falling=True)
    if node.func in _FUNCTIONS:
        return _FUNCTIONS[node.func](*arguments)
    return _by_assumptions(node, arguments)


def _of_power(base: ValueRange, exponent: Expr, range_of_exponent: ValueRange) -> ValueRange:
    if exponent.is_Rational:
        return interval_power(base, exponent)
    if not base.is_nonnegative:
        if exponent.is_even:
            base = absolute(base)
        elif exponent.is_number and exponent.is_integer is not True:
            base = intersection(base, NONNEGATIVE)
    if not base.is_nonnegative:
        return REALS
    logarithm = times(range_of_exponent, _monotone(sympy.log, base, is_falling=False))
    return _monotone(sympy.exp, logarithm, is_falling=False)


def _by_assumptions(node: Expr, arguments: list[ValueRange]) -> ValueRange:
    """Return the interval of a function that SymPy knows the sign of."""
    if not isinstance(node, sympy.Function) or not all(isinstance(arg, Expr) for arg in node.args):
        return assumed_range(node)
    dummies = [
        sympy.Dummy(positive=True)
        if r.is_positive
        else sympy.Dummy(nonnegative=True)
        if r.is_nonnegative
        else sympy.Dummy(real=True)
        for r in arguments
    ]
    numbers = [
        arg if arg.is_number else dummy for arg, dummy in zip(node.args, dummies, strict=True)
    ]
    return assumed_range(node.func(*numbers))


# --- smoothness -----------------------------------------------------------------------------------

# Where functions have derivatives of all orders.
_SMOOTH: dict[Callable[..., Expr], ValueRange] = {
    **dict.fromkeys(
        (
            *(sympy.exp, sympy.sin, sympy.cos, sympy.sinh, sympy.cosh, sympy.tanh, sympy.sech),
            *(sympy.atan, sympy.asinh, sympy.erf, sympy.erfc, sympy.erfi),
            *(sigmoid, sigmoid_derivative, softplus, exprel),
            *_table_functions("log_sigmoid ndtr log_ndtr erfcx sinhc tanhc log_sinhc langevin"),
        ),
        REALS,
    ),
    **dict.fromkeys(
        (
            *(sympy.log, sympy.loggamma, sympy.gamma, sympy.digamma, sympy.polygamma),
            *_table_functions("gammaln entr"),
        ),
        POSITIVE,
    ),
    sympy.acosh: PAST_ONE._replace(is_low_open=True),
    sympy.atanh: ValueRange(S.NegativeOne, S.One, True, True),
    sympy.asin: ValueRange(S.NegativeOne, S.One, True, True),
    sympy.acos: ValueRange(S.NegativeOne, S.One, True, True),
}


def is_smooth(expr: Expr) -> bool:
    """Tell whether an expression is made of sums, products, powers and smooth functions."""
    return all(map(_is_smooth_operation, postorder([expr])))


def _is_smooth_operation(node: Basic) -> bool:
    if isinstance(node, (sympy.Symbol, sympy.Add, sympy.Mul, sympy.Pow)):
        return True
    if not node.args:
        return bool(node.is_number)
    return isinstance(node, sympy.Function) and smooth_domain(node) is not None


def smooth_domain(function: Expr) -> ValueRange | None:
    """Return the arguments at which a function of one has all derivatives; None for other
    functions."""
    if isinstance(function, sympy.polygamma):
        return POSITIVE if function.args[0].is_number else None
    return _SMOOTH.get(function.func) if len(function.args) == 1 else None


def power_domain(exponent: Expr) -> ValueRange | None:
    """Return the bases at which a power is smooth, None for all but 0."""
    if exponent.is_integer and exponent.is_nonnegative:
        return REALS
    return None if exponent.is_integer else POSITIVE


def is_defined(expr: Expr, ranges: Ranges) -> bool:
    """Tell whether an expression is smooth for all values of its symbols in their intervals."""
    for node in postorder([expr]):
        if not _is_smooth_operation(node):
            return False
        if isinstance(node, sympy.Function):
            domain, argument = smooth_domain(node), node.args[-1]
        elif node.is_Pow if isinstance(node, Expr) else False:
            domain, argument = power_domain(node.exp), node.base
            if domain is None:
                found = scalar_range(argument, ranges)
                if not found.is_positive and not found.is_negative:
                    return False
                continue
            if not node.exp.is_number and domain is REALS:
                return False
        else:
            continue
        if domain is None or not lies_in(scalar_range(argument, ranges), domain):
            return False
    return True
