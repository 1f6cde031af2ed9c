"""Functions of stacks of matrices for Numba, with one axis before the last two: functions that code
brings along."""

from __future__ import annotations

_EACH = '''
@compiled
def {name}(A):
    """{about} of each matrix."""
    count, n = A.shape[:2]
    total = np.empty(({shape}), {kind})
    for k in range(count if total.size else 0):
        {write}
    return total
'''
_SQUARES = "count, n, n"
_SHORTER = "count, min(n, A.shape[2])"


def _each(
    about: str, value: str, shape: str = _SQUARES, kind: str = "A.dtype"
) -> tuple[str, str, str, str]:
    return about, value, shape, kind


# What is computed of each matrix: its name, what it is, by what, the shape and type of all.
_FUNCTIONS = {
    "inv": _each("The inverse", "inverted(factored(A[k], 0))"),
    "det": _each("The determinant", "determinant(factored(A[k], 0))", "count,"),
    "logdet": _each("log |det X|", "log_determinant(factored(A[k], 0))", "count,", "A.real.dtype"),
    "cholesky": _each("Cholesky's lower factor", "np.linalg.cholesky(A[k])"),
    "pinv": _each("The pseudoinverse", "np.linalg.pinv(A[k])", "count, A.shape[2], n"),
    "eigvalsh": _each("The eigenvalues", "np.linalg.eigvalsh(A[k])", "count, n", "A.real.dtype"),
    "svdvals": _each(
        "The singular values", "np.linalg.svd(A[k], False)[1]", _SHORTER, "A.real.dtype"
    ),
    "qr_r": _each("The second of QR's factors", "np.linalg.qr(A[k])[1]", f"{_SHORTER}, A.shape[2]"),
    "cofactors": _each("The derivative of det", "matrix_cofactors(A[k])"),
    "adj": _each("The adjugate", "matrix_cofactors(A[k]).T"),
    "expm": _each("The exponential", "exponential(A[k])"),
}

NUMBA_STACKS: dict[str, str] = {
    "put": '''
@compiled
def put(target, value):
    """Writes entries: Numba takes seconds to compile that for slices."""
    for at in np.ndindex(target.shape):
        target[at] = value[at]
''',
    "matrix_cofactors": '''
@compiled
def matrix_cofactors(X):
    """The derivative of det, at a singular matrix too, by its singular values."""
    U, s, V = np.linalg.svd(X)
    n = s.size
    products = np.ones(n, X.dtype)
    for i in range(n):
        for j in range(n):
            if j != i:
                products[i] *= s[j]
    total = determinant(factored(np.ascontiguousarray(U), 0)) * np.conj(U) * products
    V = np.ascontiguousarray(V)
    return np.dot(determinant(factored(V, 0)) * total, np.conj(V))
''',
    "one_norm": '''
@compiled
def one_norm(A, times):
    """The largest sum of the sizes of a column's entries, of a power of the matrix of those sizes;
    as its logarithm to base 2."""
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
''',
    "exponential": '''
@compiled
def exponential(A):
    """The exponential of a matrix, by squaring that of a part of it, which is Pade's quotient of
    degree 13. A. Al-Mohy, N. Higham, "A New Scaling and Squaring Algorithm for the Matrix
    Exponential", SIAM J. Matrix Anal. Appl. 31, 2009."""
    A1, A2 = A.copy(), np.dot(A, A)
    A4 = np.dot(A2, A2)
    A6 = np.dot(A2, A4)
    size = max(one_norm(A4, 1) / 4, one_norm(A6, 1) / 6)
    if size == np.inf:
        return np.full(A.shape, np.nan, A.dtype)
    turns = max(0.0, np.ceil(size - np.log2(4.25)))
    if size > -np.inf:
        # What rounding would add to the first terms that the quotient leaves out.
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
    total = solved(factored(A1, 0), A2, 0)
    for _ in range(int(turns)):
        total = np.dot(total, total)
    return total
''',
    **{
        f"each_{name}": _EACH.format(
            name=f"each_{name}",
            about=about,
            write=f"total[k] = {value}" if shape == "count," else f"put(total[k], {value})",
            shape=shape,
            kind=kind,
        )
        for name, (about, value, shape, kind) in _FUNCTIONS.items()
    },
    "each_solve": '''
@compiled
def each_solve(A, B):
    """inv(X) @ Y of each two matrices."""
    total = np.empty_like(B)
    for k in range(B.shape[0]):
        put(total[k], solved(factored(A[k], 0), B[k], 0))
    return total
''',
    "each_slogdet": '''
@compiled
def each_slogdet(A):
    """The sign of the determinant of each matrix, and log |det X|."""
    signs, logs = np.empty(A.shape[0], A.dtype), np.empty(A.shape[0], A.real.dtype)
    for k in range(A.shape[0]):
        found = signed_log_determinant(factored(A[k], 0))
        signs[k], logs[k] = found[0], found[1].real
    return signs, logs
''',
    "each_eigh": '''
@compiled
def each_eigh(A):
    """The eigenvalues and eigenvectors of each symmetric matrix."""
    values, vectors = np.empty(A.shape[:2], A.real.dtype), np.empty_like(A)
    for k in range(A.shape[0] if A.size else 0):
        own, others = np.linalg.eigh(A[k])
        put(values[k], own)
        put(vectors[k], others)
    return values, vectors
''',
    "each_qr": '''
@compiled
def each_qr(A):
    """QR's factors of each matrix."""
    count, m, n = A.shape
    Q, R = np.empty((count, m, min(m, n)), A.dtype), np.empty((count, min(m, n), n), A.dtype)
    for k in range(count if A.size else 0):
        first, second = np.linalg.qr(A[k])
        put(Q[k], first)
        put(R[k], second)
    return Q, R
''',
    "each_svd": '''
@compiled
def each_svd(A):
    """The singular values of each matrix, between the vectors on the left and on the right."""
    count, m, n = A.shape
    r = min(m, n)
    U, V = np.empty((count, m, r), A.dtype), np.empty((count, r, n), A.dtype)
    s = np.empty((count, r), A.real.dtype)
    for k in range(count if A.size else 0):
        left, own, right = np.linalg.svd(A[k], False)
        put(U[k], left)
        put(s[k], own)
        put(V[k], right)
    return U, s, V
''',
    "each_power": '''
@compiled
def each_power(A, exponent):
    """A power of each matrix."""
    total = np.empty_like(A)
    for k in range(A.shape[0]):
        power = np.eye(A.shape[1], A.shape[1], 0, dtype)
        base = inverted(factored(A[k], 0)) if exponent < 0 else A[k]
        rest = abs(exponent)
        while rest:
            if rest % 2:
                power = np.dot(power, base)
            base, rest = np.dot(base, base), rest // 2
        put(total[k], power)
    return total
''',
    "blocks": '''
@compiled
def blocks(A, E):
    """The block matrices A, E; 0, A."""
    count, n, _ = A.shape
    total = np.zeros((count, 2 * n, 2 * n), A.dtype)
    for k, i, j in np.ndindex(A.shape):
        total[k, i, j] = total[k, n + i, n + j] = A[k, i, j]
        total[k, i, n + j] = E[k, i, j]
    return total
''',
    "last_block": '''
@compiled
def last_block(A, n):
    """The last n columns of the first n rows of each matrix."""
    return A[:, :n, A.shape[2] - n :].copy()
''',
}
