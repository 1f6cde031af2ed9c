"""Forms of the nodes that aren't products: leaves, matrix functions, elementwise functions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sympy import Expr, Function, ImmutableDenseMatrix, Max, Min, exp

from ..expressions import (
    Adj,
    AxesFunction,
    Cofactors,
    Constant,
    Det,
    Inv,
    LogDet,
    Reshape,
    Selection,
    Slot,
    TensorExpr,
    TensorSymbol,
    Unit,
    Zeros,
    indicated,
    slot,
)
from . import algebra, forms
from .forms import ATOM, POWER, Form
from .slices import entry as cut_entry

# Constants with more entries aren't written out.
MAX_ENTRIES = 36


def leaf_form(node: TensorExpr) -> Form:
    """The form of a node without operands."""
    if isinstance(node, TensorSymbol):
        return Form("symbol", (), (node, node.is_symmetric), node.order)
    if isinstance(node, Zeros):
        return Form("zeros", (), node.shape, node.order)
    if isinstance(node, Unit):
        return Form("unit", (), (node.position, node.length), 1)
    if isinstance(node, Selection):
        return Form("slice", [forms.identity(node.length)], (cut_entry(node), None), 2)
    if isinstance(node, Constant):
        values = node.array
        if values.ndim <= 2 and values.size <= MAX_ENTRIES:
            return Form("array", (), ImmutableDenseMatrix(values.tolist()), node.order)
        return forms.call("array", axes=node.order, note=node.shape)
    raise TypeError(f"no printed form for {type(node).__name__}")


def function_form(node: TensorExpr, operand: Form) -> Form:
    """The form of a function of one whole tensor."""
    if isinstance(node, Inv):
        return algebra.inverse(operand)
    if isinstance(node, LogDet):
        return Form("logdet", [operand])
    if isinstance(node, (Det, Adj)):
        return forms.call(type(node).__name__.lower(), operand, axes=node.order)
    if isinstance(node, Cofactors):
        return forms.call("cof", operand, axes=node.order, note=(node.degree,))
    if isinstance(node, AxesFunction):
        every = len(node.axes) == node.operands[0].order
        note = None if every else node.axes
        return forms.call(type(node).__name__.lower(), operand, axes=node.order, note=note)
    if isinstance(node, Reshape):
        if node.order == 1 and node.operands[0].order == 2:
            # The textbooks' vec goes down the columns.
            return forms.call("vec", algebra.transpose(operand), axes=1)
        return forms.call("reshape", operand, axes=node.order, note=node.shape)
    raise TypeError(f"no printed form for {type(node).__name__}")


# --- elementwise functions -----------------------------------------------------------------------


@lru_cache(maxsize=64)
def slots(count: int) -> tuple[Any, ...]:
    """The first slots of a body."""
    return tuple([slot(k) for k in range(count)])


def body_level(body: Any) -> int:
    """How tightly a scalar expression in slots holds together."""
    # What is raised already needs brackets when it is raised again.
    if isinstance(body, exp):
        return POWER
    return ATOM if indicated(body) is not None else forms.stock(body).level


def elementwise_form(body: Any, operands: Sequence[Form], shape: Sequence[Any]) -> Form:
    """A scalar body on tensors: Hadamard products and powers, functions of tensors."""
    if isinstance(body, Slot):
        return operands[body.place]
    given = [operands[s.place] for s in body.free_symbols if isinstance(s, Slot)]
    if not any(form.axes for form in given):
        if not given:
            return forms.stock(body)
        return Form("placed", list(operands), body, 0, body_level(body))

    axes = len(shape)

    def inner(part: Any) -> Form:
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
        return Form("placed", parts, template, axes, level)
    return Form("placed", list(operands), body, axes, body_level(body))
