"""Linear maps of nodes whose derivative isn't worth writing as an einsum: the sweeps apply them to
tangents and cotangents.

References
==========

[H] N. J. Higham, "Functions of Matrices: Theory and Computation", 2008, §3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..core import Shape
from ..expressions import (
    DirectionalFunction,
    Expm,
    MatrixPower,
    Operand,
    Reshape,
    TensorExpr,
    contract,
    reshape_node,
    shape_of,
)


class LinearAction(NamedTuple):
    """The derivative of a node by one of its operands as a linear map.

    pullback : of a cotangent of shape outer + node.shape
    pushforward : of a tangent of shape operand.shape + inner
    """

    pullback: Callable[[Any, int, Operand, Shape], Operand]
    pushforward: Callable[[Any, int, Operand, Shape], Operand]


def _permuted(tensor: Operand, axes: Sequence[int]) -> Operand:
    return contract((tensor,), (range(len(axes)),), axes, dict(enumerate(shape_of(tensor))))


def _transposed_matrices(matrices: Operand) -> Operand:
    *stack, rows, columns = range(len(shape_of(matrices)))
    return _permuted(matrices, (*stack, columns, rows))


def _repeated(tensor: TensorExpr, outer: Shape) -> Operand:
    """Broadcast a tensor over new first axes."""
    shape = (*outer, *tensor.shape)
    axes = range(len(shape))
    return contract((tensor,), (axes[len(outer) :],), axes, dict(enumerate(shape)))


def _directions(node: DirectionalFunction, place: int, other: Operand, outer: Shape) -> Operand:
    """Return the derivative with another direction in place of one of the operands, repeated for a
    stack of directions; for the matrix itself, with one direction more."""
    kept = [own for k, own in enumerate(node.operands) if k != place or not k]
    return node.with_operands(*[_repeated(own, outer) for own in kept], other)


def _pullback(node: DirectionalFunction, place: int, cotangent: Operand, outer: Shape) -> Operand:
    """Pull a cotangent G back: tr(G' D f(X)[E]) = tr(E' D f(X)[G']'), and likewise for more
    directions, since derivatives of tr F(X) with F' = f are symmetric in them."""
    return _transposed_matrices(_directions(node, place, _transposed_matrices(cotangent), outer))


def _pushforward(node: DirectionalFunction, place: int, tangent: Operand, inner: Shape) -> Operand:
    """Push a tangent forward: the derivative by X has it as a further direction, the one by a
    direction, in which it is linear, in place of that direction [H, §3.1]."""
    axes = list(range(node.order + len(inner)))
    first = [*axes[node.order :], *axes[: node.order]]
    value = _directions(node, place, _permuted(tangent, first), inner)
    return _permuted(value, [*axes[len(inner) :], *axes[: len(inner)]])


LINEAR_ACTIONS: Mapping[type, LinearAction] = {
    Reshape: LinearAction(
        lambda node, place, cotangent, outer: reshape_node(
            cotangent, (*outer, *node.operands[place].shape)
        ),
        lambda node, place, tangent, inner: reshape_node(tangent, (*node.shape, *inner)),
    ),
    **dict.fromkeys([Expm, MatrixPower], LinearAction(_pullback, _pushforward)),
}
