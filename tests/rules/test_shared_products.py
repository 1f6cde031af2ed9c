"""Products in the association that contains others which are computed anyway."""

import numpy as np
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.rules import with_shared_products

m, n, k = symbols("m n k", integer=True, positive=True)
A, B, C = se.TensorSymbol("A", m, n), se.TensorSymbol("B", n, k), se.TensorSymbol("C", k, m)
D, S = se.TensorSymbol("D", m, m), se.TensorSymbol("S", n, n, symmetric=True)
ARGUMENTS = [A, B, C, D, S]
LENGTHS = [(2, 3, 4), (4, 3, 2), (1, 1, 1), (0, 2, 3), (2, 0, 1)]


def assert_equal_values(old, new):
    for lengths in LENGTHS:
        sizes = dict(zip((m, n, k), lengths, strict=True))
        normal = np.random.default_rng(0).standard_normal
        data = [normal([sizes[length] for length in own.shape]) for own in ARGUMENTS]
        data[-1] = data[-1] + data[-1].T
        pairs = [se.lambdify(ARGUMENTS, own, optimize=False)(*data) for own in (old, new)]
        for one, other in zip(*pairs, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_a_product_contains_another():
    old = [(B @ C) @ D, (A @ B) @ C]
    new = with_shared_products(old)
    assert new == [old[0], A @ (B @ C)]
    assert_equal_values(old, new)


def test_a_transpose_and_a_symmetric_factor_are_found():
    old = [(S @ B) @ C @ D, (C.T @ B.T) @ S]
    new = with_shared_products(old)
    assert new[1] == C.T @ (S @ B).T
    assert_equal_values(old, new)


def test_an_index_that_is_gone_leaves_no_factor():
    old = [A @ B, (D @ (A @ S)) @ B, D @ A @ B @ C]
    assert_equal_values(old, with_shared_products(old))


def test_products_that_nothing_shares_stay():
    old = [(A @ B) @ C, (A @ S) @ B]
    assert with_shared_products(old) == old


def test_a_shared_factor_gives_way_to_a_common_one():
    U, F = se.TensorSymbol("U", n, n), se.TensorSymbol("F", n, n)
    old = [F.T @ (U @ F), U.T @ (F @ S) + (U @ F) @ S]
    assert with_shared_products(old)[1] == U.T @ (F @ S) + U @ (F @ S)


def test_a_long_chain_takes_linear_time():
    chain = A @ A.T
    for _ in range(300):
        chain = D @ chain
    assert with_shared_products([chain]) == [chain]
