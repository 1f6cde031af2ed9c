"""Constraints, read from what comparing tensors gives."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sympy import And, Basic, Eq, Expr, Float, Ge, Gt, Le, Lt, S
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from ..core import Shape, TensorError, UnsupportedError
from ..expressions import (
    Elementwise,
    Ones,
    Operand,
    TensorExpr,
    Zeros,
    apply_body,
    as_number,
    as_operand,
    shape_of,
    slot,
    slot_numbers,
)
from ..operations import subtract

_SIGNS = {Le: "<=", Lt: "<=", Ge: ">=", Gt: ">=", Eq: "="}
_LATEX = {"<=": r"\leq", ">=": r"\geq", "=": "="}
_FORM = "write A @ x <= b, x >= 0, or sympy.Eq(h, 0)"


class Constraint(NamedTuple):
    """A constraint, entry by entry.

    Attributes
    ==========

    relation : as it was given; several that ``&`` joined are constraints of their own; for a bound
        by assumption the variable
    left : its left side
    sign : ``<=``, ``>=`` or ``=``
    right : its right side
    gap : what is 0 for ``=``, else at most 0
    """

    relation: Basic
    left: Operand
    sign: str
    right: Operand
    gap: Operand

    @property
    def is_equation(self) -> bool:
        """Whether the gap is 0."""
        return self.sign == "="

    @property
    def shape(self) -> Shape:
        """The shape of the gap."""
        return shape_of(self.gap)

    @property
    def latex_sign(self) -> str:
        """The sign in LaTeX."""
        return _LATEX[self.sign]

    def __str__(self) -> str:
        return f"{_text(self.left)} {self.sign} {_text(self.right)}"


def _text(side: Operand) -> str:
    return f"{float(side):.6g}" if isinstance(side, Float) else str(side)


def read_constraints(given: object, variables: Sequence[Operand]) -> list[Constraint]:
    """Return the constraints of a problem, those by assumptions on variables last.

    >>> import sympy_einsum as se
    >>> A, b, x = se.TensorSymbol("A", 2, 3), se.TensorSymbol("b", 2), se.TensorSymbol("x", 3)
    >>> for constraint in read_constraints([A @ x <= b, (x >= 0) & (x <= 1)], [x]):
    ...     print(constraint, constraint.gap)
    A @ x <= b A @ x - b
    x >= 0 -x
    x <= 1 x - 1
    """
    if isinstance(given, Basic):
        given = [given]
    if not isinstance(given, (list, tuple)):
        raise TensorError(f"subject_to is a list of constraints, not {str(given)[:80]!r}; {_FORM}")
    found = [
        constraint
        for number, relation in enumerate(given, start=1)
        for constraint in _of_relation(relation, number, variables)
    ]
    for x in variables:
        if getattr(x, "is_nonnegative", False):
            found.append(new_constraint(x, x, ">=", S.Zero))
        if getattr(x, "is_nonpositive", False):
            found.append(new_constraint(x, x, "<=", S.Zero))
    return [*dict.fromkeys(found)]


def _of_relation(
    relation: object, number: int, variables: Collection[Operand]
) -> Iterator[Constraint]:
    """Yield the constraints of a relation; one that always holds is none."""
    where = f"constraint {number}, {str(relation)[:80]},"
    if isinstance(relation, (bool, np.bool_)):
        raise TensorError(f"{where} compares expressions as whole objects; {_FORM}")
    if relation is S.true or isinstance(relation, Ones):
        return
    if relation is S.false or isinstance(relation, Zeros):
        raise TensorError(f"{where} never holds")
    if isinstance(relation, Elementwise) and relation.condition is not None:
        parts, operands = _parts(relation.condition), relation.operands
        for part in parts:
            yield _of_entries(part, operands, where, variables)
    elif isinstance(relation, Boolean):
        for part in _parts(relation):
            yield _of_scalars(part, where, variables)
    else:
        raise TensorError(f"{where} is no relation; {_FORM}")


def _parts(condition: Any) -> tuple[Any, ...]:
    return condition.args if isinstance(condition, And) else (condition,)


def _of_entries(
    part: Any, operands: Sequence[Operand], where: str, variables: Collection[Operand]
) -> Constraint:
    sign = _sign(part, where)
    relation = apply_body(as_number(part), operands)
    left, right = (_side(body, operands) for body in part.args)
    return _oriented(relation, left, sign, right, variables)


def _of_scalars(part: Any, where: str, variables: Collection[Operand]) -> Constraint:
    sign = _sign(part, where)
    left, right = map(as_operand, part.args)
    return _oriented(part, left, sign, right, variables)


def _sign(part: object, where: str) -> str:
    sign = _SIGNS.get(type(part)) if isinstance(part, Relational) else None
    if sign is None:
        raise UnsupportedError(f"{where} is neither <=, >= nor an equation; {_FORM}")
    return sign


def _side(body: Expr, operands: Sequence[Operand]) -> Operand:
    """Return a side of a comparison of entries, of scalars where it has no tensor."""
    used = slot_numbers(body)
    places = {slot(k): slot(place) for place, k in enumerate(used)}
    return apply_body(body.xreplace(places), [operands[k] for k in used]) if used else body


def _oriented(
    relation: Basic, left: Operand, sign: str, right: Operand, variables: Collection[Operand]
) -> Constraint:
    """Return a constraint with the variables of an inequality on its left."""
    is_turned = not left.free_symbols & {*variables} and right.free_symbols & {*variables}
    if is_turned and sign != "=":
        left, sign, right = right, "<=" if sign == ">=" else ">=", left
    return new_constraint(relation, left, sign, right)


def new_constraint(relation: Basic, left: Operand, sign: str, right: Operand) -> Constraint:
    """Return a constraint between two sides."""
    gap = subtract(right, left) if sign == ">=" else subtract(left, right)
    for side in (left, right):
        if isinstance(side, TensorExpr) and side.is_real is False:
            raise UnsupportedError(f"{left} {sign} {right} has complex entries")
    return Constraint(relation, left, sign, right, gap)
