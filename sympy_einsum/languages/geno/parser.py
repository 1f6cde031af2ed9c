"""Parse a text to the parts of a problem: the grammar, and errors with positions."""

from __future__ import annotations

import re
from typing import NamedTuple

import lark

from .. import matrixcalculus
from ..grammars import Grammar
from ..matrixcalculus.parser import INSTEAD, MatrixNodes, explain
from ..nodes import Parts, SyntaxNode, open_parentheses


class DeclaredKind(NamedTuple):
    """Hold variables of one kind, each with its assumptions."""

    kind: str
    names: list[tuple[str, list[str]]]


class ProblemText(NamedTuple):
    """Hold the parts of a problem."""

    parameters: list[DeclaredKind]
    variables: list[DeclaredKind]
    is_maximum: bool
    objective: SyntaxNode
    constraints: list[SyntaxNode]


class _ToNodes(MatrixNodes):
    """Add declarations and relations."""

    def declared(self, parts: Parts) -> tuple[str, list[str]]:
        name, *assumptions = map(str, parts)
        return name, [word.lower() for word in assumptions]

    def declaration(self, parts: Parts) -> DeclaredKind:
        return DeclaredKind(str(parts[0]).lower(), parts[1::2])

    def constraint(self, parts: Parts) -> list[SyntaxNode]:
        sides, signs = parts[::2], parts[1::2]
        return [
            SyntaxNode("relation", str(sign), (a, b), sign.start_pos, a.start, b.end)
            for a, sign, b in zip(sides, signs, sides[1:], strict=False)
        ]

    def constraints(self, parts: Parts) -> list[SyntaxNode]:
        return [relation for part in parts if isinstance(part, list) for relation in part]

    def problem(self, parts: Parts) -> ProblemText:
        places = [k for k, p in enumerate(parts) if getattr(p, "type", "") == "VARIABLES"]
        groups = [p for p in parts[: places[0]] if isinstance(p, DeclaredKind)]
        variables = [p for p in parts[places[0] :] if isinstance(p, DeclaredKind)]
        sense = next(k for k, p in enumerate(parts) if getattr(p, "type", "") == "SENSE")
        constraints = parts[-1] if isinstance(parts[-1], list) else []
        is_maximum = str(parts[sense]).lower().startswith("max")
        return ProblemText(groups, variables, is_maximum, parts[sense + 1], constraints)


# What is expected in a problem, by the token that could stand there.
_EXPECTED = {
    "PARAMETERS": "parameters or variables, with declarations",
    "KIND": "Matrix, Vector or Scalar and a name, or the next part of the problem",
    "VARIABLES": "variables and their declarations",
    "RELATION": "<=, >= or ==",
    "SUBJECT_TO": "an operator, st and constraints, or the end of the text",
    "SEMICOLON": "an operator, a comma or the end of the line before the next constraint",
}


def _explain_in_problem(error: lark.exceptions.UnexpectedToken, before: str, found: str) -> str:
    expected = next((text for name, text in _EXPECTED.items() if name in error.expected), None)
    if expected is None or open_parentheses(before):
        return explain(error, before, found)
    return f"expected {expected}, but found {found}"


GRAMMAR = Grammar(
    __package__,
    ("problem",),
    _ToNodes(),
    "variables Vector x min norm2(x)^2",
    "+ - * / ^ .* ./ .^ '",
    INSTEAD,
    _explain_in_problem,
    base=matrixcalculus.__name__,
    lexer="contextual",
)


def read_problem_text(text: str) -> ProblemText:
    """Parse a problem in GENO's language; raises ParseError at a syntax error."""
    GRAMMAR.check(text)
    problem: ProblemText = GRAMMAR.read(_with_separators(text), "problem", text)
    return problem


_COMMENT = re.compile("#.*")
_SUBJECT_TO = re.compile(r"(?<!\w)(st\b|s\.t\.|subject\s+to\b)", re.I)
# After or before them a line goes on.
_OPERATORS = "*/^<>=,;(."
_HAS_RELATION = re.compile("[<>=]")


def _with_separators(text: str) -> str:
    """Return a text of the same length without comments, with semicolons for the ends of lines that
    end a constraint."""
    text = _COMMENT.sub(lambda found: " " * len(found[0]), text)
    found = _SUBJECT_TO.search(text)
    if found is None:
        return text
    head, lines = text[: found.end()], text[found.end() :].split("\n")
    following = [""]
    for line in reversed(lines[1:]):
        following.append(line.strip() or following[-1])
    joined, depth, has_relation, last = [head], 0, False, ""
    for line, follow in zip(lines, reversed(following), strict=True):
        depth += line.count("(") - line.count(")")
        has_relation = has_relation or bool(_HAS_RELATION.search(line))
        last = line.rstrip()[-1:] or last
        is_whole = (
            has_relation
            and not depth
            and last not in _OPERATORS + "+-"
            and follow
            and follow[0] not in _OPERATORS.replace("(", ")'")
            # A sign may go on with the constraint, or begin the next.
            and (follow[0] not in "+-" or _HAS_RELATION.search(follow))
        )
        joined += [line, ";" if is_whole else "\n"]
        if is_whole:
            has_relation = False
    return "".join(joined[:-1])
