"""Parse numbers, and bound those that would take SymPy forever."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isinf

import sympy
from sympy import Expr, Float, Integer, Rational

from .. import operations
from ..core import TensorError, check_size, tuning
from ..expressions import Operand, TensorExpr, View, elementwise

# SymPy evaluates these exactly at integers, which takes forever at large ones.
_EXACT_AT_INTEGERS = {"gamma", "gammaln", "digamma"}


def read_number(text: str) -> Expr:
    """Parse a number: exact, unless it has an exponent or very many digits."""
    value = float(text)
    if isinf(value) or (value == 0 and re.search("[1-9]", re.split("[eE]", text)[0])):
        raise TensorError("the number is out of the range of double precision")
    if text.isdigit():
        return Integer(int(text))
    digits, _, decimals = text.partition(".")
    if "e" in text.lower() or len(text) > 16:
        return Float(value)
    return Rational(int(digits + decimals or "0"), 10 ** len(decimals))


def check_number(value: Operand, is_constant: bool) -> None:
    """Refuse values that aren't real numbers."""
    if isinstance(value, TensorExpr):
        is_real = not (is_constant and value.has(sympy.I))
    else:
        known = is_constant or value.is_Atom
        is_real = not (known and (value.is_finite is False or value.is_real is False))
    if not is_real:
        raise TensorError("the value is not a real number")
    check_size(value.coefficient if isinstance(value, View) else value.as_coeff_Mul()[0])


def bounded_power(base: Operand, exponent: Operand) -> Operand:
    """Raise to a power entry by entry; refuse large exponents."""
    if exceeds(exponent, tuning.MAX_EXPONENT):
        raise TensorError(f"the exponent is too large; at most {tuning.MAX_EXPONENT} is possible")
    return operations.power(base, exponent)


def bounded_function(name: str, function: Callable[..., Expr]) -> Callable[[Operand], Operand]:
    """Wrap a function to refuse arguments too large to be evaluated exactly."""

    def build(value: Operand) -> Operand:
        if name in _EXACT_AT_INTEGERS and exceeds(value, tuning.MAX_EXACT_ARGUMENT):
            raise TensorError(f"the argument of {name} is too large")
        return elementwise(function, value)

    return build


def exceeds(value: Operand, bound: int) -> bool:
    """Tell whether a value is a number, or filled with one, of a magnitude above the bound."""
    if isinstance(value, View) and value.is_constant_fill:
        value = value.coefficient
    return bool(getattr(value, "is_Number", False) and abs(value) > bound)
