"""Token streams of the languages with a grammar.

References
==========

[L] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022, §3.1.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import lark

from ..core import ParseError
from .caddie.parser import GRAMMAR as CADDIE
from .geno.parser import GRAMMAR as GENO
from .grammars import Grammar
from .lippmann.functions import DELTA, ELEMENTWISE, SPECIAL
from .lippmann.parser import GRAMMAR as LIPPMANN
from .matrixcalculus.parser import GRAMMAR as MATRIXCALCULUS
from .ricci.parser import GRAMMAR as RICCI

GRAMMARS: Mapping[str, Grammar] = {
    "matrixcalculus": MATRIXCALCULUS,
    "lippmann": LIPPMANN,
    "ricci": RICCI,
    "caddie": CADDIE,
    "geno": GENO,
}
# The descriptors of the thesis for our terminals, and for the characters of a product's sign.
_DESCRIPTORS = {
    "NUMBER": "CONSTANT", "LEFT": "LRBRACKET", "RIGHT": "RRBRACKET",
    "LEFT_BRACKET": "LSBRACKET", "RIGHT_BRACKET": "RSBRACKET",
}  # fmt: skip
_SIGNS = {
    "*": "TIMES", "_": "UNDERSCORE", "(": "LRBRACKET", ")": "RRBRACKET", ",": "COMMA",
    "-": "MINUS", ">": "GREATER", "→": "ARROW",
}  # fmt: skip


class Token(NamedTuple):
    """Hold a token: its kind, its text, and where it starts."""

    kind: str
    text: str
    position: int


def tokens_of(text: str, syntax: str) -> list[Token]:
    """Return the tokens of a text in a language."""
    if syntax not in GRAMMARS:
        raise ParseError(f"{syntax!r:.80} has no token stream; choose from {', '.join(GRAMMARS)}")
    found = GRAMMARS[syntax].tokens(text)
    if syntax == "lippmann":
        return [token for one in found for token in _as_in_the_thesis(one)]
    return [Token(one.type, str(one).rstrip(), one.start_pos or 0) for one in found]


def _as_in_the_thesis(token: lark.Token) -> Iterator[Token]:
    """Yield the tokens of [L] for one of ours: those of index strings are several."""
    text, start = str(token), token.start_pos or 0
    if token.type in ("TIMES", "REARRANGE"):
        letters = ""
        for place, character in enumerate(f"{text} ", start=start):
            if character in _SIGNS or character.isspace():
                if letters:
                    yield Token(_word(letters), letters, place - len(letters))
                letters = ""
            if character in _SIGNS:
                yield Token(_SIGNS[character], character, place)
            elif not character.isspace():
                letters += character
    elif token.type == "NAME":
        is_special = text in SPECIAL or text == DELTA
        is_function = is_special or text in ELEMENTWISE
        kind = "SPECIAL_FUNCTION" if is_special else "ELEMENTWISE_FUNCTION"
        yield Token(kind if is_function else _word(text), text, start)
    else:
        yield Token(_DESCRIPTORS.get(token.type, token.type), text, start)


def _word(text: str) -> str:
    return "LOWERCASE_ALPHA" if text.isalpha() and text.islower() else "ALPHANUM"
