"""NumPy helper functions of generated sources for functions of entries."""

from __future__ import annotations

import numpy as np
from scipy import special

from .special_functions import (
    gamma_rise as gamma_rise_by_series,
    log_ndtr_difference as log_ndtr_difference_by_tails,
    ndtr_share as ndtr_share_by_tails,
)


def sigmoid(z):
    """Return 1 / (1 + exp(-z)); a sum that overflows has the reciprocal 0."""
    if np.size(z) < 100:
        return np.exp(-np.logaddexp(0, -z))
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-z))


def sigmoid_derivative(z):
    """Return sigmoid(z) * sigmoid(-z)."""
    t = np.exp(-np.abs(z))
    return t / (1 + t) ** 2


def softplus(z):
    """Return log(1 + exp(z)) without overflow."""
    if np.size(z) < 100:
        return np.logaddexp(0, z)
    return np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))


def logaddexp_by_log1p(a, b):
    """Return log(exp(a) + exp(b)) without overflow; of many entries in a third of the time."""
    if max(np.size(a), np.size(b)) < 500 or np.result_type(a, b).kind != "f":
        return np.logaddexp(a, b)
    with np.errstate(over="ignore", invalid="ignore"):
        # Infinities of one sign have no difference.
        gap = np.fmin(np.abs(a - b), np.inf)
    return np.maximum(a, b) + np.log1p(np.exp(-gap))


def polygamma(n, x):
    """Return the polygamma function; trigamma of many positive entries by recurrence and a series,
    a quarter of the time."""
    if not (n == 1 and np.size(x) > 100 and x.dtype == float and np.all(x > 1e-100)):
        return special.polygamma(n, x)
    total = 0.0
    for _ in range(9):
        root = 1 / x
        total = total + root * root
        x = x + 1
    root = 1 / x
    square = root * root
    tail = 0.0
    for factor in (7 / 6, -691 / 2730, 5 / 66, -1 / 30, 1 / 42, -1 / 30, 1 / 6):
        tail = square * (tail + factor)
    return total + root * (1 + root / 2 + tail)


def replaced(value, is_lost, function, *arguments):
    """Return a value with some entries by another function of the arguments, which takes longer."""
    if not np.any(is_lost):
        return value
    is_lost, *parts = np.broadcast_arrays(is_lost, *arguments)
    value = np.array(value)
    value[is_lost] = function(*[part[is_lost] for part in parts])
    return value[()]


def gamma_rise(n, x, k, difference):
    """Return polygamma(n, x + k) - polygamma(n, x), of gammaln for n = -1: the difference, by a
    series where it loses digits."""
    is_lost = (8 * k < x) & (k != 0)

    def by_series(x, k, difference):
        return gamma_rise_by_series(n, x, k, difference)

    return replaced(difference, is_lost, by_series, x, k, difference)


def log_ndtr_difference(a, b):
    """Return log(ndtr(a) - ndtr(b)): in the left tail by symmetry, and by logarithms, which take
    longer, where the difference loses digits."""
    is_right = a + b > 0
    top = special.ndtr(np.where(is_right, -b, a))
    gap = top - special.ndtr(np.where(is_right, -a, b))
    is_lost = ~((10 * gap >= top) & (top > 1e-10))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(gap)
    return replaced(found, is_lost, log_ndtr_difference_by_tails, a, b)


def ndtr_share_of_log(x, a, b, size):
    """Return the density of the normal distribution at x over ndtr(a) - ndtr(b), given the
    logarithm of that; in the tails, where this loses digits, by a function that takes longer."""
    share = np.exp(-0.5 * x * x - size - 0.9189385332046727)
    return replaced(share, ~(size > -23), ndtr_share_by_tails, x, a, b)
