"""Parts of a product that are multiplied before all others: symmetric (SYRK) products A A', of
which half is computed, and products that occur twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from ..core import Indices, tuning
from .costs import entries, nominal_length, symmetric_product_cost
from .factors import Factor
from .orders import Lengths, ProductContext, best_order, order_of_factors, replace_product

Pair = tuple[Factor, Factor]


class WeightedGram(NamedTuple):
    """X' diag(w) X: the matrix X, the index of its rows, the weights w, none of them negative, and
    the indices of the product."""

    matrix: Factor
    row: int
    weights: list[Factor]
    labels: Indices


class SymmetricProduct(NamedTuple):
    """A product of two equal halves: the factors of one, the indices that it keeps, their
    partners in the other one, the indices of the product of both, and the factors beside it."""

    half: list[Factor]
    kept: Indices
    partners: Indices
    product: Indices
    rest: list[Factor]


class RepeatedProduct(NamedTuple):
    """Two factors whose product is there twice, its indices, and the factors with it in their
    place: two of them are the product, which isn't computed yet."""

    pair: Pair
    labels: Indices
    factors: list[Factor]


def multiplied_first(
    program: ProductContext, factors: Sequence[Factor], output: Indices, lengths: Lengths
) -> WeightedGram | SymmetricProduct | RepeatedProduct | None:
    """Return the part of a product that is multiplied before all others, if there is one."""
    return (
        _weighted_gram(program, factors, output)
        or _symmetric_product(program, factors, output, lengths)
        or _repeated_product(program, factors, output, lengths)
    )


def factor_to_scale(
    program: ProductContext, factors: Sequence[Factor], output: Indices, lengths: Lengths
) -> Factor | None:
    """Return the operand that a scalar is multiplied into: the smallest, if it is smaller than the
    result. Prefer the operand with the fewest uses, whose products are the least likely to be
    shared; if an index is summed, one that occurs once, since the product of equal operands may be
    shared."""
    size = {i: nominal_length(n) for i, n in lengths.items()}
    counts = Counter(factor.value for factor in factors)
    is_outer = all({*factor.labels} <= {*output} for factor in factors)
    whole = [f for f in factors if f.solves is None and (is_outer or counts[f.value] == 1)]
    sizes = {f: (entries({*f.labels}, size), program.use_count(f.value)) for f in whole}
    best = min(whole, key=sizes.__getitem__, default=None)
    is_smaller = best is not None and sizes[best][0] < entries({*output}, size)
    return best if is_smaller else None


# --- symmetric products ---------------------------------------------------------------------------


def _weighted_gram(
    program: ProductContext, factors: Sequence[Factor], output: Indices
) -> WeightedGram | None:
    """Find X' diag(w) X with w ≥ 0, which libraries compute as a symmetric product."""
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
    if not all(map(program.is_nonnegative, signed)):
        return None
    return WeightedGram(a, row, weights, (a.labels[1 - place], b.labels[1 - place]))


def _symmetric_product(
    program: ProductContext, factors: Sequence[Factor], output: Indices, lengths: Lengths
) -> SymmetricProduct | None:
    """Find the cheapest symmetric product of two equal halves in a product, if it pays."""
    pairs = _pairs(factors) if 2 < len(factors) <= tuning.MAX_REPEATED_OPERANDS else []
    if not pairs:
        return None
    size = {i: program.size(n) for i, n in lengths.items()}
    least = best_order(program, [*factors], output, lengths).cost
    best = None
    for chosen in _choices(pairs):
        found = _halves(factors, chosen, output)
        if found is None:
            continue
        whole = Factor(-1, found.product)
        both = (*found.kept, *found.partners)
        cost = symmetric_product_cost(found.kept, found.product, both, size)
        cost += best_order(program, found.half, found.kept, lengths).cost
        cost += best_order(program, [whole, *found.rest], output, lengths).cost
        if cost < least:
            best, least = found, cost
    return best


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


def _halves(
    factors: Sequence[Factor], pairs: Sequence[Pair], output: Indices
) -> SymmetricProduct | None:
    """Return the symmetric product of the first factors of some pairs, and the other factors."""
    partner: dict[int, int] = {}
    for a, b in pairs:
        for i, j in [*zip(a.labels, b.labels, strict=True), *zip(b.labels, a.labels, strict=True)]:
            if partner.setdefault(i, j) != j:
                return None
    half, other = [a for a, _ in pairs], [b for _, b in pairs]
    rest = [f for f in factors if all(f is not own for own in (*half, *other))]
    needed = {*output}.union(*[f.labels for f in rest])
    needed |= {partner[i] for i in needed if i in partner}
    mine = dict.fromkeys(i for f in half for i in f.labels)
    theirs = {i for f in other for i in f.labels}
    kept = tuple([i for i in mine if i in theirs or i in needed])
    shared = [i for i in kept if i in theirs]
    if not shared or any(partner[i] != i or i in needed for i in shared):
        return None
    partners = tuple([partner[i] for i in kept])
    rows = tuple([i for i in kept if i not in theirs])
    return SymmetricProduct(half, kept, partners, (*rows, *[partner[i] for i in rows]), rest)


# --- products that occur twice --------------------------------------------------------------------


def _repeated_product(
    program: ProductContext, factors: Sequence[Factor], output: Indices, lengths: Lengths
) -> RepeatedProduct | None:
    """Return the product of two factors that is there twice, if computing it first is cheaper than
    all other orders."""
    counts = Counter(factor.value for factor in factors)
    twice = [factor for factor in factors if counts[factor.value] > 1]
    if len(twice) < 4 or len(factors) > tuning.MAX_REPEATED_OPERANDS:
        return None
    best, least = None, best_order(program, [*factors], output, lengths).cost
    for pair in combinations(twice, 2):
        outside = {*output}.union(*[f.labels for f in factors if f not in pair])
        labels = dict.fromkeys(i for own in pair for i in own.labels)
        product = Factor(-1, [i for i in labels if i in outside])
        product.parts = pair
        once = None
        if len(product.labels) < len(labels):
            once = replace_product(factors, product, output)
        rest = None if once is None else replace_product(once, product, output)
        if rest is not None:
            cost = order_of_factors(program, [*pair], product.labels, lengths).cost
            cost += best_order(program, rest, output, lengths).cost
            if cost < least:
                best, least = RepeatedProduct(pair, product.labels, rest), cost
    return best
