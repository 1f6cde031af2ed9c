"""Conversion from SymPy's expressions with axes inside: matrices, arrays, sums over entries."""

from __future__ import annotations

from sympy import Basic, Sum
from sympy.matrices.expressions.matexpr import MatrixElement

from ..expressions import Operand, sums_entries
from .from_arrays import from_array
from .from_sums import from_indexed


def from_stock(value: Basic) -> Operand:
    """Convert one of SymPy's matrix or array expressions, or a scalar with traces, determinants,
    entries of matrices and sums over these.

    >>> from sympy import MatrixSymbol, symbols
    >>> n = symbols("n", integer=True, positive=True)
    >>> M, v = MatrixSymbol("M", n, n), MatrixSymbol("v", n, 1)
    >>> from_stock((v.T * M * v)[0, 0])
    v.sum(axis=1) @ M @ v.sum(axis=1)
    """
    is_sum = any(node.has(MatrixElement) for node in value.atoms(Sum)) or sums_entries(value)
    return from_indexed(value) if is_sum else from_array(value)
