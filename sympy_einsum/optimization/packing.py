"""Arrays of variables as one vector, and axis lengths from data."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from math import prod
from typing import TypeAlias

import numpy as np
from sympy import Basic, Expr, Symbol

from ..core import ShapeError, TensorError
from ..expressions import Operand, shape_of

# Values by symbol or name.
Values: TypeAlias = Mapping[object, object]
Arrays: TypeAlias = dict[Operand, np.ndarray]
Lengths: TypeAlias = dict[Basic, int]


def by_symbol(values: Values | None, symbols: Sequence[Operand], what: str) -> Arrays:
    """Return real arrays by symbol from values by symbol or name.

    Raises TensorError for other keys, and for what is no array of real numbers.
    """
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise TensorError(f"{what} is a dictionary of arrays by symbol, not {str(values)[:80]!r}")
    names = {str(symbol): symbol for symbol in symbols}
    found: Arrays = {}
    for key, value in values.items():
        symbol = names.get(str(key))
        if symbol is None or (isinstance(key, Basic) and key != symbol):
            raise TensorError(_unknown(key, symbol, [*names], what))
        found[symbol] = real_array(str(symbol), value)
    return found


def _unknown(key: object, symbol: Operand | None, names: Sequence[str], what: str) -> str:
    message = f"{what} has {str(key)[:80]!r}, which doesn't occur in the problem"
    if symbol is not None:
        own = shape_of(key) if isinstance(key, Expr) else ()
        return f"{message}: its shape or assumptions differ ({own}, not {shape_of(symbol)})"
    close = get_close_matches(str(key), names, n=1)
    return message + (f"; perhaps {close[0]} is meant" if close else f"; it has {', '.join(names)}")


def real_array(name: str, value: object) -> np.ndarray:
    """Return an array of floats; raises TensorError for what is no array of real numbers."""
    try:
        array = np.asarray(value.toarray() if hasattr(value, "toarray") else value)
        if array.dtype.kind == "O":
            array = array.astype(float)
    except (TypeError, ValueError):
        array = np.empty(0, object)
    if array.dtype.kind not in "biuf":
        raise TensorError(f"the value of {name} is no array of real numbers")
    return array.astype(float)


def known_lengths(arrays: Arrays, symbols: Collection[Operand]) -> Lengths:
    """Return the axis lengths that follow from data; ``symbols`` are the lengths.

    Raises ShapeError where an array doesn't fit its symbol or another array.
    """
    lengths: Lengths = {s: _as_length(s, arrays[s]) for s in symbols if s in arrays}
    origin = dict.fromkeys(lengths, "as is given")
    tensors = {symbol: array for symbol, array in arrays.items() if symbol not in lengths}
    for symbol, array in tensors.items():
        shape = shape_of(symbol)
        if len(shape) != array.ndim:
            raise ShapeError(
                f"{symbol} has {len(shape)} axes, shape {shape}, but its value has {array.ndim}, "
                f"shape {array.shape}"
            )
        for axis, (length, count) in enumerate(zip(shape, array.shape, strict=True)):
            if isinstance(length, Symbol) and length not in lengths:
                lengths[length] = count
                origin[length] = f"by axis {axis} of {symbol}"
    for symbol, array in tensors.items():
        for axis, (length, count) in enumerate(zip(shape_of(symbol), array.shape, strict=True)):
            expected = length.subs(lengths)
            if expected.is_Integer and expected != count:
                reasons = [f"{s} is {lengths[s]}, {origin[s]}" for s in length.free_symbols]
                raise ShapeError(
                    f"axis {axis} of {symbol} has length {expected}, but its value has shape "
                    f"{array.shape}" + "".join(f"; {reason}" for reason in reasons)
                )
    return lengths


def _as_length(symbol: Operand, array: np.ndarray) -> int:
    if array.ndim or array != np.floor(array) or array < 0:
        raise TensorError(f"{symbol} is an axis length: its value is a whole number, not {array}")
    return int(array)


class Packing:
    """The places of variables in one vector, for given axis lengths.

    >>> import sympy_einsum as se
    >>> U, t = se.TensorSymbol("U", 2, 2), Symbol("t")
    >>> packing = Packing([U, t], {})
    >>> packing.pack({U: np.eye(2), t: np.array(3.0)})
    array([1., 0., 0., 1., 3.])
    """

    def __init__(self, variables: Sequence[Operand], lengths: Lengths):
        self.variables = variables
        self.shapes = [numeric_shape(x, lengths) for x in variables]
        self.sizes = [prod(shape) for shape in self.shapes]
        self.ends = [*np.cumsum([0, *self.sizes])]
        self.size = int(self.ends[-1])

    def pack(self, arrays: Arrays) -> np.ndarray:
        """Return the arrays of all variables as one vector."""
        parts = []
        for x, shape in zip(self.variables, self.shapes, strict=True):
            if x not in arrays:
                raise TensorError(f"no value is given for the variable {x}, of shape {shape}")
            if arrays[x].shape != shape:
                raise ShapeError(f"{x} has shape {shape}, but its value {arrays[x].shape}")
            parts.append(np.ravel(arrays[x]))
        return np.concatenate(parts)

    def unpack(self, vector: np.ndarray) -> list[np.ndarray]:
        """Return an array for each variable; a number for a scalar one."""
        pairs = zip(self.ends[:-1], self.ends[1:], strict=True)
        parts = [vector[start:end] for start, end in pairs]
        return [part.reshape(shape) for part, shape in zip(parts, self.shapes, strict=True)]

    def place(self, position: int) -> str:
        """Name the entry at a position of the vector."""
        number = int(np.searchsorted(self.ends, position, side="right")) - 1
        index = np.unravel_index(position - self.ends[number], self.shapes[number] or (1,))
        name = str(self.variables[number])
        return f"{name}[{', '.join(map(str, index))}]" if self.shapes[number] else name


def numeric_shape(value: Operand, lengths: Lengths) -> tuple[int, ...]:
    """Return the shape for given axis lengths; raises ShapeError if some are missing."""
    found = []
    for length in shape_of(value):
        count = length.subs(lengths)
        if not count.is_Integer:
            unknown = sorted(map(str, count.free_symbols))
            raise ShapeError(
                f"the axis length {', '.join(unknown)} of {str(value)[:80]} follows from no "
                f"data; give it as a value, {{{unknown[0]!r}: 10}}, or a start"
            )
        found.append(int(count))
    return tuple(found)
