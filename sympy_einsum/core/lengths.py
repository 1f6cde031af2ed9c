"""Conversion, checks and comparison of axis lengths, positions and options."""

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

# Lengths are SymPy's integers or expressions; Any, because range and NumPy accept them.
Shape: TypeAlias = tuple[Any, ...]
# The type of arguments that are axis lengths or positions.
Length: TypeAlias = Expr | int
# The index of an axis: a number, a letter, or a pair of them.
Label = Hashable
# The labels of a tensor's axes, in order.
Labels = Sequence[Label]
# By label; Any, because the type of a mapping's keys isn't covariant.
Lengths = Mapping[Any, Expr]


def sympified(value: object) -> Basic:
    """Convert an object to SymPy's types strictly. Containers are refused: in tuples, sets and
    dictionaries ``sympify`` evaluates strings even where it is strict.

    >>> sympified(("1 + 1",))
    Traceback (most recent call last):
    ...
    sympy.core.sympify.SympifyError: SympifyError: ('1 + 1',)
    """
    if isinstance(value, (str, bytes, tuple, list, set, frozenset, dict)):
        raise SympifyError(value)
    return sympify(value, strict=True)


def as_scalar(value: object, what: str) -> Expr:
    """Convert a number or an expression to a SymPy scalar; never evaluate strings."""
    try:
        expr = sympified(value)
    except SympifyError:
        expr = None
    if not isinstance(expr, Expr) or has_shape(expr):
        raise TensorError(f"{what} must be a number or a SymPy scalar, not {value!r}")
    return expr if expr.is_Atom else _with_fractions(expr)


def _with_fractions(expr: Expr) -> Expr:
    """Replace floats by fractions under floor and ceiling: from n/2 - 0.5 a count of entries would
    be computed in floating-point numbers."""
    rounded = [part for part in expr.atoms(floor, ceiling) if part.has(Float)]
    floats = {number for part in rounded for number in part.atoms(Float)}
    return expr.xreplace({number: Rational(number) for number in floats})


def floats_to_integers(expr: Expr) -> Expr:
    """Replace floats with integer values by integers in a count of entries: 2.0 by 2.

    >>> from sympy import Float, Symbol
    >>> floats_to_integers(Symbol("n") - Float(2.0))
    n - 2
    """
    if expr.is_Symbol or expr.is_Integer:
        return expr
    floats = [number for number in expr.atoms(Float) if number == Float(round(number))]
    return expr.xreplace({number: Integer(int(number)) for number in floats})


def as_flag(value: object, what: str) -> bool:
    """Convert True, False or an integer to a bool; TensorError for anything else."""
    if not isinstance(value, (bool, np.bool_, int)):
        raise TensorError(f"{what} is True or False, not {str(value)[:80]!r}")
    return bool(value)


def as_list(values: object, what: str) -> list[Any]:
    """Return the items of a list or another plain sequence; TensorError for anything else."""
    if isinstance(values, (list, tuple, range, Tuple)):
        return list(values)
    if isinstance(values, np.ndarray) and values.ndim:
        return list(values)
    raise TensorError(f"expected a list of {what}, not {str(values)[:80]!r}")


def as_length(value: Length) -> Expr:
    """Convert to an axis length: a non-negative integer or an expression that may be one."""
    length = floats_to_integers(as_scalar(value, "an axis length"))
    if length.is_integer is False or length.is_negative or length is S.NaN:
        raise ShapeError(f"an axis length must be a non-negative integer, not {value!r}")
    return length


def as_shape(lengths: Iterable[Length | Sequence[Length]]) -> Shape:
    """Convert lengths, given one by one or as one tuple, to a shape."""
    given = tuple(lengths)
    if len(given) == 1 and isinstance(given[0], (tuple, list, Tuple)):
        given = tuple(given[0])
    return tuple([as_length(length) for length in given])


def same_length(a: Expr, b: Expr) -> bool:
    """Tell whether two lengths are provably equal; different symbols are not."""
    if a is b or a == b:
        return True
    if a.is_Atom and b.is_Atom:
        return False
    return (a - b).expand() == 0


def same_shape(a: Sequence[Expr], b: Sequence[Expr]) -> bool:
    """Tell whether two shapes are provably equal."""
    return len(a) == len(b) and all(map(same_length, a, b))


def same_name_hint(*lengths: Expr) -> str:
    """Return the end of an error message if distinct symbols in lengths have one name, else "".

    >>> from sympy import Symbol
    >>> same_name_hint(Symbol("n"), Symbol("n", integer=True) + 1)
    "; Symbol('n') and Symbol('n', integer=True) are 2 symbols: use one everywhere"
    """
    symbols = {s for length in lengths for s in length.atoms(Symbol)}
    names = Counter(symbol.name for symbol in symbols)
    same = sorted(srepr(symbol) for symbol in symbols if names[symbol.name] > 1)
    return f"; {' and '.join(same)} are {len(same)} symbols: use one everywhere" if same else ""


def as_position(value: Length, length: Expr) -> Expr:
    """Convert to a position on an axis, counted from its end if negative; check its range if it can
    be compared."""
    position = floats_to_integers(as_scalar(value, "a position"))
    if position.is_integer is False or isinstance(value, bool):
        raise TensorError(f"a position must be an integer or an integer symbol, not {value!r}")
    if position.is_Integer and length.is_Integer and -length.p <= position.p < length.p:
        # Signs of new numbers take SymPy a quarter of a millisecond.
        return position if position.p >= 0 else position + length
    if position.is_negative:
        position += length
    if (length - position).is_nonpositive or position.is_negative:
        raise ShapeError(f"position {value} is out of range for an axis of length {length}")
    return position


def has_shape(value: object) -> bool:
    """Tell whether a value has axes of any kind. An entry of an ``IndexedBase`` has none, but its
    ``shape`` raises."""
    return not isinstance(value, Indexed) and hasattr(value, "shape")
