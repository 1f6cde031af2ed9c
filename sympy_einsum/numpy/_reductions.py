"""NumPy's sums, means and the like."""

from __future__ import annotations

from typing import Any

from sympy import S

from .. import operations as ops
from ..core import TensorError
from ._making import ones_like
from ._options import refuse


def _chosen(a: Any, where: Any, otherwise: Any) -> Any:
    """The entries that a reduction takes."""
    return a if where is None or where is True else ops.where(where, a, otherwise)


def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """``numpy.sum``; ``where`` is a condition or a tensor."""
    refuse("sum", {"dtype": dtype, "out": out})
    total = ops.sum_(_chosen(a, where, S.Zero), axis, keepdims)
    return total if initial is None else ops.add(total, initial)


def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Any:
    """``numpy.mean``; ``where`` is a condition or a tensor."""
    refuse("mean", {"dtype": dtype, "out": out})
    if where is None or where is True:
        return ops.mean(a, axis, keepdims)
    count = sum(ones_like(a), axis, keepdims=keepdims, where=where)
    return ops.divide(sum(a, axis, keepdims=keepdims, where=where), count)


def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """``numpy.prod``, over axes of numeric length; ``where`` is a condition or a tensor."""
    refuse("prod", {"dtype": dtype, "out": out})
    product = ops.prod(_chosen(a, where, S.One), axis, keepdims)
    return product if initial is None else ops.multiply(product, initial)


def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    correction: Any = None,
) -> Any:
    """``numpy.var``; ``correction`` is another name of ``ddof``."""
    refuse("var", {"dtype": dtype, "out": out})
    if correction is not None and ddof != 0:
        raise TensorError("var and std take ddof or correction, two names of the same, not both")
    return ops.var(a, axis, ddof if correction is None else correction, keepdims)


def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    correction: Any = None,
) -> Any:
    """``numpy.std``; ``correction`` is another name of ``ddof``."""
    return ops.power(var(a, axis, dtype, out, ddof, keepdims, correction=correction), S.Half)


def average(
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: Any = False,
    *,
    keepdims: Any = False,
) -> Any:
    """``numpy.average``; weights have the shape of ``a``."""
    refuse("average", {"returned": returned})
    if weights is None:
        return ops.mean(a, axis, keepdims)
    total = ops.sum_(ops.multiply(a, weights), axis, keepdims)
    return ops.divide(total, ops.sum_(weights, axis, keepdims))
