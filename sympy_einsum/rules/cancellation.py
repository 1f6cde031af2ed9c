"""Sums whose terms cancel in part once sums among their factors are multiplied out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from sympy import Add, Expr, S

from ..analysis import (
    Barriers,
    Product,
    cost,
    distributed,
    inlined_product,
    is_difference_of_rows,
    scalar_and_tensor,
    with_common_output,
)
from ..core import tuning
from ..expressions import (
    Einsum,
    Operand,
    TensorAdd,
    View,
    Zeros,
    contract,
    memoised,
    scale,
    tensor_sum,
    total_of,
)

# The factors of a term that have no summed index, with their axes.
Factors = Counter[tuple[Operand, tuple[int, ...]]]


def cancel_parts(node: TensorAdd, barriers: Barriers) -> Operand | None:
    """Take out a common factor of terms whose other factors cancel in part: e - (1 + r) e = -r e.

    The derivative of ``(1 + r)*exp(-r)`` is such a sum. As it is written its relative error grows
    like 1/r, and where a kernel is a function of squared distances it is divided by r.
    """
    if len(node.operands) > tuning.MAX_CANCELLED_TERMS:
        return None
    parts = [
        inlined_product(term).operands if isinstance(term, (Einsum, View)) else (term,)
        for term in node.operands
    ]
    if not any(_is_opened(operand) for operands in parts for operand in operands):
        return None
    products = [with_common_output(inlined_product(term)) for term in node.operands]
    axes = tuple(range(node.order))
    if any(product.output != axes for product in products):
        return None
    factors = [_factors(product) for product in products]
    for common in _candidates(products, factors):
        group = [t for t, own in enumerate(factors) if common <= own]
        rests = [_without(products[t], common) for t in group]
        found = _cancelled(rests)
        if found is None:
            continue
        total, is_contracted = found
        merged = contract(
            [total, *[own for own, _ in common.elements()]],
            [axes, *[labels for _, labels in common.elements()]],
            axes,
            dict(enumerate(node.shape)),
        )
        rest = [term for t, term in enumerate(node.operands) if t not in group]
        result = tensor_sum([merged, *rest])
        # Multiplied out under a contraction, deviations from a mean lose the digits that their
        # differences have: that costs more, too.
        if not is_contracted or cost([result]) <= tuning.CANCELLATION_COST * cost([node]):
            return result
    return None


def _factors(product: Product) -> Factors:
    pairs = zip(product.operands, product.subscripts, strict=True)
    return Counter([(own, labels) for own, labels in pairs if {*labels} <= {*product.output}])


def _candidates(products: Sequence[Product], factors: Sequence[Factors]) -> Iterator[Factors]:
    """Yield the factors that a term with a sum among its own has in common with another term."""
    found: list[Factors] = []
    for product, own in zip(products, factors, strict=True):
        if not any(map(_is_opened, product.operands)):
            continue
        if len(product.operands) == 1 and Counter() not in found:
            # A multiple of a sum by more than a number, in a sum.
            found.append(Counter())
            yield Counter()
        for other in factors:
            if other is own or own.keys().isdisjoint(other):
                continue
            common = own & other
            if common not in found:
                found.append(common)
                yield common


def _is_opened(operand: Operand) -> bool:
    """Tell whether a sum may be multiplied out: differences and deviations from a mean, which have
    lost the digits that their terms share, stay."""
    is_sum = isinstance(operand, TensorAdd)
    return is_sum and not (is_difference_of_rows(operand) or _adds_up_to_nothing(operand))


@memoised
def _adds_up_to_nothing(total: TensorAdd) -> bool:
    """Tell whether the terms of a sum cancel when they are added up along an axis."""
    axes, lengths = range(total.order), dict(enumerate(total.shape))
    for axis in axes:
        rest = [i for i in axes if i != axis]
        found = total_of([contract((t,), (axes,), rest, lengths) for t in total.operands])
        if found is S.Zero or isinstance(found, Zeros):
            return True
    return False


def _without(product: Product, common: Factors) -> Product:
    """Return the other factors of a product."""
    gone, left = set(), common.copy()
    for k, pair in enumerate(zip(product.operands, product.subscripts, strict=True)):
        if left[pair]:
            left[pair] -= 1
            gone.add(k)
    return product.replaced(gone)


def _cancelled(rests: Sequence[Product]) -> tuple[Operand, bool] | None:
    """Return the sum of some products, those multiplied out that have terms of opposite signs in
    common, and whether a contraction was; None if there are none."""
    opened = [_multiplied_out(rest) for rest in rests]
    opened_terms = [terms for terms, _ in opened]
    places: dict[Operand, list[tuple[int, Expr]]] = {}
    for k, terms in enumerate(opened_terms):
        for term in terms:
            scalar, tensor = scalar_and_tensor(term)
            places.setdefault(tensor, []).append((k, scalar))
    meeting: set[int] = set()
    for found in places.values():
        for k, one in found:
            meeting.update(j for j, other in found if j != k and _are_opposite(one, other))
    if all(len(opened_terms[k]) == 1 for k in meeting):
        return None
    collected = [
        scale(Add(*[scalar for k, scalar in found if k in meeting]), tensor)
        for tensor, found in places.items()
    ]
    barriers = [rest.build() for k, rest in enumerate(rests) if k not in meeting]
    return tensor_sum([*collected, *barriers]), any(opened[k][1] for k in meeting)


def _multiplied_out(product: Product) -> tuple[list[Operand], bool]:
    """Return the terms of a product of sums, and of the sums in these, and whether one of the sums
    was contracted; the product itself if there are too many."""
    pending, found = [product], []
    is_contracted = False
    while pending:
        term = pending.pop()
        is_contracted |= any(
            _is_opened(operand) and not {*labels} <= {*term.output}
            for operand, labels in zip(term.operands, term.subscripts, strict=True)
        )
        terms = distributed(term, tuning.MAX_CANCELLED_TERMS, _is_opened)
        if terms is None:
            found.append(term.build())
        else:
            pending += [inlined_product(own.build()) for own in terms]
        if len(pending) + len(found) > tuning.MAX_CANCELLED_TERMS:
            return [product.build()], False
    return found, is_contracted


def _are_opposite(one: Expr, other: Expr) -> bool:
    """Tell whether two scalars are multiples of one another with a negative number."""
    (number, rest), (factor, core) = one.as_coeff_Mul(), other.as_coeff_Mul()
    return rest == core and bool((number * factor).is_negative)
