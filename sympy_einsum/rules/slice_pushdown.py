"""Slice pushdown: entries and slices are taken of operands before a function of them is
computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ..core import children, postorder, tuning
from ..expressions import (
    AxesFunction,
    Einsum,
    Elementwise,
    Operand,
    Positions,
    TensorAdd,
    apply_body,
    contract,
    is_slice,
    order_of,
    replace_nodes,
    total_of,
)


def push_slices_down(exprs: Sequence[Operand]) -> Sequence[Operand]:
    """Push slices down through functions and sums, exp(X)[0] = exp(X[0]), unless all of exp(X) is
    needed elsewhere."""
    for _ in range(tuning.MAX_SLICE_PASSES):
        order = postorder(exprs)
        slices = [node for node in order if is_slice(node)]
        if not slices:
            break
        uses = Counter(child for node in order for child in children(node))
        uses.update(exprs)
        rewritten = {
            node: _push_slice(node, _sliced_operand(node), uses, tuning.MAX_SLICE_LEVELS)
            for node in slices
        }
        if all(new is node for node, new in rewritten.items()):
            break
        exprs = replace_nodes(exprs, rewritten)
    return exprs


def _sliced_operand(node: Einsum) -> Operand | None:
    return next((o for o in node.operands if not isinstance(o, Positions)), None)


def _push_slice(
    slice_node: Einsum, operand: Operand | None, uses: Mapping[Operand, int], depth: int
) -> Operand:
    """Slice ``operand`` as ``slice_node`` slices its own, and push the slice down where nothing
    else needs the operand."""
    # Functions of softmax and its like are computed together with them.
    is_splittable = isinstance(operand, (Elementwise, TensorAdd)) and not any(
        isinstance(inner, AxesFunction) for inner in operand.operands
    )
    if operand is not None and is_splittable and uses[operand] == 1 and depth:
        parts = [
            _push_slice(slice_node, inner, uses, depth - 1) if order_of(inner) else inner
            for inner in operand.operands
        ]
        if isinstance(operand, Elementwise):
            return apply_body(operand.body, parts)
        return total_of(parts)
    own = _sliced_operand(slice_node)
    factors = [operand if factor is own else factor for factor in slice_node.operands]
    return contract(
        factors, slice_node.subscripts, slice_node.output, dict(enumerate(slice_node.lengths))
    )
