"""Reuse of sums within other sums.

A sum of sums is flattened when it is built, so that equal ones are one object. What a recurrence
adds to its state, in x + h(x), is then a term of every later state, and of every sum in the
derivative: T steps would take T^2 additions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, islice
from typing import NamedTuple, TypeAlias

from sympy import Basic, Expr, Float, Integer, Rational, S

from ..analysis import is_symmetric
from ..contraction_order import combination_cost
from ..core import children, postorder, transform, tuning
from ..expressions import (
    Ones,
    Operand,
    Operands,
    TensorAdd,
    TensorExpr,
    View,
    rebuild,
    split_coefficient,
    sum_of_multiples,
)

# Whole numbers are Python's: sums of many terms have hardly any others.
Number: TypeAlias = int | Fraction | float
Terms: TypeAlias = dict[Operand, Number]


class _Part(NamedTuple):
    """Multiples of sums, the terms that they have, and what another sum keeps of these."""

    multiples: Sequence[tuple[Number, Operand]]
    cores: Collection[Operand]
    left: Terms

    def saved(self) -> int:
        """Return by how many terms a sum gets shorter."""
        return len(self.cores) - len(self.left) - len(self.multiples)


def with_partial_sums(exprs: Sequence[Operand]) -> Sequence[Operand]:
    """Rewrite expressions so that sums stand as terms of longer ones, where that saves additions.

    Two sums at once are tried too, as in x + v/10 of long sums x and v. Little cancels that didn't
    before: terms of a part are at most a few times as large as those of the sum.

    >>> import sympy_einsum as se
    >>> a, b, c, d = se.tensors("a b c d", 3)
    >>> (e,) = with_partial_sums([se.exp(a + b + c) * (2 * a + b + c - d)])
    >>> [len(node.operands) for node in postorder([e]) if isinstance(node, TensorAdd)]
    [3, 3]
    """
    sums = [node for node in postorder(exprs) if isinstance(node, TensorAdd)]
    if len(sums) < 2:
        return exprs
    found = parts_of_sums(sums)
    if not found:
        return exprs

    def below(node: Operand) -> Sequence[Operand]:
        return [own for _, own in found[node]] if node in found else children(node)

    def visit(node: Operand, new: tuple[Operand, ...]) -> Operand:
        if node in found:
            numbers = [number for number, _ in found[node]]
            return sum_of_multiples(list(zip(numbers, new, strict=True)))
        if isinstance(node, TensorAdd) and new != node.operands:
            return sum_of_multiples([split_coefficient(own) for own in new])
        return rebuild_nested(node, new)

    return transform(exprs, visit, below)


def rebuild_nested(node: Basic, operands: Operands) -> Basic:
    """Return a node with other operands, among whose terms sums stay sums."""
    if isinstance(node, TensorAdd) and any(map(_is_nested, node.operands)):
        return sum_of_multiples([split_coefficient(own) for own in operands])
    if _is_nested(node) and isinstance(node, View) and isinstance(operands[-1], TensorAdd):
        return sum_of_multiples([(node.coefficient, operands[-1])])
    return rebuild(node, operands)


def _is_nested(term: Basic) -> bool:
    """Tell whether a term is a sum or a multiple of one."""
    return isinstance(split_coefficient(term)[1], TensorAdd)


def parts_of_sums(sums: Sequence[Operand]) -> dict[Operand, list[tuple[Expr, Operand]]]:
    """Return the sums that others are part of, as the multiples that they consist of."""
    split = cache(_split)
    terms = {total: dict(map(split, children(total))) for total in sums}
    parts = _KnownSums(terms)
    found: dict[Operand, list[tuple[Expr, Operand]]] = {}
    for total in sorted(sums, key=lambda own: len(terms[own])):
        rest = _Remainder(terms[total], parts.candidates(terms[total]), terms)
        multiples: list[tuple[Number, Operand]] = []
        while True:
            part = parts.best(rest)
            # Matrices are seen to be symmetric by their own terms.
            if part is None or (isinstance(total, TensorAdd) and is_symmetric(total)):
                break
            multiples += part.multiples
            rest.subtract(part)
        if multiples:
            multiples += [(number, core) for core, number in rest.terms.items()]
            found[total] = [(_as_expr(number), core) for number, core in multiples]
        parts.add(total)
    return found


class _Remainder:
    """The rest of a sum of which parts are taken, one after the other.

    A part costs time for its own terms: a gradient may be a sum of thousands of terms in pairs.
    """

    def __init__(self, terms: Terms, candidates: Iterator[Operand], parts: Mapping[Operand, Terms]):
        self.terms = dict(terms)
        self.fractions = sum(not isinstance(number, int) for number in terms.values())
        self._candidates = candidates
        self._parts = parts
        self._near: list[Operand] = []

    def near(self) -> Sequence[Operand]:
        """Return the longest sums of which all terms are terms of this one."""
        # Terms are only taken away: what isn't a part now won't be one later.
        candidates = chain(self._near, self._candidates)
        inside = (own for own in candidates if self._parts[own].keys() <= self.terms.keys())
        self._near = [*islice(inside, tuning.MAX_TRIED_SUMS)]
        return self._near

    def subtract(self, part: _Part) -> None:
        """Take away multiples of other sums."""
        for core in part.cores:
            self.fractions -= not isinstance(self.terms.pop(core), int)
        self.terms.update(part.left)
        self.fractions += sum(not isinstance(number, int) for number in part.left.values())


class _KnownSums:
    """Sums that may be parts of others, and the factors of those that are."""

    def __init__(self, terms: Mapping[Operand, Terms]):
        self.terms = terms
        self.counts = Counter(chain.from_iterable(terms.values()))
        # By one term, which is enough to be found by: that which the fewest others have.
        self.known: dict[Operand, list[Operand]] = {}
        self.factors: dict[str, Number] = {}

    def add(self, total: Operand) -> None:
        """Let a sum be found."""
        # A number is added in place, in less memory than sums take that wait for others.
        variable = [own for own in self.terms[total] if not (own is S.One or isinstance(own, Ones))]
        if len(variable) > 1:
            rarest = min(variable, key=self.counts.__getitem__)
            self.known.setdefault(rarest, []).append(total)

    def candidates(self, terms: Terms) -> Iterator[Operand]:
        """Yield sums that may be parts of one with some terms, the longest first."""
        known, most = self.known, tuning.MAX_TRIED_SUMS
        near = [total for core in terms if core in known for total in known[core][-most:]]
        return iter(sorted(near, key=lambda total: -len(self.terms[total])))

    def best(self, rest: _Remainder) -> _Part | None:
        """Find the multiple of a sum, or those of two, that leave the fewest terms, if they save
        additions."""
        near = rest.near()
        tried = [part for total in near if (part := self._without(rest, total))]
        # A step adds few terms to values before.
        most = len(rest.terms) - tuning.MAX_ADDED_TERMS

        def is_enough(part: _Part) -> bool:
            return len(part.cores) - len(part.left) >= most

        if not any(map(is_enough, tried)):
            for part in self._without_pairs(rest, near):
                tried.append(part)
                if is_enough(part):
                    break
        return max(tried, key=_Part.saved, default=None)

    def _without_pairs(self, rest: _Remainder, near: Sequence[Operand]) -> Iterator[_Part]:
        """Yield what is left of a sum without multiples of two others."""
        for pair in combinations(near, 2):
            for factors in self._solutions(rest.terms, pair):
                part = self._without_multiples(rest, factors, pair)
                if part is not None:
                    yield part

    def _solutions(self, rest: Terms, pair: Sequence[Operand]) -> Iterator[Sequence[Number]]:
        """Yield the factors of two sums that give two terms of another one, the most exact ones
        first."""
        parts = [self.terms[total] for total in pair]
        cores = sorted({*parts[0], *parts[1]}, key=self.counts.__getitem__)
        # Most factors are those of the oldest terms or the newest.
        ends = dict.fromkeys([*cores[-2:], *cores[:2]])
        systems = [_TwoEquations(rest, parts, equations) for equations in combinations(ends, 2)]
        for system in sorted(systems, key=lambda own: -own.condition):
            factors = [self._rounded(own) for own in system.solution()]
            if all(factors):
                yield factors

    def _without(self, rest: _Remainder, total: Operand) -> _Part | None:
        """Subtract from a sum as much of another one as is in all of its terms; None where it
        doesn't pay."""
        part = self.terms[total]
        ratios = [_ratio(rest.terms[core], number) for core, number in part.items()]
        factor = self._rounded(min(ratios, key=_size))
        if any(ratio * factor < 0 for ratio in ratios):
            return None
        return self._without_multiples(rest, [factor], [total])

    def _without_multiples(
        self, remainder: _Remainder, factors: Sequence[Number], totals: Sequence[Operand]
    ) -> _Part | None:
        """Subtract multiples of sums from another one; None where it doesn't pay, much would
        cancel, or integers would become fractions."""
        parts = [self.terms[total] for total in totals]
        numbers = chain(factors, *[part.values() for part in parts])
        if not remainder.fractions and not all(isinstance(number, int) for number in numbers):
            return None
        rest = remainder.terms
        left: Terms = {}
        largest: Number = 0
        cores = dict.fromkeys(chain(*parts))
        pairs = [*zip(factors, parts, strict=True)]
        for core in cores:
            inside = [(f, part[core]) for f, part in pairs if core in part]
            products = [own if f == 1 else f * own for f, own in inside]
            product = products[0] if len(products) == 1 else sum(products)
            if len(parts) > 1:
                largest = max(largest, *map(_size, products))
            if product == rest[core]:
                continue
            difference = rest[core] - product
            is_float = isinstance(difference, float)
            rounding = tuning.FLOAT_ROUNDING * max(map(_size, products)) if is_float else 0
            if _size(difference) > rounding:
                left[core] = self._rounded(_simplest(difference))
        if len(left) == len(cores):
            return None
        before = [rest[core] for core in cores]
        if largest > tuning.MAX_CANCELLED * max(map(_size, before)):
            return None
        if combination_cost([*left.values(), *factors]) >= combination_cost(before):
            return None
        return _Part([*zip(factors, totals, strict=True)], cores, left)

    def _rounded(self, number: Number) -> Number:
        """Return a number, or the 1, -1 or factor before it that it is but for rounding."""
        if not isinstance(number, float):
            return number
        if _size(_size(number) - 1) <= tuning.FLOAT_ROUNDING:
            return 1 if number > 0 else -1
        found = self.factors.setdefault(f"{number:.13g}", number)
        return found if _size(number - found) <= tuning.FLOAT_ROUNDING * _size(found) else number


class _TwoEquations:
    """Two equations for the factors of two sums, those of two of their terms."""

    def __init__(self, rest: Terms, parts: Sequence[Terms], cores: Sequence[Operand]):
        self.right = [rest[core] for core in cores]
        self.rows = [[part.get(core, 0) for part in parts] for core in cores]
        (a, b), (c, d) = self.rows
        self.determinant = a * d - b * c
        size = max(_size(a * d), _size(b * c))
        # How exact the solution is, between 0 and 2.
        self.condition = _size(self.determinant / size) if size else 0

    def solution(self) -> Sequence[Number]:
        """Return the factors, 0 where there are none."""
        if self.condition <= tuning.FLOAT_ROUNDING:
            return 0, 0
        (a, b), (c, d) = self.rows
        e, f = self.right
        return _ratio(e * d - b * f, self.determinant), _ratio(a * f - e * c, self.determinant)


def _split(term: Operand) -> tuple[Operand, Number]:
    """Split a term of a sum into the expression that it is a multiple of, and the number."""
    is_tensor = isinstance(term, TensorExpr)
    number, core = split_coefficient(term) if is_tensor else term.as_coeff_Mul()
    if number.is_Rational:
        return core, _ratio(int(number.p), int(number.q))
    return (core, float(number)) if number.is_Float else (term, 1)


def _ratio(one: Number, other: Number) -> Number:
    if isinstance(other, int) and isinstance(one, int):
        whole, rest = divmod(one, other)
        return Fraction(one, other) if rest else whole
    return _simplest(one / other)


def _simplest(number: Number) -> Number:
    if isinstance(number, Fraction) and number.denominator == 1:
        return number.numerator
    return number


def _size(number: Number) -> Number:
    return number if number >= 0 else -number


def _as_expr(number: Number) -> Expr:
    if isinstance(number, Fraction):
        return Rational(number.numerator, number.denominator)
    return Integer(number) if isinstance(number, int) else Float(number)
