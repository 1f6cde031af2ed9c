"""Entrywise sums, products, quotients and powers; axes of length 1 are broadcast."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Add, Mul, S

from ..core import Shape, exact_power
from ..expressions import (
    Operand,
    TensorExpr,
    TensorLike,
    Zeros,
    apply_body,
    as_operand,
    broadcast_together,
    contract,
    order_of,
    shape_of,
    slot,
    tensor_sum,
)
from .axes import filled


def add(*values: TensorLike) -> Operand:
    """Add entrywise; a scalar is added to every entry.

    Axes of length 1 are broadcast; ShapeError for other differences of shapes.
    """
    operands, shape = _broadcast_operands(values)
    if shape is None:
        return Add(*operands)
    scalar = Add(*[o for o in operands if not order_of(o)])
    terms = [o for o in operands if order_of(o)]
    return tensor_sum(terms if scalar.is_zero else [*terms, filled(scalar, shape)])


def _broadcast_operands(values: Sequence[TensorLike]) -> tuple[list[Operand], Shape | None]:
    """Convert to operands, broadcast them, and return them with their shape; None if all are
    scalars."""
    operands = broadcast_together([as_operand(value) for value in values])
    return operands, next((o.shape for o in operands if order_of(o)), None)


def subtract(a: TensorLike, b: TensorLike) -> Operand:
    """Subtract entrywise.

    Axes of length 1 are broadcast; ShapeError for other differences of shapes.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x, y = se.tensors("x y", 3)
    >>> snp.subtract(x, y)
    x - y
    """
    return add(a, multiply(-1, b))


def multiply(*values: TensorLike) -> Operand:
    """Multiply entrywise; a scalar multiplies every entry.

    Axes of length 1 are broadcast; ShapeError for other differences of shapes.
    """
    operands, shape = _broadcast_operands(values)
    if shape is None:
        return Mul(*operands)
    axes = range(len(shape))
    subscripts = [axes if order_of(o) else () for o in operands]
    return contract(operands, subscripts, axes, dict(enumerate(shape)))


def power(base: TensorLike, exponent: TensorLike) -> Operand:
    """Raise to a power entrywise.

    Axes of length 1 are broadcast; ShapeError for other differences of shapes.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> se.gradient(snp.power(x, 3).sum(), x)
    3*x**2
    """
    operands = [as_operand(base), as_operand(exponent)]
    if not any(order_of(o) for o in operands):
        return exact_power(*operands)
    return apply_body(slot(0) ** slot(1), broadcast_together(operands))


def divide(a: TensorLike, b: TensorLike) -> Operand:
    """Divide entrywise.

    Axes of length 1 are broadcast; ShapeError for other differences of shapes.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x, y = se.tensors("x y", 3)
    >>> snp.divide(x, y.sum())
    x/(y.sum())
    """
    a, b = as_operand(a), as_operand(b)
    if isinstance(a, TensorExpr) and (b.is_zero if b.is_Number else isinstance(b, Zeros)):
        # Infinities as in NumPy: SymPy's zoo would be nan in code, and 0 times it would be 0.
        if isinstance(a, Zeros):
            return multiply(filled(S.One, a.shape), filled(S.NaN, shape_of(b)))
        return multiply(a, filled(S.Infinity, shape_of(b)))
    return multiply(a, power(b, S.NegativeOne))
