"""CuPy helper functions of generated sources."""

from __future__ import annotations

import cupy as cp
from cupyx.scipy import linalg as cupy_linalg, special


def last_equal(x, best, axis):
    """Return the positions of the last entries so far that are equal to others."""
    places = cp.arange(x.shape[axis]).reshape([-1] + [1] * (x.ndim - 1 - axis))
    return running(cp.maximum, cp.where(x == best, places, 0), axis=axis)


def matrix_exp(X):
    """Return the exponential of each matrix; CuPy takes one at a time."""
    if X.ndim == 2:
        return cupy_linalg.expm(X)
    return cp.stack([matrix_exp(part) for part in X]) if X.size else X + 0.0


def polygamma(n, x):
    """Return SciPy's function of this name, which CuPy has for arrays only."""
    return special.polygamma(n, cp.asarray(x))


def running(function, x, axis):
    """Return a function accumulated along an axis, by doubling."""
    x, step = cp.moveaxis(x, axis, 0), 1
    while step < len(x):
        x = cp.concatenate([x[:step], function(x[step:], x[:-step])])
        step *= 2
    return cp.moveaxis(x, 0, axis)


def scatter(values, lengths, *positions):
    """Add values to zeros at positions on the first axes, also at repeated ones."""
    order = max(map(cp.ndim, positions))
    total = cp.zeros((*lengths, *values.shape[order:]), values.dtype)
    cp.add.at(total, positions, values)
    return total


def where(condition, x, y):
    """Return x where a condition holds, elsewhere y; CuPy takes no condition of Python's."""
    if isinstance(condition, (bool, cp.bool_)):
        return x if condition else y
    return cp.where(condition, x, y)


@cp.fuse()
def sum_of_squares(x):
    """Return the sum of squares of an array by one kernel."""
    return cp.sum(x * x)


def inner(x, y):
    """Return the sum of products of entries. A kernel for products and their sum is fast for one
    contiguous array only, and starts twice as fast as that of matrix products."""
    if x is y and (x.flags.c_contiguous or x.flags.f_contiguous):
        return sum_of_squares(x)
    return (x * y).sum()


@cp.fuse()
def shifted_exp(x, top):
    """Return exp(x - top) by one kernel."""
    return cp.exp(x - top)


@cp.fuse()
def finite(top):
    """Return 0 in place of what is infinite or no number."""
    return cp.where(cp.isfinite(top), top, 0)


@cp.fuse()
def below_one(weights):
    """Return 0 in place of ones."""
    return cp.where(weights == 1, 0, weights)


@cp.fuse()
def log1p_with_ones(rest, total):
    """Return the logarithm of a sum from that of its terms below one, counting the ones."""
    return cp.log1p(rest + (cp.rint(total - rest) - 1))


def max_shift(x, axis=None):
    """Return the largest entries, 0 where those are infinite."""
    if not x.size:
        return cp.exp(x).sum(axis=axis, keepdims=True)
    return finite(x.max(axis=axis, keepdims=True))


def log_total(weights, total, axis=None):
    """Return the logarithm of a sum of weights, the largest of which are 1, the others maybe
    tiny."""
    return log1p_with_ones(below_one(weights).sum(axis=axis), total)


def softmax(x, axis=None):
    """Return exp(x) / sum(exp(x)) without overflow."""
    if not x.size:
        return cp.exp(x)
    weights = shifted_exp(x, x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
