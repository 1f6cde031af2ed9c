"""How a node is looked up in the tables of stable forms (core/stable_forms.py): with what it is
made of, a few levels down, it is read as one scalar function."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from sympy import Add, Expr, Float, Max, Mul, Rational, S, atanh, cosh, erf, exp, log, sinh, tanh

from ..core import (
    NUMERIC_NAMES,
    STABLE_ARGUMENT,
    STABLE_NAMES,
    TURNED_NAMES,
    erfcx,
    relu,
    sigmoid,
    softplus,
    step,
)
from ..expressions import (
    Einsum,
    Elementwise,
    Operand,
    TensorAdd,
    TensorExpr,
    View,
    apply_body,
    contract,
    is_tensor,
    replaced,
    slot,
    split_coefficient,
)

# Functions are looked for so many levels down, in pieces of so many operands.
MAX_LEVELS = 4
MAX_OPERANDS = 3
# Longer sums and products aren't searched for pairs.
MAX_TERMS = 16

FUNCTIONS = (exp, log, sigmoid, softplus, tanh, sinh, cosh, erf, erfcx, relu, step, Max)


def functions_in(forms: Iterable[Expr]) -> tuple[frozenset[type | str], ...]:
    """The sets of functions that one of some forms is made of."""
    return tuple({frozenset([f for f in (*FUNCTIONS, atanh) if form.has(f)]) for form in forms})


# The forms of the tables have at most so many levels above their argument, so many operands of an
# operation, and so many nodes besides the argument.
MAX_FORM_DEPTH = 5
MAX_FORM_WIDTH = 4
MAX_FORM = 24


class Match(NamedTuple):
    """A scalar expression as a numeric factor times a stable form of the tables, at ``argument``,
    which is a number times a part of the expression."""

    factor: Expr
    form: Expr
    number: Expr
    part: Expr

    def expression(self) -> Expr:
        """The scalar expression."""
        return self.factor * self.form.xreplace({STABLE_ARGUMENT: self.number * self.part})

    def at(self, operands: Sequence[Operand]) -> Operand:
        """The same of operands in the place of slots."""
        argument = apply_body(self.number * self.part, operands)
        return apply_body(self.factor * self.form.xreplace({STABLE_ARGUMENT: slot(0)}), (argument,))


@lru_cache(maxsize=8192)
def matched(body: Expr, numeric: bool, turned: bool = False) -> Match | None:
    """The stable form of a scalar expression as a whole, if the tables have it. Floats are compared
    by their exact values, 1.0 with 1."""
    digits = [part._prec for part in _near(body) if isinstance(part, Float)]
    if not digits:
        return _matched(body, numeric, turned)
    given: dict[Expr, Expr] = {}

    def exact(part: Expr, levels: int) -> Expr:
        if isinstance(part, Float):
            new = Rational(part)
        elif levels and 0 < len(part.args) <= MAX_FORM_WIDTH:
            new = part.func(*[exact(arg, levels - 1) for arg in part.args])
        else:
            new = part
        given[new] = part
        return new

    found = _matched(exact(body, MAX_FORM_DEPTH), numeric, turned)
    if found is None:
        return None
    factor, number = [
        value if value.is_Integer else Float(value, precision=max(digits))
        for value in (found.factor, found.number)
    ]
    return Match(factor, found.form, number, found.part.xreplace(given))


def _matched(body: Expr, numeric: bool, turned: bool) -> Match | None:
    factor, rest = _without_factor(body)
    for number, part in arguments(rest):
        if not _is_form(rest, part):
            continue
        key = rest.xreplace({part: STABLE_ARGUMENT / number})
        form = STABLE_NAMES.get(key) or (numeric and NUMERIC_NAMES.get(key)) or _of_odds(key)
        if form:
            return Match(factor, form, number, part)
        if numeric and turned and key in TURNED_NAMES:
            return Match(factor, TURNED_NAMES[key], -number, part)
    return None


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
    """The numeric factor of a product; of a sum the one that makes its number a one, or its first
    function if there is no number."""
    number, terms = body.as_coeff_Add()
    if number is S.One or not body.is_Add:
        return body.as_coeff_Mul()
    if number is S.Zero:
        number = next((arg.as_coeff_Mul()[0] for arg in body.args if arguments(arg)), S.One)
    elif terms.as_coeff_Mul()[0] not in (number, -number):
        return S.One, body
    return number, body if number is S.One else Add(*[Mul(1 / number, a) for a in body.args])


def arguments(body: Expr) -> list[tuple[Expr, Expr]]:
    """What the table's argument may stand for, a number and what it multiplies."""
    parts = _near(body)
    found = [part.args[0].as_coeff_Mul() for part in parts if isinstance(part, FUNCTIONS)]
    if not found:
        return []
    found += [(S.One, part) for part in parts if part.is_Symbol]
    return list(dict.fromkeys((c, part) for c, part in reversed(found) if not part.is_number))


def _near(body: Expr) -> list[Expr]:
    """What an expression is made of, as far down as the forms of the tables go."""
    parts, level = [body], [body]
    for _ in range(MAX_FORM_DEPTH):
        level = [arg for part in level if len(part.args) <= MAX_FORM_WIDTH for arg in part.args]
        parts += level
    return parts


def _is_form(body: Expr, part: Expr) -> bool:
    """Whether little and only numbers are left of an expression without a part of it."""
    pending: list[Expr] = [body]
    for _ in range(MAX_FORM):
        if not pending:
            return True
        node = pending.pop()
        if node != part:
            if node.is_Symbol or not isinstance(node, Expr):
                return False
            pending += node.args
    return False


# --- a node and what it is made of as one scalar function ----------------------------------------


def local_body(node: Operand, most: int = MAX_OPERANDS) -> tuple[Expr, tuple[Operand, ...]] | None:
    """A node that computes entry by entry, as a scalar function of nodes; None for others, and
    for sums and products of more than ``most``."""
    if isinstance(node, Elementwise):
        return node.body, node.operands
    if isinstance(node, TensorAdd) and len(node.operands) <= most:
        pairs = [split_coefficient(term) for term in node.operands]
        fills = [core for _, core in pairs if is_ones(core)]
        cores = tuple([core for _, core in pairs if not is_ones(core)])
        places = {core: slot(k) for k, core in enumerate(cores)}
        places.update(dict.fromkeys(fills, S.One))
        return Add(*[number * places[core] for number, core in pairs]), cores
    if isinstance(node, View):
        return _local_view(node)
    is_product = isinstance(node, Einsum) and set(node.subscripts) == {node.output}
    if is_product and node.output and len(node.operands) <= most:
        return Mul(*[slot(k) for k in range(len(node.operands))]), node.operands
    return None


def _local_view(node: View) -> tuple[Expr, tuple[Operand, ...]] | None:
    """A multiple; of a function whose axes are rearranged, the function of rearranged tensors."""
    numbers = (node.coefficient,) if node.coefficient is not S.One else ()
    if node.core is None or node.scalars != numbers or len(set(node.output)) < node.order:
        return None
    if node.subscripts[-1] == node.output == tuple(range(node.core.order)):
        return node.coefficient * slot(0), (node.core,)
    if not isinstance(node.core, Elementwise):
        return None
    labels, lengths = node.subscripts[-1], dict(enumerate(node.lengths))
    operands = [
        contract((o,), (labels,), node.output, lengths) if is_tensor(o) else o
        for o in node.core.operands
    ]
    return node.coefficient * node.core.body, tuple(operands)


def is_ones(tensor: Operand) -> bool:
    return isinstance(tensor, View) and tensor.is_constant_fill and not tensor.operands


def _inlined(body: Expr, operands: tuple[Operand, ...]) -> tuple[Expr, tuple[Operand, ...]] | None:
    """The same function, of what the operands are computed from."""
    places: dict[Operand, Expr] = {}

    def place(node: Operand) -> Expr:
        return places.setdefault(node, slot(len(places)))

    rule: dict[Operand, Expr] = {}
    opened_any = False
    for k, operand in enumerate(operands):
        found = local_body(operand)
        if found is None:
            rule[slot(k)] = place(operand)
        else:
            opened_any = True
            inner, below = found
            rule[slot(k)] = replaced(
                inner, tuple([(slot(j), place(o)) for j, o in enumerate(below)])
            )
    if not opened_any or len(places) > MAX_OPERANDS:
        return None
    return replaced(body, tuple(rule.items())), tuple(places)


def reached(node: TensorExpr) -> frozenset[Operand]:
    """The node and what it is computed from entry by entry, as far down as :func:`named` looks:
    two factors are one function only of what both reach."""
    if "reached" not in node.memory:
        found: set[Operand] = set()
        level: set[Operand] = {node}
        for _ in range(MAX_LEVELS - 1):
            parts = [(operand, local_body(operand)) for operand in level]
            level = {o for operand, part in parts for o in (part[1] if part else (operand,))}
            if len(level) > MAX_OPERANDS:
                break
            found |= level
        node.memory["reached"] = found - {node}  # what holds itself is freed late
    return frozenset({node, *node.memory["reached"]})


def named(node: Operand, numeric: bool) -> Operand | None:
    """A node in the form that the tables have for it, None if they don't."""
    piece = local_body(node)
    for _ in range(MAX_LEVELS):
        if piece is None:
            return None
        found = matched(piece[0], numeric, turned=True)
        new = node if found is None else found.at(piece[1])
        if new is not node:
            return new
        piece = _inlined(*piece)
    return None
