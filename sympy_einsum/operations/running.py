"""Running sums, products and log-sum-exp along an axis, and triangles of matrices."""

from __future__ import annotations

from collections.abc import Callable

from sympy import Expr

from ..core import Length, ShapeError, TensorError, as_flag, with_hints
from ..expressions import (
    IntervalProducts,
    LogCumSumExp,
    Ones,
    Operand,
    RunningSoftmax,
    Selection,
    TensorLike,
    Triangle,
    Unit,
    as_operand,
    contract,
    order_of,
    shape_of,
)
from .arithmetic import add
from .axes import as_axis, moveaxis, ravel


def running_axis(A: TensorLike, axis: int | None) -> tuple[Operand, int]:
    """Return a tensor and an axis as a number; without an axis the entries in C order and 0."""
    A = as_operand(A)
    if axis is None:
        return (A, 0) if order_of(A) == 1 else (ravel(A), 0)
    return A, as_axis(axis, order_of(A))


def counting(length: Expr, start: Expr | int = 0) -> Operand:
    """Return the vector start, start + 1, …."""
    return add(cumsum(Ones(length)), start - 1)


def _contract_along(A: Operand, matrix: Operand, axis: int) -> Operand:
    """Contract an axis of a tensor with the first axis of a matrix."""
    labels = list(range(order_of(A)))
    output = [order_of(A) if k == axis else k for k in labels]
    lengths = {**dict(enumerate(shape_of(A))), order_of(A): shape_of(matrix)[1]}
    return contract((A, matrix), (labels, (axis, order_of(A))), output, lengths)


@with_hints
def cumsum(a: TensorLike, axis: int | None = None) -> Operand:
    """Return the running sum along an axis; without ``axis`` that of all entries in C order.

    It is the product with a :class:`Triangle`, which is never materialised; its derivative is the
    running sum from the end.

    Raises
    ======

    ShapeError : the axis is out of range

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> x = se.TensorSymbol("x", n)
    >>> se.lambdify([x], se.gradient((se.cumsum(x) ** 2).sum() / 2, x))([1.0, 2.0, 3.0])
    array([10.,  9.,  6.])
    """
    A, k = running_axis(a, axis)
    return _contract_along(A, Triangle(shape_of(A)[k]), k)


def cumulative_sum(
    x: TensorLike, *, axis: int | None = None, include_initial: bool = False
) -> Operand:
    """Return the running sum along an axis, which may be omitted for a vector; with
    ``include_initial`` it starts with a zero.

    Raises ShapeError for an axis out of range, TensorError if it is required.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> snp.cumulative_sum(x, include_initial=True).as_explicit()
    [0, x[0], x[1] + x[0], x[1] + x[0] + x[2]]
    """
    x = as_operand(x)
    if axis is None and order_of(x) != 1:
        raise TensorError(f"cumulative_sum of a tensor of order {order_of(x)} needs an axis")
    x, k = running_axis(x, axis)
    length = shape_of(x)[k]
    if not as_flag(include_initial, "include_initial"):
        return cumsum(x, k)
    return _contract_along(x, Triangle(length, length + 1, 1), k)


def interval_products(x: TensorLike, axis: int = -1) -> Operand:
    """Return the products of the entries between two positions: W[i, j] = x[i] x[i + 1] … x[j - 1],
    ones for i = j, zeros for i > j.

    An axis of length n becomes the last two axes, of length n + 1. The product ``b @
    interval_products(x)`` is the solution of the linear recurrence y[j + 1] = x[j] y[j] + b[j + 1]
    with y[0] = b[0], and is computed in linear time. Derivatives are free of division, so they are
    right at zeros.

    Raises
    ======

    ShapeError : the axis is out of range

    Examples
    ========

    >>> import sympy_einsum as se
    >>> x, b = se.TensorSymbol("x", 2), se.TensorSymbol("b", 3)
    >>> se.lambdify([x], se.interval_products(x))([2.0, 5.0])
    array([[ 1.,  2., 10.],
           [ 0.,  1.,  5.],
           [ 0.,  0.,  1.]])
    >>> se.lambdify([x, b], b @ se.interval_products(x))([2.0, 5.0], [1.0, 1.0, 1.0])
    array([ 1.,  3., 16.])
    """
    A = as_operand(x)
    return IntervalProducts.of(moveaxis(A, as_axis(axis, order_of(A)), -1))


def running_softmax(x: TensorLike, axis: int = -1) -> Operand:
    """Return the softmaxes of the entries up to each position: S[i, j] = exp(x[i]) / Σ_(k ≤ j)
    exp(x[k]) for i ≤ j, zeros for i > j, computed without overflow.

    An axis becomes the last two axes. Products with it are computed in linear time: c @ S are the
    means, weighted by the exponentials, of the entries of c up to each position.

    Raises
    ======

    ShapeError : the axis is out of range

    Examples
    ========

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 2)
    >>> se.lambdify([x], se.running_softmax(x))([800.0, 800.0])
    array([[1. , 0.5],
           [0. , 0.5]])
    """
    A = as_operand(x)
    return RunningSoftmax.of(moveaxis(A, as_axis(axis, order_of(A)), -1))


def logcumsumexp(x: TensorLike, axis: int | None = None) -> Operand:
    """Return log(cumsum(exp(x))) along an axis, computed without overflow; without ``axis`` that of
    all entries in C order.

    Its derivative is :func:`running_softmax`. The logarithm of a running sum of exponentials is
    rewritten to it.

    Raises
    ======

    ShapeError : the axis is out of range

    Examples
    ========

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> se.lambdify([x], se.logcumsumexp(x))([0.0, 800.0, -800.0])
    array([  0., 800., 800.])
    >>> se.diff(se.logcumsumexp(x)[2], x) == se.running_softmax(x)[:, 2]
    True
    """
    A, k = running_axis(x, axis)
    return moveaxis(LogCumSumExp.of(moveaxis(A, k, -1)), -1, k)


@with_hints
def cumprod(a: TensorLike, axis: int | None = None) -> Operand:
    """Return the running product along an axis; without ``axis`` that of all entries in C order.

    It is a row of :func:`interval_products`, so its derivatives are right at zeros.

    Raises
    ======

    ShapeError : the axis is out of range

    Examples
    ========

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> n = symbols("n", integer=True, positive=True)
    >>> x = se.TensorSymbol("x", n)
    >>> se.lambdify([x], se.gradient(se.cumprod(x).sum(), x))([2.0, 0.0, 3.0])
    array([1., 8., 0.])
    """
    A, k = running_axis(a, axis)
    products = interval_products(A, k)
    count = shape_of(A)[k]
    first, rest = Unit(count + 1, 0), Selection(count + 1, 1, 1, count)
    axes = list(range(order_of(products)))
    *others, row, column = axes
    output = [*others[:k], order_of(products), *others[k:]]
    lengths = {**dict(enumerate(shape_of(products))), order_of(products): count}
    terms = (axes, [row], [order_of(products), column])
    return contract((products, first, rest), terms, output, lengths)


def tri(N: Length, M: Length | None = None, k: Length = 0) -> Operand:
    """Return the matrix with ones on and below its k-th diagonal and zeros elsewhere, N × M or
    square.

    Raises ShapeError for an invalid length, TensorError unless k is an integer.

    >>> import sympy_einsum as se
    >>> se.tri(3, 4).shape
    (3, 4)
    """
    lower = Triangle(N if M is None else M, N, -k)
    return contract((lower,), ((0, 1),), (1, 0), dict(enumerate(lower.shape)))


def _mask(name: str, A: TensorLike, matrix: Callable[[Expr, Expr], Operand]) -> Operand:
    A = as_operand(A)
    if order_of(A) < 2:
        raise ShapeError(f"{name} takes a tensor of order 2 or more, not {order_of(A)}")
    axes = range(A.order)
    return contract((A, matrix(*A.shape[-2:])), (axes, axes[-2:]), axes, dict(enumerate(A.shape)))


def tril(m: TensorLike, k: Length = 0) -> Operand:
    """Return the lower triangles of the last two axes, up to the k-th diagonal, and zeros above.

    Raises ShapeError for a tensor with fewer axes.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> print(se.lambdify([A], se.tril(A))([[1, 2, 3], [4, 5, 6]]))
    [[1 0 0]
     [4 5 0]]
    """
    return _mask("tril", m, lambda rows, columns: tri(rows, columns, k))


def triu(m: TensorLike, k: Length = 0) -> Operand:
    """Return the upper triangles of the last two axes, from the k-th diagonal on, and zeros below.

    Raises ShapeError for a tensor with fewer axes.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> print(se.lambdify([A], se.triu(A, 1))([[1, 2, 3], [4, 5, 6]]))
    [[0 2 3]
     [0 0 6]]
    """
    return _mask("triu", m, lambda rows, columns: Triangle(rows, columns, k))
