"""Numba helper functions of generated sources for Fourier transforms of rows.

They call DUCC's by the package rocket-fft: the transform of real numbers up to half their length,
and its inverse, which the others follow from.
"""

from __future__ import annotations

import numpy as np
import rocket_fft

from .numba_types import dtype
from .stubs import compiled

complex_type = np.result_type(dtype, np.complex64).type


@compiled
def real_spectrum(x, length, count, weighted):
    """Return the first frequencies of rows padded with zeros, as real and imaginary parts; those
    that stand for their conjugates too may count twice."""
    padded, half = np.zeros((x.shape[0], length), x.dtype), length // 2 + 1
    frequencies = np.empty((x.shape[0], half), complex_type)
    for at in np.ndindex(x.shape):
        padded[at] = x[at]
    rocket_fft.r2c(padded, frequencies, np.array([1]), True, 1.0, 1)
    total = np.empty((x.shape[0], count, 2), x.dtype)
    for i in range(x.shape[0]):
        for k in range(count):
            z = frequencies[i, k] if k < half else frequencies[i, length - k]
            factor = 2.0 if weighted and 0 < k < length - k else 1.0
            total[i, k, 0] = factor * z.real
            total[i, k, 1] = factor * z.imag if k < half else -z.imag
    return total


@compiled
def real_from_spectrum(x, y, length, count, weighted):
    """Return the first real parts of the unnormalised inverse transforms of rows x + iy."""
    half = length // 2 + 1
    frequencies = np.zeros((x.shape[0], half), complex_type)
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            # A frequency beyond half has the real part of its conjugate at the opposite one.
            own = complex(x[i, k], y[i, k] if k < half else -y[i, k])
            is_whole = weighted or 2 * k % length == 0
            frequencies[i, k if k < half else length - k] += own if is_whole else 0.5 * own
    total = np.empty((x.shape[0], length), x.dtype)
    rocket_fft.c2r(frequencies, total, np.array([1]), False, 1.0, 1)
    return total[:, :count].copy()


spectrum = real_spectrum
from_spectrum = real_from_spectrum
