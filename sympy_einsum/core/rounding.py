"""Rounding, remainders, and predicates of floating-point numbers, which SymPy lacks.

The table, :mod:`scalar_table`, holds their code, derivatives and definitions.
"""

from __future__ import annotations

from sympy import Abs, Expr, S

from .rows import row_of
from .whole_functions import WholeFunction


class _OfNumbers(WholeFunction):
    """A function that is evaluated at real numbers by its definition."""

    @classmethod
    def eval(cls, *args: Expr) -> Expr | None:
        """Evaluate real numbers."""
        row = row_of(cls)
        are_real = all(arg.is_number and arg.is_extended_real for arg in args)
        return row.definition(*args) if are_real and row and row.definition else None


class _Rounded(_OfNumbers):
    """A function that rounds a number to an integer."""

    nargs = 1

    @classmethod
    def eval(cls, x: Expr) -> Expr | None:
        """Return integers unchanged, and infinity, as NumPy does."""
        return x if x.is_integer or x.is_infinite else super().eval(x)


class trunc(_Rounded):
    """The integer next to a number on the side of 0.

    >>> import sympy_einsum as se
    >>> se.trunc(-2.5), se.trunc(7)
    (-2, 7)
    """


class rint(_Rounded):
    """The nearest integer, of two the even one.

    >>> import sympy_einsum as se
    >>> se.rint(2.5), se.rint(3.5), se.rint(-0.7)
    (2, 4, -1)
    """


class _Quotient(_OfNumbers):
    nargs = 2

    @classmethod
    def eval(cls, a: Expr, b: Expr) -> Expr | None:
        """Evaluate numbers; nan for a divisor 0."""
        return S.NaN if b.is_zero else super().eval(a, b)


class floor_divide(_Quotient):
    """The largest integer that isn't above a quotient.

    >>> import sympy_einsum as se
    >>> se.floor_divide(-7, 2)
    -4
    """

    formula = r"\left\lfloor \frac{{{0}}}{{{1}}} \right\rfloor{power}"


class fmod(_Quotient):
    """The remainder of a division with the sign of the dividend; that of ``Mod`` has the sign of
    the divisor.

    >>> import sympy_einsum as se
    >>> se.fmod(-7, 3), se.Mod(-7, 3)
    (-1, 2)
    """


class copysign(WholeFunction):
    """The absolute value of the first number with the sign of the second.

    >>> import sympy_einsum as se
    >>> se.copysign(3, -2)
    -3
    """

    nargs = 2

    @classmethod
    def eval(cls, a: Expr, b: Expr) -> Expr | None:
        """Evaluate where the sign is known; that of 0 isn't: floating-point zeros have a sign."""
        if b.is_extended_positive:
            return Abs(a)
        return -Abs(a) if b.is_extended_negative else None


class isnan(WholeFunction):
    """1 for nan, else 0.

    >>> import sympy_einsum as se
    >>> se.isnan(2), se.isnan(float("nan"))
    (0, 1)
    """

    nargs = 1

    @classmethod
    def eval(cls, x: Expr) -> Expr | None:
        """Evaluate numbers."""
        return S(int(x in (S.NaN, S.ComplexInfinity))) if x.is_number else None


class unless_nan(WholeFunction):
    """A number; nan where another is nan, on which it doesn't depend otherwise.

    >>> import sympy_einsum as se
    >>> se.unless_nan(2, 3), se.unless_nan(2, float("nan"))
    (2, nan)
    """

    nargs = 2

    @classmethod
    def eval(cls, a: Expr, b: Expr) -> Expr | None:
        """Evaluate numbers."""
        return (S.NaN if isnan(b) else a) if b.is_number else None


class isinf(WholeFunction):
    """1 for infinity, else 0.

    >>> import sympy_einsum as se
    >>> se.isinf(2), se.isinf(float("-inf"))
    (0, 1)
    """

    nargs = 1

    @classmethod
    def eval(cls, x: Expr) -> Expr | None:
        """Evaluate numbers."""
        return S(int(x in (S.Infinity, S.NegativeInfinity))) if x.is_number else None


class isfinite(WholeFunction):
    """1 for finite numbers, else 0.

    >>> import sympy_einsum as se
    >>> se.isfinite(2), se.isfinite(float("inf"))
    (1, 0)
    """

    nargs = 1

    @classmethod
    def eval(cls, x: Expr) -> Expr | None:
        """Evaluate numbers."""
        return S(int(x.is_finite is True)) if x.is_number else None


class nan_to_num(WholeFunction):
    """A finite number unchanged, 0 for nan, the largest number for infinity.

    >>> import sympy_einsum as se
    >>> se.nan_to_num(2), se.nan_to_num(float("nan"))
    (2, 0)
    """

    nargs = 1

    @classmethod
    def eval(cls, x: Expr) -> Expr | None:
        """Evaluate finite numbers and nan."""
        if x.is_number and x.is_finite:
            return x
        return S.Zero if x is S.NaN else None


class stop_gradient(WholeFunction):
    """Its argument, which counts as constant in derivatives, as in JAX (jax.lax.stop_gradient).

    >>> import sympy_einsum as se
    >>> from sympy.abc import x
    >>> (se.stop_gradient(x) * x).diff(x)
    stop_gradient(x)
    """

    nargs = 1

    @classmethod
    def eval(cls, x: Expr) -> Expr | None:
        """Evaluate numbers."""
        return x if x.is_number else None

    def _eval_evalf(self, prec: int) -> None:
        """Stay unevaluated."""
