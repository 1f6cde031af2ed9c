"""Rules for sums.

References
==========

[W] M. Wenig, P. Rump, M. Blacher, J. Giesen, "The Syntax and Semantics of einsum", 2025.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from math import comb, prod
from operator import and_
from typing import Any, TypeAlias

from sympy import Expr, Mul, S, expand, sympify

from ..analysis import (
    Barriers,
    Product,
    cost,
    distributed,
    frontier,
    inlined_product,
    is_difference_of_rows,
    like_terms,
    with_common_output,
)
from ..core import tuning
from ..expressions import (
    SIGMOID,
    Einsum,
    Operand,
    Positions,
    TensorAdd,
    TensorExpr,
    View,
    apply_body,
    contract,
    contract_part,
    scalar_product,
    scale,
    split_coefficient,
    tensor_sum,
    total_of,
)
from .equal_axes import equal_axes, has_deltas, sum_on_diagonal


def collect(node: Operand, barriers: Barriers) -> Operand | None:
    """Collect terms that differ in their scalar factors alone: s A + t A = (s + t) A."""
    collected = like_terms(node.operands)
    if len(collected) == len(node.operands):
        return None
    return tensor_sum([scale(factor, tensor) for tensor, factor in collected.items()])


def flatten_transposed_sums(node: Operand, barriers: Barriers) -> Operand | None:
    """Flatten the transpose of a sum in a sum: A + (B + C)' = A + B' + C'."""
    if not any(_rearranged_sum(term) for term in node.operands):
        return None
    terms: list[Operand] = []
    for term in node.operands:
        parts = (
            distributed(inlined_product(term), tuning.MAX_PAIRED_TERMS)
            if _rearranged_sum(term)
            else None
        )
        terms.extend([part.build() for part in parts] if parts else [term])
    return tensor_sum(terms)


def transpose_terms(node: Operand, barriers: Barriers) -> Operand | None:
    """Transpose the terms of a transposed sum, where most are transposed: (A' - B)' = A - B'."""
    total = node.core
    if not isinstance(total, TensorAdd) or total in barriers or not _is_transpose(node):
        return None
    opposite_terms = [
        contract((term,), (node.subscripts[-1],), node.output, dict(enumerate(node.lengths)))
        for term in total.operands
    ]
    # A product has its axes in any order.
    before, after = [
        sum(_is_transpose(term) and type(term.core) is not Einsum for term in terms)
        for terms in (total.operands, opposite_terms)
    ]
    if after > before:
        return None
    return scale(node.coefficient, tensor_sum(opposite_terms))


def _is_transpose(node: Operand) -> bool:
    """Tell whether a node has the axes of its core in another order, and is a number of times
    that."""
    is_scaled = isinstance(node, View) and all(scalar.is_Number for scalar in node.scalars)
    if not is_scaled or node.core is None:
        return False
    inner, outer = node.subscripts[-1], node.output
    return inner != outer and sorted(inner) == sorted(outer) == sorted(set(inner))


def _rearranged_sum(term: Operand) -> bool:
    if not isinstance(term, View) or not isinstance(term.core, TensorAdd):
        return False
    is_scaled = all(scalar.is_Number for scalar in term.scalars)
    return is_scaled and not is_difference_of_rows(term.core)


def add_diagonals(node: Operand, barriers: Barriers) -> Operand | None:
    """Add terms on one diagonal there: I + diag(x) = diag(1 + x)."""
    groups: dict[Any, list[Operand]] = {}
    for term in node.operands:
        axes = equal_axes(term)
        groups.setdefault(axes if has_deltas(axes) else term, []).append(term)
    if len(groups) == len(node.operands):
        return None
    added = [
        group[0] if len(group) == 1 else sum_on_diagonal(axes, group)
        for axes, group in groups.items()
    ]
    return tensor_sum(added)


def common_scalar(node: Operand, barriers: Barriers) -> Operand | None:
    """Pull a scalar factor of every term out of a sum where that costs no more: s A + s B = s (A +
    B). Scaling two vectors may cost less than scaling a matrix made of them."""
    scalars = [scalar_product(getattr(term, "scalars", ())) for term in node.operands]
    powers = [_symbolic_powers(scalar) for scalar in scalars]
    common = S.One
    for base in powers[0]:
        exponents = [found.get(base, S.Zero) for found in powers]
        if all(e.is_Number and e > 0 for e in exponents):
            common *= base ** min(exponents)
        elif all(e.is_Number and e < 0 for e in exponents):
            common *= base ** max(exponents)
    if common is S.One:
        return None
    numbers = {abs(s.as_coeff_Mul()[0]) for s in scalars}
    if len(numbers) == 1:
        common *= numbers.pop()
    outside = scale(common, tensor_sum([scale(1 / common, term) for term in node.operands]))
    given = frontier([inlined_product(term) for term in node.operands])
    return outside if cost([outside], given) <= cost([node], given) else None


def _symbolic_powers(scalar: Expr) -> dict[Expr, Expr]:
    """Return the bases of a product with their exponents, without numbers. A power with a symbolic
    exponent, such as an exponential, is a base itself."""
    found: dict[Expr, Expr] = {}
    for base, exponent in scalar.as_powers_dict().items():
        times = sympify(exponent)  # an int for some numbers
        power, times = (base, times) if times.is_Number else (base**times, S.One)
        if not power.is_number:
            found[power] = times
    return found


def scaled_differences(node: Operand, barriers: Barriers) -> Operand | None:
    """Take a common factor out of the differences of all rows from all others before
    differentiating by it: X_i / s - X_j / s = (X_i - X_j) / s. A sweep differentiates a sum term by
    term; where rows coincide their parts cancel only up to rounding, and a kernel divides them by
    the distance."""
    if len(node.operands) > tuning.MAX_PAIRED_TERMS or not is_difference_of_rows(node):
        return None
    terms = [with_common_output(inlined_product(term)) for term in node.operands]
    output = tuple(range(node.order))
    if any(term.output != output for term in terms):
        return None
    factors = [
        [
            *[(own, ()) for own in Mul.make_args(scalar_product(term.scalars))],
            *zip(term.operands, term.subscripts, strict=True),
        ]
        for term in terms
    ]
    counts = reduce(and_, map(Counter, factors))
    common = [
        (own, labels)
        for own, labels in counts.elements()
        if {*labels} <= {*output} and any(symbol in barriers for symbol in own.free_symbols)
    ]
    if not common:
        return None
    lengths = dict(zip(output, node.shape, strict=True))
    rests = []
    for term, found in zip(terms, factors, strict=True):
        for pair in common:
            found.remove(pair)
        operands, labels = [o for o, _ in found], [i for _, i in found]
        rests.append(contract(operands, labels, output, term.lengths))
    return contract(
        [tensor_sum(rests), *[own for own, _ in common]],
        [output, *[labels for _, labels in common]],
        output,
        lengths,
    )


def complement_sigmoid(node: Operand, barriers: Barriers) -> Operand | None:
    """Replace sigmoid(-z) by 1 - sigmoid(z) where that leaves one term with sigmoid(z)."""
    axes = tuple(range(node.order))
    places: dict[tuple[Operand, tuple[int, ...]], tuple[int, Product]] = {}
    for t, term in enumerate(node.operands[: tuning.MAX_PAIRED_TERMS]):
        product = with_common_output(inlined_product(term))
        for k, operand in enumerate(product.operands):
            entrywise = product.output == axes and set(product.subscripts[k]) <= set(axes)
            if entrywise and getattr(operand, "body", None) == SIGMOID:
                rest = product.replaced({k})
                places[operand.operands[0], product.subscripts[k]] = t, rest
    for (z, labels), (t, rest) in places.items():
        opposite, other = places.get((scale(S.NegativeOne, z), labels), (t, rest))
        if opposite == t or split_coefficient(z)[0].is_negative:
            continue
        factor = tensor_sum(
            [*_expanded(rest), *[scale(S.NegativeOne, term) for term in _expanded(other)]]
        )
        if not isinstance(factor, TensorAdd):
            sigma = apply_body(SIGMOID, (z,))
            merged = contract((factor, sigma), (axes, labels), axes, dict(enumerate(node.shape)))
            left = [term for k, term in enumerate(node.operands) if k not in (t, opposite)]
            return tensor_sum([*left, other.build(), merged])
    return None


def _expanded(product: Product) -> list[Operand]:
    return [term.build() for term in distributed(product, tuning.MAX_PAIRED_TERMS) or [product]]


def expand_scalar(node: Operand, barriers: Barriers) -> Operand | None:
    """Multiply out a scalar by SymPy where the result isn't too long."""
    if not (node.is_Mul or node.is_Pow) or _expanded_terms(node) > tuning.MAX_EXPANDED_TERMS:
        return None
    return expand(node)


def _expanded_terms(expr: Operand) -> int:
    """Count how many terms a product of sums and powers of sums has at most."""
    if expr.is_Add:
        return sum(map(_expanded_terms, expr.args))
    if expr.is_Mul:
        return prod(map(_expanded_terms, expr.args))
    if expr.is_Pow and expr.exp.is_Integer:
        power, terms = abs(int(expr.exp)), _expanded_terms(expr.base)
        return comb(power + terms - 1, power)
    return 1


def factor_common(node: Operand, barriers: Barriers) -> Operand | None:
    """Pull out a factor that several terms have in common where that is cheaper [W, thm 5.4]."""
    if len(node.operands) > tuning.MAX_PAIRED_TERMS:
        return None
    given = frontier([inlined_product(term, barriers) for term in node.operands])
    prices = [(cost([new], given), new) for new in factorings(node.operands, barriers)]
    best = min(prices, key=lambda pair: pair[0], default=None)
    return None if best is None or best[0] >= cost([node], given) else best[1]


def factorings(operands: Sequence[Operand], barriers: Barriers = ()) -> Iterator[Operand]:
    """Yield sums of tensors of one shape, or of scalars, with a common factor of several terms
    pulled out, the factor of most terms first.

    This search alone finds factors with summed indices, in any of the terms, and is for short sums.
    What *all* terms of a long one have in common is factored out in lowering
    (compiler/lowering/factoring.py); which products nothing else needs, only a whole plan knows
    (compiler/passes/common_factors.py)."""
    terms = [with_common_output(_as_product(term, barriers)) for term in operands]
    seen = Counter(operand for term in terms for operand in set(term.operands))
    places: dict[Place, dict[int, int]] = {}
    for t, term in enumerate(terms):
        for k, operand in enumerate(term.operands):
            if seen[operand] > 1 and len(term.operands) > 1:
                places.setdefault(_place(operand, term, k), {}).setdefault(t, k)
    # Factors that the same terms share entry by entry are pulled out together.
    groups: dict[object, list[dict[int, int]]] = {}
    for place, found in places.items():
        if len(found) > 1:
            is_by_entries = all(label >= 0 for label in place[1])
            groups.setdefault(tuple(found) if is_by_entries else place, []).append(found)
    for group in sorted(groups.values(), key=lambda group: -len(group[0]))[
        : tuning.MAX_COMMON_FACTORS
    ]:
        together = _pulled_out(terms, group, operands)
        alone = group if together is None and len(group) > 1 else ()
        for factored in (together, *[_pulled_out(terms, [found], operands) for found in alone]):
            if factored is not None:
                yield factored


def _as_product(term: Operand, barriers: Barriers) -> Product:
    """Return a term as a product; in a stock one the first scalar product of tensors is inlined."""
    if isinstance(term, TensorExpr):
        return inlined_product(term, barriers)
    factors = Mul.make_args(term)
    core = next((f for f in factors if isinstance(f, Einsum) and any(f.subscripts)), None)
    if core is None:
        return Product((term,), (), (), (), {})
    rest = tuple(factor for factor in factors if factor is not core)
    return replace(inlined_product(core, barriers), scalars=rest)


# A factor, its labels and those of the term.
Place: TypeAlias = tuple[Operand, tuple[int, ...], tuple[int, ...]]


def _place(operand: Operand, term: Product, k: int) -> Place:
    """Return the key in which two occurrences of a factor must agree: output axes, and inner labels
    by first appearance."""
    names: dict[int, int] = {}
    labels = [
        i if i in term.output else names.setdefault(i, -1 - len(names)) for i in term.subscripts[k]
    ]
    return operand, tuple(labels), term.output


def _is_placing(term: Product, j: int, inner: Sequence[int]) -> bool:
    """Tell whether an operand zero-pads the rest of a term, which is to be done last."""
    is_position = isinstance(term.operands[j], Positions)
    return is_position and term.subscripts[j][-1] in (*term.output, *inner)


def _pulled_out(
    terms: Sequence[Product], group: Sequence[dict[int, int]], operands: Sequence[Operand]
) -> Operand:
    """Factor a sum: the common factors, given by their places in the terms, times the sum of the
    cofactors."""
    rests = []
    axes: tuple[int, ...] = ()
    for t in reversed(group[0]):
        term = terms[t]
        chosen = [found[t] for found in group]
        own = dict.fromkeys(i for k in chosen for i in term.subscripts[k])
        others = [j for j in range(len(term.operands)) if j not in chosen]
        inner = tuple(i for i in own if i not in term.output)
        present = {i for j in others for i in term.subscripts[j]}
        outer = {i for i in term.output if i in present}
        lone = [i for i in term.output if i not in present and i not in own]
        names = dict(zip(inner, range(-1, -1 - len(inner), -1), strict=True))
        if lone or not present.intersection((*inner, *outer)):
            return None
        if any(_is_placing(term, j, inner) for j in others):
            return None
        if not axes:
            # In the order in which the first rest has them, so that it isn't transposed.
            order = [i for j in others for i in term.subscripts[j] if i in outer or i in inner]
            axes = tuple(names.get(i, i) for i in dict.fromkeys((*order, *inner)))
            first = term, chosen, inner
        elif outer != {i for i in axes if i >= 0}:
            return None
        label = {name: i for i, name in names.items()}
        rest = contract_part(
            [*term.scalars, *[term.operands[j] for j in others]],
            [()] * len(term.scalars) + [term.subscripts[j] for j in others],
            [label.get(i, i) for i in axes],
            term.lengths,
        )
        rests.append(rest)
    term, chosen, inner = first
    factored = contract_part(
        [*[term.operands[k] for k in chosen], tensor_sum(rests)],
        [*[term.subscripts[k] for k in chosen], [inner[-1 - i] if i < 0 else i for i in axes]],
        term.output,
        term.lengths,
    )
    return total_of([factored, *(o for t, o in enumerate(operands) if t not in group[0])])
