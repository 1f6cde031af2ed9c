"""Dispatch tables of passes over expressions, with one row per type of node.

A pass is any function that dispatches on the type of a node: derivatives, costs, lowering,
printers, converters. Each has a :class:`NodeTable`. ``NODE_TABLES`` lists them, so that a test can
name the rows that a new type of node lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from .errors import UnsupportedError

Row = TypeVar("Row")

NODE_TABLES: dict[str, NodeTable[Any]] = {}


class NodeTable(Generic[Row]):
    """The rows of a pass by type of node; a type without a row has that of its next base class.

    Parameters
    ==========

    name : the result of the pass, for error messages: "the derivative"
    rows : the row of each type
    refused : unsupported types, each with what to do instead

    Raises
    ======

    UnsupportedError : a type is looked up that is refused or has no row

    Examples
    ========

    >>> table = NodeTable("the width", {int: 8, str: 100}, refused={float: "round it first"})
    >>> table[bool], table[str]
    (8, 100)
    >>> table[float]
    Traceback (most recent call last):
    ...
    sympy_einsum.UnsupportedError: the width of float isn't defined; round it first
    >>> del NODE_TABLES["the width"]
    """

    def __init__(
        self, name: str, rows: Mapping[type, Row], refused: Mapping[type, str] | None = None
    ) -> None:
        self.name = name
        self.refused = dict(refused or {})
        self._rows = dict(rows)
        self._found: dict[type, Row] = {}
        NODE_TABLES[name] = self

    def __getitem__(self, kind: type) -> Row:
        if kind not in self._found:
            self._found[kind] = self._inherited(kind)
        return self._found[kind]

    def __setitem__(self, kind: type, row: Row) -> None:
        """Add the row of a type of node that is defined elsewhere."""
        self._rows[kind] = row
        self._found.clear()

    def base_of(self, kind: type) -> type | None:
        """Return the first class in a node type's MRO that has a row or is refused; None without
        one."""
        return next((b for b in kind.__mro__ if b in self._rows or b in self.refused), None)

    def _inherited(self, kind: type) -> Row:
        base = self.base_of(kind)
        if base in self._rows:
            return self._rows[base]
        reason = "it has no row" if base is None else self.refused[base]
        raise UnsupportedError(f"{self.name} of {kind.__name__} isn't defined; {reason}")
