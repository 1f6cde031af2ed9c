"""Equations as plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sympy import Expr

from .plans import Plan


@dataclass(frozen=True, eq=False)
class EquationBody:
    """The body of a solution instruction.

    parameters : the unknown and the symbols of other operands, the arguments of the plan
    plan : what computes F and its Jacobian
    """

    parameters: tuple[Expr, ...]
    plan: Plan

    def with_plan(self, change: Callable[[Plan], Plan]) -> EquationBody:
        """Return a body whose plan has been changed."""
        return replace(self, plan=change(self.plan))


def solutions_refused(backend: str) -> str:
    """Return the message that a backend has no Newton's method."""
    return (
        f"backend {backend!r} has no Newton's method for solution and minimizer; use another one, "
        "such as 'numpy' or 'jax'"
    )
