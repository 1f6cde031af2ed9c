"""Evaluate and solve a text on data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..compiler import lambdify
from ..core import TensorError
from ..languages import checked_syntax, parse
from ..optimization import Problem
from .reports import ReportRequest, differentiate, question, unbound_lengths


def evaluate_report(
    request: ReportRequest, data: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return the values of an expression and of its derivatives by name.

    Raises TensorError for missing or mismatched data.
    """
    read = question(request)
    unused = sorted(data.keys() - read.variables.keys())
    missing = [name for name in read.variables if name not in data]
    if unused or missing:
        wrong = (
            f"{unused[0]!r} doesn't occur in it" if unused else f"there is none for {missing[0]!r}"
        )
        raise TensorError(f"the data don't fit the expression: {wrong}")
    found = dict(zip(_names(len(read.expressions)), read.expressions, strict=True))
    for expr, name in read.requested:
        power = f"^{request.order}" if request.order > 1 else ""
        found[f"d{power}/d{name}{power}"] = differentiate(request, expr, read.variables[name])[0][
            -1
        ]
    lengths = unbound_lengths([*found.values()], read.variables.values())
    if lengths:
        raise TensorError(
            f"length {lengths[0]} is unknown; declare the lengths of the variables that have it"
        )
    values = lambdify([*read.variables.values()], [*found.values()])(
        *[data[name] for name in read.variables]
    )
    return {name: np.asarray(value) for name, value in zip(found, values, strict=True)}


def _names(count: int) -> list[str]:
    """Return the names of the values of ``count`` expressions in the output."""
    return ["value"] if count == 1 else [f"value {k + 1}" for k in range(count)]


def problem_of(request: ReportRequest) -> Problem:
    """Return the problem that a text in GENO's language states, or the one of minimising an
    expression over the variables that the request names; raises TensorError for other texts."""
    if checked_syntax(request.text, request.syntax) == "geno":
        problem: Problem = parse(request.text, syntax="geno")
        return problem
    read = question(request)
    if not read.requested:
        raise TensorError('name a variable to solve for, as in "--wrt x"')
    return Problem(read.requested[0][0], [read.variables[name] for _, name in read.requested])


def solve_problem(problem: Problem, data: Mapping[str, np.ndarray], *options: Any) -> Any:
    """Solve a problem; data of its variables are the start."""
    names = {str(x) for x in problem.variables}
    return problem.solve(
        {name: value for name, value in data.items() if name not in names},
        {name: value for name, value in data.items() if name in names},
        *options,
    )


def read_numbers(text: str) -> Any:
    """Parse JSON, reading all numbers as floating-point numbers."""
    return json.loads(text, parse_int=float)


def as_arrays(data: Mapping[str, object]) -> dict[str, np.ndarray]:
    """Convert values to arrays; raises TensorError for those that aren't real numbers."""
    return {name: _array(name, value) for name, value in data.items()}


def _array(name: str, value: object) -> np.ndarray:
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.empty(0, object)
    if array.dtype.kind not in "biuf":
        raise TensorError(f"{name} is no array of real numbers")
    return array
