"""CuPy helper functions of generated sources for factors of matrices.

Singular matrices are no errors: to find them, the host would have to wait for the device.
"""

from __future__ import annotations

import cupy as cp
from cupyx.scipy import linalg as cupy_linalg


def factored(X, definite=False):
    """Factor a matrix for all that is computed from its factors: Cholesky's lower factor of a
    definite one, or LU's factors in one array and the rows that were exchanged."""
    X = X if X.dtype.kind in "fc" else X.astype(float)
    if definite and X.dtype.kind == "f":
        return cp.linalg.cholesky(X), None
    return cupy_linalg.lu_factor(X, check_finite=False) if X.size else (X, cp.arange(0))


def solved(factors, B, transposed=False):
    """Return inv(X) @ B, or inv(X.T) @ B, of a matrix X that is factored."""
    factor, exchanged = factors
    kind = cp.result_type(factor, B)
    factor, B = factor.astype(kind, copy=False), B.astype(kind, copy=False)
    if not B.size:
        return B
    if exchanged is not None:
        return cupy_linalg.lu_solve(
            (factor, exchanged), B, trans=int(transposed), check_finite=False
        )
    Y = cupy_linalg.solve_triangular(factor, B, lower=True, check_finite=False)
    return cupy_linalg.solve_triangular(factor, Y, trans=1, lower=True, check_finite=False)


def inverted(factors):
    """Return the inverse of a matrix that is factored."""
    factor, exchanged = factors
    unit = cp.eye(len(factor), dtype=factor.dtype)
    if exchanged is not None or not factor.size:
        return solved(factors, unit)
    inverse = cupy_linalg.solve_triangular(factor, unit, lower=True, check_finite=False)
    return inverse.T @ inverse


def log_determinant(factors):
    """Return log |det X| of a matrix that is factored."""
    factor, exchanged = factors
    total = cp.log(cp.abs(factor.diagonal())).sum()
    return 2 * total if exchanged is None else total


def signed_log_determinant(factors):
    """Return the sign of the determinant of a matrix that is factored, and log |det X|."""
    factor, exchanged = factors
    sign = cp.ones((), factor.dtype)
    if exchanged is not None:
        exchanges = (exchanged != cp.arange(len(factor))).sum()
        sign = (1 - 2 * (exchanges % 2)) * cp.sign(factor.diagonal()).prod()
    return sign, log_determinant(factors)


def determinant(factors):
    """Return the determinant of a matrix that is factored."""
    factor, exchanged = factors
    total = factor.diagonal().prod()
    if exchanged is None:
        return total**2
    exchanges = (exchanged != cp.arange(len(factor))).sum()
    return (1 - 2 * (exchanges % 2)) * total
