"""NumPy helper functions of generated sources for factors of matrices.

NumPy has Cholesky's factor, but nothing that solves by it, and no LU; SciPy has all of LAPACK. The
packages of both bring threads of their own, which fight for the processor's cores: SciPy's LAPACK
after a product of NumPy's may take a hundred times as long as alone. So SciPy gets what LAPACK
computes without threads, small blocks and vectors; all else is made of NumPy's products.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack


def lapack_function(name, X):
    """Return LAPACK's function for the type of an array."""
    if X.dtype.char == "d":
        return getattr(lapack, "d" + name)
    if X.dtype.char not in "fdFD":
        raise TypeError(f"array type {X.dtype} is unsupported in linalg")
    return lapack.__dict__["sdcz"["fdFD".index(X.dtype.char)] + name]


def factored(X, definite=False, symmetric=False):
    """Factor a matrix for all that is computed from its factors: Cholesky's lower factor of a
    definite one, or LU's factors in one array and the rows that were exchanged; whether it is
    singular, and whether it was said to be definite and isn't. A symmetric one may be definite."""
    kind = X.dtype.kind
    X = X if kind in "fc" else X.astype(float)
    definite = definite and kind != "c"
    if definite or (symmetric and kind != "c"):
        factor = cholesky_factor(X)
        if factor is not None:
            return factor, None, False, False
    return *lu_factors(X), definite


def trace_of_inverse(factors):
    """Return the trace of the inverse of a matrix that is factored; of a definite one without the
    inverse."""
    if factors[1] is None:
        entries = lower_inverse(factors[0]).ravel("K")
        return entries.dot(entries)
    return inverted(factors).trace()


def cholesky_factor(X):
    """Return Cholesky's lower factor, None for a matrix that isn't definite."""
    if 0 < len(X) < 128:
        factor, failed = lapack_function("potrf", X)(X.T)
        return None if failed else factor.T
    try:
        return np.linalg.cholesky(X)
    except np.linalg.LinAlgError:
        return None


def lu_factors(X):
    """Return LU's factors in one array, the rows that were exchanged, and whether a pivot is
    zero."""
    getrf, n = lapack_function("getrf", X), len(X)
    if 0 < n < 128:
        lu, exchanged, zeros = getrf(X)
        return lu, exchanged, zeros > 0
    lu, exchanged = X.copy(), np.arange(n, dtype=np.int32)
    start, singular = 0, False
    while start < n:
        end = min(start + max(16, min(64, 20000 // (n - start))), n)
        lu[start:, start:end], rows, zeros = getrf(lu[start:, start:end])
        singular = singular or zeros > 0
        exchanged[start:end] = start + rows
        order = start + row_order(rows, n - start)
        moved = np.flatnonzero(order != np.arange(start, n))
        for part in (lu[:, :start], lu[:, end:]):
            part[start + moved] = part[order[moved]]
        top = lu[start:end, end:]
        top[...] = lower_inverse(unit_lower(lu[start:end, start:end])).dot(top)
        lu[end:, end:] -= lu[end:, start:end].dot(top)
        start = end
    return np.asfortranarray(lu), exchanged, singular


def unit_lower(lu):
    """Return the first of LU's factors."""
    lower = np.tril(lu, -1)
    lower.reshape(-1)[:: len(lu) + 1] = 1
    return lower


def lower_inverse(L):
    """Return the inverse of a lower triangular matrix, by blocks of its rows."""
    n = len(L)
    if n <= 64:
        return lapack_function("trtri", L)(L.T)[0].T if n else L
    inverse = np.zeros((n, n), L.dtype)
    for start in range(0, n, 64):
        rows = slice(start, start + 64)
        corner = inverse[rows, rows] = lower_inverse(L[rows, rows])
        for left in range(0, start, 128):
            columns = slice(left, min(left + 128, start))
            above = L[rows, left:start].dot(inverse[left:start, columns])
            inverse[rows, columns] = -corner.dot(above)
    return inverse


def lower_gram(L):
    """Return L.T @ L for a lower triangular matrix, by blocks of its rows."""
    n = len(L)
    if n <= 64:
        return L.T.dot(L)
    gram = np.empty_like(L)
    for start in range(0, n, 64):
        end = start + 64
        rows = L[start:, start:end].T.dot(L[start:, :end])
        gram[start:end, :end], gram[:start, start:end] = rows, rows[:, :start].T
    return gram


def lower_solve(L, B):
    """Write inv(L) @ B over B, for a lower triangular L."""
    if len(L) <= 64:
        B[...] = lower_inverse(L).dot(B)
        return
    k = len(L) // 2
    lower_solve(L[:k, :k], B[:k])
    B[k:] -= L[k:, :k].dot(B[:k])
    lower_solve(L[k:, k:], B[k:])


def upper_solve(U, B):
    """Write inv(U) @ B over B, for an upper triangular U."""
    if len(U) <= 64:
        B[...] = lower_inverse(U.T).T.dot(B)
        return
    k = len(U) // 2
    upper_solve(U[k:, k:], B[k:])
    B[:k] -= U[:k, k:].dot(B[k:])
    upper_solve(U[:k, :k], B[:k])


def row_order(exchanged, n):
    """Return the order that LU's exchanges bring n rows into."""
    order = list(range(n))
    for i, j in enumerate(exchanged.tolist()):
        order[i], order[j] = order[j], order[i]
    return np.array(order, dtype=np.intp)


def solved(factors, B, transposed=False):
    """Return inv(X) @ B, or inv(X.T) @ B, of a matrix X that is factored."""
    factor, exchanged, singular, _ = factors
    if singular:
        raise np.linalg.LinAlgError("Singular matrix")
    if factor.dtype != B.dtype:
        kind = np.result_type(factor, B)
        factor, B = factor.astype(kind), B.astype(kind)
    if B.ndim == 1 and len(B):
        if exchanged is None:
            return lapack_function("potrs", B)(factor.T, B)[0]
        return lapack_function("getrs", B)(factor, exchanged, B, trans=int(transposed))[0]
    if exchanged is None:
        X = B.copy()
        lower_solve(factor, X)
        upper_solve(factor.T, X)
    elif transposed:
        X, Y = np.empty_like(B), B.copy()
        lower_solve(np.tril(factor.T), Y)
        upper_solve(unit_lower(factor).T, Y)
        X[row_order(exchanged, len(factor))] = Y
    else:
        X = B[row_order(exchanged, len(factor))]
        lower_solve(unit_lower(factor), X)
        upper_solve(np.triu(factor), X)
    return X


def inverted(factors):
    """Return the inverse of a matrix that is factored."""
    factor, exchanged, singular, _ = factors
    if singular:
        raise np.linalg.LinAlgError("Singular matrix")
    if exchanged is None:
        return lower_gram(lower_inverse(factor))
    n = len(factor)
    if 0 < n < 128:
        return lapack_function("getri", factor)(factor, exchanged)[0]
    # inv(U) is brought to the left of inv(L), from the last rows of its transpose up.
    transposed = lower_inverse(np.tril(factor.T))
    for start in range((n - 1) // 64 * 64, -1, -64):
        end = start + 64
        rest = transposed[start:end] - factor[end:, start:end].T.dot(transposed[end:])
        transposed[start:end] = lower_inverse(unit_lower(factor[start:end, start:end])).T.dot(rest)
    inverse = np.empty_like(transposed)
    inverse[:, row_order(exchanged, n)] = transposed.T
    return inverse


def log_determinant(factors):
    """Return log |det X| of a matrix that is factored."""
    factor, exchanged, singular, failed = factors
    if failed:
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    if exchanged is None:
        return 2 * np.log(factor.diagonal()).sum()
    sizes = np.abs(factor.diagonal())
    return sizes.dtype.type(-np.inf) if singular else np.log(sizes).sum()


def signed_log_determinant(factors):
    """Return the sign of the determinant of a matrix that is factored, and log |det X|."""
    factor, exchanged, singular, _ = factors
    sign = factor.dtype.type(1)
    if exchanged is not None:
        exchanges = np.count_nonzero(exchanged != np.arange(len(factor)))
        sign = (-1) ** exchanges * np.sign(factor.diagonal()).prod()
    return sign, log_determinant((factor, exchanged, singular, False))


def determinant(factors):
    """Return the determinant of a matrix that is factored."""
    factor, exchanged, _, _ = factors
    diagonal = factor.diagonal()
    if exchanged is None:
        return diagonal.prod() ** 2
    exchanges = np.count_nonzero(exchanged != np.arange(len(diagonal)))
    return (-1) ** exchanges * diagonal.prod()
