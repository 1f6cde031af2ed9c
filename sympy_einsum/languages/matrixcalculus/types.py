"""Define types of values, places of operations, and rules of inference and building."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import NamedTuple

from ...core import ParseError, Shape
from ...expressions import Operand
from ..lengths import Length
from ..nodes import Location
from .declarations import kind_by_name


class Type(NamedTuple):
    """Hold the rows and columns of a value; None for a missing axis."""

    rows: Length | None = None
    columns: Length | None = None

    @property
    def noun(self) -> str:
        """The noun for a value of this type in messages."""
        if self.rows is None:
            return "scalar" if self.columns is None else "row vector"
        return "column vector" if self.columns is None else "matrix"

    @property
    def lengths(self) -> Shape:
        """The shape as SymPy expressions, after inference."""
        return tuple([axis.known() for axis in self if axis is not None])


SCALAR = Type()


@dataclass(frozen=True)
class InferenceContext(Location):
    """Locate an operation, for errors of the rule that infers its type."""

    fresh: Callable[..., Length]
    declared: Container[str]

    def kind_error(self, message: str) -> ParseError:
        """Return an error about kinds of operands, which may be inferred from first letters."""
        for child in self.node.children:
            if child.kind == "variable" and child.name not in self.declared:
                kind = kind_by_name(child.name)
                other = "vector" if kind == "matrix" else "matrix"
                message += f"; {child.name} is a {kind} by its first letter: "
                return self.error(f'{message}declare "{child.name} {other}" if it is one')
        return self.error(message)

    def show(self, k: int, type_: Type) -> str:
        """Describe operand k."""
        return f"the {type_.noun} {self.quote(k)}"

    def square(self, k: int, type_: Type) -> Type:
        """Return the type of operand k, which must be a square matrix or a scalar."""
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


# The builder of an expression from operands.
Builder = Callable[..., Operand]


class TypeRule(NamedTuple):
    """Define an operation: the type of its value, and the expression once all lengths are known.

    ``infer(site, *types)`` returns the type and unifies lengths. ``build(*values)`` returns the
    expression; with ``needs_types`` it is called as ``build(types, *values)``, with the type of the
    value before those of the operands. ``arities`` lists the allowed numbers of arguments.
    """

    infer: Callable[..., Type]
    build: Builder
    needs_types: bool = False
    arities: tuple[int, ...] = (1,)
