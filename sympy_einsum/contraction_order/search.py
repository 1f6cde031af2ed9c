"""Orders of pairwise contraction, and their costs for symbolic lengths."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any, TypeAlias

from sympy import Expr, Integer, Symbol

from ..core import DeferredModule, Indices, Shape, TensorError, UnsupportedError, tuning
from .costs import (
    Contraction,
    Path,
    Sizes,
    Terms,
    entries,
    nominal_length,
    path_cost,
    reading_cost,
    transposed_entries,
)

opt_einsum = DeferredModule("opt_einsum")

# opt_einsum's optimizers: a name, True or False, an object of its own or of another library.
Optimizer: TypeAlias = Any


def check_optimizer(optimize: Optimizer) -> None:
    """Raise an error unless opt_einsum accepts an optimizer."""
    if isinstance(optimize, str):
        try:
            opt_einsum.paths.get_path_fn(optimize)
        except KeyError:
            names = ", ".join(sorted(opt_einsum.paths._PATH_OPTIONS))
            raise UnsupportedError(f"no optimizer {optimize!r}; there are {names}") from None
    elif optimize is not None and not isinstance(optimize, (bool, list)) and not callable(optimize):
        raise TensorError(
            f"optimize is True, False, a name such as 'greedy' or an optimizer, not {optimize!r}"
        )


@lru_cache(maxsize=4096)
def contraction_path(
    terms: Terms, output: Indices, sizes: Sizes, optimize: Optimizer = "auto"
) -> Path:
    """Find an order of pairwise contractions, as pairs of numbers: operands come first, then
    results in the order of the steps. ``optimize`` is opt_einsum's option, "auto" our search.

    >>> contraction_path(((0, 1), (1, 2), (2,)), (0,), ((0, 9), (1, 9), (2, 9)))
    [(1, 2), (0, 3)]
    """
    if len(terms) <= 2:
        return [tuple(range(len(terms)))]
    if optimize is False:
        return _numbered([(0, 1)] * (len(terms) - 1), range(len(terms)))
    size = dict(sizes)
    if optimize == "auto":
        return _search_path([frozenset(term) for term in terms], frozenset(output), size)
    equation = ",".join("".join(map(opt_einsum.get_symbol, term)) for term in terms)
    equation += "->" + "".join(map(opt_einsum.get_symbol, output))
    shapes = [tuple(size[i] for i in term) for term in terms]
    path, _ = opt_einsum.contract_path(equation, *shapes, shapes=True, optimize=optimize)
    return _numbered(path, range(len(terms)))


def _numbered(path: Iterable[Sequence[int]], numbers: Iterable[int], total: int = 0) -> Path:
    """Convert opt_einsum's positions in a shrinking list of operands to numbers that don't change;
    results get the numbers from ``total`` on (default: the number of operands)."""
    pending = list(numbers)
    total = total or len(pending)
    steps: Path = []
    for positions in path:
        steps.append(tuple(sorted([pending.pop(k) for k in sorted(positions, reverse=True)])))
        pending.append(total)
        total += 1
    return steps


IndexSet = frozenset[int]


def _search_path(terms: list[IndexSet], output: IndexSet, size: Mapping[int, int]) -> Path:
    """Contract the leaves, then search by dynamic programming if that is fast enough, else
    greedily."""
    steps, left, terms = _without_leaves(terms, output, size)
    if len(left) == 1:
        return steps
    remaining = [terms[number] for number in left]
    search = opt_einsum.paths.greedy
    if len(left) <= tuning.MAX_EXACT_OPERANDS and _is_sparse(remaining):
        # "optimal" rates an outer product with a summed index too low; "dp" doesn't.
        outer = len(left) <= tuning.MAX_OUTER_OPERANDS
        search = opt_einsum.DynamicProgramming(
            minimize=f"combo-{tuning.SEARCH_ENTRY}", search_outer=outer
        )
    return steps + _numbered(search(remaining, output, size), left, len(terms))


def _without_leaves(
    terms: Sequence[IndexSet], output: IndexSet, size: Mapping[int, int]
) -> tuple[Path, list[int], list[IndexSet]]:
    """Contract the operands whose partner is certain; return these steps, the numbers of the
    operands and results that remain, and the labels of all."""
    # Operands with the same labels are multiplied, and a leaf, whose labels are those of one other
    # operand only, is summed with it, the longest first. Summing it later would multiply the cost
    # of each step before by the length of the leaf, and save at most the first: a short leaf of a
    # small product is left to the search.
    shortest = tuning.MIN_LEAF_ENTRIES if len(terms) <= tuning.MAX_OUTER_OPERANDS else 0
    found = list(terms)
    holders = _holders(found)
    same: dict[IndexSet, int] = {}
    alive = set(range(len(found)))
    pending = deque(sorted(alive, key=lambda k: -entries(found[k], size)))
    steps: Path = []
    while pending:
        number = pending.popleft()
        own = found[number]
        if number not in alive:
            continue
        partner = same.setdefault(own, number)
        if partner == number or partner not in alive:
            same[own] = partner = number
            summed = not own & output and all(len(holders[label]) == 2 for label in own)
            if summed and entries(own, size) >= shortest:
                others = set().union(*[holders[label] for label in own]) - {number}
                partner = others.pop() if len(others) == 1 else number
        if partner == number:
            continue
        steps.append((min(number, partner), max(number, partner)))
        new = len(found)
        both = own | found[partner]
        for label in both:
            holders[label] -= {number, partner}
            holders[label].add(new)
        kept = frozenset([i for i in both if i in output or len(holders[i]) > 1])
        alive -= {number, partner}
        alive.add(new)
        found.append(kept)
        pending.append(new)
    return steps, sorted(alive), found


def _holders(terms: Sequence[IndexSet]) -> dict[int, set[int]]:
    """Return for each label the numbers of the operands that have it."""
    holders: dict[int, set[int]] = {}
    for number, own in enumerate(terms):
        for label in own:
            holders.setdefault(label, set()).add(number)
    return holders


def _is_sparse(terms: Sequence[IndexSet]) -> bool:
    """Tell whether operands share indices with few others: the time of dynamic programming grows
    with the number of connected groups of operands."""
    holders = _holders(terms)
    neighbours = [len(set().union(*[holders[i] for i in own])) - 1 for own in terms]
    return (
        max(neighbours) <= tuning.MAX_EXACT_NEIGHBOURS and sum(neighbours) <= tuning.MAX_EXACT_PAIRS
    )


@lru_cache(maxsize=4096)
def contraction_cost(terms: Terms, output: Indices, sizes: Sizes) -> int:
    """Multiplications, and three memory accesses for each entry of an intermediate result.

    >>> contraction_cost(((0, 1), (1,)), (0,), ((0, 10), (1, 10)))
    130
    """
    return path_cost(terms, output, sizes, contraction_path(terms, output, sizes))


@lru_cache(maxsize=4096)
def contiguous_path(
    terms: Terms, output: Indices, sizes: Sizes, optimize: Optimizer
) -> tuple[Path, int]:
    """Find the path of the fewest transposed entries among those that cost no more than the best;
    return it and its cost with the reading of the operands.

    A path that goes through the product from one end is preferred: longer products may begin with
    the same operands; from the other end where fewer entries are moved then. The trace of a product
    of four matrices is that of two products, which other traces may have too.
    """
    path = contraction_path(terms, output, sizes, optimize)
    cost = path_cost(terms, output, sizes, path)
    if optimize == "auto" and len(terms) > 3:
        pairs = None if output else _pairs_path(terms)
        if pairs is None:
            preferred = [_sweep_path(terms, output, backwards) for backwards in (False, True)]
        else:
            preferred = [pairs]
        cheap = [own for own in preferred if path_cost(terms, output, sizes, own) <= cost]
        path = min(cheap or [path], key=lambda own: transposed_entries(terms, output, sizes, own))
    return path, cost + reading_cost(terms, sizes)


def _pairs_path(terms: Terms) -> Path | None:
    """Return the order that multiplies the matrices of a trace of four in pairs, None for other
    products; matrices with the same indices are one."""
    path, number = _joined(terms)
    uses = Counter(i for own in number for i in own)
    is_cycle = len(number) == len(uses) == 4 and {*map(len, number), *uses.values()} == {2}
    if not is_cycle:
        return None
    first, *others = number
    second = next(own for own in others if own & first)
    halves = [(first, second), [own for own in others if own is not second]]
    for half in halves:
        path.append(tuple(sorted([number[own] for own in half])))
    count = len(terms) + len(path)
    return [*path, (count - 2, count - 1)]


def _sweep_path(terms: Terms, output: Indices, backwards: bool) -> Path:
    """Return the order that begins with an operand that has an index of the result, if there is one
    that no other has, and goes on with what makes the smallest product; backwards, where there
    are several, with the last one."""
    path, number = _joined(terms)
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


def _joined(terms: Terms) -> tuple[Path, dict[IndexSet, int]]:
    """Return the steps that multiply operands with the same indices, and the number of what has
    each set of indices then."""
    path: Path = []
    number: dict[IndexSet, int] = {}
    for k, own in enumerate(map(frozenset, terms)):
        if own in number:
            path.append((number[own], k))
        number[own] = len(terms) + len(path) - 1 if own in number else k
    return path, number


def path_determining_symbols(
    contractions: Iterable[Contraction], optimize: Optimizer = "auto"
) -> list[Symbol]:
    """Return the symbols that the best orders of some contractions depend on.

    >>> from sympy.abc import i, m, n
    >>> path_determining_symbols([Contraction(((0, 1), (1, 2), (2, 3)), (0, 3), (m, n, m, n))])
    [m, n]
    >>> path_determining_symbols([Contraction(((0, 1), (1, 2), (2,)), (0,), (m, n, i))])
    []
    """
    found: set[Symbol] = set()
    for terms, output, lengths in dict.fromkeys(contractions):
        symbols = sorted(set().union(*[n.free_symbols for n in lengths]) - found, key=str)
        if symbols and _order_depends(terms, output, lengths, symbols, optimize):
            found.update(symbols)
    return sorted(found, key=str)


def _order_depends(
    terms: Terms, output: Indices, lengths: Shape, symbols: Sequence[Symbol], optimize: Optimizer
) -> bool:
    """Tell whether the order for nominal lengths is a bad one for some others."""
    contraction = Contraction(terms, output, lengths)
    samples = [dict.fromkeys(symbols, n) for n in tuning.TRIED_LENGTHS]
    generator = Random(0)
    samples += [
        {s: generator.choice(tuning.TRIED_LENGTHS) for s in symbols}
        for _ in range(tuning.MAX_LENGTH_DRAWS)
    ]
    return not all(
        path_is_near_optimal(contraction, {}, {s: Integer(n) for s, n in values.items()}, optimize)
        for values in samples[: len(tuning.TRIED_LENGTHS) if len(symbols) == 1 else None]
    )


def path_is_near_optimal(
    contraction: Contraction,
    planned: Mapping[Expr, Integer],
    actual: Mapping[Expr, Integer],
    optimize: Optimizer = "auto",
) -> bool:
    """Check whether the best order for some lengths is about as good as the best for others;
    lengths that aren't given are nominal.

    >>> from sympy.abc import k, m, n
    >>> product = Contraction(((0, 1), (1, 2), (2, 3)), (0, 3), (m, n, m, n))
    >>> path_is_near_optimal(product, {n: Integer(9)}, {n: Integer(5)})
    True
    >>> path_is_near_optimal(product, {n: Integer(9)}, {n: Integer(500)})
    False
    """
    terms, output, lengths = contraction
    sizes = _sizes(lengths, actual)
    path = contraction_path(terms, output, _sizes(lengths, planned), optimize)
    best = contraction_path(terms, output, sizes, optimize)
    if best == path:
        return True
    least = path_cost(terms, output, sizes, best)
    return path_cost(terms, output, sizes, path) <= tuning.ORDER_TOLERANCE * least


def _sizes(lengths: Shape, values: Mapping[Expr, Integer]) -> Sizes:
    return tuple([(k, nominal_length(n.xreplace(values))) for k, n in enumerate(lengths)])
