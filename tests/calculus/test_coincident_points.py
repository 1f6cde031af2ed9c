"""Derivatives of kernels at coincident points, by points, scales and projections: against mpmath,
with jitter that amplifies rounding errors."""

import mpmath
import numpy as np
import pytest
from oracles import assert_close
from sympy import Rational, exp, lambdify, sqrt, symbols

import sympy_einsum as se

n, d = symbols("n d", integer=True, positive=True)
scale = symbols("s", positive=True)
X, weights = se.TensorSymbol("X", n, d), se.TensorSymbol("V", n, n)
scales = se.TensorSymbol("l", d, positive=True)
rng = np.random.default_rng(0)
POINTS = rng.normal(size=(4, 3)) + 10
POINTS[3] = POINTS[1]
WEIGHTS = rng.normal(size=(4, 4))
MATERN = {
    1: lambda r, exp, sqrt: exp(-r),
    3: lambda r, exp, sqrt: (1 + sqrt(3) * r) * exp(-sqrt(3) * r),
    5: lambda r, exp, sqrt: (1 + sqrt(5) * r + r**2 * 5 / 3) * exp(-sqrt(5) * r),
}


def kernel(Z, order, jitter):
    squares = ((Z[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2)
    return MATERN[order](se.sqrt(squares + Rational(jitter)), se.exp, sqrt)


def exact(rows, order, jitter):
    rows = [[mpmath.mpf(a) for a in row] for row in rows]
    jitter = mpmath.mpf(jitter)

    def entry(one, other):
        squares = mpmath.fsum([(a - b) ** 2 for a, b in zip(one, other, strict=True)])
        return MATERN[order](mpmath.sqrt(squares + jitter), mpmath.exp, mpmath.sqrt)

    return np.array([[entry(one, other) for other in rows] for one in rows])


def derivatives(function, point):
    """Return gradient and Hessian by the entries of a point, by finite differences."""
    h, places = mpmath.mpf(10) ** -40, range(len(point))

    def at(*steps):
        moved = [
            mpmath.mpf(a) + h * sum(d for k, d in steps if k == i)
            for i, a in zip(places, point, strict=True)
        ]
        return function(moved)

    def second(i, j):
        ends = at((i, 1), (j, 1)) + at((i, -1), (j, -1)) - at((i, 1), (j, -1)) - at((i, -1), (j, 1))
        return ends / (4 * h**2)

    gradient = [(at((i, 1)) - at((i, -1))) / (2 * h) for i in places]
    return gradient, [[second(i, j) for j in places] for i in places]


SCALED = {
    "divided": (X / scale, lambda x, s: x / s),
    "multiplied": (X * scale, lambda x, s: x * s),
    "by a logarithm": (X * exp(-scale), lambda x, s: x * mpmath.exp(-s)),
    "to a power": ((X**2) ** scale, lambda x, s: (mpmath.mpf(x) ** 2) ** s),
    "in a sine": (se.sin(X * scale), lambda x, s: mpmath.sin(x * s)),
}


# Without jitter, as textbooks write it, if the scale can be taken out of the differences.
JITTERS = [(name, jitter) for name in SCALED for jitter in ("1e-12", "1e-30", "1e-36")]
JITTERS += [(name, "0") for name in ("divided", "multiplied", "by a logarithm")]


@pytest.mark.parametrize("order", MATERN)
@pytest.mark.parametrize(("name", "jitter"), JITTERS)
def test_by_a_length_scale(name, order, jitter):
    rows, function = SCALED[name]
    K = kernel(rows, order, jitter)
    total = (weights * K).sum()
    outputs = [d for f in (K, total) for d in (se.diff(f, scale), se.diff(f, scale, 2))]
    found = se.lambdify([X, scale, weights], outputs)(POINTS, 0.7, WEIGHTS)
    with mpmath.workdps(130):
        (first,), ((second,),) = derivatives(
            lambda s: exact([[function(a, s[0]) for a in row] for row in POINTS], order, jitter),
            [0.7],
        )
        expected = [first, second, (WEIGHTS * first).sum(), (WEIGHTS * second).sum()]
    for k, (own, wanted) in enumerate(zip(found, expected, strict=True)):
        wanted = np.array(wanted, dtype=float)
        np.testing.assert_allclose(own, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())
        if k < 2:
            assert own[1, 3] == 0
            assert not np.diag(own).any()


@pytest.mark.parametrize("jitter", ["1e-12", "1e-36"])
@pytest.mark.parametrize("order", MATERN)
@pytest.mark.parametrize(
    ("rows", "function"),
    [
        (X / scales[None, :], lambda x, s: x / s),
        (X * scales[None, :], lambda x, s: x * s),
        (X * se.exp(-scales)[None, :], lambda x, s: x * mpmath.exp(-s)),
    ],
    ids=["divided", "multiplied", "by logarithms"],
)
def test_by_a_scale_of_each_feature(rows, function, order, jitter):
    total = (weights * kernel(rows, order, jitter)).sum()
    outputs = [se.gradient(total, scales), se.hessian(total, scales)]
    at = [0.7, 1.1, 1.9]
    found = se.lambdify([X, scales, weights], outputs)(POINTS, at, WEIGHTS)

    def reference(s):
        scaled = [[function(a, b) for a, b in zip(row, s, strict=True)] for row in POINTS]
        return (WEIGHTS * exact(scaled, order, jitter)).sum()

    with mpmath.workdps(130):
        expected = derivatives(reference, at)
    for own, wanted in zip(found, expected, strict=True):
        wanted = np.array(wanted, dtype=float)
        np.testing.assert_allclose(own, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())


def test_a_value_is_computed_as_it_is_written():
    """Scales are taken out of differences for derivatives only: in values they would multiply more
    entries."""
    squares = ((X / scale)[:, None, :] - (X / scale)[None, :, :]) ** 2
    source = se.lambdify([X, scale], squares.sum(axis=2)).source
    assert "(1 / s) * X  # (n, d)" in source


W = se.TensorSymbol("W", d, 2)
DIRECTION = se.TensorSymbol("U", n, d)
RADIAL = {
    **MATERN,
    7: lambda r, exp, sqrt: (
        (1 + sqrt(7) * r + r**2 * 14 / 5 + r**3 * 7 * sqrt(7) / 15) * exp(-sqrt(7) * r)
    ),
    "distance": lambda r, exp, sqrt: r,
    "inverse distance": lambda r, exp, sqrt: 1 / r,
    "Gaussian": lambda r, exp, sqrt: exp(-(r**2)),
    "rational quadratic": lambda r, exp, sqrt: 1 / (1 + r**2),
}
TWICE = np.vstack([POINTS, POINTS[1]])  # three rows coincide
MANY = rng.normal(size=(5, 5))
PROJECTION = rng.normal(size=(3, 2))


def radial(Z, name, jitter):
    squares = ((Z[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2)
    return RADIAL[name](se.sqrt(squares + Rational(jitter)), se.exp, sqrt)


def exact_derivatives(name, jitter, projection):
    """Return gradient and Hessian, by W and by Z, of the weighted sum of a radial function of the
    rows of Z = X W."""
    u = symbols("u", positive=True)
    radius = RADIAL[name](sqrt(u + Rational(jitter)), exp, sqrt)
    exactly = np.vectorize(mpmath.mpf, otypes=[object])
    points, factors, projected = exactly(TWICE), exactly(MANY), exactly(projection)
    steps = points[:, None] - points[None]
    z = steps @ projected
    squares = (z**2).sum(-1)
    first, second = (
        factors * np.vectorize(lambdify(u, radius.diff(u, k), "mpmath"), otypes=[object])(squares)
        for k in (1, 2)
    )
    rows = exactly(np.eye(5)[:, None] - np.eye(5)[None])
    unit = exactly(np.eye(z.shape[-1]))
    for own in (steps, rows):
        gradient = 2 * np.einsum("ij,ija,ijl->al", first, own, z)
        hessian = 4 * np.einsum("ij,ija,ijl,ijb,ijm->albm", second, own, z, own, z)
        hessian += 2 * np.einsum("ij,ija,ijb,lm->albm", first, own, own, unit)
        yield gradient.astype(float), hessian.astype(float)


def assert_blocks_equal(own, wanted):
    """Compare blocks of rows each by its own size: those of distinct rows are small."""
    bounds = np.abs(wanted).max(axis=(1, 3), keepdims=True)
    assert (np.abs(own - wanted) <= 1e-11 * bounds).all()


@pytest.mark.parametrize("jitter", ["1e-12", "1e-36"])
@pytest.mark.parametrize("name", RADIAL)
def test_by_the_points(name, jitter):
    total = (weights * radial(X, name, jitter)).sum()
    derivative = se.gradient(total, X)
    outputs = [
        derivative,
        se.jacobian(derivative, X),
        se.jvp(derivative, X, DIRECTION),
        se.hvp(total, X, DIRECTION),
    ]
    direction = np.linspace(-1, 2, 15).reshape(5, 3)
    found = se.lambdify([X, weights, DIRECTION], outputs)(TWICE, MANY, direction)
    with mpmath.workdps(130):
        *_, (gradient, hessian) = exact_derivatives(name, jitter, np.eye(3))
    np.testing.assert_allclose(found[0], gradient, rtol=1e-11, atol=1e-12)
    assert_blocks_equal(found[1], hessian)
    for own in found[2:]:
        wanted = np.einsum("albm,bm->al", hessian, direction)
        np.testing.assert_allclose(own, wanted, rtol=1e-11, atol=1e-12 * np.abs(hessian).max())


@pytest.mark.parametrize("jitter", ["1e-12", "1e-36"])
@pytest.mark.parametrize("name", RADIAL)
def test_by_a_projection(name, jitter):
    total = (weights * radial(X @ W, name, jitter)).sum()
    derivative = se.gradient(total, W)
    tangent = np.arange(6.0).reshape(3, 2)
    U = se.TensorSymbol("U", d, 2)
    outputs = [derivative, se.jacobian(derivative, W), se.hessian(total, X), se.hvp(total, W, U)]
    found = se.lambdify([X, W, weights, U], outputs)(TWICE, PROJECTION, MANY, tangent)
    with mpmath.workdps(130):
        (gradient, hessian), (_, by_rows) = exact_derivatives(name, jitter, PROJECTION)
    np.testing.assert_allclose(found[0], gradient, rtol=1e-10, atol=1e-11 * np.abs(gradient).max())
    np.testing.assert_allclose(found[1], hessian, rtol=1e-10, atol=1e-11 * np.abs(hessian).max())
    by_points = np.einsum("albm,kl,nm->akbn", by_rows, PROJECTION, PROJECTION)
    assert_blocks_equal(found[2], by_points)
    wanted = np.einsum("albm,bm->al", hessian, tangent)
    np.testing.assert_allclose(found[3], wanted, rtol=1e-10, atol=1e-11 * np.abs(wanted).max())


@pytest.mark.parametrize("mode", ["reverse", "forward", "cross-country"])
@pytest.mark.parametrize("name", [1, 3, 5])
def test_in_every_mode(name, mode):
    kernels = radial(X, name, "1e-36"), radial(X @ W, name, "1e-36")
    variables = X, W
    hessians = [
        se.hessian((weights * kernel).sum(), v, mode=mode)
        for kernel, v in zip(kernels, variables, strict=True)
    ]
    by_points, by_projection = se.lambdify([X, W, weights], hessians)(TWICE, PROJECTION, MANY)
    with mpmath.workdps(130):
        *_, (_, wanted) = exact_derivatives(name, "1e-36", np.eye(3))
        assert_blocks_equal(by_points, wanted)
        (_, wanted), _ = exact_derivatives(name, "1e-36", PROJECTION)
    bound = 1e-11 * np.abs(wanted).max()
    np.testing.assert_allclose(by_projection, wanted, rtol=1e-10, atol=bound)


@pytest.mark.parametrize("jitter", ["1e-12", "1e-36"])
@pytest.mark.parametrize("order", MATERN)
def test_by_weights_of_rows_in_a_function(order, jitter):
    total = (weights * kernel(se.tanh(X @ W), order, jitter)).sum()
    start = PROJECTION / 10
    own = se.lambdify([X, W, weights], se.hessian(total, W))(POINTS, start, WEIGHTS)

    def reference(entries):
        rows = np.array([[mpmath.mpf(a) for a in row] for row in POINTS])
        projected = rows @ np.array(entries, dtype=object).reshape(3, 2)
        return (WEIGHTS * exact(np.vectorize(mpmath.tanh)(projected), order, jitter)).sum()

    with mpmath.workdps(130):
        _, wanted = derivatives(reference, start.ravel())
    wanted = np.array(wanted, dtype=float)
    np.testing.assert_allclose(own.reshape(6, 6), wanted, atol=1e-11 * np.abs(wanted).max())


def test_gradients_are_as_short_as_a_textbook_has_them():
    q = se.TensorSymbol("q", n)
    assert se.gradient(((1 + q) * se.exp(-q)).sum(), q) == -q * se.exp(-q)
    total = (weights * kernel(X, 3, "1e-30")).sum()
    assert "sqrt(3)*sqrt" in str(total)
    assert "masked" not in str(se.gradient(total, X))


def test_differences_of_scaled_products():
    """The common factor of s (A v)_i - s (A v)_j is taken out of products with sums."""
    A, v = se.TensorSymbol("A", n, d), se.TensorSymbol("v", d)
    rows = scale * (A @ v)
    steps = rows[:, None] - rows[None, :]
    derivative = se.gradient((weights * se.sin(steps)).sum(), scale)
    data, factors = rng.normal(size=(4, 3)), rng.normal(size=3)
    own = data @ factors
    steps = own[:, None] - own[None]
    found = se.lambdify([A, v, weights, scale], derivative)(data, factors, WEIGHTS, 0.7)
    assert_close(found, (WEIGHTS * np.cos(0.7 * steps) * steps).sum())


def test_batch_normalisation_far_from_zero():
    """Deviations from a mean stay together: multiplied out, they lost twice the digits."""
    G, gamma = se.TensorSymbol("G", n, d), se.TensorSymbol("gamma", d)
    centred = X - X.mean(axis=0)[None, :]
    spread = se.sqrt((centred**2).mean(axis=0) + scale)
    (gradient,) = se.vjp(gamma[None, :] * (centred / spread[None, :]), [X], G)
    points = rng.normal(size=(6, 3)) + 2.0**20
    cotangent, factors = rng.normal(size=(6, 3)), rng.normal(size=3)
    c = points.astype(np.longdouble)
    c = c - c.mean(axis=0)
    h, weighted = (c**2).mean(axis=0) + 0.25, cotangent * factors
    expected = weighted - weighted.mean(axis=0) - c * (weighted * c).mean(axis=0) / h
    found = se.lambdify([X, G, gamma, scale], gradient)(points, cotangent, factors, 0.25)
    np.testing.assert_allclose(found, (expected / np.sqrt(h)).astype(float), atol=1e-8)


def test_a_hessian_of_whitened_deviations_far_from_zero():
    centred = X - X.mean(axis=0)[None, :]
    whitened = centred @ se.inv(centred.T @ centred + se.eye(d))
    call = se.lambdify([X], se.hessian((whitened * centred).sum(), X))
    points = np.arange(8.0).reshape(4, 2) % 5
    np.testing.assert_allclose(call(points + 2**26), call(points), atol=1e-6)
