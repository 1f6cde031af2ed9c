"""Diagonals and traces; diagonals with an offset are products with selections."""

from __future__ import annotations

from sympy import Expr, S

from ..core import (
    Length,
    ShapeError,
    TensorError,
    as_length,
    as_scalar,
    same_length,
    same_name_hint,
)
from ..expressions import (
    Delta,
    Operand,
    Selection,
    TensorLike,
    as_operand,
    contract,
    order_of,
    shape_of,
)
from .axes import as_axis, ravel

# The remedy where a matrix may be wide or tall.
SLICE = "slice the matrix first, so that it is square"


def _diagonal_selectors(
    rows: Expr, columns: Expr, offset: Length, remedy: str = SLICE
) -> list[Operand]:
    """Return the selections of the rows and the columns of an offset diagonal."""
    k = as_scalar(offset, "the offset of a diagonal")
    if not k.is_Integer:
        raise TensorError(f"the offset of a diagonal is a known integer, not {offset!r}")
    first = (max(-k, S.Zero), max(k, S.Zero))
    high, wide = rows - first[0], columns - first[1]
    if (wide - high).is_nonnegative:
        count = high
    elif (high - wide).is_nonnegative:
        count = wide
    else:
        raise ShapeError(
            f"the diagonal of offset {k} of a matrix of shape ({rows}, {columns}) has an unknown "
            f"number of entries; {remedy}" + same_name_hint(rows, columns)
        )
    count = S.Zero if count.is_negative else count
    starts = (S.Zero, S.Zero) if count.is_zero else first
    pairs = zip((rows, columns), starts, strict=True)
    return [
        Delta(length) if same_length(length, count) else Selection(length, start, 1, count)
        for length, start in pairs
    ]


def diagonal(a: TensorLike, offset: Length = 0, axis1: int = 0, axis2: int = 1) -> Operand:
    """Return the diagonal of two axes as a new last axis: the entries [i, i + offset].

    Raises
    ======

    ShapeError : there are fewer than two axes, an axis is out of range, or the length of the
        diagonal can't be decided

    Examples
    ========

    >>> import sympy_einsum as se
    >>> T = se.TensorSymbol("T", (3, 3, 2))
    >>> se.diagonal(T).shape, se.diagonal(T, 1).shape, se.diagonal(T, 0, 0, 2).shape
    ((2, 3), (2, 2), (3, 2))
    """
    a = as_operand(a)
    if order_of(a) < 2:
        raise ShapeError(f"diagonal takes a tensor of order 2 or more, not {order_of(a)}")
    i, j = as_axis(axis1, a.order), as_axis(axis2, a.order)
    if i == j:
        raise ShapeError("diagonal needs two different axes")
    remedy = SLICE
    if a.order > 2:
        remedy = f"name the two axes of the matrices: axis1={a.order - 2}, axis2={a.order - 1}"
    sides = _diagonal_selectors(a.shape[i], a.shape[j], offset, remedy)
    labels, new = list(range(a.order)), a.order
    lengths = {**dict(enumerate(a.shape)), new: sides[0].shape[0]}
    output = [k for k in labels if k not in (i, j)] + [new]
    return contract((a, *sides), (labels, (new, i), (new, j)), output, lengths)


def diag(v: TensorLike, k: Length = 0) -> Operand:
    """Return the square matrix with a vector on its k-th diagonal, or the k-th diagonal of a
    matrix.

    Raises ShapeError for a tensor of order 3 or more and for a scalar.

    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> se.diag(x).shape, se.diag(se.diag(x)) == x, se.diag(x, 1).shape
    ((3, 3), True, (4, 4))
    """
    v = as_operand(v)
    if order_of(v) == 2:
        return diagonal(v, k)
    if order_of(v) != 1:
        raise ShapeError(f"diag takes a vector or a matrix, not a tensor of order {order_of(v)}")
    size = v.shape[0] + abs(as_scalar(k, "the offset of a diagonal"))
    return _embedded_diagonal(v, _diagonal_selectors(size, size, k))


def diagflat(v: TensorLike, k: Length = 0) -> Operand:
    """Return the square matrix with all entries, in C order, on its k-th diagonal.

    Raises TensorError for an offset that isn't a number.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 2)
    >>> snp.diagflat(x, 1).as_explicit()
    [[0, x[0], 0], [0, 0, x[1]], [0, 0, 0]]
    """
    return diag(ravel(v), k)


def eye(N: Length, M: Length | None = None, k: Length = 0) -> Operand:
    """Return the matrix with ones on its k-th diagonal and zeros elsewhere, N × M or square;
    ``Delta(N)`` for the main diagonal.

    Raises ShapeError for an invalid length, or if the length of the diagonal can't be decided.

    >>> import sympy_einsum as se
    >>> se.eye(3) == se.Delta(3), se.eye(3, 4, 1).shape
    (True, (3, 4))
    """
    rows = as_length(N)
    sides = _diagonal_selectors(rows, rows if M is None else as_length(M), k)
    count = shape_of(sides[0])[0]
    return _embedded_diagonal(contract((), (), [0], {0: count}), sides)


def _embedded_diagonal(v: Operand, sides: list[Operand]) -> Operand:
    """Embed a vector on the diagonal of two selections."""
    lengths = {0: shape_of(v)[0], 1: sides[0].shape[1], 2: sides[1].shape[1]}
    return contract((v, *sides), ([0], (0, 1), (0, 2)), [1, 2], lengths)


def trace(a: TensorLike, offset: Length = 0, axis1: int = 0, axis2: int = 1) -> Operand:
    """Return the sum over the diagonal of two axes.

    Raises ShapeError as :func:`diagonal` does.

    >>> import sympy_einsum as se
    >>> S = se.TensorSymbol("S", (3, 3))
    >>> se.trace(S) == se.einsum("ii", S)
    True
    """
    entries = diagonal(a, offset, axis1, axis2)
    axes = range(entries.order)
    return contract((entries,), (axes,), axes[:-1], dict(enumerate(entries.shape)))
