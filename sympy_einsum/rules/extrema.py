"""Rules for maxima, minima, softmax and log-sum-exp over axes."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis import Barriers
from ..expressions import (
    AxesFunction,
    Operand,
    TensorAdd,
    View,
    contract,
    has_large_factor,
    tensor_sum,
    total_of,
)


def constant_in_extremum(node: AxesFunction, barriers: Barriers) -> Operand | None:
    """max_j (a_i + b_ij) = a_i + max_j b_ij; a log-sum-exp likewise."""
    parts = _parts(node)
    if parts is None:
        return None
    constant, rest = parts
    found = _of_terms(node, rest)
    return total_of([found, *[_without_axes(term, node.axes) for term in constant]])


def without_constant(node: AxesFunction, barriers: Barriers) -> Operand | None:
    """Drop a constant from the operand: the largest entries keep their positions, and a softmax is
    unchanged."""
    parts = _parts(node)
    return None if parts is None else _of_terms(node, parts[1])


def _of_terms(node: AxesFunction, terms: Sequence[Operand]) -> Operand:
    """Return the function of the sum of other terms."""
    return node._build((tensor_sum(terms),), node.data)


def _parts(node: AxesFunction) -> tuple[list[View], list[Operand]] | None:
    """Split a sum into the terms that are constant along the axes and the others; None without
    both, and where large terms are added to each other first."""
    (total,) = node.operands
    if not isinstance(total, TensorAdd):
        return None
    constant = [term for term in total.operands if _is_constant(term, node.axes)]
    rest = [term for term in total.operands if term not in constant]
    if any(map(has_large_factor, constant)) and any(map(has_large_factor, rest)):
        return None  # What is small beside both would be rounded.
    return (constant, rest) if constant and rest else None


def _is_constant(term: Operand, axes: Sequence[int]) -> bool:
    if not isinstance(term, View):
        return False
    own = term.subscripts[-1] if term.core is not None else ()
    labels = [term.output[axis] for axis in axes]
    return all(i not in own and term.output.count(i) == 1 for i in labels)


def _without_axes(term: View, axes: Sequence[int]) -> Operand:
    output = [i for axis, i in enumerate(term.output) if axis not in axes]
    used = {i for labels in (*term.subscripts, output) for i in labels}
    lengths = {i: length for i, length in enumerate(term.lengths) if i in used}
    return contract(term.operands, term.subscripts, output, lengths)
