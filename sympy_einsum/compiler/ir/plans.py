"""Plans: straight-line programs, their proof and their cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from itertools import count
from math import prod
from operator import eq
from typing import NamedTuple

from sympy import Expr, Integer

from ...contraction_order import Contraction
from ...core import Shape, TensorError, same_shape
from .instruction_rules import Instruction, Params, Work
from .instructions import OPS, Op


class Plan(NamedTuple):
    """A program: instructions in order, the numbers of those that are the results, and the
    contractions whose order was chosen."""

    instructions: Sequence[Instruction]
    results: Sequence[int]
    contractions: Sequence[Contraction] = ()

    def uses(self) -> Counter[int]:
        """Count how often each value is needed, by instructions or as a result."""
        return Counter([*[k for step in self.instructions for k in step.inputs], *self.results])

    def written(self) -> set[int]:
        """Return the values that others are written to."""
        return {s.inputs[0] for s in self.instructions if s.op in ("write", "writable")}

    def in_order(self, order: Sequence[int]) -> Plan:
        """Return the plan with its instructions in another order, or with some of them."""
        if len(order) == len(self.instructions) and all(map(eq, order, count())):
            return self
        place = {old: new for new, old in enumerate(order)}
        steps = [self.instructions[k] for k in order]
        moved = [s.on(tuple([place[k] for k in s.inputs])) for s in steps]
        return self._replace(instructions=moved, results=[place[k] for k in self.results])


def of_instructions(*ops: str) -> Callable[[Callable[[Plan], Plan]], Callable[[Plan], Plan]]:
    """Return the decorator of a pass that changes nothing in plans without any of some
    instructions."""

    def decorate(change: Callable[[Plan], Plan]) -> Callable[[Plan], Plan]:
        @wraps(change)
        def run(plan: Plan) -> Plan:
            return change(plan) if any(s.op in ops for s in plan.instructions) else plan

        return run

    return decorate


class Rewriting:
    """A plan in the making that computes what another one does: the new instructions, and for each
    old one the number of what has its value."""

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self.place: list[int] = []

    def emit(self, op: str, *inputs: int, params: Params = ()) -> int:
        """Emit an instruction; return its number."""
        shape = result_shape(op, [self.instructions[k].shape for k in inputs], params)
        self.instructions.append(Instruction(op, inputs, params, shape))
        return len(self.instructions) - 1

    def apply(self, body: Expr, *inputs: int) -> int:
        """Emit a function of entries."""
        return self.emit("elementwise", *inputs, params=(body,))

    def inputs(self, step: Instruction) -> tuple[int, ...]:
        """Return the operands of the next old instruction."""
        return tuple([self.place[k] for k in step.inputs])

    def keep(self, step: Instruction) -> None:
        """Add the next old instruction as it is."""
        self.instructions.append(step.on(self.inputs(step)))
        self.place.append(len(self.instructions) - 1)

    def plan(self, results: Sequence[int]) -> Plan:
        """Return the plan that has some old values as its results."""
        return without_dead_code(self.instructions, [self.place[k] for k in results])


def _is_view(op: Op) -> bool:
    return op.is_view


def origin(
    instructions: Sequence[Instruction], number: int, through: Callable[[Op], bool] = _is_view
) -> int:
    """Return the instruction whose memory a value may share, as far as it lies behind some kind of
    views."""
    while through(OPS[instructions[number].op]):
        number = instructions[number].inputs[0]
    return number


def origins(instructions: Sequence[Instruction]) -> list[int]:
    """Return for each value the instruction whose memory it may share."""
    found: list[int] = []
    for number, step in enumerate(instructions):
        found.append(found[step.inputs[0]] if OPS[step.op].is_view else number)
    return found


def without_dead_code(instructions: Sequence[Instruction], results: Sequence[int]) -> Plan:
    """Eliminate dead code and renumber; a write counts as part of the array it writes to."""
    live = set(results)
    for number in range(len(instructions) - 1, -1, -1):
        instruction = instructions[number]
        if number in live or (instruction.op == "write" and instruction.inputs[0] in live):
            live.add(number)
            live.update(instruction.inputs)
    if len(live) == len(instructions):
        return Plan(instructions, results)
    return Plan(instructions, results).in_order(sorted(live))


def result_shape(op: str, shapes: Sequence[Shape], params: Params) -> Shape:
    """Return the shape of what an instruction computes from operands of some shapes."""
    return tuple(OPS[op].shape(shapes, *params))


def proven(plan: Plan, shapes: Sequence[Shape]) -> Plan:
    """Check that every instruction gives its declared shape, and the results those of the
    expressions; return the plan.

    Raises
    ======

    TensorError : a pass of the compiler has lost axes
    """
    instructions = plan.instructions
    for number, (op, inputs, params, shape) in enumerate(instructions):
        given = result_shape(op, [instructions[k].shape for k in inputs], params)
        _same_shape(f"instruction {number}, {op},", given, shape)
    for place, (number, shape) in enumerate(zip(plan.results, shapes, strict=True)):
        _same_shape(f"result {place}", instructions[number].shape, shape)
    return plan


def _same_shape(what: str, given: Shape, expected: Shape) -> None:
    if not same_shape(given, expected):
        raise TensorError(
            f"{what} of the compiled program has shape {tuple(given)}, where the expression has "
            f"{tuple(expected)}: an error of the compiler; optimize=False may avoid it"
        )


class Cost(NamedTuple):
    """Arithmetic operations, and bytes of memory read and written in double precision."""

    flops: int
    bytes: int


def plan_cost(plan: Plan, lengths: Mapping[Expr, int] | Mapping[str, int]) -> Cost:
    """Compute the cost of a program at some axis lengths, given by symbol or by name."""
    values = {str(symbol): Integer(n) for symbol, n in lengths.items()}

    @cache
    def numbers(shape: Shape) -> tuple[int, ...]:
        return tuple([_length_value(length, values) for length in shape])

    flops = memory = 0
    for op, inputs, params, shape in plan.instructions:
        operations = OPS[op].flops
        if operations is None:
            continue
        operands = [numbers(plan.instructions[k].shape) for k in inputs]
        work = Work(operands, numbers(shape), params)
        memory += 8 * (sum(map(prod, operands)) + prod(work.result))
        flops += operations(work)
    return Cost(flops, memory)


def _length_value(length: Expr, values: Mapping[str, Integer]) -> int:
    found = length.xreplace({s: values[s.name] for s in length.free_symbols if s.name in values})
    if not found.is_Integer:
        missing = ", ".join(sorted(map(str, found.free_symbols)))
        raise TensorError(f"the cost depends on the length {missing}, which isn't given")
    return int(found)
