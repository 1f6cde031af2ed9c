"""NumPy's maxima, sorts, gathers and scatters, and its searches in sorted vectors.

Positions in vectors come from sorts: that of v among the entries of a is its rank among both less
its rank among all v, so there is no table of all comparisons. Nothing flows through them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from sympy import Basic, Eq, Expr, Max, Min, Piecewise, S

from .. import operations as ops
from ..core import ShapeError, TensorError, UnsupportedError, as_flag, as_scalar, isnan, same_shape
from ..expressions import Constant, Operand, TensorLike, as_operand, elementwise, order_of, shape_of
from ._reductions import as_initial, masked, of_numbers, without_nan
from ._rows import NO_AXIS, Axes, NumpyRow as Row

_MASK = (
    "``where`` is a condition or a tensor and requires ``initial``; TensorError without it. Raises "
    "ShapeError for an axis out of range or without entries."
)
_FIELDS = (
    "Raises ShapeError for an axis out of range, TensorError for ``order``: entries have no fields."
)


def _extrema(
    name: str, about: str, example: str, result: str, errors: str, is_nan: bool = False
) -> Row:
    """Return the row of a maximum or a minimum, of all entries or of those that aren't nan."""
    kind = name[-3:]
    larger, of_all, least = (
        (Max, ops.max, S.NegativeInfinity) if kind == "max" else (Min, ops.min, S.Infinity)
    )

    def extremum(
        a: TensorLike,
        axis: Axes,
        keepdims: bool,
        initial: TensorLike | None,
        where: TensorLike | None,
    ) -> Operand:
        numbers = without_nan(a, least) if is_nan else a
        initial = initial if initial is None else as_initial(initial)
        if where is not None and where is not True:
            if initial is None:
                raise TensorError(
                    "where= may select nothing, which has no maximum or minimum; pass initial="
                )
            numbers = masked(numbers, where, initial)
        if initial is not None:
            value = ops.extremum_or(numbers, axis, kind, initial, keepdims)
            return elementwise(larger, value, initial)
        value = of_all(numbers, axis, keepdims)
        if not is_nan:
            return value
        return ops.where(ops.all_(elementwise(isnan, a), axis, keepdims), S.NaN, value)

    signature = f"{name}(a, axis=None, out=None, keepdims=False, initial=None, where=True)"
    return Row(signature, extremum, about, example, result, errors)


def _sorting(function: Callable[..., Operand], name: str) -> Callable[..., Operand]:
    """Add NumPy's options, which change nothing for numbers, to a function that sorts."""

    def ordered(
        a: TensorLike, axis: int | None, order: object, stable: bool | None = None
    ) -> Operand:
        if order is not None:
            raise TensorError(f"{name} has no order={str(order)[:80]!r}: entries are numbers")
        if stable is not None:
            as_flag(stable, "stable")
        return function(a, axis)

    return ordered


def compress(condition: TensorLike, a: TensorLike, axis: int | None) -> Operand:
    given = condition.array if isinstance(condition, Constant) else condition
    mask = np.array(None) if isinstance(given, Basic) else np.asarray(given)
    if mask.ndim != 1 or mask.dtype == object:
        raise UnsupportedError(
            "compress takes a vector of numbers or truth values as its condition: the shape of the "
            "result depends on them; multiply by a condition on symbols, or use where"
        )
    return ops.take(a, np.flatnonzero(mask), axis)


def bincount(x: TensorLike, weights: TensorLike | None, minlength: int) -> Operand:
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


def as_vector(name: str, a: TensorLike) -> Operand:
    """Convert points or edges to a vector; ShapeError for other orders."""
    a = as_operand(a)
    if order_of(a) != 1:
        raise ShapeError(f"{name} takes a vector, not a tensor of shape {shape_of(a)}")
    return a


def searchsorted(
    a: TensorLike, v: TensorLike, side: str, sorter: TensorLike | None = None
) -> Operand:
    if not isinstance(side, str) or side not in ("left", "right"):
        raise TensorError(f"searchsorted takes side='left' or 'right', not {side!r}")
    a, v = as_vector("searchsorted", a), as_operand(v)
    a = a if sorter is None else ops.take(a, sorter)
    found = ops.reshape(v, -1)
    pair = [found, a] if side == "left" else [a, found]
    ranks = _ranks(ops.concatenate(pair))
    among = slice(shape_of(found)[0]) if side == "left" else slice(shape_of(a)[0], None)
    return ops.reshape(ops.subtract(ranks[among], _ranks(found)), shape_of(v))


def _ranks(a: Operand) -> Operand:
    """Return the rank of each entry of a vector."""
    return ops.argsort(ops.argsort(a))


def digitize(x: TensorLike, bins: TensorLike, right: bool) -> Operand:
    edges = as_vector("digitize", bins)
    side = "left" if as_flag(right, "right") else "right"
    count = shape_of(edges)[0]
    found = searchsorted(ops.sort(edges), x, side)
    if count.is_zero:
        return found
    if isinstance(edges, Constant):
        steps = np.diff(edges.array)
        if (steps < 0).any() and (steps > 0).any():
            raise TensorError("digitize takes edges that rise or fall, not both")
        falls: Operand = as_operand(int((steps < 0).any()))
    else:
        falls = ops.argmax(ops.stack([edges[-1], edges[0]]))
    return ops.add(found, ops.multiply(falls, ops.subtract(count, ops.multiply(2, found))))


def lexsort(keys: TensorLike | Sequence[TensorLike], axis: int) -> Operand:
    listed = keys if isinstance(keys, (list, tuple)) else ops.unstack(keys)
    if not listed:
        raise TensorError("lexsort takes at least one key")
    first, *rest = map(as_operand, listed)
    for key in rest:
        shapes = shape_of(first), shape_of(key)
        if not same_shape(*shapes):
            raise ShapeError(f"the keys of lexsort have one shape, not {shapes[0]} and {shapes[1]}")
    order = ops.argsort(first, axis)
    for key in rest:
        ranks = ops.argsort(ops.take_along_axis(key, order, axis), axis)
        order = ops.take_along_axis(order, ranks, axis)
    return order


def interpolated(
    x: Operand, xp: Operand, fp: Operand, left: TensorLike | None, right: TensorLike | None
) -> Operand:
    """Interpolate linearly between any number of points by searching for the interval."""
    last = shape_of(xp)[0] - 1
    behind = ops.clip(searchsorted(xp, x, "right"), 1, last)
    ends = [ops.subtract(behind, 1), behind]
    given = [ops.take(points, place) for points in (xp, fp) for place in ends]
    outside = (
        xp[0],
        xp[last],
        fp[0] if left is None else left,
        fp[last] if right is None else right,
    )
    return elementwise(_between, x, *given, *outside)


def _between(
    t: Expr, a: Expr, b: Expr, f: Expr, g: Expr, first: Expr, last: Expr, low: Expr, high: Expr
) -> Expr:
    inside = Piecewise((f, Eq(a, b)), (f + (g - f) / (b - a) * (t - a), True))
    return Piecewise((low, t < first), (high, t > last), (inside, True))


# fmt: off
ROWS = (
    _extrema("max", "the largest entries over some axes; ties share the derivative",
        "se.lambdify([x], se.gradient(snp.max(x), x))([1.0, 5.0, 5.0])",
        "array([0. , 0.5, 0.5])", _MASK),
    _extrema("min", "the smallest entries over some axes; ties share the derivative",
        "smallest_positive = snp.min(x, where=x > 0, initial=100)\n"
        "se.lambdify([x], smallest_positive)([-1.0, 5.0, 2.0])", "np.float64(2.0)", _MASK),
    _extrema("nanmax", "the largest of the entries that aren't nan, or nan if all are",
        "se.lambdify([x], snp.nanmax(x))([1.0, np.nan, 3.0])", "np.float64(3.0)", NO_AXIS,
        is_nan=True),
    _extrema("nanmin", "the smallest of the entries that aren't nan, or nan if all are",
        "se.lambdify([x], snp.nanmin(x))([1.0, np.nan, 3.0])", "np.float64(1.0)", NO_AXIS,
        is_nan=True),
    Row("ptp(a, axis=None, out=None, keepdims=False)", ops.ptp,
        "the largest minus the smallest entries over some axes",
        "se.lambdify([x], snp.ptp(x))([1.0, 5.0, 3.0])", "np.float64(4.0)", NO_AXIS),
    Row("argmax(a, axis: int | None = None, out=None, *, keepdims=False)", ops.argmax,
        "the positions of the largest entries, integers with derivative zero",
        "best = snp.argmax(A, axis=1)\n"
        "best.shape, se.diff(best, A)", "((2,), Zeros(2, 2, 3))", NO_AXIS),
    Row("argmin(a, axis: int | None = None, out=None, *, keepdims=False)", ops.argmin,
        "the positions of the smallest entries, integers with derivative zero",
        "se.lambdify([A], snp.argmin(A, axis=0))([[1.0, 2.0, 3.0], [0.0, 3.0, 4.0]])",
        "array([1, 0, 0])", NO_AXIS),
    Row("nanargmax(a, axis: int | None = None, out=None, *, keepdims=False)",
        of_numbers(ops.argmax, S.NegativeInfinity),
        "the positions of the largest of the entries that aren't nan, or 0 if all are",
        "se.lambdify([x], snp.nanargmax(x))([1.0, np.nan, 3.0])", "np.int64(2)", NO_AXIS),
    Row("nanargmin(a, axis: int | None = None, out=None, *, keepdims=False)",
        of_numbers(ops.argmin, S.Infinity),
        "the positions of the smallest of the entries that aren't nan, or 0 if all are",
        "se.lambdify([x], snp.nanargmin(x))([1.0, np.nan, 3.0])", "np.int64(0)", NO_AXIS),
    Row("sort(a, axis: int | None = -1, kind=None, order=None, *, stable: bool | None = None)",
        _sorting(ops.sort, "sort"),
        "the entries in ascending order; each keeps its derivative",
        "two_largest = snp.sort(x)[1:].sum()\n"
        "se.lambdify([x], se.gradient(two_largest, x))([3.0, 1.0, 2.0])", "array([1., 0., 1.])",
        _FIELDS),
    Row("argsort(a, axis: int | None = -1, kind=None, order=None, *, stable: bool | None = "
        "None)", _sorting(ops.argsort, "argsort"),
        "the positions that sort stably, integers with derivative zero",
        "se.lambdify([x], snp.argsort(x))([3.0, 1.0, 2.0])", "array([1, 2, 0])", _FIELDS),
    Row("partition(a, kth: int | Sequence[int], axis: int | None = -1, kind=None, order=None)",
        _sorting(ops.sort, "partition"),
        "the sorted entries, which are a partition for every ``kth``",
        "snp.partition(x, 1) == snp.sort(x)", "True", _FIELDS, ignored="kth"),
    Row("argpartition(a, kth: int | Sequence[int], axis: int | None = -1, kind=None, "
        "order=None)", _sorting(ops.argsort, "argpartition"),
        "the positions that sort, which give a partition for every ``kth``",
        "snp.argpartition(x, 1) == snp.argsort(x)", "True", _FIELDS, ignored="kth"),
    Row("lexsort(keys: TensorLike | Sequence[TensorLike], axis: int = -1)", lexsort,
        "the positions that sort by the last key, ties by the key before it, and so on; integers "
        "with derivative zero",
        "se.lambdify([x, y], snp.lexsort((y, x)))([1.0, 0.0, 1.0], [2.0, 5.0, 1.0])",
        "array([1, 2, 0])", "Raises ShapeError for keys of different shapes."),
    Row("compress(condition, a, axis: int | None = None, out=None)", compress,
        "the entries for which a known condition holds",
        "snp.compress([True, False, True], x).as_explicit()", "[x[0], x[2]]",
        "Raises UnsupportedError for a condition on symbols: the number of entries must be known."),
    Row("bincount(x, weights=None, minlength=0)", bincount,
        "the sum of the weights for each of some known integers",
        "se.lambdify([w], snp.bincount([0, 2, 2], w))([1.0, 2.0, 3.0])", "array([1., 0., 5.])",
        "Raises TensorError for what isn't a vector of nonnegative integers, UnsupportedError "
        "for a tensor, ShapeError for weights of another length."),
    Row("take(a, indices, axis: int | None = None, out=None, mode='raise')", ops.take,
        "the entries at some positions along an axis, which the axes of the positions replace",
        "snp.take(x, [2, 0, 2]).as_explicit()", "[x[2], x[0], x[2]]",
        "Raises ShapeError for a known position out of range; ``mode=\"clip\"`` clips positions, "
        "``\"wrap\"`` takes them modulo the length."),
    Row("searchsorted(a, v, side='left', sorter=None)", searchsorted,
        "the positions at which entries would be inserted into a sorted vector, before or after "
        "equal ones; integers with derivative zero",
        'se.lambdify([x], snp.searchsorted([0, 1, 2], x, side="right"))([0.5, 1.0, 9.0])',
        "array([1, 2, 3])",
        'Raises TensorError for ``side`` other than ``"left"`` and ``"right"``.'),
    Row("digitize(x, bins, right=False)", digitize,
        "the numbers of the bins that entries fall into, integers; the edges ascend or descend",
        "se.lambdify([x], snp.digitize(x, [0, 1, 2]))([0.5, -1.0, 2.0])", "array([1, 0, 3])",
        "Raises TensorError for known edges that do neither."),
)
