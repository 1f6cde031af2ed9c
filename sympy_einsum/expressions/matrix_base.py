"""The base class of matrix functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from sympy import S

from ..core import Shape
from .base import Operand, TensorExpr
from .interning import Data, Operands
from .leaves import Zeros
from .products import Ones, View, contract


class MatrixFunction(TensorExpr):
    """Base class of functions of one matrix, or of each matrix of a stack.

    Attributes
    ==========

    at_identity, at_zeros : the values at the identity and at zeros, a key of ``CONSTANTS``; "" for
        none
    is_involution : whether the function is its own inverse
    """

    __slots__ = ()
    keeps_shape = False
    at_identity: ClassVar[str] = ""
    at_zeros: ClassVar[str] = ""
    is_involution: ClassVar[bool] = False

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        (matrix,) = operands
        shape = cls._shape(matrix.shape, data)
        if cls.is_involution and type(matrix) is cls:
            return matrix.operands[0]
        constant = cls._constant(matrix)
        if constant:
            return CONSTANTS[constant](shape)
        return cls._intern(operands, data, shape)

    @classmethod
    def _shape(cls, shape: Shape, data: Data) -> Shape:
        """Return the shape of the function of matrices of a shape."""
        return shape if cls.keeps_shape else ()

    @classmethod
    def _constant(cls, matrix: Operand) -> str:
        """Return the key of the function's value in ``CONSTANTS`` if it is constant, else ""."""
        if isinstance(matrix, Zeros):
            # A matrix without entries is also the identity.
            is_empty = matrix.shape[-2:] == (S.Zero, S.Zero)
            return cls.at_identity if is_empty else cls.at_zeros
        return cls.at_identity if is_identity(matrix) else ""


def is_identity(matrix: Operand) -> bool:
    """Tell whether a tensor is the identity matrix, or a stack of copies of it."""
    if not isinstance(matrix, View) or matrix.operands or matrix.order < 2:
        return False
    *stack, row, column = matrix.output
    return row == column and len({*stack, row}) == len(stack) + 1


def identities(shape: Shape) -> Operand:
    """Return a stack of copies of the identity matrix."""
    axes = range(len(shape) - 1)
    return contract((), (), (*axes, axes[-1]), dict(enumerate(shape[:-1])))


CONSTANTS: dict[str, Callable[[Shape], Operand]] = {
    "identity": identities,
    "ones": lambda shape: Ones(*shape),
    "zeros": lambda shape: Zeros(*shape),
}
