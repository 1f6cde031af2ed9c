"""Numba: matrices that are factored once, and functions of stacks of matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm
from sympy import symbols

import sympy_einsum as se
from benchmarks.cases import CASES

pytest.importorskip("numba")
k, m, n = symbols("k m n", integer=True, positive=True)
K, P = se.TensorSymbol("K", (n, n)), se.TensorSymbol("P", (n, n), psd=True)
x, Y = se.TensorSymbol("x", n), se.TensorSymbol("Y", (n, k))
S, T = se.TensorSymbol("S", (m, n, n)), se.TensorSymbol("T", (m, n, k))
OF_K = [se.inv(K), se.inv(K).T @ x, se.det(K), se.logdet(K)]
OF_P = [se.inv(P) @ x, se.inv(P) @ Y, se.logdet(P)]


def compared(function, expected, values, rtol=1e-9):
    for found, own in zip(function(*values), expected, strict=True):
        np.testing.assert_allclose(found, own, rtol=rtol, atol=rtol)


def test_products():
    A, B, C = [
        se.TensorSymbol(name, shape)
        for name, shape in zip("ABC", [(m, n), (n, k), (n, m)], strict=True)
    ]
    z = se.TensorSymbol("z", m)
    exprs = [A @ B, C.T @ B, B.T @ C, B.T @ A.T, A @ x, C.T @ x, z @ A, A @ A.T, A.T @ A]
    function = se.lambdify([A, B, C, x, z], exprs, "numba")
    rng = np.random.default_rng(1)
    for kind, rtol in ((np.float32, 1e-4), (np.float64, 1e-12), (np.complex128, 1e-12)):
        for M, N, L in ((3, 4, 5), (1, 1, 1), (0, 4, 5), (3, 0, 5), (3, 4, 0), (33, 70, 5)):
            shapes = (M, N), (N, L), (N, M), N, M
            values = [rng.standard_normal(own).astype(kind) for own in shapes]
            if kind is np.complex128:
                values = [value * (1 + 2j) for value in values]
            a, b, c, d, e = values
            products = [a @ b, c.T @ b, b.T @ c, b.T @ a.T, a @ d, c.T @ d, e @ a, a @ a.T, a.T @ a]
            compared(function, products, values, rtol)


def test_arrays_in_other_orders_are_transposed():
    """A step of the Kalman filter has such an array."""
    (case,) = [case for case in CASES if case.name.startswith("Kalman")]
    function = se.lambdify(*case.build(), "numba")
    assert "np.transpose" not in function.source
    values = case.data(4, 3)
    compared(function, case.hand(*values), values)


def test_each_matrix_is_factored_once():
    source = se.lambdify([K, P, x, Y], [*OF_K, *OF_P], "numba").source
    assert source[source.index("def compute(") :].count("factored(") == 2


def test_factors():
    function = se.lambdify([K, P, x, Y], [*OF_K, *OF_P], "numba")
    rng = np.random.default_rng(0)
    # Beyond 64 LAPACK works in blocks.
    for size, columns in ((0, 2), (1, 1), (3, 0), (5, 2), (70, 3)):
        K0, y, Y0 = (rng.standard_normal(s) for s in ((size, size), size, (size, columns)))
        P0, inverse = K0 @ K0.T + np.eye(size), np.linalg.inv(K0)
        logarithms = [np.linalg.slogdet(own)[1] for own in (K0, P0)]
        of_K = [inverse, inverse.T @ y, np.linalg.det(K0), logarithms[0]]
        of_P = [np.linalg.solve(P0, y), np.linalg.solve(P0, Y0), logarithms[1]]
        compared(function, of_K + of_P, (K0, P0, y, Y0))
        turned = (K0.T, P0, y[::-1], np.asfortranarray(Y0))
        compared(function, se.lambdify([K, P, x, Y], [*OF_K, *OF_P])(*turned), turned)
    eye, one = np.eye(2), np.ones(2)
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        function(np.ones((2, 2)), eye, one, eye)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        function(eye, -eye, one, eye)


def test_general_factors_in_single_precision():
    function = se.lambdify([K, Y], [se.inv(K) @ Y, se.inv(K.T) @ Y], "numba")
    rng = np.random.default_rng(1)
    K0, Y0 = rng.standard_normal((6, 6)), rng.standard_normal((6, 4))
    single = function(K0.astype(np.float32), Y0.astype(np.float32))
    for found, own in zip(single, [K0, K0.T], strict=True):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, np.linalg.solve(own, Y0), rtol=1e-2, atol=1e-3)


def test_stacks():
    function = se.lambdify([S, T], [se.det(S), se.inv(S) @ T, se.svdvals(S)], "numba")
    rng = np.random.default_rng(2)
    for count, size, columns in ((3, 4, 2), (0, 2, 1), (2, 1, 1), (2, 0, 3)):
        s, right = rng.standard_normal((count, size, size)), np.ones((count, size, columns))
        singular = np.linalg.svd(s, compute_uv=False)
        compared(function, [np.linalg.det(s), np.linalg.solve(s, right), singular], (s, right))
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        function(np.zeros((1, 2, 2)), np.ones((1, 2, 1)))


def test_exponential():
    power = symbols("power", integer=True)
    exprs = [se.expm(K), se.gradient(se.expm(K).sum(), K), se.matrix_power(K, power)]
    function = se.lambdify([K, power], exprs, "numba")
    rng = np.random.default_rng(3)
    # Of the last ones the norm is large, but not that of their powers; or the powers vanish.
    others = [-30 * np.eye(3), 1e-9 * np.ones((2, 2)), [[1, 1e8], [0, -1]], [[0, 1e9], [0, 0]]]
    for K0 in (rng.standard_normal((5, 5)), np.zeros((0, 0)), np.eye(1), *others):
        K0, size = np.asarray(K0, float), len(K0)
        block = np.block([[K0.T, np.ones((size, size))], [0 * K0, K0.T]])
        gradient = expm(block)[:size, size:]
        compared(function, [expm(K0), gradient, K0 @ K0 @ K0], (K0, 3))
    np.testing.assert_allclose(function(2 * np.eye(2), -2)[2], 0.25 * np.eye(2))
    assert np.isnan(function(np.full((2, 2), np.nan), 1)[0]).all()


def test_derivatives_of_determinants():
    """At singular matrices and of complex numbers too, along directions and in full."""
    D, E = (se.TensorSymbol(name, (n, n)) for name in "DE")
    exprs = [se.adj(K), se.cofactors(K, 2), se.cofactors(K, 3), se.cofactors(S, 2)]
    exprs.append(se.einsum("ijkl,kl->ij", exprs[1], D))
    exprs.append(se.einsum("ijklpq,kl,pq->ij", exprs[2], D, E))
    arguments = [K, D, E, S]
    function, expected = (se.lambdify(arguments, exprs, name) for name in ("numba", "numpy"))
    source = function.source[function.source.index("def compute(") :]
    assert [source.count(f" {name}(") for name in ("cofactors_along", "cofactors_along_two")] == [
        1,
        1,
    ]
    rng = np.random.default_rng(4)
    for size, rank in ((0, 0), (1, 0), (1, 1), (2, 1), (3, 1), (4, 2), (4, 4)):
        left, right, d, e = rng.standard_normal((4, size, size))
        K0 = left[:, :rank] @ right[:rank]
        values = (K0, d, e, np.stack([K0, d]))
        compared(function, expected(*values), values)
    function, expected = (se.lambdify([K], exprs[:2], name) for name in ("numba", "numpy"))
    compared(function, expected((1 + 0.5j) * K0), ((1 + 0.5j) * K0,))
