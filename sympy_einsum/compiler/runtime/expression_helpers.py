"""NumPy helper functions that are one expression, to be inlined where there are no statements.

The parameters of a ``lambda`` begin with an underscore, as no argument's name does.
"""

# mypy: disable-error-code="func-returns-value"

from __future__ import annotations

import numpy as np


def sums(x, axis=None):
    """Return sums over axes."""
    return x.sum(axis=axis)


def weighted_gram(X, w):
    """Return X.T @ diag(w) @ X."""
    return (X.T * w).dot(X)


def windows(x, axis, start, steps, counts):
    """Return the entries at start + steps[0] * i + steps[1] * k of an axis, at [i, k]."""
    return np.take(
        x,
        start + (steps[0] * np.arange(counts[0]))[:, None] + steps[1] * np.arange(counts[1]),
        axis,
    )


def _padded(x):
    """Return an array with a zero before it on the last axis."""
    return np.concatenate([np.zeros((*x.shape[:-1], 1)), x], -1)


def lagged_cumsum(x, axis, backwards, lag, count):
    """Return running sums of which entry j ends at j - lag; backwards, they begin at j + lag."""
    return (
        lambda _x: np.moveaxis(
            np.take(
                _padded(_x[..., ::-1] if backwards else _x).cumsum(-1),
                np.clip(
                    _x.shape[-1] - lag - np.arange(count)
                    if backwards
                    else 1 - lag + np.arange(count),
                    0,
                    _x.shape[-1],
                ),
                -1,
            ),
            -1,
            axis,
        )
    )(np.moveaxis(x, axis, -1))


def mirrored(x, larger):
    """Return x at the larger of two positions on the last axis, or at the smaller."""
    return np.where(
        np.tri(x.shape[-1]) > 0 if larger else np.tri(x.shape[-1]).T > 0,
        x[..., :, None],
        x[..., None, :],
    )


def running_products(x, backwards):
    """Return 1 and the running products along the last axis, or those from its end and 1."""
    return (
        running_products(x[..., ::-1], False)[..., ::-1]
        if backwards
        else np.concatenate([np.ones((*x.shape[:-1], 1)), x.cumprod(-1)], -1)
    )


def _times_upper(row, matrix, backwards):
    """Return rows times the upper triangles of matrices, or times their transposes."""
    return np.einsum("...j,...ij->...i" if backwards else "...i,...ij->...j", row, np.triu(matrix))


def recurrence(x, b, backwards):
    """Solve y[j] = x[j - 1] y[j - 1] + b[j] along the last axis, by its matrix; backwards y[j] =
    x[j] y[j + 1] + b[j]."""
    return (
        lambda _x: _times_upper(
            b, np.where(np.tri(_x.shape[-1]) > 0, 1, _x[..., None, :]).cumprod(-1), backwards
        )
    )(_padded(x))


def running_weights(x):
    """Return x itself."""
    return x


def logcumsumexp(x):
    """Return log(cumsum(exp(x))) along the last axis."""
    return np.logaddexp.accumulate(x + 0.0, -1)


def running_mean(x, c, backwards):
    """Return sums of c[i] exp(x[i] - y[j]) over i <= j, or of c[j] over j >= i, of y =
    log(cumsum(exp(x)))."""
    return _times_upper(
        c,
        np.exp(np.minimum(x[..., :, None] - np.maximum(logcumsumexp(x), -1e308)[..., None, :], 0)),
        backwards,
    )


def share(x, top, axis=None):
    """Return where x is the extremum, divided by how often it is."""
    return (lambda _hits: _hits / _hits.sum(axis=axis, keepdims=True))(x == top)


def last_equal(x, best, axis):
    """Return the positions of the last entries so far that are equal to others."""
    return np.maximum.accumulate(
        np.where(
            x == best,
            np.arange(np.shape(x)[axis]).reshape([-1] + [1] * (np.ndim(x) - 1 - axis)),
            0,
        ),
        axis=axis,
    )


def scatter(values, lengths, *positions, once=False):
    """Add values to zeros at positions on the first axes, also at repeated ones."""
    return (lambda _total: (np.add.at(_total, positions, values), _total)[1])(
        np.zeros(lengths + np.shape(values)[np.broadcast(*positions).ndim :])
    )


def one_hot(positions, length, dtype):
    """Return ones at positions on a last axis, which may be counted from its end."""
    return ((np.asarray(positions) % length)[..., None] == np.arange(length)) * 1.0


def max_shift(x, axis=None):
    """Return the largest entries, 0 where those are infinite."""
    return np.nan_to_num(x.max(axis=axis, keepdims=True, initial=-np.inf), posinf=0, neginf=0)


def logsumexp(x, axis=None):
    """Return log(sum(exp(x))) without overflow."""
    return np.logaddexp.reduce(x, axis=axis)


def log_total(weights, total, axis=None):
    """Return the logarithm of a sum of weights."""
    return np.log(weights.sum(axis=axis))


def softmax(x, axis=None):
    """Return exp(x) / sum(exp(x)) without overflow."""
    return (lambda _weights: _weights / _weights.sum(axis=axis, keepdims=True))(
        np.exp(x - x.max(axis=axis, keepdims=True, initial=-np.inf))
    )


def _one_sided_weights(count, length):
    """Return 2 for the frequencies that stand for their conjugates too, 1 for the others."""
    return np.where(2 * np.arange(count) % length == 0, 1, 2)


def spectrum(x, length, count, weighted):
    """Return the first frequencies of the last axis, padded with zeros, as real and imaginary
    parts; those that stand for their conjugates too may count twice."""
    return (
        spectrum(x, length, count, False) * _one_sided_weights(count, length)[:, None]
        if weighted
        else (lambda _z: np.stack([_z.real, _z.imag], -1))(np.fft.fft(x, length)[..., :count])
    )


def from_spectrum(x, y, length, count, weighted):
    """Return the first real parts of the unnormalised inverse transform of frequencies x + iy."""
    return np.fft.ifft(
        (x + 1j * y) * _one_sided_weights(x.shape[-1], length) if weighted else x + 1j * y,
        length,
        norm="forward",
    ).real[..., :count]
