"""``numpy.fft``."""

from __future__ import annotations

from .. import operations as ops
from ..core import Length
from ..expressions import Operand, TensorLike
from ..operations import ComplexLike, ComplexTensor

Lengths = tuple[Length, Length] | None


class fft:
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

    fft = staticmethod(ops.fft)
    fftfreq = staticmethod(ops.fftfreq)
    fftn = staticmethod(ops.fftn)
    fftshift = staticmethod(ops.fftshift)
    hfft = staticmethod(ops.hfft)
    ifft = staticmethod(ops.ifft)
    ifftn = staticmethod(ops.ifftn)
    ifftshift = staticmethod(ops.ifftshift)
    ihfft = staticmethod(ops.ihfft)
    irfft = staticmethod(ops.irfft)
    irfftn = staticmethod(ops.irfftn)
    rfft = staticmethod(ops.rfft)
    rfftfreq = staticmethod(ops.rfftfreq)
    rfftn = staticmethod(ops.rfftn)

    @staticmethod
    def fft2(
        a: ComplexLike,
        s: Lengths = None,
        axes: tuple[int, int] = (-2, -1),
        norm: str | None = None,
    ) -> ComplexTensor:
        """``numpy.fft.fft2``: :func:`fftn` along two axes.

        Errors are those of that function.

        >>> import sympy_einsum as se
        >>> import sympy_einsum.numpy as snp
        >>> snp.fft.fft2(se.TensorSymbol("A", (4, 6))).shape
        (4, 6)
        """
        return ops.fftn(a, s, axes, norm)

    @staticmethod
    def ifft2(
        a: ComplexLike,
        s: Lengths = None,
        axes: tuple[int, int] = (-2, -1),
        norm: str | None = None,
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
        return ops.ifftn(a, s, axes, norm)

    @staticmethod
    def rfft2(
        a: TensorLike,
        s: Lengths = None,
        axes: tuple[int, int] = (-2, -1),
        norm: str | None = None,
    ) -> ComplexTensor:
        """``numpy.fft.rfft2``: :func:`rfftn` along two axes.

        Errors are those of that function.

        >>> import sympy_einsum as se
        >>> import sympy_einsum.numpy as snp
        >>> snp.fft.rfft2(se.TensorSymbol("A", (4, 6))).shape
        (4, 4)
        """
        return ops.rfftn(a, s, axes, norm)

    @staticmethod
    def irfft2(
        a: ComplexLike,
        s: Lengths = None,
        axes: tuple[int, int] = (-2, -1),
        norm: str | None = None,
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
        return ops.irfftn(a, s, axes, norm)
