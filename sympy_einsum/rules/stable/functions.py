"""Stable forms of functions of entries, also inside a body, and of stock scalars."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr, Function, Mul, Pow, S, log

from ...analysis import Barriers
from ...core import Use, cached, sigmoid, transform, tuning
from ...expressions import (
    LOG,
    Einsum,
    Elementwise,
    Operand,
    TensorAdd,
    apply_body,
    slot,
    split_coefficient,
    tensor_sum,
)
from ..powers import merge_power_derivatives
from .laws import law
from .logarithms import logarithm
from .matching import FUNCTIONS, arguments, matched
from .nodes import applied, asks_for_signs, is_ones, local_body, pieces, signed, stable_node


def stable_function(node: Operand, barriers: Barriers, use: Use = Use.READING) -> Operand | None:
    """Replace a function of functions by its stable form, also inside a body."""
    bodies = pieces(node)[:2] if isinstance(node, Elementwise) else ()
    found = _with_stable_parts(*bodies[0], use) if bodies else None
    found = stable_node(node, use) if found is None else found
    if found is None and use == Use.DIFFERENTIATING and len(bodies) > 1:
        found = _with_stable_parts(*bodies[1], use)
    return found


def _with_stable_parts(body: Expr, operands: Sequence[Operand], use: Use) -> Operand | None:
    """Replace parts of a scalar function of nodes by their stable forms."""
    if _is_stable_body(body):
        return None
    given = signed(body, operands)
    found = _stable_body(given, use)
    return None if found == given else applied(found, operands)


@cached(8192)
def _is_stable_body(body: Expr) -> bool:
    """Tell whether no part of a body has another stable form, whatever its use and signs."""
    if not body.has(*FUNCTIONS, Pow):
        return True
    return not asks_for_signs(body) and all(_stable_body(body, use) == body for use in Use)


def logarithm_of(node: Operand, barriers: Barriers) -> Operand | None:
    """Rewrite the logarithm of products, powers and sums of exponentials."""
    if isinstance(node, Elementwise):
        if not isinstance(node.body, log):
            return None
        return logarithm(apply_body(node.body.args[0], node.operands))
    return logarithm(node.args[0]) if isinstance(node, log) else None


def stable_scalar(node: Operand, barriers: Barriers, use: Use = Use.READING) -> Operand | None:
    """Replace a stock scalar by its stable form."""
    return _of_scalar(node, use) if isinstance(node, Expr) and node.args else None


def quotient_of_difference(node: Operand, barriers: Barriers) -> Operand | None:
    """Replace a difference of roots or powers over the argument with which it vanishes."""
    if isinstance(node, Elementwise):
        return stable_function(node, barriers, Use.DIFFERENTIATING) if node.body.is_Mul else None
    if isinstance(node, Einsum):
        has_difference = any(map(_is_difference, node.operands))
        found = stable_node(node, Use.DIFFERENTIATING) if has_difference else None
        return _cancelled(node) if found is None else found
    is_quotient = node.is_Mul and any(arg.as_base_exp()[0].is_Add for arg in node.args)
    return stable_scalar(node, barriers, Use.DIFFERENTIATING) if is_quotient else None


def _cancelled(node: Einsum) -> Operand | None:
    """Cancel factors of a product that, inlined, has a root in its denominator."""
    factors = [local_body(operand) for operand in node.operands]
    body, operands = pieces(node)[-1] if pieces(node) else (S.One, ())
    sums = [f.base for f in Mul.make_args(body) if f.is_Pow and f.base.is_Add and f.exp.is_negative]
    if not any(arg.is_Pow and arg.exp == S.Half for total in sums for arg in total.args):
        return None
    count = sum([len(Mul.make_args(own[0])) if own else 1 for own in factors])
    return applied(body, operands) if len(Mul.make_args(body)) < count else None


def _is_difference(operand: Operand) -> bool:
    return isinstance(operand, TensorAdd) and len(operand.operands) == 2


def log_of_one_more(node: Elementwise, barriers: Barriers) -> Operand | None:
    """Mark log(1 + x) of a longer sum, with 1.0 too."""
    total = node.operands[0]
    if node.body != LOG or not isinstance(total, TensorAdd):
        return None
    pairs = [(split_coefficient(term), term) for term in total.operands]
    rest = [term for (c, core), term in pairs if not (is_ones(core) and (c - 1).is_zero)]
    if len(rest) == len(total.operands):
        return None
    return apply_body(log(1 + slot(0)), (tensor_sum(rest),))


def complement_in_body(node: Elementwise, barriers: Barriers) -> Operand | None:
    """Replace 1 - s, where s is a sigmoid, by another sigmoid: s (1 - s)."""
    for k, operand in enumerate(node.operands):
        if not isinstance(operand, Elementwise) or not isinstance(operand.body, sigmoid):
            continue
        rest = 1 - slot(k)
        if node.body.has(rest):
            other = apply_body(sigmoid(-operand.body.args[0]), operand.operands)
            body = node.body.xreplace({rest: slot(len(node.operands))})
            return apply_body(body, (*node.operands, other))
    return None


# --- parts of a body ------------------------------------------------------------------------------


def _in_body(body: Expr, use: Use) -> Expr:
    """Bring all parts of a scalar expression into stable form."""

    def visit(part: Operand, args: tuple[Operand, ...]) -> Operand:
        if not args:
            return part
        new = part if args == part.args else part.func(*args)
        found = _of_scalar(new, use) if isinstance(new, Expr) else None
        return new if found is None else found

    return transform([body], visit)[0]


_stable_body = cached(4096)(_in_body)


def _of_scalar(expr: Operand, use: Use) -> Operand:
    """Return the stable form of a stock expression, of its top levels."""
    if isinstance(expr, log):
        found = logarithm(expr.args[0])
        if found is not None:
            return found
    if not (isinstance(expr, Function) or expr.is_Add or expr.is_Mul or expr.is_Pow):
        return None
    if use == Use.COMPUTING and expr.is_Mul:
        merged = merge_power_derivatives(expr)
        if merged is not None:
            return merged
    found = matched(expr, use)
    if found is not None and found.expression() != expr:
        return found.expression()
    pair = _pair_of_scalars(expr, use) if expr.is_Add or expr.is_Mul else None
    return law(expr, use) if pair is None else pair


def _pair_of_scalars(expr: Operand, use: Use) -> Operand:
    """Join two terms of a longer sum or product to one."""
    if not 2 < len(expr.args) <= tuning.STABLE_TERMS:
        return None
    has_function = [bool(arguments(arg)) for arg in expr.args]
    for k, one in enumerate(expr.args):
        for j, other in enumerate(expr.args[:k]):
            if not (has_function[k] or has_function[j]):
                continue
            pair = expr.func(one, other)
            found = matched(pair, use)
            if found is not None and found.expression() != pair:
                rest = [arg for arg in expr.args if arg is not one and arg is not other]
                return expr.func(found.expression(), *rest)
    return None
