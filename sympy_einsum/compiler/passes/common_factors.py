"""Factoring of common factors out of sums in a plan: only the whole plan tells which products
nothing else needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from sympy import Expr, S

from ..ir.instruction_rules import Instruction
from ..ir.plans import Plan, Rewriting, of_instructions, without_dead_code


class _Factored(NamedTuple):
    """A factor, the number of its instruction or a number itself, and a sum with signs."""

    factor: int | Expr
    terms: Sequence[int]
    signs: Sequence[int]


@of_instructions("multiply")
def factored(plan: Plan) -> Plan:
    """Factor a * b ± a * c into a * (b ± c) where this saves a product; a may be a number, and
    there may be more terms."""
    uses = plan.uses()
    written = plan.written()
    found = {
        number: parts
        for number, step in enumerate(plan.instructions)
        if step.op == "add" and number not in written
        if (parts := _parts(plan, step, uses)) is not None
    }
    if not found:
        return plan
    new = Rewriting()
    emit = cache(new.emit)
    for number, step in enumerate(plan.instructions):
        if number in found:
            factor, terms, signs = found[number]
            total = emit("add", *[new.place[k] for k in terms], params=(tuple(signs),))
            is_value = isinstance(factor, int)
            first = new.place[factor] if is_value else emit("scalar", params=(factor,))
            new.place.append(emit("multiply", first, total))
        elif step.op == "add" and number not in written:
            new.place.append(emit(step.op, *new.inputs(step), params=step.params))
        else:
            new.keep(step)
    return new.plan(plan.results)


def _parts(plan: Plan, step: Instruction, uses: Counter[int]) -> _Factored | None:
    """Return the factor that all terms of a sum have, unless all are needed elsewhere too."""
    terms = [plan.instructions[k] for k in step.inputs]
    if len(terms) < 2 or any(t.op != "multiply" or len(t.inputs) != 2 for t in terms):
        return None
    if any(t.shape != terms[0].shape for t in terms) or all(uses[k] > 1 for k in step.inputs):
        return None
    (signs,) = step.params
    return _number(plan, terms, signs) or _tensor(terms, signs)


def _number(plan: Plan, terms: Sequence[Instruction], signs: Sequence[int]) -> _Factored | None:
    """Return a number, maybe with another sign in some terms."""
    firsts = [plan.instructions[term.inputs[0]] for term in terms]
    numbers = [first.params[0] if first.op == "scalar" else S.NaN for first in firsts]
    if not all(number.is_Rational and abs(number) == abs(numbers[0]) for number in numbers):
        return None
    size = abs(numbers[0])
    own = [sign * int(number / size) for sign, number in zip(signs, numbers, strict=True)]
    if max(own) < 0:
        size, own = -size, [-sign for sign in own]
    pairs = sorted(zip(own, [term.inputs[1] for term in terms], strict=True), key=lambda p: -p[0])
    return _Factored(size, [k for _, k in pairs], [sign for sign, _ in pairs])


def _tensor(terms: Sequence[Instruction], signs: Sequence[int]) -> _Factored | None:
    """Return a factor of two terms; of a square it is the base."""
    common = set(terms[0].inputs) & set(terms[1].inputs)
    if len(common) != 1 or len(terms) != 2:
        return None
    factor = common.pop()
    others = [next(k for k in t.inputs if k != factor) for t in terms if t.inputs != (factor,) * 2]
    if len(others) != 2:
        return None
    is_reversed = signs[0] < signs[1]
    return _Factored(
        factor, others[::-1] if is_reversed else others, signs[::-1] if is_reversed else signs
    )


@of_instructions("multiply")
def with_known_multiples(plan: Plan) -> Plan:
    """Share subexpressions up to scale: c * (a * b) is (c * a) * b where c * a is known already, or
    where its opposite is and the product is a term of a sum."""
    users: dict[int, list[int]] = {k: [len(plan.instructions)] for k in plan.results}
    for number, step in enumerate(plan.instructions):
        for k in step.inputs:
            users.setdefault(k, []).append(number)
    instructions = list(plan.instructions)
    known: dict[tuple[int, Expr], tuple[int, Expr]] = {}
    negated: set[int] = set()
    for number, step in enumerate(plan.instructions):
        if not negated.isdisjoint(step.inputs):
            instructions[number] = _with_negated(step, negated)
        factor = _factor(plan, step)
        if factor is None:
            continue
        base = step.inputs[1]
        for one, other in _pairs(plan.instructions[base]) if len(users[base]) == 1 else ():
            place, own = known.get((one, abs(factor)), (0, S.Zero))
            is_term = own == -factor and _is_term(plan, users.get(number, ()))
            if own == factor or is_term:
                instructions[number] = step._replace(inputs=(other, place))
                negated |= {number} if is_term else set()
                break
        known.setdefault((base, abs(factor)), (number, factor))
    return without_dead_code(instructions, plan.results)


def _factor(plan: Plan, step: Instruction) -> Expr | None:
    """Return the number that an array is multiplied by."""
    if step.op != "multiply" or len(step.inputs) != 2 or not step.shape:
        return None
    first = plan.instructions[step.inputs[0]]
    return first.params[0] if first.op == "scalar" and first.params[0].is_Rational else None


def _pairs(product: Instruction) -> list[tuple[int, ...]]:
    """Return the factors of a product of two, in both orders."""
    is_pair = product.op == "multiply" and len(product.inputs) == 2
    return [product.inputs, product.inputs[::-1]] if is_pair else []


def _is_term(plan: Plan, users: Sequence[int]) -> bool:
    """Tell whether all that needs a product is a sum."""
    return (
        len(users) == 1
        and users[0] < len(plan.instructions)
        and (plan.instructions[users[0]].op == "add")
    )


def _with_negated(total: Instruction, negated: set[int]) -> Instruction:
    """Return a sum of which some terms have become their opposites, beginning with one that is
    added."""
    pairs = zip(total.inputs, total.params[0], strict=True)
    terms = [(k, -sign if k in negated else sign) for k, sign in pairs]
    terms.sort(key=lambda term: -term[1])
    inputs, signs = zip(*terms, strict=True)
    return total._replace(inputs=inputs, params=(signs,))
