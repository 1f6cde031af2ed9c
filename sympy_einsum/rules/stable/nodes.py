"""Nodes as scalar functions: with its operands inlined a few levels down a node is looked up in the
tables of stable forms, and in the laws."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from sympy import Add, Dummy, Expr, Function, Mul, Pow, exp, log

from ...analysis import is_nonnegative, is_positive, scalar_and_tensor
from ...core import STABLE_ARGUMENT, Use, cached, tuning
from ...expressions import (
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
from .laws import law
from .matching import Match, matched


def local_body(
    node: Operand, most: int = tuning.STABLE_OPERANDS
) -> tuple[Expr, tuple[Operand, ...]] | None:
    """Return a node that computes entry by entry as a scalar function of nodes; None for others,
    and for sums and products of more than ``most``."""
    kind = type(node)
    if kind is Elementwise:
        return node.body, node.operands
    if kind is TensorAdd:
        return _local_sum(node) if len(node.operands) <= most else None
    if kind is not Einsum:
        return _local_view(node) if isinstance(node, View) else None
    count = len(node.operands)
    if count > most or not node.output or node.subscripts.count(node.output) < count:
        return None
    return _product_of_slots(count), node.operands


@memoised
def _local_sum(node: TensorAdd) -> tuple[Expr, tuple[Operand, ...]]:
    """Return a linear combination; ones are numbers."""
    pairs = [split_coefficient(term) for term in node.operands]
    cores = tuple([core for _, core in pairs if not is_ones(core)])
    places = iter(range(len(cores)))
    numbers = tuple([(number, None if is_ones(core) else next(places)) for number, core in pairs])
    return _sum_of_slots(numbers), cores


@cached(1024)
def _sum_of_slots(terms: tuple[tuple[Expr, int | None], ...]) -> Expr:
    """Return a sum of numbers, each times a slot if its position is given."""
    return Add(*[number if place is None else number * slot(place) for number, place in terms])


@lru_cache(maxsize=64)
def _product_of_slots(count: int) -> Expr:
    return Mul(*[slot(k) for k in range(count)])


@memoised
def _local_view(node: View) -> tuple[Expr, tuple[Operand, ...]] | None:
    """Return a multiple; for a function whose axes are rearranged, the function of rearranged
    tensors."""
    factor = stock_factor(node)
    if node.core is None or len(set(node.output)) < node.order:
        return None
    if factor is None:  # scalars with tensors in them are one operand
        is_multiple = node.subscripts[-1] == node.output == tuple(range(node.core.order))
        return (slot(0) * slot(1), scalar_and_tensor(node)[::-1]) if is_multiple else None
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
    # No form is a function of a multiple alone, and SymPy takes long to evaluate the function.
    is_alone = len(operands) == 1 and body.is_Function and body.args == _ARGUMENT
    if is_alone and _is_multiple_of_leaf(operands[0]):
        return None
    places: dict[Operand, int] = {}
    parts: list[Inlined] = []
    opened_any = False
    for operand in operands:
        found = local_body(operand)
        if found is None and not operand.has(TensorExpr):
            found = operand, ()  # a number in the body, as the stock factors of views are
        if isinstance(operand, View):
            found = found or _filled(operand)
            if found is not None:  # a multiple is no level of its own
                found = _inlined(*found) or found
        if found is None:
            parts.append((None, (places.setdefault(operand, len(places)),)))
        else:
            opened_any = True
            inner, below = found
            parts.append((inner, tuple([places.setdefault(o, len(places)) for o in below])))
        if len(places) > tuning.STABLE_OPERANDS:
            return None
    if not opened_any or not any(map(is_tensor, places)):
        return None
    return _composed(body, tuple(parts)), tuple(places)


_ARGUMENT = (slot(0),)


def _is_multiple_of_leaf(operand: Operand) -> bool:
    """Tell whether an operand is a multiple of what isn't computed entry by entry."""
    if not isinstance(operand, View) or operand.core is None:
        return False
    return local_body(operand.core) is None and not isinstance(operand.core, View)


@cached(8192)
def _composed(body: Expr, parts: tuple[Inlined, ...]) -> Expr:
    """Substitute bodies for the slots of a body."""
    rule: dict[Expr, Expr] = {}
    for k, (inner, places) in enumerate(parts):
        renaming = tuple([(slot(j), slot(place)) for j, place in enumerate(places)])
        rule[slot(k)] = renaming[0][1] if inner is None else substitute_slots(inner, renaming)
    return substitute_slots(body, tuple(rule.items()))


def _filled(node: View) -> tuple[Expr, tuple[Operand, ...]] | None:
    """Return a tensor with one stock scalar as every entry."""
    if not node.is_constant_fill or is_ones(node):
        return None
    factor = stock_factor(node)
    return None if factor is None else (factor, ())


# Symbols in the place of slots whose sign is known.
_POSITIVE = [Dummy(f"s{k}", positive=True) for k in range(8)]
_NONNEGATIVE = [Dummy(f"s{k}", nonnegative=True) for k in range(8)]


@cached(8192)
def asks_for_signs(body: Expr) -> bool:
    """Tell whether a law for a body may depend on signs."""
    if not body.has(Add):
        return bool(body.has(log))
    has_power = any(power.exp.free_symbols for power in body.atoms(Pow))
    return has_power or bool(body.has(log, exp))


def signed(body: Expr, operands: Sequence[Operand]) -> Expr:
    """Put symbols of known sign into a body for operands whose sign is known, where a law depends
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
    """Apply a body with such symbols, and with stock symbols, to operands."""
    rule = {own: slot(k) for own_of in (_POSITIVE, _NONNEGATIVE) for k, own in enumerate(own_of)}
    others = sorted(body.free_symbols.difference(rule), key=str)
    symbols = [symbol for symbol in others if not isinstance(symbol, Slot)]
    rule.update({symbol: slot(len(operands) + k) for k, symbol in enumerate(symbols)})
    return apply_body(body.xreplace(rule), (*operands, *symbols))


def _at(found: Match, operands: Sequence[Operand]) -> Operand:
    """Return a stable form with operands in the place of slots."""
    argument = applied(found.number * found.part, operands)
    return apply_body(found.factor * found.form.xreplace({STABLE_ARGUMENT: slot(0)}), (argument,))


@memoised
def reached(node: TensorExpr) -> frozenset[Operand]:
    """Return the nodes that a node is computed from entry by entry, as far down as
    :func:`stable_node` looks: two factors may be one function only if both reach one node."""
    levels = pieces(node)[: tuning.STABLE_LEVELS - 1]
    found = [operand for _, operands in levels for operand in operands]
    # What a function of a multiple is a function of, too.
    cores = [own.core for own in found if isinstance(own, View) and own.core is not None]
    return frozenset([*found, *cores])


@memoised
def pieces(node: TensorExpr) -> tuple[tuple[Expr, tuple[Operand, ...]], ...]:
    """Return a node as scalar functions of nodes, each of those a level further down."""
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
    return all(_is_unnamed(body) for body, _ in pieces(node))


def stable_node(node: TensorExpr, use: Use) -> Operand | None:
    """Return the stable form of a node from the tables; None if they have none."""
    if _has_no_name(node):
        return None
    levels = pieces(node)
    for place, (body, operands) in enumerate(levels):
        # SymPy evaluates a composition of functions, as atanh(tanh(u)) from 1.15 on.
        if place and body == slot(0) and levels[0][0].has(Function):
            return operands[0]
        found = matched(body, use, True)
        new = node if found is None else _at(found, operands)
        if new is not node:
            return new
    # A law takes for a constant what it doesn't see the function in.
    for body, operands in reversed(levels):
        stable = law(signed(body, operands), use)
        if stable is not None:
            return applied(stable, operands)
    return None
