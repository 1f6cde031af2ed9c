"""Numba helper functions of generated sources for factors of matrices in C order.

They call the BLAS and LAPACK of SciPy, as Numba's own products do, by the addresses that SciPy
gives to compiled code. Those take columns one after the other: what is a matrix here, is its
transpose there.
"""

from __future__ import annotations

import numba
import numpy as np
from llvmlite import binding
from numba import extending
from scipy.linalg import cython_blas, cython_lapack

from .numba_types import dtype, is_real
from .stubs import compiled


def by_address(module, name, count):
    """Return a function of SciPy, with a number of pointer arguments, for the compiled type."""
    letters = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
    name = letters[dtype.__name__] + name
    binding.add_symbol(f"scipy_{name}", extending.get_cython_function_address(module, name))
    pointers = [numba.types.voidptr] * count
    return numba.types.ExternalFunction(f"scipy_{name}", numba.types.void(*pointers))


gemm = by_address(cython_blas.__name__, "gemm", 13)
gemv = by_address(cython_blas.__name__, "gemv", 11)
syrk = by_address(cython_blas.__name__, "syrk", 10)
trsm = by_address(cython_blas.__name__, "trsm", 11)
trsv = by_address(cython_blas.__name__, "trsv", 8)
getrf = by_address(cython_lapack.__name__, "getrf", 6)
getrs = by_address(cython_lapack.__name__, "getrs", 9)
getri = by_address(cython_lapack.__name__, "getri", 7)
potrf = by_address(cython_lapack.__name__, "potrf", 5)
potri = by_address(cython_lapack.__name__, "potri", 5)


@compiled
def with_upper(A):
    """Copy the lower triangle of a matrix to the upper one, in blocks that fit the cache."""
    n = A.shape[0]
    for top in range(0, n, 32):
        for left in range(0, top + 1, 32):
            for i in range(top, min(top + 32, n)):
                for j in range(left, min(left + 32, i)):
                    A[j, i] = A[i, j]
    return A


@extending.intrinsic
def at(context, value):
    """Return the address of the entries of an array in C order, or of a number on the stack. An
    array of which nothing else is used is freed at once."""
    if isinstance(value, numba.types.Array) and value.layout != "C":
        raise numba.errors.TypingError("an array isn't in C order")

    def generate(context, builder, signature, values):
        if isinstance(value, numba.types.Array):
            place = context.make_array(value)(context, builder, values[0]).data
        else:
            place = numba.core.cgutils.alloca_once_value(builder, values[0])
        return builder.bitcast(place, numba.core.cgutils.voidptr_t)

    return numba.types.voidptr(value), generate


@extending.intrinsic
def cleared(context, X):
    """Return an array in C order, whose bytes are set to 0: NumPy's function for zeros is four for
    Numba."""

    def generate(context, builder, signature, values):
        array = context.make_array(X)(context, builder, values[0])
        size = builder.mul(array.nitems, array.itemsize)
        numba.core.cgutils.memset(builder, array.data, size, 0)
        return numba.core.imputils.impl_ret_borrowed(context, builder, X, values[0])

    return X(X), generate


@compiled
def product(A, B, left, right):
    """Return A @ B, with A transposed for left, and B for right."""
    m, k = (A.shape[1], A.shape[0]) if left else (A.shape[0], A.shape[1])
    n = B.shape[0] if right else B.shape[1]
    total = np.empty((m, n), dtype)
    if k == 0:
        for i in range(m):
            for j in range(n):
                total[i, j] = 0
    elif m and n:
        gemm(
            at(np.uint8(84 if right else 78)),
            at(np.uint8(84 if left else 78)),
            at(np.int32(n)),
            at(np.int32(m)),
            at(np.int32(k)),
            at(dtype(1)),
            at(B),
            at(np.int32(B.shape[1])),
            at(A),
            at(np.int32(A.shape[1])),
            at(dtype(0)),
            at(total),
            at(np.int32(n)),
        )
    return total


@compiled
def matrix_by_vector(A, x, transposed):
    """Return A @ x, or A.T @ x."""
    m, n = A.shape
    total = np.empty((n if transposed else m,), dtype)
    for i in range(total.size):
        total[i] = 0
    if m and n:
        gemv(
            at(np.uint8(78 if transposed else 84)),
            at(np.int32(n)),
            at(np.int32(m)),
            at(dtype(1)),
            at(A),
            at(np.int32(n)),
            at(x),
            at(np.int32(1)),
            at(dtype(0)),
            at(total),
            at(np.int32(1)),
        )
    return total


@compiled
def gram(A, transposed):
    """Return A @ A.T, or A.T @ A, of which one half is computed."""
    k, n = (A.shape[0], A.shape[1]) if transposed else (A.shape[1], A.shape[0])
    total = np.empty((n, n), dtype)
    for i in range(n):
        for j in range(n):
            total[i, j] = 0
    if n and k:
        transpose = np.uint8(78 if transposed else 84)
        syrk(
            at(np.uint8(85)),
            at(transpose),
            at(np.int32(n)),
            at(np.int32(k)),
            at(dtype(1)),
            at(A),
            at(np.int32(A.shape[1])),
            at(dtype(0)),
            at(total),
            at(np.int32(n)),
        )
    return with_upper(total)


@compiled
def lu_factored(X):
    """Return LU's factors of the transpose of a matrix in one array, the rows that were exchanged,
    and whether it is singular."""
    n, factor = X.shape[0], X.copy()
    exchanged, failed = np.empty((n,), np.int32), np.empty((1,), np.int32)
    rows, step = at(np.int32(n)), at(np.int32(n or 1))
    getrf(rows, rows, at(factor), step, at(exchanged), at(failed))
    return factor, exchanged, failed[0] > 0


@compiled
def factored(X, definite):
    """Return Cholesky's lower factor of a matrix that is definite, for which nothing is exchanged,
    else LU's factors; and whether it was said to be definite (1) and isn't. One said to be
    symmetric (2) may be definite."""
    n, factor, failed = X.shape[0], X.copy(), np.empty((1,), np.int32)
    if is_real:
        potrf(at(np.uint8(85)), at(np.int32(n)), at(factor), at(np.int32(n or 1)), at(failed))
        if failed[0] == 0:
            return factor, failed[:0], False, False
    factor, exchanged, singular = lu_factored(X)
    return factor, exchanged, singular, definite == 1 and is_real


@compiled
def by_triangle(factor, B, lower, transposed, unit):
    """Write inv(T) @ B over B, for a triangle T of a factor, or its transpose; with ones on the
    diagonal for ``unit``."""
    if B.size == 0:
        return
    n, count = B.shape
    rows, columns, diagonal = at(np.int32(n)), at(np.int32(count)), at(np.uint8(85 if unit else 78))
    uplo = at(np.uint8(85 if lower else 76))
    trans = at(np.uint8(84 if transposed == (count > 1) else 78))
    if count == 1:
        trsv(uplo, trans, diagonal, rows, at(factor), rows, at(B), columns)
    else:
        trsm(
            at(np.uint8(82)),
            uplo,
            trans,
            diagonal,
            columns,
            rows,
            at(dtype(1)),
            at(factor),
            rows,
            at(B),
            columns,
        )


@compiled
def exchange_rows(X, exchanged, backwards):
    """Apply the row exchanges of LU to a matrix, in place."""
    n = exchanged.size
    for k in range(n):
        i = n - 1 - k if backwards else k
        other = exchanged[i] - 1
        for j in range(X.shape[1] if other != i else 0):
            X[i, j], X[other, j] = X[other, j], X[i, j]


@compiled
def solved(factors, B, transposed):
    """Return inv(X) @ B, or inv(X.T) @ B, of a matrix X that is factored."""
    factor, exchanged, singular = factors[:3]
    if singular:
        raise np.linalg.LinAlgError("Singular matrix")
    X, is_lu = B.copy(), exchanged.size > 0
    # Numba compiles no branch that the number of axes or factors excludes.
    if B.ndim == 1:
        n, one = factor.shape[0], at(np.int32(1))
        rows, step, failed = at(np.int32(n)), at(np.int32(n or 1)), at(np.int32(0))
        if is_lu:
            trans = at(np.uint8(78 if transposed else 84))
            getrs(trans, rows, one, at(factor), step, at(exchanged), at(X), step, failed)
        for k in range(0 if is_lu else 2):
            trans = at(np.uint8(78 if k else 84))
            trsv(at(np.uint8(85)), trans, at(np.uint8(78)), rows, at(factor), step, at(X), one)
        return X
    if transposed:
        exchange_rows(X, exchanged, not transposed)
    # In a loop, since Numba compiles a function again for each choice of constants.
    for step in range(2):
        is_lower = not is_lu or (step > 0) == (transposed > 0)
        is_transposed = transposed > 0 if is_lu else step > 0
        by_triangle(factor, X, is_lower, is_transposed, is_lu and not is_lower)
    if not transposed:
        exchange_rows(X, exchanged, not transposed)
    return X


@compiled
def inverted(factors):
    """Return the inverse of a matrix that is factored."""
    factor, exchanged, singular = factors[:3]
    if singular:
        raise np.linalg.LinAlgError("Singular matrix")
    n, inverse = factor.shape[0], factor.copy()
    rows, step, failed = at(np.int32(n)), at(np.int32(n or 1)), at(np.int32(0))
    if len(factors) == 4 and exchanged.size == 0:
        potri(at(np.uint8(85)), rows, at(inverse), step, failed)
        return with_upper(inverse)
    space = np.empty((64 * n + 1,), dtype)
    getri(rows, at(inverse), step, at(exchanged), at(space), at(np.int32(space.size)), failed)
    space[0] = 0  # until here it isn't freed
    return inverse


@compiled
def determinant(factors):
    """Return the determinant of a matrix that is factored."""
    factor, exchanged = factors[:2]
    total = dtype(1)
    for i in range(factor.shape[0]):
        total *= factor[i, i]
        if exchanged.size == 0:
            total *= factor[i, i]
        elif exchanged[i] != i + 1:
            total = -total
    return total


@compiled
def log_determinant(factors):
    """Return log |det X| of a matrix that is factored."""
    factor, exchanged = factors[:2]
    if len(factors) == 4 and factors[3]:
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    total = 0.0
    for i in range(factor.shape[0]):
        total += np.log(abs(factor[i, i]))
    return total if exchanged.size else 2 * total


@compiled
def signed_log_determinant(factors):
    """Return the sign of the determinant of a matrix that is factored, and log |det X|."""
    factor, exchanged = factors[:2]
    found = np.ones(2, factor.dtype)
    for i in range(exchanged.size):
        size = abs(factor[i, i])
        found[0] *= factor[i, i] / size if size > 0 else factor[i, i]
        if exchanged[i] != i + 1:
            found[0] = -found[0]
    found[1] = log_determinant(factors[:3])
    return found
