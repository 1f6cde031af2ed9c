"""Finite differences along an axis, and the derivatives that they approximate."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Integer, Rational

from ..core import ShapeError, TensorError, same_length
from ..expressions import Operand, TensorLike, as_operand, order_of, shape_of
from .arithmetic import add, divide, multiply, subtract
from .axes import Axes, as_axes, as_axis, broadcast_to, reshape
from .indexing import getitem
from .joining import concatenate


def _slice_along(A: Operand, axis: int, start: int | None, stop: int | None) -> Operand:
    """Return a slice of one axis."""
    return getitem(A, (*[slice(None)] * axis, slice(start, stop)))


def diff(
    a: TensorLike,
    n: int = 1,
    axis: int = -1,
    prepend: TensorLike | None = None,
    append: TensorLike | None = None,
) -> Operand:
    """Compute the n-th differences a[i + 1] - a[i] along an axis, after concatenating ``prepend``,
    ``a`` and ``append``; ``numpy.diff``.

    Raises
    ======

    ShapeError : the axis is out of range, or ``prepend`` or ``append`` can't be concatenated
    TensorError : n isn't a non-negative integer

    Examples
    ========

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 4)
    >>> print(snp.diff(x))
    x[1:] - x[:-1]
    """
    if isinstance(n, bool) or not isinstance(n, (int, Integer)) or n < 0:
        raise TensorError(f"n is a known integer from 0 on, not {n!r}")
    A = as_operand(a)
    along = as_axis(axis, order_of(A))
    ends = [_concatenated_operands(part, A, along) for part in (prepend, append)]
    parts = [*ends[0], A, *ends[1]]
    result = concatenate(parts, along) if len(parts) > 1 else A
    for _ in range(n):
        if shape_of(result)[along].is_zero:
            break
        result = subtract(
            _slice_along(result, along, 1, None), _slice_along(result, along, None, -1)
        )
    return result


def _concatenated_operands(part: TensorLike | None, A: Operand, axis: int) -> list[Operand]:
    """Convert an operand of a concatenation to a list; a scalar is one entry, None the empty
    list."""
    if part is None:
        return []
    value = as_operand(part)
    shape = [1 if k == axis else length for k, length in enumerate(shape_of(A))]
    return [value if order_of(value) else broadcast_to(value, shape)]


def gradient(
    f: TensorLike, *spacing: TensorLike, axis: Axes = None, edge_order: int = 1
) -> Operand | tuple[Operand, ...]:
    """Estimate the derivative along axes by central differences inside and one-sided ones at the
    edges; a tuple for several axes; ``numpy.gradient``.

    Parameters
    ==========

    f : a tensor of order 1 or more
    spacing : none for 1, one scalar for all axes, or for each axis a scalar or coordinates
    axis : an axis, several, or None for all
    edge_order : 1 or 2, the order of accuracy at the edges

    Raises
    ======

    ShapeError : an axis is out of range or too short, or has another number of coordinates
    TensorError : the number of spacings isn't that of the axes, or another edge order

    Examples
    ========

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 4)
    >>> se.lambdify([x], snp.gradient(x))([1.0, 2.0, 4.0, 7.0])
    array([1. , 1.5, 2.5, 3. ])

    References
    ==========

    A. Quarteroni, R. Sacco, F. Saleri, "Numerical Mathematics", 2007, §10.10.
    """
    A = as_operand(f)
    if edge_order not in (1, 2):
        raise TensorError(f"edge_order is 1 or 2, not {edge_order!r}")
    axes = as_axes(axis, order_of(A))
    steps = [as_operand(step) for step in spacing] or [Integer(1)]
    steps = steps * len(axes) if len(steps) == 1 and not order_of(steps[0]) else steps
    if len(steps) != len(axes) or not axes:
        raise TensorError(f"there are {len(steps)} spacings for {len(axes)} axes")
    pairs = zip(axes, steps, strict=True)
    found = tuple([_gradient_along(A, along, step, int(edge_order)) for along, step in pairs])
    return found[0] if len(found) == 1 else found


def _gradient_along(A: Operand, axis: int, step: Operand, edge_order: int) -> Operand:
    length = shape_of(A)[axis]
    if (length - edge_order - 1).is_negative:
        raise ShapeError(
            f"axis {axis} of length {length} is too short for edge_order={edge_order}, "
            f"which takes {edge_order + 1} entries"
        )
    if order_of(step):
        return _gradient_on_coordinates(A, axis, step, edge_order)
    weights = {1: [-1, 1], 2: [-Rational(3, 2), 2, -Rational(1, 2)]}[edge_order]
    inner = multiply(
        subtract(_slice_along(A, axis, 2, None), _slice_along(A, axis, None, -2)), Rational(1, 2)
    )
    first = _weighted_neighbours(A, axis, weights, 0)
    last = _weighted_neighbours(A, axis, [-w for w in reversed(weights)], -len(weights))
    return divide(concatenate([first, inner, last], axis), step)


def _weighted_neighbours(
    A: Operand, axis: int, weights: Sequence[TensorLike], start: int
) -> Operand:
    """Return the weighted sum of adjacent entries from a position on."""
    total: Operand = Integer(0)
    for k, weight in enumerate(weights, start):
        total = add(total, multiply(weight, _slice_along(A, axis, k, k + 1 or None)))
    return total


def _gradient_on_coordinates(A: Operand, axis: int, points: Operand, edge_order: int) -> Operand:
    """Differentiate on uneven coordinates the parabola through three adjacent points."""
    if order_of(points) != 1 or not same_length(points.shape[0], shape_of(A)[axis]):
        raise ShapeError(
            f"axis {axis} of length {shape_of(A)[axis]} needs as many coordinates in a vector, "
            f"not a tensor of shape {shape_of(points)}"
        )
    shape = [-1 if k == axis else 1 for k in range(A.order)]
    gaps = reshape(diff(points), shape)
    before, behind = _slice_along(gaps, axis, None, -1), _slice_along(gaps, axis, 1, None)
    width, product = add(before, behind), multiply(before, behind)
    parts = [
        multiply(
            divide(multiply(-1, behind), multiply(before, width)), _slice_along(A, axis, None, -2)
        ),
        multiply(divide(subtract(behind, before), product), _slice_along(A, axis, 1, -1)),
        multiply(divide(before, multiply(behind, width)), _slice_along(A, axis, 2, None)),
    ]
    inner = add(add(parts[0], parts[1]), parts[2])
    edges = [
        _one_sided_difference(A, axis, gaps, edge_order, start) for start in (0, -1 - edge_order)
    ]
    return concatenate([edges[0], inner, edges[1]], axis)


def _one_sided_difference(
    A: Operand, axis: int, gaps: Operand, edge_order: int, start: int
) -> Operand:
    """Return the one-sided difference at the first position, or at the last one."""
    if edge_order == 1:
        gap = _slice_along(gaps, axis, start and -1, None if start else 1)
        return divide(_weighted_neighbours(A, axis, [-1, 1], start), gap)
    pair = [(0, 1), (1, 2)] if not start else [(-2, -1), (-1, None)]
    one, two = (_slice_along(gaps, axis, *ends) for ends in pair)
    width = add(one, two)
    weights = [
        divide(multiply(-1, add(width, one)), multiply(one, width)),
        divide(width, multiply(one, two)),
        divide(multiply(-1, one), multiply(two, width)),
    ]
    if start:
        weights = [
            divide(two, multiply(one, width)),
            divide(multiply(-1, width), multiply(one, two)),
            divide(add(width, two), multiply(two, width)),
        ]
    return _weighted_neighbours(A, axis, weights, start)
