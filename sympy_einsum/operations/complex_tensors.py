"""Pairs of real tensors that behave as complex tensors, such as Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeAlias

import numpy as np
from sympy import S, atan2, pi

from ..core import Shape, as_flag, deferred, modulus
from ..expressions import (
    Operand,
    TensorLike,
    Unit,
    Zeros,
    as_operand,
    broadcast_together,
    contract,
    elementwise,
    holds_complex,
    holds_tensor,
    order_of,
    shape_of,
    tensor_sum,
)
from .arithmetic import add, divide, multiply, subtract
from .axes import filled
from .indexing import Index, getitem
from .numbers import as_real, imag as imaginary_part, real as real_part


class ComplexTensor:
    """A complex tensor as two real tensors of one shape, the real and the imaginary part.

    It isn't an expression: take ``abs``, ``.real`` or ``.imag`` of it, or an inverse transform, to
    differentiate and compile. It has ``+ - * /`` with complex and real tensors and numbers,
    indexing, ``conj`` and ``angle``.

    Parameters
    ==========

    real, imag : tensors or numbers; axes of length 1 are broadcast

    Raises
    ======

    ShapeError : the shapes can't be broadcast

    Examples
    ========

    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> z = se.ComplexTensor(x, y)
    >>> (z * z).real
    x*x - (y*y)
    >>> abs(z).shape, z[1:].imag
    ((3,), y[1:])
    """

    __slots__ = ("_pair", "imag", "real")
    # The remedy in the error message when it is passed as a tensor.
    instead: ClassVar[str] = "take .real, .imag or abs of it"
    __iter__ = None
    # NumPy's functions of them are those of its namespace, which loads at the first call.
    __array_ufunc__: ClassVar[Callable[..., object]] = deferred("numpy._protocols", "complex_ufunc")
    __array_function__: ClassVar[Callable[..., object]] = deferred(
        "numpy._protocols", "complex_function"
    )

    def __dir__(self) -> list[str]:
        # Without internal names.
        return [name for name in super().__dir__() if name not in ("instead", "of")]

    def __init__(self, real: TensorLike, imag: TensorLike = 0):
        parts = broadcast_together([as_real(real), as_real(imag)])
        shape = max(map(shape_of, parts), key=len)
        self.real, self.imag = [p if order_of(p) == len(shape) else filled(p, shape) for p in parts]
        self._pair: Operand | None = None

    @classmethod
    def of(cls, real: Operand, imag: Operand, pair: Operand | None = None) -> ComplexTensor:
        """Build one from real parts of one shape, and optionally from both stacked along a new last
        axis."""
        z = cls.__new__(cls)
        z.real, z.imag, z._pair = real, imag, pair
        return z

    @property
    def pair(self) -> Operand:
        """The parts stacked along a new last axis.

        >>> import sympy_einsum as se
        >>> import sympy_einsum.numpy as snp
        >>> z = snp.fft.rfft(se.TensorSymbol("x", 4))
        >>> z.shape, z.pair.shape
        ((3,), (3, 2))
        """
        if self._pair is not None:
            return self._pair
        axes = list(range(self.order))
        lengths = {**dict(enumerate(self.shape)), self.order: S(2)}
        parts = [
            contract((part, Unit(2, k)), (axes, (self.order,)), [*axes, self.order], lengths)
            for k, part in enumerate((self.real, self.imag))
        ]
        return tensor_sum(parts)

    @property
    def shape(self) -> Shape:
        """The lengths of its axes.

        >>> import sympy_einsum as se
        >>> import sympy_einsum.numpy as snp
        >>> snp.fft.rfft(se.TensorSymbol("x", 4)).shape
        (3,)
        """
        return shape_of(self.real)

    @property
    def order(self) -> int:
        """The number of its axes.

        >>> import sympy_einsum as se
        >>> import sympy_einsum.numpy as snp
        >>> snp.fft.rfft(se.TensorSymbol("A", (2, 4))).order
        2
        """
        return order_of(self.real)

    ndim = order

    @property
    def is_real(self) -> bool:
        """Whether the imaginary part is provably 0.

        >>> import sympy_einsum as se
        >>> x, y = se.tensors("x y", 2)
        >>> se.ComplexTensor(x, y).is_real, (se.ComplexTensor(x) * 2).is_real
        (False, True)
        """
        return isinstance(self.imag, Zeros) or self.imag == 0

    def __repr__(self) -> str:
        return f"ComplexTensor({self.real}, {self.imag})"

    def conj(self) -> ComplexTensor:
        """Return the conjugate.

        >>> import sympy_einsum as se
        >>> x, y = se.tensors("x y", 2)
        >>> se.ComplexTensor(x, y).conj()
        ComplexTensor(x, -y)
        """
        return self.of(self.real, multiply(-1, self.imag))

    conjugate = conj

    def angle(self, deg: bool = False) -> Operand:
        """Return the angle from the real axis, in radians or in degrees.

        >>> import sympy_einsum as se
        >>> x, y = se.tensors("x y", 2)
        >>> angle = se.ComplexTensor(x, y).angle(deg=True)
        >>> se.lambdify([x, y], angle)([0.0, -1.0], [1.0, 0.0])
        array([ 90., 180.])
        """
        found = elementwise(atan2, self.imag, self.real)
        return multiply(180 / pi, found) if as_flag(deg, "deg") else found

    def squared(self) -> Operand:
        """Return the squared absolute values, which are differentiable at 0.

        >>> import sympy_einsum as se
        >>> x, y = se.tensors("x y", 2)
        >>> se.gradient(se.ComplexTensor(x, y).squared().sum(), x)
        2*x
        """
        return add(multiply(self.real, self.real), multiply(self.imag, self.imag))

    def __abs__(self) -> Operand:
        """Return the absolute values; their derivative at 0 is 0."""
        return elementwise(modulus, self.real, self.imag)

    def __getitem__(self, index: Index) -> ComplexTensor:
        """Index both parts, as any tensor."""
        return self.of(getitem(self.real, index), getitem(self.imag, index))

    def __neg__(self) -> ComplexTensor:
        return self.of(multiply(-1, self.real), multiply(-1, self.imag))

    def __pos__(self) -> ComplexTensor:
        return self

    def __add__(self, other: ComplexLike) -> ComplexTensor:
        z = as_complex(other)
        return self.of(add(self.real, z.real), add(self.imag, z.imag))

    __radd__ = __add__

    def __sub__(self, other: ComplexLike) -> ComplexTensor:
        return self + -as_complex(other)

    def __rsub__(self, other: ComplexLike) -> ComplexTensor:
        return as_complex(other) + -self

    def __mul__(self, other: ComplexLike) -> ComplexTensor:
        z = as_complex(other)
        return self.of(
            subtract(multiply(self.real, z.real), multiply(self.imag, z.imag)),
            add(multiply(self.real, z.imag), multiply(self.imag, z.real)),
        )

    __rmul__ = __mul__

    def __truediv__(self, other: ComplexLike) -> ComplexTensor:
        z = as_complex(other)
        if z.is_real:
            return self.of(divide(self.real, z.real), divide(self.imag, z.real))
        product, squared = self * z.conj(), z.squared()
        return self.of(divide(product.real, squared), divide(product.imag, squared))

    def __rtruediv__(self, other: ComplexLike) -> ComplexTensor:
        return as_complex(other) / self


# The type of arguments that are converted to complex tensors.
ComplexLike: TypeAlias = "ComplexTensor | TensorLike"


def as_complex(value: ComplexLike) -> ComplexTensor:
    """Convert a complex or real tensor, array or number to a complex tensor."""
    if isinstance(value, ComplexTensor):
        return value
    if isinstance(value, (np.ndarray, np.generic, list, tuple)):
        numbers = np.asarray(value)
        if numbers.dtype.kind == "c":
            return ComplexTensor(numbers.real, numbers.imag)
    operand = as_operand(value)
    if not holds_complex(operand):
        return ComplexTensor(operand)
    if not order_of(operand) and not holds_tensor(operand):
        return ComplexTensor(*operand.as_real_imag())
    return ComplexTensor(real_part(operand), imaginary_part(operand))
