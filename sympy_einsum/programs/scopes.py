"""Names of functions of a text, and these functions."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from .values import Value


@dataclass
class Scope:
    """Hold the values of names of a function, and which arrays have no alias."""

    names: dict[str, Value]
    outer: Scope | None = None
    fresh: set[str] = field(default_factory=set)

    def owner(self, name: str) -> Scope | None:
        """Return the scope that defines a name."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.outer
        return scope


class Closure:
    """Represent a function of a text."""

    def __init__(self, node: ast.FunctionDef | ast.Lambda, scope: Scope, defaults: Sequence[Value]):
        self.node = node
        self.scope = scope
        self.defaults = defaults
        self.name = node.name if isinstance(node, ast.FunctionDef) else "lambda"
