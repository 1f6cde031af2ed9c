"""Types of values in the text, lengths that inference merges, and the rules' common form."""

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


@dataclass(frozen=True)
class InferenceContext(Location):
    """The place where an operation stands, for the rule that infers its type."""

    fresh: Callable[..., Length]
    declared: Container[str]

    def kind_error(self, message: str) -> ParseError:
        """An error about the kinds of the operands, which may have come from first letters."""
        for child in self.node.children:
            if child.kind == "variable" and child.name not in self.declared:
                kind = kind_by_name(child.name)
                other = "vector" if kind == "matrix" else "matrix"
                message += f"; {child.name} is a {kind} by its first letter: "
                return self.error(f'{message}declare "{child.name} {other}" if it is one')
        return self.error(message)

    def show(self, k: int, type_: Type) -> str:
        """Operand number k in words."""
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


# Builder of an expression from those of the operands.
Builder = Callable[..., Operand]


class TypeRule(NamedTuple):
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
