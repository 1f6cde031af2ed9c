"""Read optimization problems in GENO's language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sympy import Eq

from ... import operations
from ...core import ParseError, TensorError, deferred, with_time_limit
from ..matrixcalculus.declarations import Declaration
from ..matrixcalculus.operators import infer_elementwise
from ..matrixcalculus.program import Interpreter
from ..matrixcalculus.types import Type, TypeRule
from ..nodes import SyntaxNode
from .parser import DeclaredKind, read_problem_text

_new_problem = deferred("optimization", "Problem")
# The sides of a relation are of one shape, or one is a scalar.
_RELATION = TypeRule(infer_elementwise, operations.subtract)


@dataclass
class _ProblemInterpreter(Interpreter):
    """Know relations, and no variables but those that are declared."""

    def rule(self, node: SyntaxNode) -> TypeRule:
        return _RELATION if node.kind == "relation" else super().rule(node)

    def _infer_variable(self, node: SyntaxNode) -> Type:
        if node.name not in self.declarations:
            raise ParseError(
                f"{node.name!r} is declared neither under parameters nor under variables",
                self.text,
                node.position,
            )
        return super()._infer_variable(node)


@with_time_limit
def read_problem(text: str) -> Any:
    """Parse a text to a ``Problem``.

    >>> read_problem('''
    ... parameters
    ...   Matrix A
    ...   Vector b
    ... variables
    ...   Vector x
    ... min
    ...   norm2(A*x - b)^2
    ... st
    ...   x >= 0
    ...   sum(x) == 1
    ... ''')
    minimise ((A @ x - b)**2).sum() over x subject to x >= 0, x.sum() = 1
    """
    parsed = read_problem_text(text)
    declarations: dict[str, Declaration] = {}
    for name, declaration in _declared([*parsed.parameters, *parsed.variables]):
        if name in declarations:
            raise ParseError(f"{name!r} is declared twice")
        declarations[name] = declaration
    program = _ProblemInterpreter(text, declarations)
    try:
        program.infer(parsed.objective, *parsed.constraints)
        objective = program.build(parsed.objective)
        constraints = [_constraint(program, relation) for relation in parsed.constraints]
    except RecursionError:
        raise ParseError("the expression is nested too deeply for SymPy") from None
    names = [name for name, _ in _declared(parsed.variables)]
    unused = [name for name in names if name not in program.symbols]
    if unused:
        raise ParseError(f"the variable {unused[0]!r} is declared, but doesn't occur")
    variables = [program.symbols[name] for name in names]
    try:
        return _new_problem(objective, variables, constraints, maximize=parsed.is_maximum)
    except TensorError as error:
        raise ParseError(str(error)) from error


def _declared(groups: Sequence[DeclaredKind]) -> list[tuple[str, Declaration]]:
    """Return declarations by name; whether an array is sparse says nothing of its entries."""
    return [
        (name, Declaration(group.kind, (), tuple(sorted({*assumptions} - {"sparse"}))))
        for group in groups
        for name, assumptions in group.names
    ]


def _constraint(program: Interpreter, relation: SyntaxNode) -> Any:
    left, right = map(program.build, relation.children)
    if relation.name in ("=", "=="):
        return Eq(left, right, evaluate=False)
    return left <= right if relation.name in ("<", "<=") else left >= right
