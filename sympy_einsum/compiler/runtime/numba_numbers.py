"""Numba helper functions of generated sources for functions of numbers."""

from __future__ import annotations

import math

import numpy as np

from .numba_elementary import exp, log, log1p
from .stubs import inlined


@inlined
def maximum(a, b):
    """The larger one; no number if one is none."""
    return a if a > b or a != a else b


@inlined
def minimum(a, b):
    """The smaller one; no number if one is none."""
    return a if a < b or a != a else b


@inlined
def fmax(a, b):
    """The larger one, or the one that is a number."""
    return a if a >= b or b != b else b


@inlined
def fmin(a, b):
    """The smaller one, or the one that is a number."""
    return a if a <= b or b != b else b


@inlined
def where(condition, a, b):
    """One of two numbers."""
    return a if condition else b


@inlined
def finite(x):
    """A number, or 0 if it isn't finite."""
    return x if np.isfinite(x) else 0.0


@inlined
def heaviside(x, at_0):
    """0, a value at 0, 1."""
    return 1.0 if x > 0 else 0.0 if x < 0 else at_0 if x == 0 else np.nan


@inlined
def sign(x):
    """-1, 0 or 1."""
    return 1.0 if x > 0 else -1.0 if x < 0 else 0.0 if x == 0 else np.nan


@inlined
def logaddexp(a, b):
    """log(exp(a) + exp(b)) without overflow."""
    return a + log(2.0) if a == b else max(a, b) + log1p(exp(-abs(a - b)))


@inlined
def nan_to_num(x):
    """0 for what is no number, the largest ones for infinity."""
    return 0.0 if x != x else min(max(x, -1.7976931348623157e308), 1.7976931348623157e308)


@inlined
def sinc(x):
    """sin(pi x) / (pi x)."""
    return 1.0 if x == 0 else np.sin(np.pi * x) / (np.pi * x)


@inlined
def sigmoid(z):
    """1 / (1 + exp(-z)); a sum that overflows has the reciprocal 0."""
    return 1 / (1 + exp(-z))


@inlined
def sigmoid_slope(z):
    """sigmoid(z) * sigmoid(-z)."""
    t = exp(-abs(z))
    return t / (1 + t) ** 2


@inlined
def softplus(z):
    """log(1 + exp(z)) without overflow."""
    return maximum(z, 0.0) + log1p(exp(-abs(z)))


@inlined
def ndtr(x):
    """The normal distribution function."""
    return 0.5 * math.erfc(-x * 0.7071067811865476)


@inlined
def xlogy(x, y):
    """x log y, which is 0 where x is."""
    return 0.0 if x == 0 and y == y else x * log(y)


@inlined
def xlog1py(x, y):
    """x log(1 + y), which is 0 where x is."""
    return 0.0 if x == 0 and y == y else x * log1p(y)


@inlined
def entr(x):
    """-x log x."""
    return -np.inf if x < 0 else -xlogy(x, x)


@inlined
def rel_entr(x, y):
    """x log(x / y)."""
    if x > 0 and y > 0:
        return x * log(x / y)
    return 0.0 if x == 0 and y >= 0 else np.nan if x != x or y != y else np.inf


@inlined
def loggamma(x):
    """The logarithm of the gamma function, where it is real."""
    return np.nan if x < 0 else math.lgamma(x)


@inlined
def position(place, length):
    """A position on an axis, which may be counted from its end."""
    if place < -length or place >= length:
        raise IndexError("a position is outside of its axis")
    return np.uintp(place + length if place < 0 else place)
