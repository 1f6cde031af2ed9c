"""Products in the one order that is independent of how their factors were nested.

The normal form inlines products up to a number of operands, so that work stays linear in the graph;
a chain of more matrices keeps the brackets that it was built with.
"""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr

from ..analysis import Labels, canonical_product, with_labels
from ..core import children, postorder, transform, tuning
from ..expressions import (
    Einsum,
    Operand,
    View,
    contract_part,
    inline_products,
    is_selector_product,
    rebuild,
)


def reassociated(exprs: Sequence[Operand]) -> list[Operand]:
    """Return expressions in which the factors of each product, however nested, are multiplied one
    after the other in canonical order. What has too many factors stays as it is.

    >>> import sympy_einsum as se
    >>> A, B, C = se.tensors("A B C", 3, 3)
    >>> one, other = reassociated([(A @ B) @ C, A @ (B @ C)])
    >>> one is other
    True
    """
    counts: dict[Operand, int] = {}
    for node in postorder(exprs):
        if _is_product(node) or (isinstance(node, View) and node.core in counts):
            counts[node] = sum([counts.get(operand, 1) for operand in node.operands])
    # Products that aren't inlined, and the factors of each.
    written: dict[Operand, tuple[list[Operand], list[Labels], dict[int, Expr]]] = {}
    left = tuning.MAX_INLINED_FACTORS

    def below(node: Operand) -> Sequence[Operand]:
        nonlocal left
        if node not in written:
            if counts.get(node, left) >= left:
                return children(node)
            left -= counts[node]
            lengths = dict(enumerate(node.lengths))
            written[node] = inline_products(
                node.operands, node.subscripts, lengths, lambda inner, _: inner in counts
            )
        return written[node][0]

    def visit(node: Operand, operands: Sequence[Operand]) -> Operand:
        if node not in written:
            return rebuild(node, tuple(operands))
        _, subscripts, lengths = written[node]
        return _in_order(operands, subscripts, node.output, lengths)

    return transform(exprs, visit, below)


def _is_product(node: Operand) -> bool:
    """Tell whether a node is a product whose factors may change places with those around it."""
    return type(node) is Einsum and any(node.subscripts) and not is_selector_product(node)


def _in_order(
    operands: Sequence[Operand],
    subscripts: Sequence[Labels],
    output: Labels,
    lengths: dict[int, Expr],
) -> Operand:
    """Multiply factors in canonical order, from the first to the last."""
    lengths = {label: lengths[label] for label in output}

    def new_label(length: Expr) -> int:
        label = max(lengths, default=0) + 1
        lengths[label] = length
        return label

    codes = canonical_product([*zip(operands, subscripts, strict=True)], output)
    factors = with_labels(codes, output, new_label)
    last = {label: k for k, (_, labels) in enumerate(factors) for label in labels}
    result, own = factors[0]
    for k, (operand, labels) in enumerate(factors[1:], start=1):
        kept = [i for i in dict.fromkeys((*own, *labels)) if i in output or last[i] > k]
        result = contract_part((result, operand), (own, labels), kept, lengths)
        own = tuple(kept)
    return contract_part((result,), (own,), output, lengths)
