"""The work of the compiler grows as the graph does, for each kind of graph and each backend. Work
is counted in function calls, never in seconds."""

import functools

import numpy as np
import pytest
import sympy
from oracles import assert_close, calls, n
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.compiler.ir.instruction_rules import Instruction
from sympy_einsum.compiler.ir.types import deciding_type, type_sources
from sympy_einsum.core.tuning import MAX_TYPE_SOURCES
from sympy_einsum.expressions import slot

x = se.TensorSymbol("x", n)
A = se.TensorSymbol("A", n, n)


def vectors(count, length=n):
    return [se.TensorSymbol(f"v{j}", length) for j in range(count)]


def iterated(step, count):
    return functools.reduce(lambda u, _: step(u), range(count), x)


def with_gradient(step):
    """Return an iterated function with its gradient."""

    def graph(count):
        total = iterated(step, count).sum()
        return [A, x], [total, se.gradient(total, x)]

    return graph


def network(count):
    weights = [se.TensorSymbol(f"W{j}", n, n) for j in range(count)]
    h = functools.reduce(lambda u, W: se.tanh(W @ u), weights, x)
    return [x, *weights], [h @ h, *se.gradient(h @ h, weights)]


def recurrent(count):
    """Return a network with one matrix in all layers: its gradient is a sum of outer products."""
    total = iterated(lambda u: se.tanh(A @ u), count).sum()
    return [A, x], [total, se.gradient(total, A)]


def wide_sum(count):
    total = sum([se.sin(j * x) for j in range(1, count + 1)]).sum()
    return [x], [total, se.gradient(total, x)]


def wide_sum_of_squares(count):
    symbols = vectors(count)
    total = sum([se.sin(v) ** 2 for v in symbols]).sum()
    return symbols, [total, *se.gradient(total, symbols)]


def slices(count):
    X = se.TensorSymbol("X", count + 3)
    total = sum([se.sin(X[j : j + 3]) * X[j + 1 : j + 4] for j in range(count)]).sum()
    return [X], [total, se.gradient(total, X)]


def blocks(count):
    """Return a matrix assembled from blocks."""
    X = se.TensorSymbol("X", 2, 3)
    rows = [[se.sin((j + k) * X) for k in range(1, 6)] for j in range(count // 5)]
    return [X], [se.block(rows)]


def entries(count):
    names = symbols("z:5")
    rows = [[sympy.sin(j * a) for a in names] for j in range(1, 1 + count // 5)]
    return list(names), [se.from_array(sympy.Array(rows))]


def stacked(count):
    rows = se.stack([se.sin(j * x) for j in range(1, count + 1)])
    return [x], [rows, se.gradient((rows**2).sum(), x)]


def product_of_matrices(count):
    factors = [se.TensorSymbol(f"M{j}", n, n) for j in range(count)]
    f = functools.reduce(lambda u, M: u @ M, factors, x) @ x
    return [x, *factors], [f, se.gradient(f, factors[count // 2])]


GRAPHS = {
    "chain": with_gradient(lambda u: se.sin(u) + x / 2),
    "shared": with_gradient(lambda u: se.sin(u) * u),
    # Short ones are powers.
    "squares": lambda count: ([x], [iterated(lambda u: u * u, 4 * count)]),
    "scaled squares": lambda count: ([x], [iterated(lambda u: u * u / 8 + x, count)]),
    "tower": with_gradient(lambda u: se.tanh(A @ u)),
    "residual": with_gradient(lambda u: u + se.tanh(A @ u)),
    "scalars between": lambda count: ([x], [iterated(lambda u: u / (1 + u @ u) + x, count)]),
    "network": network,
    "recurrent": recurrent,
    "wide sum": wide_sum,
    "wide sum of squares": wide_sum_of_squares,
    "slices": slices,
    "blocks": blocks,
    "entries": entries,
    "stacked": stacked,
    "product of matrices": product_of_matrices,
}
SMALL, LARGE = 100, 200
GROWTH = (LARGE / SMALL) * 1.1
CONSTANT = 3000


def work(graph, count, backend="numpy", **options):
    arguments, exprs = graph(count)
    return calls(lambda: se.lambdify(arguments, exprs, backend, **options))


def check_growth(graph, backend="numpy", **options):
    work(graph, 10, backend, **options)  # caches are filled on first use
    small, large = (work(graph, count, backend, **options) for count in (SMALL, LARGE))
    assert large <= GROWTH * small + CONSTANT, f"{small} calls for {SMALL}, {large} for {LARGE}"


@pytest.mark.parametrize("name", GRAPHS)
def test_compiling_is_linear(name):
    check_growth(GRAPHS[name])


@pytest.mark.parametrize(
    "name", ["chain", "scaled squares", "tower", "recurrent", "wide sum", "slices", "entries"]
)
@pytest.mark.parametrize("backend", ["numba", "jax", "torch", "dask", "cupy"])
def test_compiling_is_linear_on_every_backend(backend, name):
    pytest.importorskip(backend)
    check_growth(GRAPHS[name], backend)


SHARED_SCALARS = {
    "norm": lambda u: u / se.norm(u) + x,
    "square": lambda u: u / (u @ u) + x,
    "scaled by its square": lambda u: u * (u @ u) + x,
    "softmax": lambda u: se.softmax(u) + x,
    "centred": lambda u: u - u.mean() + x,
    "layer normalisation": lambda u: (u - u.mean()) / se.sqrt(((u - u.mean()) ** 2).mean()) + x,
    "share": lambda u: u / u.sum() + x,
    "largest": lambda u: u / u.max() + x,
    "exponential": lambda u: u * sympy.exp(u @ u) + x,
    "sine": lambda u: u * sympy.sin(u.sum()) + x,
    "entry": lambda u: u * u[0] + x,
    "exponent": lambda u: u ** u.sum() + x,
}


@pytest.mark.parametrize("name", SHARED_SCALARS)
def test_tensors_share_their_scalars(name):
    """In graphs that are small enough for all rules."""
    total = iterated(SHARED_SCALARS[name], 13)
    assert calls(lambda: se.lambdify([x], total)) < 10**6


@pytest.mark.parametrize("backend", ["numba", "jax", "torch", "dask", "cupy"])
@pytest.mark.parametrize("name", ["norm", "layer normalisation", "exponential"])
def test_tensors_share_their_scalars_on_every_backend(name, backend):
    pytest.importorskip(backend)
    se.lambdify([x], x / se.norm(x), backend)  # libraries are loaded on first use
    total = iterated(SHARED_SCALARS[name], 9)
    assert calls(lambda: se.lambdify([x], total, backend)) < 10**6


@pytest.mark.parametrize("semiring", ["max-plus", "count", "log"])
def test_compiling_is_linear_in_semirings(semiring):
    check_growth(lambda count: ([A, x], iterated(lambda u: A @ u + x, count)), semiring=semiring)


@pytest.mark.parametrize("name", GRAPHS)
def test_compiled_graphs_are_right(name):
    """Compare with expressions evaluated without optimisation."""
    arguments, exprs = GRAPHS[name](20)
    rng = np.random.default_rng(3)
    sizes = [
        [3 if not length.is_Integer else int(length) for length in getattr(s, "shape", ())]
        for s in arguments
    ]
    data = [rng.uniform(-0.4, 0.4, size) for size in sizes]
    found = se.lambdify(arguments, exprs)(*data)
    for own, other in zip(found, se.lambdify(arguments, exprs, optimize=False)(*data), strict=True):
        assert_close(own, other)


@pytest.mark.parametrize("name", ["wide sum", "wide sum of squares"])
def test_long_graphs_compile_without_recursion(name):
    arguments, exprs = GRAPHS[name](900)
    assert se.lambdify(arguments, exprs).source.count("\n") > 900


def test_types_are_those_of_few_others():
    """Unions over all earlier values would take quadratic memory."""
    total, steps = 0, [Instruction("argument", (), (x,), (n,))]
    for _ in range(100):
        steps.append(Instruction("elementwise", (total,), (sympy.sin(slot(0)),), (n,)))
        steps.append(Instruction("add", (total, len(steps) - 1), ((1, 1),), (n,)))
        total = len(steps) - 1
    sources = type_sources(steps)
    assert max(map(len, sources)) == MAX_TYPE_SOURCES
    assert sources[2] == {0, 1}


def test_the_type_of_many_values_is_that_of_each_source():
    sets = [{0}, {0, 1}, set(), {2}, {1}, {2}, {3, 0}, {0, 1}]
    sources = [frozenset(own) for own in sets]
    assert deciding_type(range(len(sets)), sources) == [1, 3, 6]
    assert deciding_type([2], sources) == [2]
    assert deciding_type([2, 3], sources) == [3]


@pytest.mark.parametrize("seed", range(5))
def test_values_written_to_one_place_are_added(seed):
    """Entries, rows, columns, slices with steps and blocks of a matrix, against NumPy."""
    rng = np.random.default_rng(seed)
    X = se.TensorSymbol("X", 12, 12)
    value = rng.standard_normal((12, 12))
    total, expected = se.Zeros(12, 12), np.zeros((12, 12))
    for _ in range(25):
        cuts = []
        for _ in range(2):
            first, last = sorted(rng.choice(13, 2, replace=False))
            whole, entry = slice(None), int(rng.integers(12))
            cuts.append([whole, entry, slice(int(first), int(last), int(rng.integers(1, 4)))])
        key = tuple([own[rng.integers(3)] for own in cuts])
        part = se.sin(X[key])
        total = total + se.gradient(part.sum() if getattr(part, "shape", ()) else part, X)
        expected[key] += np.cos(value[key])
    assert_close(se.lambdify([X], total)(value), expected)


# For a link of a chain, of which the gradient has three nodes, or a term of a sum.
MOST_CALLS = 4200


@pytest.mark.parametrize("name", ["chain", "tower", "wide sum"])
def test_compiling_takes_few_calls_for_each_node(name):
    work(GRAPHS[name], 10)  # caches are filled on first use
    small, large = (work(GRAPHS[name], count) for count in (SMALL, LARGE))
    assert large - small < MOST_CALLS * (LARGE - SMALL)
