"""Numba helper functions of generated sources for complex numbers."""

from __future__ import annotations

import numpy as np

from .numba_fourier import real_from_spectrum, real_spectrum
from .stubs import compiled

exp = np.exp
expm1 = np.expm1
tanh = np.tanh
log = np.log
log1p = np.log1p
dtype = np.complex128
is_real = False


@compiled
def spectrum(x, length, count, weighted):
    """Transform the real and the imaginary part of rows of complex numbers."""
    real = real_spectrum(x.real.copy(), length, count, weighted)
    imaginary = real_spectrum(x.imag.copy(), length, count, weighted)
    total = np.empty(real.shape, dtype)
    for at in np.ndindex(real.shape):
        total[at] = complex(real[at], imaginary[at])
    return total


@compiled
def from_spectrum(x, y, length, count, weighted):
    """Transform back the real and the imaginary part of rows of complex frequencies."""
    real = real_from_spectrum(x.real.copy(), y.real.copy(), length, count, weighted)
    imaginary = real_from_spectrum(x.imag.copy(), y.imag.copy(), length, count, weighted)
    total = np.empty(real.shape, dtype)
    for at in np.ndindex(real.shape):
        total[at] = complex(real[at], imaginary[at])
    return total
