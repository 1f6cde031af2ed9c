"""``numpy.fft``: transforms of real tensors and of pairs of them, which stand for complex
numbers.

A transform is linear, so its derivatives are transforms too; compiled code calls the library's.

>>> import sympy_einsum as se
>>> import sympy_einsum.numpy as snp
>>> x = se.TensorSymbol("x", 8)
>>> energy = (abs(snp.fft.rfft(x)) ** 2).sum()
>>> se.gradient(energy, x).shape
(8,)
"""

from __future__ import annotations

from ..core import Length
from ..expressions import Operand, TensorLike
from ..operations import (
    ComplexLike,
    ComplexTensor,
    fft,
    fftfreq,
    fftn,
    fftshift,
    hfft,
    ifft,
    ifftn,
    ifftshift,
    ihfft,
    irfft,
    irfftn,
    rfft,
    rfftfreq,
    rfftn,
)

Lengths = tuple[Length, Length] | None

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]


def __dir__() -> list[str]:
    return __all__


def fft2(
    a: ComplexLike, s: Lengths = None, axes: tuple[int, int] = (-2, -1), norm: str | None = None
) -> ComplexTensor:
    """``numpy.fft.fft2``: :func:`fftn` along two axes.

    Errors are those of that function.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.fft.fft2(se.TensorSymbol("A", (4, 6))).shape
    (4, 6)
    """
    return fftn(a, s, axes, norm)


def ifft2(
    a: ComplexLike, s: Lengths = None, axes: tuple[int, int] = (-2, -1), norm: str | None = None
) -> ComplexTensor:
    """``numpy.fft.ifft2``: :func:`ifftn` along two axes.

    Errors are those of that function.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (2, 2))
    >>> back = snp.fft.ifft2(snp.fft.fft2(A)).real
    >>> se.lambdify([A], back)([[1.0, 2.0], [3.0, 4.0]])
    array([[1., 2.],
           [3., 4.]])
    """
    return ifftn(a, s, axes, norm)


def rfft2(
    a: TensorLike, s: Lengths = None, axes: tuple[int, int] = (-2, -1), norm: str | None = None
) -> ComplexTensor:
    """``numpy.fft.rfft2``: :func:`rfftn` along two axes.

    Errors are those of that function.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.fft.rfft2(se.TensorSymbol("A", (4, 6))).shape
    (4, 4)
    """
    return rfftn(a, s, axes, norm)


def irfft2(
    a: ComplexLike, s: Lengths = None, axes: tuple[int, int] = (-2, -1), norm: str | None = None
) -> Operand:
    """``numpy.fft.irfft2``: :func:`irfftn` along two axes.

    Errors are those of that function.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (2, 2))
    >>> back = snp.fft.irfft2(snp.fft.rfft2(A))
    >>> se.lambdify([A], back)([[1.0, 2.0], [3.0, 4.0]])
    array([[1., 2.],
           [3., 4.]])
    """
    return irfftn(a, s, axes, norm)
