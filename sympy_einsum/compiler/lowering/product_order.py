"""Contraction order of products, with reuse of the results of earlier ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import prod
from typing import NamedTuple

from sympy import Expr

from ...core import (
    Contraction,
    Indices,
    Optimizer,
    Path,
    Sizes,
    Terms,
    contraction_path,
    contraction_steps,
    path_cost,
    tuning,
)
from .factors import Factor
from .plan_builder import PlanBuilder


class Order(NamedTuple):
    """Operands, the product that they make, its steps, and what these cost with the reading of
    the operands."""

    factors: list[Factor]
    contraction: Contraction
    path: Path
    cost: int


class ContractionStep(NamedTuple):
    """The numbers of one or two operands and the indices of their product, of which those come
    last that the step after it sums."""

    operands: tuple[int, ...]
    output: Indices


class Repeated(NamedTuple):
    """Two factors whose product is there twice, its indices, and the factors with it in their
    place: two of them are the product, which isn't computed yet."""

    pair: tuple[Factor, Factor]
    labels: Indices
    factors: list[Factor]


def best_order(
    builder: PlanBuilder, factors: list[Factor], output: Indices, lengths: Mapping[int, Expr]
) -> Order:
    """Find the contraction order; results of earlier products are reused where that costs no
    more."""
    plain = _order(builder, factors, output, lengths)
    if not 2 < len(factors) <= tuning.MAX_REUSING_OPERANDS:
        return plain
    # A product of all operands but one leaves two large ones: the parts of it may be better.
    choices = [_shared(builder, plain, output, lengths, left) for left in (0, 2)]
    return min(choices, key=lambda order: order.cost)


def _shared(
    builder: PlanBuilder, order: Order, output: Indices, lengths: Mapping[int, Expr], left: int
) -> Order:
    """Replace parts of a product by known values where the order costs no more for it; at least
    ``left`` operands remain."""
    most = len(order.factors) - left
    for product in builder.products.among(order.factors) if most > 1 else ():
        replaced = _with(order.factors, product, output) if len(product.parts) <= most else None
        if replaced is not None:
            found = _order(builder, replaced, output, lengths)
            if found.cost <= order.cost:
                return _shared(builder, found, output, lengths, left)
    return order


def _order(
    builder: PlanBuilder, factors: list[Factor], output: Indices, lengths: Mapping[int, Expr]
) -> Order:
    number: dict[int, int] = {}
    terms = tuple([tuple([number.setdefault(i, len(number)) for i in f.labels]) for f in factors])
    kept = tuple([number[i] for i in output if i in number])
    contraction = Contraction(terms, kept, tuple([lengths[i] for i in number]))
    sizes = tuple([(k, builder.size(n)) for k, n in enumerate(contraction.lengths)])
    return Order(factors, contraction, *_priced(terms, kept, sizes, builder.optimize))


# Few distinct patterns occur.
@lru_cache(maxsize=4096)
def _priced(terms: Terms, output: Indices, sizes: Sizes, optimize: Optimizer) -> tuple[Path, int]:
    """Return the best path, and what it costs with the reading of the operands. One that goes
    through the product from one end is preferred: longer products may begin with the same; from the
    other end where fewer entries are moved then."""
    path = contraction_path(terms, output, sizes, optimize)
    cost = path_cost(terms, output, sizes, path)
    size = dict(sizes)
    if optimize == "auto" and len(terms) > 3:
        swept = [_swept(terms, output, backwards) for backwards in (False, True)]
        cheap = [own for own in swept if path_cost(terms, output, sizes, own) <= cost]
        path = min(cheap or [path], key=lambda own: _moved(terms, output, size, own))
    return path, cost + sum(prod(size[i] for i in set(term)) for term in terms)


def _moved(terms: Terms, output: Indices, size: Mapping[int, int], path: Path) -> int:
    """Count the entries that a path transposes so that its products become matrix products."""
    found = [tuple(dict.fromkeys(term)) for term in terms]
    total = 0
    for operands, _, kept in contraction_steps(terms, output, path):
        uses = Counter(i for k in operands for i in found[k])
        pair = [[i for i in found[k] if i in kept or uses[i] > 1] for k in operands]
        largest = max(pair, key=lambda own: prod(size[i] for i in own))
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
            total += sum(prod(size[i] for i in own) for own in moved if len(own) > 2)
        found.append(tuple(dict.fromkeys(result)))
    return total


def _swept(terms: Terms, output: Indices, backwards: bool) -> Path:
    """Return the order that begins with an operand that has an index of the result, if there is one
    that no other has, and goes on with what makes the smallest product; backwards, where there
    are several, with the last one."""
    path: Path = []
    number: dict[frozenset[int], int] = {}
    for k, own in enumerate(map(frozenset, terms)):
        if own in number:
            path.append((number[own], k))
        number[own] = len(terms) + len(path) - 1 if own in number else k
    entries = [*number.items()]
    left = {k: own for own, k in (entries[::-1] if backwards else entries)}
    uses = Counter(i for own in left.values() for i in own)
    ends = {k: [uses[i] for i in own.intersection(output)] for k, own in left.items()}
    last = min(left, key=lambda k: min(ends[k], default=len(terms)))
    have = left.pop(last)
    while left:
        uses = Counter(i for own in (*left.values(), {*output}) for i in own)
        kept = {k: {i for i in have | own if uses[i] > (i in own)} for k, own in left.items()}
        near = [k for k, own in left.items() if have & own] or list(left)
        chosen = min(near, key=lambda k: len(kept[k]))
        path.append((min(last, chosen), max(last, chosen)))
        have, last = frozenset(kept[chosen]), len(terms) + len(path) - 1
        del left[chosen]
    return path


def _with(factors: Sequence[Factor], known: Factor, output: Indices) -> list[Factor] | None:
    """Replace some of the factors by a known product of them; None if it isn't one."""
    mine, theirs = [Counter(i for f in own for i in {*f.labels}) for own in (factors, known.parts)]
    mine.update({*output})
    # Indices that the product sums occur in its parts only.
    inner = {i: count for i, count in theirs.items() if i not in known.labels}

    def fits(i: int, image: int) -> bool:
        return i not in inner or mine[image] == inner[i]

    found = next(_matches(known.parts, factors, {}, fits), None)
    if found is None:
        return None
    used, rename = found
    rest = [factor for factor in factors if factor not in used]
    return [Factor(known.value, [rename[i] for i in known.labels]), *rest]


def repeated(
    builder: PlanBuilder, factors: Sequence[Factor], output: Indices, lengths: Mapping[int, Expr]
) -> Repeated | None:
    """Return the product of two factors that is there twice, if computing it first is cheaper than
    all other orders."""
    counts = Counter(factor.value for factor in factors)
    twice = [factor for factor in factors if counts[factor.value] > 1]
    if len(twice) < 4 or len(factors) > tuning.MAX_REPEATED_OPERANDS:
        return None
    best, least = None, best_order(builder, [*factors], output, lengths).cost
    for pair in combinations(twice, 2):
        outside = {*output}.union(*[f.labels for f in factors if f not in pair])
        labels = dict.fromkeys(i for own in pair for i in own.labels)
        product = Factor(-1, [i for i in labels if i in outside])
        product.parts = pair
        once = _with(factors, product, output) if len(product.labels) < len(labels) else None
        rest = None if once is None else _with(once, product, output)
        if rest is not None:
            cost = _order(builder, [*pair], product.labels, lengths).cost
            cost += best_order(builder, rest, output, lengths).cost
            if cost < least:
                best, least = Repeated(pair, product.labels, rest), cost
    return best


def _matches(
    parts: Sequence[Factor],
    factors: Sequence[Factor],
    rename: Mapping[int, int],
    fits: Callable[[int, int], bool],
) -> Iterator[tuple[list[Factor], Mapping[int, int]]]:
    """Yield the ways to find parts among factors: these, and which index each index is, where these
    two fit."""
    if not parts:
        yield [], rename
        return
    first, *others = parts
    for own in factors:
        if own.value != first.value or own.solves != first.solves:
            continue
        pairs = list(zip(first.labels, own.labels, strict=True))
        renamed = {**rename, **dict(pairs)}
        # An index on two axes is on both of them the same.
        is_one = all(renamed[i] == k for i, k in (*rename.items(), *pairs))
        if (
            is_one
            and len({*renamed.values()}) == len(renamed)
            and all(fits(*pair) for pair in pairs)
        ):
            rest = [factor for factor in factors if factor is not own]
            for used, found in _matches(others, rest, renamed, fits):
                yield [own, *used], found


def steps_of(order: Order, output: Indices) -> Iterator[ContractionStep]:
    """Yield the steps of a product."""
    labels: list[Indices] = [factor.labels for factor in order.factors]
    count = len(labels)
    summed: dict[int, set[int]] = {}
    for number, (operands, _, kept) in enumerate(
        contraction_steps(labels, output, order.path), count
    ):
        found = dict.fromkeys(i for k in operands for i in labels[k])
        is_last = number == count + len(order.path) - 1
        labels.append(output if is_last else tuple(i for i in found if i in kept))
        summed.update({k: set(labels[k]).difference(labels[number]) for k in operands})
    for number, operands in enumerate(order.path, count):
        own = labels[number]
        if len(operands) > 1 and len(own) > 2:
            # So that the next product takes this one as a matrix.
            own = tuple(sorted(own, key=lambda i: i in summed.get(number, ())))
        yield ContractionStep(operands, own)
