"""Tables of stable forms: scalar expressions that are better evaluated as one function.

:data:`STABLE_NAMES` is applied when a node is built, :data:`DERIVATIVE_NAMES` before
differentiation, and :data:`NUMERIC_NAMES` only in generated code, because textbooks write the form
on the left. The tables are here, below rules/stable/, because nodes and code printers need them.
:func:`has_stable_code` recognises the sums and logarithms that code printers must print as a whole.
"""

from __future__ import annotations

from enum import IntEnum

from sympy import (
    Add,
    Dummy,
    Expr,
    Max,
    S,
    acos,
    asin,
    asinh,
    atan,
    atanh,
    besseli,
    besselj,
    cos,
    cosh,
    coth,
    erf,
    erfc,
    exp,
    jn,
    log,
    pi,
    sin,
    sinc,
    sinh,
    sqrt,
    tanh,
)

from .activations import relu, sigmoid, sigmoid_derivative, softplus, step
from .entropies import exprel
from .lazy import DeferredTable
from .removable import bose, langevin, log_sinhc, sinhc, tanhc
from .special_functions import erfcx, erfcx_rate, log_ndtr, ndtr


class Use(IntEnum):
    """The purposes of a stable form; each uses the forms of those before it."""

    READING = 0
    DIFFERENTIATING = 1
    COMPUTING = 2


# The argument of the forms.
STABLE_ARGUMENT = _U = Dummy("u", real=True)

STABLE_NAMES = DeferredTable(
    lambda: {
        log(1 + exp(_U)): softplus(_U),
        1 / (1 + exp(_U)): sigmoid(-_U),
        exp(_U) / (1 + exp(_U)): sigmoid(_U),
        exp(_U) * sigmoid(-_U): sigmoid(_U),
        log(sigmoid(_U)): -softplus(-_U),
        log(1 - sigmoid(_U)): -softplus(_U),
        log(1 + tanh(_U)): log(2) - softplus(-2 * _U),
        log(1 - tanh(_U)): log(2) - softplus(2 * _U),
        log(1 - tanh(_U) ** 2): 2 * log(2) - softplus(2 * _U) - softplus(-2 * _U),
        log(ndtr(_U)): log_ndtr(_U),
        log(1 - ndtr(_U)): log_ndtr(-_U),
        log(1 + erf(_U)): log(2) + log_ndtr(sqrt(2) * _U),
        log((1 + erf(_U)) / 2): log_ndtr(sqrt(2) * _U),
        log(1 - erf(_U)): log(2) + log_ndtr(-sqrt(2) * _U),
        log((1 - erf(_U)) / 2): log_ndtr(-sqrt(2) * _U),
        log(erfc(_U)): log(2) + log_ndtr(-sqrt(2) * _U),
        log(2 - erfc(_U)): log(2) + log_ndtr(sqrt(2) * _U),
        softplus(_U) - _U: softplus(-_U),
        softplus(_U) - softplus(-_U): _U,
        sinh(_U) / cosh(_U): tanh(_U),
        sin(_U) ** 2 + cos(_U) ** 2: S.One,
        cosh(_U) ** 2 - sinh(_U) ** 2: S.One,
        # SymPy evaluates it for a real argument from 1.15 on.
        atanh(tanh(_U), evaluate=False): _U,
        softplus(log(_U)): log(1 + _U),
        sigmoid(log(_U)): _U / (1 + _U),
        sigmoid(-log(_U)): 1 / (1 + _U),
        relu(_U) * step(_U): relu(_U),
        Max(0, _U) * step(_U, S.Half): Max(0, _U),
    }
)


def _log_exprel(x: Expr) -> Expr:
    """log((exp(x) - 1) / x), without overflow."""
    return x / 2 + log_sinhc(x / 2)


# Textbook forms whose derivatives overflow, cancel or divide 0 by 0.
DERIVATIVE_NAMES = DeferredTable(
    lambda: {
        1 / (exp(_U) - 1): bose(_U),
        1 / (1 - exp(_U)): -bose(_U),
        exp(_U) / (exp(_U) - 1): -bose(-_U),
        exp(_U) / (1 - exp(_U)): bose(-_U),
        exp(_U) * bose(_U): -bose(-_U),
        (exp(_U) - 1) / (exp(_U) + 1): tanh(_U / 2),
        (exp(_U) - 1) * sigmoid(-_U): tanh(_U / 2),
        (1 - exp(_U)) * sigmoid(-_U): -tanh(_U / 2),
        (exp(_U) - 1) / _U: exprel(_U),
        (1 - exp(_U)) / _U: -exprel(_U),
        (exp(_U) - _U - 1) / _U**2: exprel(_U) - exprel(_U, 1),
        log(exprel(_U)): _log_exprel(_U),
        _U / (exp(_U) - 1): exp(-_log_exprel(_U)),
        _U / (1 - exp(_U)): -exp(-_log_exprel(_U)),
        _U * bose(_U): exp(-_log_exprel(_U)),
        1 / (exp(_U) - 1) - 1 / _U: (langevin(_U / 2) - 1) / 2,
        bose(_U) - 1 / _U: (langevin(_U / 2) - 1) / 2,
        exp(_U) * bose(exp(_U)): exp(-_log_exprel(exp(_U))),
        exp(-_U) * softplus(_U): exp(-_log_exprel(softplus(_U))),
        coth(_U) - 1 / _U: langevin(_U),
        1 / tanh(_U) - 1 / _U: langevin(_U),
        sinh(_U) / _U: sinhc(_U),
        log(sinhc(_U)): log_sinhc(_U),
        _U / sinh(_U): exp(-log_sinhc(_U)),
        log(sinh(_U)): _U - log(2) + log(1 - exp(-2 * _U)),
        tanh(_U) / _U: tanhc(_U),
        _U / tanh(_U): 1 / tanhc(_U),
        sin(_U) / _U: sinc(_U),
        _U / sin(_U): 1 / sinc(_U),
        (1 - cos(_U)) / _U**2: sinc(_U / 2) ** 2 / 2,
        (1 - cos(_U)) / _U: sinc(_U / 2) * sin(_U / 2),
        (cos(_U) - 1) / _U**2: -(sinc(_U / 2) ** 2) / 2,
        (cos(_U) - 1) / _U: -sinc(_U / 2) * sin(_U / 2),
        jn(1, _U) / _U: (sinc(_U) + jn(2, _U)) / 3,
        # Those of higher orders come with derivatives.
        **{
            besselj(n, _U) / _U: (besselj(n - 1, _U) + besselj(n + 1, _U)) / (2 * n)
            for n in range(1, 9)
        },
        **{
            besseli(n, _U) / _U: (besseli(n - 1, _U) - besseli(n + 1, _U)) / (2 * n)
            for n in range(1, 9)
        },
        **{jn(n, _U) / _U: (jn(n - 1, _U) + jn(n + 1, _U)) / (2 * n + 1) for n in range(2, 9)},
        # The derivative of the arccosine is -1/sin(acos(u)).
        **{
            jn(n, acos(_U)) / sqrt(1 - _U**2): (
                (jn(n - 1, acos(_U)) + jn(n + 1, acos(_U))) / ((2 * n + 1) * sinc(acos(_U)))
            )
            for n in range(1, 9)
        },
        log(1 + _U) / _U: exp(-_log_exprel(log(1 + _U))),
        asinh(_U) / _U: exp(-log_sinhc(asinh(_U))),
        asin(_U) / _U: 1 / sinc(asin(_U)),
        acos(_U) / sqrt(1 - _U**2): 1 / sinc(acos(_U)),
        atan(_U) / _U: 1 / (sqrt(1 + _U**2) * sinc(atan(_U))),
        atanh(_U) / _U: 1 / tanhc(atanh(_U)),
        (cosh(_U) - 1) / _U**2: sinhc(_U / 2) ** 2 / 2,
        (1 - cosh(_U)) / _U**2: -(sinhc(_U / 2) ** 2) / 2,
        exp(-(_U**2)) / erfc(_U): 1 / erfcx(_U),
        exp(-(_U**2)) / (1 - erf(_U)): 1 / erfcx(_U),
        1 - ndtr(_U): ndtr(-_U),
        exp(_U**2) * erfc(_U): erfcx(_U),
        exp(-(_U**2) / 2) / ndtr(_U): 2 / erfcx(-_U / sqrt(2)),
        exp(_U**2 / 2) * ndtr(_U): erfcx(-_U / sqrt(2)) / 2,
        1 / (sqrt(pi) * erfcx(_U)) - _U: -erfcx_rate(_U) / 2,
        log(_U * ndtr(_U) + exp(-(_U**2) / 2) / sqrt(2 * pi)): (
            log_ndtr(_U) + log(-erfcx_rate(-_U / sqrt(2)) / sqrt(2))
        ),
        log(softplus(_U)): _U - _log_exprel(softplus(_U)),
    }
)
# Differences that cancel. The last three stay as they are: the printers have code for them.
NUMERIC_NAMES = DeferredTable(
    lambda: {
        1 - sigmoid(_U): sigmoid(-_U),
        sigmoid(_U) * (1 - sigmoid(_U)): sigmoid_derivative(_U),
        1 + tanh(_U): 2 * sigmoid(2 * _U),
        1 - tanh(_U): 2 * sigmoid(-2 * _U),
        1 - erf(_U): erfc(_U),
        1 - cos(_U): 2 * sin(_U / 2) ** 2,
        cosh(_U) - 1: 2 * sinh(_U / 2) ** 2,
        # 1 - exp(-v) = 1 / (1 + bose(v)) >= v exp(-v).
        log(1 - exp(-exp(_U))): Max(_U - exp(_U), -log(1 + bose(exp(_U)))),
        log(cosh(_U)): softplus(2 * _U) - _U - log(2),
        log(1 + _U): log(1 + _U),
        log(1 - exp(_U)): log(1 - exp(_U)),
        1 - exp(_U): 1 - exp(_U),
    }
)
# Functions at -u, for tensors only: SymPy expands erfc(-u).
REFLECTED_NAMES = DeferredTable(lambda: {1 + erf(_U): erfc(_U)})


def has_stable_code(expr: Expr) -> bool:
    """Tell whether the code of an expression is more accurate than that of its operands
    combined."""
    if isinstance(expr, log):
        total = expr.args[0]
        return S.One in Add.make_args(total) or exponents_of(total) is not None
    return small_difference(expr) is not None


def exponents_of(total: Expr) -> list[Expr] | None:
    """Return the exponents of a sum of two exponentials, one of which may be 1; else None."""
    terms = Add.make_args(total)
    if len(terms) != 2 or not all(term.func is exp or term is S.One for term in terms):
        return None
    return [S.Zero if term is S.One else term.args[0] for term in terms]


def small_difference(expr: Expr) -> Expr | None:
    """Return the exponent of 1 - exp(u) or exp(u) - 1; None for other expressions."""
    number, rest = expr.as_coeff_Add()
    if abs(number) is not S.One:
        return None
    factor, power = rest.as_coeff_Mul()
    return power.args[0] if factor == -number and power.func is exp else None
