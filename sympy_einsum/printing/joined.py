"""Recognise ``concatenate``, ``stack`` and ``roll`` in sums of zero-padded tensors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from sympy import Expr, Integer, Mod, S

from ..core import TensorError
from ..expressions import (
    Einsum,
    Ones,
    Operand,
    Selection,
    TensorAdd,
    TensorExpr,
    Unit,
    View,
    contract_part,
    order_of,
    scale,
    shape_of,
    split_coefficient,
    tensor_sum,
)
from ..operations import concatenate, roll, stack
from .slices import labelled_factors, rearranged_product


class Call(NamedTuple):
    """Hold a call of a function on some tensors along an axis; ``roll`` has a shift."""

    name: str
    tensors: tuple[Operand, ...]
    axis: int
    shift: Expr | None = None


class _Piece(NamedTuple):
    """Hold a tensor embedded into an axis of the result from a position on, or as one entry; an
    entry can also be seen as a tensor of length 1 along the axis."""

    tensor: Operand
    axis: int
    start: Expr
    widened: TensorExpr | None = None

    @property
    def is_entry(self) -> bool:
        """Whether the tensor is one entry of the axis."""
        return self.widened is not None


def find_call(node: TensorAdd) -> Call | None:
    """Return the call equal to a sum, or None."""
    pieces = [_piece(term) for term in node.operands]
    joined = [own for own in pieces if own is not None]
    if len(joined) < len(pieces):
        return None
    if node.order == 1 and all(own.is_entry for own in joined):
        return _stack_of_scalars(node, joined)
    try:
        return _concatenation(node, joined)
    except TensorError:  # the pieces don't match
        return None


def group_entries(terms: Sequence[Operand]) -> list[tuple[Expr, Operand]]:
    """Add terms that are entries of a vector to stacks, each with its numeric factor. Two terms may
    be the same entry; those with the same factor go together."""
    whole = [(S.One, term) for term in terms]
    if order_of(terms[0]) != 1 or not shape_of(terms[0])[0].is_Integer:
        return whole
    places = {term: own.start for term in terms if (own := _piece(term)) and own.is_entry}
    if len(places) < 2:
        return whole
    total = tensor_sum(list(places))
    if isinstance(total, TensorAdd) and find_call(total):
        return [(S.One, total), *[(S.One, term) for term in terms if term not in places]]
    groups: dict[tuple[Expr, int], list[Operand]] = {}
    seen: Counter[tuple[Expr, Expr]] = Counter()
    for term, start in places.items():
        factor = split_coefficient(term)[0]
        groups.setdefault((factor, seen[factor, start]), []).append(term)
        seen[factor, start] += 1
    found: list[tuple[Expr, Operand]] = []
    for (factor, _), group in groups.items():
        total = tensor_sum([split_coefficient(term)[1] for term in group])
        is_called = len(group) > 1 and isinstance(total, TensorAdd) and find_call(total)
        if is_called and scale(factor, total) == tensor_sum(group):
            found.append((factor, total))
        else:
            found += [(S.One, term) for term in group]
    return [*found, *[own for own in whole if own[1] not in places]]


def _stack_of_scalars(node: TensorAdd, pieces: Sequence[_Piece]) -> Call | None:
    """Return the stack that a vector of scalars is, zeros among them unless most are."""
    entries = {own.start: own.tensor for own in pieces}
    length = node.shape[0]
    if len(entries) < len(pieces) or not length.is_Integer or 2 * len(entries) < length:
        return None
    tensors = tuple([entries.get(k, S.Zero) for k in map(Integer, range(int(length)))])
    return Call("stack", tensors, 0) if stack(tensors) is node else None


def _concatenation(node: TensorAdd, pieces: Sequence[_Piece]) -> Call | None:
    axis = pieces[0].axis
    if any(own.axis != axis for own in pieces):
        return None
    ordered = _in_order(pieces)
    if ordered is None:
        return None
    is_entry = all(own.is_entry for own in ordered)
    tensors = tuple([own.tensor if is_entry else own.widened or own.tensor for own in ordered])
    function = stack if is_entry else concatenate
    if function(tensors, axis) is not node:
        return None
    rolled = None if is_entry else _rolled(node, tensors, axis)
    return rolled or Call(function.__name__, tensors, axis)


def _in_order(pieces: Sequence[_Piece]) -> list[_Piece] | None:
    """Order the pieces so that they follow each other from position 0 on."""
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
    """Find the tensor that a term embeds into an axis of the result, and its position."""
    if isinstance(term, Unit):
        return _Piece(S.One, 0, term.position, Ones(1))
    if not isinstance(term, Einsum):
        return None
    is_view = isinstance(term, View) and type(term.core) is Einsum
    product = rearranged_product(term) if is_view else labelled_factors(term)
    scalars = term.scalars if isinstance(term, View) else ()
    embedding = [
        k
        for k, own in enumerate(product.operands)
        if isinstance(own, (Selection, Unit)) and product.terms[k][-1] in product.output
    ]
    if not embedding:
        return None
    # Of several axes the first is the outermost one of nested stacks.
    k = min(embedding, key=lambda k: product.output.index(product.terms[k][-1]))
    place, labels = product.operands[k], product.terms[k]
    if product.output.count(labels[-1]) > 1 or (isinstance(place, Selection) and place.step != 1):
        return None
    axis = product.output.index(labels[-1])
    output = [*product.output[:axis], *labels[:-1], *product.output[axis + 1 :]]
    rest = [j for j in range(len(product.operands)) if j != k]
    factors = (
        [*scalars, *[product.operands[j] for j in rest]],
        [*[()] * len(scalars), *[product.terms[j] for j in rest]],
    )
    tensor = contract_part(*factors, output, product.lengths)
    if not isinstance(place, Unit):
        return _Piece(tensor, axis, place.start) if isinstance(tensor, TensorExpr) else None
    new = len(product.lengths)
    output.insert(axis, new)
    widened = contract_part(*factors, output, {**product.lengths, new: S.One})
    return _Piece(tensor, axis, place.start, widened)


def _rolled(node: TensorAdd, tensors: Sequence[TensorExpr], axis: int) -> Call | None:
    """Find the tensor whose two parts the pieces are, rotated along an axis."""
    if len(tensors) != 2:
        return None
    sources = {
        operand
        for piece in tensors
        for operand in piece.operands
        if order_of(operand) == node.order and not operand.is_affine_selector
    }
    for source in sources if len(sources) == 1 else ():
        shift = tensors[0].shape[axis]
        back = tensors[1].shape[axis]
        # A shift with symbols is taken modulo the length.
        symbolic = shift.args[:1] if isinstance(shift, Mod) else ()
        for number in (shift, -back, *symbolic):
            if (number.is_number or symbolic) and roll(source, number, axis) is node:
                return Call("roll", (source,), axis, number)
    return None
