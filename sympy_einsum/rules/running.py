"""Running sums of exponentials: their logarithms have a stable form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from sympy import Expr

from ..analysis import Product
from ..core import same_length
from ..expressions import (
    LogCumSumExp,
    Operand,
    RunningSoftmax,
    Selection,
    Triangle,
    apply_body,
    contract_part,
)

# An operand and the labels of its axes.
Factor: TypeAlias = tuple[Operand, Sequence[int]]


def running_total(product: Product, k: int) -> tuple[Operand, Operand | None] | None:
    """Match Σ_(i ≤ j) w_i exp(z_i) in a product with an exponential at ``k``: return the running
    log-sum-exp of z, and the sum of w weighted by its running softmax, unless that is 1. The
    logarithm of the product is the first plus that of the second."""
    labels, counts = product.subscripts[k], product.counts
    for t, triangle in enumerate(product.operands):
        if not isinstance(triangle, Triangle) or not triangle.offset.is_zero:
            continue
        row, column = product.subscripts[t]
        old, new = (row, column) if row in labels else (column, row)
        kept = {i for i in labels if i != old}
        fits = old in labels and new not in labels and new in product.output
        fits = fits and old not in product.output and kept <= {*product.output}
        if fits and same_length(*triangle.shape):
            alone = len(product.operands) == 2 and counts[old] == 2
            return _parts(product, k, t, (old, new), alone)
    return None


def _parts(
    product: Product, k: int, t: int, pair: tuple[int, int], alone: bool
) -> tuple[Operand, Operand | None]:
    (old, new), operand, labels = pair, product.operands[k], product.subscripts[k]
    backwards = old == product.subscripts[t][1]
    rest = [i for i in labels if i != old]
    first, last = (max(product.lengths) + d for d in (1, 2))
    count = product.lengths[old]
    lengths = {**product.lengths, first: count, last: count}
    flip = Selection(count, count - 1, -1, count)
    z = apply_body(operand.body.args[0], operand.operands)
    reversing: list[Factor] = [(flip, (first, old)), (flip, (new, last))]
    start, end = (first, last) if backwards else (old, new)
    factors: list[Factor] = [(z, labels), *reversing[:backwards]]
    along = _build_product(factors, [*rest, start], lengths)
    factors = [(LogCumSumExp.of(along), [*rest, end]), *reversing[1 : 1 + backwards]]
    moved = _build_product(factors, product.output, lengths)
    if alone and not product.scalars:
        return moved, None
    weights = (RunningSoftmax.of(along), [*rest, start, end])
    others = [
        (o, own)
        for j, (o, own) in enumerate(zip(product.operands, product.subscripts, strict=True))
        if j not in (k, t)
    ]
    scalars = [(scalar, ()) for scalar in product.scalars]
    factors = [*scalars, *others, weights, *(reversing if backwards else [])]
    weighted = _build_product(factors, product.output, lengths)
    return moved, weighted


def _build_product(
    factors: Sequence[Factor], output: Sequence[int], lengths: Mapping[int, Expr]
) -> Operand:
    """Build a product from operands with their labels."""
    operands, terms = zip(*factors, strict=True)
    return contract_part(operands, terms, output, lengths)
