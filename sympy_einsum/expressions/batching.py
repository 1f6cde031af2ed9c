"""Vectorisation: from an expression for one entry of some tensors to that for all entries at once.

Each type of node that can be batched has a rule, which gives it one more first axis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from sympy import Basic, Expr

from ..core import UnsupportedError, postorder
from .affine_selectors import Unit
from .axis_functions import AxesFunction
from .base import Operand, TensorExpr
from .conversion import split_body
from .entrywise import Elementwise, apply_body
from .gathers import OneHot
from .graphs import is_variable, order_of, shape_of
from .interning import Node
from .matrix_functions import Adj, Cofactors, Det, Inv, LogDet, adj, cofactors, det, inv, logdet
from .matrix_stacks import StackFunction
from .products import Einsum, contract
from .reshaping import Reshape, reshape_node
from .running import RunningFunction
from .substitution import rebuild
from .sums import TensorAdd, total_of

# Batches of some operands of a node.
Batches: TypeAlias = Mapping[Basic, Operand]
# The batch of a node from those of some operands, and its length; None if it has none.
Rule: TypeAlias = Callable[[Any, Batches, Expr], Operand | None]


def over_batch(
    root: Operand, stacked: Batches, length: Expr, otherwise: Rule | None = None
) -> Operand | None:
    """Return the values of an expression for all entries of tensors along their first axis.

    ``stacked`` are the tensors of the symbols whose entries are meant, all of one first length.
    Nodes without a rule have the batch that ``otherwise`` gives; without one there is no batch, and
    the result is None, as it is for an expression that depends on no such symbol.

    >>> import sympy_einsum as se
    >>> A, x, X = se.TensorSymbol("A", 2, 3), se.TensorSymbol("x", 3), se.TensorSymbol("X", 9, 3)
    >>> print(over_batch(se.sin(A @ x), {x: X}, X.shape[0]))
    sin(X @ A.T)
    """
    found: dict[Basic, Operand] = {}
    for node in postorder([root], _parts):
        if node in stacked:
            found[node] = stacked[node]
            continue
        below = [part for part in _parts(node) if part in found]
        own = stacked.keys() & node._own_symbols() if isinstance(node, Node) else set()
        if not below and not own:
            continue
        if own and not isinstance(node, Unit):
            raise UnsupportedError(
                f"{min(map(str, own))} is an exponent or a bound of {type(node).__name__}, which "
                "can't differ between the examples of a batch; evaluate them one by one"
            )
        batched = {part: found[part] for part in below} or stacked
        batch = _batched(node, batched, length)
        if batch is None and otherwise is not None:
            batch = otherwise(node, batched, length)
        if batch is None:
            return None
        found[node] = batch
    return found.get(root)


def _parts(node: Basic) -> Sequence[Basic]:
    """Return the operands of a node; of a stock scalar the tensors and symbols in it."""
    if isinstance(node, Node):
        return node.operands
    return split_body(node)[1] if node.args and not is_variable(node) else ()


def _batched(node: Operand, batched: Batches, length: Expr) -> Operand | None:
    """Return the batch of a node from those of some of its operands."""
    rule = next((RULES[base] for base in type(node).__mro__ if base in RULES), None)
    if rule is not None:
        return rule(node, batched, length)
    if isinstance(node, TensorExpr) or not isinstance(node, Expr):  # also conditions
        return None
    body, operands = split_body(node)
    return apply_body(body, [_broadcast(own, batched, (length,)) for own in operands])


def _broadcast(node: Operand, batched: Batches, shape: Sequence[Expr]) -> Operand:
    """Broadcast an operand to the shape of a batch; a number stays a number."""
    if node not in batched and not order_of(node):
        return node
    value = batched.get(node, node)
    own = order_of(node)
    axes = range(len(shape))
    kept = axes[len(shape) - own :]
    labels = (0, *kept) if node in batched else kept
    return contract((value,), (labels,), axes, dict(enumerate(shape)))


def batch_of_product(node: Einsum, batched: Batches, length: Expr) -> Operand:
    """Return a product with one more first index, which the batches of some operands have."""
    label = len(node.lengths)
    operands = [batched.get(own, own) for own in node.operands]
    terms = [
        (label, *labels) if own in batched else labels
        for own, labels in zip(node.operands, node.subscripts, strict=True)
    ]
    lengths = {**dict(enumerate(node.lengths)), label: length}
    return contract(operands, terms, (label, *node.output), lengths)


def _sum(node: TensorAdd, batched: Batches, length: Expr) -> Operand:
    return total_of([_broadcast(own, batched, (length, *node.shape)) for own in node.operands])


def _entrywise(node: Elementwise, batched: Batches, length: Expr) -> Operand:
    shape = (length, *node.shape)
    return apply_body(node.body, [_broadcast(own, batched, shape) for own in node.operands])


def _of_stacks(node: StackFunction, batched: Batches, length: Expr) -> Operand:
    operands = [
        _broadcast(own, batched, (length, *shape_of(own))) if order_of(own) else own
        for own in node.operands
    ]
    return rebuild(node, tuple(operands))


def _of_one(build: Callable[[Any, Any], Operand]) -> Rule:
    """Return the rule of nodes with one operand, from the node and the batch of that."""

    def rule(node: Operand, batched: Batches, length: Expr) -> Operand:
        (own,) = batched.values()
        return build(node, own)

    return rule


def _position(node: Unit, batched: Batches, length: Expr) -> Operand | None:
    positions = _batched(node.position, batched, length)
    return None if positions is None else OneHot.at(positions, node.length)


RULES: dict[type, Rule] = {
    Einsum: batch_of_product,
    TensorAdd: _sum,
    Elementwise: _entrywise,
    AxesFunction: _of_one(lambda node, own: node.on(own, [axis + 1 for axis in node.axes])),
    StackFunction: _of_stacks,
    Inv: _of_one(lambda node, own: inv(own)),
    Adj: _of_one(lambda node, own: adj(own)),
    Det: _of_one(lambda node, own: det(own)),
    LogDet: _of_one(lambda node, own: logdet(own)),
    Cofactors: _of_one(lambda node, own: cofactors(own, node.degree)),
    RunningFunction: _of_one(lambda node, own: type(node).of(own)),
    Reshape: _of_one(lambda node, own: reshape_node(own, (own.shape[0], *node.shape))),
    OneHot: _of_one(lambda node, own: OneHot.at(own, node.length)),
    Unit: _position,
}
