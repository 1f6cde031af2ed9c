"""Triangles of ones: running sums are contractions with them, triangular masks products."""

from __future__ import annotations

from sympy import Expr, S

from ..core import Length, TensorError, as_length, as_scalar
from .base import Operand, TensorExpr
from .interning import Data, Operands, data_property
from .leaves import Zeros
from .products import Ones


class Triangle(TensorExpr):
    """The matrix [i + offset ≤ j]: ones on a diagonal and to its right, zeros to its left.

    Contracting its first index with a vector gives the running sum, contracting the second one the
    running sum from the end. As an entrywise factor it is the mask of a triangle.

    Raises
    ======

    TensorError : the offset isn't an integer
    ShapeError : a length is negative or not an integer

    Examples
    ========

    >>> import sympy_einsum as se
    >>> se.Triangle(3).shape, se.Triangle(3, 4, 1).shape
    ((3, 3), (3, 4))
    """

    __slots__ = ()

    def __new__(cls, rows: Length, columns: Length | None = None, offset: Length = 0) -> Operand:  # type: ignore[misc]
        height = as_length(rows)
        width = height if columns is None else as_length(columns)
        first = as_scalar(offset, "the offset of a triangle")
        if first.is_integer is False:
            raise TensorError(f"the offset of a triangle is an integer, not {offset!r}")
        return cls._build((), (height, width, first))

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        rows, columns, offset = as_length(data[0]), as_length(data[1]), data[2]
        if (rows + offset - 1).is_nonpositive:
            return Ones(rows, columns)
        if (columns - offset).is_nonpositive:
            return Zeros(rows, columns)
        return cls._intern((), (rows, columns, offset), (rows, columns))

    offset: Expr = data_property(2, "The number of the first diagonal with ones.")

    @property
    def diagonal_entry(self) -> Expr | None:  # type: ignore[override]
        """1 if the main diagonal is among those with ones, 0 if it isn't."""
        if self.offset.is_positive:
            return S.Zero
        return S.One if self.offset.is_nonpositive else None
