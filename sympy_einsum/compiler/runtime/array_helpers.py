"""Helper functions of generated code that an array library may lack, in NumPy's names.

``xp`` stands for the library's own namespace.
"""

from __future__ import annotations

import numpy as xp


def cofactors(X, order, *directions):
    """Return the derivative of det of some order, at a singular matrix too, by its singular values.
    All pairs of axes but the first are multiplied by the directions, if there are any."""
    U, s, V = xp.linalg.svd(X)
    *stack, n = s.shape
    size = n ** (order - 1)
    one = xp.diag(xp.ones_like(X.sum(tuple(range(len(stack) + 1))) if stack else s))
    # For each choice of singular values, the product of the others.
    total = s
    for _ in range(order - 1):
        total = xp.where(one > 0, 1, total[..., None, :])
    first = xp.ones_like(total[..., :1])
    before = xp.concatenate([first, total[..., :-1]], -1).cumprod(-1)
    after = xp.concatenate([first, xp.flip(total, (-1,))[..., :-1]], -1).cumprod(-1)
    total = before * xp.flip(after, (-1,))
    if directions:
        first, *others = [U.T.conj() @ D @ V.T.conj() for D in directions]
        d = xp.diagonal(first)
        total = total * (1 - one)
        if others:
            second = others[0]
            e = xp.diagonal(second)
            total = total * (1 - one)[:, None, :] * (1 - one)[:, :, None]
            apart = (total * (d[:, None] * e - first * second.T)).sum((1, 2))
            rest = (total @ e) * first.T + (total @ d) * second.T
            for D, E in [(first, second), (second, first)]:
                rest = rest - xp.einsum("abc,bc,ca->ab", total, D, E)
        else:
            apart, rest = total @ d, total * first.T
        total = U.conj() @ (xp.diag(apart) - rest) @ V.conj()
        return xp.linalg.det(U) * xp.linalg.det(V) * total
    sign = xp.linalg.det(U) * xp.linalg.det(V)
    U, V = U.conj()[..., None, :, :], V.conj()[..., None, :, :]
    for _ in range(order):
        total = total.reshape(*stack, n, size).swapaxes(-1, -2)[..., :, None, :]
        total = (U * total) @ V
        size *= n
    total = total.reshape(*stack, *(n,) * (2 * order))
    last = len(stack) + 1
    for k in range(1, order):
        total = total - sum(total.swapaxes(2 * j + last, 2 * k + last) for j in range(k))
    return sign[(..., *[None] * (2 * order))] * total if stack else sign * total


def derivative_along(function, X, *directions):
    """Return the derivative of a function of a matrix: a block of that of a block matrix."""
    n, M = X.shape[-1], X

    def block(A, B, C, D):
        rows = xp.concatenate([A, B], -1), xp.concatenate([C, D], -1)
        return xp.concatenate(rows, -2)

    for k, E in enumerate(directions):
        for _ in range(k):
            E = block(E, xp.zeros_like(E), xp.zeros_like(E), E)
        M = block(M, E, xp.zeros_like(M), M)
    return function(M)[..., :n, M.shape[-1] - n :]


def max_shift(x, axis=None):
    """Return the largest entries, 0 where those are infinite."""
    if not x.size:
        return xp.exp(x).sum(axis=axis, keepdims=True)
    top = x.max(axis=axis, keepdims=True)
    return xp.where(xp.isfinite(top), top, 0)


def log_total(weights, total, axis=None):
    """Return the logarithm of a sum of weights, the largest of which are 1, the others maybe
    tiny."""
    top = weights == 1
    rest = xp.where(top, 0, weights).sum(axis=axis)
    return xp.log1p(rest + (xp.where(top, weights, 0).sum(axis=axis) - 1))


def logsumexp(x, axis=None):
    """Return log(sum(exp(x))) without overflow."""
    if not x.size:
        return xp.log(xp.exp(x).sum(axis=axis))
    top = x.max(axis=axis, keepdims=True)
    top = xp.where(xp.isfinite(top), top, 0)
    return xp.log(xp.exp(x - top).sum(axis=axis)) + top.sum(axis=axis)


def softmax(x, axis=None):
    """Return exp(x) / sum(exp(x)) without overflow."""
    if not x.size:
        return xp.exp(x)
    weights = xp.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)


def lagged_cumsum(x, axis, backwards, lag, count):
    """Return running sums of which entry j ends at j - lag; backwards, they begin at j + lag."""
    x, n = xp.moveaxis(x, axis, -1), x.shape[axis]
    x = xp.pad(x[..., ::-1] if backwards else x, [(0, 0)] * (x.ndim - 1) + [(1, 0)])
    positions = n - lag - xp.arange(count) if backwards else xp.arange(1 - lag, count + 1 - lag)
    return xp.moveaxis(xp.take(x.cumsum(-1), xp.clip(positions, 0, n), -1), -1, axis)


def mirrored(x, larger):
    """Return x at the larger of two positions on the last axis, or at the smaller."""
    places = xp.arange(x.shape[-1])
    first, second = x[..., :, None], x[..., None, :]
    is_first = places[:, None] >= places if larger else places[:, None] <= places
    return xp.where(is_first, first, second)


def running_products(x, backwards):
    """Return 1 and the running products along the last axis, or those from its end and 1."""
    x = xp.flip(x, (-1,)) if backwards else x
    total = xp.concatenate([xp.ones_like(x.sum(-1))[..., None], x.cumprod(-1)], -1)
    return xp.flip(total, (-1,)) if backwards else total


def recurrence(x, b, backwards):
    """Solve y[j] = x[j - 1] y[j - 1] + b[j] along the last axis, by doubling; backwards y[j] = x[j]
    y[j + 1] + b[j]."""
    if backwards:
        return xp.flip(recurrence(xp.flip(x, (-1,)), xp.flip(b, (-1,)), False), (-1,))
    b = b + xp.zeros_like(x.sum(-1))[..., None]
    x = xp.concatenate([xp.zeros_like(x[..., :1]), x], -1)
    size = 1
    while size < b.shape[-1]:
        later = b[..., size:] + x[..., size:] * b[..., :-size]
        b = xp.concatenate([b[..., :size], later], -1)
        x = xp.concatenate([x[..., :size], x[..., size:] * x[..., :-size]], -1)
        size *= 2
    return b


def running_weights(x):
    """Return x and log(cumsum(exp(x))) along the last axis without overflow, by doubling."""
    y, size = x + 0.0, 1
    while size < y.shape[-1]:
        later = xp.logaddexp(y[..., size:], y[..., :-size])
        y = xp.concatenate([y[..., :size], later], -1)
        size *= 2
    return x, y


def logcumsumexp(weights):
    """Return log(cumsum(exp(x))) of the x that has such weights."""
    return weights[1]


def running_mean(weights, c, backwards):
    """Return sums of c[i] exp(x[i] - y[j]) over i <= j, or of c[j] over j >= i, of x and y =
    log(cumsum(exp(x)))."""
    x, y = weights
    finite = xp.where(y == -xp.inf, 0, y)
    weights, ratio = xp.exp(x - finite), xp.exp(y[..., :-1] - finite[..., 1:])
    if backwards:
        return weights * recurrence(ratio, c, True)
    return recurrence(ratio, weights * c, False)


def share(x, top, axis=None):
    """Return where x is the extremum, divided by how often it is."""
    hits = (x == top).astype(xp.result_type(x, 0.0))
    return hits / hits.sum(axis=axis, keepdims=True)


def spectrum(x, length, count, weighted):
    """Return the first frequencies of the last axis, padded with zeros, as real and imaginary
    parts; those that stand for their conjugates too may count twice."""
    if xp.iscomplexobj(x):
        return spectrum(x.real, length, count, weighted) + 1j * spectrum(
            x.imag, length, count, weighted
        )
    function = xp.fft.rfft if count <= length // 2 + 1 else xp.fft.fft
    z = function(x, length)[..., :count]
    z = z * one_sided_weights(z, length, 2) if weighted else z
    return xp.stack([z.real, z.imag], -1)


def from_spectrum(x, y, length, count, weighted):
    """Return the first real parts of the unnormalised inverse transform of frequencies x + iy."""
    if xp.iscomplexobj(x) or xp.iscomplexobj(y):
        return from_spectrum(x.real, y.real, length, count, weighted) + 1j * from_spectrum(
            (-1j * x).real, (-1j * y).real, length, count, weighted
        )
    z = x + 1j * y
    if z.shape[-1] > length // 2 + 1:
        return xp.fft.ifft(z, length, norm="forward").real[..., :count]
    z = z if weighted else z * one_sided_weights(z, length, 0.5)
    return xp.fft.irfft(z, length, norm="forward")[..., :count]


def one_sided_weights(z, length, factor):
    """Return a factor for the frequencies of real numbers that stand for their conjugates too."""
    k = xp.arange(z.shape[-1])
    alone = (k == 0) | (2 * k == length)
    return xp.where(alone, 1, factor).astype(z.real.dtype)


def last_equal(x, best, axis):
    """Return the positions of the last entries so far that are equal to others."""
    places = xp.arange(x.shape[axis]).reshape([-1] + [1] * (x.ndim - 1 - axis))
    return xp.maximum.accumulate(xp.where(x == best, places, 0), axis=axis)


def one_hot(positions, length, dtype):
    """Return ones at positions on a last axis, which may be counted from its end."""
    places = xp.asarray(positions)[..., None] % length
    return (places == xp.arange(length)).astype(dtype)


def correlate(x, w):
    """Return scalar products of a vector with all pieces of a longer one; NumPy exchanges a longer
    w."""
    return xp.correlate(x, w, "valid")[: max(len(x) - len(w) + 1, 0)]


def windows(x, axis, start, steps, counts):
    """Return the entries at start + steps[0] * i + steps[1] * k of an axis, at [i, k]."""
    i, k = xp.arange(counts[0])[:, None], xp.arange(counts[1])
    found = xp.take(x, (start + steps[0] * i + steps[1] * k).reshape(-1), axis)
    return found.reshape((*x.shape[:axis], *counts, *x.shape[axis + 1 :]))


def newton_root(system, start, *values):
    """Return x with f = 0, of f and its Jacobian from system(x, *values), by Newton's method. Steps
    are halved until they reduce f, and end where they only change digits that rounding decides."""
    x = trial = xp.asarray(start) + 0.0
    residual, share, step, cause = float("inf"), 1.0, x, ""
    for count in range(1, 101):
        f, jacobian = system(trial, *values)
        f = xp.reshape(xp.asarray(f), (-1,))
        n = f.shape[0]
        found = float(abs(f).max()) if n else 0.0
        if found == 0:
            return trial
        if found < residual:
            x, residual, share = trial, found, 1.0
            try:
                step = xp.linalg.solve(xp.reshape(xp.asarray(jacobian), (n, n)), f)
            except (ValueError, RuntimeError):
                cause = ", where the Jacobian is singular"
                break
            step = xp.reshape(step, x.shape)
            digits = xp.finfo(step.dtype).eps ** 0.5
            if abs(step).max() <= digits * abs(x).max():
                return x - step
        elif count == 1:
            residual = found
            break
        elif abs(step).max() <= digits * (1 + abs(x).max()):
            return x
        else:
            share /= 2
        trial = x - share * step
    raise ArithmeticError(
        f"Newton's method did not converge: the residual is {residual:.3g} after {count} "
        f"iterations{cause}; give another start"
    )
