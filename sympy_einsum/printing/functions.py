"""Build forms of elementwise functions: Hadamard products and powers, functions of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from sympy import Expr, Function, Max, Min, exp

from ..core import Shape
from ..expressions import Slot, indicator_condition, slot
from . import algebra, forms
from .forms import ATOM, POWER, Form


@lru_cache(maxsize=64)
def slots(count: int) -> tuple[Slot, ...]:
    """Return the first slots of a body."""
    return tuple([slot(k) for k in range(count)])


def body_level(body: Expr) -> int:
    """Return the precedence of a scalar expression in slots."""
    # A power needs brackets when it is raised again.
    if isinstance(body, exp):
        return POWER
    return ATOM if indicator_condition(body) is not None else forms.stock(body).level


def elementwise_form(body: Expr, operands: Sequence[Form], shape: Shape) -> Form:
    """Apply a scalar body to forms: Hadamard products and powers, functions of tensors."""
    if isinstance(body, Slot):
        return operands[body.place]
    given = [operands[s.place] for s in body.free_symbols if isinstance(s, Slot)]
    if not any(form.axes for form in given):
        if not given:
            return forms.stock(body)
        return Form("applied", list(operands), body, 0, body_level(body))

    axes = len(shape)

    def inner(part: Expr) -> Form:
        return elementwise_form(part, operands, shape)

    if body.is_Add:
        terms = [inner(part) for part in body.args]
        return algebra.total(
            [term if term.axes else algebra.product([term, algebra.ones(shape)]) for term in terms],
            axes,
        )
    if body.is_Mul:
        return algebra.hadamard([inner(part) for part in body.args])
    if body.is_Pow and body.exp.is_Number:
        return algebra.hadamard_power(inner(body.base), body.exp)
    # A Piecewise has pairs for arguments, and Meijer's function tuples.
    if isinstance(body, (Function, Max, Min)) and all(isinstance(a, Expr) for a in body.args):
        parts = [inner(part) for part in body.args if part.free_symbols]
        places = iter(slots(len(parts)))
        template = body.func(*[next(places) if part.free_symbols else part for part in body.args])
        level = ATOM if isinstance(template, exp) else body_level(template)
        return Form("applied", parts, template, axes, level)
    return Form("applied", list(operands), body, axes, body_level(body))
