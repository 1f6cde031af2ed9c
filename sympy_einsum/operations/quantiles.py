"""Quantiles: interpolated order statistics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sympy import Abs, Eq, Expr, Max, Min, Or, Piecewise, Rational, S, ceiling, floor

from ..core import (
    ShapeError,
    TensorError,
    UnsupportedError,
    as_flag,
    as_scalar,
    isnan,
    same_length,
    unless_nan,
)
from ..expressions import Constant, Operand, TensorLike, as_operand, elementwise, order_of, shape_of
from .arithmetic import add, divide, multiply
from .axes import Axes, as_axes, reshape, transpose
from .conditions import compare, where
from .gathering import take_along_axis
from .indexing import getitem
from .joining import stack
from .orders import argsort, check_nonempty, sort
from .reductions import restore_axes, sum as sum_
from .running import counting, cumsum


def quantile(
    A: TensorLike,
    q: TensorLike,
    axis: Axes = None,
    method: str = "linear",
    keepdims: bool = False,
    weights: TensorLike | None = None,
) -> Operand:
    """Return the quantile of the entries along some axes, by default of all: interpolate between
    the two sorted entries around the position q (n - 1) [HF, definition 7]. If an entry is nan the
    result is nan.

    Parameters
    ==========

    A : a tensor
    q : a number between 0 and 1, or an array of them, whose axes come first in the result
    axis : an axis, several, or None
    method : ``"linear"``, or another of NumPy's methods [HF, definitions 1 to 9]
    keepdims : whether the axes remain, with length 1
    weights : the weight of each entry, a tensor of the same shape; for ``inverted_cdf`` only

    Raises
    ======

    TensorError : q isn't between 0 and 1
    UnsupportedError : another method
    ShapeError : an axis is out of range or has no entries; weights of another shape

    Examples
    ========

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 4)
    >>> print(se.lambdify(x, se.quantile(x, [0.5, 1]))([4.0, 1.0, 3.0, 2.0]))
    [2.5 4. ]

    References
    ==========

    [HF] R. Hyndman, Y. Fan, "Sample Quantiles in Statistical Packages", 1996.
    """
    return _over_probabilities(_quantile, A, q, axis, method, keepdims, weights)


def nanquantile(
    A: TensorLike,
    q: TensorLike,
    axis: Axes = None,
    method: str = "linear",
    keepdims: bool = False,
    weights: TensorLike | None = None,
) -> Operand:
    """Return the quantile of the entries that aren't nan; nan if all are. Otherwise as
    :func:`quantile`.

    >>> import numpy as np
    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 4)
    >>> print(se.lambdify(x, np.nanmedian(x))([4.0, np.nan, 3.0, 2.0]))
    3.0
    """
    if weights is not None:
        # A nan is sorted to the end; it gets the weight 0.
        is_number = compare(Eq, elementwise(isnan, A), 0)
        weights = where(is_number, weights, 0)
    return _over_probabilities(_nanquantile, A, q, axis, method, keepdims, weights)


def _over_probabilities(
    of_one: Callable[[Operand, int, Expr, str], Operand],
    A: TensorLike,
    q: TensorLike,
    axis: Axes,
    method: str,
    keepdims: bool,
    weights: TensorLike | None,
) -> Operand:
    """Return the quantiles of all probabilities, given the function for one along one axis."""
    if isinstance(q, (list, tuple, np.ndarray, Constant)):
        probabilities = np.asarray(q.array if isinstance(q, Constant) else q)
        if not probabilities.size:
            raise TensorError("q is empty; give at least one probability")
        values = [
            _over_probabilities(of_one, A, probability, axis, method, keepdims, weights)
            for probability in probabilities.flat
        ]
        return reshape(stack(values), (*probabilities.shape, *shape_of(values[0])))
    A = as_operand(A)
    probability = _exact(as_scalar(q, "q"))
    if not isinstance(method, str) or method not in _POSITIONS:
        raise UnsupportedError(
            f"quantile supports the methods {', '.join(_POSITIONS)}, not {method!r}"
        )
    axes = as_axes(axis, order_of(A))
    if not axes:
        return A
    check_nonempty(A, axes, "quantile")
    if weights is None:
        value = of_one(*_merge_axes(A, axes), probability, method)
    else:
        value = _weighted_quantile(A, as_operand(weights), axes, probability, method)
        if of_one is _quantile:
            value = elementwise(unless_nan, value, sum_(A, axes))
    return restore_axes(value, A, axes) if as_flag(keepdims, "keepdims") else value


def _merge_axes(A: Operand, axes: list[int]) -> tuple[Operand, int]:
    """Merge some axes of a tensor into one; return it with the number of that axis."""
    if len(axes) == 1:
        return A, axes[0]
    others = [axis for axis in range(order_of(A)) if axis not in axes]
    lengths = [shape_of(A)[axis] for axis in others]
    return reshape(transpose(A, [*others, *axes]), (*lengths, -1)), len(others)


def _exact(q: Expr) -> Expr:
    """Convert a probability to a fraction: n times a float could be rounded to an integer."""
    if not (q.is_number and 0 <= q <= 1):
        raise TensorError(f"the probability of a quantile lies between 0 and 1, not {q}")
    return Rational(str(q)) if q.is_Float else q


def _to_even(position: Expr) -> Expr:
    """Round to the nearest integer, half to even."""
    return floor(position / 2 + Rational(1, 4)) + ceiling(position / 2 - Rational(1, 4))


def _plotting_position(alpha: Rational, beta: Rational) -> Callable[[Expr, Expr], Expr]:
    return lambda n, q: n * q + alpha + q * (1 - alpha - beta) - 1


# The position among n sorted entries, between which is interpolated; those of the second table may
# be before the first entry or after the last, and are clipped then [HF, 2–9].
_POSITIONS: dict[str, Callable[[Expr, Expr], Expr]] = {
    "linear": lambda n, q: q * (n - 1),
    "lower": lambda n, q: floor(q * (n - 1)),
    "higher": lambda n, q: ceiling(q * (n - 1)),
    "midpoint": lambda n, q: (floor(q * (n - 1)) + ceiling(q * (n - 1))) / 2,
    "nearest": lambda n, q: _to_even(q * (n - 1)),
}
_UNCLIPPED = tuple(_POSITIONS)
_POSITIONS |= {
    "inverted_cdf": lambda n, q: ceiling(n * q) - 1,
    "averaged_inverted_cdf": lambda n, q: (floor(n * q) + ceiling(n * q) - 1) / 2,
    "closest_observation": lambda n, q: _to_even(n * q) - 1,
    "interpolated_inverted_cdf": _plotting_position(S.Zero, S.One),
    "hazen": _plotting_position(S.Half, S.Half),
    "weibull": _plotting_position(S.Zero, S.Zero),
    "median_unbiased": _plotting_position(Rational(1, 3), Rational(1, 3)),
    "normal_unbiased": _plotting_position(Rational(3, 8), Rational(3, 8)),
}


def _quantile(A: Operand, axis: int, probability: Expr, method: str) -> Operand:
    entries, length = sort(A, axis), shape_of(A)[axis]
    position = _POSITIONS[method](length, probability)
    exact = probability * (length - 1) if method in _UNCLIPPED else position
    lower = floor(exact)
    ends = [
        end if method in _UNCLIPPED else _clipped_position(end, length)
        for end in (lower, ceiling(exact))
    ]
    if position.is_integer:
        ends = [position if method in _UNCLIPPED else _clipped_position(position, length)] * 2
    value = _entry_at(entries, axis, ends[0])
    if ends[0] != ends[1]:
        upper = _entry_at(entries, axis, ends[1])
        value = add(multiply(lower + 1 - position, value), multiply(position - lower, upper))
    # A nan is sorted to the end.
    return elementwise(unless_nan, value, _entry_at(entries, axis, length - 1))


def _weighted_quantile(
    A: Operand, weights: Operand, axes: list[int], probability: Expr, method: str
) -> Operand:
    """Return the first sorted entry whose cumulative weight is positive and reaches the
    probability."""
    if method != "inverted_cdf":
        raise UnsupportedError(f"quantile takes weights with method='inverted_cdf', not {method!r}")
    if order_of(weights) != order_of(A) or not all(
        map(same_length, shape_of(weights), shape_of(A))
    ):
        raise ShapeError(
            f"quantile takes weights of the tensor's shape {shape_of(A)}, not {shape_of(weights)}"
        )
    (A, axis), (weights, _) = _merge_axes(A, axes), _merge_axes(weights, axes)
    order = argsort(A, axis)
    up_to = cumsum(take_along_axis(weights, order, axis), axis)
    total = sum_(weights, axis, keepdims=True)

    def is_before(sum_to: Expr, total: Expr) -> Expr:
        return Piecewise((S.One, Or(sum_to / total < probability, sum_to <= 0)), (S.Zero, True))

    def at(entry: Expr, position: Expr, count: Expr) -> Expr:
        return Piecewise((entry, Eq(position, Min(count, length - 1))), (S.Zero, True))

    length = shape_of(A)[axis]
    count = sum_(elementwise(is_before, up_to, total), axis, keepdims=True)
    entries = take_along_axis(A, order, axis)
    value = sum_(elementwise(at, entries, _index_along(A, axis), count), axis)
    # nan where all weights are 0.
    return elementwise(
        lambda v, t: Piecewise((v, t > 0), (S.NaN, True)), value, sum_(weights, axis)
    )


def _index_along(A: Operand, axis: int) -> Operand:
    """Return the positions along an axis, with other axes of length 1."""
    shape = [length if k == axis else S.One for k, length in enumerate(shape_of(A))]
    return reshape(counting(shape[axis]), shape)


def _clipped_position(position: Expr, length: Expr) -> Expr:
    return Max(S.Zero, Min(position, length - 1))


def _nanquantile(A: Operand, axis: int, probability: Expr, method: str) -> Operand:
    """Return the sum of the sorted entries weighted by the hat function around the position."""
    entries = sort(A, axis)
    is_number = compare(Eq, elementwise(isnan, A), 0)
    count = sum_(is_number, axis, keepdims=True)

    def weighted(entry: Expr, count: Expr, index: Expr) -> Expr:
        position = _POSITIONS[method](count, probability)
        if method not in _UNCLIPPED:
            position = _clipped_position(position, count)
        distance = Abs(position - index)
        return Piecewise((S.Zero, distance >= 1), ((1 - distance) * entry, True))

    total = sum_(elementwise(weighted, entries, count, _index_along(A, axis)), axis)
    return elementwise(unless_nan, total, divide(total, sum_(is_number, axis)))


def _entry_at(A: Operand, axis: int, position: Expr) -> Operand:
    return getitem(A, (*[slice(None)] * axis, position))


def percentile(
    A: TensorLike, q: TensorLike, axis: Axes = None, method: str = "linear", keepdims: bool = False
) -> Operand:
    """Return the quantile of a percentage, or of an array of percentages; see :func:`quantile`.

    Raises ShapeError for an axis out of range, TensorError for a percentage outside of 0 to 100.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 4)
    >>> se.percentile(x, 25) == se.quantile(x, 0.25)
    True
    """
    return quantile(A, over_100(q), axis, method, keepdims)


def over_100(percentages: TensorLike) -> TensorLike:
    """Divide a percentage, or an array of percentages, by 100."""
    if isinstance(percentages, Constant):
        percentages = percentages.array
    if isinstance(percentages, (list, tuple, np.ndarray)):
        return np.vectorize(over_100, otypes=[object])(percentages)
    return _exact(as_scalar(percentages, "q") / 100)


def median(A: TensorLike, axis: Axes = None, keepdims: bool = False) -> Operand:
    """Return the median of the entries along some axes, by default of all; see :func:`quantile`.

    Raises ShapeError for an axis out of range.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> se.median(A, axis=1).shape
    (2,)
    """
    return quantile(A, S.Half, axis, "midpoint", keepdims)
