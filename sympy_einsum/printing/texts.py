"""Represent texts of expressions with their precedence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sympy import Basic

from ..analysis import is_symmetric
from ..expressions import TensorExpr

# A QUOTIENT 1/x can take a factor on the left: y*(1/x) is y/x. So can a CHAIN of @, because
# 2*A @ x is 2*(A @ x), unless it is open: SymPy would distribute the number over a sum.
SUM, PRODUCT, QUOTIENT, OPEN, CHAIN, POWER, ATOM = range(7)


class Text(NamedTuple):
    """Hold a text and its precedence."""

    shown: str
    level: int = ATOM

    def within(self, level: int) -> str:
        """Return the text, in brackets if its precedence is lower than a level."""
        return self.shown if self.level >= level else f"({self.shown})"


class Texts(dict[Basic, Text]):
    """Map nodes to their texts, some with variants for certain contexts."""

    def __init__(self) -> None:
        super().__init__()
        # The text x @ A of a product A.T @ x, used on the left of another @.
        self.rows: dict[TensorExpr, Text] = {}
        # The text B.T @ A.T of the transpose of A @ B.
        self.transposes: dict[TensorExpr, Text] = {}

    def name(self, node: Basic, name: str) -> None:
        """Replace the text of a node by a name."""
        self[node] = Text(name)
        self.rows.pop(node, None)
        self.transposes.pop(node, None)

    def row(self, vector: TensorExpr) -> Text:
        """Return the text of a vector used on the left of @."""
        return self.rows.get(vector, self[vector])

    def transpose(self, matrix: TensorExpr) -> Text:
        """Return the text of a transpose, unless the matrix is symmetric."""
        if is_symmetric(matrix):
            return self[matrix]
        return self.transposes.get(matrix) or Text(f"{self[matrix].within(ATOM)}.T")


def chained(texts: Sequence[Text]) -> Text:
    """Join texts by @."""
    if len(texts) == 1:
        return texts[0]
    first, *rest = texts
    shown = " @ ".join([first.within(OPEN), *[text.within(POWER) for text in rest]])
    return Text(shown, CHAIN if first.level >= CHAIN else OPEN)


def multiplied(texts: Sequence[Text]) -> Text:
    """Join texts by *, and by / for a quotient 1/x."""
    kept = [text for text in texts if text.level != QUOTIENT]
    above = [
        text.within(POWER if k or text.level != PRODUCT else PRODUCT) for k, text in enumerate(kept)
    ]
    below = [text.shown.removeprefix("1") for text in texts if text.level == QUOTIENT]
    return Text("*".join(above or ["1"]) + "".join(below), PRODUCT)
