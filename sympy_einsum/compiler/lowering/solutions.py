"""Lowering of solutions: one instruction, with the plan of the equation and its Jacobian."""

from __future__ import annotations

from ...expressions import Solution
from ..ir.solutions import EquationBody
from .context import Lowering


def lower_solution(builder: Lowering, node: Solution) -> int:
    """Lower the solution of an equation, by Newton's method."""
    body = EquationBody(node.parameters, builder.plan_body(node.outputs))
    inputs = [builder.value(operand) for operand in node.operands]
    return builder.emit_fresh("solution", *inputs, params=(body,))
