"""Running sums and triangles: values, derivatives, and no triangle is ever built."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from libraries import LIBRARIES
from oracles import assert_close, evaluate, jax64
from random_settings import CONFIG
from sympy import symbols, sympify

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum import testing

n, m, p = symbols("n m p", integer=True, positive=True)
x, A, T = se.TensorSymbol("x", n), se.TensorSymbol("A", m, n), se.TensorSymbol("T", (m, n, p))
rng = np.random.default_rng(0)
values = {x: rng.standard_normal(5), A: rng.standard_normal((4, 5)), T: rng.random((4, 5, 3))}

# In the namespaces of NumPy, of ours and of JAX.
CASES = {
    "cumsum": (lambda np, a: np.cumsum(a), x),
    "cumsum of rows": (lambda np, a: np.cumsum(a, 0), A),
    "cumsum in the middle": (lambda np, a: np.cumsum(a, axis=1), T),
    "cumsum of all": (lambda np, a: np.cumsum(a), A),
    "from the end": (lambda np, a: np.cumsum(a[:, ::-1], 1)[:, ::-1], A),
    "with a zero": (lambda np, a: np.cumulative_sum(a, axis=0, include_initial=True), A),
    "cumulative_sum": (lambda np, a: np.cumulative_sum(a), x),
    "triu": (lambda np, a: np.triu(a, 1), A),
    "tril": (lambda np, a: np.tril(a, -1), A),
    "tril of a stack": (lambda np, a: np.tril(a), T),
    "of a transpose": (lambda np, a: np.tril(a.T, 2), A),
    "an entry": (lambda np, a: np.cumsum(a)[2], x),
    "a slice": (lambda np, a: np.cumsum(a, 0)[1:3], A),
    "twice": (lambda np, a: np.cumsum(np.cumsum(a, 0), 1), A),
    "a product": (lambda np, a: np.cumsum(a, 1) @ np.cumsum(a.T, 0), A),
    "cumprod": (lambda np, a: np.cumprod(a), x),
    "cumprod of columns": (lambda np, a: np.cumprod(a, 0), A),
    "cumprod in the middle": (lambda np, a: np.cumprod(a, axis=1), T),
    "cumprod of all": (lambda np, a: np.cumprod(a), A),
    "an entry of a running product": (lambda np, a: np.cumprod(a)[3], x),
    "weighted running products": (lambda np, a: np.cumprod(1 - a, 1) @ a.T, A),
    "cumprod twice": (lambda np, a: np.cumprod(np.cumprod(a, 1), 0), A),
    "product of an axis": (lambda np, a: np.prod(a, axis=0) * np.prod(a), A),
    "log of a running sum": (lambda np, a: np.log(np.cumsum(np.exp(a), 1)), A),
    "weighted": (lambda np, a: np.log(np.cumsum((1 + a**2) * np.exp(a), 0)), A),
    "log of a running sum of all": (lambda np, a: np.log(np.cumsum(np.exp(a))), A),
    "log from the end": (lambda np, a: np.log(np.triu(np.ones((5, 5))) @ np.exp(a)), x),
    "partial likelihood": (lambda np, a: a @ np.sin(a) - np.log(np.cumsum(np.exp(a))).sum(), x),
    "products of exponentials": (lambda np, a: np.cumprod(np.exp(a)) ** 2, x),
    "products of shares": (lambda np, a: np.cumprod(1 / (1 + np.exp(a)), axis=1) ** 2, T),
    "products from the end": (lambda np, a: np.cumprod(np.tanh(a)[::-1])[::-1][1:] * a[:-1], x),
    "products, turned": (lambda np, a: np.cumprod(np.exp(a / 8), 1)[:, ::-1] ** 2, A),
    "a square of a running sum": (lambda np, a: np.cumsum(np.cumsum(a, 0) ** 2, 1), A),
    "a mask of a product": (lambda np, a: np.tril(a @ a.T) @ a, A),
}


def differences(function, value, step=1e-5):
    """Return finite differences of a function of an array, along its entries."""
    columns = []
    for place in np.ndindex(value.shape):
        ends = [np.array(value), np.array(value)]
        ends[0][place] += step
        ends[1][place] -= step
        columns.append((function(ends[0]) - function(ends[1])) / (2 * step))
    return np.stack(columns, -1).reshape((*np.shape(columns[0]), *value.shape))


@pytest.mark.parametrize("zeros", [0, 1, 3])
@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives(name, zeros):
    function, symbol = CASES[name]
    value = np.array(values[symbol])
    value.flat[2 : 2 + zeros] = 0
    # A slice from the end needs a number of entries.
    known = symbol if "from the end" not in name else se.TensorSymbol("A", value.shape)
    expr = function(snp, known)
    weighted = snp.sum(snp.sin(expr) * snp.exp(expr / 4))
    outputs = [expr, se.gradient(weighted, known), se.hessian(weighted, known)]
    if zeros:
        outputs[2] = se.jacobian(outputs[1], known, mode="forward")
    found, gradient, hessian = se.lambdify([known], outputs)(value)

    def scalar(a):
        b = function(np, a)
        return (np.sin(b) * np.exp(b / 4)).sum()

    assert_close(found, function(np, value))
    assert_close(gradient, differences(scalar, value), 1e-6)
    assert_close(hessian, differences(se.lambdify([known], outputs[1]), value), 1e-6)
    again = eval(str(expr), {**vars(se), str(known): known, "n": n, "m": m, "p": p})
    assert se.equal(again, expr)


@pytest.mark.parametrize("backend", LIBRARIES)
def test_every_backend(backend):
    library = LIBRARIES[backend]()
    exprs = {
        s: [snp.cumsum(s, 0), *more] for s, more in ((x, [snp.cumsum(x)[2]]), (T, [snp.tril(T)]))
    }
    exprs[A] = [CASES[name][0](snp, A) for name in ("with a zero", "of a transpose", "a product")]
    weight = se.cumsum(A, 1)
    exprs[A] += [se.gradient((weight**2).sum(), A), se.Triangle(n, n, 1) @ A.T, se.tri(m, n, 1)]
    for symbol, outputs in exprs.items():
        results = se.lambdify([symbol], outputs, backend=backend)(library.into(values[symbol]))
        expected = se.lambdify([symbol], outputs)(values[symbol])
        for one, other in zip(results, expected, strict=True):
            assert_close(library.back(one), other, label=backend)


TRIANGLE = testing.Operation(
    "triangles",
    lambda xp, v, axis, offset: xp.einsum(
        "ij,jk->ik", xp.triu(xp.ones((v.shape[axis], v.shape[0])), offset), v
    ),
    lambda c: ([c.one(2, 2)], [c.among([0, 1]), c.among([-2, -1, 0, 1, 2])]),
)
WITH_TRIANGLES = {**testing.OPERATIONS, "times triangle": TRIANGLE}


@given(testing.programs(kinds=("products", "triangles"), operations=WITH_TRIANGLES, numbers=False))
@settings(CONFIG, max_examples=60)
def test_random_products_with_triangles(made):
    expected = made.run(testing.NUMPY, made.arrays())[-1]
    data = dict(zip(made.tensors, made.arrays(), strict=True))
    for form in (made.result, se.simplify(sympify(made.result))):
        assert_close(evaluate(form, data), expected, label=str(form))


@pytest.mark.parametrize("backend", LIBRARIES)
def test_running_functions_on_every_backend(backend):
    library = LIBRARIES[backend]()
    b = se.TensorSymbol("b", n + 1)
    log, product, extremes = se.logcumsumexp(x), se.cumprod(x), np.array([0, 800.0, -800, 5, -3])
    f, g = se.sin(log).sum(), se.sin(product).sum() * b[2]
    outputs = [log, se.logcumsumexp(A, 0), product, se.cumprod(A, 0), b @ se.interval_products(x)]
    outputs += [
        se.running_softmax(A),
        *[d(h, x) for h in (f, g) for d in (se.gradient, se.hessian)],
    ]
    call = se.lambdify([x, A, b], outputs, backend=backend)
    reference = se.lambdify([x, A, b], outputs)
    for own in (values[x], extremes, np.array([0.5, 0, 2, 0, 3])):
        arrays = own, values[A], np.arange(6.0)
        expected = reference(*arrays)
        results = call(*map(library.into, arrays))
        for one, other in zip(results, expected, strict=True):
            assert_close(library.back(one), other, label=backend)


@pytest.mark.slow
def test_jax_maps_and_differentiates_running_functions():
    """No branch that isn't chosen makes a derivative nan where weights vanish."""
    jax = jax64()
    f = se.sin(se.logcumsumexp(x)).sum()
    derivatives = se.lambdify([x], se.gradient(f, x))
    rows = np.array([[0.0, 1, -2, 0.5], [-800, 0, 800, 1], [3, -700, 2, 1], [-1e5, 0, 1, 2]])
    expected = [derivatives(row) for row in rows]
    by_us = se.lambdify([x], se.gradient(f, x), "jax")
    np.testing.assert_allclose([by_us(row) for row in rows], expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(jax.vmap(by_us)(rows), expected, rtol=1e-9, atol=1e-12)
    by_jax = jax.vmap(jax.grad(se.lambdify([x], f, "jax")))
    np.testing.assert_allclose(by_jax(rows), expected, rtol=1e-9, atol=1e-12)


def test_log_of_running_sums_is_finite():
    """Compared with sums of few exponentials, where nothing overflows."""
    data = np.array([0.0, 800, -800, 799, 801, -300])
    z = se.TensorSymbol("z", 6)
    y = se.log(se.cumsum(se.exp(z)))
    weights = np.arange(6.0) - 2
    value, derivatives, curvature = se.lambdify(
        [z], [y, se.diff(y, z), se.hessian(y @ se.Constant(weights), z)]
    )(data)
    shares = np.zeros((6, 6))
    for j in range(6):
        powers = np.exp(data[: j + 1] - data[: j + 1].max())
        shares[j, : j + 1] = powers / powers.sum()
        assert np.isclose(value[j], np.log(powers.sum()) + data[: j + 1].max())
    assert_close(derivatives, shares)
    pairs = np.einsum("j,ji,jk->ik", weights, shares, shares)
    assert_close(curvature, np.diag(weights @ shares) - pairs)


def test_recurrences_where_running_products_vanish():
    b = se.TensorSymbol("b", n + 1)
    forwards, backwards = b @ se.interval_products(x), se.interval_products(x) @ b
    data = np.full(3000, 0.5), np.random.default_rng(0).standard_normal(3001)
    ahead, behind = data[1].copy(), data[1].copy()
    for k in range(3000):
        ahead[k + 1] += data[0][k] * ahead[k]
        behind[-k - 2] += data[0][-k - 1] * behind[-k - 1]
    results = se.lambdify([x, b], [forwards, backwards])(*data)
    for one, other in zip(results, (ahead, behind), strict=True):
        assert_close(one, other)


@pytest.mark.parametrize("offset", [-1, 0, 2])
@pytest.mark.parametrize("subscripts", ["ks,ms,ls->mkl", "sk,ms,sl->lkm", "ks,ms,ml,ls->lk"])
def test_pairs_of_triangles(subscripts, offset):
    """Running sums at the larger or the smaller of two positions."""
    rows, columns = (7, 5) if subscripts.startswith("k") else (5, 7)
    symbols = [se.TensorSymbol("C", 4, 5), se.TensorSymbol("D", 4, 7)][: subscripts.count(",") - 1]
    arrays = [rng.standard_normal(symbol.shape) for symbol in symbols]
    first, last = [np.tri(columns, rows, -offset).T] * 2
    triangle = se.Triangle(rows, columns, offset)
    found = se.lambdify(symbols, se.einsum(subscripts, triangle, *symbols, triangle))
    assert_close(found(*arrays), np.einsum(subscripts, first, *arrays, last))
    assert ("mirrored(" in found.source) == (len(symbols) == 1)


@pytest.mark.parametrize("known", [{}, {"nonnegative": True}])
def test_partial_likelihood(known):
    """Its Hessian needs the means of the features only once."""
    died, beta = se.TensorSymbol("died", m, **known), se.TensorSymbol("beta", n)
    scores = A @ beta
    f = snp.sum(died * (snp.log(snp.cumsum(snp.exp(scores))) - scores))
    derivatives, hessian = (
        se.lambdify([A, died, beta], d) for d in (se.gradient(f, beta), se.hessian(f, beta))
    )
    for scale in (1, 400):
        data = scale * values[A], np.array([1.0, 0, 2, 1]), values[x] / scale
        step = 1e-5 / scale * np.eye(5)
        columns = [
            (derivatives(*data[:2], data[2] + d) - derivatives(*data[:2], data[2] - d))
            / d.max()
            / 2
            for d in step
        ]
        assert_close(hessian(*data) / scale**2, np.stack(columns, 1) / scale**2, 1e-6)
    assert hessian.source.count("= running_mean(") == 2
    assert ("weighted_gram" in hessian.source) == bool(known)


def test_joined_intervals():
    """The entry omitted by a running product is multiplied back, also where it is zero."""
    y = se.TensorSymbol("y", n)
    derivatives = [
        x * se.gradient(f, x) for f in (se.cumprod(x) @ y, y @ se.interval_products(x)[1:, n])
    ]
    found = se.lambdify([x, y], [se.simplify(derivative) for derivative in derivatives])
    assert "recurrence" not in found.source
    for zeros in range(3):
        data, weights = values[x].copy(), np.arange(5.0) - 1
        data[1 : 1 + zeros] = 0
        ahead, behind = (
            data.cumprod() * weights,
            np.append(data[:0:-1].cumprod()[::-1], 1) * weights,
        )
        expected = [ahead[::-1].cumsum()[::-1], np.append(0, behind.cumsum()[:-1])]
        for one, other in zip(found(data, weights), expected, strict=True):
            assert_close(one, other)


def test_a_power_of_the_omitted_entry_joins_intervals():
    y = se.TensorSymbol("y", n)
    derivative = se.gradient(se.cumprod(x) @ y, x)
    joined = se.simplify(x * derivative)
    assert se.simplify(x**2 * derivative) == se.simplify(x * joined)
    assert se.simplify(x**2 * se.sin(x) * derivative) == se.simplify(x * se.sin(x) * joined)
    for factor in (1 / x, se.exp(x), se.sin(y)):
        assert "recurrence" in se.lambdify([x, y], se.simplify(factor * derivative)).source


def test_positions_within_positions():
    """F diag(s) F of a flip F and reversed running sums: the entries are on one diagonal."""
    z = se.TensorSymbol("z", 5)
    y = snp.log(snp.triu(snp.ones((5, 5))) @ snp.exp(z))
    derivatives = se.gradient(snp.sum(snp.sin(y) * snp.exp(y / 4)), z)
    curvature = se.jacobian(derivatives, z, mode="forward", simplify=False)
    derivative, step, data = se.lambdify([z], derivatives), 1e-6, values[x]
    columns = [(derivative(data + d) - derivative(data - d)) / (2 * step) for d in step * np.eye(5)]
    assert_close(se.lambdify([z], curvature)(data), np.stack(columns, 1), 1e-7)


def test_no_triangle_is_built():
    count = 400_000
    y = se.TensorSymbol("y", n)
    f = (se.cumsum(y * x) ** 2).sum() + se.cumsum(x)[3] * (x @ se.Triangle(n, n, 1) @ y)
    functions = se.lambdify([x, y], [f, *se.gradient(f, [x, y]), se.hvp(f, x, y)])
    arrays = [np.random.default_rng(k).standard_normal(count) for k in range(2)]
    tracemalloc.start()
    functions(*arrays)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * 8 * count


@pytest.mark.parametrize("length", [0, 1])
def test_short_axes(length):
    found = se.lambdify([A], [snp.cumsum(A, 1), snp.triu(A, 1), se.Triangle(n, n + 2, 1).T @ A.T])
    value = np.arange(2.0 * length).reshape(2, length)
    longer = np.cumulative_sum(value, axis=1, include_initial=True)
    expected = [value, np.triu(value, 1), np.concatenate([longer, longer[:, -1:]], 1).T]
    for one, other in zip(found(value), expected, strict=True):
        assert_close(one, other)


def test_trivial_triangles():
    assert se.Triangle(3, 4, -2) == se.Ones(3, 4)
    assert se.Triangle(3, 4, 4) == se.Zeros(3, 4)


def test_as_sums():
    i, j, k = symbols("i j k", integer=True)
    assert str(se.to_indexed(se.cumsum(x), [i])) == "Sum(x[j], (j, 0, i))"
    assert str(se.to_indexed(se.Triangle(n) @ x, [i])) == "Sum(x[j], (j, i, n - 1))"
    masked = se.to_indexed(se.triu(A, k), [i, j])
    assert str(masked) == "Piecewise((1, j >= i + k), (0, True))*A[i, j]"
    z, B = se.TensorSymbol("z", 3), se.TensorSymbol("B", 2, 3)
    for expr in (se.cumsum(z), se.triu(B, 1), se.cumsum(se.cumsum(B, 1), 0), se.tri(2, 3, 1)):
        numbers = se.lambdify([z, B], expr)(np.arange(3), np.arange(6).reshape(2, 3))
        data = {z[j]: j for j in range(3)} | {B[a, b]: 3 * a + b for a, b in np.ndindex(2, 3)}
        entries = np.array(expr.as_explicit().subs(data), float)
        assert_close(entries.reshape(numbers.shape), numbers)
    assert np.array(se.to_matrix(se.tri(2, 3, 1)).doit()).tolist() == [[1, 1, 0], [1, 1, 1]]


@pytest.mark.parametrize(
    ("build", "error", "text"),
    [
        (lambda: se.cumsum(A, 2), se.ShapeError, "axis 2 is out of range"),
        (lambda: snp.cumulative_sum(A), se.TensorError, "needs an axis"),
        (lambda: se.triu(x), se.ShapeError, "triu takes a tensor of order 2 or more, not 1"),
        (lambda: se.tri(3, 3, 0.5), se.TensorError, "offset of a triangle is an integer"),
        (lambda: np.cumsum(x, dtype=int), se.UnsupportedError, "dtype"),
    ],
)
def test_errors(build, error, text):
    with pytest.raises(error, match=text):
        build()


LOGARITHMS = {
    "summed over the other axis too": ("ij,jk->i", ["exp(A)"]),
    "a matrix between": ("ij,jk,k->i", ["P", "exp(x)"]),
    "beside": ("ij,ik,k->i", ["P", "exp(x)"]),
    "along": ("ij,j->i", ["exp(x)"]),
    "weighted": ("ij,ij,j->i", ["P", "exp(x)"]),
}


@pytest.mark.parametrize("name", LOGARITHMS)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_logarithms_of_sums_with_triangles(name):
    """Few of them are running sums."""
    subscripts, names = LOGARITHMS[name]
    square, v = se.TensorSymbol("P", (n, n), positive=True), se.TensorSymbol("v", n)
    tall = se.TensorSymbol("B", n, m)
    parts = {"P": square, "exp(x)": se.exp(v), "exp(A)": se.exp(tall)}
    given = {square: rng.random((4, 4)) + 0.1, v: rng.random(4), tall: rng.random((4, 3))}
    numbers = {"P": given[square], "exp(x)": np.exp(given[v]), "exp(A)": np.exp(given[tall])}
    total = se.einsum(subscripts, snp.tri(n), *[parts[own] for own in names])
    expected = np.log(np.einsum(subscripts, np.tri(4), *[numbers[own] for own in names]))
    assert_close(se.lambdify(list(given), se.log(total))(*given.values()), expected)
