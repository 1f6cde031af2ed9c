"""Rules for stable forms, a part of the table of rules: against overflow, before a derivative is
taken, and for numerical evaluation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sympy import Add, Expr, Mul, Pow, besselk, exp, log, loggamma, polygamma, sign

from ...core import (
    DERIVATIVE_NAMES,
    NUMERIC_NAMES,
    REFLECTED_NAMES,
    STABLE_NAMES,
    Use,
    gammaln,
    modulus,
    sigmoid,
)
from ...expressions import (
    Einsum,
    Elementwise,
    HalfPower,
    Inv,
    InvStack,
    LeviCivita,
    LogSumExp,
    MatrixPower,
    Operand,
    Scan,
    Softmax,
    TensorAdd,
    View,
)
from .. import (
    axis_functions,
    cancellation,
    determinants,
    entries,
    factorizations,
    levi_civita,
    loops,
    matrix_powers,
    powers,
    sums,
)
from ..rewriting import Rule, any_of
from . import functions, logarithms, pairs, removable, softmaxes
from .matching import functions_in

# The functions that a stable form is made of, or a product of two.
FORMS = functions_in(STABLE_NAMES)
PRODUCTS = functions_in(form for form in STABLE_NAMES if form.is_Mul)
# Functions in the forms before a derivative is taken, and in the laws.
DERIVATIVE_FORMS = (
    *functions_in(DERIVATIVE_NAMES),
    *(frozenset([f]) for f in (exp, gammaln, loggamma, polygamma)),
)
NUMERIC_FORMS = (*FORMS, *DERIVATIVE_FORMS, *functions_in((*NUMERIC_NAMES, *REFLECTED_NAMES)))

SOFTMAX = Rule(
    "softmax",
    "exp(x) / exp(x).sum() = softmax(x)",
    axis_functions.softmax_of_parts,
    any_of(exp),
    wrong="exp(M) / exp(M).sum() = softmax(M, axis=1)",
)
# Rules against overflow: always applied, at any cost.
PAIR_OF_FACTORS = Rule(
    "stable", "sinh(x)*y/cosh(x) = y*tanh(x)", pairs.pair_of_factors, any_of(*PRODUCTS)
)
BESIDE_CONSTANT = Rule(
    "softmax",
    "exp(x) / (1 + exp(x).sum()) = sigmoid(logsumexp(x))*softmax(x)",
    softmaxes.share_beside_constant,
    any_of(exp),
    wrong="exp(M) / (1 + exp(M).sum()) = softmax(M, axis=1)",
)
STABLE_PRODUCT = (SOFTMAX, BESIDE_CONSTANT, PAIR_OF_FACTORS)
STABLE_RULES: dict[type, tuple[Rule, ...]] = {
    Einsum: STABLE_PRODUCT,
    View: (SOFTMAX, BESIDE_CONSTANT),
    TensorAdd: (
        Rule(
            "log softmax",
            "x - logsumexp(x) = log(softmax(x))",
            softmaxes.join_log_softmax,
            any_of(LogSumExp),
            wrong="M - logsumexp(M, axis=0)[None, :] = log(softmax(M, axis=1))",
        ),
        Rule("stable", "softplus(x) - softplus(-x) = x", functions.stable_function, any_of(*FORMS)),
        Rule(
            "stable",
            "softplus(x) - x + y = softplus(-x) + y",
            pairs.pair_of_terms,
            any_of(*FORMS),
        ),
        Rule(
            "cancelling parts",
            "exp(x) - (1 + y)*exp(x) = -y*exp(x)",
            cancellation.cancel_parts,
            any_of(TensorAdd),
            wrong="exp(x) - (1 + y)*exp(y) = -y*exp(x)",
        ),
    ),
    Elementwise: (
        Rule(
            "factor inside",
            "elementwise(lambda u: sin(2*u), x) = sin(2*x)",
            entries.factor_inside,
            any_of(Mul),
            wrong="sin(2*x) = 2*sin(x)",
        ),
        Rule(
            "modulus",
            "modulus(x, y)**2 = x**2 + y**2",
            entries.expand_modulus,
            any_of(modulus),
            wrong="modulus(x, y)**3 = x**3 + y**3",
        ),
        Rule(
            "stable",
            "log(1 - sigmoid(x)) = -softplus(x)",
            functions.stable_function,
            any_of(*FORMS),
        ),
        Rule(
            "logarithm",
            "log(exp(M).sum(axis=0)) = logsumexp(M, axis=0)",
            functions.logarithm_of,
            any_of(log),
            wrong="log(exp(M).sum(axis=0)) = M.sum(axis=0)",
        ),
    ),
    Expr: (
        Rule(
            "log softmax",
            "x[0] - logsumexp(x) = log(softmax(x))[0]",
            softmaxes.log_softmax_entry,
            any_of(frozenset([Add, LogSumExp])),
        ),
        Rule(
            "stable",
            "log(1 + exp(x @ y)) = softplus(x @ y)",
            functions.stable_scalar,
            any_of(log, *FORMS),
        ),
    ),
}
# Not in the normal form, where weighted sums of exponentials are written as they are.
WEIGHTED = Rule(
    "weights",
    "log(abs(M) @ exp(x)) = logsumexp(log(abs(M)) + x[None, :], axis=1)",
    logarithms.log_of_weighted,
    any_of(frozenset([log, Einsum])),
    wrong="log(abs(M) @ exp(x)) = log(abs(M)) @ x",
)
# Applies only where a variable of differentiation is given.
DIFFERENCES = Rule(
    "scaled differences",
    "s*A[:, None] - s*A[None, :] = s*(A[:, None] - A[None, :])",
    sums.scaled_differences,
)


def _in_derivatives(case: str, apply: Callable[..., Operand | None]) -> Rule:
    """Build a rule that names what a derivative needs before it is taken."""
    use = partial(apply, use=Use.DIFFERENTIATING)
    return Rule("derivative form", case, use, any_of(*DERIVATIVE_FORMS))


FACTORS = _in_derivatives("y*exp(x)/(exp(x) - 1) = -y*bose(-x)", pairs.pair_of_factors)
NAME = _in_derivatives("1/(exp(x) - 1) = bose(x)", functions.stable_function)
QUOTIENT = _in_derivatives("sin(x)/x = sinc(x)", functions.stable_function)
BESSEL = Rule(
    "derivative form",
    "x**2*besselk(2, x)*y = y*powbesselk(2, x)",
    powers.power_of_bessel,
    any_of(besselk),
    wrong="x**2*besselk(1, x) = powbesselk(2, x)",
)
TERMS = _in_derivatives(
    "gammaln(x + y) - gammaln(x) + S @ x + A @ y = gamma_rise(-1, x, y) + S @ x + A @ y",
    pairs.pair_of_terms,
)
SCALAR = _in_derivatives("1/(exp(x @ y) - 1) = bose(x @ y)", functions.stable_scalar)
POWERS = Rule(
    "derivative form",
    "(sqrt(1 + x) - 1)/x = elementwise(lambda u: 1/(sqrt(1 + u) + 1), x)",
    functions.quotient_of_difference,
    any_of(Pow),
)
# Not for numerical stability: the derivative of a factor is much longer than that of its matrix.
FACTORS_OF_MATRIX = Rule(
    "factors of a matrix",
    "inv(cholesky(S @ S + Delta(n))).T @ inv(cholesky(S @ S + Delta(n))) @ x"
    " = inv(S @ S + Delta(n)) @ x",
    factorizations.join_factors,
    any_of(Inv, InvStack, *factorizations.KINDS),
    wrong="cholesky(S @ S + Delta(n)).T @ cholesky(S @ S + Delta(n)) = S @ S + Delta(n)",
)
LOG_OF_FACTOR = Rule(
    "logarithm of a Cholesky factor",
    "log(cholesky(S @ S + Delta(n)).diagonal()).sum() = logdet(S @ S + Delta(n))/2",
    factorizations.log_of_factor,
    any_of(log),
)
# Derivatives of functions of a norm: sums over the norm.
DIVIDED = Rule(
    "divided terms",
    "(sin(norm(x))*x + sinh(norm(x))*y)/norm(x) = x*sinc(norm(x)) + y*sinhc(norm(x))",
    removable.divide_terms,
    any_of(HalfPower),
)
DIVIDED_SCALARS = Rule(
    DIVIDED.name,
    "(sin(norm(x)) + sinh(norm(x)))/norm(x) = sinc(norm(x)) + sinhc(norm(x))",
    removable.divide_scalar_terms,
    any_of(HalfPower),
)
# Of functions of multiples: a product has its scalar factors apart from those that depend on them.
DIVIDED_FACTOR = Rule(
    "derivative form",
    "(exp(t*x) - 1)/t = elementwise(lambda u: u*exprel(t*u), x)",
    removable.divide_factor,
    any_of(Pow, *DERIVATIVE_FORMS),
    wrong="(exp(t*x) - 1)/s = elementwise(lambda u: u*exprel(t*u), x)",
)
DIVIDED_CONTRACTION = Rule(
    DIVIDED_FACTOR.name,
    "(y @ sin(t*x))/t = y @ elementwise(lambda u: u*sinc(t*u), x)",
    removable.divide_scalar_factor,
    any_of(Pow, *DERIVATIVE_FORMS),
    wrong="(y @ cos(t*x))/t = y @ elementwise(lambda u: u*sinc(t*u), x)",
)
DERIVATIVE_RULES: dict[type, tuple[Rule, ...]] = {
    Einsum: (QUOTIENT, POWERS, FACTORS, BESSEL, FACTORS_OF_MATRIX, LOG_OF_FACTOR),
    View: (DIVIDED, DIVIDED_FACTOR),
    Elementwise: (WEIGHTED, NAME, POWERS),
    Expr: (WEIGHTED, SCALAR, POWERS, DIVIDED_SCALARS, DIVIDED_CONTRACTION),
    TensorAdd: (DIFFERENCES, NAME, TERMS),
}
# Not in the normal form: the derivative of an extremum is another one where entries are equal.
LOOP_AS_EXTREMUM = Rule(
    "loop as an extremum",
    "scan(lambda c, row: (Max(c, row), c), x, A)[1] = cummax(concatenate([x[None], A]), 0)[:n]",
    loops.loop_as_extremum,
    wrong="scan(lambda c, row: (Max(-c, row), None), x, A)[0] = concatenate([x[None], A]).max(0)",
)
# Rules for forms of textbooks that are numerically unstable.
NUMERIC_NAME = Rule(
    "numeric",
    "1 - sigmoid(x) = sigmoid(-x)",
    partial(functions.stable_function, use=Use.COMPUTING),
    any_of(Pow, *NUMERIC_FORMS),
)
POWER_BESIDE_ZERO = Rule(
    "power beside zero",
    "p*matrix_power(A, p - 1) = p*matrix_power(A, Piecewise((0, Eq(p, 0)), (p - 1, True)))",
    matrix_powers.power_beside_zero,
    any_of(MatrixPower),
)
VANISHING = Rule(
    "numeric",
    "abs(x)*log(abs(x))*y = elementwise(lambda u: xlogy(abs(u), abs(u)), x)*y",
    partial(pairs.pair_of_factors, use=Use.COMPUTING),
    any_of(log),
)
VANISHING_SUM = Rule(
    "numeric",
    "abs(x)*(log(abs(x)) - y) = elementwise(lambda u: xlogy(abs(u), abs(u)), x) - abs(x)*y",
    pairs.vanishing_beside_sum,
    any_of(log),
)
ZERO_WITH_NORM = Rule(
    "zero with a norm",
    "exp(-norm(x))/norm(x)*outer(x, x) = "
    "Piecewise((0, Eq((x**2).sum(), 0)), (exp(-norm(x))/norm(x), True))*outer(x, x)",
    removable.zero_with_norm,
    any_of(Pow, HalfPower),
)
SPELLED = Rule(
    "spelled cross product",
    "cross(x[:3], y[:3]) = stack([x[1]*y[2] - x[2]*y[1], x[2]*y[0] - x[0]*y[2], "
    "x[0]*y[1] - x[1]*y[0]])",
    levi_civita.spell,
    any_of(LeviCivita),
    wrong="cross(x[:3], y[:3]) = stack([x[1]*y[2], x[2]*y[0], x[0]*y[1]])",
)
# The rules for products that are selected by functions_below alone.
VANISHING_RULES = (VANISHING, VANISHING_SUM, POWER_BESIDE_ZERO, ZERO_WITH_NORM, SPELLED)
BY_FUNCTIONS = (
    *STABLE_PRODUCT,
    *DERIVATIVE_RULES[Einsum],
    *DERIVATIVE_RULES[View],
    *VANISHING_RULES,
)
NUMERIC_RULES: dict[type, tuple[Rule, ...]] = {
    Scan: (LOOP_AS_EXTREMUM,),
    Einsum: (VANISHING, VANISHING_SUM, ZERO_WITH_NORM, SPELLED),
    View: (POWER_BESIDE_ZERO, ZERO_WITH_NORM),
    TensorAdd: (
        NUMERIC_NAME,
        Rule(
            "numeric",
            "1 - exp(x) + y = y + elementwise(lambda u: 1 - exp(u), x)",
            partial(pairs.pair_of_terms, use=Use.COMPUTING),
            any_of(*NUMERIC_FORMS),
        ),
        Rule(
            "numeric",
            "1 - softmax(x) = elementwise(lambda u: 1 - exp(u), log(softmax(x)))",
            softmaxes.one_less_softmax,
            any_of(Softmax),
        ),
    ),
    Elementwise: (
        NUMERIC_NAME,
        Rule(
            "numeric",
            "log(abs(det(F))) = log(abs(slogdet(F).sign)) + logdet(F)",
            determinants.log_of_determinants,
            any_of(log, sign),
        ),
        Rule(
            "numeric",
            "log(1 + x + y) = elementwise(lambda u: log(1 + u), x + y)",
            functions.log_of_one_more,
            any_of(log),
        ),
        Rule(
            "numeric",
            "elementwise(lambda u, v: u*(1 - u)*cos(v), sigmoid(x), y) = "
            "elementwise(lambda u, v, w: u*w*cos(v), sigmoid(x), y, sigmoid(-x))",
            functions.complement_in_body,
            any_of(sigmoid),
        ),
    ),
    Expr: (
        Rule(
            "numeric",
            "1 - sigmoid(x @ y) = sigmoid(-(x @ y))",
            partial(functions.stable_scalar, use=Use.COMPUTING),
            any_of(log, Pow, *NUMERIC_FORMS),
        ),
        Rule(
            POWER_BESIDE_ZERO.name,
            "p*matrix_power(A, p - 1)[0, 1]"
            " = p*matrix_power(A, Piecewise((0, Eq(p, 0)), (p - 1, True)))[0, 1]",
            matrix_powers.scalar_beside_zero,
            any_of(Einsum),
        ),
    ),
}
# Rules for numbers, without the rule that needs a variable.
FOR_NUMBERS: dict[type, tuple[Rule, ...]] = {
    kind: tuple(
        [
            r
            for r in (*DERIVATIVE_RULES.get(kind, ()), *NUMERIC_RULES.get(kind, ()))
            if r is not DIFFERENCES
        ]
    )
    for kind in {**DERIVATIVE_RULES, **NUMERIC_RULES}
}
