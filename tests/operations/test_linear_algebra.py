"""Linear algebra of matrices and stacks: shapes, errors, special points, texts."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

m, n, k = symbols("m n k", integer=True, positive=True)
A, S, W = (
    se.TensorSymbol(name, shape) for name, shape in [("A", (n, n)), ("S", (m, n, n)), ("W", (n, m))]
)
SQUARE = [se.inv, se.det, se.logdet, se.adj, se.slogdet, se.cholesky, se.eigh, se.eigvalsh, se.expm]


@pytest.mark.parametrize("function", SQUARE)
def test_square_matrices_are_asked_for(function):
    with pytest.raises(se.ShapeError, match=r"axis 0 has length n and axis 1 has length m"):
        function(W)
    with pytest.raises(se.ShapeError, match=r"axis 1 has length n and axis 2 has length k"):
        function(se.TensorSymbol("T", (m, n, k)))
    with pytest.raises(se.ShapeError, match="order 1"):
        function(A[0])


def test_the_shorter_axis_must_be_known():
    for function in (se.qr, lambda X: se.lstsq(X, X)):
        with pytest.raises(se.UnsupportedError, match="is shorter must be known"):
            function(W)
    with pytest.raises(se.UnsupportedError, match=r"as in k \+ d for positive d"):
        se.qr(se.TensorSymbol("U", (m, k)))
    tall = se.TensorSymbol("T", (n + k, n))
    assert se.svdvals(tall).shape == (n,)
    assert se.svd(tall.T, full_matrices=False).U.shape == (n, n)
    assert se.qr(tall).Q.shape == (n + k, n)
    assert se.qr(tall.T).R.shape == (n, n + k)
    assert se.lstsq(tall, tall).residuals.shape == (n,)
    assert se.pinv(W).shape == (m, n)


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (2, 2), (1, 2), (2, 1)])
def test_singular_values_of_matrices_of_any_shape(shape):
    """The gradient of the nuclear norm is U V', that of the spectral norm u_1 v_1'."""
    X = se.TensorSymbol("X", (m, n))
    data = np.random.default_rng(0).standard_normal(shape)
    U, s, V = np.linalg.svd(data, full_matrices=False)
    values = se.svdvals(X)
    for norm, expected, derivative in [
        (se.norm(X, "nuc"), s.sum(), U @ V),
        (se.norm(X, 2), s[0], np.outer(U[:, 0], V[0])),
        (np.linalg.norm(X, -2), s[-1], np.outer(U[:, -1], V[-1])),
        ((values**3).sum(), (s**3).sum(), 3 * (U * s**2) @ V),
    ]:
        expressions = [norm, se.gradient(norm, X)]
        for backend in ["numpy", "jax"][: 2 if shape == (2, 3) else 1]:
            found = se.lambdify([X], expressions, backend)(data)
            np.testing.assert_allclose(np.asarray(found[0]), expected, 1e-6)
            np.testing.assert_allclose(np.asarray(found[1]), derivative, 1e-5, 1e-6)
        assert "cp.linalg.svd" in se.codegen([X], expressions, backend="cupy")
    assert values.shape == (sympy.Min(m, n),)
    assert se.norm(X, "nuc").subs({m: 3, n: 2}) == se.norm(se.TensorSymbol("X", 3, 2), "nuc")


def test_further_vectors_are_refused():
    C = se.TensorSymbol("C", (2, 3))
    with pytest.raises(se.UnsupportedError, match="full_matrices=False"):
        np.linalg.svd(C)
    with pytest.raises(se.UnsupportedError, match="mode='reduced'"):
        np.linalg.qr(C.T, mode="complete")


@pytest.mark.parametrize("name", ["eig", "eigvals", "matrix_rank"])
def test_functions_without_derivative_are_refused_with_the_reason(name):
    with pytest.raises(se.UnsupportedError, match=f"{name} isn't supported: "):
        getattr(np.linalg, name)(A)


def test_every_name_of_numpy_is_known():
    assert {*np.linalg.__all__} - {"LinAlgError"} == {*snp.linalg.__all__}


def test_results_have_numpys_names():
    pairs = [
        (np.linalg.eigh(A), ("eigenvalues", "eigenvectors")),
        (np.linalg.slogdet(S), ("sign", "logabsdet")),
        (np.linalg.svd(A), ("U", "S", "Vh")),
        (np.linalg.qr(A), ("Q", "R")),
    ]
    for result, names in pairs:
        assert result._fields == names
        assert all(own is getattr(result, name) for own, name in zip(result, names, strict=True))


def test_tensors_as_maps():
    rng = np.random.default_rng(2)
    T, b = se.TensorSymbol("T", (2, 3, 6)), se.TensorSymbol("b", (6,))
    tensor, right = rng.standard_normal((2, 3, 6)), rng.standard_normal(6)
    x = np.linalg.tensorsolve(T, b, axes=(0, 1))
    found = se.lambdify([T, b], [x, np.linalg.tensorinv(T)])(tensor, right)
    np.testing.assert_allclose(found[0], np.linalg.tensorsolve(tensor, right, axes=(0, 1)))
    np.testing.assert_allclose(found[1], np.linalg.tensorinv(tensor))
    with pytest.raises(se.ShapeError, match="as many entries"):
        np.linalg.tensorsolve(T, b)
    with pytest.raises(se.ShapeError, match="as many entries"):
        np.linalg.tensorinv(T, ind=1)


FUNCTIONS = {
    "inv": se.inv,
    "det": se.det,
    "logdet": se.logdet,
    "adj": se.adj,
    "cofactors": lambda X: se.cofactors(X, 2),
    "sign": lambda X: se.slogdet(X).sign,
    "solve": lambda X: se.solve(X, se.Ones(X.shape[-1])),
    "power": lambda X: se.matrix_power(X, -2),
    "cholesky": se.cholesky,
    "eigenvalues": se.eigvalsh,
    "eigenvectors": lambda X: se.eigh(X)[1],
    "singular values": se.svdvals,
    "singular vectors": lambda X: se.svd(X)[0],
    "pinv": se.pinv,
    "R": lambda X: se.qr(X, mode="r"),
    "expm": se.expm,
    "spectral norm": lambda X: se.norm(X, "nuc", axis=(1, 2)),
}


@pytest.mark.parametrize("shape", [(0, 3, 3), (2, 0, 0), (2, 1, 1)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_axes_of_length_0_and_1(name, shape):
    X = se.TensorSymbol("X", shape)
    value = FUNCTIONS[name](X)
    derivative = se.gradient((value**2).sum(), X)
    found = se.lambdify([X], [value, derivative])(np.full(shape, 2.0))
    assert [own.shape for own in found] == [tuple(map(int, value.shape)), shape]
    assert all(np.isfinite(own).all() for own in found)


def test_results_computed_together():
    """One decomposition for all of its factors, and only the needed ones."""
    X = se.TensorSymbol("X", (3, 3), symmetric=True)
    values, vectors = se.eigh(X)
    both = se.lambdify([X], [values, vectors, se.gradient(values[0], X)]).source
    assert both.count("linalg") == both.count("np.linalg.eigh(X)") == 1
    assert "np.linalg.eigvalsh(X)" in se.lambdify([X], values).source
    assert "compute_uv=False" in se.lambdify([X], se.svdvals(X)).source
    assert 'mode="r"' in se.lambdify([X], se.qr(X).R).source
    b = se.TensorSymbol("b", (m, n))
    source = se.lambdify([S, b], se.solve(S, b[:, :, None])).source
    assert "np.linalg.solve" in source
    assert "inv(" not in source


@pytest.mark.parametrize("output", ["bi", "ib", "i", "b", "", "bc", "cib"])
@pytest.mark.parametrize("terms", ["bij,j", "bij,bj", "bji,bj", "bij,bjc", "bij,cbj", "bij,i,bjc"])
def test_products_with_inverses_of_stacks(terms, output):
    """Solved systems have the axes of the product, for any summed index."""
    output = "".join(letter for letter in output if letter in terms)
    rng = np.random.default_rng(7)
    lengths = {"b": 2, "i": 3, "j": 3, "c": 4}
    arrays = [rng.standard_normal([lengths[k] for k in term]) for term in terms.split(",")]
    symbols_of = [se.TensorSymbol(f"X{k}", array.shape) for k, array in enumerate(arrays)]
    product = se.einsum(f"{terms}->{output}", se.inv(symbols_of[0]), *symbols_of[1:])
    expected = np.einsum(f"{terms}->{output}", np.linalg.inv(arrays[0]), *arrays[1:])
    found = se.lambdify(symbols_of, product)(*arrays)
    assert np.shape(found) == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_singular_values_have_no_sign():
    assert se.simplify(se.Abs(se.svdvals(se.TensorSymbol("T", (3, 4))))) == se.svdvals(
        se.TensorSymbol("T", (3, 4))
    )


def test_nothing_is_larger_than_a_matrix():
    """Triangles in derivatives are masks."""
    values = [se.cholesky(A), *se.qr(A)]
    for value in values:
        source = se.lambdify([A], se.gradient((value**3).sum(), A)).source
        assert "(n, n)" in source
        assert "(n, n, n)" not in source


def test_either_triangle_of_a_symmetric_matrix_is_as_good():
    """Functions of symmetric matrices are those of (A + A')/2."""
    X = se.TensorSymbol("X", (2, 2))
    function = se.lambdify([X], [se.cholesky(X), *se.eigh(X)])
    for values in zip(function([[4, 3], [1, 5]]), function([[4, 2], [2, 5]]), strict=True):
        np.testing.assert_allclose(*values)


def test_matrices_without_a_factor():
    X = se.TensorSymbol("X", (2, 2))
    with pytest.raises(np.linalg.LinAlgError):
        se.lambdify([X], se.cholesky(X))([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(np.linalg.LinAlgError):
        se.lambdify([S], se.inv(S))(np.zeros((2, 3, 3)))


def test_formulas_and_texts():
    X, E = se.tensors("X E", (2, 2))
    k = sympy.Symbol("k", integer=True)
    shown = {
        se.cholesky(X): (r"\operatorname{chol}\left(X\right)", "cholesky(X)"),
        se.eigh(X)[0]: (r"\operatorname{eigvalsh}\left(X\right)", "eigvalsh(X)"),
        se.eigh(X)[1]: (r"\operatorname{eigh}_{V}\left(X\right)", "eigh(X)[1]"),
        se.svd(X)[2]: (r"\operatorname{svd}_{Vh}\left(X\right)", "svd(X, full_matrices=False)[2]"),
        se.qr(X).R: (r"\operatorname{qr}_{R}\left(X\right)", "qr(X)[1]"),
        se.expm(X, E): (r"\operatorname{expm}\left(X, E\right)", "expm(X, E)"),
        se.matrix_power(X, k - 1): ("X^{k - 1}", "matrix_power(X, k - 1)"),
        se.matrix_power(X, k, E): (
            r"\operatorname{pow}\left(X, k, E\right)",
            "matrix_power(X, k, E)",
        ),
    }
    for expr, (formula, text) in shown.items():
        assert sympy.latex(expr) == formula
        assert str(expr) == text
        assert eval(text, {**vars(se), "X": X, "E": E, "k": k}) == expr


def test_directions_of_exponentials():
    X, E, F = se.tensors("X E F", (3, 3))
    assert se.expm(X, E, F) is se.expm(X, F, E)
    assert se.expm(X, se.Zeros(3, 3)) == se.Zeros(3, 3)
    stacked = se.TensorSymbol("D", (5, 3, 3))
    assert se.expm(X[None], stacked).shape == (5, 3, 3)
    with pytest.raises(se.ShapeError):
        se.expm(X, se.TensorSymbol("G", (2, 2)))


def test_symbolic_powers():
    """Built symbolically, and correct once the exponent is a number, on every backend."""
    X, E, F = se.tensors("X E F", (3, 3))
    k, j = sympy.symbols("k j", integer=True)
    power = se.matrix_power(X, k)
    assert power.subs(k, 3) == se.matrix_power(X, 3)
    assert se.matrix_power(se.Delta(3), k) == se.Delta(3)
    assert se.matrix_power(se.matrix_power(X, j), k) == se.matrix_power(X, j * k)
    assert se.matrix_power(se.inv(X), k) == se.matrix_power(X, -k)
    assert se.matrix_power(X, k, E, F) is se.matrix_power(X, k, F, E)
    assert se.matrix_power(X, k, se.Zeros(3, 3)) == se.Zeros(3, 3)
    symmetric = se.TensorSymbol("S", (3, 3), symmetric=True)
    for function in (se.expm, lambda *X: se.matrix_power(X[0], k, *X[1:])):
        assert se.simplify(function(symmetric).T) == function(symmetric)
        along = function(symmetric, symmetric)
        assert se.equal(along.T, along) is not False
        assert se.simplify(function(symmetric, E).T) == function(symmetric, E).T
    assert se.gradient(power.trace(), X) == k * se.matrix_power(X, k - 1).T
    # A stack of unit matrices isn't one matrix.
    basis = se.simplify(se.matrix_power(X[None, None], k, se.Delta(3, 3)))
    x, e = np.random.default_rng(3).standard_normal((2, 3, 3))
    expected = sum(
        np.linalg.matrix_power(x, p) @ e @ np.linalg.matrix_power(x, 2 - p) for p in range(3)
    )
    found = se.lambdify([X, k], basis)(x, 3)
    np.testing.assert_allclose(np.einsum("abij,ab->ij", found, e), expected)
    for count in (-3, -1, 0, 1, 2, 5):
        given = [own.subs(k, count) for own in (power, se.jvp(power, X, E))]
        found = se.lambdify([X, k, E], [power, se.jvp(power, X, E)])(x, count, e)
        for own, expected in zip(found, se.lambdify([X, E], given)(x, e), strict=True):
            np.testing.assert_allclose(own, expected, rtol=1e-9, atol=1e-12)
    named = sympy.Symbol("M", integer=True)
    given = se.lambdify([X, named, E], se.matrix_power(X, named, E))
    np.testing.assert_allclose(given(x, 2, e), x @ e + e @ x)
    for wrong in (2.0, 2.5, None):
        with pytest.raises(se.TensorError, match="must be integers"):
            se.lambdify([X, k], power)(x, wrong)
    symbol = sympy.MatrixSymbol("X", 3, 3)
    assert se.to_matrix(power) == symbol**k
    assert se.from_matrix(sympy.Trace(symbol**k)) == power.trace()
    with pytest.raises(se.UnsupportedError, match="MatrixPower"):
        se.to_matrix(se.jvp(power, X, E))
