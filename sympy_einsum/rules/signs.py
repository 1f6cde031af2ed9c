"""Rules for functions of what has a known sign."""

from __future__ import annotations

from sympy import S

from ..analysis import Barriers, is_positive
from ..expressions import LOG, Operand, apply_body, scale


def log_of_power(node: Operand, barriers: Barriers) -> Operand | None:
    """log(x**a) = a log(x) where x is positive; for odd a there is no logarithm elsewhere."""
    if node.body != LOG:
        return None
    base, exponent = node.operands[0].as_entry_power()
    if exponent is S.One or not (exponent.is_odd or is_positive(base)):
        return None
    return scale(exponent, apply_body(LOG, (base,)))
