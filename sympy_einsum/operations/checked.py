"""Contractions that check axis lengths, with errors that name operand, index and lengths."""

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
    """Contract after checking that axes with one label have one length. Axes under an ellipsis may
    have length 1 instead; with ``stretches`` any axis of an operand may."""
    lengths: dict[Label, Expr] = {}
    first: dict[Label, int] = {}
    labels = [list(term) for term in inputs]
    for number, (tensor, term) in enumerate(zip(tensors, labels, strict=True), start=1):
        inside: dict[Label, Expr] = {}
        for label, length in zip(term, shape_of(tensor), strict=True):
            expected = inside.setdefault(label, length)
            holder = number
            if same_length(expected, length):
                expected = lengths.setdefault(label, length)
                holder = first.setdefault(label, number)
                if same_length(expected, length):
                    continue
                may_stretch = stretches or isinstance(label, EllipsisAxis)
                if may_stretch and S.One in (expected, length):
                    lengths[label] = length if expected is S.One else expected
                    continue
            raise ShapeError(
                f"index {str(label)!r} of {shown!r} has length {expected} in operand {holder} and "
                f"length {length} in operand {number}; axes with the same index must have the "
                "same length" + same_name_hint(expected, length)
            )
    _stretch(tensors, labels, lengths)
    return contract(tensors, labels, output, lengths)


def _stretch(
    tensors: Sequence[Operand], labels: list[list[Label]], lengths: dict[Label, Expr]
) -> None:
    """Give each axis of length 1 that is broadcast a label of its own, which is summed."""
    for number, (tensor, term) in enumerate(zip(tensors, labels, strict=True)):
        for axis, (label, length) in enumerate(zip(list(term), shape_of(tensor), strict=True)):
            if length is S.One and lengths[label] is not S.One:
                term[axis] = ("stretched", number, axis)
                lengths[term[axis]] = S.One


def contract_labelled(
    operands: Sequence[Operand], terms: Sequence[Labels], output: Labels, name: str
) -> Operand:
    """Contract with labels after checking lengths; error messages call the operation ``name``."""
    return contract_checked(
        list(operands), *resolve_labels(terms, output, [order_of(o) for o in operands], name), name
    )
