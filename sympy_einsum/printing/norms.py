"""Recognise norms in stock scalars: a power of a sum of squares is printed as one of ‖x‖."""

from __future__ import annotations

import numpy as np
from sympy import AtomicExpr, Basic, Expr, I
from sympy.printing.printer import Printer

from ..analysis import Answer, Property
from ..core import postorder
from ..expressions import Constant, Einsum, Elementwise, TensorExpr, is_half_power, slot
from .slices import labelled_factors, rearranged_product


class Norm(AtomicExpr):
    """Represent the norm of a tensor in formulas; it occurs in no user's expression.

    It is an atom: as a function of its tensor it would turn scalars around it into tensors.
    """

    __slots__ = ("tensor",)

    tensor: TensorExpr

    def __new__(cls, tensor: TensorExpr) -> Norm:
        self = AtomicExpr.__new__(cls)
        self.tensor = tensor
        return self

    def _hashable_content(self) -> tuple[Basic, ...]:
        return (self.tensor,)

    def _sympystr(self, printer: Printer) -> str:
        return f"norm({printer._print(self.tensor)})"

    def _eval_is_real(self) -> bool:
        return True


@Property
def is_real_tensor(node: TensorExpr) -> Answer:
    """Tell whether a tensor contains no complex constant; symbols are real."""
    if isinstance(node, Constant):
        return bool(np.isrealobj(node.array))
    inside = postorder(node.operands, lambda n: () if isinstance(n, TensorExpr) else n.args)
    if I in inside or (isinstance(node, Elementwise) and node.body.has(I)):
        return False
    for operand in inside:
        if isinstance(operand, TensorExpr) and not (yield is_real_tensor, operand):
            return False
    return True


def normed(expr: Expr) -> TensorExpr | None:
    """Return the tensor X if a scalar is an odd power of ‖X‖, written as a power of the sum of its
    squares.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> from sympy_einsum.printing.norms import normed
    >>> normed(1 / se.norm(x)), normed(x @ x)
    (x, None)
    """
    return _squared(expr.base) if is_half_power(expr) else None


def _squared(total: Einsum) -> TensorExpr | None:
    """Return X if a scalar is the sum of the squares of X, else None."""
    operands, terms, _, _ = labelled_factors(total)
    if len(operands) == 1 and type(operands[0]) is Einsum:
        # The trace of Xᵀ X.
        operands, terms, _, _ = rearranged_product(total)
    square = operands[0]
    if len(set(terms)) > 1 or len(set(terms[0])) < len(terms[0]) or not is_real_tensor(square):
        return None
    if len(operands) == 1 and isinstance(square, Elementwise) and square.body == slot(0) ** 2:
        return square.operands[0]
    return square if len(operands) == 2 and square is operands[1] and terms[0] else None
