"""Terms constant along the axes of a maximum move out of it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.rules.extrema import constant_in_extremum

m, n, k = symbols("m n k", integer=True, positive=True)
T = se.TensorSymbol("T", (m, n, k))
x, y, A = se.TensorSymbol("x", m), se.TensorSymbol("y", n), se.TensorSymbol("A", (m, k))


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("axis", [0, 1, 2, (0, 2), (1, 2), None])
def test_values_and_derivatives(name, axis):
    """Terms constant along some of the axes and along others, and ties."""
    rng = np.random.default_rng(1)
    total = T + 2 * x[:, None, None] + snp.expand_dims(A, 1) + y[None, :, None] + 3
    f = getattr(snp, name)(total, axis=axis)
    values = {
        T: rng.integers(3, size=(2, 3, 4)) * 1.0,
        x: rng.integers(3, size=2) * 1.0,
        A: rng.integers(3, size=(2, 4)) * 1.0,
        y: rng.integers(3, size=3) * 1.0,
    }
    numbers = values[T] + 2 * values[x][:, None, None] + values[A][:, None] + values[y][:, None] + 3
    wanted = getattr(np, name)(numbers, axis=axis)
    hits = numbers == getattr(np, name)(numbers, axis=axis, keepdims=True)
    share = hits / hits.sum(axis=axis, keepdims=True)
    loss = snp.sum(f)
    exprs = [se.simplify(f), *[se.gradient(loss, s) for s in values]]
    found = se.lambdify(list(values), exprs)(*values.values())
    expected = [wanted, share, 2 * share.sum((1, 2)), share.sum(1), share.sum((0, 2))]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other)


def test_constants_along_all_axes():
    assert se.simplify(snp.max(T + x[:, None, None], axis=(1, 2))) == snp.max(T, axis=(1, 2)) + x
    both = snp.max(x[:, None] + se.Zeros(m, n) + 2 * x[:, None], axis=1)
    values = np.array([1.0, -2.0])
    np.testing.assert_array_equal(se.lambdify([x, y], both)(values, np.ones(3)), 3 * values)


def test_constants_inside_other_functions_stay():
    B = se.TensorSymbol("B", (m, k))
    f = snp.max(snp.maximum(A + B, x[:, None]), axis=1)
    assert constant_in_extremum(f, ()) is None
    given = np.array([[1.0, 5.0], [2.0, 3.0]]), np.zeros((2, 2)), np.array([4.0, 1.0])
    np.testing.assert_array_equal(se.lambdify([A, B, x], se.simplify(f))(*given), [5.0, 3.0])


MASKED = {
    "softmax": (lambda x: se.softmax(x, axis=1), lambda x: scipy.special.softmax(x, axis=1)),
    "logsumexp": (
        lambda x: se.logsumexp(x, axis=1),
        lambda x: scipy.special.logsumexp(x, axis=1),
    ),
    "written out": (
        lambda x: se.exp(x) / se.exp(x).sum(axis=1)[:, None],
        lambda x: scipy.special.softmax(x, axis=1),
    ),
    "maximum": (lambda x: x.max(axis=1), lambda x: x.max(axis=1)),
}


@pytest.mark.parametrize("name", MASKED)
@pytest.mark.parametrize("big", [1e4, 1e30])
@pytest.mark.parametrize("kind", ["symbol", "triangle", "diagonal"])
def test_additive_masks(name, big, kind):
    """L + (1 - mask)*(-big) keeps the digits of L: both large terms are added first."""
    ours, theirs = MASKED[name]
    L, M = se.TensorSymbol("L", n, n), se.TensorSymbol("M", n, n)
    values = np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32)
    shown = np.eye(4) if kind == "diagonal" else np.tril(np.ones((4, 4)))
    mask = {"symbol": M, "triangle": se.tril(se.Ones(n, n)), "diagonal": se.Delta(n)}[kind]
    expected = theirs(np.where(shown > 0, values, values - np.float32(big)))
    for form in (L + (1 - mask) * (-big), L - int(big) * (1 - mask)):
        for e in (ours(form), se.simplify(ours(form))):
            found = se.lambdify([L, M], e)(values, shown.astype(np.float32))
            np.testing.assert_allclose(found, expected, rtol=1e-6)
