"""Parse the user's declarations of variables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from sympy import Expr, Integer, Symbol

from ...core import ParseError
from ...expressions import ASSUMPTIONS, SYMMETRIC, Operand, TensorSymbol
from ..lengths import length_symbol
from ..nodes import check_text


class Declaration(NamedTuple):
    """Hold the declared kind, lengths and assumptions of a variable."""

    kind: str  # scalar, vector or matrix
    lengths: tuple[Expr, ...] = ()  # empty: to be inferred
    assumptions: tuple[str, ...] = ()
    symbol: Operand | None = None  # the user's symbol

    @property
    def square(self) -> bool:
        """Whether the assumptions require a square matrix."""
        return bool(SYMMETRIC & set(self.assumptions))


# The forms of declarations: texts, or texts and symbols by name.
Declarations: TypeAlias = Iterable[str] | Mapping[str, str | Operand] | None

KINDS = {"scalar": 0, "vector": 1, "matrix": 2}
_NAME = r"[A-Za-z][A-Za-z0-9_]*"
_AS = r"\s*(?P<words>(?:[A-Za-z]+\s+)*)(?P<kind>[A-Za-z]+)\s*(?:\((?P<lengths>[^()]*)\))?\s*"
_DECLARED_AS = re.compile(_AS)
_DECLARATION = re.compile(rf"\s*(?P<names>{_NAME}(?:\s*,\s*{_NAME})*)(?:\s*:|\s){_AS}")
_FORM = 'write "K symmetric", "x, y vector(n)" or "alpha positive scalar"'


def kind_by_name(name: str) -> str:
    """Return the kind of an undeclared variable by the first letter of its name."""
    if name[0].isupper():
        return "matrix"
    return "scalar" if name[0] in "abcdefg" else "vector"


def read_declarations(declarations: Declarations) -> dict[str, Declaration]:
    """Return declarations by name, from any form that :func:`parse` accepts.

    >>> read_declarations("K symmetric matrix, a, b vector(3)")["b"]
    Declaration(kind='vector', lengths=(3,), assumptions=(), symbol=None)
    """
    if declarations is None:
        return {}
    if isinstance(declarations, str):
        check_text(declarations, "the declarations have")
        declarations = [part for part in declarations.split(";") if part.strip()]
    if isinstance(declarations, Mapping):
        return {_checked_name(k): _declared_as(k, value) for k, value in declarations.items()}
    if not isinstance(declarations, (list, tuple, set, frozenset)):
        raise ParseError(f"can't read the declaration {declarations!r}; {_FORM}")
    known: dict[str, Declaration] = {}
    for match in (match for text in declarations for match in _matches(text)):
        for name in re.split(r"\s*,\s*", match["names"]):
            declaration = _declaration(name, match)
            if known.setdefault(name, declaration) != declaration:
                raise ParseError(f"{name!r} is declared twice, in different ways")
    return known


def _matches(text: str) -> Iterator[re.Match[str]]:
    """Yield the declarations in a text, which commas separate."""
    check_text(text, "a declaration has")
    start = 0
    while True:
        match = _DECLARATION.match(text, start) if isinstance(text, str) else None
        if match is None or text[match.end() : match.end() + 1] not in ("", ","):
            raise ParseError(f"can't read the declaration {text!r}; {_FORM}")
        yield match
        if match.end() == len(text):
            return
        start = match.end() + 1


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not re.fullmatch(_NAME, name):
        raise ParseError(
            f"can't declare {name!r}: a name is a letter, then letters, digits and '_'"
        )
    return name


def _declared_as(name: str, value: object) -> Declaration:
    """Return the declaration that a mapping gives: a symbol, or text such as ``"symmetric
    matrix"``."""
    if isinstance(value, (Symbol, TensorSymbol)):
        shape = getattr(value, "shape", ())
        if len(shape) > 2:
            raise ParseError(f"{name!r} has order {len(shape)}; this language has at most order 2")
        return Declaration(list(KINDS)[len(shape)], tuple(shape), (), value)
    check_text(value, f"the declaration of {name[:40]!r} has")
    match = _DECLARED_AS.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ParseError(
            f"can't declare {name!r} as {value!r}; "
            'give a symbol, or text such as "symmetric matrix" or "vector(n)"'
        )
    return _declaration(name, match)


def _declaration(name: str, match: re.Match[str]) -> Declaration:
    words, kind = match["words"].lower().split(), match["kind"].lower()
    if kind in ASSUMPTIONS:
        words.append(kind)
        kind = "matrix" if SYMMETRIC & set(words) else kind_by_name(name)
    assumptions = tuple(sorted(words))
    if kind not in KINDS:
        raise ParseError(f"{name!r} can't be a {kind!r}: expected {', '.join(KINDS)}")
    possible = ASSUMPTIONS if kind == "matrix" else {"positive", "nonnegative"}
    for word in assumptions:
        if word not in possible:
            raise ParseError(f"a {kind} can't be {word!r}: expected {', '.join(sorted(possible))}")
    given = [] if match["lengths"] is None else match["lengths"].split(",")
    lengths = tuple([_read_length(name, part.strip()) for part in given])
    if given and len(given) != KINDS[kind]:
        raise ParseError(f"{name!r} is a {kind}; expected {KINDS[kind]} lengths in parentheses")
    declaration = Declaration(kind, lengths, assumptions)
    if declaration.square and len(set(lengths)) == 2:
        raise ParseError(f"{name!r} must be square, not {lengths[0]} by {lengths[1]}")
    return declaration


def _read_length(name: str, text: str) -> Expr:
    if re.fullmatch(r"[0-9]{1,9}", text) and int(text) > 0:
        return Integer(int(text))
    if re.fullmatch(_NAME, text):
        return length_symbol(text)
    raise ParseError(f"{text!r} is no length for {name!r}: expected a name or a positive integer")
