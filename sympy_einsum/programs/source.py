"""Parse source text to a syntax tree, report errors with positions, and limit time and size."""

from __future__ import annotations

import ast
import warnings
from time import thread_time
from typing import NoReturn

from ..core import ParseError, tuning


class Source:
    """Hold a text with its syntax tree and deadline."""

    def __init__(self, text: str):
        if not isinstance(text, str):
            raise ParseError(f"Python is read from text, not from {type(text).__name__}")
        if len(text) > tuning.MAX_TEXT:
            raise ParseError(
                f"the text has {len(text)} characters; at most {tuning.MAX_TEXT} are read: split it"
            )
        self.text = text
        self.end = thread_time() + tuning.MAX_SECONDS
        self.tree = self._tree()

    def _tree(self) -> ast.Module:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(self.text)
        except SyntaxError as error:
            self.fail_at(f"this is no Python: {error.msg}", error.lineno or 1, error.offset or 1)
        except (RecursionError, MemoryError):
            raise ParseError("the text is nested too deeply") from None
        except ValueError as error:
            raise ParseError(f"this is no Python: {error}") from None

    def fail(self, node: ast.AST, message: str, cause: BaseException | None = None) -> NoReturn:
        """Raise ParseError at a node."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        lines = self.text.splitlines()
        # Offsets are in bytes.
        before = lines[line - 1].encode()[:column] if line <= len(lines) else b""
        self.fail_at(message, line, len(before.decode(errors="replace")) + 1, cause)

    def fail_at(
        self, message: str, line: int, column: int, cause: BaseException | None = None
    ) -> NoReturn:
        """Raise ParseError at a line and a column, both counted from 1."""
        lines = self.text.splitlines()
        shown = lines[line - 1] if 0 < line <= len(lines) else ""
        start = max(0, column - 60)
        mark = " " * (column - 1 - start) + "^"
        excerpt = f"\n  {shown[start : column + 30]}\n  {mark}"
        error = ParseError(f"{message}, at line {line}, column {column}:{excerpt}")
        error.text = self.text
        error.position = sum(len(row) + 1 for row in lines[: line - 1]) + column - 1
        raise error from cause

    def tick(self, node: ast.AST) -> None:
        """Raise ParseError after the deadline."""
        if thread_time() > self.end:
            self.fail(
                node, f"reading takes longer than {tuning.MAX_SECONDS:g} s; read smaller functions"
            )
