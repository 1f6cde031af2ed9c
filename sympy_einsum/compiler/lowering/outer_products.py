"""Sums of outer products of vectors: Σ a b' is one product of the matrices with rows a and b."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sympy import Integer, S

from ...contraction_order import Factor
from ...expressions import Einsum, Operand, View, shape_of
from .context import Lowering
from .multiplication import multiply_all


class Outer(NamedTuple):
    """Scalar factors and a product of vectors, each of them on one of the two axes."""

    scalars: tuple[Operand, ...]
    product: Einsum
    rows: int
    columns: int


def outer_of(term: Operand) -> Outer | None:
    """Return the outer product of vectors that a term is, but for scalar factors; else None."""
    scalars: tuple[Operand, ...] = ()
    axes: list[int] = [0, 1]
    product = term
    if isinstance(term, View) and term.core is not None:
        scalars, product, own = term.scalars, term.core, term.subscripts[-1]
        axes = [own.index(i) for i in term.output if i in own]
    if type(product) is not Einsum or product.order != 2 or sorted(axes) != [0, 1]:
        return None
    if shape_of(term) != tuple([product.shape[k] for k in axes]):
        return None
    if any(len(labels) != 1 for labels in product.subscripts):
        return None
    rows, columns = [product.output[k] for k in axes]
    return Outer(scalars, product, rows, columns)


def is_own_outer(builder: Lowering, term: Operand) -> bool:
    """Tell whether a term is such a product, and nothing else needs it."""
    outer = outer_of(term)
    return outer is not None and builder.uses[term] == 1 and builder.is_waiting(outer.product)


def sum_of_outer(builder: Lowering, terms: Sequence[Operand]) -> int:
    """Emit the sum of outer products."""
    found = [outer for term in terms if (outer := outer_of(term)) is not None]
    pairs = [[_vector(builder, outer, is_left) for is_left in (True, False)] for outer in found]
    # Among others the last first, as rows are met on the way back: sums of one kind then share one
    # of their matrices.
    pairs.sort(key=lambda pair: ([_position(builder, value) for value in pair], -pair[0]))
    left, right = (builder.emit("rows", *values) for values in zip(*pairs, strict=True))
    lengths = dict(enumerate((*shape_of(terms[0]), S(len(found)))))
    return multiply_all(builder, [Factor(left, (2, 0)), Factor(right, (2, 1))], (0, 1), lengths)


def _position(builder: Lowering, value: int) -> int:
    """Return the number of a row of a matrix, so that rows next to each other make a slice."""
    op, _, params, _ = builder.instructions[value]
    return int(params[0][0]) if op == "slice" and isinstance(params[0][0], Integer) else 0


def _vector(builder: Lowering, outer: Outer, is_left: bool) -> int:
    """Return the vector on an axis of an outer product; the first includes the scalars."""
    label = outer.rows if is_left else outer.columns
    pairs = zip(outer.product.operands, outer.product.subscripts, strict=True)
    factors = [Factor(builder.value(own), (label,)) for own, labels in pairs if labels == (label,)]
    scalar = builder.factor(outer.scalars) if is_left and outer.scalars else None
    lengths = dict(enumerate(outer.product.lengths))
    return multiply_all(builder, factors, (label,), lengths, scalar)
