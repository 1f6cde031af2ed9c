"""``numpy.linalg``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import sympy
from sympy import Expr

from .. import operations as ops
from ..core import TensorError, as_list
from ..expressions import Operand, TensorLike, det as _det, inv as _inv, logdet as _logdet
from ._options import Axes


class SlogdetResult(NamedTuple):
    """What ``linalg.slogdet`` returns, as in NumPy."""

    sign: Expr
    logabsdet: Expr


class linalg:
    """``numpy.linalg``."""

    @staticmethod
    def inv(a: TensorLike) -> Operand:
        """``numpy.linalg.inv`` of one matrix."""
        return _inv(a)

    @staticmethod
    def det(a: TensorLike) -> Operand:
        """``numpy.linalg.det`` of one matrix."""
        return _det(a)

    @staticmethod
    def slogdet(a: TensorLike) -> SlogdetResult:
        """``numpy.linalg.slogdet`` of one matrix: the sign and log |det|."""
        return SlogdetResult(sympy.sign(_det(a)), _logdet(a))

    @staticmethod
    def solve(a: TensorLike, b: TensorLike) -> Operand:
        """``numpy.linalg.solve``: inv(a) @ b."""
        return ops.matmul(_inv(a), b)

    @staticmethod
    def norm(
        x: TensorLike, ord: TensorLike | None = None, axis: Axes = None, keepdims: bool = False
    ) -> Operand:
        """``numpy.linalg.norm``: Euclidean, Frobenius, and p-norms of vectors."""
        return ops.norm(x, ord, axis, keepdims)

    @staticmethod
    def matrix_power(a: TensorLike, n: TensorLike) -> Operand:
        """``numpy.linalg.matrix_power``."""
        return ops.matrix_power(a, n)

    @staticmethod
    def multi_dot(arrays: Sequence[TensorLike]) -> Operand:
        """``numpy.linalg.multi_dot``: the matrix product of all."""
        arrays = as_list(arrays, "tensors")
        if len(arrays) < 2:
            raise TensorError("multi_dot takes at least two tensors")
        result = arrays[0]
        for array in arrays[1:]:
            result = ops.matmul(result, array)
        return result

    @staticmethod
    def trace(x: TensorLike) -> Operand:
        """``numpy.linalg.trace`` of one matrix."""
        return ops.trace(x)

    @staticmethod
    def outer(x1: TensorLike, x2: TensorLike) -> Operand:
        """``numpy.linalg.outer``."""
        return ops.outer(x1, x2)
