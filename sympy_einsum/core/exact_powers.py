"""Powers of numbers, unless they are too long to be computed."""

from __future__ import annotations

from collections.abc import Mapping

from sympy import Expr, Pow, Rational, S, sympify

from .errors import TensorError
from .traversal import postorder

# An exact number of more bits is of no use, and takes for ever to compute.
MAX_BITS = 10**6
# Numbers of texts are doubles at last.
MAX_NUMBER = 10**308


def check_size(number: Expr | int) -> None:
    """Raise an error for a number of a text that, or whose denominator, is too large."""
    denominator = number.q if isinstance(number, Rational) else 1
    if abs(number) > MAX_NUMBER or denominator > MAX_NUMBER:
        raise TensorError("the number is too large")


def exact_power(base: Expr | int, exponent: Expr | int) -> Expr:
    """SymPy's power, if that isn't a rational number too long to be computed.

    >>> exact_power(2, 10)
    1024
    """
    base, exponent = sympify(base), sympify(exponent)
    factor = base.as_coeff_Mul()[0]  # SymPy takes it out of the power
    if factor.is_Rational and exponent.is_Rational:
        bits = max(int(factor.p).bit_length(), int(factor.q).bit_length()) - 1
        if bits * abs(exponent) > MAX_BITS:
            raise TensorError(
                f"an exact power has more than {MAX_BITS} bits; give the base or the exponent as "
                "a floating-point number, such as 2.0"
            )
    return Pow(base, exponent)


def folded(body: Expr, values: Mapping[Expr, Expr]) -> Expr:
    """A body with numbers in the place of some of its symbols; nan where that divides by 0."""
    if body.has(Pow):
        for part in postorder([body], lambda node: node.args):
            if part.is_Pow:
                exact_power(part.base.xreplace(values), part.exp.xreplace(values))
    try:
        return body.xreplace(values)
    except ZeroDivisionError:
        return S.NaN
