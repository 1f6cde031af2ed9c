"""Quotients of sums whose terms have removable singularities, as derivatives of functions of a norm
have at 0."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sympy import Add, Expr, Mul

from ...analysis import Barriers, inlined_product
from ...core import Use, tuning
from ...expressions import Operand, TensorAdd, View, tensor_sum
from .functions import stable_scalar
from .matching import has_functions


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
