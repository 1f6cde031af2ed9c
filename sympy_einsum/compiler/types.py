"""Of which types the entries of arrays are, as far as that needs no array: where one has the common
type of all that another has been computed from, it can hold the other's entries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sympy import Expr, preorder_traversal
from sympy.core.function import AppliedUndef

from ..core import OwnFunction
from ..expressions import Slot
from .instruction_rules import Instruction
from .instructions import OPS


def type_sources(instructions: Sequence[Instruction]) -> list[frozenset[int]]:
    """For each instruction, those whose common type it has."""
    found: list[frozenset[int]] = []
    for number, step in enumerate(instructions):
        op = OPS[step.op]
        entry = op.body(step) if op.is_code and op.body is not None else None
        keeps = op.keeps_type or op.is_view or (entry is not None and _is_whole_polynomial(entry))
        inputs = step.inputs[:1] if op.is_view else step.inputs
        found.append(
            frozenset().union(*[found[k] for k in inputs]) if keeps else frozenset([number])
        )
    return found


# What may be of integers or complex numbers though its operands are doubles.
_OTHERS = {"positions", "range", "decomposed", "stacked"}


def doubles(instructions: Sequence[Instruction]) -> list[bool]:
    """For each instruction whether it is known to be of double precision, or a number of Python's,
    where all arguments are."""
    found: list[bool] = []
    for op, inputs, params, _ in instructions:
        if op == "constant":
            found.append(params[0].array.dtype == np.float64)
        else:
            unknown = OPS[op].is_code and params[0].has(AppliedUndef, OwnFunction)
            found.append(op not in _OTHERS and not unknown and all(found[k] for k in inputs))
    return found


def deciding_type(values: Sequence[int], sources: Sequence[frozenset[int]]) -> list[int]:
    """Of some values those that decide what their common type is."""
    kept: list[int] = []
    for k in values:
        if not any(sources[k] <= sources[j] for j in kept):
            kept = [*[j for j in kept if not sources[j] <= sources[k]], k]
    return kept


def _is_whole_polynomial(body: Expr) -> bool:
    """Whether it is a polynomial of slots whose coefficients are integers."""
    return all(
        isinstance(part, Slot)
        or part.is_Integer
        or part.is_Add
        or part.is_Mul
        or (part.is_Pow and part.exp.is_Integer and part.exp.is_positive)
        for part in preorder_traversal(body)
    )
