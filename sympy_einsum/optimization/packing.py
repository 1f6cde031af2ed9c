"""Variables as one vector: the symbol, arrays, derivatives; and axis lengths from data."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import accumulate, chain, count
from math import prod
from typing import Any, TypeAlias

import numpy as np
from sympy import Add, Basic, Expr, Integer, Mul, S, Symbol

from ..calculus import gradient, jacobian
from ..core import ShapeError, TensorError, UnsupportedError
from ..expressions import SYMMETRIC, Operand, TensorLike, TensorSymbol, as_operand, shape_of
from ..operations import concatenate, moveaxis, ravel, reshape
from ..rules import Blocks

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
    known, found = {*symbols}, Arrays()
    for key, value in values.items():
        symbol = key
        if not (isinstance(key, Basic) and key in known):
            names = {str(own): own for own in symbols}
            symbol = names.get(str(key))
            if symbol is None or isinstance(key, Basic):
                raise TensorError(_unknown(key, symbol, [*names], what))
        found[symbol] = real_array(symbol, value)
    return found


def _unknown(key: object, symbol: Operand | None, names: Sequence[str], what: str) -> str:
    message = f"{what} has {str(key)[:80]!r}, which doesn't occur in the problem"
    if symbol is not None:
        own = shape_of(key) if isinstance(key, Expr) else ()
        return f"{message}: its shape or assumptions differ ({own}, not {shape_of(symbol)})"
    close = get_close_matches(str(key), names, n=1)
    return message + (f"; perhaps {close[0]} is meant" if close else f"; it has {', '.join(names)}")


def real_array(name: object, value: object) -> np.ndarray:
    """Return an array of floats; raises TensorError for what is no array of real numbers."""
    try:
        array = np.asarray(value.toarray() if hasattr(value, "toarray") else value)
        if array.dtype.kind == "O":
            array = array.astype(float)
    except (TypeError, ValueError):
        array = np.empty(0, object)
    if array.dtype.kind not in "biuf":
        raise TensorError(f"the value of {name} is no array of real numbers")
    return array.astype(float, copy=False)


def as_positions(symbol: Operand, array: np.ndarray) -> np.ndarray:
    """Return positions on an axis as integers; raises TensorError for other numbers."""
    if not np.array_equal(array, np.floor(array)):
        raise TensorError(f"{symbol} holds positions, which are whole numbers: {array.ravel()[:5]}")
    return array.astype(np.int64)


def known_lengths(arrays: Arrays, symbols: Collection[Operand]) -> Lengths:
    """Return the axis lengths that follow from data; ``symbols`` are the lengths.

    Raises ShapeError where an array doesn't fit its symbol or another array.
    """
    lengths: Lengths = {s: _as_length(s, arrays[s]) for s in symbols if s in arrays}
    origin: dict[Basic, tuple[int, Operand]] = {}
    tensors = {symbol: array for symbol, array in arrays.items() if symbol not in lengths}
    for symbol, array in tensors.items():
        shape = shape_of(symbol)
        if len(shape) != array.ndim:
            raise ShapeError(
                f"{symbol} has {len(shape)} axes, shape {shape}, but its value has {array.ndim}, "
                f"shape {array.shape}"
            )
        for axis, (length, own) in enumerate(zip(shape, array.shape, strict=True)):
            if isinstance(length, Symbol) and length not in lengths:
                lengths[length] = own
                origin[length] = axis, symbol
    for symbol, array in tensors.items():
        for axis, (length, own) in enumerate(zip(shape_of(symbol), array.shape, strict=True)):
            expected = _with_lengths(length, lengths)
            if expected.is_Integer and expected != own:
                reasons = [
                    f"{s} is {lengths[s]}, "
                    + ("by axis {} of {}".format(*origin[s]) if s in origin else "as is given")
                    for s in length.free_symbols
                ]
                raise ShapeError(
                    f"axis {axis} of {symbol} has length {expected}, but its value has shape "
                    f"{array.shape}" + "".join(f"; {reason}" for reason in reasons)
                )
    return lengths


def _with_lengths(length: Expr, lengths: Lengths) -> Expr:
    known = lengths.get(length)
    if known is not None:
        return Integer(known)
    return length if length.is_Integer else length.subs(lengths)


def _as_length(symbol: Operand, array: np.ndarray) -> int:
    if array.ndim or array != np.floor(array) or array < 0:
        raise TensorError(f"{symbol} is an axis length: its value is a whole number, not {array}")
    return int(array)


def as_variables(given: object) -> list[Operand]:
    """Return a variable or a list of some as a list.

    Raises TensorError for what is no symbol or has the name of another, UnsupportedError for
    complex, integer and symmetric variables.
    """
    symbols = list(given) if isinstance(given, (list, tuple)) else [given]
    if not symbols:
        raise TensorError("there are no variables; give a symbol, or a list of them")
    for x in symbols:
        if not isinstance(x, (Symbol, TensorSymbol)):
            raise TensorError(
                f"a variable is a TensorSymbol or a Symbol, not {str(x)[:80]!r}, of type "
                f"{type(x).__name__}"
            )
        if x.is_real is False or (isinstance(x, TensorSymbol) and not x.is_real):
            raise UnsupportedError(f"the variable {x} is complex; use its real and imaginary parts")
        if isinstance(x, Symbol) and x.is_integer:
            raise UnsupportedError(
                f"the variable {x} is assumed to be an integer, but is solved for over real "
                "numbers; take a symbol with real=True, and round the solution"
            )
        if SYMMETRIC & {*getattr(x, "assumptions", ())}:
            raise UnsupportedError(
                f"the variable {x} is assumed to be {x.assumptions[0]}; write it with another "
                "variable Y without assumptions, as (Y + Y.T)/2, Y @ Y.T or diag(y)"
            )
    names = [str(x) for x in symbols]
    if len({*names}) < len(names):
        raise TensorError(f"two variables have one name: {', '.join(names)}")
    return symbols


def free_names(name: str, taken: Collection[Operand]) -> Iterator[str]:
    """Yield names with numbers, without those of the symbols that are taken."""
    names = {str(symbol) for symbol in taken}
    return (own for number in count(1) if (own := f"{name}_{number}") not in names)


def as_vector(parts: Sequence[Operand]) -> Operand:
    """Return the entries of several tensors or scalars as one vector."""
    flat = [ravel(part) if shape_of(part) else as_operand([part]) for part in parts]
    return flat[0] if len(flat) == 1 else concatenate(flat)


def pack(variables: Operand | Sequence[Operand], name: str | None = None) -> Packed:
    """Pack variables of any shapes into one vector, as solvers take them.

    Parameters
    ==========

    variables : a tensor symbol or a symbol, or a list of them; axis lengths may be symbols
    name : the name of the vector, by default ``z``, or ``z_1``, … where a variable has that name

    Returns
    =======

    An object with the attributes ``variables``, ``vector``, a tensor symbol, and ``parts``, the
    slice of it that each variable is. ``pack`` and ``unpack`` convert arrays; ``gradient``,
    ``jacobian`` and ``hessian`` are derivatives by all variables, as one vector or matrix

    Raises
    ======

    TensorError : a variable is no symbol, the name no string, or two of them have one name
    UnsupportedError : a variable is complex, an integer or symmetric

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n, k = symbols("m n k", integer=True, positive=True)
    >>> T, U, V = se.TensorSymbol("T", m, n), se.TensorSymbol("U", m, k), se.TensorSymbol("V", n, k)
    >>> packed = se.pack([U, V])
    >>> packed.vector.shape
    (k*m + k*n,)
    >>> packed.parts[V]
    z[k*m:].reshape(n, k)
    >>> H = packed.hessian(((T - U @ V.T) ** 2).sum())
    >>> hessian = se.lambdify([T, U, V], H)
    >>> hessian([[1, 2, 3]], [[1, 2]], [[1, 0], [0, 1], [1, 1]]).shape
    (8, 8)
    """
    return Packed(as_variables(variables), name)


class Packed:
    """Variables of any shapes as the parts of one vector; :func:`sympy_einsum.pack` makes it.

    Attributes
    ==========

    variables : the variables, in the order in which they are in the vector, each in C order
    vector : the tensor symbol of the vector
    parts : by variable the slice of the vector that it is
    """

    def __init__(self, variables: Sequence[Operand], name: str | None = None):
        self.variables = [*variables]
        taken = {*map(str, variables)}
        if name is None:
            name = next(own for own in chain("z", free_names("z", variables)) if own not in taken)
        if not isinstance(name, str):
            raise TensorError(f"the name of the vector is a string, not {name!r:.80}")
        if name in taken:
            raise TensorError(f"the vector and a variable have the same name, {name}")
        self._shapes = [shape_of(x) for x in variables]
        sizes = [Mul(*shape) for shape in self._shapes]
        self.vector = TensorSymbol(name, Add(*sizes))
        self.parts: dict[Operand, Operand] = {}
        start: Expr = S.Zero
        for x, shape, size in zip(variables, self._shapes, sizes, strict=True):
            piece = self.vector[start : start + size]
            self.parts[x] = reshape(piece, shape) if shape else self.vector[start]
            start += size
        self._lengths = [*dict.fromkeys([s for size in sizes for s in size.free_symbols])]

    def substitute(self, e: TensorLike | Blocks) -> Operand | Blocks:
        """Return an expression, or a matrix in blocks, with the slices of the vector in place of
        the variables.

        >>> import sympy_einsum as se
        >>> x, y = se.TensorSymbol("x", 2), se.TensorSymbol("y", 3)
        >>> se.pack([x, y]).substitute(x.sum() + y @ y)
        z[2:] @ z[2:] + z[:2].sum()
        """
        return (
            e.xreplace(self.parts) if isinstance(e, Blocks) else as_operand(e).xreplace(self.parts)
        )

    def gradient(self, f: TensorLike) -> Operand:
        """Return the gradient of a scalar by all variables, as one vector; ShapeError for another
        tensor.

        >>> import sympy_einsum as se
        >>> x, y = se.TensorSymbol("x", 2), se.TensorSymbol("y", 3)
        >>> print(se.pack([x, y]).gradient(x @ x + y.sum()))
        concatenate([2*x, Ones(3)])
        """
        return as_vector(gradient(f, self.variables))

    def jacobian(self, r: TensorLike | Sequence[TensorLike]) -> Blocks:
        """Return the Jacobian of a tensor, or of several one below the other, by all variables: a
        matrix in blocks.

        >>> import sympy_einsum as se
        >>> x, y = se.TensorSymbol("x", 2), se.TensorSymbol("y", 3)
        >>> J = se.pack([x, y]).jacobian([x * y.sum(), y**2])
        >>> J.shape, J.blocks[1][0]
        ((5, 5), Zeros(3, 2))
        """
        values = [as_operand(own) for own in (r if isinstance(r, (list, tuple)) else [r])]
        if not values:
            raise TensorError("there is nothing to differentiate; give an expression or several")
        blocks = [tuple(jacobian(value, self.variables)) for value in values]
        return Blocks(tuple(blocks), tuple(map(shape_of, values)), tuple(self._shapes))

    def hessian(self, f: TensorLike) -> Blocks:
        """Return the Hessian of a scalar by all variables: a symmetric matrix in blocks.

        Raises ShapeError unless it is a scalar.

        >>> import sympy_einsum as se
        >>> x, y = se.TensorSymbol("x", 2), se.TensorSymbol("y", 3)
        >>> H = se.pack([x, y]).hessian((x @ x) * y.sum())
        >>> print(H.blocks[0][1])
        2*outer(x, Ones(3))
        """
        gradients = gradient(f, self.variables)
        shapes, count = self._shapes, len(self.variables)
        above = [jacobian(own, self.variables[k:]) for k, own in enumerate(gradients)]
        blocks = [
            tuple(
                [
                    above[i][j - i] if i <= j else _transposed(above[j][i - j], len(shapes[j]))
                    for j in range(count)
                ]
            )
            for i in range(count)
        ]
        return Blocks(tuple(blocks), tuple(shapes), tuple(shapes), is_symmetric=True)

    def pack(self, arrays: Values) -> np.ndarray:
        """Return the arrays of all variables, by symbol or name, as one vector.

        Raises
        ======

        TensorError : a variable has no value
        ShapeError : an array doesn't fit its symbol

        Examples
        ========

        >>> import sympy_einsum as se
        >>> U, t = se.TensorSymbol("U", 2, 2), se.TensorSymbol("t", 1)
        >>> se.pack([U, t]).pack({U: [[1, 2], [3, 4]], "t": [5]})
        array([1., 2., 3., 4., 5.])
        """
        return packed(self.variables, self._lengths, arrays)[0]

    def unpack(self, vector: object, values: Values | None = None) -> dict[Operand, Any]:
        """Return the arrays of the variables, by symbol, from one vector. Lengths that are no
        numbers follow from ``values``: they themselves, ``{n: 3}``, or arrays of some variables.

        Raises
        ======

        ShapeError : the vector has another length than all variables together, or that is unknown

        Examples
        ========

        >>> import sympy_einsum as se
        >>> U, t = se.TensorSymbol("U", 2, 2), se.TensorSymbol("t", 1)
        >>> se.pack([U, t]).unpack([1.0, 2.0, 3.0, 4.0, 5.0])[U]
        array([[1., 2.],
               [3., 4.]])
        """
        found = by_symbol(values, [*self._lengths, *self.variables], "values")
        return Packing(self.variables, known_lengths(found, self._lengths)).arrays(vector)

    def __repr__(self) -> str:
        return f"pack({self.variables}) as {self.vector}, of shape {self.vector.shape}"


def _transposed(block: Operand, order: int) -> Operand:
    """Return a block with its first axes, those of rows, last."""
    first = range(order)
    last = range(len(shape_of(block)) - order, len(shape_of(block)))
    return moveaxis(block, [*first], [*last]) if order and last.start else block


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
        self.ends = [*accumulate(self.sizes, initial=0)]
        self.size = self.ends[-1]

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

    def arrays(self, vector: object) -> Arrays:
        """Return the array of each variable, by symbol; ShapeError for a vector of another
        length."""
        array = real_array("the vector", vector)
        if array.shape != (self.size,):
            raise ShapeError(
                f"the variables have {self.size} entries together, but the vector has shape "
                f"{array.shape}"
            )
        return dict(zip(self.variables, self.unpack(array), strict=True))

    def place(self, position: int) -> str:
        """Name the entry at a position of the vector."""
        number = int(np.searchsorted(self.ends, position, side="right")) - 1
        index = np.unravel_index(position - self.ends[number], self.shapes[number] or (1,))
        name = str(self.variables[number])
        return f"{name}[{', '.join(map(str, index))}]" if self.shapes[number] else name


def packed(
    variables: Sequence[Operand], lengths: Collection[Operand], arrays: Values
) -> tuple[np.ndarray, Lengths]:
    """Return arrays, by symbol or name, as one vector, and the axis lengths that they tell."""
    found = by_symbol(arrays, [*lengths, *variables], "pack")
    known = known_lengths(found, lengths)
    return Packing(variables, known).pack(found), known


def numeric_shape(value: Operand, lengths: Lengths) -> tuple[int, ...]:
    """Return the shape for given axis lengths; raises ShapeError if some are missing."""
    found = []
    for length in shape_of(value):
        count = _with_lengths(length, lengths)
        if not count.is_Integer:
            unknown = sorted(map(str, count.free_symbols))
            raise ShapeError(
                f"the axis length {', '.join(unknown)} of {str(value)[:80]} follows from no "
                f"data; give it as a value, {{{unknown[0]!r}: 10}}, or a start"
            )
        found.append(int(count))
    return tuple(found)
