"""Two terms of a sum, or two factors of a product, that are one function in the tables of stable
forms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sympy import cos, cosh, exp, log, sin, sinh, tanh

from ...analysis import Closed, inlined_product, is_nonnegative, times_entries
from ...core import Use, tuning
from ...expressions import (
    Einsum,
    Elementwise,
    Operand,
    TensorAdd,
    TensorExpr,
    View,
    is_tensor,
    memoised,
    split_coefficient,
    tensor_sum,
)
from .matching import has_functions
from .nodes import named, reached


def pair_of_terms(node: TensorAdd, barriers: Closed, use: Use = Use.READING) -> Operand | None:
    """Two terms of a longer sum that are one function: softplus(z) - z = softplus(-z)."""
    if not tuning.STABLE_OPERANDS <= len(node.operands) <= tuning.STABLE_TERMS:
        return None
    cores = [split_coefficient(term)[1] for term in node.operands]
    below = [set(_below(core)) for core in cores]
    reach = [{core, *reached(core)} for core in cores] if use else []
    for k, core in enumerate(cores):
        if not _is_function(core):
            continue
        for j, other in enumerate(cores):
            is_near = _is_fill(other) or below[j] & below[k]
            if j == k or not (is_near or (use and reach[j] & reach[k])):
                continue
            found = named(tensor_sum([node.operands[k], node.operands[j]]), use)
            if found is not None:
                rest = [term for i, term in enumerate(node.operands) if i not in (j, k)]
                return tensor_sum([found, *rest])
    return None


def _is_fill(core: Operand) -> bool:
    return isinstance(core, View) and core.is_constant_fill


def _is_function(node: Operand) -> bool:
    return isinstance(node, Elementwise) and has_functions(node.body)


def _below(core: Operand) -> tuple[Operand, ...]:
    """A term and the tensors in it, without their numeric factors."""
    inside = core.operands if isinstance(core, Elementwise) else ()
    return (core, *[split_coefficient(operand)[1] for operand in inside if is_tensor(operand)])


def pair_of_factors(node: Einsum, barriers: Closed, use: Use = Use.READING) -> Operand | None:
    """Two factors of a product that are one function: sinh(z) / cosh(z) = tanh(z)."""
    product = inlined_product(node)
    kinds = [_as_factor(operand) for operand in product.operands]
    if not any(own.is_function for own in kinds):
        return None
    places: dict[tuple[int, ...], list[int]] = {}
    for k, (operand, labels) in enumerate(zip(product.operands, product.subscripts, strict=True)):
        if (use or kinds[k].is_function) and len({*labels}) == operand.order:
            places.setdefault(labels, []).append(k)
    for labels, found in places.items():
        for j, k in _pairs([(k, kinds[k]) for k in found[: tuning.STABLE_TERMS]]):
            one, other = product.operands[j], product.operands[k]
            if not _are_related(one, other, use):
                continue
            is_whole = len(product.operands) == 2 and labels == node.output
            merged = named(node if is_whole else times_entries([one, other], one), use)
            if merged is not None:
                return product.replaced({j, k}, [(merged, labels)]).build()
    return None


# Products of these functions of whatever arguments are in no table and no law.
ELEMENTARY = (exp, sin, cos, tanh, sinh, cosh)


class FactorKind(NamedTuple):
    """Whether a factor is a power of a function of the tables, and whether it is a positive power
    of an elementary one: two such aren't merged."""

    is_function: bool
    is_elementary: bool


@memoised
def _as_factor(node: TensorExpr) -> FactorKind:
    base, power = node.as_entry_power()
    is_elementary = isinstance(base, Elementwise) and isinstance(base.body, ELEMENTARY)
    if is_elementary and (not power.is_positive or base.body.args[0].has(log)):
        is_elementary = False
    return FactorKind(_is_function(base), is_elementary)


def _pairs(factors: Sequence[tuple[int, FactorKind]]) -> Iterator[tuple[int, int]]:
    """The pairs of factors that may be one function."""
    others = [(k, own) for k, own in factors if not own.is_elementary]
    for place, (j, one) in enumerate(factors) if others else ():
        later = others if one.is_elementary else factors[place + 1 :]
        for k, other in later:
            if k > j and (one.is_function or other.is_function):
                yield j, k


def _are_related(one: TensorExpr, other: TensorExpr, use: Use) -> bool:
    """Tell whether two factors are made of the same, or one vanishes beside a logarithm maybe."""
    mine, theirs = reached(one), reached(other)
    if one in theirs or other in mine or not mine.isdisjoint(theirs):
        return True
    return use == Use.COMPUTING and any(
        isinstance(f, Elementwise) and isinstance(f.body, log) and is_nonnegative(factor)
        for f, factor in ((one, other), (other, one))
    )
