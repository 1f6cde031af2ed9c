"""Rules for products with antisymmetric tensors: two of them contracted, and spelled by entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import factorial
from typing import TypeAlias

from sympy import Integer

from ..analysis import Barriers, Product, inlined_product, is_symmetric, joined_labels, sides_of
from ..core import Indices, tuning
from ..expressions import (
    Delta,
    LeviCivita,
    Operand,
    Unit,
    Zeros,
    alternating,
    contract_part,
    inline_products,
    is_slice,
    order_of,
    parity,
    scale,
    tensor_sum,
    total_of,
)

# A tensor and the labels of its axes.
Factor: TypeAlias = tuple[Operand, Indices]
# The places of two antisymmetric factors, and the indices over which only both are summed.
Pair: TypeAlias = tuple[int, int, list[int]]


def contract_pair(node: Operand, barriers: Barriers, max_terms: int) -> Operand | None:
    """Replace a product of two antisymmetric tensors by a sum of products of deltas, of at most
    ``max_terms`` terms."""
    product = inlined_product(node, barriers)
    pairs = list(_pairs(product))
    if not pairs:
        return None
    first, second, shared = max(pairs, key=lambda pair: len(pair[2]))
    one, two = product.subscripts[first], product.subscripts[second]
    left, right = ([i for i in own if i not in shared] for own in (one, two))
    length = product.operands[first].shape[0]
    if factorial(len(left)) > max_terms:
        return None
    sign = _sign(one, [*shared, *left]) * _sign(two, [*shared, *right])
    bare = product.replaced({first, second}, absorbed=range(max(product.lengths) + 1))
    terms = []
    for axes, own in alternating(len(left)):
        deltas = [(Delta(length), (i, right[axis])) for i, axis in zip(left, axes, strict=True)]
        term = replace(
            bare,
            scalars=(*bare.scalars, Integer(sign * own * factorial(len(shared)))),
            operands=(*bare.operands, *[delta for delta, _ in deltas]),
            subscripts=(*bare.subscripts, *[labels for _, labels in deltas]),
        )
        terms.append(term.build())
    return total_of(terms)


def _pairs(product: Product) -> Iterator[Pair]:
    """Yield the pairs of antisymmetric factors with as many axes."""
    places = [k for k, operand in enumerate(product.operands) if isinstance(operand, LeviCivita)]
    for first, second in combinations(places, 2):
        if product.operands[first] is product.operands[second]:
            common = {*product.subscripts[first]}.intersection(product.subscripts[second])
            yield first, second, sorted([i for i in common if product.counts[i] == 2])


def _sign(labels: Sequence[int], order: Sequence[int]) -> int:
    return parity(tuple([labels.index(label) for label in order]))


def contract_with_symmetric(node: Operand, barriers: Barriers) -> Operand | None:
    """Drop the contraction of an antisymmetric tensor with two axes of a symmetric matrix, which is
    0."""
    product = inlined_product(node, barriers)
    for tensor, labels in zip(product.operands, product.subscripts, strict=True):
        if not isinstance(tensor, LeviCivita):
            continue
        for other, own in zip(product.operands, product.subscripts, strict=True):
            is_pair = len({*own}) == 2 == order_of(other) and {*own} <= {*labels}
            if is_pair and all(product.counts[i] == 2 for i in own) and is_symmetric(other):
                return Zeros(*node.shape)
    return None


def spell(node: Operand, barriers: Barriers) -> Operand | None:
    """Write a product with an antisymmetric tensor, or parts of it, by the entries of the other
    factors, as a cross product is written by hand. Parts alone are left to what multiplies them."""
    if is_slice(node):
        return None
    product = _with_whole_tensors(inlined_product(node, barriers))
    places = [k for k, operand in enumerate(product.operands) if isinstance(operand, LeviCivita)]
    if len(places) == len(product.operands):
        return None
    for k in places:
        count = len({*product.subscripts[k]})
        if count == len(product.subscripts[k]) and factorial(count) <= tuning.MAX_ALTERNATING_TERMS:
            return _spelled(product, k)
    return None


def _with_whole_tensors(product: Product) -> Product:
    """Take slices of antisymmetric tensors apart: the tensor and selectors."""
    operands, subscripts, lengths = inline_products(
        product.operands,
        product.subscripts,
        product.lengths,
        lambda own, _: is_slice(own) and LeviCivita in map(type, own.operands),
    )
    return Product(product.scalars, tuple(operands), tuple(subscripts), product.output, lengths)


def _spelled(product: Product, place: int) -> Operand:
    """Put the entries along an axis of an antisymmetric factor side by side, and multiply them by
    what that axis is contracted with."""
    labels = product.subscripts[place]
    sides = sides_of(product.subscripts, product.output, place)
    axis = min(labels, key=lambda i: (i not in product.output, sides[i] is None))
    outer = sides[axis] or []
    used = {place, *outer}
    inner: list[Factor] = []
    for label in labels:
        side = sides[label]
        if label != axis and side:
            inner.append(_joined(product, side))
            used.update(side)
    rest = [k for k in range(len(product.operands)) if k not in used]
    inner += [(product.operands[k], product.subscripts[k]) for k in rest]
    beyond = {i for k in outer for i in product.subscripts[k]}.union(product.output)
    own = {i for _, term in inner for i in term}.union(labels)
    kept = sorted(own.intersection(beyond) - {axis})
    entries = _entries(product, labels, axis, inner, kept)
    factors = [
        (entries, (*kept, axis)),
        *[(product.operands[k], product.subscripts[k]) for k in outer],
    ]
    return contract_part(
        [*product.scalars, *[tensor for tensor, _ in factors]],
        [*[()] * len(product.scalars), *[term for _, term in factors]],
        product.output,
        product.lengths,
    )


def _joined(product: Product, places: Sequence[int]) -> Factor:
    """Return the product of some factors, with its labels."""
    labels = joined_labels(product.subscripts, product.output, places)
    return product.part(places, labels), tuple(labels)


def _entries(
    product: Product, labels: Indices, axis: int, factors: Sequence[Factor], kept: Sequence[int]
) -> Operand:
    """Return the contraction of an antisymmetric tensor with some factors, its axis last."""
    found = []
    for position in range(len(labels)):
        terms = []
        for places, sign in alternating(len(labels)):
            at = dict(zip(labels, places, strict=True))
            if at[axis] == position:
                units = {i: (Unit(product.lengths[i], Integer(k)), (i,)) for i, k in at.items()}
                terms.append(scale(Integer(sign), _at_units(product, factors, units, kept)))
        entry = total_of(terms), tuple(kept)
        unit = Unit(product.lengths[axis], Integer(position)), (axis,)
        found.append(_contracted([entry, unit], [*kept, axis], product))
    return tensor_sum(found)


def _at_units(
    product: Product,
    factors: Sequence[Factor],
    units: Mapping[int, Factor],
    kept: Sequence[int],
) -> Operand:
    """Multiply factors at positions; those of axes that are kept are unit vectors."""
    sliced = []
    for tensor, term in factors:
        chosen = [units[i] for i in term if i in units and i not in kept]
        rest = tuple([i for i in term if i not in units or i in kept])
        sliced.append((_contracted([(tensor, term), *chosen], rest, product), rest))
    sliced += [unit for i, unit in units.items() if i in kept]
    return _contracted(sliced, kept, product)


def _contracted(factors: Sequence[Factor], output: Sequence[int], product: Product) -> Operand:
    tensors, subscripts = zip(*factors, strict=True)
    return contract_part(tensors, subscripts, output, product.lengths)
