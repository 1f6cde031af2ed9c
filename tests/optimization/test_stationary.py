"""Stationary points of quadratic functions, against textbook forms and least squares by NumPy."""

import numpy as np
import pytest
import sympy
from oracles import assert_close
from sympy import symbols

import sympy_einsum as se

m, n, k, p, q, r = symbols("m n k p q r", integer=True, positive=True)
LENGTHS = {m: 7, n: 6, k: 5, p: 2, q: 3, r: 4}
t = sympy.Symbol("t", positive=True)
X, T = se.TensorSymbol("X", m, n), se.TensorSymbol("T", m, n, k)
U, V, W = se.TensorSymbol("U", m, p), se.TensorSymbol("V", n, q), se.TensorSymbol("W", k, r)
A, B, C = (se.TensorSymbol(name, length, p) for name, length in zip("ABC", (m, n, k), strict=True))
D, E = se.TensorSymbol("D", m, p), se.TensorSymbol("E", p, n)
w, y, c = se.TensorSymbol("w", p), se.TensorSymbol("y", m), se.TensorSymbol("c", m)
G, M = se.TensorSymbol("G", p, q, r), se.TensorSymbol("M", p, n, r)
weights = se.TensorSymbol("weights", m, positive=True)
P = se.TensorSymbol("P", p, p, psd=True)
inv, einsum = se.inv, se.einsum


def squares(e):
    return (e**2).sum()


# Each with the unknown and the form in textbooks.
CASES = {
    "least squares": (squares(U @ w - y), w, inv(U.T @ U) @ U.T @ y),
    "ridge regression": (
        squares(U @ w - y) + t * squares(w),
        w,
        inv(U.T @ U + t * se.Delta(p)) @ U.T @ y,
    ),
    "weighted": (
        (weights * (U @ w - y) ** 2).sum(),
        w,
        inv(U.T @ (weights[:, None] * U)) @ U.T @ (weights * y),
    ),
    "penalty": (squares(U @ w - y) + w @ P @ w, w, inv(U.T @ U + P) @ U.T @ y),
    "several right-hand sides": (squares(X - U @ E), E, inv(U.T @ U) @ U.T @ X),
    "factorization": (squares(X - D @ E), D, X @ E.T @ inv(E @ E.T)),
    "canonical polyadic": (
        squares(T - einsum("ia,ja,ka->ijk", A, B, C)),
        A,
        einsum("ijk,jb,kb,ba->ia", T, B, C, inv((B.T @ B) * (C.T @ C))),
    ),
    "Tucker's core": (
        squares(T - einsum("ia,jb,kc,abc->ijk", U, V, W, G)),
        G,
        einsum("ijk,ia,jb,kc,ad,be,cf->def", T, U, V, W, inv(U.T @ U), inv(V.T @ V), inv(W.T @ W)),
    ),
    "core of a tensor train": (
        squares(T - einsum("ia,ajb,kb->ijk", U, M, W)),
        M,
        einsum("ijk,ia,kb,ad,be->dje", T, U, W, inv(U.T @ U), inv(W.T @ W)),
    ),
    "denoising": (squares(y - c) + t * squares(c), c, y / (1 + t)),
    "a scalar": (squares(y - t * weights), t, (y @ weights) / (weights @ weights)),
}


def evaluated(e, seed=0):
    """Return the value of an expression at random data, the same for all expressions."""
    data = {}
    for leaf in sorted(e.free_symbols, key=str):
        normal = np.random.default_rng([seed, *leaf.name.encode()]).standard_normal
        value = LENGTHS.get(leaf) or normal([LENGTHS[n] for n in getattr(leaf, "shape", ())])
        value = value @ value.T if leaf == P else value
        data[leaf] = abs(value) if getattr(leaf, "is_positive", False) else value
    return se.lambdify([*data], e)(*data.values())


@pytest.mark.parametrize("name", CASES)
def test_textbook_forms(name):
    f, unknown, expected = CASES[name]
    found = se.stationary(f, unknown)
    assert getattr(found, "shape", ()) == getattr(unknown, "shape", ())
    assert se.equal(found, expected)
    assert_close(evaluated(found), evaluated(expected), 1e-6)
    derivative = se.gradient(f, unknown).subs(unknown, found)
    assert_close(evaluated(derivative), np.zeros(np.shape(evaluated(derivative))), 1e-6)


def test_a_dense_hessian_of_a_matrix():
    """No structure: the matrix as a vector."""
    L = se.TensorSymbol("L", p, q, p, q)
    R = se.TensorSymbol("R", p, q)
    Z = se.TensorSymbol("Z", p, q)
    f = einsum("abcd,ab,cd->", L, Z, Z) - (R * Z).sum()
    found = se.stationary(f, Z)
    normal = np.random.default_rng(1).standard_normal
    data = normal((2, 3, 2, 3)), normal((2, 3))
    matrix = data[0].reshape(6, 6)
    expected = np.linalg.solve(matrix + matrix.T, data[1].ravel()).reshape(2, 3)
    assert_close(se.lambdify([L, R], found)(*data), expected, 1e-8)


def test_what_has_none_is_refused():
    with pytest.raises(se.UnsupportedError, match="isn't linear in w; minimizer"):
        se.stationary(squares(U @ w - y) + (w**4).sum(), w)
    for f in ((U @ w).sum(), y @ y):
        with pytest.raises(se.TensorError, match="f is linear in w"):
            se.stationary(f, w)
    with pytest.raises(se.ShapeError, match="only a scalar has a stationary point"):
        se.stationary(U @ w, w)
    with pytest.raises(se.UnsupportedError, match="isn't linear in E; minimizer"):
        se.stationary(squares(X - U @ E) + squares(E.T @ E - se.Delta(n)), E)
    S = se.TensorSymbol("S", p, p, symmetric=True)
    with pytest.raises(se.UnsupportedError, match="S of stationary is symmetric"):
        se.stationary(squares(S - P), S)


@pytest.mark.parametrize(
    "more",
    [
        se.Abs(w).sum(),
        se.norm(w, 1),
        se.relu(w).sum(),
        w.max(),
        se.sort(w)[0],
        se.where(w > 0, w, 2 * w).sum(),
        (w * se.floor(w)).sum(),
        w @ se.stop_gradient(w),
    ],
    ids=str,
)
def test_constant_derivatives_of_gradients_that_are_not_linear(more):
    """Those of functions with steps are zero: the solution would be one without that part."""
    for f in (more, squares(U @ w - y) + t * more):
        with pytest.raises(se.UnsupportedError, match="isn't known to be linear in w"):
            se.stationary(f, w)


def test_loops():
    _, path = se.scan(lambda z, _: (z / 2 + w, z), se.Zeros(p), length=4)
    found = evaluated(se.stationary(squares(path - y[0]) + squares(w - 1), w))
    factors = np.array([0, 1, 1.5, 1.75])
    y_0 = evaluated(y[0])
    assert_close(found, np.full(2, (factors.sum() * y_0 + 1) / (factors @ factors + 1)), 1e-8)


def test_more_models():
    """Trains, cores with a penalty, weights of entries: against a system of all unknowns."""
    R, Z = se.TensorSymbol("R", p, n, q), se.TensorSymbol("Z", q, k)
    known = se.TensorSymbol("known", m, n, k, positive=True)
    shift = se.TensorSymbol("shift", n)
    tucker = einsum("ia,jb,kc,abc->ijk", U, V, W, G)
    for f, unknown in [
        (squares(T - einsum("ia,ajb,bk->ijk", U, R, Z)), R),
        (squares(T - einsum("ia,ajb,bk->ijk", U, R, Z)), Z),
        (squares(T - tucker), U),
        (squares(T - tucker) + t * squares(G), G),
        ((known * (T - einsum("ia,ja,ka->ijk", A, B, C)) ** 2).sum(), B),
        (squares(X - D @ E - shift[None, :]), shift),
        (squares(c - y) + t * squares(c[2:] - 2 * c[1:-1] + c[:-2]), c),
        (squares(X - D @ E @ se.diag(shift)), shift),
    ]:
        found = evaluated(se.stationary(f, unknown))
        size = found.size
        gradient = se.gradient(f, unknown).subs(unknown, se.Zeros(*unknown.shape))
        matrix = evaluated(se.hessian(f, unknown).subs(unknown, se.Zeros(*unknown.shape)))
        expected = np.linalg.solve(matrix.reshape(size, size), -evaluated(gradient).ravel())
        assert_close(found, expected.reshape(found.shape), 1e-6)
