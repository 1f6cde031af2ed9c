"""Derivatives of solutions of equations, by the implicit function theorem [KP, §3.2].

Along solutions of F(x, w) = 0, with J = ∂F/∂x,

    ẋ = -J⁻¹ (∂F/∂w) ẇ,    w̄ = -(∂F/∂w)' J⁻ᵀ x̄.

Both are expressions of the solution, so that the rules give derivatives of any order.

References
==========

[KP] S. G. Krantz, H. R. Parks, "The Implicit Function Theorem", 2002.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from sympy import S

from ..core import Shape
from ..expressions import (
    BoundTensor,
    Inv,
    Operand,
    Solution,
    contract,
    reshape_node,
    scale,
    shape_of,
)
from ..rules import tidy
from .scans import Pullback, Pushforward


def pull_back_solution(
    node: Solution, cotangent: Operand, active: Sequence[int], outer: Shape, pullback: Pullback
) -> dict[int, Operand]:
    """Return the cotangents of some operands, by their numbers, from that of the solution; of
    shapes outer + operand.shape."""
    seed = BoundTensor("adjoint", 0, node.level, (*outer, *node.shape))
    pulled = pullback(node.outputs[:1], [node.parameters[k] for k in active], [seed], outer)
    tidied, _ = tidy(pulled, None, node.outputs)
    adjoint = _solved(node, cotangent, outer, is_transposed=True)
    return dict(zip(active, node.at(node, tidied, {seed: adjoint}), strict=True))


def push_forward_solution(
    node: Solution, tangents: Mapping[int, Operand], inner: Shape, pushforward: Pushforward
) -> Operand:
    """Return the tangent of a solution, of shape solution.shape + inner, from those of operands, by
    their numbers."""
    symbols = {
        k: BoundTensor("tangent", k, node.level, shape_of(tangent))
        for k, tangent in tangents.items()
    }
    variables = [node.parameters[k] for k in tangents]
    pushed = pushforward(node.outputs[0], variables, [*symbols.values()], inner)
    others = {symbols[k]: tangent for k, tangent in tangents.items()}
    (tangent,) = node.at(node, tidy([pushed], None, node.outputs)[0], others)
    return _solved(node, tangent, inner, is_transposed=False)


def _solved(node: Solution, value: Operand, others: Shape, is_transposed: bool) -> Operand:
    """Return -J⁻¹ v for v of shape solution.shape + others, or -J⁻ᵀ v for one of shape
    others + solution.shape."""
    (jacobian,) = node.at(node, node.outputs[1:])
    if not node.shape:
        return scale(-1 / jacobian, value)
    size = prod(node.shape)
    inverse = Inv._build((reshape_node(jacobian, (size, size)),), ())
    axes = range(2, len(others) + 2)
    shape, summed, kept = (size, *others), (0, *axes), (1, *axes)
    if is_transposed:
        shape, summed, kept = (*others, size), (*axes, 0), (*axes, 1)
    flat = reshape_node(value, shape)
    operands = S.NegativeOne, inverse, flat
    subscripts = (), (0, 1) if is_transposed else (1, 0), summed
    lengths = {0: size, 1: size, **dict(zip(axes, others, strict=True))}
    solved = contract(operands, subscripts, kept, lengths)
    return reshape_node(solved, (*others, *node.shape) if is_transposed else (*node.shape, *others))
