"""Every elementary function: first and second derivatives, and the conventions at kinks.

The rows are those of table 4.1 in F. Lippmann, "Designing and Implementing a Tensor Calculus"
(2022) and the functions around them; the references are mpmath at 40 digits, and JAX for matrices.
"""

from functools import partial

import mpmath
import numpy as np
import pytest
import sympy
from oracles import (
    assert_close,
    assert_plain,
    children,
    data_for,
    evaluate,
    graph,
    jax64,
    m,
    n,
    random_array,
)
from sympy import Lambda, Piecewise, Rational, S, Symbol, symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

t, u = symbols("t u")
x = se.TensorSymbol("x", (n,))
y = se.TensorSymbol("y", (n,))
c = se.TensorSymbol("c", (n,))
v = se.TensorSymbol("v", (m,))
X = se.TensorSymbol("X", (n, m))
Y = se.TensorSymbol("Y", (n, m))
A = se.TensorSymbol("A", (n, n))
B = se.TensorSymbol("B", (n, n))
D = se.TensorSymbol("D", (n, m))

REAL = (-1.9, -0.4, 1.3)
POSITIVE = (0.4, 1.1, 2.7)
UNIT = (-0.8, 0.15, 0.6)
ABOVE_ONE = (1.2, 1.9, 3.5)


def by_lambda(function):
    """Return a row for a SymPy function, applied through a Lambda."""
    return lambda a: se.elementwise(Lambda(t, function(t)), a)


def with_order(function, order):
    """Return a row for a SymPy function whose first argument is a number."""
    return by_lambda(lambda z: function(order, z))


# name, function on tensors and scalars, reference, where to try it
ROWS = {
    "exp": (se.exp, mpmath.exp, REAL),
    "log": (se.log, mpmath.log, POSITIVE),
    "sin": (se.sin, mpmath.sin, REAL),
    "cos": (se.cos, mpmath.cos, REAL),
    "tan": (se.tan, mpmath.tan, UNIT),
    "asin": (se.asin, mpmath.asin, UNIT),
    "acos": (se.acos, mpmath.acos, UNIT),
    "atan": (se.atan, mpmath.atan, REAL),
    "sinh": (se.sinh, mpmath.sinh, REAL),
    "cosh": (se.cosh, mpmath.cosh, REAL),
    "tanh": (se.tanh, mpmath.tanh, REAL),
    "asinh": (se.asinh, mpmath.asinh, REAL),
    "acosh": (se.acosh, mpmath.acosh, ABOVE_ONE),
    "atanh": (se.atanh, mpmath.atanh, UNIT),
    "sqrt": (se.sqrt, mpmath.sqrt, POSITIVE),
    "Abs": (se.Abs, abs, REAL),
    "sign": (se.sign, mpmath.sign, REAL),
    "relu": (se.relu, lambda z: max(z, 0), REAL),
    "square": (snp.square, lambda z: z * z, REAL),
    "reciprocal": (lambda a: 1 / a, lambda z: 1 / z, REAL),
    "cube": (lambda a: a**3, lambda z: z**3, REAL),
    "power of -2": (lambda a: a**-2, lambda z: z**-2, REAL),
    "power of 3/2": (lambda a: a ** Rational(3, 2), lambda z: mpmath.power(z, "1.5"), POSITIVE),
    "power of 1.5": (lambda a: snp.power(a, 1.5), lambda z: mpmath.power(z, "1.5"), POSITIVE),
    "2 to the power": (lambda a: 2**a, lambda z: mpmath.power(2, z), REAL),
    "x to the x": (lambda a: a**a, lambda z: z**z, POSITIVE),
    "sigmoid": (se.sigmoid, lambda z: 1 / (1 + mpmath.exp(-z)), REAL),
    "softplus": (se.softplus, lambda z: mpmath.log(1 + mpmath.exp(z)), REAL),
    "erf": (se.erf, mpmath.erf, REAL),
    "erfc": (se.erfc, mpmath.erfc, REAL),
    "gamma": (se.gamma, mpmath.gamma, POSITIVE),
    "loggamma": (se.loggamma, mpmath.loggamma, POSITIVE),
    "digamma": (se.digamma, mpmath.digamma, POSITIVE),
    "log1p": (snp.log1p, mpmath.log1p, UNIT),
    "expm1": (snp.expm1, mpmath.expm1, REAL),
    "log2": (snp.log2, lambda z: mpmath.log(z, 2), POSITIVE),
    "log10": (snp.log10, mpmath.log10, POSITIVE),
    "exp2": (snp.exp2, lambda z: mpmath.power(2, z), REAL),
    "cbrt": (snp.cbrt, mpmath.cbrt, POSITIVE),
    "cot": (by_lambda(sympy.cot), mpmath.cot, POSITIVE),
    "sec": (by_lambda(sympy.sec), mpmath.sec, UNIT),
    "csc": (by_lambda(sympy.csc), mpmath.csc, POSITIVE),
    "acot": (by_lambda(sympy.acot), mpmath.acot, POSITIVE),
    "asec": (by_lambda(sympy.asec), mpmath.asec, ABOVE_ONE),
    "acsc": (by_lambda(sympy.acsc), mpmath.acsc, ABOVE_ONE),
    "coth": (by_lambda(sympy.coth), mpmath.coth, POSITIVE),
    "sech": (by_lambda(sympy.sech), mpmath.sech, REAL),
    "csch": (by_lambda(sympy.csch), mpmath.csch, POSITIVE),
    "acoth": (by_lambda(sympy.acoth), mpmath.acoth, ABOVE_ONE),
    "asech": (by_lambda(sympy.asech), mpmath.asech, (0.2, 0.5, 0.8)),
    "acsch": (by_lambda(sympy.acsch), mpmath.acsch, POSITIVE),
    "sinc": (by_lambda(sympy.sinc), mpmath.sinc, POSITIVE),
    "erfi": (by_lambda(sympy.erfi), mpmath.erfi, REAL),
    "erfinv": (by_lambda(sympy.erfinv), mpmath.erfinv, UNIT),
    "factorial": (by_lambda(sympy.factorial), mpmath.factorial, POSITIVE),
    "trigamma": (by_lambda(sympy.trigamma), partial(mpmath.psi, 1), POSITIVE),
    "polygamma 2": (with_order(sympy.polygamma, 2), partial(mpmath.psi, 2), POSITIVE),
    "besselj 2": (with_order(sympy.besselj, 2), partial(mpmath.besselj, 2), POSITIVE),
    "bessely 1": (with_order(sympy.bessely, 1), partial(mpmath.bessely, 1), POSITIVE),
    "besseli 0": (with_order(sympy.besseli, 0), partial(mpmath.besseli, 0), REAL),
    "besselk 1": (with_order(sympy.besselk, 1), partial(mpmath.besselk, 1), POSITIVE),
    "airyai": (by_lambda(sympy.airyai), mpmath.airyai, REAL),
    "LambertW": (by_lambda(sympy.LambertW), mpmath.lambertw, POSITIVE),
    "Ei": (by_lambda(sympy.Ei), mpmath.ei, POSITIVE),
    "Si": (by_lambda(sympy.Si), mpmath.si, POSITIVE),
    "Ci": (by_lambda(sympy.Ci), mpmath.ci, POSITIVE),
    "fresnels": (by_lambda(sympy.fresnels), mpmath.fresnels, REAL),
    "fresnelc": (by_lambda(sympy.fresnelc), mpmath.fresnelc, REAL),
    "beta with 2": (with_order(sympy.beta, 2), partial(mpmath.beta, 2), POSITIVE),
    "Lambda": (
        by_lambda(lambda z: z * sympy.exp(-(z**2)) + 1),
        lambda z: z * mpmath.exp(-(z**2)) + 1,
        REAL,
    ),
    "Piecewise": (
        by_lambda(lambda z: Piecewise((z**3, z < 0), (sympy.sin(z), True))),
        lambda z: z**3 if z < 0 else mpmath.sin(z),
        REAL,
    ),
    "Max": (by_lambda(lambda z: sympy.Max(z, z**2)), lambda z: max(z, z * z), REAL),
    "Min": (by_lambda(lambda z: sympy.Min(z, z**2)), lambda z: min(z, z * z), REAL),
    "Abs of square minus 1": (
        by_lambda(lambda z: sympy.Abs(z**2 - 1)),
        lambda z: abs(z * z - 1),
        REAL,
    ),
    "sign times": (by_lambda(lambda z: z * sympy.sign(z) * z), lambda z: abs(z) * z, REAL),
}
row = pytest.mark.parametrize("name", ROWS)


def reference(function, points, order):
    def value(point):
        with mpmath.workdps(40):
            exact = mpmath.mpf(repr(float(point)))
            result = mpmath.diff(function, exact, order) if order else function(exact)
            return float(mpmath.re(result))

    return np.vectorize(value, otypes=[float])(np.asarray(points))


@row
def test_value_gradient_jacobian_and_hessian(name):
    function, exact, points = ROWS[name]
    weights = np.array([0.7, -1.2, 2.1])
    data = {x: np.array(points), c: weights}
    values = function(x)
    objective = (values * c).sum()
    derivatives = [se.gradient(objective, x), se.jacobian(values, x), se.hessian(objective, x)]
    for derivative, shape in zip(derivatives, [(n,), (n, n), (n, n)], strict=True):
        assert derivative.shape == shape
        assert_plain(derivative)
    value, gradient, jacobian, hessian = evaluate([values, *derivatives], data)
    first_derivative = reference(exact, points, 1)
    assert_close(value, reference(exact, points, 0), label="value")
    assert_close(gradient, weights * first_derivative, label="gradient")
    assert_close(jacobian, np.diag(first_derivative), label="Jacobian")
    assert_close(hessian, np.diag(weights * reference(exact, points, 2)), label="Hessian")


@row
def test_on_a_matrix(name):
    function, exact, points = ROWS[name]
    array = np.random.default_rng(3).choice(points, size=(3, 4))
    jacobian = se.jacobian(function(X), X)
    assert jacobian.shape == (n, m, n, m)
    derivative = reference(exact, array, 1)
    expected = np.einsum("ik,jl,ij->ijkl", np.eye(3), np.eye(4), derivative)
    assert_close(evaluate(jacobian, {X: array}), expected)


@row
def test_of_a_scalar_in_the_middle(name):
    """f(x'x) is a stock SymPy scalar; gradient 2 f' x, Hessian 4 f'' xx' + 2 f' I."""
    function, exact, points = ROWS[name]
    s = float(points[-1])
    array = np.array([0.6, -0.48, 0.64]) * np.sqrt(s)
    objective = function(x @ x)
    assert not isinstance(objective, se.TensorExpr) or objective.order == 0
    gradient, hessian = se.gradient(objective, x), se.hessian(objective, x)
    assert_plain(gradient)
    assert_plain(hessian)
    derivative, curvature = (float(reference(exact, s, order)) for order in (1, 2))
    actual = evaluate([gradient, hessian], {x: array})
    assert_close(actual[0], 2 * derivative * array)
    assert_close(actual[1], 4 * curvature * np.outer(array, array) + 2 * derivative * np.eye(3))


@row
def test_of_an_ordinary_symbol(name):
    """f(t) x differentiated by the symbol t, and f(t x) by t."""
    function, exact, points = ROWS[name]
    s = float(points[-1])
    assert_plain(se.diff(function(t) * x, t))
    data = {t: s, x: np.array([1.0, -2.0, 0.5])}
    actual = evaluate(se.diff(function(t) * x, t), data)
    assert_close(actual, reference(exact, s, 1) * data[x])
    ones = {t: s, x: np.ones(3)}
    assert_close(evaluate(se.diff(function(t * x), t), ones), reference(exact, s, 1) * np.ones(3))


NAMES = [
    *("exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh"),
    *("acosh", "atanh", "sqrt", "Abs", "sign", "erf", "erfc", "gamma", "loggamma", "digamma"),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_scalar_gives_sympys_own_object(name):
    assert getattr(se, name)(t) == getattr(sympy, name)(t)
    assert getattr(se, name)(x).shape == (n,)


PAIRS = {
    "power": (snp.power, mpmath.power, POSITIVE, REAL),
    "**": (lambda a, b: a**b, mpmath.power, POSITIVE, REAL),
    "divide": (lambda a, b: a / b, lambda a, b: a / b, REAL, POSITIVE),
    "Max": (se.Max, max, REAL, POSITIVE),
    "Min": (se.Min, min, REAL, UNIT),
    "atan2": (se.atan2, mpmath.atan2, REAL, POSITIVE),
    "arctan2": (snp.arctan2, mpmath.atan2, REAL, POSITIVE),
    "hypot": (snp.hypot, mpmath.hypot, REAL, POSITIVE),
    "logaddexp": (
        snp.logaddexp,
        lambda a, b: mpmath.log(mpmath.exp(a) + mpmath.exp(b)),
        REAL,
        POSITIVE,
    ),
    "beta": (
        lambda a, b: se.elementwise(Lambda((t, u), sympy.beta(t, u)), a, b),
        mpmath.beta,
        POSITIVE,
        ABOVE_ONE,
    ),
    "Lambda": (
        lambda a, b: se.elementwise(Lambda((t, u), sympy.exp(t * u) / (1 + u**2)), a, b),
        lambda a, b: mpmath.exp(a * b) / (1 + b * b),
        REAL,
        UNIT,
    ),
    "Piecewise": (
        lambda a, b: se.elementwise(Lambda((t, u), Piecewise((t * u, t < u), (u**2, True))), a, b),
        lambda a, b: a * b if a < b else b * b,
        REAL,
        UNIT,
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_functions_of_two_arguments(name):
    function, exact, first, second = PAIRS[name]
    data = {x: np.array(first), y: np.array(second)}
    values = function(x, y)
    blocks = [[se.diff(values.sum(), a, b) for b in (x, y)] for a in (x, y)]
    derivatives = [se.gradient(values.sum(), x), se.gradient(values.sum(), y)]
    for expr in [*derivatives, *blocks[0], *blocks[1]]:
        assert_plain(expr)

    def derivative_of(orders):
        with mpmath.workdps(40):
            pairs = zip(first, second, strict=True)
            return np.array([float(mpmath.diff(exact, pair, orders)) for pair in pairs])

    assert_close(evaluate(derivatives[0], data), derivative_of((1, 0)))
    assert_close(evaluate(derivatives[1], data), derivative_of((0, 1)))
    assert_close(evaluate(blocks[0][0], data), np.diag(derivative_of((2, 0))))
    assert_close(evaluate(blocks[0][1], data), np.diag(derivative_of((1, 1))))
    assert_close(evaluate(blocks[1][0], data), np.diag(derivative_of((1, 1))))
    assert_close(evaluate(blocks[1][1], data), np.diag(derivative_of((0, 2))))


@pytest.mark.parametrize("name", ["power", "Max", "Lambda"])
def test_the_same_argument_twice(name):
    function, exact, first, _ = PAIRS[name]
    points = np.abs(first)
    derivative = reference(lambda z: exact(z, z), points, 1)
    assert_close(evaluate(se.gradient(function(x, x).sum(), x), {x: points}), derivative)


# --- matrices -------------------------------------------------------------------------------------

MATRIX_ROWS = {
    "inv": (se.inv, lambda np, Z: np.linalg.inv(Z), "spd_nonsym"),
    "det": (se.det, lambda np, Z: np.linalg.det(Z), None),
    "adj": (se.adj, lambda np, Z: np.linalg.det(Z) * np.linalg.inv(Z), None),
    "logdet": (se.logdet, lambda np, Z: np.log(np.linalg.det(Z)), "spd_nonsym"),
    "log det": (lambda Z: se.log(se.det(Z)), lambda np, Z: np.log(np.linalg.det(Z)), "spd_nonsym"),
    "trace": (se.trace, lambda np, Z: np.trace(Z), None),
    "trace of inv": (lambda Z: se.trace(se.inv(Z)), lambda np, Z: np.trace(np.linalg.inv(Z)), None),
    "inv of inv": (lambda Z: (Z @ Z).inv(), lambda np, Z: np.linalg.inv(Z @ Z), "spd_nonsym"),
    "1 / det": (lambda Z: 1 / Z.det(), lambda np, Z: 1 / np.linalg.det(Z), "spd_nonsym"),
    "norm": (lambda Z: se.norm(Z), lambda np, Z: np.sqrt(np.sum(Z * Z)), None),
    "square": (lambda Z: Z @ Z, lambda np, Z: Z @ Z, None),
    "transpose": (lambda Z: Z.T @ Z, lambda np, Z: Z.T @ Z, None),
}


def jnp_derivatives(function, array):
    """Return first and second derivative, function axes first."""
    jax = jax64()
    value = jax.numpy.asarray(array)
    first = jax.jacfwd(lambda Z: function(jax.numpy, Z))
    return first(value), jax.jacfwd(first)(value)


@pytest.mark.parametrize("name", MATRIX_ROWS)
def test_matrix_functions(name):
    function, plain, domain = MATRIX_ROWS[name]
    array = random_array((3, 3), domain)
    expected = jnp_derivatives(plain, array)
    actual = evaluate(
        [function(A), se.diff(function(A), A), se.diff(function(A), A, 2)], {A: array}
    )
    assert_close(actual[0], plain(np, array), label="value")
    assert_close(actual[1], expected[0], label="first derivative")
    assert_close(actual[2], expected[1], label="second derivative")


def test_layout_of_the_derivative_of_the_inverse():
    """d inv(X)[i,j] / dX[k,l] = -inv(X)[i,k] inv(X)[l,j]; the test matrix isn't symmetric."""
    inverse = se.inv(A)
    derivative = se.diff(inverse, A)
    assert derivative == -se.einsum("ik,lj->ijkl", inverse, inverse)
    array = np.array([[2.0, 1.0, 0.0], [0.0, 3.0, -1.0], [0.5, 0.0, 1.5]])
    numeric = np.linalg.inv(array)
    expected = -np.einsum("ik,lj->ijkl", numeric, numeric)
    assert_close(evaluate(derivative, {A: array}), expected)


def test_the_gradient_of_det_at_a_singular_matrix():
    array = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])
    cofactors = np.array([[4.0, 4.0, -4.0], [-2.0, -2.0, 2.0], [0.0, 0.0, 0.0]])
    assert_close(evaluate(se.gradient(se.det(A), A), {A: array}), cofactors)


def test_adj_of_order_one_by_one():
    single = se.TensorSymbol("Z", (1, 1))
    assert_close(evaluate(se.adj(single), {single: np.array([[5.0]])}), np.array([[1.0]]))
    gradient = evaluate(se.gradient(se.det(single), single), {single: np.array([[5.0]])})
    assert_close(gradient, np.array([[1.0]]))


def test_logdet_of_a_negative_determinant():
    """The logarithm of the absolute value, as numpy.linalg.slogdet; its gradient is inv(X).T."""
    array = np.diag([2.0, -3.0, 1.0]) + 0.1
    value, gradient = evaluate([se.logdet(A), se.gradient(se.logdet(A), A)], {A: array})
    assert_close(value, np.linalg.slogdet(array)[1])
    assert_close(gradient, np.linalg.inv(array).T)


# --- the examples of the thesis -------------------------------------------------------------------


def test_quadratic_form():
    f = x @ A @ x
    assert se.gradient(f, x) == A @ x + A.T @ x
    assert se.hessian(f, x) == A + A.T
    assert se.diff(f, x, 2) == A + A.T
    assert se.diff(f, x, 3) == se.Zeros(n, n, n)
    assert se.gradient(f, A) == se.einsum("i,j->ij", x, x)


def test_quadratic_form_by_einsum_strings():
    f = se.einsum("ij,j->i", A, x)
    f = se.einsum("i,i->", x, f)
    assert se.hessian(f, x) == A + A.T
    assert se.hessian(se.einsum("i,ij,j->", x, A, x), x) == A + A.T


def test_hadamard_square():
    derivative = se.diff(X * X, X)
    assert derivative.shape == (n, m, n, m)
    assert derivative == 2 * se.einsum("ij->ijij", X)
    assert se.diff(X**2, X) == derivative


def test_nested_sine():
    f = se.sin(x) + se.cos(se.sin(x))
    derivative = se.diff(f, x)
    gradient = se.cos(x) - se.sin(se.sin(x)) * se.cos(x)
    array = random_array((3,))
    assert_close(
        evaluate(derivative, {x: array}),
        np.diag(np.cos(array) - np.sin(np.sin(array)) * np.cos(array)),
    )
    assert_close(evaluate(derivative - se.einsum("i->ii", gradient), {x: array}), np.zeros((3, 3)))
    assert se.sin(x) in graph(derivative), "the shared subexpression stays shared"


def test_an_index_that_vanishes():
    """The index i is in no other operand: it comes back as an axis of ones."""
    f = se.einsum("ij,j->", X, v)
    gradient = se.gradient(f, X)
    assert gradient.shape == (n, m)
    assert gradient == se.einsum("i,j->ij", se.Ones(n), v)
    data = data_for([X, v])
    assert_close(evaluate(gradient, data), np.ones((3, 1)) * data[v])


def test_a_duplicated_output_index():
    f = se.einsum("i->ii", x)
    expected = np.zeros((3, 3, 3))
    for i in range(3):
        expected[i, i, i] = 1
    derivative = se.diff(f, x)
    assert derivative.shape == (n, n, n)
    assert_close(evaluate(derivative, {x: np.arange(3.0)}), expected)


# --- tidy results ---------------------------------------------------------------------------------


def test_simple_derivatives_are_written_simply():
    assert se.jacobian(x, x) == se.Delta(n)
    assert se.jacobian(X, X) == se.Delta(n, m)
    assert se.gradient(x @ x, x) == 2 * x
    assert se.hessian(x @ x, x) == 2 * se.Delta(n)
    assert se.gradient(x.sum(), x) == se.Ones(n)
    assert se.jacobian(X @ v, v) == X
    assert se.jacobian(v @ X.T, v) == X
    assert se.gradient(se.trace(A), A) == se.Delta(n)
    assert se.gradient(se.trace(A @ B), A) == B.T
    assert se.gradient(se.exp(x).sum(), x) == se.exp(x)
    assert se.gradient(x @ y, x) == y
    assert se.gradient(se.sin(x) @ y, x) == se.cos(x) * y
    assert se.gradient((X**2).sum(), X) == 2 * X
    assert se.diff(A, x) == se.Zeros(n, n, n)
    assert se.diff(t**3 * x, t) == 3 * t**2 * x
    assert se.gradient(se.logdet(A), A) == se.inv(A).T
    assert se.diff(x - x, x) == se.Zeros(n, n)


def test_no_deltas_or_ones_remain_that_do_nothing():
    w = se.TensorSymbol("w", (m,))
    z = snp.log(1 + snp.exp(-y * (X @ w)))
    for expr in (
        se.gradient(snp.sum(z), w),
        se.hessian(snp.sum(z), w),
        se.gradient(((X @ w - y) ** 2).sum(), w),
        se.hessian(((X @ w - y) ** 2).sum(), w),
        se.jacobian(se.exp(X @ w), w),
    ):
        for node in graph(expr):
            assert not isinstance(node, (se.Delta, se.Zeros)), expr
            if isinstance(node, se.Einsum):
                assert not any(isinstance(operand, se.Ones) for operand in children(node)), expr


def test_like_terms_are_collected():
    assert A + A == 2 * A
    assert A + A.T - A == A.T
    assert 2 * x + 3 * x == 5 * x
    assert (x + y) + (x + y) == 2 * (x + y)
    assert ((x + y) + (x + y)) / 2 == x + y
    assert se.gradient(se.norm(x - y) ** 2, x) == 2 * x - 2 * y
    assert x @ y == y @ x
    assert (A @ x) * y - y * (A @ x) == se.Zeros(n)
    assert se.hessian((x @ x) ** 2, x).shape == (n, n)


# --- conventions at kinks -------------------------------------------------------------------------


@pytest.mark.parametrize("function", [se.relu, se.Abs, se.sign], ids=lambda f: f.__name__)
def test_derivative_at_the_kink_is_zero(function):
    zero = {x: np.array([0.0, 1.5, -2.0])}
    derivative = {"relu": [0, 1, 0], "Abs": [0, 1, -1], "sign": [0, 0, 0]}[function.__name__]
    assert_close(evaluate(se.gradient(function(x).sum(), x), zero), np.array(derivative, float))
    second = se.hessian(function(x).sum(), x)
    assert_plain(second)
    assert_close(evaluate(second, zero), np.zeros((3, 3)))


def test_second_derivatives_of_piecewise_linear_functions_are_zeros_with_a_shape():
    assert se.diff(se.sign(x), x) == se.Zeros(n, n)
    assert se.diff(se.relu(x), x, 2) == se.Zeros(n, n, n)
    assert se.diff(se.Abs(x), x, 2) == se.Zeros(n, n, n)


def test_the_larger_of_two_shares_its_derivative_at_a_tie():
    point = {x: np.array([1.0, 0.0, -3.0]), y: np.array([1.0, 0.0, -3.0])}
    for function in (se.Max, se.Min, snp.maximum, snp.minimum):
        by_x, by_y = (se.gradient(function(x, y).sum(), variable) for variable in (x, y))
        assert_close(sum(evaluate([by_x, by_y], point)), np.ones(3))


def test_maximum_with_zero_is_between_the_derivatives():
    derivative = evaluate(se.gradient(snp.maximum(x, 0).sum(), x), {x: np.array([0.0, 2.0, -1.0])})
    assert 0 <= derivative[0] <= 1
    assert_close(derivative[1:], np.array([1.0, 0.0]))


def test_norm_at_zero_is_not_silently_wrong():
    """x / norm(x) has no limit at 0."""
    with np.errstate(all="ignore"):
        derivative = evaluate(se.gradient(se.norm(x), x), {x: np.zeros(3)})
    assert np.isnan(derivative).all()


def test_large_arguments_stay_finite_and_accurate():
    data = {x: np.array([-800.0, 0.0, 800.0])}
    values = [
        se.softplus(x),
        se.sigmoid(x),
        se.gradient(se.softplus(x).sum(), x),
        se.gradient(se.sigmoid(x).sum(), x),
    ]
    with np.errstate(all="ignore"):
        found = evaluate(values, data)
    assert_close(found[0], np.array([0.0, np.log(2), 800.0]))
    assert_close(found[1], np.array([0.0, 0.5, 1.0]))
    assert_close(found[2], np.array([0.0, 0.5, 1.0]))
    assert_close(found[3], np.array([0.0, 0.25, 0.0]))


def test_large_arguments_of_log_sum_exp_and_softmax():
    data = {x: np.array([-800.0, 0.0, 800.0])}
    with np.errstate(all="ignore"):
        found = evaluate([se.logsumexp(x), se.softmax(x, axis=0)], data)
    assert_close(found[0], 800.0)
    assert_close(found[1], np.array([0.0, 0.0, 1.0]))


# --- never an unevaluated or singular derivative --------------------------------------------------

UNDERIVABLE = {
    "zeta": sympy.zeta,
    "order of a Bessel function": lambda z: sympy.besselj(z, 2),
    "order of a polygamma": lambda z: sympy.polygamma(z, 2),
}


@pytest.mark.parametrize("name", UNDERIVABLE)
def test_functions_without_derivative_raise(name):
    body = UNDERIVABLE[name]
    with pytest.raises(se.UnsupportedError):
        se.diff(se.elementwise(Lambda(t, body(t)), x), x)
    with pytest.raises(se.UnsupportedError):
        se.gradient(body(x @ x), x)


@pytest.mark.parametrize(
    "body",
    [
        sympy.Heaviside,
        sympy.DiracDelta,
        sympy.floor,
        sympy.ceiling,
        sympy.sign,
        sympy.Abs,
        sympy.frac,
        lambda z: sympy.Max(z, 1, -z),
        lambda z: sympy.sign(sympy.sin(z)),
        lambda z: Piecewise((0, z < 0), (1, True)),
        lambda z: sympy.Mod(z, 2) if z.is_Symbol else z,  # SymPy's Mod wants no len()
        lambda z: sympy.re(z) + sympy.im(z),
        lambda z: sympy.conjugate(z) * z,
        lambda z: sympy.arg(z),
        lambda z: sympy.Integral(sympy.exp(-(u**2)), (u, 0, z)),
        lambda z: sympy.Sum(z**u, (u, 0, 3)),
        lambda z: sympy.Derivative(sympy.exp(u * z), u),
    ],
)
@pytest.mark.parametrize("order", [1, 2])
def test_a_result_is_plain_or_refused(body, order):
    for derivative in (
        lambda: se.diff(se.elementwise(Lambda(t, body(t)), x), x, order),
        lambda: se.diff(body(x @ x), x, order),
        lambda: se.diff(body(Symbol("s", real=True)), Symbol("s", real=True), order),
    ):
        try:
            result = derivative()
        except se.UnsupportedError:
            continue
        assert_plain(sympy.sympify(result))


def test_a_lambda_may_hold_other_symbols():
    f = se.elementwise(Lambda(t, sympy.exp(u * t)), x)
    assert u in f.free_symbols
    data = {x: np.array([0.1, -0.5, 1.0]), u: 1.7}
    assert_close(evaluate(f, data), np.exp(1.7 * data[x]))
    assert_close(evaluate(se.diff(f, u), data), data[x] * np.exp(1.7 * data[x]))
    assert_close(evaluate(se.gradient(f.sum(), x), data), 1.7 * np.exp(1.7 * data[x]))


def test_any_sympy_function_through_applyfunc_and_elementwise():
    square = Lambda(t, t**2)
    assert x.applyfunc(square) == x**2
    assert se.elementwise(sympy.exp, x) == se.exp(x) == x.applyfunc(sympy.exp)
    assert se.elementwise(square, t) == t**2


def test_identities_of_functions():
    assert se.exp(se.Zeros(n)) == se.Ones(n)
    assert se.log(se.Ones(n)) == se.Zeros(n)
    assert se.exp(x) ** 0 == se.Ones(n)
    assert x**1 == x
    assert se.inv(se.inv(A)) == A
    assert se.inv(se.Delta(n)) == se.Delta(n)
    assert se.det(se.Delta(n)) == S.One


def test_third_derivatives():
    f = (se.sin(x) * c).sum()
    data = data_for([x, c])
    expected = np.zeros((3, 3, 3))
    for i in range(3):
        expected[i, i, i] = -np.cos(data[x][i]) * data[c][i]
    assert_close(evaluate(se.diff(f, x, 3), data), expected)


def test_mixed_blocks_of_a_hessian():
    f = (se.tanh(X @ v) * y).sum()
    blocks = se.hessian(f, [v, y])
    assert [[block.shape for block in line] for line in blocks] == [
        [(m, m), (m, n)],
        [(n, m), (n, n)],
    ]
    assert blocks[1][1] == se.Zeros(n, n)
    data = data_for([X, v, y])
    derivative = 1 - np.tanh(data[X] @ data[v]) ** 2
    assert_close(evaluate(blocks[1][0], data), derivative[:, None] * data[X])
    assert_close(evaluate(blocks[0][1], data), (derivative[:, None] * data[X]).T)


MODES = ("reverse", "forward")


@pytest.mark.parametrize("mode", MODES)
def test_modes_agree(mode):
    f = se.exp(X @ v) / (1 + (y * y).sum())
    data = data_for([X, v, y])
    actual = evaluate([se.diff(f, w, mode=mode) for w in (v, y, X)], data)
    expected = evaluate([se.diff(f, w) for w in (v, y, X)], data)
    for a, b in zip(actual, expected, strict=True):
        assert_close(a, b)


def test_layout_wrt_first():
    f = se.exp(X @ v)
    derivative = se.diff(f, v, layout="wrt-first")
    assert derivative.shape == (m, n)
    assert derivative == se.diff(f, v).T


def test_products_with_derivatives():
    f = se.sin(X @ v)
    tangent, cotangent = se.TensorSymbol("dv", (m,)), se.TensorSymbol("df", (n,))
    data = data_for([X, v, tangent, cotangent])
    jacobian = evaluate(se.jacobian(f, v), data)
    assert_close(evaluate(se.jvp(f, v, tangent), data), jacobian @ data[tangent])
    assert_close(evaluate(se.vjp(f, v, cotangent), data), data[cotangent] @ jacobian)
    energy = (f * f).sum()
    hessian = evaluate(se.hessian(energy, v), data)
    assert_close(evaluate(se.hvp(energy, v, tangent), data), hessian @ data[tangent])


def test_gradient_is_one_joint_sweep():
    f = (se.tanh(X @ v) * y).sum()
    joint = se.gradient(f, [X, v, y])
    assert all(map(se.equal, joint, [se.gradient(f, w) for w in (X, v, y)]))
    with pytest.raises(se.TensorError):
        se.gradient(X @ v, v)


def test_check_derivative_finds_a_wrong_one():
    f = (se.exp(X @ v)).sum()
    assert se.check_derivative(f, v) < 1e-5
    with pytest.raises(se.TensorError):
        se.check_derivative(f, v, 2 * se.gradient(f, v))
