"""Evaluate a text on data."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..compiler import lambdify
from ..core import TensorError
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
