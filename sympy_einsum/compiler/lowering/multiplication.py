"""Lowering of products of many operands to a sequence of pairwise products, in the order that
``contraction_order`` decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sympy import Expr, S

from ...contraction_order import (
    Factor,
    RepeatedProduct,
    SymmetricProduct,
    WeightedGram,
    best_order,
    factor_to_scale,
    multiplied_first,
)
from ...core import Indices
from .pairwise import Pairs
from .plan_builder import PlanBuilder


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
    if len(factors) == 2 and scalar is None and _is_entrywise(factors, output):
        return pairs.remembered(factors[0], factors[1], output).value
    first = multiplied_first(builder, factors, output, lengths)
    if first is not None:
        return multiply_all(builder, _with_part(pairs, first), output, lengths, scalar)
    if scalar is not None:
        scaled = factor_to_scale(builder, factors, output, lengths)
        if scaled is not None:
            scaled.value = builder.scaled(scalar, scaled.value)
            scalar = None
    value = _multiplied_in_order(pairs, factors, output)
    return value if scalar is None else builder.scaled(scalar, value)


def _multiplied_in_order(pairs: Pairs, factors: list[Factor], output: Indices) -> int:
    """Emit a product pair by pair."""
    builder = pairs.builder
    order = best_order(builder, factors, output, pairs.lengths)
    if len(order.factors) > 2:
        builder.contractions.append(order.contraction)
    found = [*order.factors]
    present = {label for factor in factors for label in factor.labels}
    for operands, result in order.steps(tuple([i for i in output if i in present])):
        chosen = [found[k] for k in operands]
        if len(chosen) == 1:
            pairs.materialise(chosen[0])
            found.append(pairs.reduced(chosen[0], result))
        else:
            found.append(pairs.remembered(chosen[0], chosen[1], result))
    last = found[-1]
    pairs.materialise(last)
    return builder.arranged(last.value, last.labels, output)


def _is_entrywise(factors: Sequence[Factor], output: Indices) -> bool:
    """Tell whether factors are multiplied entry by entry, in the order of their axes."""
    return len({*output}) == len(output) and all(
        factor.labels == output and factor.solves is None for factor in factors
    )


def _stripped(builder: PlanBuilder, factor: Factor) -> Factor:
    """Return the operand with its axes as they lie in memory."""
    value, axes = builder.untransposed(factor.value)
    if axes is None or factor.solves is not None:
        return factor
    return Factor(value, [factor.labels[axes.index(k)] for k in range(len(axes))])


def _with_part(
    pairs: Pairs, part: WeightedGram | SymmetricProduct | RepeatedProduct
) -> list[Factor]:
    """Emit a part of a product; return the factors with it."""
    if isinstance(part, WeightedGram):
        return [_weighted_gram(pairs.builder, part)]
    if isinstance(part, SymmetricProduct):
        one = multiply_all(pairs.builder, part.half, part.kept, pairs.lengths)
        whole = pairs.product(Factor(one, part.kept), Factor(one, part.partners), part.product)
        return [whole, *part.rest]
    parts = tuple([Factor(f.value, f.labels, f.solves) for f in part.pair])
    product = pairs.product(*part.pair, part.labels)
    product.parts = parts
    pairs.builder.products.add(product)
    places = [part.labels.index(i) for i in product.labels]
    return [
        Factor(product.value, [f.labels[k] for k in places]) if f.value < 0 else f
        for f in part.factors
    ]


def _weighted_gram(builder: PlanBuilder, gram: WeightedGram) -> Factor:
    """Emit X' diag(w) X."""
    values = [weight.value for weight in gram.weights]
    weight = values[0] if len(values) == 1 else builder.emit("multiply", *values)
    matrix = builder.arranged(gram.matrix.value, gram.matrix.labels, [gram.row, gram.labels[0]])
    return Factor(builder.emit("weighted_gram", matrix, weight), gram.labels)
