"""``numpy.linalg``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import sympy

from .. import operations as ops
from ..core import TensorError, as_list
from ..expressions import det as _det, inv as _inv, logdet as _logdet


class SlogdetResult(NamedTuple):
    """What ``linalg.slogdet`` returns, as in NumPy."""

    sign: Any
    logabsdet: Any


class linalg:
    """``numpy.linalg``."""

    @staticmethod
    def inv(a: Any) -> Any:
        """``numpy.linalg.inv`` of one matrix."""
        return _inv(a)

    @staticmethod
    def det(a: Any) -> Any:
        """``numpy.linalg.det`` of one matrix."""
        return _det(a)

    @staticmethod
    def slogdet(a: Any) -> SlogdetResult:
        """``numpy.linalg.slogdet`` of one matrix: the sign and log |det|."""
        return SlogdetResult(sympy.sign(_det(a)), _logdet(a))

    @staticmethod
    def solve(a: Any, b: Any) -> Any:
        """``numpy.linalg.solve``: inv(a) @ b."""
        return ops.matmul(_inv(a), b)

    @staticmethod
    def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
        """``numpy.linalg.norm``: Euclidean, Frobenius, and p-norms of vectors."""
        return ops.norm(x, ord, axis, keepdims)

    @staticmethod
    def matrix_power(a: Any, n: Any) -> Any:
        """``numpy.linalg.matrix_power``."""
        return ops.matrix_power(a, n)

    @staticmethod
    def multi_dot(arrays: Sequence[Any]) -> Any:
        """``numpy.linalg.multi_dot``: the matrix product of all."""
        arrays = as_list(arrays, "tensors")
        if len(arrays) < 2:
            raise TensorError("multi_dot takes at least two tensors")
        result = arrays[0]
        for array in arrays[1:]:
            result = ops.matmul(result, array)
        return result

    @staticmethod
    def trace(x: Any) -> Any:
        """``numpy.linalg.trace`` of one matrix."""
        return ops.trace(x)

    @staticmethod
    def outer(x1: Any, x2: Any) -> Any:
        """``numpy.linalg.outer``."""
        return ops.outer(x1, x2)
