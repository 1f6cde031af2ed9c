"""Define syntax tree nodes with positions in the text, for all languages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import thread_time
from typing import Any, TypeAlias

from ..core import ParseError, TensorError, tuning


@dataclass(frozen=True, eq=False, slots=True)
class SyntaxNode:
    """Hold one operation, number or name of the text."""

    kind: str  # number, variable, call, prefix, postfix or binary
    name: str  # the number, name or operator as written
    children: tuple[SyntaxNode, ...]
    position: int  # the position for errors
    start: int
    end: int
    in_parentheses: bool = False


# The nodes and tokens of a grammar rule.
Parts: TypeAlias = list[Any]


def leaf(kind: str, token: Any) -> SyntaxNode:
    """Return the node of a single token."""
    return SyntaxNode(kind, str(token), (), token.start_pos, token.start_pos, end_of(token))


def end_of(token: Any) -> int:
    """Return the position after a token."""
    return int(token.start_pos) + len(token)


def children_of(node: SyntaxNode) -> tuple[SyntaxNode, ...]:
    """Return the operands of a node."""
    return node.children


@dataclass(frozen=True)
class Location:
    """Locate an operation, for errors."""

    text: str
    node: SyntaxNode

    def error(self, message: str) -> ParseError:
        """Return an error that points to the operation."""
        return ParseError(message, self.text, self.node.position)

    @contextmanager
    def building(self) -> Iterator[None]:
        """Convert errors of building the operation to ParseErrors that point to it."""
        try:
            yield
        except ParseError:
            raise
        except (OverflowError, MemoryError):
            raise self.error("the number is too large; use a floating-point number") from None
        except ValueError as error:
            if isinstance(error, TensorError):
                raise self.error(str(error)) from error
            raise self.error(f"SymPy can't compute this: {str(error)[:200]}") from error

    def quote(self, k: int) -> str:
        """Quote operand k, abbreviated."""
        child = self.node.children[k]
        # Quote only the beginning of a long operand.
        quoted = " ".join(self.text[child.start : min(child.end, child.start + 400)].split())
        return quoted if len(quoted) <= 40 else f"{quoted[:37]}..."


def check_text(text: object, what: str) -> None:
    """Refuse a text that is too long."""
    if isinstance(text, str) and len(text) > tuning.MAX_TEXT:
        raise ParseError(f"{what} {len(text)} characters; at most {tuning.MAX_TEXT} are read")


def check_nesting(text: str) -> None:
    """Refuse a text that is nested too deeply."""
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth > tuning.MAX_NESTING:
            message = f"parentheses are nested more than {tuning.MAX_NESTING} deep"
            raise ParseError(message, text, position)


def open_parentheses(text: str) -> list[int]:
    """Return the positions of unclosed parentheses, the innermost last."""
    unclosed: list[int] = []
    for position, character in enumerate(text):
        if character == "(":
            unclosed.append(position)
        elif character == ")" and unclosed:
            unclosed.pop()
    return unclosed


@dataclass
class Deadline:
    """Limit the time for a text."""

    seconds: float = field(default_factory=lambda: tuning.MAX_SECONDS)
    _start: float = field(default_factory=thread_time)

    def check(self, error: Callable[[str], ParseError]) -> None:
        """Raise ``error(message)`` once the time is over."""
        if thread_time() - self._start > self.seconds:
            raise error(f"the text takes more than {self.seconds:g} s to read")
