"""Lowering of windows: products with affine selectors of several indices, start + a·i + b·k = j.

Nothing is copied into windows. Where both indices stay, the array is seen as one of windows; of
vectors there are correlations and convolutions; most else is a sum over one of the indices, the
shorter one, in which each term picks a slice, or writes one. Where that is long, vectors are seen
as matrices of their entries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import prod
from typing import TypeAlias

from sympy import Expr, S

from ...core import Indices, Shape, UnsupportedError, tuning
from ...expressions import (
    Delta,
    Einsum,
    Operand,
    Positions,
    Selection,
    Unit,
    Zeros,
    contract_part,
    is_window,
)
from ..ir.instruction_rules import Slice
from .context import Lowering
from .selectors import Axis, ZeroPadded, emit_padded, write, written_together

# Lowers a term.
Lower: TypeAlias = Callable[[Operand], ZeroPadded]


class Windows:
    """A product in which some operands are windows."""

    def __init__(self, builder: Lowering, node: Einsum):
        self.builder = builder
        self.operands = list(node.operands)
        self.subscripts = list(node.subscripts)
        self.output = node.output
        self.lengths = dict(enumerate(node.lengths))

    def value(self, lower: Lower) -> int:
        """Return the number of the instruction that computes the product."""
        self._apart()
        self._seen()
        if not self._windows():
            return self.builder.value(self._product([]))
        found = self._correlated()
        if found is not None:
            return found
        chosen = self._short_axes()
        if chosen is not None:
            return self._summed(lower, chosen)
        for k in reversed(self._windows()):
            self._solve(k)
        return self.builder.value(self._product([]))

    def _windows(self) -> list[int]:
        return [k for k, operand in enumerate(self.operands) if is_window(operand)]

    def _product(self, units: Sequence[tuple[Operand, Indices]]) -> Operand:
        operands = [*self.operands, *[unit for unit, _ in units]]
        terms = [*self.subscripts, *[labels for _, labels in units]]
        return contract_part(operands, terms, self.output, self.lengths)

    def _uses(self, label: int) -> list[int]:
        return [k for k, own in enumerate(self.subscripts) if label in own]

    def _apart(self) -> None:
        """Take together what windows with both their axes summed make of other operands, before
        the rest is multiplied."""
        inner = self._windows()
        for k in list(inner):
            *source, target = self.subscripts[k]
            summed = [i for i in source if i not in self.output]
            if not summed or target in self.output:
                return
            short = min(summed, key=self._size)
            inner += self._uses(short) + self._uses(target)
        for k in inner:
            # A factor zero-padded on the axis of a window, as padded images are.
            if isinstance(self.operands[k], Positions) and not is_window(self.operands[k]):
                behind = self.subscripts[k][:-1]
                if not {*behind}.isdisjoint(self.output):
                    return
                inner += [j for i in behind for j in self._uses(i) if j not in inner]
        rest = [k for k in range(len(self.operands)) if k not in inner]
        if not rest:
            return
        outside = {i for k in rest for i in self.subscripts[k]}.union(self.output)
        kept = dict.fromkeys(i for k in dict.fromkeys(inner) for i in self.subscripts[k])
        labels = tuple([i for i in kept if i in outside])
        chosen = [k for k in range(len(self.operands)) if k in inner]
        operands = [self.operands[k] for k in chosen]
        terms = [self.subscripts[k] for k in chosen]
        value = self.builder.value(contract_part(operands, terms, labels, self.lengths))
        self.operands = [self.operands[k] for k in rest] + [self.builder.stand_in(value)]
        self.subscripts = [self.subscripts[k] for k in rest] + [labels]

    def _size(self, label: int) -> int:
        return self.builder.size(self.lengths[label])

    def _seen(self) -> None:
        """View arrays of which all windows are needed as arrays of windows."""
        for k in reversed(self._windows()):
            window, labels = self.operands[k], self.subscripts[k]
            *source, target = labels
            others = [j for j in self._uses(target) if j != k]
            stays = {*source} <= {*self.output} and target not in self.output
            plain = len({*labels}) == len(labels) and len(others) == 1 and len(source) == 2
            if not (stays and plain):
                continue
            own = self.subscripts[others[0]]
            if own.count(target) > 1 or is_window(self.operands[others[0]]):
                continue
            axis = own.index(target)
            params = (axis, window.start, window.steps, window.counts)
            value = self.builder.value(self.operands[others[0]])
            seen = self.builder.emit("windows", value, params=params)
            self.operands[others[0]] = self.builder.stand_in(seen)
            self.subscripts[others[0]] = (*own[:axis], *source, *own[axis + 1 :])
            del self.operands[k], self.subscripts[k]

    def _correlated(self) -> int | None:
        """Emit a correlation or a convolution of two vectors."""
        self._multiply_vectors()
        self._place_vector()
        windows = self._windows()
        if len(windows) > 1 or len(self.operands) != 3 or len(self.output) != 1:
            return None
        window, labels = self.operands[windows[0]], self.subscripts[windows[0]]
        vectors = {
            own[0]: operand
            for own, operand in zip(self.subscripts, self.operands, strict=True)
            if len(own) == 1
        }
        steps = dict(zip(labels, window.steps, strict=False))
        whole = len(steps) == 2 and {*vectors, *self.output} == {*labels} and len({*labels}) == 3
        if not whole or any(abs(step) != 1 for step in steps.values()):
            return None
        (result,), target = self.output, labels[-1]
        start = window.start
        values = {}
        for label, operand in vectors.items():
            values[label] = self.builder.value(operand)
        for label, step in steps.items():
            if step == -1:
                start -= self.lengths[label] - 1
                if label in values:
                    values[label] = self._flipped(values[label], self.lengths[label])
        count = sum(window.counts) - 1
        if result == target:
            value = self.builder.emit("convolve", values[labels[0]], values[labels[1]])
            return self._among_zeros(value, Slice(start, S.One, count))
        (other,) = [i for i in labels[:-1] if i != result]
        part: int = values[target]
        if not (start.is_zero and (count - window.length).is_zero):
            part = self.builder.emit("slice", part, params=((Slice(start, S.One, count),),))
        value = self.builder.emit("correlate", part, values[other])
        return self._flipped(value, self.lengths[result]) if steps[result] == -1 else value

    def _multiply_vectors(self) -> None:
        """Multiply the vectors on one axis."""
        for labels in {own for own in self.subscripts if len(own) == 1}:
            places = [k for k, own in enumerate(self.subscripts) if own == labels]
            vectors = [self.operands[k] for k in places]
            if len(places) < 2 or any(isinstance(vector, Positions) for vector in vectors):
                continue
            product = contract_part(vectors, [labels] * len(places), labels, self.lengths)
            value = self.builder.value(product)
            rest = [k for k in range(len(self.operands)) if k not in places]
            self.operands = [*[self.operands[k] for k in rest], self.builder.stand_in(value)]
            self.subscripts = [*[self.subscripts[k] for k in rest], labels]

    def _place_vector(self) -> None:
        """Zero-pad a vector before it is correlated."""
        pairs = list(zip(self.operands, self.subscripts, strict=True))
        placed = [pair for pair in pairs if isinstance(pair[0], Selection)]
        if len(pairs) != 4 or len(placed) != 1:
            return
        position, (source, target) = placed[0]
        vectors = [pair for pair in pairs if pair[1] == (source,)]
        if len(vectors) != 1 or {source, target} & {*self.output}:
            return
        operands, terms = (position, vectors[0][0]), ((source, target), (source,))
        value = self.builder.value(contract_part(operands, terms, (target,), self.lengths))
        left = [pair for pair in pairs if pair not in (placed[0], vectors[0])]
        self.operands = [*[operand for operand, _ in left], self.builder.stand_in(value)]
        self.subscripts = [*[own for _, own in left], (target,)]

    def _flipped(self, value: int, length: Expr) -> int:
        back = Slice(length - 1, S.NegativeOne, length)
        return self.builder.emit("slice", value, params=((back,),))

    def _among_zeros(self, value: int, place: Slice) -> int:
        length = self.lengths[self.output[0]]
        if place.start.is_zero and (length - place.count).is_zero:
            return value
        axis = Axis(place, 0)
        return written_together(self.builder, [ZeroPadded(value, (axis,))], (length,))

    def _summed(self, lower: Lower, chosen: Mapping[int, int]) -> int:
        """Return the sum over the positions on some axes."""
        shape = tuple([self.lengths[i] for i in self.output])
        total: int | None = None
        owned = False
        for places in product(*map(range, chosen.values())):
            pairs = zip(chosen, places, strict=True)
            term = self._product([(Unit(self.lengths[i], place), (i,)) for i, place in pairs])
            if isinstance(term, Zeros) or term.is_zero:
                continue
            placed = lower(term)
            if owned and total is not None:
                write(self.builder, total, placed, add=True)
            elif total is None and not placed.is_whole:
                total, owned = written_together(self.builder, [placed], shape), True
            else:
                value = emit_padded(self.builder, placed, shape)
                if total is not None:
                    value = self.builder.emit("add", total, value, params=((1, 1),))
                total = value
        return self.builder.value(Zeros(*shape)) if total is None else total

    def _short_axes(self) -> dict[int, int] | None:
        """Return the shortest index of each window and its length; None where these aren't known,
        or have too many positions together."""
        chosen: dict[int, int] = {}
        windows = self._windows()
        for k in windows:
            source = self.subscripts[k][:-1]
            known = [i for i in source if self.lengths[i].is_Integer]
            if not {*source} & {*chosen} and known:
                short = min(known, key=self._size)
                chosen[short] = int(self.lengths[short])
        is_apart = all({*self.subscripts[k][:-1]} & {*chosen} for k in windows)
        return chosen if is_apart and prod(chosen.values()) <= tuning.MAX_WINDOW_TERMS else None

    def _solve(self, k: int) -> None:
        """Put a view of something into the place of a window: that of what is on one of its axes,
        vectors if possible, at the positions there that go with those on the other two; where the
        result has all three axes, that of each row of the identity."""
        window, labels = self.operands[k], self.subscripts[k]
        for order, label in product(
            (1, max(map(len, self.subscripts))), (labels[-1], *labels[:-1])
        ):
            others = [j for j in self._uses(label) if j != k]
            is_summed = label not in self.output and all(
                len(self.subscripts[j]) <= order and not is_window(self.operands[j]) for j in others
            )
            is_shown = not others and {*labels} <= {*self.output}
            solved = _solved(window, labels, label) if is_summed or is_shown else None
            if solved is not None:
                self._see(k, label, others, *solved)
                return
        counts = [tuple(self.operands[j].counts) for j in self._windows()]
        raise UnsupportedError(
            f"windows of shapes {', '.join(map(str, counts))} are summed over at most "
            f"{tuning.MAX_WINDOW_TERMS} known positions; give the kernel's lengths as "
            "numbers, or take a shorter kernel; what is one factor of a product may have any "
            "length, with steps 1"
        )

    def _see(
        self,
        k: int,
        label: int,
        others: Sequence[int],
        among: Expr,
        first: Expr,
        view: tuple[Expr, Shape, Shape],
        left: Indices,
    ) -> None:
        """Put the view of the factors with a label, or of the identity, into the place of these
        and of a window."""
        old = max(self.lengths) + 1
        new = old + 1
        lengths = {**self.lengths, old: self.lengths[label], new: among}
        rest = [j for j in range(len(self.operands)) if j not in (k, *others)]
        outside = {i for j in (k, *rest) for i in self.subscripts[j]}.union(self.output)
        factors, terms = [self.operands[j] for j in others], [self.subscripts[j] for j in others]
        terms = [tuple([old if i == label else i for i in own]) for own in terms]
        if not others and label in self.output:
            factors, terms = [Delta(lengths[label])], [(label, old)]
        inside = dict.fromkeys(i for own in terms for i in own)
        kept = tuple([i for i in inside if i in outside])
        place = Selection(among, first, 1, lengths[label])
        found = contract_part((*factors, place), (*terms, (old, new)), (*kept, new), lengths)
        seen = self.builder.emit("windows", self.builder.value(found), params=(len(kept), *view))
        self.operands = [*[self.operands[j] for j in rest], self.builder.stand_in(seen)]
        self.subscripts = [*[self.subscripts[j] for j in rest], (*kept, *left)]


def _solved(
    window: Positions, labels: Indices, label: int
) -> tuple[Expr, Expr, tuple[Expr, Shape, Shape], Indices] | None:
    """Return the positions on an axis of a window as those that others name, on a longer axis: its
    length, where the old one begins on it, the start, steps and counts, and the labels of these.

    For start + a·i + b·k = j and b = ±1, k is b·(j - start - a·i). None for other steps.
    """
    if len({*labels}) < 3 or len(labels) > 3:
        return None
    if label == labels[-1]:
        return window.length, S.Zero, (window.start, window.steps, window.counts), labels[:-1]
    at = labels.index(label)
    a, b, count = window.steps[1 - at], window.steps[at], window.counts[1 - at]
    if abs(b) != 1:
        return None
    steps = (b, -a * b)
    reach = [abs(step) * (n - 1) for step, n in zip(steps, (window.length, count), strict=True)]
    start = sum([n for step, n in zip(steps, reach, strict=True) if step == -abs(step)], S.Zero)
    view = (start, steps, (window.length, count))
    return sum(reach) + 1, start + b * window.start, view, (labels[-1], labels[1 - at])
