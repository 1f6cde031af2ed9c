"""Messages that name what goes wrong: an operand, a constraint, an entry of a variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..compiler import lambdify
from ..core import TensorError, postorder, tuning
from ..expressions import Operand, TensorExpr
from .functions import Instance
from .packing import Arrays
from .relations import Constraint


def first_failure(expr: Operand, arrays: Arrays) -> str:
    """Say which operand of an expression isn't finite though its own operands are; nothing where
    the expression is finite."""
    arguments = [*arrays]
    values: dict[Operand, np.ndarray] = {}
    for node in postorder([expr]):
        is_asked = isinstance(node, TensorExpr) and len(values) <= tuning.MAX_DIAGNOSED_NODES
        if not is_asked and node != expr:
            continue
        try:
            with np.errstate(all="ignore"):
                value = np.asarray(lambdify(arguments, node)(*arrays.values()), float)
        except np.linalg.LinAlgError as error:
            return f"{str(node)[:80]} can't be computed: {error}"
        except (TensorError, TypeError):
            continue
        values[node] = value
        if not np.isfinite(value).all():
            return _described(node, value, values)
    return ""


def _described(node: Operand, value: np.ndarray, values: Mapping[Operand, np.ndarray]) -> str:
    index = tuple(np.argwhere(~np.isfinite(value))[0])
    message = f"{str(node)[:80]} is {value[index]}"
    message += f" at entry {tuple(map(int, index))}" if index else ""
    for operand in getattr(node, "operands", ()):
        own = values.get(operand)
        if own is not None and own.shape == value.shape:
            message += f", where {str(operand)[:80]} is {own[index]:.6g}"
    return message


def violated(instance: Instance, constraints: Sequence[Constraint], vector: np.ndarray) -> str:
    """Name the constraint that is violated most, and where."""
    violations = instance.violations(vector)
    worst = int(violations.argmax())
    number = int(np.searchsorted(instance.starts, worst, side="right")) - 1
    shape = instance.gap_shapes[number]
    index = np.unravel_index(worst - instance.starts[number], shape) if shape else ()
    entry = f" at entry {tuple(map(int, index))}" if index else ""
    return f"the constraint {constraints[number]} is violated by {violations[worst]:.3g}{entry}"


def unbounded(instance: Instance, vector: np.ndarray, falls: str) -> str:
    """Say along which entry of the variables a problem is unbounded."""
    place = int(np.abs(vector).argmax())
    direction = "infinity" if vector[place] > 0 else "-infinity"
    return (
        f"the problem is unbounded: the objective {falls} without end as "
        f"{instance.packing.place(place)} goes to {direction}; add a constraint on it"
    )
