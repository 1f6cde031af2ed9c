"""Layout assignment: equal values, and no transpositions where entries are combined."""

import numpy as np
import pytest
from oracles import jax64
from plan_interpreter import assert_same, compiled, interpreted, number, random_plans
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.compiler import planning
from sympy_einsum.compiler.backends.jax_backend import JaxBackend
from sympy_einsum.compiler.ir.plans import proven
from sympy_einsum.compiler.passes.layouts import laid_out
from sympy_einsum.compiler.passes.memory_orders import traverses_entrywise
from sympy_einsum.compiler.program import Compilation, Request

b, d, h, c = symbols("b d h c", integer=True, positive=True)
LENGTHS = {b: 7, d: 5, h: 4, c: 3}
X, Z, Y = se.TensorSymbol("X", b, d), se.TensorSymbol("Z", b, d), se.TensorSymbol("Y", b, c)
W, W1, W2 = se.TensorSymbol("W", d, c), se.TensorSymbol("W1", d, h), se.TensorSymbol("W2", h, c)
U, M, bias = se.TensorSymbol("U", b, h), se.TensorSymbol("M", c, d), se.TensorSymbol("bias", h)
Q, K, V = (se.TensorSymbol(name, b, c, d) for name in "QKV")
image = se.TensorSymbol("image", b, c, 6, d)
kernel = se.TensorSymbol("kernel", h, c, 2, 2)


def normalized(axis):
    centred = X - X.mean(axis=axis, keepdims=True)
    return centred / se.sqrt((centred**2).mean(axis=axis, keepdims=True) + 0.1)


HIDDEN = se.tanh(X @ W1 + bias[None, :])
DISTANCES = (X**2).sum(axis=1)[:, None] - 2 * X @ M.T + (M**2).sum(axis=1)[None, :]
SHARES = se.softmax(se.einsum("bid,bjd->bij", Q, K), axis=2)
CONVOLUTION = sum(
    se.einsum("bcij,hc->bhij", image[:, :, p : p + 5, q : q + d - 1], kernel[:, :, p, q])
    for p in range(2)
    for q in range(2)
)
MODELS = {
    "softmax regression": (se.logsumexp(X @ W, axis=1).sum() - (Y * (X @ W)).sum(), [W]),
    "the same transposed": (
        se.logsumexp(W.T @ X.T, axis=0).sum() - (Y.T * (W.T @ X.T)).sum(),
        [W],
    ),
    "cross-entropy": (-(Y * se.log(se.softmax(X @ W, axis=1))).sum(), [W, X]),
    "cross-entropy over examples": (-(Y * se.log(se.softmax(X @ W, axis=0))).sum(), [W]),
    "network": (((HIDDEN @ W2 - Y) ** 2).sum(), [W1, W2, bias]),
    "the network transposed": (((W2.T @ se.tanh(W1.T @ X.T) - Y.T) ** 2).sum(), [W1, W2]),
    "gates": (((se.sigmoid(X @ W1) * se.tanh(Z @ W1)) @ W2 * Y).sum(), [W1, W2]),
    "attention": ((se.softmax(X @ Z.T, axis=1) @ Z).sum(), [X, Z]),
    "attention in batches": ((se.einsum("bij,bjd->bid", SHARES, V) ** 2).sum(), [Q, K, V]),
    "layer norm": (((normalized(1) - Z) ** 2).sum(), [X]),
    "batch norm": (((normalized(0) - Z) ** 2).sum(), [X]),
    "mixture": (se.logsumexp(-DISTANCES, axis=1).sum(), [M]),
    "k-means": (se.min(DISTANCES, axis=1).sum(), [M]),
    "factorization": (se.softplus(-Z * (U @ W1.T)).sum(), [U, W1]),
    "counts": ((se.exp(X @ W) - Y * (X @ W)).sum(), [W]),
    "convolution": ((CONVOLUTION**2).sum(), [image, kernel]),
}


def program(name):
    value, wrt = MODELS[name]
    arguments = sorted(se.expressions.free_leaves(value) - LENGTHS.keys(), key=str)
    return arguments, [value, *se.gradient(value, wrt)]


@pytest.mark.parametrize("name", MODELS)
def test_nothing_is_transposed_where_entries_are_combined(name, monkeypatch):
    arguments, exprs = program(name)
    steps = Compilation(Request(arguments, exprs)).plan().instructions
    combining = [step for step in steps if traverses_entrywise(step) or step.op == "vdot"]
    assert not [step for step in combining if any(steps[k].op == "transpose" for k in step.inputs)]
    rng = np.random.default_rng(1)
    data = [rng.uniform(0.5, 1, [int(n.subs(LENGTHS)) for n in s.shape]) for s in arguments]
    found = se.lambdify(arguments, exprs)(*data)
    monkeypatch.setattr(planning, "laid_out", lambda plan, *others: plan)
    for one, other in zip(found, se.lambdify(arguments, exprs)(*data), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["softmax regression", "the same transposed"])
def test_scores_lie_in_memory_as_the_labels_do(name):
    """No array they are combined with is copied or read by columns."""
    source = se.lambdify(*program(name)).source.partition("def function")[2]
    assert "X.dot(W)" in source
    assert source.count(".T") == source.count("X.T.dot(") == 1


FASTEST = {"numpy": 0, "numba": 1, "torch": 1, "jax": 1}


@pytest.mark.parametrize("backend", FASTEST)
def test_a_softmax_goes_along_the_axis_that_is_fastest(backend):
    shares = se.softmax(X @ Z.T, axis=1)
    plan = Compilation(Request([X, Z], [((shares @ Z) ** 2).sum()], backend)).plan()
    assert [step.params for step in plan.instructions if step.op == "softmax"] == [
        ((FASTEST[backend],),)
    ]


def test_products_by_rows_sum_the_last_axis_of_the_left_operand():
    """The columns of a Jacobian are contiguous where a matrix is multiplied from both sides; only
    the ends of the Hessian remain."""
    A, x = se.TensorSymbol("A", d, d), se.TensorSymbol("x", d)
    state = x
    for _ in range(6):
        state = se.tanh(A @ state)
    steps = Compilation(Request([A, x], se.hessian(state @ state, x), "jax")).plan().instructions
    products = [step for step in steps if step.op == "dot" and len(step.shape) == 2]
    turned = [step for step in products if steps[step.inputs[0]].op == "transpose"]
    assert 3 * len(turned) <= len(products)


@pytest.mark.parametrize("lengths", [(5, 3, 40), (0, 3, 32), (4, 0, 33)])
def test_jax_writes_out_a_transposed_matrix(lengths):
    jax = jax64()
    rows, left, right = lengths
    M, N = se.TensorSymbol("M", b, d), se.TensorSymbol("N", b, c)
    function = se.lambdify([M, N], M.T @ N, "jax")
    assert "product_of_transposed(M, N)" in function.source
    rng = np.random.default_rng(8)
    M_, N_ = rng.standard_normal((2, rows, left)), rng.integers(9, size=(rows, right))
    expected = M_.swapaxes(1, 2) @ N_
    np.testing.assert_allclose(jax.vmap(jax.jit(function), (0, None))(M_, N_), expected)
    derivative = jax.grad(lambda M: (function(M, N_) ** 2).sum())(M_[0])
    np.testing.assert_allclose(derivative, 2 * N_ @ expected[0].T)


def test_products_of_vectors_stay():
    A, x = se.TensorSymbol("A", d, d), se.TensorSymbol("x", d)
    assert "A.dot(x)" in se.lambdify([A, x], se.tanh(A @ x)).source


def test_a_matrix_with_its_own_transpose_is_not_transposed():
    source = se.lambdify([X], X.T @ X + se.eye(d)).source
    assert source.count(".T") == 1


def test_values_stay():
    changed = 0
    for count, (plan, arguments, data) in enumerate(random_plans(400, 6)):
        found = laid_out(plan, number, JaxBackend.by_rows if count % 2 else frozenset())
        shapes = [plan.instructions[k].shape for k in plan.results]
        changed += found.instructions != plan.instructions
        assert_same(interpreted(proven(found, shapes), data), interpreted(plan, data))
        assert_same(compiled(found, arguments)(*data.values()), interpreted(plan, data))
    assert changed > 40
