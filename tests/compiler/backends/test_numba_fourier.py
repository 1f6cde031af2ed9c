"""Numba: Fourier transforms, of all lengths and types of numbers."""

from __future__ import annotations

import numpy as np
import pytest
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

pytest.importorskip("numba")
pytest.importorskip("rocket_fft")
m, n = symbols("m n", integer=True, positive=True)
X, Y = se.TensorSymbol("X", (m, n)), se.TensorSymbol("Y", (m, n))
SHAPES = [(1, 2), (2, 5), (3, 4), (4, 7), (0, 3)]


def compared(exprs, arguments, shapes, kinds=(np.float64,)):
    """Compare with NumPy's values."""
    function, expected = (se.lambdify(arguments, exprs, name) for name in ("numba", "numpy"))
    rng = np.random.default_rng(0)
    for shape in shapes:
        for kind in kinds:
            values = [rng.standard_normal(shape).astype(kind) for _ in arguments]
            if np.dtype(kind).kind == "c":
                values = [kind(1 + 0.5j) * value for value in values]
            tolerance = 2000 * np.finfo(kind).eps
            for own, other in zip(function(*values), expected(*values), strict=True):
                assert own.dtype == other.dtype
                size = 1 + np.max(np.abs(other), initial=0.0)
                np.testing.assert_allclose(own, other, rtol=tolerance, atol=tolerance * size)


def test_there():
    """Forward transforms of any number of frequencies, and their derivatives, which are backward
    ones."""
    z, half = snp.fft.fft(X, axis=0), snp.fft.rfft(X)
    gradient = se.gradient((half.real**3).sum() + (z.imag**3).sum(), X)
    kinds = (np.float64, np.float32, np.complex128)
    compared([z.real, z.imag, half.real, half.imag, gradient], [X], SHAPES[:-1], kinds)


def test_back():
    z = se.ComplexTensor(X, Y)
    back, real = snp.fft.ifft(z), snp.fft.irfft(z)
    gradients = [se.gradient((back.imag**3).sum() + (real**3).sum(), own) for own in (X, Y)]
    kinds = (np.float64, np.complex64)
    compared([back.real, back.imag, real, *gradients], [X, Y], SHAPES, kinds)


@pytest.mark.parametrize("length", [1, 8])
def test_truncation_and_padding(length):
    P, Q = (se.TensorSymbol(name, (2, 5)) for name in "PQ")
    z = se.ComplexTensor(P, Q)
    there, back = snp.fft.fft(z, length), snp.fft.irfft(z, length)
    gradient = se.gradient((there.imag**2).sum() + (back**3).sum(), P)
    compared([there.real, back, gradient], [P, Q], [(2, 5)])


def test_waves_and_along_several_axes():
    z = snp.fft.fftn(se.ComplexTensor(X, Y))
    waves = [se.Fourier(n, 2, 1), se.Fourier(6, 4, 5, True)]
    compared([z.real, z.imag, snp.fft.irfftn(z), *waves], [X, Y], SHAPES[:3])
