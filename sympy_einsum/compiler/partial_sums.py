"""Sums that other sums are part of.

A sum of sums is flattened when it is built, so that equal ones are one object. What a recurrence
adds to its state, in x + h(x), is then a term of every later state, and of every sum in the
derivative: T steps would take T^2 additions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from sympy import Expr, Float, Rational

from ..core import children, postorder, transform
from ..expressions import Ones, Operand, TensorAdd, rebuild, split_coefficient, sum_of_parts
from ..rules import is_symmetric

Number: TypeAlias = Fraction | float
Terms: TypeAlias = dict[Operand, Number]

# So many sums of one term that no other sum has less often are tried, the longest ones.
MAX_TRIED = 4
# What is left of a float is nothing, relative to it.
ROUNDING = 1e-13


class _Part(NamedTuple):
    """A multiple of a sum, and what is left of another one without it."""

    factor: Number
    total: TensorAdd
    rest: Terms


def with_partial_sums(exprs: Sequence[Operand]) -> Sequence[Operand]:
    """Equal expressions in which sums stand as terms of longer ones, where that saves additions.

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
            return sum_of_parts(list(zip(numbers, new, strict=True)))
        if isinstance(node, TensorAdd) and new != node.operands:
            return sum_of_parts([split_coefficient(own) for own in new])
        return rebuild(node, new)

    return transform(exprs, visit, below)


def _parts(sums: Sequence[TensorAdd]) -> dict[Operand, list[tuple[Expr, Operand]]]:
    """The sums that others are part of, as the multiples that they consist of."""
    terms = {total: _terms(total) for total in sums}
    counts = Counter(core for own in terms.values() for core in own)
    known: dict[Operand, list[TensorAdd]] = {}
    found: dict[Operand, list[tuple[Expr, Operand]]] = {}
    for total in sorted(sums, key=lambda own: len(own.operands)):
        rest, parts = terms[total], []
        # Matrices are seen to be symmetric by their own terms.
        while not is_symmetric(total):
            part = _largest_part(rest, known, terms)
            if part is None:
                break
            parts.append((_as_expr(part.factor), part.total))
            rest = part.rest
        if parts:
            found[total] = parts + [(_as_expr(number), core) for core, number in rest.items()]
        # A number is added in place, in less memory than sums take that wait for others.
        variable = [core for core in terms[total] if not isinstance(core, Ones)]
        if len(variable) > 1:
            # One term is enough to be found by: that which the fewest others have.
            rarest = min(variable, key=lambda core: counts[core])
            known.setdefault(rarest, []).append(total)
    return found


def _largest_part(
    rest: Terms, known: Mapping[Operand, Sequence[TensorAdd]], terms: Mapping[TensorAdd, Terms]
) -> _Part | None:
    """The multiple of a sum that leaves the fewest terms, if there is one that saves additions."""
    inside = [
        total
        for core in rest
        for total in known.get(core, ())[-MAX_TRIED:]
        if terms[total].keys() <= rest.keys()
    ]
    inside.sort(key=lambda total: -len(total.operands))
    tried = [_without(rest, total, terms[total]) for total in inside[:MAX_TRIED]]
    return min(filter(None, tried), key=lambda part: len(part.rest), default=None)


def _without(rest: Terms, total: TensorAdd, part: Terms) -> _Part | None:
    """A sum without as much of another one as is in all of its terms; None where it doesn't
    pay."""
    is_whole = all(_is_integer(number) for number in rest.values())
    if is_whole and not all(_is_integer(number) for number in part.values()):
        return None
    ratios: list[Number] = [rest[core] / number for core, number in part.items()]
    factor = _rounded(min(ratios, key=_size))
    if any(ratio * factor < 0 for ratio in ratios) or (is_whole and not _is_integer(factor)):
        return None
    left = dict(rest)
    for (core, number), ratio in zip(part.items(), ratios, strict=True):
        if _size(ratio - factor) <= ROUNDING * _size(factor):
            del left[core]
        else:
            left[core] -= factor * number
    is_cheaper = _cost(left.values()) + _cost([factor]) < _cost(rest.values())
    return _Part(factor, total, left) if is_cheaper else None


def _cost(numbers: Collection[Number]) -> int:
    """How many operations multiples take."""
    return len(numbers) + sum(_size(number) != 1 for number in numbers)


def _terms(total: TensorAdd) -> Terms:
    """The terms of a sum with their numbers."""
    found: Terms = {}
    for term in total.operands:
        number, core = split_coefficient(term)
        if number.is_Rational:
            found[core] = Fraction(int(number.p), int(number.q))
        elif number.is_Float:
            found[core] = float(number)
        else:
            found[term] = Fraction(1)
    return found


def _rounded(number: Number) -> Number:
    """A number, or the 1 or -1 that it is but for rounding."""
    return Fraction(1 if number > 0 else -1) if _size(_size(number) - 1) <= ROUNDING else number


def _size(number: Number) -> Number:
    return number if number >= 0 else -number


def _is_integer(number: Number) -> bool:
    return isinstance(number, Fraction) and number.denominator == 1


def _as_expr(number: Number) -> Expr:
    if isinstance(number, Fraction):
        return Rational(number.numerator, number.denominator)
    return Float(number)
