"""Rules for products entry by entry and in bodies: powers of one base, exponentials, squares."""

from __future__ import annotations

from collections import Counter

from sympy import Expr, Mul, Pow, S, exp, log

from ..core import power_slope, powlog
from ..expressions import (
    Einsum,
    Elementwise,
    Operand,
    apply_body,
    is_tensor,
    scale,
    slot,
    tensor_sum,
)
from .written_products import Closed, opened

_EXP = exp(slot(0))


def merge_powers(node: Operand, closed: Closed) -> Operand | None:
    """Powers of one base and exponentials, multiplied entry by entry."""
    if len(node.operands) < 2:
        return None
    product = opened(node, closed)
    counts = product.counts()
    groups: dict[tuple[int, ...], list[int]] = {}
    for k, term in enumerate(product.subscripts):
        groups.setdefault(term, []).append(k)
    for labels, group in groups.items():
        factors = [product.operands[k] for k in group]
        if len(group) < 2:
            continue
        if len(group) == 2 and factors[0] is factors[1] and any(counts[i] == 2 for i in labels):
            continue  # a square that is summed: a product of matrices does that
        merged = _merge_factors(factors)
        if merged is not None:
            new = [(tensor, labels) for tensor in merged if is_tensor(tensor)]
            return product.replaced(group, new).build()
    return None


def _merge_factors(factors: list[Operand]) -> list[Operand] | None:
    """Fewer factors with the same product, None if there are none."""
    powers: dict[Operand, Expr] = {}
    parts = [as_powers(factor) for factor in factors]
    if len({base for part in parts for base in part}) == sum(len(part) for part in parts):
        parts = [dict([factor.as_entry_power()]) for factor in factors]  # nothing to cancel
    for part in parts:
        for base, exponent in part.items():
            powers[base] = powers.get(base, S.Zero) + exponent
    exponentials = {
        base: exponent
        for base, exponent in powers.items()
        if isinstance(base, Elementwise) and base.body == _EXP
    }
    if len(powers) == sum(len(part) for part in parts) and len(exponentials) < 2:
        return None
    merged = [power_of(b, e) for b, e in powers.items() if b not in exponentials and e != 0]
    if exponentials:
        exponent = tensor_sum([scale(e, base.operands[0]) for base, e in exponentials.items()])
        merged.append(apply_body(_EXP, (exponent,)))
    return merged


def as_powers(tensor: Operand) -> dict[Operand, Expr]:
    """The bases of a factor with their exponents; an integer power of a product has several."""
    base, exponent = tensor.as_entry_power()
    if exponent.is_Integer and type(base) is Einsum and set(base.subscripts) == {base.output}:
        return {
            inner: count * exponent * factor.as_entry_power()[1]
            for factor, count in Counter(base.operands).items()
            for inner in [factor.as_entry_power()[0]]
        }
    return {base: exponent}


def power_of(base: Operand, exponent: Expr) -> Operand:
    """A power of a tensor entry by entry."""
    return base if exponent == 1 else apply_body(slot(0) ** exponent, (base,))


def split_square(node: Operand, closed: Closed) -> Operand | None:
    """A square that is summed over an axis of its own is a product: Σ x² = x·x."""
    if not any(operand.as_entry_power()[1] == 2 for operand in node.operands):
        return None
    product = opened(node, closed)
    counts = product.counts()
    for k, operand in enumerate(product.operands):
        base, exponent = operand.as_entry_power()
        labels = product.subscripts[k]
        if exponent == 2 and any(counts[i] == 1 for i in labels):
            return product.replaced({k}, [(base, labels), (base, labels)]).build()
    return None


def slope_of_power(product: Expr) -> Expr | None:
    """What derivatives of b**t are made of, such as t b**(t - 1), b**t t/b and b**t log(b), as one
    function, which is right at b = 0; None for other products."""
    for base in [f.base for f in product.args if f.is_Pow and not f.exp.is_number]:
        exponent, logarithms, rest = S.Zero, S.Zero, []
        for factor in product.args:
            b, e = factor.as_base_exp()
            if isinstance(factor, Pow) and b == base:
                exponent += e
            elif b == log(base) and e.is_Integer and e.is_positive:
                logarithms += e
            elif isinstance(factor, powlog) and factor.args[0] == base:
                exponent += factor.args[1]
                logarithms += factor.args[2]
            else:
                rest.append(factor)
        vanishing = Mul(*[f for f in rest if (exponent - f).is_negative and not f.is_number])
        others = Mul(*[f for f in rest if not vanishing.has(f)])
        if vanishing is not S.One:
            return others * power_slope(vanishing, base, exponent, logarithms)
        if logarithms:
            return others * powlog(base, exponent, logarithms)
        if len(rest) < len(product.args) - 1:
            return others * base**exponent
    return None
