"""The functions: one row each, what type the value has and how to build it."""

from __future__ import annotations

from collections.abc import Callable

import sympy
from sympy import Expr, Integer

from ... import operations
from ...core import Row, TensorError, of_each_row
from ...expressions import Delta, Operand, adj, det, elementwise, inv, logdet, order_of
from .operators import exceeds, unchanged
from .types import SCALAR, Builder, Rule, Site, Type

# SymPy computes these exactly at integers, which takes forever at large ones.
_EXACT_AT_INTEGERS = {"gamma", "gammaln", "digamma"}
MAX_EXACT_ARGUMENT = 170


def _entrywise(name: str, function: Callable[..., Expr]) -> Rule:
    def build(value: Operand) -> Operand:
        if name in _EXACT_AT_INTEGERS and exceeds(value, MAX_EXACT_ARGUMENT):
            raise TensorError(f"the argument of {name} is too large")
        return elementwise(function, value)

    return Rule(unchanged, build)


def _infer_scalar(site: Site, type_: Type) -> Type:
    return SCALAR


def _infer_square(site: Site, type_: Type) -> Type:
    return site.square(0, type_)


def _infer_of_square(site: Site, type_: Type) -> Type:
    site.square(0, type_)
    return SCALAR


def _infer_diag(site: Site, type_: Type) -> Type:
    if type_ == SCALAR:
        raise site.error(f"diag needs a vector or a square matrix, not {site.show(0, type_)}")
    if type_.noun == "matrix":
        return Type(site.square(0, type_).rows)
    length = type_.rows or type_.columns
    return Type(length, length)


def _infer_filled(axes: int) -> Callable[..., Type]:
    """vector(c) and matrix(c): a scalar repeated as often as the context asks for."""

    def infer(site: Site, type_: Type) -> Type:
        if type_ != SCALAR:
            raise site.error(f"{site.node.name} repeats a scalar, not {site.show(0, type_)}")
        return Type(*[site.fresh() for _ in range(axes)])

    return infer


def _build_filled(type_: Type, value: Operand) -> Operand:
    return operations.filled(value, type_.lengths)


def infer_identity(site: Site) -> Type:
    length = site.fresh()
    return Type(length, length)


def _build_identity(type_: Type) -> Operand:
    return Delta(type_.lengths[0])


def _of_tensor(on_tensor: Builder, on_scalar: Builder) -> Builder:
    """A function that takes a scalar for a vector or matrix with one entry."""

    def build(value: Operand) -> Operand:
        return on_tensor(value) if order_of(value) else on_scalar(value)

    return build


def _itself(value: Operand) -> Operand:
    return value


def _norm1(value: Operand) -> Operand:
    return operations.sum_(elementwise(sympy.Abs, value))


FUNCTIONS: dict[str, Rule] = {
    "sum": Rule(_infer_scalar, _of_tensor(operations.sum_, _itself)),
    "norm1": Rule(_infer_scalar, _of_tensor(_norm1, sympy.Abs)),
    "norm2": Rule(_infer_scalar, _of_tensor(operations.norm, sympy.Abs)),
    "tr": Rule(_infer_of_square, _of_tensor(operations.trace, _itself)),
    "det": Rule(_infer_of_square, _of_tensor(det, _itself)),
    "logdet": Rule(_infer_of_square, _of_tensor(logdet, lambda a: sympy.log(sympy.Abs(a)))),
    "inv": Rule(_infer_square, _of_tensor(inv, lambda a: 1 / a)),
    "adj": Rule(_infer_square, _of_tensor(adj, lambda a: Integer(1))),
    "diag": Rule(_infer_diag, operations.diag),
    "vector": Rule(_infer_filled(1), _build_filled, needs_type=True),
    "matrix": Rule(_infer_filled(2), _build_filled, needs_type=True),
    "eye": Rule(infer_identity, _build_identity, needs_type=True),
}


@of_each_row
def _add_names(row: Row) -> None:
    for name in row.matrixcalculus.split():
        FUNCTIONS[name] = _entrywise(name, row.function)


NO_ARGUMENTS = {"eye"}
