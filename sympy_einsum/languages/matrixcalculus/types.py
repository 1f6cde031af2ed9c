"""Types of values in the text, lengths that inference merges, and the rules' common form."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from sympy import Expr

from ...core import ParseError, Shape, same_length
from ...expressions import Operand
from .declarations import kind_by_name
from .reading import Node


@dataclass(eq=False, slots=True)
class Length:
    """An axis length that may turn out to be another's: a node of a union-find forest."""

    value: Expr | None = None
    parent: Length | None = None
    # Lengths of which it is the product.
    factors: tuple[Length, ...] = ()

    def root(self) -> Length:
        """The representative of all lengths that are equal to this one."""
        root = self
        while root.parent is not None:
            root = root.parent
        while self.parent is not None:
            self.parent, self = root, self.parent
        return root

    def merge(self, other: Length) -> bool:
        """Make two lengths equal; False if they aren't known to be. Products are equal if their
        factors are."""
        a, b = self.root(), other.root()
        if a is b:
            return True
        one, two = a.known(), b.known()
        if one is not None and two is not None:
            return same_length(one, two)
        if a.factors and b.factors:
            return all(map(Length.merge, a.factors, b.factors))
        if one is None and not a.factors:
            a, b = b, a
        if b.value is not None or b.factors or b in a.parts():
            return False
        b.parent = a
        return True

    def known(self) -> Expr | None:
        """The value, if it is known."""
        root = self.root()
        if not root.factors:
            return root.value
        values = [value for factor in root.factors if (value := factor.known()) is not None]
        return prod(values) if len(values) == len(root.factors) else None

    def parts(self) -> Iterator[Length]:
        """The lengths of which the product is made."""
        for factor in self.factors:
            yield factor.root()
            yield from factor.root().parts()

    def __str__(self) -> str:
        root = self.root()
        if root.factors and root.known() is None:
            return " * ".join(map(str, root.factors))
        return "?" if root.known() is None else str(root.known())


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
        return tuple([axis.known() for axis in self if axis is not None])


SCALAR = Type()


class Site(NamedTuple):
    """The place where an operation stands, for the rule that infers its type."""

    text: str
    node: Node
    fresh: Callable[..., Length]
    declared: Container[str]

    def error(self, message: str) -> ParseError:
        """An error that points to the operation."""
        return ParseError(message, self.text, self.node.position)

    def kind_error(self, message: str) -> ParseError:
        """An error about the kinds of the operands, which may have come from first letters."""
        for child in self.node.children:
            if child.kind == "variable" and child.name not in self.declared:
                kind = kind_by_name(child.name)
                other = "vector" if kind == "matrix" else "matrix"
                message += f"; {child.name} is a {kind} by its first letter: "
                return self.error(f'{message}declare "{child.name} {other}" if it is one')
        return self.error(message)

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
            message = f"{self.node.name} needs a square matrix, not {self.show(k, type_)}"
            raise self.kind_error(message)
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
    expression; with ``needs_types``, ``build(types, *values)`` does, with the type of the value
    before those of the operands. A function may be called with
    some numbers of arguments.
    """

    infer: Callable[..., Type]
    build: Builder
    needs_types: bool = False
    counts: tuple[int, ...] = (1,)
