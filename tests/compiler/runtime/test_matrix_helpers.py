"""Helper functions of matrices, against NumPy's and SciPy's."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import scipy
from numpy.testing import assert_allclose, assert_array_equal
from runtime_helpers import compiled, helper, raw

import sympy_einsum.compiler.runtime.numba_stacks as numba_stacks
from sympy_einsum.compiler.backends import BACKENDS

RANDOM = np.random.default_rng(4)


def matrix(n, kind=float):
    """A matrix whose rows LU exchanges."""
    X = RANDOM.standard_normal((n, n))
    return X + 1j * RANDOM.standard_normal((n, n)) if kind is complex else X


def definite(n, kind=float):
    X = matrix(n, kind)
    return X @ X.conj().T + np.eye(n)


# --- factors --------------------------------------------------------------------------------------

SIZES = pytest.mark.parametrize("n", [1, 2, 5, 70, 200])


@SIZES
@pytest.mark.parametrize("is_definite", [False, True])
def test_factors_of_numpy(n, is_definite):
    X, B = definite(n) if is_definite else matrix(n), matrix(n)
    factors = raw("numpy_factors.factored")(X, is_definite)
    assert (factors[1] is None) == is_definite
    assert not factors[2]
    names = (
        *("numpy_factors.solved", "numpy_factors.inverted", "numpy_factors.log_determinant"),
        *("numpy_factors.signed_log_determinant", "numpy_factors.determinant"),
    )
    check_factors(names, factors, X, B)
    trace = raw("numpy_factors.trace_of_inverse")(factors)
    assert_allclose(trace, np.linalg.inv(X).trace(), rtol=1e-8)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 70])
@pytest.mark.parametrize("is_definite", [False, True])
def test_factors_of_cupy(n, is_definite):
    X, B = definite(n) if is_definite else matrix(n), matrix(n)
    factors = raw("cupy_factors.factored")(X, is_definite)
    assert (factors[1] is None) == is_definite
    names = (
        *("cupy_factors.solved", "cupy_factors.inverted", "cupy_factors.log_determinant"),
        *("cupy_factors.signed_log_determinant", "cupy_factors.determinant"),
    )
    check_factors(names, factors, X, B)
    single = raw("cupy_factors.factored")(X.astype(np.float32), is_definite)
    assert raw("cupy_factors.solved")(single, B).dtype == np.float64
    assert raw("cupy_factors.factored")(np.array([[2, 1], [1, 3]]))[0].dtype == np.float64


@pytest.mark.parametrize("kind", [np.float32, np.complex64, np.complex128])
def test_factors_of_other_types(kind):
    X = matrix(4, complex if np.issubdtype(kind, np.complexfloating) else float).astype(kind)
    b = np.arange(4, dtype=kind)
    factors = raw("numpy_factors.factored")(X)
    assert factors[0].dtype == kind
    solution = raw("numpy_factors.solved")(factors, b)
    assert solution.dtype == kind
    assert_allclose(solution, np.linalg.solve(X, b), rtol=1e-3)
    with pytest.raises(TypeError, match="float16 is unsupported in linalg"):
        raw("numpy_factors.factored")(X.real.astype(np.float16))


def check_factors(names, factors, X, B):
    """Compute determinants, inverses and products from the factors of a matrix."""
    solved, inverted, log_determinant, signed_log_determinant, determinant = map(helper, names)
    sign, logarithm = np.linalg.slogdet(X)
    close = {"rtol": 1e-7, "atol": 1e-9}
    for transposed in (False, True):
        own = X.T if transposed else X
        assert_allclose(solved(factors, B, transposed), np.linalg.solve(own, B), **close)
    assert_allclose(inverted(factors), np.linalg.inv(X), **close)
    assert_allclose(log_determinant(factors), logarithm)
    assert_allclose(signed_log_determinant(factors), [sign, logarithm])
    if abs(logarithm) < 300:
        assert_allclose(determinant(factors), np.linalg.det(X), rtol=1e-9)


@SIZES
@pytest.mark.parametrize("is_definite", [False, True])
def test_factors_of_jax(n, is_definite):
    X, B = definite(n) if is_definite else matrix(n), matrix(n)
    factors = helper("jax_helpers.factored")(X, is_definite)
    names = (
        *("jax_helpers.solved", "jax_helpers.inverted", "jax_helpers.log_determinant"),
        *("jax_helpers.signed_log_determinant", "jax_helpers.determinant"),
    )
    check_factors(names, factors, X, B)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 70])
@pytest.mark.parametrize("is_definite", [False, True])
def test_factors_of_torch(n, is_definite):
    X, B = definite(n) if is_definite else matrix(n), matrix(n)
    factors = helper("torch_helpers.factored")(X, is_definite)
    assert (factors[1] is None) == is_definite
    names = (
        *("torch_helpers.solved", "torch_helpers.inverted", "torch_helpers.log_determinant"),
        *("torch_helpers.signed_log_determinant", "torch_helpers.determinant"),
    )
    check_factors(names, factors, X, B)
    assert_allclose(helper(names[0])(factors, X.sum(axis=1)), np.ones(n), rtol=1e-7)
    Z = matrix(4, complex)
    factors = helper("torch_helpers.factored")(Z)
    check_factors(names, factors, Z, matrix(4))
    assert helper("torch_helpers.pivot_sign")(np.array([2, 2, 3])) == -1
    whole = helper("torch_helpers.factored")(np.array([[2, 0], [0, 4]]))
    assert_allclose(helper(names[1])(whole), [[0.5, 0], [0, 0.25]])


@pytest.mark.parametrize("n", [1, 3, 150])
def test_factors_of_symmetric_matrices(n):
    """Cholesky's for those that turn out to be definite, LU's for others."""
    positive = definite(n)
    other = positive - 2 * np.linalg.eigvalsh(positive).mean() * np.eye(n)
    for X, is_cholesky in ((positive, True), (other, False)):
        factors = raw("numpy_factors.factored")(X, symmetric=True)
        assert (factors[1] is None) == is_cholesky
        assert not factors[3]
        in_numba = raw("numba_factors.factored")(X, 2)
        assert (in_numba[1].size == 0) == is_cholesky
        assert not in_numba[3]
        for module, found in (("numpy_factors", factors), ("numba_factors", in_numba)):
            assert_allclose(raw(f"{module}.inverted")(found) @ X, np.eye(n), atol=1e-7)
            expected = np.linalg.slogdet(X)
            assert_allclose(raw(f"{module}.signed_log_determinant")(found), expected, rtol=1e-7)
    assert raw("numpy_factors.factored")(np.zeros((2, 2)), symmetric=True)[2]
    asymmetric = np.array([[2.0, 1j], [1j, 3.0]])
    assert raw("numpy_factors.factored")(asymmetric, symmetric=True)[1] is not None


def test_a_matrix_said_to_be_definite_that_is_not():
    X = np.array([[0.0, 2.0], [2.0, 0.0]])
    for module in ("numpy_factors", "numba_factors"):
        factors = raw(f"{module}.factored")(X, True)
        assert factors[3]
        with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
            raw(f"{module}.log_determinant")(factors)
        assert_allclose(raw(f"{module}.determinant")(factors), -4)
    assert np.isnan(helper("jax_helpers.factored")(X, True)[0]).any()


def test_singular_matrices():
    X = np.ones((3, 3))
    for module in ("numpy_factors", "numba_factors"):
        factors = raw(f"{module}.{'lu_' * (module == 'numba_factors')}factored")(X)
        assert factors[2]
        assert raw(f"{module}.determinant")(factors) == 0
        with np.errstate(divide="ignore"):
            assert raw(f"{module}.signed_log_determinant")(factors)[1] == -np.inf
        for function, *more in (("inverted",), ("solved", X, False)):
            with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
                raw(f"{module}.{function}")(factors, *more)


@pytest.mark.parametrize("n", [1, 60, 150])
def test_parts_of_factors(n):
    X = definite(n)
    L = np.linalg.cholesky(X)
    assert_allclose(raw("numpy_factors.cholesky_factor")(X), L, atol=1e-10)
    assert raw("numpy_factors.cholesky_factor")(-X) is None
    assert_allclose(raw("numpy_factors.lower_inverse")(L), np.linalg.inv(L), atol=1e-10)
    assert_allclose(raw("numpy_factors.lower_gram")(L), L.T @ L, rtol=1e-10, atol=1e-10)
    B = matrix(n)
    for solve, triangle in (
        (raw("numpy_factors.lower_solve"), L),
        (raw("numpy_factors.upper_solve"), L.T.copy()),
    ):
        solution = B.copy()
        solve(triangle, solution)
        assert_allclose(solution, np.linalg.solve(triangle, B), atol=1e-9)
    Y = matrix(n)
    lu, exchanged, is_singular = raw("numpy_factors.lu_factors")(Y)
    order = raw("numpy_factors.row_order")(exchanged, n)
    lower = raw("numpy_factors.unit_lower")(lu)
    assert_array_equal(lower, np.tril(lu, -1) + np.eye(n))
    assert_allclose(lower @ np.triu(lu), Y[order], atol=1e-12)
    assert not is_singular


def test_lapacks_functions_by_type():
    find = raw("numpy_factors.lapack_function")
    for char, letter in zip("fdFD", "sdcz", strict=True):
        assert find("getrf", np.zeros(1, char)) is getattr(scipy.linalg.lapack, f"{letter}getrf")


def test_signs_of_exchanges():
    for order in permutations(range(3)):
        # The exchanges that sort an order: entry k with the place where k stands.
        exchanged, rest = [], [*order]
        for k in range(3):
            exchanged.append(rest.index(k))
            rest[k], rest[exchanged[k]] = rest[exchanged[k]], rest[k]
        sign = np.linalg.det(np.eye(3)[list(order)])
        assert_allclose(helper("jax_helpers.pivot_sign")(np.array(exchanged)), sign)


@pytest.mark.parametrize("shape", [(3, 4), (40, 40), (2, 1)])
def test_products_of_transposed_matrices(shape):
    X, Y = RANDOM.standard_normal(shape), RANDOM.standard_normal((shape[0], 50))
    product = helper("jax_helpers.product_of_transposed")
    assert_allclose(product(X, Y), X.T @ Y, atol=1e-12)
    assert_allclose(product(X, Y[:, 0]), X.T @ Y[:, 0], atol=1e-12)


@pytest.mark.parametrize("is_definite", [0, 1])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_factors_of_numba(n, is_definite):
    X, B = definite(n) if is_definite else matrix(n), matrix(n)
    lu_factored, factored = raw("numba_factors.lu_factored"), raw("numba_factors.factored")
    factors = factored(X, 1) if is_definite else lu_factored(X)
    assert factors[1].size == (0 if is_definite else n)
    solved, b = raw("numba_factors.solved"), RANDOM.standard_normal(n)
    for transposed in (False, True):
        own = X.T if transposed else X
        assert_allclose(solved(factors, b, transposed), np.linalg.solve(own, b), atol=1e-9)
    names = (
        *("numba_factors.solved", "numba_factors.inverted", "numba_factors.log_determinant"),
        *("numba_factors.signed_log_determinant", "numba_factors.determinant"),
    )
    check_factors(names, factors, X, B)


@pytest.mark.slow
def test_products_of_numba():
    A, x = RANDOM.standard_normal((3, 4)), RANDOM.standard_normal(4)
    product, by_vector = raw("numba_factors.product"), raw("numba_factors.matrix_by_vector")
    for left, right in ((0, 0), (0, 1), (1, 0), (1, 1)):
        B = RANDOM.standard_normal((4, 2) if not left else (3, 2))
        expected = (A.T if left else A) @ B
        own = np.ascontiguousarray(B.T) if right else B
        assert_allclose(product(A, own, left, right), expected, atol=1e-14)
    assert_array_equal(product(np.empty((2, 0)), np.empty((0, 3)), 0, 0), np.zeros((2, 3)))
    assert_allclose(by_vector(A, x, 0), A @ x)
    assert_allclose(by_vector(A, x[:3], 1), x[:3] @ A)
    assert_array_equal(by_vector(A[:, :0].copy(), x[:0], 0), np.zeros(3))
    gram = raw("numba_factors.gram")
    assert_allclose(gram(A, 0), A @ A.T, atol=1e-14)
    assert_allclose(gram(A, 1), A.T @ A, atol=1e-14)
    assert_array_equal(gram(A[:, :0].copy(), 0), np.zeros((3, 3)))
    with_upper = raw("numba_factors.with_upper")
    X = RANDOM.standard_normal((40, 40))
    assert_array_equal(with_upper(X.copy()), np.tril(X) + np.tril(X, -1).T)


@pytest.mark.slow
def test_triangles_and_exchanges_of_numba():
    T, x = np.tril(matrix(4)) + 4 * np.eye(4), RANDOM.standard_normal((4, 1))
    by_triangle = raw("numba_factors.by_triangle")
    for B in (x, RANDOM.standard_normal((4, 3))):
        for lower, transposed, unit in ((1, 0, 0), (1, 1, 0), (1, 0, 1), (0, 0, 0), (0, 1, 0)):
            triangle = np.tril(T) if lower else np.triu(T.T)
            own = triangle - np.diag(np.diag(triangle)) + np.eye(4) if unit else triangle
            solution = B.copy()
            by_triangle(np.ascontiguousarray(triangle), solution, lower, transposed, unit)
            solved = np.linalg.solve(own.T if transposed else own, B)
            assert_allclose(solution, solved, atol=1e-10, err_msg=f"{lower, transposed, unit}")
    X = np.arange(6.0).reshape(3, 2)
    exchanged = np.array([2, 3, 3], np.int32)
    raw("numba_factors.exchange_rows")(X, exchanged, False)
    assert_array_equal(X, [[2, 3], [4, 5], [0, 1]])
    raw("numba_factors.exchange_rows")(X, exchanged, True)
    assert_array_equal(X, np.arange(6.0).reshape(3, 2))


def test_addresses_in_compiled_code():
    numba = pytest.importorskip("numba")
    swapped = raw("numba_factors.by_address")("scipy.linalg.cython_blas", "swap")

    @numba.njit
    def swap(x, y):
        swapped(x.size, x, 1, y, 1)

    x, y = np.arange(3.0), np.ones(3)
    swap(x, y)
    assert_array_equal([x, y], [np.ones(3), np.arange(3)])
    with pytest.raises(numba.core.errors.TypingError, match="isn't in C order"):
        swap(np.zeros((3, 3)).T[:2], np.zeros((2, 3)))


def test_memory_in_compiled_code():
    numba = pytest.importorskip("numba")
    empty, cleared = raw("numba_memory.empty"), raw("numba_memory.cleared")
    copied, reshaped = raw("numba_memory.copied"), raw("numba_memory.reshaped")
    store_row = raw("numba_memory.store_row")

    @numba.njit
    def made(shape):
        return empty(shape, np.int32)

    @numba.njit
    def entries(X, shape):
        return copied(X), reshaped(X, shape), cleared(copied(X))

    @numba.njit
    def with_row(X, place, row):
        store_row(X, place, row)
        return X

    for shape in ((), (0,), (3,), (2, 0), (2, 3, 4)):
        new = made(shape)
        assert (new.shape, new.dtype) == (shape, np.int32)
        assert new.flags.c_contiguous
        assert new.flags.writeable
        X = np.arange(float(np.prod(shape))).reshape(shape)
        copy, other, zeros = entries(X, (1, X.size))
        assert_array_equal(copy, X)
        assert not np.may_share_memory(copy, X)
        assert_array_equal(other, X.reshape(1, X.size))
        assert_array_equal(zeros, np.zeros(shape))
        rows = np.stack([X, X + 1])
        assert_array_equal(with_row(rows.copy(), 1, X), [X, X])
    for shape in ((2**40, 2**40), (2**30, 2**31)):
        with pytest.raises(MemoryError):
            made(shape)
    with pytest.raises(numba.core.errors.TypingError, match="of another type"):
        with_row(np.zeros((2, 2)), 0, np.zeros(2, int))
    with pytest.raises(numba.core.errors.TypingError, match="isn't in C order"):
        entries(np.zeros((3, 3)).T, (9,))


class Counting:
    """A builder of code that computes with Python's integers."""

    def smul_with_overflow(self, a, b):
        return a * b, a * b >= 2**63

    def extract_value(self, pair, place):
        return pair[place]

    def or_(self, first, second):
        return first is True or second


def test_types_and_strides_of_compiled_arrays():
    numba = pytest.importorskip("numba")
    require, array = raw("numba_memory.require_c_order"), numba.types.Array
    require(array(numba.float64, 2, "C"), numba.int64)
    for layout in "FA":
        with pytest.raises(numba.core.errors.TypingError, match="isn't in C order"):
            require(numba.int64, array(numba.float64, 2, layout))
    strides = raw("numba_memory.strides_in_c_order")
    assert strides(Counting(), 8, [2, 3, 4]) == ([96, 32, 8], 192, False)
    assert strides(Counting(), 8, [2**40, 2**40])[2]
    # One function makes all new arrays.
    support = BACKENDS["numba"].support
    callers = {own for own in support if "allocated" in BACKENDS["numba"].helper(own).names}
    assert callers == {"empty", "copied"}
    assert raw("numba_memory.allocated")


# --- derivatives of determinants ------------------------------------------------------------------


def derivative_of_det(X, order):
    """By permutations: the derivative by entries [i, j], [k, l], ... of the sum of all products."""
    n = len(X)
    total = np.zeros((n,) * (2 * order), X.dtype)
    for rows in permutations(range(n), order):
        for sigma in permutations(range(n)):
            sign = np.linalg.det(np.eye(n)[list(sigma)])
            rest = [i for i in range(n) if i not in rows]
            place = [index for i in rows for index in (i, sigma[i])]
            total[tuple(place)] += sign * np.prod([X[i, sigma[i]] for i in rest])
    return total


@pytest.fixture
def with_factors(monkeypatch):
    """The functions of stacks call compiled functions of factors."""
    for name in ("determinant", "lu_factored", "inverted", "log_determinant", "solved"):
        monkeypatch.setattr(numba_stacks, name, compiled("float64")[name])
    name = "signed_log_determinant"
    monkeypatch.setattr(numba_stacks, name, compiled("float64")[name])


MATRICES = {
    "ordinary": matrix(3),
    "of rank 1": np.outer([1.0, 2.0, -1.0], [3.0, 0.0, 1.0]),
    "zero": np.zeros((3, 3)),
    "one entry": np.array([[2.0]]),
    "two rows": matrix(2),
}
EACH = pytest.mark.parametrize("X", MATRICES.values(), ids=MATRICES)


@EACH
@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_of_determinants(X, order, with_factors):
    n = len(X)
    if order > n:
        return
    expected = derivative_of_det(X, order)
    for name in ("array_helpers.cofactors", "numba_stacks.cofactors"):
        found = np.reshape(raw(name)(X, order), expected.shape)
        assert_allclose(found, expected, atol=1e-12)
    if order == 1:
        found = raw("numba_stacks.matrix_cofactors")(X)
        assert_allclose(found, expected, atol=1e-12)
        adjugate = raw("numba_stacks.each_adj")(X[None])
        assert_allclose(adjugate[0], expected.T, atol=1e-12)
    each = raw("numba_stacks.each_cofactors")(np.stack([X, X]), order)
    assert_allclose(each[1], expected.ravel(), atol=1e-12)


@EACH
def test_derivatives_of_determinants_in_directions(X, with_factors):
    n = len(X)
    D, E = matrix(n), matrix(n)
    second = np.einsum("ijkl,kl->ij", derivative_of_det(X, 2), D) if n > 1 else np.zeros((1, 1))
    assert_allclose(raw("array_helpers.cofactors")(X, 2, D), second, atol=1e-12)
    assert_allclose(raw("numba_stacks.cofactors_along")(X, D), second, atol=1e-12)
    third = np.zeros((n, n))
    if n > 2:
        third = np.einsum("ijklmn,kl,mn->ij", derivative_of_det(X, 3), D, E)
    assert_allclose(raw("array_helpers.cofactors")(X, 3, D, E), third, atol=1e-12)
    assert_allclose(raw("numba_stacks.cofactors_along_two")(X, D, E), third, atol=1e-12)


def test_derivatives_of_complex_determinants():
    X = matrix(3, complex)
    stack = np.stack([X, np.eye(3)])
    found = raw("array_helpers.cofactors")(stack, 1)
    assert_allclose(found[0], np.linalg.det(X) * np.linalg.inv(X).T)
    assert_allclose(found[1], np.eye(3), atol=1e-15)


def test_parts_of_derivatives_of_determinants(with_factors):
    s = np.array([2.0, 3.0, 5.0])
    without = raw("numba_stacks.products_without")
    assert_array_equal(without(s, -1, -1), [15, 10, 6])
    assert_array_equal(without(s, 1, 1), [5, 0, 2])
    assert_array_equal(without(s, 0, 2), [0, 1, 0])
    assert without(s[:0], -1, -1).size == 0
    X = matrix(3)
    U, values, V = raw("numba_stacks.singular_bases")(X)
    assert_allclose(U @ np.diag(values) @ V, X)
    assert [own.size for own in raw("numba_stacks.singular_bases")(X[:0, :0])] == [0, 0, 0]
    core = raw("numba_stacks.out_of_bases")(U, np.diag(without(values, -1, -1)), V)
    assert_allclose(core, np.linalg.det(X) * np.linalg.inv(X).T)
    target = np.zeros((2, 2))
    raw("numba_stacks.put")(target, np.arange(4.0).reshape(2, 2).T)
    assert_array_equal(target, [[0, 2], [1, 3]])


# --- functions of each matrix ---------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 4])
def test_functions_of_each_matrix(n, with_factors):
    A = np.stack([definite(n), definite(n)]) if n else np.empty((2, 0, 0))
    B, wide = RANDOM.standard_normal((2, n, 3)), RANDOM.standard_normal((2, n, n + 1))
    linalg = np.linalg
    assert_allclose(raw("numba_stacks.each_inv")(A), linalg.inv(A), atol=1e-12)
    assert_allclose(raw("numba_stacks.each_solve")(A, B), linalg.solve(A, B), atol=1e-12)
    assert_allclose(raw("numba_stacks.each_det")(A), linalg.det(A))
    assert_allclose(raw("numba_stacks.each_logdet")(A), linalg.slogdet(A)[1])
    assert_allclose(raw("numba_stacks.each_slogdet")(A), linalg.slogdet(A))
    assert_allclose(raw("numba_stacks.each_cholesky")(A), linalg.cholesky(A), atol=1e-12)
    assert_allclose(raw("numba_stacks.each_eigvalsh")(A), linalg.eigvalsh(A), atol=1e-12)
    values, vectors = raw("numba_stacks.each_eigh")(A)
    assert_allclose(vectors * values[:, None] @ vectors.mT, A, atol=1e-12)
    for exponent in (-2, 0, 1, 5):
        found = raw("numba_stacks.each_power")(A, exponent)
        assert_allclose(found, linalg.matrix_power(A, exponent), rtol=1e-9)
    if n:
        assert_allclose(raw("numba_stacks.each_expm")(A), scipy.linalg.expm(A), rtol=1e-11)
        assert_allclose(raw("numba_stacks.each_pinv")(wide), linalg.pinv(wide), atol=1e-12)
        singular = linalg.svd(wide, compute_uv=False)
        assert_allclose(raw("numba_stacks.each_svdvals")(wide), singular)
        left, values, right = raw("numba_stacks.each_svd")(wide)
        assert_allclose(left * values[:, None] @ right, wide, atol=1e-12)
        Q, R = raw("numba_stacks.each_qr")(wide)
        assert_allclose(Q @ R, wide, atol=1e-12)
        assert_array_equal(raw("numba_stacks.each_qr_r")(wide), R)


def test_block_matrices():
    A, E = RANDOM.standard_normal((2, 3, 2, 2))
    found = raw("numba_stacks.blocks")(A, E)
    assert_array_equal(found, np.block([[A, E], [np.zeros_like(A), A]]))
    assert_array_equal(raw("numba_stacks.last_block")(found, 2), E)


@pytest.mark.parametrize("scale", [0.0, 1e-3, 1.0, 50.0])
def test_exponentials_of_matrices(scale, with_factors):
    X = scale * matrix(3)
    expected = scipy.linalg.expm(X)
    assert_allclose(raw("numba_stacks.exponential")(X), expected, rtol=1e-9, atol=1e-300)
    found = raw("cupy_helpers.matrix_exp")(np.stack([[X, -X]]))
    assert_allclose(found[0, 0], expected, rtol=1e-9)
    with np.errstate(invalid="ignore"):
        assert np.isnan(raw("numba_stacks.exponential")(np.full((2, 2), np.inf))).all()


@pytest.mark.parametrize("times", [1, 3])
def test_norms_of_powers(times):
    X = matrix(4)
    expected = np.linalg.norm(np.linalg.matrix_power(abs(X), times), 1)
    assert_allclose(raw("numba_stacks.one_norm")(X, times), np.log2(expected))
    assert raw("numba_stacks.one_norm")(np.zeros((2, 2)), times) == -np.inf


def test_products_of_stacks_of_matrices():
    pytest.importorskip("numba")
    A, B = RANDOM.standard_normal((3, 2, 4)), RANDOM.standard_normal((1, 4, 2))
    matmul = raw("numba_factors.matmul")
    for first, second in ((A, B), (B, A), (A, A.transpose(0, 2, 1).copy()), (A[:0], B), (B, A[:0])):
        assert_allclose(matmul(first, second), first @ second, atol=1e-14)
    assert_array_equal(matmul(A[:, :, :0].copy(), B[:, :0].copy()), np.zeros((3, 2, 2)))
    for first, second in ((A[:, :0].copy(), B), (A, B[:, :, :0].copy())):
        assert matmul(first, second).shape == (first @ second).shape


def test_derivatives_of_functions_of_matrices():
    """Those of X**3 in directions are sums over the orders of factors."""
    X, D, E = matrix(3), matrix(3), matrix(3)
    along, cube = raw("array_helpers.derivative_along"), lambda M: M @ M @ M
    assert_allclose(along(cube, X), cube(X))
    assert_allclose(along(cube, X, D), D @ X @ X + X @ D @ X + X @ X @ D)
    orders = sum(P @ Q @ R for P, Q, R in permutations([X, D, E]))
    assert_allclose(along(cube, X, D, E), orders)


def test_types_of_torch():
    torch = pytest.importorskip("torch")
    floating_type = raw("torch_helpers.floating_type")
    assert floating_type(torch.int64) == torch.get_default_dtype()
    for kind in (torch.float32, torch.float64, torch.complex64):
        assert floating_type(kind) == kind


def test_systems_of_torch():
    whole = np.array([[2, 0], [0, 4]])
    assert_allclose(helper("torch_helpers.solve")(whole, np.array([1.0, 2.0])), [0.5, 0.5])


# --- Dask -----------------------------------------------------------------------------------------


def test_matrices_of_dask_become_one_chunk():
    da = pytest.importorskip("dask.array")
    A = da.from_array(definite(4), chunks=2)
    B = da.from_array(RANDOM.standard_normal((4, 3)), chunks=2)
    whole = raw("dask_helpers.in_one_chunk")
    assert_allclose(whole(np.linalg.inv, A, 2).compute(), np.linalg.inv(A))
    assert_allclose(whole(np.linalg.det, A, 0).compute(), np.linalg.det(A.compute()))
    both = whole(lambda X: np.stack(np.linalg.slogdet(X)), A, 1)
    assert_allclose(both.compute(), np.stack(np.linalg.slogdet(A.compute())))
    second = whole(lambda X: np.multiply.outer(X, X), A, 4)
    assert second.shape == (4, 4, 4, 4)
    assert_allclose(second.compute(), np.multiply.outer(A.compute(), A.compute()))
    for right in (B, B[:, 0]):
        found = raw("dask_helpers.solved")(A, right)
        assert_allclose(found.compute(), np.linalg.solve(A.compute(), right.compute()))


def test_each_matrix_of_a_stack_of_dask():
    da = pytest.importorskip("dask.array")
    stack = np.stack([definite(3) for _ in range(4)])
    A = da.from_array(stack, chunks=(2, 2, 2))
    each, part = raw("dask_helpers.of_each_matrix"), raw("dask_helpers.part")
    assert_allclose(each(lambda *X: np.linalg.det(X[0]), (A,), ()).compute(), np.linalg.det(stack))
    product = each(lambda *X: X[0] @ X[1], (A, A), (3, 3))
    assert_allclose(product.compute(), stack @ stack)
    found = raw("dask_helpers.decomposed")(lambda *X: np.linalg.eigh(X[0]), A)
    values, vectors = (
        part(found, place, tail).compute() for place, tail in ((0, (3,)), (1, (3, 3)))
    )
    assert_allclose(vectors * values[:, None] @ vectors.mT, stack)
    pairs = [A, (0, 1, 2)]
    norms = raw("dask_helpers.in_blocks")(lambda X: abs(X).sum((1, 2)), (0,), (), pairs, float)
    assert_allclose(norms.compute(), abs(stack).sum((1, 2)))


def test_matrices_are_assembled():
    assembled = raw("numpy_arrays.assembled")
    a, b, c = np.arange(2.0), np.arange(3.0) + 1, np.arange(6.0).reshape(2, 3)
    blocks = [
        [
            ((a[:, None], b), (2, 3), (0, 2), [(1, 0), (0, 1)]),
            ((c,), (2, 3), (0, 2), [(1, 0), (0, 1)]),
        ],
        [((np.int64(7),), (2,), (1, 1), [(-1, -1)]), ((b, 2.0), (0,), (0, 0), [(1, 1)])],
    ]
    expected = np.zeros((5, 5))
    expected[:2, 2:] = np.outer(a, b) + c
    expected[2:, :2] = expected[:2, 2:].T
    expected[:2, :2] = 7 * np.eye(2)
    for tile in (1, 2, 256):
        np.testing.assert_array_equal(assembled((5, 5), blocks, [(0, 2, 2, 3)], tile), expected)
    assert assembled((2, 3), [], []).shape == (2, 3)
    assert assembled((0, 0), [[((a,), (0,), (0, 0), [(1, 1)])]], []).shape == (0, 0)
