"""Rows of ``numpy.fft``."""

from __future__ import annotations

from .. import operations as ops
from ._rows import NumpyRow as Row

_OPTIONS = (
    "s: Sequence[Length | None] | None = None, axes: tuple[int, int] = (-2, -1), "
    "norm: str | None = None"
)
_ERRORS = "Errors are those of that function."

# fmt: off
ROWS = (
    Row(f"fft2(a: ComplexLike, {_OPTIONS}) -> ComplexTensor", ops.fftn,
        "the transform of :func:`fftn` along two axes",
        "snp.fft.fft2(A).shape", "(2, 3)", _ERRORS),
    Row(f"ifft2(a: ComplexLike, {_OPTIONS}) -> ComplexTensor", ops.ifftn,
        "the transform of :func:`ifftn` along two axes",
        "back = snp.fft.ifft2(snp.fft.fft2(A)).real\n"
        "se.lambdify([A], back)([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]]).round(12)",
        "array([[1., 2., 3.],\n"
        "       [3., 4., 5.]])", _ERRORS),
    Row(f"rfft2(a, {_OPTIONS}) -> ComplexTensor", ops.rfftn,
        "the transform of :func:`rfftn` along two axes",
        "snp.fft.rfft2(A).shape", "(2, 2)", _ERRORS),
    Row(f"irfft2(a: ComplexLike, {_OPTIONS})", ops.irfftn,
        "the transform of :func:`irfftn` along two axes",
        'A = se.TensorSymbol("A", 2, 2)\n'
        "back = snp.fft.irfft2(snp.fft.rfft2(A))\n"
        "se.lambdify([A], back)([[1.0, 2.0], [3.0, 4.0]]).round(12)",
        "array([[1., 2.],\n"
        "       [3., 4.]])", _ERRORS),
)
