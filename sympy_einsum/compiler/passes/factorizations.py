"""Shared factorizations: inverse, solutions and determinants of one matrix factor it once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...contraction_order import nominal_length
from ...core import tuning
from ..ir.instruction_rules import Instruction
from ..ir.plans import Plan, Rewriting, of_instructions

# Functions that a matrix is factored for.
FUNCTIONS = ("inv", "solve", "det", "logdet", "slogdet")


@dataclass
class _Matrix:
    """The uses of a matrix: the numbers of the instructions, its definiteness, and the orders of
    the operands that its inverse is multiplied by."""

    users: list[int] = field(default_factory=list)
    definite: bool | None = False
    multiplied: tuple[int, ...] = ()
    factors: int | None = None
    inverse: int | None = None


@of_instructions(*FUNCTIONS)
def with_factors(plan: Plan) -> Plan:
    """Factor each matrix once that an inverse or a solution and others, or determinants, are
    computed from, or one of a definite matrix.

    What is multiplied by an inverse whose entries are needed anyway, or by one of several matrices
    as large as it, is a product; vectors are solved for.
    """
    matrices = _matrices(plan)
    if not matrices:
        return plan
    new = _Factoring()
    for number, step in enumerate(plan.instructions):
        base = _base(plan, number)
        if step.op in FUNCTIONS and base in matrices:
            new.add(step, matrices[base], new.place[base])
        else:
            new.keep(step)
    return new.plan(plan.results)


def _base(plan: Plan, number: int) -> int:
    """Return the matrix that an instruction is a function of, without a transpose."""
    inputs = plan.instructions[number].inputs
    matrix = inputs[0] if inputs else number
    step = plan.instructions[matrix]
    return step.inputs[0] if step.op == "transpose" else matrix


def _matrices(plan: Plan) -> dict[int, _Matrix]:
    """Return the matrices that are worth being factored."""
    found: dict[int, _Matrix] = {}
    for number, step in enumerate(plan.instructions):
        if step.op in FUNCTIONS:
            matrix = found.setdefault(_base(plan, number), _Matrix())
            matrix.users.append(number)
            matrix.definite = _combined(matrix.definite, step.params[0])
    return {base: own for base, own in found.items() if _is_worth(plan, own)}


def _combined(one: bool | None, other: bool | None) -> bool | None:
    """Return what two uses of a matrix know of its definiteness together."""
    if one or other:
        return True
    return None if None in (one, other) else False


def _is_worth(plan: Plan, matrix: _Matrix) -> bool:
    """Tell whether factoring a matrix pays; note which operands its inverse is multiplied by."""
    steps = [plan.instructions[k] for k in matrix.users]
    names = [step.op for step in steps]
    solved = [step.shape for step in steps if step.op == "solve"]
    wide = [[*map(nominal_length, shape)] for shape in solved if len(shape) == 2]
    several = len(wide) > 1 and sum(columns for _, columns in wide) >= wide[0][0]
    if len(solved) - len(wide) > tuning.MAX_SOLVED_VECTORS:
        matrix.multiplied = (1, 2)
    elif "inv" in names or several:
        matrix.multiplied = (2,)
    # Determinants alone exist for singular matrices too, which have no factors in all libraries.
    is_inverted = "inv" in names or "solve" in names
    return is_inverted and (len(steps) > 1 or matrix.definite is True)


class _Factoring(Rewriting):
    """A plan in which what factors are for is computed by these."""

    def add(self, step: Instruction, matrix: _Matrix, base: int) -> None:
        """Add the next old instruction, a function of a matrix or of its transpose."""
        first, *others = self.inputs(step)
        self.place.append(self._function(step, matrix, base, others, first != base))

    def _function(
        self, step: Instruction, matrix: _Matrix, base: int, others: Sequence[int], transposed: bool
    ) -> int:
        definite = matrix.definite
        if matrix.factors is None:
            matrix.factors = self.emit("factored", base, params=(definite,))
        transposed = transposed and definite is False
        if step.op == "inv" or (step.op == "solve" and len(step.shape) in matrix.multiplied):
            inverse = self._transposed(self._inverse(matrix), transposed)
            return inverse if step.op == "inv" else self.emit("dot", inverse, *others)
        if step.op == "solve":
            return self.emit("solved", matrix.factors, *others, params=(definite, transposed))
        return self.emit("by_factors", matrix.factors, params=(step.op, definite, step.shape))

    def _inverse(self, matrix: _Matrix) -> int:
        if matrix.inverse is None and matrix.factors is not None:
            params = ("inv", matrix.definite, self.instructions[matrix.factors].shape)
            matrix.inverse = self.emit("by_factors", matrix.factors, params=params)
        assert matrix.inverse is not None
        return matrix.inverse

    def _transposed(self, value: int, transposed: bool) -> int:
        return self.emit("transpose", value, params=((1, 0),)) if transposed else value
