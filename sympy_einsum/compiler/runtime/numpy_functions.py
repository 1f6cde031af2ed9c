"""NumPy helper functions of generated sources for functions of entries."""

from __future__ import annotations

import numpy as np
from scipy import special


def sigmoid(z):
    """1 / (1 + exp(-z)); a sum that overflows has the reciprocal 0."""
    if z.size < 100:
        return np.exp(-np.logaddexp(0, -z))
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-z))


def sigmoid_slope(z):
    """sigmoid(z) * sigmoid(-z)."""
    t = np.exp(-np.abs(z))
    return t / (1 + t) ** 2


def erfcx_rate(z):
    """2*z - 2/(sqrt(pi)*erfcx(z)), by a continued fraction where that cancels."""
    x = np.maximum(z, 4)
    rate = x
    for k in range(24, 0, -1):
        rate = x + (k + 1) / 2 / rate
    return np.where(z > 4, -1 / rate, 2 * z - 2 / np.sqrt(np.pi) / special.erfcx(z))


def softplus(z):
    """log(1 + exp(z)) without overflow."""
    if z.size < 100:
        return np.logaddexp(0, z)
    return np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))
