"""Types of values in the text, lengths that inference merges, and the rules' common form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from sympy import Expr

from ...core import ParseError, Shape, same_length
from ...expressions import Operand
from .reading import Node


@dataclass(eq=False, slots=True)
class Length:
    """An axis length that may turn out to be another's: a node of a union-find forest."""

    value: Expr | None = None
    parent: Length | None = None

    def root(self) -> Length:
        """The representative of all lengths that are equal to this one."""
        root = self
        while root.parent is not None:
            root = root.parent
        while self.parent is not None:
            self.parent, self = root, self.parent
        return root

    def merge(self, other: Length) -> bool:
        """Make two lengths equal; False if they are known to differ."""
        a, b = self.root(), other.root()
        if a is b:
            return True
        if a.value is not None and b.value is not None and not same_length(a.value, b.value):
            return False
        if a.value is None:
            a, b = b, a
        b.parent = a
        return True

    def __str__(self) -> str:
        return str(self.root().value)


class Type(NamedTuple):
    """The rows and columns of a value; None for an axis that it doesn't have."""

    rows: Length | None = None
    columns: Length | None = None

    @property
    def noun(self) -> str:
        """How messages call a value of this type."""
        if self.rows is None:
            return "scalar" if self.columns is None else "row vector"
        return "column vector" if self.columns is None else "matrix"

    @property
    def lengths(self) -> Shape:
        """The shape as SymPy expressions, when inference is over."""
        return tuple([axis.root().value for axis in self if axis is not None])


SCALAR = Type()


class Site(NamedTuple):
    """The place where an operation stands, for the rule that infers its type."""

    text: str
    node: Node
    fresh: Callable[[], Length]

    def error(self, message: str) -> ParseError:
        """An error that points to the operation."""
        return ParseError(message, self.text, self.node.position)

    def quote(self, k: int) -> str:
        """Operand number k as it is written, shortened."""
        child = self.node.children[k]
        quoted = " ".join(self.text[child.start : child.end].split())
        return quoted if len(quoted) <= 40 else f"{quoted[:37]}..."

    def show(self, k: int, type_: Type) -> str:
        """Operand number k in words."""
        return f"the {type_.noun} {self.quote(k)}"

    def square(self, k: int, type_: Type) -> Type:
        """The type of operand k, which must be a square matrix or a scalar."""
        if type_.rows is None and type_.columns is None:
            return type_
        if type_.rows is None or type_.columns is None:
            raise self.error(f"{self.node.name} needs a square matrix, not {self.show(k, type_)}")
        if not type_.rows.merge(type_.columns):
            raise self.error(
                f"{self.node.name} needs a square matrix, but {self.quote(k)} is "
                f"{type_.rows} by {type_.columns}"
            )
        return type_


# What makes an expression of those of the operands.
Builder = Callable[..., Operand]


class Rule(NamedTuple):
    """One operation: the type of its value, and the expression once all lengths are known.

    ``infer(site, *types)`` gives the type and merges lengths. ``build(*values)`` gives the
    expression; with ``needs_type``, ``build(type, *values)`` does.
    """

    infer: Callable[..., Type]
    build: Builder
    needs_type: bool = False
