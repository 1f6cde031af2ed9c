"""Define cases of Fourier transforms. The hand-written programs use real transforms, with half of
the frequencies, and apply the weights of conjugate pairs to the smallest arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import symbols

import sympy_einsum as se

from .case import Case, normal, three, with_gradient

m, n = symbols("m n", integer=True, positive=True)
HALF = n // 2 + 1
x, taps, target, weights = se.tensors("x taps target weights", n)
gains, logs = se.TensorSymbol("gains", HALF), se.TensorSymbol("logs", HALF)
X, image = se.TensorSymbol("X", m, n), se.TensorSymbol("image", m, n)
blur = se.TensorSymbol("blur", m, HALF)
LIBRARIES = ("jax", "torch", "autograd")


# --- for all namespaces ---------------------------------------------------------------------------


def power(xp: Any, x: Any, weights: Any) -> Any:
    return xp.sum(weights * xp.abs(xp.fft.fft(x)) ** 2)


def convolution(xp: Any, x: Any, taps: Any, target: Any) -> Any:
    found = xp.fft.irfft(xp.fft.rfft(x) * xp.fft.rfft(taps), x.shape[0])
    return xp.sum((found - target) ** 2)


def filtered(xp: Any, x: Any, gains: Any, target: Any) -> Any:
    return xp.sum((xp.fft.irfft(xp.fft.rfft(x) * gains, x.shape[0]) - target) ** 2)


def whittle(xp: Any, x: Any, logs: Any) -> Any:
    """Return Whittle's negative log-likelihood, given the logarithms of the spectral density."""
    return xp.sum(logs + xp.abs(xp.fft.rfft(x)) ** 2 / x.shape[0] * xp.exp(-logs))


def spectra(xp: Any, X: Any, gains: Any) -> Any:
    return xp.sum(xp.log(1 + xp.abs(xp.fft.rfft(X)) ** 2) @ gains)


def deblurring(xp: Any, X: Any, blur: Any, image: Any) -> Any:
    found = xp.fft.irfft2(xp.fft.rfft2(X) * blur, X.shape)
    return xp.sum((found - image) ** 2)


# --- by hand --------------------------------------------------------------------------------------


def squares(z: Any) -> Any:
    found = z.real**2
    found += z.imag**2
    return found


def back(z: Any, length: int) -> Any:
    """Map the gradient of half of the frequencies, which is overwritten, to that of the signal."""
    z[..., 1 : (length + 1) // 2] *= 0.5
    found = np.fft.irfft(z, length, norm="forward")
    found *= 2
    return found


def power_gradient(x: Any, weights: Any) -> Any:
    length = len(x)
    z, both = np.fft.rfft(x), weights[: length // 2 + 1].copy()
    both[1 : (length + 1) // 2] += weights[: length // 2 : -1]
    value = both.dot(squares(z))
    both[1 : (length + 1) // 2] *= 0.5
    z *= both
    found = np.fft.irfft(z, length, norm="forward")
    found *= 2
    return value, found


def convolution_gradient(x: Any, taps: Any, target: Any) -> Any:
    z = np.fft.rfft(x)
    e = np.fft.irfft(z * np.fft.rfft(taps), len(x))
    e -= target
    np.conjugate(z, out=z)
    z *= np.fft.rfft(e)
    gradient = np.fft.irfft(z, len(x))
    gradient *= 2
    return e.dot(e), gradient


def filtered_gradients(x: Any, gains: Any, target: Any) -> Any:
    length, z = len(x), np.fft.rfft(x)
    e = np.fft.irfft(z * gains, length)
    e -= target
    rest = np.fft.rfft(e)
    by_gains = z.real * rest.real
    by_gains += z.imag * rest.imag
    by_gains *= 2 / length
    by_gains[1 : (length + 1) // 2] *= 2
    rest *= gains
    gradient = np.fft.irfft(rest, length)
    gradient *= 2
    return e.dot(e), gradient, by_gains


def whittle_gradients(x: Any, logs: Any) -> Any:
    z, rates = np.fft.rfft(x), np.exp(-logs)
    shares = squares(z)
    shares *= rates
    shares /= len(x)
    rates /= len(x)
    z *= rates
    return logs.sum() + shares.sum(), back(z, len(x)), 1 - shares


def spectra_gradient(X: Any, gains: Any) -> Any:
    z = np.fft.rfft(X)
    found = squares(z)
    value = np.log1p(found).sum(axis=0).dot(gains)
    found += 1
    np.divide(gains, found, out=found)
    z *= found
    return value, back(z, X.shape[1])


def deblurring_gradient(X: Any, blur: Any, image: Any) -> Any:
    rows, columns = X.shape
    e = np.fft.irfft2(np.fft.rfft2(X) * blur, X.shape)
    e -= image
    z, even = np.fft.rfft2(e), blur.copy()
    for k in {0, columns // 2 if columns % 2 == 0 else 0}:  # these represent their conjugates too
        even[:, k] += even[-np.arange(rows), k]
        even[:, k] *= 0.5
    z *= even
    gradient = np.fft.irfft2(z, X.shape)
    gradient *= 2
    return e.ravel().dot(e.ravel()), gradient


FOURIER = [
    Case("weighted powers of a transform, value and gradient",
         lambda: ([x, weights], with_gradient(power(se.numpy, x, weights), x)),
         three(8, 1000, 50000), lambda s: normal((s,), (s,)), power_gradient, power,
         peers=LIBRARIES),
    Case("convolution by transforms, value and gradient",
         lambda: ([x, taps, target], with_gradient(convolution(se.numpy, x, taps, target), taps)),
         three(8, 1000, 50000), lambda s: normal((s,), (s,), (s,)), convolution_gradient,
         convolution, 1, peers=LIBRARIES),
    Case("filter of frequencies, value and gradients",
         lambda: ([x, gains, target],
                  with_gradient(filtered(se.numpy, x, gains, target), x, gains)),
         three(8, 1000, 50000), lambda s: normal((s,), (s // 2 + 1,), (s,)), filtered_gradients,
         filtered, (0, 1), peers=LIBRARIES),
    Case("spectral density, value and gradients",
         lambda: ([x, logs], with_gradient(whittle(se.numpy, x, logs), x, logs)),
         three(8, 1000, 50000), lambda s: normal((s,), (s // 2 + 1,)), whittle_gradients,
         whittle, (0, 1), peers=LIBRARIES),
    Case("spectra of rows, value and gradient",
         lambda: ([X, gains], with_gradient(spectra(se.numpy, X, gains), X)),
         three((4, 8), (100, 64), (500, 400)), lambda r, c: normal((r, c), (c // 2 + 1,)),
         spectra_gradient, spectra, peers=LIBRARIES),
    Case("deblurring of an image, value and gradient",
         lambda: ([X, blur, image], with_gradient(deblurring(se.numpy, X, blur, image), X)),
         three((5, 8), (60, 64), (400, 500)),
         lambda r, c: normal((r, c), (r, c // 2 + 1), (r, c)), deblurring_gradient,
         deblurring, peers=LIBRARIES),
]  # fmt: skip
