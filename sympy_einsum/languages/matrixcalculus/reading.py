"""From text to nodes: the grammar, and errors that say where reading stopped."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import lark

from ...core import ParseError
from ..nodes import Node, Parts, check_text, end_of, leaf, open_parentheses

# Longer text would take forever.
MAX_TEXT = 10_000


class _ToNodes(lark.Transformer[lark.Token, Node]):
    """Turns each finished rule of the grammar into a node, while lark reads the text."""

    def number(self, parts: Parts) -> Node:
        return leaf("number", parts[0])

    def variable(self, parts: Parts) -> Node:
        return leaf("variable", parts[0])

    def arguments(self, parts: Parts) -> list[Node]:
        return parts[::2]

    def call(self, parts: Parts) -> Node:
        arguments = parts[2] if len(parts) == 4 else []
        return replace(leaf("call", parts[0]), children=tuple(arguments), end=end_of(parts[-1]))

    def group(self, parts: Parts) -> Node:
        left, node, right = parts
        inside: Node = node
        return replace(inside, start=left.start_pos, end=end_of(right), in_parentheses=True)

    def prefix(self, parts: Parts) -> Node:
        sign, node = parts
        return Node("prefix", str(sign), (node,), sign.start_pos, sign.start_pos, node.end)

    def postfix(self, parts: Parts) -> Node:
        node, prime = parts
        return Node("postfix", str(prime), (node,), prime.start_pos, node.start, end_of(prime))

    def binary(self, parts: Parts) -> Node:
        left, operator, right = parts
        return Node(
            "binary", str(operator), (left, right), operator.start_pos, left.start, right.end
        )


@cache
def _parser() -> lark.Lark:
    return lark.Lark.open_from_package(
        __package__,
        "grammar.lark",
        parser="lalr",
        lexer="basic",
        start="sum",
        transformer=_ToNodes(),
    )


def read(text: str) -> Node:
    """The root node of a text; raises ParseError where the text leaves the grammar."""
    if not isinstance(text, str):
        raise ParseError(f"parse reads text, not {type(text).__name__}")
    check_text(text, "the text has", MAX_TEXT)
    if not text.strip():
        raise ParseError("the text is empty; expected an expression such as x'*A*x")
    try:
        return _parser().parse(text)  # type: ignore[return-value]
    except lark.exceptions.UnexpectedCharacters as error:
        raise _wrong_character(text, error.pos_in_stream or 0) from None
    except lark.exceptions.UnexpectedToken as error:
        raise _wrong_token(text, error) from None


# What people write in other languages, and how it is written in this one.
_INSTEAD = {
    "@": "the product of matrices is written A*B",
    "[": "there is no indexing, and brackets are written ( )",
    "{": "brackets are written ( )",
    "=": "expected one expression, without an equation",
    ".": "the transpose is written A'",
    "·": "the product is written *",
    "×": "the product is written *",
    "⊙": "the elementwise product is written .*",
    "−": "the minus sign is written -",
    "–": "the minus sign is written -",
    "’": "the transpose is written with a straight prime, A'",
    "′": "the transpose is written with a straight prime, A'",
    "ᵀ": "the transpose is written A'",
    "⊤": "the transpose is written A'",
    "²": "the square is written ^2",
}
_OPERAND = "a number, a variable, a function call or '('"


def _wrong_character(text: str, position: int) -> ParseError:
    character = text[position]
    hint = _INSTEAD.get(character)
    if hint is None and character.isalpha():
        hint = "names are made of the letters a-z and A-Z, digits and '_'"
    hint = hint or f"expected {_OPERAND}, or one of + - * / ^ .* ./ .^ '"
    return ParseError(f"unexpected character {character!r}: {hint}", text, position)


def _wrong_token(text: str, error: lark.exceptions.UnexpectedToken) -> ParseError:
    token = error.token
    at_end = token.type == "$END"
    position = len(text.rstrip()) if at_end else token.start_pos
    found = "the end of the text" if at_end else repr(str(token))
    opened = open_parentheses(text[:position])
    before = text[:position].rstrip()
    if "NUMBER" in error.expected:
        after = f" after {before[-1]!r}" if before else ""
        message = f"expected {_OPERAND}{after}, but found {found}"
        if before.endswith("*") and str(token) == "*":
            message += "; a power is written ^"
    elif at_end and opened:
        message, position = "this '(' is never closed; expected ')'", opened[-1]
    elif token.type == "RIGHT":
        message = "this ')' has no '(' before it; expected an operator or the end of the text"
    elif token.type == "COMMA":
        message = "commas separate the arguments of a function; expected an operator here"
    else:
        message = f"expected an operator before {found}; a product is written with *"
    return ParseError(message, text, position)
