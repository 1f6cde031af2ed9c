"""Stable forms with softmax: its logarithm instead of a difference, its complement by that."""

from __future__ import annotations

from dataclasses import replace

from sympy import Add, exp, log

from ...analysis import Barriers, inlined_product
from ...core import sigmoid
from ...expressions import (
    EXP,
    Einsum,
    Elementwise,
    LogSumExp,
    Operand,
    Softmax,
    TensorAdd,
    Unit,
    View,
    Zeros,
    apply_body,
    contract,
    fill_value,
    is_tensor,
    scale,
    slot,
    split_coefficient,
    tensor_sum,
)
from ..powers import power_of
from .logarithms import log_of, logarithm, sliced_operand
from .nodes import is_ones


def join_log_softmax(node: TensorAdd, barriers: Barriers) -> Operand | None:
    """z - logsumexp(z) = log softmax(z): the difference of large numbers is gone."""
    for term in node.operands:
        number, bare = split_coefficient(term)
        inside = (bare, *getattr(bare, "operands", ()))
        total = next((o for o in inside if isinstance(o, LogSumExp)), None)
        if total is None:
            continue
        (z,), axes = total.operands, total.axes
        kept = [a for a in range(z.order) if a not in axes]
        spread = contract((total,), (kept,), range(z.order), dict(enumerate(z.shape)))
        if bare is not spread:
            continue
        rest = tensor_sum([node, scale(number, z), scale(-number, spread)])
        if len(_terms(rest)) == len(node.operands) - len(_terms(z)) - 1:
            return tensor_sum([rest, scale(-number, log_of(Softmax.over(z, axes)))])
    return None


def log_softmax_entry(node: Operand, barriers: Barriers) -> Operand | None:
    """Rewrite an entry z_i - logsumexp(z) = log softmax(z)_i among the terms of a scalar."""
    if not node.is_Add:
        return None
    totals = [arg for arg in node.args if isinstance(arg.as_coeff_Mul()[1], LogSumExp)]
    for number, total in [arg.as_coeff_Mul() for arg in totals]:
        for entry in [arg.as_coeff_Mul()[1] for arg in node.args if arg.has(Unit)]:
            place = sliced_operand(entry) if isinstance(entry, Einsum) else None
            if place is None or entry.operands[place] is not total.operands[0]:
                continue
            rest = node + number * entry - number * total
            if len(Add.make_args(rest)) < len(node.args):
                probabilities = Softmax.over(total.operands[0], total.axes)
                operands = [
                    log_of(probabilities) if k == place else o for k, o in enumerate(entry.operands)
                ]
                lengths = dict(enumerate(entry.lengths))
                return rest - number * contract(operands, entry.subscripts, (), lengths)
    return None


def share_beside_constant(node: Operand, barriers: Barriers) -> Operand | None:
    """exp(z) / (c + Σ exp(z)) = softmax(z) sigmoid(logsumexp(z) - log(c)) for a positive number c,
    as of a choice beside one of known utility."""
    product = inlined_product(node, barriers)
    for k, operand in enumerate(product.operands):
        if not (isinstance(operand, Elementwise) and operand.body == EXP):
            continue
        (z,), labels = operand.operands, product.subscripts[k]
        for j, other in enumerate(product.operands):
            base, exponent = other.as_entry_power()
            kept = product.subscripts[j]
            is_along = len(kept) < len(labels) and kept == tuple(i for i in labels if i in kept)
            if is_along and exponent.is_Integer and exponent < 0:
                axes = tuple(a for a, i in enumerate(labels) if i not in kept)
                share = _share_of_exponentials(base, z, axes)
                if share is not None:
                    rest = [(power_of(base, exponent + 1), kept), (share, kept)]
                    new = [(Softmax.over(z, axes), labels), *(n for n in rest if is_tensor(n[0]))]
                    return product.replaced({j, k}, new).build()
        axes = tuple(range(z.order))
        for place, scalar in enumerate(product.scalars):
            for base, exponent in scalar.as_powers_dict().items():
                is_divisor = exponent.is_Integer and exponent < 0
                share = _share_of_exponentials(base, z, axes) if is_divisor else None
                if share is not None:
                    scalars = list(product.scalars)
                    scalars[place] = scalar * base * share
                    new = [(Softmax.over(z, axes), labels)]
                    return replace(product, scalars=tuple(scalars)).replaced({k}, new).build()
    return None


def _share_of_exponentials(base: Operand, z: Operand, axes: tuple[int, ...]) -> Operand | None:
    """Return Σ exp(z) / base if the base is this sum and a positive number; else None."""
    if isinstance(base, TensorAdd):
        terms = base.operands
    else:
        terms = base.args if isinstance(base, Add) else ()
    values = list(map(fill_value, terms))
    constants = [value for value in values if value.is_number]
    others = [value for value in values if not value.is_number]
    if len(constants) != 1 or not constants[0].is_positive or len(others) != 1:
        return None
    log_total = LogSumExp.over(z, axes)
    if logarithm(others[0]) is not log_total:
        return None
    return apply_body(sigmoid(slot(0) - log(constants[0])), (log_total,))


def _terms(tensor: Operand) -> tuple[Operand, ...]:
    if isinstance(tensor, TensorAdd):
        return tensor.operands
    return () if isinstance(tensor, Zeros) else (tensor,)


def one_less_softmax(node: TensorAdd, barriers: Barriers) -> Operand | None:
    """1 - p = 1 - exp(log p), computed accurately for small values too."""
    terms = [split_coefficient(term) for term in node.operands]
    if len(terms) != 2 or not any(is_ones(core) for _, core in terms):
        return None
    (number, share), (one, _) = sorted(terms, key=lambda term: is_ones(term[1]))
    if number != -one or logarithm(share) is None or not isinstance(share, (Softmax, View)):
        return None
    return scale(one, apply_body(1 - exp(slot(0)), (logarithm(share),)))
