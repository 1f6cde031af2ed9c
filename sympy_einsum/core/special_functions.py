"""Scalar functions that SymPy lacks, kept whole so that they are right where a formula for them
overflows, cancels or divides zero by zero. One class each.

A class says its numerical code, ``numeric``, as the rows of the table of functions do; its
derivatives, ``slopes``, by functions of the same kind; and its definition, by which SymPy evaluates
it at numbers.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

import sympy
from sympy import Expr, Function, Integer, KroneckerDelta, Max, Min, Pow, S, exp, log, pi, sqrt
from sympy.core.function import ArgumentIndexError
from sympy.printing.pretty.stringpict import prettyForm

Slopes = tuple[Expr | None, ...]

_MODULES = {"np": "numpy", "special": "scipy.special"}


class WholeFunction(Function):
    """A scalar function kept whole, so that it can be evaluated without overflow."""

    numeric: ClassVar[str]

    def slopes(self) -> Slopes:
        """The derivative by each argument, None where there is none."""
        return (None,) * len(self.args)

    def fdiff(self, argindex: int = 1) -> Expr:
        """The derivative by one argument, as SymPy asks for it."""
        slope = (None, *self.slopes())[argindex] if 0 < argindex <= len(self.args) else None
        if slope is None:
            raise ArgumentIndexError(self, argindex)
        return slope

    def _eval_evalf(self, prec: int) -> Any:
        return self.rewrite(exp)._eval_evalf(prec)

    def _eval_is_extended_real(self) -> Any:
        return True if all(arg.is_extended_real for arg in self.args) else None

    def _numpycode(self, printer: Any, *args: Any) -> str:
        def name(found: re.Match[str]) -> str:
            return printer._module_format(f"{_MODULES[found[1]]}.{found[2]}")

        text = re.sub(r"\b(np|special)\.(\w+)", name, self.numeric)
        return f"({text.format(*[printer._print(arg) for arg in self.args])})"


class step(WholeFunction):
    """The indicator [x > 0]: 1 for positive x, else 0; the derivative of relu. Its own derivative
    is 0, at 0 too.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.step(-2), se.step(0), se.step(3), se.relu(t).diff(t)
    (0, 0, 1, step(t))
    """

    nargs = 1
    numeric = "np.heaviside({0}, 0)"

    @classmethod
    def eval(cls, x: Expr) -> Any:
        """Known values."""
        if x.is_positive:
            return S.One
        return S.Zero if x.is_nonpositive else None

    def slopes(self) -> Slopes:
        """It is constant wherever it has a derivative."""
        return (S.Zero,)

    def _eval_power(self, exponent: Expr) -> Any:
        return self if exponent.is_positive else None

    def _eval_rewrite_as_exp(self, x: Expr, **kwargs: Any) -> Expr:
        return sympy.Piecewise((1, x > 0), (0, True))

    def _latex(self, printer: Any, exp: Any = None) -> str:
        text = rf"\left[{printer._print(self.args[0])} > 0\right]"
        return text if exp is None else f"{text}^{{{exp}}}"

    def _pretty(self, printer: Any) -> Any:
        inside = prettyForm(*printer._print(self.args[0]).right(" > 0"))
        return prettyForm(*inside.parens("[", "]"))


class masked(WholeFunction):
    """The product of a weight and a value, and 0 where the weight is 0, whatever the value: the
    slope of what a choice such as relu hasn't taken.

    >>> import sympy_einsum as se
    >>> from sympy.abc import w, x
    >>> se.masked(0, x), se.masked(2, x), se.masked(w, x).diff(x)
    (0, 2*x, w)
    """

    nargs = 2
    numeric = "np.where({0} == 0, 0, {0} * {1})"

    @classmethod
    def eval(cls, weight: Expr, value: Expr) -> Any:
        """Known values, and the product where the weight isn't 0."""
        if weight.is_zero or value.is_zero:
            return S.Zero
        return weight * value if weight.is_zero is False else None

    def slopes(self) -> Slopes:
        """As for a product."""
        weight, value = self.args
        return value, weight

    def _eval_rewrite_as_exp(self, weight: Expr, value: Expr, **kwargs: Any) -> Expr:
        return weight * value

    def _latex(self, printer: Any, exp: Any = None) -> str:
        text = printer._print(sympy.Mul(*self.args, evaluate=False))
        return text if exp is None else rf"\left({text}\right)^{{{exp}}}"


def _power_code(b: str, t: str, k: Any) -> str:
    """Code of b**t log(b)**k: the logarithm is taken where it is finite, or the power isn't."""
    if k == 0:
        return f"{b}**{t}"
    logarithm = f"np.log(np.where(({b} == 0) & ({t} >= 0), 1, {b}))"
    return f"({b}**{t} * {logarithm}{'' if k == 1 else f'**{k}'})"


class powlog(WholeFunction):
    """b**t * log(b)**k with k = 1, 2, …, the k-th derivative of b**t by t: 0 at b = 0 and t > 0.

    >>> import sympy_einsum as se
    >>> from sympy.abc import b, t
    >>> se.powlog(b, t, 1).diff(t), se.powlog(0, 2, 1)
    (powlog(b, t, 2), 0)
    """

    nargs = 3

    @classmethod
    def eval(cls, b: Expr, t: Expr, k: Expr) -> Any:
        """Known values, and the product where the logarithm is finite."""
        if b.is_zero and t.is_positive:
            return S.Zero
        return b**t * log(b) ** k if b.is_positive or b.is_number or k.is_zero else None

    def slopes(self) -> Slopes:
        """Of the same kind."""
        b, t, k = self.args
        by_base = t * powlog(b, t - 1, k) + k * powlog(b, t - 1, k - 1)
        return by_base, powlog(b, t, k + 1), None

    @property
    def numeric(self) -> str:  # type: ignore[override]
        """See :func:`_power_code`."""
        return _power_code("{0}", "{1}", self.args[2])

    def _eval_rewrite_as_exp(self, b: Expr, t: Expr, k: Expr, **kwargs: Any) -> Expr:
        return b**t * log(b) ** k

    def _latex(self, printer: Any, exp: Any = None) -> str:
        b, t, k = self.args
        power = printer._print(Pow(b, t, evaluate=False))
        logarithm = printer._print(log(b, evaluate=False) ** k)
        text = f"{power} {logarithm}"
        return text if exp is None else rf"\left({text}\right)^{{{exp}}}"


class power_slope(WholeFunction):
    """f b**t log(b)**k, and 0 where f is 0, as derivatives of b**t are at b = 0; which only
    generated code has.

    >>> from sympy.abc import b, t
    >>> power_slope(t, b, t - 1, 0).rewrite(exp)
    b**(t - 1)*t
    """

    nargs = 4

    @property
    def numeric(self) -> str:  # type: ignore[override]
        """Where f is 0 it is that times 1."""
        return f"({{0}} * {_power_code('np.where({0} == 0, 1, {1})', '{2}', self.args[3])})"

    def _eval_rewrite_as_exp(self, f: Expr, b: Expr, t: Expr, k: Expr, **kwargs: Any) -> Expr:
        return f * b**t * log(b) ** k


class xlogy(WholeFunction):
    """a log(b), and 0 where a is 0, whatever b.

    >>> import sympy_einsum as se
    >>> from sympy.abc import a, b
    >>> se.xlogy(0, 0), se.xlogy(a, b).diff(a)
    (0, log(b))
    """

    nargs = 2
    numeric = "special.xlogy({0}, {1})"

    @classmethod
    def eval(cls, a: Expr, b: Expr) -> Any:
        """Known values, and the product where neither can be 0."""
        return a * log(b) if a.is_zero is False or b.is_positive else S.Zero if a.is_zero else None

    def slopes(self) -> Slopes:
        """As for a log(b)."""
        a, b = self.args
        return log(b), a / b

    def _eval_rewrite_as_exp(self, a: Expr, b: Expr, **kwargs: Any) -> Expr:
        return a * log(b)


class xlog1py(WholeFunction):
    """a log(1 + b), and 0 where a is 0, whatever b.

    >>> import sympy_einsum as se
    >>> from sympy.abc import a, b
    >>> se.xlog1py(0, -1), se.xlog1py(a, b).diff(b)
    (0, a/(b + 1))
    """

    nargs = 2
    numeric = "special.xlog1py({0}, {1})"

    @classmethod
    def eval(cls, a: Expr, b: Expr) -> Any:
        """Known values."""
        return S.Zero if a.is_zero else None

    def slopes(self) -> Slopes:
        """As for a log(1 + b)."""
        a, b = self.args
        return log(1 + b), a / (1 + b)

    def _eval_rewrite_as_exp(self, a: Expr, b: Expr, **kwargs: Any) -> Expr:
        return a * log(1 + b)


class entr(WholeFunction):
    """The entropy -x log(x) of a probability; 0 at 0.

    >>> import sympy_einsum as se
    >>> from sympy.abc import x
    >>> se.entr(0), se.entr(x).diff(x)
    (0, -log(x) - 1)
    """

    nargs = 1
    numeric = "special.entr({0})"

    @classmethod
    def eval(cls, x: Expr) -> Any:
        """Known values."""
        return S.Zero if x.is_zero else None

    def slopes(self) -> Slopes:
        """Infinite at 0."""
        return (-log(self.args[0]) - 1,)

    def _eval_rewrite_as_exp(self, x: Expr, **kwargs: Any) -> Expr:
        return -x * log(x)


class rel_entr(WholeFunction):
    """The relative entropy a log(a / b) of two probabilities; 0 where a is 0.

    >>> import sympy_einsum as se
    >>> from sympy.abc import a, b
    >>> se.rel_entr(a, b).diff(a), se.rel_entr(a, b).diff(b)
    (log(a/b) + 1, -a/b)
    """

    nargs = 2
    numeric = "special.rel_entr({0}, {1})"

    @classmethod
    def eval(cls, a: Expr, b: Expr) -> Any:
        """Known values."""
        return S.Zero if a.is_zero and b.is_nonnegative else None

    def slopes(self) -> Slopes:
        """As for a log(a / b)."""
        a, b = self.args
        return log(a / b) + 1, -a / b

    def _eval_rewrite_as_exp(self, a: Expr, b: Expr, **kwargs: Any) -> Expr:
        return a * log(a / b)


class exprel(WholeFunction):
    """(exp(x) - 1) / x, which is 1 at 0; with a second argument its derivative of that order.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.exprel(0), se.exprel(t).diff(t), se.exprel(0, 1)
    (1, exprel(t, 1), 1/2)
    """

    nargs = (1, 2)

    @classmethod
    def eval(cls, x: Expr, order: Expr = S.Zero) -> Any:
        """Known values."""
        if x.is_zero:
            return 1 / (order + 1)
        return None

    def slopes(self) -> Slopes:
        """The derivative of the next order."""
        return exprel(self.args[0], sum(self.args[1:], S.One)), *[None for _ in self.args[1:]]

    @property
    def numeric(self) -> str:  # type: ignore[override]
        """SciPy's own function, or Kummer's."""
        if len(self.args) == 1:
            return "special.exprel({0})"
        if not (self.args[1].is_Integer and self.args[1].is_nonnegative):
            raise ValueError("the order of exprel, its second argument, is an integer from 0 on")
        order = int(self.args[1])
        return f"(special.hyp1f1({order + 1}, {order + 2}, {{0}}) / {order + 1})"

    def _eval_rewrite_as_exp(self, x: Expr, order: Expr = S.Zero, **kwargs: Any) -> Expr:
        t = sympy.Dummy()
        return ((exp(t) - 1) / t).diff(t, order).subs(t, x)

    def _latex(self, printer: Any, exp: Any = None) -> str:
        order = sum(self.args[1:], S.Zero)
        raised = r"\prime" * int(order) if order.is_Integer else f"({printer._print(order)})"
        text = rf"\operatorname{{exprel}}{'^{' + raised + '}' if raised else ''}"
        text += rf"{{\left({printer._print(self.args[0])} \right)}}"
        return text if exp is None else rf"{{{text}}}^{{{exp}}}"


class spherical_in(WholeFunction):
    """The modified spherical Bessel function of an order; that of order 0 is sinh(x) / x.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.spherical_in(0, 0), se.Shi(t).diff(t), se.diff(se.Shi(t), t)
    (1, sinh(t)/t, spherical_in(0, t))
    """

    nargs = 2
    numeric = "special.spherical_in({0}, {1})"

    @classmethod
    def eval(cls, order: Expr, x: Expr) -> Any:
        """Known values."""
        if x.is_zero:
            return S.One if order.is_zero else S.Zero
        return None

    def slopes(self) -> Slopes:
        """By two other orders, without a quotient."""
        order, x = self.args
        if order.is_zero:
            return None, spherical_in(1, x)
        below, above = spherical_in(order - 1, x), spherical_in(order + 1, x)
        return None, (order * below + (order + 1) * above) / (2 * order + 1)

    def _eval_rewrite_as_exp(self, order: Expr, x: Expr, **kwargs: Any) -> Expr:
        return sqrt(pi / (2 * x)) * sympy.besseli(order + S.Half, x)

    def _latex(self, printer: Any, exp: Any = None) -> str:
        order, x = map(printer._print, self.args)
        power = "" if exp is None else f"^{{{exp}}}"
        return rf"i_{{{order}}}{power}\left({x}\right)"


class ndtr(WholeFunction):
    """The distribution function of the normal distribution.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.ndtr(0), se.ndtr(t).diff(t)
    (1/2, sqrt(2)*exp(-t**2/2)/(2*sqrt(pi)))
    """

    nargs = 1
    numeric = "special.ndtr({0})"

    @classmethod
    def eval(cls, x: Expr) -> Any:
        """Known values."""
        return S.Half if x.is_zero else None

    def slopes(self) -> Slopes:
        """The density."""
        return (exp(-(self.args[0] ** 2) / 2) / sqrt(2 * pi),)

    def _eval_rewrite_as_exp(self, x: Expr, **kwargs: Any) -> Expr:
        return sympy.erfc(-x / sqrt(2)) / 2

    def _latex(self, printer: Any, exp: Any = None) -> str:
        power = "" if exp is None else f"^{{{exp}}}"
        return rf"\Phi{power}\left({printer._print(self.args[0])}\right)"


class erfcx(WholeFunction):
    """exp(x**2) erfc(x), which neither overflows nor vanishes for positive x.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.erfcx(0), se.erfcx(t).diff(t)
    (1, (2*t - 2/(sqrt(pi)*erfcx(t)))*erfcx(t))
    """

    nargs = 1
    numeric = "special.erfcx({0})"

    @classmethod
    def eval(cls, x: Expr) -> Any:
        """Known values."""
        return S.One if x.is_zero else None

    def slopes(self) -> Slopes:
        """That of the product; with the function as a factor, so that the derivatives of its
        reciprocal are right where it is infinite."""
        return (self * (2 * self.args[0] - 2 / (sqrt(pi) * self)),)

    def _eval_rewrite_as_exp(self, x: Expr, **kwargs: Any) -> Expr:
        return exp(x**2) * sympy.erfc(x)


class log_ndtr(WholeFunction):
    """The logarithm of the distribution function of the normal distribution.

    >>> import sympy_einsum as se
    >>> se.log_ndtr(0)
    -log(2)
    """

    nargs = 1
    numeric = "special.log_ndtr({0})"

    @classmethod
    def eval(cls, x: Expr) -> Any:
        """Known values."""
        return -log(2) if x.is_zero else None

    def slopes(self) -> Slopes:
        """The density by the distribution function, of which both may be too small for a number."""
        return (sqrt(2 / pi) / erfcx(-self.args[0] / sqrt(2)),)

    def _eval_rewrite_as_exp(self, x: Expr, **kwargs: Any) -> Expr:
        return log(sympy.erfc(-x / sqrt(2)) / 2)

    def _latex(self, printer: Any, exp: Any = None) -> str:
        power = "" if exp is None else f"^{{{exp}}}"
        return rf"\log{power}\Phi\left({printer._print(self.args[0])}\right)"


class gammaln(WholeFunction):
    """log |gamma(x)|, which is real on the left of 0 too, unlike loggamma.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.gammaln(1), se.gammaln(t).diff(t)
    (0, polygamma(0, t))
    """

    nargs = 1
    numeric = "special.gammaln({0})"

    @classmethod
    def eval(cls, x: Expr) -> Any:
        """Known values."""
        return S.Zero if x in (S.One, Integer(2)) else None

    def slopes(self) -> Slopes:
        """The digamma function."""
        return (sympy.digamma(self.args[0]),)

    def _eval_rewrite_as_exp(self, x: Expr, **kwargs: Any) -> Expr:
        return log(abs(sympy.gamma(x)))


class betaln(WholeFunction):
    """log |beta(a, b)|.

    >>> import sympy_einsum as se
    >>> from sympy.abc import a, b
    >>> se.betaln(a, b).diff(a)
    polygamma(0, a) - polygamma(0, a + b)
    """

    nargs = 2
    numeric = "special.betaln({0}, {1})"

    def slopes(self) -> Slopes:
        """By digamma functions."""
        a, b = self.args
        return tuple([sympy.digamma(arg) - sympy.digamma(a + b) for arg in (a, b)])

    def _eval_rewrite_as_exp(self, a: Expr, b: Expr, **kwargs: Any) -> Expr:
        return log(abs(sympy.beta(a, b)))


class real_cbrt(WholeFunction):
    """The real cube root; SymPy's ``cbrt`` of a negative number is complex.

    >>> import sympy_einsum as se
    >>> se.real_cbrt(-8), se.real_cbrt(0)
    (-2, 0)
    """

    nargs = 1
    numeric = "np.cbrt({0})"

    @classmethod
    def eval(cls, x: Expr) -> Any:
        """By cbrt where the sign is known."""
        if x.is_nonnegative:
            return sympy.cbrt(x)
        return -sympy.cbrt(-x) if x.is_negative else None

    def slopes(self) -> Slopes:
        """Infinite at 0."""
        return (1 / (3 * self**2),)

    def _eval_rewrite_as_exp(self, x: Expr, **kwargs: Any) -> Expr:
        return sympy.sign(x) * sympy.cbrt(abs(x))

    def _latex(self, printer: Any, exp: Any = None) -> str:
        text = rf"\sqrt[3]{{{printer._print(self.args[0])}}}"
        return text if exp is None else f"{text}^{{{exp}}}"


class _WithoutNan(WholeFunction):
    """The larger or smaller of two numbers; where one isn't a number, the other."""

    nargs = 2
    _known: ClassVar[Any]

    @classmethod
    def eval(cls, a: Expr, b: Expr) -> Any:
        """Of numbers."""
        known = a.is_number and b.is_number and S.NaN not in (a, b)
        return cls._known(a, b) if known else None

    def slopes(self) -> Slopes:
        """1 for the one that is taken, one half each where they tie."""
        shares = [KroneckerDelta(arg, self) for arg in self.args]
        return tuple([share / sum(shares, S.Zero) for share in shares])

    def _eval_rewrite_as_exp(self, a: Expr, b: Expr, **kwargs: Any) -> Expr:
        return type(self)._known(a, b)


class fmax(_WithoutNan):
    """The larger of two numbers; where one isn't a number, the other.

    >>> import sympy_einsum as se
    >>> se.fmax(1, 2)
    2
    """

    numeric = "np.fmax({0}, {1})"
    _known = Max


class fmin(_WithoutNan):
    """The smaller of two numbers; where one isn't a number, the other.

    >>> import sympy_einsum as se
    >>> se.fmin(1, 2)
    1
    """

    numeric = "np.fmin({0}, {1})"
    _known = Min


FUNCTIONS = (
    *(
        step,
        masked,
        powlog,
        xlogy,
        xlog1py,
        entr,
        rel_entr,
        exprel,
        spherical_in,
        ndtr,
        erfcx,
        log_ndtr,
    ),
    *(gammaln, betaln, real_cbrt, fmax, fmin),
)
