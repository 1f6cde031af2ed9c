"""The DFT basis, a constant tensor: discrete Fourier transforms are contractions with it."""

from __future__ import annotations

from sympy import Expr, KroneckerDelta, S, cos, floor, pi

from ..core import Length, ShapeError, as_flag, as_length, same_length
from .base import Operand, TensorExpr
from .interning import Data, Operands, data_property


class Fourier(TensorExpr):
    """The tensor of cos(2πik/n + cπ/2) with the axes [c, i, k]: cosines at c = 0, negative sines at
    c = 1.

    Contracted over the positions i it gives the real and the imaginary part of the discrete Fourier
    transform of a vector, zero-padded to length n; contracted over c and the frequencies k the real
    part of the unnormalised inverse transform. Code uses the FFT and never builds the tensor. If it
    is ``weighted``, frequencies other than 0 and n/2 have weight 2, for their conjugates, so that
    those up to n/2 suffice.

    Parameters
    ==========

    length : n, the length of a period
    frequencies, positions : the number of each, by default n
    weighted : whether frequencies represent their conjugates too

    Raises
    ======

    ShapeError : n isn't positive, there are more than n frequencies or positions, or weighted
        frequencies above n/2

    Examples
    ========

    >>> import sympy_einsum as se
    >>> se.Fourier(8).shape, se.Fourier(8, 5, 6).shape
    ((2, 8, 8), (2, 6, 5))
    """

    __slots__ = ()

    def __new__(  # type: ignore[misc]
        cls,
        length: Length,
        frequencies: Length | None = None,
        positions: Length | None = None,
        weighted: bool = False,
    ) -> Operand:
        n = as_length(length)
        counts = [n if count is None else as_length(count) for count in (frequencies, positions)]
        return cls._build((), (n, *counts, as_flag(weighted, "weighted")))

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        n, frequencies, positions = map(as_length, data[:3])
        if n.is_zero:
            raise ShapeError("a Fourier transform has a positive length, not 0")
        bound = half_length(n) if data[3] else n
        for count, most in ((frequencies, bound), (positions, n)):
            if (most - count).is_negative:
                raise ShapeError(
                    f"a Fourier transform of length {n} has {most} frequencies or positions, "
                    f"not {count}"
                )
        return cls._intern((), (n, frequencies, positions, data[3]), (S(2), positions, frequencies))

    length: Expr = data_property(0, "The length of a period.")
    frequencies: Expr = data_property(1, "The number of frequencies.")
    positions: Expr = data_property(2, "The number of positions.")
    weighted: bool = data_property(3, "Whether frequencies represent their conjugates too.")

    def entry(self, part: Expr, position: Expr, frequency: Expr) -> Expr:
        """Return the entry of a part (0 real, 1 imaginary) at a position and a frequency."""
        wave = cos(2 * pi * position * frequency / self.length + part * pi / 2)
        if not self.weighted:
            return wave
        alone = [KroneckerDelta(frequency, 0), KroneckerDelta(2 * frequency, self.length)]
        return wave * (2 - alone[0] - alone[1])


def half_length(n: Expr) -> Expr:
    """Return the number of frequencies from 0 to n/2, which determine a real transform."""
    return floor(n / 2) + 1


def are_inverse(one: Operand, other: Operand) -> bool:
    """Tell whether the contraction of two bases over parts and frequencies is n times the
    identity."""
    if not same_length(one.length, other.length):
        return False
    if not same_length(one.frequencies, other.frequencies):
        return False
    needed = half_length(one.length) if one.weighted or other.weighted else one.length
    return one.weighted + other.weighted < 2 and same_length(one.frequencies, needed)
