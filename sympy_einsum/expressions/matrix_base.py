"""The base class of matrix functions."""

from __future__ import annotations

from .base import Operand, TensorExpr
from .interning import Data, Operands


class MatrixFunction(TensorExpr):
    """Base class of the functions of one matrix, or of each matrix of a stack."""

    __slots__ = ()
    keeps_shape = False

    @classmethod
    def _build(cls, operands: Operands, data: Data) -> Operand:
        matrix = operands[0]
        return cls._intern(operands, data, matrix.shape if cls.keeps_shape else ())
