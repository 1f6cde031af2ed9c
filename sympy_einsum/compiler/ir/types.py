"""Static inference of dtypes: an array can hold the entries of another if it has the common type of
all that the other has been computed from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from sympy import Expr, preorder_traversal
from sympy.core.function import AppliedUndef

from ...core import UserFunction, tuning
from ...expressions import Slot
from .instruction_rules import Instruction
from .instructions import OPS
from .scans import ScanBody


def type_sources(instructions: Sequence[Instruction]) -> list[frozenset[int]]:
    """Return for each instruction those whose common type it has, at most
    tuning.MAX_TYPE_SOURCES."""
    found: list[frozenset[int]] = []
    for number, step in enumerate(instructions):
        op = OPS[step.op]
        sources = frozenset([number])
        if op.keeps_type or op.is_view or (op.is_code and _is_whole_polynomial(step.params[0])):
            inputs = step.inputs[:1] if op.is_view else step.inputs
            common = {source for k in inputs[: tuning.MAX_TYPE_SOURCES + 1] for source in found[k]}
            if len(inputs) <= tuning.MAX_TYPE_SOURCES >= len(common):
                sources = found[inputs[0]] if len(inputs) == 1 else frozenset(common)
        found.append(sources)
    return found


# Instructions whose results may be integers or complex numbers though the operands are doubles.
_OTHERS = {"positions", "range", "decomposed", "stacked"}


def doubles(instructions: Sequence[Instruction]) -> list[bool]:
    """Tell for each instruction whether it is known to be of double precision, or a number of
    Python's, where all arguments are."""
    found: list[bool] = []
    for op, inputs, params, _ in instructions:
        if op == "constant":
            found.append(params[0].array.dtype == np.float64)
        else:
            unknown = OPS[op].is_code and params[0].has(AppliedUndef, UserFunction)
            if op == "result":
                body = instructions[inputs[0]].params[0]
                unknown = isinstance(body, ScanBody) and body.has_positions(params[0])
            found.append(op not in _OTHERS and not unknown and all(found[k] for k in inputs))
    return found


def deciding_type(values: Sequence[int], sources: Sequence[frozenset[int]]) -> list[int]:
    """Select those of some values that decide their common type."""
    places: list[int] = []
    # The sets of sources that are kept, by each source in them.
    kept: defaultdict[int, list[frozenset[int]]] = defaultdict(list)
    for place in sorted(range(len(values)), key=lambda place: -len(sources[values[place]])):
        own = sources[values[place]]
        fewest = min((kept[source] for source in own), key=len, default=None)
        if not (places if fewest is None else any(own <= other for other in fewest)):
            places.append(place)
            for source in own:
                kept[source].append(own)
    return [values[place] for place in sorted(places)]


def _is_whole_polynomial(body: Expr) -> bool:
    """Tell whether a body is a polynomial in slots with integer coefficients."""
    return all(
        isinstance(part, Slot)
        or part.is_Integer
        or part.is_Add
        or part.is_Mul
        or (part.is_Pow and part.exp.is_Integer and part.exp.is_positive)
        for part in preorder_traversal(body)
    )
