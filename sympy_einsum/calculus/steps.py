"""Steps of a linear map: an einsum with factors, or a pushforward or pullback map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sympy import Expr

from ..core import Shape
from ..expressions import Operand, Scan, Solution, TensorExpr, shape_of
from ..operations import transpose
from .implicit_functions import pull_back_solution, push_forward_solution
from .linear_actions import LINEAR_ACTIONS, LinearAction
from .scans import pull_back_loop, push_forward_loop
from .sweeps import combine, pullback, pushforward
from .terms import Term

# Nodes whose derivatives are maps that are applied, those with bodies too: of a loop the recurrence
# of tangents and the adjoint one, of a solution the linear system that it gives.
APPLIED: Mapping[type, LinearAction] = {
    **LINEAR_ACTIONS,
    Scan: LinearAction(
        lambda node, place, cotangent, outer: pull_back_loop(
            node.loop, {(node.kind, node.place): cotangent}, [place], outer, pullback
        )[place],
        lambda node, place, tangent, inner: push_forward_loop(
            node.loop, {place: tangent}, inner, pushforward
        )((node.kind, node.place)),
    ),
    Solution: LinearAction(
        lambda node, place, cotangent, outer: pull_back_solution(
            node, cotangent, [place], outer, pullback
        )[place],
        lambda node, place, tangent, inner: push_forward_solution(
            node, {place: tangent}, inner, pushforward
        ),
    ),
}


class TermMap(NamedTuple):
    """The einsum of a tensor with the factors of a term; ``lengths`` are those of its labels."""

    term: Term
    lengths: Mapping[int, Expr]

    @classmethod
    def identity(cls, shape: Shape) -> TermMap:
        """Return the identity on tensors of a shape."""
        axes = range(len(shape))
        return cls(Term(0, (), (), axes, axes), dict(zip(axes, shape, strict=True)))

    def applied(self, value: Operand, inner: Shape) -> Operand:
        """Apply the map to a tensor that has further axes behind its own."""
        extra = [-1 - k for k in range(len(inner))]
        lengths = {**self.lengths, **dict(zip(extra, inner, strict=True))}
        labels, output = (*self.term.lower, *extra), (*self.term.upper, *extra)
        return combine(value, labels, self.term, output, lengths)

    def transposed(self) -> TermMap:
        """Return the adjoint, with upper and lower axes exchanged."""
        return TermMap(
            self.term._replace(upper=self.term.lower, lower=self.term.upper), self.lengths
        )


class ActionStep(NamedTuple):
    """The derivative of a node by an operand that is no einsum, or its adjoint."""

    node: TensorExpr
    place: int
    is_pullback: bool = False

    def applied(self, value: Operand, inner: Shape) -> Operand:
        """Apply the map to a tensor that has further axes behind its own."""
        action: Any = APPLIED[type(self.node)]
        if not self.is_pullback:
            return action.pushforward(self.node, self.place, value, inner)
        count = len(inner)
        pulled = action.pullback(self.node, self.place, _rotate_axes(value, -count), inner)
        return _rotate_axes(pulled, count)

    def transposed(self) -> ActionStep:
        """Return the adjoint."""
        return self._replace(is_pullback=not self.is_pullback)


def _rotate_axes(value: Operand, by: int) -> Operand:
    """Rotate the axes of a tensor: the first ``by`` go last, or the last -``by`` first."""
    axes = range(len(shape_of(value)))
    return transpose(value, [*axes[by:], *axes[:by]]) if by else value
