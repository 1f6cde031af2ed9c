"""Common subexpressions of several expressions, in any form."""

from __future__ import annotations

import numpy as np
from sympy import Integer, symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.compiler.program import Compilation, Request
from sympy_einsum.core import tuning

m, n, p = symbols("m n p", integer=True, positive=True)
turns, points = se.TensorSymbol("turns", (n, 3)), se.TensorSymbol("points", (p, 3))
camera, point = se.TensorSymbol("camera", m), se.TensorSymbol("point", m)
seen = se.TensorSymbol("seen", (m, 2))


def reprojection(xp, turns, points, camera, point, seen):
    """Return Rodrigues' rotation of a point, seen by a distant camera."""
    w, x = turns[camera], points[point]
    angle = xp.sqrt(xp.sum(w**2, axis=1, keepdims=True) + 1e-6)
    cross = [w[:, k - 2] * x[:, k - 1] - w[:, k - 1] * x[:, k - 2] for k in range(3)]
    along = xp.sum(w * x, axis=1, keepdims=True)
    y = x * xp.cos(angle) + xp.stack(cross, axis=1) * (xp.sin(angle) / angle)
    y = y + w * along * ((1 - xp.cos(angle)) / angle**2)
    return xp.sum((y[:, :2] / (9 + y[:, 2:]) - seen) ** 2)


def test_a_value_shares_subexpressions_with_its_gradients():
    loss = reprojection(snp, turns, points, camera, point, seen)
    gradients = [se.gradient(loss, turns), se.gradient(loss, points)]
    function = se.lambdify([turns, points, camera, point, seen], [loss, *gradients])
    source = function.source[function.source.index("def function") :]
    # Sines over angles are sincs, of half the angle in (1 - cos)/angle**2, whose derivative has the
    # sine of that; and a cosine is that of the whole angle.
    counts = [source.count(f"np.{name}(") for name in ("cos", "sin", "sinc")]
    assert counts == [1, 1, 2]
    rng = np.random.default_rng(0)
    values = [rng.standard_normal((4, 3)), rng.standard_normal((5, 3))]
    rest = [rng.integers(4, size=6), rng.integers(5, size=6), rng.standard_normal((6, 2))]
    value, *derivatives = function(*values, *rest)
    np.testing.assert_allclose(value, reprojection(np, *values, *rest), rtol=1e-13)
    for place, derivative in enumerate(derivatives):
        for entry in np.ndindex(derivative.shape):
            moved = [own.astype(complex) for own in values]
            moved[place][entry] += 1e-30j
            step = reprojection(np, *moved, *rest).imag / 1e-30
            np.testing.assert_allclose(derivative[entry], step, rtol=1e-11, atol=1e-13)


def test_a_sum_over_one_entry_is_that_entry():
    X = se.TensorSymbol("X", (m, 1))
    source = se.lambdify(X, snp.exp(X).sum(axis=1)).source
    assert "sum" not in source
    np.testing.assert_allclose(se.lambdify(X, X.sum(axis=1))([[1.0], [2.0]]), [1, 2])


def test_a_program_keeps_a_limited_number_of_plans(monkeypatch):
    monkeypatch.setattr(tuning, "MAX_PLANS", 2)
    axes = symbols("a b c d e", integer=True, positive=True)
    A, B, C, D = [se.TensorSymbol(name, axes[k : k + 2]) for k, name in enumerate("ABCD")]
    program = Compilation(Request([A, B, C, D], [A @ B @ C @ D]))

    def plan(thin):
        return program.plan({axis: Integer(1 if axis is thin else 100) for axis in axes})

    first, second, third = [plan(axis) for axis in axes[:3]]
    assert plan(axes[0]) is first
    assert plan(axes[2]) is third
    assert plan(axes[1]) is not second
