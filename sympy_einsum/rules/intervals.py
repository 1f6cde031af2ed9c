"""Derivatives of running products: what leaves out a position may be multiplied by its entry."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from sympy import Mul, Pow, S

from ..analysis import Barriers, Product, inlined_product
from ..expressions import (
    Elementwise,
    IntervalProducts,
    Ones,
    Operand,
    Positions,
    Selection,
    Triangle,
    Unit,
    apply_body,
    contract,
    inline_products,
    is_slice,
    slot,
)


def join_intervals(node: Operand, barriers: Barriers) -> Operand | None:
    """x_k W_0k W_(k+1)j = [k < j] W_0j for the interval products W of x, and likewise
    W_ik x_k W_(k+1)n = [i ≤ k] W_in: what was a recurrence is a running sum."""
    product = inlined_product(node, barriers)
    given = product.operands, product.subscripts, product.lengths
    operands, subscripts, lengths = inline_products(*given, _slices_intervals)
    product = Product(product.scalars, tuple(operands), tuple(subscripts), product.output, lengths)
    places = [k for k, o in enumerate(product.operands) if isinstance(o, IntervalProducts)]
    for one, other in permutations(places, 2):
        joined = _joined(product, one, other)
        if joined is not None:
            return joined.build()
    return None


def _slices_intervals(operand: Operand, others: Sequence[Operand]) -> bool:
    return is_slice(operand) and any(isinstance(o, IntervalProducts) for o in operand.operands)


def _joined(product: Product, one: int, other: int) -> Product | None:
    """Join the interval products before and behind a position of a product to one, if possible."""
    operands, labels = product.operands, product.subscripts
    *rest, row, before = labels[one]
    *same, behind, column = labels[other]
    left, right = _slice_of_axis(product, one, before), _slice_of_axis(product, other, behind)
    if operands[one] is not operands[other] or rest != same or left is None or right is None:
        return None
    (x,), k = operands[one].operands, labels[left][0]
    count = x.shape[-1]
    slices = tuple([Selection(count + 1, start, 1, count) for start in (0, 1)])
    entry = _multiple(product, x, (*rest, k))
    if (operands[left], operands[right]) != slices or labels[right][0] != k or entry is None:
        return None
    place, quotient = entry
    slice_places = [
        j
        for j in (_slice_of_axis(product, one, row), _slice_of_axis(product, other, column))
        if j is not None
    ]
    ends = {labels[j][-1]: (operands[j], labels[j][:-1]) for j in slice_places}
    whole = Selection(count + 1, 0, 1, count + 1)
    (first, i), (last, j) = (ends.get(end, (whole, (end,))) for end in (row, column))
    if first == Unit(count + 1, 0) and _is_slice(last):
        triangle = Triangle(count, last.counts[0], 1 - last.start), (k, *j)
    elif last == Unit(count + 1, count) and _is_slice(first):
        triangle = Triangle(first.counts[0], count, first.start), (*i, k)
    else:
        return None
    terms = [(*rest, row, column), *[labels[at] for at in slice_places]]
    lengths = {label: product.lengths[label] for term in terms for label in term}
    factors = operands[one], *[operands[at] for at in slice_places]
    joined = contract(factors, terms, (*rest, *i, *j), lengths), (*rest, *i, *j)
    gone = one, other, left, right, place, *slice_places
    new = [joined, triangle, (quotient, (*rest, k))]
    return product.replaced(gone, new, (before, behind, row, column))


def _is_slice(operand: Operand) -> bool:
    """Tell whether positions are consecutive."""
    return operand.steps == (S.One,)


def _slice_of_axis(product: Product, place: int, label: int) -> int | None:
    """Return the place of the slice of an axis that only one factor has."""
    found = [
        j
        for j, own in enumerate(product.subscripts)
        if own[-1:] == (label,) and isinstance(product.operands[j], Positions)
    ]
    return found[0] if found and product.is_private([label], (place, found[0])) else None


def _multiple(product: Product, x: Operand, labels: tuple[int, ...]) -> tuple[int, Operand] | None:
    """Return the place of a factor with some labels that is a multiple of x, and its cofactor."""
    for k, operand in enumerate(product.operands):
        if product.subscripts[k] == labels:
            quotient = _quotient(operand, x)
            if quotient is not None:
                return k, quotient
    return None


def _quotient(tensor: Operand, x: Operand) -> Operand | None:
    """Divide a tensor by a factor x of its body; None if x isn't one."""
    if tensor is x:
        return Ones(*x.shape)
    if not isinstance(tensor, Elementwise):
        return None
    known = slot(tensor.operands.index(x)) if x in tensor.operands else None
    if known is None and isinstance(x, Elementwise) and x.operands == tensor.operands:
        known = x.body
    factors = list(Mul.make_args(tensor.body))
    for k, factor in enumerate(factors):
        base, exponent = (factor, S.One) if factor == known else factor.as_base_exp()
        if base == known and exponent.is_Integer and exponent.is_positive:
            factors[k] = Pow(base, exponent - 1)
            return apply_body(Mul(*factors), tensor.operands)
    return None
