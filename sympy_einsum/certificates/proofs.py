"""Proofs of curvature: a tree of rules, each of which a person can check."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from sympy import Expr, Symbol

from ..analysis import EntryBodies
from ..core import index_letter, sort_key
from ..expressions import Operand, apply_body, order_of, slot

AFFINE, CONVEX, CONCAVE = "affine", "convex", "concave"
LOG_CONVEX, LOG_CONCAVE = "log-convex", "log-concave"
OPPOSITE = {AFFINE: AFFINE, CONVEX: CONCAVE, CONCAVE: CONVEX}


class Root(NamedTuple):
    """The goal that the root of this degree of an expression is convex and nonnegative."""

    degree: Expr

    def __str__(self) -> str:
        if self.degree == 2:
            return "convex square root"
        return f"convex power 1/{self.degree}"


Goal: TypeAlias = "str | Root"
# An expression whose sign has to be known, and whether it has to be nonnegative, or nonpositive.
Requirement: TypeAlias = tuple[Expr, bool]


@dataclass(frozen=True, eq=False)
class Proof:
    """A proof that entries have a curvature: by a rule, from proofs of the parts."""

    expr: Expr
    goal: Goal
    rule: str
    reason: str
    premises: tuple[Proof, ...] = ()
    requirements: frozenset[Requirement] = frozenset()


def combined(
    expr: Expr,
    goal: Goal,
    rule: str,
    reason: str,
    premises: Iterable[Proof | None],
    requirements: Iterable[Requirement] = (),
) -> Proof | None:
    """Return a proof from proofs of parts; None if one is missing, or if an expression would have
    to be both nonnegative and nonpositive."""
    parts = tuple(premises)
    needed = frozenset(requirements)
    for part in parts:
        if part is None:
            return None
        needed |= part.requirements
    if any((expression, not sign) in needed for expression, sign in needed):
        return None
    known = tuple([part for part in parts if part is not None])
    return Proof(expr, goal, rule, reason, known, needed)


def best(options: Iterable[Proof | None]) -> Proof | None:
    """Return the first proof without requirements, or the one with the fewest."""
    found: Proof | None = None
    for option in options:
        if option is None:
            continue
        if not option.requirements:
            return option
        if found is None or len(option.requirements) < len(found.requirements):
            found = option
    return found


def reason_of_sums(goal: Goal) -> str:
    """Return why a sum of expressions that reach a goal does; "" if it may not."""
    if isinstance(goal, Root):
        reason = "norms of convex nonnegative functions are convex [BV, §3.2.4]"
        return reason if goal.degree >= 1 else ""
    return {
        AFFINE: "a sum of affine functions is affine",
        CONVEX: "a sum of convex functions is convex [BV, §3.2.1]",
        CONCAVE: "a sum of concave functions is concave [BV, §3.2.1]",
        LOG_CONVEX: "a sum of log-convex functions is log-convex [BV, §3.5.2]",
    }.get(goal, "")


def as_tensor(expr: Expr, bodies: EntryBodies) -> Operand:
    """Return the expression of which a scalar expression is an entry; where factors have different
    axes, one with their texts as symbols."""
    symbols = [s for s in sorted(expr.free_symbols, key=sort_key) if s in bodies.leaves]
    leaves = [bodies.leaves[s] for s in symbols]
    shared = {leaf.labels for leaf in leaves if order_of(leaf.node)}
    if len(shared) <= 1:
        body = expr.xreplace({s: slot(k) for k, s in enumerate(symbols)})
        if not symbols:
            return expr
        if len(symbols) == 1 and body == slot(0):
            return leaves[0].node
        return apply_body(body, [leaf.node for leaf in leaves])
    return expr.xreplace(
        {s: _indexed(leaf.node, leaf.labels) for s, leaf in zip(symbols, leaves, strict=True)}
    )


def _indexed(node: Operand, labels: tuple[int, ...]) -> Expr:
    """Return a symbol that shows an entry."""
    letters = "".join([index_letter(label) for label in labels])
    text = f"({node})" if getattr(node, "operands", ()) else str(node)
    return Symbol(f"{text}_{letters}" if letters else text)
