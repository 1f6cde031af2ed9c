"""Rules for functions of what has a known sign."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sympy import S, log

from ..expressions import apply_body, scale, slot, with_signs
from .properties import is_nonnegative, is_positive


def use_signs(node: Any, closed: Collection[Any]) -> Any:
    """Abs(x) = x, sign(x) = 1, Max(x, 0) = x where x is positive."""
    # Most functions are the same of positive numbers: nothing needs to be asked.
    if with_signs(node.body, ("positive",) * len(node.operands)) == node.body:
        return None
    signs = tuple(
        [
            "positive" if is_positive(o) else "nonnegative" if is_nonnegative(o) else "real"
            for o in node.operands
        ]
    )
    body = with_signs(node.body, signs)
    return None if body == node.body else apply_body(body, node.operands)


def log_of_power(node: Any, closed: Collection[Any]) -> Any:
    """log(x**a) = a log(x) where x is positive."""
    if node.body != _LOG:
        return None
    base, exponent = node.operands[0].as_entry_power()
    if exponent is S.One or not is_positive(base):
        return None
    return scale(exponent, apply_body(_LOG, (base,)))


_LOG = log(slot(0))
