"""Rules for sums among the operands of a product.

References
==========

[W] M. Wenig, P. Rump, M. Blacher, J. Giesen, "The Syntax and Semantics of einsum", 2025.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations

from sympy import Add, Expr, Integer, Mul, Rational, S, expand

from ..analysis import (
    Answer,
    Barriers,
    Product,
    Property,
    UpToSign,
    all_of,
    cost,
    distributed,
    factors_of,
    frontier,
    has_known_zeros,
    inlined_product,
    is_difference_of_rows,
    opposite_of,
    up_to_sign,
)
from ..core import number_bits, tuning
from ..expressions import (
    RUNNING,
    Einsum,
    Operand,
    TensorAdd,
    View,
    Zeros,
    contract,
    contract_part,
    is_tensor,
    memoised,
    order_of,
    scalar_product,
    scale,
    split_coefficient,
    tensor_sum,
    total_of,
)
from .axis_functions import sum_softmax


def distribute(node: Operand, barriers: Barriers) -> Operand | None:
    """Distribute a product over sums [W, thm 5.4]."""
    product = inlined_product(node, barriers)
    scalar = expand(scalar_product(product.scalars))
    if scalar.is_Add and len(scalar.args) <= tuning.MAX_DISTRIBUTED_TERMS:
        return tensor_sum([replace(product, scalars=(term,)).build() for term in scalar.args])
    terms = distributed(product, tuning.MAX_DISTRIBUTED_TERMS)
    return None if terms is None else total_of([term.build() for term in terms])


def cancel_terms(node: Operand, barriers: Barriers) -> Operand | None:
    """Distribute a product over a sum where terms cancel, as in Σ (x - mean(x)), or a delta in it
    merges, or where the sum has more axes than the product and than all its factors, or has running
    factors along these. Elsewhere the factored form has fewer roundings."""
    sums = [
        k for k, o in enumerate(node.operands) if isinstance(o, TensorAdd) and o not in barriers
    ]
    if len(sums) != 1:
        return None
    operand, labels = node.operands[sums[0]], node.subscripts[sums[0]]
    has_delta = any(isinstance(t, View) and len(set(t.output)) < t.order for t in operand.operands)
    is_large = operand.order > node.order and (
        any(isinstance(o, RUNNING) for o in node.operands) or _is_larger_than_factors(operand)
    )
    opens = has_delta or is_large
    if set(labels).issubset(node.output) and not opens:
        return None
    part = _around(node, sums[0])
    if part is not None:
        group, inner, axes = part
        found = cancel_terms(inner, barriers)
        if found is not None:
            absorbed = {i for k in group for i in node.subscripts[k]}.difference(axes)
            return _as_written(node).replaced(group, [(found, axes)], absorbed).build()
    # Other differences of rows stay what they are: a huge factor needs their zeros.
    product = inlined_product(node, barriers)
    terms = distributed(
        product,
        tuning.MAX_DISTRIBUTED_TERMS,
        lambda own: own is operand or not is_difference_of_rows(own),
    )
    if terms is None:
        return None
    built = [term.split() or term.build() for term in terms]
    total, before, after = _compared(node, {operand}, terms, built, barriers)
    left = total.operands if isinstance(total, TensorAdd) else Add.make_args(total)
    cancels = after < before and len(left) < len(operand.operands)
    return total if cancels or (opens and after <= tuning.COST_SLACK * before) else None


def _is_larger_than_factors(total: TensorAdd) -> bool:
    """Tell whether the terms of a sum are products of what has fewer axes each. Differences of
    tensors, as of all points from all others, are no such: they would cancel."""
    if is_difference_of_rows(total):
        return False
    products = [getattr(term, "core", term) for term in total.operands]
    return all(
        type(product) is Einsum and all(order_of(own) < total.order for own in product.operands)
        for product in products
    )


def _as_written(node: Operand) -> Product:
    return Product((), node.operands, node.subscripts, node.output, dict(enumerate(node.lengths)))


def _around(node: Operand, k: int) -> tuple[set[int], Operand, list[int]] | None:
    """Group a factor with those that share a summed index with it, if these aren't all factors:
    return their places, their product, and its indices."""
    summed = set(node.subscripts[k]).difference(node.output)
    group = {j for j, term in enumerate(node.subscripts) if j == k or summed.intersection(term)}
    if not summed or len(group) == len(node.operands):
        return None
    inside = {i for j in group for i in node.subscripts[j]}
    outside = [i for j, term in enumerate(node.subscripts) if j not in group for i in term]
    axes = sorted(inside.intersection([*outside, *node.output]))
    places = sorted(group)
    inner = contract_part(
        [node.operands[j] for j in places],
        [node.subscripts[j] for j in places],
        axes,
        dict(enumerate(node.lengths)),
    )
    return (group, inner, axes) if type(inner) is Einsum else None


def distribute_places(node: Operand, barriers: Barriers) -> Operand | None:
    """Distribute a product over a sum of zero-padded terms where each product is cheap, so that
    bands stay bands; over a sum of running terms where that makes products of a matrix with
    itself. Squares of entries stay where terms overlap: in those of residuals the products with the
    data would cancel."""
    found = [o for o in node.operands if isinstance(o, TensorAdd)]
    open_sums = [o for o in found if not (_is_squared(o, node) and _terms_overlap(o))]
    places = {*filter(has_known_zeros, open_sums)}
    sums = places.union(filter(_runs, open_sums))
    if not sums:
        return None
    product = inlined_product(node, barriers)
    terms = distributed(product, tuning.MAX_DISTRIBUTED_TERMS, sums.__contains__)
    if terms is None:
        return None
    total, before, after = _compared(node, sums, terms, [term.build() for term in terms], ())
    return total if after < before or (places and after == before) else None


def _is_squared(operand: Operand, node: Operand) -> bool:
    """Tell whether an operand of a product is squared entry by entry, or multiplied as a matrix
    with itself and nothing else."""
    pairs = list(zip(node.operands, map(frozenset, node.subscripts), strict=True))
    own = [labels for other, labels in pairs if other is operand]
    rest = [labels for other, labels in pairs if other is not operand]
    is_power = len(own) > 1 and frozenset().union(*own).isdisjoint(frozenset().union(*rest))
    return is_power or len({*own}) < len(own)


@memoised
def _terms_overlap(total: TensorAdd) -> bool:
    """Tell whether two terms of a sum may be nonzero at the same entry."""
    axes = range(total.order)
    lengths = dict(enumerate(total.shape))
    products = [
        inlined_product(contract(pair, (axes, axes), axes, lengths)).build()
        for pair in combinations(total.operands, 2)
    ]
    return not all(map(_is_zero, products))


@memoised
def _runs(total: TensorAdd) -> bool:
    """Tell whether a term has a running factor."""
    products = [term for term in total.operands if isinstance(term, Einsum)]
    return any(isinstance(o, RUNNING) for term in products for o in factors_of(term))


def _compared(
    node: Operand,
    sums: Collection[Operand],
    terms: Sequence[Product],
    built: Sequence[Operand],
    barriers: Barriers,
) -> tuple[Operand, int, int]:
    """Return the total of the terms of a product in which sums are multiplied out; the costs of the
    product and of the total, what both are made of being there."""
    if is_tensor(built[0]):
        terms = [inlined_product(term, barriers) for term in built]
        built = [term.build() for term in terms]
    total = total_of(built)
    given = frontier([inlined_product(term) for o in sums for term in o.operands]) | frontier(terms)
    return total, cost([node], given), cost([total], given)


def drop_vanishing(node: Operand, barriers: Barriers) -> Operand | None:
    """Drop terms of a sum that add up to nothing: Σ (u + a (x - mean(x))) = Σ u."""
    if not any(isinstance(operand, TensorAdd) for operand in node.operands):
        return None
    product = inlined_product(node, barriers)
    for k, terms in _sums_inside(product):
        total = total_of(terms)
        if _is_zero(total):
            return total
        pairs = zip(product.operands[k].operands, terms, strict=True)
        kept = [term for term, built in pairs if not _vanishes(built)]
        if len(kept) < len(terms):
            return _with_operand(product, k, tensor_sum(kept)).build() if kept else 0 * total
    return None


def _sums_inside(product: Product) -> Iterator[tuple[int, list[Operand]]]:
    """Yield the sums in a product that are added up along an axis: their places, and the products
    with each of their terms alone."""
    counts = product.counts
    for k, operand in enumerate(product.operands):
        alone = any(counts[i] == 1 for i in product.subscripts[k])
        if (
            alone
            and isinstance(operand, TensorAdd)
            and len(operand.operands) <= tuning.MAX_DISTRIBUTED_TERMS
        ):
            built = [_with_operand(product, k, term).build() for term in operand.operands]
            yield k, [(sum_softmax(t, ()) if type(t) is Einsum else None) or t for t in built]


def _with_operand(product: Product, k: int, operand: Operand) -> Product:
    return replace(product, operands=(*product.operands[:k], operand, *product.operands[k + 1 :]))


@Property
def _vanishes(node: Operand) -> Answer:
    """Tell whether a product is zero, because sums in it are."""
    if isinstance(node, Einsum):
        for _, terms in _sums_inside(inlined_product(node)):
            if _is_zero(total_of(terms)) or (yield from all_of(_vanishes, terms)):
                return True
    elif not is_tensor(node):
        for factor in Mul.make_args(node):
            if isinstance(factor, Einsum) and (yield _vanishes, factor):
                return True
    return False


def _is_zero(value: Operand) -> bool:
    return value == 0 or isinstance(value, Zeros)


def content(node: Operand, barriers: Barriers) -> Operand | None:
    """Move the numeric content of a sum in front of the product; also a minus, where the opposite
    sum occurs already, in the product or elsewhere."""
    if not any(isinstance(operand, TensorAdd) for operand in node.operands):
        return None
    product = inlined_product(node, barriers)
    factor = S.One
    operands = list(product.operands)
    seen: set[UpToSign] = set()
    for k, operand in enumerate(operands):
        if not isinstance(operand, TensorAdd):
            continue
        found = sum_content(operand)
        inner = operand if found is S.One else divided(operand, found)
        opposite = opposite_of(inner)
        is_turned = opposite in seen or (opposite in barriers and inner not in barriers)
        seen.add(opposite if is_turned else up_to_sign(inner))
        if is_turned:
            found, inner = -found, scale(S.NegativeOne, inner)
        factor *= found
        operands[k] = inner
    return None if factor is S.One else _rescaled(product, factor, operands)


def move_sign_into_difference(node: Operand, barriers: Barriers) -> Operand | None:
    """Move a minus in front into a difference: -A (x - y) = A (y - x)."""
    if not node.coefficient.is_negative or type(node.core) is not Einsum:
        return None
    product = inlined_product(node, barriers)
    operands = list(product.operands)
    for k, operand in enumerate(operands):
        stays = operand in barriers or operands.count(operand) > 1
        if not stays and isinstance(operand, TensorAdd) and len(_signs(operand)) == 2:
            operands[k] = scale(S.NegativeOne, operand)
            return _rescaled(product, S.NegativeOne, operands)
    return None


def _rescaled(product: Product, factor: Operand, operands: list[Operand]) -> Operand:
    scalars = (factor, *product.scalars)
    return replace(product, scalars=scalars, operands=tuple(operands)).build()


def _signs(total: TensorAdd) -> set[bool]:
    return {bool(split_coefficient(term)[0].is_negative) for term in total.operands}


@memoised
def sum_content(total: TensorAdd) -> Expr:
    """Return the greatest common divisor of the terms' coefficients, negative if they all are."""
    coefficients = [split_coefficient(term)[0] for term in total.operands]
    sizes = {abs(coefficient) for coefficient in coefficients}
    if len(sizes) == 1:
        divisor = sizes.pop()
    elif all(size.is_Rational for size in sizes):
        # SymPy's gcd_list stops at a one: gcd_list([1, 2, 1/2]) is 1.
        divisor = reduce(Rational.gcd, sizes)
        if any(
            number_bits(part) > tuning.MAX_CONTENT_BITS
            for part in (divisor, *[s / divisor for s in sizes])
        ):
            return S.One
    else:
        return S.One
    return -divisor if _signs(total) == {True} else divisor


def divided(total: TensorAdd, number: Expr) -> Operand:
    """Divide a sum by a number; 0.5 / 0.5 is one, not 1.0."""
    terms = []
    for term in total.operands:
        coefficient, rest = split_coefficient(term)
        quotient = coefficient / number
        terms.append(scale(Integer(quotient) if not abs(quotient) - 1 else quotient, rest))
    return tensor_sum(terms)
