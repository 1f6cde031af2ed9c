"""Determinants: their derivatives at singular matrices, and their logarithms."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import sympy
from oracles import jax64
from sympy import LeviCivita, symbols

import sympy_einsum as se
from sympy_einsum.rules import normal_form

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
    """Return signed minors by their definition."""
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


@pytest.mark.slow
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
    assert se.equal(se.cofactors(X, 2), formula) is True
    third = normal_form(se.cofactors(X, 3))
    assert "inv(X)" in str(third)
    Z = matrix_of_rank(4, 4)
    np.testing.assert_allclose(se.lambdify([X], third)(Z), signed_minors(Z, 3), atol=1e-9)


@pytest.mark.parametrize("order", range(1, 5))
def test_simplified_polynomials_stay_right_at_singular_matrices(order):
    assert se.simplify(se.cofactors(X, order)) is se.cofactors(X, order)


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
    function, derivative = LOGARITHMS[name]
    assert se.gradient(function, X, mode=mode) is derivative


def large(sign):
    """Return a matrix whose determinant, of the given sign, exceeds all floats."""
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
    derivative = se.lambdify([X], se.gradient(se.det(X) ** 2 + se.det(X), X))
    Z = matrix_of_rank(3, 2)
    np.testing.assert_allclose(derivative(Z), signed_minors(Z, 1), atol=1e-12)


Y = se.TensorSymbol("Y", (n, n))
y = se.TensorSymbol("y", (n,))
# Products with derivatives of det, each with the einsum of the minors' tensor that it is.
MULTIPLIED = [
    (se.hvp(se.det(X), X, V), lambda C, D, V, Y, y: np.einsum("ijkl,kl", C, V)),
    (se.jvp(se.adj(X), X, V), lambda C, D, V, Y, y: np.einsum("jikl,kl", C, V)),
    (se.gradient((se.adj(X) * Y).sum(), X), lambda C, D, V, Y, y: np.einsum("ijkl,ji", C, Y)),
    (se.gradient(se.adj(X).trace(), X), lambda C, D, V, Y, y: np.einsum("iijk", C)),
    (se.gradient(se.adj(X).sum(), X), lambda C, D, V, Y, y: C.sum((0, 1))),
    (se.gradient(y @ se.adj(X) @ y, X), lambda C, D, V, Y, y: np.einsum("jikl,i,j", C, y, y)),
    (
        se.hvp((se.adj(X) * Y).sum(), X, V),
        lambda C, D, V, Y, y: np.einsum("ijklmn,ji,kl", D, Y, V),
    ),
    (
        se.einsum("ijkl,klmn,mn->ij", *[se.cofactors(X, 2)] * 2, V),
        lambda C, D, V, Y, y: np.einsum("ijkl,klmn,mn", C, C, V),
    ),
    (
        se.einsum("ijkl,ij,kl->", se.cofactors(X, 2), V, Y),
        lambda C, D, V, Y, y: np.einsum("ijkl,ij,kl", C, V, Y),
    ),
    # These need the tensor itself.
    (
        se.einsum("ijkl,ik->jl", se.cofactors(X, 2), V),
        lambda C, D, V, Y, y: np.einsum("ijkl,ik->jl", C, V),
    ),
    (
        se.einsum("ijjk->ik", se.cofactors(X, 2)),
        lambda C, D, V, Y, y: np.einsum("ijjk->ik", C),
    ),
    (
        se.einsum("ijkl,kl->kij", se.cofactors(X, 2), V),
        lambda C, D, V, Y, y: np.einsum("ijkl,kl->kij", C, V),
    ),
]


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "dask", "sympy"])
def test_products_with_derivatives_of_det_are_right_at_every_rank(backend):
    arguments, products = [X, V, Y, y], [product for product, _ in MULTIPLIED]
    if backend == "sympy":
        function = sympy.lambdify(arguments, products, "numpy")
    elif backend == "jax":
        jax64()
        function = se.lambdify(arguments, products, backend)
    else:
        package = {"dask": "dask.array"}.get(backend, backend)
        library = pytest.importorskip(package)
        function = se.lambdify(arguments, products, backend)
    for size in range(1, 5) if backend == "numpy" else [3]:
        for rank in range(size + 1):
            values = [matrix_of_rank(size, rank), *rng.standard_normal((2, size, size))]
            values.append(rng.standard_normal(size))
            given = values
            if backend in ("torch", "dask"):
                given = [library.asarray(value) for value in values]
            minors = [signed_minors(values[0], order) for order in (2, 3)]
            wanted = [reference(*minors, *values[1:]) for _, reference in MULTIPLIED]
            assert_all_close(function(*given), wanted)


@pytest.mark.parametrize(
    "f",
    [
        se.det(X),
        se.det(X) ** 2,
        se.det(X.T @ X + Y),
        se.det(Y @ X),
        (se.adj(X) * Y).sum(),
        se.logdet(X),
        se.logdet(X.T @ X + Y),
        (se.inv(X) * Y).sum(),
        se.det(X) * (se.inv(X) * Y).sum(),
        (X @ X @ X @ X @ X * Y).sum(),
    ],
    ids=str,
)
def test_products_with_second_derivatives_build_nothing_larger_than_a_matrix(f):
    function = se.lambdify([X, V, Y], [se.gradient(f, X), se.hvp(f, X, V)])
    assert "# (n, n)" in function.source
    assert "# (n, n, " not in function.source
    assert function.cost({n: 200}).flops < 200 * 200**3
