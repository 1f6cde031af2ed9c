"""Products and sums in semirings, against the definition of einsum, entry by entry."""

from __future__ import annotations

import pickle
import tracemalloc
from functools import reduce
from itertools import pairwise, product

import numpy as np
import pytest
from libraries import LIBRARIES
from scipy.sparse import csgraph
from sympy import Symbol, symbols

import sympy_einsum as se
from sympy_einsum.core import children, postorder
from sympy_einsum.expressions import Einsum, Elementwise, Reshape, Slot, TensorAdd, TensorExpr

LENGTHS = dict(zip(symbols("m n k", integer=True, positive=True), (3, 4, 5), strict=True))
m, n, k = LENGTHS
A, B, C = se.TensorSymbol("A", m, n), se.TensorSymbol("B", n, k), se.TensorSymbol("C", m, n)
S, T = se.TensorSymbol("S", (n, n)), se.TensorSymbol("T", (m, n, k))
u, v, w = se.TensorSymbol("u", n), se.TensorSymbol("v", n), se.TensorSymbol("w", k)
c = Symbol("c", real=True)
ARGUMENTS = [A, B, C, S, T, u, v, w, c]


class Bottleneck:
    """The widest way: the largest of the smallest."""

    add, multiply = staticmethod(np.maximum), staticmethod(np.minimum)
    zero, one = -np.inf, np.inf


class Modular:
    """Whole numbers modulo 7: every commutative ring is a semiring, and this one isn't
    idempotent."""

    zero, one = 0, 1

    @staticmethod
    def add(x, y):
        return (x + y) % 7

    @staticmethod
    def multiply(x, y):
        return (x * y) % 7


def logaddexp(x, y):
    return max(x, y) + np.log1p(np.exp(-abs(x - y))) if x != y else x + np.log(2)


# The operations on numbers, and the neutral elements.
MEANINGS = {
    "max-plus": (max, lambda x, y: x + y, -np.inf, 0),
    "min-plus": (min, lambda x, y: x + y, np.inf, 0),
    "max-times": (max, lambda x, y: x * y, 0, 1),
    "or-and": (lambda x, y: x or y, lambda x, y: x and y, False, True),
    "log": (logaddexp, lambda x, y: x + y, -np.inf, 0),
    "count": (lambda x, y: x + y, lambda x, y: x * y, 0, 1),
    Bottleneck: (max, min, -np.inf, np.inf),
    Modular: (Modular.add, Modular.multiply, 0, 1),
}
EXPRESSIONS = [
    A @ B,
    A @ B @ w,
    se.einsum("ij,ij->i", A, C),
    se.einsum("ij,jk,ik->", A, B, A @ B),
    se.einsum("ijk,jk->ijk", T, B),
    se.einsum("ijk,ijl->ikl", T, T),
    se.einsum("ijk,jk,j->ik", T, B, u),
    se.einsum("ii->i", S),
    se.einsum("ij->ijij", A),
    se.einsum("i,j->ijj", u, w),
    se.trace(S @ S),
    A.T @ A,
    A + C,
    A + A,
    2 * A + 3 * C,
    A * C * A,
    A**3 + A,
    (A + C) ** 2,
    ((A + C) ** 2).sum(),
    S + S.T,
    se.einsum("ij,i,ik->jk", A, A @ u, A),
    u[None, :] + A,
    A.sum(axis=0),
    A.sum() * u,
    se.Ones(m, n).sum() * u,
    se.Ones(m, n) @ B,
    se.Ones(m + 1).sum() * A,
    se.Delta(n) + S,
    se.diag(u) + S,
    se.diag(u),
    se.Delta(n),
    se.Zeros(m, n) + 0 * A,
    A + 1,
    A + 4,
    c * A + c,
    u @ v + c,
    A[0],
    A[1:, ::2],
    A[:, ::-1],
    se.flip(T[:, 1], 0),
    se.concatenate([A, C, B.T]),
    se.stack([A, C]).sum(axis=0),
    se.pad(u, (1, 2)),
    se.roll(u, 1),
    se.triu(S),
    se.tril(S, -1) @ u,
    se.cumsum(A, axis=1),
    se.cumsum(u[::-1]),
    se.tri(4, 4) @ u[:4],
    se.kron(u, w),
    A.reshape(n, m) @ A,
    se.convolve(u, v),
    se.correlate(u, v[:3]),
    se.sliding_window_view(u, 2).sum(axis=1),
    se.Constant(np.array([[1, 0, 2, 1]])).T @ w[:1],
    [A @ B, A.T, u],
]


def evaluated(expr, values, meaning):
    """The value of an expression by the definition of its nodes."""
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


def arrays(semiring, seed=0):
    generator = np.random.default_rng(seed)
    found = []
    for symbol in ARGUMENTS:
        shape = [int(length.subs(LENGTHS)) for length in getattr(symbol, "shape", ())]
        if semiring == "or-and":
            array = generator.random(shape) < 0.3
        elif semiring in ("count", Modular):
            array = generator.integers(0, 5, shape)
        else:
            array = generator.integers(0, 9, shape) / 4
            infinite = {"max-plus": -np.inf, "log": -np.inf, "min-plus": np.inf}.get(semiring, 0)
            array = np.where(generator.random(shape) < 0.2, infinite, array)
        found.append(array if shape else array.item())
    return found


def matches(value, expected, semiring):
    expected = np.asarray(expected)
    assert np.shape(value) == expected.shape
    kind = float if np.asarray(value).dtype.kind == "f" else int
    value, expected = np.asarray(value).astype(kind), expected.astype(kind)
    if semiring == "log":
        np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-12)
    else:
        np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize("semiring", MEANINGS, ids=str)
def test_every_expression_has_the_value_of_its_definition(semiring):
    given = arrays(semiring)
    values = dict(zip(ARGUMENTS, [np.asarray(a, object) for a in given], strict=True))
    flat = [e for expr in EXPRESSIONS for e in (expr if isinstance(expr, list) else [expr])]
    function = se.lambdify(
        ARGUMENTS, flat, semiring=semiring if isinstance(semiring, str) else semiring()
    )
    for expr, value in zip(flat, function(*given), strict=True):
        matches(value, evaluated(expr, values, MEANINGS[semiring]), semiring)


@pytest.mark.parametrize(("semiring", "first"), [("min-plus", 1), ("log", 4), (Modular, 7)])
def test_expressions_have_the_same_value_with_jax(semiring, first):
    library = LIBRARIES["jax"]()
    given = arrays(semiring, seed=1)
    chosen = EXPRESSIONS[first:-1:9]
    own = semiring if isinstance(semiring, str) else semiring()
    expected = se.lambdify(ARGUMENTS, chosen, semiring=own)(*given)
    found = se.lambdify(ARGUMENTS, chosen, "jax", semiring=own)(*map(library.into, given))
    for value, other in zip(found, expected, strict=True):
        matches(library.back(value), other, semiring)


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


def hidden_markov_model(steps):
    """The total weight of all ways through the states: start, moves, and the weight of what is
    observed at each step."""
    start, moves = se.TensorSymbol("p", m), se.TensorSymbol("M", (m, m))
    seen = se.TensorSymbol("E", (steps, m))
    weight = start * seen[0]
    for step in range(1, steps):
        weight = (weight @ moves) * seen[step]
    return [start, moves, seen], weight.sum()


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
def test_what_a_semiring_has_not_is_named(expr, named):
    with pytest.raises(se.UnsupportedError, match=named) as refusal:
        se.lambdify(ARGUMENTS, expr, semiring="max-plus")
    assert "semiring 'max-plus'" in str(refusal.value)


def test_wrong_semirings():
    with pytest.raises(se.UnsupportedError, match="no semiring 'max-min'; there are max-plus"):
        se.lambdify([A], A, semiring="max-min")
    with pytest.raises(se.TensorError, match="has no add and multiply and zero and one"):
        se.lambdify([A], A, semiring=3)
    for backend in ("torch", "dask"):
        with pytest.raises(se.UnsupportedError, match=f"{backend!r} doesn't compute in semirings"):
            se.lambdify([A], A, backend, semiring="log")
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
