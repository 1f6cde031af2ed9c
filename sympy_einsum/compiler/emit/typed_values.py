"""Values of generated C: the text of expressions with their types, and how tightly they bind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...core import UnsupportedError

# Types of numbers.
DOUBLE, INTEGER, TRUTH = "double", "int64_t", "int"

# How tightly operators bind.
CHOICE, OR, AND, EQUALITY, RELATION, SUM, PRODUCT, SIGN, ATOM = range(9)


@dataclass(frozen=True)
class Value:
    """The text of an expression, how tightly it binds, and its type.

    ``number`` is its value, if it is a number that is written out.
    """

    text: str
    level: int = ATOM
    kind: str = DOUBLE
    number: int | float | None = None

    def at(self, level: int) -> str:
        """Return the text of an operand, in brackets unless it binds at least so tightly."""
        return self.text if self.level >= level else f"({self.text})"

    def is_integer(self, value: int) -> bool:
        """Tell whether it is an integer that is written out."""
        return self.kind == INTEGER and self.number == value


@dataclass(frozen=True)
class ArrayValue:
    """An array in row-major order: the text of the pointer to its first entry, how tightly that
    binds, its shape, the type of its entries, whether they are read only, and the variable in whose
    memory it lies."""

    text: str
    shape: tuple[Value, ...]
    kind: str = DOUBLE
    level: int = ATOM
    is_constant: bool = False
    root: str = ""

    @property
    def size(self) -> Value:
        """The number of entries."""
        return product_of(self.shape)


@dataclass(frozen=True)
class FactorsValue:
    """The factors of a matrix: the variable, and the number of rows."""

    text: str
    rows: Value


@dataclass(frozen=True)
class TupleValue:
    """Several values, of which each is used by its number."""

    parts: tuple[AnyValue, ...]


AnyValue = Value | ArrayValue | FactorsValue | TupleValue


def integer(value: int) -> Value:
    """Return an integer that is written out."""
    text = str(value) if abs(value) < 2**31 else f"INT64_C({value})"
    return Value(text, SIGN if value < 0 else ATOM, INTEGER, value)


def product_of(factors: Sequence[Value]) -> Value:
    """Return a product of integers, without factors that are 1."""
    kept = [own for own in factors if not own.is_integer(1)]
    if any(own.is_integer(0) for own in kept):
        return integer(0)
    if len(kept) < 2:
        return kept[0] if kept else integer(1)
    first, *rest = kept
    text = " * ".join([first.at(PRODUCT), *[own.at(SIGN) for own in rest]])
    return Value(text, PRODUCT, INTEGER)


def sum_of(first: Value, second: Value) -> Value:
    """Return a sum of integers, without a term that is 0."""
    if first.is_integer(0):
        return second
    if second.is_integer(0):
        return first
    return Value(f"{first.at(SUM)} + {second.at(SUM)}", SUM, INTEGER)


def difference_of(first: Value, second: Value) -> Value:
    """Return a difference of integers."""
    if second.is_integer(0):
        return first
    return Value(f"{first.at(SUM)} - {second.at(PRODUCT)}", SUM, INTEGER)


def offset_in(array: ArrayValue, index: Sequence[Value]) -> Value:
    """Return the place of an entry of an array, or of the first one of a part of it."""
    place = integer(0)
    for own, length in zip(index, array.shape, strict=False):
        place = sum_of(product_of([place, length]), own)
    return product_of([place, *array.shape[len(index) :]])


def scalar_value(value: AnyValue) -> Value:
    """Return a value that is a number."""
    if not isinstance(value, Value):
        raise UnsupportedError(refusal("this operation on whole arrays"))
    return value


def array_value(value: AnyValue) -> ArrayValue:
    """Return a value that is an array."""
    if not isinstance(value, ArrayValue):
        raise UnsupportedError(refusal("this operation on numbers"))
    return value


def refusal(what: str) -> str:
    """Return the error message for something that C code has no helper functions for."""
    return (
        f"C code can't have {what}; take language='python' with the backend 'numba', or compute "
        "it before and pass it as an argument"
    )
