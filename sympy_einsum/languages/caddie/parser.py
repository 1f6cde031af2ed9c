"""Parse text to trees: the grammar, and errors with positions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import lark

from ..grammars import OPERAND, Grammar, ToNodes, expects_operand
from ..nodes import Parts, SyntaxNode, check_nesting, end_of, leaf


class FunctionText(NamedTuple):
    """Hold ``fun name argument = body``."""

    name: lark.Token
    argument: lark.Token
    body: SyntaxNode


class Binding(NamedTuple):
    """Hold ``name = value`` of a ``let``; the name is a token."""

    name: Any
    value: SyntaxNode


class _ToNodes(ToNodes):
    """Add functions, tuples, projections, bindings and maps."""

    def program(self, parts: Parts) -> list[FunctionText]:
        return list(parts)

    def function(self, parts: Parts) -> FunctionText:
        return FunctionText(parts[1], parts[2], parts[4])

    def call(self, parts: Parts) -> SyntaxNode:
        name, argument = parts
        return replace(leaf("call", name), children=(argument,), end=argument.end)

    def exponent(self, parts: Parts) -> str:
        text = "".join(str(token) for token in parts if token.type not in ("LEFT", "RIGHT"))
        return text.replace("~", "-")

    def power(self, parts: Parts) -> SyntaxNode:
        word, exponent, argument = parts
        start = word.start_pos
        return SyntaxNode("power", exponent, (argument,), start, start, argument.end)

    def projection(self, parts: Parts) -> SyntaxNode:
        mark, number, argument = parts
        start = mark.start_pos
        return SyntaxNode("projection", str(number), (argument,), start, start, argument.end)

    def negation(self, parts: Parts) -> SyntaxNode:
        sign, node = parts
        start = sign.start_pos
        return SyntaxNode("negation", "~", (node,), start, start, node.end)

    def tuple(self, parts: Parts) -> SyntaxNode:
        start = parts[0].start_pos
        return SyntaxNode("tuple", "", (*parts[1:-1:2],), start, start, end_of(parts[-1]))

    def array(self, parts: Parts) -> SyntaxNode:
        start = parts[0].start_pos
        return SyntaxNode("array", "", (*parts[1:-1:2],), start, start, end_of(parts[-1]))

    def binding(self, parts: Parts) -> Binding:
        return Binding(parts[0], parts[2])

    def let(self, parts: Parts) -> SyntaxNode:
        bindings = [part for part in parts if isinstance(part, Binding)]
        body: SyntaxNode = next(part for part in parts if isinstance(part, SyntaxNode))
        start = parts[0].start_pos
        for name, value in reversed(bindings):
            body = SyntaxNode("let", str(name), (value, body), name.start_pos, start, body.end)
        return body

    def map(self, parts: Parts) -> SyntaxNode:
        start, body, values = parts[0].start_pos, parts[5], parts[7]
        return SyntaxNode("map", str(parts[3]), (body, values), start, start, values.end)

    def iota(self, parts: Parts) -> SyntaxNode:
        start = parts[0].start_pos
        return SyntaxNode("iota", str(parts[1]), (), start, start, end_of(parts[1]))


# Notation of other languages, and its counterpart in this one.
_INSTEAD = {
    "^": "a power is written pow 2.0 x",
    "/": "a quotient is written with pow ~1.0 y, as in x * pow ~1.0 y",
    "@": "the scalar product of two tuples is written dprod (x, y)",
    ";": "values are bound by let x = … in …",
    "−": "the minus sign is written -",
    "π": "a projection is written #1 x",
}
_KEYWORDS = {"IN": "'in'", "EQUALS": "'='", "ARROW": "'=>'", "FN": "'fn'"}


def _explain(error: lark.exceptions.UnexpectedToken, before: str, found: str) -> str:
    if "red" in before.split():
        return "red, a reduction over a relation, isn't supported; write a sum with dprod"
    if expects_operand(error):
        return f"expected {OPERAND}, but found {found}"
    if error.expected == {"NUMBER"}:
        return f"expected a number, but found {found}"
    words = [word for name, word in _KEYWORDS.items() if name in error.expected]
    if words:
        operator = "an operator or " * ("PLUS" in error.expected)
        return f"expected {operator}{words[0]}, but found {found}"
    if error.expected == {"NAME"}:
        return f"expected a name, but found {found}"
    if error.expected <= {"FUN", "$END"}:
        return f"expected 'fun' and a function, but found {found}"
    return f"expected an operator before {found}; a function is applied as in sin x"


GRAMMAR = Grammar(
    __package__,
    ("program", "sum"),
    _ToNodes(),
    "fun f x = ln (sin x)",
    "+ - * *>",
    _INSTEAD,
    _explain,
)


def read(text: str) -> list[FunctionText] | SyntaxNode:
    """Parse a text to its functions, or to the tree of one expression."""
    GRAMMAR.check(text)
    check_nesting(text)
    found: list[FunctionText] | SyntaxNode = GRAMMAR.read(
        text, "program" if is_program(text) else "sum"
    )
    return found


def is_program(text: str) -> bool:
    """Tell whether the first word of a text, after comments, is ``fun``.

    >>> is_program("(* a comment *) fun f x = x"), is_program("function + 1")
    (True, False)
    """
    rest = text.lstrip()
    while rest.startswith("(*"):
        rest = rest.partition("*)")[2].lstrip()
    return rest[:3] == "fun" and not rest[3:4].isalnum() and rest[3:4] != "_"
