"""NumPy helper functions of generated sources for functions of entries."""

from __future__ import annotations

import numpy as np

from .special_functions import gamma_rise as gamma_rise_by_series


def sigmoid(z):
    """Return 1 / (1 + exp(-z)); a sum that overflows has the reciprocal 0."""
    if np.size(z) < 100:
        return np.exp(-np.logaddexp(0, -z))
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-z))


def sigmoid_slope(z):
    """Return sigmoid(z) * sigmoid(-z)."""
    t = np.exp(-np.abs(z))
    return t / (1 + t) ** 2


def softplus(z):
    """Return log(1 + exp(z)) without overflow."""
    if np.size(z) < 100:
        return np.logaddexp(0, z)
    return np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))


def gamma_rise(n, x, k, difference):
    """Return polygamma(n, x + k) - polygamma(n, x), of gammaln for n = -1: the difference, if it
    loses few digits everywhere; a series takes several times as long."""
    if np.all(((8 * k >= x) | (k == 0)) & (x > 0)):
        return difference
    return gamma_rise_by_series(n, x, k, difference)
