"""Stable forms with softmax: its logarithm instead of a difference, its complement by that."""

from __future__ import annotations

from sympy import Add, exp

from ...analysis import Barriers
from ...expressions import (
    Einsum,
    LogSumExp,
    Operand,
    Softmax,
    TensorAdd,
    Unit,
    View,
    Zeros,
    apply_body,
    contract,
    scale,
    slot,
    split_coefficient,
    tensor_sum,
)
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
