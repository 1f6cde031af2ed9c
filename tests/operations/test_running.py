"""Running sums and triangles: values, derivatives, and that no triangle is ever built."""

import tracemalloc

import numpy as np
import pytest
from einsum_programs import LENGTHS, SIZES, Generator
from libraries import LIBRARIES
from oracles import assert_close, jax64
from sympy import Symbol, symbols, sympify

import sympy_einsum as se
import sympy_einsum.numpy as snp

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
    "a mask of a product": (lambda np, a: np.tril(a @ a.T) @ a, A),
}


def lengths_of(symbol):
    return dict(zip(symbol.shape, values[symbol].shape, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives(name):
    function, symbol = CASES[name]
    value, jax = values[symbol], jax64()
    # A slice from the end needs a number of entries.
    known = symbol if name != "from the end" else se.TensorSymbol("A", value.shape)
    expr = function(snp, known)
    weighted = (snp.sin(expr) * snp.exp(expr / 4)).sum() if expr.shape else snp.sin(expr)
    found = se.lambdify([known], [expr, se.gradient(weighted, known), se.hessian(weighted, known)])

    def scalar(a):
        b = function(jax.numpy, a)
        return (jax.numpy.sin(b) * (jax.numpy.exp(b / 4) if b.shape else 1)).sum()

    expected = [function(np, value), jax.grad(scalar)(value), jax.hessian(scalar)(value)]
    for one, other in zip(found(value), expected, strict=True):
        assert_close(one, other, label=name)
    again = eval(str(expr), {**vars(se), str(known): known, "n": n, "m": m, "p": p})
    assert se.equal(again, expr)


@pytest.mark.parametrize("backend", LIBRARIES)
def test_every_backend(backend):
    library = LIBRARIES[backend]()
    exprs = {s: [f(snp, s) for f, own in CASES.values() if own is s] for s in (x, T)}
    exprs[A] = [CASES[name][0](snp, A) for name in ("with a zero", "of a transpose", "a product")]
    weight = se.cumsum(A, 1)
    exprs[A] += [se.gradient((weight**2).sum(), A), se.Triangle(n, n, 1) @ A.T, se.tri(m, n, 1)]
    for symbol, outputs in exprs.items():
        results = se.lambdify([symbol], outputs, backend=backend)(library.into(values[symbol]))
        expected = se.lambdify([symbol], outputs)(values[symbol])
        for one, other in zip(results, expected, strict=True):
            assert_close(library.back(one), other, label=backend)


class WithTriangles(Generator):
    """Random products in which every other operand is a triangle."""

    def leaf(self):
        if self.choice.random() < 0.5:
            return super().leaf()
        rows, columns = (self.choice.choice("abc") for _ in range(2))
        offset = self.choice.randint(-2, 2)
        array = np.tri(SIZES[columns], SIZES[rows], -offset).T
        return se.Triangle(LENGTHS[rows], LENGTHS[columns], offset), array, rows + columns


@pytest.mark.parametrize("seed", range(60))
def test_random_products(seed):
    program = WithTriangles(seed)
    expr, value, _ = program.expression(2)
    lengths = [Symbol("n" + k, integer=True, positive=True) for k in "abc"]
    arguments = [*program.data, *lengths]
    numbers = [*program.data.values(), *[SIZES[k] for k in "abc"]]
    for form in (expr, se.simplify(sympify(expr))):
        assert_close(se.lambdify(arguments, form)(*numbers), value, label=str(form))


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
