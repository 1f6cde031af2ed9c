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

from .numba_memory import cleared, copied, empty, require_c_order
from .numba_types import dtype, is_real
from .stubs import compiled


def by_address(module, name):
    """Return a function of SciPy for the compiled type, called with arrays in C order and numbers,
    of which it gets the addresses. Integers that aren't characters become C's int."""
    letters = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
    name = letters[dtype.__name__] + name
    symbol = f"scipy_{name}"
    binding.add_symbol(symbol, extending.get_cython_function_address(module, name))

    @extending.intrinsic
    def called(context, *kinds):
        require_c_order(*kinds)
        cgutils = numba.core.cgutils

        def generate(context, builder, signature, values):
            pointers = []
            for kind, value in zip(kinds, cgutils.unpack_tuple(builder, values[0]), strict=True):
                if isinstance(kind, numba.types.Array):
                    place = context.make_array(kind)(context, builder, value).data
                else:
                    is_long = isinstance(kind, numba.types.Integer) and kind.bitwidth > 32
                    own = builder.trunc(value, cgutils.int32_t) if is_long else value
                    place = cgutils.alloca_once_value(builder, own)
                pointers.append(builder.bitcast(place, cgutils.voidptr_t))
            types = [cgutils.voidptr_t] * len(pointers)
            kind = cgutils.ir.FunctionType(cgutils.ir.VoidType(), types)
            function = cgutils.get_or_insert_function(builder.module, kind, symbol)
            builder.call(function, pointers)
            return context.get_dummy_value()

        return numba.types.void(numba.types.StarArgTuple(kinds)), generate

    return called


gemm = by_address(cython_blas.__name__, "gemm")
gemv = by_address(cython_blas.__name__, "gemv")
syrk = by_address(cython_blas.__name__, "syrk")
trsm = by_address(cython_blas.__name__, "trsm")
trsv = by_address(cython_blas.__name__, "trsv")
getrf = by_address(cython_lapack.__name__, "getrf")
getrs = by_address(cython_lapack.__name__, "getrs")
getri = by_address(cython_lapack.__name__, "getri")
potrf = by_address(cython_lapack.__name__, "potrf")
potri = by_address(cython_lapack.__name__, "potri")


@compiled
def with_upper(A):
    """Copy the lower triangle of a matrix to the upper one, in strips that fit the cache."""
    n = A.shape[0]
    for left in range(0, n, 32):
        for i in range(left, n):
            for j in range(left, i if i < left + 32 else left + 32):
                A[j, i] = A[i, j]
    return A


@compiled
def product(A, B, left, right):
    """Return A @ B, with A transposed for left, and B for right."""
    m, k = (A.shape[1], A.shape[0]) if left else (A.shape[0], A.shape[1])
    n = B.shape[0] if right else B.shape[1]
    total = empty((m, n), dtype)
    if k == 0:
        cleared(total)
    elif m and n:
        first, second = np.uint8(84 if right else 78), np.uint8(84 if left else 78)
        columns, width = B.shape[1], A.shape[1]
        gemm(first, second, n, m, k, dtype(1), B, columns, A, width, dtype(0), total, n)
    return total


@compiled
def matmul(A, B):
    """Return the products of two stacks of matrices, of which one may have one matrix."""
    (first, m, k), (second, _, n) = A.shape, B.shape
    count, plain = second if first == 1 else first, np.uint8(78)
    total = empty((count, m, n), dtype)
    if k == 0:
        cleared(total)
    elif m and n:
        for i in range(count):
            left, right = A[i % first], B[i % second]
            gemm(plain, plain, n, m, k, dtype(1), right, n, left, k, dtype(0), total[i], n)
    return total


@compiled
def matrix_by_vector(A, x, transposed):
    """Return A @ x, or A.T @ x."""
    m, n = A.shape
    total = cleared(empty((n if transposed else m,), dtype))
    if m and n:
        transpose = np.uint8(78 if transposed else 84)
        gemv(transpose, n, m, dtype(1), A, n, x, 1, dtype(0), total, 1)
    return total


@compiled
def gram(A, transposed):
    """Return A @ A.T, or A.T @ A, of which one half is computed."""
    k, n = (A.shape[0], A.shape[1]) if transposed else (A.shape[1], A.shape[0])
    total = cleared(empty((n, n), dtype))
    if n and k:
        transpose = np.uint8(78 if transposed else 84)
        syrk(np.uint8(85), transpose, n, k, dtype(1), A, A.shape[1], dtype(0), total, n)
    return with_upper(total)


@compiled
def lu_factored(X):
    """Return LU's factors of the transpose of a matrix in one array, the rows that were exchanged,
    and whether it is singular."""
    n, factor = X.shape[0], copied(X)
    exchanged, failed = empty((n,), np.int32), empty((1,), np.int32)
    getrf(n, n, factor, n or 1, exchanged, failed)
    return factor, exchanged, failed[0] > 0


@compiled
def factored(X, definite):
    """Return Cholesky's lower factor of a matrix that is definite, for which nothing is exchanged,
    else LU's factors; and whether it was said to be definite (1) and isn't. One said to be
    symmetric (2) may be definite."""
    n, factor, failed = X.shape[0], copied(X), empty((1,), np.int32)
    if is_real:
        potrf(np.uint8(85), n, factor, n or 1, failed)
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
    diagonal, uplo = np.uint8(85 if unit else 78), np.uint8(85 if lower else 76)
    trans = np.uint8(84 if transposed == (count > 1) else 78)
    if count == 1:
        trsv(uplo, trans, diagonal, n, factor, n, B, 1)
    else:
        side = np.uint8(82)
        trsm(side, uplo, trans, diagonal, count, n, dtype(1), factor, n, B, count)


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
    X, is_lu = copied(B), exchanged.size > 0
    # Numba compiles no branch that the number of axes or factors excludes.
    if B.ndim == 1:
        n = factor.shape[0]
        if is_lu:
            trans = np.uint8(78 if transposed else 84)
            getrs(trans, n, 1, factor, n or 1, exchanged, X, n or 1, 0)
        for k in range(0 if is_lu else 2):
            trans = np.uint8(78 if k else 84)
            trsv(np.uint8(85), trans, np.uint8(78), n, factor, n or 1, X, 1)
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
    n, inverse = factor.shape[0], copied(factor)
    if len(factors) == 4 and exchanged.size == 0:
        potri(np.uint8(85), n, inverse, n or 1, 0)
        return with_upper(inverse)
    space = empty((64 * n + 1,), dtype)
    getri(n, inverse, n or 1, exchanged, space, space.size, 0)
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
