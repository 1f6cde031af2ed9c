"""Composition of affine selectors: a slice of a slice is a slice, a slice beside a zero-padded part
is 0.

With P[i, j] = [start + step·i = j], each fact is one of indices, whatever else has them:

* composition: P[i, j] Q[j, k] = P[i, j] R[i, k], with the affine maps one after the other;
* intersection: P[i, j] Q[k, j] = P[i, j] U[p, i] V[p, k] summed over p, where the p-th common
  position is the U-th of P and the V-th of Q: an integer equation
  start + step·i = start' + step'·k;
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
from .affine_selectors import Positions, Unit
from .base import Operand, TensorExpr


class MergedProduct(NamedTuple):
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


def compose_selectors(
    tensors: list[TensorExpr], subs: list[Labels], output: Labels
) -> MergedProduct | None:
    """Compose the affine selectors among the factors; None if the product is 0."""
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
    while one_hots := [k for k, tensor in enumerate(tensors) if tensor.is_one_hot]:
        first: dict[tuple[TensorExpr, Labels], int] = {}
        equal = {k: first.setdefault((tensors[k], tuple(subs[k][:-1])), k) for k in one_hots}
        count = Counter(label for labels in (*subs, output) for label in labels)
        k = next((k for k in one_hots if equal[k] != k or count[subs[k][-1]] == 1), None)
        if k is None:
            break
        old, new = subs[k][-1], subs[equal[k]][-1]
        gone.add(old)
        tensors = [*tensors[:k], *tensors[k + 1 :]]
        subs = [[new if i == old else i for i in own] for own in (*subs[:k], *subs[k + 1 :])]
        output = [new if i == old else i for i in output]
    return tensors, subs, output, gone - {label for labels in (*subs, output) for label in labels}


class _Merger:
    def __init__(self, tensors: list[TensorExpr], subs: list[Labels], output: Labels):
        self.selectors: list[tuple[Operand, tuple[Label, ...]]] = [
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

    def result(self) -> MergedProduct:
        """Return the merged factors."""
        tensors = [tensor for tensor, _ in (*self.others, *self.selectors)]
        subs = [labels for _, labels in (*self.others, *self.selectors)]
        return MergedProduct(tensors, subs, self.output, self.lengths, self.scalars)

    def step(self) -> bool:
        """Apply the first simplification that fits; tell whether one did."""
        self.selectors = list(dict.fromkeys(self.selectors))
        for k in range(len(self.selectors)):
            if self._drop_delta(k) or self._drop_unused(k) or self._transpose_flip(k):
                return True
        return any(
            self._compose(j, k) or self._intersect(j, k)
            for j, k in permutations(range(len(self.selectors)), 2)
        )

    def _drop_delta(self, k: int) -> bool:
        selector, labels = self.selectors[k]
        if not selector.is_delta:
            return False
        del self.selectors[k]
        self._identify(*labels)
        if not self._uses(labels[1]):
            self.scalars.append(selector.length)
        return True

    def _drop_unused(self, k: int) -> bool:
        """Drop a selector whose target axis nothing else uses: its sum over that axis is 1."""
        *sources, target = self.selectors[k][1]
        if target in sources or self._uses(target) > 1:
            return False
        self._remove_ones(k)
        return True

    def _transpose_flip(self, k: int) -> bool:
        """Replace a flip that embeds entries by one that selects them: it is its own inverse."""
        selector, (*sources, target) = self.selectors[k]
        if not selector.is_flip or target not in self.output or sources[0] in self.output:
            return False
        self.selectors[k] = (selector, (target, sources[0]))
        return True

    def _remove_ones(self, k: int) -> None:
        """Remove a selector that is 1 at every index; the length of an index that is only summed
        becomes a factor."""
        selector, (*sources, _) = self.selectors.pop(k)
        for label, count in zip(sources, selector.counts, strict=True):
            if not self._uses(label):
                self.scalars.append(count)

    def _uses(self, label: Label) -> int:
        own = [labels for _, labels in (*self.selectors, *self.others)]
        return sum([label in labels for labels in (*own, self.output)])

    def _identify(self, old: Label, new: Label) -> None:
        """Make two labels one."""

        def renamed(labels: Labels) -> tuple[Label, ...]:
            return tuple([new if label == old else label for label in labels])

        self.selectors = [(selector, renamed(labels)) for selector, labels in self.selectors]
        self.others = [(tensor, renamed(labels)) for tensor, labels in self.others]
        self.output = list(renamed(self.output))

    def _compose(self, j: int, k: int) -> bool:
        """Compose two selectors, one of which indexes the other's result."""
        (first, (*own, middle)), (second, (*sources, target)) = self.selectors[j], self.selectors[k]
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
        self.selectors[k] = (composed, (*sources, target))
        return True

    def _intersect(self, j: int, k: int) -> bool:
        """Intersect two selectors of one axis: at common positions their indices are related."""
        (first, own), (second, sources) = self.selectors[j], self.selectors[k]
        if own[-1] != sources[-1] or own[-1] in (*own[:-1], *sources[:-1]):
            return False
        if len(first.steps) > 1 or len(second.steps) > 1:
            return False
        if first is second:
            del self.selectors[k]
            for a, b in zip(own, sources, strict=True):
                self._identify(a, b)
            return True
        if isinstance(first, Unit) and isinstance(second, Unit):
            self.scalars.append(KroneckerDelta(first.position, second.position))
            del self.selectors[k]
            return True
        found = intersect_selectors(first, second)
        if found is None:
            return False
        if found.count is S.Zero:
            self.is_zero = True
            return True
        del self.selectors[k]
        common = object()
        self.lengths[common] = found.count
        pairs = zip((first, second), (own, sources), found.starts, found.steps, strict=True)
        is_point = isinstance(first, Unit) or isinstance(second, Unit)
        for one, labels, start, step in pairs:
            if isinstance(one, Unit):
                continue
            if is_point:
                self.selectors.append((Unit(one.counts[0], start), labels[:1]))
            else:
                chosen = Positions(one.counts[0], start, (step,), (found.count,))
                self.selectors.append((chosen, (common, labels[0])))
        return True


def intersect_selectors(first: Operand, second: Operand) -> Meeting | None:
    """Return the positions that two entries or slices of one axis have in common; None if they
    aren't known.

    >>> from sympy_einsum.expressions import Selection
    >>> intersect_selectors(Selection(9, 1, 2, 4), Selection(9, 3, 1, 5)).count
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


def are_disjoint(first: Operand, second: Operand) -> bool:
    """Tell whether two entries or slices of one axis are known to have no position in common."""
    if len(first.steps) > 1 or len(second.steps) > 1:
        return False
    found = intersect_selectors(first, second)
    return found is not None and found.count is S.Zero
