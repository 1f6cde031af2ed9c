"""Inner products as full contractions, for libraries whose product of two vectors is slow."""

from __future__ import annotations

from ..ir.plans import Plan


def with_inner_products(plan: Plan) -> Plan:
    """Replace the product of two vectors by the full contraction."""
    steps = [
        step._replace(op="vdot") if step.op == "dot" and not step.shape else step
        for step in plan.instructions
    ]
    return plan._replace(instructions=steps)
