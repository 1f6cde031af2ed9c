"""Logarithms of tensors and scalars: never taken of a product of exponentials, softmaxes and the
like, but made of what they are the exponentials of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from sympy import Add, Expr, Mul, Piecewise, S, exp, log

from ...analysis import Barriers, Product, inlined_product, is_nonnegative, is_positive
from ...core import Use, logaddexp, postorder, tuning
from ...expressions import (
    LOG,
    Constant,
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
    tensor_sum,
)
from ..running import running_total
from .laws import law
from .matching import matched
from .nodes import stable_node


def logarithm(value: Operand) -> Operand:
    """Return the logarithm of a tensor or a scalar, made of the logarithms of its factors; None
    where the logarithm of the value itself is as good."""
    if isinstance(value, Softmax):
        return apply_body(LOG, (value,))
    if isinstance(value, (Elementwise, TensorAdd)):
        found = stable_node(apply_body(LOG, (value,)), Use.READING)
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
    """Add tensors and scalars to a tensor of a node's shape."""
    if not is_tensor(node):
        return Add(*terms)
    return tensor_sum([term if is_tensor(term) else _times([term], node.shape) for term in terms])


def _log_of_sum(node: TensorAdd) -> Operand:
    """Return log(a exp(x) + b exp(y) + …) of positive multiples."""
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
    """Return the logarithm of a multiple whose axes are permuted or repeated; a diagonal has zeros
    beside it."""
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
    """Return the position of a factor that is an exponential and has an axis of the sum."""
    for k, operand in enumerate(product.operands):
        labels = product.subscripts[k]
        is_exp = isinstance(operand, Elementwise) and isinstance(operand.body, exp)
        if is_exp and len(set(labels)) == len(labels) and not {*labels} <= {*product.output}:
            return k
    return None


def _log_of_total(node: Einsum) -> Operand:
    """Return log Σ exp(z), also with positive weights."""
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


def log_of_weighted(node: Operand, barriers: Barriers) -> Operand | None:
    """log Σ w exp(z) = log Σ exp(z + log w), for weights known to be nonnegative, which may be 0
    where z is largest. By the weights this has no derivative at 0: if they depend on ``barriers``,
    they stay outside, and so do those of unknown sign."""
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
    constants = [leaf for leaf in postorder([weight]) if isinstance(leaf, Constant)]
    if any((leaf.array == 0).any() for leaf in constants):
        chosen = Piecewise((log(slot(0)), slot(0) > 0), (S.NegativeInfinity, True))
        return apply_body(chosen, (weight,))
    return apply_body(LOG, (weight,))


def _log_of_scalar(value: Operand) -> Operand:
    if value.is_Mul or (value.is_Pow and not isinstance(value, exp)):
        return _log_of_factors(Mul.make_args(value), value) if not _is_negative(value) else None
    if value.is_Add and len(value.args) == 2 and all(map(is_positive, value.args)):
        logs = [log(part) if part.is_number else logarithm(part) for part in value.args]
        if None not in logs:
            return logaddexp(*logs)
    if isinstance(value, exp) and value.args[0].is_extended_real:
        return value.args[0]
    found = matched(log(value), Use.READING)
    return law(log(value), Use.READING) if found is None else found.expression()


def _is_negative(value: Operand) -> bool:
    return bool(value.as_coeff_Mul()[0].is_negative)
