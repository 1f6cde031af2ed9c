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

from ._namespace import FFT as _FFT

globals().update(_FFT)
__all__ = sorted(_FFT)


def __dir__() -> list[str]:
    return __all__
