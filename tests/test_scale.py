"""Deep and widely shared graphs: every operation terminates, in work linear in the graph, alone and
inside stock expressions. Work is counted in function calls and nodes, never in seconds."""

import copy
import functools
import gc
import itertools
import pickle

import numpy as np
import pytest
import sympy
from at_once import at_once
from oracles import assert_close, calls, evaluate, graph, k, m, n
from sympy import Symbol, symbols

import sympy_einsum as se
from sympy_einsum.compiler.backends import BACKENDS

t, u = symbols("t u")
x = se.TensorSymbol("x", (n,))
y = se.TensorSymbol("y", (n,))
z = se.TensorSymbol("z", (n,))
A = se.TensorSymbol("A", (n, n))
DEPTH = 1200  # more than Python's stack holds
WIDTH = 400

rng = np.random.default_rng(5)
ROTATION = np.linalg.qr(rng.standard_normal((3, 3)))[0]
POINT = np.array([-0.5, -0.2, -0.8])
DATA = {x: POINT, y: np.array([0.3, -0.1, 0.2]), A: ROTATION}


def iterate(step, start, count):
    for _ in range(count):
        start = step(start)
    return start


STEPS = {
    "sine": (lambda e: se.sin(e), lambda e: np.sin(e)),
    "product": (lambda e: A @ e, lambda e: ROTATION @ e),
    "layer": (lambda e: se.tanh(A @ e + y), lambda e: np.tanh(ROTATION @ e + DATA[y])),
    "sum": (lambda e: se.cos(e) + y, lambda e: np.cos(e) + DATA[y]),
    "same summand": (lambda e: e + y, lambda e: e + DATA[y]),
    "shared": (lambda e: e * e + se.sin(e), lambda e: e * e + np.sin(e)),
    "scalars between": (
        lambda e: se.tanh(e) / (1 + (e @ e)) + x,
        lambda e: np.tanh(e) / (1 + (e @ e)) + POINT,
    ),
}


@functools.cache
def chain(name, count):
    return iterate(STEPS[name][0], x, count)


LONG = {
    "sine": DEPTH,
    "product": DEPTH,
    "layer": DEPTH // 3,
    "sum": DEPTH // 2,
    "same summand": DEPTH,
    "shared": WIDTH,
    "scalars between": WIDTH,
}
long = pytest.mark.parametrize("name", LONG)


def long_chain(name):
    return chain(name, LONG[name])


def reference(name):
    return iterate(STEPS[name][1], POINT, LONG[name])


def stock(e):
    """Return a stock expression around the sum of the entries."""
    f = e.sum()
    return sympy.sin(f) * t + f**2


# --- every operation, on every graph --------------------------------------------------------------


@long
def test_build_hash_and_compare(name):
    e = long_chain(name)
    again = iterate(STEPS[name][0], x, LONG[name])
    assert e is again
    assert e == again
    assert hash(e) == hash(again)
    assert e != iterate(STEPS[name][0], x, LONG[name] - 1)
    assert e in {e, x}
    assert e.shape == (n,)
    assert e.compare(e) == 0
    assert stock(e) == stock(again)
    assert hash(stock(e)) == hash(stock(again))


@long
def test_evaluate(name):
    value = evaluate([long_chain(name), stock(long_chain(name))], {**DATA, t: 0.7})
    expected = reference(name)
    assert_close(value[0], expected)
    assert_close(value[1], np.sin(expected.sum()) * 0.7 + expected.sum() ** 2)


def central_difference(function, direction, step=1e-5):
    return (function(step * direction) - function(-step * direction)) / (2 * step)


@long
def test_differentiate(name):
    e = long_chain(name)
    gradient = se.gradient(e.sum(), x)
    assert gradient.shape == (n,)
    assert se.diff(e.sum(), x) == gradient
    assert e.sum().diff(x) == gradient
    assert sympy.diff(e.sum(), x) == gradient
    value = evaluate(gradient, DATA)

    def shifted(change):
        global POINT
        before = POINT
        POINT = before + change  # the steps read it too
        try:
            return iterate(STEPS[name][1], POINT, LONG[name]).sum()
        finally:
            POINT = before

    derivative = [central_difference(shifted, direction) for direction in np.eye(3)]
    assert_close(value, derivative, 1e-5)


@pytest.mark.slow
@long
def test_differentiate_inside_a_stock_expression(name):
    f = long_chain(name).sum()
    e = stock(long_chain(name))
    data = {**DATA, t: 0.7}
    ours, theirs, inner = se.diff(e, x), sympy.diff(e, x), se.gradient(f, x)
    assert sympy.diff(e, t) == sympy.sin(f) == se.diff(e, t)
    values = evaluate([ours, theirs, inner, f], data)
    expected = (0.7 * np.cos(values[3]) + 2 * values[3]) * values[2]
    assert_close(values[0], expected)
    assert_close(values[1], expected)


@long
def test_pickle_and_copy(name):
    e = long_chain(name)
    for f in (e, se.gradient(e.sum(), x)):
        assert pickle.loads(pickle.dumps(f)) is f
        assert copy.copy(f) is f
        assert copy.deepcopy(f) is f
    around = stock(e)
    assert pickle.loads(pickle.dumps(around)) == around
    assert copy.deepcopy(around) == around


@long
def test_free_symbols_and_has(name):
    e = long_chain(name)
    expected = {
        "sine": {x},
        "product": {x, A},
        "layer": {x, y, A},
        "sum": {x, y},
        "same summand": {x, y},
        "shared": {x},
        "scalars between": {x},
    }[name]
    assert e.free_symbols - {n} == expected
    assert stock(e).free_symbols - {n} == expected | {t}
    for f in (e, stock(e)):
        assert f.has(x)
        assert not f.has(z)
        assert not f.has(u)
        assert f.atoms(se.TensorSymbol) == expected
    assert e.has(n)


@long
def test_substitute(name):
    e = long_chain(name)
    step = STEPS[name][0]
    renamed = e.subs(x, z)
    assert renamed == e.xreplace({x: z})
    assert renamed.subs(z, x) is e
    assert not renamed.has(x)
    if name != "scalars between":
        assert renamed == iterate(step, z, LONG[name])
    assert e.subs(n, 3).shape == (3,)
    assert e.xreplace({k: m}) is e
    around = stock(e)
    assert around.subs(x, z).subs(z, x) == around
    assert around.xreplace({x: z}).xreplace({z: x}) == around
    assert around.subs(t, 2).free_symbols.isdisjoint({t})


TEXT_LIMIT = 1000


@pytest.mark.slow
@long
@pytest.mark.parametrize(
    "printer", [str, repr, sympy.srepr, sympy.latex, sympy.pretty, se.latex, se.pretty]
)
def test_print(name, printer):
    """The length of the text is linear in the graph, stock expressions included."""
    e = long_chain(name)
    for f in (e, e.sum(), stock(e)):
        text = printer(f)
        assert 0 < len(text) < TEXT_LIMIT * LONG[name]


@long
def test_srepr_round_trip(name):
    e = chain(name, 300)
    namespace = {**vars(sympy), **vars(se)}
    try:
        back = eval(sympy.srepr(e), namespace)
    except (RecursionError, MemoryError, SyntaxError):
        pytest.skip("Python's parser doesn't nest that deep")
    assert back is e


@long
@pytest.mark.parametrize(
    "operation",
    [
        sympy.expand,
        sympy.simplify,
        sympy.count_ops,
        sympy.cse,
        sympy.srepr,
        sympy.factor,
        sympy.together,
        sympy.powsimp,
        lambda e: e.doit(),
        lambda e: sympy.series(e, t, 0, 3),
        lambda e: sympy.solve(e - 1, t),
        lambda e: sympy.Poly(e, t),
        lambda e: e.replace(sympy.sin, sympy.cos),
        lambda e: e.is_polynomial(t),
        lambda e: e.is_real,
        lambda e: e.is_zero,
        lambda e: e.is_constant(x),
        lambda e: e.evalf(),
        lambda e: sympy.default_sort_key(e),
        lambda e: list(sympy.preorder_traversal(e)),
        lambda e: sympy.integrate(e, t),
        lambda e: e.find(Symbol),
        lambda e: e.match(Symbol("w") + e),
        lambda e: e.as_coefficients_dict(),
        lambda e: e + 1 - e,
    ],
)
def test_stock_operations_end(name, operation):
    operation(stock(long_chain(name)))
    operation(long_chain(name).sum())


@long
def test_stock_operations_on_the_tensor_itself_end(name):
    e = long_chain(name)
    for operation in (sympy.expand, sympy.simplify, sympy.count_ops, sympy.cse, lambda e: e.doit()):
        operation(e)
    assert e - e == se.Zeros(n)
    assert e + e - 2 * e == se.Zeros(n)
    assert sympy.sympify(e) is e


@pytest.mark.slow
def test_ten_thousand_steps():
    e = chain("sine", 10_000)
    gradient = se.gradient(e.sum(), x)
    assert pickle.loads(pickle.dumps(gradient)) is gradient
    assert len(str(gradient)) < TEXT_LIMIT * 10_000
    value = evaluate(e, DATA)
    assert_close(value, iterate(STEPS["sine"][1], POINT, 10_000))


# --- the growth of the work -----------------------------------------------------------------------

SMALL, LARGE = 100, 400
GROWTH = (LARGE / SMALL) * 1.1
CONSTANT = 2000

FRESH = itertools.count()


def fresh_symbol():
    return se.TensorSymbol(f"fresh{next(FRESH)}", (n,))


WORK = {
    "build": lambda step, e, count: iterate(step, fresh_symbol(), count),
    "differentiate": lambda step, e, count: se.gradient(e.sum(), x),
    "Jacobian": lambda step, e, count: se.diff(e, x, mode="forward"),
    "pickle": lambda step, e, count: pickle.loads(pickle.dumps(e)),
    "lambdify": lambda step, e, count: se.lambdify([x, y, A], e),
    "substitute": lambda step, e, count: e.subs(x, z),
    "exchange": lambda step, e, count: e.xreplace({x: z}),
    "free symbols": lambda step, e, count: e.free_symbols,
    "has": lambda step, e, count: e.has(z),
    "atoms": lambda step, e, count: e.atoms(),
    "str": lambda step, e, count: str(e),
    "srepr": lambda step, e, count: sympy.srepr(e),
    "latex": lambda step, e, count: sympy.latex(e),
    "stock derivative": lambda step, e, count: sympy.diff(stock(e), x),
    "stock substitution": lambda step, e, count: stock(e).subs(x, z),
    "derivative by a scalar": lambda step, e, count: se.diff(stock(e), t),
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("work", WORK)
def test_work_grows_linearly(name, work):
    step = STEPS[name][0]
    WORK[work](step, chain(name, LARGE), LARGE)  # SymPy's caches are filled on first use
    small, large = (
        calls(functools.partial(WORK[work], step, chain(name, count), count))
        for count in (SMALL, LARGE)
    )
    assert large <= GROWTH * small + CONSTANT, f"{small} calls for {SMALL}, {large} for {LARGE}"


LINKS = {
    "pairs of terms": lambda e: se.sin(e) * e + x,
    "kinks": lambda e: se.Max(e, 0) * x + e,
}


@pytest.mark.parametrize("name", LINKS)
def test_compiling_with_the_gradient_grows_linearly(name):
    few, many = (iterate(LINKS[name], x, count).sum() for count in (50, 200))
    se.gradient(few, x)  # SymPy's caches are filled on first use
    both = [(f, se.gradient(f, x)) for f in (few, many)]
    small, large = (calls(lambda fg=fg: se.lambdify([x], fg)) for fg in both)
    assert large <= GROWTH * small + CONSTANT, f"{small} calls for 50 links, {large} for 200"


def test_kinks_inside_of_kinks_are_not_compared():
    # SymPy's Max compares its arguments, which takes it long where these are maxima.
    first, many = (iterate(LINKS["kinks"], own, 60).sum() for own in (y, x))
    se.gradient(first, y)  # SymPy's caches are filled on first use
    assert calls(lambda: se.gradient(many, x)) < 10_000 * 60


COMPILED = {
    **{name: STEPS[name] for name in ("sum", "layer", "scalars between")},
    "scaled square": (lambda e: e * e / 8 + x, None),
    "pieces": (lambda e: se.concatenate([e[1:], 2 * e[:1]]) + x, None),
}


@pytest.mark.parametrize("name", COMPILED)
@pytest.mark.parametrize("backend", BACKENDS)
def test_compiling_grows_linearly_for_every_backend(name, backend):
    pytest.importorskip(backend)
    step = COMPILED[name][0]

    def compile_chain(count):
        return se.lambdify([x, y, A], iterate(step, x, count), backend=backend)

    compile_chain(80)  # SymPy's caches are filled on first use
    small, large = (calls(functools.partial(compile_chain, count)) for count in (20, 80))
    assert large <= 1.3 * 4 * small + CONSTANT, f"{small} calls for 20 steps, {large} for 80"


@pytest.mark.parametrize("name", ["sum", "scaled square"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_compiling_deep_graphs_terminates(name, backend):
    """A thousand values, each used once, in the next."""
    pytest.importorskip(backend)
    chain = iterate(COMPILED[name][0], x, 500)
    assert len(se.lambdify([x, y], chain, backend=backend).source) < 500 * TEXT_LIMIT


LOSSY = {
    # A step, its derivative by the last value, and data near a fixed point: numbers of hundreds of
    # steps overflow where what they are multiplied with vanishes.
    "scaled square": (lambda f, x: f * f / 8 + x, lambda f: f / 4, 2.0),
    "floating-point": (lambda f, x: 0.125 * f * f + x, lambda f: f / 4, 2.0),
    "fraction": (lambda f, x: f * f * 2 / 3 + x, lambda f: f * 4 / 3, 0.375),
    "large": (lambda f, x: 100 * f * f + x, lambda f: 200 * f, 0.0025),
    "divided sum": (lambda f, x: (f + x) / 3, lambda f: 0 * f + 1 / 3, 0.7),
}


def lossy(name, count):
    """Return an iterated function; its value and derivative at a point."""
    step, derivative, start = LOSSY[name]
    point = np.array([start, 0.9 * start, -0.3 * start])
    f, value, expected = x, point, np.ones(3)
    for _ in range(count):
        f = step(f, sympy.S.One * x)
        expected = expected * derivative(value) + (1 / 3 if name == "divided sum" else 1)
        value = step(value, point)
    return f, {x: point}, value, expected


@pytest.mark.parametrize("name", LOSSY)
def test_coefficients_of_deep_graphs_do_not_overflow(name):
    f, data, value, expected = lossy(name, 600)
    gradient = se.gradient(f.sum(), x, simplify=False)
    assert_close(evaluate([f, gradient], data), [value, expected])


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("name", LOSSY)
def test_coefficients_of_simplified_derivatives_do_not_overflow(name, mode):
    """The denominators of a sum aren't all factored out."""
    f, data, _, expected = lossy(name, 220)
    assert_close(evaluate(se.diff(f.sum(), x, mode=mode, simplify=True), data), expected)


@pytest.mark.parametrize("bits", [300, 5000])
def test_long_numbers_that_cancel(bits):
    number = sympy.Integer(2) ** bits
    for e in (number * x / number, x / number * number, (number * x) * (x / number) / x):
        assert_close(evaluate(e, DATA), POINT)


@pytest.mark.parametrize("bits", [300, 5000, 20_000])
def test_coefficients_are_exact(bits):
    number = sympy.Integer(2) ** bits
    assert (number + 1) * x - number * x == x
    assert x / number + x - x * (1 + 1 / number) == se.Zeros(n)
    assert (number * x + y) * (1 + number) - number * y == number * (number + 1) * x + y


@pytest.mark.parametrize("name", ["scaled square", "pieces"])
def test_texts_that_duplicate_shared_parts_are_refused(name):
    e = iterate(COMPILED[name][0], x, 50)
    with pytest.raises(se.UnsupportedError, match="every shared argument"):
        str(se.written(e))
    assert len(str(e)) < 50 * TEXT_LIMIT
    # SymPy's own scalars are written out too.
    with pytest.raises(se.UnsupportedError, match="or cse of SymPy's scalars"):
        str(se.written(shared_scalar(x @ x, 50) * x))


def shared_scalar(leaf, levels):
    """Return a stock scalar whose tree doubles with every level."""
    for _ in range(levels):
        leaf = leaf * leaf + sympy.sin(leaf)
    return leaf


SCALAR_WORK = {
    "differentiate": lambda f, v: se.diff(f, v),
    "lambdify": lambda f, v: se.lambdify([v], f),
    "lambdify the derivative": lambda f, v: se.lambdify([v], se.diff(f, v)),
    "multiply": lambda f, v: f * y,
    "lambdify the product": lambda f, v: se.lambdify([v, y], f * y),
    "free symbols": lambda f, v: (f * y).free_symbols,
    "substitute": lambda f, v: (f * y).subs(y, z),
    "exchange": lambda f, v: (f * y).xreplace({v: 2 * v}),
    "pickle": lambda f, v: pickle.loads(pickle.dumps(f * y)),
    "atoms": lambda f, v: (f * y).atoms(),
    "gradient": lambda f, v: se.gradient((f * y).sum(), y),
    "Hessian": lambda f, v: se.hessian(f, v),
}


@pytest.mark.parametrize("work", SCALAR_WORK)
@pytest.mark.parametrize("leaf", ["x @ x", "s"])
def test_our_work_on_shared_stock_scalars_is_linear(work, leaf):
    """SymPy's own methods visit such a tree branch by branch; ours visit each once. The tree is
    new: an equal one from before SymPy's cache was cleared would be compared branch by branch."""
    variable = se.TensorSymbol(f"of {work}", () if leaf == "s" else x.shape)
    leaf = variable if leaf == "s" else variable @ variable
    few, many = shared_scalar(leaf, 7), shared_scalar(leaf, 11)
    small, large = (calls(functools.partial(SCALAR_WORK[work], f, variable)) for f in (few, many))
    assert large <= 4 * small + 30_000, f"{small} calls for 7 levels, {large} for 11"


@pytest.mark.parametrize("name", STEPS)
def test_a_gradient_stays_within_a_constant_of_its_expression(name):
    ratios = []
    for count in (SMALL, LARGE):
        f = chain(name, count).sum()
        nodes, gradient_nodes = len(graph(f)), len(graph(f, se.gradient(f, x)))
        assert gradient_nodes <= 10 * nodes + 20
        ratios.append(gradient_nodes / nodes)
    assert ratios[1] <= 1.2 * ratios[0] + 1


def test_a_gradient_by_many_variables_is_linear():
    """Each layer adds a variable."""

    def network(count, tag):
        weights = [se.TensorSymbol(f"W{tag}_{k}", (n, n)) for k in range(count)]
        h = x
        for W in weights:
            h = se.tanh(W @ h)
        return h @ h, weights

    few, many = network(200, "few"), network(800, "many")
    small, large = (calls(lambda f=f: se.gradient(*f, simplify=False)) for f in (few, many))
    assert large <= 1.1 * 4 * small


def test_a_joint_gradient_stays_within_a_constant_of_its_expression():
    """Fifty layers with weights of their own: one sweep, shared between all variables."""
    sizes = []
    for count in (25, 50, 100):
        e, weights = x, []
        for layer in range(count):
            weights.append(se.TensorSymbol(f"W{layer}", (n, n)))
            e = se.tanh(weights[-1] @ e)
        f = (e * e).sum()
        gradients = se.gradient(f, weights, simplify=False)
        assert len(gradients) == count
        sizes.append((len(graph(f)), len(graph(f, *gradients))))
    for nodes, with_gradients in sizes:
        assert with_gradients <= 6 * nodes + 20
    (_, first), (_, second), (_, third) = sizes
    assert (third - second) <= 1.1 * 2 * (second - first)


@pytest.mark.slow
def test_the_source_is_linear_in_the_graph():
    lengths = [
        len(
            se.lambdify(
                [x], se.gradient(chain("shared", count).sum(), x, simplify=False)
            ).source.splitlines()
        )
        for count in (100, 200, 400)
    ]
    assert lengths[2] - lengths[1] <= 1.1 * 2 * (lengths[1] - lengths[0])


@pytest.mark.slow
def test_writing_to_many_places_is_linear_in_their_number():
    def stacked(count):
        return se.stack([se.sin(j * x) for j in range(1, count + 1)])

    few, many = stacked(SMALL), stacked(LARGE)
    se.lambdify([x], many)
    small, large = (calls(lambda e=e: se.lambdify([x], e)) for e in (few, many))
    assert large <= GROWTH * small + CONSTANT


def test_compiling_many_explicit_entries_is_linear():
    """For any entries, here formulas of two others."""

    def explicit(count):
        v = se.TensorSymbol("v", count)
        return v, se.from_array(sympy.Array([v[j] ** 2 + v[7 * j % count] for j in range(count)]))

    few, many = explicit(SMALL), explicit(LARGE)
    small, large = (calls(lambda v=v, e=e: se.lambdify([v], e)) for v, e in (few, many))
    assert large <= GROWTH * small + CONSTANT


def test_a_wide_sum_of_different_terms():
    names = [se.TensorSymbol(f"x{j}", (n,)) for j in range(2000)]
    total = sum(names)
    assert sum(names[:40]) == sum(reversed(names[:40]))
    assert se.gradient(total.sum(), names[1234]) == se.Ones(n)
    data = {name: np.full(3, 0.5) for name in names}
    assert_close(evaluate(total, data), np.full(3, 1000.0))


def test_an_einsum_of_many_operands_and_an_array_of_high_order():
    vectors = [se.TensorSymbol(f"v{j}", (n,)) for j in range(12)]
    labels = "abcdefghijkl"
    outer = se.einsum(",".join(labels) + "->" + labels, *vectors)
    assert outer.order == 12
    back = se.einsum(f"{labels},{','.join(labels)}->", outer, *vectors)
    assert se.diff(back, vectors[3]).shape == (n,)
    operands, subscripts = [], []
    for j in range(50):
        operands.append(se.TensorSymbol(f"M{j}", (n, n)))
        subscripts.append([j, j + 1])
    items = [item for pair in zip(operands, subscripts, strict=True) for item in pair]
    product = se.einsum(*items, [0, 50])
    assert product.shape == (n, n)
    data = dict.fromkeys(operands, ROTATION)
    assert_close(evaluate(product, data), np.linalg.matrix_power(ROTATION, 50))


# --- sharing and threads --------------------------------------------------------------------------


def test_shared_subexpressions_are_computed_once():
    e = se.exp(A @ x)
    f = e * e + se.sin(e) + e.sum() * e
    function = se.lambdify([A, x], [f, se.gradient(f.sum(), x)])
    assert function.source.count("exp(") == 1


@pytest.mark.slow
def test_threads_get_the_same_objects():
    def build(slot):
        nodes = []
        for j in range(400):
            w = se.TensorSymbol(f"thread{j}", (n,))
            e = se.exp(A @ w) + w * j
            nodes += [w, e, se.einsum("i,j->ij", e, w), e @ w]
            nodes.append(se.diff(sympy.sin(e @ w) * t, w))
        return nodes

    for nodes in zip(*at_once(build, 4), strict=True):
        assert all(node is nodes[0] for node in nodes)


def test_threads_that_build_and_drop_the_same_nodes():
    """A node that dies in one thread while another rebuilds it is removed from the table exactly
    once."""

    def build(slot):
        errors = []
        for j in range(600):
            w = se.TensorSymbol(f"dropped{j % 3}", (n,))
            one, other = (se.sinh(w) @ A for _ in range(2))
            if one is not other:
                errors.append(j)
        return errors

    assert not any(at_once(build, 4))


def test_unused_nodes_are_collected():
    """The table of nodes holds weak references."""
    import weakref

    node = se.exp(se.TensorSymbol("ephemeral", (n,))) @ se.TensorSymbol("ephemeral", (n,))
    try:
        watch = weakref.ref(node)
    except TypeError:
        pytest.skip("nodes can't be referenced weakly")
    del node
    sympy.core.cache.clear_cache()
    gc.collect()
    assert watch() is None


def test_gates_over_steps_of_time():
    """Each product of gates would have dozens of terms if it were multiplied out."""
    k, steps = 2, 4
    inputs = se.TensorSymbol("Z", (steps, 4 * k))
    weights, bias = se.TensorSymbol("U", (4 * k, k)), se.TensorSymbol("b", 4 * k)
    hidden = carried = se.Zeros(k)
    for t in range(steps):
        gates = inputs[t] + weights @ hidden + bias
        opened = [se.sigmoid(gates[k * part : k * (part + 1)]) for part in range(3)]
        carried = opened[0] * carried + opened[1] * se.tanh(gates[3 * k :])
        hidden = opened[2] * se.tanh(carried)
    assert calls(lambda: se.hessian(hidden @ hidden, weights)) < 1_150_000
