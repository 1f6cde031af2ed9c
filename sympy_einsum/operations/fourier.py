"""Discrete Fourier transforms along axes: contractions with a DFT basis, computed by the FFT, whose
derivatives are transforms as well."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr, S, floor, sqrt

from ..core import (
    Length,
    ShapeError,
    TensorError,
    UnsupportedError,
    as_length,
    as_list,
    same_length,
)
from ..expressions import (
    Fourier,
    Operand,
    TensorLike,
    as_operand,
    contract,
    half_length,
    order_of,
    shape_of,
)
from .arithmetic import divide, multiply
from .axes import Axes, as_axes, as_axis
from .complex_tensors import ComplexLike, ComplexTensor, as_complex
from .joining import concatenate
from .pieces import roll
from .running import counting

# The lengths of transforms along several axes.
Lengths = Sequence[Length | None] | None
NORMS = {"backward": "forward", "ortho": "ortho", "forward": "backward", None: "forward"}


def _opposite(norm: str | None) -> str | None:
    """Return the normalisation of the inverse transform; another norm as it is."""
    return next((other for own, other in NORMS.items() if own == norm), norm)


def rfft(
    a: TensorLike, n: Length | None = None, axis: int = -1, norm: str | None = None
) -> ComplexTensor:
    """Compute the discrete Fourier transform of a real tensor along an axis, at the frequencies 0 …
    n//2.

    Parameters
    ==========

    a : a real tensor of order 1 or more
    n : the length to which the axis is truncated or zero-padded, by default its own length
    axis : the axis
    norm : ``"backward"`` divides the inverse transform by n, ``"forward"`` this transform,
        ``"ortho"`` both by √n

    Raises
    ======

    ShapeError : the axis is out of range, or n is 0
    TensorError : another norm
    UnsupportedError : complex numbers; n and the length of the axis can't be compared

    Examples
    ========

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 4)
    >>> z = snp.fft.rfft(x)
    >>> se.lambdify([x], [z.real, z.imag])([1.0, 2.0, 0.0, 0.0])
    [array([ 3.,  1., -1.]), array([ 0., -2.,  0.])]
    >>> print(se.simplify(snp.fft.irfft(z, 4)))
    x
    """
    z = as_complex(a)
    if not z.is_real:
        raise UnsupportedError("rfft takes a real tensor, not a complex one; fft takes both")
    length, axis = _length_and_axis(z, n, axis)
    return _real_transform(z, length, axis, norm, half_length(length))


def fft(
    a: ComplexLike, n: Length | None = None, axis: int = -1, norm: str | None = None
) -> ComplexTensor:
    """Compute the discrete Fourier transform of a real or complex tensor along an axis; parameters
    and errors as of :func:`rfft`.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 4)
    >>> z = snp.fft.fft(x)
    >>> se.lambdify([x], [z.real, z.imag])([1.0, 2.0, 0.0, 0.0])
    [array([ 3.,  1., -1.,  1.]), array([ 0., -2.,  0.,  2.])]
    """
    z = as_complex(a)
    length, axis = _length_and_axis(z, n, axis)
    if z.is_real:
        return _real_transform(z, length, axis, norm, length)
    return _inverse_transform(z.conj(), length, axis, _opposite(norm)).conj()


def ifft(
    a: ComplexLike, n: Length | None = None, axis: int = -1, norm: str | None = None
) -> ComplexTensor:
    """Return the inverse of :func:`fft`; parameters and errors as of :func:`rfft`.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 4)
    >>> se.simplify(snp.fft.ifft(snp.fft.fft(x)).real)
    x
    """
    z = as_complex(a)
    length, axis = _length_and_axis(z, n, axis)
    if z.is_real:
        return _real_transform(z, length, axis, _opposite(norm), length).conj()
    return _inverse_transform(z, length, axis, norm)


def irfft(
    a: ComplexLike, n: Length | None = None, axis: int = -1, norm: str | None = None
) -> Operand:
    """Return the inverse of :func:`rfft`, a real tensor, with its parameters and errors. The
    default of n is twice the number of frequencies minus two.

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> n = symbols("n", integer=True, positive=True)
    >>> x = se.TensorSymbol("x", n)
    >>> se.simplify(snp.fft.irfft(snp.fft.rfft(x), n))
    x
    """
    z = as_complex(a)
    axis = as_axis(axis, z.order)
    length = _positive(2 * (z.shape[axis] - 1) if n is None else as_length(n))
    z = _truncated(z, axis, half_length(length))
    basis = Fourier(length, z.shape[axis], length, True)
    return _normalised(_real_inverse_transform(z, basis, axis), length, _opposite(norm))


def hfft(
    a: ComplexLike, n: Length | None = None, axis: int = -1, norm: str | None = None
) -> Operand:
    """Return the Fourier transform, a real tensor, of a Hermitian signal, of which the non-negative
    half is given; parameters and errors as of :func:`rfft`.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> half = se.TensorSymbol("h", 3)
    >>> se.lambdify([half], snp.fft.hfft(half))([1.0, 2.0, 3.0])
    array([ 8., -2.,  0., -2.])
    """
    return irfft(as_complex(a).conj(), n, axis, _opposite(norm))


def ihfft(
    a: TensorLike, n: Length | None = None, axis: int = -1, norm: str | None = None
) -> ComplexTensor:
    """Return the inverse of :func:`hfft`; parameters and errors as of :func:`rfft`.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.fft.ihfft(se.TensorSymbol("x", 8)).shape
    (5,)
    """
    return rfft(a, n, axis, _opposite(norm)).conj()


def fftn(
    a: ComplexLike, s: Lengths = None, axes: Axes = None, norm: str | None = None
) -> ComplexTensor:
    """:func:`fft` along several axes: by default all, or the last ``len(s)``.

    Raises ShapeError for unequal numbers of axes and lengths, else as :func:`rfft`.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.fft.fftn(se.TensorSymbol("T", (5, 4, 6)), axes=(1, 2)).shape
    (5, 4, 6)
    """
    z = as_complex(a)
    for n, axis in reversed(_axes_with_lengths(z, s, axes)):
        z = fft(z, n, axis, norm)
    return z


def ifftn(
    a: ComplexLike, s: Lengths = None, axes: Axes = None, norm: str | None = None
) -> ComplexTensor:
    """Return the inverse of :func:`fftn`, with its parameters and errors.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (2, 2))
    >>> back = snp.fft.ifftn(snp.fft.fftn(A)).real
    >>> se.lambdify([A], back)([[1.0, 2.0], [3.0, 4.0]])
    array([[1., 2.],
           [3., 4.]])
    """
    z = as_complex(a)
    for n, axis in reversed(_axes_with_lengths(z, s, axes)):
        z = ifft(z, n, axis, norm)
    return z


def rfftn(
    a: TensorLike, s: Lengths = None, axes: Axes = None, norm: str | None = None
) -> ComplexTensor:
    """:func:`rfft` along the last of several axes, then :func:`fft` along the others.

    Parameters and errors are those of :func:`fftn`.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> snp.fft.rfftn(se.TensorSymbol("A", (4, 6))).shape
    (4, 4)
    """
    *others, (n, last) = _axes_with_lengths(as_complex(a), s, axes)
    z = rfft(a, n, last, norm)
    for n, axis in reversed(others):
        z = fft(z, n, axis, norm)
    return z


def irfftn(
    a: ComplexLike, s: Lengths = None, axes: Axes = None, norm: str | None = None
) -> Operand:
    """Return the inverse of :func:`rfftn`, with its parameters and errors.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (2, 2))
    >>> back = snp.fft.irfftn(snp.fft.rfftn(A), (2, 2))
    >>> se.lambdify([A], back)([[1.0, 2.0], [3.0, 4.0]])
    array([[1., 2.],
           [3., 4.]])
    """
    z = as_complex(a)
    *others, (n, last) = _axes_with_lengths(z, s, axes)
    for length, axis in others:
        z = ifft(z, length, axis, norm)
    return irfft(z, n, last, norm)


def fftfreq(n: Length, d: TensorLike = 1) -> Operand:
    """Return the frequencies of :func:`fft` for n samples with spacing d: those up to half the
    sampling rate, then the negative ones.

    Raises ShapeError unless n is positive.

    >>> import sympy_einsum.numpy as snp
    >>> snp.fft.fftfreq(4, d=2).as_explicit()
    [0, 1/8, -1/4, -1/8]
    """
    n = _positive(as_length(n))
    half = floor(n / 2)
    parts = [counting(n - half), counting(half, -half)]
    return divide(concatenate(parts), multiply(n, d))


def rfftfreq(n: Length, d: TensorLike = 1) -> Operand:
    """Return the frequencies of :func:`rfft` for n samples with spacing d.

    Raises ShapeError unless n is positive.

    >>> import sympy_einsum.numpy as snp
    >>> snp.fft.rfftfreq(4, d=2).as_explicit()
    [0, 1/8, 1/4]
    """
    n = _positive(as_length(n))
    return divide(counting(half_length(n)), multiply(n, d))


def fftshift(x: ComplexLike, axes: Axes = None) -> ComplexLike:
    """Shift the frequency 0 to the centre of some axes, by default of all.

    Raises ShapeError for an axis out of range.

    >>> import sympy_einsum.numpy as snp
    >>> snp.fft.fftshift(snp.fft.fftfreq(4)).as_explicit()
    [-1/2, -1/4, 0, 1/4]
    """
    return _shifted(x, axes, 1)


def ifftshift(x: ComplexLike, axes: Axes = None) -> ComplexLike:
    """Return the inverse of :func:`fftshift`.

    Raises ShapeError for an axis out of range.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 5)
    >>> snp.fft.ifftshift(snp.fft.fftshift(x)).as_explicit()
    [x[0], x[1], x[2], x[3], x[4]]
    """
    return _shifted(x, axes, -1)


def _shifted(x: ComplexLike, axes: Axes, sign: int) -> ComplexLike:
    if isinstance(x, ComplexTensor):
        return x.of(_shifted(x.real, axes, sign), _shifted(x.imag, axes, sign))
    x = as_operand(x)
    shape = shape_of(x)
    shifted_axes = as_axes(axes, len(shape))
    return (
        roll(x, [sign * floor(shape[k] / 2) for k in shifted_axes], shifted_axes)
        if shifted_axes
        else x
    )


def _axes_with_lengths(z: ComplexTensor, s: Lengths, axes: Axes) -> list[tuple[Length | None, int]]:
    """Return pairs of a length, or None, and an axis."""
    lengths = None if s is None else as_list(s, "lengths")
    if axes is None and lengths is not None:
        axes = list(range(-len(lengths), 0))
    shifted_axes = as_axes(axes, z.order)
    if lengths is None:
        lengths = [None] * len(shifted_axes)
    if len(lengths) != len(shifted_axes) or not shifted_axes:
        raise ShapeError(f"a transform along {len(shifted_axes)} axes got {len(lengths)} lengths")
    return list(zip(lengths, shifted_axes, strict=True))


def _length_and_axis(z: ComplexTensor, n: Length | None, axis: int) -> tuple[Expr, int]:
    """Return the length of a transform, and its axis as a number from 0 on."""
    along = as_axis(axis, z.order)
    return _positive(z.shape[along] if n is None else as_length(n)), along


def _positive(length: Expr) -> Expr:
    if length.is_nonpositive:
        raise ShapeError(f"a Fourier transform has a positive length, not {length}")
    return length


def _truncated(z: ComplexTensor, axis: int, count: Expr) -> ComplexTensor:
    """Truncate an axis to at most ``count`` positions."""
    length = z.shape[axis]
    if same_length(length, count) or (count - length).is_nonnegative:
        return z
    if not (count - length).is_negative:
        raise UnsupportedError(
            f"it can't be decided whether an axis of length {length} is truncated to {count} "
            "positions or zero-padded; slice or pad it first"
        )
    return z[(*[slice(None)] * axis, slice(0, count))]


def _real_transform(
    z: ComplexTensor, length: Expr, axis: int, norm: str | None, frequencies: Expr
) -> ComplexTensor:
    """Return the transform of a real tensor."""
    x = _truncated(z, axis, length).real
    basis = Fourier(length, frequencies, shape_of(x)[axis])
    part, new = order_of(x), order_of(x) + 1
    labels = list(range(order_of(x)))
    output = [new if k == axis else k for k in labels]
    lengths = {**dict(enumerate(shape_of(x))), part: S(2), new: frequencies}
    pair = contract((x, basis), (labels, (part, axis, new)), [*output, part], lengths)
    pair = _normalised(pair, length, norm)
    return ComplexTensor.of(pair[..., 0], pair[..., 1], pair)


def _real_inverse_transform(z: ComplexTensor, basis: Operand, axis: int) -> Operand:
    """Return the real part of the inverse transform."""
    part, new = z.order, z.order + 1
    labels = list(range(z.order))
    output = [new if k == axis else k for k in labels]
    lengths = {**dict(enumerate(z.shape)), part: S(2), new: basis.positions}
    return contract((z.pair, basis), ([*labels, part], (part, new, axis)), output, lengths)


def _inverse_transform(
    z: ComplexTensor, length: Expr, axis: int, norm: str | None
) -> ComplexTensor:
    """Return the inverse transform; its imaginary part is the real part of that of z/i."""
    z = _truncated(z, axis, length)
    basis = Fourier(length, z.shape[axis], length)
    parts = [
        _real_inverse_transform(w, basis, axis) for w in (z, z.of(z.imag, multiply(-1, z.real)))
    ]
    real, imag = [_normalised(part, length, _opposite(norm)) for part in parts]
    return z.of(real, imag)


def _normalised(x: Operand, length: Expr, norm: str | None) -> Operand:
    """Apply the normalisation of a transform, or that of an inverse one given the opposite norm."""
    if norm not in [*NORMS]:
        raise TensorError(f"norm is 'backward', 'ortho' or 'forward', not {norm!r}")
    if norm in (None, "backward"):
        return x
    return multiply(1 / (sqrt(length) if norm == "ortho" else length), x)
