"""Composition of affine selectors: a slice of a slice is a slice, a slice of the padding is 0.

With P[i, j] = [start + step·i = j], these identities hold for any other factors:

* composition: P[i, j] Q[j, k] = P[i, j] R[i, k], with the affine maps one after the other;
* intersection: P[i, j] Q[k, j] = P[i, j] U[p, i] V[p, k] summed over p, where the p-th common
  position is the U-th of P and the V-th of Q: an integer equation
  start + step·i = start' + step'·k;
* a position index of no other factor: the sum of P[i, j] over j is 1;
* a slice of length 1 that is summed over is an entry;
* a unit vector selects entries of the other factors: e[i] x[i] = e[i] (x @ e);
* P[i, j] with i = j everywhere is a delta.

Where the sign of a difference of lengths can't be decided, the factors are left unchanged.
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
    """The merged factors of a product: tensors, their labels, the labels of the result, the lengths
    of new labels, and scalar factors."""

    tensors: list[TensorExpr]
    subs: list[Labels]
    output: Labels
    lengths: dict[Label, Expr]
    scalars: list[Operand]


class Intersection(NamedTuple):
    """The common positions of two arithmetic sequences: their number, and first index and step in
    each."""

    count: Expr
    starts: tuple[Expr, Expr]
    steps: tuple[Expr, Expr]


def compose_selectors(
    tensors: list[TensorExpr], subs: list[Labels], output: Labels
) -> MergedProduct | None:
    """Compose the affine selectors among the factors; None if the product is 0."""
    composer = _SelectorComposer(tensors, subs, output)
    while not composer.is_zero and composer.step():
        pass
    return None if composer.is_zero else composer.result()


def merge_one_hots(
    tensors: list[TensorExpr], subs: list[Labels], output: Labels
) -> tuple[list[TensorExpr], list[Labels], Labels, set[Label]]:
    """Merge one-hot factors of the same positions, [p_i = j] [p_i = k] = δ_jk [p_i = j], and drop
    those summed over an axis of no other factor; return the factors, the labels of the result, and
    those of axes that are gone."""
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
        subs = [[new if i == old else i for i in term] for term in (*subs[:k], *subs[k + 1 :])]
        output = [new if i == old else i for i in output]
    return tensors, subs, output, gone - {label for labels in (*subs, output) for label in labels}


class _SelectorComposer:
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
        """Apply the first identity that applies; tell whether there is one."""
        self.selectors = list(dict.fromkeys(self.selectors))
        for k in range(len(self.selectors)):
            if self._drop_delta(k) or self._drop_unused(k) or self._transpose_flip(k):
                return True
            if self._fix_position(k) or self._split_unit(k):
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
        """Drop a selector whose position index no other factor has: its sum over it is 1."""
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

    def _fix_position(self, k: int) -> bool:
        """Replace a slice of one entry by the entry, where no tensor has its axis."""
        selector, (*sources, target) = self.selectors[k]
        if not sources or any(count is not S.One for count in selector.counts):
            return False
        kept = {target, *self.output, *[label for _, labels in self.others for label in labels]}
        if not kept.isdisjoint(sources):
            return False
        self.selectors[k] = (Unit(selector.length, selector.start), (target,))
        return True

    def _split_unit(self, k: int) -> bool:
        """Take an entry of the other factors along an axis of the result that a unit vector has."""
        selector, labels = self.selectors[k]
        axis = labels[-1]
        if len(labels) > 1 or axis not in self.output:
            return False
        if not any(axis in own for _, own in self.others):
            return False
        entry = object()
        self.lengths[entry] = selector.length
        self.others = [
            (tensor, tuple([entry if label == axis else label for label in own]))
            for tensor, own in self.others
        ]
        self.selectors.append((selector, (entry,)))
        return True

    def _remove_ones(self, k: int) -> None:
        """Remove a selector that sums to 1; the length of an index of no other factor becomes a
        scalar factor."""
        selector, (*sources, _) = self.selectors.pop(k)
        for label, count in zip(sources, selector.counts, strict=True):
            if not self._uses(label):
                self.scalars.append(count)

    def _uses(self, label: Label) -> int:
        terms = [labels for _, labels in (*self.selectors, *self.others)]
        return sum([label in labels for labels in (*terms, self.output)])

    def _identify(self, old: Label, new: Label) -> None:
        """Replace a label by another."""

        def renamed(labels: Labels) -> tuple[Label, ...]:
            return tuple([new if label == old else label for label in labels])

        self.selectors = [(selector, renamed(labels)) for selector, labels in self.selectors]
        self.others = [(tensor, renamed(labels)) for tensor, labels in self.others]
        self.output = list(renamed(self.output))

    def _compose(self, j: int, k: int) -> bool:
        """Compose two selectors, the second of which indexes the first."""
        first, (*indices, middle) = self.selectors[j]
        second, (*sources, target) = self.selectors[k]
        if middle not in sources or middle in (*indices, target) or {*indices} & {*sources}:
            return False
        axis = sources.index(middle)
        step = second.steps[axis]
        if sources.count(middle) > 1 or target in indices:
            return False
        start = second.start + step * first.start
        steps = [*second.steps]
        counts = [*second.counts]
        steps[axis : axis + 1] = [step * inner for inner in first.steps]
        counts[axis : axis + 1] = first.counts
        sources[axis : axis + 1] = indices
        composed = Positions._build((), (second.length, start, tuple(steps), tuple(counts)))
        self.selectors[k] = (composed, (*sources, target))
        return True

    def _intersect(self, j: int, k: int) -> bool:
        """Intersect two selectors of one axis: at common positions their indices are affine
        functions of one index."""
        (first, indices), (second, sources) = self.selectors[j], self.selectors[k]
        if indices[-1] != sources[-1] or indices[-1] in (*indices[:-1], *sources[:-1]):
            return False
        if len(first.steps) > 1 or len(second.steps) > 1:
            return False
        if first is second:
            del self.selectors[k]
            for a, b in zip(indices, sources, strict=True):
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
        pairs = zip((first, second), (indices, sources), found.starts, found.steps, strict=True)
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


def intersect_selectors(first: Operand, second: Operand) -> Intersection | None:
    """Return the common positions of two entries or slices of one axis; None if they can't be
    decided.

    >>> from sympy_einsum.expressions import Selection
    >>> intersect_selectors(Selection(9, 1, 2, 4), Selection(9, 3, 1, 5)).count
    3
    """
    (a,), (b,) = first.steps or (S.One,), second.steps or (S.One,)
    (m,), (n,) = first.counts or (S.One,), second.counts or (S.One,)
    shift = second.start - first.start
    if not (a.is_Integer and b.is_Integer):
        return None
    empty = Intersection(S.Zero, (S.Zero, S.Zero), (S.One, S.One))
    common = gcd(int(a), int(b))
    if common > 1 and not shift.is_Integer:
        return None
    if shift.is_Integer and int(shift) % common:
        return empty
    # a i - b k = shift: i = x t0 + (b / common) t, k = y t0 + (a / common) t.
    step_i, step_k = b / common, a / common
    x = pow(int(step_k), -1, abs(int(step_i)))
    i, k = x * shift / common, (x * step_k - 1) / step_i * shift / common
    if step_i.is_negative:
        step_i, step_k = -step_i, -step_k
    bounds = [pair for pair in (_bounds(i, step_i, m), _bounds(k, step_k, n)) if pair is not None]
    if not bounds:
        return None
    lows, highs = zip(*bounds, strict=True)
    if any((high - low).is_negative for low in lows for high in highs):
        return empty
    low, high = _extreme(lows, 1), _extreme(highs, -1)
    count = None if len(lows) < 2 or low is None or high is None else high - low + 1
    if count is None or not count.is_nonnegative:
        return None
    return Intersection(count, (i + step_i * low, k + step_k * low), (step_i, step_k))


def _bounds(start: Expr, step: Expr, count: Expr) -> tuple[Expr, Expr] | None:
    """Return the first and the last t with 0 ≤ start + step·t < count; None if they can't be
    decided."""
    last = count - 1 - start
    if step in (1, -1):
        return (-start, last) if step == 1 else (-last, start)
    if not (start.is_Integer and last.is_Integer):
        return None
    if step.is_positive:
        return -(start // step), last // step
    return -(last // -step), start // -step


def _extreme(values: Sequence[Expr], sign: int) -> Expr | None:
    """Return the largest (sign 1) or the smallest (sign -1) of one or two values; None if it can't
    be decided."""
    first, last = values[0], values[-1]
    difference = sign * (first - last)
    if difference.is_nonnegative:
        return first
    return last if difference.is_nonpositive else None


def are_disjoint(first: Operand, second: Operand) -> bool:
    """Tell whether two entries or slices of one axis provably have no common position."""
    if len(first.steps) > 1 or len(second.steps) > 1:
        return False
    found = intersect_selectors(first, second)
    return found is not None and found.count is S.Zero
