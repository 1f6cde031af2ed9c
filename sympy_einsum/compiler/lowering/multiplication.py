"""Lowering of products of many operands to a sequence of pairwise products."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from sympy import Expr, S

from ...core import Indices
from .factors import Factor
from .pairwise import Pairs
from .plan_builder import PlanBuilder
from .product_order import Repeated, best_order, repeated, steps_of
from .symmetric_products import mirrored


def multiply_all(
    builder: PlanBuilder,
    factors: Sequence[Factor],
    output: Sequence[int],
    lengths: Mapping[int, Expr],
    scalar: int | None = None,
) -> int:
    """Emit a product; ``scalar`` is one more factor."""
    output = tuple(output)
    if not factors:
        return builder.emit("scalar", params=(S.One,)) if scalar is None else scalar
    pairs = Pairs(builder, lengths)
    factors = [_stripped(builder, factor) for factor in factors]
    gram = _weighted_gram(builder, factors, output)
    factors = factors if gram is None else [gram]
    halves = mirrored(builder, factors, output, lengths)
    if halves is not None:
        one = multiply_all(builder, halves.half, halves.kept, lengths)
        pair = Factor(one, halves.kept), Factor(one, halves.images)
        whole = pairs.product(*pair, halves.product)
        return multiply_all(builder, [whole, *halves.rest], output, lengths, scalar)
    twice = repeated(builder, factors, output, lengths)
    if twice is not None:
        return multiply_all(builder, _computed(pairs, twice), output, lengths, scalar)
    if scalar is not None and _scale_smallest(pairs, factors, output, scalar):
        scalar = None
    order = best_order(builder, factors, output, lengths)
    if len(order.factors) > 2:
        builder.contractions.append(order.contraction)
    found = [*order.factors]
    present = {label for factor in factors for label in factor.labels}
    for operands, result in steps_of(order, tuple([i for i in output if i in present])):
        chosen = [found[k] for k in operands]
        if len(chosen) == 1:
            pairs.materialise(chosen[0])
            found.append(pairs.reduced(chosen[0], result))
        else:
            product = pairs.product(chosen[0], chosen[1], result)
            product.parts = chosen[0].parts + chosen[1].parts
            builder.products.add(product)
            found.append(product)
    last = found[-1]
    pairs.materialise(last)
    value = builder.arranged(last.value, last.labels, output)
    return value if scalar is None else builder.scaled(scalar, value)


def _computed(pairs: Pairs, twice: Repeated) -> list[Factor]:
    """Compute a part that a product contains twice; return the factors with it."""
    parts = tuple([Factor(f.value, f.labels, f.solves) for f in twice.pair])
    product = pairs.product(*twice.pair, twice.labels)
    product.parts = parts
    pairs.builder.products.add(product)
    places = [twice.labels.index(i) for i in product.labels]
    return [
        Factor(product.value, [f.labels[k] for k in places]) if f.value < 0 else f
        for f in twice.factors
    ]


def _stripped(builder: PlanBuilder, factor: Factor) -> Factor:
    """Return the operand with its axes as they lie in memory."""
    value, axes = builder.untransposed(factor.value)
    if axes is None or factor.solves is not None:
        return factor
    return Factor(value, [factor.labels[axes.index(k)] for k in range(len(axes))])


def _scale_smallest(pairs: Pairs, factors: Sequence[Factor], output: Indices, scalar: int) -> bool:
    """Multiply a scalar into an operand smaller than the result, and tell whether there is one.
    Prefer the operand with the fewest uses, whose products are the least likely to be shared; if
    an index is summed, one that occurs once, since the product of equal operands may be shared."""
    builder = pairs.builder
    uses = {f: builder.uses[builder.nodes[f.value]] for f in factors if f.value in builder.nodes}
    counts = Counter(factor.value for factor in factors)
    is_outer = all({*factor.labels} <= {*output} for factor in factors)
    whole = [f for f in factors if f.solves is None and (is_outer or counts[f.value] == 1)]
    best = min(whole, key=lambda f: (pairs.entries(f.labels), uses.get(f, 1)), default=None)
    if best is None or pairs.entries(best.labels) >= pairs.entries(output):
        return False
    best.value = builder.scaled(scalar, best.value)
    return True


def _weighted_gram(
    builder: PlanBuilder, factors: Sequence[Factor], output: Indices
) -> Factor | None:
    """X' diag(w) X with w ≥ 0, which is symmetric: libraries make use of that."""
    weights = [f for f in factors if len(f.labels) == 1]
    matrices = [f for f in factors if len(set(f.labels)) == len(f.labels) == 2]
    if len(matrices) != 2 or len(weights) + 2 != len(factors) or not weights:
        return None
    (a, b), rows = matrices, set(matrices[0].labels) & set(matrices[1].labels)
    if a.value != b.value or len(rows) != 1 or a.solves or b.solves:
        return None
    row = rows.pop()
    place = a.labels.index(row)
    if b.labels.index(row) != place or row in output:
        return None
    if set(output) != (set(a.labels) | set(b.labels)) - {row}:
        return None
    powers = Counter(f.value for f in weights)
    signed = [value for value, power in powers.items() if power % 2]
    if any(f.labels != (row,) for f in weights):
        return None
    if not all(map(builder.is_nonnegative, signed)):
        return None
    values = [f.value for f in weights]
    weight = values[0] if len(values) == 1 else builder.emit("multiply", *values)
    matrix = builder.arranged(a.value, a.labels, [row, a.labels[1 - place]])
    gram = builder.emit("weighted_gram", matrix, weight)
    return Factor(gram, [a.labels[1 - place], b.labels[1 - place]])
