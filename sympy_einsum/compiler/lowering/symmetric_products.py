"""Symmetric (SYRK) products A A' within products: A is multiplied once, and half of A A'
computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from sympy import Expr

from ...core import Indices, tuning
from .factors import Factor
from .plan_builder import PlanBuilder
from .product_order import best_order


class Mirrored(NamedTuple):
    """A product in two halves: the factors of one, the indices that it keeps, what these are in
    the other one, the indices of the product of both, and the factors beside it."""

    half: list[Factor]
    kept: Indices
    images: Indices
    product: Indices
    rest: list[Factor]


def mirrored(
    builder: PlanBuilder, factors: Sequence[Factor], output: Indices, lengths: Mapping[int, Expr]
) -> Mirrored | None:
    """Find the cheapest symmetric (SYRK) product of two equal halves in a product, if it pays."""
    pairs = _pairs(factors) if 2 < len(factors) <= tuning.MAX_REPEATED_OPERANDS else []
    if not pairs:
        return None
    least = best_order(builder, [*factors], output, lengths).cost
    best = None
    for chosen in _choices(pairs):
        found = _halves(factors, chosen, output)
        cost = None if found is None else _cost(builder, found, output, lengths)
        if cost is not None and cost < least:
            best, least = found, cost
    return best


Pair = tuple[Factor, Factor]


def _pairs(factors: Sequence[Factor]) -> list[Pair]:
    """Factors that are the same value twice."""
    return [
        (a, b)
        for a, b in combinations(factors, 2)
        if a.value == b.value and not a.solves and not b.solves
        if len({*a.labels}) == len(a.labels) and len({*b.labels}) == len(b.labels)
    ]


def _choices(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """Yield the pairs that have the same index on the same axis, for each such index; and these
    with all that share indices with them."""
    fixed = {i for a, b in pairs for i, j in zip(a.labels, b.labels, strict=True) if i == j}
    for index in sorted(fixed):
        chosen: list[Pair] = []
        for a, b in pairs:
            if index in a.labels and index in b.labels:
                _choose(chosen, (a, b))
        yield [*chosen]
        count = len(chosen)
        for a, b in [*pairs, *[(b, a) for a, b in pairs]]:
            if {*a.labels} & {i for own, _ in chosen for i in own.labels if i != index}:
                _choose(chosen, (a, b))
        if len(chosen) > count:
            yield chosen


def _choose(chosen: list[Pair], pair: Pair) -> None:
    """Add a pair of factors that haven't been chosen."""
    taken = [id(own) for both in chosen for own in both]
    if not any(id(own) in taken for own in pair):
        chosen.append(pair)


def _halves(factors: Sequence[Factor], pairs: Sequence[Pair], output: Indices) -> Mirrored | None:
    """Return the symmetric product of the first factors of some pairs, and the other factors."""
    image: dict[int, int] = {}
    for a, b in pairs:
        for i, j in [*zip(a.labels, b.labels, strict=True), *zip(b.labels, a.labels, strict=True)]:
            if image.setdefault(i, j) != j:
                return None
    half, other = [a for a, _ in pairs], [b for _, b in pairs]
    rest = [f for f in factors if all(f is not own for own in (*half, *other))]
    needed = {*output}.union(*[f.labels for f in rest])
    needed |= {image[i] for i in needed if i in image}
    mine = dict.fromkeys(i for f in half for i in f.labels)
    theirs = {i for f in other for i in f.labels}
    kept = tuple([i for i in mine if i in theirs or i in needed])
    shared = [i for i in kept if i in theirs]
    if not shared or any(image[i] != i or i in needed for i in shared):
        return None
    images = tuple([image[i] for i in kept])
    rows = tuple([i for i in kept if i not in theirs])
    return Mirrored(half, kept, images, (*rows, *[image[i] for i in rows]), rest)


def _cost(
    builder: PlanBuilder, found: Mirrored, output: Indices, lengths: Mapping[int, Expr]
) -> int:
    """Compute the cost of a symmetric product, which takes half of the arithmetic of a full one."""
    size = {i: builder.size(n) for i, n in lengths.items()}

    def entries(labels: Sequence[int]) -> int:
        total = 1
        for i in labels:
            total *= size[i]
        return total

    work = entries([*dict.fromkeys((*found.kept, *found.images))])
    whole = Factor(-1, found.product)
    cost = work // 2 + tuning.ENTRY * entries(found.product) + entries(found.kept)
    cost += best_order(builder, found.half, found.kept, lengths).cost
    return cost + best_order(builder, [whole, *found.rest], output, lengths).cost
