"""The leaves: symbols, zeros and constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sympy import Basic, Expr, Float, S, Symbol, symbols, sympify

from ..core import (
    Length,
    Shape,
    ShapeError,
    StockAtom,
    TensorError,
    UnsupportedError,
    as_shape,
    data_digest,
    same_length,
    same_name_hint,
)
from .base import Operand, TensorExpr
from .graphs import is_literal
from .interning import Data, Operands, data_property
from .symmetries import Axes, generators_of, permutations_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Assumptions of matrices that are their own transposes.
SYMMETRIC = frozenset({"symmetric", "diagonal", "psd", "pd"})
ASSUMPTIONS = SYMMETRIC | {"positive", "nonnegative"}


class TensorSymbol(TensorExpr, StockAtom):
    """A named tensor with symbolic or numeric axis lengths. Its methods are those of
    :class:`TensorExpr`.

    Parameters
    ==========

    name : str
    shape : axis lengths (integers or SymPy expressions), one by one or as a tuple; none or ``()``
        for a scalar. Symbolic lengths are at least 1, as simplifications (n/n = 1, a softmax sums
        to 1) require. The length 0 is allowed as a number; there sums are 0 and means nan.
    assumptions : ``symmetric``, ``diagonal``, ``positive``, ``nonnegative``, ``psd`` (positive
        semidefinite), ``pd`` (positive definite, which implies ``psd``) set to True.
        ``symmetric`` may have any number of axes: True for invariance under all permutations, or a
        list of permutations that generate the group of symmetries. Derivatives by a symmetric
        matrix are nonetheless unconstrained: its entries are independent. They are simplified with
        X' = X, which makes several forms equal; second derivatives are those of one of them, and
        agree along symmetric directions. Code relies on assumptions: of a ``psd`` matrix it may
        read one triangle.

    Raises
    ======

    TensorError : the name isn't a string or is empty, or an assumption is unknown
    ShapeError : a length is negative or not an integer; a structured matrix isn't square

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> A = se.TensorSymbol("A", (m, n))
    >>> A.shape, A.order, A.T.shape
    ((m, n), 2, (n, m))
    >>> se.TensorSymbol("A", m, n) is A
    True
    >>> eightfold = [(1, 0, 2, 3), (0, 1, 3, 2), (2, 3, 0, 1)]
    >>> I = se.TensorSymbol("I", n, n, n, n, symmetric=eightfold)
    >>> I.transpose(3, 2, 1, 0) is I, len(I.permutations)
    (True, 8)
    """

    __slots__ = ()
    is_symbol = True
    _diff_wrt = True

    def __new__(
        cls, name: str, *shape: Length | Sequence[Length], **assumptions: bool | Sequence[Any]
    ) -> TensorSymbol:
        if isinstance(name, Symbol):
            name = name.name
        if not isinstance(name, str):
            raise TensorError(f"the name of a tensor must be a string, not {name!r}")
        if not name:
            raise TensorError("the name of a tensor is empty; give it a letter")
        if "shape" in assumptions:
            shape = (*shape, assumptions.pop("shape"))
        unknown = set(assumptions) - ASSUMPTIONS
        if unknown:
            raise TensorError(
                f"unknown assumption {min(unknown)!r} for tensor {name!r}; "
                f"there are {', '.join(sorted(ASSUMPTIONS))}"
            )
        lengths = as_shape(shape)
        generators: tuple[Axes, ...] = ()
        if len(lengths) > 2 and assumptions.get("symmetric"):
            generators = generators_of(assumptions.pop("symmetric"), name, lengths)
        elif isinstance(assumptions.get("symmetric"), (list, tuple)):
            assumptions["symmetric"] = bool(generators_of(assumptions["symmetric"], name, lengths))
        if assumptions.get("pd"):
            assumptions["psd"] = True
        true = tuple(sorted(key for key, value in assumptions.items() if value))
        if SYMMETRIC.intersection(true) and (len(lengths) != 2 or not same_length(*lengths)):
            raise ShapeError(
                f"{', '.join(true)} tensor {name!r} must be square, not {lengths}"
                + same_name_hint(*lengths)
            )
        return cls._build(
            (), (name, lengths, true, generators) if generators else (name, lengths, true)
        )

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Self:
        return cls._intern((), data, as_shape(data[1]))

    name: str = data_property(0, "The name it was built with.")

    @property
    def _key(self) -> tuple[int, str, int]:
        return (0, self.name, self._digest)

    assumptions: tuple[str, ...] = data_property(2, "The assumptions it was built with, sorted.")

    @property
    def is_symmetric(self) -> bool:
        """Whether it is declared symmetric, diagonal or psd."""
        return bool(SYMMETRIC.intersection(self.assumptions))

    @property
    def generators(self) -> tuple[Axes, ...]:
        """The permutations of three or more axes that generate its symmetries."""
        return self.data[3] if len(self.data) > 3 else ()

    @property
    def permutations(self) -> tuple[Axes, ...]:
        """All permutations of three or more axes that leave it invariant, () if only the identity
        does."""
        return permutations_of(self.generators, self.order) if self.generators else ()

    @property
    def is_positive(self) -> bool | None:
        """Whether all entries are declared positive; of a scalar None if not. Stock routines
        replace positive scalars by dummies."""
        return "positive" in self.assumptions or (False if self.shape else None)

    @property
    def args(self) -> tuple[()]:
        """Empty, as for every SymPy symbol."""
        return ()

    def _own_symbols(self) -> set[Basic]:
        return {self}

    @property
    def free_symbols(self) -> set[Basic]:
        """The symbol itself."""
        return {self}

    def __getnewargs__(self) -> tuple[str, Shape]:
        return (self.name, self.shape)


class Zeros(TensorExpr):
    """The tensor of zeros; the scalar 0 for no axes.

    >>> import sympy_einsum as se
    >>> se.Zeros(2, 3).shape, se.Zeros()
    ((2, 3), 0)
    """

    __slots__ = ()

    def __new__(cls, *lengths: Length | Sequence[Length]) -> Operand:  # type: ignore[misc]
        return cls._build((), (as_shape(lengths),))

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        shape = as_shape(data[0])
        return cls._intern((), (shape,), shape) if shape else S.Zero


def numeric_array(value: ArrayLike) -> np.ndarray:
    """Convert to an array of numbers, or of objects for SymPy numbers that aren't integers or
    floats."""
    kind = type(value).__name__
    if hasattr(value, "toarray"):
        raise TensorError(f"a sparse {kind} isn't a tensor; convert it with .toarray()")
    if np.ma.is_masked(value):
        raise TensorError(
            "a masked array would lose its mask; fill it with .filled(0), or multiply by weights 0 "
            "and 1"
        )
    if isinstance(value, np.matrix):
        raise TensorError("* of a numpy.matrix is a matrix product; give its array, .A")
    try:
        values = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise TensorError(
            f"this {kind} isn't an array of numbers ({error}); give nested lists of equal lengths "
            "or combine tensors with stack"
        ) from None
    if values.dtype == object and all(map(_is_number, values.flat)):
        values = _of_sympy_numbers(values)
    elif values.dtype.kind not in "biufc":
        raise UnsupportedError(
            f"an array of type {values.dtype} can't be a constant; give it numbers"
        )
    return values


def _is_number(entry: object) -> bool:
    if isinstance(entry, Expr):
        return is_literal(entry)
    return isinstance(entry, (int, float, np.number))


def _of_sympy_numbers(values: np.ndarray) -> np.ndarray:
    """Convert SymPy numbers to NumPy's integers or floats, or leave exact ones as objects; if one
    is a float, all become floats."""
    entries = [sympify(entry) for entry in values.flat]
    if any(entry.has(Float, S.Infinity, S.NegativeInfinity, S.NaN) for entry in entries):
        return np.array([float(entry) for entry in entries]).reshape(values.shape)
    limit = np.iinfo(np.int64).max
    if all(entry.is_Integer and abs(entry) <= limit for entry in entries):
        return np.array([int(entry) for entry in entries], dtype=int).reshape(values.shape)
    return _of_objects(entries, values.shape)


def _of_objects(entries: Sequence[Expr], shape: tuple[int, ...]) -> np.ndarray:
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array.reshape(shape)


class Constant(TensorExpr):
    """A real or complex array of numbers as a tensor expression.

    The array is copied; two constants with the same type, shape and entries are one object. An
    array without axes becomes a SymPy number, a matrix without entries becomes Zeros, True and
    False become 1 and 0. SymPy numbers stay exact in formulas and are floats in numerical code.

    Raises
    ======

    TensorError : it isn't an array of numbers but a ragged list, a sparse matrix, or an array with
        masked entries or objects

    Examples
    ========

    >>> import sympy_einsum as se
    >>> from sympy import Rational
    >>> se.Constant([[1.0, 2.0]]).shape
    (1, 2)
    >>> se.Constant([1, Rational(1, 3)])
    Constant([1, Rational(1, 3)])
    """

    __slots__ = ()
    _data_digest = staticmethod(data_digest)  # not cached: it would keep the arrays alive

    def __new__(cls, array: ArrayLike) -> Operand:  # type: ignore[misc]
        values = numeric_array(array)
        if values.ndim == 0:
            return sympify(values.item() if values.dtype.kind != "b" else int(values))
        if not values.size and values.ndim > 1:
            # Nested lists don't show the axes after one of length 0, in texts and generated code.
            return Zeros(*values.shape)
        if values.dtype != object:
            return cls._build((), (values.shape, values.dtype.str, values.tobytes()))
        is_real = all(entry.is_extended_real for entry in values.flat)
        rounded = values.astype(float if is_real else complex)
        data = (values.shape, rounded.dtype.str, rounded.tobytes(), tuple(values.flat))
        return cls._build((), data)

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        return cls._intern((), data, as_shape(data[0]))

    @property
    def array(self) -> np.ndarray:
        """The entries as a read-only NumPy array."""
        shape, dtype, content, *_ = self.data
        return np.frombuffer(content, dtype=dtype).reshape(shape)

    @property
    def entries(self) -> np.ndarray:
        """The entries as SymPy numbers; True and False are 1 and 0."""
        shape, _, _, *exact = self.data
        array = self.array.astype(int) if self.array.dtype.kind == "b" else self.array
        return _of_objects(
            exact[0] if exact else [sympify(value.item()) for value in array.flat], shape
        )

    @property
    def is_exact(self) -> bool:
        """Whether it was built from SymPy numbers that aren't integers or floats."""
        return len(self.data) > 3

    def _map_data(self, substitute: Callable[[Basic], Basic]) -> Data:
        return self.data


def tensors(names: str, *shape: Length | Sequence[Length], **assumptions: bool) -> Any:
    """Build tensor symbols of one shape, from names separated by spaces or commas, or ranges of
    names as for SymPy's ``symbols``.

    Assumptions and errors are those of :class:`TensorSymbol`.

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> A, B = se.tensors("A B", m, n)
    >>> B.shape
    (m, n)
    >>> se.tensors("x:3", n)
    (x0, x1, x2)
    """
    if not isinstance(names, str) or not names.replace(",", " ").split():
        raise TensorError(f"tensors takes names such as 'A B', not {names!r}")
    lengths = as_shape(shape)
    try:
        return symbols(names, cls=lambda name, **_: TensorSymbol(name, lengths, **assumptions))
    except TensorError:
        raise
    except ValueError as error:
        raise TensorError(f"tensors takes names such as 'A B' or 'x:3', not {names!r}") from error
