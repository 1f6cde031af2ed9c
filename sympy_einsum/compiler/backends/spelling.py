"""Building blocks of code as text, for backends."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

Texts = Sequence[str]


class Bracket(NamedTuple):
    """The text in brackets for an axis; of a slice also its parts."""

    text: str
    start: str = ""
    step: str = ""
    number: str = ""


class Place(NamedTuple):
    """Where a value is written: into the diagonals iij->ij of an array, which is cut first. Of
    fresh zeros, which lie in one piece, ``width`` is the length of the last axis; ``is_last`` says
    that a diagonal of a matrix goes on to where that ends."""

    array: str
    cuts: Sequence[Bracket]
    subscripts: str
    width: str = ""
    is_last: bool = False

    @property
    def is_diagonal(self) -> bool:
        """Whether only diagonals are written to."""
        diagonal, kept = self.subscripts.split("->")
        return diagonal != kept


# A value is written, added or subtracted.
SIGNS = {0: "=", 1: "+=", -1: "-="}


def bracketed(brackets: Sequence[Bracket]) -> str:
    """Brackets with something in them; axes at the end that aren't cut need nothing."""
    texts = [bracket.text for bracket in brackets]
    while texts and texts[-1] == ":":
        texts.pop()
    return f"[{', '.join(texts)}]" if texts else ""


def spread(value: str, order: int, own: Sequence[bool]) -> str:
    """A value of some order with axes of length one where axes aren't its own; leading ones may be
    missing."""
    entries = [":" if is_own else "None" for is_own in own]
    missing = sum(own) - order
    while missing:
        missing -= entries.pop(0) == ":"
    while entries and entries[0] == "None":
        entries.pop(0)
    return f"{value}[{', '.join(entries)}]" if "None" in entries else value


def as_tuple(items: Sequence[str]) -> str:
    """The text of a tuple."""
    return "(" + ", ".join(items) + ("," if len(items) == 1 else "") + ")"


def numbers_text(array: np.ndarray) -> str:
    """The numbers of an array as nested lists, and the type that they have in it."""
    numbers = repr(array.tolist()).replace("inf", "np.inf").replace("nan", "np.nan")
    return f"{numbers}, dtype=np.{array.dtype.name}"


def axis_arguments(axes: Sequence[int] | None) -> list[str]:
    """The argument that names axes; none for all axes."""
    return [] if axes is None else [f"axis={axes[0] if len(axes) == 1 else tuple(axes)}"]


def called(function: str) -> Callable[..., str]:
    """The method of a backend that spells an instruction as the call of a function."""

    def spelled(self: object, operands: Texts, *parameters: object) -> str:
        return f"{function}({', '.join([*operands, *map(str, parameters)])})"

    return spelled


def called_along(function: str) -> Callable[..., str]:
    """The method of a backend that spells an instruction as the call of a function along axes, or
    along all for None."""

    def spelled(self: object, operands: Texts, axes: Sequence[int] | None) -> str:
        return f"{function}({', '.join([*operands, *axis_arguments(axes)])})"

    return spelled


def is_plain_name(name: str) -> bool:
    """Tell whether a name that a user chose can stand in code: a plain identifier, and none that
    code uses itself."""
    plain = name.isidentifier() and name.isascii() and not keyword.iskeyword(name)
    generated = re.fullmatch(r"t\d+|(arg|function)\d+_|fused\d+", name)
    return plain and not generated and not name.startswith("_")


def is_bracketed(text: str) -> bool:
    """Tell whether a text is one name, call or index, such as ``f(x)[0].T``."""
    if text.isidentifier():
        return True
    depth = 0
    for char in text:
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif depth == 0 and not (char.isalnum() or char in "_."):
            return False
    return not text[:1].isdigit() or text.replace(".", "", 1).isdigit()


def diagonal_view(target: str, subscripts: str, permute: str = "transpose") -> str:
    """A view of the diagonal of an array, by its method."""
    diagonal, kept = subscripts.split("->")
    labels = list(diagonal)
    text = target
    for label in kept:
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            text += f".diagonal(0, {first}, {second})"
            labels = [own for k, own in enumerate(labels) if k not in (first, second)] + [label]
    axes = [labels.index(label) for label in kept]
    if axes != sorted(axes):
        text += f".{permute}({', '.join(map(str, axes))})"
    return text


def along(function: str, operands: Texts) -> str:
    """A function of each matrix, or its derivative in the directions that follow."""
    if len(operands) == 1:
        return function.format(*operands)
    return f"derivative_along(lambda _: {function.format('_')}, {', '.join(operands)})"
