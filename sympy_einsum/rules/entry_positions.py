"""The positions of the structural nonzeros of a product."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import TypeAlias

from sympy import Expr, Integer, S

from ..core import Shape, tuning
from ..expressions import OneHot, Operand, Positions, Selection, TensorExpr, Triangle, contract_part
from .labelled_terms import Labelled, Labels, Merged, split_factor


@dataclass(frozen=True)
class AffinePlace:
    """The positions (start + Σ step·i) // divisor % modulus; a modulus of 0 means none."""

    start: Expr
    steps: tuple[tuple[Expr, Place], ...]
    divisor: Expr = S.One
    modulus: Expr = S.Zero


@dataclass(frozen=True)
class GatheredPlace:
    """The positions that an array holds, on an axis of some length."""

    indices: Operand
    at: tuple[Place, ...]
    length: Expr


# The positions of entries along an axis: the number of an axis of these, or what is computed.
Place: TypeAlias = "int | AffinePlace | GatheredPlace"


@dataclass(frozen=True)
class InverseSlice:
    """The inverse of a contiguous slice: the index in the slice of a position that lies in it."""

    slice: Selection

    @property
    def start(self) -> Expr:
        """The index at the position 0."""
        return -self.slice.step * self.slice.start

    @property
    def steps(self) -> Shape:
        """The step from a position to the next."""
        return (self.slice.step,)

    def above(self, position: Place) -> list[tuple[Place, Expr, Place]]:
        """Return the conditions that a position lies in the slice; none for a reversal, which has
        all positions."""
        start, end = self.slice.start, self.slice.start + self.slice.step * (self.slice.count - 1)
        low, high = (start, end) if self.slice.step is S.One else (end, start)
        if self.slice.is_flip:
            return []
        ends = AffinePlace(low, ()), AffinePlace(high, ())
        return [(ends[0], S.Zero, position), (position, S.Zero, ends[1])]


# A selector and the labels of its axes, of which it determines the last.
Selector: TypeAlias = "tuple[TensorExpr | InverseSlice, Labels]"
# What determines the position that a label stands for: a selector with its labels, or the axes from
# which a reshape made it.
Source: TypeAlias = "Selector | Merged"


def _labels_of(source: Source) -> Sequence[int]:
    return source.labels if isinstance(source, Merged) else source[1][:-1]


class EntryPositions:
    """The labels of a term that become axes of its entries, and where the others come from.

    Attributes
    ==========

    sources : what determines the positions of labels
    kept : the labels that are axes of entries
    is_sparse : whether some entries of the tensor are 0 by its structure
    """

    def __init__(self, term: Labelled):
        self.term = term
        self.sources: dict[int, Source] = dict(term.merged)
        self.factors = [split_factor(own, term) for own in term.factors]
        self.selectors: list[Selector] = [
            (tensor, labels)
            for tensor, labels in self.factors
            if isinstance(tensor, (Positions, OneHot)) and labels[-1] not in labels[:-1]
        ]
        # Slices last: their indices may be determined by a position that others determine.
        self.selectors.sort(key=lambda own: isinstance(own[0], Selection))
        self.sliced = {labels[-1] for own, labels in self.selectors if isinstance(own, Selection)}
        self.selectors += [
            (InverseSlice(tensor), labels[::-1])
            for tensor, labels in self.selectors
            if isinstance(tensor, Selection) and tensor.step in (S.One, S.NegativeOne)
        ]
        self.is_sparse = False
        axes = self._choose()
        if axes is None or self._needs_merged():
            return
        self.triangles = [
            (tensor, labels)
            for tensor, labels in self.rest
            if isinstance(tensor, Triangle) and self._is_known(labels)
        ]
        is_repeated = len(self.kept) < len(axes)
        self.is_sparse = is_repeated or bool(self.triangles) or self._selects(term.output)

    def _axes(self, labels: Sequence[int], above: tuple[int, ...] = ()) -> list[int] | None:
        """Return the axes of entries on which the positions of labels depend, as often as they do;
        None where a position depends on itself."""
        found: list[int] = []
        for label in labels:
            source = self.sources.get(label)
            if label in above:
                return None
            own = [label] if source is None else self._axes(_labels_of(source), (*above, label))
            if own is None:
                return None
            found += own
        return found

    def _selects(self, labels: Sequence[int]) -> bool:
        """Tell whether a selector determines the position of a label."""
        sources = [self.sources[label] for label in labels if label in self.sources]
        return any(
            not isinstance(source, Merged) or self._selects(source.labels) for source in sources
        )

    def _is_known(self, labels: Sequence[int]) -> bool:
        """Tell whether the positions of labels depend on axes of entries only."""
        axes = self._axes(labels)
        return axes is not None and {*axes} <= {*self.kept}

    def _choose(self) -> list[int] | None:
        """Choose selectors that determine positions; return the axes of entries on which the
        positions along the axes of the output depend."""
        while True:
            axes = self._axes(self.term.output)
            if axes is None:
                return None
            self.kept = tuple(dict.fromkeys(axes))
            chosen = self._next_selectors()
            if not chosen:
                return axes
            self.sources.update({selector[1][-1]: selector for selector in chosen})

    def _next_selectors(self) -> list[Selector]:
        """Return selectors that determine labels without new axes of entries, or else some that
        determine more entries than these bring in."""
        groups: dict[frozenset[int], dict[int, Selector]] = {}
        free: list[Selector] = []
        for selector in self.selectors:
            tensor, (*others, label) = selector
            needed = self._axes(others)
            if label in self.sources or needed is None or label in needed:
                continue
            new = frozenset(needed).difference(self.kept)
            is_slice = isinstance(tensor, Positions) and len(others) == 1
            if isinstance(tensor, InverseSlice) and others[0] not in self.sources:
                continue
            is_gather_of_slice = isinstance(tensor, OneHot) and label in self.sliced
            if not new or (label not in self.kept and (is_slice or is_gather_of_slice)):
                free.append(selector)
            elif label in self.kept:
                groups.setdefault(new, {}).setdefault(label, selector)
        if free:
            return [min(free, key=self._rank)]
        for new in [*groups, *[a | b for a, b in combinations(groups, 2)]]:
            group: dict[int, Selector] = {}
            for own, selectors in groups.items():
                group |= selectors if own <= new else {}
            if self._pays(new, group):
                return [*group.values()]
        return []

    def _rank(self, selector: Selector) -> int:
        """Order selectors: those that determine an axis of entries, then those that leave the axes
        of entries to be determined by others."""
        *others, label = selector[1]
        return 0 if label in self.kept else 1 + (not self.sources.keys() >= {*others})

    def _pays(self, new: Collection[int], group: Mapping[int, Selector]) -> bool:
        """Tell whether new labels are better axes of entries than those of a group that they
        determine: if they are fewer, or fewer of those of unknown length, or have half of the
        entries; not more entries suffice for slices, and where a selector also depends on an axis
        that is kept."""
        if len(new) < len(group) or self._long(new) < self._long(group):
            return True
        before, after = [
            prod([self._nominal(label) for label in labels]) for labels in (group, new)
        ]
        is_short = any(
            len(labels) == 2 and isinstance(tensor, Positions) for tensor, labels in group.values()
        )
        reaches = any(len(labels) - 1 > len(new) for _, labels in group.values())
        return after <= before if is_short or reaches else 2 * after <= before

    def _long(self, labels: Collection[int]) -> int:
        return sum(self.term.lengths[i].is_Symbol and not self._is_inner(i) for i in labels)

    def _is_inner(self, label: int) -> bool:
        """Tell whether a label is an inner axis of a selector, along windows or neighbours."""
        return any(label in labels[1:-1] for _, labels in self.selectors)

    def _nominal(self, label: int) -> Expr:
        """Return the number that the length of a label counts as; inner axes count as short."""
        symbolic = tuning.NOMINAL_WINDOW if self._is_inner(label) else tuning.NOMINAL_LENGTH
        length = self.term.lengths[label]
        return length.xreplace(dict.fromkeys(length.free_symbols, Integer(symbolic)))

    def _needs_merged(self) -> bool:
        """Drop the selectors that positions replace; return whether another factor has an axis that
        a reshape made."""
        self.rest = list(self.factors)
        placed = [source for source in self.sources.values() if not isinstance(source, Merged)]
        is_changed = True
        while is_changed:
            is_changed = False
            for tensor, own in placed:
                known = [labels for _, labels in self.rest if own[-1] in labels]
                if len(known) == 1 and known[0] in (own, own[::-1]):
                    factor = tensor.slice if isinstance(tensor, InverseSlice) else tensor
                    self.rest.remove((factor, known[0]))
                    is_changed = True
        return any(not self.term.merged.keys().isdisjoint(labels) for _, labels in self.rest)

    def _place(self, label: int) -> Place:
        source = self.sources.get(label)
        if source is None:
            return self.kept.index(label)
        places = [self._place(own) for own in _labels_of(source)]
        if isinstance(source, Merged):
            steps = [step for step, _ in source.steps]
            pairs = tuple(zip(steps, places, strict=True))
            return AffinePlace(S.Zero, pairs, source.divisor, source.modulus)
        tensor = source[0]
        if isinstance(tensor, OneHot):
            return GatheredPlace(tensor.indices, tuple(places), tensor.length)
        assert isinstance(tensor, (Positions, InverseSlice))
        if tensor.start is S.Zero and tensor.steps == (S.One,):
            return places[0]
        return AffinePlace(tensor.start, tuple(zip(tensor.steps, places, strict=True)))

    def places(self) -> tuple[Place, ...]:
        """Return the positions of the entries on each axis of the tensor."""
        return tuple(map(self._place, self.term.output))

    def above(self) -> tuple[tuple[Place, Expr, Place], ...]:
        """Return the conditions of triangles and inverse slices on the positions."""
        found = [
            (self._place(i), tensor.offset, self._place(j))
            for tensor, (i, j) in self.triangles
            if isinstance(tensor, Triangle)
        ]
        for source in self.sources.values():
            if not isinstance(source, Merged) and isinstance(source[0], InverseSlice):
                found += source[0].above(self._place(source[1][0]))
        return tuple(found)

    def lengths(self) -> Shape:
        """Return the lengths of the axes of entries."""
        return tuple([self.term.lengths[i] for i in self.kept])

    def entries(self) -> Operand:
        """Return the entries."""
        factors = [own for own in self.rest if own not in self.triangles]
        known = {*self.kept, *self.sources, *[i for _, labels in factors for i in labels]}
        # Sums over labels that no factor has.
        repeated = [n for i, n in self.term.lengths.items() if i not in known]
        operands = [*repeated, *[tensor for tensor, _ in factors]]
        subscripts = [*[()] * len(repeated), *[labels for _, labels in factors]]
        return contract_part(operands, subscripts, self.kept, self.term.lengths)
