"""Lowering of affine selectors: on operands they become slices, on the result writes into zeros.

P[i, j] X[.., j] = P[i, j] X'[.., i] with the slice X' of X at the positions. Then j is an axis of
nothing but the result, which is X' written into zeros there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations, product, starmap
from math import prod
from typing import NamedTuple, TypeAlias

from sympy import Expr, Integer, S

from ...contraction_order import Factor
from ...core import Indices, Shape, tuning
from ...expressions import Delta, Operand, Positions, are_disjoint, is_window
from ..ir.instruction_rules import AxisPart, Slice
from ..ir.plans import origin
from .context import Lowering
from .plan_builder import PlanBuilder, index_text

# The first position and the last, and powers of two on each axis.
Interval: TypeAlias = tuple[int, int]
Sizes: TypeAlias = tuple[int | None, ...]


class Axis(NamedTuple):
    """An axis of an array that is written to: the part of it, a position, a slice or all, and the
    label of the value's axis there, which a position has none of."""

    part: AxisPart
    label: int | None


class ZeroPadded(NamedTuple):
    """A zero-padded value: the value, and its place in an array of zeros. The axes of the value are
    the labels in the order in which they first occur; leading ones along which it is constant may
    be missing."""

    value: int
    axes: tuple[Axis, ...]

    @property
    def labels(self) -> Indices:
        """The labels of the value's axes."""
        return distinct_labels(self.axes)

    @property
    def is_whole(self) -> bool:
        """Whether the value fills the array."""
        return all(axis.part is None for axis in self.axes) and len(self.labels) == len(self.axes)


def distinct_labels(axes: Iterable[Axis]) -> Indices:
    """Return labels in the order in which they first occur."""
    return tuple(dict.fromkeys(_labels(axes)))


def whole(value: int, labels: Iterable[int]) -> ZeroPadded:
    """Return a value that isn't zero-padded, unless a label occurs twice."""
    return ZeroPadded(value, tuple([Axis(None, label) for label in labels]))


def selected_slice(position: Positions) -> Expr | Slice:
    """Return the index or slice of an affine selector."""
    if not position.steps:
        return position.start
    return Slice(position.start, position.steps[0], position.counts[0])


def apply_slices(
    builder: PlanBuilder, operands: list[Operand], factors: list[Factor], output: Indices
) -> tuple[Axis, ...]:
    """Apply indices and slices to the other factors, which removes them from the lists; what the
    axes of the result have become."""
    if not any(isinstance(operand, Positions) for operand in operands):
        return tuple([Axis(None, label) for label in output])
    axes = {label: Axis(None, label) for label in output}
    slices = {factor: [Axis(None, label) for label in factor.labels] for factor in factors}
    for k in range(len(operands) - 1, -1, -1):
        position, labels = operands[k], factors[k].labels
        if not isinstance(position, Positions) or len(position.steps) > 1:
            continue
        if any(axis.part is not None for axis in slices[factors[k]]):
            continue  # others have picked some of its columns
        *source, target = labels
        others = [f for j, f in enumerate(factors) if j != k and target in _labels(slices[f])]
        inside = target in _labels(axes.values())
        if target in source or not (others or inside) or any(f.solves for f in others):
            continue
        part = Axis(selected_slice(position), source[0] if source else None)
        for factor in others:
            if any(axis.label == target and axis.part is not None for axis in slices[factor]):
                _apply(builder, factor, slices)
            slices[factor] = [part if axis.label == target else axis for axis in slices[factor]]
        for label, axis in axes.items():
            if axis.label == target:
                axes[label] = _within(part, axis.part)
        del slices[factors[k]], operands[k], factors[k]
    for factor in factors:
        _apply(builder, factor, slices)
    return tuple([axes[label] for label in output])


def _labels(axes: Iterable[Axis]) -> list[int]:
    return [axis.label for axis in axes if axis.label is not None]


def _within(axis: Axis, outer: AxisPart) -> Axis:
    """Compose the positions of an axis with those of an axis that it lies on."""
    if not isinstance(outer, Slice):
        return axis
    start, step, _ = outer
    if isinstance(axis.part, Slice):
        inner = axis.part
        return axis._replace(part=Slice(start + step * inner.start, step * inner.step, inner.count))
    assert axis.part is not None
    return axis._replace(part=start + step * axis.part)


def _apply(builder: PlanBuilder, factor: Factor, slices: dict[Factor, list[Axis]]) -> None:
    """Slice a factor."""
    axes = slices[factor]
    if any(axis.part is not None for axis in axes):
        factor.value = builder.emit("slice", factor.value, params=(tuple([a.part for a in axes]),))
        factor.labels = tuple(_labels(axes))
        slices[factor] = [Axis(None, label) for label in factor.labels]


# --- writing


def lower_positions(builder: Lowering, node: Positions) -> int:
    """Emit an affine selector that nothing is contracted with: ones written into zeros; one of
    several indices is windows of the identity matrix."""
    if is_window(node):
        return builder.emit("copy", _windows(builder, node))
    one = builder.emit("scalar", params=(S.One,))
    return emit_padded(builder, padded_ones(node, range(node.order), one), node.shape)


def _windows(builder: Lowering, node: Positions) -> int:
    """Emit rows start + Σ steps·i of the identity matrix at [i, ...]: windows over windows."""
    rows, length, start = builder.value(Delta(node.length)), node.length, node.start
    for step, count in reversed([*zip(node.steps, node.counts, strict=True)][2:]):
        reach = step * (count - 1)
        first = -reach if step.is_negative else S.Zero
        length, start = length - reach - 2 * first, start - first
        params = (0, first, (S.One, step), (length, count))
        rows = builder.emit("windows", rows, params=params)
    return builder.emit("windows", rows, params=(0, start, node.steps[:2], node.counts[:2]))


def padded_ones(node: Positions, axes: Sequence[int], value: int) -> ZeroPadded:
    """Lower affine selectors with their axes in some order, and a value in the place of the
    ones."""
    source = range(len(node.steps))
    picked = Axis(selected_slice(node), 0 if source else None)
    known = (*[Axis(None, label) for label in source], picked)
    return ZeroPadded(value, tuple([known[k] for k in axes]))


def emit_padded(builder: PlanBuilder, padded: ZeroPadded, shape: Shape) -> int:
    """Emit the array of a zero-padded value."""
    if padded.is_whole:
        return padded.value
    return written_together(builder, [padded], shape)


def written_together(builder: PlanBuilder, terms: Sequence[ZeroPadded], shape: Shape) -> int:
    """Emit the sum of zero-padded values: written into one array, added where they may overlap."""
    total = _zeros_like(builder, [term.value for term in terms], shape)
    before = _Occupied(shape)
    for term in terms:
        write(builder, total, term, add=before.may_overlap(term))
        before.add(term)
    return total


class _Occupied:
    """The places that are written to already. Intervals of known positions are found by cells of a
    grid, which are as long as a power of two: others needn't be compared."""

    def __init__(self, shape: Shape):
        self.shape = shape
        # By the size of cells on each axis, None for all of it, and by the numbers of cells.
        self._grids: dict[Sizes, dict[tuple[int, ...], list[ZeroPadded]]] = {}

    def add(self, padded: ZeroPadded) -> None:
        """Add a value."""
        intervals = [_interval(axis.part) for axis in padded.axes]
        sizes = tuple(
            [None if own is None else (own[1] - own[0]).bit_length() for own in intervals]
        )
        cells = self._grids.setdefault(sizes, {})
        for cell in product(*map(_cells, intervals, sizes)):
            cells.setdefault(cell, []).append(padded)

    def may_overlap(self, padded: ZeroPadded) -> bool:
        """Tell whether a value may have an entry in common with one of those."""
        near = self._near([_interval(axis.part) for axis in padded.axes])
        return any(
            count == tuning.MAX_COMPARED_TERMS or not _apart(padded, other, self.shape)
            for count, other in enumerate(near)
        )

    def _near(self, intervals: Sequence[Interval | None]) -> Iterator[ZeroPadded]:
        for sizes, cells in self._grids.items():
            pairs = list(zip(intervals, sizes, strict=True))
            ranges = list(starmap(_cells, pairs))
            is_open = any(own is None and size is not None for own, size in pairs)
            if is_open or prod(map(len, ranges)) > len(cells):
                yield from chain.from_iterable(cells.values())
            else:
                for cell in product(*ranges):
                    yield from cells.get(cell, ())


def _interval(part: AxisPart) -> Interval | None:
    """Return the first and the last position, if these are known."""
    start, step, count = part if isinstance(part, Slice) else (part, S.One, S.One)
    if not (isinstance(start, Integer) and isinstance(step, Integer)):
        return None
    if not isinstance(count, Integer) or count < 1:
        return None
    ends = int(start), int(start + step * (count - 1))
    return min(ends), max(ends)


def _cells(interval: Interval | None, size: int | None) -> range:
    """Return the cells of a size that an interval is in."""
    if interval is None or size is None:
        return range(1)
    first, last = interval
    return range(first >> size, (last >> size) + 1)


def write(builder: PlanBuilder, target: int, padded: ZeroPadded, *, add: bool) -> None:
    """Write a value into an array, or add it to what is there; what has its sign negated is
    subtracted."""
    value, sign = padded.value, int(add)
    negated = _negated(builder, value)
    if add and negated is not None:
        value, sign = negated, -1
    slices = tuple([axis.part for axis in padded.axes])
    if not any(part is not None for part in slices):
        slices = ()
    text = index_text(_labels(padded.axes))
    subscripts = f"{text}->{index_text(padded.labels)}"
    builder.emit_fresh("write", target, value, params=(slices, subscripts, sign))


def _negated(builder: PlanBuilder, value: int) -> int | None:
    """Return the negated value if a value was computed by negation, else None."""
    op, inputs, params, _ = builder.instructions[value]
    return inputs[0] if (op, params) == ("add", ((-1,),)) else None


def _zeros_like(builder: PlanBuilder, values: Sequence[int], shape: Shape) -> int:
    """Emit zeros of the type of some values."""
    return builder.emit_fresh("zeros", *sources_of_types(builder, values), params=(shape,))


def sources_of_types(builder: PlanBuilder, values: Sequence[int]) -> list[int]:
    """Return values that have the types of some others; those behind signs, which :func:`write`
    doesn't compute, and behind views."""
    values = [value if (own := _negated(builder, value)) is None else own for value in values]
    return [*dict.fromkeys([origin(builder.instructions, value) for value in values])]


def _apart(one: ZeroPadded, other: ZeroPadded, shape: Shape) -> bool:
    """Tell whether two values are known to have no entry in common: on one axis, or on two of which
    each has a diagonal."""
    axes = list(zip(one.axes, other.axes, shape, strict=True))
    if any(
        a.part is not None
        and b.part is not None
        and are_disjoint(_positions(a.part, length), _positions(b.part, length))
        for a, b, length in axes
    ):
        return True
    pairs = combinations(zip(one.axes, other.axes, strict=True), 2)
    return any(_diagonals_apart((a, c), (b, d)) for (a, b), (c, d) in pairs)


def _diagonals_apart(one: tuple[Axis, Axis], other: tuple[Axis, Axis]) -> bool:
    """Tell whether two diagonals of a matrix are parallel and not the same: on each,
    step' · position - step · position' is a number."""
    if any(a.label is None or a.label != b.label for a, b in (one, other)):
        return False
    first, second = [[_line(axis.part) for axis in axes] for axes in (one, other)]
    if [step for _, step in first] != [step for _, step in second]:
        return False
    (start, step), (across, stride) = first
    distance = stride * (start - second[0][0]) - step * (across - second[1][0])
    return bool(distance.is_number and distance.is_nonzero)


def _line(part: AxisPart) -> tuple[Expr, Expr]:
    """Return the first position on an axis and the step to the next."""
    return (part.start, part.step) if isinstance(part, Slice) else (S.Zero, S.One)


def _positions(part: Expr | Slice, length: Expr) -> Operand:
    if isinstance(part, Slice):
        return Positions(length, part.start, (part.step,), (part.count,))
    return Positions(length, part, (), ())
