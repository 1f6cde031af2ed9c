"""Power series, Taylor polynomials and limits, against derivatives of JAX's and values of NumPy's
near the point."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from oracles import assert_close
from scipy import linalg, special
from sympy import O, Rational, Symbol, exp, log, oo, sin, sqrt, symbols

import sympy_einsum as se

n, m = symbols("n m", integer=True, positive=True)
t = Symbol("t")
x, y = se.tensors("x y", n)
A, B = se.tensors("A B", n, n)
F = se.TensorSymbol("F", m, n)
I = se.eye(n)
RNG = np.random.default_rng(11)
VALUES = {
    x: RNG.normal(size=3),
    y: RNG.normal(size=3),
    A: 0.5 * RNG.normal(size=(3, 3)),
    B: RNG.normal(size=(3, 3)) + 2 * np.eye(3),
    F: RNG.normal(size=(4, 3)),
}


def value(e, at=None, values=None):
    values = values or VALUES
    arguments = list(values)
    numbers = list(values.values())
    if at is not None:
        arguments, numbers = [*arguments, t], [*numbers, at]
    return np.asarray(se.lambdify(arguments, e)(*numbers))


# An expression, and the function of t and the values in NumPy.
SMOOTH = {
    "polynomial": (
        (x + t * y) @ (x + t * y) * A + t**2 * B,
        lambda t, x, y, A, B, F: (x + t * y) @ (x + t * y) * A + t**2 * B,
    ),
    "entrywise": (
        se.exp(t * x) * se.sin(y + t**2 * x),
        lambda t, x, y, A, B, F: np.exp(t * x) * np.sin(y + t**2 * x),
    ),
    "quotient": (
        x / (2 + t * y**2) + se.tanh(F @ x * t).sum(),
        lambda t, x, y, A, B, F: x / (2 + t * y**2) + np.tanh(F @ x * t).sum(),
    ),
    "inverse": (
        F @ se.inv(B + t * A + t**2 * I),
        lambda t, x, y, A, B, F: F @ np.linalg.inv(B + t * A + t**2 * np.eye(3)),
    ),
    "inverse of sums": (
        se.inv(I - sin(t) * A) @ x,
        lambda t, x, y, A, B, F: np.linalg.inv(np.eye(3) - np.sin(t) * A) @ x,
    ),
    "stack of inverses": (
        se.inv(t * se.einsum("i,jk->ijk", x, A) + se.einsum("i,jk->ijk", y + 3, B)),
        lambda t, x, y, A, B, F: np.linalg.inv(
            t * np.einsum("i,jk->ijk", x, A) + np.einsum("i,jk->ijk", y + 3, B)
        ),
    ),
    "determinant": (se.det(B + t * A), lambda t, x, y, A, B, F: np.linalg.det(B + t * A)),
    "determinant of 1 + t A": (
        se.det(I + t * A) * x,
        lambda t, x, y, A, B, F: np.linalg.det(np.eye(3) + t * A) * x,
    ),
    "logdet": (
        se.logdet(B @ B.T + t * (A + A.T)),
        lambda t, x, y, A, B, F: np.linalg.slogdet(B @ B.T + t * (A + A.T))[1],
    ),
    "softmax": (
        se.softmax(F @ x + t * F @ y),
        lambda t, x, y, A, B, F: special.softmax(F @ x + t * F @ y),
    ),
    "softmax at zero": (
        se.softmax(t * A, axis=1) @ y,
        lambda t, x, y, A, B, F: special.softmax(t * A, axis=1) @ y,
    ),
    "logsumexp": (
        se.logsumexp(t * F, axis=1) + se.logsumexp(F @ x + t * F @ y),
        lambda t, x, y, A, B, F: (
            special.logsumexp(t * F, axis=1) + special.logsumexp(F @ x + t * F @ y)
        ),
    ),
    "expm": (
        se.expm(t * A + t**2 * B) @ x,
        lambda t, x, y, A, B, F: linalg.expm(t * A + t**2 * B) @ x,
    ),
    "expm of a sum": (
        se.expm(B + t * A),
        lambda t, x, y, A, B, F: linalg.expm(B + t * A),
    ),
    "norm": (
        se.norm(x + t * y) * y,
        lambda t, x, y, A, B, F: np.linalg.norm(x + t * y) * y,
    ),
    "functions of scalars": (
        sqrt(1 + t * (x @ x)) * log(2 + sin(t * (x @ y))) * y,
        lambda t, x, y, A, B, F: np.sqrt(1 + t * (x @ x)) * np.log(2 + np.sin(t * (x @ y))) * y,
    ),
    "relu": (
        se.relu(x + t * y) + se.Abs(y - t * x),
        lambda t, x, y, A, B, F: np.maximum(x + t * y, 0) + abs(y - t * x),
    ),
    "maximum": (
        se.max(x + t * y) * se.sigmoid(t * x),
        lambda t, x, y, A, B, F: np.max(x + t * y) * special.expit(t * x),
    ),
    "eigenvalues": (
        se.eigvalsh(B + B.T + t * (A + A.T)),
        lambda t, x, y, A, B, F: np.linalg.eigvalsh(B + B.T + t * (A + A.T)),
    ),
    "cholesky": (
        se.cholesky(B @ B.T + t * I),
        lambda t, x, y, A, B, F: np.linalg.cholesky(B @ B.T + t * np.eye(3)),
    ),
    "pieces": (
        se.ravel(F * exp(t))[1:] + se.concatenate([t * x, F @ y, F @ x])[0],
        lambda t, x, y, A, B, F: (F * np.exp(t)).ravel()[1:] + t * x[0],
    ),
    "a loop": (
        se.scan(lambda c, _: (se.tanh(A @ c + t * y), None), x, None, 3)[0],
        lambda t, x, y, A, B, F: three_steps(t, x, y, A),
    ),
}


def three_steps(t, x, y, A):
    for _ in range(3):
        x = np.tanh(A @ x + t * y)
    return x


def taylor_coefficients(function, point, count, radius=0.04):
    """The first coefficients of a polynomial through values near a point."""
    nodes = np.polynomial.chebyshev.chebpts1(11)
    values = np.array([np.asarray(function(point + radius * node)) for node in nodes])
    polynomial = np.linalg.solve(np.vander(nodes, increasing=True), values.reshape(11, -1))
    shape = values.shape[1:]
    return [polynomial[k].reshape(shape) / radius**k for k in range(count)]


AWAY = ["inverse", "softmax", "determinant", "functions of scalars", "relu", "pieces", "a loop"]


@pytest.mark.parametrize(
    ("name", "point"),
    [*[(name, 0) for name in SMOOTH], *[(name, Rational(3, 10)) for name in AWAY]],
    ids=str,
)
def test_coefficients(name, point):
    e, function = SMOOTH[name]
    count = 3 if point or name in ("a loop", "cholesky", "maximum", "eigenvalues") else 4
    found = se.series(e, t, point, count)
    assert getattr(found, "shape", ()) == getattr(e, "shape", ())
    numbers = list(VALUES.values())
    expected = taylor_coefficients(lambda at: function(at, *numbers), float(point), count)
    actual = taylor_coefficients(
        lambda at: value(found, float(point) + at) + np.zeros_like(expected[0]), 0.0, count, 1.0
    )
    for one, other in zip(actual, expected, strict=True):
        assert_close(one, other, 1e-6)


@pytest.mark.parametrize(
    ("e", "function"),
    [
        (se.sin(t * x) / t, lambda t, x: np.sin(t * x) / t),
        ((se.exp(t * x) - 1 - t * x) / t**2, lambda t, x: (np.exp(t * x) - 1 - t * x) / t**2),
        (se.log(1 + t * x) / t, lambda t, x: np.log1p(t * x) / t),
        ((se.cos(t * x).sum() - n) / t**2 * x, lambda t, x: (np.cos(t * x).sum() - 3) / t**2 * x),
        (x / (se.exp(t * x) - 1) * t, lambda t, x: x / np.expm1(t * x) * t),
    ],
    ids=["sin", "exp", "log", "cos", "bose"],
)
def test_removable_singularities(e, function):
    found = se.series(e, t, 0, 6)
    small = 0.02
    assert_close(value(found, small), function(small, VALUES[x]), 1e-8)
    assert_close(value(se.limit(e, t, 0)), value(found, 0.0), 1e-12)


def test_forms():
    assert se.series(A, t) == A
    assert se.series(t**5 * A, t) == se.Zeros(n, n)
    assert se.series(t**2 * A + t * B, t, n=2) == t * B
    assert se.equal(se.series(se.inv(I - t * A), t, n=3), I + t * A + t**2 * A @ A)
    assert se.equal(se.series(se.expm(t * A), t, n=3), I + t * A + t**2 * A @ A / 2)
    trace = se.trace
    assert se.equal(
        se.series(se.det(I + t * A), t, n=3),
        1 + t * trace(A) + t**2 * (trace(A) ** 2 - trace(A @ A)) / 2,
    )
    assert se.equal(
        se.series(se.logdet(B + t * A), t, n=2), se.logdet(B) + t * trace(se.inv(B) @ A)
    )
    assert se.equal(se.series(se.softmax(t * x), t, n=2), (1 + t * (x - x.mean())) / n)
    assert se.series(sin(t), t, n=4) == t - t**3 / 6
    assert se.series(se.exp(t * x), t, n=2).removeO() == 1 + t * x


def test_singular_matrices_have_determinants():
    singular = se.Constant([[1, 2], [2, 4]])
    X = se.TensorSymbol("X", 2, 2)
    numbers = np.array([[0.3, -1.0], [0.7, 0.2]])
    found = se.lambdify([X, t], se.series(se.det(singular + t * X), t, n=3))(numbers, 0.5)
    assert_close(found, np.linalg.det(np.array([[1, 2], [2, 4]]) + 0.5 * numbers), 1e-10)
    assert se.equal(se.series(se.det(t * X), t, n=3), t**2 * se.det(X))
    assert se.equal(se.series(se.det(t * X + t**2 * se.eye(2)), t, n=3), t**2 * se.det(X))


def test_series_of_scalars_in_sympy():
    f = se.logdet(I + t * A)
    trace = se.trace
    expected = t * trace(A) - t**2 * trace(A @ A) / 2
    series = sympy.series(f, t, 0, 3)
    assert series.getO() == O(t**3)
    assert se.equal(series.removeO(), expected)
    found = sympy.series(exp(f), t, 0, 2).removeO()
    assert sympy.expand(found) == 1 + t * trace(A)
    assert sympy.series(t * x, t) == t * x
    assert (se.exp(t * x)).series(t, 0, 2) == 1 + t * x
    assert sympy.limit(f / t, t, 0) == trace(A)
    assert sympy.limit((se.exp(t * x).sum() - n) / t, t, 0) == x.sum()


# --- limits ---------------------------------------------------------------------------------------


def test_limits_of_tensors():
    for limit in (se.limit, sympy.limit, lambda e, *at: e.limit(*at)):
        assert limit(t * x, t, 0) == se.Zeros(n)
        assert se.equal(limit((se.expm(t * A) @ x - x) / t, t, 0), A @ x)
        assert limit(se.softmax(x / t), t, oo) == se.Ones(n) / n
        assert se.equal(limit(se.inv(A + I / t), t, oo), se.inv(A))
        assert limit(se.inv(A + I / t), t, 0) == se.Zeros(n, n)
        assert se.equal(
            limit((se.inv(B + t * A) - se.inv(B)) / t, t, 0), -se.inv(B) @ A @ se.inv(B)
        )
        assert limit(se.exp(t * x) / (1 + t), t, 0) == se.Ones(n)
    assert sympy.Limit(t * x + y, t, 0) == y
    assert se.limit(x + y, t, 1) == x + y
    # Ridge regression without a ridge, and with an infinite one.
    ridge = se.inv(F.T @ F + t * I) @ F.T @ se.TensorSymbol("b", m)
    assert (
        se.equal(se.limit(ridge, t, 0), se.inv(F.T @ F) @ F.T @ se.TensorSymbol("b", m))
        is not False
    )
    assert se.limit(ridge, t, oo) == se.Zeros(n)


def test_one_sided_limits():
    assert se.limit(se.Abs(t * x) / t, t, 0) == se.Abs(x)
    assert se.limit(se.Abs(t * x) / t, t, 0, "-") == -se.Abs(x)
    assert se.limit(se.sign(t * x), t, 0, "-") == -se.sign(x)
    assert se.equal(se.limit(se.relu(t * x) / t, t, 0), (x + se.Abs(x)) / 2)
    assert se.equal(se.limit(se.norm(t * x) / t, t, 0), se.norm(x))
    assert se.limit((1 + x @ x) / t**2, t, 0) == oo
    with pytest.raises(se.UnsupportedError, match="kink"):
        se.limit(se.Abs(t * x) / t, t, 0, "+-")


# --- Taylor polynomials ---------------------------------------------------------------------------

a = se.TensorSymbol("a", n)


@pytest.mark.parametrize("degree", [0, 1, 2, 3])
def test_taylor_polynomials(degree):
    f = se.exp(F @ x).sum() + (x @ A @ x) ** 2
    found = se.taylor(f, x, a, degree)
    values = {**VALUES, a: np.array([0.2, -0.1, 0.4])}
    Fv, Av = VALUES[F], VALUES[A]
    step = values[x] - values[a]

    def along(s):
        v = values[a] + s * step
        return np.exp(Fv @ v).sum() + (v @ Av @ v) ** 2

    expected = sum(taylor_coefficients(along, 0.0, degree + 1))
    assert_close(value(found, values=values), expected, 1e-7)
    if degree == 2:
        h = x - a
        gradient, hessian = se.gradient(f, x).subs(x, a), se.hessian(f, x).subs(x, a)
        model = f.subs(x, a) + gradient @ h + h @ hessian @ h / 2
        assert_close(value(found, values=values), value(model, values=values), 1e-9)


def test_forms_of_taylor_polynomials():
    assert se.equal(se.taylor(x @ A @ x, x, a, 2), x @ A @ x)
    assert se.taylor(x @ y, x, se.Zeros(n), 1) == x @ y
    assert se.equal(se.taylor(se.inv(A), A, I, 1), 2 * I - A)
    assert se.equal(se.taylor(se.det(A), A, I, 1), 1 + se.trace(A) - n)
    assert se.equal(
        se.taylor(se.logdet(A), A, I, 2), se.trace(A - I) - se.trace((A - I) @ (A - I)) / 2
    )
    assert se.taylor(sin(t), t, 0, 3) == t - t**3 / 6
    assert se.taylor(y, x, a) == y


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (
            lambda: se.series(se.inv(t * A), t),
            r"inv\(t\*A\) at t = 0: it has a pole",
        ),
        (lambda: se.series(x / (t - 1), t, 1), "at t = 1: it has a pole"),
        (lambda: se.series(se.log(t * x), t), "logarithm"),
        (lambda: se.series(se.sqrt(t * x), t, n=1), "fractional power"),
        (lambda: se.series(t * se.sqrt(t * x), t, n=1), "fractional power"),
        (lambda: se.series(se.exp(-x / t), t), "singularity"),
        (lambda: se.series(se.relu(t * x), t), "relu.* kink"),
        (lambda: se.series(se.elu(t * x), t), "kink"),
        (lambda: se.series(se.Abs((t - 2) * x), t, 2), "Abs.* at t = 2: it has a kink"),
        (lambda: se.series(se.Max(t * x, t * y), t), "kink"),
        (lambda: se.series(se.sign(t * x), t), "jump|kink"),
        (lambda: se.series(se.norm(t * x), t), "norm"),
        (lambda: se.series(se.max(t * x), t), "max"),
        (lambda: se.series(se.eigvalsh(I + t * (A + A.T)), t), "eigenvalues or entries are equal"),
        (lambda: se.series(se.inv(se.outer(x, x) + t * I), t), r"outer\(x, x\) is singular"),
        (lambda: se.series(se.logdet(t * A), t), "logdet"),
        (lambda: se.series(se.det(t * A), t), "of order n"),
        (lambda: se.series(se.softmax(x / t), t), "x/t is infinite"),
        (lambda: se.series(x, t, oo), "at oo; put 1/t"),
        (lambda: se.series(x, n), "axis length"),
        (lambda: se.series(x, x), "scalar symbol"),
        (lambda: se.series(x, t, 0, 0), "number of powers"),
        (lambda: se.series(x, t, t), "scalar without t"),
        (lambda: se.limit(x / t, t, 0), "isn't finite: it grows like x/t"),
        (lambda: se.limit(t * x, t, oo), "isn't finite"),
        (lambda: se.limit(x, t, 0, "above"), r"dir is '\+'"),
        (lambda: se.taylor(x @ x, x, y[:2]), "shape"),
        (lambda: se.taylor(x @ x, x, x + y), "depends on x"),
        (lambda: se.taylor(x @ x, x @ x, y), "in a symbol"),
        (lambda: se.taylor(x @ x, x, y, -1), "degree"),
        (lambda: se.taylor(se.norm(x), x, se.Zeros(n)), "norm.* kink"),
    ],
)
def test_singular_points_are_refused(made, message):
    with pytest.raises(se.TensorError, match=message):
        made()


def test_deep_chains_are_expanded():
    e = x
    for _ in range(200):
        e = se.tanh(e + t * y)
    assert_close(value(se.series(e, t, n=2), 0.0), value(e, 0.0), 1e-10)
