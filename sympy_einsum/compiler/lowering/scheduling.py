"""Scheduling of nodes that are computed elsewhere or later than their place in the graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from ...analysis import has_known_zeros
from ...core import tuning
from ...expressions import (
    Einsum,
    Inv,
    InvStack,
    Operand,
    Positions,
    TensorAdd,
    contract,
    is_padded_product,
)


def only_multiplied(order: Sequence[Operand], uses: Mapping[Operand, int]) -> set[Operand]:
    """Return the inverses that are factors of products and nothing else."""
    found: Counter[Operand] = Counter()
    for node in order:
        if type(node) is Einsum:
            found.update(own for own in node.operands if isinstance(own, (Inv, InvStack)))
    return {
        inverse
        for inverse, n in found.items()
        if n == uses[inverse] and (isinstance(inverse, Inv) or n <= tuning.MAX_STACK_SOLVES)
    }


class SparseForm(Protocol):
    """A matrix by its entries and their positions, the leaves."""

    @property
    def leaves(self) -> Sequence[Operand]: ...


def is_large_system(rows: int) -> bool:
    """Tell whether a sparse matrix is factored faster than a dense one of as many rows."""
    return rows > tuning.MAX_DENSE_SYSTEM


def in_one_term(order: Sequence[Operand], uses: Mapping[Operand, int]) -> set[Operand]:
    """Return the nodes used by only one term of a long sum, to compute when that term is added."""
    found: set[Operand] = set()
    sums = [node for node in order if isinstance(node, TensorAdd) and _is_long(node)]
    pending = [(term, tuning.MAX_TERM_LEVELS) for node in sums for term in node.operands]
    while pending:
        node, depth = pending.pop()
        inner = getattr(node, "operands", ())
        # A sum that isn't a term itself would be nested in this one, and others in that.
        long = isinstance(node, TensorAdd) and _is_long(node)
        nested = long and depth < tuning.MAX_TERM_LEVELS
        if inner and depth and not nested and uses[node] == 1 and node not in found:
            found.add(node)
            pending += [(child, depth - 1) for child in (() if long else inner)]
    return found


def _is_long(total: TensorAdd) -> bool:
    """Tell whether a sum has many terms; those that are sums have."""
    terms = total.operands
    return len(terms) > tuning.MAX_SUMMANDS or any(isinstance(term, TensorAdd) for term in terms)


def terms_of(
    total: TensorAdd, uses: Mapping[Operand, int], put_off: set[Operand]
) -> Iterator[Operand]:
    """Yield the terms of a sum, with those of the sums that are needed for it only: long ones, and
    such as have zeros among their terms, multiplied out."""
    pending: list[Operand] = [*reversed(total.operands)]
    while pending:
        term = pending.pop()
        core = getattr(term, "core", term)
        inner = None if uses[term] > 1 else _sum_in(core, uses)
        if inner is None:
            yield term
        elif term is inner and term in put_off:
            pending.extend(reversed(inner.operands))
        elif has_known_zeros(inner) and len(inner.operands) <= tuning.MAX_SUMMANDS:
            parts = [_replaced(core, inner, part) for part in inner.operands]
            pending.extend(reversed([_replaced(term, core, part) for part in parts]))
        else:
            yield term


def _sum_in(core: Operand | None, uses: Mapping[Operand, int]) -> TensorAdd | None:
    """Return the sum that something is, or that it places, if nothing else needs it."""
    if core is None or uses[core] > 1:
        return None
    if is_padded_product(core):
        others = [own for own in core.operands if not isinstance(own, Positions)]
        core = others[0] if len(others) == 1 else core
    return core if isinstance(core, TensorAdd) and uses[core] == 1 else None


def _replaced(outer: Operand, inner: Operand, part: Operand) -> Operand:
    """Rebuild a product, or a view, with something else in the place of a factor; a factor itself
    becomes that."""
    if outer is inner:
        return part
    assert isinstance(outer, Einsum)
    operands = [part if own is inner else own for own in outer.operands]
    return contract(operands, outer.subscripts, outer.output, dict(enumerate(outer.lengths)))
