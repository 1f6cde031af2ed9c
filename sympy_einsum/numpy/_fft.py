"""``numpy.fft``."""

from __future__ import annotations

from .. import operations as ops
from ..core import Length
from ..expressions import Operand, TensorLike
from ..operations import ComplexLike, ComplexTensor

Lengths = tuple[Length, Length] | None


class fft:
    """``numpy.fft``: transforms of real tensors and of pairs of them, which stand for complex
    numbers."""

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
        """``numpy.fft.fft2``."""
        return ops.fftn(a, s, axes, norm)

    @staticmethod
    def ifft2(
        a: ComplexLike,
        s: Lengths = None,
        axes: tuple[int, int] = (-2, -1),
        norm: str | None = None,
    ) -> ComplexTensor:
        """``numpy.fft.ifft2``."""
        return ops.ifftn(a, s, axes, norm)

    @staticmethod
    def rfft2(
        a: TensorLike,
        s: Lengths = None,
        axes: tuple[int, int] = (-2, -1),
        norm: str | None = None,
    ) -> ComplexTensor:
        """``numpy.fft.rfft2``."""
        return ops.rfftn(a, s, axes, norm)

    @staticmethod
    def irfft2(
        a: ComplexLike,
        s: Lengths = None,
        axes: tuple[int, int] = (-2, -1),
        norm: str | None = None,
    ) -> Operand:
        """``numpy.fft.irfft2``."""
        return ops.irfftn(a, s, axes, norm)
