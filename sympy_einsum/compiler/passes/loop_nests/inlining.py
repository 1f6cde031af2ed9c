"""Analyses before loops are built: the values that are inlined where they are used, the bases of
views, and the values that are positions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from sympy import Expr, preorder_traversal

from ....core import tuning
from ...ir.instruction_rules import Instruction
from ...ir.instructions import OPS
from ...ir.loops import FIRST
from ...ir.plans import Plan
from .access import ENTRYWISE, through

# Instructions from positions to positions, besides views.
_KEEP_POSITIONS = {"take", "copy", "reshape", "full", "sum", "add"}
# Instructions with operands that are positions.
_INDEXED = {"take", "scatter", "scatters"}


class ValueFacts:
    """Facts of the values of a plan, by their numbers."""

    def __init__(self, plan: Plan):
        self.plan = plan
        self.views = [self._is_view(step) for step in plan.instructions]
        # The value that each is a view of.
        self.roots: list[int] = []
        for number, step in enumerate(plan.instructions):
            is_view = self.views[number]
            self.roots.append(self.roots[step.inputs[0]] if is_view else number)
        self.entrywise = [is_entrywise(step) for step in plan.instructions]
        self.uses: Counter[int] = Counter(self.roots[k] for k in plan.results)
        # The most axes of what is computed from a value.
        self._widest: Counter[int] = Counter()
        for number, step in enumerate(plan.instructions):
            if not self.views[number]:
                self._count_uses(step)
        self.positions = self._positions()

    def _is_view(self, step: Instruction) -> bool:
        if not step.inputs:
            return False
        shape = self.plan.instructions[step.inputs[0]].shape
        return through(step, shape, (FIRST,) * len(step.shape)) is not None

    def _count_uses(self, step: Instruction) -> None:
        roots = {self.roots[k] for k in step.inputs}
        self.uses.update(roots)
        steps = self.plan.instructions
        axes = max([_axes(step), *[_axes(steps[k]) for k in step.inputs]])
        for root in roots:
            self._widest[root] = max(self._widest[root], axes)

    def _positions(self) -> set[int]:
        """Return the values that are integers: positions on axes."""
        found: set[int] = set()
        steps = self.plan.instructions
        for step in steps:
            if step.op in _INDEXED:
                width = 1 + len(step.params[0]) if step.op == "scatters" else len(step.inputs)
                arrays = [k for place, k in enumerate(step.inputs) if place % width]
                found.update([self.roots[k] for k in arrays])
            if step.op == "one_hot":
                found.add(self.roots[step.inputs[0]])
        found = {k for k in found if steps[k].op in ("argument", "constant")}
        for number, step in enumerate(steps):
            sources = step.inputs if step.op == "add" else step.inputs[:1]
            if step.op in ("positions", "range") or (
                (step.op in _KEEP_POSITIONS or self.views[number])
                and found.issuperset([self.roots[k] for k in sources])
            ):
                found.add(number)
        return found

    def inlined(self, whole: Collection[int]) -> set[int]:
        """Return the entrywise values of which each use computes the entries that it needs; of
        those in ``whole`` an array is needed."""
        found: set[int] = set()
        results = {*self.plan.results}
        # 0 for entries that are in memory.
        costs, levels = [0] * len(self.entrywise), [0] * len(self.entrywise)
        for number, step in enumerate(self.plan.instructions):
            is_stored = number in results or (number in whole and bool(step.shape))
            if not self.entrywise[number] or is_stored or (step.inputs and not step.shape):
                continue
            roots = [self.roots[k] for k in step.inputs]
            costs[number] = _operations(step) + sum([costs[k] for k in roots])
            nested = 1 + max([levels[k] for k in roots], default=0)
            if nested <= tuning.MAX_INLINED_LEVELS and self._is_cheap(number, costs[number]):
                levels[number] = nested
                found.add(number)
        return found

    def _is_cheap(self, number: int, cost: int) -> bool:
        if not self.plan.instructions[number].shape:
            return True
        if self._widest[number] > _axes(self.plan.instructions[number]):
            return cost <= tuning.MAX_OPERATIONS_ALONG
        return cost <= tuning.MAX_RECOMPUTED_OPERATIONS or self.uses[number] == 1


def is_entrywise(step: Instruction) -> bool:
    """Tell whether each entry comes from single entries of the operands."""
    if step.op == "einsum":
        terms, output = step.params[0].split("->")
        return set(terms) - {","} <= set(output)
    return OPS[step.op].body is not None or step.op in ENTRYWISE


def _axes(step: Instruction) -> int:
    """Return the number of axes that aren't of length 1."""
    return sum(length != 1 for length in step.shape)


def _operations(step: Instruction) -> int:
    """Count about how many operations an entry of an entrywise instruction takes."""
    body = OPS[step.op].body
    if body is None:
        return len(step.inputs)
    return sum([_operations_at(part) for part in preorder_traversal(body(step))])


def _operations_at(part: Expr) -> int:
    if part.is_Function:
        return tuning.FUNCTION
    if part.is_Pow:
        return 1 if part.exp.is_Integer and part.exp > 0 else tuning.ROOT
    return max(len(part.args) - 1, 0)
