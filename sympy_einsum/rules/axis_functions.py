"""Rules for softmax and log-sum-exp, recognised from their parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sympy import S

from ..analysis import Barriers, factors_of, inlined_product, pays
from ..expressions import (
    EXP,
    LOG,
    Elementwise,
    LogSumExp,
    Operand,
    Softmax,
    contract,
    is_tensor,
    scale,
    tensor_sum,
)
from .powers import power_of


def softmax_of_parts(node: Operand, barriers: Barriers) -> Operand | None:
    """Join exp(z) and its own sum, over all axes or some, to a softmax."""
    if not any(isinstance(o, Elementwise) and o.body == EXP for o in factors_of(node)):
        return None
    product = inlined_product(node, barriers)
    for k, operand in enumerate(product.operands):
        if not (isinstance(operand, Elementwise) and operand.body == EXP):
            continue
        z, labels = operand.operands[0], product.subscripts[k]
        for position, scalar in enumerate(product.scalars):
            total = _sum_over(operand, range(operand.order))
            exponent = scalar.as_powers_dict().get(total, S.Zero)
            if exponent.is_Integer and exponent < 0:
                scalars = list(product.scalars)
                scalars[position] = scalar * total
                new = [(Softmax.over(z, range(z.order)), labels)]
                return replace(product, scalars=tuple(scalars)).replaced({k}, new).build()
        for j, other in enumerate(product.operands):
            base, exponent = other.as_entry_power()
            if exponent is S.One or not (exponent.is_Integer and exponent < 0):
                continue
            axes = tuple(a for a, i in enumerate(labels) if i not in product.subscripts[j])
            kept = tuple(i for i in labels if i in product.subscripts[j])
            if kept != product.subscripts[j] or base is not _sum_over(operand, axes):
                continue
            new = [
                (Softmax.over(z, axes), labels),
                (power_of(base, exponent + 1), product.subscripts[j]),
            ]
            return product.replaced({j, k}, [n for n in new if is_tensor(n[0])]).build()
    return None


def sum_softmax(node: Operand, barriers: Barriers) -> Operand | None:
    """Replace the sum over the axes of a softmax by ones."""
    product = inlined_product(node)
    counts = product.counts
    for k, operand in enumerate(product.operands):
        if not isinstance(operand, Softmax):
            continue
        summed = {product.subscripts[k][axis] for axis in operand.axes}
        if all(counts[i] == 1 for i in summed):
            result = product.replaced({k}, absorbed=summed).build()
            return result if pays(result, node, barriers) else None
    return None


def expand_log_softmax(node: Operand, barriers: Barriers) -> Operand | None:
    """log softmax(z) = z - logsumexp(z)."""
    if node.body != LOG or not isinstance(node.operands[0], Softmax):
        return None
    z, axes = node.operands[0].operands[0], node.operands[0].axes
    total = LogSumExp.over(z, axes)
    kept = [a for a in range(z.order) if a not in axes]
    spread = contract((total,), (kept,), range(z.order), dict(enumerate(z.shape)))
    return tensor_sum([z, scale(S.NegativeOne, spread)])


def _sum_over(tensor: Operand, axes: Sequence[int]) -> Operand:
    kept = [a for a in range(tensor.order) if a not in axes]
    return contract((tensor,), (range(tensor.order),), kept, dict(enumerate(tensor.shape)))
