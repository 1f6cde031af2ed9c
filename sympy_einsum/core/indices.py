"""Index strings: parsing and validation. Pure strings and integers.

*Labels* are hashable names of indices: a letter of an index string, an integer of the list form, or
an :class:`EllipsisAxis`. The Einsum node renames labels to canonical integers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from .errors import ParseError, ShapeError
from .lengths import Label, Labels

# The labels of an operand, or of the output.
Term: TypeAlias = tuple[Label, ...]

# The index of each axis of a tensor, as nodes name them.
Indices: TypeAlias = tuple[int, ...]

# The letters of printed index strings, in order of preference.
LETTERS = "ijklmnopqrstuvwxyzabcdefghABCDEFGHIJKLMNOPQRSTUVWXYZ"


class EllipsisAxis(tuple[int, ...]):
    """The label of an axis under an ellipsis, counted from the right as NumPy does."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"...[-{self[0]}]"


def index_letter(i: int) -> str:
    """Return the letter that prints index number ``i``: ``i, j, k, …``, then beyond ASCII.

    >>> "".join(index_letter(i) for i in range(4)), index_letter(60)
    ('ijkl', 'È')
    """
    # As opt_einsum: letters from U+00C0 on, except for × and ÷.
    if i < len(LETTERS):
        return LETTERS[i]
    code = 192 + i - len(LETTERS)
    code += (code >= 215) + (code + (code >= 215) >= 247)
    # Skip the surrogates, which aren't characters.
    return chr(code if code < 0xD800 else code + 2048)


def parse_subscripts(text: str, orders: Sequence[int]) -> tuple[list[Term], Term]:
    """Read an index string such as ``"ij,j->i"`` for operands of the given orders.

    Returns the labels of each operand and of the output. Without ``->`` the output follows
    NumPy's rule: the labels that occur once, in alphabetical order, after the ellipsis.

    >>> parse_subscripts("ij,j", [2, 1])
    ([('i', 'j'), ('j',)], ('i',))
    >>> parse_subscripts("i->ii", [1])
    ([('i',)], ('i', 'i'))
    """
    inputs_text, arrow, output_text = text.partition("->")
    offset = 0
    terms: list[list[Label]] = []
    for term in inputs_text.split(","):
        terms.append(_read_term(term, text, offset))
        offset += len(term) + 1
    output = _read_term(output_text, text, len(inputs_text) + 2) if arrow else None
    if not orders and inputs_text.strip() == "":
        terms = []
    if len(terms) != len(orders):
        raise ParseError(
            f"the index string {text!r} is for {len(terms)} operands, not for {len(orders)}"
        )
    return resolve_labels(terms, output, orders, text)


def _read_term(term: str, text: str, offset: int) -> list[Label]:
    """Return the labels of one comma-separated term, with ``Ellipsis`` for an ellipsis."""
    labels: list[Label] = []
    position = 0
    while position < len(term):
        char = term[position]
        if char.isspace():
            position += 1
        elif term.startswith("...", position):
            labels.append(Ellipsis)
            position += 3
        elif char.isalpha():
            labels.append(char)
            position += 1
        else:
            raise ParseError(
                f"unexpected {char!r} in an index string, where a letter, ',', '->' or '...' "
                "can stand",
                text,
                offset + position,
            )
    return labels


def resolve_labels(
    terms: Sequence[Labels], output: Labels | None, orders: Sequence[int], shown: str
) -> tuple[list[Term], Term]:
    """Expand ellipses, find the implicit output and check both against the operands' orders."""
    dots = 0
    inputs: list[Term] = []
    for number, (term, order) in enumerate(zip(terms, orders, strict=True), start=1):
        count = list(term).count(Ellipsis)
        if count > 1:
            raise ParseError(f"operand {number} of {shown!r} has more than one ellipsis")
        hidden = order - (len(term) - count) if count else 0
        if hidden < 0 or (not count and len(term) != order):
            raise ShapeError(
                f"operand {number} of {shown!r} has order {order}, but its index string names "
                f"{len(term) - count} axes; give one index per axis"
            )
        dots = max(dots, hidden)
        inputs.append(_expand(term, hidden))
    if output is None:
        counts = Counter(label for labels in inputs for label in labels)
        once = [k for k, c in counts.items() if c == 1 and not isinstance(k, EllipsisAxis)]
        return inputs, _expand([Ellipsis], dots) + tuple(sorted(once))  # type: ignore[type-var]
    if list(output).count(Ellipsis) > 1:
        raise ParseError(f"the output of {shown!r} has more than one ellipsis")
    if dots and Ellipsis not in output:
        raise ParseError(
            f"the output of {shown!r} has no ellipsis, but {dots} axes stand under '...'; "
            "write '...' in the output too, or name and sum the axes"
        )
    result = _expand(output, dots)
    input_labels = {label for labels in inputs for label in labels}
    for label in result:
        if label not in input_labels:
            raise ParseError(
                f"output index {str(label)!r} of {shown!r} occurs in no operand; "
                "multiply with Ones to add an axis"
            )
    return inputs, result


def _expand(term: Labels, hidden: int) -> Term:
    labels: list[Label] = []
    for label in term:
        if label is Ellipsis:
            labels.extend(EllipsisAxis((k,)) for k in range(hidden, 0, -1))
        else:
            labels.append(label)
    return tuple(labels)
