"""NumPy's maxima, sorts, gathers and scatters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from sympy import Basic, Max, Min, S

from .. import operations as ops
from ..core import TensorError, UnsupportedError, as_flag, as_scalar
from ..expressions import Constant, Operand, TensorLike, as_operand, elementwise, shape_of
from ._options import Axes, refuse
from ._reductions import chosen


def max(
    a: TensorLike,
    axis: Axes = None,
    out: object = None,
    keepdims: bool = False,
    initial: TensorLike | None = None,
    where: TensorLike | None = True,
) -> Operand:
    """``numpy.max``: the largest entries over some axes; those that tie share the derivative.

    ``where`` is a condition or a tensor, and needs ``initial``: TensorError without. Raises
    ShapeError for an axis that isn't there or has no entries.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> snp.max(A, axis=1).shape
    (2,)
    >>> x = se.TensorSymbol("x", 3)
    >>> slope = se.lambdify([x], se.gradient(snp.max(x), x))
    >>> slope([1.0, 5.0, 5.0])
    array([0. , 0.5, 0.5])
    """
    refuse("max", {"out": out})
    return _extremum("max", Max, a, axis, keepdims, initial, where)


def min(
    a: TensorLike,
    axis: Axes = None,
    out: object = None,
    keepdims: bool = False,
    initial: TensorLike | None = None,
    where: TensorLike | None = True,
) -> Operand:
    """``numpy.min``: the smallest entries over some axes; those that tie share the derivative.

    ``where`` is a condition or a tensor, and needs ``initial``: TensorError without. Raises
    ShapeError for an axis that isn't there or has no entries.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> smallest_positive = snp.min(x, where=x > 0, initial=100)
    >>> se.lambdify([x], smallest_positive)([-1.0, 5.0, 2.0])
    np.float64(2.0)
    """
    refuse("min", {"out": out})
    return _extremum("min", Min, a, axis, keepdims, initial, where)


def _extremum(
    name: str,
    larger: Callable[..., Operand],
    a: TensorLike,
    axis: Axes,
    keepdims: bool,
    initial: TensorLike | None,
    where: TensorLike | None,
) -> Operand:
    if where is not None and where is not True:
        if initial is None:
            raise TensorError(
                "a maximum of what a condition leaves may be one of nothing: give initial"
            )
        a = chosen(a, where, initial)
    if initial is None:
        return (ops.max if name == "max" else ops.min)(a, axis, keepdims)
    return elementwise(larger, ops.extremum_or(a, axis, name, initial, keepdims), initial)


def ptp(a: TensorLike, axis: Axes = None, out: object = None, keepdims: bool = False) -> Operand:
    """``numpy.ptp``: the largest less the smallest entries over some axes.

    Raises ShapeError for an axis that isn't there.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> se.lambdify([x], snp.ptp(x))([1.0, 5.0, 3.0])
    np.float64(4.0)
    """
    refuse("ptp", {"out": out})
    return ops.ptp(a, axis, keepdims)


def argmax(
    a: TensorLike, axis: int | None = None, out: object = None, *, keepdims: bool = False
) -> Operand:
    """``numpy.argmax``: a tensor of integers, whose derivative is zero.

    Raises ShapeError for an axis that isn't there.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> best = snp.argmax(A, axis=1)
    >>> best.shape, se.diff(best, A)
    ((2,), Zeros(2, 2, 3))
    """
    refuse("argmax", {"out": out})
    return ops.argmax(a, axis, keepdims)


def argmin(
    a: TensorLike, axis: int | None = None, out: object = None, *, keepdims: bool = False
) -> Operand:
    """``numpy.argmin``: a tensor of integers, whose derivative is zero.

    Raises ShapeError for an axis that isn't there.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (2, 2))
    >>> se.lambdify([A], snp.argmin(A, axis=0))([[1.0, 2.0], [0.0, 3.0]])
    array([1, 0])
    """
    refuse("argmin", {"out": out})
    return ops.argmin(a, axis, keepdims)


def sort(
    a: TensorLike,
    axis: int | None = -1,
    kind: object = None,
    order: object = None,
    *,
    stable: bool | None = None,
) -> Operand:
    """``numpy.sort``, by whatever algorithm: every entry keeps its derivative.

    Raises ShapeError for an axis that isn't there, TensorError for ``order``: entries have no
    fields.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> two_largest = snp.sort(x)[1:].sum()
    >>> se.lambdify([x], se.gradient(two_largest, x))([3.0, 1.0, 2.0])
    array([1., 0., 1.])
    """
    _check_order("sort", order, stable)
    return ops.sort(a, axis)


def argsort(
    a: TensorLike,
    axis: int | None = -1,
    kind: object = None,
    order: object = None,
    *,
    stable: bool | None = None,
) -> Operand:
    """``numpy.argsort``, always a stable one; a tensor of integers, whose derivative is zero.

    Raises ShapeError for an axis that isn't there, TensorError for ``order``: entries have no
    fields.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> se.lambdify([x], snp.argsort(x))([3.0, 1.0, 2.0])
    array([1, 2, 0])
    """
    _check_order("argsort", order, stable)
    return ops.argsort(a, axis)


def partition(
    a: TensorLike,
    kth: int | Sequence[int],
    axis: int | None = -1,
    kind: object = None,
    order: object = None,
) -> Operand:
    """``numpy.partition``: sorted throughout, which is one for every ``kth``.

    Raises ShapeError for an axis that isn't there, TensorError for ``order``: entries have no
    fields.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> snp.partition(x, 1) == snp.sort(x)
    True
    """
    _check_order("partition", order, None)
    return ops.sort(a, axis)


def argpartition(
    a: TensorLike,
    kth: int | Sequence[int],
    axis: int | None = -1,
    kind: object = None,
    order: object = None,
) -> Operand:
    """``numpy.argpartition``: positions that sort throughout, which are some for every ``kth``.

    Raises ShapeError for an axis that isn't there, TensorError for ``order``: entries have no
    fields.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> snp.argpartition(x, 1) == snp.argsort(x)
    True
    """
    _check_order("argpartition", order, None)
    return ops.argsort(a, axis)


def _check_order(name: str, order: object, stable: bool | None) -> None:
    """Entries of our tensors have no fields."""
    if order is not None:
        raise TensorError(f"{name} has no order={str(order)[:80]!r}: entries are numbers")
    if stable is not None:
        as_flag(stable, "stable")


def median(
    a: TensorLike,
    axis: Axes = None,
    out: object = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Operand:
    """``numpy.median`` along some axes, or of all entries.

    Raises ShapeError for an axis that isn't there.

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> n = symbols("n", integer=True, positive=True)
    >>> x = se.TensorSymbol("x", n)
    >>> se.lambdify([x], se.gradient(snp.median(x), x))([3.0, 1.0, 2.0, 9.0])
    array([0.5, 0. , 0.5, 0. ])
    """
    refuse("median", {"out": out})
    return ops.median(a, axis, keepdims)


def compress(
    condition: TensorLike, a: TensorLike, axis: int | None = None, out: object = None
) -> Operand:
    """``numpy.compress`` by a condition of numbers: how many entries there are must be known.

    Raises UnsupportedError for a condition on symbols.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> snp.compress([True, False, True], x).as_explicit()
    [x[0], x[2]]
    """
    refuse("compress", {"out": out})
    given = condition.array if isinstance(condition, Constant) else condition
    mask = np.array(None) if isinstance(given, Basic) else np.asarray(given)
    if mask.ndim != 1 or mask.dtype == object:
        raise UnsupportedError(
            "compress takes a vector of numbers or truth values as its condition: the shape of the "
            "result depends on them; multiply by a condition on symbols, or use where"
        )
    return ops.take(a, np.flatnonzero(mask), axis)


def bincount(x: TensorLike, weights: TensorLike | None = None, minlength: int = 0) -> Operand:
    """``numpy.bincount`` of known integers: the sums of the weights at each of them.

    Raises TensorError for what isn't a vector of integers from 0 on, UnsupportedError for a tensor,
    ShapeError for weights of another length.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> w = se.TensorSymbol("w", 3)
    >>> se.lambdify([w], snp.bincount([0, 2, 2], w))([1.0, 2.0, 3.0])
    array([1., 0., 5.])
    """
    x, count = as_operand(x), as_scalar(minlength, "minlength")
    if not isinstance(x, Constant) or not count.is_Integer:
        raise UnsupportedError(
            "bincount takes known integers: the length of the result depends on them; write "
            "one_hot(x, length).T @ weights for a tensor of integers"
        )
    if x.order != 1 or x.array.dtype.kind not in "iub" or (x.array < 0).any():
        raise TensorError(f"bincount takes a vector of integers from 0 on, not {x}")
    length = int(np.max([int(count), x.array.max(initial=-1) + 1]))
    ones = ops.filled(S.One, shape_of(x))
    positions = ops.transpose(ops.one_hot(x, length))
    return ops.matmul(positions, ones if weights is None else weights)


def take(
    a: TensorLike,
    indices: TensorLike,
    axis: int | None = None,
    out: object = None,
    mode: str = "raise",
) -> Operand:
    """``numpy.take``: the entries at some positions, whose axes stand in the place of the axis.

    Positions that aren't on the axis are errors, a ShapeError when they are known; with
    ``mode="clip"`` the last entry stands for them, with ``"wrap"`` they go round.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> words, embedding = [2, 0, 2], se.TensorSymbol("E", (5, 4))
    >>> snp.take(embedding, words, axis=0).shape
    (3, 4)
    >>> snp.take(embedding, 7, axis=0)
    Traceback (most recent call last):
    ...
    sympy_einsum.ShapeError: axis 0 of shape (5, 4): position 7 is out of range for an axis
    of length 5
    """
    refuse("take", {"out": out})
    return ops.take(a, indices, axis, mode)
