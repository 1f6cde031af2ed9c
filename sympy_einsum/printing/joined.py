"""Sums of tensors that stand beside each other among zeros, as the calls that give them:
``concatenate``, ``stack`` and ``roll``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sympy import Expr, S

from ..core import TensorError
from ..expressions import (
    Einsum,
    Operand,
    Selection,
    TensorAdd,
    TensorExpr,
    Unit,
    View,
    contract_part,
    order_of,
)
from ..operations import concatenate, roll, stack
from .slices import factors_of, merged


class Call(NamedTuple):
    """A call of a function: its tensors, whether they stand in a list, and its other arguments."""

    name: str
    tensors: tuple[TensorExpr, ...]
    is_list: bool
    options: tuple[str, ...] = ()


class _Piece(NamedTuple):
    tensor: TensorExpr
    axis: int
    start: Expr
    is_entry: bool


def called(node: TensorAdd) -> Call | None:
    """The call that gives a sum; None if there is none."""
    pieces = [_piece(term) for term in node.operands]
    joined = [own for own in pieces if own is not None]
    if len(joined) < len(pieces):
        return None
    try:
        return _joined(node, joined)
    except TensorError:  # the pieces don't fit each other
        return None


def _joined(node: TensorAdd, pieces: Sequence[_Piece]) -> Call | None:
    axis, is_entry = pieces[0].axis, pieces[0].is_entry
    if any((own.axis, own.is_entry) != (axis, is_entry) for own in pieces):
        return None
    ordered = _in_order(pieces)
    if ordered is None:
        return None
    tensors = tuple([own.tensor for own in ordered])
    function = stack if is_entry else concatenate
    if function(tensors, axis) is not node:
        return None
    rolled = None if is_entry else _rolled(node, tensors, axis)
    if rolled is not None:
        return rolled
    return Call(function.__name__, tensors, True, (f"axis={axis}",) if axis else ())


def _in_order(pieces: Sequence[_Piece]) -> list[_Piece] | None:
    """The pieces one after the other, from position 0 on."""
    found: list[_Piece] = []
    start: Expr = S.Zero
    left = list(pieces)
    while left:
        here = [own for own in left if own.start == start]
        if len(here) != 1:
            return None
        left.remove(here[0])
        found.append(here[0])
        start += 1 if here[0].is_entry else here[0].tensor.shape[here[0].axis]
    return found


def _piece(term: Operand) -> _Piece | None:
    """What a term places on an axis of the result, and where."""
    if not isinstance(term, Einsum):
        return None
    is_turned = isinstance(term, View) and type(term.core) is Einsum
    product = merged(term) if is_turned else factors_of(term)
    scalars = term.scalars if isinstance(term, View) else ()
    placing = [
        k
        for k, own in enumerate(product.operands)
        if isinstance(own, (Selection, Unit)) and product.terms[k][-1] in product.output
    ]
    if len(placing) != 1:
        return None
    (k,) = placing
    place, labels = product.operands[k], product.terms[k]
    if product.output.count(labels[-1]) > 1 or (isinstance(place, Selection) and place.step != 1):
        return None
    axis = product.output.index(labels[-1])
    output = [*product.output[:axis], *labels[:-1], *product.output[axis + 1 :]]
    rest = [j for j in range(len(product.operands)) if j != k]
    tensor = contract_part(
        [*scalars, *[product.operands[j] for j in rest]],
        [*[()] * len(scalars), *[product.terms[j] for j in rest]],
        output,
        product.lengths,
    )
    if not isinstance(tensor, TensorExpr):
        return None
    return _Piece(tensor, axis, place.start, isinstance(place, Unit))


def _rolled(node: TensorAdd, tensors: Sequence[TensorExpr], axis: int) -> Call | None:
    """What was one tensor, moved along an axis."""
    if len(tensors) != 2:
        return None
    sources = {own for piece in tensors for own in piece.operands if _is_source(own, node)}
    for source in sources if len(sources) == 1 else ():
        shift = tensors[0].shape[axis]
        back = tensors[1].shape[axis]
        for number in (shift, -back):
            if number.is_number and roll(source, number, axis) is node:
                options = [str(number), *([f"axis={axis}"] if node.order > 1 else [])]
                return Call("roll", (source,), False, tuple(options))
    return None


def _is_source(operand: Operand, node: TensorAdd) -> bool:
    return order_of(operand) == node.order and not operand.is_positions
