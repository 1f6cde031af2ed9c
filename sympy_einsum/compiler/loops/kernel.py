"""A plan as the body of one function of nested loops and calls."""

from __future__ import annotations

from collections.abc import Mapping

from sympy import Expr

from ...core import UnsupportedError
from ..backends import Backend
from ..instructions import OPS
from ..plans import Plan
from .calls import CALLS
from .rows import with_rows
from .spelled_out import spelled_out
from .statements import Statements
from .tree import Value

REDUCED = {"sum", "prod", "extremum", "einsum"}
WRITTEN = {"zeros", "writable", "write", "scatter"}


class Kernel(Statements):
    """Writes a plan as lines and the texts of the results."""

    def __init__(self, plan: Plan, names: Mapping[Expr, str], backend: Backend):
        super().__init__(spelled_out(plan), names, backend)
        for number, step in enumerate(self.plan.instructions):
            if self._is_called(number):
                self.whole_uses.update(self.root(k) for k in step.inputs)

    def write_all(self) -> tuple[list[str], list[str]]:
        """The lines, and the texts of the results."""
        for number, step in enumerate(self.plan.instructions):
            if step.op in WRITTEN:
                getattr(self, "write" if step.op == "write" else step.op)(number)
            elif self._is_called(number):
                self._call(number)
            elif step.op in REDUCED and not self.is_entrywise(number):
                self.reduce(number)
            elif step.op == "copy" or (
                self.is_entrywise(number) and not self.stands_inside(number)
            ):
                self.compute(number)
        results = [self._result(k) for k in self.plan.results]
        return with_rows([*self.tree.parts()], results), results

    def _is_called(self, number: int) -> bool:
        step = self.step(number)
        if step.op in WRITTEN | REDUCED | {"argument", "constant", "copy"}:
            return False
        return not self.is_entrywise(number) and not self._is_view(step)

    def _call(self, number: int) -> None:
        step = self.step(number)
        if step.op not in CALLS:
            raise UnsupportedError(f"backend {self.backend.name!r} has no {step.op}")
        text = CALLS[step.op](self, number)
        name = self.new_name()
        position = self.tree.append([f"{name} = {text}"])
        value = Value(position, is_call=not OPS[step.op].is_view)
        if step.shape:
            value.array, value.order = name, tuple(range(len(step.shape)))
        else:
            value.name = name
        self.values[number] = value

    def _result(self, number: int) -> str:
        text = self.whole(number)
        is_kept = self.step(number).shape or number in self.integers
        return text if is_kept else f"dtype({text})"
