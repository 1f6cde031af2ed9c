"""Compute logarithms and signs of determinants of stacks from the logarithms of these: determinants
of large matrices are no numbers that fit a float. The compiler does so for single matrices."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Abs, Expr, Mul, log, sign

from ..analysis import Barriers
from ..core import Labels, tuning
from ..expressions import (
    DetSigns,
    DetStack,
    Einsum,
    Elementwise,
    Operand,
    apply_body,
    contract,
    is_slice,
    is_tensor,
    kinds_in,
    logdet,
    scale,
    slot,
    tensor_sum,
)


def log_of_determinants(node: Elementwise, barriers: Barriers) -> Operand | None:
    """Apply log(w_q det X_q) = log(w_q sgn det X_q) + log|det X_q| and sgn(w_q det X_q) =
    sgn(w_q sgn det X_q), also inside a body."""
    if DetStack not in kinds_in(node):
        return None
    if isinstance(node.body, log):
        whole = _split(apply_body(node.body.args[0], node.operands))
        if whole is None:
            return None
        return tensor_sum([apply_body(log(slot(0)), whole[:1]), whole[1]])
    operands = [*node.operands]
    rule: dict[Expr, Expr] = {}
    for part in sorted(node.body.atoms(log, sign), key=str):
        found = _split(apply_body(part.args[0], node.operands))
        if found is not None:
            rest, logarithm = found
            rule[part] = part.func(slot(len(operands)))
            operands.append(rest)
            if isinstance(part, log):
                rule[part] += slot(len(operands))
                operands.append(logarithm)
    return apply_body(node.body.xreplace(rule), tuple(operands)) if rule else None


def _split(value: Operand, levels: int = tuning.STABLE_LEVELS) -> tuple[Operand, Operand] | None:
    """Split a tensor with determinants among its factors into the rest with their signs, and the
    sum of their logarithms; None for others."""
    if not levels:
        return None
    if type(value) is DetStack:
        return DetSigns.of(value.operands[0]), logdet(value.operands[0])
    if isinstance(value, Elementwise):
        return _split_body(value, levels)
    return _split_product(value, levels) if isinstance(value, Einsum) and value.output else None


def _split_body(node: Elementwise, levels: int) -> tuple[Operand, Operand] | None:
    operands, logarithms = [*node.operands], []
    for factor in Mul.make_args(node.body):
        base, exponent = factor.as_base_exp()
        inner = base.args[0] if isinstance(base, Abs) else base
        places = [k for k in range(len(operands)) if inner == slot(k)]
        if places and exponent.is_Number and exponent.is_real:
            found = _split(node.operands[places[0]], levels - 1)
            if found is not None and not (node.body / factor).has(inner):
                operands[places[0]], logarithm = found
                logarithms.append(scale(exponent, logarithm))
    if not logarithms:
        return None
    return apply_body(node.body, tuple(operands)), tensor_sum(logarithms)


def _split_product(node: Einsum, levels: int) -> tuple[Operand, Operand] | None:
    """Split a product in which no determinant's axis is summed or taken the diagonal of, or a
    slice."""
    operands, logarithms = [*node.operands], []
    for k, (operand, labels) in enumerate(zip(node.operands, node.subscripts, strict=True)):
        is_plain = len({*labels}) == len(labels) and {*labels} <= {*node.output}
        may_split = is_tensor(operand) and (is_plain or is_slice(node))
        found = _split(operand, levels - 1) if may_split else None
        if found is not None:
            operands[k], logarithm = found
            if is_plain:
                logarithms.append(_multiply_operands(node, [logarithm], [labels]))
            else:
                others = [logarithm if j == k else o for j, o in enumerate(node.operands)]
                logarithms.append(_multiply_operands(node, others, node.subscripts))
    if not logarithms:
        return None
    return _multiply_operands(node, operands, node.subscripts), tensor_sum(logarithms)


def _multiply_operands(
    node: Einsum, operands: Sequence[Operand], labels: Sequence[Labels]
) -> Operand:
    """Multiply operands, with the axes of another product."""
    return contract(operands, labels, node.output, dict(enumerate(node.lengths)))
