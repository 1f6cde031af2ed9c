"""Sums with terms of low rank that are only multiplied: (X - U V') W is X W - U (V' W)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import NamedTuple

from sympy import Expr

from ..analysis import SPECIAL, Product, inlined_product
from ..contraction_order import Contraction, contraction_cost
from ..core import children, postorder, tuning
from ..expressions import Einsum, Operand, TensorAdd, replace_nodes, tensor_sum, total_of

Size = Callable[[Expr], int]


class _Split(NamedTuple):
    """A product with one sum: the product, the sum, its terms that are products themselves, these
    terms and the total of the other ones, each times the rest of the product."""

    whole: Product
    total: TensorAdd
    inner: list[Product]
    outer: list[Product]
    others: list[Product]


def by_low_rank(
    exprs: Sequence[Operand], size: Size
) -> tuple[Sequence[Operand], list[Contraction]]:
    """Distribute products over sums where that makes terms cheaper that are products themselves,
    and nothing else needs the sum. Return also the products whose lengths this depends on.

    The error stays of the same size: such a term is rounded before it is added anyway, and the
    other terms stay together.
    """
    order = postorder(exprs)
    uses = Counter(child for node in order for child in children(node))
    uses.update(exprs)
    shared = {node for node in order if uses[node] > 1}
    rewritten: dict[Operand, Operand] = {}
    contractions: list[Contraction] = []
    for node in order:
        found = _split(node, shared) if type(node) is Einsum else None
        if found is not None:
            contractions += map(_contraction, found.outer)
            separate_cost = sum(_cost(product, size) for product in (*found.outer, *found.others))
            if tuning.MIN_GAIN * separate_cost <= _cost_together(found, size):
                rewritten[node] = total_of([p.build() for p in (*found.outer, *found.others)])
    return replace_nodes(exprs, rewritten) if rewritten else exprs, contractions


def _split(node: Einsum, shared: set[Operand]) -> _Split | None:
    """Distribute a product with axes over a sum that nothing else needs, of which the product sums
    over an axis."""
    places = [k for k, operand in enumerate(node.operands) if isinstance(operand, TensorAdd)]
    if (
        not node.order
        or len(places) != 1
        or any(isinstance(operand, SPECIAL) for operand in node.operands)
    ):
        return None
    (place,) = places
    total = node.operands[place]
    if total in shared or {*node.subscripts[place]} <= {*node.output}:
        return None
    inner = {term: inlined_product(term, shared) for term in total.operands}
    low = [term for term, product in inner.items() if _is_product(term, product, shared)]
    rest = [term for term in total.operands if term not in low]
    lengths = dict(enumerate(node.lengths))
    whole = Product((), node.operands, node.subscripts, node.output, lengths)

    def times(term: Operand) -> Product:
        operands = (*node.operands[:place], term, *node.operands[place + 1 :])
        return inlined_product(replace(whole, operands=operands).build(), shared)

    if not low:
        return None
    others = [times(tensor_sum(rest))] if rest else []
    return _Split(whole, total, [inner[term] for term in low], [times(t) for t in low], others)


def _is_product(term: Operand, product: Product, shared: set[Operand]) -> bool:
    core = getattr(term, "core", None) or term
    return (
        len(product.operands) > 1
        and term not in shared
        and core not in shared
        and not any(isinstance(operand, SPECIAL) for operand in product.operands)
    )


def _contraction(product: Product) -> Contraction:
    """Return a product with its indices renumbered from 0."""
    number = {i: k for k, i in enumerate(product.lengths)}
    terms = tuple([tuple([number[i] for i in own]) for own in product.subscripts])
    output = tuple([number[i] for i in product.output])
    return Contraction(terms, output, tuple(product.lengths.values()))


def _cost(product: Product, size: Size) -> int:
    terms, output, lengths = _contraction(product)
    return contraction_cost(terms, output, tuple([(k, size(n)) for k, n in enumerate(lengths)]))


def _cost_together(found: _Split, size: Size) -> int:
    entries = prod(size(n) for n in found.total.shape)
    return tuning.ENTRY * entries + sum(_cost(p, size) for p in (found.whole, *found.inner))
