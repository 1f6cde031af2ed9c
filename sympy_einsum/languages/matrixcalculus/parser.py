"""Parse text to nodes: the grammar, and errors with positions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import lark

from ..grammars import OPERAND, Grammar, ToNodes, expects_operand
from ..nodes import Parts, SyntaxNode, end_of, leaf


class MatrixNodes(ToNodes):
    """Add calls of several arguments and transposes."""

    def arguments(self, parts: Parts) -> list[SyntaxNode]:
        return parts[::2]

    def call(self, parts: Parts) -> SyntaxNode:
        arguments = parts[2] if len(parts) == 4 else []
        return replace(leaf("call", parts[0]), children=tuple(arguments), end=end_of(parts[-1]))

    def postfix(self, parts: Parts) -> SyntaxNode:
        node, prime = parts
        return SyntaxNode(
            "postfix", str(prime), (node,), prime.start_pos, node.start, end_of(prime)
        )


_BEFORE = re.compile(r"[A-Za-z_][\w.]*$", re.ASCII)
_AFTER = re.compile(r"\.([\w.]*\.)?(\w+)(\(?)", re.ASCII)


def _attribute(text: str, position: int) -> str:
    """Translate a Python attribute, whose dot is at a position, for an error."""
    before, after = _BEFORE.search(text[:position]), _AFTER.match(text, position)
    if before and after and after[2] != "T":
        python = f"{before[0]}{after[0].removesuffix('(')} is Python's"
        if after[3]:
            return f"{python}; functions have no module, and no methods: write {after[2]}(...)"
        return f"{python}; names have no dots"
    return "the transpose is written A'"


# Notation of other languages, and its counterpart in this one.
INSTEAD: dict[str, str | Callable[[str, int], str]] = {
    "@": "the product of matrices is written A*B",
    "[": "there is no indexing, and brackets are written ( )",
    "{": "brackets are written ( )",
    "=": "expected one expression, without an equation",
    ".": _attribute,
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


def explain(error: lark.exceptions.UnexpectedToken, before: str, found: str) -> str:
    """Return the message for a token that can't follow ``before``."""
    if expects_operand(error):
        after = f" after {before[-1]!r}" if before else ""
        message = f"expected {OPERAND}{after}, but found {found}"
        is_power = before.endswith("*") and str(error.token) == "*"
        return f"{message}; a power is written ^, that of each entry .^" if is_power else message
    if error.token.type == "RIGHT":
        return "this ')' has no '(' before it; expected an operator or the end of the text"
    if error.token.type == "COMMA":
        return "commas separate the arguments of a function; expected an operator here"
    return f"expected an operator before {found}; a product is written with *"


GRAMMAR = Grammar(
    __package__, ("sum",), MatrixNodes(), "x'*A*x", "+ - * / ^ .* ./ .^ '", INSTEAD, explain
)


def read(text: str) -> SyntaxNode:
    """Parse a text to its root node; raises ParseError at a syntax error."""
    GRAMMAR.check(text)
    root: SyntaxNode = GRAMMAR.read(text, "sum")
    return root
