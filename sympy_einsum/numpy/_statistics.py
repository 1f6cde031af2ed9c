"""NumPy's averages, covariances, and reductions that leave out what is no number."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from sympy import Expr, Ne, S

from .. import operations as ops
from ..core import ShapeError, as_flag, as_scalar, isnan, same_length
from ..expressions import Operand, TensorLike, as_operand, elementwise, order_of, shape_of
from ._making import ones_like
from ._options import Axes, named, refuse
from ._orders import argmax, argmin, max, min
from ._reductions import all as all_, degrees, deviation, deviations, mean, prod, sum
from ._running import cumprod, cumsum


def average(
    a: TensorLike,
    axis: Axes = None,
    weights: TensorLike | None = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Operand | tuple[Operand, Operand]:
    """``numpy.average``; weights have the shape of ``a``, or that of the axes."""
    a = as_operand(a)
    wide = ones_like(a) if weights is None else _spread(as_operand(weights), a, axis)
    total = ops.sum_(wide, axis, keepdims)
    if weights is None:
        result = ops.mean(a, axis, keepdims)
    else:
        result = ops.divide(ops.sum_(ops.multiply(a, wide), axis, keepdims), total)
    return (result, total) if as_flag(returned, "returned") else result


def _spread(weights: Operand, a: Operand, axis: Axes) -> Operand:
    """Weights of the shape of a tensor, from those or from weights along some of its axes."""
    shape = shape_of(a)
    if order_of(weights) == len(shape) and all(map(same_length, shape_of(weights), shape)):
        return weights
    axes = ops.as_axes(axis, len(shape))
    along = tuple([shape[k] for k in axes])
    if order_of(weights) != len(axes) or not all(map(same_length, shape_of(weights), along)):
        raise ShapeError(
            f"average of shape {shape} over the axes {axes} takes weights of that shape or of "
            f"shape {along}, not {shape_of(weights)}"
        )
    in_order = ops.transpose(weights, [axes.index(k) for k in sorted(axes)])
    ones = [length if k in axes else S.One for k, length in enumerate(shape)]
    return ops.broadcast_to(ops.reshape(in_order, ones), shape)


def cov(
    m: TensorLike,
    y: TensorLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Expr | int | None = None,
    fweights: TensorLike | None = None,
    aweights: TensorLike | None = None,
    *,
    dtype: object = None,
) -> Operand:
    """``numpy.cov``: the covariances of variables in rows; the weights are along the columns."""
    refuse("cov", {"dtype": dtype})
    X = _observations(m, rowvar)
    if y is not None:
        X = ops.concatenate([X, _observations(y, rowvar)], 0)
    taken = ddof if ddof is not None else int(not as_flag(bias, "bias"))
    degrees = as_scalar(taken, "ddof")
    weights = [as_operand(w) for w in (fweights, aweights) if w is not None]
    count = shape_of(X)[1]
    for weight in weights:
        if order_of(weight) != 1 or not same_length(shape_of(weight)[0], count):
            raise ShapeError(f"cov takes weights of length {count}, not {shape_of(weight)}")
    w = ops.multiply(*weights) if weights else None
    total = count if w is None else ops.sum_(w)
    if w is not None and aweights is not None and degrees != 0:
        squares = ops.sum_(ops.multiply(w, aweights))
        degrees = ops.divide(ops.multiply(degrees, squares), total)
    centred = ops.subtract(X, average(X, 1, w, keepdims=True))
    weighted = centred if w is None else ops.multiply(centred, ops.expand_dims(w, 0))
    products = ops.matmul(centred, ops.transpose(weighted))
    return ops.squeeze(ops.divide(products, ops.subtract(total, degrees)))


def _observations(m: TensorLike, rowvar: bool) -> Operand:
    m = as_operand(m)
    if order_of(m) > 2:
        raise ShapeError(f"cov takes a vector or a matrix, not a tensor of shape {shape_of(m)}")
    if order_of(m) < 2:
        return ops.reshape(m, 1, -1)
    return m if as_flag(rowvar, "rowvar") else ops.transpose(m)


def corrcoef(x: TensorLike, y: TensorLike | None = None, rowvar: bool = True) -> Operand:
    """``numpy.corrcoef``: the correlations of variables in rows."""
    c = cov(x, y, rowvar)
    if not order_of(c):
        return ops.divide(c, c)
    spread = ops.power(ops.diag(c), S.Half)
    return ops.divide(c, ops.outer(spread, spread))


# --- without what is no number -------------------------------------------------------------------


def _replaced(a: TensorLike, neutral: Expr) -> Operand:
    """The entries, and something else for those that are no numbers."""
    return ops.where(elementwise(isnan, a), neutral, a)


def _without_nan(
    name: str,
    neutral: Expr,
    function: Callable[..., Operand],
    about: str = "of entries that count as {} where they are no numbers",
) -> Callable[..., Operand]:
    @wraps(function)
    def apply(a: TensorLike, *args: object, **kwargs: object) -> Operand:
        return function(_replaced(a, neutral), *args, **kwargs)

    return named(apply, name, about.format(neutral))


nansum = _without_nan("nansum", S.Zero, sum)
nanprod = _without_nan("nanprod", S.One, prod)
nancumsum = _without_nan("nancumsum", S.Zero, cumsum)
nancumprod = _without_nan("nancumprod", S.One, cumprod)
_POSITION = "of the entries that are numbers; 0 where there is none"
nanargmax = _without_nan("nanargmax", S.NegativeInfinity, argmax, _POSITION)
nanargmin = _without_nan("nanargmin", S.Infinity, argmin, _POSITION)


def _extremum_without_nan(
    name: str, least: Expr, function: Callable[..., Operand]
) -> Callable[..., Operand]:
    def apply(
        a: TensorLike,
        axis: Axes = None,
        out: object = None,
        keepdims: bool = False,
        initial: TensorLike | None = None,
        where: TensorLike | None = True,
    ) -> Operand:
        value = function(_replaced(a, least), axis, out, keepdims, initial, where)
        if initial is not None:
            return value
        return ops.where(all_(elementwise(isnan, a), axis, keepdims=keepdims), S.NaN, value)

    return named(apply, name, "of the entries that are numbers; of none it is nan")


nanmax = _extremum_without_nan("nanmax", S.NegativeInfinity, max)
nanmin = _extremum_without_nan("nanmin", S.Infinity, min)


def nanmean(
    a: TensorLike,
    axis: Axes = None,
    dtype: object = None,
    out: object = None,
    keepdims: bool = False,
    *,
    where: TensorLike | None = True,
) -> Operand:
    """``numpy.nanmean``: the mean of the entries that are numbers."""
    return mean(a, axis, dtype, out, keepdims, where=_numbers(a, where))


def _numbers(a: TensorLike, where: TensorLike | None) -> Operand:
    """Where the entries are numbers, among some of them."""
    are = ops.compare(Ne, elementwise(isnan, a), 1)
    return are if where is None or where is True else ops.where(where, are, 0)


def nanvar(
    a: TensorLike,
    axis: Axes = None,
    dtype: object = None,
    out: object = None,
    ddof: Expr | int = 0,
    keepdims: bool = False,
    *,
    where: TensorLike | None = True,
    mean: TensorLike | None = None,
    correction: Expr | int | None = None,
) -> Operand:
    """``numpy.nanvar``: the variance of the entries that are numbers."""
    refuse("nanvar", {"dtype": dtype, "out": out})
    chosen = _numbers(a, where)
    return deviations(a, axis, degrees(ddof, correction), keepdims, chosen, mean)


nanstd = deviation("nanstd", "of the entries that are numbers", nanvar)


def nanquantile(
    a: TensorLike,
    q: TensorLike,
    axis: Axes = None,
    out: object = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Operand:
    """``numpy.nanquantile``: the quantile of the entries that are numbers."""
    refuse("nanquantile", {"out": out})
    return ops.nanquantile(a, q, axis, method, keepdims)


def nanpercentile(
    a: TensorLike,
    q: TensorLike,
    axis: Axes = None,
    out: object = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
) -> Operand:
    """``numpy.nanpercentile``: the percentile of the entries that are numbers."""
    refuse("nanpercentile", {"out": out})
    return ops.nanquantile(a, ops.over_100(q), axis, method, keepdims)


def nanmedian(
    a: TensorLike,
    axis: Axes = None,
    out: object = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Operand:
    """``numpy.nanmedian``: the median of the entries that are numbers."""
    refuse("nanmedian", {"out": out})
    return ops.nanquantile(a, S.Half, axis, keepdims=keepdims)
