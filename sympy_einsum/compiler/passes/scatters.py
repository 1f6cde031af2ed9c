"""Scatters of several terms of a sum into one array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..ir.instruction_rules import Instruction
from ..ir.plans import Plan, Rewriting, of_instructions

# By positions, the values that are added there, each with a sign.
Groups = dict[tuple[int, ...], list[tuple[int, int]]]


@of_instructions("scatter")
def merge_scatters(plan: Plan) -> Plan:
    """Scatter the terms of a sum that nothing else needs into one array: this saves a large, mostly
    zero array for each of them."""
    uses = plan.uses()
    written = plan.written()
    found = {
        number: scattered
        for number, step in enumerate(plan.instructions)
        if step.op == "add" and number not in written
        if len(scattered := _scattered(plan, step, uses)) > 1
    }
    if not found:
        return plan
    new = Rewriting()
    for number, step in enumerate(plan.instructions):
        if number not in found:
            new.keep(step)
            continue
        terms = list(zip(step.inputs, *step.params, strict=True))
        (lengths, _) = plan.instructions[found[number][0]].params
        groups: Groups = {}
        for term, sign in terms:
            if term in found[number]:
                value, *positions = new.inputs(plan.instructions[term])
                groups.setdefault(tuple(positions), []).append((value, sign))
        pairs = [(_total(new, own), *positions) for positions, own in groups.items()]
        if len(pairs) == 1:
            total = new.emit("scatter", *pairs[0], params=(lengths, False))
        else:
            total = new.emit("scatters", *[k for pair in pairs for k in pair], params=(lengths,))
        others = [(new.place[term], sign) for term, sign in terms if term not in found[number]]
        new.place.append(_total(new, [(total, 1), *others]))
    return new.plan(plan.results)


def _scattered(plan: Plan, total: Instruction, uses: Mapping[int, int]) -> list[int]:
    """Return the terms of a sum that are added at positions, for it alone, on the same axes."""
    steps = {k: plan.instructions[k] for k in total.inputs if uses[k] == 1}
    found = [k for k, step in steps.items() if step.op == "scatter" and not step.params[1]]
    return [k for k in found if steps[k].params == steps[found[0]].params]


def _total(new: Rewriting, terms: Sequence[tuple[int, int]]) -> int:
    """Emit a sum with signs, of values of one shape if it begins with one that is taken away."""
    terms = sorted(terms, key=lambda term: -term[1])
    values, signs = zip(*terms, strict=True)
    if signs[0] < 0:
        inner = _total(new, [(value, 1) for value in values])
        return new.emit("add", inner, params=((-1,),))
    return values[0] if len(values) == 1 else new.emit("add", *values, params=(signs,))
