"""NumPy helper functions of generated sources that reduce axes."""

from __future__ import annotations

import numpy as np


def sums(x, axis=None, keepdims=False):
    """Return sums over axes; NumPy's own are slow over the last one where that is short."""
    if x.size > 1000 and axis == x.ndim - 1 and x.shape[-1] < 100 and x.dtype.kind in "fc":
        total = np.einsum("...i->...", x)
        return total[..., None] if keepdims else total
    return np.add.reduce(x, axis, None, None, keepdims)


def largest(x, axis=None):
    """Return the largest entries; those of many short rows are found column by column."""
    if x.size > 100 and axis == 1 and x.ndim == 2 and x.shape[1] <= 30 and len(x) > 100:
        return np.maximum.reduce(np.ascontiguousarray(x.T), axis=0, initial=-np.inf)[:, None]
    return np.maximum.reduce(x, axis, None, None, True, -np.inf)


def max_shift(x, axis=None):
    """Return the largest entries, 0 where those are infinite."""
    x = x if x.dtype.kind in "fc" else x.astype(float)
    top = largest(x, axis)
    entries = top.ravel()
    # Python sums a few entries faster.
    if abs(sum(entries.tolist()) if top.size < 16 else entries.dot(entries)) < np.inf:
        return top
    return np.where(np.isfinite(top), top, 0)


def log_total(weights, total, axis=None):
    """Return the logarithm of a sum of weights, the largest of which are 1, the others maybe
    tiny."""
    if total.size and total.item(total.argmin()) > 1.1:
        return np.log(total)
    rest = weights.sum(axis=axis, where=weights != 1)
    with np.errstate(divide="ignore"):
        return np.log1p(rest + (weights.sum(axis=axis, where=weights == 1) - 1))


def logsumexp(x, axis=None):
    """Return log(sum(exp(x))) without overflow."""
    x = x if x.dtype.kind in "fc" else x.astype(float)
    top = largest(x, axis)
    is_finite = np.count_nonzero(np.isfinite(top)) == top.size
    if not is_finite:
        top = np.where(np.isfinite(top), top, 0)
    weights = x - top
    total = sums(np.exp(weights, out=weights), axis)
    if is_finite:
        return np.log(total) + top.squeeze(axis)
    with np.errstate(divide="ignore"):
        return np.log(total) + top.squeeze(axis)


def softmax(x, axis=None):
    """Return exp(x) / sum(exp(x)) without overflow."""
    x = x if x.dtype.kind in "fc" else x.astype(float)
    weights = x - largest(x, axis)
    np.exp(weights, out=weights)
    weights /= sums(weights, axis, keepdims=True)
    return weights


def share(x, top, axis=None):
    """Return where x is the extremum, divided by how often it is. Short axes are looped over entry
    by entry, and become the outer ones in memory."""
    axes = [] if axis is None or x.size < 4000 else list(np.atleast_1d(axis))
    if axes and x.shape[-1] <= 4 and np.prod([x.shape[k] for k in axes]) <= 16:
        front = list(range(len(axes)))
        along, best = np.moveaxis(x, axes, front), np.moveaxis(top, axes, front)
        hits = np.empty(along.shape, bool)
        for place in np.ndindex(*along.shape[: len(axes)]):
            np.equal(along[place], best[(0,) * len(axes)], out=hits[place])
        hits = np.moveaxis(hits, front, axes)
    else:
        hits = x == top
    kind = x.dtype if x.dtype.kind in "fc" else float
    highest = top.item(top.argmax()) if top.size else 0
    if np.count_nonzero(hits) == top.size and highest == highest:  # nan would be the highest
        return hits.astype(kind)
    return np.divide(hits, hits.sum(axis=axis, keepdims=True), dtype=kind)
