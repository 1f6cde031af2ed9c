"""Lowering of products with one-hot factors to gathers and scatters.

A one-hot factor G_ij = [p_i = j] is never written out. Where j is summed, whatever else has it is
taken at p: it has i in the place of j. Where j is an axis of the result, the product of what shares
a summed index with i is found first, and its entries are added to zeros at p. Several positions of
one array, as of X[p, q], are taken and added together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod
from typing import NamedTuple

from sympy import Eq, Expr, Mod, S

from ...contraction_order import Factor
from ...core import Indices
from ...expressions import Ones, as_number, slot
from .context import Lowering
from .multiplication import multiply_all


class OneHotFactor(NamedTuple):
    """A one-hot factor: the number of the value with the positions, the indices of its axes, and
    the index of the axis that the positions are on."""

    positions: int
    own: Indices
    axis: int


class _Group(NamedTuple):
    """A product that is scattered: its factors, the one-hot factors among these, and the one-hot
    factors with the positions that it is added at."""

    factors: list[Factor]
    inside: list[OneHotFactor]
    at: list[OneHotFactor]


class Gathers:
    """Products whose indices have some lengths, times a scalar that is used once."""

    def __init__(self, builder: Lowering, lengths: Mapping[int, Expr], scalar: int | None):
        self.builder = builder
        self.lengths = lengths
        self.scalar = scalar

    def product(self, factors: list[Factor], one_hots: list[OneHotFactor], output: Indices) -> int:
        """Return the number of the instruction that computes a product with one-hot factors, its
        axes in the order of the output."""
        if not one_hots:
            return self._multiplied(factors, output)
        # Positions on one of their own axes select the diagonal.
        diagonal = [one_hot for one_hot in one_hots if one_hot.axis in one_hot.own]
        if diagonal:
            rest = [one_hot for one_hot in one_hots if one_hot not in diagonal]
            return self.product([*factors, *map(self._written_out, diagonal)], rest, output)
        summed = [one_hot for one_hot in one_hots if one_hot.axis not in output]
        # Positions whose own axes others are positions on wait until these are taken.
        inner = [
            one_hot for one_hot in summed if not any(other.axis in one_hot.own for other in summed)
        ]
        chosen = next(iter([*inner, *summed]), None)
        if chosen is None:
            return self._scattered(factors, one_hots, output, one_hots[0])
        last = self._taken_last(factors, one_hots, output, summed)
        if last:
            return self._entries(factors, one_hots, output, last)
        apart = (h for h in summed if self._is_added_apart(factors, one_hots, output, h))
        first = next(apart, None)
        if first is not None or self._is_better_scattered(factors, one_hots, output, chosen):
            return self._scattered(factors, one_hots, output, first or chosen)
        return self._taken(factors, one_hots, output, chosen)

    def _multiplied(self, factors: list[Factor], output: Indices) -> int:
        """Return the product of factors alone; ones where none of them has an index."""
        scalar, self.scalar = self.scalar, None
        missing = [i for i in output if not any(i in f.labels for f in factors)]
        if scalar is not None and missing and not factors:
            first = self.builder.emit("full", scalar, params=((self.lengths[missing[0]],),))
            factors, missing, scalar = [Factor(first, missing[:1])], missing[1:], None
        ones = [Factor(self.builder.value(Ones(self.lengths[i])), (i,)) for i in missing]
        if not factors and not ones:
            return self.builder.value(S.One) if scalar is None else scalar
        return multiply_all(self.builder, [*factors, *ones], output, self.lengths, scalar)

    # --- taking

    def _taken(
        self,
        factors: list[Factor],
        one_hots: list[OneHotFactor],
        output: Indices,
        chosen: OneHotFactor,
    ) -> int:
        """Return the product, where the factors on the axis of a one-hot factor are gathered at its
        positions."""
        taken = [chosen, *self._taken_together(factors, one_hots, output, chosen)]
        new_factors = [self._at(factor, taken) for factor in factors]
        new_one_hots = []
        for one_hot in one_hots:
            if one_hot in taken:
                continue
            if one_hot.axis == chosen.axis:
                new_factors.append(self._equal(chosen, one_hot))
            else:
                found = self._at(Factor(one_hot.positions, one_hot.own), taken)
                new_one_hots.append(OneHotFactor(found.value, found.labels, one_hot.axis))
        # Axes of positions at which nothing was taken are still summed over.
        seen = _labels(new_factors, new_one_hots).union(output)
        for index in {i: None for one_hot in taken for i in one_hot.own if i not in seen}:
            new_factors.append(Factor(self.builder.value(Ones(self.lengths[index])), (index,)))
        return self.product(new_factors, new_one_hots, output)

    def _taken_together(
        self,
        factors: Sequence[Factor],
        one_hots: Sequence[OneHotFactor],
        output: Indices,
        chosen: OneHotFactor,
    ) -> list[OneHotFactor]:
        """Collect other positions on axes of the same arrays, as of X[p, q]."""
        axes = [one_hot.axis for one_hot in one_hots]
        busy = {*output, *[i for one_hot in one_hots for i in one_hot.own]}
        if axes.count(chosen.axis) > 1 or chosen.axis in busy:
            return []
        ready = [h for h in one_hots if h is not chosen and axes.count(h.axis) == 1]
        ready = [one_hot for one_hot in ready if one_hot.axis not in busy]
        return [h for h in ready if any({h.axis, chosen.axis} <= {*f.labels} for f in factors)]

    def _at(self, factor: Factor, one_hots: Sequence[OneHotFactor]) -> Factor:
        """Emit a factor whose axes with positions on them are replaced by the axes of the
        positions."""
        one_hots = [one_hot for one_hot in one_hots if one_hot.axis in factor.labels]
        if not one_hots:
            return factor
        value, labels = self._in_memory(factor)
        own = tuple(dict.fromkeys(i for one_hot in one_hots for i in one_hot.own))
        at = {one_hot.axis: self._aligned(one_hot, own) for one_hot in one_hots}
        # Along axes that both have it is the same position.
        at.update({i: self._range(i, own) for i in labels if i in own})
        places = [k for k, i in enumerate(labels) if i in at]
        first = places[0]
        if places != list(range(first, first + len(places))):
            first = 0
            sorted_labels = tuple(sorted(labels, key=lambda i: i not in at))
            value, labels = self.builder.arranged(value, labels, sorted_labels), sorted_labels
        last = first + len(places)
        positions = [at[i] for i in labels[first:last]]
        taken = self.builder.emit("take", value, *positions, params=(first,))
        return Factor(taken, (*labels[:first], *own, *labels[last:]))

    def _in_memory(self, factor: Factor) -> tuple[int, Indices]:
        """Return the value of a factor and its indices, each once, as the axes lie in memory."""
        value, labels = factor.value, tuple(dict.fromkeys(factor.labels))
        if factor.solves is not None:
            value = self.builder.inverse(factor)
        value = self.builder.arranged(value, factor.labels, labels)
        base, axes = self.builder.untransposed(value)
        if axes is None:
            return value, labels
        return base, tuple([labels[axes.index(k)] for k in range(len(axes))])

    def _aligned(self, one_hot: OneHotFactor, own: Indices) -> int:
        """Emit positions with their axes among others."""
        return self.builder.lowest(self.builder.arranged(one_hot.positions, one_hot.own, own))

    def _range(self, index: int, own: Indices) -> int:
        """Emit all positions on an axis, along itself."""
        value = self.builder.emit("range", params=(self.lengths[index],))
        return self.builder.lowest(self.builder.arranged(value, (index,), own))

    def _equal(self, one: OneHotFactor, other: OneHotFactor) -> Factor:
        """Emit where positions on one axis are the same, counted from its beginning or its end."""
        own = tuple(dict.fromkeys((*one.own, *other.own)))
        left, right = self._aligned(one, own), self._aligned(other, own)
        length = self.builder.value(self.lengths[one.axis])
        same = as_number(Eq(Mod(slot(0) - slot(1), slot(2)), 0))
        return Factor(self.builder.emit("elementwise", left, right, length, params=(same,)), own)

    def _written_out(self, one_hot: OneHotFactor) -> Factor:
        value = self.builder.emit(
            "one_hot", one_hot.positions, params=(self.lengths[one_hot.axis],)
        )
        return Factor(value, (*one_hot.own, one_hot.axis))

    # --- several positions on one axis

    def _taken_last(
        self,
        factors: Sequence[Factor],
        one_hots: Sequence[OneHotFactor],
        output: Indices,
        summed: Sequence[OneHotFactor],
    ) -> list[OneHotFactor]:
        """Collect positions of the result on axes that others add to, as of rows and columns of a
        matrix that is assembled from its elements: they are taken when that has been added up."""
        found: dict[int, OneHotFactor] = {}
        for one_hot in summed:
            others = [h for h in one_hots if h is not one_hot]
            elsewhere = _labels(factors, others)
            adding = [h for h in others if h.axis == one_hot.axis and not {*h.own} <= {*output}]
            is_last = {*one_hot.own} <= {*output} and elsewhere.isdisjoint(one_hot.own)
            if is_last and any(self._is_larger(one_hot, other) for other in adding):
                found.setdefault(one_hot.axis, one_hot)
        return [*found.values()]

    def _entries(
        self,
        factors: list[Factor],
        one_hots: list[OneHotFactor],
        output: Indices,
        last: list[OneHotFactor],
    ) -> int:
        """Return the product of all but some one-hot factors, taken at the positions of these."""
        own = {i for one_hot in last for i in one_hot.own}
        labels = (*[i for i in output if i not in own], *[one_hot.axis for one_hot in last])
        rest = [one_hot for one_hot in one_hots if one_hot not in last]
        taken = self._at(Factor(self.product(factors, rest, labels), labels), last)
        return self.builder.arranged(taken.value, taken.labels, output)

    def _is_added_apart(
        self,
        factors: Sequence[Factor],
        one_hots: Sequence[OneHotFactor],
        output: Indices,
        one_hot: OneHotFactor,
    ) -> bool:
        """Tell whether what is added at positions has nothing else to do with other positions on
        their axis, and fewer entries than a comparison of both."""
        others = [h for h in one_hots if h is not one_hot]
        same = [h for h in others if h.axis == one_hot.axis]
        busy = {*output, *[i for h in others for i in h.own]}
        if not busy.isdisjoint(one_hot.own) or not any(self._is_larger(h, one_hot) for h in same):
            return False
        group = self._group(factors, one_hots, output, one_hot)
        is_apart = not group.inside and len(group.at) == 1
        return is_apart and not any(one_hot.axis in factor.labels for factor in group.factors)

    def _is_larger(self, one: OneHotFactor, other: OneHotFactor) -> bool:
        """Tell whether the comparison of positions with others on one axis has more entries than
        the axis and the others."""
        own = self._size({*other.own})
        return self._size({*one.own}) * own > own + self._size({one.axis})

    # --- adding at positions

    def _scattered(
        self,
        factors: list[Factor],
        one_hots: list[OneHotFactor],
        output: Indices,
        first: OneHotFactor,
    ) -> int:
        """Return the product, where the factors that share a summed index with a one-hot factor are
        multiplied and scattered to its positions."""
        group = self._group(factors, one_hots, output, first)
        left = [factor for factor in factors if factor not in group.factors]
        outside = [
            one_hot
            for one_hot in one_hots
            if one_hot not in group.inside and one_hot not in group.at
        ]
        used = _labels(left, outside).union(output)
        is_alone = not group.factors and not group.inside and len(group.at) == 1
        if is_alone and used.issuperset(first.own):
            return self.product([*left, self._written_out(first)], outside, output)
        axes: dict[int, OneHotFactor] = {}
        equal = [
            self._equal(axes[one_hot.axis], one_hot)
            for one_hot in group.at
            if axes.setdefault(one_hot.axis, one_hot) is not one_hot
        ]
        inner = [*[self._at(factor, [*axes.values()]) for factor in group.factors], *equal]
        own = tuple(dict.fromkeys(i for one_hot in axes.values() for i in one_hot.own))
        present = _labels(inner, group.inside)
        rest = tuple(
            i for i in dict.fromkeys((*output, *sorted(used))) if i in present & used - {*own}
        )
        value = self.product(inner, group.inside, (*own, *rest))
        # Along axes of the positions that the result has it is the same position.
        kept = tuple(i for i in own if i in used)
        at = [self._range(i, own) for i in kept]
        at += [self._aligned(one_hot, own) for one_hot in axes.values()]
        new = (*kept, *axes)
        lengths = tuple([self.lengths[i] for i in new])
        once = self._is_once(group.at, kept)
        total = self.builder.emit("scatter", value, *at, params=(lengths, once))
        return self.product([*left, Factor(total, (*new, *rest))], outside, output)

    def _is_once(self, one_hots: Sequence[OneHotFactor], kept: Indices) -> bool:
        """Tell whether no entry is known to be added to twice: one array's positions are added
        there, which sort it along an axis, and all its other axes are kept."""
        op, _, params, _ = self.builder.instructions[one_hots[0].positions]
        if len(one_hots) > 1 or op != "positions" or params[0] != "argsort":
            return False
        axis, own = params[1], one_hots[0].own
        return {*own[:axis], *own[axis + 1 :]} <= {*kept}

    def _group(
        self,
        factors: Sequence[Factor],
        one_hots: Sequence[OneHotFactor],
        output: Indices,
        first: OneHotFactor,
    ) -> _Group:
        """Collect the factors that summed indices connect with the own axes of a one-hot factor."""
        group = _Group([], [], [first])
        reached = {*first.own} - {*output}
        pending: list[Factor | OneHotFactor] = [
            *factors,
            *[one_hot for one_hot in one_hots if one_hot is not first],
        ]
        while found := [part for part in pending if reached & _labels_of(part)]:
            for part in found:
                pending.remove(part)
                labels = _labels_of(part)
                if isinstance(part, Factor):
                    group.factors.append(part)
                elif part.axis in output:
                    group.at.append(part)
                    labels = {*part.own}
                else:
                    group.inside.append(part)
                reached |= labels - {*output, first.axis}
        # Factors with an entry for each position are smaller before the scatter.
        own = {i for one_hot in group.at for i in one_hot.own}
        group.factors.extend(p for p in pending if isinstance(p, Factor) and {*p.labels} <= own)
        return group

    def _is_better_scattered(
        self,
        factors: Sequence[Factor],
        one_hots: Sequence[OneHotFactor],
        output: Indices,
        chosen: OneHotFactor,
    ) -> bool:
        """Tell whether less is added at positions than would be taken there: Σ_i u_i X[p_i] is a
        product of X with what u adds up to at each position."""
        holders = [factor for factor in factors if chosen.axis in factor.labels]
        others = [one_hot for one_hot in one_hots if one_hot is not chosen]
        busy = {*output, *[i for one_hot in others for i in (*one_hot.own, one_hot.axis)]}
        if not holders or not chosen.own or busy & {chosen.axis, *chosen.own}:
            return False
        group = self._group(factors, one_hots, output, chosen)
        if any(factor in group.factors for factor in holders) or group.inside or len(group.at) > 1:
            return False
        left = [factor for factor in factors if factor not in group.factors]
        present, used = _labels(group.factors, ()), _labels(left, others).union(output)
        added = self._size((present & used) - {*chosen.own})
        taken = sum(self._size({*factor.labels} - {chosen.axis}) for factor in holders)
        own, all_of_axis = self._size({*chosen.own}), self._size({chosen.axis})
        return (own + all_of_axis) * added < own * taken

    def _size(self, labels: Collection[int]) -> int:
        return prod(self.builder.size(self.lengths[i]) for i in labels)


def _labels_of(part: Factor | OneHotFactor) -> set[int]:
    return {*part.labels} if isinstance(part, Factor) else {*part.own, part.axis}


def _labels(factors: Sequence[Factor], one_hots: Sequence[OneHotFactor]) -> set[int]:
    """Return the indices that some factors have."""
    parts: list[Factor | OneHotFactor] = [*factors, *one_hots]
    return {i for part in parts for i in _labels_of(part)}
