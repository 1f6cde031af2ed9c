"""Sums of squares, recognised in objectives."""

from __future__ import annotations

from sympy import Add, Mul, Pow, sqrt

from ..expressions import Einsum, Elementwise, Operand, slot
from ..operations import multiply


def residuals_of(objective: Operand) -> list[Operand] | None:
    """Return the tensors whose entries' squares have the objective as their sum, or None.

    >>> import sympy_einsum as se
    >>> A, b, x = se.TensorSymbol("A", 2, 3), se.TensorSymbol("b", 2), se.TensorSymbol("x", 3)
    >>> residuals_of(((A @ x - b) ** 2).sum() + 4 * (x @ x))
    [2*x, A @ x - b]
    >>> residuals_of(((A @ x - b) ** 2).sum() - x @ x)
    """
    parts = []
    for term in Add.make_args(objective):
        factors = Mul.make_args(term)
        roots = [root for factor in factors if (root := _root(factor)) is not None]
        others = Mul(*[factor for factor in factors if _root(factor) is None])
        if len(roots) != 1 or not others.is_nonnegative:
            return None
        parts.append(multiply(sqrt(others), roots[0]))
    return parts


def _root(factor: Operand) -> Operand | None:
    """Return the tensor whose squares are summed, or the scalar that is squared."""
    if isinstance(factor, Pow) and factor.exp == 2 and factor.base.is_real:
        return factor.base
    if not isinstance(factor, Einsum) or factor.output:
        return None
    operands, labels = factor.operands, factor.subscripts
    if len({*labels[0]}) < len(labels[0]):
        return None
    if len(operands) == 2 and operands[0] == operands[1] and labels[0] == labels[1]:
        return operands[0]
    (first, *more) = operands
    if not more and isinstance(first, Elementwise) and first.body == slot(0) ** 2:
        return first.operands[0]
    return None
