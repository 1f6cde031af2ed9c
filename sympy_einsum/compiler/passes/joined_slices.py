"""Functions of adjacent slices of an array, such as gates of a cell, computed by one call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sympy import Expr

from ..ir.instruction_rules import Instruction, Slice
from ..ir.plans import Plan, Rewriting
from ..ir.scans import ScanBody


class _SlicedCall(NamedTuple):
    """A function of a slice along one axis: its number, its body, the number of the array, the
    parts of all axes, and the place of the one that is sliced."""

    number: int
    body: Expr
    array: int
    parts: tuple[Slice | None, ...]
    axis: int

    @property
    def function(self) -> tuple[object, ...]:
        return (self.body, self.array, self.axis)

    @property
    def part(self) -> Slice:
        part = self.parts[self.axis]
        assert part is not None
        return part


def join_slices(plan: Plan) -> Plan:
    """Call functions of adjacent slices once in the steps of loops, where each call counts. Slices
    of what they return are stored or copied there; elsewhere results are arrays of their own."""
    steps = [
        step._replace(params=(step.params[0].with_plan(_joined),))
        if step.op == "loop" and isinstance(step.params[0], ScanBody)
        else step
        for step in plan.instructions
    ]
    return plan._replace(instructions=steps)


def _joined(plan: Plan) -> Plan:
    written = plan.written()
    calls = [
        call
        for number, step in enumerate(plan.instructions)
        if (call := _call(plan, number, step)) is not None
        and written.isdisjoint((number, call.array, *step.inputs))
    ]
    runs = {call.number: run for run in _runs(calls) for call in run}
    if not runs:
        return plan
    new = Rewriting()
    joined: dict[int, int] = {}
    for number, step in enumerate(plan.instructions):
        if number not in runs:
            new.keep(step)
            continue
        run = runs[number]
        first = run[0]
        if first.number not in joined:
            count = sum(call.part.count for call in run)
            parts = _at(first, first.part._replace(count=count))
            whole = new.emit("slice", new.place[first.array], params=(parts,))
            joined[first.number] = new.apply(first.body, whole)
        own = next(call for call in run if call.number == number)
        start = own.part.start - first.part.start
        parts = _at(first, own.part._replace(start=start))
        new.place.append(new.emit("slice", joined[first.number], params=(parts,)))
    return new.plan(plan.results)


def _at(call: _SlicedCall, part: Slice) -> tuple[Slice | None, ...]:
    return (*call.parts[: call.axis], part, *call.parts[call.axis + 1 :])


def _call(plan: Plan, number: int, step: Instruction) -> _SlicedCall | None:
    """Return the function of a slice that an instruction is, if it is one."""
    if step.op != "elementwise" or len(step.inputs) != 1 or not step.params[0].is_Function:
        return None
    source = plan.instructions[step.inputs[0]]
    if source.op != "slice":
        return None
    (parts,) = source.params
    axes = [axis for axis, part in enumerate(parts) if part is not None]
    part = parts[axes[0]] if len(axes) == 1 else None
    if not isinstance(part, Slice) or part.step != 1 or part.count == 0:
        return None
    return _SlicedCall(number, step.params[0], source.inputs[0], parts, axes[0])


def _runs(calls: Sequence[_SlicedCall]) -> Iterator[list[_SlicedCall]]:
    """Yield several calls of a function whose slices follow each other, in this order."""
    starts: dict[tuple[object, ...], _SlicedCall] = {}
    for own in calls:
        starts.setdefault((*own.function, own.part.start), own)
    ends = {(*own.function, own.part.start + own.part.count) for own in starts.values()}
    for start in starts.keys() - ends:
        run: list[_SlicedCall] = []
        while (call := starts.pop(start, None)) is not None:
            run.append(call)
            start = (*call.function, call.part.start + call.part.count)
        if len(run) > 1:
            yield run
