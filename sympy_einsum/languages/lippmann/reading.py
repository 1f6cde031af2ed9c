"""From text to trees: the grammar, and errors that say where reading stopped."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import lark

from ...core import ParseError
from ..nodes import Node, Parts, check_text, end_of, leaf, open_parentheses

# Longer or deeper text is refused.
MAX_TEXT = 100_000
MAX_NESTING = 1_000


class Declared(NamedTuple):
    """A variable of ``declare``, as it is written."""

    name: Any  # tokens
    order: Any
    lengths: tuple[Any, ...] | None


class Wanted(NamedTuple):
    """A variable of ``derivative wrt``."""

    name: Any


# What stands in a program, in order.
Part: TypeAlias = "Declared | Node | Wanted"


class _ToNodes(lark.Transformer[lark.Token, Any]):
    """Turns each finished rule of the grammar into a node, while lark reads the text."""

    def program(self, parts: Parts) -> list[Part]:
        return [part for group in parts for part in group]

    def declaration(self, parts: Parts) -> list[Part]:
        declared: list[Part] = parts[1]
        return declared

    def variables(self, parts: Parts) -> list[Part]:
        return [part for part in parts if isinstance(part, Declared)]

    def declared(self, parts: Parts) -> Part:
        return Declared(parts[0], parts[1], parts[2][:-1] if len(parts) == 3 else None)

    def lengths(self, parts: Parts) -> Parts:
        return [*parts[1::2], parts[-1]]

    def expression(self, parts: Parts) -> list[Part]:
        return [parts[1]]

    def derivative(self, parts: Parts) -> list[Part]:
        return [Wanted(name) for name in parts[2:]]

    def number(self, parts: Parts) -> Node:
        return leaf("number", parts[0])

    def variable(self, parts: Parts) -> Node:
        return leaf("variable", parts[0])

    def call(self, parts: Parts) -> Node:
        name, _, argument, right = parts
        return replace(leaf("call", name), children=(argument,), end=end_of(right))

    def group(self, parts: Parts) -> Node:
        left, node, right = parts
        inside: Node = node
        return replace(inside, start=left.start_pos, end=end_of(right), in_parentheses=True)

    def shaped(self, parts: Parts) -> Node:
        node, lengths = parts
        names = ",".join(map(str, lengths[:-1]))
        return Node("shaped", names, (node,), lengths[0].start_pos, node.start, end_of(lengths[-1]))

    def prefix(self, parts: Parts) -> Node:
        sign, node = parts
        return Node("prefix", str(sign), (node,), sign.start_pos, sign.start_pos, node.end)

    def binary(self, parts: Parts) -> Node:
        left, operator, right = parts
        kind = "product" if operator.type == "TIMES" else "binary"
        return Node(kind, str(operator), (left, right), operator.start_pos, left.start, right.end)


@cache
def _parser() -> lark.Lark:
    return lark.Lark.open_from_package(
        __package__,
        "grammar.lark",
        parser="lalr",
        lexer="basic",
        start=["program", "sum", "variables"],
        transformer=_ToNodes(),
    )


def read(text: str, start: str) -> Any:
    """What a text is read as by one of the grammar's rules: a list of parts of a program, the tree
    of a sum, or a list of declared variables; raises ParseError where it leaves the grammar."""
    if not isinstance(text, str):
        raise ParseError(f"text is needed, not {type(text).__name__}")
    check_text(text, "the text has", MAX_TEXT)
    if not text.strip():
        raise ParseError("the text is empty; expected an expression such as A *(ij,j->i) b")
    _check_nesting(text)
    try:
        return _parser().parse(text, start=start)
    except lark.exceptions.UnexpectedCharacters as error:
        raise _wrong_character(text, error.pos_in_stream or 0) from None
    except lark.exceptions.UnexpectedToken as error:
        raise _wrong_token(text, error) from None


def _check_nesting(text: str) -> None:
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth > MAX_NESTING:
            message = f"parentheses are nested more than {MAX_NESTING} deep"
            raise ParseError(message, text, position)


_PRODUCT = "a product has index strings, a letter for each axis, such as A *(ij,j->i) b"
# What people write in other languages, and how it is written in this one.
_INSTEAD = {
    "*": _PRODUCT,
    "@": _PRODUCT,
    "·": _PRODUCT,
    "×": _PRODUCT,
    "'": "the transpose of A is written A *(ij,->ji) 1",
    "=": "there are no equations",
    ".": "the elementwise product is written x *(i,i->i) y",
    "−": "the minus sign is written -",
}
_OPERAND = "a number, a variable, a function call or '('"
_KEYWORDS = "'declare', 'expression' or 'derivative wrt'"


def _wrong_character(text: str, position: int) -> ParseError:
    character = text[position]
    hint = _INSTEAD.get(character)
    if hint is None and character.isalpha():
        hint = "names are made of the letters a-z and A-Z, digits and '_'"
    hint = hint or f"expected {_OPERAND}, or one of + - / ^ *(,->)"
    return ParseError(f"unexpected character {character!r}: {hint}", text, position)


def _wrong_token(text: str, error: lark.exceptions.UnexpectedToken) -> ParseError:
    token = error.token
    at_end = token.type == "$END"
    position = len(text.rstrip()) if at_end else token.start_pos
    found = "the end of the text" if at_end else repr(str(token))
    opened = open_parentheses(text[:position])
    if {"NUMBER", "LEFT"} <= error.expected:
        message = f"expected {_OPERAND}, but found {found}"
    elif at_end and opened:
        message, position = "this '(' is never closed; expected ')'", opened[-1]
    elif token.type == "RIGHT":
        message = "this ')' has no '(' before it"
    elif error.expected == {"NUMBER"}:
        message = f"expected the order of the variable, a number, but found {found}"
    elif "NAME" in error.expected:
        message = f"expected the name of a variable, but found {found}"
    elif "PLUS" in error.expected:
        message = f"expected an operator or a keyword before {found}; {_PRODUCT}"
    else:
        names = {"WRT": "'wrt'", "DECLARE": _KEYWORDS}
        wanted = [names[name] for name in names if name in error.expected]
        message = f"expected {wanted[0] if wanted else 'a length'}, but found {found}"
    return ParseError(message, text, position)
