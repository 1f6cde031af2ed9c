"""Bodies: the scalar expressions, in slots, of elementwise nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from sympy import Basic, Dummy, Expr, Piecewise, Pow, S, Symbol, exp, log
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import Boolean

from ..core import TensorError, as_stock_derivative, cached, derivative, postorder, sigmoid


class Slot(Symbol):
    """The k-th parameter of an elementwise body, named ``sk``; real, as tensors are.

    Attributes
    ==========

    place : the number k

    Examples
    ========

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> body = se.exp(x).body
    >>> body, [slot.place for slot in body.atoms(se.Slot)]
    (exp(s0), [0])
    """

    __slots__ = ("place",)
    place: int

    def __new__(cls, name: str, **assumptions: bool | None) -> Slot:
        if not isinstance(name, str) or not re.fullmatch("s[0-9]+", name):
            raise TensorError(f"a slot is called s0, s1, ..., not {name!r}")
        self = super().__new__(cls, name, real=True)
        self.place = int(name[1:])
        return self


@lru_cache(maxsize=256)
def slot(k: int) -> Slot:
    """Return the slot of operand number k."""
    return Slot(f"s{k}")


EXP, LOG, SIGMOID = exp(slot(0)), log(slot(0)), sigmoid(slot(0))


def as_number(body: Basic) -> Expr:
    """Convert a condition to its indicator, 1 where it holds, else 0; return other bodies
    unchanged."""
    return Piecewise((S.One, body), (S.Zero, True)) if is_condition(body) else body


def is_condition(value: object) -> bool:
    """Tell whether a value is a relation or a Boolean function; a Symbol, which may be either,
    isn't one."""
    return isinstance(value, Boolean) and not isinstance(value, Expr)


def indicator_condition(body: Expr) -> Boolean | None:
    """Return the condition of an indicator; None for other bodies."""
    if isinstance(body, Piecewise) and body.args[0].expr is S.One:
        condition = body.args[0].cond
        return condition if body == as_number(condition) else None
    return None


@cached(4096)
def partial_body(body: Expr, k: int, count: int) -> Expr:
    """Differentiate a body by slot k; where the body itself occurs in the result, it becomes slot
    ``count``."""
    return derivative(body, slot(k)).xreplace({body: slot(count)})


@cached(4096)
def evaluate_with_signs(body: Expr, signs: tuple[str, ...]) -> Expr:
    """Evaluate a scalar expression with SymPy's assumptions about its slots."""
    dummies = {slot(k): Dummy(**{sign: True}) for k, sign in enumerate(signs)}
    return body.xreplace(dummies).xreplace({dummy: original for original, dummy in dummies.items()})


@cached(4096)
def slot_numbers(body: Expr) -> tuple[int, ...]:
    return tuple(sorted(s.place for s in body.free_symbols if isinstance(s, Slot)))


@cached(4096)
def slot_exponent(power: Pow) -> Expr | None:
    """Return the exponent of a numeric power of a slot; None for other powers."""
    return power.exp if isinstance(power.base, Slot) and power.exp.is_number else None


@cached(4096)
def rename_slots(body: Expr, renaming: tuple[tuple[int, int], ...]) -> Expr:
    return body.xreplace({slot(old): slot(new) for old, new in renaming if old != new})


@cached(4096)
def substitute_slots(body: Expr, rule: tuple[tuple[Expr, Expr], ...]) -> Expr:
    """Replace the slots of a body. Cached: SymPy takes milliseconds for some functions."""
    return body.xreplace(dict(rule))


def substitute_stock(expr: Basic, rule: Mapping[Basic, Basic]) -> Basic:
    """Replace outermost tensors and symbols of a stock expression by scalars, each distinct node
    once."""
    rewritten: dict[Basic, Basic] = dict(rule)

    def lower(node: Basic) -> tuple[Basic, ...]:
        return () if node in rule else node.args

    for node in postorder([expr], lower):
        if node not in rewritten:
            new = [rewritten[arg] for arg in node.args]
            built = node if new == list(node.args) else node.func(*new)
            rewritten[node] = as_stock_derivative(built) if _is_of_symbols(built) else built
    return rewritten[expr]


def _is_of_symbols(expr: Basic) -> bool:
    """Tell whether an expression is an undefined function of ordinary symbols."""
    plain = [isinstance(arg, Symbol) and not isinstance(arg, Slot) for arg in expr.args]
    return isinstance(expr, AppliedUndef) and all(plain)
