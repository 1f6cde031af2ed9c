"""Matrix algebra on SymPy's matrix expressions, without SymPy's deep simplifications.

Vectors are columns. The functions from :func:`product` to :func:`ones` are the algebra that
networks of matrices are reduced by.
"""

from __future__ import annotations

from collections.abc import Sequence

from sympy import (
    DiagMatrix,
    Dummy,
    Expr,
    HadamardProduct,
    Identity,
    MatAdd,
    MatMul,
    Mul,
    OneMatrix,
    S,
    Symbol,
    Trace,
    Transpose,
)
from sympy.matrices.expressions.diagonal import DiagonalOf
from sympy.matrices.expressions.hadamard import canonicalize
from sympy.matrices.expressions.matexpr import MatrixElement, MatrixExpr
from sympy.matrices.expressions.slice import MatrixSlice

from ..core import Shape

# The start, stop and step of a slice.
SliceBounds = tuple[Expr, Expr, Expr]


def product(factors: list[Expr]) -> Expr:
    """Multiply scalars and matrices without SymPy's deep simplification."""
    if not any(factor.is_Matrix for factor in factors):
        return Mul(*factors)
    kept = [factor for factor in factors if factor != 1]
    return kept[0] if len(kept) == 1 else MatMul(*kept).doit(deep=False)


def transpose(matrix: MatrixExpr) -> MatrixExpr:
    """Return the transpose, taken inside; SymPy's own writes entries inside as sums."""
    if isinstance(matrix, MatMul):
        scalars = [factor for factor in matrix.args if not factor.is_Matrix]
        factors = [factor for factor in matrix.args if factor.is_Matrix]
        return MatMul(*scalars, *[transpose(factor) for factor in reversed(factors)])
    if isinstance(matrix, (MatAdd, HadamardProduct)):
        return matrix.func(*[transpose(arg) for arg in matrix.args])
    return matrix.T


def hadamard(factors: Sequence[MatrixExpr]) -> MatrixExpr:
    """Return the Hadamard product; SymPy's own hadamard_product writes entries inside as sums."""
    return canonicalize(HadamardProduct(*factors))


def dot(x: MatrixExpr, y: MatrixExpr) -> Expr:
    """Return the only entry of xᵀ y, or of yᵀ x where that has fewer transposes."""
    both = [product([transpose(x), y]), product([transpose(y), x])]
    return entry(min(both, key=lambda found: found.count(Transpose)), S.Zero)


trace = Trace
diagonal = DiagonalOf


def diagonal_matrix(vector: MatrixExpr) -> MatrixExpr:
    """Return the diagonal matrix of a column."""
    if isinstance(vector, OneMatrix):
        return Identity(vector.rows)
    return DiagMatrix(vector)


def ones(shape: Shape) -> MatrixExpr:
    """Return a column or a matrix of ones."""
    return OneMatrix(*rows_and_columns(shape))


# --- shapes and parts ----------------------------------------------------------------------------


def rows_and_columns(shape: Shape) -> tuple[Expr, Expr]:
    """Return the shape of a matrix, or of a vector as a column."""
    rows, columns = (*shape, S.One)[:2]
    return rows, columns


def row_and_column() -> tuple[Symbol, Symbol]:
    """Return the index variables of a matrix given by a function."""
    return Dummy("i", integer=True), Dummy("j", integer=True)


def sliced(matrix: MatrixExpr, *slices: SliceBounds) -> MatrixExpr:
    """Slice a matrix; SymPy's own slice of a slice compares symbolic lengths."""
    if isinstance(matrix, MatrixSlice):
        known = matrix.rowslice, matrix.colslice
        slices = tuple(
            [
                (first + start * stride, first + stop * stride, stride * step)
                for (first, _, stride), (start, stop, step) in zip(known, slices, strict=True)
            ]
        )
        matrix = matrix.parent
    return MatrixSlice(matrix, *slices)


def row(matrix: MatrixExpr, position: Expr) -> MatrixExpr:
    """Return a row, as a matrix of one row."""
    return sliced(matrix, (position, position + 1, S.One), (S.Zero, matrix.cols, S.One))


def column(matrix: MatrixExpr, position: Expr) -> MatrixExpr:
    """Return a column, as a matrix of one column."""
    return sliced(matrix, (S.Zero, matrix.rows, S.One), (position, position + 1, S.One))


def entry(vector: MatrixExpr, position: Expr) -> Expr:
    """Return an entry of a column; of a slice of a matrix an entry of that matrix."""
    part = vector.arg if isinstance(vector, Transpose) else vector
    if not isinstance(part, MatrixSlice) or part.parent.cols == 1:
        return MatrixElement(vector, position, S.Zero)
    if part is vector:
        return MatrixElement(part.parent, position, part.colslice[0])
    return MatrixElement(part.parent, part.rowslice[0], position)
