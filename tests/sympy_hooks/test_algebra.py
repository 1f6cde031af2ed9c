"""SymPy's algebra in ordinary symbols inside tensor products; expand and factor."""

import itertools

import numpy as np
import pytest
import sympy
from oracles import assert_close, data_for, evaluate, k, m, n
from sympy import Poly, Rational, S, cos, exp, log, sin, symbols

import sympy_einsum as se

t, u = symbols("t u")
x, y, z, d, b = se.tensors("x y z d b", n)
A, B = se.tensors("A B", n, n)
C, c = se.TensorSymbol("C", (m, n)), se.TensorSymbol("c", (m,))
T = se.TensorSymbol("T", (n, m, k))
DATA = data_for([x, y, z, d, b, A, B, C, c, T])
line = x @ (y - t * x)


def value(expr, **symbols):
    data = {**DATA, t: symbols.get("t", 0.3), u: symbols.get("u", -1.7)}
    return evaluate(expr, data)


# Scalars that are polynomials in t with the symbol deep inside, and their degrees.
POLYNOMIALS = {
    "dot": (line, 1),
    "square": ((x + t * y) @ (x + t * y), 2),
    "sum of squares": (((C @ (x + t * d) - c) ** 2).sum(), 2),
    "quadratic form": ((x + t * d) @ A @ (x + t * d), 2),
    "norm squared": (se.norm(x + t * y) ** 2, 2),
    "trace": (se.trace(A @ (B + t * A) @ (A - t**2 * B)), 3),
    "cube": (((x - t * y) ** 3).sum(), 3),
    "entries": ((x + t * y)[0] * (x - t * z)[-1], 2),
    "transposed": ((t * A + B).T @ x @ y, 1),
    "reshaped": (se.einsum("i,i->", (t * T + T**2).reshape(-1), T.reshape(-1)), 1),
    "diagonal": ((t * A).diagonal() @ x, 1),
    "order 3": (se.einsum("ijk,i,j,k->", T, x + t * y, C @ (x - t * d), T[0, 0, :]), 2),
    "power of a scalar": (line**2 * t + u * (t * x) @ y, 3),
    "mean": ((x + t * y).mean() ** 2, 2),
    "two symbols": ((u * x + t * y) @ (x - u * t * z), 2),
    "determinant": (se.det(t * se.TensorSymbol("Q", (3, 3)) / t) + line, 1),
}
DATA[se.TensorSymbol("Q", (3, 3))] = np.diag([1.0, 2.0, 3.0])
polynomials = pytest.mark.parametrize("name", POLYNOMIALS)


@polynomials
def test_scalars_are_the_polynomials_that_they_are(name):
    f, degree = POLYNOMIALS[name]
    expanded = sympy.expand(f)
    assert expanded.is_polynomial(t)
    assert f.is_polynomial(t)
    assert sympy.degree(f, t) == Poly(f, t).degree() == degree
    assert not any(t in part.free_symbols for part in Poly(f, t).coeffs())
    for point in (0.3, -2.0, 0.0):
        assert_close(value(expanded, t=point), value(f, t=point))
        assert_close(value(Poly(f, t).as_expr(), t=point), value(f, t=point))


@polynomials
def test_calculus_in_the_symbol(name):
    f, degree = POLYNOMIALS[name]
    collected = sympy.collect(sympy.expand(f), t)
    assert_close(value(collected), value(f))
    assert_close(value(sympy.integrate(f, t).diff(t)), value(f))
    whole = sympy.integrate(f, (t, 0, 2))
    points, weights = np.polynomial.legendre.leggauss(5)
    assert_close(
        value(whole), sum(w * value(f, t=1 + p) for p, w in zip(points, weights, strict=True))
    )
    series = sympy.series(f, t, 0, degree + 1).removeO()
    assert_close(value(series), value(f))
    assert_close(value(sympy.series(f, t, 0, 1).removeO()), value(f, t=0.0))
    assert_close(value(sympy.limit(f, t, 2)), value(f, t=2.0))
    top = Poly(f, t).coeff_monomial(t**degree)
    assert_close(value(sympy.limit(f / t**degree, t, sympy.oo)), value(top))


@polynomials
def test_roots(name):
    f, degree = POLYNOMIALS[name]
    if degree > 2:
        return
    found = sympy.solve(f, t)
    coefficients = [complex(value(p)) for p in Poly(f, t).all_coeffs()]
    expected = sorted(np.roots(coefficients), key=lambda r: (r.real, r.imag))
    data = {**DATA, u: -1.7}
    arguments = list(data)
    roots = []
    for root in found:
        real = se.lambdify(arguments, root.subs(sympy.I, 0) if root.has(sympy.I) else root)
        with np.errstate(all="ignore"):
            roots.append(real(*data.values()))
    assert 1 <= len(found) <= degree
    if len(found) == degree and all(abs(r.imag) < 1e-12 for r in expected):
        assert_close(np.sort(np.real(roots)), np.real(expected))


# --- solving --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        x @ A @ x / 2 - b @ x,
        ((C @ x - c) ** 2).sum(),
        (C @ x - c) @ (C @ x - c),
        se.norm(C @ x - c) ** 2 / 2 + Rational(1, 10) * se.norm(x) ** 2,
        x @ A @ x + 3,
    ],
    ids=str,
)
def test_line_searches(f):
    """The step along a direction that minimises a quadratic function."""
    (step,) = sympy.solve(sympy.diff(f.subs(x, x + t * d), t), t)
    gradient, hessian = se.gradient(f, x), se.hessian(f, x)
    expected = -(gradient @ d) / (d @ hessian @ d)
    assert_close(value(step), value(expected))


def test_solutions():
    f = x @ x
    assert sympy.solve(line, t) == [x @ y / f]
    assert sympy.solve(x @ (y - exp(t) * x), t) == [log(x @ y / f)]
    assert sympy.solve([line - u, u - 1], [t, u]) == {t: (x @ y) / f - 1 / f, u: 1}
    assert set(sympy.solve(line * (t - 1), t)) == {S.One, x @ y / f}
    assert sympy.solve(line / (t - 1), t) == [x @ y / f]
    assert sympy.solve(exp(line) - 1, t) == [x @ y / f]
    assert sympy.solve(sympy.Eq(x @ (t * y), x @ (u * y)), t) == [u]
    assert sympy.solveset(line, t) == {x @ y / f}
    assert sympy.roots(line, t) == {x @ y / f: 1}
    assert sympy.solve(sympy.diff(log(1 + (x + t * d) @ (x + t * d)), t), t) == [-(d @ x) / (d @ d)]
    norm = (C @ x) @ (C @ x)
    assert sympy.solve(t * norm - 1, t) == [1 / norm]


FUNCTIONS = [
    exp(t * x).sum() - 1,
    t * exp(t * x).sum() - 1,
    se.inv(t * A + B).trace() - 1,
    se.softmax(t * x) @ y,
    se.logdet(A + t * B),
    exp(t * x).sum(),
    line + se.tanh(t * x).sum(),
]


@pytest.mark.parametrize("f", FUNCTIONS, ids=str)
def test_solutions_are_not_denied(f):
    """An empty list of solutions would be a wrong answer."""
    with pytest.raises(NotImplementedError):
        sympy.solve(f, t)
    with pytest.raises(sympy.PolynomialError):
        Poly(f, t)
    assert not f.is_polynomial(t)


@pytest.mark.parametrize("f", FUNCTIONS, ids=str)
def test_series_and_limits_of_functions(f):
    series = sympy.series(f, t, 0, 3)
    assert series.getO() == sympy.O(t**3)
    for power in range(3):
        found = sympy.diff(series.removeO(), t, power)
        derivative = sympy.diff(f, t, power) if power else f
        assert_close(value(found, t=0), value(derivative, t=0), 1e-8)
    for point in (0, 1):
        assert_close(value(sympy.limit(f, t, point)), value(f, t=point), 1e-8)
    try:
        limit = sympy.limit(f, t, sympy.oo)
    except (NotImplementedError, ValueError):
        return
    assert isinstance(limit, sympy.Limit) or limit == -1 or limit.is_infinite


def test_series_of_functions_of_them():
    for f, order in (
        (exp(line), 4),
        (sin(t) / (1 + (x + t * y) @ (x + t * y)), 3),
        (sympy.sqrt(se.norm(x + t * y)), 3),
        (1 / (x @ (y + t * x)), 3),
    ):
        series = sympy.series(f, t, 0, order).removeO()
        derivative = 0
        for power in range(order):
            derivative = sympy.diff(f, t, power) if power else f
            assert_close(value(sympy.diff(series, t, power), t=0), value(derivative, t=0), 1e-8)
    assert sympy.limit((line - x @ y) / t, t, 0) == -(x @ x)
    assert sympy.limit(sin(t) * (x @ (y + t * x)) / t, t, 0) == x @ y


def test_other_functions_of_the_symbol_stand_outside_too():
    f = x @ (y + sin(t) * x) + (exp(t) * A @ x) @ y
    expected = x @ y + sin(t) * (x @ x) + exp(t) * sympy.expand((A @ x) @ y)
    assert sympy.simplify(sympy.expand(f) - expected) == 0
    assert_close(
        value(sympy.integrate(sympy.expand(f), (t, 0, 1))),
        value(x @ y) + (1 - np.cos(1)) * value(x @ x) + (np.e - 1) * value((A @ x) @ y),
    )
    assert sympy.apart(1 / (x @ (t * x + t**2 * x)), t).is_Add
    assert sympy.cancel(x @ (t * x + t**2 * x) / t) == t * (x @ x) + x @ x


def test_sums_without_a_symbol_stay_together():
    """Only what the algebra in t needs is multiplied out."""
    residual = (C @ x - c) @ (C @ x - c)
    assert sympy.expand(t * residual) == t * residual
    assert sympy.solve(t * residual - 1, t) == [1 / residual]
    assert sympy.expand(residual.subs(x, x + t * d)).coeff(t, 0) == residual


def test_bounds():
    """Expressions that would have too many terms, or are too deep, stay as they are, in bounded
    time."""
    v = x
    for _ in range(60):
        v = v * (v + t * y)
    assert sympy.expand(v.sum()) is not None
    v = x
    for _ in range(3000):
        v = se.tanh(v + t * y)
    assert sympy.expand(v.sum()) == v.sum()
    s = symbols("s:40")
    wide = sum((w * y for w in s), x)
    assert_length = se.einsum("i,i,i,i->", wide, wide, wide, wide)
    assert sympy.expand(assert_length) is assert_length


# --- integrals of tensors -------------------------------------------------------------------------


def test_integrals_of_tensors_keep_their_axes():
    assert sympy.integrate(t * x, (t, 0, 2)) == 2 * x
    assert sympy.Integral(sin(t) * A, (t, 0, 1)).doit() == (1 - cos(1)) * A
    assert sympy.integrate(A @ (x + t * y), t).shape == (n,)
    assert_close(value(sympy.integrate(A @ (x + t * y), (t, 0, 2))), value(2 * A @ (x + y)))
    assert sympy.Integral(exp(t) * x, (t, 0, 1)).diff(x).shape == (n, n)
    square = t * A
    assert sympy.integrate(se.det(square), (t, 0, 1)) == se.det(A) / (n + 1)
    assert sympy.integrate(t**2 * se.inv(square), (t, 0, 2)) == 2 * se.inv(A)
    inside = sympy.Integral(exp(t * x), (t, 0, 1))
    assert sympy.integrate(exp(t * x), (t, 0, 1)) is inside.doit() is inside
    assert isinstance(sympy.Integral(exp(t * x).sum(), t), sympy.Integral)


# --- expand and factor ----------------------------------------------------------------------------

PRODUCTS = {
    "vector": ((A + B) @ x, A @ x + B @ x),
    "scalar": (x @ (y + z), x @ y + x @ z),
    "both sides": ((x + y) @ A @ (x - z), x @ A @ x - x @ A @ z + y @ A @ x - y @ A @ z),
    "Hadamard": ((x + y) * z, x * z + y * z),
    "entry square": ((x + y) ** 2, x**2 + 2 * x * y + y**2),
    "matrix square": ((A + B) @ (A + B), A @ A + A @ B + B @ A + B @ B),
    "outer": (
        se.einsum("i,j->ij", x + y, z),
        se.einsum("i,j->ij", x, z) + se.einsum("i,j->ij", y, z),
    ),
    "symbol": ((t + 1) * (x + y), t * x + t * y + x + y),
    "scalar factor": ((x @ y + 1) * x, (x @ y) * x + x),
    "square of a scalar": ((1 + x @ y) ** 2, 1 + 2 * (x @ y) + (x @ y) ** 2),
    "transposed": ((A + B).T @ x, A.T @ x + B.T @ x),
    "nested": (A @ (x + B @ (y + z)), A @ x + A @ B @ y + A @ B @ z),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_expand_multiplies_out(name):
    product, expected = PRODUCTS[name]
    expanded = se.expand(product)
    assert getattr(expanded, "shape", ()) == getattr(product, "shape", ())
    assert_close(value(expanded), value(product))
    assert se.expand(expanded) == expanded
    assert se.equal(expanded, expected)
    if expected.is_Add or isinstance(expected, se.TensorAdd):
        terms = getattr(expected, "operands", expected.args)
        assert len(getattr(expanded, "operands", expanded.args)) == len(terms)
    assert sympy.expand(product) == expanded


@pytest.mark.parametrize("name", PRODUCTS)
def test_factor_keeps_the_value(name):
    product, expected = PRODUCTS[name]
    assert_close(value(se.factor(expected)), value(product))


def test_factor_takes_common_factors_out():
    assert se.factor(x @ y + x @ z) == x @ (y + z)
    assert se.factor(A @ x + B @ x) == (A + B) @ x
    assert se.factor(x @ A @ y + x @ B @ y) == x @ (A + B) @ y
    assert se.factor(t * (x @ A @ y) + t * (x @ B @ y)) == t * (x @ (A + B) @ y)
    assert se.factor(x * z + y * z) == (x + y) * z
    assert se.factor(t * x + t * y) == t * (x + y)
    assert se.factor(t**2 * (x @ x) + 2 * t * (x @ x) + x @ x) == (t + 1) ** 2 * (x @ x)
    assert se.factor(t**2 - 1) == (t - 1) * (t + 1)
    assert se.factor(t * (x @ x) + t * u) == t * (x @ x + u)
    assert se.equal(se.factor(t * (x @ y) + u * (x @ z) + t * u), t * u + x @ (t * y + u * z))
    assert se.factor(x @ y + A.trace()) == x @ y + A.trace()
    assert se.expand(x) is se.factor(x) is x
    assert se.expand((t + 1) ** 2) == t**2 + 2 * t + 1


def test_random_products_keep_their_value():
    """Products of sums with symbols at random places, expanded, factored and as polynomials."""
    rng = np.random.default_rng(5)
    vectors, matrices = [x, y, z, d, b], [A, B]

    def scalar():
        return [S.One, t, u, t * u, 1 - t, t**2, Rational(2, 3), x @ y][rng.integers(8)]

    def vector(depth):
        if not depth:
            return scalar() * vectors[rng.integers(5)]
        kind = rng.integers(5)
        if kind == 0:
            return vector(depth - 1) + vector(depth - 1)
        if kind == 1:
            return vector(depth - 1) * vector(depth - 1)
        if kind == 2:
            return (matrices[rng.integers(2)] + scalar() * matrices[rng.integers(2)]) @ vector(
                depth - 1
            )
        if kind == 3:
            return vector(depth - 1) ** int(rng.integers(2, 4))
        return scalar() * vector(depth - 1) - vector(depth - 1)

    for _ in itertools.repeat(None, RANDOM):
        v, w = vector(2), vector(2)
        for e in (v @ w, v * w):
            expected = value(e)
            scale = np.abs(expected).max() + 1
            for form in (se.expand(e), sympy.expand(e), se.factor(e), se.factor(se.expand(e))):
                assert_close(np.asarray(value(form)) / scale, np.asarray(expected) / scale, 1e-8)


RANDOM = 6


def test_latex_of_powers_of_functions_of_a_symbol():
    assert sympy.latex(t / line**2) == sympy.latex(t / (x @ (y - z)) ** 2).replace("z", "t x")
    assert sympy.latex(line**2) == sympy.latex((x @ (y - z)) ** 2).replace("z", "t x")
