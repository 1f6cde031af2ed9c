"""Batches: the expression for one entry of some tensors as that for all entries at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sympy import Basic, Expr

from ..core import postorder
from .axis_functions import LogSumExp, Softmax
from .base import Operand, TensorExpr
from .conversion import split_body
from .entrywise import Elementwise, apply_body
from .graphs import is_variable, order_of, shape_of
from .interning import Node
from .products import Einsum, View, contract
from .sums import TensorAdd, total_of


def over_batch(root: Operand, stacked: Mapping[Basic, Operand], length: Expr) -> Operand | None:
    """Return the values of an expression for all entries of tensors along their first axis.

    ``stacked`` are the tensors of the symbols whose entries are meant, all of one first length.
    None for a node that has no batched form here.

    >>> import sympy_einsum as se
    >>> A, x, X = se.TensorSymbol("A", 2, 3), se.TensorSymbol("x", 3), se.TensorSymbol("X", 9, 3)
    >>> print(over_batch(se.sin(A @ x), {x: X}, X.shape[0]))
    sin(X @ A.T)
    """
    found: dict[Basic, Operand | None] = {}
    for node in postorder([root], _parts):
        if node in stacked:
            found[node] = stacked[node]
            continue
        below = _parts(node)
        if not any(part in found for part in below):
            continue
        if any(part in found and found[part] is None for part in below):
            return None
        batched = {part: value for part in below if (value := found.get(part)) is not None}
        found[node] = _batched(node, batched, length)
        if found[node] is None:
            return None
    return found.get(root)


def _parts(node: Basic) -> Sequence[Basic]:
    """Return the operands of a node; of a stock scalar the tensors and symbols in it."""
    if isinstance(node, Node):
        return node.operands
    return split_body(node)[1] if node.args and not is_variable(node) else ()


def _batched(node: Operand, batched: Mapping[Basic, Operand], length: Expr) -> Operand | None:
    """Return the batch of a node from those of some of its operands."""
    if isinstance(node, (Einsum, View)):
        label = len(node.lengths)
        operands = [batched.get(own, own) for own in node.operands]
        terms = [
            (label, *labels) if own in batched else labels
            for own, labels in zip(node.operands, node.subscripts, strict=True)
        ]
        lengths = {**dict(enumerate(node.lengths)), label: length}
        return contract(operands, terms, (label, *node.output), lengths)
    shape = (length, *shape_of(node))
    if isinstance(node, TensorAdd):
        return total_of([_spread(own, batched, shape) for own in node.operands])
    if isinstance(node, Elementwise):
        return apply_body(node.body, [_spread(own, batched, shape) for own in node.operands])
    if isinstance(node, (LogSumExp, Softmax)):
        return node.over(batched[node.operands[0]], [axis + 1 for axis in node.axes])
    if isinstance(node, TensorExpr) or not isinstance(node, Expr):  # also conditions
        return None
    body, operands = split_body(node)
    return apply_body(body, [_spread(own, batched, shape) for own in operands])


def _spread(node: Operand, batched: Mapping[Basic, Operand], shape: Sequence[Expr]) -> Operand:
    """Return an operand with the axes of a batch; what is the same everywhere is repeated, a number
    stays one."""
    if node not in batched and not order_of(node):
        return node
    value = batched.get(node, node)
    own = order_of(node)
    axes = range(len(shape))
    kept = axes[len(shape) - own :]
    labels = (0, *kept) if node in batched else kept
    return contract((value,), (labels,), axes, dict(enumerate(shape)))
