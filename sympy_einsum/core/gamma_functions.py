"""Differences of gamma functions, and the derivatives and code that take more than a line of the
table, :mod:`scalar_table`."""

from __future__ import annotations

import sympy
from sympy import Add, Expr, Mul, log

from . import tuning
from .rows import Partials
from .whole_functions import WholeFunction, check_order


class gamma_rise(WholeFunction):
    """``polygamma(order, x + k) - polygamma(order, x)``, with order -1 for ``gammaln``, computed
    without cancellation at large x.

    >>> import sympy_einsum as se
    >>> from sympy.abc import x, k
    >>> se.gamma_rise(-1, x, k).diff(x), se.gamma_rise(0, x, 1)
    (gamma_rise(0, x, k), 1/x)
    """

    nargs = 3

    @classmethod
    def eval(cls, order: Expr, x: Expr, k: Expr) -> Expr | None:
        """Expand by recurrence for a small integer k."""
        if not (
            k.is_Integer and 0 <= k <= tuning.MAX_GAMMA_TERMS and order.is_Integer and order >= 0
        ):
            return None
        sign = (-1) ** order * sympy.factorial(order)
        return Add(*[sign / (x + j) ** (order + 1) for j in range(k)])


# --- derivatives and code of the rows ------------------------------------------------------------


def rise_derivative(order: Expr, x: Expr, k: Expr) -> Partials:
    return None, gamma_rise(order + 1, x, k), sympy.polygamma(order + 1, x + k)


def rise_definition(order: Expr, x: Expr, k: Expr) -> Expr:
    if order == -1:
        return log(abs(sympy.gamma(x + k))) - log(abs(sympy.gamma(x)))
    return sympy.polygamma(order, x + k) - sympy.polygamma(order, x)


def rise_code(order: Expr, x: Expr, k: Expr) -> str:
    # The last argument is the plain difference, used where gamma functions have negative arguments.
    check_order(gamma_rise, order, least=-1)
    name = {-1: "special.gammaln(", 0: "special.digamma("}.get(
        int(order), f"special.polygamma({order}, "
    )
    return f"gamma_rise({order}, {{1}}, {{2}}, {name}{{1}} + {{2}}) - {name}{{1}}))"


def binomial_code(n: Expr, k: Expr) -> str:
    if k.is_Integer:
        factors = "*".join([f"({{0}} - {j})" if j else "{0}" for j in range(k)])
        return f"({factors} / {sympy.factorial(k)})"
    return "special.binom({0}, {1})"


def binomial_derivative(n: Expr, k: Expr) -> Partials:
    if k.is_Integer:
        factors = [n - j for j in range(k)]
        rest = [Mul(*factors[:j], *factors[j + 1 :]) for j in range(k)]
        return Add(*rest) / sympy.factorial(k), None
    value, below = sympy.binomial(n, k), sympy.digamma(n - k + 1)
    return value * (sympy.digamma(n + 1) - below), value * (below - sympy.digamma(k + 1))


def _log_beta_derivative(a: Expr, b: Expr) -> Expr:
    # By a. Expanded for a small integer b: digamma has poles that the function doesn't have.
    if b.is_Integer and 0 < b <= tuning.MAX_GAMMA_TERMS:
        return Add(*[-1 / (a + j) for j in range(b)])
    return sympy.digamma(a) - sympy.digamma(a + b)


def betaln_code(a: Expr, b: Expr) -> str:
    # Expanded for a small integer b: SciPy's is nan at some poles of gamma that cancel.
    if b.is_Integer and 0 < b <= tuning.MAX_GAMMA_TERMS:
        logs = [f"np.log(np.abs({{0}} + {j}))" for j in range(b)]
        return f"({float(log(sympy.factorial(b - 1)))!r} - {' - '.join(logs)})"
    return "special.betaln({0}, {1})"


def beta_derivative(a: Expr, b: Expr) -> Partials:
    return tuple([sympy.beta(a, b) * partial for partial in betaln_derivative(a, b)])


def betaln_derivative(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    return _log_beta_derivative(a, b), _log_beta_derivative(b, a)
