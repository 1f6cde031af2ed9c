"""Bodies of loops as plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from ...expressions import VALUES, Recurrence
from .plans import Plan

# Instructions whose first parameter is a body with a plan of its own.
BODIES = ("loop", "solution")


@dataclass(frozen=True, eq=False)
class ScanBody:
    """The body of a loop instruction.

    loop : the loop, whose symbols are the arguments of the plan
    plan : what computes the next values of the carries, then the values of the step
    results : the results that are wanted: kinds, and places of carries or values
    positions : for each output of the plan whether it is made of positions
    """

    loop: Recurrence
    plan: Plan
    results: tuple[tuple[str, int], ...]
    positions: tuple[bool, ...]

    def has_positions(self, number: int) -> bool:
        """Tell whether a result is made of positions."""
        kind, place = self.results[number]
        return self.positions[place + (len(self.loop.carries) if kind == VALUES else 0)]

    @cached_property
    def paths(self) -> dict[int, tuple[int, int]]:
        """The carries of which the values before and after each step are wanted, which are slices
        of one array: the places of these results."""
        values = {
            self.loop.values[place]: number
            for number, (kind, place) in enumerate(self.results)
            if kind == VALUES
        }
        return {
            k: (values[carry.symbol], values[carry.new])
            for k, carry in enumerate(self.loop.carries)
            if carry.symbol in values and carry.new in values
        }

    @cached_property
    def slices(self) -> set[int]:
        """The results that are slices."""
        return {place for pair in self.paths.values() for place in pair}

    def with_plan(self, change: Callable[[Plan], Plan]) -> ScanBody:
        """Return a body whose plan has been changed."""
        return replace(self, plan=change(self.plan))


def in_bodies(change: Callable[[Plan], Plan]) -> Callable[[Plan], Plan]:
    """Return a pass that changes the plans of bodies too, inner ones first."""

    def changed(plan: Plan) -> Plan:
        if any(step.op in BODIES for step in plan.instructions):
            steps = [
                step._replace(params=(step.params[0].with_plan(changed),))
                if step.op in BODIES
                else step
                for step in plan.instructions
            ]
            plan = plan._replace(instructions=steps)
        return change(plan)

    return changed
