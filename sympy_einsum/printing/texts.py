"""Texts of parts of expressions with their precedence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sympy import Basic

from ..expressions import TensorExpr, contract

# A quotient is one over something, which a factor on the left may join: y*(1/x) is y/x. A chain is
# a product by @ that a factor on the left may join, 2*A @ x is 2*(A @ x), unless it is open: a
# number in front of a sum would be multiplied into it.
SUM, PRODUCT, QUOTIENT, OPEN, CHAIN, POWER, ATOM = range(7)


class Text(NamedTuple):
    """A text and how tightly it holds together."""

    shown: str
    level: int = ATOM

    def within(self, level: int) -> str:
        """Return the text, in brackets if it doesn't hold together tightly enough."""
        return self.shown if self.level >= level else f"({self.shown})"


class Texts(dict[Basic, Text]):
    """The texts of nodes, and those of some nodes where they stand otherwise."""

    def __init__(self) -> None:
        super().__init__()
        # A product A.T @ x is written x @ A where it stands on the left of another @.
        self.rows: dict[TensorExpr, Text] = {}
        # The transpose of A @ B is written B.T @ A.T.
        self.transposes: dict[TensorExpr, Text] = {}

    def name(self, node: Basic, name: str) -> None:
        """A node stands as its name from now on."""
        self[node] = Text(name)
        self.rows.pop(node, None)
        self.transposes.pop(node, None)

    def row(self, vector: TensorExpr) -> Text:
        """Return the text of a vector on the left of a @."""
        return self.rows.get(vector, self[vector])

    def transpose(self, matrix: TensorExpr) -> Text:
        """Return the text of a transpose; a matrix declared symmetric is its own."""
        if contract((matrix,), ((0, 1),), (1, 0), dict(enumerate(matrix.shape))) is matrix:
            return self[matrix]
        return self.transposes.get(matrix) or Text(f"{self[matrix].within(ATOM)}.T")


def chained(texts: Sequence[Text]) -> Text:
    """A product by @."""
    if len(texts) == 1:
        return texts[0]
    first, *rest = texts
    shown = " @ ".join([first.within(OPEN), *[text.within(POWER) for text in rest]])
    return Text(shown, CHAIN if first.level >= CHAIN else OPEN)


def multiplied(texts: Sequence[Text]) -> Text:
    """A product by *, one over something being divided by."""
    kept = [text for text in texts if text.level != QUOTIENT]
    above = [
        text.within(POWER if k or text.level != PRODUCT else PRODUCT) for k, text in enumerate(kept)
    ]
    below = [text.shown.removeprefix("1") for text in texts if text.level == QUOTIENT]
    return Text("*".join(above or ["1"]) + "".join(below), PRODUCT)
