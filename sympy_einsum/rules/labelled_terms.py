"""Products of tensors with labels for their axes, some of which reshapes made of others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, TypeAlias

from sympy import Expr, S

from ..analysis import components
from ..expressions import (
    OneHot,
    Operand,
    Positions,
    Selection,
    Triangle,
    are_disjoint,
    contract_part,
    representative,
    reshape_node,
    total_of,
    unite,
)

# Selectors and masks: factors that determine which entries are 0.
PATTERNS = (Positions, OneHot, Triangle)
# Labels of axes.
Labels: TypeAlias = tuple[int, ...]
# A factor of a product.
Factor: TypeAlias = tuple[Operand, Labels]


@dataclass(frozen=True)
class Merged:
    """An axis that a reshape made, with the position Σ step·i // divisor % modulus by the positions
    of other labels; a modulus of 0 means none."""

    steps: tuple[tuple[Expr, int], ...]
    divisor: Expr
    modulus: Expr

    @property
    def labels(self) -> list[int]:
        """The labels that the position depends on."""
        return [label for _, label in self.steps]

    @property
    def is_whole(self) -> bool:
        """Whether it is all of the axes that it was merged from, without another split."""
        return self.divisor is S.One and self.modulus is S.Zero

    def renamed_as(self, other: Merged) -> Merged | None:
        """Return the axis in terms of the labels of another; None if their numbers differ."""
        names = dict(zip(self.labels, other.labels, strict=False))
        return self.renamed(names) if len(self.steps) == len(other.steps) else None

    def renamed(self, names: Mapping[int, int]) -> Merged:
        """Return the axis in terms of other labels."""
        return replace(self, steps=tuple([(step, names[i]) for step, i in self.steps]))


@dataclass(frozen=True)
class Labelled:
    """A product of factors with labels; those of axes that reshapes made are in ``merged``."""

    factors: tuple[Factor, ...]
    output: Labels
    lengths: Mapping[int, Expr]
    merged: Mapping[int, Merged] = field(default_factory=dict)

    @property
    def is_zero(self) -> bool:
        """Whether slices among the factors have no common position on an axis."""
        slices: dict[int, list[Positions]] = {}
        for tensor, labels in self.factors:
            if isinstance(tensor, Positions):
                slices.setdefault(labels[-1], []).append(tensor)
        return any(are_disjoint(*pair) for own in slices.values() for pair in combinations(own, 2))

    def with_slices_taken(self) -> Labelled:
        """Apply slices to dense factors, and drop repetitions of the other slices, whose entries
        are zeros and ones."""
        factors, lengths = list(self.factors), dict(self.lengths)
        used = {
            *self.output,
            *self.merged,
            *[i for own in self.merged.values() for i in own.labels],
        }
        for own in dict.fromkeys(self.factors):
            if not isinstance(own[0], Selection):
                continue
            for _ in range(factors.count(own) - 1):
                factors.remove(own)
            index, position = own[1]
            others = [k for k, (_, labels) in enumerate(factors) if position in labels]
            others.remove(factors.index(own))
            is_dense = not any(isinstance(factors[k][0], PATTERNS) for k in others)
            if position in used or index == position or not others or not is_dense:
                continue
            for k in others:
                tensor, labels = factors[k]
                output = tuple(dict.fromkeys([index if i == position else i for i in labels]))
                sliced = contract_part((tensor, own[0]), (labels, own[1]), output, self.lengths)
                factors[k] = sliced, output
            factors.remove(own)
            del lengths[position]
        return replace(self, factors=tuple(factors), lengths=lengths)

    def renamed(self, names: Mapping[int, int]) -> Labelled:
        """Return the product with other labels."""
        return Labelled(
            tuple([(tensor, tuple([names[i] for i in own])) for tensor, own in self.factors]),
            tuple([names[i] for i in self.output]),
            {names[i]: n for i, n in self.lengths.items()},
            {names[i]: own.renamed(names) for i, own in self.merged.items()},
        )


def added_up(terms: Sequence[Labelled]) -> list[Labelled]:
    """Add up the dense factors of terms whose other factors are the same.

    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> one = Selection(4, 1, 1, 3)
    >>> first = Labelled(((x, (0,)), (one, (0, 1))), (0, 1), {0: 3, 1: 4})
    >>> second = Labelled(((one, (5, 7)), (x, (5,)), (y, (5,))), (5, 7), {5: 3, 7: 4})
    >>> (total,) = added_up([first, second])
    >>> print(total.factors)
    ((Delta(4)[1:], (0, 1)), (x*y + x, (0,)))
    """
    groups: dict[Any, list[Labelled]] = {}
    for term in terms:
        made = [i for label, own in term.merged.items() for i in (label, *own.labels)]
        patterns = _outer_patterns(term, {*term.output, *made})
        named = dict.fromkeys([*term.output, *made, *[i for _, own in patterns for i in own]])
        names = {i: k for k, i in enumerate(dict.fromkeys([*named, *term.lengths]))}
        own = term.renamed(names)
        selected = tuple([(tensor, tuple([names[i] for i in own])) for tensor, own in patterns])
        dense = [part for part in own.factors if part not in selected]
        kept = {i for _, labels in dense for i in labels if i < len(named)}
        shown = tuple([own.lengths[k] for k in range(len(named))])
        # Entries for all pairs of an index and its position would be too many.
        joint = [{*labels} for tensor, labels in selected if not isinstance(tensor, Triangle)]
        joint = [set().union(*[joint[k] for k in part]) for part in components(joint)]
        joint += [{label, i} for label, part in own.merged.items() for i in part.labels]
        is_alone = any(len(kept & labels) > 1 for labels in joint)
        key = own.output, shown, selected, tuple(own.merged.items()), tuple(sorted(kept))
        groups.setdefault(object() if is_alone else key, []).append(own)
    return [own[0] if len(own) == 1 else _sum(own, *key) for key, own in groups.items()]


def _outer_patterns(term: Labelled, shown: Container[int]) -> list[Factor]:
    """Return the selectors and masks of a term, but for gathers of what is summed over."""
    found = [own for own in term.factors if isinstance(own[0], PATTERNS)]
    counts = Counter([i for _, labels in found for i in {*labels}])
    return [
        (tensor, labels)
        for tensor, labels in found
        if isinstance(tensor, Triangle) or labels[-1] in shown or counts[labels[-1]] > 1
    ]


def _sum(
    terms: Sequence[Labelled],
    output: Labels,
    shape: Sequence[Expr],
    patterns: Sequence[Factor],
    merged: Sequence[tuple[int, Merged]],
    kept: Labels,
) -> Labelled:
    """Add up terms with the same patterns, whose dense factors have the same labels of those."""
    parts = []
    for term in terms:
        dense = [own for own in term.factors if own not in patterns]
        seen = {*range(len(shape)), *[i for _, labels in dense for i in labels]}
        # Sums over labels that no factor has.
        repeated = [(n, ()) for i, n in term.lengths.items() if i not in seen]
        tensors, labels = zip(*repeated, *dense, (S.One, ()), strict=True)
        parts.append(contract_part(tensors, labels, kept, term.lengths))
    factors = (*patterns, (total_of(parts), kept))
    return Labelled(factors, output, dict(enumerate(shape)), dict(merged))


def unite_equal(
    factors: Sequence[Factor],
    merged: Mapping[int, Merged],
    united: dict[int, int],
) -> bool:
    """Unite labels that have to be equal: those of equal slices of an axis, and those that equal
    axes were merged from; False if axes that are equal were made in different ways."""
    pairs: list[tuple[int, int]] = []
    while True:
        slices: dict[tuple[Operand, int], int] = {}
        for tensor, labels in factors:
            if isinstance(tensor, Selection):
                key = tensor, representative(united, labels[1])
                pairs.append((slices.setdefault(key, labels[0]), labels[0]))
        made: dict[int, Merged] = {}
        for label, own in merged.items():
            other = made.setdefault(representative(united, label), own)
            if other is own:
                continue
            if not own.is_whole or own.renamed_as(other) != other:
                return False
            pairs += zip(own.labels, other.labels, strict=True)
        pairs = [(i, j) for i, j in pairs if representative(united, i) != representative(united, j)]
        if not pairs:
            return True
        for i, j in pairs:
            unite(united, i, j)


def split_factor(factor: Factor, term: Labelled) -> Factor:
    """Return a dense factor with the axes that a reshape merged split again."""
    tensor, labels = factor
    if isinstance(tensor, PATTERNS):
        return factor
    while any(i in term.merged and term.merged[i].is_whole for i in labels):
        parts = [
            term.merged[i].labels if i in term.merged and term.merged[i].is_whole else [i]
            for i in labels
        ]
        labels = tuple([i for part in parts for i in part])
        tensor = reshape_node(tensor, [term.lengths[i] for i in labels])
    return tensor, labels
