"""NumPy's shapes, and tensors made from them."""

from __future__ import annotations

import sympy
from sympy import S

from .. import operations as ops
from ..core import as_shape
from ..expressions import Delta, Operand, TensorLike, Zeros, as_operand, order_of, shape_of
from ._options import Lengths, check_type


def shape(a: TensorLike) -> Operand:
    """``numpy.shape``: the tuple of axis lengths, SymPy expressions.

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> n = symbols("n", integer=True, positive=True)
    >>> snp.shape(se.TensorSymbol("A", (n, 3))), snp.shape(2)
    ((n, 3), ())
    """
    return shape_of(as_operand(a))


def ndim(a: TensorLike) -> int:
    """``numpy.ndim``: the number of axes.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.ndim(se.TensorSymbol("A", (2, 3))), snp.ndim(2)
    (2, 0)
    """
    return order_of(as_operand(a))


def size(a: TensorLike, axis: int | None = None) -> Operand:
    """``numpy.size``: the number of entries, or the length of an axis.

    Raises ShapeError for an axis that isn't there.

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> m, n = symbols("m n", integer=True, positive=True)
    >>> A = se.TensorSymbol("A", (m, n))
    >>> snp.size(A), snp.size(A, 1)
    (m*n, n)
    """
    lengths = shape(a)
    return sympy.Mul(*lengths) if axis is None else lengths[ops.as_axis(axis, len(lengths))]


def full(shape: Lengths, fill_value: TensorLike) -> Operand:
    """``numpy.full`` with a scalar, which may be a symbol.

    Raises ShapeError for a length that is no whole number, TensorError for what is no number.

    >>> from sympy import symbols
    >>> import sympy_einsum.numpy as snp
    >>> n, t = symbols("n t", integer=True, positive=True)
    >>> snp.full((n, 2), t).shape, snp.full(n, t).sum()
    ((n, 2), n*t)
    """
    value = as_operand(fill_value)
    if order_of(value):
        return ops.broadcast_to(value, shape)
    lengths = as_shape(shape if isinstance(shape, (tuple, list)) else (shape,))
    return ops.filled(value, lengths) if lengths else value


def ones(shape: Lengths, dtype: object = None) -> Operand:
    """``numpy.ones``: a constant that no compiled code ever builds where it is multiplied.

    Raises ShapeError for a length that is no whole number, TensorError for what is no number.

    >>> from sympy import symbols
    >>> import sympy_einsum.numpy as snp
    >>> n = symbols("n", integer=True, positive=True)
    >>> snp.ones((n, 2)).shape, snp.ones(n).sum()
    ((n, 2), n)
    """
    return full(shape, S.One)


def zeros(shape: Lengths, dtype: object = None) -> Operand:
    """``numpy.zeros``: a tensor of zeros, which vanishes from sums.

    Raises ShapeError for a length that is no whole number, TensorError for what is no number.

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> n = symbols("n", integer=True, positive=True)
    >>> snp.zeros((n, 2)).shape, snp.zeros(n) + se.TensorSymbol("x", n)
    ((n, 2), x)
    """
    return Zeros(*(shape if isinstance(shape, (tuple, list)) else (shape,)))


def eye(N: TensorLike, M: TensorLike | None = None, k: int = 0, dtype: object = None) -> Operand:
    """``numpy.eye``: ones on the k-th diagonal.

    Raises ShapeError for a length that is no whole number, TensorError for what is no number.

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> n = symbols("n", integer=True, positive=True)
    >>> snp.eye(n) @ se.TensorSymbol("x", n)
    x
    >>> snp.eye(2, 3, k=1).as_explicit()
    [[0, 1, 0], [0, 0, 1]]
    """
    return ops.eye(N, M, k)


def identity(n: TensorLike, dtype: object = None) -> Operand:
    """``numpy.identity``: the square matrix with ones on its diagonal.

    Raises ShapeError for a length that is no whole number, TensorError for what is no number.

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> n = symbols("n", integer=True, positive=True)
    >>> snp.identity(n) == se.Delta(n)
    True
    """
    return Delta(n)


def ones_like(a: TensorLike, dtype: object = None, *, shape: Lengths | None = None) -> Operand:
    """``numpy.ones_like``, also of another shape.

    Raises ShapeError for a length that is no whole number.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.ones_like(se.TensorSymbol("A", (2, 3)))
    Ones(2, 3)
    """
    return full_like(a, S.One, shape=shape)


def zeros_like(a: TensorLike, dtype: object = None, *, shape: Lengths | None = None) -> Operand:
    """``numpy.zeros_like``, also of another shape.

    Raises ShapeError for a length that is no whole number.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.zeros_like(se.TensorSymbol("A", (2, 3)))
    Zeros(2, 3)
    """
    return full_like(a, S.Zero, shape=shape)


def full_like(
    a: TensorLike, fill_value: TensorLike, dtype: object = None, *, shape: Lengths | None = None
) -> Operand:
    """``numpy.full_like``, also of another shape, with a scalar.

    Raises ShapeError for a value with more axes, or a length that is no whole number,
    UnsupportedError for a type that would change the value.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.full_like(se.TensorSymbol("A", (2, 3)), 7).sum()
    42
    """
    if dtype is not None:
        check_type(dtype)
    return full(shape_of(as_operand(a)) if shape is None else shape, fill_value)
