"""From text to trees: the grammar, and errors that say where reading stopped."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import lark

from ...core import ParseError
from ..nodes import Node, Parts, end_of, leaf, open_parentheses

# What stands above and below.
UPPER, LOWER = "^", "_"
_GROUP = re.compile(r"([\^_])\s*(?:([a-z]+)|\{([a-z\s]*)\})")


class Equation(NamedTuple):
    """A text: the indices on its left side, if it has one, and the tree."""

    indices: str | None
    tree: Node
    position: int = 0


class _ToNodes(lark.Transformer[lark.Token, Any]):
    """Turns each finished rule of the grammar into a node, while lark reads the text. The indices
    of a tensor are its node's only child."""

    def equation(self, parts: Parts) -> Equation:
        name, *rest, _, tree = parts
        return Equation(str(rest[0]) if rest else "", tree, name.start_pos)

    def _with_indices(self, kind: str, parts: Parts) -> Node:
        name, *indices = parts
        below = tuple(leaf("indices", token) for token in indices)
        return Node(kind, str(name), below, name.start_pos, name.start_pos, end_of(parts[-1]))

    def number(self, parts: Parts) -> Node:
        return self._with_indices("number", parts)

    def negative(self, parts: Parts) -> Node:
        return Node(
            "number", f"-{parts[1]}", (), parts[0].start_pos, parts[0].start_pos, end_of(parts[1])
        )

    def tensor(self, parts: Parts) -> Node:
        return self._with_indices("tensor", parts)

    def call(self, parts: Parts) -> Node:
        name, inside, right = parts
        return Node(
            "call", str(name)[:-1], (inside,), name.start_pos, name.start_pos, end_of(right)
        )

    def group(self, parts: Parts) -> Node:
        left, inside, right = parts
        return Node("group", "", (inside,), inside.position, left.start_pos, end_of(right))

    def power(self, parts: Parts) -> Node:
        base, operator, exponent = parts
        return Node("power", "^", (base, exponent), operator.start_pos, base.start, exponent.end)

    def product(self, parts: Parts) -> Node:
        return _chain("product", "*", parts)

    def sum(self, parts: Parts) -> Node:
        return _chain("sum", "+", parts)


def _chain(kind: str, operator: str, parts: Parts) -> Node:
    """A sum or product of any number of operands; its name has the operator before each."""
    operators = ""
    operands = []
    for before, part in pairwise([None, *parts]):
        if isinstance(part, Node):
            operands.append(part)
            operators += str(before) if isinstance(before, lark.Token) else operator
    place = operands[min(1, len(operands) - 1)].start
    return Node(kind, operators, tuple(operands), place, operands[0].start, operands[-1].end)


@cache
def _parser() -> lark.Lark:
    return lark.Lark.open_from_package(
        __package__, "grammar.lark", parser="lalr", lexer="basic", transformer=_ToNodes()
    )


def read_indices(text: str) -> list[tuple[str, str]]:
    """Letters with their levels, in the order of the axes.

    >>> read_indices("^i_{jk}")
    [('i', '^'), ('j', '_'), ('k', '_')]
    """
    return [
        (letter, level)
        for level, plain, braced in _GROUP.findall(text)
        for letter in "".join((plain or braced).split())
    ]


def read(text: str) -> Equation:
    """The equation of a text; raises ParseError where it leaves the grammar."""
    try:
        found: Any = _parser().parse(text)
    except lark.exceptions.UnexpectedCharacters as error:
        position = error.pos_in_stream or 0
        message = f"unexpected character {text[position]!r}"
        raise ParseError(f"{message}; {_EXPECTED}", text, position) from None
    except lark.exceptions.UnexpectedToken as error:
        at_end = error.token.type == "$END"
        position = len(text.rstrip()) if at_end else error.token.start_pos
        opened = open_parentheses(text[:position])
        if at_end and opened and "RIGHT" in error.expected:
            raise ParseError("this '(' is never closed", text, opened[-1]) from None
        shown = "the end of the text" if at_end else repr(str(error.token))
        raise ParseError(f"found {shown}; {_EXPECTED}", text, position) from None
    return found if isinstance(found, Equation) else Equation(None, found)


_EXPECTED = "expected tensors such as A^i_j x^j, numbers, functions, + - * / or brackets"
