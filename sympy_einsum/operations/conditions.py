"""Conditions on tensors: comparisons, Boolean functions of them, and choices by them.

A comparison of tensors is a tensor with ones where it holds and zeros elsewhere, so it can be
summed, averaged and multiplied."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from sympy import Basic, Eq, Gt, Ne, Piecewise, S
from sympy.core.function import FunctionClass
from sympy.logic.boolalg import Boolean

from ..core import TensorError, documentation_link
from ..expressions import (
    Elementwise,
    Operand,
    TensorLike,
    apply_body,
    as_number,
    as_operand,
    broadcast_together,
    is_condition,
    is_tensor,
    slot,
    split_body,
)
from .axes import Axes
from .reductions import sum as sum_


def compare(relation: Callable[..., Basic], a: TensorLike, b: TensorLike) -> Operand:
    """Apply a SymPy relation entrywise, as ones and zeros; of scalars return SymPy's relation."""
    operands = broadcast_together([as_operand(a), as_operand(b)])
    if not any(map(is_tensor, operands)):
        return relation(*operands)
    return apply_body(as_number(relation(slot(0), slot(1))), operands)


def logical(connective: FunctionClass, *conditions: TensorLike) -> Operand:
    """Apply a Boolean function such as ``And``, ``Or`` or ``Not`` to conditions entrywise."""
    operands: list[Operand] = []
    body = connective(*[_condition(part, operands) for part in conditions])
    return apply_body(as_number(body), broadcast_together(operands))


def choose(pairs: Sequence[tuple[TensorLike, TensorLike]]) -> Operand:
    """Apply ``Piecewise`` with pairs (value, condition) entrywise; the last condition may be True.

    Raises
    ======

    TensorError : a condition is True or False, as ``x == 0`` is
    """
    operands: list[Operand] = []
    branches = []
    for number, (value, condition) in enumerate(pairs, start=1):
        otherwise = condition is True and number == len(pairs)
        test = S.true if otherwise else _condition(condition, operands)
        branches.append((slot(len(operands)), test))
        operands.append(as_operand(value))
    return apply_body(Piecewise(*branches), broadcast_together(operands))


def _condition(value: TensorLike, operands: list[Operand]) -> Boolean:
    """Convert to a condition in slots, and append its operands to a list."""
    if isinstance(value, (bool, np.bool_)):
        raise TensorError(
            f"a condition on entries is needed, not {bool(value)}: == and != compare expressions "
            "as whole objects; write np.equal(x, 0) or np.not_equal(x, 0)"
            + documentation_link("equality")
        )
    found: Sequence[Operand]
    if is_condition(value):
        test, found = split_body(value)
    else:
        tensor = as_operand(value)
        test = tensor.condition if isinstance(tensor, Elementwise) else None
        test, found = (Ne(slot(0), 0), [tensor]) if test is None else (test, tensor.operands)
    start = len(operands)
    operands.extend(found)
    return test.xreplace({slot(k): slot(start + k) for k in range(len(found))})


def where(condition: TensorLike, a: TensorLike, b: TensorLike) -> Operand:
    """Select entries of ``a`` where a condition holds, else entries of ``b``. The condition is a
    comparison (``x > 0``, ``np.equal(x, 0)``) or a tensor, which holds where it isn't zero.

    Shapes are as for ``+``. Raises TensorError for ``==`` and ``!=``, which compare expressions.

    >>> import numpy as np
    >>> import sympy_einsum as se
    >>> x, y = se.tensors("x y", 3)
    >>> np.where(x > 0, x, y).shape
    (3,)
    """
    return choose([(a, condition), (b, True)])


def count_nonzero(A: TensorLike, axis: Axes = None, keepdims: bool = False) -> Operand:
    """Count the entries along axes that aren't zero, or for which a condition holds.

    Raises ShapeError for an axis out of range.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> print(se.lambdify([x], se.count_nonzero(x > 1))([1, 2, 3]))
    2.0
    """
    return sum_(choose([(S.One, A), (S.Zero, True)]), axis, keepdims)


def any_(A: TensorLike, axis: Axes = None, keepdims: bool = False) -> Operand:
    """Tell whether an entry along axes isn't zero, or a condition holds for one, as ones and zeros;
    return a relation if no axis is left.

    Raises ShapeError for an axis out of range.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> (A > 0).any(axis=1).shape
    (2,)
    """
    return compare(Gt, count_nonzero(A, axis, keepdims), S.Zero)


def all_(A: TensorLike, axis: Axes = None, keepdims: bool = False) -> Operand:
    """Tell whether no entry along axes is zero, or a condition holds for all, as ones and zeros;
    return a relation if no axis is left.

    Raises ShapeError for an axis out of range.

    >>> import sympy_einsum as se
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> (A > 0).all(axis=1).shape
    (2,)
    """
    zeros = sum_(choose([(S.Zero, A), (S.One, True)]), axis, keepdims)
    return compare(Eq, zeros, S.Zero)
