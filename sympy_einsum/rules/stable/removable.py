"""Quotients of sums whose terms have removable singularities, as derivatives of functions of a norm
have at 0."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sympy import Add, Expr, Mul

from ...analysis import Barriers, Product, inlined_product
from ...core import Use, tuning
from ...expressions import Operand, TensorAdd, TensorExpr, View, is_tensor, tensor_sum
from .functions import stable_scalar
from .matching import has_functions
from .nodes import stable_node


def divide_terms(node: View, barriers: Barriers) -> Operand | None:
    """Divide each term of a sum in a product, where all quotients are finite: (sin(u)*x +
    jn(1, u)*y)/u with u = norm(w)."""
    divisor = _divisor(node.scalars)
    if divisor is None:
        return None
    rest = tuple([scalar for scalar in node.scalars if scalar is not divisor])
    undivided = replace(inlined_product(node), scalars=rest).build()
    return _quotient(undivided, divisor, tuning.STABLE_FORM_DEPTH)


def divide_scalar_terms(node: Operand, barriers: Barriers) -> Expr | None:
    """Divide each term of a scalar sum, where all quotients are finite."""
    divisor = _divisor(node.args) if isinstance(node, Mul) else None
    if divisor is None:
        return None
    return _scalar_quotient(node / divisor, divisor, tuning.STABLE_FORM_DEPTH)


def divide_factor(node: View, barriers: Barriers) -> Operand | None:
    """Divide a factor by the scalar at whose zero it vanishes: (exp(c*x) - 1)/c."""
    for divisor in _powers_in_denominator(node.scalars):
        rest = tuple([scalar for scalar in node.scalars if scalar is not divisor])
        found = _divided(replace(inlined_product(node), scalars=rest), divisor)
        if found is not None:
            return found
    return None


def divide_scalar_factor(node: Operand, barriers: Barriers) -> Expr | None:
    """Divide a factor of a contraction by the scalar at whose zero it vanishes."""
    for divisor in _powers_in_denominator(node.args) if isinstance(node, Mul) else ():
        for contraction in node.args:
            if isinstance(contraction, TensorExpr):
                found = _divided(inlined_product(contraction), divisor)
                if found is not None:
                    return node / divisor / contraction * found
    return None


def _powers_in_denominator(scalars: Sequence[Expr]) -> list[Expr]:
    return [own for own in scalars if own.is_Pow and own.exp.is_negative and own.base.free_symbols]


def _divided(product: Product, divisor: Expr) -> Operand | None:
    """Divide one factor of a product, where its quotient is finite."""
    for k, operand in enumerate(product.operands):
        if not (is_tensor(operand) and operand.has(divisor.base)):
            continue
        found = stable_node(operand * divisor, Use.DIFFERENTIATING)
        if found is not None and divisor.base not in map(_base, inlined_product(found).scalars):
            return product.replaced({k}, [(found, product.subscripts[k])]).build()
    return None


def _base(scalar: Expr) -> Expr:
    return scalar.as_base_exp()[0]


def _divisor(scalars: Sequence[Expr]) -> Expr | None:
    """Return the only scalar factor with a negative exponent."""
    found = [own for own in scalars if own.is_Pow and own.exp.is_negative]
    return found[0] if len(found) == 1 else None


def _quotient(node: Operand, divisor: Expr, depth: int) -> Operand | None:
    """Return a tensor times a negative power, all of whose terms cancel it."""
    product = inlined_product(node)
    scalar = _scalar_quotient(Mul(*product.scalars), divisor, depth)
    if scalar is not None:
        return replace(product, scalars=(scalar,)).build()
    for k, total in enumerate(product.operands if depth else ()):
        if not isinstance(total, TensorAdd) or len(total.operands) > tuning.STABLE_TERMS:
            continue
        terms = _all_or_none(_quotient(term, divisor, depth - 1) for term in total.operands)
        if terms:
            return product.replaced({k}, [(tensor_sum(terms), product.subscripts[k])]).build()
    return None


def _all_or_none(quotients: Iterator[Operand | None]) -> list[Operand]:
    """List quotients up to the first that there isn't; none then."""
    found = []
    for quotient in quotients:
        if quotient is None:
            return []
        found.append(quotient)
    return found


def _scalar_quotient(scalar: Expr, divisor: Expr, depth: int) -> Expr | None:
    """Return a scalar times a negative power that cancels in each of its terms."""
    if not has_functions(scalar):
        return None
    for total in Mul.make_args(scalar) if depth else ():
        if total.is_Add and len(total.args) <= tuning.STABLE_TERMS:
            terms = _all_or_none(_scalar_quotient(own, divisor, depth - 1) for own in total.args)
            if terms:
                return scalar / total * Add(*terms)
    found = stable_scalar(scalar * divisor, (), Use.DIFFERENTIATING)
    left = () if found is None else Mul.make_args(found)
    is_left = any(own.is_Pow and own.base == divisor.base and own.exp.is_negative for own in left)
    return None if is_left else found
