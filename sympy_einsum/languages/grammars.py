"""Parse by a grammar: nodes for grammar rules, and errors with positions, for all languages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

import lark

from ..core import ParseError, once
from .nodes import Parts, SyntaxNode, check_text, end_of, leaf, open_parentheses

OPERAND = "a number, a variable, a function call or '('"


class ToNodes(lark.Transformer[lark.Token, Any]):
    """Turn each reduced rule of a grammar into a node, while lark parses."""

    def number(self, parts: Parts) -> SyntaxNode:
        return leaf("number", parts[0])

    def variable(self, parts: Parts) -> SyntaxNode:
        return leaf("variable", parts[0])

    def group(self, parts: Parts) -> SyntaxNode:
        left, node, right = parts
        inside: SyntaxNode = node
        return replace(inside, start=left.start_pos, end=end_of(right), in_parentheses=True)

    def prefix(self, parts: Parts) -> SyntaxNode:
        sign, node = parts
        return SyntaxNode("prefix", str(sign), (node,), sign.start_pos, sign.start_pos, node.end)

    def binary(self, parts: Parts) -> SyntaxNode:
        left, operator, right = parts
        children, start = (left, right), operator.start_pos
        return SyntaxNode("binary", str(operator), children, start, left.start, right.end)


@dataclass(frozen=True)
class Grammar:
    """Parse by the grammar of a language, ``grammar.lark`` in its package.

    Attributes
    ==========

    starts : the start rules
    nodes : the transformer of reduced rules
    limit : maximum number of characters
    example : an expression, for errors
    operators : the operators that may follow an operand
    instead : notation of other languages with its counterpart in this one, or a function of the
        text and the position that returns it
    explain : the message for an unexpected token, given the error, the text before the token, and
        its description
    base : the package of a grammar that this one is read with
    lexer : ``"contextual"`` where words are keywords in some places and names in others
    """

    package: str
    starts: tuple[str, ...]
    nodes: ToNodes
    example: str
    operators: str
    instead: Mapping[str, str | Callable[[str, int], str]]
    explain: Callable[[lark.exceptions.UnexpectedToken, str, str], str]
    base: str = ""
    lexer: str = "basic"

    @once
    def _parser(self) -> lark.Lark:
        packages = [self.package, *([self.base] if self.base else [])]
        texts = [(files(p) / "grammar.lark").read_text(encoding="utf-8") for p in packages]
        return lark.Lark(
            "\n".join(texts),
            parser="lalr",
            lexer=self.lexer,
            start=list(self.starts),
            transformer=self.nodes,
        )

    def check(self, text: str) -> None:
        """Raise ParseError for anything but a text, and for an empty or too long one."""
        if not isinstance(text, str):
            raise ParseError(f"parse reads text, not {type(text).__name__}")
        check_text(text, "the text has")
        if not text.strip():
            raise ParseError(f"the text is empty; expected an expression such as {self.example}")

    def read(self, text: str, start: str, shown: str | None = None) -> Any:
        """Parse a text by the rule ``start``; raises ParseError at a syntax error, which shows the
        text, or ``shown`` in its place."""
        try:
            return self._parser.parse(text, start=start)
        except lark.exceptions.UnexpectedCharacters as error:
            raise self._wrong_character(shown or text, error.pos_in_stream or 0) from None
        except lark.exceptions.UnexpectedToken as error:
            raise self._wrong_token(shown or text, error) from None

    def tokens(self, text: str) -> list[lark.Token]:
        """Return the tokens of a text, each of its own terminal, without space and comments."""
        self.check(text)
        try:
            return list(self._parser.lex(text))
        except lark.exceptions.UnexpectedCharacters as error:
            raise self._wrong_character(text, error.pos_in_stream or 0) from None

    def _wrong_character(self, text: str, position: int) -> ParseError:
        character = text[position]
        hint = self.instead.get(character)
        if callable(hint):
            hint = hint(text, position)
        if hint is None and character.isalpha():
            hint = "names are made of the letters a-z and A-Z, digits and '_'"
        hint = hint or f"expected {OPERAND}, or one of {self.operators}"
        return ParseError(f"unexpected character {character!r}: {hint}", text, position)

    def _wrong_token(self, text: str, error: lark.exceptions.UnexpectedToken) -> ParseError:
        at_end = error.token.type == "$END"
        position = len(text.rstrip()) if at_end else error.token.start_pos
        unclosed = open_parentheses(text[:position])
        if at_end and unclosed and not expects_operand(error):
            return ParseError("this '(' is never closed; expected ')'", text, unclosed[-1])
        found = "the end of the text" if at_end else repr(str(error.token))
        return ParseError(self.explain(error, text[:position].rstrip(), found), text, position)


def expects_operand(error: lark.exceptions.UnexpectedToken) -> bool:
    """Tell whether an operand was expected in place of a token."""
    return {"NUMBER", "LEFT"} <= error.expected
