"""Traces of inverses by factors: the inverse isn't multiplied out."""

from __future__ import annotations

from ..ir.instruction_rules import SPARSE
from ..ir.plans import Plan, of_instructions, without_dead_code


@of_instructions("by_factors")
def with_traces(plan: Plan) -> Plan:
    """Replace the trace of an inverse by factors by one instruction."""
    steps = [*plan.instructions]
    uses = plan.uses()
    for number, total in enumerate(plan.instructions):
        if total.op != "sum" or total.shape or uses[total.inputs[0]] > 1:
            continue
        diagonal = steps[total.inputs[0]]
        if diagonal.op != "diagonal" or uses[diagonal.inputs[0]] > 1:
            continue
        inverse = steps[diagonal.inputs[0]]
        if inverse.op != "by_factors" or inverse.params[1] == SPARSE:
            continue
        if inverse.params[0] == "inv":
            params = ("trace of inv", inverse.params[1], ())
            steps[number] = inverse._replace(params=params, shape=())
    return without_dead_code(steps, plan.results)
