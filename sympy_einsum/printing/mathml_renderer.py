"""Render forms as presentation MathML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, TypeAlias

from sympy import Symbol, mathml

from .rendering import Renderer

if TYPE_CHECKING:
    from xml.dom.minidom import Element

# Strings become elements when they are inserted.
Part: TypeAlias = "Element | str"

# Characters that aren't allowed in XML.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def presentation(e: object) -> str:
    """Return the presentation MathML of an expression, with signs of subtraction (U+2212) where
    SymPy's printer writes hyphens.

    >>> import sympy_einsum as se
    >>> presentation(-se.TensorSymbol("x", 3) - 1).count("-")
    0
    """
    text: str = mathml(e, printer="presentation")
    return text.replace("<mo>-</mo>", "<mo>&#8722;</mo>").replace("<mn>-", "<mn>&#8722;")


class MathMLRenderer(Renderer[Part]):
    """Render forms as elements of a document."""

    tokens = {  # noqa: RUF012
        "plus": "+",
        "minus": "−",
        "negative": "−",
        "times": "\u2062",
        "dot": "\u22c5",
        "hadamard": "⊙",
        "quotient": "⊘",
        "kron": "⊗",
        "cross": "×",
        "circle": "⊙",
        "transpose": "⊤",
        "comma": ",",
        "thin comma": ",",
        "semicolon": ";",
        "colon": ":",
        "space": "\u2009",
        "nabla": "∇",
        "gradient": "∇",
        "prime": "′",
        "to": "→",
        "hash": "#",
        "star": "*",
        "delta": "δ",
        "equal": "=",
        "at most": "≤",
        "ones": "𝟏",
        "zeros": "𝟎",
        "identity": "I",
        "frobenius": "F",
        "unit": "e",
    }

    def _element(self, tag: str, *inside: Part) -> Element:
        element = self.printer.dom.createElement(tag)
        for part in inside:
            element.appendChild(self._node(part))
        return element

    def identifier(self, tag: str, text: str) -> Element:
        """Make an element with a text, escaped, because SymPy's printers don't escape."""
        element = self.printer.dom.createElement(tag)
        safe = escape(_FORBIDDEN.sub("\ufffd", text), quote=False)
        element.appendChild(self.printer.dom.createTextNode(safe))
        return element

    def _node(self, part: Part) -> Element:
        if not isinstance(part, str):
            return part
        return self.identifier("mi" if part in ("δ", "𝟏", "𝟎", "I", "e", "F") else "mo", part)

    def row(self, items: Sequence[Part]) -> Element:
        return self._node(items[0]) if len(items) == 1 else self._element("mrow", *items)

    def ready(self, shown: Part, level: int) -> Element:
        return self._node(shown)

    def bracketed(self, inside: Part) -> Element:
        return self._element("mrow", "(", inside, ")")

    def boxed(self, inside: Part) -> Element:
        return self._element("mrow", "[", inside, "]")

    def fenced(self, inside: Part) -> Element:
        return self._element("mrow", "‖", inside, "‖")

    def raised(self, base: Part, exponent: Part) -> Element:
        return self._element("msup", base, exponent)

    def lowered(self, base: Part, index: Part) -> Element:
        is_indexed = not isinstance(base, str) and base.tagName == "msub"
        return self._element("msub", self.bracketed(base) if is_indexed else base, index)

    def word(self, name: str) -> Element:
        return self.identifier("mi", name)

    def with_definitions(self, formula: Part, definitions: Sequence[tuple[Part, Part]]) -> Element:
        lines = [[formula]]
        for k, (name, meaning) in enumerate(definitions):
            word = [] if k else [self.identifier("mtext", "where\u00a0")]
            lines.append([*word, name, "=", meaning])
        cells = [self._element("mtd", self.row(line)) for line in lines]
        return self._element("mtable", *[self._element("mtr", cell) for cell in cells])

    def letter(self, name: str) -> Element:
        return self.identifier("mi", name)

    def summation(self, indices: Part, last: Part | None, inside: Part) -> Element:
        ends = ("munder", "∑", indices) if last is None else ("munderover", "∑", indices, last)
        return self._element("mrow", self._element(*ends), inside)

    def tensor(self, name: str) -> Part:
        if _FORBIDDEN.search(name) or escape(name, quote=False) != name:
            return self.identifier("mi", name)
        return self.printer._print(Symbol(name))
