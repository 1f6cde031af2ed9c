"""A rule for functions of what has a known sign."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Any

from sympy import Dummy, Expr

from ..elementwise import apply_body, slot
from ..properties import is_nonnegative, is_positive


def use_signs(node: Any, closed: Collection[Any]) -> Any:
    """Abs(x) = x, sign(x) = 1, Max(x, 0) = x where x is positive."""
    # Most functions are the same of positive numbers: nothing needs to be asked.
    if _with_signs(node.body, ("positive",) * len(node.operands)) == node.body:
        return None
    signs = tuple(
        [
            "positive" if is_positive(o) else "nonnegative" if is_nonnegative(o) else "real"
            for o in node.operands
        ]
    )
    body = _with_signs(node.body, signs)
    return None if body == node.body else apply_body(body, node.operands)


@lru_cache(maxsize=4096)
def _with_signs(body: Expr, signs: tuple[str, ...]) -> Expr:
    """A scalar expression as SymPy evaluates it where its slots have some signs."""
    known = {slot(k): Dummy(**{sign: True}) for k, sign in enumerate(signs)}
    return body.xreplace(known).xreplace({dummy: place for place, dummy in known.items()})
