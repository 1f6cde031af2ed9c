"""Orders of pairwise contraction, and what they cost when the lengths are symbols.

Imports nothing of the package. Used by the plan, which carries a contraction out, and by the cost
measure of the normal form, which only compares.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod
from random import Random
from typing import Any, NamedTuple

import opt_einsum
from sympy import Integer

# A symbolic length counts as this when contraction orders are compared.
NOMINAL_LENGTH = 100
# Writing an entry of an array costs so many multiplications inside a contraction.
ENTRY = 3
# The same in the search for an order: matrix products multiply much faster than memory is written.
WRITE = 16
# Dynamic programming over contraction orders is exact, but takes long beyond this; with outer
# products, which pay where operands share an index of the result, even sooner.
MAX_DP_OPERANDS = 16
MAX_OUTER_OPERANDS = 8
# Lengths that are tried to see whether an order depends on them, how often when there are several,
# and how much worse than the best an order may be.
TRIED = (3, 30, 1000)
MAX_TRIALS = 12
TOLERANCE = 1.1


def nominal_length(length: Any) -> int:
    """The number that a length counts as."""
    return int(length) if length.is_Integer else NOMINAL_LENGTH


Terms = tuple[tuple[int, ...], ...]
Sizes = tuple[tuple[int, int], ...]
Path = list[tuple[int, ...]]


class Contraction(NamedTuple):
    """A product: the indices of the operands and of the result, and the length of each index."""

    terms: Terms
    output: tuple[int, ...]
    lengths: tuple[Any, ...]


@lru_cache(maxsize=4096)
def contraction_path(
    terms: Terms, output: tuple[int, ...], sizes: Sizes, optimize: Any = "auto"
) -> Path:
    """The order of pairwise contractions, as positions in the shrinking list of operands;
    ``optimize`` is opt_einsum's, where "auto" is our choice.

    >>> contraction_path(((0, 1), (1, 2), (2,)), (0,), ((0, 9), (1, 9), (2, 9)))
    [(1, 2), (0, 1)]
    """
    if len(terms) <= 2:
        return [tuple(range(len(terms)))]
    if optimize is False:
        return [(0, 1)] * (len(terms) - 1)
    size = dict(sizes)
    equation = ",".join("".join(map(opt_einsum.get_symbol, term)) for term in terms)
    equation += "->" + "".join(map(opt_einsum.get_symbol, output))
    shapes = [tuple(size[i] for i in term) for term in terms]
    method = optimize
    if optimize == "auto" and len(terms) <= MAX_DP_OPERANDS:
        # "optimal" rates an outer product with a summed index too low; "dp" doesn't.
        method = opt_einsum.DynamicProgramming(
            minimize=f"combo-{WRITE}", search_outer=len(terms) <= MAX_OUTER_OPERANDS
        )
    path, _ = opt_einsum.contract_path(equation, *shapes, shapes=True, optimize=method)
    return [tuple(sorted(step)) for step in path]


@lru_cache(maxsize=4096)
def contraction_cost(terms: Terms, output: tuple[int, ...], sizes: Sizes) -> int:
    """Multiplications, and three memory accesses for each entry of an intermediate result.

    >>> contraction_cost(((0, 1), (1,)), (0,), ((0, 10), (1, 10)))
    130
    """
    return path_cost(terms, output, sizes, contraction_path(terms, output, sizes))


def path_cost(terms: Terms, output: tuple[int, ...], sizes: Sizes, path: Path) -> int:
    """The same for a given order."""
    size = dict(sizes)

    def entries(labels: Iterable[int]) -> int:
        return prod(size[i] for i in labels)

    total = 0
    pending: list[set[int]] = [set(term) for term in terms]
    for step in path:
        chosen = [pending[k] for k in step]
        pending = [term for k, term in enumerate(pending) if k not in step]
        rest = set(output).union(*pending)
        for k, own in enumerate(chosen):
            # What only one operand has is summed before they are multiplied.
            needed = own & rest.union(*chosen[:k], *chosen[k + 1 :])
            if needed != own:
                total += entries(own) + ENTRY * entries(needed)
                chosen[k] = needed
        involved = set().union(*chosen)
        if len(chosen) > 1:
            total += entries(involved) + ENTRY * entries(involved & rest)
        pending.append(involved & rest)
    return total


def deciding_lengths(contractions: Iterable[Contraction], optimize: Any = "auto") -> list[Any]:
    """The symbols that the best orders of some contractions depend on.

    >>> from sympy.abc import i, m, n
    >>> deciding_lengths([Contraction(((0, 1), (1, 2), (2, 3)), (0, 3), (m, n, m, n))])
    [m, n]
    >>> deciding_lengths([Contraction(((0, 1), (1, 2), (2,)), (0,), (m, n, i))])
    []
    """
    found: set[Any] = set()
    for terms, output, lengths in dict.fromkeys(contractions):
        symbols = sorted(set().union(*[n.free_symbols for n in lengths]) - found, key=str)
        if symbols and _order_depends(terms, output, lengths, symbols, optimize):
            found.update(symbols)
    return sorted(found, key=str)


def _order_depends(
    terms: Terms, output: tuple[int, ...], lengths: Sequence[Any], symbols: Any, optimize: Any
) -> bool:
    """Whether the order for nominal lengths is a bad one for some others."""
    nominal = _sizes(lengths, {})
    path = contraction_path(terms, output, nominal, optimize)
    trials = [dict.fromkeys(symbols, n) for n in TRIED]
    generator = Random(0)
    trials += [{s: generator.choice(TRIED) for s in symbols} for _ in range(MAX_TRIALS)]
    for values in trials[: len(TRIED) if len(symbols) == 1 else None]:
        sizes = _sizes(lengths, {s: Integer(n) for s, n in values.items()})
        best = contraction_path(terms, output, sizes, optimize)
        if best != path and path_cost(terms, output, sizes, path) > TOLERANCE * path_cost(
            terms, output, sizes, best
        ):
            return True
    return False


def _sizes(lengths: Sequence[Any], values: Any) -> Sizes:
    return tuple([(k, nominal_length(n.xreplace(values))) for k, n in enumerate(lengths)])
