"""NumPy helper functions of generated sources for running operations along an axis."""

from __future__ import annotations

import numpy as np


def running_products(x, backwards):
    """Return 1 and the running products along the last axis, or those from its end and 1."""
    if backwards:
        return running_products(x[..., ::-1], False)[..., ::-1]
    products = x.cumprod(-1)
    total = np.empty((*x.shape[:-1], x.shape[-1] + 1), products.dtype)
    total[..., 0] = 1
    total[..., 1:] = products
    return total


def recurrence(x, b, backwards):
    """Solve y[j] = x[j - 1] y[j - 1] + b[j] along the last axis; backwards y[j] = x[j] y[j + 1] +
    b[j]. By running products, or by doubling where these vanish."""
    if backwards:
        return recurrence(x[..., ::-1], b[..., ::-1], False)[..., ::-1]
    total = running_products(x, False)
    size = np.abs(total)
    if size.size and size.min() > 1e-140 and size.max() < 1e140:
        y = b / total
        np.add.accumulate(y, -1, out=y)
        y *= total
        return y
    a = np.concatenate([0 * total[..., :1], x], -1)
    y = b + 0.0 * a[..., :1]
    size = 1
    while size < y.shape[-1]:
        y[..., size:] += a[..., size:] * y[..., :-size]
        a[..., size:] *= a[..., :-size].copy()
        size *= 2
    return y


def running_weights(x):
    """Return exp(x - top), its running sum along the last axis, and top; x, log(cumsum(exp(x))) and
    None where these would vanish."""
    x = x if x.dtype.kind == "f" else x + 0.0
    top = np.maximum.reduce(x, axis=-1, keepdims=True, initial=-np.inf)
    weights = x - top
    np.exp(weights, out=weights)
    if x.size and weights[..., 0].min() > 1e-260:
        return weights, weights.cumsum(-1), top
    return x, np.logaddexp.accumulate(x + 0.0, axis=-1), None


def logcumsumexp(weights):
    """Return log(cumsum(exp(x))) of the x that has such weights."""
    _, total, top = weights
    return total if top is None else np.log(total) + top


def running_mean(weights, c, backwards):
    """Return sums of c[i] exp(x[i] - y[j]) over i <= j, or of c[j] over j >= i, of the x that has
    such weights and y = log(cumsum(exp(x)))."""
    x, y, top = weights
    if top is not None:
        if backwards:
            total = np.divide(c, y, order="C")
            from_end = total[..., ::-1]
            np.add.accumulate(from_end, -1, out=from_end)
            total *= x
            return total
        total = np.multiply(x, c, order="C")
        np.add.accumulate(total, -1, out=total)
        total /= y
        return total
    finite = np.where(y == -np.inf, 0, y)
    weights, ratio = np.exp(x - finite), np.exp(y[..., :-1] - finite[..., 1:])
    if backwards:
        return weights * recurrence(ratio, c, True)
    return recurrence(ratio, weights * c, False)
