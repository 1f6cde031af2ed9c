"""NumPy's averages, covariances, and reductions that leave out what is no number."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from sympy import Expr, Max, Ne, S

from .. import operations as ops
from ..core import ShapeError, as_flag, as_scalar, isnan, same_length
from ..expressions import Operand, TensorLike, as_operand, elementwise, order_of, shape_of
from ._making import ones_like
from ._options import Axes, Example, named, refuse
from ._orders import argmax, argmin, max, min
from ._reductions import all as all_, chosen, degrees, deviation, deviations, mean, prod, sum
from ._running import cumprod, cumsum


def average(
    a: TensorLike,
    axis: Axes = None,
    weights: TensorLike | None = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Operand | tuple[Operand, Operand]:
    """``numpy.average``: the mean, or with weights the weighted mean, whose weights have the shape
    of ``a`` or that of the axes; with ``returned`` also the sum of the weights.

    Raises ShapeError for weights of another shape.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x, w = se.tensors("x w", 3)
    >>> snp.average(x, weights=w)
    (w*x).sum()/w.sum()
    """
    a = as_operand(a)
    wide = ones_like(a) if weights is None else _spread(as_operand(weights), a, axis)
    total = ops.sum(wide, axis, keepdims)
    if weights is None:
        result = ops.mean(a, axis, keepdims)
    else:
        result = ops.divide(ops.sum(ops.multiply(a, wide), axis, keepdims), total)
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
            f"an average of shape {shape} over the axes {axes} takes weights of that shape or of "
            f"shape {along}, not {shape_of(weights)}"
        )
    in_order = ops.transpose(weights, [axes.index(k) for k in sorted(axes)])
    ones = [length if k in axes else S.One for k, length in enumerate(shape)]
    return ops.broadcast_to(ops.reshape(in_order, ones), shape)


def _weights(weights: TensorLike | None, a: TensorLike, axis: Axes) -> Operand | None:
    return None if weights is None else _spread(as_operand(weights), as_operand(a), axis)


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
    """``numpy.cov``: the covariances of variables in rows; the weights are along the columns.

    Raises ShapeError for more than two axes, or weights of another length.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> X = se.TensorSymbol("X", (3, 100))
    >>> C = snp.cov(X)
    >>> C.shape, se.gradient(se.logdet(C), X).shape
    ((3, 3), (3, 100))
    """
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
    total = count if w is None else ops.sum(w)
    if w is not None and aweights is not None and degrees != 0:
        squares = ops.sum(ops.multiply(w, aweights))
        degrees = ops.divide(ops.multiply(degrees, squares), total)
    centred = ops.subtract(X, average(X, 1, w, keepdims=True))
    weighted = centred if w is None else ops.multiply(centred, ops.expand_dims(w, 0))
    products = ops.matmul(centred, ops.conj(ops.transpose(weighted)))
    divisor = ops.subtract(total, degrees)
    if w is None or taken not in (0, 1):
        # Of weighted observations it is negative for other degrees only.
        divisor = elementwise(Max, divisor, S.Zero)
    return ops.squeeze(ops.divide(products, divisor))


def _observations(m: TensorLike, rowvar: bool) -> Operand:
    m = as_operand(m)
    if order_of(m) > 2:
        raise ShapeError(f"cov takes a vector or a matrix, not a tensor of shape {shape_of(m)}")
    if order_of(m) < 2:
        return ops.reshape(m, 1, -1)
    return m if as_flag(rowvar, "rowvar") else ops.transpose(m)


def corrcoef(x: TensorLike, y: TensorLike | None = None, rowvar: bool = True) -> Operand:
    """``numpy.corrcoef``: the correlations of variables in rows, with ``rowvar=False`` in columns.

    Raises ShapeError for more than two axes.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> X = se.TensorSymbol("X", (2, 4))
    >>> r = se.lambdify([X], snp.corrcoef(X))
    >>> r([[1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0]]).round(12)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    c = cov(x, y, rowvar)
    if not order_of(c):
        return ops.divide(c, c)
    spread = ops.power(ops.diag(c), S.Half)
    return ops.divide(c, ops.outer(spread, spread))


# --- without what is no number -------------------------------------------------------------------


def _replaced(a: TensorLike, neutral: Expr) -> Operand:
    """Return the entries, and something else for those that are no numbers."""
    return ops.where(elementwise(isnan, a), neutral, a)


_ERRORS = "Raises ShapeError for an axis that isn't there."


def _example(result: str) -> Example:
    return Example("x", "[1.0, np.nan, 3.0]", result)


def _without_nan(
    name: str, neutral: Expr, function: Callable[..., Operand], about: str, result: str
) -> Callable[..., Operand]:
    @wraps(function)
    def apply(a: TensorLike, *args: object, **kwargs: object) -> Operand:
        return function(_replaced(a, neutral), *args, **kwargs)

    return named(apply, name, about, _ERRORS, _example(result))


_TERM = "of entries that count as 0 where they are no numbers"
_FACTOR = "of entries that count as 1 where they are no numbers"
_POSITION = "of the entries that are numbers; 0 where there is none"
nansum = _without_nan("nansum", S.Zero, sum, _TERM, "np.float64(4.0)")
nanprod = _without_nan("nanprod", S.One, prod, _FACTOR, "np.float64(3.0)")
nancumsum = _without_nan("nancumsum", S.Zero, cumsum, _TERM, "array([1., 1., 4.])")
nancumprod = _without_nan("nancumprod", S.One, cumprod, _FACTOR, "array([1., 1., 3.])")
nanargmax = _without_nan("nanargmax", S.NegativeInfinity, argmax, _POSITION, "np.int64(2)")
nanargmin = _without_nan("nanargmin", S.Infinity, argmin, _POSITION, "np.int64(0)")


def _extremum_without_nan(
    name: str, least: Expr, function: Callable[..., Operand], result: str
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

    about = "of the entries that are numbers; of none it is nan"
    return named(apply, name, about, _ERRORS, _example(result))


nanmax = _extremum_without_nan("nanmax", S.NegativeInfinity, max, "np.float64(3.0)")
nanmin = _extremum_without_nan("nanmin", S.Infinity, min, "np.float64(1.0)")


def nanmean(
    a: TensorLike,
    axis: Axes = None,
    dtype: object = None,
    out: object = None,
    keepdims: bool = False,
    *,
    where: TensorLike | None = True,
) -> Operand:
    """``numpy.nanmean``: the mean of the entries that are numbers.

    Raises ShapeError for an axis that isn't there.

    >>> import numpy as np
    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> se.lambdify([x], [snp.nanmean(x), se.gradient(snp.nanmean(x), x)])([1.0, np.nan, 3.0])
    [np.float64(2.0), array([0.5, 0. , 0.5])]
    """
    return mean(a, axis, dtype, out, keepdims, where=_numbers(a, where))


def _numbers(a: TensorLike, where: TensorLike | None) -> Operand:
    """Where the entries are numbers, among some of them."""
    are = ops.compare(Ne, elementwise(isnan, a), 1)
    return chosen(are, where, S.Zero)


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
    """``numpy.nanvar``: the variance of the entries that are numbers.

    Raises ShapeError for an axis that isn't there.

    >>> import numpy as np
    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> se.lambdify([x], snp.nanvar(x))([1.0, np.nan, 3.0])
    np.float64(1.0)
    """
    refuse("nanvar", {"dtype": dtype, "out": out})
    numbers = _numbers(a, where)
    return deviations(a, axis, degrees(ddof, correction), keepdims, numbers, mean, S.NaN)


nanstd = deviation("nanstd", "of the entries that are numbers", nanvar, _example("np.float64(1.0)"))


def quantile(
    a: TensorLike,
    q: TensorLike,
    axis: Axes = None,
    out: object = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: TensorLike | None = None,
) -> Operand:
    """``numpy.quantile`` for one ``q`` or an array of some, whose axes come first.

    Raises ShapeError for an axis that isn't there, TensorError for a q outside of 0 to 1 or a
    method that NumPy doesn't have. Weights are those of ``inverted_cdf``.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (10, 3))
    >>> snp.quantile(A, [0.25, 0.5, 0.75, 1], axis=0).shape
    (4, 3)
    """
    refuse("quantile", {"out": out})
    wide = _weights(weights, a, axis)
    return ops.quantile(a, q, axis, method, keepdims, wide)


def percentile(
    a: TensorLike,
    q: TensorLike,
    axis: Axes = None,
    out: object = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: TensorLike | None = None,
) -> Operand:
    """``numpy.percentile`` for one ``q`` or an array of some, whose axes come first.

    Errors are those of :func:`quantile`, for a q outside of 0 to 100.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 5)
    >>> snp.percentile(x, 25) == snp.quantile(x, 0.25)
    True
    """
    refuse("percentile", {"out": out})
    wide = _weights(weights, a, axis)
    return ops.quantile(a, ops.over_100(q), axis, method, keepdims, wide)


def nanquantile(
    a: TensorLike,
    q: TensorLike,
    axis: Axes = None,
    out: object = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: TensorLike | None = None,
) -> Operand:
    """``numpy.nanquantile``: the quantile of the entries that are numbers.

    Errors are those of :func:`quantile`.

    >>> import numpy as np
    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 4)
    >>> se.lambdify([x], snp.nanquantile(x, [0, 1]))([1.0, np.nan, 3.0, 8.0])
    array([1., 8.])
    """
    refuse("nanquantile", {"out": out})
    wide = _weights(weights, a, axis)
    return ops.nanquantile(a, q, axis, method, keepdims, wide)


def nanpercentile(
    a: TensorLike,
    q: TensorLike,
    axis: Axes = None,
    out: object = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: TensorLike | None = None,
) -> Operand:
    """``numpy.nanpercentile``: the percentile of the entries that are numbers.

    Errors are those of :func:`percentile`.

    >>> import numpy as np
    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 4)
    >>> se.lambdify([x], snp.nanpercentile(x, 50))([1.0, np.nan, 3.0, 8.0])
    np.float64(3.0)
    """
    refuse("nanpercentile", {"out": out})
    wide = _weights(weights, a, axis)
    return ops.nanquantile(a, ops.over_100(q), axis, method, keepdims, wide)


def nanmedian(
    a: TensorLike,
    axis: Axes = None,
    out: object = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Operand:
    """``numpy.nanmedian``: the median of the entries that are numbers.

    Raises ShapeError for an axis that isn't there.

    >>> import numpy as np
    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 4)
    >>> se.lambdify([x], snp.nanmedian(x))([1.0, np.nan, 3.0, 8.0])
    np.float64(3.0)
    """
    refuse("nanmedian", {"out": out})
    return ops.nanquantile(a, S.Half, axis, keepdims=keepdims)
