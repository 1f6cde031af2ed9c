"""Maxima, minima and order statistics along axes.

The derivative of a maximum or minimum is its tie-averaged subgradient, as in JAX, that of a sort is
its permutation. Second derivatives are zero, also at ties, where they don't exist."""

from __future__ import annotations

from sympy import S

from ..core import ShapeError, as_flag, with_hints
from ..expressions import (
    Extremum,
    ExtremumShare,
    Operand,
    Picked,
    Ranking,
    TensorLike,
    as_operand,
    order_of,
    shape_of,
)
from .arithmetic import add, subtract
from .axes import Axes, as_axes, as_axis, ravel
from .reductions import restore_axes, sum as sum_


def check_nonempty(A: Operand, axes: list[int], name: str) -> None:
    """Raise ShapeError for an empty axis, along which there is no largest or smallest entry."""
    for axis in axes:
        if shape_of(A)[axis] is S.Zero:
            raise ShapeError(
                f"{name} over axis {axis} of shape {shape_of(A)}: the axis is empty; give it "
                f"entries, or pass initial= to sympy_einsum.numpy.{name}"
            )


def _extremum(A: TensorLike, axis: Axes, keepdims: bool, name: str) -> Operand:
    A = as_operand(A)
    axes = as_axes(axis, order_of(A))
    check_nonempty(A, axes, name)
    value = Extremum.over(A, axes, name)
    return restore_axes(value, A, axes) if as_flag(keepdims, "keepdims") else value


@with_hints
def max(A: TensorLike, axis: Axes = None, keepdims: bool = False) -> Operand:
    """Return the largest entries over some axes, by default over all.

    The derivative of ``max(x)`` is tie-averaged: 1 over the number of largest entries at each of
    them, and 0 elsewhere.

    Raises ShapeError for an axis out of range or without entries.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> se.max(x), se.gradient(se.max(x), x)
    (x.max(), max_share(x))
    >>> se.lambdify(x, se.gradient(se.max(x), x))([2, 7, 7])
    array([0. , 0.5, 0.5])
    """
    return _extremum(A, axis, keepdims, "max")


@with_hints
def min(A: TensorLike, axis: Axes = None, keepdims: bool = False) -> Operand:
    """Return the smallest entries over some axes, by default over all; see :func:`max`.

    Raises ShapeError for an axis out of range.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> se.min(A, axis=0).shape
    (3,)
    """
    return _extremum(A, axis, keepdims, "min")


def extremum_or(
    A: TensorLike, axis: Axes, name: str, otherwise: TensorLike, keepdims: bool = False
) -> Operand:
    """Return the largest or smallest entries over some axes; a default if one is empty."""
    A = as_operand(A)
    if any(shape_of(A)[k] is S.Zero for k in as_axes(axis, order_of(A))):
        # The sum over an empty axis has the right shape.
        return add(sum_(A, axis, keepdims), otherwise)
    return _extremum(A, axis, keepdims, name)


def max_share(A: TensorLike, axis: Axes = None) -> Operand:
    """Return the tie-averaged subgradient of :func:`max`: 1 / count at the ``count`` largest
    entries over some axes, 0 elsewhere. Its derivative is zero.

    Raises ShapeError for an axis out of range or without entries.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> se.max_share(A, axis=1).shape
    (2, 3)
    """
    return _tie_averaged_subgradient(A, axis, "max_share")


def min_share(A: TensorLike, axis: Axes = None) -> Operand:
    """Return the tie-averaged subgradient of :func:`min`: 1 / count at the ``count`` smallest
    entries over some axes, 0 elsewhere. Its derivative is zero.

    Raises ShapeError for an axis out of range or without entries.

    >>> import sympy_einsum as se
    >>> se.lambdify(x := se.TensorSymbol("x", 3), se.min_share(x))([2, 2, 7])
    array([0.5, 0.5, 0. ])
    """
    return _tie_averaged_subgradient(A, axis, "min_share")


def _tie_averaged_subgradient(A: TensorLike, axis: Axes, name: str) -> Operand:
    A = as_operand(A)
    axes = as_axes(axis, order_of(A))
    check_nonempty(A, axes, name)
    return ExtremumShare.over(A, axes, name) if axes else S.One


def ptp(A: TensorLike, axis: Axes = None, keepdims: bool = False) -> Operand:
    """Return the range, maximum minus minimum, over some axes; see :func:`max`.

    Raises ShapeError for an axis out of range.

    >>> import sympy_einsum as se
    >>> se.ptp(se.TensorSymbol("x", 3))
    x.max() - x.min()
    """
    return subtract(max(A, axis, keepdims), min(A, axis, keepdims))


# --- positions


@with_hints
def argmax(A: TensorLike, axis: int | None = None, keepdims: bool = False) -> Operand:
    """Return the position of the first largest entry along an axis; without an axis that among all
    entries in C order.

    It is an integer with derivative zero; ``x[argmax(x)]`` is the largest entry.

    Raises ShapeError for an axis out of range or without entries.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> se.argmax(A, axis=1).shape, se.argmax(A).shape
    ((2,), ())
    """
    return _first_position(A, axis, keepdims, "argmax")


@with_hints
def argmin(A: TensorLike, axis: int | None = None, keepdims: bool = False) -> Operand:
    """Return the position of the first smallest entry along an axis; without an axis that among all
    entries in C order; see :func:`argmax`.

    Raises ShapeError for an axis out of range.

    >>> import sympy_einsum as se
    >>> se.argmin(se.TensorSymbol("A", (2, 3)), axis=0).shape
    (3,)
    """
    return _first_position(A, axis, keepdims, "argmin")


def _first_position(A: TensorLike, axis: int | None, keepdims: bool, name: str) -> Operand:
    A = as_operand(A)
    if not order_of(A):
        return S.Zero
    tensor = ravel(A) if axis is None else A
    k = 0 if axis is None else as_axis(axis, order_of(A))
    check_nonempty(tensor, [k], name)
    value = Ranking.over(tensor, (k,), name)
    axes = as_axes(axis, order_of(A))
    return restore_axes(value, A, axes) if as_flag(keepdims, "keepdims") else value


def argsort(A: TensorLike, axis: int | None = -1) -> Operand:
    """Return the positions that sort the entries along an axis stably; for None all entries.

    They are integers with derivative zero. Raises ShapeError for an axis out of range.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> se.lambdify(x, se.argsort(x))([3, 1, 2])
    array([1, 2, 0])
    """
    return _positions_along(A, axis, Ranking, "argsort")


def argcummax(A: TensorLike, axis: int = 0) -> Operand:
    """Return the position of the largest entry up to each position along an axis, the last of equal
    entries; integers with derivative zero.

    Raises ShapeError for an axis out of range.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 4)
    >>> se.lambdify(x, se.argcummax(x))([1, 3, 2, 3])
    array([0, 1, 1, 3])
    """
    return _positions_along(A, axis, Ranking, "argcummax")


def argcummin(A: TensorLike, axis: int = 0) -> Operand:
    """Return the position of the smallest entry up to each position along an axis, the last of
    equal entries; see :func:`argcummax`.

    Raises ShapeError for an axis out of range.

    >>> import sympy_einsum as se
    >>> se.argcummin(se.TensorSymbol("A", (2, 3)), axis=1).shape
    (2, 3)
    """
    return _positions_along(A, axis, Ranking, "argcummin")


def _positions_along(
    A: TensorLike, axis: int | None, kind: type[Picked] | type[Ranking], name: str
) -> Operand:
    A = as_operand(A)
    if not order_of(A):
        raise ShapeError(f"{name} takes a tensor of order 1 or more, not a scalar")
    A = ravel(A) if axis is None else A
    return kind.over(A, (as_axis(-1 if axis is None else axis, order_of(A)),), name)


# --- order


def sort(A: TensorLike, axis: int | None = -1) -> Operand:
    """Sort the entries along an axis in ascending order; for None all entries.

    The derivative is the inverse permutation. ``sort(x)[-k:]`` are the k largest entries.
    Raises ShapeError for an axis out of range, and for a scalar.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> se.lambdify(x, se.gradient(se.sort(x)[-2:].sum(), x))([3, 1, 2])
    array([1., 0., 1.])
    """
    return _positions_along(A, axis, Picked, "sort")


def cummax(A: TensorLike, axis: int = 0) -> Operand:
    """Return the largest entry up to each position along an axis: ``np.maximum.accumulate``.

    The derivative is that of the last of equal entries. Raises ShapeError for an axis out of range,
    and for a scalar.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 4)
    >>> se.lambdify(x, se.cummax(x))([1., 3., 2., 4.])
    array([1., 3., 3., 4.])
    """
    return _positions_along(A, axis, Picked, "cummax")


def cummin(A: TensorLike, axis: int = 0) -> Operand:
    """Return the smallest entry up to each position along an axis: ``np.minimum.accumulate``; see
    :func:`cummax`.

    Raises ShapeError for an axis out of range.

    >>> import sympy_einsum as se
    >>> se.cummin(se.TensorSymbol("A", (2, 3)), axis=1).shape
    (2, 3)
    """
    return _positions_along(A, axis, Picked, "cummin")
