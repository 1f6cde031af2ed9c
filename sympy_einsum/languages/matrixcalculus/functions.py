"""List the functions: one row each, with its type inference and its builder."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sympy
from sympy import Expr, Integer

from ... import operations
from ...core import Row, for_each_row
from ...expressions import Delta, Operand, adj, det, elementwise, inv, logdet, order_of
from ..numbers import bounded_function
from .operators import infer_elementwise, literal_integer, unchanged
from .types import SCALAR, Builder, InferenceContext, Type, TypeRule


def _infer_scalar(site: InferenceContext, type_: Type) -> Type:
    return SCALAR


def _infer_square(site: InferenceContext, type_: Type) -> Type:
    return site.square(0, type_)


def _infer_of_square(site: InferenceContext, type_: Type) -> Type:
    site.square(0, type_)
    return SCALAR


def _infer_diag(site: InferenceContext, type_: Type) -> Type:
    if type_ == SCALAR:
        raise site.kind_error(f"diag needs a vector or a square matrix, not {site.show(0, type_)}")
    if type_.noun == "matrix":
        return Type(site.square(0, type_).rows)
    length = type_.rows or type_.columns
    return Type(length, length)


def _infer_filled(axes: int) -> Callable[..., Type]:
    """Return the inference of vector(c) and matrix(c), whose lengths depend on the context."""

    def infer(site: InferenceContext, type_: Type) -> Type:
        if type_ != SCALAR:
            raise site.kind_error(f"{site.node.name} repeats a scalar, not {site.show(0, type_)}")
        return Type(*[site.fresh() for _ in range(axes)])

    return infer


def _build_filled(types: Sequence[Type], value: Operand) -> Operand:
    return operations.filled(value, types[0].lengths)


def infer_identity(site: InferenceContext) -> Type:
    length = site.fresh()
    return Type(length, length)


def _of_tensor(on_tensor: Builder, on_scalar: Builder) -> Builder:
    """Extend a function of a vector or matrix to scalars."""

    def build(value: Operand) -> Operand:
        return on_tensor(value) if order_of(value) else on_scalar(value)

    return build


def _itself(value: Operand) -> Operand:
    return value


def _direction(site: InferenceContext, type_: Type) -> int | None:
    """Return 1 for "down the columns", 2 for "along the rows", as in MATLAB, or None."""
    name, given = site.node.name, site.node.children[1:]
    if not given:
        return None
    direction = literal_integer(given[0])
    if direction not in (1, 2):
        raise site.error(f"{name} goes down the columns (1) or along the rows (2)")
    if type_[direction - 1] is None:
        raise site.error(f"{site.show(0, type_)} has no direction {direction}")
    return direction


def _infer_reduction(site: InferenceContext, type_: Type, *_: Type) -> Type:
    direction = _direction(site, type_)
    if direction is None:
        return SCALAR
    return Type(None, type_.columns) if direction == 1 else Type(type_.rows)


def _infer_along(site: InferenceContext, type_: Type, *_: Type) -> Type:
    if _direction(site, type_) is None and type_.noun == "matrix":
        name, shown = site.node.name, site.quote(0)
        raise site.error(
            f"{name} of a matrix goes down its columns, {name}({shown}, 1), or along its rows, "
            f"{name}({shown}, 2)"
        )
    return type_


def _axis(value: Operand, direction: Sequence[Operand]) -> int | None:
    """Return the axis to reduce; a vector has only one."""
    return int(direction[0]) - 1 if direction and order_of(value) == 2 else None


def _reduction(function: Callable[..., Operand], of_scalar: Builder) -> TypeRule:
    """Build a function of all entries, or of those in one direction."""

    def build(value: Operand, *direction: Operand) -> Operand:
        if not order_of(value):
            return of_scalar(value)
        return function(value, axis=_axis(value, direction))

    return TypeRule(_infer_reduction, build, arities=(1, 2))


def _build_softmax(value: Operand, *direction: Operand) -> Operand:
    if not order_of(value):
        return Integer(1)
    return operations.softmax(value, axis=_axis(value, direction) or 0)


def _infer_vec(site: InferenceContext, type_: Type) -> Type:
    rows, columns = type_
    return Type(site.fresh(factors=(columns, rows))) if rows and columns else Type(rows or columns)


def _infer_kron(site: InferenceContext, left: Type, right: Type) -> Type:
    pairs = zip(left, right, strict=True)
    return Type(*[site.fresh(factors=(a, b)) if a and b else a or b for a, b in pairs])


def _build_kron(types: Sequence[Type], *values: Operand) -> Operand:
    """Convert vectors to matrices of one row or column."""
    matrices = [
        operations.reshape(value, [1 if axis is None else axis.known() for axis in type_])
        for type_, value in zip(types[1:], values, strict=True)
    ]
    return operations.reshape(operations.kron(*matrices), types[0].lengths)


def _extremum(reduce: Callable[..., Operand], pairwise: Callable[..., Expr]) -> TypeRule:
    """Build an extremum of all entries, or of corresponding entries of two values."""

    def infer(site: InferenceContext, *types: Type) -> Type:
        return SCALAR if len(types) == 1 else infer_elementwise(site, *types)

    def build(*values: Operand) -> Operand:
        if len(values) == 2:
            return elementwise(pairwise, *values)
        return reduce(values[0]) if order_of(values[0]) else values[0]

    return TypeRule(infer, build, arities=(1, 2))


_NORM = TypeRule(_infer_scalar, _of_tensor(operations.norm, sympy.Abs))
FUNCTIONS: dict[str, TypeRule] = {
    "sum": _reduction(operations.sum, _itself),
    "logsumexp": _reduction(operations.logsumexp, _itself),
    "softmax": TypeRule(_infer_along, _build_softmax, arities=(1, 2)),
    "max": _extremum(operations.max, sympy.Max),
    "min": _extremum(operations.min, sympy.Min),
    "norm1": TypeRule(
        _infer_scalar,
        _of_tensor(lambda value: operations.sum(elementwise(sympy.Abs, value)), sympy.Abs),
    ),
    "norm2": _NORM,
    "normF": _NORM,
    "tr": TypeRule(_infer_of_square, _of_tensor(operations.trace, _itself)),
    "det": TypeRule(_infer_of_square, _of_tensor(det, _itself)),
    "logdet": TypeRule(_infer_of_square, _of_tensor(logdet, lambda a: sympy.log(sympy.Abs(a)))),
    "inv": TypeRule(_infer_square, _of_tensor(inv, lambda a: 1 / a)),
    "adj": TypeRule(_infer_square, _of_tensor(adj, lambda a: Integer(1))),
    "diag": TypeRule(_infer_diag, operations.diag),
    "vec": TypeRule(_infer_vec, _of_tensor(operations.vec, _itself)),
    "kron": TypeRule(_infer_kron, _build_kron, needs_types=True, arities=(2,)),
    "vector": TypeRule(_infer_filled(1), _build_filled, needs_types=True),
    "matrix": TypeRule(_infer_filled(2), _build_filled, needs_types=True),
    "eye": TypeRule(
        infer_identity, lambda types: Delta(types[0].lengths[0]), needs_types=True, arities=(0,)
    ),
}


@for_each_row
def _add_names(row: Row) -> None:
    for name in row.matrixcalculus.split():
        FUNCTIONS[name] = TypeRule(unchanged, bounded_function(name, row.function))
