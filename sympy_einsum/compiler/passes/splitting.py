"""Splitting of elementwise instructions into single operations, for a library that can write a
result over an operand.
"""

from __future__ import annotations

from sympy import Expr, Piecewise, S

from ...core import has_stable_code
from ...expressions import Slot, slot
from ..ir.instruction_rules import Instruction
from ..ir.plans import Plan, Rewriting, of_instructions


@of_instructions("elementwise")
def split_elementwise(plan: Plan) -> Plan:
    """Split elementwise code on arrays of two axes and more into single operations."""
    if not any(map(_is_of_arrays, plan.instructions)):
        return plan
    splitter = _Splitter()
    for step in plan.instructions:
        if _is_of_arrays(step):
            splitter.split(step)
        else:
            splitter.keep(step)
    return splitter.plan(plan.results)


def _is_of_arrays(step: Instruction) -> bool:
    return step.op == "elementwise" and len(step.shape) > 1


class _Splitter(Rewriting):
    def __init__(self) -> None:
        super().__init__()
        self._roots: dict[int, int] = {}

    def split(self, step: Instruction) -> None:
        """Add the operations that the next old instruction is made of."""
        self._inputs = self.inputs(step)
        self._known: dict[Expr, int] = {}
        self.place.append(self._part(step.params[0]))

    def _part(self, expr: Expr) -> int:
        if expr not in self._known:
            self._known[expr] = self._operation(expr)
        return self._known[expr]

    def _operation(self, expr: Expr) -> int:
        if isinstance(expr, Slot):
            return self._inputs[expr.place]
        if not expr.free_symbols:
            return self.emit("scalar", params=(expr,))
        if expr.is_Add and not has_stable_code(expr):
            return self._sum(expr)
        if expr.is_Mul:
            return self._product(expr)
        if expr.is_Pow and expr.exp == S.Half:
            return self._root(expr.base)
        if expr.is_Pow and expr.exp.is_number and expr.exp.is_positive:
            return self.apply(slot(0) ** expr.exp, self._part(expr.base))
        is_choice = isinstance(expr, Piecewise)  # its arguments are branches
        if expr.is_Function and not is_choice and len(expr.args) == 1 and not has_stable_code(expr):
            return self.apply(expr.func(slot(0)), self._part(expr.args[0]))
        if expr.is_Pow and expr.exp == -S.Half:
            return self.apply(1 / slot(0), self._root(expr.base))
        used = sorted(expr.free_symbols, key=lambda s: s.place)
        whole = expr.xreplace({own: slot(k) for k, own in enumerate(used)})
        return self.apply(whole, *map(self._part, used))

    def _root(self, base: Expr) -> int:
        """Emit a square root, which its reciprocal elsewhere shares."""
        number = self._part(base)
        if number not in self._roots:
            self._roots[number] = self.apply(slot(0) ** S.Half, number)
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
            total = self.emit("add", total, params=((-1,),))
        for sign, term in others:
            total = self.emit("add", total, self._part(term), params=((1, sign),))
        return total

    def _product(self, expr: Expr) -> int:
        above = [f for f in expr.args if not (f.is_Pow and f.exp.is_negative)]
        below = [1 / f for f in expr.args if f.is_Pow and f.exp.is_negative]
        if above and above[0] is S.NegativeOne and len(above) > 1:
            product = self.emit("add", self._part(above[1]), params=((-1,),))
            above = above[1:]
        else:
            product = self._part(above[0] if above else S.One)
        for factor in above[1:]:
            product = self.emit("multiply", product, self._part(factor))
        for factor in below:
            product = self.apply(slot(0) / slot(1), product, self._part(factor))
        return product
