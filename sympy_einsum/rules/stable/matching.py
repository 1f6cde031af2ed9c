"""Matching of scalar expressions with the tables of stable forms."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from sympy import (
    Add,
    Expr,
    Float,
    Function,
    Max,
    Mul,
    Rational,
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
    loggamma,
    polygamma,
    sin,
    sinh,
    tanh,
)

from ...core import (
    DERIVATIVE_NAMES,
    NUMERIC_NAMES,
    REFLECTED_NAMES,
    STABLE_ARGUMENT,
    STABLE_NAMES,
    Use,
    bose,
    cached,
    erfcx,
    exprel,
    gammaln,
    is_long,
    ndtr,
    relu,
    sigmoid,
    sinhc,
    softplus,
    step,
    tuning,
)

FUNCTIONS = (
    *(exp, log, sigmoid, softplus, tanh, sinh, cosh, coth, sin, cos, erf, erfc, erfcx, ndtr),
    *(
        besseli,
        besselj,
        bose,
        exprel,
        sinhc,
        jn,
        gammaln,
        loggamma,
        polygamma,
        acos,
        asin,
        asinh,
        atan,
        relu,
        step,
        Max,
    ),
)


def functions_in(forms: Iterable[Expr]) -> tuple[frozenset[type | str], ...]:
    """Return the sets of functions that one of some forms is made of."""
    return tuple({frozenset([f for f in (*FUNCTIONS, atanh) if form.has(f)]) for form in forms})


@cached(8192)
def has_functions(body: Expr) -> bool:
    """Tell whether a function of the tables occurs in a body."""
    return bool(body.has(*FUNCTIONS))


class Match(NamedTuple):
    """A scalar expression as a numeric factor times a stable form of the tables, at ``argument``,
    which is a number times a part of the expression."""

    factor: Expr
    form: Expr
    number: Expr
    part: Expr

    def expression(self) -> Expr:
        """Return the scalar expression."""
        return self.factor * self.form.xreplace({STABLE_ARGUMENT: self.number * self.part})


@cached(8192)
def matched(body: Expr, use: Use, reflected: bool = False) -> Match | None:
    """Return the stable form of a scalar expression as a whole, if the tables have it. Floats are
    compared by their exact values, 1.0 with 1."""
    digits = [part._prec for part in nearby(body) if isinstance(part, Float)]
    if not digits:
        return _matched(body, use, reflected)
    given: dict[Expr, Expr] = {}

    def exact(part: Expr, levels: int) -> Expr:
        if isinstance(part, Float):
            # The quotient of integers that exp(-1e30) is doesn't fit into memory.
            new = part if is_long(part) else Rational(part)
        elif levels and 0 < len(part.args) <= tuning.STABLE_FORM_WIDTH:
            new = part.func(*[exact(arg, levels - 1) for arg in part.args])
        else:
            new = part
        given[new] = part
        return new

    found = _matched(exact(body, tuning.STABLE_FORM_DEPTH), use, reflected)
    if found is None:
        return None
    factor, number = [
        value if value.is_Integer else Float(value, precision=max(digits))
        for value in (found.factor, found.number)
    ]
    return Match(factor, found.form, number, found.part.xreplace(given))


def _matched(body: Expr, use: Use, reflected: bool) -> Match | None:
    factor, rest = _without_factor(body)
    if _is_of_multiple(rest):
        return None
    tables = (STABLE_NAMES, DERIVATIVE_NAMES, NUMERIC_NAMES)[: use + 1]
    for number, part in arguments(rest):
        powers = _powers_of(part, rest)
        if not _is_form(rest, powers):
            continue
        # That of a quotient by the argument has a factor again.
        again, key = rest.xreplace(
            {own: (STABLE_ARGUMENT / number) ** power for own, power in powers.items()}
        ).as_coeff_Mul()
        form = next((table[key] for table in tables if key in table), None)
        form = form or _of_odds(key) or (_of_powers(key, tables) if use else None)
        if form:
            return Match(factor * again, form, number, part)
        if use == Use.COMPUTING and reflected and key in REFLECTED_NAMES:
            return Match(factor * again, REFLECTED_NAMES[key], -number, part)
    return None


def _is_of_multiple(body: Expr) -> bool:
    """Tell whether a body is one function of a multiple of a symbol: no form is that simple, and
    SymPy takes long to substitute the argument."""
    if not isinstance(body, Function) or len(body.args) != 1:
        return False
    (argument,) = body.args  # a condition with its value in a Piecewise
    return isinstance(argument, Expr) and bool(argument.as_coeff_Mul()[1].is_Symbol)


def _of_powers(key: Expr, tables: Sequence[Mapping[Expr, Expr]]) -> Expr | None:
    """Return the form of a power of a product, and what is left of its factors: sin(u)^2/u^3."""
    powers = key.as_powers_dict()
    if len(powers) != 2 or not all(e.is_Integer for e in powers.values()):
        return None
    base = Mul(*[part ** (1 if e > 0 else -1) for part, e in powers.items()])
    form = next((table[base] for table in tables if base in table), None)
    least = min(map(abs, powers.values()))
    return None if form is None else key / base**least * form**least


def _of_odds(key: Expr) -> Expr | None:
    """Write 1 / (1 + exp(u))^k and exp(c u) sigmoid(-u)^k with c up to k in sigmoids."""
    powers = key.as_powers_dict()
    if len(powers) == 1 and key.is_Pow and key.exp.is_Integer and key.exp < -1:
        inverse = STABLE_NAMES.get(1 / key.base)
        return None if inverse is None else inverse ** (-key.exp)
    shares = powers.get(sigmoid(-STABLE_ARGUMENT), S.Zero)
    odds = (powers.get(S.Exp1, S.Zero) / STABLE_ARGUMENT).expand()
    if not (shares.is_Integer and odds.is_Integer and 0 < odds <= shares > 1):
        return None
    rest = key / exp(odds * STABLE_ARGUMENT) / sigmoid(-STABLE_ARGUMENT) ** shares
    return rest * sigmoid(STABLE_ARGUMENT) ** odds * sigmoid(-STABLE_ARGUMENT) ** (shares - odds)


def _without_factor(body: Expr) -> tuple[Expr, Expr]:
    """Return the numeric factor of a product; of a sum the one that makes its number a one, or its
    first function if there is no number."""
    number, terms = body.as_coeff_Add()
    if number is S.One or not body.is_Add:
        return body.as_coeff_Mul()
    if number is S.Zero:
        number = next((arg.as_coeff_Mul()[0] for arg in body.args if arguments(arg)), S.One)
    elif terms.as_coeff_Mul()[0] not in (number, -number):
        return S.One, body
    return number, body if number is S.One else Add(*[Mul(1 / number, a) for a in body.args])


def arguments(body: Expr) -> list[tuple[Expr, Expr]]:
    """List the candidates for the table's argument, each as a number and its cofactor."""
    parts = nearby(body)
    found = [_without_number(part.args[-1]) for part in parts if isinstance(part, FUNCTIONS)]
    if not found:
        return []
    found += [(S.One, part) for part in parts if part.is_Symbol or _is_power(part)]
    return list(dict.fromkeys((c, part) for c, part in reversed(found) if not part.is_number))


def _without_number(argument: Expr) -> tuple[Expr, Expr]:
    """Return the numbers in a product, and the rest."""
    numbers = [factor for factor in Mul.make_args(argument) if factor.is_number]
    rest = [factor for factor in Mul.make_args(argument) if not factor.is_number]
    return Mul(*numbers), Mul(*rest)


def _powers_of(part: Expr, body: Expr) -> dict[Expr, Expr]:
    """Return the powers of a part of a body: x of x^2 with 1/2, and 1/sqrt(x) of sqrt(x) with
    -1."""
    if _is_power(part):
        return {part.base: 1 / part.exp}
    if not (part.is_Pow and part.exp.is_Rational):
        return {part: S.One}
    base, root = part.as_base_exp()
    powers = {base: 1 / root}
    powers |= {own: own.exp / root for own in nearby(body) if own.is_Pow and own.base == base}
    return {own: power for own, power in powers.items() if power.is_Integer}


def _is_power(part: Expr) -> bool:
    return bool(part.is_Pow and part.base.is_Symbol and part.exp.is_Integer and part.exp > 1)


def nearby(body: Expr) -> list[Expr]:
    """List the subexpressions of an expression, down to the depth of the forms of the tables."""
    parts, level = [body], [body]
    for _ in range(tuning.STABLE_FORM_DEPTH):
        level = [
            arg for part in level if len(part.args) <= tuning.STABLE_FORM_WIDTH for arg in part.args
        ]
        parts += level
    return parts


def _is_form(body: Expr, parts: Container[Expr]) -> bool:
    """Tell whether an expression without some parts of it consists of few nodes, all numbers."""
    pending: list[Expr] = [body]
    for _ in range(tuning.STABLE_FORM_NODES):
        if not pending:
            return True
        node = pending.pop()
        if node not in parts:
            if node.is_Symbol or not isinstance(node, Expr):
                return False
            pending += node.args
    return False
