"""Bessel functions that SymPy lacks, and derivatives and code of those that stand in the table,
:mod:`scalar_table`, for more than a line.
"""

from __future__ import annotations

from collections.abc import Callable

from sympy import Expr, S, jn, sign, sinc
from sympy.printing.printer import Printer

from .rows import Slopes
from .whole_functions import WholeFunction


class spherical_in(WholeFunction):
    """The modified spherical Bessel function of an order; that of order 0 is sinh(x) / x.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.spherical_in(0, 0), se.Shi(t).diff(t), se.diff(se.Shi(t), t)
    (1, sinh(t)/t, spherical_in(0, t))
    """

    nargs = 2

    @classmethod
    def eval(cls, order: Expr, x: Expr) -> Expr | None:
        """Known values."""
        if x.is_zero:
            return S.One if order.is_zero else S.Zero
        return None

    def _latex(self, printer: Printer, exp: str | None = None) -> str:
        order, x = map(printer._print, self.args)
        power = "" if exp is None else f"^{{{exp}}}"
        return rf"i_{{{order}}}{power}\left({x}\right)"


class ive(WholeFunction):
    """exp(-abs(x)) times the modified Bessel function of the first kind of an order.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.ive(0, 0), se.ive(0, t).diff(t)
    (1, -ive(0, t)*sign(t) + ive(1, t))
    """

    nargs = 2

    @classmethod
    def eval(cls, order: Expr, x: Expr) -> Expr | None:
        """Known values."""
        return S.One if x.is_zero and order.is_zero else None


class kve(WholeFunction):
    """exp(x) times the modified Bessel function of the second kind of an order.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.kve(0, t).diff(t)
    kve(0, t) - kve(1, t)
    """

    nargs = 2


# --- for their rows ------------------------------------------------------------------------------


def spherical_derivative(order: Expr, x: Expr) -> Slopes:
    # By two other orders, without a quotient.
    if order.is_zero:
        return None, -jn(1, x)
    below = jn(order - 1, x) if order != 1 else sinc(x)
    return None, (order * below - (order + 1) * jn(order + 1, x)) / (2 * order + 1)


def modified_spherical_derivative(order: Expr, x: Expr) -> Slopes:
    if order.is_zero:
        return None, spherical_in(1, x)
    below, above = spherical_in(order - 1, x), spherical_in(order + 1, x)
    return None, (order * below + (order + 1) * above) / (2 * order + 1)


def scaled_code(kind: str) -> Callable[[Expr, Expr], str]:
    # Some libraries have those of orders 0 and 1 only.
    return lambda order, x: (
        f"special.{kind}{order}e({{1}})" if order in (0, 1) else f"special.{kind}ve({{0}}, {{1}})"
    )


def beside(function: Callable[[Expr, Expr], Expr], order: Expr, x: Expr) -> Expr:
    # The mean of the two orders beside one; those of 1 and -1 are one function.
    above = function(order + 1, x)
    return above if order.is_zero else (function(order - 1, x) + above) / 2


def scaled_derivative(order: Expr, x: Expr) -> Slopes:
    return None, beside(ive, order, x) - sign(x) * ive(order, x)


def airy_code(place: int) -> str:
    # SciPy's is nan where it begins to overflow.
    scaled = f"special.airye({{0}})[{place}] * np.exp(np.maximum({{0}}, 0)**1.5 * (2/3))"
    return f"np.where({{0}} > 100, {scaled}, special.airy({{0}})[{place}])"
