"""Compiled loops: every backend, lengths 0 and 1, memory that isn't shared, errors, semirings."""

import itertools

import numpy as np
import pytest
from libraries import EVERY, LIBRARIES
from oracles import assert_close
from random_scans import Program, T, n
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.compiler.program import Compilation, Request

W, X, h = se.TensorSymbol("W", n, n), se.TensorSymbol("X", T, n), se.TensorSymbol("h", n)
LAST, STATES = se.scan(lambda c, x: 2 * (se.tanh(W @ c + x),), h, X)
OUTPUTS = [LAST, STATES, *se.gradient((STATES**2).sum() + LAST.sum(), [W, X, h])]
WITH_LOOPS = [name for name in EVERY if name != "dask"]


def data(steps, size=3):
    normal = np.random.default_rng(steps).standard_normal
    return [normal((size, size)), normal((steps, size)), normal(size)]


def by_hand(W, X, h):
    """The states, and the derivative of the sum of their squares and of the last one."""
    states = [h]
    for row in X:
        states.append(np.tanh(W @ states[-1] + row))
    states = np.array(states)
    adjoint, rows = np.ones_like(h), np.zeros_like(X)
    for t in reversed(range(len(X))):
        rows[t] = (adjoint + 2 * states[t + 1]) * (1 - states[t + 1] ** 2)
        adjoint = rows[t] @ W
    return [states[-1], states[1:], rows.T @ states[:-1], rows, adjoint]


@pytest.mark.parametrize("backend", WITH_LOOPS)
def test_a_recurrent_network_with_its_gradient(backend):
    library = EVERY[backend]()
    f = se.lambdify([W, X, h], OUTPUTS, backend=backend)
    for steps in (5, 1, 0):
        given = data(steps)
        results = f(*map(library.into, given))
        for one, other in zip(results, by_hand(*given), strict=True):
            assert_close(np.asarray(library.back(one)), other)


@pytest.mark.parametrize("backend", ["jax", "torch"])
@pytest.mark.parametrize(
    "seed", [*range(4), 20261192, *[pytest.param(s, marks=pytest.mark.slow) for s in range(4, 30)]]
)
def test_random_loops_on_other_libraries(backend, seed):
    library, program = LIBRARIES[backend](), Program(seed)
    exprs = [program.total, *program.results]
    exprs += se.gradient(program.total, program.variables) if program.variables else []
    given = program.data(seed, seed % 4)
    expected = se.lambdify(program.arguments, exprs)(*given)
    actual = se.lambdify(program.arguments, exprs, backend=backend)(*map(library.into, given))
    for one, other in zip(actual, expected, strict=True):
        assert_close(np.asarray(library.back(one)), np.asarray(other))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_random_loops_in_kernels(seed):
    program = Program(seed)
    exprs = [program.total, *program.results]
    exprs += se.gradient(program.total, program.variables) if program.variables else []
    given = program.data(seed, seed % 4)
    expected = se.lambdify(program.arguments, exprs)(*given)
    actual = se.lambdify(program.arguments, exprs, backend="numba")(*given)
    for one, other in zip(actual, expected, strict=True):
        assert_close(np.asarray(one), np.asarray(other))


@pytest.mark.parametrize(
    "step",
    [
        # Sums and products in steps; what is stored is computed into its row, or is a carry too.
        lambda c, x: (se.tanh(c) * x - c * se.sin(x), (x * c - 2 * x + c, se.exp(c))),
        lambda c, x: (2 * x - c * x * c, (2 * x - c * x * c, c, x * c)),
        # A carry, and another value, that are views of a stored value.
        lambda c, x: ((v := c - x * c + se.cos(x))[::-1], (v, v[1:], x / c * 3 - x)),
        # Scalars before arrays, and other axes.
        lambda c, x: (
            c * c.sum() + x.sum() * x,
            c.sum() * 2 * c[:, None] * x[None, :] - c[:, None],
        ),
    ],
)
def test_the_fast_path_of_a_step(step):
    """It computes what the source does, without leaving anything to it."""
    last, values = se.scan(step, h, X)
    f = se.lambdify([X, h], [last, *(values if isinstance(values, tuple) else (values,))])
    space = {}
    exec(f.source, space)
    for steps in (4, 1, 0):
        _, rows, start = data(steps)
        expected = space["function"](rows, start)
        given = rows.copy(), start.copy()
        f(*given)  # compiles it
        fallback, f.__globals__["fallback"] = f.__globals__["fallback"], None
        found = f(*given)
        f.__globals__["fallback"] = fallback
        for one, other in zip([*found, *given], [*expected, rows, start], strict=True):
            assert_close(one, other)
        pairs = itertools.combinations([*found, *given], 2)
        assert not any(np.shares_memory(one, other) for one, other in pairs)


def test_value_and_gradient_share_one_loop_forward():
    source = se.lambdify([W, X, h], OUTPUTS).source
    assert source.count("np.tanh") == 1
    assert source.count("for ") == 2


def test_values_of_a_carry_before_and_after_steps_are_one_array():
    source = se.lambdify([W, X, h], OUTPUTS[1:]).source
    assert "np.empty((T + 1, n)" in source
    assert "concatenate" not in source


@pytest.mark.parametrize("is_transposed", [False, True])
def test_slices_that_every_step_reads_are_copied_once(is_transposed):
    G = se.TensorSymbol("G", (3, 4))
    M = G[:, 1:].T if is_transposed else G[:, 1:]
    last, _ = se.scan(lambda c, x: (se.tanh(M @ c + x), None), se.Ones(3), X.subs(n, 3))
    function = se.lambdify([G, X.subs(n, 3)], last)
    before, loop = function.source.split("for step in")
    assert before.count("np.ascontiguousarray(G[:, 1:") == 1
    assert "ascontiguousarray" not in loop
    matrix, rows = np.arange(12.0).reshape(3, 4) / 12, np.arange(6.0).reshape(2, 3) / 6
    c, own = np.ones(3), matrix[:, 1:].T if is_transposed else matrix[:, 1:]
    for row in rows:
        c = np.tanh(own @ c + row)
    assert_close(function(matrix, rows), c)


def test_the_text_does_not_depend_on_the_number_of_steps():
    texts = [
        se.lambdify([s.subs(T, steps) for s in (W, X, h)], [e.subs(T, steps) for e in OUTPUTS])
        for steps in (30, 3000)
    ]
    assert len({len(f.source.replace("3000", "30")) for f in texts}) <= 2
    assert len({f.source.count("\n") for f in texts}) == 1


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_results_share_no_memory_with_arguments_or_each_other(steps):
    rows, carries = se.scan(lambda c, x: (x, (c, x)), h, X)[1], None
    last, (before, after) = se.scan(lambda c, x: (x, (c, x)), h, X)
    assert rows[0] is before
    assert carries is None
    given = data(steps)
    copies = [own.copy() for own in given]
    results = se.lambdify([W, X, h], [last, before, after])(*given)
    for k, one in enumerate(results):
        others = [*given, *results[:k]]
        assert not any(np.may_share_memory(one, other) for other in others)
        one += 1
    for own, copy in zip(given, copies, strict=True):
        np.testing.assert_array_equal(own, copy)


def test_a_first_carry_is_not_written_over_where_there_are_no_steps():
    """After no steps the last carry is the first one, which later code has no other use for."""
    first = se.exp(W @ h)
    last, _ = se.scan(lambda c, x: (se.sin(c + x), None), first, X)
    f = se.lambdify([W, X, h], [last, 2 * first, last * first])
    given = data(0)
    expected = np.exp(given[0] @ given[2])
    for one, other in zip(f(*given), (expected, 2 * expected, expected**2), strict=True):
        assert_close(one, other)


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
def test_positions_stay_integers(backend):
    """The best path of a hidden Markov model, found backwards by stored positions."""
    S, E = se.TensorSymbol("S", n, n), X

    def forward(c, row):
        scores = c[:, None] + S
        return se.max(scores, axis=0) + row, se.argmax(scores, axis=0)

    last, back = se.scan(forward, h, E)
    _, path = se.scan(lambda c, row: (row[c], c), se.argmax(last), back, reverse=True)
    score = se.einsum("tj,tj->", se.one_hot(path, n), E)
    library = EVERY[backend]()
    f = se.lambdify([S, E, h], [path, score, se.gradient(score, E)], backend)
    for steps in (5, 1, 0):
        given = data(steps)
        c, rows, expected = given[2], [], []
        for row in given[1]:
            scores = c[:, None] + given[0]
            rows.append(scores.argmax(0))
            c = scores.max(0) + row
        place = c.argmax()
        for row in reversed(rows):
            expected.insert(0, place)
            place = row[place]
        found, value, gradient = [np.asarray(library.back(o)) for o in f(*map(library.into, given))]
        assert found.dtype.kind == "i"
        assert found.tolist() == expected
        assert_close(value, given[1][np.arange(steps), expected].sum() if steps else 0.0)
        assert_close(gradient, np.eye(3)[np.array(expected, int)])


def test_integers_are_not_written_over():
    """A function of integers gives no integers; the first step's operands aren't written over."""
    last, _ = se.scan(lambda c, x: (se.tanh(c + W @ x), None), h, X)
    whole = [np.arange(9).reshape(3, 3) - 4, np.arange(12).reshape(4, 3) - 6, np.arange(3)]
    expected = whole[2]
    for row in whole[1]:
        expected = np.tanh(expected + whole[0] @ row)
    assert_close(se.lambdify([W, X, h], last)(*whole), expected)


def test_types_of_numbers_are_kept():
    single = [own.astype(np.float32) for own in data(4)]
    for one, other in zip(se.lambdify([W, X, h], OUTPUTS)(*single), by_hand(*data(4)), strict=True):
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    whole = [np.arange(9).reshape(3, 3), np.arange(12).reshape(4, 3), np.arange(3)]
    for one, other in zip(
        se.lambdify([W, X, h], OUTPUTS)(*whole),
        by_hand(*[own.astype(float) for own in whole]),
        strict=True,
    ):
        assert_close(one, other)


def test_positions_at_steps_are_checked():
    """Numba would read foreign memory."""
    A = se.TensorSymbol("A", n, 2)
    order = se.TensorSymbol("order", n)
    last, _ = se.scan(lambda c, t: (c + A[2 * t] * order[t], None), se.Zeros(2), length=T)
    for backend in ("numpy", "numba", "jax"):
        f = se.lambdify([A, order, T], last, backend=backend)
        assert_close(np.asarray(f(np.ones((4, 2)), np.ones(4), 2)), np.full(2, 2.0))
        with pytest.raises(se.ShapeError, match="outside of their axis"):
            f(np.ones((4, 2)), np.ones(4), 3)


def test_dask_is_refused_by_name():
    pytest.importorskip("dask")
    with pytest.raises(se.UnsupportedError, match="backend 'dask' has no loops"):
        se.lambdify([W, X, h], LAST, backend="dask")


def test_the_best_way_through_a_hidden_markov_model():
    """Viterbi's recursion is the forward one in another semiring."""
    S, E, p = se.TensorSymbol("S", n, n), se.TensorSymbol("E", T, n), se.TensorSymbol("p", n)
    last, _ = se.scan(lambda c, e: ((c @ S) * e, None), p, E)
    normal = np.random.default_rng(3).standard_normal
    steps, ways, start = normal((3, 3)), normal((4, 3)), normal(3)
    best, total = start, np.exp(start)
    for way in ways:
        best = (best[:, None] + steps).max(axis=0) + way
        total = (total @ np.exp(steps)) * np.exp(way)
    f = se.lambdify([S, E, p], last.sum(), semiring="max-plus")
    assert_close(np.asarray(f(steps, ways, start)), best.max())
    g = se.lambdify([S, E, p], last, semiring="log")
    assert_close(np.asarray(g(steps, ways, start)), np.log(total))
    ordinary = se.lambdify([S, E, p], se.in_semiring(last, "max-plus"))
    assert_close(ordinary(steps, ways, start), best)
    marginals = se.gradient(se.in_semiring(last.sum(), "log"), E)
    assert_close(se.lambdify([S, E, p], marginals)(steps, ways, start).sum(axis=1), np.ones(4))


def test_a_complex_carry():
    t = symbols("t", real=True)
    from sympy import I, exp

    last, _ = se.scan(lambda c, k: (c * exp(I * t), None), se.Ones(2), length=T)
    assert_close(np.asarray(se.lambdify([t, T], last)(0.5, 4)), np.full(2, np.exp(2j)))


@pytest.mark.parametrize("backend", WITH_LOOPS)
def test_rows_taken_backwards_where_there_are_no_steps(backend):
    library = EVERY[backend]()
    rows = se.TensorSymbol("R", 2 * T + 3, n)
    strides = (1, 2)
    loops = []
    for stride in strides:

        def step(c, t, stride=stride):
            row = rows[stride * (T - t) - 1]
            return c * row, row

        loops.append(se.scan(step, h, length=T))
    outputs = [own for last, values in loops for own in (values, se.gradient(last.sum(), rows))]
    f = se.lambdify([T, rows, h], outputs, backend=backend)
    for steps in (0, 2):
        R, c = np.arange(4.0 * steps + 6).reshape(-1, 2) + 1, np.array([1.0, 2.0])
        found = [library.back(own) for own in f(steps, *map(library.into, (R, c)))]
        for stride, values, gradient in zip(strides, found[::2], found[1::2], strict=True):
            places = [stride * (steps - t) - 1 for t in range(steps)]
            assert_close(values, R[places])
            expected = np.zeros_like(R)
            for place in places:
                expected[place] = c * np.prod(R[[p for p in places if p != place]], axis=0)
            assert_close(gradient, expected)


@pytest.mark.parametrize("backend", WITH_LOOPS)
def test_loops_made_from_numbers_only(backend):
    library = EVERY[backend]()
    a = symbols("a")

    def step(c, t):
        inner, _ = se.scan(lambda d, s: (d / 2 + s, None), 1, length=3)
        return c * inner + t, c + 1

    last, values = se.scan(step, 2, length=T)
    x = se.TensorSymbol("x", n)
    f = se.lambdify([T, a, x], [last * a, values * a, x * last], backend=backend)
    found = f(3, 0.5, library.into(np.ones(2)))
    carried = [2.0]
    for t in range(3):
        carried.append(carried[-1] * 2.625 + t)
    expected = [carried[-1] / 2, (np.array(carried[:-1]) + 1) / 2, np.full(2, carried[-1])]
    for one, other in zip(found, expected, strict=True):
        assert_close(np.asarray(library.back(one)), other)


@pytest.mark.parametrize("backend", WITH_LOOPS)
def test_a_product_of_one_matrix_and_the_values_of_no_steps(backend):
    library = EVERY[backend]()
    M, S = se.TensorSymbol("M", n, n), se.TensorSymbol("S", T, n, n)
    f = se.lambdify([M, S], [se.matmul(M.T, S**2), se.matmul(S**2, M.T)], backend=backend)
    for steps in (0, 2):
        given = np.ones((3, 3)), np.ones((steps, 3, 3))
        for product in f(*map(library.into, given)):
            assert_close(library.back(product), np.full((steps, 3, 3), 3.0))


@pytest.mark.parametrize("backend", WITH_LOOPS)
def test_slices_that_move_with_the_step(backend):
    library = EVERY[backend]()
    Y, w = se.TensorSymbol("Y", 2 * T + 3, n, n), se.TensorSymbol("w", n)

    def step(c, t):
        rows = Y[t : t + 2, :, 1] * c[None, :] + Y[t + 1 : t + 3].sum(axis=2)
        return rows.sum(axis=0) / 3 + w, rows

    last, values = se.scan(step, w, length=T)
    total = last.sum() + se.sin(values).sum()
    exprs = [last, values, *se.gradient(total, [Y, w])]
    given = [np.random.default_rng(0).standard_normal(own) for own in ((9, 2, 2), 2)]
    sizes = {T: 3, n: 2}
    arguments = [Y.subs(sizes), w.subs(sizes)]
    unrolled = se.unroll([e.subs(sizes) for e in (last, values, total)])
    written_out = [*unrolled[:2], *se.gradient(unrolled[2], arguments)]
    found = se.lambdify([Y, w, T], exprs, backend=backend)(*map(library.into, given), 3)
    for one, other in zip(found, se.lambdify(arguments, written_out)(*given), strict=True):
        assert_close(np.asarray(library.back(one)), other)


@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (4, 1)])
def test_waves_on_a_torus_by_jax(shape):
    """Neighbours across an edge are added together with all others."""
    library, (rows, columns) = EVERY["jax"](), symbols("rows columns", integer=True, positive=True)
    A, B = (se.TensorSymbol(name, rows, columns) for name in "AB")

    def step(carry, t):
        before, now = carry
        bend = sum(snp.roll(now, side, axis) for side in (1, -1) for axis in (0, 1)) - 4 * now
        return (now, 2 * now - before + 0.1 * bend), None

    last = se.scan(step, (A, B), length=3)[0][1]
    f = se.lambdify([A, B], [last, se.gradient((last**3).sum(), B)], backend="jax")
    assert f.source.count("= halves_added(") == 8
    before, now = given = np.random.default_rng(5).standard_normal((2, *shape))
    tangents = {}
    for number in range(now.size):
        one = np.zeros(now.size)
        one[number] = 1
        tangents[number] = (np.zeros(shape), one.reshape(shape))
    pairs = {None: (before, now), **tangents}
    for own, (old, new) in pairs.items():
        for _ in range(3):
            bend = sum(np.roll(new, side, axis) for side in (1, -1) for axis in (0, 1)) - 4 * new
            old, new = new, 2 * new - old + 0.1 * bend
        pairs[own] = (old, new)
    last = pairs.pop(None)[1]
    gradient = [(3 * last**2 * new).sum() for _, new in pairs.values()]
    results = [library.back(own) for own in f(*map(library.into, given))]
    assert_close(results[0], last)
    assert_close(results[1], np.reshape(gradient, shape))


def test_loops_of_as_many_steps_as_there_were_are_refused_by_jax():
    pytest.importorskip("jax")

    def outer(c, t):
        inner, _ = se.scan(lambda d, k: (2 * d, None), c, length=t)
        return inner + 1, None

    last, _ = se.scan(outer, 1, length=T)
    with pytest.raises(se.UnsupportedError, match="number of steps changes with the step"):
        se.lambdify([T], last, backend="jax")
    assert se.lambdify([T], last)(4) == 8 * (4 * (2 * (1 + 1) + 1) + 1) + 1


def test_slices_whose_length_changes_with_the_step_are_refused_by_jax():
    pytest.importorskip("jax")
    last, _ = se.scan(lambda c, t: (c + X[: t + 1].sum(axis=0), None), h, length=T)
    with pytest.raises(se.UnsupportedError, match="slices whose length changes with the step"):
        se.lambdify([X, h], last, backend="jax")
    found = se.lambdify([X, h], last)(np.eye(3), np.zeros(3))
    assert_close(found, np.array([3.0, 2.0, 1.0]))


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_positions_that_are_rounded_quotients_of_the_step(backend):
    library = EVERY[backend]()

    def step(c, t):
        return c + t * X[t // 2] + (t + 1) * X[T - 1 - t // 3], None

    given = np.random.default_rng(0).standard_normal((7, 2)), np.zeros(2)
    rows = given[0]
    expected = sum(t * rows[t // 2] + (t + 1) * rows[6 - t // 3] for t in range(7))
    for checkpoint in (None, 2, "sqrt"):
        last, _ = se.scan(step, h, length=T, checkpoint=checkpoint)
        f = se.lambdify([X, h], last, backend=backend)
        assert_close(library.back(f(*map(library.into, given))), expected)


def test_rows_at_the_step_in_blocks_of_the_root():
    last, _ = se.scan(lambda c, t: (se.sin(c * X[t]), None), h, length=T, checkpoint="sqrt")
    plain, _ = se.scan(lambda c, t: (se.sin(c * X[t]), None), h, length=T)
    f = se.lambdify([X, h], [last, se.gradient(last.sum(), X)])
    g = se.lambdify([X, h], [plain, se.gradient(plain.sum(), X)])
    for steps in (0, 1, 5):
        _, rows, start = data(steps)
        for one, other in zip(f(rows, start), g(rows, start), strict=True):
            assert_close(one, other)


A = se.TensorSymbol("A", T, n, n)
w = se.TensorSymbol("w", T, n)
X0, X1, v = se.TensorSymbol("X0", n, n), se.TensorSymbol("X1", n, n), se.TensorSymbol("v", n)
END, ENDS = se.scan(lambda c, a: 2 * (2 * c + a,), X0, A)
_, (BEFORE, AFTER) = se.scan(lambda c, a: (2 * c + a, (c, 2 * c + a)), X0, A)
PAIR, _ = se.scan(lambda c, a: ((c[0] + c[1] + a, (c[0] + c[1] + a).T), None), (X0, X1), A)
OVERWRITTEN = {
    "a carry and its values": [END, ENDS],
    "a carry with a diagonal added and its values": [END + se.diag(v), ENDS],
    "values before and after": [
        BEFORE + se.einsum("ij->ijj", w),
        3 * AFTER,
    ],
    "a carry and its transpose": list(PAIR),
}


@pytest.mark.parametrize("backend", ["numpy", "numba"])
@pytest.mark.parametrize("steps", [0, 1, 3])
@pytest.mark.parametrize("results", OVERWRITTEN)
def test_results_of_one_loop_share_no_memory(results, steps, backend):
    """Nor do arguments and results; each is the value of its expression compiled alone."""
    outputs = OVERWRITTEN[results]
    arguments = sorted({s for own in outputs for s in own.free_symbols if s.shape}, key=str)
    random = np.random.default_rng(steps)
    values = [random.standard_normal([{T: steps, n: 3}[k] for k in s.shape]) for s in arguments]
    copies = [value.copy() for value in values]
    found = se.lambdify(arguments, outputs, backend=backend)(*values)
    arrays = [*values, *found]
    for number, one in enumerate(arrays):
        assert not any(np.shares_memory(one, other) for other in arrays[:number])
    for value, copy in zip(values, copies, strict=True):
        np.testing.assert_array_equal(value, copy)
    for own, value in zip(outputs, found, strict=True):
        assert_close(value, se.lambdify(arguments, own)(*values))


def test_kernels_assign_no_rows():
    """Numba takes 3 s to compile the assignment of a row, whose error is a formatted text."""
    source = se.lambdify([A, X0, X1], [BEFORE, ENDS, *PAIR], backend="numba").source
    assert " store_row(" in source
    targets = [line.partition(" = ")[0].strip() for line in source.splitlines() if "] = " in line]
    rows = [own for own in targets if own.startswith("r") and own.count(",") < 2]
    assert targets
    assert not rows


def test_loops_of_jax_are_compiled_once(monkeypatch):
    """Outside of jit too: their functions stand above the one that is called."""
    jax = pytest.importorskip("jax")
    W, X, h = se.TensorSymbol("W", n, n), se.TensorSymbol("X", T, n), se.TensorSymbol("h", n)
    last, _ = se.scan(lambda c, x: (se.tanh(W @ c + n * x), None), h, X)
    exprs = [last, se.gradient(last.sum(), W)]
    f, plain = (se.lambdify([W, X, h], exprs, backend=own) for own in ("jax", "numpy"))
    traced = []
    scan = jax.lax.scan
    monkeypatch.setattr(jax.lax, "scan", lambda *given: traced.append(1) or scan(*given))
    rng = np.random.default_rng(0)
    counts = []
    for steps in (4, 4, 7, 7, 4):
        given = rng.standard_normal((3, 3)), rng.standard_normal((steps, 3)), rng.standard_normal(3)
        for one, other in zip(f(*given), plain(*given), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
        counts.append(len(traced))
    assert counts == [2, 2, 4, 4, 4]


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("own", ["range", "carry", "entries", "slice", "step", "loop1", "u1"])
def test_names_that_code_of_loops_uses(own, backend):
    pytest.importorskip(backend)
    W, X, h = se.TensorSymbol("W", n, n), se.TensorSymbol("X", T, n), se.TensorSymbol("h", n)
    data = np.random.default_rng(0).standard_normal
    given = data((3, 3)) / 3, data((4, 3)), data(3), data(3)
    results = []
    for name in (own, "plain"):
        v = se.TensorSymbol(name, n)
        last, values = se.scan(lambda c, x, v=v: (se.tanh(W @ c + x * v), c[::-1] * v), h, X)
        exprs = [last, values[1:], se.gradient(last.sum(), v)]
        results.append(se.lambdify([W, X, h, v], exprs, backend=backend)(*given))
    for one, other in zip(*results, strict=True):
        assert_close(np.asarray(one), np.asarray(other))


@pytest.mark.parametrize("backend", WITH_LOOPS)
@pytest.mark.parametrize("size", [1, 2, 5])
def test_single_entries_that_steps_write(backend, size):
    """NumPy writes them as numbers."""
    a = se.TensorSymbol("a", n)

    def ring(own, x):
        return a * (snp.roll(own, 1) + 2 * snp.roll(own, -1)) - own * x

    last, _ = se.scan(lambda own, x: (ring(own, x), None), h, X)
    value = (last**3).sum()
    library = EVERY[backend]()
    f = se.lambdify([h, a, X], [value, *se.gradient(value, [h, a])], backend=backend)
    rng = np.random.default_rng(0)
    own, weights, steps = rng.normal(size=size), rng.normal(size=size), rng.normal(size=(3, size))

    def by_hand(own, weights):
        for x in steps:
            own = weights * (np.roll(own, 1) + 2 * np.roll(own, -1)) - own * x
        return (own**3).sum()

    found, *gradients = map(library.back, f(*map(library.into, (own, weights, steps))))
    assert_close(found, by_hand(own, weights))
    for k, gradient in enumerate(gradients):
        for i in range(size):
            ends = []
            for step in (1e-6, -1e-6):
                arguments = [own.copy(), weights.copy()]
                arguments[k][i] += step
                ends.append(by_hand(*arguments))
            np.testing.assert_allclose(
                gradient[i], (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-7
            )
    if backend == "numpy":
        assert "[0] +=" in f.source


@pytest.mark.parametrize("backend", WITH_LOOPS)
def test_positions_that_are_the_same_at_all_steps_are_checked(backend):
    """A kernel would write to foreign memory."""
    last, _ = se.scan(lambda own, x: (snp.roll(own, 1) + x, None), h, X)
    library = EVERY[backend]()
    f = se.lambdify([h, X], last, backend=backend)
    with pytest.raises(se.ShapeError, match="n - 1 must be at least 0, but with n = 0 it is -1"):
        f(*map(library.into, (np.zeros(0), np.zeros((3, 0)))))


@pytest.mark.parametrize("backend", WITH_LOOPS)
@pytest.mark.parametrize(
    ("position", "message"),
    [
        (lambda t: t * (T - 1 - t), "outside of their axis"),
        (lambda t: (t - 1) * (t - 4), "outside"),
    ],
)
def test_positions_that_are_extreme_at_a_step_between_are_checked(position, message, backend):
    """The ends of the loop say nothing of them."""
    own = se.TensorSymbol("own", n)
    last, _ = se.scan(lambda c, t: (c + own[position(t)], None), 0, length=T)
    library = EVERY[backend]()
    f = se.lambdify([own, T], last, backend=backend)
    entries = np.arange(1.0, 13.0)
    with pytest.raises(se.ShapeError, match="outside of their axis"):
        f(library.into(entries[:5]), 6)
    if position(0) == 0:
        expected = sum(entries[t * (5 - t)] for t in range(6))
        assert_close(library.back(f(library.into(entries), 6)), expected)


def test_orders_of_products_in_a_step_depend_on_the_lengths_of_a_call():
    k = symbols("k", integer=True, positive=True)
    C, A, X = se.TensorSymbol("C", n, k), se.TensorSymbol("A", n, k), se.TensorSymbol("X", T, n, k)
    last, _ = se.scan(lambda c, x: (se.tanh(c @ A.T @ x), None), C, X)
    compilation = Compilation(Request([C, A, X], last))
    assert compilation.deciding(compilation.plan().contractions) == [k, n]
    f = se.lambdify([C, A, X], last)
    for rows, columns in [(50, 2), (2, 50), (3, 3)]:
        normal = np.random.default_rng(0).standard_normal
        own, outside, stack = [normal((*more, rows, columns)) for more in ((), (), (4,))]
        expected = own
        for x in stack:
            expected = np.tanh(expected @ outside.T @ x)
        assert_close(f(own, outside, stack), expected)
