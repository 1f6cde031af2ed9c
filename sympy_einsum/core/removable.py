"""Quotients with a removable singularity at 0, whose derivatives are functions of the same family:
neither overflow nor cancel.

The table, :mod:`scalar_table`, holds their code, derivatives and definitions.
"""

from __future__ import annotations

from sympy import Expr, S, bernoulli

from .whole_functions import WholeFunction, check_order


class bose(WholeFunction):
    """The Bose-Einstein distribution 1 / (exp(x) - 1).

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.bose(t).diff(t)
    bose(-t)*bose(t)
    """

    nargs = 1


class sinhc(WholeFunction):
    """sinh(x) / x, which is 1 at 0.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.sinhc(0), se.sinhc(t).diff(t)
    (1, langevin(t)*sinhc(t))
    """

    nargs = 1
    at_zero = S.One


class tanhc(WholeFunction):
    """tanh(x) / x, which is 1 at 0.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.tanhc(0), se.tanhc(t).diff(t)
    (1, (-tanh(t) + langevin(t))*tanhc(t))
    """

    nargs = 1
    at_zero = S.One


class log_sinhc(WholeFunction):
    """log(sinh(x) / x), which is 0 at 0.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.log_sinhc(0), se.log_sinhc(t).diff(t)
    (0, langevin(t))
    """

    nargs = 1
    at_zero = S.Zero


class langevin(WholeFunction):
    """The Langevin function coth(x) - 1/x, which is 0 at 0; with a second argument its derivative
    of that order.

    >>> import sympy_einsum as se
    >>> from sympy.abc import t
    >>> se.langevin(0), se.langevin(t).diff(t), se.langevin(0, 1)
    (0, langevin(t, 1), 1/3)
    """

    nargs = (1, 2)

    @classmethod
    def eval(cls, x: Expr, order: Expr = S.Zero) -> Expr | None:
        """Evaluate at special arguments."""
        if x.is_zero and order.is_Integer:
            # https://mathworld.wolfram.com/HyperbolicCotangent.html
            from_series = bernoulli(order + 1) * 2 ** (order + 1) / (order + 1)
            return from_series if order % 2 else S.Zero
        return None


def langevin_code(x: Expr, order: Expr = S.Zero) -> str:
    """Return the code of :class:`langevin`."""
    check_order(langevin, order)
    return f"langevin({order}, {{0}})"
