"""Functions of the same entries that several places need, computed once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from sympy import (
    Abs,
    Basic,
    Expr,
    Function,
    Max,
    Min,
    Piecewise,
    ceiling,
    conjugate,
    floor,
    im,
    re,
    sign,
)

from ...core import has_stable_code, log_ndtr_difference, masked, ndtr_share
from ...expressions import Slot, slot
from ..ir.instruction_rules import Instruction
from ..ir.plans import Plan, Rewriting, of_instructions

# Those that take no more time than an array takes to be stored and read, and choices.
_CHEAP = (Abs, Max, Min, Piecewise, ceiling, conjugate, floor, im, re, sign)
# Their operands are computed where errors are ignored.
_CHOICES = (Piecewise, masked)


class _Call(NamedTuple):
    """A function of entries, with its slots in order, and the numbers of its operands."""

    body: Expr
    inputs: tuple[int, ...]


@of_instructions("elementwise")
def share_calls(plan: Plan) -> Plan:
    """Compute functions of the same entries once, such as the sigmoid that several blocks of a
    Hessian need, or one in several places."""
    search = _Search(plan)
    shared = {call for call in search.open if search.counts[call] > 1}
    if not shared:
        return plan
    sharing = _Sharing(shared)
    for step in plan.instructions:
        sharing.add(step)
    return sharing.plan(plan.results)


class ndtr_share_of_log(Function):
    """``ndtr_share(x, a, b)``, given the logarithm of the difference that it is a share of."""

    nargs = 4


@of_instructions("elementwise")
def share_logarithms(plan: Plan) -> Plan:
    """Compute shares of a normal distribution from the logarithm of the difference of distribution
    functions, which takes most of the time: others of the same difference need it as well."""
    if not any(_shares(step) for step in plan.instructions):
        return plan
    rewriting = Rewriting()
    for step in plan.instructions:
        moved = {
            own: ndtr_share_of_log(*own.args, log_ndtr_difference(*own.args[1:]))
            for own in _shares(step)
        }
        params = (step.params[0].xreplace(moved), *step.params[1:]) if moved else step.params
        rewriting.keep(step._replace(params=params))
    return share_calls(rewriting.plan(plan.results))


def _shares(step: Instruction) -> set[Basic]:
    found: set[Basic] = step.params[0].atoms(ndtr_share) if step.op == "elementwise" else set()
    return found


class _Search:
    """Count the calls of a plan; ``open`` are those that some place needs whatever the entries are:
    elsewhere they may not be finite."""

    def __init__(self, plan: Plan):
        self.counts: Counter[_Call] = Counter()
        self.open: set[_Call] = set()
        written = plan.written()
        needed = {*plan.results}
        for number, step in reversed([*enumerate(plan.instructions)]):
            if step.op != "elementwise":
                needed.update(step.inputs)
                continue
            body, inputs = step.params[0], step.inputs
            if number in needed:
                needed.update(inputs[own.place] for own in _unconditional_slots(body))
            if written.isdisjoint(inputs):
                self._visit(body, inputs, number not in needed)

    def _visit(self, expr: Basic, inputs: tuple[int, ...], is_choice: bool) -> None:
        if _is_call(expr):
            call = _call(expr, inputs)
            self.counts[call] += 1
            if not is_choice:
                self.open.add(call)
            if self.counts[call] > 1:
                return
        if not _is_atomic(expr):
            for own in expr.args:
                self._visit(own, inputs, is_choice or isinstance(expr, _CHOICES))


def _unconditional_slots(expr: Basic) -> Iterator[Slot]:
    """Yield the slots of a body outside of choices."""
    if isinstance(expr, Slot):
        yield expr
    elif not isinstance(expr, _CHOICES):
        for own in expr.args:
            yield from _unconditional_slots(own)


class _Sharing(Rewriting):
    def __init__(self, shared: set[_Call]):
        super().__init__()
        self._shared = shared
        self._known: dict[_Call, int] = {}

    def add(self, step: Instruction) -> None:
        """Add the next old instruction, after the shared calls that it needs."""
        if step.op != "elementwise":
            self.keep(step)
            return
        body, inputs = self._rewritten(step.params[0], step.inputs)
        number = -1 if body == step.params[0] else self._applied(body, inputs)
        if number < 0 or self.instructions[number].shape != step.shape:
            self.keep(step)
        else:
            self.place.append(number)

    def _rewritten(self, expr: Expr, old: tuple[int, ...]) -> tuple[Expr, list[int]]:
        """Return a body with slots for shared calls, and the new numbers of its operands."""
        inputs = [self.place[k] for k in old]

        def part(own: Basic) -> Basic:
            call = _call(own, old) if _is_call(own) else None
            if call in self._shared:
                inputs.append(self._number(call))
                return slot(len(inputs) - 1)
            if not own.args or _is_atomic(own):
                return own
            parts = [part(argument) for argument in own.args]
            return own if parts == [*own.args] else own.func(*parts)

        return part(expr), inputs

    def _number(self, call: _Call) -> int:
        if call not in self._known:
            rewritten = [self._rewritten(own, call.inputs) for own in call.body.args]
            inputs: list[int] = []
            arguments = []
            for body, own in rewritten:
                moved = {slot(k): slot(len(inputs) + k) for k in range(len(own))}
                arguments.append(body.xreplace(moved) if body.args or body in moved else body)
                inputs += own
            self._known[call] = self._applied(call.body.func(*arguments), inputs)
        return self._known[call]

    def _applied(self, body: Expr, inputs: list[int]) -> int:
        """Emit a body of the operands that it has, each once."""
        if isinstance(body, Slot):
            return inputs[body.place]
        call = _call(body, tuple(inputs))
        return self.apply(call.body, *call.inputs)


def _is_call(expr: Basic) -> bool:
    return bool(expr.is_Function and expr.free_symbols and not isinstance(expr, _CHEAP))


def _is_atomic(expr: Basic) -> bool:
    """Tell whether the code of an expression isn't that of its operands combined."""
    return isinstance(expr, Expr) and has_stable_code(expr)


def _call(expr: Expr, inputs: tuple[int, ...]) -> _Call:
    """Return a body with slots in the order of its operands, each once."""
    slots = [own for own in expr.free_symbols if isinstance(own, Slot)]
    numbers = sorted({inputs[own.place] for own in slots})
    moved = {own: slot(numbers.index(inputs[own.place])) for own in slots}
    return _Call(expr.xreplace(moved), tuple(numbers))
