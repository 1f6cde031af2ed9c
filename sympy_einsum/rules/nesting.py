"""Rules for the structure of products: nesting, components, equal halves.

References
==========

[W] M. Wenig, P. Rump, M. Blacher, J. Giesen, "The Syntax and Semantics of einsum", 2025.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product as combinations

from ..analysis import Barriers, inlined_product, is_inlined
from ..core import tuning
from ..expressions import (
    Einsum,
    Operand,
    TensorAdd,
    contract,
    contract_part,
    inline_products,
    tensor_sum,
)


def merge_products(node: Operand, barriers: Barriers) -> Operand | None:
    """Merge a product of products into one product [W, thm 6.5]."""
    nested = any(is_inlined(operand, node.operands, barriers) for operand in node.operands)
    return inlined_product(node, barriers).build() if nested else None


def merge_all_products(node: Operand, barriers: Barriers) -> Operand | None:
    """Merge a product of products into one product, also where some of these are equal."""

    def opens_any(inner: Operand, operands: Sequence[Operand]) -> bool:
        return is_inlined(inner, [inner, *[None] * (len(operands) - 1)], ())

    lengths = dict(enumerate(node.lengths))
    operands, terms, lengths = inline_products(node.operands, node.subscripts, lengths, opens_any)
    if operands == [*node.operands]:
        return None
    return contract(operands, terms, node.output, lengths)


def diagonal_of_product(node: Operand, barriers: Barriers) -> Operand | None:
    """Compute only the diagonal of a product."""
    repeats = node.core is not None and len(set(node.subscripts[-1])) < node.core.order
    return inlined_product(node).build() if repeats and type(node.core) is Einsum else None


def diagonal_of_sum(node: Operand, barriers: Barriers) -> Operand | None:
    """Replace the diagonal of a sum by the sum of the diagonals: nothing beside these is
    computed."""
    total = node.core
    repeats = total is not None and len(set(node.subscripts[-1])) < total.order
    if not repeats or not isinstance(total, TensorAdd) or total in barriers:
        return None
    lengths = dict(enumerate(node.lengths))
    scalars = node.operands[:-1]
    return tensor_sum(
        [
            contract((*scalars, term), node.subscripts, node.output, lengths)
            for term in total.operands
        ]
    )


def split_components(node: Operand, barriers: Barriers) -> Operand | None:
    """Split off a part that is summed completely and shares no index with the rest as a scalar
    factor."""
    return inlined_product(node, barriers).split() if len(node.operands) > 1 else None


def fold_square(node: Operand, barriers: Barriers) -> Operand | None:
    """Compute two equal halves of a product once: x_j A_ij A_ik x_k = (A x)_i (A x)_i."""
    twice = [o for o, count in Counter(node.operands).items() if count == 2]
    if len(twice) < 2:
        return None
    product = inlined_product(node, barriers)
    pairs = [[k for k, o in enumerate(product.operands) if o is tensor] for tensor in twice]
    if any(len(pair) != 2 for pair in pairs) or len(pairs) > tuning.MAX_EQUAL_PAIRS:
        return None
    for flips in combinations((False, True), repeat=len(pairs) - 1):
        choice = [
            pair[::-1] if flip else pair for pair, flip in zip(pairs, (False, *flips), strict=True)
        ]
        first, second = zip(*choice, strict=True)
        labels = [{i for k in half for i in product.subscripts[k]} for half in (first, second)]
        common = sorted(labels[0] & labels[1])
        inner = (labels[0] | labels[1]).difference(common)
        if not common or not inner or not product.is_private(inner, {*first, *second}):
            continue
        halves = [
            contract_part(
                [product.operands[k] for k in half],
                [product.subscripts[k] for k in half],
                common,
                product.lengths,
            )
            for half in (first, second)
        ]
        if halves[0] is halves[1]:
            new = [(halves[0], common)] * 2
            return product.replaced({*first, *second}, new, absorbed=inner).build()
    return None
