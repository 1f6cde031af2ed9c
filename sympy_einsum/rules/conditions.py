"""Rules for conditions: arguments of which only the sign matters.

A step function of t r - (t - 1) r is one of r: like terms are collected and positive factors
divided out, which moves no tie.
"""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Add, Eq, Expr, Ge, Gt, Le, Lt, Mul, Ne, S, igcd, ordered, sign

from ..analysis import Barriers, inlined_product, is_positive, like_terms, times_entries
from ..core import step, tuning
from ..expressions import (
    Operand,
    TensorAdd,
    apply_body,
    is_tensor,
    scale,
    slot,
    substitute_slots,
    tensor_sum,
)
from .sums import expand_scalar

# Functions of the sign of their first argument.
SIGNS = (step, sign)
RELATIONS = (Eq, Ge, Gt, Le, Lt, Ne)


def normal_condition(node: Operand, barriers: Barriers) -> Operand | None:
    """step(c s x + c t x) = step((s + t) x) for positive c; relations likewise."""
    if any(isinstance(o, TensorAdd) and o in barriers for o in node.operands):
        return None
    fresh = slot(len(node.operands))
    for part in ordered(node.body.atoms(*SIGNS, *RELATIONS)):
        is_relation = isinstance(part, RELATIONS)
        if not all(isinstance(side, Expr) for side in part.args):
            continue  # two conditions are equal
        argument = part.lhs - part.rhs if is_relation else part.args[0]
        found = _normal_argument(argument, node, not is_relation)
        if found is not None:
            rest = (S.Zero,) if is_relation else part.args[1:]
            body = substitute_slots(node.body, ((part, part.func(fresh, *rest)),))
            return apply_body(body, (*node.operands, found))
    return None


def normal_scalar_condition(node: Operand, barriers: Barriers) -> Operand | None:
    """step(c s + c t) = step(s + t) for scalars and positive c; sign likewise."""
    if not isinstance(node, SIGNS):
        return None
    given = Add.make_args(node.args[0])
    if len(given) > tuning.MAX_PAIRED_TERMS:
        return None
    expanded = Add.make_args(_expanded(node.args[0]))
    terms = expanded if len(expanded) < len(given) else given
    common = _common_positive(terms)
    if terms is given and common is S.One:
        return None
    return node.func(Add(*[term / common for term in terms]), *node.args[1:])


def _normal_argument(argument: Expr, node: Operand, divides: bool) -> Operand | None:
    """Collect like terms of an argument and divide out positive factors; None where that changes
    nothing."""
    terms = [_tensor_term(term, node) for term in Add.make_args(argument)]
    if not all(map(is_tensor, terms)):
        return None
    given = sum(len(t.operands) if isinstance(t, TensorAdd) else 1 for t in terms)
    if given > tuning.MAX_PAIRED_TERMS:
        return None
    # Sums are like terms as a whole, or by their own terms.
    wholes = _collected(terms)
    total = tensor_sum([scale(factor, tensor) for tensor, factor in wholes.items()])
    parts = total.operands if isinstance(total, TensorAdd) else (total,)
    collected = _collected(parts)
    common = _common_positive([*collected.values()]) if divides else S.One
    rest = [scale(factor / common, tensor) for tensor, factor in collected.items()]
    divided = [_without_positive(rest[0])] if divides and len(rest) == 1 else rest
    is_shorter = len(wholes) < len(terms) or len(collected) < given
    if not is_shorter and common is S.One and divided == rest:
        return None
    return tensor_sum(divided) if divided else scale(S.Zero, terms[0])


def _collected(terms: Sequence[Operand]) -> dict[Operand, Operand]:
    """Collect like terms with their factors, without zeros."""
    found = {
        tensor: _expanded(factor) if factor.is_Add else factor
        for tensor, factor in like_terms(terms).items()
    }
    return {tensor: factor for tensor, factor in found.items() if factor != 0}


def _expanded(total: Expr) -> Expr:
    """Multiply out a scalar sum, except terms that would be long."""
    return Add(*[expand_scalar(term, ()) or term for term in Add.make_args(total)])


def _tensor_term(term: Expr, node: Operand) -> Operand:
    """Apply a term of a body to the operands of a node."""
    slots = map(slot, range(len(node.operands)))
    factor, function = term.as_independent(*slots, as_Add=False)
    factors = [apply_body(own, node.operands) for own in Mul.make_args(function)]
    return times_entries([factor, *factors], node)


def _common_positive(terms: Sequence[Expr]) -> Expr:
    """Return the positive factors that all terms have in common."""
    if len(terms) == 1 and terms[0].is_nonzero:
        return terms[0] if terms[0].is_positive else -terms[0] if terms[0].is_negative else S.One
    if not terms:
        return S.One
    factors = [{*Mul.make_args(term)} for term in terms]
    numbers = {abs(term.as_coeff_Mul()[0]) for term in terms}
    common = Mul(*[f for f in set.intersection(*factors) if f.is_positive and not f.is_Number])
    if all(number.is_Integer for number in numbers):
        return common * igcd(*numbers, 0)
    return common * numbers.pop() if len(numbers) == 1 else common


def _without_positive(term: Operand) -> Operand:
    """Drop the entrywise factors of a product that are positive tensors."""
    product = inlined_product(term)
    output = {*product.output}
    positive = {
        k
        for k, (own, labels) in enumerate(zip(product.operands, product.subscripts, strict=True))
        if output.issuperset(labels) and is_positive(own)
    }
    return product.replaced(positive).build() if positive else term
