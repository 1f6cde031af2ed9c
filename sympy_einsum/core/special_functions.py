"""Normal distribution functions and logarithms of gamma functions that SymPy lacks.

The table, :mod:`scalar_table`, holds their code, derivatives and definitions.
"""

from __future__ import annotations

from sympy import Expr, Integer, S, erfc, exp, log, pi, sqrt

from .rows import Partials
from .whole_functions import WholeFunction, check_order


class ndtr(WholeFunction):
    """The distribution function of the normal distribution.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.ndtr(0), se.ndtr(t).diff(t)
    (1/2, sqrt(2)*exp(-t**2/2)/(2*sqrt(pi)))
    """

    nargs = 1
    formula = r"\Phi{power}\left({0}\right)"
    at_zero = S.Half


class ndtri(WholeFunction):
    """The quantile function of the normal distribution, the inverse of ndtr.

    >>> import sympy_einsum as se
    >>> from sympy import S
    >>> from sympy.abc import p
    >>> se.ndtri(S.Half), se.ndtri(p).diff(p)
    (0, sqrt(2)*sqrt(pi)*exp(ndtri(p)**2/2))
    """

    nargs = 1
    formula = r"\Phi^{{-1}}\left({0}\right)"

    @classmethod
    def eval(cls, p: Expr) -> Expr | None:
        """Evaluate at special arguments."""
        return S.Zero if p == S.Half else None


class erfcx(WholeFunction):
    """exp(x**2) erfc(x), which neither overflows nor vanishes for positive x.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.erfcx(0), se.erfcx(t).diff(t)
    (1, 2*(t - 1/(sqrt(pi)*erfcx(t)))*erfcx(t))
    """

    nargs = 1
    at_zero = S.One


class erfcx_rate(WholeFunction):
    """The derivative of log(erfcx(x)), which cancels in its formula for large x. With a second
    argument n, -2 n times the quotient of the n-th repeated integral of erfc by the one before.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.erfcx_rate(t).rewrite("exp"), se.erfcx_rate(t).diff(t)
    (2*t - 2*exp(-t**2)/(sqrt(pi)*erfc(t)), (-erfcx_rate(t) + erfcx_rate(t, 2))*erfcx_rate(t))
    """

    nargs = (1, 2)


def erfcx_rate_code(x: Expr, number: Expr = S.One) -> str:
    """Return the code of :class:`erfcx_rate`."""
    check_order(erfcx_rate, number)
    return f"erfcx_rate({number}, {{0}})"


def erfcx_rate_derivative(x: Expr, number: Expr = S.One) -> Partials:
    """Return the derivative of :class:`erfcx_rate`: https://dlmf.nist.gov/7.18.E7 for a ratio."""
    rate = erfcx_rate(x) if number is S.One else erfcx_rate(x, number)
    return rate * (erfcx_rate(x, number + 1) - rate), *[None] * (number is not S.One)


def erfcx_rate_definition(x: Expr, number: Expr = S.One) -> Expr:
    """Return :class:`erfcx_rate` by its recurrence."""
    if number is S.One:
        return 2 * x - 2 / (sqrt(pi) * exp(x**2) * erfc(x))
    return 2 * x + 2 * (number - 1) / erfcx_rate_definition(x, number - 1)


class log_ndtr(WholeFunction):
    """The logarithm of the distribution function of the normal distribution.

    >>> import sympy_einsum as se
    >>> se.log_ndtr(0)
    -log(2)
    """

    nargs = 1
    formula = r"\log{power}\Phi\left({0}\right)"
    at_zero = -log(2)


class log_ndtr_difference(WholeFunction):
    """``log(ndtr(a) - ndtr(b))``, for a > b in either tail; both may be infinite.

    >>> import sympy_einsum as se
    >>> from sympy.abc import a, b
    >>> se.log_ndtr_difference(a, b).diff(b)
    -ndtr_share(b, a, b)
    """

    nargs = 2


class ndtr_share(WholeFunction):
    """The density of the normal distribution at x over ``ndtr(a) - ndtr(b)``.

    >>> import sympy_einsum as se
    >>> from sympy.abc import a, b, x
    >>> se.ndtr_share(x, a, b).diff(x)
    -masked(ndtr_share(x, a, b), x)
    """

    nargs = 3


class gammaln(WholeFunction):
    """``log |gamma(x)|``, which is real on the left of 0 too, unlike loggamma.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.gammaln(1), se.gammaln(t).diff(t)
    (0, polygamma(0, t))
    """

    nargs = 1

    @classmethod
    def eval(cls, x: Expr) -> Expr | None:
        """Evaluate at special arguments."""
        return S.Zero if x in (S.One, Integer(2)) else None


class betaln(WholeFunction):
    """``log |beta(a, b)|``.

    >>> import sympy_einsum as se
    >>> from sympy.abc import a, b
    >>> se.betaln(a, b).diff(a)
    polygamma(0, a) - polygamma(0, a + b)
    """

    nargs = 2


class modulus(WholeFunction):
    """sqrt(a**2 + b**2), the absolute value of a complex number; its derivative is 0 at 0.

    >>> import sympy_einsum as se
    >>> from sympy.abc import a, b
    >>> modulus(a, b) ** 2, modulus(3, 4)
    (a**2 + b**2, 5)
    """

    nargs = 2
    formula = r"\left|{0} + \mathrm{{i}} \left({1}\right)\right|{power}"

    @classmethod
    def eval(cls, a: Expr, b: Expr) -> Expr | None:
        """Evaluate at special arguments."""
        return sqrt(a**2 + b**2) if a.is_Rational and b.is_Rational else None

    def _eval_power(self, exponent: Expr) -> Expr | None:
        if exponent.is_Integer and exponent % 2 == 0 and exponent.is_positive:
            return (self.args[0] ** 2 + self.args[1] ** 2) ** (exponent / 2)
        return None
