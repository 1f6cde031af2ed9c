"""Numerically stable rewrites: expressions that are mathematically right but overflow, cancel or
give nan in floating-point numbers, in a form that doesn't.

What one function of a function is better written as stands in a table (stable_table.py). The rest
are the laws of the logarithm: it is never taken of a product of exponentials, softmaxes and the
like, but made of what they are the exponentials of.

The rules look at a node and what it is made of, never at what else uses that: whatever is compiled
together, each value comes out in the same form. They are applied in one walk over a graph of any
size, whether that makes it cheaper or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from sympy import Add, Expr, Function, Mul, Piecewise, Pow, S, exp, log

from ..analysis import Closed, Product, inlined_product, is_nonnegative, is_positive
from ..core import Use, cached, logaddexp, sigmoid, transform, tuning
from ..expressions import (
    LOG,
    Einsum,
    Elementwise,
    LogSumExp,
    Operand,
    Selection,
    Softmax,
    TensorAdd,
    TensorExpr,
    Triangle,
    Unit,
    View,
    apply_body,
    contract,
    is_tensor,
    rebuild,
    scale,
    slot,
    split_coefficient,
    tensor_sum,
)
from .powers import merge_power_derivatives
from .running import running_total
from .stable_laws import law
from .stable_table import (
    FUNCTIONS,
    applied,
    arguments,
    asks_for_signs,
    is_ones,
    matched,
    named,
    signed,
)


def _in_body(body: Expr, use: Use) -> Expr:
    """A scalar expression with all its parts in stable form."""

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
        slope = merge_power_derivatives(expr)
        if slope is not None:
            return slope
    found = matched(expr, use)
    if found is not None and found.expression() != expr:
        return found.expression()
    pair = _pair_of_scalars(expr, use) if expr.is_Add or expr.is_Mul else None
    return law(expr, use) if pair is None else pair


def _pair_of_scalars(expr: Operand, use: Use) -> Operand:
    """A longer sum or product with two of its terms as one."""
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


# --- the logarithm -------------------------------------------------------------------------------


def logarithm(value: Operand) -> Operand:
    """Return the logarithm of a tensor or a scalar, made of the logarithms of its factors; None
    where the logarithm of the value itself is as good."""
    if isinstance(value, Softmax):
        return apply_body(LOG, (value,))
    if isinstance(value, (Elementwise, TensorAdd)):
        found = named(apply_body(LOG, (value,)), Use.READING)
        if found is None:
            found = _log_of_body(value) if isinstance(value, Elementwise) else _log_of_sum(value)
        return found
    if isinstance(value, Einsum) and any(value.subscripts):
        return _log_of_product(value)
    if isinstance(value, TensorExpr):
        core = value.operands[0] if value.rearranges else None
        found = logarithm(core) if core is not None else None
        return None if found is None else rebuild(value, (found,))
    return _log_of_scalar(value)


def _log_of_body(node: Elementwise) -> Operand:
    body = node.body
    if body.is_Mul or body.is_Pow:
        return _log_of_factors([apply_body(f, node.operands) for f in Mul.make_args(body)], node)
    return apply_body(body.args[0], node.operands) if isinstance(body, exp) else None


def _log_of_factors(factors: Sequence[Operand], node: Operand) -> Operand:
    """log(a b^2) = log(a) + 2 log(b), for those factors that have a logarithm of their own, and
    so are positive; the others stay together."""
    known: list[Operand] = []
    rest: list[Operand] = []
    for factor in factors:
        found = _log_of_power(factor)
        (rest if found is None else known).append(factor if found is None else found)
    if not known:
        return None
    left = _times(rest, node.shape) if is_tensor(node) else Mul(*rest)
    return _plus([*known, log_of(left)], node) if rest else _plus(known, node)


def _log_of_power(factor: Operand) -> Operand:
    """Return the logarithm of a factor that may be a power."""
    if isinstance(factor, Elementwise) and factor.body.is_Pow:
        base, exponent = factor.body.as_base_exp()
        found = logarithm(apply_body(base, factor.operands)) if exponent.is_number else None
        return None if found is None else scale(exponent, found)
    if not isinstance(factor, TensorExpr) and factor.is_Pow and not isinstance(factor, exp):
        found = logarithm(factor.base) if factor.exp.is_extended_real else None
        return None if found is None else factor.exp * found
    return logarithm(factor)


def log_of(value: Operand) -> Operand:
    return apply_body(LOG, (value,)) if is_tensor(value) else log(value)


def _times(factors: Sequence[Operand], shape: Sequence[Expr]) -> Operand:
    axes = range(len(shape))
    labels = [axes if is_tensor(f) else () for f in factors]
    return contract(factors, labels, axes, dict(enumerate(shape)))


def _plus(terms: Sequence[Operand], node: Operand) -> Operand:
    """A sum of tensors and scalars, of a node's shape."""
    if not is_tensor(node):
        return Add(*terms)
    return tensor_sum([term if is_tensor(term) else _times([term], node.shape) for term in terms])


def _log_of_sum(node: TensorAdd) -> Operand:
    """log(a exp(x) + b exp(y) + …) of positive multiples."""
    if len(node.operands) > tuning.STABLE_TERMS or not any(map(_has_exponential, node.operands)):
        return None
    if not all(map(is_positive, node.operands)):
        return None
    logs = [logarithm(term) for term in node.operands]
    parts = [log_of(t) if own is None else own for t, own in zip(node.operands, logs, strict=True)]
    return reduce(lambda one, other: apply_body(logaddexp(slot(0), slot(1)), (one, other)), parts)


def _has_exponential(term: Operand) -> bool:
    """Tell whether a term is a product with an exponential."""
    factors = inlined_product(term).operands
    return any(isinstance(o, Elementwise) and o.body.has(exp) for o in factors)


def _log_of_product(node: Einsum) -> Operand:
    if isinstance(node, View):
        return _log_of_view(node)
    sliced = sliced_operand(node)
    if sliced is not None:
        found = logarithm(node.operands[sliced])
        if found is None:
            return None
        operands = [found if k == sliced else o for k, o in enumerate(node.operands)]
        return contract(operands, node.subscripts, node.output, dict(enumerate(node.lengths)))
    present = {i for term in node.subscripts for i in term}
    if present - set(node.output):
        return _log_of_total(node)
    lengths = dict(enumerate(node.lengths))
    factors = [
        contract((operand,), (labels,), node.output, {i: lengths[i] for i in node.output})
        for operand, labels in zip(node.operands, node.subscripts, strict=True)
    ]
    return _log_of_factors(factors, node)


def _log_of_view(node: View) -> Operand:
    """A multiple, its axes in another order or repeated; what is on a diagonal has zeros beside."""
    if node.core is None or len(set(node.output)) < node.order or node.coefficient.is_negative:
        return None
    found = logarithm(node.core)
    if found is None:
        return None
    lengths = dict(enumerate(node.lengths))
    moved = contract((found,), node.subscripts[-1:], node.output, lengths)
    return _plus([moved, *[log(scalar) for scalar in node.scalars]], node)


def sliced_operand(node: Einsum) -> int | None:
    """Return the number of the operand of which a product is an entry or a slice, and nothing
    else."""
    selectors = [k for k, o in enumerate(node.operands) if isinstance(o, (Unit, Selection))]
    others = [k for k in range(len(node.operands)) if k not in selectors]
    if len(others) != 1 or not selectors:
        return None
    labels = node.subscripts[others[0]]
    sliced = [node.subscripts[k][-1] for k in selectors]
    plain = (
        len(set(sliced)) == len(sliced)
        and set(sliced) <= set(labels)
        and not set(sliced) & {*node.output}
    )
    # A label that is neither sliced nor in the output would be summed.
    return others[0] if plain and set(labels) - set(sliced) <= set(node.output) else None


def _exponential(product: Product) -> int | None:
    """Which factor of a sum is an exponential that has an axis of the sum."""
    for k, operand in enumerate(product.operands):
        labels = product.subscripts[k]
        is_exp = isinstance(operand, Elementwise) and isinstance(operand.body, exp)
        if is_exp and len(set(labels)) == len(labels) and not {*labels} <= {*product.output}:
            return k
    return None


def _log_of_total(node: Einsum) -> Operand:
    """log Σ exp(z), also with positive weights."""
    product = inlined_product(node)
    k = _exponential(product)
    running = None if k is None else running_total(product, k)
    if running is not None:
        total, weighted = running
        if weighted is None:
            return total
        found = logarithm(weighted)
        return _plus([total, log_of(weighted) if found is None else found], node)
    if k is None or not all(is_positive(o) for j, o in enumerate(product.operands) if j != k):
        return None
    return _log_of_shares(product, k, node)


def _log_of_shares(product: Product, k: int, node: Einsum) -> Operand:
    """log Σ w exp(z) = log Σ exp(z) + log Σ w softmax(z)."""
    operand, labels = product.operands[k], product.subscripts[k]
    axes = tuple([a for a, i in enumerate(labels) if i not in product.output])
    z = apply_body(operand.body.args[0], operand.operands)
    kept = [i for i in labels if i in product.output]
    lengths = {i: product.lengths[i] for i in product.output}
    moved = contract((LogSumExp.over(z, axes),), (kept,), product.output, lengths)
    if len(product.operands) == 1:
        return moved
    shares = product.replaced({k}, [(Softmax.over(z, axes), labels)]).build()
    found = logarithm(shares)
    return _plus([moved, log_of(shares) if found is None else found], node)


def log_of_weighted(node: Operand, barriers: Closed) -> Operand | None:
    """log Σ w exp(z) = log Σ exp(z + log w), for weights that are known not to be negative and may
    be 0 where z is largest. By the weights this has no derivative at 0: if they depend on what is
    ``barriers``, they stay outside, and so do those whose sign nobody knows."""
    if isinstance(node, Elementwise) and node.body == LOG:
        total = node.operands[0]
    else:
        total = node.args[0] if isinstance(node, log) else None
    if type(total) is not Einsum or not any(total.subscripts):
        return None
    product = inlined_product(total)
    k = _exponential(product)
    output = product.output
    if k is None or len(product.operands) == 1 or len(set(output)) < len(output):
        return None
    operand, labels = product.operands[k], product.subscripts[k]
    axes = (*output, *[i for i in labels if i not in output])
    weight = replace(product.replaced({k}, absorbed=labels), output=axes).build()
    if not is_nonnegative(weight) or any(symbol in barriers for symbol in weight.free_symbols):
        return _log_of_shares(product, k, total)
    every = range(len(axes))
    z = apply_body(operand.body.args[0], operand.operands)
    lengths = dict(enumerate(weight.shape))
    spread = contract((z,), ([axes.index(i) for i in labels],), every, lengths)
    exponent = tensor_sum([spread, _log_of_weight(weight)])
    return LogSumExp.over(exponent, every[len(output) :])


def _log_of_weight(weight: Operand) -> Operand:
    """Return the logarithm of weights; that of a mask is written without the logarithm of 0, of
    which NumPy warns."""
    if isinstance(weight, View) and not weight.scalars and isinstance(weight.operands[0], Triangle):
        return apply_body(Piecewise((S.Zero, slot(0) > 0), (S.NegativeInfinity, True)), (weight,))
    return apply_body(LOG, (weight,))


def _log_of_scalar(value: Operand) -> Operand:
    if value.is_Mul or (value.is_Pow and not isinstance(value, exp)):
        return _log_of_factors(Mul.make_args(value), value) if not _is_negative(value) else None
    if value.is_Add and len(value.args) == 2 and all(isinstance(a, exp) for a in value.args):
        return logaddexp(*[arg.args[0] for arg in value.args])
    if isinstance(value, exp) and value.args[0].is_extended_real:
        return value.args[0]
    found = matched(log(value), Use.READING)
    return law(log(value), Use.READING) if found is None else found.expression()


def _is_negative(value: Operand) -> bool:
    return bool(value.as_coeff_Mul()[0].is_negative)


# --- the rules -----------------------------------------------------------------------------------


def name(node: Operand, barriers: Closed, use: Use = Use.READING) -> Operand | None:
    """A function of functions that has a stable form, also inside a body."""
    if isinstance(node, Elementwise) and not _is_stable_body(node.body):
        given = signed(node.body, node.operands)
        body = _stable_body(given, use)
        if body != given:
            return applied(body, node.operands)
    return named(node, use)


@cached(8192)
def _is_stable_body(body: Expr) -> bool:
    """Tell whether no part of a body has another stable form, whatever its use and signs."""
    if not body.has(*FUNCTIONS, Pow):
        return True
    return not asks_for_signs(body) and all(_stable_body(body, use) == body for use in Use)


def logarithm_of(node: Operand, barriers: Closed) -> Operand | None:
    """The logarithm of products, powers and sums of exponentials."""
    if isinstance(node, Elementwise):
        if not isinstance(node.body, log):
            return None
        return logarithm(apply_body(node.body.args[0], node.operands))
    return logarithm(node.args[0]) if isinstance(node, log) else None


def scalar(node: Operand, barriers: Closed, use: Use = Use.READING) -> Operand | None:
    """A stock scalar with a stable form."""
    return _of_scalar(node, use) if isinstance(node, Expr) and node.args else None


def log_of_one_more(node: Elementwise, barriers: Closed) -> Operand | None:
    """log(1 + x) of a longer sum, with 1.0 too."""
    total = node.operands[0]
    if node.body != LOG or not isinstance(total, TensorAdd):
        return None
    pairs = [(split_coefficient(term), term) for term in total.operands]
    rest = [term for (c, core), term in pairs if not (is_ones(core) and (c - 1).is_zero)]
    if len(rest) == len(total.operands):
        return None
    return apply_body(log(1 + slot(0)), (tensor_sum(rest),))


def complement_in_body(node: Elementwise, barriers: Closed) -> Operand | None:
    """s (1 - s), where s is a sigmoid, is s times another sigmoid."""
    for k, operand in enumerate(node.operands):
        if not isinstance(operand, Elementwise) or not isinstance(operand.body, sigmoid):
            continue
        rest = 1 - slot(k)
        if node.body.has(rest):
            other = apply_body(sigmoid(-operand.body.args[0]), operand.operands)
            body = node.body.xreplace({rest: slot(len(node.operands))})
            return apply_body(body, (*node.operands, other))
    return None
