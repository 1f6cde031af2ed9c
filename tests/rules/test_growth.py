"""Products of many operands: the work of every operation is linear in their number. Work is counted
in function calls, never in seconds."""

import itertools
from functools import partial

import numpy as np
import pytest
import sympy
from oracles import assert_close, calls, evaluate, n

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.analysis import cost
from sympy_einsum.core.traversal import postorder
from sympy_einsum.core.tuning import COST_SLACK
from sympy_einsum.rules.stable.nodes import pieces, reached

x = se.TensorSymbol("x", (n,))
A = se.TensorSymbol("A", (n, n))
B = se.TensorSymbol("B", (n, n))
FRESH = itertools.count()
SMALL, LARGE = 80, 320
# An exponent of 1.2.
GROWTH = (LARGE / SMALL) ** 1.2
# What may come on top: longer products are taken apart first.
CONSTANT = 60_000


def fresh(count, order):
    tag = next(FRESH)
    return [se.TensorSymbol(f"growth{tag}_{j}", (n,) * order) for j in range(count)]


def product(operands, subscripts, output):
    return se.einsum(*itertools.chain(*zip(operands, subscripts, strict=True)), output)


def chain(count):
    return product([x, *fresh(count, 2)], [[0], *[[j, j + 1] for j in range(count)]], [count])


def hadamard(count):
    return product([x, *fresh(count, 1)], [[0]] * (count + 1), [0])


def star(count):
    return product([x, *fresh(count, 2)], [[0], *[[0, j + 1] for j in range(count)]], [])


def binary_tree(count):
    pairs = [[(j - 1) // 2, j] for j in range(1, count)]
    return product([x, *fresh(count - 1, 2)], [[0], *pairs], [])


def repeated_chain(count):
    return product([x, *[A] * count, x], [[0], *[[j, j + 1] for j in range(count)], [count]], [])


def power(count):
    return product([x] * count, [[0]] * count, [0])


def scalar_factors(count):
    return sympy.Mul(*[x @ v for v in fresh(count, 1)])


def nested_maxima(count):
    e = x
    for v in fresh(count, 1):
        e = snp.maximum(e, v)
    return e


def nested_inverses(count):
    e = A
    for _ in range(count):
        e = se.inv(e + B)
    return e


def squares(count):
    """Iterate y ← y², y ← sin(y) y: exponential as a tree."""
    h = A * fresh(1, 2)[0]
    for j in range(count):
        h = se.sin(h) * h if j % 2 else h * h
    return h


def sum_of_functions(count):
    terms = [se.exp(v * x) for v in fresh(count, 1)]
    return sum(terms[1:], terms[0])


GRAPHS = [
    chain,
    hadamard,
    star,
    binary_tree,
    repeated_chain,
    power,
    scalar_factors,
    nested_maxima,
    nested_inverses,
    sum_of_functions,
]


def summed(e):
    return e.sum() if getattr(e, "shape", ()) else e


def tensors(e):
    return sorted(
        [s for s in e.free_symbols if isinstance(s, se.TensorSymbol)], key=lambda s: s.name
    )


def variable(e):
    return x if x in e.free_symbols else A


WORK = {
    "gradient by all": lambda e: se.gradient(summed(e), tensors(e)),
    "gradient by one": lambda e: se.gradient(summed(e), variable(e)),
    "forward": lambda e: se.jvp(e, variable(e), variable(e), simplify=False),
    "simplify": se.simplify,
    "lambdify": lambda e: se.lambdify(tensors(e), e),
    "lambdify with the gradient": lambda e: se.lambdify(
        tensors(e), [summed(e), se.gradient(summed(e), variable(e))]
    ),
    "substitute": lambda e: e.subs(variable(e), se.TensorSymbol("z", variable(e).shape)),
}


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.__name__)
@pytest.mark.parametrize("work", WORK)
def test_work_grows_with_the_number_of_operands(graph, work):
    WORK[work](graph(LARGE))  # caches are filled on first use
    small, large = (calls(partial(WORK[work], graph(count))) for count in (SMALL, LARGE))
    assert large <= GROWTH * small + CONSTANT, f"{small} calls for {SMALL}, {large} for {LARGE}"


@pytest.mark.parametrize("graph", [repeated_chain, power], ids=lambda graph: graph.__name__)
def test_second_derivatives_grow_too(graph):
    def work(e):
        se.hessian(summed(e), x, simplify=False)
        se.hessian(summed(e), A if A in e.free_symbols else x, simplify=False)

    small, large = (calls(partial(work, graph(2 * count))) for count in (SMALL, LARGE))
    assert large <= GROWTH * small + CONSTANT


@pytest.mark.parametrize("graph", [chain, hadamard, star, scalar_factors])
def test_a_gradient_of_a_long_product_has_a_constant_times_its_operands(graph):
    sizes = []
    for count in (SMALL, LARGE):
        e = summed(graph(count))
        gradients = se.gradient(e, tensors(e), simplify=False)
        used = [o for node in postorder([e, *gradients]) for o in getattr(node, "operands", ())]
        sizes.append(len(used))
    assert sizes[1] <= 1.2 * sizes[0] * LARGE / SMALL


@pytest.mark.parametrize("count", [17, 20, 33])
@pytest.mark.parametrize("kind", ["chain", "repeated", "tree", "entries", "scalars"])
def test_derivatives_of_long_products_are_right(kind, count):
    """Against central differences, by operands that occur many times, also transposed and on
    diagonals."""
    rng = np.random.default_rng(count)
    C, y = se.TensorSymbol("C", (3, 3)), se.TensorSymbol("y", (3,))
    D = se.TensorSymbol("D", (3, 3))
    names = [[C, D][k] for k in rng.integers(0, 2, count)]
    if kind == "scalars":
        f = sympy.Mul(*[1 + (y @ v @ y) / (k + 3) for k, v in enumerate(names)]) * (y @ C @ D @ y)
    elif kind == "entries":
        pairs = [[0, 1], [1, 0], [0, 0], [1, 1]]
        f = product(names, [pairs[k] for k in rng.integers(0, 4, count - 1)] + [[0, 1]], [0]) @ y
    elif kind == "tree":
        f = product(
            [y, *names], [[0], *[[int(rng.integers(0, j + 1)), j + 1] for j in range(count)]], []
        )
    else:
        names = [C] * count if kind == "repeated" else names
        pairs = [[j, j + 1] if rng.random() < 0.7 else [j + 1, j] for j in range(count)]
        f = product([y, *names, y], [[0], *pairs, [count]], [])
    variables = tensors(f)
    values = [rng.uniform(0.2, 0.5, [3] * v.order) for v in variables]
    steps = [rng.standard_normal(v.shape) for v in values]
    tangents = [se.TensorSymbol(f"d{v.name}", v.shape) for v in variables]
    function = se.lambdify(
        [*variables, *tangents],
        [f, se.jvp(f, variables, tangents), se.gradient(f, variables)],
    )
    value, derivative, gradient = function(*values, *steps)

    def moved(step):
        shifted = [v + step * d for v, d in zip(values, steps, strict=True)]
        return function(*shifted, *steps)[0]

    expected = (moved(1e-5) - moved(-1e-5)) / 2e-5
    by_gradient = sum((g * d).sum() for g, d in zip(gradient, steps, strict=True))
    assert derivative == pytest.approx(expected, rel=1e-4)
    assert by_gradient == pytest.approx(derivative, rel=1e-9)
    assert np.isfinite(value)


@pytest.mark.parametrize("order", [6, 12])
def test_an_array_of_high_order_with_a_vector_on_each_axis(order):
    T = se.TensorSymbol("T", (n,) * order)
    f = product([T, *[x] * order], [list(range(order)), *[[k] for k in range(order)]], [])
    assert calls(lambda: se.hessian(f, x)) < 5_000_000
    vectors = fresh(order, 1)
    g = product([T, *vectors], [list(range(order)), *[[k] for k in range(order)]], [])
    assert calls(lambda: se.hessian(g, vectors[:4])) < 300_000


def test_gradients_of_nested_choices():
    def gradient(count):
        e = x
        for v in fresh(count, 1):
            e = snp.where(v > 0, se.sin(e), e * v)
        return se.gradient(e.sum(), x)

    gradient(5)
    few, many = calls(partial(gradient, 10)), calls(partial(gradient, 40))
    assert many < 4**1.2 * few + CONSTANT


@pytest.mark.slow
def test_simplified_gradients_of_shared_nodes_grow_linearly():
    def work(e):
        se.gradient(e.sum(), A, simplify=True)

    small, large = (calls(partial(work, squares(count))) for count in (SMALL, LARGE))
    assert large <= GROWTH * small + CONSTANT


def test_common_factors_of_terms_are_pulled_out_at_once():
    a, b, c, d = fresh(4, 1)
    result, steps = se.simplify(a * b * c * x + a * b * c * d, trace=True)
    assert result == se.einsum(*[v for t in (a, b, c, d + x) for v in (t, [0])], [0])
    assert [step.rule for step in steps].count("factor") == 1
    # Where nothing is left of a term, some of it stays.
    assert se.simplify(a * b + a * b * c).operands[0] in (a, b)


def test_shared_nodes_of_large_graphs_are_squared_whole():
    h = squares(20).sum()
    gradient, raw = (se.gradient(h, A, simplify=wanted) for wanted in (True, False))
    assert len(str(gradient)) < len(str(raw))
    assert cost([gradient]) <= COST_SLACK * cost([raw])


def test_a_sum_and_its_opposite_meet_in_a_product():
    y, z = fresh(2, 1)
    assert str(se.simplify((y - z) * se.exp(x) * (z - y))).endswith(")**2)")
    s, t = sympy.symbols("s t")
    total = se.simplify(s * (y - z) + t * (z - y))
    assert total in ((s - t) * (y - z), (t - s) * (z - y))


CUBES = {
    "with a scalar": lambda e, s: (e @ e) * e / 8 + x * s,
    "with a fraction": lambda e, s: e * (e @ e) / 9 + x / 4,
}


@pytest.mark.parametrize("name", CUBES)
def test_cubes_in_cubes_are_not_multiplied_out(name):
    """Their common denominator has 3**30 digits."""
    y = se.TensorSymbol("y", (n,))
    e, data = x, {x: 0.1 * np.arange(1.0, 4.0), y: 0.9 * np.ones(3)}
    for _ in range(30):
        e = CUBES[name](e, y @ y)
    simple = se.simplify(e)
    gradient, raw = (se.gradient(e.sum(), x, simplify=wanted) for wanted in (True, False))
    assert len(str(gradient)) < 10_000
    found = evaluate([e, simple, gradient, raw], data)
    assert_close([found[0], found[2]], [found[1], found[3]])


def test_functions_of_multiples_are_not_composed():
    """SymPy takes a millisecond to evaluate sin(17*u); a wide sum has a different one per term."""
    assert [body for body, _ in pieces(se.sin(17 * x))] == [se.sin(x).body]
    assert len(pieces(se.tanh(2 * se.sin(x)))) > 1
    assert x in reached(se.exp(-x))
