"""Stable forms of any number of terms and arguments, and of quotients with a removable singularity:
values, gradients and Hessians against mpmath, of tensors and scalars."""

import mpmath
import numpy as np
import pytest
import sympy
from libraries import LIBRARIES, allowances_for
from mpmath import mpf
from sympy import exp, log, symbols

import sympy_einsum as se
from sympy_einsum.rules.normal_form import stabilise

n = symbols("n", integer=True, positive=True)
z = se.TensorSymbol("z", n)
t = symbols("t", real=True)
al, be = symbols("alpha beta", positive=True)
AL, BE = 0.3, 2.5
POINTS = [-800.0, -40.0, -3.0, -1e-8, 0.0, 1e-300, 1e-8, 0.3, 10.0, 40.0, 800.0]


def normal(x):
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def step_of(f):
    """Return log(f(x + 1) - f(x)) of a distribution function, in the tail where it is small."""
    return lambda x: mpmath.log(f(x + 1) - f(x) if x < 0 else f(-x) - f(-x - 1))


def density(x):
    return mpmath.exp(-(x**2) / 2) / mpmath.sqrt(2 * mpmath.pi)


def logistic(x):
    return 1 / (1 + mpmath.exp(-x))


def log1p(x):
    return mpmath.log1p(mpmath.exp(x))


# SymPy's expression and mpmath's.
CASES = {
    "log(1 + a exp)": (
        lambda x: log(1 + al * exp(x)),
        lambda x: mpmath.log(1 + AL * mpmath.exp(x)),
    ),
    "log(1 + 2 exp)": (lambda x: log(1 + 2 * exp(x)), lambda x: mpmath.log(1 + 2 * mpmath.exp(x))),
    "log(a + b exp)": (
        lambda x: log(al + be * exp(-2 * x)),
        lambda x: mpmath.log(AL + BE * mpmath.exp(-2 * x)),
    ),
    "three terms": (
        lambda x: log(exp(x) + exp(2 * x) + 1),
        lambda x: mpmath.log(mpmath.exp(x) + mpmath.exp(2 * x) + 1),
    ),
    "three weighted terms": (
        lambda x: log(al * exp(x) + 2 * exp(-x) + be),
        lambda x: mpmath.log(AL * mpmath.exp(x) + 2 * mpmath.exp(-x) + BE),
    ),
    "a ratio": (
        lambda x: log(al * exp(x) / (1 + al * exp(x))),
        lambda x: -mpmath.log1p(mpmath.exp(-x) / AL),
    ),
    "a share": (lambda x: exp(x) / (1 + al * exp(x)), lambda x: 1 / (mpmath.exp(-x) + AL)),
    "an odd share": (lambda x: 1 / (al + exp(x)), lambda x: 1 / (AL + mpmath.exp(x))),
    "hyperbolic cosine": (lambda x: 2 / (exp(x) + exp(-x)), mpmath.sech),
    "log cosh": (lambda x: log((exp(x) + exp(-x)) / 2), lambda x: mpmath.log(mpmath.cosh(x))),
    "tanh": (lambda x: (exp(x) - exp(-x)) / (exp(x) + exp(-x)), mpmath.tanh),
    "tanh by exp(2 x)": (lambda x: (exp(2 * x) - 1) / (exp(2 * x) + 1), mpmath.tanh),
    "tanh by exp(-2 x)": (lambda x: (1 - exp(-2 * x)) / (1 + exp(-2 * x)), mpmath.tanh),
    "log ndtr": (lambda x: log(se.ndtr(x)), lambda x: mpmath.log(normal(x))),
    "log of a complement": (lambda x: log(1 - se.ndtr(x)), lambda x: mpmath.log(normal(-x))),
    "log by erf": (
        lambda x: log((1 + sympy.erf(x / sympy.sqrt(2))) / 2),
        lambda x: mpmath.log(normal(x)),
    ),
    "log erfc": (lambda x: log(sympy.erfc(x)), lambda x: mpmath.log(mpmath.erfc(x))),
    "scaled erfc": (
        lambda x: exp(x**2) * sympy.erfc(x),
        lambda x: mpmath.exp(x**2) * mpmath.erfc(x),
    ),
    "step of ndtr": (lambda x: log(se.ndtr(x + 1) - se.ndtr(x)), step_of(normal)),
    "step of erf": (
        lambda x: log(sympy.erf(x + 1) - sympy.erf(x)),
        step_of(lambda x: mpmath.erfc(-x)),
    ),
    "step of sigmoid": (
        lambda x: log(se.sigmoid(x + 1) - se.sigmoid(x)),
        step_of(lambda x: 1 / (1 + mpmath.exp(-x))),
    ),
    "exprel": (lambda x: (exp(x) - 1) / x, lambda x: mpmath.expm1(x) / x),
    "exprel from the left": (lambda x: (1 - exp(-x)) / x, lambda x: -mpmath.expm1(-x) / x),
    "log exprel": (lambda x: log((exp(x) - 1) / x), lambda x: mpmath.log(mpmath.expm1(x) / x)),
    "its reciprocal": (lambda x: x / (exp(x) - 1), lambda x: x / mpmath.expm1(x)),
    "Bose": (lambda x: x**3 / (exp(x) - 1), lambda x: x**3 / mpmath.expm1(x)),
    "second exprel": (
        lambda x: (exp(x) - 1 - x) / x**2,
        lambda x: (mpmath.exp(x) - 1 - x) / x**2,
    ),
    "a difference of poles": (
        lambda x: 1 / x - 1 / (exp(x) - 1),
        lambda x: 1 / x - 1 / mpmath.expm1(x),
    ),
    "Langevin": (lambda x: sympy.coth(x) - 1 / x, lambda x: mpmath.coth(x) - 1 / x),
    "sinc": (lambda x: sympy.sin(x) / x, lambda x: mpmath.sin(x) / x),
    "versine": (lambda x: (1 - sympy.cos(x)) / x**2, lambda x: 2 * (mpmath.sin(x / 2) / x) ** 2),
    "tanhc": (lambda x: sympy.tanh(x) / x, lambda x: mpmath.tanh(x) / x),
    "sinhc": (lambda x: sympy.sinh(x) / x, lambda x: mpmath.sinh(x) / x),
    "1/sinhc": (lambda x: x / sympy.sinh(x), lambda x: x / mpmath.sinh(x)),
    "log sinhc": (lambda x: log(sympy.sinh(x) / x), lambda x: mpmath.log(mpmath.sinh(x) / x)),
    "log(1 + x^2)/x^2": (lambda x: log(1 + x**2) / x**2, lambda x: mpmath.log1p(x**2) / x**2),
    "log(1 + exp)/exp": (lambda x: log(1 + exp(x)) / exp(x), lambda x: log1p(x) * mpmath.exp(-x)),
    "atan(x)/x": (lambda x: sympy.atan(x) / x, lambda x: mpmath.atan(x) / x),
    "1 - ndtr": (lambda x: 1 - se.ndtr(x), lambda x: normal(-x)),
    "half versine": (
        lambda x: (sympy.cosh(x) - 1) / x**2,
        lambda x: 2 * (mpmath.sinh(x / 2) / x) ** 2,
    ),
    "log of expected improvement": (
        lambda x: log(x * se.ndtr(x) + exp(-(x**2) / 2) / sympy.sqrt(2 * sympy.pi)),
        lambda x: mpmath.log(x * normal(x) + density(x)),
    ),
    "log of expected excess": (
        lambda x: log(exp(-(x**2) / 2) / sympy.sqrt(2 * sympy.pi) - x * (1 - se.ndtr(x))),
        lambda x: mpmath.log(density(x) - x * normal(-x)),
    ),
    "log softplus": (lambda x: log(log(1 + exp(x))), lambda x: mpmath.log(log1p(x))),
    "Gompertz": (lambda x: exp(-exp(x)), lambda x: mpmath.exp(-mpmath.exp(x))),
    "Gumbel": (lambda x: exp(-x - exp(-x)), lambda x: mpmath.exp(-x - mpmath.exp(-x))),
    "rate that overflows": (
        lambda x: 1 - exp(-exp(x)),
        lambda x: -mpmath.expm1(-mpmath.exp(x)),
    ),
    "both tails": (
        lambda x: log(1 - se.ndtr(x) ** 2),
        lambda x: mpmath.log(normal(-x)) + mpmath.log1p(normal(x)),
    ),
    "both tails of erf": (
        lambda x: log(1 - sympy.erf(x) ** 2),
        lambda x: mpmath.log(mpmath.erfc(x)) + mpmath.log(mpmath.erfc(-x)),
    ),
    "largest of three": (
        lambda x: log(1 - se.sigmoid(x) ** 3),
        lambda x: mpmath.log(logistic(-x)) + mpmath.log(1 + logistic(x) + logistic(x) ** 2),
    ),
    "reciprocal of erfcx": (
        lambda x: exp(-(x**2)) / sympy.erfc(x),
        lambda x: mpmath.exp(-(x**2)) / mpmath.erfc(x),
    ),
    "root over its argument": (
        lambda x: (sympy.sqrt(1 + x**2) - 1) / x,
        lambda x: x / (mpmath.sqrt(1 + x**2) + 1),
    ),
    "root over a square": (
        lambda x: al * (2 - sympy.sqrt(4 + x**2)) / x**2,
        lambda x: -AL / (mpmath.sqrt(4 + x**2) + 2),
    ),
    "Box and Cox": (
        lambda x: ((1 + al) ** (x / 10) - 1) / x,
        lambda x: mpmath.expm1(x / 10 * mpmath.log(1 + mpf(AL))) / x,
    ),
    "two exponentials": (
        lambda x: exp(-exp(x)) * exp(exp(x) - x),
        lambda x: mpmath.exp(-x),
    ),
}


def exact(function, point):
    """Return a function's value and two derivatives, by differences with many digits; at 0 those
    nearby."""
    with mpmath.workdps(900):
        h = mpf(10) ** -40
        x = mpf(point) or mpf(10) ** -160
        here, right, left = [function(x + d) for d in (0, h, -h)]
        found = (here, (right - left) / (2 * h), (right - 2 * here + left) / h**2)
        return [float(mpmath.re(value)) for value in found]


def of_tensor(expr):
    """Build the expression of a stock symbol for a tensor, by operators node by node."""
    if not expr.has(t):
        return expr
    args = [of_tensor(arg) for arg in expr.args]
    if expr == t:
        return z
    if expr.is_Add:
        return sum(args[1:], args[0])
    if expr.is_Mul:
        product = args[0]
        for arg in args[1:]:
            product = product * arg
        return product
    if expr.is_Pow and expr.base is not sympy.E:
        return args[0] ** args[1]
    return se.exp(args[-1]) if isinstance(expr, exp) else se.elementwise(expr.func, *args)


# Values overflow at some points, and are then compared with none.
@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning")
@pytest.mark.parametrize("name", CASES)
def test_value_and_two_derivatives(name):
    f, function = CASES[name]
    expected = np.array([exact(function, point) for point in POINTS])
    tensor, scalar = of_tensor(f(t)), f(t)
    derivative = se.gradient(tensor.sum(), z)
    rows = se.lambdify([z, al, be], [tensor, derivative, se.gradient(derivative.sum(), z)])
    found = {"tensor": np.array(rows(np.array(POINTS), AL, BE)).T}
    one = se.lambdify([t, al, be], [scalar, se.diff(scalar, t), se.diff(scalar, t, 2)])
    found["scalar"] = np.array([one(point, AL, BE) for point in POINTS])
    is_known = np.isfinite(expected)
    for kind, values in found.items():
        np.testing.assert_allclose(
            values[is_known], expected[is_known], rtol=1e-8, atol=1e-10, err_msg=kind
        )


# f(c x)/c^k, finite at c = 0.
MULTIPLES = {
    "Gompertz": (lambda c, x: (se.exp(c * x) - 1) / c, lambda c, x: mpmath.expm1(c * x) / c),
    "Vasicek": (lambda c, x: (1 - se.exp(-c * x)) / c, lambda c, x: -mpmath.expm1(-c * x) / c),
    "square": (
        lambda c, x: (1 - se.exp(-c * x)) ** 2 / c**2,
        lambda c, x: (mpmath.expm1(-c * x) / c) ** 2,
    ),
    "sine": (lambda c, x: se.sin(2 * c * x) / c, lambda c, x: mpmath.sin(2 * c * x) / c),
    "cosine": (
        lambda c, x: (se.cos(c * x) - 1) / c**2,
        lambda c, x: -2 * mpmath.sin(c * x / 2) ** 2 / c**2,
    ),
    "root": (
        lambda c, x: se.sinh(se.sqrt(c) * x) / se.sqrt(c),
        lambda c, x: mpmath.sinh(mpmath.sqrt(c) * x) / mpmath.sqrt(c),
    ),
    "logarithm": (lambda c, x: se.log(1 + c * x) / c, lambda c, x: mpmath.log1p(c * x) / c),
    "Box and Cox": (lambda c, x: (x**c - 1) / c, lambda c, x: mpmath.expm1(c * mpmath.log(x)) / c),
}


@pytest.mark.parametrize("name", MULTIPLES)
def test_quotient_of_a_function_of_a_multiple(name):
    """By a stock scalar, of a tensor, of its product with another, of a contraction, of scalars."""
    f, function = MULTIPLES[name]
    x, y = se.TensorSymbol("x", n, positive=True), se.TensorSymbol("y", n)
    one = symbols("one", positive=True)
    points, weights = np.array([0.4, 1.0, 2.5]), np.array([0.5, -2.0, 3.0])
    forms = [f(al, x), y * f(al, x), (y * f(al, x)).sum(), f(al, one)]
    rows = se.lambdify([al, x, y, one], [[e, se.diff(e, al), se.diff(e, al, 2)] for e in forms])
    for c in (0.3, 1e-3, 1e-9, 1e-15):
        expected = np.array([exact(lambda c, p=p: function(c, p), c) for p in points]).T
        of_entries = [expected, expected * weights, expected @ weights, expected[:, 2]]
        # The second derivative of a function of a root isn't one of the same family.
        k = 2 if name == "root" else 3
        for found, values in zip(rows(c, points, weights, 2.5), of_entries, strict=True):
            np.testing.assert_allclose(np.array(found)[:k], values[:k], rtol=1e-9, atol=1e-13)


def test_quotients_that_no_function_cancels():
    c, x = symbols("c", positive=True), se.TensorSymbol("x", n)
    for expr in (se.cos(c * x) / c, se.exp(-x / c) / c, se.sin(c * x) / c**2, se.sin(c + x) / c):
        assert stabilise([expr])[0] == [expr]


@pytest.mark.parametrize("kind", ["tensor", "scalar"])
def test_angle_of_a_rotation(kind):
    """The angle over its sine, from the cosine; SymPy writes the sine as a root."""
    f = se.acos(t) / sympy.sqrt(1 - t**2)
    e, v = (f, t) if kind == "scalar" else (of_tensor(f).sum(), z)
    rows = se.lambdify([v], [e, se.diff(e, v)])
    second = se.lambdify([v], se.diff(e, v, 2))
    for point in (-0.5, 0.3, 1 - 1e-6, 1 - 1e-12):
        with mpmath.workdps(60):
            x = mpf(point)
            found = [mpmath.diff(lambda x: mpmath.acos(x) / mpmath.sqrt(1 - x**2), x, k)
                     for k in range(3)]  # fmt: skip
        given = point if kind == "scalar" else np.array([point])
        values = np.array([float(np.sum(value)) for value in (*rows(given), second(given))])
        np.testing.assert_allclose(values, np.array(found, dtype=float), rtol=1e-8)
    identity = rows(1.0 if kind == "scalar" else np.ones(1))
    np.testing.assert_allclose([float(np.sum(value)) for value in identity], [1, -1 / 3])


# What exceeds the range of floating-point numbers on the way.
@pytest.mark.filterwarnings("ignore:(overflow|divide by zero) encountered:RuntimeWarning")
@pytest.mark.parametrize("kind", ["tensor", "scalar"])
@pytest.mark.parametrize("failures", [0, 3])
def test_complementary_log_log(kind, failures):
    """The log-likelihood of outcomes of a rate that overflows or underflows: two derivatives."""
    f = log(1 - exp(-exp(t))) + failures * log(exp(-exp(t)))
    points = np.array([-800.0, -40.0, -1.0, 3.0, 700.0 if failures else 800.0])
    if kind == "tensor":
        tensor = of_tensor(f)
        derivative = se.gradient(tensor.sum(), z)
        rows = se.lambdify(z, [tensor, derivative, se.gradient(derivative.sum(), z)])(points)
    else:
        one = se.lambdify(t, [f, se.diff(f, t), se.diff(f, t, 2)])
        rows = np.transpose([one(point) for point in points])

    def function(x):
        return mpmath.log(-mpmath.expm1(-mpmath.exp(x))) - failures * mpmath.exp(x)

    expected = np.transpose([exact(function, point) for point in points])
    np.testing.assert_allclose(rows, expected, rtol=1e-12)


@pytest.mark.parametrize("kind", ["tensor", "scalar"])
@pytest.mark.parametrize("factor", [1, 1.0, al**2])
def test_a_root_less_a_number(factor, kind):
    """The pseudo-Huber loss of a small residual."""
    f = factor * (sympy.sqrt(1 + (t / al) ** 2) - 1)
    arg, expr = (z, of_tensor(f)) if kind == "tensor" else (t, f)
    compiled = se.lambdify([arg, al], expr)
    weight = AL**2 if factor == al**2 else 1
    for x in (1e-9, 1e-3, 1.0, 1e9):
        x = np.array([x]) if kind == "tensor" else x
        expected = weight * (x / AL) ** 2 / (np.sqrt(1 + (x / AL) ** 2) + 1)
        np.testing.assert_allclose(compiled(x, AL), expected, rtol=1e-14)


@pytest.mark.parametrize("kind", ["tensor", "scalar"])
@pytest.mark.parametrize("name", ["ndtr", "erf"])
def test_hazard_rates(name, kind):
    """A density over the survival function, in the tail: two derivatives."""
    f, function = {
        "ndtr": (
            exp(-(t**2) / 2) / (1 - se.ndtr(t)),
            lambda x: mpmath.exp(-(x**2) / 2) / normal(-x),
        ),
        "erf": (
            exp(-(t**2)) / (1 - sympy.erf(t)),
            lambda x: mpmath.exp(-(x**2)) / mpmath.erfc(x),
        ),
    }[name]
    points = np.array([-5.0, 0.0, 3.0, 8.5, 40.0])
    if kind == "tensor":
        tensor = of_tensor(f)
        derivative = se.gradient(tensor.sum(), z)
        rows = se.lambdify(z, [tensor, derivative, se.gradient(derivative.sum(), z)])(points)
    else:
        one = se.lambdify(t, [f, se.diff(f, t), se.diff(f, t, 2)])
        rows = np.transpose([one(point) for point in points])
    expected = np.transpose([exact(function, point) for point in points])
    np.testing.assert_allclose(rows, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("backend", [name for name in LIBRARIES if name != "numpy"])
@pytest.mark.parametrize("names", [["three weighted terms", "a ratio", "tanh", "step of ndtr"],
                                   ["Langevin", "its reciprocal", "tanhc", "log sinhc"]],
                         ids=["sums", "quotients"])  # fmt: skip
def test_every_library(backend, names):
    library = LIBRARIES[backend]()
    parts = [of_tensor(CASES[name][0](t)) for name in names]
    outputs = [own for part in parts for own in (part, se.gradient(part.sum(), z))]
    points = np.array([-30.0, -1e-8, 0.0, 0.7, 25.0])
    wanted = se.lambdify([z, al, be], outputs)(points, AL, BE)
    with allowances_for(backend):
        found = se.lambdify([z, al, be], outputs, backend)(library.into(points), AL, BE)
        for own, expected in zip(found, wanted, strict=True):
            np.testing.assert_allclose(library.back(own), expected, rtol=2e-6, atol=1e-13)


# Infinity minus infinity, which several outputs share, is computed outside of the choice.
@pytest.mark.filterwarnings(
    "ignore:(invalid value|divide by zero|overflow) encountered:RuntimeWarning"
)
def test_thresholds_at_infinity():
    """Ordered probit and logit: values, gradient and Hessian."""
    a, b = se.tensors("a b", n)
    above = np.array([np.inf, 1.0, -2.0, 40.0, 21.0])
    below = np.array([3.0, -np.inf, -3.0, 20.0, 19.0])
    for name in ("ndtr", "sigmoid"):
        F = {"ndtr": se.ndtr, "sigmoid": se.sigmoid}[name]
        f = se.log(F(a - z) - F(b - z)).sum()
        compiled = se.lambdify([a, b, z], [f, se.gradient(f, z), se.hessian(f, z)])
        at = np.array([0.5, 0.5, 0.5, 0.0, 0.0])
        value, gradient, hessian = compiled(above, below, at)
        G = {"ndtr": normal, "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x))}[name]

        def own(k, x, G=G):
            top, bottom = above[k] - x, below[k] - x
            if bottom > 0:
                top, bottom = -bottom, -top
            return mpmath.log(
                (G(top) if top < mpmath.inf else 1) - (G(bottom) if bottom > -mpmath.inf else 0)
            )

        with mpmath.workdps(200):
            h = mpf(10) ** -30
            rows = [[own(k, mpf(x) + d) for d in (0, h, -h)] for k, x in enumerate(at)]
            assert value == pytest.approx(float(sum(row[0] for row in rows)))
            first = [float((p - q) / (2 * h)) for _, p, q in rows]
            second = [float((p - 2 * c + q) / h**2) for c, p, q in rows]
        np.testing.assert_allclose(gradient, first, rtol=1e-10)
        np.testing.assert_allclose(np.diag(hessian), second, rtol=1e-9)


def test_differences_of_gamma_functions():
    """The negative binomial distribution near Poisson's, and binomial coefficients of large n."""
    y, mu = se.TensorSymbol("y", n), se.TensorSymbol("mu", n, positive=True)
    size = 1 / al
    pmf = se.gammaln(y + size) - se.gammaln(size) - se.gammaln(y + 1)
    pmf = (pmf + y * se.log(al * mu / (1 + al * mu)) - size * se.log(1 + al * mu)).sum()
    compiled = se.lambdify([y, mu, al], [pmf, se.diff(pmf, al)])
    counts, means = [3.0, 0.0, 7.0], [2.0, 0.5, 6.0]

    def reference(a):
        return mpmath.fsum(
            mpmath.loggamma(k + 1 / a) - mpmath.loggamma(1 / a) - mpmath.loggamma(k + 1)
            + k * mpmath.log(a * m / (1 + a * m)) - mpmath.log(1 + a * m) / a
            for k, m in zip(counts, means, strict=True)
        )  # fmt: skip

    for point in (1e-8, 1e-4, 0.5, 10.0):
        with mpmath.workdps(100):
            expected = [float(reference(mpf(point))), float(mpmath.diff(reference, mpf(point)))]
        np.testing.assert_allclose(compiled(counts, means, point), expected, rtol=1e-7)
    count, k = symbols("N k", positive=True)
    coefficient = se.gammaln(count + 1) - se.gammaln(k + 1) - se.gammaln(count - k + 1)
    found = se.lambdify([count, k], [coefficient, se.diff(coefficient, count)])(1e15, 3.0)
    np.testing.assert_allclose(found, [float(mpmath.log(mpmath.binomial(10**15, 3))), 3e-15])


@pytest.mark.parametrize("kind", ["tensor", "scalar"])
def test_entropies_at_zero(kind):
    Y, P = se.TensorSymbol("Y", n, nonnegative=True), se.TensorSymbol("P", n, positive=True)
    at, beside = np.array([0.0, 1.0, 2.0]), np.array([0.5, 0.5, 1.0])
    known = {Y * se.log(Y): [0, 0, 2 * np.log(2)], Y * se.log(Y / P): [0, np.log(2), 2 * np.log(2)]}
    known |= {Y**2 * se.log(Y): [0, 0, 4 * np.log(2)], P * Y * se.log(Y): [0, 0, 2 * np.log(2)]}
    share = Y / Y.sum()
    known |= {
        Y * (se.log(Y) - se.log(P)): [0, np.log(2), 2 * np.log(2)],
        P * Y**2 * (2 * se.log(Y) - P @ P + 1): [0, -0.25, 8 * np.log(2) - 2],
        share * se.log(share): [0, -np.log(3) / 3, 2 * np.log(2 / 3) / 3],
        Y * (se.log(Y) - se.log(Y.sum())): [0, -np.log(3), 2 * np.log(2 / 3)],
    }
    if kind == "tensor":
        for expr, expected in known.items():
            np.testing.assert_allclose(se.lambdify([Y, P], expr)(at, beside), expected)
        assert se.lambdify(Y, Y @ se.log(Y))(at) == pytest.approx(2 * np.log(2))
        divergence = (Y * (se.log(Y) - se.log(P)) - Y + P).sum()
        assert se.lambdify([Y, P], divergence)(at, beside) == pytest.approx(3 * np.log(2) - 1)
        return
    u, v = symbols("u", nonnegative=True), symbols("v", positive=True)
    for expr in (u * log(u), u * log(u / v), v * u**2 * log(u), u * (log(u) - log(v) - 1)):
        assert se.lambdify([u, v], expr)(0.0, 0.5) == 0


def test_derivatives_of_entropies_at_zero():
    Y, P = se.TensorSymbol("Y", n, nonnegative=True), se.TensorSymbol("P", n, positive=True)
    at, beside = np.array([0.0, 1.0, 2.0]), np.array([0.5, 0.5, 1.0])
    likelihood, entries = (Y * se.log(Y / P.sum())).sum(), se.xlogy(Y, Y / P).sum()
    known = {
        se.gradient(likelihood, P): np.full(3, -1.5),
        se.hessian(likelihood, P): np.full((3, 3), 0.75),
        se.gradient(entries, P): -at / beside,
        se.hessian(entries, P): np.diag(at / beside**2),
    }
    for derivative, expected in known.items():
        np.testing.assert_allclose(se.lambdify([Y, P], derivative)(at, beside), expected)


def student(v, loggamma, log, log1p):
    """Return the logarithm of Student's density at 2, up to a constant, by its degrees of
    freedom."""
    tail = (v + 1) / 2 * log1p(4 / v)
    return loggamma((v + 1) / 2) - loggamma(v / 2) - log(v) / 2 - tail


def student_derivative(v):
    return mpmath.diff(lambda v: student(v, mpmath.loggamma, mpmath.log, mpmath.log1p), v)


v = symbols("v", positive=True)
# Functions, others that share a part with them, a point, and mpmath's function.
SHARED = {
    "log(1 + v)": (log(1 + v), [1 / (1 + v)], 1e-17, mpmath.log1p),
    "log(1 + v^2)": (log(1 + v**2), [(1 + v**2) ** -2], 1e-9, lambda v: mpmath.log1p(v * v)),
    "log(1 - exp(-v))": (
        log(1 - exp(-v)),
        [exp(-v)],
        1e-17,
        lambda v: mpmath.log(-mpmath.expm1(-v)),
    ),
    "1 - exp(-exp(-v))": (
        1 - exp(-exp(-v)),
        [exp(-v), exp(-exp(-v))],
        40.0,
        lambda v: -mpmath.expm1(-mpmath.exp(-v)),
    ),
    "Student's t": (
        se.diff(student(v, sympy.loggamma, log, lambda u: log(1 + u)), v),
        [],
        1e6,
        student_derivative,
    ),
}


@pytest.mark.parametrize("name", SHARED)
def test_accuracy_of_shared_subexpressions(name):
    """A value is as accurate beside expressions that share a part with it as it is alone."""
    f, others, point, function = SHARED[name]
    with mpmath.workdps(60):
        expected = pytest.approx(float(function(mpf(point))), rel=1e-9, abs=0)
    assert se.lambdify(v, f)(point) == expected
    assert se.lambdify(v, [f, *others])(point)[0] == expected
