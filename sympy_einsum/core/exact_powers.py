"""Exact numbers that may be too long to be computed or written in decimal digits."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from math import prod

from sympy import Basic, Expr, Float, Pow, Rational, S, sympify

from . import tuning
from .errors import TensorError
from .traversal import postorder

# A decimal digit takes 3.32 bits.
BITS_PER_DIGIT = 3.32
# The decimal digits of a double.
FLOAT_DIGITS = 15
# The maximum of a number in a text: about that of a double.
MAX_NUMBER = 10**308


def check_size(number: Expr | int) -> None:
    """Raise an error if a number of a text, or its denominator, exceeds MAX_NUMBER."""
    denominator = number.q if isinstance(number, Rational) else 1
    if abs(number) > MAX_NUMBER or denominator > MAX_NUMBER:
        raise TensorError("the number is too large; use a floating-point number")


def number_bits(value: Basic) -> int:
    """Return the bits of the longer of numerator and denominator of an exact number, the absolute
    binary exponent of a floating-point one, and 0 for 1 and other expressions.

    >>> from sympy import Float, Rational
    >>> number_bits(Rational(1, 2**20)), number_bits(Float(0.5) ** 20)
    (21, 19)
    """
    if value is S.One or not value.is_Number:
        return 0
    if isinstance(value, Rational):
        return max(int(value.p).bit_length(), int(value.q).bit_length())
    return abs(sum(value._mpf_[2:])) if isinstance(value, Float) else 0


def is_long(number: Expr | int) -> bool:
    """Check whether Python refuses to write an exact number in decimal digits.

    >>> is_long(2**10_000), is_long(2**20_000)
    (False, True)
    """
    limit = sys.get_int_max_str_digits()
    return limit > 0 and number_bits(sympify(number)) > BITS_PER_DIGIT * limit


def integer_text(number: int) -> str:
    """Write an integer as a Python literal, in hexadecimal digits if Python refuses decimal ones.

    >>> integer_text(-2**10), integer_text(-2**20_000)[:5]
    ('-1024', '-0x10')
    """
    return hex(number) if is_long(number) else str(number)


def unmultiplied_number(factors: Sequence[Basic]) -> Basic | None:
    """Return the longest number if the product of all is too long, else None: as one coefficient
    hundreds of them would overflow or underflow where the product of all factors doesn't.

    >>> unmultiplied_number([Rational(1, 2**200), Rational(1, 2**100)]) == Rational(1, 2**200)
    True
    >>> unmultiplied_number([Rational(1, 2**200), Rational(2**200)])
    """
    bits = [number_bits(factor) for factor in factors]
    if sum(bits) <= tuning.MAX_COEFFICIENT_BITS:
        return None
    longest = max(bits)
    numbers = [factor for factor, own in zip(factors, bits, strict=True) if own]
    if number_bits(prod(numbers, start=S.One)) <= longest:
        return None  # they cancel
    return factors[bits.index(longest)]


def exact_power(base: Expr | int, exponent: Expr | int) -> Expr:
    """Return SymPy's power, if that isn't a rational number too long to be computed.

    >>> exact_power(2, 10)
    1024
    """
    base, exponent = sympify(base), sympify(exponent)
    factor = base.as_coeff_Mul()[0]  # SymPy takes it out of the power
    if factor.is_Rational and exponent.is_Rational:
        bits = max(int(factor.p).bit_length(), int(factor.q).bit_length()) - 1
        if bits * abs(exponent) > tuning.MAX_NUMBER_BITS:
            raise TensorError(
                f"an exact power has more than {tuning.MAX_NUMBER_BITS} bits; give the base or the "
                "exponent as a floating-point number, such as 2.0"
            )
    return Pow(base, exponent)


def fold_constants(body: Expr, values: Mapping[Expr, Expr]) -> Expr:
    """Return a body with numbers in the place of some of its symbols; nan where that divides by
    0."""
    if body.has(Pow):
        for part in postorder([body], lambda node: node.args):
            if part.is_Pow:
                exact_power(part.base.xreplace(values), part.exp.xreplace(values))
    try:
        return body.xreplace(values)
    except ZeroDivisionError:
        return S.NaN
