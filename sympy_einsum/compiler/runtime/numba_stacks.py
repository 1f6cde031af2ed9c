"""Numba helper functions of generated sources for stacks of matrices with one batch axis."""

from __future__ import annotations

import numpy as np

from .numba_factors import (
    determinant,
    inverted,
    log_determinant,
    lu_factored,
    signed_log_determinant,
    solved,
)
from .numba_types import dtype
from .stubs import compiled


@compiled
def put(target, value):
    """Write entries in a loop: Numba takes seconds to compile that for slices."""
    for at in np.ndindex(target.shape):
        target[at] = value[at]


@compiled
def products_without(s, first, second):
    """Return for each number the product of the others, without two of them; 0 at these."""
    products, total = np.zeros_like(s), 1.0
    for k in range(s.size):
        products[k] = 0.0 if (k == first) | (k == second) else total
        total *= 1.0 if (k == first) | (k == second) else s[k]
    total = 1.0
    for k in range(s.size - 1, -1, -1):
        products[k] *= total
        total *= 1.0 if (k == first) | (k == second) else s[k]
    return products


@compiled
def singular_bases(X):
    """Return the singular values of a matrix between the bases on its left and on its right."""
    if X.size == 0:
        return X.copy(), np.empty(0, X.real.dtype), X.copy()
    U, s, V = np.linalg.svd(X)
    return np.ascontiguousarray(U), s, np.ascontiguousarray(V)


@compiled
def out_of_bases(U, core, V):
    """Return a derivative of det as a matrix, given in bases."""
    sign = determinant(lu_factored(U)) * determinant(lu_factored(V))
    return np.dot(np.dot(np.conj(U), sign * core), np.conj(V))


@compiled
def cofactors_along(X, D):
    """Return the second derivative of det, one pair of axes multiplied by D."""
    U, s, V = singular_bases(X)
    D = np.dot(np.dot(np.conj(U.T), D), np.conj(V.T))
    core = np.zeros(X.shape, X.dtype)
    for a in range(s.size):
        others = products_without(s, a, a)
        for b in range(s.size):
            core[a, a] += others[b] * D[b, b]
            core[a, b] -= others[b] * D[b, a]
    return out_of_bases(U, core, V)


@compiled
def cofactors_along_two(X, D, E):
    """Return the third derivative of det, two pairs of axes multiplied by D and E."""
    U, s, V = singular_bases(X)
    D = np.dot(np.dot(np.conj(U.T), D), np.conj(V.T))
    E = np.dot(np.dot(np.conj(U.T), E), np.conj(V.T))
    core = np.zeros(X.shape, X.dtype)
    for a, b in np.ndindex(X.shape):
        others = products_without(s, a, b)
        for c in range(s.size if a != b else 0):
            core[a, a] += others[c] * (D[b, b] * E[c, c] - D[b, c] * E[c, b])
            core[a, b] -= others[c] * (E[c, c] * D[b, a] + D[c, c] * E[b, a])
            core[a, b] += others[c] * (D[b, c] * E[c, a] + E[b, c] * D[c, a])
    return out_of_bases(U, core, V)


@compiled
def matrix_cofactors(X):
    """Return the derivative of det, at a singular matrix too."""
    U, s, V = singular_bases(X)
    core, products = np.zeros(X.shape, X.dtype), products_without(s, -1, -1)
    for k in range(s.size):
        core[k, k] = products[k]
    return out_of_bases(U, core, V)


@compiled
def cofactors(X, order):
    """Return all entries of the derivative of det of some order, at a singular matrix too."""
    if order == 1:
        return matrix_cofactors(X).ravel()
    U, s, V = singular_bases(X)
    n = s.size
    total = np.ones(n**order, X.dtype)
    for at in range(total.size):
        # Each digit of the place chooses a singular value; those that nothing chooses are
        # multiplied, and none is chosen twice.
        chosen, rest = np.zeros(n, np.int64), at
        for _ in range(order):
            chosen[rest % n] += 1
            rest //= n
        for k in range(n):
            total[at] *= s[k] if chosen[k] == 0 else 1.0 if chosen[k] == 1 else 0.0
    sides = np.empty((n, n * n), X.dtype)
    for a, i, j in np.ndindex((n, n, n)):
        sides[a, i * n + j] = np.conj(U[i, a] * V[a, j])
    for _ in range(order if n else 0):
        rows = np.ascontiguousarray(total.reshape((n, total.size // n)).T)
        total = np.dot(rows, sides).ravel()
    for k in range(1, order):
        # The columns k of pairs are exchanged with those before.
        last, own = total.copy(), n ** (2 * (order - 1 - k))
        for j in range(k):
            other = n ** (2 * (order - 1 - j))
            for at in range(total.size):
                total[at] -= last[at + (at // own % n - at // other % n) * (other - own)]
    return determinant(lu_factored(U)) * determinant(lu_factored(V)) * total


@compiled
def one_norm(A, times):
    """Return the logarithm to base 2 of the 1-norm of a power of the matrix of absolute values."""
    n, logarithm = A.shape[0], 0.0
    sums = np.ones(n)
    for _ in range(times):
        found, top = np.zeros(n), 0.0
        for i in range(n):
            for j in range(n):
                found[j] += sums[i] * abs(A[i, j])
        for j in range(n):
            top = found[j] if not found[j] <= top else top
        if not 0 < top < np.inf:
            return -np.inf if top == 0 else np.inf
        logarithm += np.log2(top)
        for j in range(n):
            sums[j] = found[j] / top
    return logarithm


@compiled
def exponential(A):
    """Return the exponential of a matrix, by squaring that of a part of it, which is Pade's
    quotient of degree 13. A. Al-Mohy, N. Higham, "A New Scaling and Squaring Algorithm for the
    Matrix Exponential", SIAM J. Matrix Anal. Appl. 31, 2009."""
    A1, A2 = A.copy(), np.dot(A, A)
    A4 = np.dot(A2, A2)
    A6 = np.dot(A2, A4)
    size = max(one_norm(A4, 1) / 4, one_norm(A6, 1) / 6)
    if size == np.inf:
        return np.full(A.shape, np.nan, A.dtype)
    turns = max(0.0, np.ceil(size - np.log2(4.25)))
    if size > -np.inf:
        # The rounding error of the first terms that the quotient leaves out.
        rest = one_norm(A, 27) - one_norm(A, 1) - 26 * turns - np.log2(1.1325e35) + 53
        turns += max(0.0, np.ceil(rest / 26))
    h = 0.5**turns
    odd, even = np.empty_like(A), np.empty_like(A)
    for at in np.ndindex(A.shape):
        A1[at] *= h
        A2[at] *= h**2
        A4[at] *= h**4
        A6[at] *= h**6
        odd[at] = A6[at] + 16380.0 * A4[at] + 40840800.0 * A2[at]
        even[at] = 182.0 * A6[at] + 960960.0 * A4[at] + 1323241920.0 * A2[at]
    odd, even = np.dot(A6, odd), np.dot(A6, even)
    for i, j in np.ndindex(A.shape):
        one = 1.0 if i == j else 0.0
        odd[i, j] += 33522128640.0 * A6[i, j] + 10559470521600.0 * A4[i, j]
        odd[i, j] += 1187353796428800.0 * A2[i, j] + 32382376266240000.0 * one
        even[i, j] += 670442572800.0 * A6[i, j] + 129060195264000.0 * A4[i, j]
        even[i, j] += 7771770303897600.0 * A2[i, j] + 64764752532480000.0 * one
    odd = np.dot(A1, odd)
    for at in np.ndindex(A.shape):
        A1[at], A2[at] = even[at] - odd[at], even[at] + odd[at]
    total = solved(lu_factored(A1), A2, 0)
    for _ in range(int(turns)):
        total = np.dot(total, total)
    return total


@compiled
def each_inv(A):
    """Return the inverse of each matrix."""
    total = np.empty_like(A)
    for k in range(A.shape[0] if total.size else 0):
        put(total[k], inverted(lu_factored(A[k])))
    return total


@compiled
def each_cholesky(A):
    """Return the lower Cholesky factor of each matrix."""
    total = np.empty_like(A)
    for k in range(A.shape[0] if total.size else 0):
        put(total[k], np.linalg.cholesky(A[k]))
    return total


@compiled
def each_pinv(A):
    """Return the pseudoinverse of each matrix."""
    total = np.empty((A.shape[0], A.shape[2], A.shape[1]), A.dtype)
    for k in range(A.shape[0] if total.size else 0):
        put(total[k], np.linalg.pinv(A[k]))
    return total


@compiled
def each_eigvalsh(A):
    """Return the eigenvalues of each matrix."""
    total = np.empty(A.shape[:2], A.real.dtype)
    for k in range(A.shape[0] if total.size else 0):
        put(total[k], np.linalg.eigvalsh(A[k]))
    return total


@compiled
def each_svdvals(A):
    """Return the singular values of each matrix."""
    total = np.empty((A.shape[0], min(A.shape[1:])), A.real.dtype)
    for k in range(A.shape[0] if total.size else 0):
        put(total[k], np.linalg.svd(A[k], False)[1])
    return total


@compiled
def each_qr_r(A):
    """Return the second QR factor of each matrix."""
    total = np.empty((A.shape[0], min(A.shape[1:]), A.shape[2]), A.dtype)
    for k in range(A.shape[0] if total.size else 0):
        put(total[k], np.linalg.qr(A[k])[1])
    return total


@compiled
def each_adj(A):
    """Return the adjugate of each matrix."""
    total = np.empty_like(A)
    for k in range(A.shape[0] if total.size else 0):
        put(total[k], matrix_cofactors(A[k]).T)
    return total


@compiled
def each_expm(A):
    """Return the exponential of each matrix."""
    total = np.empty_like(A)
    for k in range(A.shape[0] if total.size else 0):
        put(total[k], exponential(A[k]))
    return total


@compiled
def each_det(A):
    """Return the determinant of each matrix."""
    total = np.empty(A.shape[0], A.dtype)
    for k in range(A.shape[0]):
        total[k] = determinant(lu_factored(A[k]))
    return total


@compiled
def each_logdet(A):
    """Return log |det X| of each matrix X."""
    total = np.empty(A.shape[0], A.real.dtype)
    for k in range(A.shape[0]):
        total[k] = log_determinant(lu_factored(A[k]))
    return total


@compiled
def each_eigh(A):
    """Return the eigenvalues and eigenvectors of each matrix."""
    values, vectors = np.empty(A.shape[:2], A.real.dtype), np.empty_like(A)
    for k in range(A.shape[0] if A.size else 0):
        own_values, own_vectors = np.linalg.eigh(A[k])
        put(values[k], own_values)
        put(vectors[k], own_vectors)
    return values, vectors


@compiled
def each_svd(A):
    """Return the left singular vectors of each matrix, its singular values and the right ones."""
    count, m, n = A.shape
    r = min(m, n)
    left, values = np.empty((count, m, r), A.dtype), np.empty((count, r), A.real.dtype)
    right = np.empty((count, r, n), A.dtype)
    for k in range(count if A.size else 0):
        U, s, V = np.linalg.svd(A[k], False)
        put(left[k], U)
        put(values[k], s)
        put(right[k], V)
    return left, values, right


@compiled
def each_qr(A):
    """Return the QR factors of each matrix."""
    count, m, n = A.shape
    r = min(m, n)
    Q, R = np.empty((count, m, r), A.dtype), np.empty((count, r, n), A.dtype)
    for k in range(count if A.size else 0):
        own_Q, own_R = np.linalg.qr(A[k])
        put(Q[k], own_Q)
        put(R[k], own_R)
    return Q, R


@compiled
def each_cofactors(A, order):
    """Return all entries of the derivative of det of some order at each matrix."""
    total = np.empty((A.shape[0], A.shape[1] ** (2 * order)), A.dtype)
    for k in range(A.shape[0]):
        put(total[k], cofactors(A[k], order))
    return total


@compiled
def each_solve(A, B):
    """Return inv(X) @ Y of each two matrices."""
    total = np.empty_like(B)
    for k in range(B.shape[0]):
        put(total[k], solved(lu_factored(A[k]), B[k], 0))
    return total


@compiled
def each_slogdet(A):
    """Return the sign of the determinant of each matrix, and log |det X|."""
    signs, logs = np.empty(A.shape[0], A.dtype), np.empty(A.shape[0], A.real.dtype)
    for k in range(A.shape[0]):
        found = signed_log_determinant(lu_factored(A[k]))
        signs[k], logs[k] = found[0], found[1].real
    return signs, logs


@compiled
def each_power(A, exponent):
    """Return a power of each matrix."""
    total = np.empty_like(A)
    for k in range(A.shape[0]):
        power = np.eye(A.shape[1], A.shape[1], 0, dtype)
        base = inverted(lu_factored(A[k])) if exponent < 0 else A[k]
        rest = abs(exponent)
        while rest:
            if rest % 2:
                power = np.dot(power, base)
            base, rest = np.dot(base, base), rest // 2
        put(total[k], power)
    return total


@compiled
def blocks(A, E):
    """Return the block matrices A, E; 0, A."""
    count, n, _ = A.shape
    total = np.zeros((count, 2 * n, 2 * n), A.dtype)
    for k, i, j in np.ndindex(A.shape):
        total[k, i, j] = total[k, n + i, n + j] = A[k, i, j]
        total[k, i, n + j] = E[k, i, j]
    return total


@compiled
def last_block(A, n):
    """Return the last n columns of the first n rows of each matrix."""
    return A[:, :n, A.shape[2] - n :].copy()
