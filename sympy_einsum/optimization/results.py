"""Results of solving a problem, printed as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from textwrap import shorten
from typing import Any, NamedTuple

import numpy as np
from sympy import Basic

from ..core import TensorError
from ..expressions import Operand
from .relations import Constraint


class Iteration(NamedTuple):
    """The state after an iteration.

    Attributes
    ==========

    number : counted from 1, over all methods that were tried
    value : the objective
    violation : the largest violation of a constraint
    seconds : since the start
    """

    number: int
    value: float
    violation: float
    seconds: float


@dataclass(frozen=True, repr=False)
class Result:
    """Hold the solution of a problem; ``result[x]`` is the value of a variable, by symbol or name.

    Attributes
    ==========

    value : the objective
    success : whether it is an optimum, up to the tolerance
    message : why the method ended, and what is wrong where it isn't an optimum
    iterations : their number
    history : the state after each iteration
    multipliers : by constraint as it was given, of its shape; those of inequalities aren't negative
    method : the name of the method
    residual : the largest violation of the KKT conditions
    kind : ``"minimum"`` or ``"maximum"``
    values : the array of each variable, by symbol
    constraints : the constraints of the problem
    """

    values: Mapping[Operand, np.ndarray] = field(repr=False)
    value: float
    success: bool
    message: str
    history: Sequence[Iteration]
    multipliers: Mapping[Basic, np.ndarray]
    method: str
    residual: float
    kind: str
    constraints: Sequence[Constraint]

    @property
    def iterations(self) -> int:
        """The number of iterations."""
        return len(self.history)

    def __getitem__(self, key: object) -> Any:
        for x, value in self.values.items():
            if key in (x, str(x)):
                return value
        names = ", ".join(map(str, self.values))
        raise TensorError(f"{str(key)[:80]!r} is no variable of the problem, which has {names}")

    def _summary(self) -> str:
        state = self.kind if self.success else "no optimum"
        plural = "" if self.iterations == 1 else "s"
        return f"{state} {self.value:.9g}, {self.method}, {self.iterations} iteration{plural}"

    def _rows(self) -> list[tuple[str, str, str]]:
        entries = [(str(x), value) for x, value in self.values.items()]
        entries += [(_heading(c), self.multipliers[c.relation]) for c in self.constraints]
        return [(name, str(np.shape(value)), _shown(value)) for name, value in entries]

    def __repr__(self) -> str:
        rows = self._rows()
        widths = [max(len(row[k]) for row in rows) for k in range(2)]
        lines = [
            f"{name:<{widths[0]}}  {shape:<{widths[1]}}  {shown}" for name, shape, shown in rows
        ]
        note = [] if self.success else [self.message]
        return "\n".join([self._summary(), *note, *lines])

    def _repr_html_(self) -> str:
        lines = [
            "<tr>" + "".join(f"<td><code>{escape(cell)}</code></td>" for cell in row) + "</tr>"
            for row in self._rows()
        ]
        heads = "<tr><th></th><th>shape</th><th>value</th></tr>"
        note = "" if self.success else f"<p>{escape(self.message)}</p>"
        return (
            f"<p>{escape(self._summary())}</p>{note}<table>\n{heads}\n" + "\n".join(lines)
        ) + "\n</table>"

    def plot(self, axes: Any = None) -> Any:
        """Plot the objective, and violations of constraints, over iterations by matplotlib; returns
        its axes."""
        if axes is None:
            axes = import_module("matplotlib.pyplot").subplots()[1]
        numbers = [iteration.number for iteration in self.history]
        axes.plot(numbers, [iteration.value for iteration in self.history], label="objective")
        violations = [iteration.violation for iteration in self.history]
        if any(violations):
            axes.plot(numbers, violations, label="violation")
        axes.set_xlabel("iteration")
        axes.legend()
        return axes


def _heading(constraint: Constraint) -> str:
    return f"multiplier of {shorten(str(constraint), width=60, placeholder=' …')}"


def _shown(value: np.ndarray) -> str:
    text = np.array2string(np.asarray(value), precision=6, threshold=10, edgeitems=3)
    return " ".join(text.split())
