"""Lowering of sums: dense terms are added first, terms on a diagonal then added in place."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import S

from ...core import tuning
from ...expressions import (
    Operand,
    TensorAdd,
    View,
    has_large_factor,
    shape_of,
    split_coefficient,
    tensor_sum,
)
from ..ir.instruction_rules import broadcast_shape
from .context import Lowering
from .factoring import common_factor
from .outer_products import is_own_outer, sum_of_outer
from .scheduling import terms_of
from .selectors import Axis, ZeroPadded, sources_of_types, write, written_together
from .views import has_stretched_axes, is_padded, narrow_value, padded_value


def lower_sum(builder: Lowering, node: TensorAdd) -> int:
    """Lower a sum."""
    terms = list(terms_of(node, builder.uses, builder.put_off))
    large = [term for term in terms if has_large_factor(term)]
    if 1 < len(large) < len(terms) and not all(map(is_padded, large)):
        rest = [term for term in terms if not has_large_factor(term)]
        parts = [builder.value(tensor_sum(large)), builder.value(tensor_sum(rest))]
        return builder.emit("add", *parts, params=((1, 1),))
    places = [term for term in terms if is_padded(term)]
    if not places:
        return _dense_sum(builder, terms)
    dense = [term for term in terms if not is_padded(term)]
    total, owned = _writable_sum(builder, dense) if dense else (None, True)
    padded = _by_place(builder, [padded_value(builder, term) for term in places])
    if total is None:
        return written_together(builder, padded, node.shape)
    sources = sources_of_types(builder, [term.value for term in padded])
    total = builder.emit_fresh("writable", total, *sources, params=(owned,))
    for term in padded:
        write(builder, total, term, add=True)
    return total


def _by_place(builder: Lowering, terms: Sequence[ZeroPadded]) -> list[ZeroPadded]:
    """Group zero-padded values by their place, those for one place added."""
    values: dict[tuple[Axis, ...], list[int]] = {}
    for value, axes in terms:
        values.setdefault(axes, []).append(value)
    return [
        ZeroPadded(
            own[0] if len(own) == 1 else builder.emit("add", *own, params=((1,) * len(own),)), at
        )
        for at, own in values.items()
    ]


def _dense_sum(builder: Lowering, terms: Sequence[Operand]) -> int:
    outer = dict.fromkeys(term for term in terms if is_own_outer(builder, term))
    if len(outer) > 1:
        total = sum_of_outer(builder, [*outer])
        rest = [term for term in terms if term not in outer]
        return (
            builder.emit("add", total, _dense_sum(builder, rest), params=((1, 1),))
            if rest
            else total
        )
    if len(terms) > tuning.MAX_SUMMANDS:
        return _running_total(builder, terms)
    inputs, signs = _short(builder, terms)
    if len(terms) == 2 and signs[0] == signs[1] == 1:
        for one, other in (inputs, inputs[::-1]):
            if builder.untransposed(other) == (one, (1, 0)):
                return builder.emit("add_transposed", one)
    if len(terms) == 1 and signs[0] > 0:
        return inputs[0]
    return builder.emit("add", *inputs, params=(tuple(signs),))


def _writable_sum(builder: Lowering, terms: Sequence[Operand]) -> tuple[int, bool]:
    """Emit a sum that is written to afterwards; also tell whether it is an array of its own, which
    an equal sum elsewhere doesn't share."""
    if len(terms) > tuning.MAX_SUMMANDS:
        return _running_total(builder, terms), False
    inputs, signs = _short(builder, terms)
    if len(terms) == 1 and signs[0] > 0:
        return inputs[0], False
    return builder.emit_fresh("add", *inputs, params=(tuple(signs),)), True


def _short(builder: Lowering, terms: Sequence[Operand]) -> tuple[list[int], list[int]]:
    """Return the terms of a short sum and their signs."""
    inputs, signs = [], []
    # The sum broadcasts terms that are constant along axes.
    narrow = list(map(_is_stretched, terms))
    for term, stretched in zip(terms, narrow, strict=True):
        sign, value = _signed(builder, term, stretched)
        inputs.append(value)
        signs.append(sign)
    shape = shape_of(terms[0])
    if broadcast_shape([builder.instructions[k].shape for k in inputs]) != shape:
        # Nothing else gives it its shape.
        inputs[0] = _signed(builder, terms[0], False)[1]
    return inputs, signs


def _running_total(builder: Lowering, terms: Sequence[Operand]) -> int:
    """Emit a long sum, term by term, so that none outlives the next; a common factor is multiplied
    once."""
    found = common_factor(terms)
    if found is not None:
        factor, rest = found
        total = builder.value(tensor_sum(rest))
        value = builder.value(factor)
        tensor = bool(builder.instructions[value].shape)
        return builder.emit("multiply", value, total) if tensor else builder.scaled(value, total)
    terms = sorted(terms, key=_is_stretched)
    sign, total = _signed(builder, terms[0], False)
    for term in terms[1:]:
        second, value = _signed(builder, term, _is_stretched(term))
        total = builder.emit("add", total, value, params=((sign, second),))
        sign = 1
    return total


def _is_stretched(term: Operand) -> bool:
    return isinstance(term, View) and has_stretched_axes(term)


def _signed(builder: Lowering, term: Operand, stretched: bool) -> tuple[int, int]:
    """Return the sign of a term of a sum, and the value behind it, without the axes along which it
    is constant if these are stretched."""
    coefficient, core = split_coefficient(term)
    negative = coefficient is S.NegativeOne
    term = core if negative else term
    value = narrow_value(builder, term) if stretched else builder.value(term)
    return (-1 if negative else 1), value
