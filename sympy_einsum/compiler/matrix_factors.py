"""One factorisation for all that is computed from one matrix: inverse, solutions, determinants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..core import nominal_length
from .instruction_rules import Instruction
from .plans import Plan, result_shape, without_dead_code

# Vectors are solved for one by one, up to so many.
MAX_VECTORS = 8
# What a matrix is factored for.
FUNCTIONS = ("inv", "solve", "det", "logdet", "slogdet")


@dataclass
class _Matrix:
    """What is computed from a matrix: the numbers of these instructions, whether it is known to be
    definite, and of how many axes is what is multiplied by its inverse."""

    users: list[int] = field(default_factory=list)
    definite: bool = False
    multiplied: tuple[int, ...] = ()
    factors: int | None = None
    inverse: int | None = None


def with_factors(plan: Plan) -> Plan:
    """The plan with each matrix factored once that is inverted, solved for, or whose determinant
    is computed, if several such things or a definite one are.

    What is multiplied by an inverse whose entries are needed anyway, or by one of several matrices
    as large as it, is a product; vectors are solved for.
    """
    matrices = _matrices(plan)
    if not matrices:
        return plan
    rewriter = _Rewriter(plan)
    for number, step in enumerate(plan.instructions):
        base = _base(plan, number)
        rewriter.add(number, matrices.get(base) if step.op in FUNCTIONS else None)
    place = rewriter.place
    return without_dead_code(rewriter.instructions, [place[k] for k in plan.results])


def _base(plan: Plan, number: int) -> int:
    """The matrix that an instruction is a function of, without a transpose."""
    inputs = plan.instructions[number].inputs
    matrix = inputs[0] if inputs else number
    step = plan.instructions[matrix]
    return step.inputs[0] if step.op == "transpose" else matrix


def _matrices(plan: Plan) -> dict[int, _Matrix]:
    """The matrices that are worth being factored."""
    found: dict[int, _Matrix] = {}
    for number, step in enumerate(plan.instructions):
        if step.op in FUNCTIONS:
            matrix = found.setdefault(_base(plan, number), _Matrix())
            matrix.users.append(number)
            matrix.definite |= step.params[0]
    return {base: own for base, own in found.items() if _is_worth(plan, own)}


def _is_worth(plan: Plan, matrix: _Matrix) -> bool:
    """Whether factors of a matrix are of use; says what its inverse is of use for."""
    steps = [plan.instructions[k] for k in matrix.users]
    names = [step.op for step in steps]
    solved = [step.shape for step in steps if step.op == "solve"]
    wide = [[*map(nominal_length, shape)] for shape in solved if len(shape) == 2]
    several = len(wide) > 1 and sum(columns for _, columns in wide) >= wide[0][0]
    if len(solved) - len(wide) > MAX_VECTORS:
        matrix.multiplied = (1, 2)
    elif "inv" in names or several:
        matrix.multiplied = (2,)
    return len(steps) > 1 or (matrix.definite and names[0] in ("inv", "solve"))


class _Rewriter:
    """The instructions of a plan, with those that factors are for replaced."""

    def __init__(self, plan: Plan):
        self.plan = plan
        self.instructions: list[Instruction] = []
        self.place: list[int] = []

    def add(self, number: int, matrix: _Matrix | None) -> None:
        """The next instruction of the plan, a function of a matrix if there is one."""
        step = self.plan.instructions[number]
        inputs = tuple([self.place[k] for k in step.inputs])
        if matrix is None:
            self.instructions.append(step._replace(inputs=inputs))
            self.place.append(len(self.instructions) - 1)
            return
        base = self.place[_base(self.plan, number)]
        turned = inputs[0] != base
        self.place.append(self._function(step, matrix, base, inputs[1:], turned))

    def _function(
        self, step: Instruction, matrix: _Matrix, base: int, others: Sequence[int], turned: bool
    ) -> int:
        definite = matrix.definite
        if matrix.factors is None:
            matrix.factors = self._emit("factored", [base], definite)
        turned = turned and not definite
        if step.op == "inv" or (step.op == "solve" and len(step.shape) in matrix.multiplied):
            inverse = self._turned(self._inverse(matrix), turned)
            return inverse if step.op == "inv" else self._emit("dot", [inverse, *others])
        if step.op == "solve":
            return self._emit("solved", [matrix.factors, *others], definite, turned)
        return self._emit("by_factors", [matrix.factors], step.op, definite, tuple(step.shape))

    def _inverse(self, matrix: _Matrix) -> int:
        if matrix.inverse is None and matrix.factors is not None:
            shape = self.instructions[matrix.factors].shape
            inputs = [matrix.factors]
            matrix.inverse = self._emit("by_factors", inputs, "inv", matrix.definite, tuple(shape))
        assert matrix.inverse is not None
        return matrix.inverse

    def _turned(self, value: int, turned: bool) -> int:
        return self._emit("transpose", [value], (1, 0)) if turned else value

    def _emit(self, op: str, inputs: Sequence[int], *params: object) -> int:
        shape = result_shape(op, [self.instructions[k].shape for k in inputs], params)
        self.instructions.append(Instruction(op, tuple(inputs), params, shape))
        return len(self.instructions) - 1
