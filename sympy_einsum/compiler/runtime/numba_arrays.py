"""Numba helper functions of generated sources for arrays of three axes: those before an axis, it,
those behind it; and for rows.
"""

from __future__ import annotations

import numpy as np

from .numba_compiling import larger
from .numba_elementary import exp, log
from .numba_numbers import logaddexp, maximum, minimum, where
from .stubs import compiled


@compiled
def make_finite(x):
    """Replace the entries that aren't finite by 0."""
    for k in range(x.size):
        if not np.isfinite(x[k]):
            x[k] = 0


@compiled
def cumsum(x, backwards):
    """Return running sums along the middle axis, or those from its end."""
    total = x.copy()
    count = x.shape[1]
    for i in range(x.shape[0]):
        for j in range(1, count):
            here, there = (count - 1 - j, count - j) if backwards else (j, j - 1)
            for k in range(x.shape[2]):
                total[i, here, k] += total[i, there, k]
    return total


@compiled
def lagged_cumsum(x, backwards, lag, count):
    """Return running sums of which entry j ends at j - lag; backwards, they begin at j + lag."""
    sums = cumsum(x, backwards)
    length = x.shape[1]
    total = np.zeros((x.shape[0], count, x.shape[2]), x.dtype)
    for j in range(count):
        place = max(j + lag, 0) if backwards else min(j - lag, length - 1)
        if 0 <= place < length:
            total[:, j] = sums[:, place]
    return total


def running_choices(choose):
    """Compile the function of the choices between two entries so far along the middle axis."""

    def choices(x):
        total = x.copy()
        for i in range(x.shape[0]):
            for j in range(1, x.shape[1]):
                for k in range(x.shape[2]):
                    total[i, j, k] = choose(total[i, j - 1, k], x[i, j, k])
        return total

    return compiled(choices)


cummax = running_choices(maximum)
cummin = running_choices(minimum)


@compiled
def sort(x):
    """Return the entries along the middle axis in order."""
    total = x.copy()
    for i in range(x.shape[0]):
        for k in range(x.shape[2]):
            total[i, :, k] = np.sort(x[i, :, k])
    return total


@compiled
def argsort(x):
    """Return the positions of the entries along the middle axis in order; equal ones stay in
    theirs."""
    total = np.empty(x.shape, np.int64)
    for i in range(x.shape[0]):
        for k in range(x.shape[2]):
            total[i, :, k] = np.argsort(x[i, :, k].copy(), kind="mergesort")
    return total


@compiled
def argmax(x):
    """Return the position of the largest entry along the middle axis, or of the first that is
    none."""
    if x.shape[1] == 0:
        raise ValueError("no entries to take the extremum of")
    total = np.zeros((x.shape[0], 1, x.shape[2]), np.int64)
    for i in range(x.shape[0]):
        for j in range(1, x.shape[1]):
            for k in range(x.shape[2]):
                best = x[i, total[i, 0, k], k]
                if best == best and not x[i, j, k] <= best:
                    total[i, 0, k] = j
    return total


@compiled
def argmin(x):
    """Return the position of the smallest entry along the middle axis, or of the first that is
    none."""
    return argmax(-x)


@compiled
def last_equal(x, best):
    """Return the positions of the last entries so far that are equal to others."""
    total = np.zeros(x.shape, np.int64)
    for i in range(x.shape[0]):
        for j in range(1, x.shape[1]):
            for k in range(x.shape[2]):
                is_best = x[i, j, k] == best[i, j, k]
                total[i, j, k] = j if is_best else total[i, j - 1, k]
    return total


@compiled
def argcummax(x):
    """Return the positions of the largest entries so far."""
    return last_equal(x, cummax(x))


@compiled
def argcummin(x):
    """Return the positions of the smallest entries so far."""
    return last_equal(x, cummin(x))


@compiled
def cumprod(x):
    """Return the running products of rows."""
    total = x.copy()
    for i in range(x.shape[0]):
        for j in range(1, x.shape[1]):
            total[i, j] *= total[i, j - 1]
    return total


@compiled
def running_products(x, backwards):
    """Return 1 and the running products of rows, or those from their ends and 1."""
    rows, n = x.shape
    total = np.ones((rows, n + 1), x.dtype)
    for i in range(rows):
        for j in range(n):
            here, there = (n - 1 - j, n - j) if backwards else (j + 1, j)
            total[i, here] = total[i, there] * x[i, min(here, there)]
    return total


@compiled
def recurrence(x, b, backwards):
    """Solve y[j] = x[j - 1] y[j - 1] + b[j] of rows; backwards y[j] = x[j] y[j + 1] + b[j]."""
    rows, n = b.shape[0] if x.shape[0] == 1 else x.shape[0], b.shape[1]
    total = np.empty((rows, n), b.dtype)
    for i in range(rows):
        k, l = i % x.shape[0], i % b.shape[0]
        for j in range(n):
            if backwards:
                here = n - 1 - j
                last = x[k, here] * total[i, here + 1] if j else b[l, here] * 0
                total[i, here] = b[l, here] + last
            else:
                last = x[k, j - 1] * total[i, j - 1] if j else b[l, j] * 0
                total[i, j] = b[l, j] + last
    return total


@compiled
def running_weights(x):
    """Return x, log(cumsum(exp(x))), exp(x - top) and cumsum(exp(x - top)) of rows, without
    overflow; the last two are empty where they would vanish."""
    weights, total, logs = np.empty_like(x), np.empty_like(x), np.empty_like(x)
    is_plain = True
    for i in range(x.shape[0]):
        top = -np.inf
        for j in range(x.shape[1]):
            top = larger(top, x[i, j])
        running = 0.0
        for j in range(x.shape[1]):
            weights[i, j] = exp(x[i, j] - top)
        for j in range(x.shape[1]):
            running += weights[i, j]
            total[i, j] = running
        for j in range(x.shape[1]):
            logs[i, j] = log(total[i, j]) + top
        is_plain = is_plain and (x.shape[1] == 0 or weights[i, 0] > 1e-260)
    if is_plain:
        return x, logs, weights, total
    for i in range(x.shape[0]):
        logs[i, 0] = x[i, 0]
        for j in range(1, x.shape[1]):
            logs[i, j] = logaddexp(logs[i, j - 1], x[i, j])
    return x, logs, weights[:0], total[:0]


@compiled
def logcumsumexp(weights):
    """Return log(cumsum(exp(x))) of the x that has such weights."""
    return weights[1]


@compiled
def running_mean(weights, c, backwards):
    """Return sums of c[i] exp(x[i] - y[j]) over i <= j, or of c[j] over j >= i, of rows x and y =
    log(cumsum(exp(x)))."""
    x, y, plain, sums = weights
    rows, n = c.shape[0] if x.shape[0] == 1 else x.shape[0], c.shape[1]
    total = np.empty((rows, n), c.dtype)
    if plain.shape[0] == x.shape[0]:
        for i in range(rows):
            k, l = i % x.shape[0], i % c.shape[0]
            running = 0.0
            for j in range(n):
                here = n - 1 - j if backwards else j
                if backwards:
                    running += c[l, here] / sums[k, here]
                    total[i, here] = running * plain[k, here]
                else:
                    running += c[l, here] * plain[k, here]
                    total[i, here] = running / sums[k, here]
        return total
    shares, ratio = np.empty_like(x), np.empty((x.shape[0], max(n - 1, 0)), x.dtype)
    for i in range(x.shape[0]):
        for j in range(n):
            finite = where(y[i, j] == -np.inf, 0.0, y[i, j])
            shares[i, j] = exp(x[i, j] - finite)
            if j:
                ratio[i, j - 1] = exp(y[i, j - 1] - finite)
    for i in range(rows):
        for j in range(n):
            share = 1.0 if backwards else shares[i % x.shape[0], j]
            total[i, j] = share * c[i % c.shape[0], j]
    total = recurrence(ratio, total, backwards)
    if backwards:
        for i in range(rows):
            for j in range(n):
                total[i, j] *= shares[i % x.shape[0], j]
    return total


@compiled
def correlate(x, w):
    """Return scalar products of a vector with all pieces of a longer one."""
    total = np.zeros(max(x.size - w.size + 1, 0), x.dtype)
    for k in range(w.size):
        for i in range(total.size):
            total[i] += x[i + k] * w[k]
    return total


@compiled
def convolve(x, w):
    """Return the convolution of two vectors."""
    if x.size == 0 or w.size == 0:
        raise ValueError("a convolution needs entries")
    total = np.zeros(x.size + w.size - 1, x.dtype)
    for k in range(w.size):
        for i in range(x.size):
            total[i + k] += x[i] * w[k]
    return total
