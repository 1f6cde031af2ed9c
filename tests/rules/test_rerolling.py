"""Chains of equal steps as loops: the values of their steps written out, whichever they are."""

import math
import random
from itertools import pairwise

import numpy as np
import pytest
import sympy
from libraries import EVERY
from oracles import assert_close, calls, graph
from sympy import Float, Symbol, symbols, sympify

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.rules import reroll
from sympy_einsum.rules.rerolling.number_sequences import NumberSequence

N, M = 3, 2
A, B = se.TensorSymbol("A", N, N), se.TensorSymbol("B", N, M)
v, w, a = se.TensorSymbol("v", N), se.TensorSymbol("w", M), Symbol("a")
W, h, c = se.TensorSymbol("W", N, N), se.TensorSymbol("h", N), se.TensorSymbol("c", N)
X, Y = se.TensorSymbol("X", 44, N), se.TensorSymbol("Y", 44, N, M)
STEPS = 12


def iterated(step, start, count=STEPS):
    for t in range(count):
        start = step(start, t)
    return start


def loops(*exprs):
    """Return the numbers of steps of the loops in some expressions."""
    found = {node.group: int(node.length) for node in graph(*exprs) if isinstance(node, se.Scan)}
    return sorted(found.values())


def assert_same(exprs, seed=0, rtol=1e-9):
    """Compare values with loops to values of the steps written out."""
    leaves = set().union(*[sympy.sympify(e).free_symbols for e in exprs])
    arguments = sorted(leaves, key=str)
    normal = np.random.default_rng(seed).standard_normal
    data = [0.5 * normal([int(n) for n in getattr(s, "shape", ())]) for s in arguments]
    expected = se.lambdify(arguments, exprs, optimize=False)(*data)
    for own, other in zip(se.lambdify(arguments, exprs)(*data), expected, strict=True):
        assert_close(own, other, rtol)


def lstm(state, t):
    hidden, memory = state
    gate = se.sigmoid(A @ hidden + X[t])
    memory = gate * memory + (1 - gate) * se.tanh(W @ hidden + X[t])
    return gate * se.tanh(memory), memory


def runge_kutta(y, t):
    one = se.tanh(W @ y)
    two = se.tanh(W @ (y + one / 20))
    return y + (one + 2 * two + se.tanh(W @ (y + two / 10))) / 40


def leapfrog(force, dt=0.05):
    def step(state, t):
        v = state[1] - dt * force(state[0])
        return state[0] + dt * v, v

    return step


def kick_drift_kick(force, dt=0.05):
    def step(state, t):
        v = state[1] - dt / 2 * force(state[0])
        x = state[0] + dt * v
        return x, v - dt / 2 * force(x)

    return step


def velocity_verlet(force, dt=0.05):
    def step(state, t):
        x = state[0] + dt * state[1] - dt**2 / 2 * force(state[0])
        return x, state[1] - dt / 2 * (force(state[0]) + force(x))

    return step


def momentum(gradient, rate=0.05):
    def step(state, t):
        m = 0.9 * state[1] + gradient(state[0])
        return state[0] - rate * m, m

    return step


# A step, the first carry, and how many steps of 12 are in the loop.
CHAINS = {
    "recurrent": (lambda h, t: se.tanh(W @ h + X[t]), h, 12),
    "from the last to the first": (lambda h, t: se.tanh(W @ h + X[STEPS - 1 - t]), h, 12),
    "every other entry": (lambda h, t: se.tanh(W @ h + X[2 * t + 1]), h, 12),
    "two entries": (lambda h, t: se.tanh(W @ h + X[t] * X[t + 1]), h, 12),
    "slices": (lambda h, t: se.tanh(W @ h + X[t : t + 3].sum(axis=0)), h, 12),
    "gates": (lstm, (h, c), 12),
    "Euler": (lambda h, t: h + se.sin(W @ h) / 10, h, 12),
    "Runge-Kutta": (runge_kutta, h, 12),
    "steepest descent": (lambda x, t: x - 0.1 * (A.T @ (A @ x - v)), h, 12),
    "two steps before": (lambda s, t: (se.tanh(A @ s[0] + s[1]), s[0]), (h, c), 12),
    "batch": (lambda H, t: se.tanh(H @ W + se.outer(v, X[t])), A, 11),
    "the number of a step": (lambda h, t: se.cos(h) * t + v, h, 10),
    "weights": (lambda h, t: se.sin(h) + (X[t] - h) / (t + 2), h, 12),
    "decreasing weights": (lambda h, t: se.sin(h) * sympy.Rational(t + 1, 29 - 2 * t), h, 12),
    "scalars": (lambda u, t: sympy.sin(u) + a / 2, Symbol("u"), 12),
    "products of scalars": (lambda u, t: sympy.sin(u) * u, Symbol("u"), 12),
    "function of a sum": (lambda h, t: se.tanh(h) / (1 + h @ h) + X[t], h, 12),
}


@pytest.mark.parametrize("name", CHAINS)
def test_chains(name):
    step, start, steps = CHAINS[name]
    results = iterated(step, start)
    results = [*results] if isinstance(results, tuple) else [results]
    assert loops(*reroll(results)) == [steps]
    assert_same(results)


@pytest.mark.parametrize("name", ["every other entry", "gates", "Euler", "batch", "scalars"])
def test_gradients_of_chains(name):
    step, start, _ = CHAINS[name]
    results = iterated(step, start)
    total = results[0] if isinstance(results, tuple) else results
    total = se.sin(total).sum() if getattr(total, "shape", ()) else sympy.sin(total)
    variables = [s for s in (W, A, h, Symbol("u")) if s in total.free_symbols]
    gradients = [se.gradient(total, s) for s in variables]
    assert_same([total, *gradients], rtol=1e-7)


def adam(state, t):
    x, m, s = state
    g = A.T @ se.tanh(A @ x - v)
    m, s = 0.9 * m + 0.1 * g, 0.99 * s + 0.01 * g**2
    rate = 0.01 / (1 - 0.9 ** (t + 1))
    return x - rate * m / (se.sqrt(s / (1 - 0.99 ** (t + 1))) + 0.1), m, s


SERIES = np.random.default_rng(3).standard_normal(STEPS)
NUMBERS = {
    "powers": (lambda x, t: x - 0.1 * 0.9**t * se.sin(W @ x), h, 12),
    "multiples of t": (lambda x, t: se.tanh(W @ x) + 0.1 * t * v, h, 11),
    "cosines": (lambda x, t: se.tanh(W @ x) + (1 + math.cos(t / 4)) * v, h, 12),
    "any numbers": (lambda x, t: se.tanh(W @ x) + float(SERIES[t]) * v, h, 12),
    "zeros": (lambda x, t: se.tanh(W @ x) + float(t % 2) * v, h, 0),
    "integers": (lambda x, t: se.tanh(W @ x) + (t * t * t + 2) * v, h, 12),
    "Adam": (adam, (h, c, v**2), 12),
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("count", [1, 2, 8, STEPS])
def test_numbers_that_change_with_the_step(name, count):
    step, start, steps = NUMBERS[name]
    results = iterated(step, start, count)
    result = results[0] if isinstance(results, tuple) else results
    assert count < STEPS or max(loops(*reroll([result])), default=0) >= steps - 2
    assert_same([result, se.gradient((result**2).sum(), h)], rtol=1e-10)


@pytest.mark.parametrize("backend", ["jax", "numba", "torch"])
@pytest.mark.parametrize("name", ["powers", "any numbers", "integers", "Adam"])
def test_numbers_that_change_with_the_step_in_other_libraries(name, backend):
    step, start, _ = NUMBERS[name]
    results = iterated(step, start)
    result = results[0] if isinstance(results, tuple) else results
    exprs = [result, se.gradient((result**2).sum(), h)]
    arguments = sorted(set().union(*[e.free_symbols for e in exprs]), key=str)
    library = EVERY[backend]()
    function = se.lambdify(arguments, exprs, backend=backend)
    normal = np.random.default_rng(0).standard_normal
    data = [0.5 * normal([int(n) for n in s.shape]) for s in arguments]
    expected = se.lambdify(arguments, exprs, optimize=False)(*data)
    for own, other in zip(function(*map(library.into, data)), expected, strict=True):
        assert_close(library.back(own), other, 1e-5)


def test_lists_of_numbers_are_functions_of_the_step_where_these_give_the_same():
    index = Symbol("t")

    def entry(function, is_reverse=False):
        numbers = [sympify(function(t)) for t in range(11, -1, -1)]
        return NumberSequence(numbers).at(12, index, is_reverse)

    assert entry(lambda t: 0.9**t) == Float(1.0) * Float(0.9) ** index
    assert entry(lambda t: 0.1 * t) == 0.1 * index
    assert entry(lambda t: 1.1 - 0.1 * t, is_reverse=True) == 0.1 * index
    assert entry(math.cos).has(se.Constant)


def test_numbers_of_scalars_and_of_small_parts_of_programs_stay():
    """Loops would take longer than the steps."""
    u = iterated(lambda u, t: sympy.sin(u) * (2 + math.cos(t)), Symbol("u"))
    assert loops(*reroll([u])) == []
    x, _, _ = iterated(adam, (h, c, v**2), 20)
    assert loops(*reroll([x.sum(), se.gradient(x.sum(), v)])) == []


# Steps whose states are multiples of long sums: SymPy multiplies these out.
LINEAR = {
    "leapfrog": leapfrog(lambda x: A @ se.sin(x)),
    "leapfrog, entry by entry": leapfrog(se.sin),
    "leapfrog, a cubic force": leapfrog(lambda x: x - x**3),
    "leapfrog, coupled": leapfrog(lambda x: A @ x + x**3),
    "leapfrog, a symbolic step": leapfrog(lambda x: A @ se.sin(x), a),
    "kick-drift-kick": kick_drift_kick(lambda x: x - x**3),
    "velocity Verlet": velocity_verlet(lambda x: A @ se.sin(x)),
    "momentum": momentum(lambda x: A.T @ se.tanh(A @ x - v)),
    "momentum, a cubic gradient": momentum(lambda x: x**3 - x),
    "momentum, a symbolic rate": momentum(se.sin, a),
}


@pytest.mark.parametrize("name", LINEAR)
def test_steps_that_add_multiples_of_states(name):
    x, y = iterated(LINEAR[name], (h, c), 20)
    total = (x * c).sum() + (y**2).sum()
    gradients = [se.gradient(total, s) for s in (h, a) if s in total.free_symbols]
    assert max(loops(*reroll([x, y])), default=0) >= 15
    assert len(loops(*reroll([total, *gradients]))) >= 2
    assert_same([x, y, total, *gradients], rtol=1e-10)


@pytest.mark.parametrize("force", [sympy.sin, lambda x: x - x**3])
def test_scalar_steps_that_add_multiples_of_states(force):
    u, q = symbols("u q", real=True)
    x, y = iterated(leapfrog(force), (u, q), 20)
    assert max(loops(*reroll([x, y])), default=0) >= 14
    assert_same([x, y, se.gradient(x * y, u)], rtol=1e-10)


@pytest.mark.parametrize("backend", ["jax", "numba"])
def test_leapfrog_and_its_gradient_in_compiled_loops(backend):
    x, y = iterated(leapfrog(lambda x: A @ se.sin(x)), (h, c), 20)
    exprs = [x, se.gradient((x**2).sum() + y @ v, h)]
    library = EVERY[backend]()
    function = se.lambdify([A, h, c, v], exprs, backend=backend)
    data = [0.5 * np.random.default_rng(0).standard_normal(s) for s in ((N, N), N, N, N)]
    expected = se.lambdify([A, h, c, v], exprs, optimize=False)(*data)
    for own, other in zip(function(*map(library.into, data)), expected, strict=True):
        assert_close(library.back(own), other, 1e-5)
    assert len(function.source) < 15_000


def test_a_pair_that_is_its_own_step_before_ends():
    x, _ = iterated(leapfrog(lambda x: A @ x + x**3, 0.01), (h, c), 30)
    assert_same([x, se.gradient((x**2).sum(), h)], rtol=1e-10)


def states(count=STEPS):
    found = [h]
    for t in range(count):
        found.append(se.tanh(W @ found[-1] + X[t]))
    return found[1:]


USES = {
    "stack": lambda own: [se.stack(own)],
    "joined": lambda own: [se.concatenate(own)],
    "sum of squares": lambda own: [sum((s**2).sum() for s in own)],
    "sum of functions": lambda own: [sum(se.exp(A @ s) for s in own)],
    "every other": lambda own: [se.stack(own[::2])],
    "single": lambda own: [own[3], own[-2] ** 2],
    "pairs": lambda own: [sum(s @ other for s, other in pairwise(own))],
    "all": lambda own: own,
    "with inputs": lambda own: [sum((s - X[t]) @ v for t, s in enumerate(own))],
}


@pytest.mark.parametrize("name", USES)
def test_uses_of_states(name):
    exprs = USES[name](states())
    assert loops(*reroll(exprs)) in ([11], [12])
    assert_same(exprs)


def test_a_sum_over_states_and_its_gradient_are_contractions():
    total = sum((s**2).sum() for s in states(20))
    value, gradient = reroll([total, se.gradient(total, W)])
    assert str(value).endswith("[1]**2).sum()")
    # The step back starts behind the last state, which has no state after it.
    assert loops(value, gradient) in ([18, 20], [19, 20])
    assert len(graph(value, gradient)) < 90
    assert_same([total, se.gradient(total, W)], rtol=1e-7)


def test_second_derivatives_are_loops():
    total = (states(10)[-1] ** 2).sum()
    assert_same([total, se.hessian(total, h)], rtol=1e-7)


def test_the_first_and_the_last_step_may_differ():
    start = se.exp(h) * v
    for t in range(20):
        start = se.tanh(W @ start + X[t]) if t != 19 else se.sin(A @ start + X[3])
    assert loops(*reroll([start])) == [19]
    assert_same([start])
    middle = iterated(lambda u, t: se.tanh(W @ u + X[t]) * (2 if t == 10 else 1), h, 22)
    assert loops(*reroll([middle])) in ([10, 11], [11, 11], [11, 10])
    assert_same([middle])


def test_chains_of_chains():
    def outer(u, t):
        return se.sin(iterated(lambda u, t: se.tanh(W @ u + X[t]), u, 10)) + v

    result = iterated(outer, h, 9)
    (rerolled,) = reroll([result])
    assert loops(rerolled) == [9]
    assert loops(*rerolled.loop.outputs) == [10]
    assert_same([result])


def test_chains_beside_each_other():
    one = iterated(lambda u, t: se.sin(B.T @ (B @ u)) + w, w)
    other = iterated(lambda u, t: se.sin(B.T @ (B @ u)) + 2 * w, w)
    assert_same([one, other, one @ other, iterated(lambda u, t: se.cos(A @ u), v) @ v])


def test_a_chain_that_starts_with_a_value_of_a_step_of_another_one():
    """The loop of the other one mustn't need itself."""
    inputs = [se.exp(X[t]) for t in range(STEPS)]
    u = iterated(lambda u, t: se.sin(A @ u + inputs[t]), v * inputs[3].sum())
    first = iterated(lambda u, t: se.tanh(W @ u), inputs[2])
    second = iterated(lambda u, t: se.tanh(W @ u + inputs[t]) + first, first)
    assert_same([u, second, *inputs[4:6]])


def test_too_few_steps_stay_written_out():
    exprs = [states(7)[-1]]
    assert reroll(exprs) is exprs
    assert "for" not in se.lambdify([W, X, h], exprs).source


def test_equal_steps_of_unequal_tensors_stay_written_out():
    """Stacking the matrices would take longer than multiplying by them."""
    layers = [se.TensorSymbol(f"W{k}", N, N) for k in range(20)]
    exprs = [iterated(lambda u, k: se.tanh(layers[k] @ u), h, 20)]
    assert reroll(exprs) is exprs


def test_products_stay_in_the_order_that_costs_least():
    """Matrices times a vector are multiplied from the right."""
    product = iterated(lambda P, t: P @ (A / 2), A / 2, 20)
    assert loops(*reroll([product @ v])) == []
    assert_same([product @ v])


@pytest.mark.parametrize("kind", [int, float])
def test_integers_stay_integers(kind):
    u = iterated(lambda u, t: u * u + t, Symbol("u"))
    tensor = iterated(lambda x, t: W @ x + X[t], h)
    found = se.lambdify([Symbol("u"), W, X, h], [u, tensor])
    value, array = found(kind(0), np.eye(N, dtype=kind), np.ones((44, N), kind), np.ones(N, kind))
    assert type(value) in (kind, np.dtype(kind).type)
    assert array.dtype == np.dtype(kind)


KEEPING_INTEGERS = {
    "affine": (lambda x, t: W @ x + v, h, 12),
    "inputs": (lambda x, t: W @ x + X[t], h, 12),
    "relu": (lambda x, t: snp.maximum(W @ x + X[t], 0), h, 12),
    "absolute values": (lambda x, t: abs(W @ x) - v, h, 12),
    "multiples": (lambda x, t: x + a * (W @ x), h, 12),
    "Horner": (lambda x, t: x * v + X[t], h, 12),
    "two steps before": (lambda s, t: (2 * v * s[0] - s[1], s[0]), (v, v**2), 12),
}


@pytest.mark.parametrize("name", KEEPING_INTEGERS)
def test_steps_that_keep_integers(name):
    step, start, steps = KEEPING_INTEGERS[name]
    results = iterated(step, start)
    result = results[0] if isinstance(results, tuple) else results
    assert loops(*reroll([result])) == [steps]
    variables = [s for s in (W, v, h) if s in result.free_symbols]
    exprs = [result, *[se.gradient((result**2).sum(), s) for s in variables]]
    assert_same(exprs, rtol=1e-9)
    arguments = sorted(set().union(*[e.free_symbols for e in exprs]), key=str)
    unrolled = se.lambdify(arguments, result, optimize=False)
    for kind in (np.int64, np.int32, np.bool_):
        rng = np.random.default_rng(0)
        shapes = [[int(n) for n in getattr(s, "shape", ())] for s in arguments]
        data = [rng.integers(-1, 2, shape).astype(kind) for shape in shapes]
        try:
            expected = unrolled(*data)
        except TypeError:  # NumPy doesn't subtract Booleans
            continue
        found = se.lambdify(arguments, result)(*data)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype or kind is np.bool_


@pytest.mark.parametrize("backend", ["jax", "numba", "torch"])
@pytest.mark.parametrize("name", KEEPING_INTEGERS)
def test_steps_that_keep_integers_in_other_libraries(name, backend):
    step, start, _ = KEEPING_INTEGERS[name]
    results = iterated(step, start)
    result = results[0] if isinstance(results, tuple) else results
    arguments = sorted(result.free_symbols, key=str)
    library = EVERY[backend]()
    function = se.lambdify(arguments, result, backend=backend)
    unrolled = se.lambdify(arguments, result, optimize=False)
    rng = np.random.default_rng(0)
    shapes = [[int(n) for n in getattr(s, "shape", ())] for s in arguments]
    floats = [0.4 * rng.standard_normal(shape) for shape in shapes]
    assert_close(library.back(function(*map(library.into, floats))), unrolled(*floats), 1e-5)
    # Integers, with a fraction as the number.
    mixed = [rng.integers(-1, 2, shape) if shape else np.float64(0.5) for shape in shapes]
    assert_close(library.back(function(*map(library.into, mixed))), unrolled(*mixed), 1e-5)


def test_steps_of_integers_are_loops_where_they_would_be_floating_point_numbers():
    """As in Numba, whose kernels compute with floating-point numbers."""
    exprs = [iterated(lambda u, t: a * u * (1 - u), h)]
    assert loops(*reroll(exprs)) == []
    assert loops(*reroll(exprs, keeps_integers=False)) == [10]
    linear = [iterated(lambda u, t: u + a * (A @ u), h, 20)]
    function = se.lambdify([A, a, h], linear, backend="numba")
    expected = se.lambdify([A, a, h], linear, optimize=False)
    data = 0.1 * np.arange(9).reshape(3, 3), 0.5, np.ones(3)
    assert_close(function(*data)[0], expected(*data)[0], 1e-10)
    # Without the helpers above the kernel.
    assert len(function.source.split("def compute")[1]) < 1500


def test_sums_stay_sums_where_a_batch_takes_much_memory():
    exprs = [sum(se.sin(X[t, 0] * W) for t in range(20))]
    (rerolled,) = reroll(exprs)
    assert rerolled is exprs[0]
    assert str(reroll([sum(se.sin(W @ X[t]) for t in range(20))])[0]) == (
        "sin(X[:20, :] @ W.T).sum(axis=0)"
    )


def test_a_value_that_is_the_same_for_all_terms_and_differs_between_them():
    """The sum of all is in each term, as well as one of its terms."""
    values = [se.sin(Y[t].T @ v) for t in range(10)]
    total = se.cos(sum(values))
    assert_same([sum(total * s**2 for s in values)])


@pytest.mark.parametrize("backend", ["jax", "numba", "torch", "dask"])
def test_backends(backend):
    library = EVERY[backend]()
    function = se.lambdify([W, X, h], states(16)[-1], backend=backend)
    # Dask has no loops.
    assert ("X[7]" in function.source) == (backend == "dask")
    data = [np.random.default_rng(0).standard_normal(s) for s in ((N, N), (44, N), N)]
    expected = data[2]
    for t in range(16):
        expected = np.tanh(data[0] @ expected + data[1][t])
    assert_close(library.back(function(*map(library.into, data))), expected, 1e-5)


def test_entrywise_steps_that_a_compiler_fuses_stay_written_out():
    x, y = se.tensors("x y", 5)
    exprs = [iterated(lambda u, t: se.sin(u) * y, x, 20)]
    assert reroll(exprs, fuses=True) is exprs
    assert loops(*reroll(exprs)) == [20]
    assert loops(*reroll([iterated(lambda u, t: se.sin(u) * y, x, 200)], fuses=True)) == [200]


def test_text_and_work_do_not_grow_with_the_steps():
    def compiled(count):
        last = states(count)[-1]
        return lambda: se.lambdify([W, X, h], last)

    assert len(compiled(40)().source) == len(compiled(20)().source)


def test_the_search_is_linear():
    def work(count):
        total = (iterated(lambda u, t: se.tanh(W @ u + X[t % 44]), h, count) ** 2).sum()
        exprs = [total, se.gradient(total, W)]
        reroll(exprs)
        return calls(lambda: reroll(exprs))

    small, large = work(60), work(120)
    assert large < 2.3 * small + 3000


def test_values_that_a_loop_back_reads_are_not_built_one_by_one():
    def work(count):
        x = se.TensorSymbol("x", N)
        exprs = [se.gradient(iterated(lambda u, t: se.sin(u) + x / 2, x, count).sum(), x)]
        reroll(exprs)
        return calls(lambda: reroll(exprs))

    assert work(200) - work(100) < 100 * 1500


# --- random chains --------------------------------------------------------------------------------

SHAPES = [(), (N,), (M,), (N, M)]


def shape_of(e):
    return tuple(getattr(e, "shape", ()))


def converted(rng, e, shape):
    """Return an expression of another shape."""
    own = shape_of(e)
    if own == shape:
        return e
    if shape == ():
        return (e**2).sum() if rng.random() < 0.5 else e.sum()
    if own == ():
        return e * {(N,): v, (M,): w, (N, M): B}[shape]
    if len(own) == len(shape):
        return B.T @ e if shape == (M,) else B @ e
    if len(own) == 2:
        return e @ w if shape == (N,) else v @ e
    return se.outer(e, w) if own == (N,) else se.outer(v, e)


def random_step(seed, carried, t, count):
    """Return the next carries: the same choices at each step."""
    rng = random.Random(seed)
    stride = rng.choice([1, 1, 2, -1])
    p = (stride * t if stride > 0 else count - 1 - t) + rng.choice([0, 0, 1])
    entries = [X[p], Y[p], X[p, 1], X[0], A @ X[p], t * v, X[p : p + 2].sum(axis=0), a]
    pool = [rng.choice([*entries, se.exp(X[p] / 4)]) for _ in range(rng.randint(0, 3))]
    pool += carried
    is_sequential = rng.random() < 0.5
    new = []
    for old in carried:
        x, y, z = [converted(rng, rng.choice(pool), shape_of(old)) for _ in range(3)]
        f = rng.choice([se.sin, se.tanh, se.cos, se.sigmoid])
        forms = [f(x + y / 2), old + f(x * y) / 10, f(x) * y / 2 + z / 3, old - f(x) * z / 8]
        new.append(rng.choice([*forms, f(x / (1 + y**2)), f(old * y) + z / 2]))
        if is_sequential:
            pool.append(new[-1])
    return new


@pytest.mark.parametrize("seed", range(6))
def test_random_chains(seed):
    rng = random.Random(seed)
    count = rng.choice([8, 12, 17])
    shapes = [rng.choice(SHAPES[1:]) for _ in range(rng.randint(1, 3))]
    carried = [{(N,): v, (M,): w, (N, M): B}[shape] for shape in shapes]
    special = rng.choice([None, None, 0, count // 2, count - 1])
    history = []
    for t in range(count):
        carried = random_step(seed, carried, t, count)
        if t == special:
            carried[0] = carried[0] * 1.5
        history.append(carried)
    exprs = [*carried, sum(converted(rng, se.sin(own[0]), ()) for own in history)]
    exprs.append(se.stack([own[-1] for own in history]))
    total = sum(converted(rng, se.sin(e), ()) for e in exprs)
    variables = [s for s in (A, B, v, X) if s in total.free_symbols]
    assert_same([*exprs, se.gradient(total, rng.choice(variables))], seed, rtol=1e-6)
