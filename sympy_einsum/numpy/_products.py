"""NumPy's products of vectors and matrices, and permutations of axes."""

from __future__ import annotations

from collections.abc import Sequence

from .. import operations as ops
from ..core import ShapeError
from ..expressions import Operand, TensorLike, shape_of
from ._options import Lengths, is_fortran_order
from ._shapes import broadcast_arrays


def einsum(*operands: TensorLike, optimize: object = None) -> Operand:
    """``numpy.einsum``, string or list form; ``optimize`` is accepted and not needed.

    Shapes and errors are those of :func:`sympy_einsum.einsum`.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A, x = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("x", 3)
    >>> snp.einsum("ij,j->i", A, x) == snp.einsum(A, [0, 1], x, [1], [0]) == A @ x
    True
    """
    return ops.einsum(*operands)


def matvec(x1: TensorLike, x2: TensorLike) -> Operand:
    """``numpy.matvec``: stacks of matrices times stacks of vectors, (…, m, n) and (…, n) to (…, m).

    Raises ShapeError when the lengths don't fit.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A, X = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("X", (5, 3))
    >>> snp.matvec(A, X).shape, snp.matvec(A, X) == X @ A.T
    ((5, 2), True)
    """
    return ops.einsum("...ij,...j->...i", x1, x2)


def vecmat(x1: TensorLike, x2: TensorLike) -> Operand:
    """``numpy.vecmat``: stacks of vectors times stacks of matrices, (…, m) and (…, m, n) to (…, n).

    Raises ShapeError when the lengths don't fit.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A, X = se.TensorSymbol("A", (2, 3)), se.TensorSymbol("X", (5, 2))
    >>> snp.vecmat(X, A).shape, snp.vecmat(X, A) == X @ A
    ((5, 3), True)
    """
    return ops.einsum("...i,...ij->...j", ops.conj(x1), x2)


def vecdot(x1: TensorLike, x2: TensorLike, *, axis: int = -1) -> Operand:
    """``numpy.vecdot``: the products of stacks of vectors, which lie along an axis of both.

    Raises ShapeError when the lengths don't fit.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A, B = se.tensors("A B", 5, 3)
    >>> snp.vecdot(A, B)
    (A @ B.T).diagonal()
    """
    x1, x2 = (ops.moveaxis(x, axis, -1) for x in (x1, x2))
    return ops.einsum("...i,...i->...", ops.conj(x1), x2)


def reshape(a: TensorLike, shape: Lengths, order: str = "C") -> Operand:
    """``numpy.reshape`` in the order of C or of Fortran.

    Raises ShapeError when the numbers of entries aren't known to be equal.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (2, 2))
    >>> snp.reshape(A, 4).as_explicit()
    [A[0, 0], A[0, 1], A[1, 0], A[1, 1]]
    >>> snp.reshape(A, 4, order="F").as_explicit()
    [A[0, 0], A[1, 0], A[0, 1], A[1, 1]]
    """
    lengths = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    if is_fortran_order("reshape", order):
        return ops.transpose(ops.reshape(ops.transpose(a), *lengths[::-1]))
    return ops.reshape(a, *lengths)


def ravel(a: TensorLike, order: str = "C") -> Operand:
    """``numpy.ravel`` in the order of C or of Fortran: all entries as a vector.

    Raises UnsupportedError for another order.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (2, 2))
    >>> snp.ravel(A).as_explicit(), snp.ravel(A, order="F").as_explicit()
    ([A[0, 0], A[0, 1], A[1, 0], A[1, 1]], [A[0, 0], A[1, 0], A[0, 1], A[1, 1]])
    """
    return ops.ravel(ops.transpose(a) if is_fortran_order("ravel", order) else a)


def concatenate(arrays: Sequence[TensorLike], axis: int = 0) -> Operand:
    """``numpy.concatenate``: one after the other along an axis.

    Raises ShapeError when the lengths of the other axes differ.

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> x, y = se.TensorSymbol("x", m), se.TensorSymbol("y", n)
    >>> snp.concatenate([x, y]).shape
    (m + n,)
    >>> print(se.gradient((snp.concatenate([x, y]) ** 2).sum(), y))
    2*y
    """
    return ops.concatenate(arrays, axis)


def stack(arrays: Sequence[TensorLike], axis: int = 0) -> Operand:
    """``numpy.stack``: tensors of one shape along a new axis.

    Raises ShapeError when the shapes differ.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x, y = se.tensors("x y", 3)
    >>> snp.stack([x, y]).shape, snp.stack([x, y], axis=1).shape
    ((2, 3), (3, 2))
    """
    return ops.stack(arrays, axis)


def unstack(x: TensorLike, *, axis: int = 0) -> tuple[Operand, ...]:
    """``numpy.unstack``: the pieces along an axis, whose length must be a number.

    Raises UnsupportedError for a symbolic length.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> snp.unstack(A), [column.shape for column in snp.unstack(A, axis=1)]
    ((A[0, :], A[1, :]), [(2,), (2,), (2,)])
    """
    return ops.unstack(x, axis)


def cross(
    a: TensorLike,
    b: TensorLike,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Operand:
    """``numpy.cross``: the cross product of vectors with three entries.

    Raises ShapeError for other lengths.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> a, b = se.tensors("a b", 3)
    >>> snp.cross(a, b).as_explicit()[0]
    -b[1]*a[2] + b[2]*a[1]
    >>> se.jacobian(snp.cross(a, b), b).shape
    (3, 3)
    """
    places = [place if axis is None else axis for place in (axisa, axisb, axisc)]
    a, b = (ops.moveaxis(v, place, -1) for v, place in zip((a, b), places, strict=False))
    for number, vectors in enumerate((a, b), start=1):
        if shape_of(vectors)[-1] != 3:
            raise ShapeError(
                f"cross takes vectors with 3 entries, and operand {number} has "
                f"{shape_of(vectors)[-1]} along the axis; of two with 2 entries it is "
                "a[0]*b[1] - a[1]*b[0]"
            )
    a, b = broadcast_arrays(a, b)
    c = ops.subtract(
        ops.multiply(_turned(a, 1), _turned(b, 2)), ops.multiply(_turned(a, 2), _turned(b, 1))
    )
    return ops.moveaxis(c, -1, places[2])


def _turned(a: Operand, by: int) -> Operand:
    """Return the entries along the last axis, with the first of them put at the end."""
    parts = [ops.getitem(a, (..., slice(by, None))), ops.getitem(a, (..., slice(by)))]
    return ops.concatenate(parts, -1)


def matrix_transpose(a: TensorLike) -> Operand:
    """``numpy.matrix_transpose``: the last two axes exchanged.

    Raises ShapeError for a vector.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.matrix_transpose(se.TensorSymbol("T", (2, 3, 4))).shape
    (2, 4, 3)
    """
    return ops.swapaxes(a, -1, -2)
