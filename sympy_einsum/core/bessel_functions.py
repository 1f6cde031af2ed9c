"""Bessel functions that SymPy lacks, and the derivatives and code that take more than a line of the
table, :mod:`scalar_table`."""

from __future__ import annotations

from collections.abc import Callable
from math import factorial, pi, sqrt

from sympy import Expr, S, besselk, gamma, jn, sign, sinc

from .activations import masked
from .rows import Partials
from .whole_functions import WholeFunction


class spherical_in(WholeFunction):
    """The modified spherical Bessel function of an order; that of order 0 is sinh(x) / x.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.spherical_in(0, 0), se.Shi(t).diff(t), se.diff(se.Shi(t), t)
    (1, sinh(t)/t, spherical_in(0, t))
    """

    nargs = 2
    formula = r"i_{{{0}}}{power}\left({1}\right)"

    @classmethod
    def eval(cls, order: Expr, x: Expr) -> Expr | None:
        """Evaluate at special arguments."""
        if x.is_zero:
            return S.One if order.is_zero else S.Zero
        return None


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
        """Evaluate at special arguments."""
        return S.One if x.is_zero and order.is_zero else None


class kve(WholeFunction):
    """exp(x) times the modified Bessel function of the second kind of an order.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.kve(0, t).diff(t)
    kve(0, t) - kve(1, t)
    """

    nargs = 2


class powbesselk(WholeFunction):
    """The power of x of an order times the modified Bessel function of the second kind of that
    order, ``x**order * besselk(order, x)``, with its limit at 0: Matern kernels up to a factor.

    >>> import sympy_einsum as se
    >>> from sympy import Rational
    >>> from sympy.abc import t
    >>> se.powbesselk(Rational(5, 2), t).diff(t), se.powbesselk(2, 0)
    (-t*powbesselk(3/2, t), 2)
    """

    nargs = 2

    @classmethod
    def eval(cls, order: Expr, x: Expr) -> Expr | None:
        """Evaluate the limit at 0."""
        if x.is_zero and order.is_positive:
            return 2 ** (order - 1) * gamma(order)
        return None


# --- derivatives and code of the rows ------------------------------------------------------------


def spherical_derivative(order: Expr, x: Expr) -> Partials:
    # In terms of the adjacent orders, without a quotient.
    if order.is_zero:
        return None, -jn(1, x)
    lower = jn(order - 1, x) if order != 1 else sinc(x)
    return None, (order * lower - (order + 1) * jn(order + 1, x)) / (2 * order + 1)


def modified_spherical_derivative(order: Expr, x: Expr) -> Partials:
    if order.is_zero:
        return None, spherical_in(1, x)
    lower, upper = spherical_in(order - 1, x), spherical_in(order + 1, x)
    return None, (order * lower + (order + 1) * upper) / (2 * order + 1)


def scaled_code(kind: str) -> Callable[[Expr, Expr], str]:
    # Some libraries have only the orders 0 and 1.
    def code(order: Expr, x: Expr) -> str:
        if kind == "k" and (half := _floor_of_half_integer(order)) is not None:
            return _decaying_code(half, "")
        if order in (0, 1):
            return f"special.{kind}{order}e({{1}})"
        return f"special.{kind}ve({{0}}, {{1}})"

    return code


def bessel_code(kind: str) -> Callable[[Expr, Expr], str]:
    # Half-integer orders are elementary: spherical Bessel functions times a square root.
    def code(order: Expr, x: Expr) -> str:
        half = _floor_of_half_integer(order)
        if half is None:
            return f"special.{kind}v({{0}}, {{1}})"
        if kind == "k":
            return _decaying_code(half, " * np.exp(-{1})")
        root, sphere = f"{sqrt(2 / pi)!r} * np.sqrt({{1}})", f"({half}, {{1}})"
        sign_of_half = "-" if half % 2 else ""
        if kind == "i":
            text = f"{root} * special.spherical_in{sphere}"
            decaying = f"{2 / pi!r} * {_decaying_code(half, ' * np.exp(-{1})')}"
            return text if order.is_positive else f"{text} {sign_of_half or '+'} {decaying}"
        # J of order -(n + 1/2) is (-1)^(n + 1) times Y of order n + 1/2, and conversely.
        is_first = (kind == "j") == bool(order.is_positive)
        if is_first:
            sign = "-" if kind == "y" and half % 2 else ""
            return f"{sign}{root} * special.spherical_jn{sphere}"
        sign = "-" if kind == "j" and not half % 2 else ""
        pole = "" if sign else "-"
        text = f"{sign}{root} * special.spherical_yn{sphere}"
        return f"np.where({{1}} == 0, {pole}np.inf, {text})"

    return code


def _floor_of_half_integer(order: Expr) -> int | None:
    """Return n for the orders n + 1/2 and -(n + 1/2), None for others."""
    if not order.is_Number or not order.is_finite:
        return None
    twice = abs(2 * float(order))
    return int(twice) // 2 if twice % 2 == 1 else None


def _decaying_code(half: int, factor: str) -> str:
    """Return code for K of order n + 1/2: a factor, such as exp(-x), times a polynomial in 1/x with
    positive coefficients."""
    series = ""
    for number in _series(half)[::-1]:
        series = f"({number!r} + {series} / {{1}})" if series else repr(number)
    text = f"{sqrt(pi / 2)!r} / np.sqrt({{1}}){factor}"
    return text if half == 0 else f"{text} * {series}"


def adjacent_mean(function: Callable[[Expr, Expr], Expr], order: Expr, x: Expr) -> Expr:
    # The mean of the adjacent orders; orders 1 and -1 are the same function.
    upper = function(order + 1, x)
    return upper if order.is_zero else (function(order - 1, x) + upper) / 2


def powbesselk_derivative(order: Expr, x: Expr) -> Partials:
    if not order.is_number or not order.is_positive:
        return None, -x * powbesselk(order - 1, x)
    if order == 1:
        return None, -masked(x, besselk(0, x))
    if order < 1:
        return None, -(x ** (2 * order - 1)) * powbesselk(1 - order, x)
    return None, -x * powbesselk(order - 1, x)


def powbesselk_code(order: Expr, x: Expr) -> str:
    half = _floor_of_half_integer(order)
    power = "special.kv({0}, {1}) * {1}**{0}"
    if not order.is_number or not order.is_positive:
        return power
    if half is None:
        # Near 0 the Bessel function overflows and the power underflows.
        least = 10.0 ** min(-9, max(-300, -200 / float(order)))
        limit = float(powbesselk(order, S.Zero))
        return f"np.where(np.abs({{1}}) < {least!r}, {limit!r}, {power})"
    series = ""
    for number in _series(half):
        series = f"({number!r} + {{1}} * {series})" if series else repr(number)
    return f"{sqrt(pi / 2)!r} * np.exp(-{{1}}) * {series}"


def decaying_derivative(order: Expr, x: Expr) -> Partials:
    # Gives -x**order * besselk(order - 1, x) for x**order * besselk(order, x): the terms cancel
    # exactly, which those of the mean of the adjacent orders don't.
    if not order.is_number:
        return None, besselk(order, x).diff(x)
    order = abs(order)
    return None, -besselk(abs(order - 1), x) - order / x * besselk(order, x)


def scaled_derivative(order: Expr, x: Expr) -> Partials:
    return None, adjacent_mean(ive, order, x) - sign(x) * ive(order, x)


def airy_code(place: int) -> str:
    # SciPy's function is nan from where it begins to overflow.
    scaled = f"special.airye({{0}})[{place}] * np.exp(np.maximum({{0}}, 0)**1.5 * (2/3))"
    return f"np.where({{0}} > 100, {scaled}, special.airy({{0}})[{place}])"


def _series(half: int) -> list[float]:
    """Return the coefficients of the polynomial in 1/x in K of order n + 1/2."""
    return [
        factorial(half + k) / (factorial(k) * factorial(half - k) * 2**k) for k in range(half + 1)
    ]
