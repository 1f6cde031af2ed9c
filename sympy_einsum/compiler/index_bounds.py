"""What indexing asks of axis lengths that are known only when arrays are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Expr

from ..core import postorder
from ..expressions import Selection, Unit


def position_bounds(exprs: Sequence[Any]) -> list[Expr]:
    """What mustn't be negative, so that every entry and slice that is taken lies on its axis;
    NumPy would cut a slice short, and the result would have another shape than the expression.

    >>> import sympy as sp
    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", sp.Symbol("n", integer=True, positive=True))
    >>> position_bounds([x[2:5].sum()])
    [n - 5]
    """
    found: dict[Expr, None] = {}
    for node in postorder(exprs):
        if isinstance(node, Unit):
            length, position = node.data
            found.update(dict.fromkeys([position, length - 1 - position]))
        elif isinstance(node, Selection) and node.data[-1] != 0:
            length, start, step, count = node.data
            ends = [start, start + step * (count - 1)]
            low, high = ends if step > 0 else ends[::-1]
            found.update(dict.fromkeys([low, length - 1 - high, count]))
    return [bound for bound in found if not bound.is_number and not bound.is_Symbol]
