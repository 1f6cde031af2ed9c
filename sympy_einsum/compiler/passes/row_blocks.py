"""Programs whose results are sums over the rows of their arguments: a loss of examples and its
gradient. They are computed from some rows at a time, so that large arguments are read from memory
once, and nothing that is as large is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sympy import Add, Expr, Mul, Symbol

from ...core import tuning
from ..ir.instruction_rules import Instruction
from ..ir.instructions import OPS
from ..ir.plans import Plan
from .memory_orders import AXES, traverses_entrywise

# Sums over rows: those of the parts of the rows can be added.
SUMS = ("sum", "dot", "vdot", "einsum")
# Instructions that compute rows from rows, besides entrywise ones.
REDUCTIONS = ("max_shift", "logsumexp", "log_total", "extremum")
ROWWISE = (*SUMS, *REDUCTIONS, "transpose", "index", "slice", "matmul")


class RowBlocks(NamedTuple):
    """A plan of which the instructions ``first`` to ``last`` compute ``totals``, sums over the rows
    of some arguments. ``length`` is the number of rows, ``width`` how many entries there are in
    each, and ``before`` are values that these instructions need but don't compute."""

    plan: Plan
    first: int
    last: int
    totals: Sequence[int]
    arguments: Sequence[Expr]
    length: Symbol
    width: Expr


def _goes_through(step: Instruction) -> bool:
    return not OPS[step.op].is_view


def in_row_blocks(
    plan: Plan,
    reads: Callable[[Instruction], bool] = _goes_through,
    least: int = tuning.MIN_BLOCK_READS,
) -> RowBlocks | None:
    """Split a plan into row blocks, if of the values computed from rows only sums over the rows are
    used elsewhere, and ``reads`` holds for at least ``least`` instructions."""
    steps = plan.instructions
    if plan.written():
        return None
    tensors = [step.params[0] for step in steps if step.op == "argument" and len(step.shape) > 1]
    for length in dict.fromkeys([symbol.shape[0] for symbol in tensors]):
        if isinstance(length, Symbol):
            split = _RowBlockSplitter(plan, length)
            found = split.blocks()
            if found is not None and split.count(reads) >= least:
                return found
    return None


# Kinds of values: independent of the rows, one for each row, a sum over rows, made of such sums.
BEFORE, ROW, TOTAL, AFTER = range(4)


class _RowBlockSplitter:
    def __init__(self, plan: Plan, length: Symbol):
        self.plan = plan
        self.length = length
        self.kinds: list[int] = []

    def blocks(self) -> RowBlocks | None:
        """Split the plan into three parts; None if it can't be."""
        steps = self.plan.instructions
        for step in steps:
            kind = self._kind(step)
            if kind is None:
                return None
            self.kinds.append(kind)
        rows = [step for step, kind in zip(steps, self.kinds, strict=True) if kind == ROW]
        if any(self.kinds[k] == ROW for k in self.plan.results):
            return None
        part = {BEFORE: 0, ROW: 1, TOTAL: 1, AFTER: 2}
        given = [step.op == "argument" for step in steps]
        parts = [0 if given[k] else part[kind] for k, kind in enumerate(self.kinds)]
        order = sorted(range(len(steps)), key=parts.__getitem__)
        plan = self.plan.in_order(order)
        first, last = parts.count(0), len(parts) - parts.count(2)
        totals = [place for place, k in enumerate(order) if self.kinds[k] == TOTAL]
        arguments = [step.params[0] for step in rows if step.op == "argument"]
        widths = {Mul(*step.shape) / self.length for step in rows}
        return RowBlocks(plan, first, last, totals, arguments, self.length, Add(*widths))

    def _row_axis(self, step: Instruction) -> int | None:
        return step.shape.index(self.length) if self.length in step.shape else None

    def _kind(self, step: Instruction) -> int | None:
        """Classify a value; None if computing it needs other rows."""
        inputs = {self.kinds[k] for k in step.inputs}
        is_row = self.length in step.shape
        others = [n for n in step.shape if n != self.length]
        if len(step.shape) - len(others) > 1 or any(n.has(self.length) for n in others):
            return None
        if step.op == "argument":
            return None if self._row_axis(step) else ROW if is_row else BEFORE
        if ROW not in inputs:
            if is_row or _mentions(step.params, self.length):
                return None
            return AFTER if inputs & {TOTAL, AFTER} else BEFORE
        if inputs & {TOTAL, AFTER} or _mentions(step.params, self.length):
            return None
        if not is_row:
            return TOTAL if step.op in SUMS else None
        is_known = step.op in ROWWISE or traverses_entrywise(step)
        return ROW if is_known and self._keeps_rows(step) else None

    def _keeps_rows(self, step: Instruction) -> bool:
        """Tell whether an instruction does nothing along the axis of the rows."""
        axis = self._row_axis(self.plan.instructions[step.inputs[0]])
        if step.op in AXES:
            axes = step.params[AXES[step.op]]
            return axis is not None and axes is not None and axis not in axes
        if step.op == "slice":
            return axis is not None and step.params[0][axis] is None
        return True

    def count(self, reads: Callable[[Instruction], bool]) -> int:
        """Count the instructions for which ``reads`` holds that traverse matrices with all rows."""
        steps = self.plan.instructions
        return sum(
            any(self.kinds[k] == ROW and len(steps[k].shape) > 1 for k in step.inputs)
            for step in steps
            if reads(step)
        )


def _mentions(params: Sequence[Any], length: Symbol) -> bool:
    """Tell whether a parameter depends on a length."""
    return any(
        part.has(length) if isinstance(part, Expr) else _mentions(part, length)
        for part in params
        if isinstance(part, (Expr, tuple))
    )
