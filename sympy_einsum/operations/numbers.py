"""Entrywise functions of numbers: rounding, real and imaginary parts, closeness."""

from __future__ import annotations

from sympy import Abs, And, Eq, Expr, Max, Min, Ne, Or, Piecewise, S, atan2, pi

from ..core import UnsupportedError, as_flag, as_scalar, deferred, isfinite, isnan, modulus, rint
from ..expressions import (
    Operand,
    TensorLike,
    as_number,
    as_operand,
    conjugated,
    elementwise,
    holds_complex,
)
from .arithmetic import add, divide, multiply, power

_complex_parts = deferred("operations.complex_parts", "complex_parts")


def around(a: TensorLike, decimals: Expr | int = 0) -> Operand:
    """Round to a number of decimals, halves to the even digit; a negative number rounds to tens,
    hundreds, ….

    The derivative is 0. Raises UnsupportedError unless the decimals are an integer.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> se.diff(se.around(x, 2), x)
    Zeros(3, 3)
    """
    digits = as_scalar(decimals, "the number of decimals")
    if not digits.is_Integer:
        raise UnsupportedError(f"decimals is a known integer, not {decimals}")
    if digits.is_negative:
        unit = 10**-digits
        return multiply(elementwise(rint, divide(a, unit)), unit)
    unit = 10**digits
    return divide(elementwise(rint, multiply(a, unit)), unit)


def clip(a: TensorLike, low: TensorLike | None = None, high: TensorLike | None = None) -> Operand:
    """Clip the entries to a lower and an upper bound; None for no bound.

    Shapes are as for ``+``. The derivative is 1 between the bounds, 0 outside, and 1/2 at a bound.

    Raises ShapeError for incompatible shapes.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> se.lambdify([x], se.clip(x, 0, 1))([-1.0, 0.5, 2.0])
    array([0. , 0.5, 1. ])
    """
    a = as_operand(a) if low is None else elementwise(Max, a, low)
    return a if high is None else elementwise(Min, a, high)


def real(val: TensorLike) -> Operand:
    """Return the real part; of an expression without complex numbers the expression itself.

    Raises UnsupportedError where the parts can't be separated, as in functions such as inv of
    complex tensors.

    >>> from sympy import I
    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> se.real(x) == x, se.real((x + I * y) @ (x + I * y)), se.real(se.exp(I * x) * y)
    (True, x @ x - (y @ y), y*cos(x))
    """
    return _complex_parts(as_operand(val))[0]


def imag(val: TensorLike) -> Operand:
    """Return the imaginary part; of an expression without complex numbers zeros.

    Raises UnsupportedError where the parts can't be separated.

    >>> from sympy import I
    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> se.imag(x), se.imag(2 * I * x + y)
    (Zeros(3), 2*x)
    """
    return _complex_parts(as_operand(val))[1]


def conj(val: TensorLike) -> Operand:
    """Return the complex conjugate; of an expression without complex numbers the expression itself.

    >>> from sympy import I
    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> conj(x) is x, conj(se.exp(x + I * y))
    (True, exp(x - I*y))
    """
    return conjugated(as_operand(val))


def as_real(val: TensorLike) -> Operand:
    """Convert to an operand; UnsupportedError if it contains complex numbers."""
    val = as_operand(val)
    if holds_complex(val):
        raise UnsupportedError(
            "expected a real tensor, not one with complex entries; take .real or .imag"
        )
    return val


def squared(val: Operand) -> Operand:
    """Return the squared absolute values of the entries."""
    if not holds_complex(val):
        return power(val, 2)
    x, y = _complex_parts(val)
    return add(power(x, 2), power(y, 2))


def complex_modulus(val: TensorLike) -> Operand:
    """Return the absolute values of the entries, of complex ones too.

    >>> from sympy import I
    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> se.lambdify([x, y], complex_modulus(x + I * y))([3.0, 0, 1], [4.0, -1, 0])
    array([5., 1., 1.])
    """
    val = as_operand(val)
    return (
        elementwise(modulus, *_complex_parts(val)) if holds_complex(val) else elementwise(Abs, val)
    )


def angle(val: TensorLike, deg: bool = False) -> Operand:
    """Return the angles of the entries from the real axis, in (-pi, pi], in radians or in degrees.

    >>> from sympy import I
    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> se.lambdify([x, y], angle(x + I * y, deg=True))([0.0, -1, 1], [1.0, 0, 0])
    array([ 90., 180.,   0.])
    """
    val = as_operand(val)
    half_turn = S(180) if as_flag(deg, "deg") else pi
    if holds_complex(val):
        x, y = _complex_parts(val)
        return multiply(half_turn / pi, elementwise(atan2, y, x))
    return elementwise(lambda x: Piecewise((half_turn, x < 0), (0, True)), val)


def isclose(
    a: TensorLike,
    b: TensorLike,
    rtol: TensorLike = 1e-05,
    atol: TensorLike = 1e-08,
    equal_nan: bool = False,
) -> Operand:
    """Return ones where two tensors are close, ``|a - b| <= atol + rtol |b|``, or the same
    infinity, and zeros elsewhere.

    Shapes are as for ``+``.

    Raises ShapeError for incompatible shapes.

    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> se.lambdify([x, y], se.isclose(x, y))([1, 2, 3], [1, 2.1, 3])
    array([1., 0., 1.])
    """
    takes_nan = as_flag(equal_nan, "equal_nan")

    def are_close(a: Expr, b: Expr, rtol: Expr, atol: Expr) -> Expr:
        close = Or(And(Abs(a - b) <= atol + rtol * Abs(b), Ne(isfinite(b), 0)), Eq(a, b))
        both = And(Ne(isnan(a), 0), Ne(isnan(b), 0))
        return as_number(Or(close, both) if takes_nan else close)

    return elementwise(are_close, a, b, rtol, atol)
