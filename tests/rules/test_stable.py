"""Numerical stability of losses, gradients and Hessians where exp overflows and digits cancel,
against mpmath and JAX, with any sharing."""

import mpmath
import numpy as np
import pytest
import sympy
from libraries import LIBRARIES
from oracles import assert_close, jax64, k, m, n
from sympy import log

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum import core
from sympy_einsum.core import postorder
from sympy_einsum.core.tuning import LARGE_GRAPH
from sympy_einsum.expressions import Einsum, slot
from sympy_einsum.rules.normal_form import stabilise
from sympy_einsum.rules.stable import matching, pairs

y, z, w = se.tensors("y z w", n)
s, p, q = se.sigmoid(z), se.softmax(z), se.softmax(w)
t, u = sympy.symbols("t u", real=True)

# --- references, in as many digits as it takes


def softplus(a):
    return mpmath.log1p(mpmath.exp(a))


def sigmoid(a):
    return 1 / (1 + mpmath.exp(-a))


def log_softmax(a):
    total = mpmath.log(mpmath.fsum([mpmath.exp(b) for b in a]))
    return [b - total for b in a]


def softmax(a):
    return [mpmath.exp(b) for b in log_softmax(a)]


def dot(a, b):
    return mpmath.fsum([i * j for i, j in zip(a, b, strict=True)])


def cross_entropy(z, y, w):
    return -dot(y, log_softmax(z))


def binary(z, y, w):
    return mpmath.fsum(
        [a * softplus(-b) + (1 - a) * softplus(b) for a, b in zip(y, z, strict=True)]
    )


def divergence(z, y, w):
    return dot(softmax(z), [a - b for a, b in zip(log_softmax(z), log_softmax(w), strict=True)])


def weighted(function):
    """Return Σ w f(z)."""
    return lambda z, y, w: dot(w, [function(a) for a in z])


def focal(z, y, w):
    terms = [
        a * sigmoid(-b) ** 2 * softplus(-b) + (1 - a) * sigmoid(b) ** 2 * softplus(b)
        for a, b in zip(y, z, strict=True)
    ]
    return mpmath.fsum(terms)


def whole(function):
    """Apply by one elementwise body."""
    return se.elementwise(function, z, y)


LOSSES = {
    "cross-entropy": (-(y * se.log(p)).sum(), cross_entropy),
    "cross-entropy of a quotient": (
        -(y * se.log(se.exp(z) / se.exp(z).sum())).sum(),
        cross_entropy,
    ),
    "cross-entropy of shifted ones": (
        -(y * se.log(se.exp(z - 5) / se.exp(z - 5).sum())).sum(),
        cross_entropy,
    ),
    "cross-entropy by log-sum-exp": ((y * (se.logsumexp(z) - z)).sum(), cross_entropy),
    "cross-entropy, weights, temperature": (
        -(w * y * se.log(se.softmax(2 * z))).mean(),
        lambda z, y, w: (
            -dot([a * b for a, b in zip(w, y, strict=True)], log_softmax([2 * a for a in z])) / 3
        ),
    ),
    "cross-entropy of a multiple": (
        -(y * se.log(3 * p**2 / w)).sum(),
        lambda z, y, w: (
            -dot(
                y,
                [
                    mpmath.log(3) + 2 * a - mpmath.log(b)
                    for a, b in zip(log_softmax(z), w, strict=True)
                ],
            )
        ),
    ),
    "one class": (-se.log(p[0]), lambda z, y, w: -log_softmax(z)[0]),
    "one class of a quotient": (
        -log(se.exp(z)[0] / se.exp(z).sum()),
        lambda z, y, w: -log_softmax(z)[0],
    ),
    "some classes": (-se.log(p[1:]).sum(), lambda z, y, w: -mpmath.fsum(log_softmax(z)[1:])),
    "entropy": (-(p * se.log(p)).sum(), lambda z, y, w: -dot(softmax(z), log_softmax(z))),
    "divergence": ((p * se.log(p / q)).sum(), divergence),
    "divergence, difference": ((p * (se.log(p) - se.log(q))).sum(), divergence),
    "focal, classes": (
        -(y * (1 - p) ** 2 * se.log(p)).sum(),
        lambda z, y, w: (
            -dot(
                y,
                [(1 - a) ** 2 * b for a, b in zip(softmax(z), log_softmax(z), strict=True)],
            )
        ),
    ),
    "binary": (-(y * se.log(s) + (1 - y) * se.log(1 - s)).sum(), binary),
    "binary from exp": (
        -(y * snp.log(1 / (1 + snp.exp(-z))) + (1 - y) * snp.log(1 - 1 / (1 + snp.exp(-z)))).sum(),
        binary,
    ),
    "binary in one body": (
        -whole(lambda a, b: b * log(se.sigmoid(a)) + (1 - b) * log(1 - se.sigmoid(a))).sum(),
        binary,
    ),
    "focal": (-(y * (1 - s) ** 2 * se.log(s) + (1 - y) * s**2 * se.log(1 - s)).sum(), focal),
    "log-odds": ((w * se.log(s / (1 - s))).sum(), weighted(lambda a: a)),
    "difference of softplus": ((se.softplus(z) - z).sum(), lambda z, y, w: binary(z, [1] * 3, w)),
    "difference among others": (
        (se.softplus(z) - z + w - w * y).sum(),
        lambda z, y, w: binary(z, [1] * 3, w) + mpmath.fsum(w) - dot(w, y),
    ),
    "sigmoids": ((w * (1 - s)).sum(), weighted(lambda a: sigmoid(-a))),
    "a factor cancels": ((w * s * (1 - s) / (1 - s)).sum(), weighted(sigmoid)),
    "log1p exp": (snp.log1p(snp.exp(z)).sum(), lambda z, y, w: binary(z, [0] * 3, w)),
    "log1p expm1": ((w * snp.log1p(snp.expm1(z))).sum(), weighted(lambda a: a)),
    "tanh": (
        (w * se.log((1 - se.tanh(z)) * (1 + se.tanh(z)))).sum(),
        weighted(lambda a: 2 * mpmath.log(2) - softplus(2 * a) - softplus(-2 * a)),
    ),
    "tanh squared": (
        (w * se.log(1 - se.tanh(z) ** 2)).sum(),
        weighted(lambda a: 2 * mpmath.log(2) - softplus(2 * a) - softplus(-2 * a)),
    ),
    "atanh tanh": ((w * se.atanh(se.tanh(z))).sum(), weighted(lambda a: a)),
    "log cosh": ((w * se.log(se.cosh(z))).sum(), weighted(lambda a: mpmath.log(mpmath.cosh(a)))),
    "log(1 - exp)": (
        (w * se.log(1 - se.exp(-(z**2 + 1)))).sum(),
        weighted(lambda a: mpmath.log(-mpmath.expm1(-(a**2) - 1))),
    ),
    "1 - exp": (
        (w * (1 - se.exp(-se.softplus(z)))).sum(),
        weighted(lambda a: -mpmath.expm1(-softplus(a))),
    ),
    "logaddexp": (
        se.log(se.exp(z) + se.exp(w)).sum(),
        lambda z, y, w: mpmath.fsum([b + softplus(a - b) for a, b in zip(z, w, strict=True)]),
    ),
    "log-mean-exp": (
        log(se.exp(z).mean()),
        lambda z, y, w: mpmath.log(mpmath.fsum([mpmath.exp(a) for a in z]) / 3),
    ),
    "weights in log-sum-exp": (
        log((w * se.exp(z)).sum()),
        lambda z, y, w: mpmath.log(dot(w, [mpmath.exp(a) for a in z])),
    ),
    "gelu": (
        (z * (1 + se.erf(z / sympy.sqrt(2))) / 2).sum(),
        lambda z, y, w: mpmath.fsum([a * mpmath.erfc(-a / mpmath.sqrt(2)) / 2 for a in z]),
    ),
    "gelu by tanh": (
        (z * (1 + se.tanh(z + z**3 / 25)) / 2).sum(),
        lambda z, y, w: mpmath.fsum([a * sigmoid(2 * (a + a**3 / 25)) for a in z]),
    ),
    "mixed": (
        -(y * se.log(s) + (1 - y) * se.log(1 - s) + w * se.log(p)).sum(),
        lambda z, y, w: binary(z, y, w) - dot(w, log_softmax(z)),
    ),
}
POINTS = [
    [0.0, 0.0, 0.0],
    [1e-8, -1.0, 2.0],
    [30.0, -40.0, 0.0],
    [-30.0, -30.5, -31.0],
    [700.0, -800.0, 799.0],
    [-800.0, -700.0, 0.5],
]
TARGETS = [[0.3, 0.6, 0.1], [1.0, 0.0, 0.0]]
WEIGHTS = [0.5, 1.5, 2.5]


def with_derivatives(function, point, target):
    """Return a function's value, gradient and Hessian, by differences with hundreds of digits."""
    with mpmath.workdps(120):
        y, w = [[mpmath.mpf(a) for a in own] for own in (target, WEIGHTS)]
        h = mpmath.mpf(10) ** -35

        def at(*steps):
            moves = [sum(d for k, d in steps if k == i) for i in places]
            return function([a + h * d for a, d in zip(point, moves, strict=True)], y, w)

        def second(i, j):
            near = at((i, 1), (j, 1)) + at((i, -1), (j, -1))
            return (near - at((i, 1), (j, -1)) - at((i, -1), (j, 1))) / (4 * h**2)

        places = range(len(point))
        gradient = [(at((i, 1)) - at((i, -1))) / (2 * h) for i in places]
        hessian = [[second(i, j) for j in places] for i in places]
        return float(at()), np.array(gradient, dtype=float), np.array(hessian, dtype=float)


def assert_stable(found, expected, label, precision=1e-10):
    """Compare the value to a number of digits, and derivatives to a number of digits of the largest
    or of one entry."""
    assert np.isfinite(found[0]), label
    slack = 1e-80  # that of the reference
    assert abs(found[0] - expected[0]) <= precision * abs(expected[0]) + slack, (
        f"{label}: {found[0]}, not {expected[0]}"
    )
    for own, exact in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_allclose(own, exact, rtol=precision, atol=precision / 1e3, err_msg=label)


@pytest.mark.parametrize("name", LOSSES)
def test_value_gradient_and_hessian_in_one_call(name):
    loss, function = LOSSES[name]
    gradient, hessian = se.gradient(loss, z), se.hessian(loss, z)
    raw = se.gradient(loss, z, simplify=False)
    functions = {
        "simplified": se.lambdify([z, y, w], [loss, gradient, hessian]),
        "as the rules give it": se.lambdify(
            [z, y, w], [loss, raw, se.jacobian(raw, z, simplify=False)]
        ),
    }
    alone = se.lambdify([z, y, w], loss)
    for point in POINTS:
        for target in TARGETS:
            expected = with_derivatives(function, point, target)
            data = [np.array(own) for own in (point, target, WEIGHTS)]
            for label, compiled in functions.items():
                assert_stable(compiled(*data), expected, f"{label} at {point}, {target}")
            assert_stable([alone(*data)], expected[:1], f"alone at {point}, {target}")


# Dask computes in threads of its own, which no function of ours silences.
@pytest.mark.filterwarnings("ignore:overflow encountered in expm1:RuntimeWarning")
@pytest.mark.parametrize("backend", [name for name in LIBRARIES if name != "numpy"])
@pytest.mark.parametrize("name", ["mixed", "divergence", "log(1 - exp)", "focal, classes", "tanh"])
def test_every_library(backend, name):
    library = LIBRARIES[backend]()
    loss, function = LOSSES[name]
    parts = [loss, se.gradient(loss, z), se.hessian(loss, z)]
    compiled = se.lambdify([z, y, w], parts, backend)
    for point in POINTS[1:5]:
        found = compiled(*[library.into(np.array(own)) for own in (point, TARGETS[1], WEIGHTS)])
        expected = with_derivatives(function, point, TARGETS[1])
        assert_stable([library.back(own) for own in found], expected, f"{backend} at {point}")


@pytest.mark.parametrize("name", ["mixed", "divergence", "binary", "focal", "1 - exp"])
def test_single_precision(name):
    loss, function = LOSSES[name]
    compiled = se.lambdify([z, y, w], [loss, se.gradient(loss, z), se.hessian(loss, z)])
    for point in ([0.0, 0.5, 0.0], [30.0, -40.0, 0.0], [80.0, -800.0, 79.0], [-90.0, -70.0, 0.5]):
        found = compiled(*[np.array(own, np.float32) for own in (point, TARGETS[1], WEIGHTS)])
        assert {own.dtype for own in found} == {np.dtype(np.float32)}
        expected = with_derivatives(function, point, TARGETS[1])
        assert_stable(found, expected, f"at {point}", precision=1e-5)


# --- matrices, against JAX's stable functions

Z, Y, V = se.tensors("Z Y V", n, m)
M = se.TensorSymbol("M", n, n)
X, W = se.TensorSymbol("X", (n, k)), se.TensorSymbol("W", (k, m))
r, c = se.TensorSymbol("r", (n,)), se.TensorSymbol("c", (m,))
T, R = se.tensors("T R", n, m, k)
SHAPES = {"Z": (3, 4), "Y": (3, 4), "V": (3, 4), "X": (3, 2), "W": (2, 4), "r": (3,), "c": (4,)}
SHAPES |= {"T": (3, 4, 2), "R": (3, 4, 2)}
AXES = [0, 1, (0, 1)]


def logs(a, axis):
    return jax64().nn.log_softmax(a, axis)


def both(a, b):
    """Return the binary cross-entropy entry by entry."""
    jax = jax64()
    return b * jax.nn.softplus(-a) + (1 - b) * jax.nn.softplus(a)


def softly(a, axis):
    return jax64().nn.softmax(a, axis)


MATRICES = {
    **{
        f"cross-entropy over {axis}": (
            -(Y * se.log(se.softmax(Z, axis=axis))).sum(),
            Z,
            lambda Z, Y, axis=axis, **_: -(Y * logs(Z, axis)).sum(),
        )
        for axis in AXES
    },
    **{
        f"turned, over {axis}": (
            -(Y.T * se.log(se.softmax(Z, axis=axis).T)).sum(),
            Z,
            lambda Z, Y, axis=axis, **_: -(Y * logs(Z, axis)).sum(),
        )
        for axis in AXES
    },
    **{
        f"of a quotient over {axis}": (
            -(Y * se.log(se.exp(Z) / se.exp(Z).sum(axis=axis, keepdims=True))).sum(),
            Z,
            lambda Z, Y, axis=axis, **_: -(Y * logs(Z, axis)).sum(),
        )
        for axis in AXES
    },
    **{
        f"divergence over {axis}": (
            (se.softmax(Z, axis) * se.log(se.softmax(Z, axis) / se.softmax(V, axis))).sum(),
            Z,
            lambda Z, V, axis=axis, **_: (softly(Z, axis) * (logs(Z, axis) - logs(V, axis))).sum(),
        )
        for axis in AXES
    },
    "weights of rows": (
        -(r @ (Y * se.log(se.softmax(Z / 2, axis=1))).sum(axis=1)) / n,
        Z,
        lambda Z, Y, r, **_: -(r[:, None] * Y * logs(Z / 2, 1)).sum() / 3,
    ),
    "weights inside": (
        -(Y * se.log(r[:, None] ** 2 * se.softmax(Z, axis=1))).sum(),
        Z,
        lambda Z, Y, r, **_: -(Y * (logs(Z, 1) + jax64().numpy.log(r[:, None] ** 2))).sum(),
    ),
    "a linear layer": (
        -(Y * se.log(se.softmax(X @ W + c[None, :], axis=1))).sum(),
        W,
        lambda X, W, c, Y, **_: -(Y * logs(X @ W + c, 1)).sum(),
    ),
    "repeated": (
        -(Y * se.log(se.broadcast_to(se.softmax(c)[None, :], (n, m)))).sum(),
        c,
        lambda c, Y, **_: -(Y * logs(c, 0)).sum(),
    ),
    "a row": (
        -(Y[0, :] * se.log(se.softmax(Z, axis=1)[0, :])).sum(),
        Z,
        lambda Z, Y, **_: -(Y * logs(Z, 1))[0].sum(),
    ),
    "an entry": (-se.log(se.softmax(Z, axis=0)[1, 2]), Z, lambda Z, **_: -logs(Z, 0)[1, 2]),
    "two axes of three": (
        -(R * se.log(se.softmax(T, axis=(0, 2)))).sum(),
        T,
        lambda T, R, **_: -(R * logs(T, (0, 2))).sum(),
    ),
    "reshaped": (
        -(R.reshape(n * m, k) * se.log(se.softmax(T, axis=2).reshape(n * m, k))).sum(),
        T,
        lambda T, R, **_: -(R * logs(T, 2)).sum(),
    ),
    "a diagonal": (
        -se.log(se.softmax(X @ X.T, axis=1).diagonal()).sum(),
        X,
        lambda X, **_: -jax64().numpy.trace(logs(X @ X.T, 1)),
    ),
    "binary": (
        -(Y * se.log(se.sigmoid(X @ W)) + (1 - Y) * se.log(1 - se.sigmoid(X @ W))).mean(),
        W,
        lambda X, W, Y, **_: both(X @ W, Y).mean(),
    ),
    "binary, turned": (
        -(Y.T * se.log(se.sigmoid(Z.T)) + ((1 - Y) * se.log(1 - se.sigmoid(Z.T)).T).T).sum(),
        Z,
        lambda Z, Y, **_: both(Z, Y).sum(),
    ),
    "binary, weights": (
        -(r @ (Y * se.log(se.sigmoid(Z)) + (1 - Y) * se.log(1 - se.sigmoid(Z)))).sum(),
        Z,
        lambda Z, Y, r, **_: (r[:, None] * both(Z, Y)).sum(),
    ),
}


@pytest.mark.parametrize("name", MATRICES)
def test_matrices(name):
    loss, variable, function = MATRICES[name]
    jax = jax64()
    others = [Z, Y, V, X, W, r, c, T, R]
    outputs = [loss, se.gradient(loss, variable), se.hessian(loss, variable)]
    probabilities = se.softmax(Z, axis=1)
    shared = [probabilities, se.log(probabilities), se.logsumexp(Z, axis=1)]
    compiled = se.lambdify(others, [*outputs, *shared])

    def reference(own, rest):
        return function(**{**rest, variable.name: own})

    derivatives = [reference, jax.grad(reference), jax.hessian(reference)]
    by_jax = jax.jit(lambda *given: [derivative(*given) for derivative in derivatives])
    rng = np.random.default_rng(1)
    for size in (1, 30, 800):
        data = {name: rng.uniform(-1, 1, shape) for name, shape in SHAPES.items()}
        for name in {"Z", "V", "T", variable.name} - {"X"}:
            data[name] *= size
        data["Z"].flat[:2] = size, -size
        data["Y"] = np.eye(4)[[0, 2, 3]]
        found = compiled(*[data[own.name] for own in others])
        for own, exact in zip(found, by_jax(data[variable.name], data), strict=False):
            assert_close(own, exact, tolerance=1e-11)
        np.testing.assert_allclose(found[4], logs(data["Z"], 1), rtol=1e-12, atol=1e-14)


# --- how it comes about


def test_sharing_and_size_change_nothing():
    """Beyond the size of graphs that are simplified, and with any other outputs."""
    parts = se.tensors(" ".join(f"x{i}" for i in range(LARGE_GRAPH // 8)), n)
    loss = sum([(se.log(1 - se.sigmoid(x)) * y).sum() - se.log(se.softmax(x))[0] for x in parts])
    outputs = [loss, *se.gradient(loss, list(parts)), se.softmax(parts[0]), se.sigmoid(parts[1])]
    data = np.linspace(-800, 800, 3 * len(parts)).reshape(-1, 3)
    found = se.lambdify([y, *parts], outputs)(np.ones(3), *data)
    expected = -np.logaddexp(0, data).sum() + (np.logaddexp.reduce(data, axis=1) - data[:, 0]).sum()
    np.testing.assert_allclose(found[0], expected, rtol=1e-12)
    assert all(np.all(np.isfinite(own)) for own in found)


LOGARITHMS = {
    "transposed": (se.softmax(Z, axis=1).T, se.log(se.softmax(Z, axis=1)).T),
    "a slice": (p[1:], se.log(p)[1:]),
    "an entry": (p[2], se.log(p)[2]),
    "repeated": (se.broadcast_to(p[None, :], (m, n)), se.broadcast_to(se.log(p)[None, :], (m, n))),
    "reshaped": (se.softmax(T, 2).reshape(n * m, k), se.log(se.softmax(T, 2)).reshape(n * m, k)),
    "a power": (s**3, -3 * se.softplus(-z)),
    "a product": (w * s, se.log(w) - se.softplus(-z)),
    "a quotient": (p / q, se.log(p) - se.log(q)),
    "a multiple": (t * p, log(t) + se.log(p)),
    "exponentials": (se.exp(z) + se.exp(w), se.logaddexp(w, z)),
    "a sum of them": (se.exp(Z).sum(axis=1), se.logsumexp(Z, axis=1)),
    "a scalar": (t * se.exp(z).sum(), log(t) + se.logsumexp(z)),
    "an exponential of one": (sympy.exp(z @ z), z @ z),
    "two of them": (sympy.exp(z @ z) + sympy.exp(t), se.logaddexp(t, z @ z)),
}


@pytest.mark.parametrize("name", LOGARITHMS)
def test_logarithm_of(name):
    inside, expected = LOGARITHMS[name]
    assert stabilise([se.log(inside)])[0] == stabilise([expected])[0]


UNTOUCHED = [w, w * z, 1 + w, p + q, -p, se.einsum("i->ii", p), se.einsum("ij,j->i", Z, c), w + p]
UNTOUCHED += [w[1:], w * z + Z @ c]


@pytest.mark.parametrize("inside", UNTOUCHED, ids=str)
def test_a_logarithm_that_nothing_is_known_of_stays(inside):
    assert stabilise([se.log(inside)])[0] == [se.log(inside)]


SCALARS = {
    "binary": (
        -(u * log(se.sigmoid(t)) + (1 - u) * log(1 - se.sigmoid(t))),
        lambda a: 0.25 * softplus(-a) + 0.75 * softplus(a),
    ),
    "one less": (1 - se.sigmoid(t), lambda a: sigmoid(-a)),
    "one less among others": (u + t - se.sigmoid(t) + 1, lambda a: sigmoid(-a) + a + 0.25),
    "quotient": (sympy.exp(t) / (1 + sympy.exp(t)), sigmoid),
    "its derivative": (sympy.diff(1 / (1 + sympy.exp(-t)), t), lambda a: sigmoid(a) * sigmoid(-a)),
    "logarithm of it": (log(sympy.exp(t) / (1 + sympy.exp(t))), lambda a: -softplus(-a)),
    "softplus": (log(1 + sympy.exp(t)), softplus),
    "of exponentials": (
        log(sympy.exp(t) + sympy.exp(u)),
        lambda a: softplus(a - 0.25) + 0.25,
    ),
    "tanh": (log(1 - sympy.tanh(t) ** 2), lambda a: -2 * mpmath.log(mpmath.cosh(a))),
    "difference": (se.softplus(t) - t, lambda a: softplus(-a)),
    "difference the other way round": (t - log(1 + sympy.exp(t)), lambda a: -softplus(-a)),
    "multiple of a difference": (3 * t - 3 * se.softplus(t), lambda a: -3 * softplus(-a)),
    "odds among others": (u * sympy.exp(t) * se.sigmoid(-t), lambda a: sigmoid(a) / 4),
}


@pytest.mark.parametrize("name", SCALARS)
def test_scalars(name):
    expr, function = SCALARS[name]
    compiled = se.lambdify([t, u], expr)
    for point in (-800.0, -40.0, 0.0, 1.5, 40.0, 800.0):
        with mpmath.workdps(800):
            expected = float(function(mpmath.mpf(point)))
        assert compiled(point, 0.25) == pytest.approx(expected, rel=1e-12, abs=1e-300), point


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (t + u + log(1 + sympy.exp(-t)), u + se.softplus(t)),
        (t * u / (1 + sympy.exp(-t)), t * u * se.sigmoid(t)),
        (z - se.log(1 + se.exp(z)), -se.softplus(-z)),
        (2 * z - 2 * se.softplus(z) + w, w - 2 * se.softplus(-z)),
        (se.softplus(-z) - se.softplus(z), -z),
        (log(se.sigmoid(t) ** 2), -2 * se.softplus(-t)),
        (log((1 + sympy.exp(t)) ** 3 * u), log(u) + 3 * se.softplus(t)),
        (se.exp(M) * se.sigmoid(-M), se.sigmoid(M)),
        (se.exp(M) @ se.sigmoid(-M), se.exp(M) @ se.sigmoid(-M)),
        (se.log(1 - se.tanh(M) @ se.tanh(M)), se.log(1 - se.tanh(M) @ se.tanh(M))),
        (se.exp(M) * se.sigmoid(-M).T, se.exp(M) * se.sigmoid(-M).T),
        (z + 3 * se.sin(w) ** 2 + 3 * se.cos(w) ** 2, z + 3),
        (se.sin(w) ** 2 + 2 * se.cos(w) ** 2, se.sin(w) ** 2 + 2 * se.cos(w) ** 2),
        (u * (sympy.sin(t) ** 2 + sympy.cos(t) ** 2), u),
        (se.cosh(2 * M) ** 2 - se.sinh(2 * M) ** 2, se.Ones(*M.shape)),
    ],
)
def test_forms(expr, expected):
    """Pairs in longer sums and products, multiples, and products that aren't entrywise."""
    assert stabilise([expr])[0] == [expected]


@pytest.mark.parametrize(
    ("expr", "point", "expected"),
    [
        (u * t**u / t, (0.0, 3.0), 0),
        (u * t**u / t, (0.0, 1.0), 1),
        (u * t**u / t, (2.0, 3.0), 12),
        (u * (u - 1) * t**u / t**2, (0.0, 2.0), 2),
        (t**u * log(t) ** 2, (0.0, 3.0), 0),
        (t**u * log(t) ** 2, (np.e, 3.0), np.e**3),
        (t**u * se.powlog(t, 2, 1), (0.0, 1.0), 0),
        (t**u * se.powlog(t, 2, 1), (np.e, 1.0), np.e**3),
        (t**u * sympy.cos(u) / t, (2.0, 3.0), 4 * np.cos(3)),
    ],
)
def test_parts_of_derivatives_of_powers(expr, point, expected):
    assert se.lambdify([t, u], expr)(*point) == pytest.approx(expected)


exp_, log_ = se.exp, se.log
FLOATS = {
    "softplus": (lambda v: log_(1.0 + exp_(v)), softplus),
    "its argument": (lambda v: log_(exp_(0.3 * v) + 1.0), lambda a: softplus(0.3 * a)),
    "a share": (lambda v: exp_(v) / (exp_(v) + 1.0), sigmoid),
    "a complement": (lambda v: 0.3 - 0.3 * se.sigmoid(v), lambda a: 0.3 * sigmoid(-a)),
    "a difference": (lambda v: 0.5 * v - 0.5 * se.softplus(v), lambda a: -0.5 * softplus(-a)),
    "tanh": (lambda v: 1.0 - se.tanh(v), lambda a: 2 * sigmoid(-2 * a)),
    "another number": (
        lambda v: log_(1.5 + exp_(v / 50)),
        lambda a: mpmath.log(1.5 + mpmath.exp(a / 50)),
    ),
}


@pytest.mark.parametrize("name", FLOATS)
def test_numbers_with_decimal_points(name):
    """1.0 is 1, and 0.3/0.3 too."""
    f, reference = FLOATS[name]
    points = [-800.0, -40.0, -1.5, 0.0, 0.7, 40.0, 800.0]
    expected = [float(reference(mpmath.mpf(a))) for a in points]
    np.testing.assert_allclose(se.lambdify([z], f(z))(points), expected, rtol=1e-13, atol=1e-300)
    scalar = se.lambdify([t], f(t))
    np.testing.assert_allclose([scalar(a) for a in points], expected, rtol=1e-13, atol=1e-300)


def test_one_more_with_a_decimal_point():
    for total in (1.0 + z + w, 1.0 + 2 * z - w, z * w + 1.0 + w):
        small = np.array([1e-19, 3e-20, -2e-18])
        exact = se.lambdify([z, w], total - 1.0)(small, small / 3)
        found = se.lambdify([z, w], se.log(total))(small, small / 3)
        np.testing.assert_allclose(found, exact, rtol=1e-12)


def test_of_a_tensor_scalar():
    loss = log(1 - se.sigmoid(z @ w))
    f = se.lambdify([z, w], [loss, se.gradient(loss, z)])
    value, derivative = f(np.full(3, 40.0), np.ones(3))
    assert value == -120
    assert_close(derivative, -np.ones(3))


def test_as_it_is_written():
    """With optimize=False no stable form is searched for."""
    f = se.lambdify([z], se.log(1 - s), optimize=False)
    with np.errstate(divide="ignore"):
        assert f(np.array([40.0]))[0] == -np.inf


def test_stock_lambdify():
    array = np.array([40.0, 800.0, -800.0])
    for expr, exact in [
        (se.log(1 - s), -np.logaddexp(0, array)),
        (se.log(p), array - 800),
        (1 - s, np.exp(-np.logaddexp(0, array))),
    ]:
        np.testing.assert_allclose(sympy.lambdify([z], expr, "numpy")(array), exact, rtol=1e-14)


# --- how it reads


def test_gradients_read_as_in_a_textbook():
    loss = -(y * se.log(s) + (1 - y) * se.log(1 - s)).sum()
    assert se.gradient(loss, z) == s - y
    assert str(se.hessian(loss, z)) == "diag(sigmoid(z)*(1 - sigmoid(z)))"
    assert se.gradient(-(y * se.log(s) + (1 - y) * se.log(1 - s)).mean(), z) == (s - y) / n
    weighted_loss = -(w * (y * se.log(s) + (1 - y) * se.log(1 - s))).sum()
    assert se.gradient(weighted_loss, z) == se.simplify(w * (s - y))
    B, x = se.TensorSymbol("B", (m, n)), se.TensorSymbol("x", (n,))
    sigma = se.sigmoid(B @ x)
    layer = -(c * se.log(sigma) + (1 - c) * se.log(1 - sigma)).sum()
    assert se.gradient(layer, x) == B.T @ (sigma - c)
    assert se.gradient(se.log(1 - s).sum(), z) == -s
    assert se.gradient(se.log(se.cosh(z)).sum(), z) == se.tanh(z)
    assert se.gradient((q * se.log(q / p)).sum(), z) == p - q


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (z / z, se.Ones(n)),
        (z * z / z, z),
        (z**2 / z**2, se.Ones(n)),
        (w * z / z, w),
        (Z / Z, se.Ones(n, m)),
        ((Z / Z).sum(axis=0), n * se.Ones(m)),
        ((z / z).sum(), n),
        (se.einsum("i,j,i->ij", z, c, 1 / z), se.broadcast_to(c[None, :], (n, m))),
    ],
    ids=str,
)
def test_powers_that_cancel(expr, expected):
    assert se.simplify(expr) == expected
    assert r"\odot 0" not in se.latex(expr)


def test_no_power_of_zero_is_printed():
    for expr in (z / z, (w * z) / z, (w * z) * (1 / w) * (1 / z), z * z * w / z**2):
        assert r"^{\odot 0}" not in se.latex(expr)
        assert "**0" not in str(expr)


def test_the_derivative_of_a_sigmoid_takes_one_exponential():
    loss = se.softplus(z).sum()
    curvature = se.lambdify(z, se.hessian(loss, z))
    assert "sigmoid_derivative(z)" in curvature.source
    points = np.array([0.0, 1e-8, 40.0, -40.0, 700.0, -800.0])
    expected = [float(1 / (2 * mpmath.cosh(mpmath.mpf(point) / 2)) ** 2) for point in points]
    np.testing.assert_allclose(np.diag(curvature(points)), expected, rtol=1e-14)


R_, d_, e_ = se.TensorSymbol("R", n, n), se.TensorSymbol("d", n), se.TensorSymbol("e", n)
RISK = np.triu(np.ones((3, 3)))


def partial_likelihood(risk, e, d):
    """Return Σ d_i log Σ_j R_ij exp(e_j) with gradient and Hessian, in many digits."""
    with mpmath.workdps(800):
        E = [mpmath.exp(mpmath.mpf(float(a))) for a in e]
        totals = [mpmath.fsum([r * a for r, a in zip(row, E, strict=True)]) for row in risk]
        value = float(mpmath.fsum([a * mpmath.log(s) for a, s in zip(d, totals, strict=True)]))
        P = np.array(
            [
                [float(r * a / s) for r, a in zip(row, E, strict=True)]
                for row, s in zip(risk, totals, strict=True)
            ]
        )
    return value, d @ P, np.diag(d @ P) - P.T @ np.diag(d) @ P


@pytest.mark.parametrize(
    "risk",
    [se.TensorSymbol("R", n, n, nonnegative=True), se.Constant(RISK)],
    ids=["nonnegative", "constant"],
)
@pytest.mark.parametrize("simplify", [None, False])
def test_weights_that_are_zero_where_the_exponential_is_largest(risk, simplify):
    e, d = (e_, d_) if risk.shape == (n, n) else se.tensors("e d", 3)
    loss = (d * se.log(risk @ se.exp(e))).sum()
    outputs = [loss, *[f(loss, e, simplify=simplify) for f in (se.gradient, se.hessian)]]
    weights = [risk] if risk.free_symbols else []
    function = se.lambdify([d, e, *weights], outputs)
    numbers = np.array([1.0, 2.0, 0.5])
    for point in ([400, 0, -400], [-400, 0, 400], [1, 2, 3], [800, 0, -800], [0, 800, -800]):
        at = np.array(point, dtype=float)
        with np.errstate(divide="ignore"):
            found = function(numbers, at, *[RISK for _ in weights])
        for ours, expected in zip(found, partial_likelihood(RISK, at, numbers), strict=True):
            np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-12)


def test_derivatives_by_weights_that_are_zero():
    """Σ_j R_ij exp(e_j) has a derivative by R_ij = 0 too."""
    derivative = se.lambdify([R_, e_], se.gradient(se.log(R_ @ se.exp(e_)).sum(), R_))
    E = np.exp([1.0, 2.0, 3.0])
    np.testing.assert_allclose(derivative(RISK, np.log(E)), E / (RISK @ E)[:, None], rtol=1e-12)


@pytest.mark.parametrize("known", [{"positive": True}, {}])
def test_weights_stay_in_the_textbooks_form(known):
    a = se.TensorSymbol("a", n, **known)
    assert stabilise([se.log((a * se.exp(e_)).sum())])[0] == [
        se.logsumexp(e_) + sympy.log(a @ se.softmax(e_))
    ]


@pytest.mark.parametrize(
    ("product", "tried"),
    [
        (se.sinh(y) * se.exp(z) * se.cosh(w), 0),
        (se.sinh(y) * se.exp(z) / se.cosh(y), 1),
        (se.sinh(y + z) * se.sigmoid(y) * se.cosh(2 * w), 1),
        (se.exp(3 * z) * se.sigmoid(z + w), 1),
    ],
    ids=str,
)
def test_factors_are_tried_in_pairs_if_they_have_something_in_common(product, tried, monkeypatch):
    found = []
    monkeypatch.setattr(pairs, "stable_node", lambda node, numeric: found.append(node))
    for node in postorder([product]):
        if type(node) is Einsum:
            assert pairs.pair_of_factors(node, ()) is None
    assert len(found) == tried


def test_a_factor_that_occurs_in_the_exponent_is_kept():
    """Beside the derivative of a power, which is correct at base 0."""
    s = se.TensorSymbol("s", ())
    for f in (
        s * (1 + 4 * s**2) ** (se.tanh(s) - 2) * se.tanh(s),
        s * se.tanh(s) * (se.tanh(s) - 1) * (1 + s**2) ** (se.tanh(s) - 2),
    ):
        quick, plain = (se.lambdify([s], f, optimize=optimize)(0.3) for optimize in (True, False))
        assert_close(quick, plain, 1e-14)


def test_no_form_is_one_function_of_a_multiple():
    """Rules that look up forms skip functions of a multiple, so no form may be one."""
    tables = (core.STABLE_NAMES, core.DERIVATIVE_NAMES, core.NUMERIC_NAMES, core.REFLECTED_NAMES)
    forms = [form.as_coeff_Mul()[1] for table in tables for form in table]
    assert not [form for form in forms if matching._is_of_multiple(form)]
    assert matching._is_of_multiple(sympy.sin(7 * slot(0)))


def test_constant_weights_may_be_zero():
    """Cox's partial likelihood, whose risk sets are a matrix of ones and zeros: values and Jacobian
    without a warning about the logarithm of 0, also where exponentials overflow."""
    risk = se.Constant([[1, 2, 0], [0, 1, 1], [0, 0, 3]])
    x = se.TensorSymbol("x", 3)
    f = se.log(risk @ se.exp(x))
    value, jacobian = se.lambdify([x], [f, se.jacobian(f, x)])([800.0, 1.0, -900.0])
    np.testing.assert_allclose(value, [800, 1, -900 + np.log(3)])
    np.testing.assert_allclose(jacobian, np.eye(3), atol=1e-300)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("rows", [False, True])
def test_choices_beside_one_of_known_utility(rows, number):
    """exp(z)/(c + Σ exp(z)), its logarithm and log(c + Σ exp(z)) far in the tails, against a
    softmax with one more entry; derivatives against the covariance of the shares."""
    z = se.TensorSymbol("z", *((2,) if rows else ()), 3)
    total = number + se.exp(z).sum(axis=-1)
    shares = se.exp(z) / (total[:, None] if rows else total)
    results = [se.log(total), shares, se.log(shares), se.jacobian(se.log(total), z)]
    at = np.array([[800.0, 799, 1], [-800, -1, 2]])
    for place, entries in enumerate(at):
        values = se.lambdify([z], results)(at if rows else entries)
        found = [value[place] for value in values] if rows else values
        others = np.append(entries, np.log(number))
        log_total = np.logaddexp.reduce(others)
        expected = np.exp(entries - log_total)
        slope = found[3][place] if rows else found[3]
        for value, right in zip(
            [*found[:3], slope],
            [log_total, expected, entries - log_total, expected],
            strict=True,
        ):
            np.testing.assert_allclose(value, right, rtol=1e-12)
    hessian = se.hessian(np.sum(se.log(total)) if rows else se.log(total), z)
    p = np.exp(at[0] - np.logaddexp.reduce([*at[0], np.log(number)]))
    found = se.lambdify([z], hessian)(at if rows else at[0])
    first = found[0, :, 0] if rows else found
    np.testing.assert_allclose(first, np.diag(p) - np.outer(p, p), atol=1e-15)
