"""One factorization per matrix: factorizations are counted at run time; values are compared with
NumPy, JAX and mpmath."""

from collections import Counter
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
import sympy
from oracles import jax64
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.compiler.backends import numpy_backend

lapack = pytest.importorskip("scipy.linalg.lapack")
numpy_factors = pytest.importorskip("sympy_einsum.compiler.runtime.numpy_factors")

m, n, k = symbols("m n k", integer=True, positive=True)
noise = symbols("noise", positive=True)
A, B = se.TensorSymbol("A", (n, n)), se.TensorSymbol("B", (n, n))
K = se.TensorSymbol("K", (n, n), psd=True)
X, W = se.TensorSymbol("X", (m, n)), se.TensorSymbol("W", (n, k))
x, y = se.TensorSymbol("x", n), se.TensorSymbol("y", m)

FACTORING = ("cholesky", "inv", "solve", "det", "slogdet")


def run_and_count(function, *arguments):
    """Return the results of a function's source, and the number of factored columns as multiples of
    the matrix's length."""
    found = Counter()

    def counted(name, call):
        def wrapped(X, *args, **options):
            if name[1:] in ("potrf", "getrf") or name in FACTORING:
                found[name.lstrip("sdcz")] += np.shape(X)[-1]
            return call(X, *args, **options)

        return wrapped

    def counting(module):
        names = {name: getattr(module, name) for name in dir(module) if not name.startswith("__")}
        return SimpleNamespace(
            **{
                name: counted(name, own) if callable(own) and not isinstance(own, type) else own
                for name, own in names.items()
            }
        )

    namespace = {}
    exec(function.source, namespace)
    linalg = counting(np.linalg)
    namespace["np"] = SimpleNamespace(**{**vars(np), "linalg": linalg})
    if "lapack" in namespace:
        namespace["lapack"] = counting(lapack)
    return namespace["function"](*arguments), sum(found.values())


def definite(size, rng):
    root = rng.standard_normal((size, size))
    return root @ root.T + size * np.eye(size)


def quadratic(A, x):
    """The function that JAX differentiates."""
    jnp = jax64().numpy
    return x @ jnp.linalg.solve(A, x) + jnp.linalg.slogdet(A)[1]


def evidence(X, y, noise):
    jnp = jax64().numpy
    return quadratic(X.T @ X + noise * jnp.eye(X.shape[1]), X.T @ y)


def value_and_gradient(function, place):
    def both(*data):
        return [function(*data), jax64().grad(function, place)(*data)]

    return both


def of_inverse(A, x, B):
    jnp = jax64().numpy
    inverse = jnp.linalg.inv(A)
    determinant = jnp.linalg.det(A)
    products = [inverse @ x, x.T @ inverse, B @ inverse, inverse @ B, jnp.trace(inverse @ B)]
    return [determinant, jnp.log(abs(determinant)), inverse, *products]


QUADRATIC = {symbol: x @ se.inv(symbol) @ x + se.logdet(symbol) for symbol in (A, K)}
RIDGE = X.T @ X + noise * se.Delta(n)
EVIDENCE = y @ X @ se.inv(RIDGE) @ X.T @ y + se.logdet(RIDGE)
INVERSE = se.inv(A)
# Arguments, expressions, and what JAX computes them by.
ONE_MATRIX = {
    "value": ([A, x], [QUADRATIC[A]], lambda *data: [quadratic(*data)]),
    "value, definite": ([K, x], [QUADRATIC[K]], lambda *data: [quadratic(*data)]),
    "gradient": ([A, x], [QUADRATIC[A], se.gradient(QUADRATIC[A], A)],
                 value_and_gradient(quadratic, 0)),
    "gradient, definite": ([K, x], [QUADRATIC[K], se.gradient(QUADRATIC[K], K)],
                           value_and_gradient(quadratic, 0)),
    "by a vector": ([A, x], [se.gradient(QUADRATIC[A], x), se.hessian(QUADRATIC[A], x)],
                    lambda *data: [jax64().grad(quadratic, 1)(*data),
                                   jax64().hessian(quadratic, 1)(*data)]),
    "everything": ([A, x, B], [se.det(A), se.logdet(A), INVERSE, INVERSE @ x, x @ INVERSE,
                               B @ INVERSE, INVERSE @ B, se.trace(INVERSE @ B)], of_inverse),
    "ridge": ([X, y, noise], [EVIDENCE, se.gradient(EVIDENCE, noise)],
              value_and_gradient(evidence, 2)),
    "direction": ([K, x, B], [QUADRATIC[K], se.jvp(QUADRATIC[K], K, B)],
                  lambda K, x, B: jax64().jvp(lambda K: quadratic(K, x), (K,), (B,))),
    "transposed": ([A, x], [se.inv(A.T) @ x, se.logdet(A.T), INVERSE @ x],
                   lambda A, x: [of_inverse(A.T, x, A)[3], *of_inverse(A, x, A)[1:4:2]]),
    "several right sides": ([A, B, W], [INVERSE @ B, INVERSE @ W, B @ INVERSE],
                            lambda A, B, W: [of_inverse(A, B, B)[3], of_inverse(A, W, B)[3],
                                             of_inverse(A, B, B)[5]]),
}  # fmt: skip


def data_of(arguments, size, rng):
    lengths = {m: size + 3, n: size, k: 2}
    values = []
    for symbol in arguments:
        if symbol is noise:
            values.append(0.7)
        elif symbol is K:
            values.append(definite(size, rng))
        else:
            shape = [int(length.subs(lengths)) for length in symbol.shape]
            values.append(rng.standard_normal(shape))
    return values


@pytest.mark.parametrize("size", [1, 5, 150])
@pytest.mark.parametrize("name", ONE_MATRIX)
def test_a_matrix_is_factored_once(name, size):
    arguments, exprs, of_jax = ONE_MATRIX[name]
    data = data_of(arguments, size, np.random.default_rng(size))
    results, factored = run_and_count(se.lambdify(arguments, exprs, check=False), *data)
    assert factored == size
    for result, value in zip(results, jax64().jit(of_jax)(*data), strict=True):
        scale = np.abs(value).max()
        np.testing.assert_allclose(result, value, rtol=1e-8, atol=1e-8 * scale)


def test_vectors_are_solved_for_without_the_inverse():
    form = x @ se.inv(A) @ x
    function = se.lambdify([A, x], [form, se.gradient(form, x), se.gradient(form, A)])
    assert "def inverted" not in function.source


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("size", [0, 1, 2, 65, 130, 200])
@pytest.mark.parametrize("is_definite", [False, True])
def test_factors_of_all_sizes_and_types(size, kind, is_definite):
    rng = np.random.default_rng(size)
    matrix = (definite(size, rng) if is_definite else rng.standard_normal((size, size))).astype(
        kind
    )
    if kind is np.complex128:
        matrix = matrix + 1j * np.triu(matrix)
    vector, right = (
        rng.standard_normal(size).astype(kind),
        rng.standard_normal((size, 3)).astype(kind),
    )
    factors = numpy_factors.factored(matrix, is_definite)
    inverse = np.linalg.inv(matrix)
    scale = np.linalg.cond(matrix) * np.finfo(kind).eps * 50 * size if size else 0
    found = {
        "inverse": (numpy_factors.inverted(factors), inverse),
        "vector": (numpy_factors.solved(factors, vector), inverse @ vector),
        "turned": (numpy_factors.solved(factors, vector, True), inverse.T @ vector),
        "matrix": (numpy_factors.solved(factors, right), inverse @ right),
        "matrix, turned": (numpy_factors.solved(factors, right, True), inverse.T @ right),
    }
    for name, (value, expected) in found.items():
        assert value.dtype == kind, name
        assert value.shape == expected.shape
        np.testing.assert_allclose(
            value, expected, rtol=0, atol=scale * np.abs(expected).max(initial=0), err_msg=name
        )
    sign, logarithm = numpy_factors.signed_log_determinant(factors)
    expected = np.linalg.slogdet(matrix)
    np.testing.assert_allclose(sign, expected[0], rtol=1e-4)
    np.testing.assert_allclose(logarithm, expected[1], rtol=1e-4, atol=1e-4)
    if 0 < size < 10:
        np.testing.assert_allclose(
            numpy_factors.determinant(factors), np.linalg.det(matrix), rtol=1e-4
        )


def test_operands_of_two_types():
    function = se.lambdify([A, x], [se.inv(A) @ x, se.logdet(A)])
    matrix, vector = np.diag([2.0, 4.0]), np.array([1.0, 1.0])
    kinds = [(np.float32, np.float64), (np.float64, np.float32), (int, np.float64), (float, int)]
    for kind, other in kinds:
        result, _ = function(matrix.astype(kind), vector.astype(other))
        assert result.dtype == np.float64
        np.testing.assert_allclose(result, [0.5, 0.25])
    with pytest.raises(se.UnsupportedError, match="is unsupported in linalg"):
        function(matrix.astype(np.longdouble), vector)


def test_a_bad_condition_is_no_worse_than_it_has_to_be():
    size = 8
    with mpmath.workdps(60):
        exact = mpmath.matrix(size, size)
        for i in range(size):
            for j in range(size):
                exact[i, j] = mpmath.mpf(1.0 / (i + j + 1))
        vector = mpmath.matrix([1.0 / (1 + i) for i in range(size)])
        inverse = exact**-1
        quadratic = (vector.T * inverse * vector)[0]
        determinant = mpmath.log(mpmath.det(exact))
        entries = np.array([[float(v) for v in inverse[i, :]] for i in range(size)])
    hilbert = 1.0 / (np.arange(size)[:, None] + np.arange(size) + 1)
    data = hilbert, 1.0 / (1 + np.arange(size))
    for symbol in (A, K):
        terms = [x @ se.inv(symbol) @ x, se.logdet(symbol), se.inv(symbol)]
        value, logarithm, found = se.lambdify([symbol, x], terms)(*data)
        assert abs(value / float(quadratic) - 1) < 1e-6
        assert abs(logarithm / float(determinant) - 1) < 1e-6
        np.testing.assert_allclose(found, entries, rtol=1e-5)


@pytest.mark.parametrize("is_definite", [False, True])
def test_inverses_by_blocks_leave_a_residual_of_rounding(is_definite):
    """A smooth kernel: blocks of its factors are nearly singular, too."""
    points = np.linspace(0, 6, 200)
    kernel = np.exp(-(np.subtract.outer(points, points) ** 2)) + 1e-4 * np.eye(200)
    inverse = numpy_factors.inverted(numpy_factors.factored(kernel, is_definite))
    scale = np.linalg.norm(kernel) * np.linalg.norm(inverse) * np.finfo(float).eps
    assert np.linalg.norm(inverse @ kernel - np.eye(200)) < 20 * scale


SINGULAR = np.ones((3, 3))
INDEFINITE = np.array([[1.0, 2.0], [2.0, 1.0]])


def test_singular_matrices():
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        se.lambdify([A, x], [se.inv(A) @ x, se.det(A)])(SINGULAR, np.ones(3))
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        se.lambdify([A], [se.inv(A), se.logdet(A)])(SINGULAR)
    determinant, logarithm = se.lambdify([A], [se.det(A), se.logdet(A)])(SINGULAR)
    assert determinant == 0
    assert logarithm == -np.inf


def test_a_matrix_that_was_said_to_be_definite():
    """The declaration doesn't change a value that exists without it; the logarithm is refused."""
    inverse, solution = se.lambdify([K, x], [se.inv(K), se.inv(K) @ x])(INDEFINITE, np.ones(2))
    np.testing.assert_allclose(inverse, np.linalg.inv(INDEFINITE))
    np.testing.assert_allclose(solution, np.linalg.solve(INDEFINITE, np.ones(2)))
    assert abs(se.lambdify([K], [se.det(K), se.inv(K)])(INDEFINITE)[0] + 3) < 1e-12
    for exprs in ([se.logdet(K), se.inv(K)], [se.logdet(K)]):
        with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
            se.lambdify([K], exprs)(INDEFINITE)
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        se.lambdify([K, x], [se.inv(K), se.inv(K) @ x])(SINGULAR, np.ones(3))


def test_nan_stays_nan():
    matrix = np.diag([1.0, np.nan, 2.0])
    for symbol in (A, K):
        inverse, logarithm = se.lambdify([symbol], [se.inv(symbol), se.logdet(symbol)])(matrix)
        assert np.isnan(inverse).any()
        assert np.isnan(logarithm)


def test_stacks_of_matrices():
    stack = se.TensorSymbol("S", (m, n, n))
    rights = se.TensorSymbol("b", (m, n))
    solved = se.solve(stack, rights[:, :, None])[:, :, 0]
    exprs = [se.inv(stack), se.logdet(stack), solved]
    for count, size in [(2, 3), (1, 1), (0, 2)]:
        rng = np.random.default_rng(1)
        data = rng.standard_normal((count, size, size)), rng.standard_normal((count, size))
        inverse, logarithm, solution = se.lambdify([stack, rights], exprs)(*data)
        np.testing.assert_allclose(inverse, np.linalg.inv(data[0]))
        np.testing.assert_allclose(logarithm, np.linalg.slogdet(data[0])[1])
        np.testing.assert_allclose(solution, np.einsum("mij,mj->mi", inverse, data[1]))


def test_indefinite_matrices_on_other_backends():
    """JAX gives nan where NumPy's code inverts or refuses; PyTorch refuses always."""
    found = se.lambdify([K], [se.inv(K), se.logdet(K)], "jax")(jax64().numpy.asarray(INDEFINITE))
    assert all(np.isnan(value).any() for value in found)
    torch = pytest.importorskip("torch")
    with pytest.raises(torch.linalg.LinAlgError, match="not positive-definite"):
        se.lambdify([K, x], [se.inv(K), se.inv(K) @ x], "torch")(
            torch.as_tensor(INDEFINITE), torch.ones(2)
        )


@pytest.mark.parametrize("name", ["everything", "ridge", "direction", "transposed"])
def test_without_scipy(name, monkeypatch):
    arguments, exprs, _ = ONE_MATRIX[name]
    data = data_of(arguments, 4, np.random.default_rng(0))
    expected = se.lambdify(arguments, exprs, check=False)(*data)
    monkeypatch.setattr(numpy_backend, "_has_lapack", lambda: False)
    function = se.lambdify(arguments, [*exprs, sympy.Integer(1)], check=False)
    assert "lapack" not in function.source
    for result, value in zip(function(*data), expected, strict=False):
        np.testing.assert_allclose(result, value, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ONE_MATRIX)
def test_no_rows_and_columns(name):
    arguments, exprs, _ = ONE_MATRIX[name]
    data = data_of(arguments, 0, np.random.default_rng(0))
    for result, expr in zip(se.lambdify(arguments, exprs)(*data), exprs, strict=True):
        assert np.shape(result) == tuple(
            int(s.subs({n: 0, k: 2})) for s in getattr(expr, "shape", ())
        )


@pytest.mark.parametrize("backend", ["numpy", "numba", "jax", "torch"])
@pytest.mark.parametrize("sign", [1, -1])
def test_symmetric_matrices_that_may_be_definite(backend, sign):
    """A covariance that isn't known to be definite: Cholesky's factors, or LU's where they fail."""
    library = pytest.importorskip(backend)
    if backend == "jax":
        jax64()
    D = se.TensorSymbol("D", n, n, symmetric=True)
    K = se.exp(-D) + noise * se.Delta(n)
    exprs = [x @ se.inv(K) @ x, se.logdet(K), se.det(K), se.inv(K), se.inv(K).T @ x]
    f = se.lambdify([D, x, noise], exprs, backend=backend)
    rng = np.random.default_rng(3)
    points = rng.standard_normal((6, 2))
    distances, vector = ((points[:, None] - points) ** 2).sum(axis=2), rng.standard_normal(6)
    shift = 0.5 if sign == 1 else -0.9
    given = [distances, vector, shift]
    if backend == "torch":
        given[:2] = map(library.from_numpy, given[:2])
    matrix = np.exp(-distances) + shift * np.eye(6)
    assert (np.linalg.eigvalsh(matrix).min() > 0) == (sign == 1)
    inverse = np.linalg.inv(matrix)
    expected = [
        vector @ inverse @ vector,
        np.linalg.slogdet(matrix)[1],
        np.linalg.det(matrix),
        inverse,
        inverse @ vector,
    ]
    for one, other in zip(f(*given), expected, strict=True):
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-9, atol=1e-11)
