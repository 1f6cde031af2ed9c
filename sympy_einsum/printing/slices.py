"""How products are read for printing: as index strings, as indexing of one tensor, ``A[0, :]``, and
as products whose axes are rearranged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from sympy import Expr

from ..expressions import Einsum, Operand, Selection, TensorExpr, Unit, View

Labels = tuple[int, ...]


class Factors(NamedTuple):
    """A product as it is written: operands, the labels of their axes, those of the result's axes,
    and the length of each label."""

    operands: Sequence[Operand]
    terms: Sequence[Labels]
    output: Labels
    lengths: Mapping[int, Expr]

    @property
    def absent(self) -> list[int]:
        """The labels of axes that no operand has, along which all entries are the same."""
        present = {label for term in self.terms for label in term}
        return [label for label in dict.fromkeys(self.output) if label not in present]


class Range(NamedTuple):
    """A slice, as it stands in brackets; without a stop it runs to the end."""

    start: Expr
    stop: Expr | None
    step: Expr


# What stands in brackets for an axis: a position, a range, or None for all of it.
Cut: TypeAlias = Expr | Range | None


class Slice(NamedTuple):
    """A tensor and what stands in the brackets behind it."""

    tensor: TensorExpr
    cuts: tuple[Cut, ...]


def factors_of(node: Einsum) -> Factors:
    """The operands of a product; of a view without the scalar factors."""
    skipped = len(node.scalars) if isinstance(node, View) else 0
    lengths = dict(enumerate(node.lengths))
    return Factors(node.operands[skipped:], node.subscripts[skipped:], node.output, lengths)


def merged(node: Einsum) -> Factors:
    """A rearranged product, the last operand of a node, as one product."""
    core = node.operands[-1]
    rename = dict(zip(core.output, node.subscripts[-1], strict=True))
    lengths = dict(enumerate(node.lengths))
    for index, length in enumerate(core.lengths):
        if index not in rename:
            rename[index] = len(lengths)
            lengths[rename[index]] = length
    terms = [tuple([rename[index] for index in term]) for term in core.subscripts]
    return Factors(core.operands, terms, node.output, lengths)


def sliced(product: Factors) -> Slice | None:
    """The tensor that a product indexes; None if it does anything else."""
    operands, terms, output, _ = product
    tensors = [k for k, o in enumerate(operands) if not isinstance(o, (Unit, Selection))]
    if len(tensors) != 1 or len(operands) == 1 or not terms[tensors[0]]:
        return None
    axes = terms[tensors[0]]
    cuts: dict[int, Cut] = dict.fromkeys(axes)
    kept = list(axes)
    for k, cutter in enumerate(operands):
        if k == tensors[0]:
            continue
        axis = terms[k][-1]
        if axis not in kept or axis in output or cuts.get(axis) is not None:
            return None
        cuts[axis] = cut_of(cutter)
        place = kept.index(axis)
        kept[place : place + 1] = terms[k][:-1]
    if kept != list(output) or len(set(axes)) < len(axes):
        return None
    return Slice(operands[tensors[0]], tuple([cuts[axis] for axis in axes]))


def cut_of(cutter: Unit | Selection) -> Cut:
    """What stands in brackets for a unit vector or a selection matrix."""
    if isinstance(cutter, Unit):
        return cutter.position
    stop = cutter.start + cutter.step * cutter.count
    return Range(cutter.start, None if stop.is_negative else stop, cutter.step)
