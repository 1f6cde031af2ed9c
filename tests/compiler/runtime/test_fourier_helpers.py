"""Helper functions of Fourier transforms, against NumPy's transforms of complex numbers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from runtime_helpers import helper, in_names_of, raw

from sympy_einsum.compiler.backends import BACKENDS

RANDOM = np.random.default_rng(5)


def weights(count, length, weighted, factor):
    """Those of frequencies that stand for their conjugates too."""
    k = np.arange(count)
    return np.where(weighted & (k != 0) & (2 * k != length), factor, 1.0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "length"), [(4, 4), (3, 5), (1, 1), (2, 6), (5, 7)])
def test_transforms(n, length, weighted):
    x = RANDOM.standard_normal((2, n))
    names = (
        *("array_helpers.spectrum", "numpy_arrays.spectrum", "numba_fourier.real_spectrum"),
        "numba_complex.spectrum",
    )
    for count in {1, length // 2 + 1} if weighted else {1, length // 2 + 1, length}:
        z = np.fft.fft(x, length)[:, :count] * weights(count, length, weighted, 2)
        expected = np.stack([z.real, z.imag], -1)
        for name in (*names[:3], "expression_helpers.spectrum"):
            found = helper(name)(x, length, count, weighted)
            assert_allclose(found, expected, atol=1e-13, err_msg=name)
        # Real and imaginary parts of complex numbers are transformed alone.
        other = RANDOM.standard_normal((2, n))
        z = np.fft.fft(other, length)[:, :count] * weights(count, length, weighted, 2)
        expected = expected + 1j * np.stack([z.real, z.imag], -1)
        for name in (names[0], names[1], names[3]):
            found = helper(name)(x + 1j * other, length, count, weighted)
            assert_allclose(found, expected, atol=1e-13, err_msg=name)


@pytest.mark.parametrize(("n", "length"), [(3, 4), (3, 5), (1, 1), (2, 6), (4, 7)])
def test_inverse_transforms(n, length):
    """... of frequencies that count once, or as they are with their conjugates."""
    x, y = RANDOM.standard_normal((2, 2, n))
    names = (
        *("array_helpers.from_spectrum", "numpy_arrays.from_spectrum"),
        *("numba_fourier.real_from_spectrum", "numba_complex.from_spectrum"),
    )
    k, j = np.arange(n), np.arange(length)
    for count in {1, length}:
        for weighted in (False, True):
            waves = np.exp(2j * np.pi * np.outer(k, j) / length)
            factors = weights(n, length, weighted, 2)
            expected = (((x + 1j * y) * factors) @ waves).real[:, :count]
            for name in (*names[:3], "expression_helpers.from_spectrum"):
                found = helper(name)(x, y, length, count, weighted)
                assert_allclose(found, expected, atol=1e-12, err_msg=name)
            for name in (names[0], names[1], names[3]):
                found = helper(name)(x + 1j * x, y + 1j * y, length, count, weighted)
                assert_allclose(found, (1 + 1j) * expected, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("length", [1, 4, 5])
def test_factors_of_frequencies_that_stand_for_two(length):
    z = np.zeros((2, length // 2 + 1), complex)
    expected = weights(length // 2 + 1, length, True, 0.5)
    for name in ("array_helpers.one_sided_weights", "torch_helpers.one_sided_weights"):
        found = helper(name)(z, length, 0.5)
        assert_array_equal(np.broadcast_to(found, z.shape), np.broadcast_to(expected, z.shape))


def test_transforms_of_single_precision():
    x = RANDOM.standard_normal((2, 4)).astype(np.float32)
    found = raw("numpy_arrays.spectrum")(x, 4, 3, False)
    assert found.dtype == np.float32
    assert raw("numpy_arrays.from_spectrum")(x, x, 6, 6, False).dtype == np.float32
    single = BACKENDS["numba"].by_type["float32"]
    assert in_names_of(single, "complex_type") is np.complex64
    assert_allclose(in_names_of(single, "spectrum")(x, 4, 3, False), found, atol=1e-6)
