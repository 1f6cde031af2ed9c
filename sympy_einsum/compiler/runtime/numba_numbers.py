"""Numba helper functions of generated sources for functions of numbers."""

from __future__ import annotations

import math

import numpy as np

from .numba_elementary import exp, log, log1p
from .stubs import inlined


@inlined
def maximum(a, b):
    """Return the larger number; nan if either is."""
    return a if a > b or a != a else b


@inlined
def minimum(a, b):
    """Return the smaller number; nan if either is."""
    return a if a < b or a != a else b


@inlined
def fmax(a, b):
    """Return the larger number, or the one that isn't nan."""
    return a if a >= b or b != b else b


@inlined
def fmin(a, b):
    """Return the smaller number, or the one that isn't nan."""
    return a if a <= b or b != b else b


@inlined
def where(condition, a, b):
    """Return one of two numbers."""
    return a if condition else b


@inlined
def finite(x):
    """Return a number, or 0 if it isn't finite."""
    return x if np.isfinite(x) else 0.0


@inlined
def heaviside(x, at_0):
    """Return 0 on the left of 0, a value at 0, 1 on the right."""
    return 1.0 if x > 0 else 0.0 if x < 0 else at_0 if x == 0 else np.nan


@inlined
def sign(x):
    """Return -1, 0 or 1."""
    return 1.0 if x > 0 else -1.0 if x < 0 else 0.0 if x == 0 else np.nan


@inlined
def logaddexp(a, b):
    """Return log(exp(a) + exp(b)) without overflow."""
    return a + log(2.0) if a == b else max(a, b) + log1p(exp(-abs(a - b)))


@inlined
def nan_to_num(x):
    """Replace nan by 0 and infinity by the largest number."""
    return 0.0 if x != x else min(max(x, -1.7976931348623157e308), 1.7976931348623157e308)


@inlined
def sinc(x):
    """Return sin(pi x) / (pi x)."""
    return 1.0 if x == 0 else np.sin(np.pi * x) / (np.pi * x)


@inlined
def sigmoid(z):
    """Return 1 / (1 + exp(-z)); a sum that overflows has the reciprocal 0."""
    return 1 / (1 + exp(-z))


@inlined
def sigmoid_derivative(z):
    """Return sigmoid(z) * sigmoid(-z)."""
    t = exp(-abs(z))
    return t / (1 + t) ** 2


@inlined
def softplus(z):
    """Return log(1 + exp(z)) without overflow."""
    return maximum(z, 0.0) + log1p(exp(-abs(z)))


@inlined
def ndtr(x):
    """Return the normal distribution function."""
    return 0.5 * math.erfc(-x * 0.7071067811865476)


@inlined
def xlogy(x, y):
    """Return x log y, which is 0 where x is."""
    return 0.0 if x == 0 and y == y else x * log(y)


@inlined
def xlog1py(x, y):
    """Return x log(1 + y), which is 0 where x is."""
    return 0.0 if x == 0 and y == y else x * log1p(y)


@inlined
def entr(x):
    """Return -x log x."""
    return -np.inf if x < 0 else -xlogy(x, x)


@inlined
def rel_entr(x, y):
    """Return x log(x / y)."""
    if x > 0 and y > 0:
        return x * log(x / y)
    return 0.0 if x == 0 and y >= 0 else np.nan if x != x or y != y else np.inf


@inlined
def loggamma(x):
    """Return the logarithm of the gamma function, where it is real."""
    return np.nan if x < 0 else math.lgamma(x)


@inlined
def position(place, length):
    """Return a position on an axis, which may be counted from its end."""
    if place < -length or place >= length:
        raise IndexError("a position is outside of its axis")
    return np.uintp(place + length if place < 0 else place)
