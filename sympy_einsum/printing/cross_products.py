"""Recognise cross products in contractions with the antisymmetric tensor of three axes."""

from __future__ import annotations

from typing import NamedTuple

from ..analysis import joined_labels, sides_of
from ..expressions import LeviCivita, TensorExpr, TensorSymbol, contract_part
from .slices import Factors


class CrossProduct(NamedTuple):
    """Hold the factors of a cross product, and the symbol that stands for it in a product."""

    symbol: TensorSymbol
    first: TensorExpr
    second: TensorExpr


def with_cross_products(product: Factors) -> tuple[Factors, list[CrossProduct]]:
    """Replace antisymmetric factors, with what they are contracted with, by symbols of cross
    products, where these have three entries."""
    found: list[CrossProduct] = []
    while (step := _next(product)) is not None:
        product, cross = step
        found.append(cross)
    return product, found


def _next(product: Factors) -> tuple[Factors, CrossProduct] | None:
    for k, (tensor, labels) in enumerate(zip(product.operands, product.terms, strict=True)):
        if not isinstance(tensor, LeviCivita) or len({*labels}) != 3:
            continue
        sides = sides_of(product.terms, product.output, k)
        # The axis of the result first, then in cyclic order, which keeps the sign.
        orders = [labels[j:] + labels[:j] for j in range(3)]
        for i, j, m in sorted(orders, key=lambda order: order[0] not in product.output):
            if sides[j] and sides[m] and {j, m}.isdisjoint(product.output):
                step = _replaced(product, k, i, (j, sides[j] or []), (m, sides[m] or []))
                if step is not None:
                    return step
    return None


def _replaced(
    product: Factors, place: int, axis: int, *sides: tuple[int, list[int]]
) -> tuple[Factors, CrossProduct] | None:
    """Put a symbol for the cross product of the factors on two sides."""
    vectors: list[TensorExpr] = []
    batches: list[list[int]] = []
    rank = {label: k for k, label in enumerate(product.output)}
    for label, group in sides:
        beyond = joined_labels(product.terms, product.output, group)
        batch = sorted(set(beyond) - {label}, key=lambda i: (i not in rank, rank.get(i, i)))
        vector = contract_part(
            [product.operands[k] for k in group],
            [product.terms[k] for k in group],
            [*batch, label],
            product.lengths,
        )
        if not isinstance(vector, TensorExpr):
            return None
        vectors.append(vector)
        batches.append(batch)
    shorter, longer = sorted(batches, key=len)
    if shorter != longer[len(longer) - len(shorter) :]:
        return None
    shape = [*[product.lengths[i] for i in longer], product.lengths[axis]]
    symbol = TensorSymbol(f" {vectors[0]._digest} {vectors[1]._digest}", shape)
    gone = {place, *sides[0][1], *sides[1][1]}
    kept = [k for k in range(len(product.operands)) if k not in gone]
    operands = [*[product.operands[k] for k in kept], symbol]
    terms = [*[product.terms[k] for k in kept], (*longer, axis)]
    lengths = {i: product.lengths[i] for term in (*terms, product.output) for i in term}
    return Factors(operands, terms, product.output, lengths), CrossProduct(symbol, *vectors)


def is_alone(product: Factors) -> bool:
    """Tell whether a product is its only factor."""
    return len(product.operands) == 1 and tuple(product.terms[0]) == tuple(product.output)
