"""Parse text to trees: the grammar, and errors with positions."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

import lark

from ..grammars import Grammar, ToNodes
from ..nodes import Parts, SyntaxNode, check_nesting, end_of, leaf

# The marker of upper indices; that of lower ones is "_".
UPPER = "^"
_GROUP = re.compile(r"([\^_])\s*(?:([a-z]+)|\{([a-z\s]*)\})")


class Equation(NamedTuple):
    """Hold a text: the indices of its left side, if any, and the tree."""

    indices: str | None
    tree: SyntaxNode
    position: int = 0


class _ToNodes(ToNodes):
    """Add indices, the only child of a tensor's node, and sums and products of any number of
    operands."""

    def sides(self, parts: Parts) -> Equation:
        name, *rest, _, tree = parts
        return Equation(str(rest[0]) if rest else "", tree, name.start_pos)

    def _with_indices(self, kind: str, parts: Parts) -> SyntaxNode:
        name, *indices = parts
        below = tuple(leaf("indices", token) for token in indices)
        return SyntaxNode(kind, str(name), below, name.start_pos, name.start_pos, end_of(parts[-1]))

    def number(self, parts: Parts) -> SyntaxNode:
        return self._with_indices("number", parts)

    def negative(self, parts: Parts) -> SyntaxNode:
        return SyntaxNode(
            "number", f"-{parts[1]}", (), parts[0].start_pos, parts[0].start_pos, end_of(parts[1])
        )

    def tensor(self, parts: Parts) -> SyntaxNode:
        return self._with_indices("tensor", parts)

    def call(self, parts: Parts) -> SyntaxNode:
        name, inside, right = parts
        return SyntaxNode(
            "call", str(name)[:-1], (inside,), name.start_pos, name.start_pos, end_of(right)
        )

    def group(self, parts: Parts) -> SyntaxNode:
        left, inside, right = parts
        return SyntaxNode("group", "", (inside,), inside.position, left.start_pos, end_of(right))

    def power(self, parts: Parts) -> SyntaxNode:
        base, operator, exponent = parts
        return SyntaxNode(
            "power", "^", (base, exponent), operator.start_pos, base.start, exponent.end
        )

    def product(self, parts: Parts) -> SyntaxNode:
        return _chain("product", "*", parts)

    def sum(self, parts: Parts) -> SyntaxNode:
        return _chain("sum", "+", parts)


def _chain(kind: str, operator: str, parts: Parts) -> SyntaxNode:
    """Make a sum or product of any number of operands, named by the operators before each."""
    operators = ""
    operands = []
    for before, part in pairwise([None, *parts]):
        if isinstance(part, SyntaxNode):
            operands.append(part)
            operators += str(before) if isinstance(before, lark.Token) else operator
    place = operands[min(1, len(operands) - 1)].start
    return SyntaxNode(kind, operators, tuple(operands), place, operands[0].start, operands[-1].end)


def read_indices(text: str) -> list[tuple[str, str]]:
    """Parse letters with their levels, in the order of the axes.

    >>> read_indices("^i_{jk}")
    [('i', '^'), ('j', '_'), ('k', '_')]
    """
    return [
        (letter, level)
        for level, plain, braced in _GROUP.findall(text)
        for letter in "".join((plain or braced).split())
    ]


def _explain(error: lark.exceptions.UnexpectedToken, before: str, found: str) -> str:
    return f"found {found}; expected {_EXPECTED}"


_EXPECTED = "tensors such as A^i_j x^j, numbers, functions, + - * / or brackets"
GRAMMAR = Grammar(__package__, ("equation",), _ToNodes(), "A^i_j x^j", "+ - * / ^", {}, _explain)


def read(text: str) -> Equation:
    """Parse a text to an equation; raises ParseError at a syntax error."""
    GRAMMAR.check(text)
    check_nesting(text)
    found = GRAMMAR.read(text, "equation")
    return found if isinstance(found, Equation) else Equation(None, found)
