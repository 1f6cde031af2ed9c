"""Parse text to trees: the grammar, and errors with positions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import lark

from ..grammars import OPERAND, Grammar, ToNodes, expects_operand
from ..nodes import Parts, SyntaxNode, check_nesting, end_of, leaf


class Declared(NamedTuple):
    """Hold a variable of ``declare``."""

    name: lark.Token
    order: lark.Token
    lengths: tuple[lark.Token, ...] | None


class Wanted(NamedTuple):
    """Hold a variable of ``derivative wrt``."""

    name: lark.Token


# Parts of a program, in order.
Part: TypeAlias = "Declared | SyntaxNode | Wanted"


class _ToNodes(ToNodes):
    """Add declarations, axis lengths and products with index strings."""

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

    def call(self, parts: Parts) -> SyntaxNode:
        name, _, argument, right = parts
        return replace(leaf("call", name), children=(argument,), end=end_of(right))

    def shaped(self, parts: Parts) -> SyntaxNode:
        node, lengths = parts
        names = ",".join(map(str, lengths[:-1]))
        return SyntaxNode(
            "shaped", names, (node,), lengths[0].start_pos, node.start, end_of(lengths[-1])
        )

    def rearranged(self, parts: Parts) -> SyntaxNode:
        """Return the product with 1, by which the thesis writes a transpose and a sum."""
        node, operator = parts
        before, arrow, after = partition_at_arrow(str(operator))
        one = SyntaxNode("number", "1", (), operator.start_pos, node.start, end_of(operator))
        name = f"{before},{arrow}{after}"
        children = (node, one)
        return SyntaxNode(
            "product", name, children, operator.start_pos, node.start, end_of(operator)
        )

    def binary(self, parts: Parts) -> SyntaxNode:
        node = super().binary(parts)
        return replace(node, kind="product") if parts[1].type == "TIMES" else node


def partition_at_arrow(text: str) -> tuple[str, str, str]:
    """Split index strings at their arrow, ``->``, ``→`` or ``>``.

    >>> partition_at_arrow("*(ij->ji)")
    ('*(ij', '->', 'ji)')
    """
    start = min(k for k, character in enumerate(text) if character in "->→")
    end = max(k for k, character in enumerate(text) if character in ">→") + 1
    return text[:start], text[start:end], text[end:]


_PRODUCT = "a product has index strings, a letter for each axis, such as A *(ij,j->i) b"
# Notation of other languages, and its counterpart in this one.
_INSTEAD = {
    "*": _PRODUCT,
    "@": _PRODUCT,
    "·": _PRODUCT,
    "×": _PRODUCT,
    "'": "the transpose of A is written A *(ij->ji)",
    "=": "there are no equations",
    ".": "the elementwise product is written x *(i,i->i) y",
    "−": "the minus sign is written -",
}
_KEYWORDS = "'declare', 'expression' or 'derivative wrt'"


def _explain(error: lark.exceptions.UnexpectedToken, before: str, found: str) -> str:
    if expects_operand(error):
        return f"expected {OPERAND}, but found {found}"
    if error.token.type == "RIGHT":
        return "this ')' has no '(' before it"
    if error.expected == {"NUMBER"}:
        return f"expected the order of the variable, a number, but found {found}"
    if "NAME" in error.expected:
        return f"expected the name of a variable, but found {found}"
    if "PLUS" in error.expected:
        return f"expected an operator or a keyword before {found}; {_PRODUCT}"
    names = {"WRT": "'wrt'", "DECLARE": _KEYWORDS}
    expected = [names[name] for name in names if name in error.expected]
    return f"expected {expected[0] if expected else 'a length'}, but found {found}"


GRAMMAR = Grammar(
    __package__,
    ("program", "sum", "variables"),
    _ToNodes(),
    "A *(ij,j->i) b",
    "+ - / ^ *(,->)",
    _INSTEAD,
    _explain,
)


def read(text: str, start: str) -> Any:
    """Parse a text by a rule of the grammar to the parts of a program, the tree of a sum, or the
    declared variables; raises ParseError at a syntax error."""
    GRAMMAR.check(text)
    check_nesting(text)
    return GRAMMAR.read(text, start)
