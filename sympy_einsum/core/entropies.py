"""Products with a logarithm that are finite where the logarithm isn't, and quotients with a limit.

The table, :mod:`scalar_table`, holds their code, derivatives and definitions.
"""

from __future__ import annotations

import sympy
from sympy import Expr, Pow, S, log
from sympy.printing.printer import Printer

from .rows import Partials
from .whole_functions import WholeFunction, check_order


class powlog(WholeFunction):
    """b**t * log(b)**k with k = 1, 2, …, the k-th derivative of b**t by t: 0 at b = 0 and t > 0.

    >>> import sympy_einsum as se
    >>> from sympy.abc import b, t
    >>> se.powlog(b, t, 1).diff(t), se.powlog(0, 2, 1)
    (powlog(b, t, 2), 0)
    """

    nargs = 3

    @classmethod
    def eval(cls, b: Expr, t: Expr, k: Expr) -> Expr | None:
        """Evaluate at special arguments, and write the product where the logarithm is finite."""
        if b.is_zero and t.is_positive:
            return S.Zero
        if b.is_zero and not t.is_number:
            return None
        return b**t * log(b) ** k if b.is_positive or b.is_number or k.is_zero else None

    def _latex(self, printer: Printer, exp: str | None = None) -> str:
        b, t, k = self.args
        power = printer._print(Pow(b, t, evaluate=False))
        logarithm = printer._print(log(b, evaluate=False) ** k)
        text = f"{power} {logarithm}"
        return text if exp is None else rf"\left({text}\right)^{{{exp}}}"


class power_derivative(WholeFunction):
    """f b**t log(b)**k, and 0 where f is 0, as the derivatives of b**t are at b = 0; for generated
    code only.

    >>> from sympy import exp
    >>> from sympy.abc import b, t
    >>> power_derivative(t, b, t - 1, 0).rewrite(exp)
    b**(t - 1)*t
    """

    nargs = 4


class xlogy(WholeFunction):
    """a log(b), and 0 where a is 0, whatever b.

    >>> import sympy_einsum as se
    >>> from sympy.abc import a, b
    >>> se.xlogy(0, 0), se.xlogy(a, b).diff(a)
    (0, log(b))
    """

    nargs = 2

    @classmethod
    def eval(cls, a: Expr, b: Expr) -> Expr | None:
        """Evaluate at special arguments, and write the product where it is finite."""
        return a * log(b) if a.is_zero is False or b.is_positive else S.Zero if a.is_zero else None


class xlog1py(WholeFunction):
    """a log(1 + b), and 0 where a is 0, whatever b.

    >>> import sympy_einsum as se
    >>> from sympy.abc import a, b
    >>> se.xlog1py(0, -1), se.xlog1py(a, b).diff(b)
    (0, a/(b + 1))
    """

    nargs = 2

    @classmethod
    def eval(cls, a: Expr, b: Expr) -> Expr | None:
        """Evaluate at special arguments."""
        return S.Zero if a.is_zero else None


class entr(WholeFunction):
    """The entropy -x log(x) of a probability; 0 at 0.

    >>> import sympy_einsum as se
    >>> from sympy.abc import x
    >>> se.entr(0), se.entr(x).diff(x)
    (0, -log(x) - 1)
    """

    nargs = 1
    at_zero = S.Zero


class rel_entr(WholeFunction):
    """The relative entropy a log(a / b) of two probabilities; 0 where a is 0.

    >>> import sympy_einsum as se
    >>> from sympy.abc import a, b
    >>> se.rel_entr(a, b).diff(a), se.rel_entr(a, b).diff(b)
    (log(a/b) + 1, -a/b)
    """

    nargs = 2

    @classmethod
    def eval(cls, a: Expr, b: Expr) -> Expr | None:
        """Evaluate at special arguments."""
        return S.Zero if a.is_zero and b.is_nonnegative else None


class exprel(WholeFunction):
    """(exp(x) - 1) / x, which is 1 at 0; with a second argument its derivative of that order.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.exprel(0), se.exprel(t).diff(t), se.exprel(0, 1)
    (1, exprel(t, 1), 1/2)
    """

    nargs = (1, 2)

    @classmethod
    def eval(cls, x: Expr, order: Expr = S.Zero) -> Expr | None:
        """Evaluate at special arguments."""
        if x.is_zero:
            return 1 / (order + 1)
        return None

    def _latex(self, printer: Printer, exp: str | None = None) -> str:
        order = sum(self.args[1:], S.Zero)
        raised = r"\prime" * int(order) if order.is_Integer else f"({printer._print(order)})"
        text = rf"\operatorname{{exprel}}{'^{' + raised + '}' if raised else ''}"
        text += rf"{{\left({printer._print(self.args[0])} \right)}}"
        return text if exp is None else rf"{{{text}}}^{{{exp}}}"


class real_cbrt(WholeFunction):
    """The real cube root; SymPy's ``cbrt`` of a negative number is complex.

    >>> import sympy_einsum as se
    >>> se.real_cbrt(-8), se.real_cbrt(0)
    (-2, 0)
    """

    nargs = 1
    formula = r"\sqrt[3]{{{0}}}{power}"

    @classmethod
    def eval(cls, x: Expr) -> Expr | None:
        """Return SymPy's cbrt where the sign is known."""
        if x.is_nonnegative:
            return sympy.cbrt(x)
        return -sympy.cbrt(-x) if x.is_negative else None


# --- derivatives and code of the rows ------------------------------------------------------------


def _power_code(b: str, t: str, k: Expr) -> str:
    # b**t log(b)**k: the logarithm is taken where it is finite, or the power isn't.
    if k == 0:
        return f"{b}**({t} + 0.0)"
    logarithm = f"np.log(np.where(({b} == 0) & ({t} >= 0), 1, {b}))"
    return f"({b}**({t} + 0.0) * {logarithm}{'' if k == 1 else f'**{k}'})"


def powlog_code(b: Expr, t: Expr, k: Expr) -> str:
    return _power_code("{0}", "{1}", k)


def powlog_derivative(b: Expr, t: Expr, k: Expr) -> Partials:
    by_base = t * powlog(b, t - 1, k) + k * powlog(b, t - 1, k - 1)
    return by_base, powlog(b, t, k + 1), None


def power_derivative_code(f: Expr, b: Expr, t: Expr, k: Expr) -> str:
    # Where f is 0, the base is replaced by 1.
    return f"({{0}} * {_power_code('np.where({0} == 0, 1, {1})', '{2}', k)})"


def exprel_code(x: Expr, order: Expr = S.Zero) -> str:
    # SciPy's own function, or Kummer's.
    if order.is_zero:
        return "special.exprel({0})"
    check_order(exprel, order)
    return f"(special.hyp1f1({order + 1}, {order + 2}, {{0}}) / {order + 1})"


def exprel_derivative(x: Expr, *order: Expr) -> Partials:
    return exprel(x, sum(order, S.One)), *[None for _ in order]
