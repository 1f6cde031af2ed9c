"""List the operators: one row each, with its type inference and its builder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from ... import operations
from ...core import TensorError, tuning
from ...expressions import Operand, matrix_power, order_of
from ..nodes import SyntaxNode
from ..numbers import bounded_power
from .types import SCALAR, InferenceContext, Type, TypeRule


def _infer_same_shape(site: InferenceContext, left: Type, right: Type) -> Type:
    """Infer sums, differences and elementwise operations of two tensors."""
    if left.noun != right.noun:
        raise site.error(_mismatch(site, left, right))
    for axis, a, b in zip(("rows", "columns"), left, right, strict=True):
        if a is not None and b is not None and not a.merge(b):
            raise site.error(f"{site.quote(0)} has {a} {axis}, but {site.quote(1)} has {b} {axis}")
    return left


def _mismatch(site: InferenceContext, left: Type, right: Type) -> str:
    name = site.node.name
    message = f"{name} can't combine {site.show(0, left)} with {site.show(1, right)}"
    for k, (type_, other) in enumerate([(left, right), (right, left)]):
        if type_.noun == "scalar":
            maker = {"column vector": "vector({})", "row vector": "vector({})'"}
            made = maker.get(other.noun, "matrix({})").format(site.quote(k))
            message += f"; to repeat the scalar write {made}"
            if site.node.children[k].kind == "variable":
                noun = "matrix" if other.noun == "matrix" else "vector"
                message += f', or declare "{site.quote(k)} {noun}"'
            return message
    if "matrix" not in (left.noun, right.noun):
        return f"{message}; transpose one of them with '"
    return message


def infer_elementwise(site: InferenceContext, left: Type, right: Type) -> Type:
    """Infer elementwise operators, which broadcast scalars."""
    if SCALAR in (left, right):
        return right if left == SCALAR else left
    return _infer_same_shape(site, left, right)


def _infer_product(site: InferenceContext, left: Type, right: Type) -> Type:
    if SCALAR in (left, right):
        return right if left == SCALAR else left
    inner, other = left.columns, right.rows
    if inner is not None and other is not None and not inner.merge(other):
        raise site.error(
            f"{site.quote(0)} has {inner} columns, but {site.quote(1)} has {other} rows"
        )
    if (inner is None) != (other is None):
        raise site.kind_error(
            f"* can't multiply {site.show(0, left)} with {site.show(1, right)}; "
            + _product_hint(site, left, right)
        )
    return Type(left.rows, right.columns)


def _product_hint(site: InferenceContext, left: Type, right: Type) -> str:
    x, y = (
        quoted if re.fullmatch(r"\w+'*|\w*\([^()]*\)", quoted) else f"({quoted})"
        for quoted in (site.quote(0), site.quote(1))
    )
    if left.noun == right.noun:
        inner = f"{x}'*{y}" if left.columns is None else f"{x}*{y}'"
        return f"write {x}.*{y} for the elementwise or {inner} for the inner product"
    if left.noun == "matrix":
        return f"a matrix stands left of a column vector, such as {_transposed(y)}"
    return f"a matrix stands right of a row vector, such as {_transposed(x)}"


def _transposed(quoted: str) -> str:
    return quoted[:-1] if quoted.endswith("'") else f"{quoted}'"


def _build_product(types: Sequence[Type], left: Operand, right: Operand) -> Operand:
    orders = order_of(left), order_of(right)
    if 0 in orders:
        return operations.multiply(left, right)
    is_outer = orders == (1, 1) and types[0] != SCALAR
    return (operations.outer if is_outer else operations.matmul)(left, right)


def _infer_quotient(site: InferenceContext, left: Type, right: Type) -> Type:
    if right != SCALAR:
        hint = "./ for the elementwise quotient"
        if right.noun == "matrix":
            hint += f", or inv({site.quote(1)}) in a product"
        raise site.kind_error(f"/ can't divide by {site.show(1, right)}; write {hint}")
    return left


def _build_quotient(left: Operand, right: Operand) -> Operand:
    if right == 0:
        raise TensorError("division by zero")
    return operations.divide(left, right)


def _infer_power(site: InferenceContext, base: Type, exponent: Type) -> Type:
    below, above = site.node.children
    if below.kind == "binary" and below.name == "^" and not below.in_parentheses:
        a, b, c = (site.text[n.start : n.end] for n in (*below.children, above))
        raise site.error(f"repeated ^ is ambiguous; write ({a}^{b})^{c} or {a}^({b}^{c})")
    if exponent != SCALAR and above.name == "T":
        raise site.error(f"the transpose is written {site.quote(0)}'")
    if exponent != SCALAR:
        raise site.error(
            f"^ needs a scalar exponent, not {site.show(1, exponent)}; "
            "the elementwise power is written .^"
        )
    if base == SCALAR:
        return base
    if base.noun != "matrix":
        raise site.error(
            f"^ is the power of a scalar or a square matrix, not of {site.show(0, base)}; "
            "the elementwise power is written .^"
        )
    value = literal_integer(above)
    if value is None or abs(value) > tuning.MAX_MATRIX_POWER:
        raise site.error(
            f"^ of a matrix needs an integer exponent between {-tuning.MAX_MATRIX_POWER} and "
            f"{tuning.MAX_MATRIX_POWER}, not {site.quote(1)}; the elementwise power is written .^"
        )
    return site.square(0, base)


def literal_integer(node: SyntaxNode) -> int | None:
    """Return the value of an integer literal, or None."""
    sign = 1
    while node.kind == "prefix":
        sign = -sign if node.name == "-" else sign
        node = node.children[0]
    is_integer = node.kind == "number" and node.name.isdigit() and len(node.name) < 10
    return sign * int(node.name) if is_integer else None


def _build_power(base: Operand, exponent: Operand) -> Operand:
    if order_of(base):
        return matrix_power(base, exponent)
    return bounded_power(base, exponent)


def unchanged(site: InferenceContext, type_: Type) -> Type:
    return type_


OPERATORS: dict[tuple[str, str], TypeRule] = {
    ("binary", "+"): TypeRule(_infer_same_shape, operations.add),
    ("binary", "-"): TypeRule(_infer_same_shape, operations.subtract),
    ("binary", "*"): TypeRule(_infer_product, _build_product, needs_types=True),
    ("binary", "/"): TypeRule(_infer_quotient, _build_quotient),
    ("binary", "^"): TypeRule(_infer_power, _build_power),
    ("binary", ".*"): TypeRule(infer_elementwise, operations.multiply),
    ("binary", "./"): TypeRule(infer_elementwise, _build_quotient),
    ("binary", ".^"): TypeRule(infer_elementwise, bounded_power),
    ("prefix", "-"): TypeRule(unchanged, partial(operations.multiply, -1)),
    ("prefix", "+"): TypeRule(unchanged, operations.add),
    ("postfix", "'"): TypeRule(
        lambda site, type_: Type(type_.columns, type_.rows), operations.transpose
    ),
}
