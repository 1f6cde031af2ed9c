"""Values in languages with types: the text of expressions, and how tightly they bind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from ...core import UnsupportedError

# Types of numbers.
DOUBLE, INTEGER, TRUTH = "double", "int64_t", "int"

# How tightly operators bind.
CHOICE, OR, AND, EQUALITY, RELATION, SUM, PRODUCT, SIGN, ATOM = range(9)


@dataclass(frozen=True)
class Value:
    """The text of an expression, how tightly it binds, and its type.

    ``number`` is its value, if it is a number that is written out; ``shift`` is another value and
    the integer that is added to it, if it is such a sum.
    """

    text: str
    level: int = ATOM
    kind: str = DOUBLE
    number: int | float | None = None
    shift: tuple[Value, int] | None = None

    def at(self, level: int) -> str:
        """Return the text of an operand, in brackets unless it binds at least so tightly."""
        return self.text if self.level >= level else f"({self.text})"

    def is_integer(self, value: int) -> bool:
        """Tell whether it is an integer that is written out."""
        return self.kind == INTEGER and self.number == value


def integer(value: int) -> Value:
    """Return an integer that is written out."""
    return Value(str(value), SUM if value < 0 else ATOM, INTEGER, value)


_FIRST = integer(0)


@dataclass(frozen=True)
class ArrayValue:
    """An array in row-major order: a variable, its shape, the type of its entries, where it begins
    in the variable, whether its entries are read only, and the variable in whose memory it lies."""

    text: str
    shape: tuple[Value, ...]
    kind: str = DOUBLE
    offset: Value = _FIRST
    is_constant: bool = False
    root: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether it begins where the variable does."""
        return self.offset.is_integer(0)

    def at(self, offset: Value) -> ArrayValue:
        """Return the array that begins elsewhere in the variable."""
        return replace(self, offset=offset)

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
# What helper functions are called with.
Argument = Value | ArrayValue | FactorsValue | bool
Arguments = Sequence[Argument]


def product_of(factors: Sequence[Value]) -> Value:
    """Return a product of integers, without factors that are 1."""
    kept = [own for own in factors if not own.is_integer(1)]
    numbers = [own.number for own in kept if own.number is not None]
    if 0 in numbers or len(numbers) == len(kept):
        return integer(int(prod(numbers)))
    if len(kept) == 1:
        return kept[0]
    first, *rest = kept
    text = " * ".join([first.at(PRODUCT), *[own.at(SIGN) for own in rest]])
    return Value(text, PRODUCT, INTEGER)


def sum_of(first: Value, second: Value) -> Value:
    """Return a sum of integers, without a term that is 0."""
    if first.is_integer(0):
        return second
    if second.number is not None:
        return _shifted(first, int(second.number))
    term = second.at(PRODUCT if second.text.startswith("-") else SUM)
    return Value(f"{first.at(SUM)} + {term}", SUM, INTEGER)


def difference_of(first: Value, second: Value) -> Value:
    """Return a difference of integers."""
    if second.number is not None:
        return _shifted(first, -int(second.number))
    return Value(f"{first.at(SUM)} - {second.at(PRODUCT)}", SUM, INTEGER)


def _shifted(value: Value, by: int) -> Value:
    """Return the sum of an integer and one that is written out."""
    if value.number is not None:
        return integer(int(value.number) + by)
    own, before = value.shift or (value, 0)
    total = before + by
    if total == 0:
        return own
    text = f"{own.at(SUM)} {'+' if total > 0 else '-'} {abs(total)}"
    return Value(text, SUM, INTEGER, shift=(own, total))


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
    """Return the error message for something that there are no helper functions for."""
    return (
        f"code in C, Fortran or Julia can't have {what}; take language='python' with the backend "
        "'numba', or compute it before and pass it as an argument"
    )
