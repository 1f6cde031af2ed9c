"""Reuse of sums within other sums.

A sum of sums is flattened when it is built, so that equal ones are one object. What a recurrence
adds to its state, in x + h(x), is then a term of every later state, and of every sum in the
derivative: T steps would take T^2 additions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import chain, islice
from typing import NamedTuple, TypeAlias

from sympy import Expr, Float, Integer, Rational

from ..analysis import is_symmetric
from ..contraction_order import combination_cost
from ..core import children, postorder, transform, tuning
from ..expressions import Ones, Operand, TensorAdd, rebuild, split_coefficient, sum_of_multiples

# Whole numbers are Python's: sums of many terms have hardly any others.
Number: TypeAlias = int | Fraction | float
Terms: TypeAlias = dict[Operand, Number]


class _Part(NamedTuple):
    """A multiple of a sum, and what is left of its terms in another one without it."""

    factor: Number
    total: TensorAdd
    left: Terms


def with_partial_sums(exprs: Sequence[Operand]) -> Sequence[Operand]:
    """Rewrite expressions so that sums stand as terms of longer ones, where that saves additions.

    Nothing cancels that didn't before: no term of a part is larger than that of the sum.

    >>> import sympy_einsum as se
    >>> a, b, c, d = se.tensors("a b c d", 3)
    >>> (e,) = with_partial_sums([se.exp(a + b + c) * (2 * a + b + c - d)])
    >>> [len(node.operands) for node in postorder([e]) if isinstance(node, TensorAdd)]
    [3, 3]
    """
    sums = [node for node in postorder(exprs) if isinstance(node, TensorAdd)]
    if len(sums) < 2:
        return exprs
    found = _parts(sums)
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
        return rebuild(node, new)

    return transform(exprs, visit, below)


def _parts(sums: Sequence[TensorAdd]) -> dict[Operand, list[tuple[Expr, Operand]]]:
    """Return the sums that others are part of, as the multiples that they consist of."""
    split = cache(_split)
    terms = {total: dict(map(split, total.operands)) for total in sums}
    counts = Counter(chain.from_iterable(terms.values()))
    known: dict[Operand, list[TensorAdd]] = {}
    found: dict[Operand, list[tuple[Expr, Operand]]] = {}
    for total in sorted(sums, key=lambda own: len(own.operands)):
        rest, parts = terms[total], []
        while (part := _largest_part(rest, known, terms)) is not None:
            # Matrices are seen to be symmetric by their own terms.
            if is_symmetric(total):
                break
            parts.append((_as_expr(part.factor), part.total))
            gone = terms[part.total].keys() - part.left.keys()
            rest = {core: own for core, own in (rest | part.left).items() if core not in gone}
        if parts:
            found[total] = parts + [(_as_expr(number), core) for core, number in rest.items()]
        # A number is added in place, in less memory than sums take that wait for others.
        variable = [core for core in terms[total] if not isinstance(core, Ones)]
        if len(variable) > 1:
            # One term is enough to be found by: that which the fewest others have.
            rarest = min(variable, key=counts.__getitem__)
            known.setdefault(rarest, []).append(total)
    return found


def _largest_part(
    rest: Terms, known: Mapping[Operand, Sequence[TensorAdd]], terms: Mapping[TensorAdd, Terms]
) -> _Part | None:
    """Find the multiple of a sum that leaves the fewest terms, if it saves additions."""
    near = [
        total for core in rest if core in known for total in known[core][-tuning.MAX_TRIED_SUMS :]
    ]
    near.sort(key=lambda total: -len(total.operands))
    inside = islice(
        (own for own in near if terms[own].keys() <= rest.keys()), tuning.MAX_TRIED_SUMS
    )
    tried = [_without(rest, total, terms[total]) for total in inside]
    return min(
        filter(None, tried),
        key=lambda part: len(part.left) - len(terms[part.total]),
        default=None,
    )


def _without(rest: Terms, total: TensorAdd, part: Terms) -> _Part | None:
    """Subtract from a sum as much of another one as is in all of its terms; None where it doesn't
    pay."""
    is_whole = {*map(type, rest.values())} == {int}
    if is_whole and {*map(type, part.values())} != {int}:
        return None
    ratios = [_ratio(rest[core], number) for core, number in part.items()]
    factor = _rounded(min(ratios, key=_size))
    if any(ratio * factor < 0 for ratio in ratios):
        return None
    if is_whole and not isinstance(factor, int):
        return None
    left = {
        core: _simplest(rest[core] - factor * number)
        for (core, number), ratio in zip(part.items(), ratios, strict=True)
        if _size(ratio - factor) > tuning.FLOAT_ROUNDING * _size(factor)
    }
    before = combination_cost([rest[core] for core in part])
    after = combination_cost([*left.values(), factor])
    return _Part(factor, total, left) if after < before else None


def _split(term: Operand) -> tuple[Operand, Number]:
    """Split a term of a sum into the expression that it is a multiple of, and the number."""
    number, core = split_coefficient(term)
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


def _rounded(number: Number) -> Number:
    """Return a number, or the 1 or -1 that it is but for rounding."""
    return (
        (1 if number > 0 else -1) if _size(_size(number) - 1) <= tuning.FLOAT_ROUNDING else number
    )


def _size(number: Number) -> Number:
    return number if number >= 0 else -number


def _as_expr(number: Number) -> Expr:
    if isinstance(number, Fraction):
        return Rational(number.numerator, number.denominator)
    return Integer(number) if isinstance(number, int) else Float(number)
