"""Derivatives at the points named by a Piecewise, and by arguments that it doesn't depend on
there."""

from __future__ import annotations

import time

import numpy as np
import pytest
import sympy
from scipy import special
from sympy import (
    Abs,
    And,
    Eq,
    Ge,
    Gt,
    Le,
    Lt,
    Ne,
    Or,
    Piecewise,
    Rational,
    S,
    exp,
    log,
    oo,
    sin,
    symbols,
)
from sympy.core.function import ArgumentIndexError

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.core import derivative

u, v, w = symbols("u v w", real=True)
n = symbols("n", integer=True, positive=True)
a, b = se.tensors("a b", n)

# The function, the point, and the gradient there.
DERIVATIVES = {
    "removable": (Piecewise((1, Eq(u, 0)), (sin(u) / u, True)), 0, 0),
    "removable, the other way round": (Piecewise((sin(u) / u, Ne(u, 0)), (1, True)), 0, 0),
    "a formula that holds there too": (Piecewise((0, Eq(u, 0)), (u * exp(u), True)), 0, 1),
    "by symmetry of the equation": (Piecewise((0, Eq(0, u)), (u * exp(u), True)), 0, 1),
    "away from 0": (Piecewise((2, Eq(u, 1)), ((u**2 - 1) / (u - 1), True)), 1, 1),
    "a multiple": (Piecewise((0, Eq(3 * u - 6, 0)), (exp(u) - exp(2), True)), 2, exp(2)),
    "an absolute value": (Piecewise((1, Eq(Abs(u), 0)), ((exp(u) - 1) / u, True)), 0, S.Half),
    "a square": (Piecewise((1, Eq(u**2, 0)), ((exp(u) - 1) / u, True)), 0, S.Half),
    "a root that isn't known": (Piecewise((0, Eq(u**2 - u, 0)), (u**2 - u, True)), 1, 1),
    "two points": (Piecewise((0, Or(Eq(u, 0), Eq(u, 1))), (u**2 - u, True)), 0, -1),
    "three pieces": (Piecewise((exp(u), u < 0), (1 + sin(u), u > 0), (1, True)), 0, 1),
    "a kink": (Piecewise((0, u < 0), (u, u > 0), (0, True)), 0, 0),
    "a jump": (Piecewise((-1, u < 0), (1, u > 0), (0, True)), 0, 0),
    "one side": (Piecewise((u**2, Le(u, 0)), (sin(u), True)), 0, 0),
    "infinite": (Piecewise((0, Eq(u, 0)), (u * log(u), True)), 0, -oo),
    "both sides infinite": (Piecewise((0, Eq(u, 0)), (1 / u, True)), 0, -oo),
    "closed from both sides": (Piecewise((0, And(Ge(u, 0), Le(u, 0))), (2 * u, True)), 0, 2),
    "not at a point": (Piecewise((u, Lt(u, 1)), (u**2, Gt(u, 1)), (1, True)), 3, 6),
    "an interval": (Piecewise((3 * u, Eq(sympy.floor(u), 0)), (u**2, True)), 0, 3),
}


@pytest.mark.parametrize("name", DERIVATIVES)
@pytest.mark.filterwarnings("ignore")
def test_derivative(name):
    function, point, first_derivative = DERIVATIVES[name]
    compute = se.lambdify([a], se.gradient(se.elementwise(sympy.Lambda(u, function), a).sum(), a))
    found = compute(np.array([float(point)]))
    np.testing.assert_allclose(found, [float(first_derivative)], rtol=1e-12, atol=1e-15)
    # Beside the point it is that of the formulas.
    beside = compute(np.array([point + 0.25, point - 0.25]))
    for value, own in zip(beside, (point + 0.25, point - 0.25), strict=True):
        expected = complex(function.diff(u).subs(u, own).evalf())
        assert value == pytest.approx(expected.real) or np.isnan(value)


def test_a_branch_that_does_not_depend_on_the_variable_stays():
    function = Piecewise((v, Eq(u, 0)), (u * v**2, True))
    assert derivative(function, v) == Piecewise((1, Eq(u, 0)), (2 * u * v, True))
    assert derivative(function, u) == v**2


def test_a_point_that_is_another_argument():
    function = Piecewise((1, Eq(u, v)), (sin(u - v) / (u - v), True))
    gradient = derivative(function, u)
    assert gradient.subs({u: 2, v: 2}) == 0
    assert float(gradient.subs({u: 2, v: 1})) == pytest.approx(
        float(sympy.sinc(w).diff(w).subs(w, 1))
    )


def test_second_derivatives_have_limits_too():
    function = Piecewise((1, Eq(u, 0)), (sin(u) / u, True))
    assert derivative(derivative(function, u), u).subs(u, 0) == -sympy.Rational(1, 3)


def gradients(expr, *values):
    return se.lambdify([a, b], [se.gradient(expr.sum(), a), se.gradient(expr.sum(), b)])(
        *map(np.array, values)
    )


POINTS = {
    "xlogy": (lambda: special.xlogy(a, b), [0.0, 2.0], [3.0, 3.0], [np.log(3)] * 2, [0, 2 / 3]),
    "xlog1py": (lambda: special.xlog1py(a, b), [0.0, 2.0], [3.0, 3.0], [np.log(4)] * 2, [0, 0.5]),
    "rel_entr": (lambda: special.rel_entr(a, b), [0.0, 3.0], [3.0, 3.0], [-np.inf, 1], [0, -1]),
    "heaviside": (lambda: snp.heaviside(a, b), [0.0, 2.0], [0.5, 0.5], [0, 0], [1, 0]),
    "power": (lambda: a**b, [0.0, 2.0], [2.0, 3.0], [0, 12], [0, 8 * np.log(2)]),
    "fmax": (lambda: np.fmax(a, b), [np.nan, 2.0], [3.0, 2.0], [0, 0.5], [1, 0.5]),
    "fmin": (lambda: np.fmin(a, b), [1.0, np.nan], [3.0, 2.0], [1, 0], [0, 1]),
}  # fmt: skip


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.filterwarnings("ignore")
def test_gradients_at_the_points_of_two_arguments(name):
    build, at_a, at_b, by_a, by_b = POINTS[name]
    found = gradients(build(), at_a, at_b)
    np.testing.assert_allclose(found[0], by_a, rtol=1e-12)
    np.testing.assert_allclose(found[1], by_b, rtol=1e-12)


def test_the_second_derivative_of_a_power_by_its_exponent():
    by_b = se.gradient(se.gradient((a**b).sum(), b).sum(), b)
    found = se.lambdify([a, b], by_b)(np.array([0.0, 2.0]), np.array([2.0, 3.0]))
    np.testing.assert_allclose(found, [0, 8 * np.log(2) ** 2])
    assert "0.0" not in str(by_b)


def test_a_number_that_is_none_is_passed_over():
    found = se.lambdify([a, b], [np.fmax(a, b), np.fmin(a, b)])
    pairs = np.array([np.nan, 1.0, np.nan]), np.array([2.0, np.nan, np.nan])
    np.testing.assert_array_equal(found(*pairs), [np.fmax(*pairs), np.fmin(*pairs)])


def test_outside_of_the_domain():
    points = np.array([-0.5, -2.0])
    compute = se.lambdify([a], [se.factorial(a), se.LambertW(a), se.loggamma(a)])
    with np.errstate(all="ignore"):
        found = compute(points)
    np.testing.assert_allclose(found[0], [np.sqrt(np.pi), np.nan])
    assert np.isnan(found[1:]).all()


def test_the_indicator():
    first_derivative = se.gradient(se.relu(a).sum(), a)
    assert first_derivative == se.step(a)
    assert se.gradient(first_derivative.sum(), a) == se.Zeros(n)
    assert (sympy.latex(first_derivative), str(first_derivative)) == (
        r"\left[a > 0\right]",
        "step(a)",
    )
    assert sympy.pretty(first_derivative) == "[a > 0]"
    found = se.lambdify([a], first_derivative)(np.array([-1.0, 0.0, 2.0, np.nan]))
    np.testing.assert_array_equal(found, [0, 0, 1, np.nan])
    assert se.lambdify([a], first_derivative)(np.ones(2, np.float32)).dtype == np.float32


def test_stock_lambdify_has_the_special_functions():
    t = symbols("t", real=True)
    compute = sympy.lambdify(t, [se.ndtr(t), se.exprel(t), se.step(t), se.xlogy(t, 2)], "scipy")
    assert compute(0.0) == [0.5, 1, 0, 0]


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "dask"])
@pytest.mark.filterwarnings("ignore")
def test_derivatives_of_a_power_at_the_base_0(backend):
    """t b**(t - 1) is 0 at t = 0, and t (t - 1) b**(t - 2) at t = 1 too; 0**t is flat for t > 0."""
    bases, exponents = np.array([0.0, 0, 0, 0, 2]), np.array([0.0, 1, 2, 0.5, 3])
    wanted = {
        "b": [0, 1, 0, np.inf, 12],
        "t": [0, 0, 0, 0, 8 * np.log(2)],
        "bb": [0, 0, 2, -np.inf, 12],
        "tt": [0, 0, 0, 0, 8 * np.log(2) ** 2],
    }
    base, exponent = symbols("base exponent", real=True)
    power, A, T = (a**b).sum(), *se.tensors("A T", 1, n)
    by_a, by_b = se.gradient(power, [a, b])
    tensors = [by_a, by_b, se.gradient(by_a.sum(), a), se.gradient(by_b.sum(), b)]
    vectors = [np.asarray(v) for v in _computed([a, b], tensors, backend, bases, exponents)]
    rows = [bases[None], exponents[None]]
    (matrix,) = _computed([A, T], [se.gradient((A**T).sum(), A)], backend, *rows)
    np.testing.assert_allclose(np.asarray(matrix)[0], wanted["b"], rtol=1e-5)
    scalars = []
    for place in (base, exponent):
        scalars += [sympy.diff(base**exponent, place), se.diff(base**exponent, place)]
        scalars += [sympy.diff(base**exponent, place, 2)]
    compute = se.lambdify([base, exponent], scalars, backend=backend)
    found = np.array([compute(*map(float, p)) for p in zip(bases, exponents, strict=True)]).T
    for value, name in zip([*vectors, *found], [*wanted, *"bb", "bb", *"tt", "tt"], strict=True):
        np.testing.assert_allclose(value, wanted[name], rtol=1e-5)


def _computed(args, exprs, backend, *values):
    if backend == "torch":
        values = [pytest.importorskip("torch").tensor(value) for value in values]
    return se.lambdify(args, exprs, backend=backend)(*values)


def test_derivatives_by_arguments_that_have_none():
    for function, place in ((se.exprel(u, 2), 2), (se.powlog(u, v, 1), 3), (se.ndtr(u), 2)):
        with pytest.raises(ArgumentIndexError):
            function.fdiff(place)
    assert se.exprel(u, 2).fdiff(1) == se.exprel(u, 3)
    with pytest.raises(se.UnsupportedError, match="exprel"):
        derivative(se.exprel(u, v), v)


# What a removable singularity leaves, and what it is divided by; too long for SymPy's limits.
LONG = [
    (exp(u) * sin(u) - u - u**2, 3, [Rational(1, 3), 0]),
    ((exp(u) - 1 - u) * exp(-u), 2, [S.Half, -Rational(1, 3), Rational(1, 4)]),
    (sympy.atan(u) - sympy.asin(u), 3, [-S.Half, 0, Rational(1, 4)]),
    (sympy.tanh(u) * exp(u**2) * sympy.cosh(u) - sin(u), 3, [Rational(4, 3), 0]),
    (sympy.sqrt(1 + u * v) - 1, 1, [v / 2, -(v**2) / 8, v**3 / 8]),
    (log(1 + u**2) * exp(-v * u), 2, [1, -v, v**2 - 1]),
]


@pytest.mark.parametrize("number", range(len(LONG)))
def test_limits_of_long_formulas(number):
    """Orders of a pole are removed by power series, in bounded time."""
    above, power, wanted = LONG[number]
    function = Piecewise((wanted[0], Eq(u, 0)), (above / u**power, True))
    began = time.process_time()
    for gradient in wanted[1:]:
        function = derivative(function, u)
        assert sympy.expand(function.subs(u, 0) - gradient) == 0
    assert time.process_time() - began < 30


def test_functions_without_limit_are_nan_in_bounded_time():
    root = sympy.sqrt(Abs(u))
    for above in (root * exp(sin(root)) * log(1 + root) * sympy.cosh(u), log(u) * sin(1 / u)):
        began = time.process_time()
        gradient = derivative(Piecewise((0, Eq(u, 0)), (above / u, True)), u)
        assert gradient.subs(u, 0) is S.NaN
        assert time.process_time() - began < 30
