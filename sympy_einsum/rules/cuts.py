"""Slice pushdown: entries and slices are taken of operands before a function of them is
computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ..core import children, postorder
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

# Maximum depth of nodes that a slice is pushed through in a pass, and maximum number of passes.
MAX_DEPTH = 50
MAX_PASSES = 4


def cut_early(exprs: Sequence[Operand]) -> Sequence[Operand]:
    """Push slices down through functions and sums, exp(X)[0] = exp(X[0]), unless all of exp(X) is
    needed elsewhere."""
    for _ in range(MAX_PASSES):
        order = postorder(exprs)
        cuts = [node for node in order if is_slice(node)]
        if not cuts:
            break
        uses = Counter(child for node in order for child in children(node))
        uses.update(exprs)
        images = {node: _carried(node, _cut_operand(node), uses, MAX_DEPTH) for node in cuts}
        if all(image is node for node, image in images.items()):
            break
        exprs = replace_nodes(exprs, images)
    return exprs


def _cut_operand(node: Einsum) -> Operand | None:
    return next((o for o in node.operands if not isinstance(o, Positions)), None)


def _carried(
    cut: Einsum, operand: Operand | None, uses: Mapping[Operand, int], depth: int
) -> Operand:
    """Slice ``operand`` as ``cut`` slices its own, and push the slice down where nothing else needs
    the operand."""
    # Functions of softmax and its like are computed together with them.
    apart = isinstance(operand, (Elementwise, TensorAdd)) and not any(
        isinstance(inner, AxesFunction) for inner in operand.operands
    )
    if operand is not None and apart and uses[operand] == 1 and depth:
        parts = [
            _carried(cut, inner, uses, depth - 1) if order_of(inner) else inner
            for inner in operand.operands
        ]
        if isinstance(operand, Elementwise):
            return apply_body(operand.body, parts)
        return total_of(parts)
    own = _cut_operand(cut)
    factors = [operand if factor is own else factor for factor in cut.operands]
    return contract(factors, cut.subscripts, cut.output, dict(enumerate(cut.lengths)))
