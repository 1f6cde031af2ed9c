"""Find vectors and matrices of given lengths that are written entry by entry, such as the Jacobian
of a stack of scalars: sums of scalars times unit vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, product

from sympy import Expr, Mul

from ..core import tuning
from ..expressions import (
    Einsum,
    Operand,
    TensorAdd,
    Unit,
    View,
    order_of,
    shape_of,
)
from .slices import labelled_factors

# The factors of each term of an entry, by positions; entries that are absent are zero.
Entries = dict[tuple[int, ...], list[tuple[Expr, ...]]]


def split_entries(
    terms: Sequence[Operand], is_named: Callable[[Operand], bool]
) -> tuple[Entries, list[Operand]]:
    """Add the terms of a sum that have explicit entries, unless most of them are zero or there is
    one such term; return the entries and the other terms. Parts with a name stay whole."""
    shape = shape_of(terms[0])
    size = Mul(*shape)
    if not size.is_Integer or not 0 < len(shape) <= 2 or size > tuning.MAX_SHOWN_ENTRIES:
        return {}, list(terms)
    found = [_entries_of(term, is_named) for term in terms]
    known = [own for own in found if own is not None]
    total = _sum(known)
    if 2 * len(total) < size or len(known) < 2:
        return {}, list(terms)
    return total, [term for term, own in zip(terms, found, strict=True) if own is None]


def _sum(terms: Sequence[Entries]) -> Entries:
    total: Entries = {}
    for term in terms:
        for place, values in term.items():
            total.setdefault(place, []).extend(values)
    return total


def _entries_of(node: Operand, is_named: Callable[[Operand], bool]) -> Entries | None:
    """Return the entries of a tensor; None if it is made of other tensors."""
    if not order_of(node):
        return {(): [(node,)]}
    if is_named(node):
        return None
    if isinstance(node, Unit):
        return {(int(node.position),): [()]} if node.position.is_Integer else None
    if isinstance(node, TensorAdd):
        terms = [_entries_of(term, is_named) for term in node.operands]
        return None if None in terms else _sum([own for own in terms if own is not None])
    return _entries_of_product(node, is_named) if isinstance(node, Einsum) else None


def _entries_of_product(node: Einsum, is_named: Callable[[Operand], bool]) -> Entries | None:
    factors = labelled_factors(node)
    found = [_entries_of(operand, is_named) for operand in factors.operands]
    inside = [own for own in found if own is not None]
    absent = factors.absent
    labels = [label for term in factors.terms for label in term]
    is_outer = len({*labels}) == len(labels) and {*labels} <= {*factors.output}
    if not is_outer or len(inside) < len(found):
        return None
    scalars = node.scalars if isinstance(node, View) else ()
    entries: Entries = {}
    for repeated in product(*[range(int(factors.lengths[label])) for label in absent]):
        for positions in product(*inside):
            values = dict(zip(absent, repeated, strict=True))
            for term, position in zip(factors.terms, positions, strict=True):
                values.update(zip(term, position, strict=True))
            terms = [own[position] for own, position in zip(inside, positions, strict=True)]
            entries[tuple([values[label] for label in factors.output])] = [
                (*scalars, *chain.from_iterable(parts)) for parts in product(*terms)
            ]
    return entries
