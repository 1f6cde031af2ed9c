"""Rules for symmetric matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product as combinations
from math import prod

from ..analysis import Barriers, Product, has_declared_symmetry, has_symmetry, is_symmetric
from ..core import tuning
from ..expressions import Einsum, Operand, TensorExpr, View, contract, inline_products

# The labels of the axes of an operand.
Axes = tuple[int, ...]


def transpose_symmetric(node: Operand, barriers: Barriers) -> Operand | None:
    """Replace the transpose of a symmetric matrix by the matrix, and likewise of a product whose
    transpose is equal by declared symmetries."""
    core = node.core
    if type(core) is Einsum and has_declared_symmetry(core):
        return order_symmetric(node, barriers)
    if core is None or not is_symmetric(core):
        return None
    first, second = node.subscripts[-1]
    if first == second or node.output.index(first) < node.output.index(second):
        return None
    subscripts = (*node.subscripts[:-1], (second, first))
    return contract(node.operands, subscripts, node.output, dict(enumerate(node.lengths)))


def order_symmetric(node: Operand, barriers: Barriers) -> Operand | None:
    """Transpose symmetric operands such that equal products have equal forms."""
    lengths = dict(enumerate(node.lengths))
    inside = node.core if isinstance(node, View) else None
    operands, subscripts, lengths = inline_products(
        node.operands, node.subscripts, lengths, lambda own, others: own is inside
    )
    product = Product((), tuple(operands), tuple(subscripts), node.output, lengths)
    flexible = [k for k, operand in enumerate(product.operands) if has_symmetry(operand)]
    is_declared = any(len(product.subscripts[k]) > 2 for k in flexible)
    if not flexible or (len(flexible) > tuning.MAX_SYMMETRIC_FACTORS and not is_declared):
        return None
    orders = [_orders(product.operands[k], product.subscripts[k]) for k in flexible]
    if prod(map(len, orders)) <= tuning.MAX_AXIS_ORDERS:
        return _simplest(product, flexible, orders)[0]
    for k, own in zip(flexible, orders, strict=True):
        product = _simplest(product, [k], [own])[1]
    return product.build()


def _simplest(
    product: Product, places: Sequence[int], orders: Sequence[Sequence[Axes]]
) -> tuple[Operand, Product]:
    """Return the simplest product with the labels of some operands in other orders."""
    candidates = []
    for chosen in combinations(*orders):
        subscripts = [*product.subscripts]
        for k, labels in zip(places, chosen, strict=True):
            subscripts[k] = labels
        exchanged = replace(product, subscripts=tuple(subscripts))
        candidates.append((exchanged.build(), exchanged))
    return min(candidates, key=lambda pair: _simplicity(pair[0]))


def _orders(operand: Operand, labels: Axes) -> list[Axes]:
    """Return the labels of a symmetric operand in all orders that are equal."""
    if operand.order > 2 and operand.generators:
        return [tuple([labels[k] for k in own]) for own in operand.permutations]
    return [labels, labels[::-1]]


def _simplicity(node: Operand) -> Operand:
    """Return a key that sorts by fewer transposes, then dense products first, then by index
    names."""
    if not isinstance(node, Einsum):
        return (0, 0, ())
    core = node.core if isinstance(node, View) else node
    return (
        _transposes(core) if type(core) is Einsum else 0,
        isinstance(node, View),
        (_indices(core), _indices(node)),
    )


def _indices(node: TensorExpr | None) -> tuple[Operand, ...]:
    return (node.subscripts, node.output) if isinstance(node, Einsum) else ()


def _transposes(product: Einsum) -> int:
    """Count the transposes of a product: matrices joined on a summed axis, vectors on the left."""
    axes: dict[int, list[int]] = {}
    for term in product.subscripts:
        for axis, label in enumerate(term):
            axes.setdefault(label, []).append(axis if len(term) > 1 else 0)
    summed = [met for label, met in axes.items() if label not in product.output]
    return sum(len(met) == 2 and met[0] == met[1] for met in summed)
