"""Solutions of equations and minimizers: values, implicit derivatives, texts, and errors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sympy
from numpy.testing import assert_allclose
from scipy import optimize
from sympy import Symbol, symbols

import sympy_einsum as se

m, n, T = symbols("m n T", integer=True, positive=True)
a, t = symbols("a t", positive=True)
x, y = se.tensors("x y", n)
A, W = se.TensorSymbol("A", m, n), se.TensorSymbol("W", n, n)
b = se.TensorSymbol("b", m)
CUBIC = se.solution(lambda z: z**3 + z - a, start=1)
RNG = np.random.default_rng(0)
DESIGN, TARGET = RNG.standard_normal((8, 3)), RNG.standard_normal(8)
WEIGHTS = 0.3 * RNG.standard_normal((3, 3))


def differences(f, point, step=1e-6):
    """Return the derivative of a function of an array by central differences."""
    point = np.asarray(point, dtype=float)
    found = np.empty((*np.shape(f(point)), *point.shape))
    for place in np.ndindex(point.shape):
        delta = np.zeros(point.shape)
        delta[place] = step
        found[(..., *place)] = (f(point + delta) - f(point - delta)) / (2 * step)
    return found


def test_a_scalar_equation():
    f = se.lambdify([a], [CUBIC, se.diff(CUBIC, a), se.diff(CUBIC, a, a)])
    value, first, second = f(3.0)
    root = optimize.brentq(lambda z: z**3 + z - 3, 0, 3, xtol=1e-15)
    derivative = 1 / (3 * root**2 + 1)
    assert_allclose(
        [value, first, second], [root, derivative, -6 * root * derivative**3], rtol=1e-13
    )


def test_a_system_with_a_matrix():
    """z = tanh(W z) + y, with the Jacobian by a matrix in both modes, and the Hessian."""
    z = se.solution(x - se.tanh(W @ x) - y, x, start=y)
    start = RNG.standard_normal(3)
    by_matrix = se.jacobian(z, W, mode="reverse")
    forward = se.jacobian(z, W, mode="forward")
    loss = (z**2).sum()
    gradient, hessian = se.gradient(loss, y), se.hessian(loss, y)
    f = se.lambdify([W, y], [z, by_matrix, forward, gradient, hessian])
    values = f(WEIGHTS, start)
    root = optimize.root(lambda z: z - np.tanh(WEIGHTS @ z) - start, start, tol=1e-13)
    assert_allclose(values[0], root.x, rtol=1e-10)
    expected = differences(lambda weights: f(weights, start)[0], WEIGHTS)
    assert_allclose(values[1], expected, atol=1e-8)
    assert_allclose(values[2], values[1], atol=1e-12)
    assert_allclose(
        values[3], differences(lambda y: (f(WEIGHTS, y)[0] ** 2).sum(), start), atol=1e-7
    )
    assert_allclose(values[4], differences(lambda y: f(WEIGHTS, y)[3], start), atol=1e-7)


def test_a_matrix_as_the_unknown():
    X, Q = se.tensors("X Q", (2, 2))
    root = se.solution(X @ X - Q, X, start=Q)
    f = se.lambdify([Q], [root, se.jacobian(root, Q), se.hessian(root.trace(), Q)])
    data = np.array([[4.0, 1.0], [0.5, 9.0]])
    value, jacobian, hessian = f(data)
    assert_allclose(value @ value, data, rtol=1e-13)
    assert_allclose(jacobian, differences(lambda q: f(q)[0], data), atol=1e-8)
    traces = differences(lambda q: f(q)[1].trace(), data)
    assert_allclose(hessian, traces, atol=1e-8)


def test_ridge_regression_by_its_penalty():
    r = A @ x - b
    best = se.minimizer(r @ r + t * x @ x, x, start=se.Zeros(n))
    closed = se.solve(A.T @ A + t * se.Delta(n), A.T @ b)
    f = se.lambdify(
        [A, b, t],
        [[e, se.diff(e, t), se.diff(e, t, t), se.jacobian(e, b)] for e in (best, closed)],
    )
    for own, expected in zip(*f(DESIGN, TARGET, 0.7), strict=True):
        assert_allclose(own, expected, rtol=1e-10, atol=1e-12)


def test_logistic_regression_by_its_penalty():
    loss = se.log(1 + se.exp(-b * (A @ x))).sum() + t / 2 * x @ x
    best = se.minimizer(loss, x, start=se.Zeros(n))
    f = se.lambdify([A, b, t], [best, se.diff(best, t), se.diff(best, t, t)])
    labels = np.sign(TARGET)
    value, first, second = f(DESIGN, labels, 0.5)

    def minimum(penalty):
        def derivative(weights):
            share = 1 / (1 + np.exp(labels * (DESIGN @ weights)))
            return penalty * weights - DESIGN.T @ (labels * share)

        return optimize.root(derivative, np.zeros(3), tol=1e-13).x

    assert_allclose(value, minimum(0.5), rtol=1e-9)
    assert_allclose(first, differences(minimum, 0.5), rtol=1e-6)
    assert_allclose(second, differences(lambda p: f(DESIGN, labels, float(p))[1], 0.5), rtol=1e-6)


@pytest.mark.parametrize("start", [0.1, 40.0])
def test_steps_are_halved_where_whole_ones_diverge(start):
    """Newton's method itself runs away from 0 for arctan."""
    f = se.lambdify([a], se.solution(lambda z: sympy.atan(z - a), start=start))
    assert_allclose(f(3.0), 3.0, atol=1e-12)


@pytest.mark.parametrize("name", ["jax", "torch"])
def test_backends_agree(name):
    library = pytest.importorskip(name)
    z = se.solution(x - se.tanh(W @ x) - y, x, start=y)
    wanted = [z, se.jacobian(z, W), se.hessian((z**2).sum(), y), CUBIC, se.diff(CUBIC, a)]
    data = WEIGHTS, DESIGN[0], 2.0
    expected = se.lambdify([W, y, a], wanted)(*data)
    if name == "torch":
        data = tuple(library.as_tensor(own, dtype=library.float64) for own in data)
    found = se.lambdify([W, y, a], wanted, backend=name)(*data)
    for own, other in zip(found, expected, strict=True):
        assert_allclose(np.asarray(own), other, rtol=1e-4, atol=1e-5)


def test_jax_differentiates_the_code_itself():
    jax = pytest.importorskip("jax")
    z = se.solution(x - se.tanh(W @ x) - y, x, start=y)
    f = se.lambdify([W, y], z, backend="jax")
    expected = se.lambdify([W, y], se.jacobian(z, W))(WEIGHTS, DESIGN[0])
    data = jax.numpy.asarray(WEIGHTS), jax.numpy.asarray(DESIGN[0])
    for derivative in (jax.jacrev, jax.jacfwd):
        assert_allclose(jax.jit(derivative(f))(*data), expected, rtol=1e-4, atol=1e-5)
    several = jax.vmap(f, (None, 0))(data[0], jax.numpy.asarray(DESIGN))
    assert_allclose(several[0], f(*data), rtol=1e-5)


@pytest.mark.parametrize("name", ["numba", "dask"])
def test_other_backends_are_refused_by_name(name):
    pytest.importorskip(name)
    with pytest.raises(se.UnsupportedError, match=f"{name}.*use another one, such as 'numpy'"):
        se.lambdify([a], CUBIC, backend=name)(2.0)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_an_equation_without_a_solution(backend):
    pytest.importorskip(backend)
    f = se.lambdify([a], se.solution(lambda z: z**2 + a, start=1.5), backend=backend)
    with pytest.raises(ArithmeticError, match=r"the residual is 2 after 100 iterations"):
        f(2.0)


def test_a_singular_jacobian():
    f = se.lambdify([a], se.solution(lambda z: z**2 + a, start=0))
    with pytest.raises(ArithmeticError, match=r"residual is 2 after 1 .* Jacobian is singular"):
        f(2.0)


def test_under_jit_it_is_nan_where_it_is_not_found():
    jax = pytest.importorskip("jax")
    f = jax.jit(se.lambdify([a], se.solution(lambda z: z**2 + a, start=1.5), backend="jax"))
    assert np.isnan(f(2.0))
    assert_allclose(f(-2.25), 1.5)


def test_no_derivative_by_the_start():
    z = se.solution(x + x**3 - t * y, x, start=x)
    assert se.jacobian(z, x) == se.Zeros(n, n)
    assert se.jacobian(z, x, mode="forward") == se.Zeros(n, n)
    # The unknown is bound: another x outside is the start.
    assert z.free_symbols >= {x, y, t}


def test_solutions_in_loops_and_loops_in_solutions():
    """Implicit Euler's method, and the fixed point of five steps."""
    step = lambda c, _: (se.solution(lambda z: z + a * z**3 - c, start=c), None)  # noqa: E731
    last, _ = se.scan(step, y, length=T)
    f = se.lambdify([y, a, T], [last, se.jacobian(last, y), se.diff(last, a)])
    values = f(np.array([1.0, 2.0]), 0.1, 4)
    by_start = differences(lambda own: f(own, 0.1, 4)[0], [1.0, 2.0])
    assert_allclose(values[1], by_start, atol=1e-8)
    by_step = differences(lambda h: f(np.array([1.0, 2.0]), float(h), 4)[0], 0.1)
    assert_allclose(values[2], by_step, atol=1e-8)
    point = se.solution(
        lambda z: se.scan(lambda c, _: (se.tanh(c) / 2 + y, None), z, length=5)[0] - 2 * z, start=y
    )
    g = se.lambdify([y], [point, se.jacobian(point, y), se.hessian(point.sum(), y)])
    _, jacobian, hessian = g(np.array([0.3, 1.0]))
    assert_allclose(jacobian, differences(lambda own: g(own)[0], [0.3, 1.0]), atol=1e-8)
    assert_allclose(hessian, differences(lambda own: g(own)[1].sum(0), [0.3, 1.0]), atol=1e-8)


def test_names_of_unknowns_do_not_matter():
    by_name = se.solution(x + x**3 - y, x, start=y)
    assert by_name is se.solution(lambda z: z + z**3 - y, start=y)
    assert by_name.free_symbols == {y}
    # No capture: the x that comes in stays free.
    moved = by_name.subs(y, x)
    assert moved.free_symbols == {x}
    assert moved is se.solution(lambda z: z + z**3 - x, start=x)
    p = Symbol("p")
    assert se.solution(p**3 + p - a, p, start=1) is CUBIC


@pytest.mark.parametrize(
    "e",
    [
        CUBIC,
        se.solution(x - se.tanh(W @ x) - y, x, start=y),
        se.minimizer((x - y) @ (x - y) + se.exp(x).sum(), x, start=x),
        se.solution(lambda z: se.solution(lambda w: w + w**3 - z, start=z) + z - y, start=y),
    ],
)
def test_texts_evaluate_to_the_same_object(e):
    names = {**vars(se), "a": a, "x": x, "y": y, "W": W, "n": n}
    assert eval(str(e), names) is e
    assert eval(sympy.srepr(e), {**vars(sympy), **vars(se)}) is e
    assert pickle.loads(pickle.dumps(e)) is e
    assert "digraph" in se.to_dot(e)


def test_formulas_say_which_equation():
    z = se.solution(x + se.tanh(x) * a - y, x, start=y)
    assert se.latex(2 * z) == (
        r"\begin{aligned} & 2 x \\ \text{where } x + a \tanh{\left(x \right)} - y "
        r"& = \mathbf{0} \end{aligned}"
    )
    assert "x + a⋅tanh(x) - y = 𝟘" in se.pretty(z)
    assert r"x^{3} + x & = 0" in se.latex(CUBIC.subs(a, 0) ** 2)


def test_bad_input():
    for wrong, match in [
        (lambda: se.solution(x.sum(), x, start=y), r"F of solution has shape \(\).*x has \(n,\)"),
        (lambda: se.solution(x - y, x, start=1), r"start of solution has shape \(\).*\(n,\)"),
        (lambda: se.minimizer(x @ x, x, start=b), r"start of minimizer has shape \(m,\).*\(n,\)"),
        (lambda: se.minimizer(x, x, start=y), r"scalar.*not a tensor of shape \(n,\)"),
    ]:
        with pytest.raises(se.ShapeError, match=match):
            wrong()
    for wrong, match in [
        (lambda: se.solution(y, x, start=y), "unknown x of solution isn't in y"),
        (lambda: se.solution(x - y, x), "give start="),
        (lambda: se.solution(x - y, 2 * x, start=y), r"not 2\*x"),
    ]:
        with pytest.raises(se.TensorError, match=match):
            wrong()
    P = se.TensorSymbol("P", n, n, symmetric=True)
    with pytest.raises(se.UnsupportedError, match="P of solution is symmetric"):
        se.solution(P @ P - W, P, start=P)


def test_conversions_are_refused_by_name():
    z = se.solution(x - se.tanh(W @ x) - y, x, start=y)
    with pytest.raises(se.UnsupportedError, match="Solution"):
        se.to_array(z.subs(n, 2))
    with pytest.raises(se.UnsupportedError, match="semiring 'max-plus'"):
        se.in_semiring(z, "max-plus")
    with pytest.raises(se.UnsupportedError, match=r"sympy_einsum\.lambdify"):
        sympy.lambdify([W, y], z)
