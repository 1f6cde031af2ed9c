"""Stable forms of scalar expressions that have no row in the tables, having any number of terms and
arguments: logarithms of sums and differences, quotients by sums of exponentials, differences of
gamma functions and of roots.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from sympy import (
    Add,
    Dummy,
    Expr,
    Mul,
    Pow,
    S,
    erf,
    erfc,
    exp,
    log,
    loggamma,
    polygamma,
    sqrt,
    tanh,
)

from ...core import (
    STABLE_ARGUMENT,
    Use,
    bose,
    cached,
    exprel,
    gamma_rise,
    gammaln,
    has_more_nodes,
    log_ndtr_difference,
    logaddexp,
    ndtr,
    postorder,
    sigmoid,
    softplus,
    tuning,
    xlogy,
)
from ...expressions import outermost, stock_children
from .matching import has_functions, matched, nearby

# Functions of which differences have a name: their argument in units of that of ndtr.
_NORMAL = {ndtr: S.One, erf: sqrt(2), erfc: -sqrt(2)}


# --- logarithms ----------------------------------------------------------------------------------


def log_of_sum(total: Expr) -> Expr | None:
    """Rewrite log(a exp(x) + b exp(y) + c) of positive multiples, and of a difference of two
    functions."""
    terms = Add.make_args(total)
    if not 1 < len(terms) <= tuning.STABLE_TERMS:
        return None
    logs = _logarithms(terms)
    if logs is not None:
        return log_of_exponentials(logs)
    factors = _complement_factors(total)
    return Add(*map(log, factors)) if factors else _log_of_difference(terms)


def log_of_exponentials(logs: Sequence[Expr]) -> Expr:
    """Return log Σ exp(x) of some x."""

    def joined(one: Expr, other: Expr) -> Expr:
        if one.is_zero:
            return softplus(other)
        return softplus(one) if other.is_zero else logaddexp(one, other)

    return reduce(joined, logs)


def _logarithms(terms: Sequence[Expr]) -> list[Expr] | None:
    """Return the logarithms of the terms of a sum, what has no exponential in it as one term; None
    where a term isn't known to be positive, or there are no exponentials."""
    constants = [term for term in terms if _exponents(term) is None]
    others = [_logarithm(term) for term in terms if _exponents(term) is not None]
    if not others or not all(term.is_positive for term in constants) or None in others:
        return None
    return [*([log(Add(*constants))] if constants else []), *others]


def _exponents(term: Expr) -> list[Expr] | None:
    """Return the exponents of the exponentials in a product, None if there are none."""
    found = [factor.args[0] for factor in Mul.make_args(term) if isinstance(factor, exp)]
    return found if any(exponent.free_symbols for exponent in found) else None


def _logarithm(term: Expr) -> Expr | None:
    """Return the logarithm of a positive multiple of an exponential, or of a positive constant."""
    found = _exponents(term) or []
    rest = Mul(*[factor for factor in Mul.make_args(term) if not _is_exponential(factor)])
    return log(rest) + Add(*found) if rest.is_positive else None


def _is_exponential(factor: Expr) -> bool:
    return isinstance(factor, exp) and bool(factor.args[0].free_symbols)


def _log_of_difference(terms: Sequence[Expr]) -> Expr | None:
    """Return the logarithm of a positive difference of two functions of one kind."""
    if len(terms) != 2:
        return None
    one, other = terms
    if other.as_coeff_Mul()[0].is_positive and one.as_coeff_Mul()[0].is_negative:
        one, other = other, one
    larger, smaller = _logarithm(one), _logarithm(-other)
    if larger is not None and smaller is not None:
        if larger.is_zero or not (_exponents(one) or _exponents(other)):
            return None
        return larger + log(1 - exp(smaller - larger))
    factor, f = _weighted(one)
    weight, g = _weighted(-other)
    if f is None or g is None or type(f) is not type(g) or factor != weight:
        return None
    a, b = f.args[0], g.args[0]
    if isinstance(f, sigmoid):
        return log(factor) + log(1 - exp(b - a)) - softplus(-a) - softplus(b)
    unit = _NORMAL[type(f)]
    scale = 1 if isinstance(f, ndtr) else 2
    return log(scale * factor) + log_ndtr_difference(unit * a, unit * b)


def _complement_factors(total: Expr) -> list[Expr] | None:
    """Return the factors 1 - f and 1 + f + … + f^(k - 1) of 1 - f^k, where f may be near to 1 and
    the first has a stable form."""
    number, rest = total.as_coeff_Add()
    base, power = (-rest).as_base_exp()
    if number is not S.One or base.func not in (sigmoid, *_NORMAL, tanh):
        return None
    if not power.is_Integer or not 1 < power <= tuning.STABLE_TERMS:
        return None
    factors = [1 - base, *([1 + base] if power % 2 == 0 else [])]
    others = Add(*[base ** (k * len(factors)) for k in range(power // len(factors))])
    return factors if others is S.One else [*factors, others]


def _weighted(term: Expr) -> tuple[Expr, Expr | None]:
    """Match a positive multiple of a distribution function."""
    factors = Mul.make_args(term)
    found = [factor for factor in factors if isinstance(factor, (sigmoid, *_NORMAL))]
    rest = Mul(*[factor for factor in factors if factor not in found])
    return rest, found[0] if len(found) == 1 and rest.is_positive else None


# --- quotients by sums of exponentials -----------------------------------------------------------


def quotient_by_sum(product: Expr) -> Expr | None:
    """Rewrite exp(x) / (a exp(y) + b exp(z))^k as one exponential, or sigmoid, or tanh."""
    sums: list[tuple[list[Expr], Expr]] = []
    rest: list[Expr] = []
    exponents: list[Expr] = []
    for factor in Mul.make_args(product):
        base, power = factor.as_base_exp() if not isinstance(factor, exp) else (factor, S.One)
        logs = (
            _logarithms(base.args)
            if base.is_Add and len(base.args) <= tuning.STABLE_TERMS
            else None
        )
        if isinstance(base, sigmoid) and power.is_Integer:
            sums.append(([S.Zero, -base.args[0]], -power))
        elif _is_exponential(factor):
            for term in Add.make_args(factor.args[0]):
                found = _log_of_two(term)
                (exponents if found is None else sums).append(term if found is None else found)
        elif logs is not None and len(logs) > 1 and power.is_Integer:
            sums.append((logs, power))
        else:
            rest.append(factor)
    base, _ = product.as_coeff_Mul()[1].as_base_exp()
    if isinstance(base, sigmoid):  # which underflows where its power does
        return None
    if not sums:  # products of exponentials alone would grow along a chain of them
        return None
    result = _joined(sums, rest, Add(*exponents))
    return None if result == product else result


def _log_of_two(term: Expr) -> tuple[list[Expr], Expr] | None:
    """Find a multiple of logaddexp or softplus in an exponent; return its arguments and factor."""
    number, function = term.as_coeff_Mul()
    if not number.is_Integer or not isinstance(function, (logaddexp, softplus)):
        return None
    return [*([S.Zero] if isinstance(function, softplus) else []), *function.args], number


def _joined(
    sums: Sequence[tuple[list[Expr], Expr]], rest: Sequence[Expr], exponent: Expr
) -> Expr | None:
    """Join powers of sums of exponentials of some terms, other factors and an exponential."""
    symbols = {s for logs, _ in sums for own in logs for s in own.free_symbols}
    differences = [own for own in rest if own.is_Add and any(map(_exponents, own.args))]
    shared = not symbols.isdisjoint(exponent.free_symbols)
    is_sum_alone = not differences and not shared
    if not any(power < 0 for _, power in sums):
        return None
    if is_sum_alone and (exponent.free_symbols or len(sums) > 1):
        return None
    if len(sums) == 1 and len(sums[0][0]) == 2 and sums[0][1] == -1:
        one, other = sums[0][0]
        for a, b in ((one, other), (other, one)):
            left = exponent - a
            if left.free_symbols.isdisjoint(_symbols_of_exponents(one, other)):
                return Mul(*rest, exp(left), sigmoid(a - b))
        quotient = _quotient_of_difference(rest, one, other) if exponent.is_zero else None
        if quotient is not None:
            return quotient
    total = exponent + Add(*[power * log_of_exponentials(logs) for logs, power in sums])
    if not differences:
        return Mul(*rest, exp(total))
    left = Mul(*[factor for factor in rest if factor is not differences[0]])
    return Add(*[left * _times_exponential(term, total) for term in differences[0].args])


def _symbols_of_exponents(*logs: Expr) -> set[Expr]:
    """Return the symbols in exponents that are no logarithms of factors."""
    terms = [term for own in logs for term in Add.make_args(own) if not isinstance(term, log)]
    return {symbol for term in terms for symbol in term.free_symbols}


def _times_exponential(term: Expr, exponent: Expr) -> Expr:
    factors = Mul.make_args(term)
    exponents = [factor.args[0] for factor in factors if _is_exponential(factor)]
    others = [factor for factor in factors if not _is_exponential(factor)]
    return Mul(*others, exp(Add(exponent, *exponents)))


def _quotient_of_difference(rest: Sequence[Expr], one: Expr, other: Expr) -> Expr | None:
    """(exp(x) - exp(y)) / (exp(x) + exp(y)) = tanh((x - y) / 2)."""
    for factor in rest:
        terms = factor.args if factor.is_Add else ()
        if len(terms) != 2:
            continue
        for k, j in ((0, 1), (1, 0)):
            plus, minus = _logarithm(terms[k]), _logarithm(-terms[j])
            for a, b in ((one, other), (other, one)):
                if plus is not None and minus is not None:
                    ratio = (plus - a).expand()
                    if (ratio - (minus - b)).expand().is_zero and not ratio.free_symbols:
                        left = [own for own in rest if own is not factor]
                        return Mul(*left, exp(ratio), tanh((a - b) / 2))
    return None


def product_of_exponentials(product: Expr) -> Expr | None:
    """Join exp(x) exp(y - x) to one exponential, where terms of the exponents cancel or merge."""
    exponents = [factor.args[0] for factor in Mul.make_args(product) if isinstance(factor, exp)]
    total = Add(*exponents)
    if len(exponents) < 2 or _length(total) >= sum(map(_length, exponents)):
        return None
    return Mul(
        exp(total), *[factor for factor in Mul.make_args(product) if not isinstance(factor, exp)]
    )


def double_exponential(product: Expr) -> Expr | None:
    """exp(x) exp(y - exp(x)) as one exponential, the terms of sums apart: the first may be infinite
    where the second is 0."""
    if has_more_nodes([product], tuning.MAX_EXPANDED_NODES) or outermost(product):
        return None
    factors = Mul.make_args(product)
    grown = [f for f in factors if _has_exponential(f)]
    if len(grown) < 2 or not any(map(is_double, grown)):
        return None
    rest = Mul(*[f for f in factors if f not in grown])
    terms = Add.make_args(Mul(*grown).expand(power_exp=False))
    return Add(*[rest * _times_exponential(term, S.Zero) for term in terms])


def is_double(part: Expr) -> bool:
    """Tell whether an exponential, or 1/(exp(x) - 1), has an exponential in its exponent."""
    inside = [f for f in postorder([part], stock_children) if isinstance(f, (exp, bose))]
    return any(_holds(f.args[0], exp) for f in inside)


def _holds(expr: Expr, kind: type) -> bool:
    """Tell whether a function occurs in an expression, visiting what is shared once."""
    return any(isinstance(part, kind) for part in postorder([expr], stock_children))


def _has_exponential(factor: Expr) -> bool:
    """Tell whether a factor is an exponential, or a short power of a sum with one."""
    if isinstance(factor, exp):
        return True
    base, power = factor.as_base_exp()
    is_short = power.is_Integer and 0 < power <= 2 and base.is_Add
    return is_short and len(base.args) <= tuning.STABLE_FORM_WIDTH and _holds(base, exp)


# --- differences of gamma functions --------------------------------------------------------------


def gamma_difference(total: Expr) -> Expr | None:
    """Join two terms c gammaln(x + k) - c gammaln(x), or such a difference of polygamma functions,
    where the arguments have something in common."""
    terms = Add.make_args(total)
    if len(terms) > tuning.STABLE_TERMS:
        return None
    found = [(k, *_gamma_term(term)) for k, term in enumerate(terms)]
    known = [(k, factor, order, x) for k, factor, order, x in found if order is not None]
    for place, (k, factor, order, x) in enumerate(known):
        for j, weight, other, y in known[:place]:
            rise = x - y
            simpler = _length(rise) < max(_length(x), _length(y))
            if other != order or factor != -weight or not simpler or not x.free_symbols:
                continue
            if rise.could_extract_minus_sign():
                own = weight * gamma_rise(order, x, -rise)
            else:
                own = factor * gamma_rise(order, y, rise)
            return Add(own, *[term for i, term in enumerate(terms) if i not in (k, j)])
    return None


def _length(total: Expr) -> int:
    return len(Add.make_args(total))


def _gamma_term(term: Expr) -> tuple[Expr, Expr | None, Expr]:
    """Return the factor, the order (-1 for its logarithm) and the argument of a gamma function."""
    for factor in Mul.make_args(term):
        if isinstance(factor, (gammaln, loggamma)):
            return term / factor, S.NegativeOne, factor.args[0]
        if isinstance(factor, polygamma) and factor.args[0].is_Integer:
            return term / factor, factor.args[0], factor.args[1]
    return term, None, S.Zero


def product_with_logarithm(product: Expr) -> Expr | None:
    """Write a log(b) as xlogy(a, b), where a may be 0 and b then is, or isn't known to be
    positive."""
    factors = Mul.make_args(product)
    logs = [factor for factor in factors if isinstance(factor, log)]
    for logarithm in logs:
        b = logarithm.args[0]
        bases = [factor.as_base_exp()[0] for factor in Mul.make_args(b)]
        for factor in factors:
            base, power = factor.as_base_exp()
            may_vanish = base.is_nonnegative and not base.is_positive and power.is_positive
            if may_vanish and not b.is_positive and (base in bases or b.is_nonnegative):
                rest = [own for own in factors if own is not factor and own is not logarithm]
                return Mul(*rest, xlogy(factor, b))
    return _sum_with_logarithm(factors)


def _sum_with_logarithm(factors: Sequence[Expr]) -> Expr | None:
    """Write a (c log(b) + d) as c xlogy(a, b) + a d."""
    for total in factors:
        for term in total.args if total.is_Add else ():
            logarithms = [own for own in Mul.make_args(term) if isinstance(own, log)]
            for factor in factors if logarithms and not total.is_nonnegative else ():
                found = product_with_logarithm(factor * term) if factor is not total else None
                if found is not None:
                    rest = [own for own in factors if own is not factor and own is not total]
                    return Mul(*rest, Add(found, factor * (total - term)))
    return None


def complement(total: Expr) -> Expr | None:
    """1 - f^k = (1 - f) (1 + f + … + f^(k - 1)), where f is near to 1."""
    if has_more_nodes([total], tuning.MAX_EXPANDED_NODES) or _holds(total, tanh):
        return None
    factors = _complement_factors(total)
    return Mul(*factors) if factors else None


def softplus_less_argument(total: Expr) -> Expr | None:
    """c softplus(x + y) - c x - c y = c softplus(-x - y), of an argument of several terms."""
    for term in Add.make_args(total):
        factor, function = term.as_coeff_Mul()
        if isinstance(function, softplus) and function.args[0].is_Add:
            argument = function.args[0]
            left = total - term + factor * argument
            if _length(left) + _length(argument) < _length(total) + (left is S.Zero):
                return left + factor * softplus(-argument)
    return None


def root_less_number(total: Expr) -> Expr | None:
    """c sqrt(a + x) - c sqrt(a) = c x / (sqrt(a + x) + sqrt(a)), where a is a number."""
    found = _without_root(total)
    return None if found is None else found[0] / found[1]


def _without_root(total: Expr) -> tuple[Expr, Expr] | None:
    """Return the numerator c x and the denominator of such a difference."""
    terms = Add.make_args(total)
    for term, other in (terms, terms[::-1]) if len(terms) == 2 else ():
        for root in Mul.make_args(term):
            if root.is_Pow and root.exp == S.Half:
                number, rest = root.base.as_coeff_Add()
                factor = term / root
                if number.is_positive and rest and other + factor * sqrt(number) == 0:
                    return factor * rest, root + sqrt(number)
    return None


def root_quotient(product: Expr) -> Expr | None:
    """(sqrt(a + x) - sqrt(a)) / x = 1 / (sqrt(a + x) + sqrt(a)), where a is a number."""
    powers = product.as_powers_dict()
    divisors = {base for base, power in powers.items() if power.could_extract_minus_sign()}
    for base, power in powers.items() if divisors else ():
        found = _without_root(base) if power.is_Integer and power.is_positive else None
        if found is not None and not divisors.isdisjoint(found[0].as_powers_dict()):
            return product * (found[0] / found[1] / base) ** power
    return None


def power_quotient(product: Expr) -> Expr | None:
    """(b^x - 1) / x = log(b) exprel(x log(b)), where b is positive: Box and Cox's function."""
    powers = product.as_powers_dict()
    divisors = [own for own, power in powers.items() if power is S.NegativeOne and own.free_symbols]
    for base, power in powers.items() if divisors else ():
        terms = Add.make_args(base)
        for term, other in (terms[::-1], terms) if len(terms) == 2 and power is S.One else ():
            grown, exponent = (term / -other).as_base_exp()
            number, argument = exponent.as_coeff_Mul()
            if grown.is_positive and argument in divisors and grown is not S.Exp1:
                growth = number * log(grown) * exprel(exponent * log(grown))
                return product / base * argument * -other * growth
    return None


def quotient_of_multiple(product: Expr) -> Expr | None:
    """f(c x)/c^k = x^k f(u)/u^k with u = c x, where f(u)/u^k has a form that is finite at 0."""
    factors = Mul.make_args(product)
    divisors = [f for f in factors if f.is_Pow and f.exp.is_negative and not f.base.is_number]
    for divisor in divisors:
        for factor in factors:
            if factor.has(divisor.base) and has_functions(factor) and factor is not divisor:
                found = _over_multiple(factor, divisor.base, -divisor.exp)
                if found is not None:
                    return product / divisor / factor * found
    return None


def _over_multiple(factor: Expr, base: Expr, power: Expr) -> Expr | None:
    """Return f(c x)/c^k, where the base is one of the factors of c x, or a power of it is."""
    for part in nearby(factor):
        own = part.as_powers_dict().get(base) if part.is_Mul else None
        if own is None or not (power / own).is_Integer:
            continue
        alone = factor.xreplace({part: _MULTIPLE})
        found = matched(alone / _MULTIPLE ** (power / own), Use.DIFFERENTIATING)
        if found is None or alone.has(base):
            continue
        if not found.form.as_powers_dict().get(STABLE_ARGUMENT, S.Zero).is_negative:
            rest = (part / base**own) ** (power / own)
            return rest * found.expression().xreplace({_MULTIPLE: part})
    return None


_MULTIPLE = Dummy("multiple", real=True)


@cached(4096)
def law(expr: Expr, use: Use) -> Expr | None:
    """Return the stable form of a scalar expression, for evaluation or for differentiation."""
    if isinstance(expr, log):
        return log_of_sum(expr.args[0])
    if use == Use.READING:
        return None
    if expr.is_Add:
        found = softplus_less_argument(expr)
        if use == Use.COMPUTING and found is None:
            found = root_less_number(expr) or complement(expr)
        return gamma_difference(expr) if found is None else found
    found = None
    if expr.is_Mul:
        found = root_quotient(expr) or power_quotient(expr) or quotient_of_multiple(expr)
        if use == Use.COMPUTING and found is None:
            found = product_with_logarithm(expr) or product_of_exponentials(expr)
        found = double_exponential(expr) if found is None else found
    if found is not None:
        return found
    if expr.is_Mul or (isinstance(expr, Pow) and not isinstance(expr, exp)):
        return quotient_by_sum(expr)
    return None
