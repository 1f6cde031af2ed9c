"""NumPy's differences, integrals and interpolations along sequences."""

from __future__ import annotations

from itertools import pairwise

from sympy import Abs, Eq, Expr, Max, Mod, Piecewise, S, pi

from .. import operations as ops
from ..core import ShapeError, same_length, tuning
from ..expressions import Operand, TensorLike, as_operand, elementwise, order_of, shape_of
from ._orders import as_vector, interpolated
from ._polynomials import entries_of
from ._rows import NO_AXIS, NumpyRow as Row


def trapezoid(y: TensorLike, x: TensorLike | None, dx: TensorLike, axis: int) -> Operand:
    y = as_operand(y)
    axis = ops.as_axis(axis, order_of(y))
    if x is None:
        widths = as_operand(dx)
    else:
        x = as_operand(x)
        if not order_of(x):
            raise ShapeError(f"trapezoid takes the positions as a vector or a tensor, not {x}")
        place = 0 if order_of(x) == 1 else axis
        widths = ops.subtract(_slice_along(x, place, 1, None), _slice_along(x, place, 0, -1))
    if order_of(widths) == 1:
        shape = [S.One] * order_of(y)
        shape[axis] = shape_of(widths)[0]
        widths = ops.reshape(widths, shape)
    means = ops.divide(ops.add(_slice_along(y, axis, 1, None), _slice_along(y, axis, 0, -1)), 2)
    return ops.sum(ops.multiply(widths, means), axis)


def _slice_along(a: Operand, axis: int, start: int, stop: int | None) -> Operand:
    return ops.getitem(a, (slice(None),) * axis + (slice(start, stop),))


def interp(
    x: TensorLike,
    xp: TensorLike,
    fp: TensorLike,
    left: TensorLike | None,
    right: TensorLike | None,
    period: TensorLike | None,
) -> Operand:
    x, points, heights = as_operand(x), as_vector("interp", xp), as_vector("interp", fp)
    (count,) = shape_of(points)
    if not same_length(count, shape_of(heights)[0]) or count is S.Zero:
        raise ShapeError(f"interp takes as many values as positions, not {shape_of(heights)[0]}")
    if period is not None:
        x, points = (elementwise(Mod, value, period) for value in (x, points))
        order = ops.argsort(points)
        points, heights = ops.take(points, order), ops.take(heights, order)
        around = [ops.subtract(points[-1:], period), points, ops.add(points[:1], period)]
        points = ops.concatenate(around)
        heights = ops.concatenate([heights[-1:], heights, heights[:1]])
        return interpolated(x, points, heights, None, None)
    if not count.is_Integer or count > tuning.MAX_INTERPOLATION_POINTS:
        return interpolated(x, points, heights, left, right)
    places, values = (entries_of("interp", part) for part in (xp, fp))
    ends = (values[0] if left is None else left, values[-1] if right is None else right)

    def line(t: Expr, *given: Expr) -> Expr:
        (low, high), points = given[:2], list(zip(given[2::2], given[3::2], strict=True))
        last, value = points[-1]
        pieces = [(low, t < points[0][0])]
        for (a, f), (b, g) in pairwise(points):
            inside = t <= b if b == last else t < b
            pieces.append((f + (g - f) / (b - a) * (t - a), inside))
        return Piecewise(*pieces, (value, Eq(t, last)), (high, True))

    given = [part for pair in zip(places, values, strict=True) for part in pair]
    return elementwise(line, x, *ends, *given)


def ediff1d(ary: TensorLike, to_end: TensorLike | None, to_begin: TensorLike | None) -> Operand:
    entries = ops.ravel(ary)
    differences = ops.subtract(
        ops.getitem(entries, slice(1, None)), ops.getitem(entries, slice(None, -1))
    )
    ends = [None if end is None else ops.reshape(end, -1) for end in (to_begin, to_end)]
    parts = [part for part in (ends[0], differences, ends[1]) if part is not None]
    return ops.concatenate(parts) if len(parts) > 1 else differences


def unwrap(
    p: TensorLike, discont: TensorLike | None, axis: int, period: TensorLike | None
) -> Operand:
    p = as_operand(p)
    axis = ops.as_axis(axis, order_of(p))
    steps = ops.subtract(_slice_along(p, axis, 1, None), _slice_along(p, axis, 0, -1))
    period = as_operand(2 * pi if period is None else period)
    limit = period / 2 if discont is None else Max(as_operand(discont), period / 2)

    def corrected(step: Expr, period: Expr, limit: Expr) -> Expr:
        short = Mod(step + period / 2, period) - period / 2
        even = Piecewise((period / 2, Eq(short, -period / 2) & (step > 0)), (short, True))
        return Piecewise((S.Zero, Abs(step) < limit), (even - step, True))

    added = ops.cumsum(elementwise(corrected, steps, period, limit), axis)
    return ops.concatenate(
        [_slice_along(p, axis, 0, 1), ops.add(_slice_along(p, axis, 1, None), added)], axis
    )


# fmt: off
ROWS = (
    Row("trapezoid(y, x=None, dx=1.0, axis: int = -1)", trapezoid,
        "the integral along an axis by the trapezoidal rule",
        "se.gradient(snp.trapezoid(y, [0, 1, 3]), y).as_explicit()", "[1/2, 3/2, 1]",
        "Raises ShapeError if the numbers of positions and entries differ."),
    Row("interp(x, xp, fp, left=None, right=None, period=None)", interp,
        "the piecewise linear function through points at increasing positions ``xp``, or at any "
        "positions within a ``period``",
        "line = snp.interp(x, [0, 1, 3], [0, 10, 0])\n"
        "se.lambdify([x], [line, se.gradient(line.sum(), x)])([0.5, 2.0, 9.0])",
        "[array([5., 5., 0.]), array([10., -5.,  0.])]",
        "At a point the derivative is the one on its right, at the last point the one on its "
        "left. A few points give a Piecewise; among more, or a symbolic number, the interval is "
        "searched. Raises ShapeError if positions and values aren't two vectors of one length."),
    Row("ediff1d(ary, to_end=None, to_begin=None)", ediff1d,
        "the differences of consecutive entries, with given entries before and after them",
        "snp.ediff1d(x, to_begin=0).as_explicit()", "[0, x[1] - x[0], -x[1] + x[2]]",
        "Tensors with more axes are flattened in C order."),
    Row("unwrap(p, discont=None, axis: int = -1, *, period=None)", unwrap,
        "the entries with multiples of the period, by default 2 pi, added so that no step along "
        "the axis is longer than half of it, or than ``discont``",
        "se.lambdify([x], snp.unwrap(x, period=10))([1.0, 9.0, 8.0])", "array([ 1., -1., -2.])",
        NO_AXIS),
)
