"""NumPy's sums, means, running sums and other statistics, of all entries or without nan."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import wraps

import numpy as np
from sympy import And, Eq, Expr, Gt, Max, Ne, Or, S

from .. import operations as ops
from ..core import ShapeError, TensorError, as_flag, as_scalar, isnan, same_length, same_shape
from ..expressions import (
    Ones,
    Operand,
    TensorLike,
    as_operand,
    elementwise,
    is_condition,
    order_of,
    shape_of,
)
from ._making import ones_like
from ._rows import NO_AXIS, NO_FIT, Axes, NumpyRow as Row

_MASK = "``where`` is a condition or a tensor."


def masked(a: TensorLike, where: TensorLike | None, otherwise: TensorLike) -> Operand:
    """Replace the entries that a mask excludes from a reduction; as in NumPy, the mask is broadcast
    to the entries and not vice versa."""
    if where is None or where is True:
        return a
    shape = shape_of(as_operand(a))
    if not is_condition(where) and not isinstance(where, (builtins.bool, np.bool_)):
        where = as_operand(where)
        own = shape_of(where)
        fits = len(own) == len(shape) and builtins.all(
            mine is S.One or same_length(mine, length)
            for mine, length in zip(own, shape, strict=True)
        )
        where = where if fits else ops.broadcast_to(where, shape)
    return ops.where(where, a, otherwise)


def as_initial(value: TensorLike) -> Operand:
    """Convert the value from which a reduction starts."""
    start = as_operand(value)
    if order_of(start):
        raise ShapeError(f"initial is a scalar, not a tensor of shape {shape_of(start)}")
    return start


def sum(
    a: TensorLike,
    axis: Axes = None,
    keepdims: bool = False,
    initial: TensorLike | None = None,
    where: TensorLike | None = True,
) -> Operand:
    total = ops.sum(masked(a, where, S.Zero), axis, keepdims)
    return total if initial is None else ops.add(total, as_initial(initial))


def mean(a: TensorLike, axis: Axes, keepdims: bool, where: TensorLike | None) -> Operand:
    if where is None or where is True:
        return ops.mean(a, axis, keepdims)
    count = sum(ones_like(a), axis, keepdims, where=where)
    return ops.divide(sum(a, axis, keepdims, where=where), count)


def prod(
    a: TensorLike,
    axis: Axes,
    keepdims: bool,
    initial: TensorLike | None,
    where: TensorLike | None,
) -> Operand:
    product = ops.prod(masked(a, where, S.One), axis, keepdims)
    return product if initial is None else ops.multiply(product, as_initial(initial))


def array_equal(a1: TensorLike, a2: TensorLike, equal_nan: bool) -> Operand:
    a1, a2 = as_operand(a1), as_operand(a2)
    if not same_shape(shape_of(a1), shape_of(a2)):
        return S.false
    same = ops.compare(Eq, a1, a2)
    if as_flag(equal_nan, "equal_nan"):
        both = ops.logical(And, elementwise(isnan, a1), elementwise(isnan, a2))
        same = ops.logical(Or, same, both)
    return ops.all_(same)


def _variance(of_numbers: bool) -> Callable[..., Operand]:
    """Return the variance of all entries, or of those that aren't nan."""

    def variance(
        a: TensorLike,
        axis: Axes,
        ddof: Expr | int,
        keepdims: bool,
        where: TensorLike | None,
        mean: TensorLike | None,
        correction: Expr | int | None,
    ) -> Operand:
        degrees = _degrees(ddof, correction)
        if of_numbers:
            return _deviations(a, axis, degrees, keepdims, _numbers(a, where), mean, S.NaN)
        if mean is None and (where is None or where is True):
            return ops.var(a, axis, degrees, keepdims)
        return _deviations(a, axis, degrees, keepdims, where, mean, S.Zero)

    return variance


def _deviations(
    a: TensorLike,
    axis: Axes,
    ddof: Expr,
    keepdims: bool,
    where: TensorLike | None,
    centre: TensorLike | None,
    least: Expr,
) -> Operand:
    """Return the mean square of the deviations of some entries from a centre, by default their
    mean; ``least`` is the divisor where no degree of freedom is left."""
    a = as_operand(a)
    if centre is None:
        centre = mean(a, axis, True, where)
    squares = ops.squared(ops.subtract(a, centre))
    count = sum(ones_like(a), axis, keepdims=keepdims, where=where)
    total = sum(squares, axis, keepdims=keepdims, where=where)
    if ddof == 0:
        return ops.divide(total, count)
    left = ops.subtract(count, ddof)
    return ops.divide(total, ops.choose([(left, ops.compare(Gt, left, 0)), (least, True)]))


def _degrees(ddof: Expr | int, correction: Expr | int | None) -> Expr:
    """Return the number that a variance subtracts from the number of entries."""
    taken = as_scalar(ddof, "ddof")
    if correction is None:
        return taken
    if taken != 0:
        raise TensorError("var and std take ddof or correction, two names of the same, not both")
    return as_scalar(correction, "correction")


def cumulative_prod(x: TensorLike, axis: int | None, include_initial: bool) -> Operand:
    x = as_operand(x)
    if axis is None and order_of(x) != 1:
        raise TensorError("cumulative_prod of a tensor that is no vector needs an axis")
    place = ops.as_axis(0 if axis is None else axis, order_of(x))
    product = ops.cumprod(x, place)
    if not as_flag(include_initial, "include_initial"):
        return product
    first = [S.One if k == place else length for k, length in enumerate(shape_of(x))]
    return ops.concatenate([Ones(*first), product], place)


def average(
    a: TensorLike,
    axis: Axes = None,
    weights: TensorLike | None = None,
    returned: bool = False,
    keepdims: bool = False,
) -> Operand | tuple[Operand, Operand]:
    a = as_operand(a)
    wide = ones_like(a) if weights is None else _broadcast_weights(as_operand(weights), a, axis)
    total = ops.sum(wide, axis, keepdims)
    if weights is None:
        result = ops.mean(a, axis, keepdims)
    else:
        result = ops.divide(ops.sum(ops.multiply(a, wide), axis, keepdims), total)
    return (result, total) if as_flag(returned, "returned") else result


def _broadcast_weights(weights: Operand, a: Operand, axis: Axes) -> Operand:
    """Broadcast weights along some axes of a tensor to its shape."""
    shape = shape_of(a)
    if same_shape(shape_of(weights), shape):
        return weights
    axes = ops.as_axes(axis, len(shape))
    along = tuple([shape[k] for k in axes])
    if not same_shape(shape_of(weights), along):
        raise ShapeError(
            f"an average of shape {shape} over the axes {axes} takes weights of that shape or of "
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
) -> Operand:
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


def corrcoef(x: TensorLike, y: TensorLike | None, rowvar: bool) -> Operand:
    c = cov(x, y, rowvar)
    if not order_of(c):
        return ops.divide(c, c)
    spread = ops.power(ops.diag(c), S.Half)
    return ops.divide(c, ops.outer(spread, spread))


def without_nan(a: TensorLike, neutral: Expr) -> Operand:
    """Replace nan by a neutral number."""
    return ops.where(elementwise(isnan, a), neutral, a)


def of_numbers(reduction: Callable[..., Operand], neutral: Expr) -> Callable[..., Operand]:
    """Return a reduction of the entries that aren't nan, with the parameters of the reduction."""

    @wraps(reduction)
    def reduced(a: TensorLike, *args: object, **options: object) -> Operand:
        return reduction(without_nan(a, neutral), *args, **options)

    return reduced


def _numbers(a: TensorLike, where: TensorLike | None) -> Operand:
    """Return the mask of the entries that aren't nan, combined with another mask."""
    are = ops.compare(Ne, elementwise(isnan, a), 1)
    return masked(are, where, S.Zero)


def _root(variance: Callable[..., Operand]) -> Callable[..., Operand]:
    """Return a standard deviation, with the parameters of the variance."""
    return wraps(variance)(lambda *args, **options: ops.power(variance(*args, **options), S.Half))


def _quantile(name: str, about: str, example: str, result: str, errors: str) -> Row:
    """Return the row of quantiles or percentiles, of all entries or of those that aren't nan."""
    of_all = ops.nanquantile if name.startswith("nan") else ops.quantile

    def quantile(
        a: TensorLike,
        q: TensorLike,
        axis: Axes,
        method: str,
        keepdims: bool,
        weights: TensorLike | None,
    ) -> Operand:
        if weights is not None:
            weights = _broadcast_weights(as_operand(weights), as_operand(a), axis)
        share = ops.over_100(q) if name.endswith("percentile") else q
        return of_all(a, share, axis, method, keepdims, weights)

    signature = (
        f"{name}(a, q, axis=None, out=None, overwrite_input=False, method='linear', "
        "keepdims=False, *, weights=None)"
    )
    return Row(signature, quantile, about, example, result, errors)


_SUM = "a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True"
_MEAN = "a, axis=None, dtype=None, out=None, keepdims=False, *, where=True"
_TEST = "a, axis=None, out=None, keepdims=False, *, where=True"
_VAR = (
    "a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, "
    "correction=None"
)
_RUNNING = "a, axis: int | None = None, dtype=None, out=None"
_MEDIAN = "a, axis=None, out=None, overwrite_input=False, keepdims=False"

# fmt: off
ROWS = (
    Row(f"sum({_SUM})", sum,
        "the sum over some axes",
        "total = snp.sum(A, axis=0, keepdims=True, where=A > 0)\n"
        "se.lambdify([A], total)([[1.0, -2.0, 3.0], [-4.0, 5.0, 6.0]])", "array([[1., 5., 9.]])",
        f"{_MASK} {NO_AXIS}"),
    Row(f"mean({_MEAN})", mean,
        "the mean over some axes",
        'x = se.TensorSymbol("x", n)\n'
        "snp.mean(x), se.gradient(snp.mean(x), x)", "(x.sum()/n, Ones(n)/n)",
        f"{_MASK} {NO_AXIS}"),
    Row(f"prod({_SUM})", prod,
        "the product over some axes",
        "se.lambdify([x], se.gradient(snp.prod(x), x))([0.0, 2.0, 3.0])", "array([6., 0., 0.])",
        f"The derivative doesn't divide, so it is right at zeros. {_MASK} {NO_AXIS}"),
    Row("count_nonzero(a, axis=None, *, keepdims=False)", ops.count_nonzero,
        "the number of entries that aren't 0, or for which a condition holds",
        "se.lambdify([x], snp.count_nonzero(x > 1))([1.0, 2.0, 3.0])", "np.float64(2.0)", NO_AXIS),
    Row(f"any({_TEST})",
        lambda a, axis, keepdims, where: ops.any_(masked(a, where, S.Zero), axis, keepdims),
        "whether any entry along the axes is nonzero: ones and zeros, or a relation if no axis "
        "is left",
        "se.lambdify([A], snp.any(A > 1, axis=1))([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]])",
        "array([1., 0.])", f"{_MASK} {NO_AXIS}"),
    Row(f"all({_TEST})",
        lambda a, axis, keepdims, where: ops.all_(masked(a, where, S.One), axis, keepdims),
        "whether all entries along the axes are nonzero: ones and zeros, or a relation if no "
        "axis is left",
        "se.lambdify([A], snp.all(A > 0, axis=1))([[1.0, 2.0, 3.0], [0.0, 1.0, 2.0]])",
        "array([1., 0.])", f"{_MASK} {NO_AXIS}"),
    Row("allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False)",
        lambda a, b, rtol, atol, equal_nan: ops.all_(ops.isclose(a, b, rtol, atol, equal_nan)),
        "whether all entries are close: a relation, which compiled code decides",
        "bool(se.lambdify([x, y], snp.allclose(x, y))([1.0, 2.0, 3.0], [1.0, 2.0, 3.0 + "
        "1e-12]))", "True", NO_FIT),
    Row("array_equal(a1, a2, equal_nan=False)", array_equal,
        "whether shapes and entries are equal: a relation, false if the shapes differ",
        "are_equal = se.lambdify([x, y], snp.array_equal(x, y))([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])\n"
        "snp.array_equal(x, A), bool(are_equal)", "(False, True)"),
    Row(f"var({_VAR})", _variance(of_numbers=False),
        "the variance over some axes; ``correction`` is another name of ``ddof``",
        "se.lambdify([x], snp.var(x, ddof=1))([0.0, 0.0, 3.0])", "np.float64(3.0)",
        f"{_MASK} {NO_AXIS[:-1]}, TensorError if both are given."),
    Row(f"std({_VAR})", _root(_variance(of_numbers=False)),
        "the standard deviation over some axes",
        "se.lambdify([x], snp.std(x))([1.0, 1.0, 1.0])", "np.float64(0.0)",
        "Parameters and errors are those of :func:`var`."),
    Row(f"cumsum({_RUNNING})", ops.cumsum,
        "the running sums along an axis, without one of all entries in C order",
        "snp.cumsum(x).as_explicit(), se.gradient(snp.cumsum(x).sum(), x).as_explicit()",
        "([x[0], x[1] + x[0], x[1] + x[0] + x[2]], [3, 2, 1])", NO_AXIS),
    Row(f"cumprod({_RUNNING})", ops.cumprod,
        "the running products along an axis, without one of all entries in C order",
        "se.lambdify([x], se.gradient(snp.cumprod(x).sum(), x))([0.0, 2.0, 3.0])",
        "array([9., 0., 0.])",
        f"The derivatives don't divide, so they are right at zeros. {NO_AXIS}"),
    Row("cumulative_prod(x, *, axis: int | None = None, include_initial=False)", cumulative_prod,
        "the running products along an axis, which may be omitted for a vector; with "
        "``include_initial`` they start with 1",
        "snp.cumulative_prod(x, include_initial=True).shape", "(4,)",
        "Raises ShapeError for an axis out of range, TensorError for a missing axis."),
    Row("average(a, axis=None, weights=None, returned=False, *, keepdims=False) -> Operand | "
        "tuple[Operand, Operand]", average,
        "the mean, or the weighted mean, with weights of the shape of ``a`` or of the axes; with "
        "``returned`` also the sum of the weights",
        "snp.average(x, weights=w)", "(w*x).sum()/w.sum()",
        "Raises ShapeError for weights of another shape."),
    Row("cov(m, y=None, rowvar=True, bias=False, ddof: Expr | int | None = None, fweights=None,"
        " aweights=None, *, dtype=None)", cov,
        "the covariance matrix of variables in rows; weights are along the columns",
        "C = snp.cov(A)\n"
        "C.shape, se.gradient(se.logdet(C), A).shape", "((2, 2), (2, 3))",
        "Raises ShapeError for more than two axes, or weights of another length."),
    Row("corrcoef(x, y=None, rowvar=True)", corrcoef,
        "the correlation matrix of variables in rows, with ``rowvar=False`` in columns",
        "r = se.lambdify([A], snp.corrcoef(A))\n"
        "r([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]).round(12)",
        "array([[ 1., -1.],\n"
        "       [-1.,  1.]])", "Raises ShapeError for more than two axes."),
    Row(f"median({_MEDIAN})", ops.median,
        "the median along some axes, by default of all entries",
        'x = se.TensorSymbol("x", n)\n'
        "se.lambdify([x], se.gradient(snp.median(x), x))([3.0, 1.0, 2.0, 9.0])",
        "array([0.5, 0. , 0.5, 0. ])", NO_AXIS),
    _quantile("quantile",
        "the quantiles along some axes for one ``q``, or for an array of them, whose axes come "
        "first",
        "snp.quantile(A, [0.25, 0.5, 0.75, 1], axis=0).shape", "(4, 3)",
        'Raises ShapeError for an axis out of range, TensorError for a q outside 0 to 1 or an '
        'unknown method. Weights need ``method="inverted_cdf"``.'),
    _quantile("percentile",
        "the percentiles along some axes for one ``q``, or for an array of them, whose axes come "
        "first",
        "snp.percentile(x, 25) == snp.quantile(x, 0.25)", "True",
        "Errors are those of :func:`quantile`, for a q outside 0 to 100."),
    _quantile("nanquantile",
        "the quantiles of the entries that aren't nan",
        "se.lambdify([x], snp.nanquantile(x, [0, 1]))([1.0, np.nan, 3.0])", "array([1., 3.])",
        "Errors are those of :func:`quantile`."),
    _quantile("nanpercentile",
        "the percentiles of the entries that aren't nan",
        "se.lambdify([x], snp.nanpercentile(x, 50))([1.0, np.nan, 3.0])", "np.float64(2.0)",
        "Errors are those of :func:`percentile`."),
    Row(f"nanmedian({_MEDIAN})",
        lambda a, axis, keepdims: ops.nanquantile(a, S.Half, axis, keepdims=keepdims),
        "the median of the entries that aren't nan",
        "se.lambdify([x], snp.nanmedian(x))([1.0, np.nan, 3.0])", "np.float64(2.0)", NO_AXIS),
    Row(f"nansum({_SUM})", of_numbers(sum, S.Zero),
        "the sum of the entries that aren't nan",
        "se.lambdify([x], snp.nansum(x))([1.0, np.nan, 3.0])", "np.float64(4.0)", NO_AXIS),
    Row(f"nanprod({_SUM})", of_numbers(prod, S.One),
        "the product of the entries that aren't nan",
        "se.lambdify([x], snp.nanprod(x))([1.0, np.nan, 3.0])", "np.float64(3.0)", NO_AXIS),
    Row(f"nancumsum({_RUNNING})", of_numbers(ops.cumsum, S.Zero),
        "the running sums of the entries, where nan counts as 0",
        "se.lambdify([x], snp.nancumsum(x))([1.0, np.nan, 3.0])", "array([1., 1., 4.])", NO_AXIS),
    Row(f"nancumprod({_RUNNING})", of_numbers(ops.cumprod, S.One),
        "the running products of the entries, where nan counts as 1",
        "se.lambdify([x], snp.nancumprod(x))([1.0, np.nan, 3.0])", "array([1., 1., 3.])", NO_AXIS),
    Row(f"nanmean({_MEAN})",
        lambda a, axis, keepdims, where: mean(a, axis, keepdims, _numbers(a, where)),
        "the mean of the entries that aren't nan",
        "mean = snp.nanmean(x)\n"
        "se.lambdify([x], [mean, se.gradient(mean, x)])([1.0, np.nan, 3.0])",
        "[np.float64(2.0), array([0.5, 0. , 0.5])]", NO_AXIS),
    Row(f"nanvar({_VAR})", _variance(of_numbers=True),
        "the variance of the entries that aren't nan",
        "se.lambdify([x], snp.nanvar(x))([1.0, np.nan, 3.0])", "np.float64(1.0)", NO_AXIS),
    Row(f"nanstd({_VAR})", _root(_variance(of_numbers=True)),
        "the standard deviation of the entries that aren't nan",
        "se.lambdify([x], snp.nanstd(x))([1.0, np.nan, 3.0])", "np.float64(1.0)",
        "Parameters and errors are those of :func:`nanvar`."),
)
