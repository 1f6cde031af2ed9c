"""Orders of pairwise contraction, and what they cost when the lengths are symbols.

Imports nothing of the package. Used by the plan, which carries a contraction out, and by the cost
measure of the normal form, which only compares.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import prod
from typing import Any

import opt_einsum

# A symbolic length counts as this when contraction orders are compared.
NOMINAL_LENGTH = 100
# Writing an entry of an array costs so many multiplications inside a contraction.
ENTRY = 3
# Dynamic programming over contraction orders is exact, but takes long beyond this; with outer
# products, which pay where operands share an index of the result, even sooner.
MAX_DP_OPERANDS = 16
MAX_OUTER_OPERANDS = 8


def nominal_length(length: Any) -> int:
    """The number that a length counts as."""
    return int(length) if length.is_Integer else NOMINAL_LENGTH


@lru_cache(maxsize=4096)
def contraction_path(
    terms: tuple[tuple[int, ...], ...], output: tuple[int, ...], sizes: tuple[tuple[int, int], ...]
) -> list[tuple[int, ...]]:
    """The order of pairwise contractions, as positions in the shrinking list of operands.

    >>> contraction_path(((0, 1), (1, 2), (2,)), (0,), ((0, 9), (1, 9), (2, 9)))
    [(1, 2), (0, 1)]
    """
    if len(terms) <= 2:
        return [tuple(range(len(terms)))]
    size = dict(sizes)
    equation = ",".join("".join(map(opt_einsum.get_symbol, term)) for term in terms)
    equation += "->" + "".join(map(opt_einsum.get_symbol, output))
    shapes = [tuple(size[i] for i in term) for term in terms]
    # "optimal" rates an outer product with a summed index too low; "dp" doesn't.
    method: Any = "dp" if len(terms) <= MAX_DP_OPERANDS else "auto"
    if len(terms) <= MAX_OUTER_OPERANDS:
        method = opt_einsum.DynamicProgramming(search_outer=True)
    path, _ = opt_einsum.contract_path(equation, *shapes, shapes=True, optimize=method)
    return [tuple(sorted(step)) for step in path]


@lru_cache(maxsize=4096)
def contraction_cost(
    terms: tuple[tuple[int, ...], ...], output: tuple[int, ...], sizes: tuple[tuple[int, int], ...]
) -> int:
    """Multiplications, and three memory accesses for each entry of an intermediate result.

    >>> contraction_cost(((0, 1), (1,)), (0,), ((0, 10), (1, 10)))
    130
    """
    size = dict(sizes)

    def entries(labels: Iterable[int]) -> int:
        return prod(size[i] for i in labels)

    total = 0
    pending: list[set[int]] = [set(term) for term in terms]
    for step in contraction_path(terms, output, sizes):
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
