"""Axis lengths, positions and options: reading and comparing them. Imports only the errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from sympy import (
    Basic,
    Expr,
    Float,
    Indexed,
    Integer,
    Rational,
    S,
    Symbol,
    SympifyError,
    Tuple,
    ceiling,
    floor,
    srepr,
    sympify,
)

from .errors import ShapeError, TensorError

# Lengths are integers of SymPy's, or Python's to a type checker: range and NumPy take them.
Shape: TypeAlias = tuple[Any, ...]
# Values that a user may give for an axis length or a position.
Length: TypeAlias = Expr | int
# The index of an axis: a number, a letter, or a pair of such.
Label = Hashable
# The labels of a tensor's axes, in order.
Labels = Sequence[Label]
# By label; the type of a mapping's keys isn't covariant.
Lengths = Mapping[Any, Expr]


def sympified(value: object) -> Basic:
    """A user's object as SymPy's. SymPy evaluates the strings inside of tuples, sets and
    dictionaries even where it is strict, so what holds others is refused.

    >>> sympified(("1 + 1",))
    Traceback (most recent call last):
    ...
    sympy.core.sympify.SympifyError: SympifyError: ('1 + 1',)
    """
    if isinstance(value, (str, bytes, tuple, list, set, frozenset, dict)):
        raise SympifyError(value)
    return sympify(value, strict=True)


def as_scalar(value: object, what: str) -> Expr:
    """A SymPy scalar from a number or an expression; strings are never evaluated."""
    try:
        expr = sympified(value)
    except SympifyError:
        expr = None
    if not isinstance(expr, Expr) or has_shape(expr):
        raise TensorError(f"{what} must be a number or a SymPy scalar, not {value!r}")
    return expr if expr.is_Atom else _with_fractions(expr)


def _with_fractions(expr: Expr) -> Expr:
    """A number that is rounded with fractions in the place of floats: Python reads n/2 - 1/2 as
    n/2 - 0.5, and code rounds floats to floats, by which nothing is counted."""
    rounded = [part for part in expr.atoms(floor, ceiling) if part.has(Float)]
    floats = {number for part in rounded for number in part.atoms(Float)}
    return expr.xreplace({number: Rational(number) for number in floats})


def floats_to_integers(expr: Expr) -> Expr:
    """Replace the floats that are whole by integers in a count of entries: 2.0 is 2.

    >>> from sympy import Float, Symbol
    >>> floats_to_integers(Symbol("n") - Float(2.0))
    n - 2
    """
    if expr.is_Symbol or expr.is_Integer:
        return expr
    floats = [number for number in expr.atoms(Float) if number == Float(round(number))]
    return expr.xreplace({number: Integer(int(number)) for number in floats})


def as_flag(value: object, what: str) -> bool:
    """True or False; nothing else counts as either."""
    if not isinstance(value, (bool, np.bool_, int)):
        raise TensorError(f"{what} is True or False, not {str(value)[:80]!r}")
    return bool(value)


def as_list(values: object, what: str) -> list[Any]:
    """Return the items of a list or another plain sequence."""
    if isinstance(values, (list, tuple, range, Tuple)):
        return list(values)
    if isinstance(values, np.ndarray) and values.ndim:
        return list(values)
    raise TensorError(f"expected a list of {what}, not {str(values)[:80]!r}")


def as_length(value: Length) -> Expr:
    """An axis length: a non-negative integer or a SymPy expression that may be one."""
    length = floats_to_integers(as_scalar(value, "an axis length"))
    if length.is_integer is False or length.is_negative or length is S.NaN:
        raise ShapeError(f"an axis length must be a non-negative integer, not {value!r}")
    return length


def as_shape(lengths: Iterable[Length | Sequence[Length]]) -> Shape:
    """A shape from lengths given one by one or as one tuple."""
    given = tuple(lengths)
    if len(given) == 1 and isinstance(given[0], (tuple, list, Tuple)):
        given = tuple(given[0])
    return tuple([as_length(length) for length in given])


def same_length(a: Expr, b: Expr) -> bool:
    """Tell whether two lengths are known to be equal; different symbols are not."""
    if a is b or a == b:
        return True
    if a.is_Atom and b.is_Atom:
        return False
    return (a - b).expand() == 0


def same_name_hint(*lengths: Expr) -> str:
    """Return the end of a message about lengths if distinct symbols have one name, else nothing.

    >>> from sympy import Symbol
    >>> same_name_hint(Symbol("n"), Symbol("n", integer=True) + 1)
    "; Symbol('n') and Symbol('n', integer=True) are 2 symbols: use one everywhere"
    """
    symbols = {s for length in lengths for s in length.atoms(Symbol)}
    names = Counter(symbol.name for symbol in symbols)
    same = sorted(srepr(symbol) for symbol in symbols if names[symbol.name] > 1)
    return f"; {' and '.join(same)} are {len(same)} symbols: use one everywhere" if same else ""


def as_position(value: Length, length: Expr) -> Expr:
    """A position on an axis, counted from its end when negative; checked where both are known."""
    position = floats_to_integers(as_scalar(value, "a position"))
    if position.is_integer is False or isinstance(value, bool):
        raise TensorError(f"a position must be an integer or an integer symbol, not {value!r}")
    if position.is_negative:
        position += length
    if (length - position).is_nonpositive or position.is_negative:
        raise ShapeError(f"position {value} is out of range for an axis of length {length}")
    return position


def has_shape(value: object) -> bool:
    """Tell whether a value has axes of any kind. An entry of an ``IndexedBase`` has none, and
    complains when asked for its range."""
    return not isinstance(value, Indexed) and hasattr(value, "shape")
