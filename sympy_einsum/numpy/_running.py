"""NumPy's running sums, and triangles."""

from __future__ import annotations

from sympy import S

from .. import operations as ops
from ..core import TensorError, as_flag
from ..expressions import Ones, Operand, TensorLike, as_operand, order_of, shape_of
from ._options import refuse


def cumsum(
    a: TensorLike, axis: int | None = None, dtype: object = None, out: object = None
) -> Operand:
    """``numpy.cumsum``: the running sums along an axis, without one those of all entries in C
    order.

    Raises ShapeError for an axis that isn't there.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> snp.cumsum(x).as_explicit()
    [x[0], x[1] + x[0], x[1] + x[0] + x[2]]
    >>> se.gradient(snp.cumsum(x).sum(), x).as_explicit()
    [3, 2, 1]
    """
    refuse("cumsum", {"dtype": dtype, "out": out})
    return ops.cumsum(a, axis)


def cumprod(
    a: TensorLike, axis: int | None = None, dtype: object = None, out: object = None
) -> Operand:
    """``numpy.cumprod``: the running products along an axis, without one those of all entries in C
    order. Their derivatives divide by nothing: they are right at zeros.

    Raises ShapeError for an axis that isn't there.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> slope = se.lambdify([x], se.gradient(snp.cumprod(x).sum(), x))
    >>> slope([0.0, 2.0, 3.0])
    array([9., 0., 0.])
    """
    refuse("cumprod", {"dtype": dtype, "out": out})
    return ops.cumprod(a, axis)


def cumulative_prod(
    x: TensorLike, *, axis: int | None = None, include_initial: bool = False
) -> Operand:
    """``numpy.cumulative_prod``: the running products along an axis, which only a vector may leave
    out; with ``include_initial`` there is a one before them.

    Raises ShapeError when there is no such axis, TensorError when it has to be named.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> snp.cumulative_prod(x, include_initial=True).shape
    (4,)
    """
    x = as_operand(x)
    if axis is None and order_of(x) != 1:
        raise TensorError("cumulative_prod of a tensor that is no vector needs an axis")
    place = ops.as_axis(0 if axis is None else axis, order_of(x))
    product = ops.cumprod(x, place)
    if not as_flag(include_initial, "include_initial"):
        return product
    first = [S.One if k == place else length for k, length in enumerate(shape_of(x))]
    return ops.concatenate([Ones(*first), product], place)


def tri(N: TensorLike, M: TensorLike | None = None, k: int = 0, dtype: object = None) -> Operand:
    """``numpy.tri``: ones on and below the k-th diagonal.

    Raises ShapeError for a length that is no whole number.

    >>> import sympy_einsum.numpy as snp
    >>> snp.tri(2, 3).as_explicit()
    [[1, 0, 0], [1, 1, 0]]
    """
    return ops.tri(N, M, k)
