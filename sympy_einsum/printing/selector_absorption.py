"""Absorb affine selectors into the indices of a product.

A selected entry is an entry at a shifted index: Σ_j [i + 1 = j] x_j is x_{i+1}. A zero-padded one
is its source, under the condition that there is one [GKP, §2.1]: Σ_k [k + 1 = i] v_k is
[1 ≤ i] v_{i-1}. A triangle is the limit of a sum.

References
==========

[GKP] R. L. Graham, D. E. Knuth, O. Patashnik, "Concrete Mathematics", 2nd edition, 1994.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from sympy import S

from ..core import same_length
from ..expressions import Einsum, Operand, Positions, Triangle
from .entries import relabel
from .forms import Form, Label, Position, indices, position, rename_label

Factor: TypeAlias = tuple[Operand, tuple[Label, ...]]
Limits: TypeAlias = tuple[Label, Label]


class IndexedFactors(NamedTuple):
    """Hold the indexed factors of a product, the conditions under which it isn't zero, and the
    summed labels with their bounds."""

    factors: list[Factor]
    conditions: list[Form]
    summed: dict[Label, Limits]


class SelectorAbsorption:
    """Assign labels to the indices of a product: axes, fresh numbers for sums, or positions."""

    def __init__(self, node: Einsum, fresh: Iterator[int]):
        self.lengths = node.lengths
        self.label: dict[int, Label] = {index: axis for axis, index in enumerate(node.output)}
        summed = [index for index in range(len(node.lengths)) if index not in self.label]
        # The index of each summed label.
        self.index: dict[Label, int] = {next(fresh): index for index in summed}
        self.label.update({index: label for label, index in self.index.items()})
        self.factors = list(zip(node.operands, node.subscripts, strict=True))
        self.conditions: list[Form] = []
        self.limits: dict[Label, Limits] = {}

    def product(self, has_limits: bool) -> IndexedFactors:
        """Return the product; with ``has_limits`` triangles become limits of sums."""
        self._index_selected_axes()
        self._index_embedded_axes()
        if has_limits:
            self._limit_by_triangles()
        summed: dict[Label, Limits] = {}
        for label, index in self.index.items():
            whole = (Position(S.Zero), Position(self.lengths[index] - 1))
            summed[label] = self.limits.get(label, whole)
        factors = [(operand, self.labels(term)) for operand, term in self.factors]
        return IndexedFactors(factors, self.conditions, summed)

    def labels(self, term: tuple[int, ...]) -> tuple[Label, ...]:
        """Return the labels of the axes of a factor."""
        return tuple([self.label[index] for index in term])

    def _substitute(self, old: Label, new: Label) -> None:
        """Substitute a label for a summed one."""
        del self.index[old]
        self.label = {index: rename_label(label, {old: new}) for index, label in self.label.items()}
        self.conditions = [relabel(form, {old: new}) for form in self.conditions]

    def _index_selected_axes(self) -> None:
        """Replace summed indices of axes on which entries are selected."""
        for factor in list(self.factors):
            tensor, term = factor
            if not isinstance(tensor, Positions):
                continue
            *sources, target = self.labels(term)
            if target in self.index and not any(target in indices(label) for label in sources):
                self.factors.remove(factor)
                pairs = list(zip(tensor.steps, sources, strict=True))
                self._substitute(target, position(tensor.start, pairs))

    def _index_embedded_axes(self) -> None:
        """Replace summed indices of axes that are embedded into zeros."""
        embedded = [
            (tensor, term)
            for tensor, term in self.factors
            if isinstance(tensor, Positions) and tensor.steps in ((1,), (-1,))
        ]
        for tensor, term in sorted(embedded, key=lambda factor: not factor[0].start.is_zero):
            source, target = self.labels(term)
            if source not in self.index or source in indices(target):
                continue
            self.factors.remove((tensor, term))
            others = [
                other
                for other, own in self.factors
                if (other, own) in embedded
                and own[0] == term[0]
                and type(self.label[own[1]]) is int
            ]
            (step,) = tensor.steps
            self._substitute(source, position(-step * tensor.start, [(step, target)]))
            known = [_within(other) for other in others]
            known += [_within(tensor)] if type(target) is int else []
            self._require_on_axis(tensor, target, [any(ends) for ends in zip(*known, strict=True)])

    def _require_on_axis(self, tensor: Positions, target: Label, known: list[bool]) -> None:
        """Add the bounds of the axis as conditions, unless they are known to hold."""
        (step,), (count,) = tensor.steps, tensor.counts
        ends = [tensor.start, tensor.start + step * (count - 1)]
        if isinstance(target, Position) and len(target.terms) == 1 and target.terms[0][0] is S.One:
            ends = [end - target.value for end in ends]
            target = target.terms[0][1]
        needed = [not is_known for is_known in known or (False, False)]
        if step == -1:
            ends, needed = ends[::-1], needed[::-1]
        low = [Position(ends[0])] if needed[0] else []
        high = [Position(ends[1])] if needed[1] else []
        if low or high:
            self.conditions.append(Form("ordered", (), (*low, target, *high)))

    def _limit_by_triangles(self) -> None:
        """Turn triangles into limits of sums; a sum with its end below its start is empty."""
        for factor in list(self.factors):
            tensor, term = factor
            if not isinstance(tensor, Triangle) or not same_length(*tensor.shape):
                continue
            row, column = self.labels(term)
            taken = {k for label, ends in self.limits.items() for k in (label, *map(indices, ends))}
            others = {k for other in self.factors if other is not factor for k in other[1]}
            if not tensor.offset.is_nonnegative or {row, column} & taken or row == column:
                continue
            last = Position(tensor.shape[1] - 1)
            if row in self.index and term[0] in others:
                self.limits[row] = (Position(S.Zero), position(-tensor.offset, [(S.One, column)]))
            elif column in self.index and term[1] in others:
                self.limits[column] = (position(tensor.offset, [(S.One, row)]), last)
            else:
                continue
            self.factors.remove(factor)


def _within(tensor: Positions) -> tuple[bool, bool]:
    """Tell which bounds of an index, 0 and its count, its position on the axis implies."""
    (step,), (count,) = tensor.steps, tensor.counts
    last = tensor.length - 1
    if step == 1:
        return bool(tensor.start.is_zero), same_length(tensor.start + count - 1, last)
    return same_length(tensor.start, last), same_length(tensor.start, count - 1)


def summed_over(inside: Form, summed: dict[Label, Limits]) -> Form:
    """Sum over labels; an index that occurs in one position only is replaced by that position."""
    limits = []
    for label, (low, high) in summed.items():
        own = [found for found in inside.labels if label in indices(found)]
        bare = not any(label in indices(end) for ends in summed.values() for end in ends)
        place = own[0] if len(own) == 1 else label
        if isinstance(place, Position) and place.terms == ((S.One, label),) and bare:
            inside = relabel(inside, {label: position(-place.value, [(S.One, label)])})
            low, high = (position(place.value, [(S.One, end)]) for end in (low, high))
        limits.append((label, low, high))
    # Labels in the limits of another sum belong to an outer sum.
    limits.sort(key=lambda limit: any(indices(end) for end in limit[1:]))
    return Form("sigma", [inside], tuple(limits)) if limits else inside
