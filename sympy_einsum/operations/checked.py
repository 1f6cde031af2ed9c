"""Products whose lengths are compared first, with errors that name operand, index and lengths."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr, S

from ..core import (
    EllipsisAxis,
    Label,
    Labels,
    ShapeError,
    resolve_labels,
    same_length,
    same_name_hint,
)
from ..expressions import Operand, contract, order_of, shape_of


def contract_checked(
    tensors: Sequence[Operand],
    inputs: Sequence[Labels],
    output: Labels,
    shown: str,
    stretches: bool = False,
) -> Operand:
    """Contract after checking that axes with the same label have the same length; those under an
    ellipsis may have the length 1 instead, and where it ``stretches`` those of different operands.
    """
    lengths: dict[Label, Expr] = {}
    first: dict[Label, int] = {}
    labels = [list(term) for term in inputs]
    for number, (tensor, term) in enumerate(zip(tensors, labels, strict=True), start=1):
        own: dict[Label, Expr] = {}
        for label, length in zip(term, shape_of(tensor), strict=True):
            known = own.setdefault(label, length)
            place = number
            if same_length(known, length):
                known = lengths.setdefault(label, length)
                place = first.setdefault(label, number)
                if same_length(known, length):
                    continue
                may_stretch = stretches or isinstance(label, EllipsisAxis)
                if may_stretch and S.One in (known, length):
                    lengths[label] = length if known is S.One else known
                    continue
            raise ShapeError(
                f"index {str(label)!r} of {shown!r} has length {known} in operand {place} and "
                f"length {length} in operand {number}; axes with the same index must have the "
                "same length" + same_name_hint(known, length)
            )
    _stretch(tensors, labels, lengths)
    return contract(tensors, labels, output, lengths)


def _stretch(
    tensors: Sequence[Operand], labels: list[list[Label]], lengths: dict[Label, Expr]
) -> None:
    """Axes of length 1 stretch, as in NumPy: each becomes a summed axis."""
    for number, (tensor, term) in enumerate(zip(tensors, labels, strict=True)):
        for axis, (label, length) in enumerate(zip(list(term), shape_of(tensor), strict=True)):
            if length is S.One and lengths[label] is not S.One:
                term[axis] = ("stretched", number, axis)
                lengths[term[axis]] = S.One


def contract_labelled(
    operands: Sequence[Operand], terms: Sequence[Labels], output: Labels, name: str
) -> Operand:
    """Contract with labels whose lengths are checked; ``name`` is what the user called."""
    return contract_checked(
        list(operands), *resolve_labels(terms, output, [order_of(o) for o in operands], name), name
    )
