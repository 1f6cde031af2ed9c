"""Two terms of a sum, or two factors of a product, that are one function in the tables of stable
forms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sympy import cos, cosh, exp, log, sin, sinh, tanh

from ...analysis import Barriers, inlined_product, is_nonnegative, is_positive, times_entries
from ...core import Use, postorder, tuning
from ...expressions import (
    Einsum,
    Elementwise,
    Operand,
    TensorAdd,
    TensorExpr,
    TensorSymbol,
    View,
    is_tensor,
    memoised,
    split_coefficient,
    tensor_sum,
)
from .laws import is_double
from .matching import has_functions
from .nodes import pieces, reached, stable_node


def pair_of_terms(node: TensorAdd, barriers: Barriers, use: Use = Use.READING) -> Operand | None:
    """Merge two terms of a longer sum that are one function: softplus(z) - z = softplus(-z)."""
    if not tuning.STABLE_OPERANDS <= len(node.operands) <= tuning.STABLE_TERMS:
        return None
    cores = [split_coefficient(term)[1] for term in node.operands]
    below = [set(_below(core)) for core in cores]
    reach = [{core, *reached(core)} for core in cores] if use else []
    for k, core in enumerate(cores):
        if not _is_function(core):
            continue
        for j, other in enumerate(cores):
            is_near = (isinstance(other, View) and other.is_constant_fill) or below[j] & below[k]
            if j == k or not (is_near or (use and reach[j] & reach[k])):
                continue
            found = stable_node(tensor_sum([node.operands[k], node.operands[j]]), use)
            if found is not None:
                rest = [term for i, term in enumerate(node.operands) if i not in (j, k)]
                return tensor_sum([found, *rest])
    return None


def _is_function(node: Operand) -> bool:
    if not isinstance(node, Elementwise):
        return False
    return has_functions(node.body) or (node.body.is_Pow and _is_function(node.operands[0]))


def _below(core: Operand) -> tuple[Operand, ...]:
    """Return a term and the tensors in it, without their numeric factors."""
    inside = core.operands if isinstance(core, Elementwise) else ()
    if inside and core.body.is_Pow and isinstance(inside[0], Elementwise):
        inside += inside[0].operands
    return (core, *[split_coefficient(operand)[1] for operand in inside if is_tensor(operand)])


def pair_of_factors(node: Einsum, barriers: Barriers, use: Use = Use.READING) -> Operand | None:
    """Merge two factors of a product that are one function: sinh(z) / cosh(z) = tanh(z)."""
    if not _has_new_pairs(node) or _is_elementary_product(node):
        return None
    product = inlined_product(node)
    kinds = [_as_factor(operand) for operand in product.operands]
    if not any(own.is_function for own in kinds):
        return None
    tried: list[set[int]] | None = None
    places: dict[tuple[int, ...], list[int]] = {}
    for k, (operand, labels) in enumerate(zip(product.operands, product.subscripts, strict=True)):
        if (use or kinds[k].is_function) and len({*labels}) == operand.order:
            places.setdefault(labels, []).append(k)
    for labels, found in places.items():
        for j, k in _pairs([(k, kinds[k]) for k in found[: tuning.STABLE_TERMS]]):
            one, other = product.operands[j], product.operands[k]
            if not _are_related(one, other, use):
                continue
            tried = _tried(node, product.operands) if tried is None else tried
            if tried[j] & tried[k]:
                continue
            is_whole = len(product.operands) == 2 and labels == node.output
            merged = stable_node(node if is_whole else times_entries([one, other], one), use)
            if merged is not None:
                return product.replaced({j, k}, [(merged, labels)]).build()
    return None


def vanishing_beside_sum(node: Einsum, barriers: Barriers) -> Operand | None:
    """Multiply a factor that may vanish by each term of a sum, one of which is a logarithm."""
    product = inlined_product(node)
    for k, total in enumerate(product.operands):
        if not isinstance(total, TensorAdd) or not any(map(_is_log, total.operands)):
            continue
        for j, factor in enumerate(product.operands):
            if j == k or product.subscripts[j] != product.subscripts[k]:
                continue
            if is_positive(factor) or not is_nonnegative(factor):
                continue
            terms = [times_entries([factor, term], factor) for term in total.operands]
            found = [
                stable_node(own, Use.COMPUTING) if _is_log(term) else None
                for own, term in zip(terms, total.operands, strict=True)
            ]
            if any(own is not None for own in found):
                pairs = zip(found, terms, strict=True)
                merged = tensor_sum([own if new is None else new for new, own in pairs])
                return product.replaced({j, k}, [(merged, product.subscripts[k])]).build()
    return None


def _is_log(term: Operand) -> bool:
    core = split_coefficient(term)[1]
    return isinstance(core, Elementwise) and isinstance(core.body, log)


def _has_new_pairs(node: Einsum) -> bool:
    """Tell whether factors of two operands of a short product may have the same axes: two factors
    of one operand were tried when that was normalised."""
    if len(node.operands) != 2:
        return True
    axes = [{*labels} for labels in node.subscripts]
    if any(len(own) < len(labels) for own, labels in zip(axes, node.subscripts, strict=True)):
        return True
    common = axes[0] & axes[1]
    pairs = zip(node.operands, axes, strict=True)
    return bool(common) and all(type(own) is Einsum or labels == common for own, labels in pairs)


def _tried(node: Einsum, factors: Sequence[Operand]) -> list[set[int]]:
    """Return for each factor the operands of the product that are entrywise products containing it:
    two factors of such an operand were tried when it was normalised. A product of some of its
    factors that weren't inlined any more counts as one of them."""
    found: list[set[int]] = [set() for _ in factors]
    for number, inner in enumerate(node.operands):
        if type(inner) is not Einsum:
            continue
        product = inlined_product(inner)
        if {*product.subscripts} != {product.output}:
            continue
        inside = {*product.operands}
        for own, factor in zip(found, factors, strict=True):
            if factor in inside or (type(factor) is Einsum and inside.issuperset(factor.operands)):
                own.add(number)
    return found


# No table and no law has products of these functions, of any arguments, or of symbols.
ELEMENTARY = (exp, sin, cos, tanh, sinh, cosh)


class FactorKind(NamedTuple):
    """The kind of a factor: a power of a function of the tables, and a positive power of an
    elementary one or of a symbol; two of the latter aren't merged."""

    is_function: bool
    is_elementary: bool


@memoised
def _as_factor(node: TensorExpr) -> FactorKind:
    base, power = node.as_entry_power()
    is_elementary = isinstance(base, TensorSymbol)
    if isinstance(base, Elementwise) and isinstance(base.body, ELEMENTARY):
        is_elementary = not base.body.args[0].has(log)
        if is_elementary and isinstance(base.body, exp):
            is_elementary = not is_double(pieces(base)[-1][0])
    return FactorKind(_is_function(base), is_elementary and bool(power.is_positive))


def _is_elementary_product(node: Einsum) -> bool:
    """Tell whether a product is one of positive powers of elementary functions, entry by entry."""

    def unknown(product: Einsum) -> list[Einsum]:
        inside = [own for own in product.operands if type(own) is Einsum]
        return [own for own in inside if "elementary" not in own.memory]

    for product in postorder([node], unknown) if "elementary" not in node.memory else ():
        product.memory["elementary"] = {*product.subscripts} == {product.output} and all(
            own.memory["elementary"] if type(own) is Einsum else _as_factor(own).is_elementary
            for own in product.operands
        )
    is_elementary: bool = node.memory["elementary"]
    return is_elementary


def _pairs(factors: Sequence[tuple[int, FactorKind]]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of factors that may be one function."""
    others = [(k, own) for k, own in factors if not own.is_elementary]
    for place, (j, one) in enumerate(factors) if others else ():
        later = others if one.is_elementary else factors[place + 1 :]
        for k, other in later:
            if k > j and (one.is_function or other.is_function):
                yield j, k


def _are_related(one: TensorExpr, other: TensorExpr, use: Use) -> bool:
    """Tell whether two factors have operands in common, or one may vanish beside a logarithm."""
    mine, theirs = reached(one), reached(other)
    if one in theirs or other in mine or not mine.isdisjoint(theirs):
        return True
    return use == Use.COMPUTING and any(
        isinstance(f, Elementwise) and isinstance(f.body, log) and is_nonnegative(factor)
        for f, factor in ((one, other), (other, one))
    )
