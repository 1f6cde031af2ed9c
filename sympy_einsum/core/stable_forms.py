"""Stable forms: what one function of a function is better written as, or has code for as a whole.

:data:`STABLE_NAMES` holds what is written so everywhere, from the construction of a node on,
:data:`NUMERIC_NAMES` what a textbook writes and only code has to write otherwise. How a node is
looked up in them is told in rules/stable_table.py. :func:`has_stable_code` knows the sums and
logarithms of which the code printers leave no part to itself.
"""

from __future__ import annotations

from sympy import Add, Dummy, Expr, Max, S, atanh, cosh, erf, erfc, exp, log, pi, sinh, sqrt, tanh

from .activations import relu, sigmoid, sigmoid_slope, softplus, step
from .special_functions import erfcx, erfcx_rate

# What the forms are functions of.
STABLE_ARGUMENT = _U = Dummy("u", real=True)

STABLE_NAMES: dict[Expr, Expr] = {
    log(1 + exp(_U)): softplus(_U),
    1 / (1 + exp(_U)): sigmoid(-_U),
    exp(_U) / (1 + exp(_U)): sigmoid(_U),
    exp(_U) * sigmoid(-_U): sigmoid(_U),
    log(sigmoid(_U)): -softplus(-_U),
    log(1 - sigmoid(_U)): -softplus(_U),
    log(1 + tanh(_U)): log(2) - softplus(-2 * _U),
    log(1 - tanh(_U)): log(2) - softplus(2 * _U),
    log(1 - tanh(_U) ** 2): 2 * log(2) - softplus(2 * _U) - softplus(-2 * _U),
    softplus(_U) - _U: softplus(-_U),
    softplus(_U) - softplus(-_U): _U,
    sinh(_U) / cosh(_U): tanh(_U),
    atanh(tanh(_U)): _U,
    softplus(log(_U)): log(1 + _U),
    sigmoid(log(_U)): _U / (1 + _U),
    sigmoid(-log(_U)): 1 / (1 + _U),
    relu(_U) * step(_U): relu(_U),
    Max(0, _U) * step(_U, S.Half): Max(0, _U),
}
# What cancels against a number is a function of its own. The last three have code as they stand.
NUMERIC_NAMES: dict[Expr, Expr] = {
    1 - sigmoid(_U): sigmoid(-_U),
    sigmoid(_U) * (1 - sigmoid(_U)): sigmoid_slope(_U),
    1 + tanh(_U): 2 * sigmoid(2 * _U),
    1 - tanh(_U): 2 * sigmoid(-2 * _U),
    1 - erf(_U): erfc(_U),
    erfcx(_U) * (2 * _U - 2 / (sqrt(pi) * erfcx(_U))): erfcx(_U) * erfcx_rate(_U),
    log(cosh(_U)): softplus(2 * _U) - _U - log(2),
    log(1 + _U): log(1 + _U),
    log(1 - exp(_U)): log(1 - exp(_U)),
    1 - exp(_U): 1 - exp(_U),
}
# The same at -u, for tensors: SymPy takes erfc(-u) apart.
TURNED_NAMES: dict[Expr, Expr] = {1 + erf(_U): erfc(_U)}


def has_stable_code(expr: Expr) -> bool:
    """Whether code for an expression as a whole is more accurate than that of its parts."""
    if isinstance(expr, log):
        total = expr.args[0]
        return S.One in Add.make_args(total) or exponents_of(total) is not None
    return small_difference(expr) is not None


def exponents_of(total: Expr) -> list[Expr] | None:
    """The exponents of a sum of two exponentials, of which 1 is one; None for other expressions."""
    terms = Add.make_args(total)
    if len(terms) != 2 or not all(term.func is exp or term is S.One for term in terms):
        return None
    return [S.Zero if term is S.One else term.args[0] for term in terms]


def small_difference(expr: Expr) -> Expr | None:
    """The exponent of 1 - exp(u) or exp(u) - 1; None for other expressions."""
    number, rest = expr.as_coeff_Add()
    if abs(number) is not S.One:
        return None
    factor, power = rest.as_coeff_Mul()
    return power.args[0] if factor == -number and power.func is exp else None
