"""The generated program: its primitives, their order and number."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from scipy.special import logsumexp, softmax
from sympy import sin, symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.compiler.backends.numpy_backend import NumpyBackend
from sympy_einsum.compiler.planning import make_plan

m, n, k = symbols("m n k", integer=True, positive=True)
t = symbols("t")
X = se.TensorSymbol("X", (m, n))
Y = se.TensorSymbol("Y", (m, n))
T = se.TensorSymbol("T", (m, n))
U = se.TensorSymbol("U", (m, k))
V = se.TensorSymbol("V", (n, k))
A = se.TensorSymbol("A", (n, n))
C = se.TensorSymbol("C", (m, n, k))
x = se.TensorSymbol("x", (n,))
y = se.TensorSymbol("y", (m,))

MATRIX_PRODUCTS = {
    "matrix by vector": (X @ x, "X.dot(x)"),
    "vector by matrix": (y @ X, "y.dot(X)"),
    "transposed matrix by vector": (X.T @ y, "y.dot(X)"),
    "matrix by matrix": (A @ V, "A.dot(V)"),
    "first transposed": (X.T @ U, "X.T.dot(U)"),
    "second transposed": (U @ V.T, "U.dot(V.T)"),
    "dot": (x @ x, "x.dot(x)"),
    "full contraction": ((X * Y).sum(), "X.ravel().dot(Y.ravel())"),
    "batched": (se.einsum("ijk,ikl->ijl", C, se.TensorSymbol("D", (m, k, n))), "np.matmul(C, D)"),
    "batched by vectors": (se.einsum("ijk,ik->ij", C, U), "np.matmul("),
    "several summed": (se.einsum("ijk,jk->i", C, V), "C.reshape((m, k*n)).dot(V.reshape((k*n,)))"),
    "outer product": (se.einsum("i,j->ij", x, y), "x[:, None] * y"),
    "scaled rows": (y[:, None] * X, "X * y[:, None]"),
}


def source_of(*exprs):
    found = set().union(*(e.free_symbols for e in exprs))
    arguments = sorted(found, key=str)
    return se.lambdify(arguments, list(exprs)).source


@pytest.mark.parametrize("name", MATRIX_PRODUCTS)
def test_two_operands_meet_in_a_matrix_product(name):
    expr, expected = MATRIX_PRODUCTS[name]
    source = source_of(expr)
    assert expected in source
    assert "einsum" not in source


def test_small_matrices_of_a_stack_are_multiplied_by_entries():
    for rows, by_entries in [(3, True), (4, False)]:
        stack, vectors = se.TensorSymbol("S", m, rows, 3), se.TensorSymbol("v", m, 3)
        source = source_of(se.einsum("ijk,ik->ij", stack, vectors))
        assert ("np.einsum(" in source) == by_entries
        assert ("np.matmul(" in source) != by_entries


def test_matrix_chains_are_multiplied_from_the_cheap_end():
    source = source_of(A @ A @ A @ x)
    assert source.count(".dot(") == 3
    assert "A.dot(A)" not in source


def test_rows_are_scaled_before_matrices_are_multiplied():
    source = source_of(se.einsum("ki,k,kj->ij", X, y, X))
    assert "X * y[:, None]" in source
    assert source.count(".dot(") == 1


def test_shared_subexpressions_are_computed_once():
    z = se.exp(X @ x)
    f = (z * z).sum() + sin(z.sum())
    source = source_of(f, se.gradient(f, x), se.hessian(f, x))
    assert source.count("np.exp(") == 1
    assert source.count("X.dot(x)") == 1


def test_a_structured_hessian_is_written_into_zeros():
    source = source_of(se.hessian(((T - U @ V.T) ** 2).sum(), U))
    assert "np.zeros(" in source
    assert "np.eye" not in source
    assert source.count(".dot(") == 1


def test_a_diagonal_is_added_in_place():
    f = ((X @ x - y) ** 2).sum() + t * (x**2).sum()
    source = source_of(se.hessian(f, x))
    assert "+= " in source
    assert "np.eye" not in source


def test_what_is_taken_away_in_place_is_not_negated():
    rows, other = se.tensors("rows other", n, 3)
    source = se.codegen([rows, other], rows - se.cross(other, sympy.sin(rows)))
    assert " -= " in source
    assert "= -" not in source.replace("-= ", "")


def test_writing_into_a_sum_leaves_equal_sums_alone():
    S = se.TensorSymbol("S", (n, n))
    total = A + S
    with_diagonal = total + se.Delta(n)
    compute = se.lambdify([A, S], [total * 1.0, with_diagonal, total])
    a, s = np.arange(9.0).reshape(3, 3), np.ones((3, 3))
    before = a.copy()
    plain, changed, again = compute(a, s)
    np.testing.assert_array_equal(changed, a + s + np.eye(3))
    np.testing.assert_array_equal(plain, a + s)
    np.testing.assert_array_equal(again, a + s)
    np.testing.assert_array_equal(a, before)


INDEXING = {
    "entry": (X[0, 1], "X[0, 1]"),
    "row": (X[0], "X[0]"),
    "slice": (X[1:], "X[1:m]"),
    "both": (X[0, 1:], "X[0, 1:n]"),
}


@pytest.mark.parametrize("name", INDEXING)
def test_indexing_is_indexing(name):
    expr, expected = INDEXING[name]
    source = source_of(expr)
    assert "@" not in source
    assert "np.arange" not in source
    assert expected in source


def test_nothing_unused_is_computed():
    loss = snp.sum(snp.log(1 + snp.exp(-y * (X @ x))))
    plan = make_plan([loss, se.gradient(loss, x), se.hessian(loss, x)])
    used = {number for step in plan.instructions for number in step.inputs} | set(plan.results)
    writes = {j for j, step in enumerate(plan.instructions) if step.op == "write"}
    assert used | writes == set(range(len(plan.instructions)))


def test_results_are_the_callers_own():
    compute = se.lambdify([X], [X, X.T, X[0], se.broadcast_to(X[0], (m, n)), X[None]])
    data = np.arange(6.0).reshape(2, 3)
    for result in compute(data):
        assert not np.shares_memory(result, data)
        result += 1
    np.testing.assert_array_equal(data, np.arange(6.0).reshape(2, 3))


def test_a_sixteen_operand_ring_is_contracted_pairwise():
    parts = [se.TensorSymbol(f"G{j}", (n, n, n)) for j in range(8)]
    items = []
    for j, part in enumerate(parts):
        items += [part, [j, 100 + j, (j + 1) % 8]]
    ring = se.einsum(*items, [100 + j for j in range(8)])
    data = [np.random.default_rng(j).standard_normal((2, 2, 2)) for j in range(8)]
    numeric = []
    for j, array in enumerate(data):
        numeric += [array, [j, 8 + j, (j + 1) % 8]]
    expected = np.einsum(*numeric, [8 + j for j in range(8)])
    compute = se.lambdify(parts, ring)
    np.testing.assert_allclose(compute(*data), expected)
    assert "np.einsum" not in compute.source


def test_float32_stays():
    f = ((X @ x) ** 2).sum() / 2 + (se.tanh(x) * 3).sum()
    compute = se.lambdify([X, x], [f, se.gradient(f, x), se.hessian(f, x)])
    results = compute(np.ones((2, 3), np.float32), np.ones(3, np.float32))
    assert [np.asarray(result).dtype for result in results] == [np.float32] * 3


def test_quotients_of_lengths_and_choices_of_numbers_have_no_precision_of_their_own():
    exprs = [
        se.gradient(x.mean(), x),
        se.hessian((x**2).mean(), x),
        se.gradient(se.sort(x)[:2].mean(), x),
        x[::2].mean(),
        se.quantile(x, 0.3),
        snp.where(x < 0, 1, 2) / 2,
        se.gradient(snp.where(x < 0, 2, x).sum(), x),
        snp.where(x @ x < 0, 1, 2),
    ]
    for kind in (np.float32, np.float64):
        results = se.lambdify([x], exprs)(np.array([3, 1, 2, 5], kind))
        assert {result.dtype for result in results} == {np.dtype(kind)}
    np.testing.assert_allclose(results[3:5], [2.5, 1.9])
    empty = se.lambdify([x], x[::2].mean())
    with np.errstate(invalid="ignore"):
        assert np.isnan(empty(np.zeros(0)))


def test_large_constants_are_named_and_small_ones_written_out():
    large, small = np.arange(2400.0).reshape(80, 30), np.array([1.0, np.inf])
    w = se.TensorSymbol("w", (30,))
    compute = se.lambdify([w], [large @ w, w[:2] * small])
    assert "_constant0" in compute.source
    assert "np.inf" in compute.source
    assert len(compute.source) < 400
    product, scaled = compute(np.ones(30))
    np.testing.assert_array_equal(product, large.sum(axis=1))
    np.testing.assert_array_equal(scaled, [1.0, np.inf])


def test_long_scalar_sums_and_products_are_split():
    names = sympy.symbols("u0:3000")
    x = se.TensorSymbol("x", (3,))
    for long in (sympy.Add(*names), sympy.Mul(*names)):
        value = se.lambdify([*names, x], long * x)(*[1.0] * 3000, np.ones(3))
        assert value[0] == (3000 if long.is_Add else 1)


def test_a_weighted_gram_product_needs_both_matrices_on_one_axis():
    n = symbols("n", integer=True, positive=True)
    W, d = se.TensorSymbol("W", (n, n)), se.TensorSymbol("d", (n,), nonnegative=True)
    rng = np.random.default_rng(0)
    data = rng.standard_normal((4, 4)), rng.random(4)
    for subscripts, is_gram in [
        ("ki,k,kj->ij", True),
        ("ik,k,jk->ij", True),
        ("ik,k,kj->ij", False),
        ("kk,k,kk->", False),
    ]:
        function = se.lambdify([W, d], se.einsum(subscripts, W, d, W))
        assert ("weighted_gram(W" in function.source) is is_gram, subscripts
        expected = np.einsum(subscripts, data[0], data[1], data[0])
        np.testing.assert_allclose(function(*data), expected, atol=1e-12)


def test_terms_constant_along_shared_axes_are_combined_first():
    A, a, b = se.TensorSymbol("A", (n, n)), se.TensorSymbol("a", (n,)), se.TensorSymbol("b", (n,))
    rng = np.random.default_rng(0)
    data = [rng.standard_normal(shape) for shape in ((3, 3), 3, 3)]
    total = se.lambdify([A, a, b], A - a[:, None] - b[:, None])
    assert "b + a" in total.source
    np.testing.assert_allclose(total(*data), data[0] - data[1][:, None] - data[2][:, None])
    f = se.logsumexp(A, axis=0) @ b
    derivative = se.lambdify([A, b], [f, se.gradient(f, A)])
    assert "b/t" in derivative.source
    assert derivative.source.count("(n, n)") == 3  # A - peak, exp, the result
    weights = np.exp(data[0])
    expected = weights * (data[2] / weights.sum(axis=0))
    np.testing.assert_allclose(derivative(data[0], data[2])[1], expected)


def test_results_share_no_memory():
    """Neither with each other nor with arguments, although they are views of one another."""
    B, v = se.TensorSymbol("B", 2, 3), se.TensorSymbol("v", 3)
    twice, u = 2 * B, B @ v
    outputs = [B, B, B.T, B[0], twice, twice.T, twice, u, u[1:], u.reshape(2, 1), u @ u, u @ u]
    data = [np.arange(6.0).reshape(2, 3), np.ones(3)]
    results = se.lambdify([B, v], outputs)(*data)
    alone = [se.lambdify([B, v], output)(*data) for output in outputs]
    for one, value in zip(results, alone, strict=True):
        np.testing.assert_array_equal(one, value)
    arrays = [*data, *[value for value in results if np.ndim(value)]]
    for k, one in enumerate(arrays):
        assert not any(np.shares_memory(one, other) for other in arrays[:k])


def test_a_sum_of_outer_products_is_one_product_of_matrices():
    rng = np.random.default_rng(0)
    names = "abcd"
    vectors = [se.TensorSymbol(name, (n if k % 2 else m,)) for k, name in enumerate(names)]
    a, b, c, d = vectors
    A = se.TensorSymbol("A", (m, n))
    arrays = [rng.standard_normal(4 if k % 2 else 3) for k in range(4)]
    M = rng.standard_normal((3, 4))
    total = 2 * se.outer(a, b) - se.outer(se.exp(c) * a, d) + t * se.outer(d, c).T + A
    function = se.lambdify([*vectors, A, t], total)
    assert function.source.count(".dot(") == 1
    assert "[:, None]" not in function.source
    w, x, y, z = arrays
    expected = 2 * np.outer(w, x) - np.outer(np.exp(y) * w, z) + 0.5 * np.outer(y, z) + M
    np.testing.assert_allclose(function(*arrays, M, 0.5), expected)
    both = se.outer(a, b) + se.outer(c, b)  # of which one is needed by itself
    found = se.lambdify(vectors, [both, se.outer(c, b)])(*arrays)
    np.testing.assert_allclose(found[0], np.outer(w + y, x))
    square = se.lambdify([b, d], se.outer(b, d) + se.outer(d, b))(x, z)
    np.testing.assert_array_equal(square, square.T)


def test_the_sum_of_weighted_squares_is_made_of_scalar_products():
    x, y, A = se.TensorSymbol("x", 3), se.TensorSymbol("y", 3), se.TensorSymbol("A", 2, 3)
    f = snp.sum(3 * (1 - x) ** 2 - (x * y - 2) ** 2)
    function = se.lambdify([x, y], f)
    assert function.source.count(".dot(") == 2
    u, v = np.array([1.0, 2, 4]), np.array([3.0, 0.5, -1])
    np.testing.assert_allclose(function(u, v), (3 * (1 - u) ** 2 - (u * v - 2) ** 2).sum())
    # A square that is stretched counts as often as it is repeated.
    g = se.lambdify([A, x], snp.sum(A**2 + x[None, :] ** 2))
    np.testing.assert_allclose(g(np.ones((2, 3)), u), 6 + 2 * (u**2).sum())


def test_positions_of_which_others_have_picked_some_arent_positions():
    """Whether a piece and a slice overlap depends on n."""
    a, u = se.TensorSymbol("a", n), se.TensorSymbol("u", 8)
    joined = t * snp.concatenate([se.tanh(a[0:5:2]), a, a[0:5:2]])
    function = se.lambdify([a, t, u], se.diff(u @ (joined**2)[2:10], t))
    value, weights = np.arange(5.0), np.arange(1.0, 9)
    ends = value[0:5:2]
    whole = np.concatenate([np.tanh(ends), value, ends])
    expected = 6 * weights @ whole[2:10] ** 2
    np.testing.assert_allclose(function(value, 3, weights), expected)


def test_padded_values_may_be_constant_along_axes():
    x = se.TensorSymbol("x", (5, 3))
    pair = snp.stack([x, x])
    wide = snp.concatenate([snp.concatenate([pair, pair], axis=1)] * 3, axis=2)
    jacobian = se.lambdify([x], se.jacobian(wide[:, 0:1], x))(np.zeros((5, 3)))
    row = np.tile(np.eye(15).reshape(5, 3, 5, 3)[0], (3, 1, 1))
    np.testing.assert_array_equal(jacobian, [[row], [row]])


def test_a_product_of_which_libraries_compute_a_half_is_kept():
    """It isn't merged with products that share a factor with it."""
    A, v = se.TensorSymbol("A", (m, n)), se.TensorSymbol("v", n + 1)
    f = snp.sum((A @ v[:-1] + v[-1]) ** 2)
    assert "A.T.dot(A)" in se.lambdify([A, v], se.hessian(f, v)).source


def test_a_long_sum_keeps_the_transpose_of_a_sum_in_it():
    X = [se.TensorSymbol(f"X{i}", (n, n)) for i in range(20)]
    total = sum(X[2:], (se.sin(X[0]) + X[1]).T)
    data = np.random.default_rng(0).standard_normal((20, 3, 3))
    expected = (np.sin(data[0]) + data[1]).T + sum(data[2:])
    np.testing.assert_allclose(se.lambdify(X, total)(*data), expected)


def test_padded_values_may_be_constant_along_axes_of_a_sum():
    """Rows of length one, in another order: the mean doesn't change."""
    X = se.TensorSymbol("X", (n, n))
    rows = (X, se.roll(X, 1, axis=0))
    means = [snp.mean(x / se.norm(x, axis=1)[:, None]) for x in rows]
    hessians = [se.hessian(f, X, mode="reverse", simplify=True) for f in means]
    one, other = se.lambdify([X], hessians)(np.random.default_rng(0).standard_normal((4, 4)))
    np.testing.assert_allclose(one, other, atol=1e-12)


def test_diagonals_beside_each_other_are_written_once():
    """Only overlapping values are added."""
    x = se.TensorSymbol("x", (n,))
    f = snp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
    hessian = se.lambdify([x], se.hessian(f, x))
    assert hessian.source.count("+=") == 1
    assert hessian.source.count("][:") == 1
    assert "result_type" not in hessian.source
    for size in (1, 2, 3, 6):
        a = np.linspace(-1, 2, size)
        expected = np.diag(-400 * a[:-1], 1) + np.diag(-400 * a[:-1], -1)
        expected[range(1, size), range(1, size)] += 200
        expected[range(size - 1), range(size - 1)] += 1200 * a[:-1] ** 2 - 400 * a[1:] + 2
        np.testing.assert_allclose(hessian(a), expected)


def test_diagonals_with_other_steps_are_added():
    """They may overlap: 2 i = 3 j - 2 at i = 2, j = 2."""
    x, z = se.TensorSymbol("x", (4,)), se.TensorSymbol("z", (3,))
    rows = [snp.eye(9)[::2][:4].T @ se.diag(x) @ snp.eye(9)[:4]]
    rows.append(snp.eye(9)[1:8:3].T @ se.diag(z) @ snp.eye(9)[:3])
    rows.append(snp.eye(9)[2:9:2].T @ se.diag(x) @ snp.eye(9)[1:5])
    a, c = np.arange(1.0, 5), np.arange(5.0, 8)
    expected = np.zeros((9, 9))
    for (first, second), v in [((0, 0), a), ((1, 0), c), ((2, 1), a)]:
        step = 3 if v is c else 2
        for i, value in enumerate(v):
            expected[first + step * i, second + i] += value
    np.testing.assert_array_equal(se.lambdify([x, z], sum(rows[1:], rows[0]))(a, c), expected)


def test_a_padded_sum_of_parts_is_written_part_by_part():
    """No column is built before it is written."""
    X, v = se.TensorSymbol("X", (m, n)), se.TensorSymbol("v", (n + 2,))
    f = snp.sum((X @ v[:-2] + v[-2]) ** 2) * se.exp(v[-1])
    hessian = se.lambdify([X, v], se.hessian(f, v))
    assert hessian.source.count("np.zeros(") == 1
    rows, point = np.arange(6.0).reshape(3, 2), np.array([0.5, -1, 2, 0.25])
    e, p = rows @ point[:2] + point[2], np.exp(point[3])
    Y = np.column_stack([rows, np.ones(3)])
    expected = np.zeros((4, 4))
    expected[:3, :3] = 2 * p * Y.T @ Y
    expected[:3, 3] = expected[3, :3] = 2 * p * e @ Y
    expected[3, 3] = p * e @ e
    np.testing.assert_allclose(hessian(rows, point), expected)


@pytest.mark.parametrize("place", [0, 1])
def test_an_entry_of_running_products_is_one_of_them(place):
    """No axis but the last is kept whole."""
    products = snp.cumprod(X, axis=0)[:, place]
    values = np.arange(1.0, 13).reshape(4, 3)
    expected = np.cumprod(values, axis=0)[:, place]
    np.testing.assert_array_equal(se.lambdify([X], products)(values), expected)
    rows = se.lambdify([X], snp.cumprod(X, axis=1)[place])(values)
    np.testing.assert_array_equal(rows, np.cumprod(values, axis=1)[place])


@pytest.mark.parametrize("backend", ["numpy", "numba"])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_the_product_of_a_vector_needs_no_running_products(backend, count):
    values = np.linspace(-2, 3, count)
    exprs = [se.prod(x), se.det(se.diag(x)), se.prod(x) * x.sum(), se.prod(x) * se.prod(x**2)]
    function = se.lambdify([x], exprs, backend)
    assert "running_products" not in se.lambdify([x], exprs).source
    p = values.prod()
    np.testing.assert_allclose(function(values), [p, p, p * values.sum(), p**3])


def test_shares_are_divided_where_there_are_fewest():
    """softmax(A) @ x beside log Σ exp(A): x is divided by the sums of A's columns."""
    found = se.lambdify([A, x], [se.softmax(A, axis=0) @ x, se.logsumexp(A, axis=0)])
    assert found.source.count("/") == 1
    assert "x/" in found.source
    rng = np.random.default_rng(0)
    matrix, vector = rng.standard_normal((3, 3)) * 300, rng.standard_normal(3)
    shares, totals = found(matrix, vector)
    np.testing.assert_allclose(totals, logsumexp(matrix, axis=0))
    np.testing.assert_allclose(shares, softmax(matrix, axis=0) @ vector)


def test_diagonals_of_arrays_in_any_order_are_written_to():
    namespace = {"np": np}
    exec(NumpyBackend.helper("diagonal_in").text, namespace)
    given = np.arange(64.0).reshape(8, 8)
    for view in (slice(None), slice(None, None, -1), slice(0, 6, 2)):
        for cut in (given[view, view], given.T[view, view], given[view, view][::-1]):
            right, own = cut.copy(), given.copy()
            right[np.diag_indices(len(cut))] += 1
            namespace["diagonal_in"](cut)[...] += 1
            np.testing.assert_array_equal(cut, right)
            given[...] = own


def test_numbers_scale_the_smallest_factor_of_a_long_product():
    """In products with more factors than are merged into another one."""
    vectors, matrices = se.tensors(" ".join(f"v{k}" for k in range(8)), n), se.tensors("B C", n, n)
    product = matrices[0]
    for vector in vectors[1:]:
        product = matrices[1] @ (vector[:, None] * product)
    product = vectors[0][:, None] * product
    plan = make_plan([se.exp(matrices[0]) - 2 * product])
    scaled = [s for s in plan.instructions if s.op == "multiply" and "scalar" in ops_of(plan, s)]
    assert [len(step.shape) for step in scaled] == [1]


def test_numbers_leave_repeated_operands_alone():
    """The halves of an outer product of a long product with itself."""
    half = "ab,b,bc,c,cd,d,de,e"
    other = half.translate(str.maketrans("abcde", "ABCDE"))
    operands = [A, x] * 4
    product = se.einsum(f"{half},{other}->aA", *operands, *operands)
    plans = [make_plan([A - number * product]) for number in (1, 3)]
    assert [sum(s.op == "dot" for s in plan.instructions) for plan in plans] == [4, 4]


def ops_of(plan, step):
    return [plan.instructions[k].op for k in step.inputs]
