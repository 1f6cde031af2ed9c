"""Printing of exact numbers with more digits than Python writes, for SymPy's printers.

Texts that are read back hold them in hexadecimal digits, formulas rounded to a float's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sympy import Rational
from sympy.printing.printer import Printer

from ..core import integer_text, is_long

# The digits of a float.
DIGITS = 15


def rounded(own: Callable[..., Any], printer: Printer, number: Rational) -> Any:
    """Write a number in a formula."""
    return printer._print(number.evalf(DIGITS)) if is_long(number) else own(printer, number)


def quotient(own: Callable[..., str], printer: Printer, number: Rational) -> str:
    """Write a number in the text of ``str``."""
    if not is_long(number):
        return own(printer, number)
    numerator, denominator = integer_text(number.p), integer_text(number.q)
    return numerator if number.is_Integer else f"{numerator}/{denominator}"


def constructed(own: Callable[..., str], printer: Printer, number: Rational) -> str:
    """Write a number in the text of ``srepr``."""
    if not is_long(number):
        return own(printer, number)
    numerator, denominator = integer_text(number.p), integer_text(number.q)
    return f"Integer({numerator})" if number.is_Integer else f"Rational({numerator}, {denominator})"
