"""Lookup of a node in the tables of stable forms (core/stable_forms.py): with its operands inlined
a few levels down it is read as one scalar function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from sympy import (
    Add,
    Dummy,
    Expr,
    Float,
    Function,
    Max,
    Mul,
    Rational,
    S,
    asin,
    asinh,
    atan,
    atanh,
    cos,
    cosh,
    coth,
    erf,
    erfc,
    exp,
    log,
    loggamma,
    polygamma,
    sin,
    sinh,
    tanh,
)

from ..analysis import is_nonnegative, is_positive
from ..core import (
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
    ndtr,
    relu,
    sigmoid,
    sinhc,
    softplus,
    step,
    tuning,
)
from ..expressions import (
    Einsum,
    Elementwise,
    Operand,
    Slot,
    TensorAdd,
    TensorExpr,
    View,
    apply_body,
    contract,
    is_tensor,
    memoised,
    scalar_product,
    slot,
    split_coefficient,
    substitute_slots,
)
from .stable_laws import law

FUNCTIONS = (
    *(exp, log, sigmoid, softplus, tanh, sinh, cosh, coth, sin, cos, erf, erfc, erfcx, ndtr),
    *(bose, exprel, sinhc, gammaln, loggamma, polygamma, asin, asinh, atan, relu, step, Max),
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

    def at(self, operands: Sequence[Operand]) -> Operand:
        """Return the expression with operands in the place of slots."""
        argument = applied(self.number * self.part, operands)
        return apply_body(self.factor * self.form.xreplace({STABLE_ARGUMENT: slot(0)}), (argument,))


@cached(8192)
def matched(body: Expr, use: Use, reflected: bool = False) -> Match | None:
    """Return the stable form of a scalar expression as a whole, if the tables have it. Floats are
    compared by their exact values, 1.0 with 1."""
    digits = [part._prec for part in _near(body) if isinstance(part, Float)]
    if not digits:
        return _matched(body, use, reflected)
    given: dict[Expr, Expr] = {}

    def exact(part: Expr, levels: int) -> Expr:
        if isinstance(part, Float):
            new = Rational(part)
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
        # A power stands for its reciprocal too.
        base, power = part.as_base_exp() if _is_power(part) else (part, S.One)
        if not _is_form(rest, base):
            continue
        # That of a quotient by the argument has a factor again.
        argument = (STABLE_ARGUMENT / number) ** (1 / power)
        again, key = rest.xreplace({base: argument}).as_coeff_Mul()
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
    """1 / (1 + exp(u))^k and exp(c u) sigmoid(-u)^k by sigmoids, with c up to k."""
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
    parts = _near(body)
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


def _is_power(part: Expr) -> bool:
    return bool(part.is_Pow and part.base.is_Symbol and part.exp.is_Integer and part.exp > 1)


def _near(body: Expr) -> list[Expr]:
    """List the subexpressions of an expression, down to the depth of the forms of the tables."""
    parts, level = [body], [body]
    for _ in range(tuning.STABLE_FORM_DEPTH):
        level = [
            arg for part in level if len(part.args) <= tuning.STABLE_FORM_WIDTH for arg in part.args
        ]
        parts += level
    return parts


def _is_form(body: Expr, part: Expr) -> bool:
    """Tell whether an expression without a part of it consists of few nodes, all numbers."""
    pending: list[Expr] = [body]
    for _ in range(tuning.STABLE_FORM_NODES):
        if not pending:
            return True
        node = pending.pop()
        if node != part:
            if node.is_Symbol or not isinstance(node, Expr):
                return False
            pending += node.args
    return False


# --- a node and what it is made of as one scalar function ----------------------------------------


def local_body(
    node: Operand, most: int = tuning.STABLE_OPERANDS
) -> tuple[Expr, tuple[Operand, ...]] | None:
    """A node that computes entry by entry, as a scalar function of nodes; None for others, and
    for sums and products of more than ``most``."""
    if isinstance(node, Elementwise):
        return node.body, node.operands
    if isinstance(node, TensorAdd):
        return _local_sum(node) if len(node.operands) <= most else None
    if isinstance(node, View):
        return _local_view(node)
    if not isinstance(node, Einsum) or len(node.operands) > most or not node.output:
        return None
    is_local = {*node.subscripts} == {node.output}
    return (_product_of_slots(len(node.operands)), node.operands) if is_local else None


@memoised
def _local_sum(node: TensorAdd) -> tuple[Expr, tuple[Operand, ...]]:
    """A linear combination; ones are numbers."""
    pairs = [split_coefficient(term) for term in node.operands]
    cores = tuple([core for _, core in pairs if not is_ones(core)])
    places = iter(range(len(cores)))
    numbers = tuple([(number, None if is_ones(core) else next(places)) for number, core in pairs])
    return _sum_of_slots(numbers), cores


@cached(1024)
def _sum_of_slots(terms: tuple[tuple[Expr, int | None], ...]) -> Expr:
    """A sum of numbers, each times a slot if its place is given."""
    return Add(*[number if place is None else number * slot(place) for number, place in terms])


@lru_cache(maxsize=64)
def _product_of_slots(count: int) -> Expr:
    return Mul(*[slot(k) for k in range(count)])


@memoised
def _local_view(node: View) -> tuple[Expr, tuple[Operand, ...]] | None:
    """A multiple; of a function whose axes are rearranged, the function of rearranged tensors."""
    factor = stock_factor(node)
    if node.core is None or factor is None or len(set(node.output)) < node.order:
        return None
    if node.subscripts[-1] == node.output == tuple(range(node.core.order)):
        return factor * slot(0), (node.core,)
    if not isinstance(node.core, Elementwise):
        return None
    labels, lengths = node.subscripts[-1], dict(enumerate(node.lengths))
    operands = [
        contract((o,), (labels,), node.output, lengths) if is_tensor(o) else o
        for o in node.core.operands
    ]
    return factor * node.core.body, tuple(operands)


def stock_factor(node: View) -> Expr | None:
    """Return the scalar factors of a view, None if there are tensors in them."""
    known = all(not part.has(TensorExpr) for part in node.scalars)
    return scalar_product(node.scalars) if known else None


def is_ones(tensor: Operand) -> bool:
    return isinstance(tensor, View) and tensor.is_constant_fill and not tensor.operands


# How an operand of a body is inlined: its own body, None for one that stays, and which of the
# operands of the result it is made of.
Inlined: TypeAlias = tuple[Expr | None, tuple[int, ...]]


def _inlined(body: Expr, operands: tuple[Operand, ...]) -> tuple[Expr, tuple[Operand, ...]] | None:
    """Inline operands into a function; None if none can be, or too many operands result."""
    places: dict[Operand, int] = {}
    parts: list[Inlined] = []
    opened_any = False
    for operand in operands:
        found = local_body(operand) or _filled(operand)
        if found is None:
            parts.append((None, (places.setdefault(operand, len(places)),)))
        else:
            opened_any = True
            inner, below = found
            parts.append((inner, tuple([places.setdefault(o, len(places)) for o in below])))
    if not opened_any or len(places) > tuning.STABLE_OPERANDS or not any(map(is_tensor, places)):
        return None
    return _composed(body, tuple(parts)), tuple(places)


@cached(8192)
def _composed(body: Expr, parts: tuple[Inlined, ...]) -> Expr:
    """A body with other bodies in the place of its slots."""
    rule: dict[Expr, Expr] = {}
    for k, (inner, places) in enumerate(parts):
        renaming = tuple([(slot(j), slot(place)) for j, place in enumerate(places)])
        rule[slot(k)] = renaming[0][1] if inner is None else substitute_slots(inner, renaming)
    return substitute_slots(body, tuple(rule.items()))


def _filled(node: Operand) -> tuple[Expr, tuple[Operand, ...]] | None:
    """One stock scalar everywhere."""
    if not isinstance(node, View) or not node.is_constant_fill or is_ones(node):
        return None
    factor = stock_factor(node)
    return None if factor is None else (factor, ())


# Symbols in the place of slots whose sign is known.
_POSITIVE = [Dummy(f"s{k}", positive=True) for k in range(8)]
_NONNEGATIVE = [Dummy(f"s{k}", nonnegative=True) for k in range(8)]


@cached(8192)
def asks_for_signs(body: Expr) -> bool:
    """Tell whether there may be a law for a body that asks for signs."""
    return bool(body.has(log) or (body.has(exp) and body.has(Add)))


def signed(body: Expr, operands: Sequence[Operand]) -> Expr:
    """Put symbols of known sign into a body for operands of which it is known, where a law asks
    for signs: in logarithms, and in quotients by sums of exponentials."""
    if not asks_for_signs(body):
        return body
    rule: dict[Expr, Expr] = {}
    for k, operand in enumerate(operands[: len(_POSITIVE)]):
        if is_positive(operand):
            rule[slot(k)] = _POSITIVE[k]
        elif is_nonnegative(operand):
            rule[slot(k)] = _NONNEGATIVE[k]
    return body.xreplace(rule) if rule else body


def applied(body: Expr, operands: Sequence[Operand]) -> Operand:
    """A body with such symbols, and with stock symbols, of operands."""
    rule = {own: slot(k) for own_of in (_POSITIVE, _NONNEGATIVE) for k, own in enumerate(own_of)}
    others = sorted(body.free_symbols.difference(rule), key=str)
    symbols = [symbol for symbol in others if not isinstance(symbol, Slot)]
    rule.update({symbol: slot(len(operands) + k) for k, symbol in enumerate(symbols)})
    return apply_body(body.xreplace(rule), (*operands, *symbols))


@memoised
def reached(node: TensorExpr) -> frozenset[Operand]:
    """Return what a node is computed from entry by entry, as far down as :func:`named` looks: two
    factors are one function only of what both are or reach."""
    found: set[Operand] = set()
    level: set[Operand] = {node}
    for _ in range(tuning.STABLE_LEVELS - 1):
        parts = [(operand, local_body(operand)) for operand in level]
        level = {o for operand, part in parts for o in (part[1] if part else (operand,))}
        if len(level) > tuning.STABLE_OPERANDS:
            break
        found |= level
    return frozenset(found - {node})  # what holds itself is freed late


@memoised
def _pieces(node: TensorExpr) -> tuple[tuple[Expr, tuple[Operand, ...]], ...]:
    """A node as scalar functions of nodes, each of those a level further down."""
    found = [local_body(node)]
    while found[-1] is not None and len(found) < tuning.STABLE_LEVELS:
        found.append(_inlined(*found[-1]))
    return tuple([piece for piece in found if piece is not None])


@cached(8192)
def _is_unnamed(body: Expr) -> bool:
    """Tell whether no table and no law has a scalar function, whatever its use and signs."""
    if body == slot(0) or asks_for_signs(body):
        return False
    return matched(body, Use.COMPUTING, True) is None and law(body, Use.COMPUTING) is None


@memoised
def _has_no_name(node: TensorExpr) -> bool:
    return all(_is_unnamed(body) for body, _ in _pieces(node))


def named(node: TensorExpr, use: Use) -> Operand | None:
    """A node in the form that the tables have for it, None if they don't."""
    if _has_no_name(node):
        return None
    pieces = _pieces(node)
    for place, (body, operands) in enumerate(pieces):
        # SymPy evaluates a composition of functions, as atanh(tanh(u)) from 1.15 on.
        if place and body == slot(0) and pieces[0][0].has(Function):
            return operands[0]
        found = matched(body, use, True)
        new = node if found is None else found.at(operands)
        if new is not node:
            return new
    # A law takes for a constant what it doesn't see the function in.
    for body, operands in reversed(pieces):
        stable = law(signed(body, operands), use)
        if stable is not None:
            return applied(stable, operands)
    return None
