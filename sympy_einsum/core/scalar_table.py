"""The table of scalar functions: SymPy's, those that it lacks, and NumPy's compositions of them.
Each has one row; :class:`Row` documents the fields.

Conventions at kinks, as in [L, table 4.1] and the machine-learning frameworks: abs'(0) = 0,
sign' = 0, relu'(0) = 0; where two arguments of Max or Min tie, each has derivative one half.

References
==========

[L] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022, table 4.1.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy
from sympy import (
    Eq,
    Expr,
    KroneckerDelta,
    LambertW,
    Max,
    Min,
    Piecewise,
    S,
    ceiling,
    csch,
    exp,
    floor,
    jn,
    log,
    pi,
    sign,
    sinc,
    sqrt,
)

from .activations import (
    elu,
    fmax,
    fmin,
    gelu,
    gelu_tanh,
    hard_tanh,
    leaky_relu,
    log_sigmoid,
    logaddexp,
    masked,
    mish,
    relu,
    selu,
    sigmoid,
    sigmoid_derivative,
    silu,
    softplus,
    step,
)
from .bessel_functions import (
    adjacent_mean,
    airy_code,
    bessel_code,
    decaying_derivative,
    ive,
    kve,
    modified_spherical_derivative,
    powbesselk,
    powbesselk_code,
    powbesselk_derivative,
    scaled_code,
    scaled_derivative,
    spherical_derivative,
    spherical_in,
)
from .entropies import (
    entr,
    exprel,
    exprel_code,
    exprel_derivative,
    power_derivative,
    power_derivative_code,
    powlog,
    powlog_code,
    powlog_derivative,
    real_cbrt,
    rel_entr,
    xlog1py,
    xlogy,
)
from .exact_powers import exact_power
from .gamma_functions import (
    beta_derivative,
    betaln_code,
    betaln_derivative,
    binomial_code,
    binomial_derivative,
    gamma_rise,
    rise_code,
    rise_definition,
    rise_derivative,
)
from .removable import bose, langevin, langevin_code, log_sinhc, sinhc, tanhc
from .rounding import (
    copysign,
    floor_divide,
    fmod,
    isfinite,
    isinf,
    isnan,
    nan_to_num,
    rint,
    stop_gradient,
    trunc,
    unless_nan,
)
from .rows import Code, Partials, Row, add_row
from .special_functions import (
    betaln,
    erfcx,
    erfcx_rate,
    erfcx_rate_code,
    erfcx_rate_definition,
    erfcx_rate_derivative,
    gammaln,
    log_ndtr,
    log_ndtr_difference,
    modulus,
    ndtr,
    ndtr_share,
    ndtri,
)

# --- derivatives and code that take more than a line ----------------------------------------------


def _zero(*args: Expr) -> Partials:
    return (S.Zero,) * len(args)


def _max_derivative(*args: Expr) -> Partials:
    # Of Max(a, Max(b, c)): 1 where a is larger, one half at a tie.
    partials: list[Expr] = []
    weight: Expr = S.One
    for k, arg in enumerate(args):
        rest = args[k + 1 :]
        difference = arg - Max(*rest)
        partials.append(weight * (step(difference, S.Half) if rest else S.One))
        weight *= step(-difference, S.Half)
    return tuple(partials)


def _tie_averaged(taken: Expr, *args: Expr) -> Partials:
    # 1 for the selected argument, one half each where two tie.
    shares = [KroneckerDelta(arg, taken) for arg in args]
    return tuple([share / sum(shares, S.Zero) for share in shares])


def _nearest(x: Expr) -> Expr:
    # https://mathworld.wolfram.com/NearestIntegerFunction.html
    quarter = (2 * x - 1) / 4
    return floor(x + S.Half) + ceiling(quarter) - floor(quarter) - 1


def _lambertw_derivative(x: Expr, *branch: Expr) -> Partials:
    value = LambertW(x, *branch)
    return exp(-value) / (1 + value), *[None for _ in branch]


def _lambertw_code(x: Expr, branch: Expr = S.Zero) -> str:
    # Real to the right of the branch point; the branch -1 only to the left of 0.
    beyond = "({0} < -1/np.e)" + (" | ({0} > 0)" if branch == -1 else "")
    return f"np.where({beyond}, np.nan, np.real(special.lambertw({{all}})))"


def _modulus_derivative(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Return (a, b) normalised to length 1; 0 at 0, as JAX does."""
    size = modulus(a, b)
    away = Piecewise((1 / size, size > 0), (0, True))
    return a * away, b * away


def _derivative_of(f: Callable[[Expr], Expr], x: Expr, order: Expr = S.Zero) -> Expr:
    t = sympy.Dummy()
    return f(t).diff(t, order).subs(t, x)


def _share_derivative(x: Expr, a: Expr, b: Expr) -> Partials:
    # 0 where x is infinite.
    own = ndtr_share(x, a, b)
    return -masked(own, x), -own * ndtr_share(a, a, b), own * ndtr_share(b, a, b)


def _everywhere(code: Code) -> dict[str, Code]:
    """Return code, for all backends, that calls a helper of generated code; for numbers it returns
    a number."""

    def of_numbers(*args: Expr) -> str:
        return f"{code(*args) if callable(code) else code}[()]"

    return {"arrays": code, "scalars": of_numbers}


# --- the rows -------------------------------------------------------------------------------------

_ELEMENTARY = (
    Row(sympy.exp, "np.exp({0})", numpy="exp", matrixcalculus="exp", is_analytic=True),
    Row(lambda x: exact_power(2, x), numpy="exp2"),
    Row(lambda x: exp(x) - 1, numpy="expm1"),
    Row(sympy.log, "np.log({0})", numpy="log", matrixcalculus="log", is_analytic=True),
    Row(lambda x: log(x) / log(2), numpy="log2"),
    Row(lambda x: log(x) / log(10), numpy="log10"),
    Row(lambda x: log(1 + x), numpy="log1p"),
    Row(sympy.sqrt, numpy="sqrt", matrixcalculus="sqrt", about="The principal square root."),
    Row(sympy.cbrt, about="The principal cube root, which is complex for negative numbers."),
    Row(real_cbrt, "np.cbrt({0})", lambda x: (1 / (3 * real_cbrt(x) ** 2),),
        lambda x: sign(x) * sympy.cbrt(abs(x)), {"math": "math.cbrt({0})"}, numpy="cbrt"),
    Row(lambda x: x**2, numpy="square"),
    Row(lambda x: 1 / x, numpy="reciprocal"),
    Row(sympy.Pow, derivative=lambda base, exponent: (
        exponent * base ** (exponent - 1), powlog(base, exponent, S.One)), is_public=False),
    Row(lambda x, y: sqrt(x**2 + y**2), numpy="hypot"),
    Row(modulus, "np.hypot({0}, {1})", _modulus_derivative, lambda a, b: sqrt(a**2 + b**2),
        keeps_finite=True),
    Row(lambda x: x * pi / 180, numpy="deg2rad radians"),
    Row(lambda x: x * 180 / pi, numpy="rad2deg degrees"),
    Row(lambda x, n: x * exact_power(2, n), numpy="ldexp"),
    Row(sympy.conjugate, "np.conj({0})", numpy="conjugate conj", about="The complex conjugate."),
    Row(sympy.re, "np.real({0})", about="The real part."),
    Row(sympy.im, "np.imag({0})", about="The imaginary part."),
)  # fmt: skip
_TRIGONOMETRIC = (
    Row(sympy.sin, "np.sin({0})", numpy="sin", matrixcalculus="sin",
        keeps_finite=True, is_analytic=True),
    Row(sympy.cos, "np.cos({0})", numpy="cos", matrixcalculus="cos",
        keeps_finite=True, is_analytic=True),
    Row(sympy.tan, "np.tan({0})", numpy="tan", matrixcalculus="tan"),
    Row(sympy.asin, "np.arcsin({0})", numpy="arcsin asin", matrixcalculus="asin arcsin",
        is_analytic=True),
    Row(sympy.acos, "np.arccos({0})", numpy="arccos acos", matrixcalculus="acos arccos",
        is_analytic=True),
    Row(sympy.atan, "np.arctan({0})", numpy="arctan atan", matrixcalculus="atan arctan",
        keeps_finite=True, is_analytic=True),
    Row(sympy.acot),
    Row(sympy.atan2, "np.arctan2({0}, {1})", numpy="arctan2 atan2",
        about="The angle of the point (x, y), from -pi to pi, as atan2(y, x)."),
    Row(sympy.sec, "(1/np.cos({0}))"),
    Row(sympy.csc, "(1/np.sin({0}))"),
    Row(sympy.cot, "(1/np.tan({0}))"),
    Row(sympy.sinc, "np.sinc({0} / np.pi)", lambda x: (-jn(1, x),), keeps_finite=True,
        about="sin(x) / x, which is 1 at 0."),
    Row(lambda x: sinc(pi * x), numpy="sinc"),
    Row(sympy.sinh, "np.sinh({0})", numpy="sinh", matrixcalculus="sinh", is_analytic=True,
        about="The hyperbolic sine function."),
    Row(sympy.cosh, "np.cosh({0})", numpy="cosh", matrixcalculus="cosh", is_analytic=True,
        about="The hyperbolic cosine function."),
    Row(sympy.tanh, "np.tanh({0})", numpy="tanh", matrixcalculus="tanh", keeps_finite=True,
        about="The hyperbolic tangent function."),
    Row(sympy.asinh, "np.arcsinh({0})", numpy="arcsinh asinh", matrixcalculus="asinh",
        is_analytic=True, about="The inverse hyperbolic sine function."),
    Row(sympy.acosh, "np.arccosh({0})", numpy="arccosh acosh", matrixcalculus="acosh",
        about="The inverse hyperbolic cosine function."),
    Row(sympy.atanh, "np.arctanh({0})", numpy="arctanh atanh", matrixcalculus="atanh",
        is_analytic=True, about="The inverse hyperbolic tangent function."),
    Row(sympy.acoth, about="The inverse hyperbolic cotangent function."),
    Row(sympy.sech, "(1/np.cosh({0}))", about="The hyperbolic secant function."),
    Row(sympy.csch, "(1/np.sinh({0}))", about="The hyperbolic cosecant function."),
    Row(sympy.coth, "(1/np.tanh({0}))", lambda x: (-(csch(x) ** 2),),
        about="The hyperbolic cotangent function."),
)  # fmt: skip
_CHOICES = (
    Row(sympy.Abs, "np.abs({0})", lambda x: (sign(x),), numpy="absolute fabs abs",
        matrixcalculus="abs", keeps_finite=True,
        about="The absolute value, whose derivative at 0 is 0."),
    Row(sympy.sign, "np.sign({0})", _zero, numpy="sign", matrixcalculus="sign", keeps_finite=True,
        about="The sign: -1, 0 or 1."),
    Row(sympy.Heaviside, "np.heaviside({0}, {1})",
        lambda x, at_0: (0, KroneckerDelta(x, 0)), numpy="heaviside"),
    Row(floor, "np.floor({0})", _zero, numpy="floor", about="The largest integer below."),
    Row(stop_gradient, "({0})", _zero, keeps_finite=True),
    Row(sympy.frac, "np.remainder({0}, 1)", lambda x: (S.One,), is_public=False,
        keeps_finite=True),
    Row(ceiling, "np.ceil({0})", _zero, numpy="ceil", about="The smallest integer above."),
    Row(trunc, "np.trunc({0})", _zero, lambda x: sign(x) * floor(abs(x)),
        {"math": "math.trunc({0})"}, numpy="trunc fix", keeps_finite=True),
    Row(rint, "np.rint({0})", _zero, _nearest, {"math": "round({0})"}, numpy="rint",
        keeps_finite=True),
    Row(floor_divide, "np.floor_divide({0}, {1})", _zero, lambda a, b: floor(a / b),
        {"math": "({0} // {1})"}, numpy="floor_divide"),
    Row(sympy.Mod, "np.remainder({0}, {1})", lambda a, b: (S.One, -floor_divide(a, b)),
        numpy="remainder mod",
        about="The remainder of a division, with the sign of the divisor."),
    Row(fmod, "np.fmod({0}, {1})",
        lambda a, b: (S.One, -sign(a) * sign(b) * floor_divide(abs(a), abs(b))),
        lambda a, b: a - b * trunc(a / b), {"math": "math.fmod({0}, {1})"}, numpy="fmod"),
    Row(copysign, "np.copysign({0}, {1})", lambda a, b: (sign(a) * copysign(1, b), S.Zero),
        lambda a, b: Piecewise((abs(a), b >= 0), (-abs(a), True)),
        {"math": "math.copysign({0}, {1})"}, numpy="copysign", keeps_finite=True),
    Row(lambda x: (1 - copysign(1, x)) / 2, numpy="signbit"),
    Row(isnan, "(1.0 * np.isnan({0}))", _zero, lambda x: S.Zero,
        {"math": "float(math.isnan({0}))"}, numpy="isnan", keeps_finite=True),
    Row(unless_nan, "np.where(np.isnan({1}), np.nan, {0})", lambda a, b: (S.One, S.Zero),
        lambda a, b: a, {"math": "(math.nan if math.isnan({1}) else {0})"}, keeps_finite=True),
    Row(isinf, "(1.0 * np.isinf({0}))", _zero, lambda x: S.Zero,
        {"math": "float(math.isinf({0}))"}, numpy="isinf", keeps_finite=True),
    Row(lambda x: masked(isinf(x), step(x)), numpy="isposinf"),
    Row(lambda x: masked(isinf(x), step(-x)), numpy="isneginf"),
    Row(isfinite, "(1.0 * np.isfinite({0}))", _zero, lambda x: S.One,
        {"math": "float(math.isfinite({0}))"}, numpy="isfinite", keeps_finite=True),
    Row(nan_to_num, "np.nan_to_num({0})", lambda x: (isfinite(x),), lambda x: x,
        {"math": "({0} if math.isfinite({0}) else 0.0)"}, is_choice=True),
    Row(sympy.KroneckerDelta, "(1.0 * (({0}) == ({1})))", _zero, is_public=False),
    Row(sympy.Max, None, _max_derivative, numpy="maximum", is_choice=True,
        about="The largest of its arguments."),
    Row(sympy.Min, None, lambda *args: _max_derivative(*[-arg for arg in args]),
        numpy="minimum", is_choice=True, about="The smallest of its arguments."),
    Row(fmax, "np.fmax({0}, {1})", lambda a, b: _tie_averaged(fmax(a, b), a, b), Max,
        numpy="fmax", is_choice=True),
    Row(fmin, "np.fmin({0}, {1})", lambda a, b: _tie_averaged(fmin(a, b), a, b), Min,
        numpy="fmin", is_choice=True),
    Row(relu, "np.maximum({0}, 0)", lambda x: (step(x),), lambda x: Max(x, 0),
        {"math": "max({0}, 0)"}, matrixcalculus="relu", is_choice=True),
    Row(step, lambda x, *at_0: f"np.heaviside({{0}}, {'{1}' if at_0 else '0'})", _zero,
        lambda x, at_0=S.Zero: Piecewise((1, x > 0), (at_0, Eq(x, 0)), (0, True)),
        keeps_finite=True),
    Row(masked, "np.where({0} == 0, 0, {0} * {1})", lambda weight, value: (value, weight),
        lambda weight, value: weight * value, {"math": "({0} * {1} if {0} else 0.0)"},
        is_choice=True),
)  # fmt: skip
_LOGISTIC = (
    Row(sigmoid, "np.exp(-np.logaddexp(0, -({0})))",
        lambda x: (sigmoid(x) * (1 - sigmoid(x)),), lambda x: 1 / (1 + exp(-x)),
        {"numpy": "sigmoid({0})", "torch": "torch.sigmoid({0})", "jax": "special.expit({0})",
         "cupy": "special.expit({0})",
         "math": "(math.exp(min({0}, 0)) / (1 + math.exp(-abs({0}))))"},
        scipy="expit", matrixcalculus="sigmoid", keeps_finite=True, is_analytic=True),
    Row(sigmoid_derivative, "(np.exp(-np.abs({0})) / (1 + np.exp(-np.abs({0})))**2)", None,
        lambda x: exp(x) / (1 + exp(x)) ** 2, {"numpy": "sigmoid_derivative({0})"},
        is_public=False),
    Row(softplus, "np.logaddexp({0}, 0)", lambda x: (sigmoid(x),), lambda x: log(1 + exp(x)),
        {"numpy": "softplus({0})", "torch": "logaddexp({0}, 0)", "jax": "jax.nn.softplus({0})",
         "cupy": "(np.maximum({0}, 0) + np.log1p(np.exp(-np.abs({0}))))",
         "math": "(max({0}, 0) + math.log1p(math.exp(-abs({0}))))"},
        matrixcalculus="softplus", keeps_finite=True, is_analytic=True),
    Row(logaddexp, "np.logaddexp({0}, {1})", lambda a, b: (sigmoid(a - b), sigmoid(b - a)),
        lambda a, b: log(exp(a) + exp(b)),
        {"numpy": "logaddexp_by_log1p({0}, {1})",
         "math": "(max({0}, {1}) + math.log1p(math.exp(-abs({0} - {1}))))"}, numpy="logaddexp"),
    Row(lambda a, b: logaddexp(a * log(2), b * log(2)) / log(2), numpy="logaddexp2"),
    Row(lambda x: log(x) - log(1 - x), scipy="logit"),
    Row(log_sigmoid, scipy="log_expit"),
    *[Row(unit) for unit in (silu, gelu, gelu_tanh, mish, elu, selu, leaky_relu, hard_tanh)],
)  # fmt: skip
_ENTROPIES = (
    Row(powlog, powlog_code, powlog_derivative, lambda b, t, k: b**t * log(b) ** k,
        {"math": "({0}**{1} * math.log({0})**{2} if {0} or {1} <= 0 else 0.0)"}),
    Row(power_derivative, power_derivative_code, None, lambda f, b, t, k: f * b**t * log(b) ** k,
        is_public=False),
    Row(xlogy, "special.xlogy({0}, {1})", lambda a, b: (log(b), a / b), lambda a, b: a * log(b),
        {"math": "({0} * math.log({1}) if {0} else 0.0)"}, scipy="xlogy"),
    Row(xlog1py, "special.xlog1py({0}, {1})", lambda a, b: (log(1 + b), a / (1 + b)),
        lambda a, b: a * log(1 + b), {"math": "({0} * math.log1p({1}) if {0} else 0.0)"},
        scipy="xlog1py"),
    Row(entr, "special.entr({0})", lambda x: (-log(x) - 1,), lambda x: -x * log(x),
        {"math": "(-{0} * math.log({0}) if {0} > 0 else -math.inf if {0} else 0.0)"},
        scipy="entr"),
    Row(lambda a, b: rel_entr(a, b) - a + b, scipy="kl_div"),
    Row(rel_entr, "special.rel_entr({0}, {1})", lambda a, b: (log(a / b) + 1, -a / b),
        lambda a, b: a * log(a / b), {"math": "({0} * math.log({0} / {1}) if {0} else 0.0)"},
        scipy="rel_entr"),
    Row(exprel, exprel_code, exprel_derivative,
        lambda x, *order: _derivative_of(lambda t: (exp(t) - 1) / t, x, *order),
        {"math": lambda x, *order: None if order else "(math.expm1({0}) / {0} if {0} else 1.0)"},
        scipy="exprel",
        is_analytic=True),
    Row(bose, "(1 / np.expm1({0}))", lambda x: (bose(x) * bose(-x),), lambda x: 1 / (exp(x) - 1)),
    Row(sinhc, None, lambda x: (sinhc(x) * langevin(x),), lambda x: sympy.sinh(x) / x,
        _everywhere("sinhc({0})")),
    Row(tanhc, None, lambda x: (tanhc(x) * (langevin(x) - sympy.tanh(x)),),
        lambda x: sympy.tanh(x) / x, _everywhere("tanhc({0})"), keeps_finite=True),
    Row(log_sinhc, None, lambda x: (langevin(x),), lambda x: log(sympy.sinh(x) / x),
        _everywhere("log_sinhc({0})"), keeps_finite=True),
    Row(langevin, None, lambda x, *order: (langevin(x, sum(order, S.One)), *[None for _ in order]),
        lambda x, *order: _derivative_of(lambda t: sympy.coth(t) - 1 / t, x, *order),
        _everywhere(langevin_code), keeps_finite=True),
)  # fmt: skip
_DISTRIBUTIONS = (
    Row(sympy.erf, "special.erf({0})", scipy="erf", matrixcalculus="erf",
        keeps_finite=True, is_analytic=True),
    Row(sympy.erfc, "special.erfc({0})", scipy="erfc", matrixcalculus="erfc", is_analytic=True),
    Row(sympy.erfi, "special.erfi({0})", scipy="erfi"),
    Row(sympy.erfinv, "special.erfinv({0})", scipy="erfinv", about="The inverse of erf."),
    Row(sympy.erfcinv, "special.erfcinv({0})", scipy="erfcinv", about="The inverse of erfc.",
        on={"torch": "(-0.5**0.5 * special.ndtri(0.5 * {0}))"}),
    Row(erfcx, "special.erfcx({0})", lambda x: (2 * erfcx(x) * (x - 1 / (sqrt(pi) * erfcx(x))),),
        lambda x: exp(x**2) * sympy.erfc(x), scipy="erfcx"),
    Row(erfcx_rate, None, erfcx_rate_derivative, erfcx_rate_definition,
        _everywhere(erfcx_rate_code)),
    Row(ndtr, "special.ndtr({0})", lambda x: (exp(-(x**2) / 2) / sqrt(2 * pi),),
        lambda x: sympy.erfc(-x / sqrt(2)) / 2,
        {"torch": "(0.5 * special.erfc(-(0.5**0.5) * ({0})))",
         "math": "(0.5 * math.erfc(-(0.5**0.5) * {0}))"}, scipy="ndtr", is_analytic=True),
    Row(log_ndtr, "special.log_ndtr({0})", lambda x: (sqrt(2 / pi) / erfcx(-x / sqrt(2)),),
        lambda x: log(sympy.erfc(-x / sqrt(2)) / 2),
        {"math": "math.log(0.5 * math.erfc(-(0.5**0.5) * {0}))"}, scipy="log_ndtr"),
    Row(log_ndtr_difference, None, lambda a, b: (ndtr_share(a, a, b), -ndtr_share(b, a, b)),
        lambda a, b: log(sympy.erfc(-a / sqrt(2)) / 2 - sympy.erfc(-b / sqrt(2)) / 2),
        _everywhere("log_ndtr_difference({0}, {1})")),
    Row(ndtr_share, None, _share_derivative, lambda x, a, b: exp(-(x**2) / 2) / sqrt(2 * pi)
        / (sympy.erfc(-a / sqrt(2)) / 2 - sympy.erfc(-b / sqrt(2)) / 2),
        _everywhere("ndtr_share({0}, {1}, {2})")),
    Row(ndtri, "special.ndtri({0})", lambda p: (sqrt(2 * pi) * exp(ndtri(p) ** 2 / 2),),
        lambda p: sqrt(2) * sympy.erfinv(2 * p - 1), scipy="ndtri"),
)  # fmt: skip
_GAMMA = (
    Row(sympy.gamma, "special.gamma({0})", scipy="gamma", matrixcalculus="gamma",
        is_analytic=True),
    Row(sympy.loggamma, "special.loggamma({0})", scipy="loggamma", matrixcalculus="gammaln",
        about="The logarithm of the gamma function, for positive arguments."),
    Row(gammaln, "special.gammaln({0})", lambda x: (sympy.digamma(x),),
        lambda x: log(abs(sympy.gamma(x))), {"math": "math.lgamma({0})"}, scipy="gammaln"),
    Row(sympy.digamma, "special.digamma({0})", scipy="digamma psi", matrixcalculus="digamma",
        about="The derivative of loggamma."),
    Row(sympy.trigamma, about="The second derivative of loggamma."),
    Row(sympy.polygamma, lambda n, x: (
        "special.digamma({1})" if n.is_zero else "special.polygamma({0}, {1})"),
        about="The derivative of digamma of an order, as polygamma(order, x)."),
    Row(sympy.beta, "special.beta({0}, {1})", beta_derivative, scipy="beta",
        about="The beta function gamma(x) gamma(y) / gamma(x + y)."),
    Row(betaln, betaln_code,
        betaln_derivative, lambda a, b: log(abs(sympy.beta(a, b))),
        {"math": "(math.lgamma({0}) + math.lgamma({1}) - math.lgamma({0} + {1}))"},
        scipy="betaln"),
    Row(gamma_rise, None, rise_derivative, rise_definition, _everywhere(rise_code)),
    Row(sympy.factorial, "special.gamma({0} + 1)", about="The factorial, gamma(x + 1)."),
    Row(sympy.binomial, binomial_code, binomial_derivative, scipy="binom",
        about="The binomial coefficient, also of numbers that are no integers."),
    Row(sympy.zeta, "special.zeta({all})", about="The zeta function of Riemann, or of Hurwitz."),
)  # fmt: skip
_BESSEL = (
    Row(sympy.besselj, bessel_code("j"), scipy="jv"),
    Row(lambda x: sympy.besselj(0, x), scipy="j0"),
    Row(lambda x: sympy.besselj(1, x), scipy="j1"),
    Row(sympy.bessely, bessel_code("y"), scipy="yv"),
    Row(lambda x: sympy.bessely(0, x), scipy="y0"),
    Row(lambda x: sympy.bessely(1, x), scipy="y1"),
    Row(sympy.besseli, bessel_code("i"), scipy="iv"),
    Row(lambda x: sympy.besseli(0, x), numpy="i0", scipy="i0"),
    Row(lambda x: sympy.besseli(1, x), scipy="i1"),
    Row(sympy.besselk, bessel_code("k"), decaying_derivative, scipy="kv"),
    Row(lambda x: sympy.besselk(0, x), scipy="k0"),
    Row(lambda x: sympy.besselk(1, x), scipy="k1"),
    Row(ive, scaled_code("i"), scaled_derivative,
        lambda order, x: exp(-abs(x)) * sympy.besseli(order, x), scipy="ive"),
    Row(lambda x: ive(0, x), scipy="i0e"),
    Row(lambda x: ive(1, x), scipy="i1e"),
    Row(kve, scaled_code("k"),
        lambda order, x: (None, kve(order, x) - adjacent_mean(kve, order, x)),
        lambda order, x: exp(x) * sympy.besselk(order, x), scipy="kve"),
    Row(lambda x: kve(0, x), scipy="k0e"),
    Row(lambda x: kve(1, x), scipy="k1e"),
    Row(powbesselk, powbesselk_code, powbesselk_derivative,
        lambda order, x: x**order * sympy.besselk(order, x)),
    Row(sympy.jn, "special.spherical_jn({0}, {1})", spherical_derivative,
        is_public=False, is_analytic=True),
    Row(spherical_in, "special.spherical_in({0}, {1})", modified_spherical_derivative,
        lambda order, x: sqrt(pi / (2 * x)) * sympy.besseli(order + S.Half, x)),
    Row(sympy.airyai, about="The Airy function Ai."),
    Row(sympy.airybi, airy_code(2), about="The Airy function Bi."),
    Row(sympy.airybiprime, airy_code(3), is_public=False),
)  # fmt: skip
_INTEGRALS = (
    Row(sympy.Si, "special.sici({0})[0]", lambda x: (sinc(x),)),
    Row(sympy.Ci, "special.sici({0})[1]"),
    Row(sympy.Shi, "special.shichi({0})[0]", lambda x: (spherical_in(0, x),)),
    Row(sympy.Chi, "special.shichi({0})[1]"),
    Row(sympy.Ei, "special.expi({0})", scipy="expi", about="The exponential integral Ei."),
    Row(lambda x: sympy.expint(1, x), scipy="exp1"),
    Row(sympy.expint, "special.expn({0}, {1})", scipy="expn",
        about="The exponential integral of an order, as expint(order, x)."),
    Row(sympy.fresnels),
    Row(sympy.fresnelc),
    Row(LambertW, _lambertw_code, _lambertw_derivative,
        about="The inverse of w exp(w); with a second argument its branch."),
)  # fmt: skip

for _family in (_ELEMENTARY, _TRIGONOMETRIC, _CHOICES, _LOGISTIC, _ENTROPIES, _DISTRIBUTIONS,
                _GAMMA, _BESSEL, _INTEGRALS):  # fmt: skip
    for _row in _family:
        add_row(_row)
