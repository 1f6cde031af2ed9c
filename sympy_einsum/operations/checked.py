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
)
from ..expressions import (
    Operand,
    contract,
    order_of,
    shape_of,
)


def contract_checked(
    tensors: Sequence[Operand], inputs: Sequence[Labels], output: Labels, shown: str
) -> Operand:
    """Contract after checking that axes with the same label have the same length."""
    lengths: dict[Label, Expr] = {}
    first: dict[Label, int] = {}
    labels = [list(term) for term in inputs]
    for number, (tensor, term) in enumerate(zip(tensors, labels, strict=True), start=1):
        for label, length in zip(term, shape_of(tensor), strict=True):
            known = lengths.setdefault(label, length)
            first.setdefault(label, number)
            if same_length(known, length):
                continue
            if isinstance(label, EllipsisAxis) and S.One in (known, length):
                lengths[label] = length if known is S.One else known
                continue
            raise ShapeError(
                f"index {str(label)!r} of {shown!r} has length {known} in operand "
                f"{first[label]} and length {length} in operand {number}; "
                "axes with the same index must have the same length"
            )
    _stretch_ellipsis(tensors, labels, lengths)
    return contract(tensors, labels, output, lengths)


def _stretch_ellipsis(
    tensors: Sequence[Operand], labels: list[list[Label]], lengths: dict[Label, Expr]
) -> None:
    """Axes of length 1 under an ellipsis stretch, as in NumPy: each becomes a summed axis."""
    dots = [
        (number, axis, label, shape_of(tensor)[axis])
        for number, (tensor, term) in enumerate(zip(tensors, labels, strict=True))
        for axis, label in enumerate(term)
        if isinstance(label, EllipsisAxis)
    ]
    for number, axis, label, length in dots:
        if length is S.One and lengths[label] is not S.One:
            labels[number][axis] = ("stretched", number, axis)
            lengths[labels[number][axis]] = S.One


def contract_labelled(
    operands: Sequence[Operand], terms: Sequence[Labels], output: Labels, name: str
) -> Operand:
    """Contract with labels whose lengths are checked; ``name`` is what the user called."""
    return contract_checked(
        list(operands), *resolve_labels(terms, output, [order_of(o) for o in operands], name), name
    )
