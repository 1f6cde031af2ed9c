"""Composition of affine selectors: a slice of a slice is a slice, a slice beside a zero-padded part
is 0.

With P[i, j] = [start + step·i = j], each fact is one of indices, whatever else has them:

* composition: P[i, j] Q[j, k] = P[i, j] R[i, k], with the affine maps one after the other;
* meeting: P[i, j] Q[k, j] = P[i, j] U[p, i] V[p, k] summed over p, where the p-th common position
  is the U-th of P and the V-th of Q: an integer equation start + step·i = start' + step'·k;
* a position that nothing else has: the sum of P[i, j] over j is 1;
* P[i, j] with i = j everywhere is a delta.

What depends on the sign of an expression in lengths that isn't known, stays as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from math import gcd
from typing import NamedTuple

from sympy import Expr, KroneckerDelta, S

from ..core import Label, Labels
from .base import Operand, TensorExpr
from .positions import Positions, Unit


class Merged(NamedTuple):
    """The merged factors of a product: tensors, their labels, those of the result, the lengths of
    new labels, and scalar factors."""

    tensors: list[TensorExpr]
    subs: list[Labels]
    output: Labels
    lengths: dict[Label, Expr]
    scalars: list[Operand]


class Meeting(NamedTuple):
    """The number of common positions of two sequences; the first of them in each, and the steps."""

    count: Expr
    starts: tuple[Expr, Expr]
    steps: tuple[Expr, Expr]


def merge_positions(tensors: list[TensorExpr], subs: list[Labels], output: Labels) -> Merged | None:
    """Return the factors with their positions composed; None if the product is 0."""
    merger = _Merger(tensors, subs, output)
    while not merger.is_zero and merger.step():
        pass
    return None if merger.is_zero else merger.result()


def merge_one_hots(
    tensors: list[TensorExpr], subs: list[Labels], output: Labels
) -> tuple[list[TensorExpr], list[Labels], Labels, set[Label]]:
    """Return the factors with each pair of ones at the same positions merged, [p_i = j] [p_i = k] =
    δ_jk [p_i = j], and without those that add up to one along an axis that nothing else has; the
    labels of the result, and those of axes that are gone."""
    gone: set[Label] = set()
    while hots := [k for k, tensor in enumerate(tensors) if tensor.is_one_hot]:
        first: dict[tuple[TensorExpr, Labels], int] = {}
        same = {k: first.setdefault((tensors[k], tuple(subs[k][:-1])), k) for k in hots}
        count = Counter(label for labels in (*subs, output) for label in labels)
        k = next((k for k in hots if same[k] != k or count[subs[k][-1]] == 1), None)
        if k is None:
            break
        old, new = subs[k][-1], subs[same[k]][-1]
        gone.add(old)
        tensors = [*tensors[:k], *tensors[k + 1 :]]
        subs = [[new if i == old else i for i in own] for own in (*subs[:k], *subs[k + 1 :])]
        output = [new if i == old else i for i in output]
    return tensors, subs, output, gone - {label for labels in (*subs, output) for label in labels}


class _Merger:
    def __init__(self, tensors: list[TensorExpr], subs: list[Labels], output: Labels):
        self.positions: list[tuple[Operand, tuple[Label, ...]]] = [
            (tensor, tuple(labels))
            for tensor, labels in zip(tensors, subs, strict=True)
            if isinstance(tensor, Positions)
        ]
        self.others = [
            (tensor, labels)
            for tensor, labels in zip(tensors, subs, strict=True)
            if not isinstance(tensor, Positions)
        ]
        self.output = list(output)
        self.lengths: dict[Label, Expr] = {}
        self.scalars: list[Operand] = []
        self.is_zero = False

    def result(self) -> Merged:
        """Return the merged factors."""
        tensors = [tensor for tensor, _ in (*self.others, *self.positions)]
        subs = [labels for _, labels in (*self.others, *self.positions)]
        return Merged(tensors, subs, self.output, self.lengths, self.scalars)

    def step(self) -> bool:
        """Apply the first simplification that fits; tell whether one did."""
        self.positions = list(dict.fromkeys(self.positions))
        for k in range(len(self.positions)):
            if self._drop_whole(k) or self._drop_lone(k) or self._turn(k):
                return True
        return any(
            self._compose(j, k) or self._meet(j, k)
            for j, k in permutations(range(len(self.positions)), 2)
        )

    def _drop_whole(self, k: int) -> bool:
        position, labels = self.positions[k]
        if not position.is_whole:
            return False
        del self.positions[k]
        self._identify(*labels)
        if not self._uses(labels[1]):
            self.scalars.append(position.length)
        return True

    def _drop_lone(self, k: int) -> bool:
        """The sum over the positions of an axis is 1."""
        *sources, target = self.positions[k][1]
        if target in sources or self._uses(target) > 1:
            return False
        self._remove(k)
        return True

    def _turn(self, k: int) -> bool:
        """Replace a flip that embeds entries by one that selects them: it is its own inverse."""
        position, (*sources, target) = self.positions[k]
        if not position.is_flip or target not in self.output or sources[0] in self.output:
            return False
        self.positions[k] = (position, (target, sources[0]))
        return True

    def _remove(self, k: int) -> None:
        """Remove a selector that is 1 at every index; the length of an index that is only summed
        becomes a factor."""
        position, (*sources, _) = self.positions.pop(k)
        for label, count in zip(sources, position.counts, strict=True):
            if not self._uses(label):
                self.scalars.append(count)

    def _uses(self, label: Label) -> int:
        own = [labels for _, labels in (*self.positions, *self.others)]
        return sum([label in labels for labels in (*own, self.output)])

    def _identify(self, old: Label, new: Label) -> None:
        """Make two labels one."""

        def renamed(labels: Labels) -> tuple[Label, ...]:
            return tuple([new if label == old else label for label in labels])

        self.positions = [(position, renamed(labels)) for position, labels in self.positions]
        self.others = [(tensor, renamed(labels)) for tensor, labels in self.others]
        self.output = list(renamed(self.output))

    def _compose(self, j: int, k: int) -> bool:
        """The k-th picks from what the j-th picks: it picks from the axis behind that too."""
        (first, (*own, middle)), (second, (*sources, target)) = self.positions[j], self.positions[k]
        if middle not in sources or middle == target or middle in own or {*own} & {*sources}:
            return False
        place = sources.index(middle)
        step = second.steps[place]
        if sources.count(middle) > 1 or target in own:
            return False
        start = second.start + step * first.start
        steps = [*second.steps]
        counts = [*second.counts]
        steps[place : place + 1] = [step * inner for inner in first.steps]
        counts[place : place + 1] = first.counts
        sources[place : place + 1] = own
        composed = Positions._build((), (second.length, start, tuple(steps), tuple(counts)))
        self.positions[k] = (composed, (*sources, target))
        return True

    def _meet(self, j: int, k: int) -> bool:
        """Two that pick from one axis: where they meet, their indices depend on each other."""
        (first, own), (second, sources) = self.positions[j], self.positions[k]
        if own[-1] != sources[-1] or own[-1] in (*own[:-1], *sources[:-1]):
            return False
        if len(first.steps) > 1 or len(second.steps) > 1:
            return False
        if first is second:
            del self.positions[k]
            for a, b in zip(own, sources, strict=True):
                self._identify(a, b)
            return True
        if isinstance(first, Unit) and isinstance(second, Unit):
            self.scalars.append(KroneckerDelta(first.position, second.position))
            del self.positions[k]
            return True
        found = meeting(first, second)
        if found is None:
            return False
        if found.count is S.Zero:
            self.is_zero = True
            return True
        del self.positions[k]
        common = object()
        self.lengths[common] = found.count
        pairs = zip((first, second), (own, sources), found.starts, found.steps, strict=True)
        is_point = isinstance(first, Unit) or isinstance(second, Unit)
        for one, labels, start, step in pairs:
            if isinstance(one, Unit):
                continue
            if is_point:
                self.positions.append((Unit(one.counts[0], start), labels[:1]))
            else:
                chosen = Positions(one.counts[0], start, (step,), (found.count,))
                self.positions.append((chosen, (common, labels[0])))
        return True


def meeting(first: Operand, second: Operand) -> Meeting | None:
    """Return the common positions of two entries or slices of one axis; None if it isn't known what
    they are.

    >>> from sympy_einsum.expressions import Selection
    >>> meeting(Selection(9, 1, 2, 4), Selection(9, 3, 1, 5)).count
    3
    """
    (a,), (b,) = first.steps or (S.One,), second.steps or (S.One,)
    (m,), (n,) = first.counts or (S.One,), second.counts or (S.One,)
    shift = second.start - first.start
    if not (a.is_Integer and b.is_Integer):
        return None
    nothing = Meeting(S.Zero, (S.Zero, S.Zero), (S.One, S.One))
    common = gcd(int(a), int(b))
    if common > 1 and not shift.is_Integer:
        return None
    if shift.is_Integer and int(shift) % common:
        return nothing
    # a i - b k = shift: i = x t0 + (b / common) t, k = y t0 + (a / common) t.
    step_i, step_k = b / common, a / common
    x = pow(int(step_k), -1, abs(int(step_i)))
    i, k = x * shift / common, (x * step_k - 1) / step_i * shift / common
    if step_i.is_negative:
        step_i, step_k = -step_i, -step_k
    bounds = [own for own in (_bounds(i, step_i, m), _bounds(k, step_k, n)) if own is not None]
    if not bounds:
        return None
    lows, highs = zip(*bounds, strict=True)
    if any((high - low).is_negative for low in lows for high in highs):
        return nothing
    low, high = _extreme(lows, 1), _extreme(highs, -1)
    count = None if len(lows) < 2 or low is None or high is None else high - low + 1
    if count is None or not count.is_nonnegative:
        return None
    return Meeting(count, (i + step_i * low, k + step_k * low), (step_i, step_k))


def _bounds(start: Expr, step: Expr, count: Expr) -> tuple[Expr, Expr] | None:
    """Return the first and the last t with 0 ≤ start + step·t < count, if that is known."""
    last = count - 1 - start
    if step in (1, -1):
        return (-start, last) if step == 1 else (-last, start)
    if not (start.is_Integer and last.is_Integer):
        return None
    if step.is_positive:
        return -(start // step), last // step
    return -(last // -step), start // -step


def _extreme(values: Sequence[Expr], sign: int) -> Expr | None:
    """Return the largest of one or two for the sign 1, the smallest for -1, if that is known."""
    first, last = values[0], values[-1]
    difference = sign * (first - last)
    if difference.is_nonnegative:
        return first
    return last if difference.is_nonpositive else None


def are_apart(first: Operand, second: Operand) -> bool:
    """Tell whether two entries or slices of one axis are known to have no position in common."""
    if len(first.steps) > 1 or len(second.steps) > 1:
        return False
    found = meeting(first, second)
    return found is not None and found.count is S.Zero
