"""Solutions of equations: functions that are given implicitly.

A node is the x with F(x, w) = 0, which is found by Newton's method. As in scans, its body is
closed: the largest subexpressions of F without x are operands, to which it refers by bound symbols.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sympy import Basic

from .base import Operand
from .graphs import shape_of
from .interning import Data, Operands, data_property
from .leaves import TensorSymbol
from .scans import Binder, BoundTensor, assumptions_of, level_of_body, with_invariants
from .substitution import replace_nodes, substitute_all


class Solution(Binder):
    """A solution of an equation; build it with ``solution`` or ``minimizer``.

    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> root = se.solution(x + se.tanh(x) - y, x, start=y)
    >>> root.shape, sorted(root.free_symbols, key=str)
    ((3,), [y])
    """

    __slots__ = ()

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        return cls._intern(operands, data, shape_of(operands[0]))

    parameters: tuple[TensorSymbol, ...] = data_property(
        0, "The symbols of the unknown and of the operands after the start."
    )
    outputs: tuple[Operand, Operand] = data_property(1, "F, and its Jacobian by the unknown.")

    @property
    def unknown(self) -> TensorSymbol:
        """The symbol of the solution in the body."""
        return self.parameters[0]

    @property
    def start(self) -> Operand:
        """The value that Newton's method starts from."""
        return self.operands[0]

    @property
    def hoisted(self) -> tuple[Operand, ...]:
        """The values of the other symbols."""
        return self.operands[1:]

    @property
    def level(self) -> int:
        """The level of nesting of the body."""
        assert isinstance(self.unknown, BoundTensor)
        return self.unknown.binding[2]

    def at(
        self,
        value: Operand,
        exprs: Sequence[Operand],
        others: Mapping[Basic, object] = MappingProxyType({}),
    ) -> list[Operand]:
        """Return expressions of the body, with a value for the unknown, and for other symbols."""
        values = dict(zip(self.parameters, (value, *self.hoisted), strict=True))
        return substitute_all(exprs, {**values, **others})

    def open_outputs(self) -> list[Operand]:
        """Return F and its Jacobian, with the values of invariants in place of their symbols."""
        values = zip(self.parameters[1:], self.hoisted, strict=True)
        return replace_nodes(self.outputs, dict(values))

    def with_outputs(self, outputs: Sequence[Operand]) -> Operand:
        """Return a solution of another equation, in which invariants are values."""
        return solution_of(outputs, self.unknown, self.start)

    def _own_symbols(self) -> set[Basic]:
        found = {s for e in self.outputs for s in e.free_symbols}
        return found.difference(self.parameters)


def solution_of(outputs: Sequence[Operand], unknown: Operand, start: Operand) -> Operand:
    """Return the value of a symbol for which the first of two expressions is zero; the second
    is its Jacobian."""
    level = level_of_body(outputs, {unknown})
    own = BoundTensor("unknown", 0, level, shape_of(unknown), assumptions_of(unknown))
    outputs = substitute_all(outputs, {unknown: own})
    outputs, invariants = with_invariants(outputs, {own}, level)
    symbols = [invariant.symbol for invariant in invariants]
    values = [invariant.stacked for invariant in invariants]
    return Solution._build((start, *values), ((own, *symbols), tuple(outputs)))
