"""The cost of products of tensors: multiplications, and entries of arrays that are moved.

The unit is a multiplication inside a contraction; ``tuning`` has the weights. The costs of nodes
(analysis/cost_model.py) are sums of these and of their like for other nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import NamedTuple

from sympy import Expr

from ..core import Indices, Shape, tuning

Terms = tuple[Indices, ...]
Sizes = tuple[tuple[int, int], ...]
Path = list[tuple[int, ...]]


class Contraction(NamedTuple):
    """A product: the indices of the operands and of the result, and the length of each index."""

    terms: Terms
    output: Indices
    lengths: Shape


def nominal_length(length: Expr) -> int:
    """Return the number that a length counts as, 0 where that would be negative."""
    return max(int(length), 0) if length.is_Integer else tuning.NOMINAL_LENGTH


def nominal_size(lengths: Iterable[Expr]) -> int:
    """Count the entries of a tensor with axes of some lengths."""
    return prod(map(nominal_length, lengths))


def entries(labels: Iterable[int], size: Mapping[int, int]) -> int:
    """Count the entries of a tensor that has some indices, each on one axis."""
    return prod([size[i] for i in labels])


def contraction_steps(
    terms: Sequence[Sequence[int]], output: Sequence[int], path: Path
) -> Iterator[tuple[tuple[int, ...], list[set[int]], set[int]]]:
    """Yield for each step the numbers of its operands, their indices, and those that are needed
    afterwards."""
    found = [set(term) for term in terms]
    uses = Counter(i for own in (*found, set(output)) for i in own)
    for step in path:
        chosen = [found[k] for k in step]
        uses.subtract(i for own in chosen for i in own)
        result = {i for own in chosen for i in own if uses[i]}
        uses.update(result)
        found.append(result)
        yield step, chosen, result


def path_cost(terms: Terms, output: Indices, sizes: Sizes, path: Path) -> int:
    """Compute the cost of a contraction in a given order: its multiplications and additions, and
    the writing of its intermediate results."""
    size = dict(sizes)
    total = 0
    for _, chosen, result in contraction_steps(terms, output, path):
        shared = Counter(i for own in chosen for i in own)
        for k, own in enumerate(chosen):
            # Indices of only one operand are summed before the multiplication.
            needed = {i for i in own if i in result or shared[i] > 1}
            if needed != own:
                total += entries(own, size) + tuning.ENTRY * entries(needed, size)
                chosen[k] = needed
        if len(chosen) > 1:
            total += entries(set().union(*chosen), size) + tuning.ENTRY * entries(result, size)
    return total


def combination_cost(factors: Collection[Fraction | float]) -> int:
    """Compute the cost of an entry of a linear combination with some factors, whose operations each
    move an entry."""
    return tuning.ENTRY * (len(factors) + sum([factor not in (1, -1) for factor in factors]))


def reading_cost(terms: Terms, sizes: Sizes) -> int:
    """Count the entries of operands, each read once."""
    size = dict(sizes)
    return sum(entries({*term}, size) for term in terms)


def symmetric_product_cost(
    half: Indices, product: Indices, both: Indices, size: Mapping[int, int]
) -> int:
    """Compute the cost of a symmetric (SYRK) product of a tensor with itself: half of the
    arithmetic over ``both`` operands' indices, writing the product, and reading the half."""
    arithmetic = entries(dict.fromkeys(both), size) // 2
    return arithmetic + tuning.ENTRY * entries(product, size) + entries(half, size)


def transposed_entries(terms: Terms, output: Indices, sizes: Sizes, path: Path) -> int:
    """Count the entries that are transposed so that the products of a path become matrix
    products."""
    size = dict(sizes)
    found = [tuple(dict.fromkeys(term)) for term in terms]
    total = 0
    for operands, _, kept in contraction_steps(terms, output, path):
        uses = Counter(i for k in operands for i in found[k])
        pair = [[i for i in found[k] if i in kept or uses[i] > 1] for k in operands]
        largest = max(pair, key=lambda own: entries(own, size))
        summed = [i for i in largest if uses[i] > 1 and i not in kept]
        free = [[i for i in own if i not in summed] for own in pair]
        result = [i for own in free for i in own]
        is_stack = len(summed) == 1 and len(largest) > 2 and summed[0] in largest[1:-1]
        if is_stack and min(map(len, pair)) == 2:
            # A matrix times each matrix of a stack.
            new = min(free, key=len)
            result = [i for own in largest for i in (new if own in summed else [own])]
        else:
            fit = [([*own, *summed], [*summed, *own]) for own in free]
            moved = [own for own, orders in zip(pair, fit, strict=True) if own not in orders]
            total += sum(entries(own, size) for own in moved if len(own) > 2)
        found.append(tuple(dict.fromkeys(result)))
    return total
