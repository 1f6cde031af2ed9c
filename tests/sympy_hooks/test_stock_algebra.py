"""SymPy's classes and algorithms on tensors and on scalars with tensors inside: results have the
right shape and value, or an error says why not."""

import numpy as np
import pytest
import scipy.optimize
import sympy as sp
from oracles import assert_close, data_for, evaluate, m, n

import sympy_einsum as se

t, s, u = sp.symbols("t s u", real=True)
k = sp.Symbol("k", integer=True)
x, y, z = se.tensors("x y z", n)
A, X = se.TensorSymbol("A", (m, n)), se.TensorSymbol("X", (n, n))
DATA = data_for([x, y, z, A, X])
a, b, c = x @ x, x @ y, y @ y


def value(expr, **symbols):
    given = {t: 0.3, s: -0.7, u: 1.9}
    given.update({sp.Symbol(name, real=True): v for name, v in symbols.items()})
    return evaluate(expr, {**DATA, **given})


def number(expr):
    """Return the complex number that a stock scalar is, computed by SymPy."""
    found = [node for node in sp.preorder_traversal(expr) if isinstance(node, se.TensorExpr)]
    exact = {node: sp.Float(float(value(node))) for node in found if not node.shape}
    return complex(sp.N(expr.xreplace(exact)))


# --- derivatives that stock SymPy starts ----------------------------------------------------------

STOCK_SCALARS = {
    "product": b * t,
    "function": sp.sin(b) * t,
    "power": b**2 + sp.exp(-a / 9),
    "maximum": sp.Max(b, t),
    "choice": sp.Piecewise((b, t > 0), (0, True)),
    "sum": sp.Sum(k * b**2, (k, 1, 3)),
    "product of terms": sp.Product(b + k, (k, 1, 3)),
    "integral": sp.Integral(t * b**2, (t, 0, 1)),
    "without the variable": t * sp.sin(c),
}


@pytest.mark.parametrize("name", STOCK_SCALARS)
def test_derivatives_of_stock_scalars_are_ours(name):
    f = STOCK_SCALARS[name]
    for derivative in (f.diff(x), sp.diff(f, x), sp.Derivative(f, x), sp.Derivative(f, x).doit()):
        assert derivative.shape == (n,)
        assert_close(value(derivative.doit()), value(se.diff(f.doit(), x)))
    mixed = sp.diff(f, x, A)
    assert mixed.shape == (n, m, n)
    assert sp.diff(f, y, x).shape == (n, n)
    assert_close(value(sp.diff(f, x, y).doit()), value(se.diff(f.doit(), x, y)))


def test_mixed_orders_keep_their_axes():
    assert sp.diff(b * t, x, t, y) == se.Delta(n)
    assert sp.diff(b * t, (x, 2)).shape == (n, n)
    assert sp.Derivative(t * x, t).doit() == x
    assert sp.Derivative(sp.sin(t) * s, t).subs(s, x).doit() == sp.cos(t) * x


def test_derivatives_that_are_not_there_are_refused():
    with pytest.raises(se.UnsupportedError, match="no derivative of"):
        sp.diff(t * sp.dirichlet_eta(b), x)
    for several in (sp.Matrix([b, a]), sp.Array([b, a])):
        with pytest.raises(se.TensorError, match="one expression is needed"):
            several.diff(x)


# --- sums, products, integrals --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (lambda: sp.Sum(x, (k, 1, 3)), 3 * x),
        (lambda: sp.Sum(k * x + y, (k, 1, 3)), 6 * x + 3 * y),
        (lambda: sp.Sum(x @ (k * X + A.T @ A), (k, 0, 2)), 3 * x @ X + 3 * x @ A.T @ A),
        (lambda: sp.Sum(t * k, (k, 1, 3)).subs(t, x), 6 * x),
        (lambda: sp.summation(k**2 * x, (k, 1, 3)), 14 * x),
        (lambda: sp.Product(x, (k, 1, 3)), x**3),
        (lambda: sp.product(k * x, (k, 1, 3)), 6 * x**3),
        (lambda: sp.Integral(t * x + y, (t, 0, 1)), x / 2 + y),
        (lambda: sp.Integral((t * x + y) ** 2, (t, 0, 1)), x**2 / 3 + x * y + y**2),
        (lambda: sp.Integral((t * X).inv() @ x, (t, 1, 2)), sp.log(2) * X.inv() @ x),
        (lambda: sp.Integral((t * X).det() * x, (t, 0, 1)), X.det() * x / (X.shape[0] + 1)),
        (lambda: sp.Integral((t * x)[:, None].reshape(n), (t, 0, 1)), x / 2),
        (lambda: sp.Integral((t * x) ** -2, (t, 1, 2)), x**-2 / 2),
        (lambda: sp.Integral((t * a) ** -2 * y, (t, 1, 2)), a**-2 / 2 * y),
        (lambda: sp.Integral((t * a + t * b) ** 2 * y, (t, 0, 1)), (a + b) ** 2 / 3 * y),
    ],
)
def test_sums_of_tensors_are_tensors(given, expected):
    assert given().shape == (n,)
    assert_close(value(given()), value(expected))


def test_sums_that_cannot_be_split_are_refused():
    with pytest.raises(se.UnsupportedError, match="no Product over k of the tensor"):
        sp.Product(k * x + y, (k, 1, 3))
    power = (t * x + t**2 * y + 1) ** 30
    for kept in (sp.Sum(se.exp(k * x), (k, 1, sp.oo)), sp.Integral(power, t)):
        assert kept.doit() is kept
        with pytest.raises(se.UnsupportedError, match="stays as it is under"):
            se.lambdify([t, x, y], kept)
    for kind in (sp.Integral, sp.Sum, sp.Product):
        with pytest.raises(se.TensorError, match="ordinary symbols, not over the tensor x"):
            kind(t * b, (x, 0, 1))


def test_doit_evaluates_parts_of_scalars():
    inner = sp.Integral(sp.exp(-u * t), (t, 0, 1))
    assert (inner * x).doit().shape == (n,)
    assert not (inner * x).doit().has(sp.Integral)
    assert_close(value((inner * x).doit()), value(x) * (1 - np.exp(-1.9)) / 1.9)
    assert (t * x).doit() is t * x


# --- relations and products -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        (lambda: t > x, lambda v: v < 0.3),
        (lambda: t <= x, lambda v: v >= 0.3),
        (lambda: sp.Gt(x, t), lambda v: v > 0.3),
        (lambda: sp.Lt(t, x), lambda v: v > 0.3),
        (lambda: sp.Ge(x, 0), lambda v: v >= 0),
        (lambda: sp.Le(x, y), lambda v: v <= value(y)),
        (lambda: (t > s).subs(s, x), lambda v: v < 0.3),
    ],
)
def test_relations_are_indicators(relation, expected):
    assert relation().shape == (n,)
    assert_close(value(relation()), expected(value(x)).astype(float))
    assert_close(value(relation().sum()), expected(value(x)).sum())


def test_relations_of_scalars_are_stock():
    assert isinstance(t > b, sp.StrictGreaterThan)
    assert isinstance(sp.Eq(b, 1), sp.Eq)


def test_products_of_matrices_are_those():
    assert sp.MatMul(X, X) is X @ X
    assert_close(value(sp.MatMul(2, A, X, x)), value(2 * A @ X @ x))
    for function in (sp.tensorproduct, lambda e, _: sp.tensorcontraction(e, (0, 1))):
        with pytest.raises(se.TensorError, match="don't take tensors"):
            function(X, X)


def test_powers_of_matrices_are_those():
    M = sp.MatrixSymbol("M", n, n)
    assert sp.MatPow(X, 2) == X @ X
    assert (M**2).subs(M, X) == X @ X
    assert sp.MatPow(X, -1) == X.inv()


def test_remainders_of_scalars():
    assert_close(value(b % 2), value(b) % 2)
    assert_close(value(sp.Mod(a, sp.Rational(1, 2))), value(a) % 0.5)
    quotient, remainder = divmod(b, 2)
    assert_close(value(2 * quotient + remainder), value(b))


def test_entries_of_an_indexed_base_are_scalars():
    entry = sp.Indexed("a", k)
    assert (entry * x).shape == (n,)
    assert se.diff(entry * a, x) == 2 * entry * x
    assert sp.Sum(entry * b, (k, 0, 2)).diff(x).shape == (n,)
    assert (entry * b).subs(k, 2) == sp.Indexed("a", 2) * b


# --- arrays in the place of symbols ---------------------------------------------------------------


@pytest.mark.parametrize("given", [np.array([1.0, 2.0, 4.0]), [1.0, 2.0, 4.0]])
def test_arrays_replace_tensors_in_stock_scalars(given):
    f = t * sp.sin(a) + x.mean()
    expected = 0.3 * np.sin(21.0) + 7 / 3
    for form in (f.subs(x, given), f.subs({x: given}), f.subs([(x, given)])):
        assert_close(se.lambdify([t], form)(0.3), expected)
    both = (t * b).subs({x: given, y: given, t: 2})
    assert_close(se.lambdify([], both)(), 42.0)
    assert (t * u).subs({t: 2, u: 3}) == 6


# --- algebra --------------------------------------------------------------------------------------

q = (x + t * y) @ (x + t * y)
line = (x + t * y) @ y


def test_linear_equations():
    for found in (
        sp.linsolve([(x + t * y + s * z) @ y, (x + t * y + s * z) @ z], [t, s]),
        {
            tuple(
                sp.solve([(x + t * y + s * z) @ y, (x + t * y + s * z) @ z], [t, s])[v]
                for v in (t, s)
            )
        },
    ):
        ((first, second),) = found
        residual = value(x) + value(first) * value(y) + value(second) * value(z)
        assert_close(residual @ value(y), 0.0)
        assert_close(residual @ value(z), 0.0)
    matrix, right = sp.linear_eq_to_matrix([line - 1, t - s], [t, s])
    assert matrix == sp.Matrix([[c, 0], [1, -1]])
    assert right == sp.Matrix([1 - b, 0])
    with pytest.raises(ValueError, match="nonlinear"):
        sp.linsolve([q], [t])


def test_entries_that_other_tensors_depend_on_are_not_solved_for():
    equation = a * x[0] - t
    for solve in (
        lambda: sp.solve(a - 1, x[0]),
        lambda: sp.solve([equation, s - 2], [x[0], s]),
        lambda: sp.solveset(equation, x[0]),
        lambda: sp.linsolve([x[0] - a], [x[0]]),
    ):
        with pytest.raises(se.TensorError, match="depends on it too"):
            solve()
    assert sp.solve(x[0] * x[1] - t, x[0]) == [t / x[1]]
    assert sp.solve(x[0] - c, x[0]) == [c]
    assert sp.solve(equation, a) == [t / x[0]]
    whole = se.TensorSymbol("x", 2)
    entries = (whole @ whole).as_explicit() - 1
    for solution in sp.solve(entries, whole[0]):
        assert sp.expand(entries.subs(whole[0], solution)) == 0
    assert not a.is_constant(x[0])
    assert a.is_constant(y[0])


def test_quadratic_equations():
    expected = np.sort_complex(np.roots([value(c), 2 * value(b), value(a) - 1]))
    for found in (
        sp.nonlinsolve([q - 1], [t]),
        sp.solveset(q - 1, t),
        sp.solve(q - 1, t),
        sp.roots(q - 1, t),
    ):
        roots = [root[0] if isinstance(root, sp.Tuple) else root for root in found]
        numbers = [number(root) for root in roots]
        np.testing.assert_allclose(np.sort_complex(numbers), expected, rtol=1e-9)


@pytest.mark.parametrize(
    "change",
    [sp.factor, sp.together, sp.cancel, sp.simplify, sp.ratsimp, lambda e: sp.apart(e, t)],
)
@pytest.mark.parametrize(
    "f",
    [
        a**2 * t**2 - b**2,
        1 / (a * t) + 1 / b,
        1 / (line * (t - b)),
        (q - a) / t,
        (a * t + b) / (t**2 - 1),
        (a**2 - b**2) / (a - b),
    ],
    ids=str,
)
def test_rational_functions_keep_their_values(change, f):
    for point in (0.3, -2.0):
        assert_close(value(change(f), t=point), value(f, t=point))


@pytest.mark.parametrize(
    "f",
    [
        1 / (a * t + b + 9),
        1 / (a * t**2 + c),
        1 / (a * t**2 + b * t + c),
        1 / q,
        sp.sin(a * t) * t,
        sp.exp(-a * t),
        t * sp.exp(b * t),
    ],
    ids=str,
)
def test_antiderivatives_differentiate_back(f):
    found = sp.integrate(f, t).diff(t)
    # Square roots of negative numbers are fine as long as they cancel.
    expected = value(f)
    assert abs(number(found.subs(t, 0.3)) - expected) < 1e-9 * abs(expected)


def test_differential_equations():
    f = sp.Function("f")
    solution = sp.dsolve(f(t).diff(t) - line * f(t)).rhs
    assert_close(value(solution.diff(t).subs("C1", 1)), value((line * solution).subs("C1", 1)))


def test_functions_without_series_are_refused():
    with pytest.raises(NotImplementedError, match="no power series of log"):
        se.log(t * x).sum().series(t, 0, 2)


# --- stock lambdify -------------------------------------------------------------------------------


def rows(points):
    return np.array([points, 0.0, 0.0]), np.array([1.0, 0.0, 0.0])


@pytest.mark.parametrize("point", [-800.0, -40.0, 0.0, 3.0, 40.0, 800.0])
@pytest.mark.parametrize("shared", [False, True])
def test_stable_forms_in_functions_that_sympy_writes(point, shared):
    sigmoid = se.sigmoid(x @ y)
    loss = -(t * sp.log(sigmoid) + (1 - t) * sp.log(1 - sigmoid))
    function = sp.lambdify([x, y, t], [loss, sp.log(1 - sigmoid), sigmoid], "scipy", cse=shared)
    with np.errstate(all="raise", under="ignore"):
        got, log_rest, chance = function(*rows(point), 0.3)
    expected = 0.3 * np.logaddexp(0, -point) + 0.7 * np.logaddexp(0, point)
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    np.testing.assert_allclose(log_rest, -np.logaddexp(0, point), rtol=1e-12)
    np.testing.assert_allclose(chance, scipy.special.expit(point), rtol=1e-12)


def test_logarithms_of_determinants_in_functions_that_sympy_writes():
    data = np.diag(np.linspace(1e-3, 2e-3, 300))
    exact = np.linalg.slogdet(data)[1]
    f = sp.log(se.det(X))
    for expr, expected in [
        (f, exact),
        (t * sp.log(t * se.det(X)) + 1, 0.3 * (exact + np.log(0.3)) + 1),
        (sp.Matrix([f, t]), np.array([[exact], [0.3]])),
    ]:
        np.testing.assert_allclose(sp.lambdify([X, t], expr)(data, 0.3), expected, rtol=1e-12)
    first, second = sp.lambdify([X, t], (f, [t * f]))(data, 0.3)
    np.testing.assert_allclose([first, second[0]], [exact, 0.3 * exact], rtol=1e-12)


def test_functions_without_tensors_are_written_as_ever():
    assert sp.lambdify([t], [t, {"a": 1}["a"], sp.Matrix([t])])(2)[0] == 2
    assert sp.lambdify([x, t], [1, t * x.mean()], cse=True)(np.ones(3), 2) == [1, 2.0]
    own = sp.lambdify([x], sp.Function("g")(a) * n, [{"g": lambda v: v + 1}, "numpy"])
    assert own(np.ones(4)) == 20.0


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (x @ X.inv() @ X @ y, b),
        (t + 3 * (X.inv() @ X).trace(), t + 3 * n),
        (se.det(X @ X.T) / se.det(X), se.det(X)),
        (sp.sin(x @ X.inv() @ X @ x) ** 2 + sp.cos(a) ** 2, 1),
        (sp.log(se.softmax(x).sum() + t), sp.log(1 + t)),
    ],
    ids=str,
)
def test_simplify_scalars(given, expected):
    assert sp.simplify(given) == given.simplify() == expected


def test_simplify_keeps_scalars_that_are_only_nested():
    form = x @ (X @ y)
    assert form.simplify() is form
