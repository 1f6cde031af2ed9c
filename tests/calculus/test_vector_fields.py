"""Curl, divergence and Laplacian, against finite differences and SymPy's vector module."""

from __future__ import annotations

import re

import numpy as np
import pytest
import sympy
from sympy import symbols
from sympy.vector import CoordSys3D, curl, divergence, gradient

import sympy_einsum as se

n, m = symbols("n m", integer=True, positive=True)
x, w = se.tensors("x w", 3)
y, B, T = se.TensorSymbol("y", n), se.TensorSymbol("B", n, n), se.TensorSymbol("T", m, n, n)
M, S = se.TensorSymbol("M", 3, 3), se.TensorSymbol("S", 3, 3, symmetric=True)
rng = np.random.default_rng(0)
SIZES = {n: 4, m: 2}
DATA = {
    x: rng.uniform(0.5, 1.5, 3), w: rng.standard_normal(3), M: rng.standard_normal((3, 3)),
    y: rng.uniform(0.5, 1.5, 4), B: rng.standard_normal((4, 4)), T: rng.standard_normal((2, 4, 4)),
    S: np.diag([1.0, 2.0, 3.0]) + 0.2,
}  # fmt: skip


def compiled(e):
    free = sympy.sympify(e).free_symbols | {
        s for k in getattr(e, "shape", ()) for s in k.free_symbols
    }
    lengths = {s for leaf in free for k in getattr(leaf, "shape", ()) for s in k.free_symbols}
    lengths |= free & {*SIZES}
    leaves = [leaf for leaf in DATA if leaf in free]
    function = se.lambdify([*leaves, *lengths], e)
    values = [DATA[leaf] for leaf in leaves]
    sizes = [SIZES[k] for k in lengths]

    def at(point=None, variable=None):
        own = [v if leaf is not variable else point for leaf, v in zip(leaves, values, strict=True)]
        return np.asarray(function(*own, *sizes), dtype=float)

    return at


def differences(e, variable, step=1e-5):
    """Return the derivative by central differences, the variable's axes last."""
    function, point = compiled(e), DATA[variable]
    found = []
    for k in range(point.size):
        moved = np.zeros(point.size)
        moved[k] = step
        moved = moved.reshape(point.shape)
        found.append(
            (function(point + moved, variable) - function(point - moved, variable)) / (2 * step)
        )
    return np.stack(found, axis=-1)


FIELDS = [
    (se.sin(M @ x) * x, x), (se.cross(w, x) / se.norm(x), x), (se.exp(x @ w) * x, x),
    (M * se.cos(x)[None, :], x), (se.softmax(S @ x), x), (se.tanh(B @ y), y),
    (T @ y * (y @ y), y),
]  # fmt: skip


@pytest.mark.parametrize(("F", "at"), FIELDS, ids=str)
def test_divergences(F, at):
    found = compiled(se.divergence(F, at))()
    np.testing.assert_allclose(found, np.einsum("...ii->...", differences(F, at)), atol=1e-6)


@pytest.mark.parametrize(("F", "at"), [pair for pair in FIELDS if pair[1] is x], ids=str)
def test_curls(F, at):
    J = differences(F, at)
    expected = np.stack([J[..., 2, 1] - J[..., 1, 2], J[..., 0, 2] - J[..., 2, 0],
                         J[..., 1, 0] - J[..., 0, 1]], axis=-1)  # fmt: skip
    np.testing.assert_allclose(compiled(se.curl(F, at))(), expected, atol=1e-6)


SCALARS = [(se.exp(w @ x) / se.norm(x), x), (y @ B @ y * (y @ y), y), (se.logsumexp(B @ y), y)]


@pytest.mark.parametrize(("f", "at"), [*SCALARS, *FIELDS], ids=str)
def test_laplacians(f, at):
    expected = np.einsum("...ii->...", differences(se.diff(f, at), at))
    np.testing.assert_allclose(compiled(se.laplacian(f, at))(), expected, atol=1e-5)


def test_laplacians_by_matrices_and_symbols():
    t = symbols("t")
    assert se.laplacian((M**2).sum(), M) == 18
    assert se.laplacian(sympy.sin(t) * x, t) == -sympy.sin(t) * x
    f = sympy.sin(w @ M @ w)
    second = differences(se.gradient(f, M), M).reshape(9, 9)
    np.testing.assert_allclose(compiled(se.laplacian(f, M))(), second.trace(), atol=1e-6)


def test_results_are_simple():
    assert se.laplacian(1 / se.norm(x), x) == 0
    assert se.divergence(x / se.norm(x) ** 3, x) == 0
    assert se.curl(x / se.norm(x) ** 3, x) == se.Zeros(3)
    assert se.curl(S @ x, x) == se.Zeros(3)
    assert se.curl(se.cross(w, x), x) == 2 * w
    assert se.divergence(y, y) == n
    assert se.divergence(se.cross(w, x), x) == 0


@pytest.mark.parametrize(
    "f", [se.exp(w @ x) / se.norm(x), x @ M @ x, sympy.sin(x @ x) * (w @ x)], ids=str
)
def test_curl_of_a_gradient(f):
    assert se.curl(se.gradient(f, x), x) == se.Zeros(3)


def test_curl_in_a_product_has_one_sign():
    point, a = se.tensors("p a", 3)
    density = a @ se.curl(se.unknown("F", point, shape=(3,)), point)
    for e in (density, -density, 1 - density, -2 * density):
        for text in (sympy.latex(e), str(e), sympy.pretty(e)):
            assert not re.search("[-+] *-", text)


@pytest.mark.parametrize(
    "F", [se.sin(M @ x) * x, se.cross(w, x) * (x @ x), M @ x * se.exp(x)], ids=str
)
def test_divergence_of_a_curl(F):
    assert se.equal(se.divergence(se.curl(F, x), x), 0)


F, G = se.sin(M @ x), se.cos(S @ x)
IDENTITIES = [
    (se.curl(se.curl(F, x), x), se.gradient(se.divergence(F, x), x) - se.laplacian(F, x)),
    (se.divergence(se.cross(F, G), x), G @ se.curl(F, x) - F @ se.curl(G, x)),
    (se.curl((w @ x) * F, x), (w @ x) * se.curl(F, x) + se.cross(w, F)),
    (
        se.curl(se.cross(F, G), x),
        F * se.divergence(G, x) - G * se.divergence(F, x)
        + se.jacobian(F, x) @ G - se.jacobian(G, x) @ F,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), IDENTITIES, ids=str)
def test_identities(one, other):
    assert se.equal(one, other)


def test_sympys_vectors():
    """A field that is written by entries."""
    C = CoordSys3D("C")
    base = (C.x, C.y, C.z)
    e = se.stack([sympy.sin(x[0]) * x[1], x[2] ** 2 * x[0], sympy.exp(x[1])])
    field = sympy.sin(C.x) * C.y * C.i + C.z**2 * C.x * C.j + sympy.exp(C.y) * C.k
    names = dict(zip(base, [x[k] for k in range(3)], strict=True))

    def by_entries(vector):
        return [part.xreplace(names) for part in vector.to_matrix(C)]

    difference = lambda one, other: sympy.simplify(one - other)  # noqa: E731
    assert difference(se.simplify(se.divergence(e, x)), divergence(field).xreplace(names)) == 0
    found = se.curl(e, x).as_explicit()
    assert [difference(*pair) for pair in zip(found, by_entries(curl(field)), strict=True)] == [
        0
    ] * 3
    scalar = C.x**2 * C.z + sympy.cos(C.y)
    f = x[0] ** 2 * x[2] + sympy.cos(x[1])
    found = se.gradient(f, x).as_explicit()
    assert [
        difference(*pair) for pair in zip(found, by_entries(gradient(scalar)), strict=True)
    ] == [0] * 3
    assert difference(se.laplacian(f, x), divergence(gradient(scalar)).xreplace(names)) == 0


def test_bad_arguments():
    with pytest.raises(se.ShapeError, match="as long as y, which has n entries, not 3"):
        se.divergence(x, y)
    with pytest.raises(se.ShapeError, match="3 dimensions, and y has n entries"):
        se.curl(y, y)
    with pytest.raises(se.TensorError, match="not a scalar; gradient takes that"):
        se.divergence(x @ x, x)
    with pytest.raises(se.ShapeError, match=r"a vector, and M has shape \(3, 3\)"):
        se.curl(x, M)
    with pytest.raises(se.ShapeError, match=r"a vector, and t has shape \(\)"):
        se.divergence(x, symbols("t"))
