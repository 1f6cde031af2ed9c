"""Determinants: their derivatives at singular matrices, and their logarithms."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import sympy
from oracles import jax64
from sympy import LeviCivita, symbols

import sympy_einsum as se

n = symbols("n", integer=True, positive=True)
X, A, V = se.tensors("X A V", n, n)
rng = np.random.default_rng(3)
# The derivatives of det, of the orders 0 to 3, each with the order of the one before.
DERIVATIVES = [
    se.det(X),
    se.adj(X),
    se.hessian(se.det(X), X),
    se.diff(se.det(X), X, 3),
    se.diff(se.adj(X), X),
]


def signed_minors(Z, order):
    """The definition, by the determinants of what rows and columns leave."""
    size = len(Z)
    entries = np.zeros((size,) * (2 * order))
    for rows in permutations(range(size), order):
        for columns in permutations(range(size), order):
            kept = [[k for k in range(size) if k not in gone] for gone in (rows, columns)]
            sign = LeviCivita(*rows, *kept[0]) * LeviCivita(*columns, *kept[1])
            place = [k for pair in zip(rows, columns, strict=True) for k in pair]
            entries[tuple(place)] = float(sign) * np.linalg.det(Z[np.ix_(*kept)])
    return entries


def expected(Z):
    second = signed_minors(Z, 2)
    adjugate = signed_minors(Z, 1).T
    return [np.linalg.det(Z), adjugate, second, signed_minors(Z, 3), second.transpose(1, 0, 2, 3)]


def matrix_of_rank(size, rank):
    return rng.standard_normal((size, rank)) @ rng.standard_normal((rank, size))


def assert_all_close(results, wanted):
    for result, value in zip(results, wanted, strict=True):
        assert np.shape(result) == np.shape(value)
        np.testing.assert_allclose(np.asarray(result), value, atol=1e-11)


def test_derivatives_of_det_at_matrices_of_every_rank():
    function = se.lambdify([X], DERIVATIVES)
    for size in range(5):
        for rank in range(size + 1):
            Z = matrix_of_rank(size, rank)
            assert_all_close(function(Z), expected(Z))


@pytest.mark.parametrize("backend", ["jax", "torch", "dask"])
def test_derivatives_of_det_on_other_libraries(backend):
    library = jax64() if backend == "jax" else pytest.importorskip(backend)
    if backend == "dask":
        array = pytest.importorskip("dask.array")
    as_array = {
        "jax": lambda Z: library.numpy.asarray(Z),
        "torch": lambda Z: library.tensor(Z),
        "dask": lambda Z: array.from_array(Z, chunks=2),
    }[backend]
    function = se.lambdify([X], DERIVATIVES, backend)
    for size, rank in [(4, 2), (3, 3), (1, 0), (0, 0)]:
        Z = matrix_of_rank(size, rank)
        results = function(as_array(Z))
        if backend == "dask":
            results = [result.compute() for result in results]
        assert_all_close(results, expected(Z))


def test_derivatives_of_det_in_the_code_of_stock_sympy():
    Z = matrix_of_rank(4, 3)
    for expr, value in zip(DERIVATIVES, expected(Z), strict=True):
        np.testing.assert_allclose(sympy.lambdify([X], expr, "numpy")(Z), value, atol=1e-11)


def test_every_derivative_of_det_is_checked_by_differences():
    for order, expr in enumerate(DERIVATIVES[1:4], start=2):
        assert se.check_derivative(expr.subs(n, 3), X.subs(n, 3)) < 1e-8, order
    assert se.diff(se.det(X.subs(n, 2)), X.subs(n, 2), 3) == se.Zeros(2, 2, 2, 2, 2, 2)


def test_cofactors_of_each_order():
    assert se.cofactors(X, 0) is se.det(X)
    assert se.cofactors(X, 1) is se.adj(X).T
    assert se.hessian(se.det(X), X) is se.cofactors(X, 2)
    assert str(se.cofactors(X, 2)) == "cofactors(X, 2)"
    assert sympy.latex(se.cofactors(X, 2)) == r"\operatorname{cof}_{2}\left(X\right)"
    three = se.TensorSymbol("X", (3, 3))
    entries = se.hessian(se.det(three), three).as_explicit()
    assert entries[0, 0, 1, 2] == -three[2, 1]
    for order in (-1, 1.5, True, "2"):
        with pytest.raises(se.TensorError, match="order of cofactors"):
            se.cofactors(X, order)


def test_cofactors_of_an_invertible_matrix():
    inverse = X.inv()
    formula = se.det(X) * (
        se.einsum("ji,lk->ijkl", inverse, inverse) - se.einsum("li,jk->ijkl", inverse, inverse)
    )
    assert se.simplify(se.cofactors(X, 2)) is se.simplify(formula)
    assert se.equal(se.cofactors(X, 2), formula) is True
    third = se.simplify(se.cofactors(X, 3))
    Z = matrix_of_rank(4, 4)
    np.testing.assert_allclose(se.lambdify([X], third)(Z), signed_minors(Z, 3), atol=1e-9)
    assert se.simplify(se.cofactors(X, 4)) is se.cofactors(X, 4)


LOGARITHMS = {
    "log": (se.log(se.det(X)), X.inv().T),
    "of an inverse": (se.log(se.det(X.inv())), -X.inv().T),
    "of the absolute value": (se.log(se.Abs(se.det(X))), X.inv().T),
    "of a product": (se.log(se.det(A @ X)), X.inv().T),
    "of a square": (se.log(se.det(X) ** 2), 2 * X.inv().T),
    "of a root": (se.log(se.sqrt(se.det(X))), X.inv().T / 2),
    "of a quotient": (se.log(se.det(A) / se.det(X)), -X.inv().T),
    "of a Gram matrix": (se.log(se.det(X.T @ X)), 2 * X.inv().T),
    "of multiples": (se.log(2 * se.det(3 * X)), X.inv().T),
    "of a product with a trace": (
        se.log(se.det(X) * X.trace()),
        se.Delta(n) / X.trace() + X.inv().T,
    ),
}


@pytest.mark.parametrize("name", LOGARITHMS)
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_derivatives_of_logarithms_of_determinants(name, mode):
    function, slope = LOGARITHMS[name]
    assert se.gradient(function, X, mode=mode) is slope


def large(sign):
    """A matrix whose determinant, of the given sign, is beyond all floats."""
    Z = 5 * np.random.default_rng(2).standard_normal((300, 300))
    Z[0] *= sign * np.linalg.slogdet(Z)[0]
    return Z


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "dask"])
def test_logarithms_of_large_determinants(backend):
    library = np
    if backend == "jax":
        library = jax64().numpy
    elif backend != "numpy":
        library = pytest.importorskip("dask.array" if backend == "dask" else backend)
    logarithm = np.linalg.slogdet(large(1))[1]
    half = large(1) / 2 ** (1 / 300)
    cases = [
        (se.log(se.det(X)), logarithm),
        (se.log(se.det(X) ** 2), 2 * logarithm),
        (se.log(3 / se.det(X)), np.log(3) - logarithm),
        (se.det(X) / se.det(A), 2.0),
        (se.sign(se.det(X)) * X.trace(), np.trace(large(1))),
    ]
    function = se.lambdify([X, A], [case for case, _ in cases], backend)
    results = function(library.asarray(large(1)), library.asarray(half))
    for result, (_, value) in zip(results, cases, strict=True):
        np.testing.assert_allclose(np.asarray(result), value, rtol=1e-10)


def test_the_logarithm_of_a_negative_determinant_is_none():
    function = se.lambdify(
        [X],
        [se.log(se.det(X)), se.log(se.Abs(se.det(X))), se.log(-se.det(X)), se.log(se.det(X) ** 2)],
    )
    for Z in (large(-1), -np.eye(3)):
        logarithm = np.linalg.slogdet(Z)[1]
        with np.errstate(invalid="ignore"):
            results = function(Z)
        np.testing.assert_allclose(results, [np.nan, logarithm, logarithm, 2 * logarithm])
    with np.errstate(divide="ignore"):
        assert np.all(np.isneginf(function(np.zeros((2, 2)))))
        assert se.lambdify([X], se.log(1 / se.det(X)))(np.zeros((2, 2))) == np.inf


def test_powers_of_a_determinant_take_its_adjugate_in():
    assert se.gradient(se.sqrt(se.det(X)), X) is se.sqrt(se.det(X)) * X.inv().T / 2
    # Where no power of it is negative, the derivative has a value at singular matrices.
    slope = se.lambdify([X], se.gradient(se.det(X) ** 2 + se.det(X), X))
    Z = matrix_of_rank(3, 2)
    np.testing.assert_allclose(slope(Z), signed_minors(Z, 1), atol=1e-12)
