"""Diagonal pushdown: diagonals of sums and of outer products are computed without these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from sympy import Expr

from ..analysis import components
from ..core import Indices, transform
from ..expressions import (
    Einsum,
    Operand,
    Positions,
    TensorAdd,
    View,
    contract,
    is_slice,
    order_of,
    rebuild,
    total_of,
)


class _DiagonalTerm(NamedTuple):
    """A product: its factors, each with the labels of its axes."""

    factors: Sequence[tuple[Operand, Indices]]
    is_outer: bool


def push_diagonals_down(exprs: Sequence[Operand]) -> Sequence[Operand]:
    """Rewrite diagonals of (slices of) sums with an outer product as sums of diagonals: that of
    outer(x, y) + A is x*y + A.diagonal()."""
    return transform(exprs, _pushed)


def _pushed(node: Operand, new: tuple[Operand, ...]) -> Operand:
    node = rebuild(node, new)
    if not isinstance(node, View) or node.core is None or order_of(node.core) <= node.order:
        return node
    if len({*node.output}) < node.order:
        return node
    parts = [*zip(node.operands, node.subscripts, strict=True)]
    (labels,) = [own for operand, own in parts if operand is node.core]
    terms = [*_expanded(node.core, labels, count(1 + max(labels)))]
    if not any(term.is_outer for term in terms):
        return node
    scalars = [part for part in parts if part[0] is not node.core]
    lengths = dict(zip(labels, node.core.shape, strict=True))
    return total_of(
        [_contracted([*term.factors, *scalars], node.output, lengths) for term in terms]
    )


def _contracted(
    factors: Sequence[tuple[Operand, Indices]], output: Indices, lengths: Mapping[int, Expr]
) -> Operand:
    found = dict(lengths)
    for own, labels in factors:
        if labels:
            found.update(zip(labels, own.shape, strict=True))
    operands, subscripts = zip(*factors, strict=True)
    return contract(operands, subscripts, output, found)


def _expanded(node: Operand, labels: Indices, fresh: Iterator[int]) -> Iterator[_DiagonalTerm]:
    """Yield the terms of a tensor whose axes have some labels."""
    if isinstance(node, TensorAdd):
        for own in node.operands:
            yield from _expanded(own, labels, fresh)
        return
    whole = _DiagonalTerm([(node, labels)], False)
    if not isinstance(node, Einsum) or len({*node.output}) < node.order:
        yield whole
        return
    moved = dict(zip(node.output, labels, strict=True))
    if not (isinstance(node, View) or is_slice(node)):
        parts = [*_parts_of(node)]
        factors = [(own, tuple([moved[i] for i in axes])) for own, axes in parts]
        is_outer = len([axes for _, axes in parts if axes]) > 1
        yield _DiagonalTerm(factors, True) if is_outer else whole
        return
    inner = {i for own in node.subscripts for i in own}
    moved.update({i: next(fresh) for i in sorted(inner - {*moved})})
    factors = [
        (own, tuple([moved[i] for i in axes]))
        for own, axes in zip(node.operands, node.subscripts, strict=True)
    ]
    taken = [own for own in factors if order_of(own[0]) and not isinstance(own[0], Positions)]
    if len(taken) != 1:  # one of selectors only, or of scalars
        yield whole
        return
    rest = [own for own in factors if own is not taken[0]]
    for term in _expanded(*taken[0], fresh):
        yield _DiagonalTerm([*rest, *term.factors], term.is_outer)


def _parts_of(node: Einsum) -> Iterator[tuple[Operand, Indices]]:
    """Yield the products that a product consists of, with the axes of the result that each has."""
    for places in components(node.subscripts):
        factors = [(node.operands[k], node.subscripts[k]) for k in places]
        labels = {i for _, own in factors for i in own}
        axes = tuple([i for i in node.output if i in labels])
        yield _contracted(factors, axes, {}), axes
