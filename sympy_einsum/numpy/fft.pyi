"""Made from the rows of NumPy's namespace by tests/stubs.py."""

from collections.abc import Callable, Sequence
from typing import NoReturn

from sympy import Expr

from ..core import Length, Shape
from ..expressions import Operand, TensorLike
from ..operations import (
    ComplexLike,
    ComplexTensor,
    EighResult,
    LstsqResult,
    Nested,
    Order,
    SVDResult,
    fft as fft,
    fftfreq as fftfreq,
    fftn as fftn,
    fftshift as fftshift,
    hfft as hfft,
    ifft as ifft,
    ifftn as ifftn,
    ifftshift as ifftshift,
    ihfft as ihfft,
    irfft as irfft,
    irfftn as irfftn,
    rfft as rfft,
    rfftfreq as rfftfreq,
    rfftn as rfftn,
)
from ._rows import Axes, Lengths

__all__: list[str]
def fft2(a: ComplexLike, s: Sequence[Length | None] | None = ..., axes: tuple[int, int] = ..., norm: str | None = ...) -> ComplexTensor: ...
def ifft2(a: ComplexLike, s: Sequence[Length | None] | None = ..., axes: tuple[int, int] = ..., norm: str | None = ...) -> ComplexTensor: ...
def irfft2(a: ComplexLike, s: Sequence[Length | None] | None = ..., axes: tuple[int, int] = ..., norm: str | None = ...) -> Operand: ...
def rfft2(a: TensorLike, s: Sequence[Length | None] | None = ..., axes: tuple[int, int] = ..., norm: str | None = ...) -> ComplexTensor: ...
