"""SymPy's own scalars as scalar code: expressions in slots, one for each value they need."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sympy import Basic, Derivative, Expr, Mul, S, Subs, Symbol, ceiling, exp, floor, log, sign

from ...analysis import definiteness
from ...core import UnsupportedError, has_stable_code, named_derivatives, postorder, tuning
from ...expressions import (
    Operand,
    Slot,
    TensorExpr,
    determinants_in,
    holds_complex,
    slot,
    stock_children,
    substitute_stock,
)
from ...rules import Natural
from .plan_builder import PlanBuilder


class Code(NamedTuple):
    """An expression in slots, and how deep it is nested."""

    body: Expr
    depth: int = 0


class StockScalars:
    """The scalars of a program; ``value`` gives the numbers of the tensors in them."""

    def __init__(self, builder: PlanBuilder, value: Callable[[TensorExpr], int]):
        self.builder = builder
        self._value = value
        self._code: dict[Expr, Code] = {}
        self._complex: set[Expr] = set()

    def value(self, node: Expr) -> int:
        """Emit a stock scalar; return the number of its instruction."""
        return self._slotted(self._part(node).body).place

    def lower(self, node: Basic) -> None:
        """Make code of a node whose parts have it: for its consumer if that is the only one, else
        an instruction."""
        if not isinstance(node, Expr):
            return
        if isinstance(node, (Derivative, Subs)):
            named = named_derivatives(node)
            if named != node:
                self._code[node] = self._part(named)
                return
        if hasattr(node, "bound_symbols") or isinstance(node, Derivative):
            raise UnsupportedError(
                f"no numerical code for {type(node).__name__}; evaluate it first with .doit()"
            )
        if node.is_Number or node.is_NumberSymbol:
            self._code[node] = Code(node)
        elif isinstance(node, Symbol):
            self._code[node] = Code(slot(self.builder.emit("argument", params=(node,))))
        elif not node.args or not all(isinstance(arg, Expr) for arg in node.args):
            self._code[node] = Code(self._whole(node), 1)
        elif isinstance(node, Natural):
            # The inner expression is computed with numbers, not in the semiring.
            self._code[node] = Code(self._whole(node), 1)
        elif _holds_determinants(node):
            self._code[node] = Code(self._slotted(self._by_logarithms(node)))
        else:
            self._code[node] = self._operation(node)

    def _operation(self, node: Expr) -> Code:
        parts = [self._part(arg) for arg in node.args]
        while (node.is_Add or node.is_Mul) and len(parts) > tuning.MAX_SCALAR_ARGUMENTS:
            some = node.func(*[part.body for part in parts[: tuning.MAX_SCALAR_ARGUMENTS]])
            parts = [*parts[tuning.MAX_SCALAR_ARGUMENTS :], Code(self._slotted(some))]
        depth = 1 + max(part.depth for part in parts)
        if any(map(self._may_be_complex, node.args)):
            self._complex.add(node)
        if node in self._complex and not (node.is_Add or node.is_Mul):
            # Slots are real: sqrt(s0**2) would become abs(s0).
            bodies = [part.body if part.depth == 0 else self._slotted(part.body) for part in parts]
            body = node.func(*bodies)
        elif has_stable_code(node):
            body = self._inlined(node)
        else:
            # evaluate=False would print terms unsimplified; parts are opaque slots, so it's cheap.
            body = node.func(*[part.body for part in parts])
        is_rounded = isinstance(node, (floor, ceiling))
        if is_rounded or self.builder.uses[node] > 1 or depth > tuning.MAX_SCALAR_LEVELS:
            return Code(self._slotted(body))
        return Code(body, depth)

    def _may_be_complex(self, node: Operand) -> bool:
        if isinstance(node, TensorExpr):
            return holds_complex(node)
        return node is S.ImaginaryUnit or node in self._complex

    def _inlined(self, node: Expr) -> Expr:
        """Return a body that holds its sum and its exponentials, shared or not: code for them
        as a whole keeps the digits that a shared 1 + x or exp(x) has lost."""
        if isinstance(node, exp):
            return exp(self._part(node.args[0]).body)
        is_sum = node.is_Add and len(node.args) <= tuning.MAX_SCALAR_ARGUMENTS
        if is_sum or isinstance(node, log) or isinstance(node.as_coeff_Mul()[1], exp):
            return node.func(*map(self._inlined, node.args))
        return self._part(node).body

    def _by_logarithms(self, node: Expr) -> Expr:
        """Return the logarithm, the sign or a quotient of determinants, in slots, by the signs and
        logarithms of these."""
        factors, rest = determinants_in(node if node.is_Mul else node.args[0])
        signs, logarithm = [self._part(rest).body], S.Zero
        for matrix, exponent, is_absolute in factors:
            pair = self.builder.emit("slogdet", self._value(matrix), params=(definiteness(matrix),))
            first, second = (
                slot(self.builder.emit("slice", pair, params=((k,),))) for k in (S.Zero, S.One)
            )
            logarithm += exponent * second
            signs.append(S.One if is_absolute else first**exponent)
        if isinstance(node, sign):
            return sign(Mul(*signs))
        return Mul(*signs, exp(logarithm)) if node.is_Mul else log(Mul(*signs)) + logarithm

    def _whole(self, node: Expr) -> Expr:
        """Replace the values inside of a condition and the like by slots."""
        rule = {
            part: self._part(part).body
            for part in postorder([node], stock_children)
            if isinstance(part, (TensorExpr, Symbol))
        }
        return substitute_stock(node, rule) if rule else node

    def _part(self, node: Operand) -> Code:
        if isinstance(node, TensorExpr):
            return Code(slot(self._value(node)))
        if node not in self._code:
            self.lower(node)  # a factor that is no node of the graph, such as a plain one
        return self._code[node]

    def _slotted(self, body: Expr) -> Slot:
        """Return a slot for a scalar expression in slots."""
        found = sorted(body.free_symbols, key=lambda s: s.place)
        if body in found:
            return body
        inputs = [s.place for s in found]
        code = body.xreplace({s: slot(k) for k, s in enumerate(found)})
        return slot(self.builder.emit("scalar", *inputs, params=(code,)))


def _holds_determinants(node: Expr) -> bool:
    """Tell whether a scalar is the logarithm, the sign or a quotient of determinants, which of
    large matrices are no numbers that fit a float."""
    if isinstance(node, (log, sign)):
        return bool(determinants_in(node.args[0])[0])
    factors = determinants_in(node)[0] if node.is_Mul else []
    return len({factor.exponent.is_negative for factor in factors}) == 2
