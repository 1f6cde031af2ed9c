"""Which stock scalars are norms: a power of a sum of squares is written as one of ‖x‖."""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Expr, I, Pow

from ..core import postorder
from ..expressions import Constant, Einsum, Elementwise, TensorExpr, slot
from ..rules import Answer, Property
from .slices import factors_of, merged


class Norm(Expr):
    """The norm of a tensor, as formulas show it; it is in no expression of a user's."""

    is_commutative = True
    is_real = True

    @property
    def tensor(self) -> TensorExpr:
        """The tensor between the bars."""
        return self.args[0]


class HalfPower(Pow):
    """An odd power of the square root of a scalar product, a SymPy power to everything but the
    printers: those show it as the power of a norm where it is one."""

    __slots__ = ()

    @property
    def func(self) -> type[Pow]:
        """What it is built by."""
        return Pow

    def __reduce_ex__(self, protocol: Any) -> Any:
        return Pow, self.args

    def _sympyrepr(self, printer: Any, *args: Any) -> str:
        return f"Pow({', '.join(printer._print(arg) for arg in self.args)})"


def after_pow(power: Any) -> Any:
    """The power that SymPy's constructor has built, as one that printers ask about norms."""
    if not _is_half_power(power) or isinstance(power, HalfPower):
        return power
    return Expr.__new__(HalfPower, *power.args)


def _is_half_power(expr: Any) -> bool:
    if not (expr.is_Pow and expr.exp.is_Rational and expr.exp.q == 2):
        return False
    return isinstance(expr.base, Einsum) and not expr.base.order


@Property
def looks_real(node: TensorExpr) -> Answer:
    """Whether nothing in a tensor is complex by itself; symbols stand for real numbers here."""
    if isinstance(node, Constant):
        return bool(np.isrealobj(node.array))
    inside = postorder(node.operands, lambda n: () if isinstance(n, TensorExpr) else n.args)
    if I in inside or (isinstance(node, Elementwise) and node.body.has(I)):
        return False
    for operand in inside:
        if isinstance(operand, TensorExpr) and not (yield looks_real, operand):
            return False
    return True


def normed(expr: Any) -> TensorExpr | None:
    """The tensor X if a scalar is ‖X‖ to an odd power, that is a power of the sum of its squares.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> from sympy_einsum.printing.norms import normed
    >>> normed(1 / se.norm(x)), normed(x @ x)
    (x, None)
    """
    return _squared(expr.base) if _is_half_power(expr) else None


def _squared(total: Einsum) -> TensorExpr | None:
    """The tensor whose squares a scalar is the sum of."""
    operands, terms, _, _ = factors_of(total)
    if len(operands) == 1 and type(operands[0]) is Einsum:
        # The trace of Xᵀ X.
        operands, terms, _, _ = merged(total)
    square = operands[0]
    if len(set(terms)) > 1 or len(set(terms[0])) < len(terms[0]) or not looks_real(square):
        return None
    if len(operands) == 1 and isinstance(square, Elementwise) and square.body == slot(0) ** 2:
        return square.operands[0]
    return square if len(operands) == 2 and square is operands[1] and terms[0] else None
