"""What is asked of the entries as numbers: their decimals, their parts, whether they are close."""

from __future__ import annotations

from sympy import Abs, And, Eq, Expr, I, Max, Min, Ne, Or

from ..core import UnsupportedError, as_flag, as_scalar, isfinite, isnan, postorder, rint
from ..expressions import (
    Constant,
    Operand,
    TensorExpr,
    TensorLike,
    Zeros,
    as_number,
    as_operand,
    elementwise,
    shape_of,
)
from .arithmetic import divide, multiply


def around(a: TensorLike, decimals: Expr | int = 0) -> Operand:
    """Rounded to a number of decimals, halves to the even digit; a negative number of them rounds
    to tens and hundreds.

    The derivative is 0. Raises UnsupportedError for decimals that aren't a known integer.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> se.diff(se.around(x, 2), x)
    Zeros(3, 3)
    """
    digits = as_scalar(decimals, "the number of decimals")
    if not digits.is_Integer:
        raise UnsupportedError(f"round takes a known integer for decimals, not {decimals}")
    if digits.is_negative:
        unit = 10**-digits
        return multiply(elementwise(rint, divide(a, unit)), unit)
    unit = 10**digits
    return divide(elementwise(rint, multiply(a, unit)), unit)


def clip(a: TensorLike, low: TensorLike | None = None, high: TensorLike | None = None) -> Operand:
    """The entries within two bounds, of which one may be None, for none.

    Shapes are as for ``+``. The derivative is 1 within the bounds, 0 outside and 1/2 at one.

    Raises ShapeError for shapes that don't fit.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> se.lambdify([x], se.clip(x, 0, 1))([-1.0, 0.5, 2.0])
    array([0. , 0.5, 1. ])
    """
    a = as_operand(a) if low is None else elementwise(Max, a, low)
    return a if high is None else elementwise(Min, a, high)


def real(val: TensorLike) -> Operand:
    """The tensor itself: tensors are real.

    Raises UnsupportedError for what has complex constants inside.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> se.real(x) == x
    True
    """
    val = as_operand(val)
    for node in postorder([val], lambda node: getattr(node, "operands", node.args)):
        is_constant = isinstance(node, Constant) and node.array.dtype.kind == "c"
        if is_constant or (not isinstance(node, TensorExpr) and node.has(I)):
            raise UnsupportedError(
                "the real and imaginary parts of what has complex numbers inside aren't told "
                "apart; keep them as two real tensors"
            )
    return val


def imag(val: TensorLike) -> Operand:
    """Zeros: tensors are real.

    Raises UnsupportedError for what has complex constants inside.

    >>> import sympy_einsum as se
    >>> se.imag(se.TensorSymbol("x", 3))
    Zeros(3)
    """
    return Zeros(*shape_of(real(val)))


def isclose(
    a: TensorLike,
    b: TensorLike,
    rtol: TensorLike = 1e-05,
    atol: TensorLike = 1e-08,
    equal_nan: bool = False,
) -> Operand:
    """Ones where two tensors are close, ``|a - b| <= atol + rtol |b|``, or equally infinite.

    Shapes are as for ``+``.

    Raises ShapeError for shapes that don't fit.

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
