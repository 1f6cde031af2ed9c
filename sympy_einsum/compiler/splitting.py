"""Elementwise instructions taken apart, one operation each, for a library that can write a result
over an operand.
"""

from __future__ import annotations

from sympy import Expr, S

from ..core import has_stable_code
from ..expressions import Slot, slot
from .instruction_rules import Instruction
from .plans import Plan, result_shape, without_dead_code


def split(plan: Plan) -> Plan:
    """The plan with elementwise code on arrays of two axes and more taken apart."""
    splitter = _Splitter()
    place: list[int] = []
    for step in plan.instructions:
        inputs = tuple([place[k] for k in step.inputs])
        if step.op == "elementwise" and len(step.shape) > 1:
            place.append(splitter.body(step.params[0], inputs))
        else:
            place.append(splitter.add(step._replace(inputs=inputs)))
    return without_dead_code(splitter.instructions, [place[k] for k in plan.results])


class _Splitter:
    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self._roots: dict[int, int] = {}

    def add(self, instruction: Instruction) -> int:
        """The number of an instruction."""
        self.instructions.append(instruction)
        return len(self.instructions) - 1

    def body(self, body: Expr, inputs: tuple[int, ...]) -> int:
        """The number of the instruction that computes a body last."""
        self._inputs = inputs
        self._known: dict[Expr, int] = {}
        return self._part(body)

    def _emit(self, op: str, inputs: tuple[int, ...], *params: Expr | tuple[int, ...]) -> int:
        shape = result_shape(op, [self.instructions[k].shape for k in inputs], params)
        return self.add(Instruction(op, inputs, params, shape))

    def _part(self, expr: Expr) -> int:
        if expr not in self._known:
            self._known[expr] = self._operation(expr)
        return self._known[expr]

    def _operation(self, expr: Expr) -> int:
        if isinstance(expr, Slot):
            return self._inputs[expr.place]
        if not expr.free_symbols:
            return self._emit("scalar", (), expr)
        if expr.is_Add and not has_stable_code(expr):
            return self._sum(expr)
        if expr.is_Mul:
            return self._product(expr)
        if expr.is_Pow and expr.exp == S.Half:
            return self._root(expr.base)
        if expr.is_Pow and expr.exp.is_number and expr.exp.is_positive:
            return self._emit("elementwise", (self._part(expr.base),), slot(0) ** expr.exp)
        if expr.is_Function and len(expr.args) == 1 and not has_stable_code(expr):
            return self._emit("elementwise", (self._part(expr.args[0]),), expr.func(slot(0)))
        if expr.is_Pow and expr.exp == -S.Half:
            return self._emit("elementwise", (self._root(expr.base),), 1 / slot(0))
        used = sorted(expr.free_symbols, key=lambda s: s.place)
        whole = expr.xreplace({own: slot(k) for k, own in enumerate(used)})
        return self._emit("elementwise", tuple([self._part(own) for own in used]), whole)

    def _root(self, base: Expr) -> int:
        """A square root, which its reciprocal elsewhere shares."""
        number = self._part(base)
        if number not in self._roots:
            self._roots[number] = self._emit("elementwise", (number,), slot(0) ** S.Half)
        return self._roots[number]

    def _sum(self, expr: Expr) -> int:
        terms = []
        for term in expr.args:
            coefficient, rest = term.as_coeff_Mul()
            negative = coefficient is S.NegativeOne
            terms.append((-1, rest) if negative else (1, term))
        # A minus needs something that it is taken from.
        terms.sort(key=lambda term: -term[0])
        (sign, first), *others = terms
        total = self._part(first)
        if sign < 0:
            total = self._emit("add", (total,), (-1,))
        for sign, term in others:
            total = self._emit("add", (total, self._part(term)), (1, sign))
        return total

    def _product(self, expr: Expr) -> int:
        above = [f for f in expr.args if not (f.is_Pow and f.exp.is_negative)]
        below = [1 / f for f in expr.args if f.is_Pow and f.exp.is_negative]
        if above and above[0] is S.NegativeOne and len(above) > 1:
            product = self._emit("add", (self._part(above[1]),), (-1,))
            above = above[1:]
        else:
            product = self._part(above[0] if above else S.One)
        for factor in above[1:]:
            product = self._emit("multiply", (product, self._part(factor)))
        for factor in below:
            operands = (product, self._part(factor))
            product = self._emit("elementwise", operands, slot(0) / slot(1))
        return product
