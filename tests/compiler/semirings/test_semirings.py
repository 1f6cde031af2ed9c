"""Products and sums in semirings, against the definition of einsum, entry by entry."""

from __future__ import annotations

import pickle
import re
import tracemalloc
from functools import reduce
from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np
import pytest
from cuda_on_host import RawKernel
from libraries import LIBRARIES
from scipy.sparse import csgraph
from semirings import (
    ARGUMENTS,
    EXPRESSIONS,
    LENGTHS,
    MEANINGS,
    A,
    B,
    Bottleneck,
    C,
    Modular,
    S,
    arrays,
    c,
    hidden_markov_model,
    k,
    m,
    matches,
    n,
    u,
    v,
    w,
)
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.core import children, postorder, tuning
from sympy_einsum.expressions import Einsum, Elementwise, Reshape, Slot, TensorAdd, TensorExpr


def evaluated(expr, values, meaning):
    """Return the value of an expression by the definition of its nodes."""
    add, multiply, zero, one = meaning

    def natural(number):
        return reduce(add, [one] * int(number), zero)

    def entrywise(function, *arrays):
        return np.vectorize(function, otypes=[object])(*arrays)

    def body(part, entries):
        if isinstance(part, Slot):
            return entries[part.place]
        if part.is_Number:
            return natural(part)
        if part.is_Pow:
            return reduce(multiply, [body(part.base, entries)] * int(part.exp))
        return reduce(
            multiply if part.is_Mul else add, [body(inner, entries) for inner in part.args]
        )

    def einsum(node, operands):
        lengths = [int(length.subs(LENGTHS)) for length in node.lengths]
        result = np.full([lengths[i] for i in node.output], zero, object)
        for place in product(*map(range, lengths)):
            pairs = zip(operands, node.subscripts, strict=True)
            factors = [np.asarray(o, object)[tuple(place[i] for i in own)] for o, own in pairs]
            at = tuple(place[i] for i in node.output)
            result[at] = add(result[at], reduce(multiply, factors, one))
        return result

    known = dict(values)
    for node in postorder([expr]):
        if node in known:
            continue
        operands = [known[child] for child in children(node)]
        if isinstance(node, Einsum):
            known[node] = einsum(node, operands)
        elif isinstance(node, TensorAdd):
            known[node] = reduce(lambda x, y: entrywise(add, x, y), operands)
        elif isinstance(node, Elementwise):
            own = node.body
            known[node] = entrywise(lambda *entries, own=own: body(own, entries), *operands)
        elif isinstance(node, Reshape):
            known[node] = operands[0].reshape([int(length.subs(LENGTHS)) for length in node.shape])
        elif isinstance(node, TensorExpr):
            array = se.lambdify([A, B], node)(np.zeros((3, 4)), np.zeros((4, 5)))
            known[node] = entrywise(natural, array)
        elif node.is_integer:
            known[node] = natural(node.subs(LENGTHS))
        elif node.is_Pow:
            known[node] = reduce(multiply, [operands[0]] * int(node.exp))
        else:
            known[node] = reduce(multiply if node.is_Mul else add, operands)
    return known[expr]


@pytest.mark.parametrize("semiring", MEANINGS, ids=str)
def test_every_expression_has_the_value_of_its_definition(semiring):
    given = arrays(semiring)
    values = dict(zip(ARGUMENTS, [np.asarray(a, object) for a in given], strict=True))
    function = se.lambdify(
        ARGUMENTS, EXPRESSIONS, semiring=semiring if isinstance(semiring, str) else semiring()
    )
    for expr, value in zip(EXPRESSIONS, function(*given), strict=True):
        matches(value, evaluated(expr, values, MEANINGS[semiring]), semiring)


@pytest.mark.parametrize("backend", ["jax", "torch", "dask"])
@pytest.mark.parametrize(
    ("semiring", "first"), [("min-plus", 1), ("or-and", 2), ("log", 4), ("count", 5), (Modular, 7)]
)
def test_expressions_have_the_same_value_with_other_libraries(backend, semiring, first):
    library = LIBRARIES[backend]()
    given = arrays(semiring, seed=1)
    # Dask can't reshape these chunks.
    chosen = [e for e in EXPRESSIONS[first::9] if backend != "dask" or not e.has(Reshape)]
    own = semiring if isinstance(semiring, str) else semiring()
    expected = se.lambdify(ARGUMENTS, chosen, semiring=own)(*given)
    found = se.lambdify(ARGUMENTS, chosen, backend, semiring=own)(*map(library.into, given))
    for value, other in zip(found, expected, strict=True):
        matches(library.back(value), other, semiring)
        assert np.asarray(library.back(value)).dtype == np.asarray(other).dtype


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "dask"])
@pytest.mark.parametrize("semiring", ["min-plus", "or-and", "log", "count", Modular])
def test_scatters(backend, semiring):
    """The transpose of a gather: several entries at one position, none at another, and negative
    positions."""
    library = LIBRARIES[backend]()
    p, q = se.TensorSymbol("p", 6), se.TensorSymbol("q", 6)
    X, y = se.TensorSymbol("X", 6, n), se.TensorSymbol("y", 6)
    hot, other = se.one_hot(p, 4), se.one_hot(q, n)
    exprs = [hot.T @ X, se.einsum("pm,pn,p->mn", hot, other, y), hot.sum(axis=0)]
    places, columns = np.array([0, 2, -1, 2, 0, 2]), np.array([0, 3, 3, -1, 0, 1])
    a = arrays(semiring)[3]
    a = np.concatenate([a, a])[:6]
    own = semiring if isinstance(semiring, str) else semiring()
    function = se.lambdify([p, q, X, y], exprs, backend, semiring=own)
    positions = [places, columns] if backend == "dask" else map(library.into, (places, columns))
    found = function(*positions, library.into(a), library.into(a[:, 0]))
    add, _, zero, one = MEANINGS[semiring]
    expected = [np.full(shape, zero, object) for shape in ((4, 4), (4, 4), (4,))]
    for row, place, column in zip(a.tolist(), places, columns, strict=True):
        for j, entry in enumerate(row):
            expected[0][place, j] = add(expected[0][place, j], entry)
        expected[1][place, column] = add(expected[1][place, column], row[0])
        expected[2][place] = add(expected[2][place], one)
    for value, other in zip(found, expected, strict=True):
        matches(library.back(value), other, semiring)


def with_kernels():
    """NumPy in place of CuPy, with kernels that run on the host."""
    return SimpleNamespace(**vars(np), RawKernel=RawKernel)


def test_chunks_are_multiplied_one_by_one():
    """The graph grows with the chunks, and no chunk holds all products of entries."""
    library = LIBRARIES["dask"]()
    a, b = np.random.default_rng(0).random((6, 8)), np.random.default_rng(1).random((8, 4))
    chunked = [library.module.from_array(array, chunks=2) for array in (a, b)]
    value = se.lambdify([A, B], A @ B, "dask", semiring="min-plus")(*chunked)
    assert value.chunks == ((2, 2, 2), (2, 2))
    assert len(value.__dask_graph__()) < 100
    np.testing.assert_array_equal(value.compute(), np.min(a[..., None] + b, axis=1))


def test_lengths_are_numbers_before_they_are_numbers_of_ones():
    """k**2 occurs in two of these, and isn't the product of k with itself in the semiring."""
    exprs = [k**2 * w, k**2 * n * w, (k**2 * n + k) * w]
    given = np.zeros((4, 5)), np.zeros(5)
    values = se.lambdify([B, w], exprs, semiring="log")(*given)
    for value, number in zip(values, (25, 100, 105), strict=True):
        np.testing.assert_allclose(value, np.full(5, np.log(number)))


def test_sums_with_numbers_of_ones_are_exact():
    large = np.full(4, 2**60 + 1)
    value = se.lambdify([u, v], u * v + 3, semiring="count")(large, np.ones(4, int))
    assert value.dtype == np.int64
    np.testing.assert_array_equal(value, large + 3)


# CuPy warns of nothing.
@pytest.mark.filterwarnings("ignore:divide by zero encountered in log:RuntimeWarning")
@pytest.mark.parametrize("semiring", ["max-times", "log", "count"])
def test_cupy_code_on_numpy(semiring):
    """Run the generated text with NumPy in place of CuPy, with read-only diagonals."""
    given = arrays(semiring, seed=2)
    for expr in EXPRESSIONS:
        source = se.codegen(ARGUMENTS, expr, "cupy", semiring=semiring)
        if re.search(r"diagonal.*\] = ", source) is None:
            lines = [line for line in source.splitlines() if not line.startswith("import")]
            namespace = {"cp": with_kernels()}
            exec("\n".join(lines), namespace)
            expected = se.lambdify(ARGUMENTS, expr, semiring=semiring)(*given)
            matches(namespace["function"](*given), expected, semiring)


@pytest.mark.filterwarnings("ignore:divide by zero encountered in log:RuntimeWarning")
@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("semiring", ["max-plus", "min-plus", "max-times", "log"])
def test_kernel_of_products(semiring, kind, monkeypatch):
    """Compare the kernel with NumPy's code, at lengths that aren't those of a tile, with zeros of
    the semiring, infinities and NaN."""
    # Two large tiles are enough here.
    monkeypatch.setattr(tuning, "MIN_DEVICE_TILES", 2)
    source = se.codegen([A, B], A @ B, "cupy", semiring=semiring)
    lines = [line for line in source.splitlines() if not line.startswith("import")]
    namespace = {"cp": with_kernels()}
    exec("\n".join(lines), namespace)
    reference = se.lambdify([A, B], A @ B, semiring=semiring)
    generator = np.random.default_rng(0)
    for rows, length, columns in ((70, 35, 66), (1, 1, 1), (3, 0, 2), (0, 4, 5), (2, 130, 3)):
        x = generator.random((rows, length)).astype(kind)
        y = generator.random((length, columns)).astype(kind)
        if length > 16:
            x[0], x[1, 3], x[1, 4], y[5, 2], y[6, 1] = -np.inf, np.inf, np.nan, -np.inf, np.inf
            if semiring == "max-times":
                x, y = np.abs(x), np.abs(y)
        with np.errstate(invalid="ignore"):
            found, expected = namespace["function"](x, y), reference(x, y)
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, rtol=1e-5 if kind == "float32" else 1e-12)


def test_shortest_paths_are_those_of_scipy():
    length = 40
    generator = np.random.default_rng(0)
    weights = np.where(generator.random((length, length)) < 0.1, generator.random((length,) * 2), 0)
    expected = csgraph.floyd_warshall(weights)
    W = se.TensorSymbol("W", (n, n))
    step = se.lambdify([W], (W + se.Delta(n)) @ (W + se.Delta(n)), semiring="min-plus")
    paths = np.where(weights == 0, np.inf, weights)
    for _ in range(6):
        paths = step(paths)
    np.testing.assert_allclose(paths, expected, rtol=1e-12)
    power = se.lambdify([W], se.matrix_power(W + se.Delta(n), 3), semiring="min-plus")
    few = power(np.where(weights == 0, np.inf, weights))
    assert (few >= expected - 1e-12).all()
    assert np.isinf(few).sum() > np.isinf(expected).sum()


def test_forward_algorithm_and_viterbi():
    steps, states = 6, 3
    generator = np.random.default_rng(2)
    start, moves, seen = (np.log(generator.random(s)) for s in ((3,), (3, 3), (6, 3)))
    ways = [
        start[way[0]]
        + sum(moves[a, b] for a, b in pairwise(way))
        + sum(seen[place, state] for place, state in enumerate(way))
        for way in product(range(states), repeat=steps)
    ]
    arguments, weight = hidden_markov_model(steps)
    best = se.lambdify(arguments, weight, semiring="max-plus")(start, moves, seen)
    total = se.lambdify(arguments, weight, semiring="log")(start, moves, seen)
    assert best == pytest.approx(max(ways), rel=1e-13)
    assert total == pytest.approx(np.logaddexp.reduce(ways), rel=1e-13)
    probable = [np.exp(a) for a in (start, moves, seen)]
    assert se.lambdify(arguments, weight, semiring="max-times")(*probable) == pytest.approx(
        np.exp(max(ways)), rel=1e-12
    )


def test_a_grammar_is_parsed_by_or_and():
    """S -> S S | "(" S ")" | "()", as rules of two symbols: S -> S S | ( R | ( ), R -> S )."""
    rules = np.zeros((4, 4, 4), bool)
    for left, first, second in [(0, 0, 0), (0, 2, 1), (0, 2, 3), (1, 0, 3)]:
        rules[left, first, second] = True
    p, q = symbols("p q", integer=True, positive=True)
    R, X, Y = se.TensorSymbol("R", p, p, p), se.TensorSymbol("X", q, p), se.TensorSymbol("Y", q, p)
    join = se.lambdify([R, X, Y], se.einsum("abc,kb,kc->a", R, X, Y), semiring="or-and")

    def is_word(text):
        size = len(text)
        chart = np.zeros((size, size + 1, 4), bool)
        for i, letter in enumerate(text):
            chart[i, i + 1, {"(": 2, ")": 3}[letter]] = True
        for length in range(2, size + 1):
            for i in range(size - length + 1):
                middle = range(i + 1, i + length)
                chart[i, i + length] |= join(
                    rules, chart[i, middle], np.array([chart[k, i + length] for k in middle])
                )
        return bool(chart[0, size, 0])

    for text in map("".join, product("()", repeat=6)):
        depth = np.cumsum([1 if letter == "(" else -1 for letter in text])
        assert is_word(text) == (depth.min() >= 0 and depth[-1] == 0), text


def test_paths_are_counted_exactly():
    W = se.TensorSymbol("W", (n, n))
    count = se.lambdify([W], se.matrix_power(W, 80)[0, 1], semiring="count")
    grid = np.array([[1, 1], [1, 0]])
    assert count(grid) == 23416728348467685
    exact = se.lambdify([W], se.matrix_power(W, 100)[0, 1], semiring="count")
    assert exact(grid.astype(object)) == 354224848179261915075
    with pytest.raises(ValueError, match="integers, not float64"):
        count(grid / 1)


def test_repeated_terms_of_an_idempotent_sum_are_one():
    a = np.arange(12.0).reshape(3, 4)
    for semiring in ("max-plus", "min-plus", "max-times"):
        doubled, same = se.lambdify([A], [A + A, A], semiring=semiring)(a)
        np.testing.assert_array_equal(doubled, a)
        assert not np.shares_memory(doubled, a)
        assert not np.shares_memory(same, a)


def test_numbers_are_true_unless_they_are_zero():
    f = se.lambdify([c, A], [c * A, c**2 * A, A**2], semiring="or-and")
    given = np.array([[0, 2, 0.5, -1]])
    for number in (2, 0.5, True):
        for value in f(number, given):
            np.testing.assert_array_equal(value, given != 0)
    assert not f(0, given)[0].any()


def test_types_are_kept():
    a = np.ones((3, 4), np.float32)
    given = np.ones((4, 5), np.float32)
    value, eye = se.lambdify([A, B], [A @ B, se.Delta(n)], semiring="max-plus")(a, given)
    assert value.dtype == eye.dtype == np.float32
    assert se.lambdify([A, B], A @ B, semiring="min-plus")([[1] * 4] * 3, [[2] * 5] * 4)[0, 0] == 3


@pytest.mark.parametrize("lengths", [(0, 4, 5), (3, 0, 5), (3, 4, 0), (1, 1, 1), (70, 90, 50)])
def test_products_of_any_size(lengths):
    p, q, r = lengths
    a, b = np.random.default_rng(0).random((2, p, q)), np.random.default_rng(1).random((q, r))
    X = se.TensorSymbol("X", (2, m, n))
    f = se.lambdify([X, B], [X @ B, (X @ B).T], semiring="min-plus")
    expected = np.min(a[..., None] + b, axis=2, initial=np.inf)
    value, turned = f(a, b)
    np.testing.assert_array_equal(value, expected)
    np.testing.assert_array_equal(turned, expected.T)


def test_no_array_of_all_products():
    size = 300
    a = np.random.default_rng(0).random((size, size))
    f = se.lambdify([S], S @ S.T, semiring="min-plus")
    f(a)
    tracemalloc.start()
    f(a)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * a.nbytes


@pytest.mark.parametrize(
    ("expr", "named"),
    [
        (A - C, "A - C|-C"),
        (-A, "-A"),
        (A / 2, "A/2"),
        (A / C, "1/C"),
        (se.inv(S) @ B, "inv"),
        (se.det(S), "det"),
        (se.exp(A), "exp"),
        (A**c, r"A\*\*c"),
        (A.max(axis=0), "max"),
        (se.logsumexp(A, axis=0), "logsumexp"),
        (u / u.sum(), "sum"),
        (A * 0.5, r"0\.5"),
        (c - 1 + A, "c - 1|-1"),
        (A[0] / n, "n"),
        (se.argmax(A), "argmax"),
        (A + np.array([[0.5]]), r"0\.5"),
    ],
)
def test_operations_missing_in_a_semiring_are_named(expr, named):
    with pytest.raises(se.UnsupportedError, match=named) as refusal:
        se.lambdify(ARGUMENTS, expr, semiring="max-plus")
    assert "semiring 'max-plus'" in str(refusal.value)


def test_wrong_semirings():
    with pytest.raises(se.UnsupportedError, match="no semiring 'max-min'; there are max-plus"):
        se.lambdify([A], A, semiring="max-min")
    with pytest.raises(se.TensorError, match="has no add and multiply and zero and one"):
        se.lambdify([A], A, semiring=3)
    with pytest.raises(se.UnsupportedError, match="own operations"):
        se.codegen([A], A, semiring=Bottleneck())


def test_sources_stand_alone_and_functions_are_pickled():
    given = arrays("min-plus")[:2]
    f = se.lambdify([A, B], A @ B, semiring="min-plus")
    for text in (f.source, se.codegen([A, B], A @ B, semiring="min-plus")):
        space = {}
        exec(text, space)
        np.testing.assert_array_equal(space["function"](*given), f(*given))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))(*given), f(*given))


def test_negative_numbers_of_ones_are_found_when_called():
    f = se.lambdify([A], (n - 5) * A, semiring="log")
    assert f(np.zeros((1, 8)))[0, 0] == pytest.approx(np.log(3))
    with pytest.raises(ValueError, match="-2 is negative"):
        f(np.zeros((1, 3)))
