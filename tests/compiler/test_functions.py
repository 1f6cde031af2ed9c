"""The generated function: arguments, types, memory, plans by lengths, and its text as a file."""

from __future__ import annotations

import inspect
import itertools
import subprocess
import sys
from threading import Barrier, Thread

import numpy as np
import opt_einsum
import pytest
from sympy import KroneckerDelta, symbols

import sympy_einsum as se
import sympy_einsum.compiler.lowering.pairwise
from sympy_einsum.compiler import program
from sympy_einsum.compiler.backends import BACKENDS
from sympy_einsum.compiler.ir.plans import plan_cost
from sympy_einsum.compiler.planning import make_plan
from sympy_einsum.contraction_order import search as order_search
from sympy_einsum.core import tuning

m, n, k, p = symbols("m n k p", integer=True, positive=True)
t = symbols("t")
X = se.TensorSymbol("X", (m, n))
T = se.TensorSymbol("T", (m, n))
U, V = se.TensorSymbol("U", (m, k)), se.TensorSymbol("V", (n, k))
A = se.TensorSymbol("A", (n, n))
x, y = se.TensorSymbol("x", (n,)), se.TensorSymbol("y", (m,))
B, C, D = (
    se.TensorSymbol(name, shape)
    for name, shape in zip("BCD", [(m, n), (n, k), (k, p)], strict=True)
)


def data(*shapes, dtype=float):
    rng = np.random.default_rng(5)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


# --- arguments ------------------------------------------------------------------------------------


MISFITS = {
    "length": ((np.ones((2, 3)), np.ones(4)), "argument x has length 4 on axis 0, but n is 3, from "
               "axis 1 of X"),
    "order": ((np.ones(3), np.ones(3)), r"argument X must have order 2, but .* order 1"),
    "list": (([[1.0, 2.0]], [1.0]), "argument x has length 1 on axis 0, but n is 2"),
    "number": ((1.0, np.ones(3)), r"argument X must have order 2, but .* order 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISFITS)
def test_misfits_are_named(name):
    values, message = MISFITS[name]
    with pytest.raises(se.ShapeError, match=message):
        se.lambdify([X, x], X @ x)(*values)


def test_lengths_that_are_computed():
    longer = se.TensorSymbol("L", (2 * n + 1,))
    compute = se.lambdify([x, longer], x.sum() * longer)
    assert compute(np.ones(3), np.ones(7)).shape == (7,)
    with pytest.raises(se.ShapeError, match=r"length 6 on axis 0, which must be 2\*n \+ 1 = 7"):
        compute(np.ones(3), np.ones(6))
    fixed = se.lambdify([se.TensorSymbol("F", (3,))], se.TensorSymbol("F", (3,)) * 2)
    with pytest.raises(se.ShapeError, match="which must be 3"):
        fixed(np.ones(4))


def test_a_length_can_be_an_argument_too():
    compute = se.lambdify([n, x], x / n)
    np.testing.assert_array_equal(compute(3, np.ones(3)), np.ones(3) / 3)
    with pytest.raises(
        se.ShapeError, match="x has length 3 on axis 0, but n is 4, from argument n"
    ):
        compute(4, np.ones(3))


def test_array_likes_are_converted():
    compute = se.lambdify([X, x, t], t * X * (X @ x)[:, None])
    expected = compute(np.array([[1.0, 2.0]]), np.array([3.0, 4.0]), 2.0)
    np.testing.assert_array_equal(compute([[1, 2]], (3, 4), 2), expected)
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix([[1.0, 2.0]])
    np.testing.assert_array_equal(compute(matrix, [3.0, 4.0], np.float64(2)), expected)
    np.testing.assert_array_equal(compute([[1, 2]], [3, 4], np.array(2.0)), expected)


def test_the_number_of_arguments_counts():
    with pytest.raises(TypeError, match="argument"):
        se.lambdify([X, x], X @ x)(np.ones((2, 3)))


def test_a_stray_symbol_is_an_error():
    with pytest.raises(se.TensorError, match="y occurs in the expressions"):
        se.lambdify([X, x], X @ x - y)
    with pytest.raises(se.UnsupportedError, match="no backend 'fortran'; there are numpy, cupy"):
        se.lambdify(x, x, "fortran")


def test_every_backend_is_documented():
    listed = ", ".join([f'``"{name}"``' for name in BACKENDS])
    assert f"backend : {listed}, or" in se.lambdify.__doc__


# --- types and memory -----------------------------------------------------------------------------


def test_types_are_promoted_as_numpy_does():
    loss = ((T - U @ V.T) ** 2).sum()
    exprs = [loss, se.gradient(loss, U), 2 * U @ V.T, T - U @ V.T]
    compute = se.lambdify([T, U, V], exprs)
    shapes = [(4, 3), (4, 2), (3, 2)]
    single, double = data(*shapes, dtype=np.float32), data(*shapes)
    assert {np.asarray(r).dtype for r in compute(*single)} == {np.dtype(np.float32)}
    mixed = compute(double[0], single[1], single[2])
    assert [np.asarray(r).dtype for r in mixed] == [np.float64, np.float64, np.float32, np.float64]
    np.testing.assert_allclose(mixed[3], double[0] - single[1] @ single[2].T)
    whole = [np.arange(s[0] * s[1]).reshape(s) for s in shapes]
    results = compute(*whole)
    assert results[3].dtype == whole[0].dtype
    np.testing.assert_array_equal(results[3], whole[0] - whole[1] @ whole[2].T)
    half = compute(whole[0] + 0.5, whole[1], whole[2])
    np.testing.assert_array_equal(half[3], whole[0] + 0.5 - whole[1] @ whole[2].T)


def test_temporaries_are_overwritten_and_arguments_never():
    loss = ((T - U @ V.T) ** 2).sum()
    compute = se.lambdify([T, U, V], [se.gradient(loss, U), T - U @ V.T])
    assert "out=" in compute.source
    values = data((4, 3), (4, 2), (3, 2))
    before = [value.copy() for value in values]
    first = compute(*values)
    kept = [result.copy() for result in first]
    compute(*[value + 1 for value in values])
    for value, copy in zip([*values, *first], [*before, *kept], strict=True):
        np.testing.assert_array_equal(value, copy)


def test_live_values_are_not_overwritten():
    z = U @ V.T
    exprs = [se.exp(z) * (z - T), z, (z + T) * (z - T), 3 * z]
    values = data((4, 3), (4, 2), (3, 2))
    found = se.lambdify([T, U, V], exprs)(*values)
    z = values[1] @ values[2].T
    expected = [np.exp(z) * (z - values[0]), z, (z + values[0]) * (z - values[0]), 3 * z]
    for result, value in zip(found, expected, strict=True):
        np.testing.assert_allclose(result, value)


def test_elementwise_code_is_split():
    derivative = se.gradient((se.tanh(X) ** 2 * T).sum() + se.sigmoid(X * T).sum(), X)
    compute = se.lambdify([X, T], derivative)
    assert "np.subtract(1, " in compute.source
    for kind in (np.float64, np.float32):
        x, t = data((4, 3), (4, 3), dtype=kind)
        h, s = np.tanh(x), 1 / (1 + np.exp(-x * t))
        expected = 2 * h * (1 - h**2) * t + t * s * (1 - s)
        result = compute(x, t)
        assert result.dtype == kind
        np.testing.assert_allclose(result, expected, rtol=1e-5 if kind == np.float32 else 1e-13)


@pytest.mark.parametrize("tiny", [1e-20, -1e-20])
def test_small_arguments_keep_their_digits(tiny):
    exprs = [se.log(1 + X), se.exp(X) - 1, se.log(1 + 3 * X), se.log(1 + x), se.exp(x) - 1]
    found = se.lambdify([X, x], exprs)(np.full((2, 3), tiny), np.full(3, tiny))
    for result, factor in zip(found, [1, 1, 3, 1, 1], strict=True):
        np.testing.assert_allclose(result, factor * tiny, rtol=1e-12)


def test_names_of_dead_arrays_are_used_again():
    chain = x
    for _ in range(7):  # more are a loop
        chain = se.tanh(A @ chain)
    source = se.lambdify([A, x], chain).source
    assert "t2" not in source


# --- plans ----------------------------------------------------------------------------------------


@pytest.fixture
def searches(monkeypatch):
    """Return the contractions whose order is searched."""
    found = []
    search = order_search._search_path

    def counted(*args):
        found.append(args[0])
        return search(*args)

    monkeypatch.setattr(order_search, "_search_path", counted)
    order_search.contraction_path.cache_clear()
    return found


def test_orders_follow_the_lengths_and_are_remembered(searches):
    compute = se.lambdify([B, C, D], B @ C @ D)
    assert "variants" in compute.__code__.co_names
    for sizes in ((2, 300, 4, 300), (300, 4, 300, 2)):
        values = data(sizes[:2], sizes[1:3], sizes[2:])
        np.testing.assert_allclose(compute(*values), np.linalg.multi_dot(values))
        count = len(searches)
        assert count
        compute(*values)
        assert len(searches) == count


@pytest.fixture
def planned(monkeypatch):
    """Return the expressions that plans were made of."""
    found = []
    plan = program.plan_prepared

    def counted(prepared, *args):
        found.append(prepared)
        return plan(prepared, *args)

    monkeypatch.setattr(program, "plan_prepared", counted)
    return found


@pytest.mark.parametrize("kind", [float, int])
def test_a_plan_serves_all_lengths_that_have_its_orders(planned, kind):
    """The first plan is made with the function, for lengths that are all equal."""
    compute = se.lambdify([B, C, D], B @ C @ D)
    for *sizes, count in ((3, 3, 3, 3, 1), (8, 6, 5, 2, 1), (2, 5, 6, 8, 2), (3, 4, 80, 90, 2)):
        values = [own.astype(kind) for own in data(sizes[:2], sizes[1:3], sizes[2:])]
        np.testing.assert_allclose(compute(*values), np.linalg.multi_dot(values))
        assert len(planned) == count
    lengths = dict(zip("mnkp", (2, 5, 6, 8), strict=True))
    assert compute.cost(lengths).flops
    assert len(planned) == 2


def test_a_plan_serves_only_lengths_for_which_the_same_is_multiplied_out(planned):
    """(A - U V') W as A W - U (V' W)."""
    U, V, W = se.TensorSymbol("U", n, k), se.TensorSymbol("V", n, k), se.TensorSymbol("W", n, m)
    arguments = [A, U, V, W]
    expr = (A - U @ V.T) @ W
    compute = se.lambdify(arguments, [expr, A @ U @ V.T @ W])
    for sizes in ((40, 40, 40), (40, 2, 3), (40, 3, 2), (3, 40, 40)):
        lengths = dict(zip((n, k, m), sizes, strict=True))
        values = data(*[[lengths[own] for own in s.shape] for s in arguments])
        a, u, v, w = values
        np.testing.assert_allclose(compute(*values)[0], (a - u @ v.T) @ w)
        np.testing.assert_allclose(compute(*values)[1], a @ u @ v.T @ w)


def test_no_dispatch_where_the_order_is_clear():
    for expr in (A @ A @ A @ x, X @ x, se.gradient(((X @ x - y) ** 2).sum(), x)):
        compute = se.lambdify(sorted(expr.free_symbols, key=str), expr)
        assert "variants" not in compute.__code__.co_names


def test_an_optimizer_can_be_given():
    values = data((2, 3), (3, 4), (4, 5))
    for optimize in ("greedy", "optimal", opt_einsum.DynamicProgramming()):
        compute = se.lambdify([B, C, D], B @ C @ D, optimize=optimize)
        np.testing.assert_allclose(compute(*values), np.linalg.multi_dot(values))


def test_intermediate_products_are_shared():
    matrices = [se.TensorSymbol(f"M{j}", (n, n)) for j in range(6)]
    value = x
    for matrix in matrices:
        value = value @ matrix
    value = value @ x
    source = se.lambdify([x, *matrices], [value, se.gradient(value, matrices[2])]).source
    assert source.count(".dot(") == 7  # two from the left, three from the right, two for the value


def test_without_sharing_the_results_are_the_same():
    exprs = [se.exp(X @ x), se.exp(X @ x).sum()]
    values = data((4, 3), (3,))
    apart = se.lambdify([X, x], exprs, cse=False)
    assert apart.source.count("np.exp(") == 2
    for one, other in zip(apart(*values), se.lambdify([X, x], exprs)(*values), strict=True):
        np.testing.assert_allclose(one, other)


def test_the_cost_is_that_of_the_orders_that_a_call_takes():
    chain = se.lambdify([B, C, D], B @ C @ D)
    left, right = {m: 2, n: 3, k: 100, p: 500}, {m: 500, n: 100, k: 3, p: 2}
    assert chain.cost(left).flops == 2 * (2 * 3 * 100 + 2 * 100 * 500)
    assert chain.cost(right).flops == 2 * (100 * 3 * 2 + 500 * 100 * 2)
    with pytest.raises(se.TensorError, match="the length p, which isn't given"):
        chain.cost({m: 2, n: 3, k: 5})


def test_cost():
    cost = se.lambdify([X, x], X @ x).cost
    assert cost({m: 10, n: 20}) == cost({"m": 10, "n": 20}) == (400, 8 * (200 + 20 + 10))
    assert plan_cost(make_plan([se.inv(A)]), {n: 10}).flops == 2000
    with pytest.raises(se.TensorError, match="depends on the length n"):
        cost({m: 10})


# --- text -----------------------------------------------------------------------------------------


def run(text):
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=250)


def test_generated_text_runs_by_itself(tmp_path):
    loss = se.softplus(-y * (X @ x)).sum()
    text = se.codegen([X, y, x], [loss, se.hessian(loss, x)], name="terms")
    assert "sympy" not in text.replace("Generated by sympy_einsum", "")
    (tmp_path / "generated.py").write_text(text)
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import numpy as np\nfrom generated import terms\n"
        "X = np.arange(6.0).reshape(3, 2)\n"
        "value, curvature = terms(X, [1, -1, 1], np.zeros(2))\n"
        "print(round(value, 6), curvature.shape, terms.__doc__.split()[0])\n"
        "try:\n    terms(X, np.ones(2), np.zeros(2))\n"
        "except ValueError as error:\n    print(error)\n"
        "print('sympy' in sys.modules)\n"
    )
    result = run(code)
    assert result.stdout.splitlines() == [
        "2.079442 (2, 2) Generated",
        "argument y has length 2 on axis 0, but m is 3, from axis 0 of X",
        "False",
    ], result.stderr


def test_the_source_runs_by_itself():
    compute = se.lambdify([A, x], [x @ A @ x, se.inv(A) @ x, se.softmax(x)])
    namespace = {}
    exec(compute.source, namespace)
    values = [np.eye(3) + 1, np.arange(3.0)]
    for one, other in zip(namespace["function"](*values), compute(*values), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "name", ["f(", "x; import os", "a\nb", "", "class", "np", "1f", "_f", None]
)
def test_a_name_that_is_no_identifier(name):
    with pytest.raises(se.TensorError, match="must be an identifier"):
        se.codegen(x, x, name=name)


@pytest.mark.parametrize("backend", BACKENDS)
def test_hostile_names_stay_out(backend):
    nasty = 'n\n__import__("os").system("touch hacked") #'
    length = symbols("z", integer=True, positive=True).__class__(nasty, integer=True, positive=True)
    tensor = se.TensorSymbol('"""\nraise SystemExit', (length, length))
    text = se.codegen([tensor], [se.inv(tensor), tensor.sum(axis=0)], backend)
    for line in text.splitlines():
        assert "raise SystemExit" not in line or line.strip().startswith("('")
        assert "touch" not in line or line.strip().startswith("('")
    compile(text, "generated", "exec")


def test_a_delta_with_a_range_is_zero_outside():
    i, j = symbols("i j", integer=True)
    delta = KroneckerDelta(i, j, (0, 3))
    compiled = se.lambdify([i, j], delta)
    for pair in itertools.product((-1, 0, 2, 3, 4), repeat=2):
        expected = delta.subs(dict(zip((i, j), pair, strict=True)))
        assert compiled(*pair) == float(expected), pair
    scaled = se.lambdify([x := se.TensorSymbol("x", 3), i, j], delta * x)
    np.testing.assert_array_equal(scaled(np.ones(3), 3, 3), np.ones(3))
    np.testing.assert_array_equal(scaled(np.ones(3), 4, 4), np.zeros(3))


def test_large_constants_have_no_text():
    q = se.TensorSymbol("q", (3,))
    with pytest.raises(se.UnsupportedError, match="too large"):
        se.codegen(q, np.ones((2000, 3)) @ q)


# --- long arrays ----------------------------------------------------------------------------------


@pytest.mark.parametrize("last", [2, 7])
@pytest.mark.parametrize("holes", [0, 1])
def test_ties_of_long_arrays_are_shared(last, holes):
    """Maxima of many short blocks, with and without ties and nan."""
    blocks = se.TensorSymbol("blocks", (m, 2, n, last))
    derivatives = se.lambdify([blocks], se.gradient((blocks.max(axis=(1, 3)) ** 2).sum(), blocks))
    for (value,) in (data((40, 2, 90, last)), [np.round(data((40, 2, 90, last))[0])]):
        value[3, 1, 5, 0] = np.nan if holes else 9
        top = value.max(axis=(1, 3), keepdims=True)
        hits = value == top
        with np.errstate(invalid="ignore"):
            expected = 2 * top * hits / hits.sum(axis=(1, 3), keepdims=True)
            np.testing.assert_allclose(derivatives(value), expected)


def test_products_of_a_long_matrix_with_itself():
    weights = se.TensorSymbol("w", m, nonnegative=True)
    gram = se.lambdify([X, weights], X.T @ se.diag(weights) @ X)
    assert "weighted_gram" in gram.source
    for rows, columns in ((70_000, 2), (600, 10), (0, 3), (3, 0)):
        value, scale = data((rows, columns), (rows,))
        np.testing.assert_allclose(gram(value, scale**2), (value.T * scale**2) @ value, atol=1e-9)


def test_large_matrices_are_added_to_their_transposes_block_by_block():
    A = se.TensorSymbol("A", n, n)
    matrix = np.random.default_rng(0).standard_normal((1003, 1003))
    assert np.array_equal(se.lambdify([A], A + A.T)(matrix), matrix + matrix.T)


def test_threads_share_a_function_and_its_plans():
    """Eight threads, each with other shapes; every order of contraction is planned once."""
    compute = se.lambdify([B, C, D], B @ C @ D)
    barrier, wrong = Barrier(8), []

    def work(seed):
        rng = np.random.default_rng(seed)
        barrier.wait()
        for _ in range(8):
            lengths = rng.choice([1, 2, 30, 60], 4)
            values = data(*itertools.pairwise(map(int, lengths)))
            found = compute(*values)
            if not np.allclose(found, np.linalg.multi_dot(values)):
                wrong.append(lengths)

    threads = [Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    variants = compute.__globals__["variants"]
    assert len({*map(id, variants.values())}) == len(variants.compiled) == 2


def test_as_many_plans_are_kept_as_are_allowed(monkeypatch):
    monkeypatch.setattr(tuning, "MAX_VARIANTS", 5)
    compute = se.lambdify([B, C, D], B @ C @ D)
    variants = compute.__globals__["variants"]
    for length in range(1, 30):
        values = data((length, 2), (2, 30 - length), (30 - length, 3))
        np.testing.assert_allclose(compute(*values), np.linalg.multi_dot(values))
        assert 0 < len(variants) <= 5
        assert {*variants.values()} <= {*variants.compiled.values()}


@pytest.mark.parametrize("kinds", [(float, int), (int, np.uint8), ("f4", "f8"), (float, bool)])
def test_arrays_of_several_types_go_together(kinds):
    compute = se.lambdify([B, C], B @ C)
    values = [array.astype(kind) for array, kind in zip(data((2, 3), (3, 4)), kinds, strict=True)]
    np.testing.assert_allclose(compute(*values), values[0] @ (values[1] + 0))


def test_the_fast_path_takes_the_place_of_the_code_that_made_it():
    compute = se.lambdify([x, A], A @ se.sin(x))
    source, doc, first = compute.source, compute.__doc__, compute.__code__
    vector, matrix = data((3,), (3, 3))
    np.testing.assert_allclose(compute(vector, A=matrix), matrix @ np.sin(vector))
    fast = compute.__code__
    assert fast is not first
    assert inspect.signature(compute).parameters.keys() == {"x", "A"}
    # Integers take the function of the source.
    np.testing.assert_allclose(compute([0, 0, 0], matrix), np.zeros(3))
    assert compute.__code__ is fast
    assert (compute.source, compute.__doc__) == (source, doc)
