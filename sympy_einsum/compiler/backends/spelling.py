"""Building blocks of code, for backends."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Callable, Sequence
from math import isinf, isnan
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..ir.code import WHOLE, Code, call, constant, number_of, quote, subscript, without_sign

Codes: TypeAlias = Sequence[Code]

NEW_AXIS = constant(None)
# Names that code uses itself: what stands before their numbers, and after them.
GENERATED = (("t", ""), ("arg", "_"), ("function", "_"), ("fused", ""))


class Bracket(NamedTuple):
    """The index or the slice of an axis; of a slice that isn't whole also its parts, and whether it
    moves with the steps of a loop."""

    code: Code
    start: Code | None = None
    step: Code | None = None
    number: Code | None = None
    is_moving: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether all entries are taken."""
        return isinstance(self.code, ast.Slice) and self.number is None

    @property
    def is_slice(self) -> bool:
        """Whether the axis stays."""
        return self.is_whole or self.number is not None

    @property
    def is_reversed(self) -> bool:
        """Whether the entries are taken from the end on."""
        return self.step is not None and without_sign(self.step) is not None

    @property
    def is_contiguous(self) -> bool:
        """Whether neighbours stay neighbours."""
        return self.step is None or number_of(self.step) == 1


ALL_ENTRIES = Bracket(WHOLE)


class Destination(NamedTuple):
    """The destination of a write: the diagonals iij->ij of a slice of an array. Of fresh zeros,
    which are contiguous, ``width`` is the length of the last axis; ``is_last`` says that a diagonal
    of a matrix goes on to where that ends."""

    array: Code
    slices: Sequence[Bracket]
    subscripts: str
    width: Code | None = None
    is_last: bool = False

    @property
    def is_diagonal(self) -> bool:
        """Whether only diagonals are written to."""
        diagonal, kept = self.subscripts.split("->")
        return diagonal != kept


def bracketed(array: Code, brackets: Sequence[Bracket]) -> Code:
    """Return a part of an array; axes at the end that are taken whole need nothing."""
    entries = [bracket.code for bracket in brackets]
    while entries and entries[-1] is WHOLE:
        entries.pop()
    return subscript(array, entries) if entries else array


def spread(value: Code, order: int, own: Sequence[bool]) -> Code:
    """Return a value of some order with axes of length one where axes aren't its own; leading ones
    may be missing."""
    entries = [WHOLE if is_own else NEW_AXIS for is_own in own]
    missing = sum(own) - order
    while missing:
        missing -= entries.pop(0) is WHOLE
    while entries and entries[0] is NEW_AXIS:
        entries.pop(0)
    return subscript(value, entries) if NEW_AXIS in entries else value


def numbers_code(array: np.ndarray, code: Callable[[str], Code] = quote) -> Code:
    """Return the numbers of an array as nested lists."""

    def written(value: Any) -> Code:
        if isinstance(value, list):
            return ast.List([written(part) for part in value])
        return number_code(value, code)

    return written(array.tolist())


def number_code(value: complex | bool, code: Callable[[str], Code]) -> Code:
    """Return a number of Python's, written out."""
    if isinstance(value, float) and (isinf(value) or isnan(value)):
        return code("np.nan" if isnan(value) else "np.inf" if value > 0 else "-np.inf")
    if isinstance(value, complex):
        return code(repr(value).replace("inf", "np.inf").replace("nan", "np.nan"))
    return constant(value)


def type_of(array: np.ndarray, code: Callable[[str], Code] = quote) -> Code:
    """Return NumPy's type of the entries of an array."""
    return code(f"np.{array.dtype.name}")


def along_axes(code: Code, axes: Sequence[int] | None) -> Code:
    """Return a call with the argument that names axes; without it for all axes."""
    if axes is None:
        return code
    assert isinstance(code, ast.Call)
    value = constant(axes[0] if len(axes) == 1 else tuple(axes))
    return ast.Call(code.func, code.args, [ast.keyword("axis", value), *code.keywords])


def called(function: str) -> Callable[..., Code]:
    """Return the method of a backend that spells an instruction as the call of a function."""

    def spelled(self: object, operands: Codes, *parameters: Any) -> Code:
        return call(function, *operands, *parameters)

    return spelled


def called_along(function: str) -> Callable[..., Code]:
    """Return the method of a backend that spells an instruction as the call of a function along
    axes, or along all for None."""

    def spelled(self: object, operands: Codes, axes: Sequence[int] | None) -> Code:
        return along_axes(call(function, *operands), axes)

    return spelled


def is_plain_name(name: str) -> bool:
    """Tell whether a name that a user chose can stand in code: a plain identifier, and none that
    code uses itself."""
    plain = name.isidentifier() and name.isascii() and not keyword.iskeyword(name)
    generated = any(
        name.startswith(before)
        and name.endswith(after)
        and name[len(before) : len(name) - len(after)].isdigit()
        for before, after in GENERATED
    )
    return plain and not generated and not name.startswith("_")


def diagonal_view(target: Code, subscripts: str, permute: str = "transpose") -> Code:
    """Return a view of the diagonal of an array, by its method."""
    diagonal, kept = subscripts.split("->")
    labels = list(diagonal)
    for label in kept:
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            target = quote("{0}.diagonal(0, {1}, {2})", target, first, second)
            labels = [own for k, own in enumerate(labels) if k not in (first, second)] + [label]
    axes = [labels.index(label) for label in kept]
    if axes != sorted(axes):
        target = quote(f"{{0}}.{permute}({{*1}})", target, axes)
    return target


def as_view(code: Code) -> Code:
    """Return what is written to in place of an array: a part of it, or all."""
    return code if isinstance(code, ast.Subscript) else quote("{0}[...]", code)
