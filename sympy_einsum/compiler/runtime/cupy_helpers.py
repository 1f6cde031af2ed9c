"""CuPy helper functions of generated sources."""

from __future__ import annotations

import cupy as cp
from cupyx.scipy import linalg as cupy_linalg


def last_equal(x, best, axis):
    """Return the positions of the last entries so far that are equal to others."""
    places = cp.arange(x.shape[axis]).reshape([-1] + [1] * (x.ndim - 1 - axis))
    return running(cp.maximum, cp.where(x == best, places, 0), axis=axis)


def matrix_exp(X):
    """Return the exponential of each matrix; CuPy takes one at a time."""
    if X.ndim == 2:
        return cupy_linalg.expm(X)
    return cp.stack([matrix_exp(part) for part in X]) if X.size else X + 0.0


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
