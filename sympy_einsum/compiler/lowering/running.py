"""Lowering of triangular matrices in products to running sums, linear recurrences, and masks.

A triangle of ones is never multiplied, nor are the matrices of a recurrence. If one of their
indices is summed, what else has that index is multiplied first, and what runs along it takes the
place of both; if both stay, what has those of a triangle is multiplied first, and the rest of it is
set to zero.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import prod
from typing import NamedTuple

from sympy import Expr, S

from ...analysis import is_nonnegative
from ...core import Indices
from ...expressions import (
    RUNNING,
    Delta,
    Fourier,
    IntervalProducts,
    LogCumSumExp,
    Operand,
    RunningFunction,
    Selection,
    TensorExpr,
    Triangle,
    Unit,
    contract,
    contract_part,
)
from .context import Lowering
from .fourier import transformed, transformed_back


def lower_triangle(builder: Lowering, node: Triangle) -> int:
    """Lower a triangle whose entries are needed."""
    rows, columns = node.shape
    lower = builder.emit("tri", params=(columns, rows, -node.offset))
    return builder.emit("transpose", lower, params=((1, 0),))


def run_along(builder: Lowering, matrix: TensorExpr, value: int, backwards: bool) -> int:
    """Return the product of a value's last axis with the rows of a matrix, or with its columns."""
    x = matrix.operands[0]
    if isinstance(matrix, IntervalProducts):
        return builder.emit("recurrence", builder.value(x), value, params=(backwards,))
    weights = builder.emit("running_weights", builder.value(x))
    return builder.emit("running_mean", weights, value, params=(backwards,))


def lower_logcumsumexp(builder: Lowering, node: LogCumSumExp) -> int:
    """Lower a running log-sum-exp."""
    weights = builder.emit("running_weights", builder.value(node.operands[0]))
    return builder.emit("logcumsumexp", weights)


def lower_running_matrix(builder: Lowering, node: RunningFunction) -> int:
    """Lower a matrix of which all entries are needed: the product with the identity matrix, row by
    row."""
    (x,) = node.operands
    *rest, count = range(x.order)
    axes = [*rest, node.order, count]
    lengths = dict(enumerate(x.shape)) | {node.order: S.One}
    rows = type(node).of(contract((x,), (range(x.order),), axes, lengths))
    return run_along(builder, rows, builder.value(Delta(node.shape[-1])), False)


class Group(NamedTuple):
    """Operands that are multiplied before a triangle is: the numbers of these, and the indices of
    their product. The running sum over the index ``moved`` has another one in its place; without
    one there is a mask. A ``twin`` runs along the same index from another one."""

    members: tuple[int, ...]
    labels: Indices
    moved: tuple[int, int] | None = None
    twin: int | None = None


class Triangles:
    """A product on its way to one without matrices along which something runs, but for those of
    which all entries are needed."""

    def __init__(
        self,
        builder: Lowering,
        operands: Sequence[Operand],
        subscripts: Sequence[Indices],
        output: Indices,
        lengths: Mapping[int, Expr],
    ):
        self.builder = builder
        self.operands = list(operands)
        self.subscripts = [tuple(labels) for labels in subscripts]
        self.output = output
        self.lengths = lengths
        # Nothing larger than all operands and the result is computed.
        self.limit = max(map(self._entries, [*subscripts, output]))

    def replaced(self) -> tuple[list[Operand], list[Indices]]:
        """Return the operands of an equal product. A triangle along which something larger than all
        operands and the result would have to run stays one."""
        self._multiply_vectors()
        while found := [
            (k, group)
            for k, group in self._choices()
            if self._entries(group.labels) <= self.limit
            or not isinstance(self.operands[k], Triangle)
        ]:
            self._apply(*min(found, key=self._rank))
        return self.operands, self.subscripts

    def _multiply_vectors(self) -> None:
        """Replace the last entry of the first row of a vector's interval products by the product of
        the vector's entries."""
        for k, operand in enumerate(self.operands):
            if not isinstance(operand, IntervalProducts) or operand.order != 2:
                continue
            (size, _), labels = operand.shape, self.subscripts[k]
            first, last = ends = [self._holders({label}, k) for label in labels]
            units = [[self.operands[j] for j in end] for end in ends]
            corner = [[Unit(size, S.Zero)], [Unit(size, size - 1)]]
            if units == corner and {*labels}.isdisjoint(self.output):
                value = self.builder.emit("prod", self.builder.value(operand.operands[0]))
                self._put({k, *first, *last}, self.builder.stand_in(value), ())
                self._multiply_vectors()
                return

    def _rank(self, choice: tuple[int, Group]) -> tuple[bool, int]:
        """Rank products along slices alone last, since they build the matrix itself, which other
        choices may avoid; then by size."""
        k, group = choice
        slices = [isinstance(self.operands[j], Selection) for j in group.members]
        is_matrix = all(slices) and isinstance(self.operands[k], IntervalProducts)
        return is_matrix, self._entries(group.labels)

    def _choices(self) -> Iterator[tuple[int, Group]]:
        for k, (operand, labels) in enumerate(zip(self.operands, self.subscripts, strict=True)):
            if not isinstance(operand, RUNNING) or len({*labels}) < len(labels):
                continue
            labels, is_mask = labels[-2:], isinstance(operand, Triangle)
            both = [j for j in self._holders({labels[0]}, k) if labels[1] in self.subscripts[j]]
            if both and not is_mask:
                continue
            if both:
                one = min(both, key=lambda j: self._entries(self.subscripts[j]))
                yield k, Group((one,), tuple(dict.fromkeys(self.subscripts[one])))
                continue
            summed = [i for i in labels if i not in self.output]
            for old in summed:
                new = labels[old == labels[0]]
                if isinstance(operand, Fourier):
                    group = self._transformed(k, old, new)
                    if group is not None:
                        yield k, group
                    continue
                yield k, self._summed(k, {old}, new)
                for twin in self._twins(k, old, new) if is_mask else ():
                    group = self._summed(k, {old}, new, twin)
                    used = {*group.labels, *self.subscripts[k], *self.subscripts[twin]}
                    if self._entries(used - {old}) <= self.limit:
                        yield k, group
            if is_mask and not summed and len(self.operands) > 1:
                yield k, self._masked(k, labels)

    def _transformed(self, k: int, old: int, new: int) -> Group | None:
        """Group the factors that a DFT is applied to: real ones over positions, or both parts of
        complex ones over frequencies; None if they are neither."""
        part, position, _ = self.subscripts[k]
        if old == position:
            group = self._summed(k, {old}, new)
            return None if part in group.labels else group
        group = self._summed(k, {old, part}, new)
        return None if part in self.output or new in group.labels else group

    def _twins(self, k: int, old: int, new: int) -> Iterator[int]:
        """Yield the triangles that run along an index as one does, both from indices of the result
        that nothing else along it has."""
        place = self.subscripts[k].index(old)
        for j in range(k):
            if self.operands[j] is self.operands[k] and self.subscripts[j][place] == old:
                ends = {new, self.subscripts[j][1 - place]}
                between = [self.subscripts[m] for m in self._holders({old}, j, k)]
                is_free = between and ends.isdisjoint(i for own in between for i in own)
                if is_free and len(ends & {*self.output}) == 2:
                    yield j

    def _summed(self, k: int, old: set[int], new: int, twin: int | None = None) -> Group:
        """Group the factors with an index, or with both indices of a complex DFT, and those that
        make the product smaller."""
        ends = {new} if twin is None else {new, *self.subscripts[twin]} - old
        members = self._holders(old, k, twin)
        labels = self._kept(members, old)
        while True:
            shared = {i for j in members for i in self.subscripts[j]} - old
            more = self._smaller(members, old, ends, self._holders(shared, k, twin, *members))
            if more is None:
                last = next(i for i in self.subscripts[k][-2:] if i in old)
                return Group(tuple(members), labels, (last, new), twin)
            members = [*members, more]
            labels = self._kept(members, old)

    def _smaller(
        self, members: Sequence[int], old: set[int], ends: set[int], others: Sequence[int]
    ) -> int | None:
        """Return an operand without the new indices that doesn't make a product larger."""
        limit = self._entries(self._kept(members, old))
        for j in others:
            free = ends.isdisjoint(self.subscripts[j])
            if free and self._entries(self._kept([*members, j], old)) <= limit:
                return j
        return None

    def _masked(self, k: int, labels: Indices) -> Group:
        """Group the factors with an index of a mask, and all that they are contracted with."""
        members = self._holders(labels, k)
        while True:
            summed = {i for j in members for i in self.subscripts[j]}.difference(self.output)
            more = [j for j in self._holders(summed, k) if j not in members]
            if not more:
                return Group(tuple(members), self._kept(members, labels))
            members += more

    def _holders(self, labels: Collection[int], *others: int | None) -> list[int]:
        """Return the operands but some that have one of some indices."""
        return [
            j
            for j, own in enumerate(self.subscripts)
            if j not in others and not {*labels}.isdisjoint(own)
        ]

    def _kept(self, members: Collection[int], wanted: Collection[int]) -> Indices:
        """Return the indices of a product of some operands that something else needs."""
        others = [own for j, own in enumerate(self.subscripts) if j not in members]
        needed = {*wanted}.union(self.output, *others)
        found = dict.fromkeys(i for j in members for i in self.subscripts[j] if i in needed)
        return tuple({**found, **dict.fromkeys(wanted)})

    def _entries(self, labels: Collection[int]) -> int:
        return prod(self.builder.size(self.lengths[i]) for i in set(labels))

    def _apply(self, k: int, group: Group) -> None:
        """Replace a matrix and a group of factors by the running product along the group."""
        matrix, (*rest, row, column) = self.operands[k], self.subscripts[k]
        operands = [self.operands[j] for j in group.members]
        terms = [self.subscripts[j] for j in group.members]
        factor = contract_part(operands, terms, group.labels, self.lengths)
        if group.moved is None:
            value, labels = self._mask(matrix, factor, group.labels, (row, column))
        else:
            old, new = group.moved
            backwards = old == column
            if isinstance(matrix, Triangle):
                value = self._running(matrix, factor, group.labels.index(old), backwards)
                labels = tuple([new if i == old else i for i in group.labels])
                if group.twin is not None:
                    labels, given = (*[i for i in labels if i != new], new), labels
                    value = self.builder.arranged(value, given, labels)
                    value = self.builder.emit("mirrored", value, params=(backwards,))
                    ends = new, self.subscripts[group.twin][not backwards]
                    labels = (*labels[:-1], *sorted(ends, key=self.output.index))
            elif isinstance(matrix, Fourier):
                others = [i for i in group.labels if i != old and i not in rest]
                value = self.builder.value(factor)
                if backwards:
                    wanted = (*others, old, *rest)
                    value = transformed_back(self.builder, matrix, value, group.labels, wanted)
                    labels = (*others, new)
                else:
                    value = self.builder.arranged(value, group.labels, (*others, old))
                    value = transformed(self.builder, matrix, value)
                    labels = (*others, new, *rest)
            else:
                others = [i for i in group.labels if i != old and i not in rest]
                labels = (*others, *rest, new)
                value = self._recurrence(
                    matrix, factor, group.labels, (*labels[:-1], old), backwards
                )
        signless = group.moved is not None and is_nonnegative(matrix) and is_nonnegative(factor)
        product = self.builder.stand_in(value, signless)
        self._put({k, group.twin, *group.members}, product, labels)

    def _put(self, gone: Collection[int | None], product: TensorExpr, labels: Indices) -> None:
        """Put a product into the place of some operands."""
        self.operands = [o for j, o in enumerate(self.operands) if j not in gone]
        self.subscripts = [own for j, own in enumerate(self.subscripts) if j not in gone]
        self.operands.append(product)
        self.subscripts.append(labels)

    def _recurrence(
        self, matrix: TensorExpr, factor: Operand, given: Indices, axes: Indices, backwards: bool
    ) -> int:
        if isinstance(matrix, IntervalProducts) and isinstance(factor, Unit):
            last = factor.length - 1 if backwards else 0
            if factor.position == last:
                row = self.builder.value(matrix.operands[0])
                return self.builder.emit("running_products", row, params=(backwards,))
        value = self.builder.arranged(self.builder.value(factor), given, axes)
        return run_along(self.builder, matrix, value, backwards)

    def _running(self, triangle: Operand, factor: Operand, axis: int, backwards: bool) -> int:
        value = self.builder.value(factor)
        rows, columns = triangle.shape
        if triangle.offset.is_zero and rows == columns:
            return self.builder.emit("cumsum", value, params=(axis, backwards))
        params = (axis, backwards, triangle.offset, rows if backwards else columns)
        return self.builder.emit("lagged_cumsum", value, params=params)

    def _mask(
        self, triangle: Operand, factor: Operand, labels: Indices, pair: tuple[int, int]
    ) -> tuple[int, Indices]:
        """Mask the last two axes, which are those of the triangle, in the order in which they
        come."""
        ordered = sorted(pair, key=labels.index)
        upper = ordered == list(pair)
        wanted = [*[i for i in labels if i not in pair], *ordered]
        value = self.builder.arranged(self.builder.value(factor), labels, wanted)
        offset = triangle.offset if upper else -triangle.offset
        return self.builder.emit("triangular", value, params=(upper, offset)), tuple(wanted)
