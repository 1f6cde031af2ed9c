"""Products of ``sympy.physics`` whose order counts, where a tensor takes part.

SymPy asks whether the arguments commute. Entries of tensors do, matrices don't.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from sympy import Expr

from .. import operations as ops
from ..core import UnsupportedError
from ..expressions import Operand, as_operand, is_tensor, order_of


def commutator(stock: Callable[..., Expr], cls: type, A: Any, B: Any) -> Expr:
    """A @ B - B @ A."""
    if not (is_tensor(A) or is_tensor(B)):
        return stock(cls, A, B)
    return ops.subtract(*_both_products("Commutator", A, B))


def anticommutator(stock: Callable[..., Expr], cls: type, A: Any, B: Any) -> Expr:
    """A @ B + B @ A."""
    if not (is_tensor(A) or is_tensor(B)):
        return stock(cls, A, B)
    return ops.add(*_both_products("AntiCommutator", A, B))


def _both_products(name: str, *factors: Any) -> tuple[Operand, Operand]:
    left, right = map(as_operand, factors)
    for factor in (left, right):
        if order_of(factor) == 1:
            raise UnsupportedError(f"{name} takes matrices and scalars, not the vector {factor}")
    product = ops.matmul if is_tensor(left) and is_tensor(right) else ops.multiply
    return product(left, right), product(right, left)


def tensor_product(stock: Callable[..., Expr], cls: type, *factors: Any) -> Expr:
    """Return the Kronecker product of matrices, or of vectors, times scalars."""
    if not any(map(is_tensor, factors)):
        return stock(cls, *factors)
    operands = [as_operand(factor) for factor in factors]
    if len({factor.order for factor in operands if is_tensor(factor)}) > 1:
        raise UnsupportedError(
            f"TensorProduct of tensors of different orders, {operands}: give columns two axes, "
            "x[:, None]"
        )
    return reduce(_kronecker, operands)


def _kronecker(left: Operand, right: Operand) -> Operand:
    return (ops.kron if is_tensor(left) and is_tensor(right) else ops.multiply)(left, right)
