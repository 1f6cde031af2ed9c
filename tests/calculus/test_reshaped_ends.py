"""Derivatives of and by reshaped tensors, against complex steps and derivatives by blocks."""

from __future__ import annotations

import numpy as np
import pytest
from sympy import symbols

import sympy_einsum as se

LENGTH = 24
A = np.random.default_rng(0).normal(size=(4, 6))
B = np.random.default_rng(1).normal(size=(6, 5))

FUNCTIONS = {
    "reshaped": lambda z: z.reshape(4, 6),
    "a function of a matrix": lambda z: (z.reshape(4, 6) ** 3) @ B,
    "both ends": lambda z: (z.reshape(4, 6) ** 3).reshape(24),
    "both ends in another order": lambda z: (z.reshape(6, 4).T ** 2 * A).reshape(8, 3),
    "slices": lambda z: z[:8].reshape(2, 4) @ z[8:].reshape(4, 4),
    "slices with a step": lambda z: (z[1::2].reshape(3, 4) ** 2).sum(axis=0),
    "overlapping slices": lambda z: z[:12].reshape(3, 4) @ z[6:18].reshape(4, 3),
    "backwards": lambda z: z[::-1].reshape(4, 6) * z.reshape(4, 6),
    "beside the variable itself": lambda z: (z.reshape(4, 6) ** 2).reshape(24) * z + z[0],
    "a sum of rearranged": lambda z: (z**2).reshape(4, 6) + 2 * (z**3).reshape(6, 4).T + A,
    "reshaped twice": lambda z: (z.reshape(4, 6)[1:, :5].reshape(5, 3).T.reshape(15)) ** 2,
    "scaled": lambda z: z[3] * (2 * z).reshape(4, 6),
    "with an axis of one": lambda z: (z.reshape(4, 1, 6)[:, :, None] * A[:, None, None]) ** 2,
    "placed": lambda z: (z**2).reshape(4, 6)[:, None, 2:] * A[0, 1],
    "a constant beside it": lambda z: z.reshape(4, 6)[:2] * A[:2] + 1,
    "nothing of it": lambda z: A.reshape(6, 4) * z[0] * 0 + A.reshape(6, 4),
}
NUMBERS = np.random.default_rng(2).normal(size=LENGTH)
z = se.TensorSymbol("z", LENGTH)


def by_complex_steps(function, point):
    """Return the derivative of a function made of sums and products, exact up to rounding."""
    steps = point + 1e-30j * np.eye(len(point))
    return np.stack([function(own).imag / 1e-30 for own in steps], axis=-1)


@pytest.mark.parametrize("mode", ["auto", "forward"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_derivative_is_right(name, mode):
    function = FUNCTIONS[name]
    expected = by_complex_steps(function, NUMBERS)
    found = se.jacobian(function(z), z, mode=mode)
    assert found.shape == expected.shape
    np.testing.assert_allclose(se.lambdify([z], found)(NUMBERS), expected, atol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_hessian_is_right(name):
    def total(z):
        return (FUNCTIONS[name](z) ** 2).sum()

    rows = [
        by_complex_steps(total, NUMBERS + own) - by_complex_steps(total, NUMBERS - own)
        for own in 1e-5 * np.eye(LENGTH)
    ]
    found = se.lambdify([z], se.hessian(total(z), z))(NUMBERS)
    np.testing.assert_allclose(found, np.array(rows) / 2e-5, rtol=1e-6, atol=1e-5)


def test_a_packed_hessian_holds_that_by_blocks():
    m, n, k = symbols("m n k", integer=True, positive=True)
    T, U, V = [
        se.TensorSymbol(name, *shape)
        for name, shape in {"T": (m, n), "U": (m, k), "V": (n, k)}.items()
    ]
    packed = se.TensorSymbol("z", m * k + n * k)
    parts = {U: packed[: m * k].reshape(m, k), V: packed[m * k :].reshape(n, k)}
    loss = se.exp(U @ V.T - T).sum() + (U**2).sum()
    hessian = se.lambdify([T, packed, k, m], se.hessian(loss.xreplace(parts), packed))
    # Nothing but zeros, to which the blocks are written, has more than the axes of a block.
    assert "m, k, k*m" not in hessian.source
    rng = np.random.default_rng(0)
    T_, U_, V_ = rng.normal(size=(4, 5)), rng.normal(size=(4, 3)), rng.normal(size=(5, 3))
    blocks = se.lambdify([T, U, V], se.hessian(loss, [U, V]))(T_, U_, V_)
    rows = [np.concatenate([b.reshape(len(b) * 3, -1) for b in row], axis=1) for row in blocks]
    found = hessian(T_, np.concatenate([U_.ravel(), V_.ravel()]), 3, 4)
    np.testing.assert_allclose(found, np.concatenate(rows), atol=1e-12)


def test_signs_of_reshaped_tensors_are_known():
    x = se.TensorSymbol("x", 6, positive=True)
    derivative = se.jacobian(se.Abs(x.reshape(2, 3)), x)
    assert derivative == se.jacobian(x.reshape(2, 3), x)


def test_steps_speak_of_the_variable():
    x = se.TensorSymbol("x", 6)
    y = se.exp(x.reshape(2, 3))
    result, trace = se.diff(y, x, trace=True)
    assert result == se.jacobian(y, x)
    assert "part" not in str([(step.before, step.after) for step in trace])


def test_names_of_users_are_left_alone():
    x, part = se.TensorSymbol("x", 6), se.TensorSymbol("part0", 2, 3)
    derivative = se.jacobian(part * x.reshape(2, 3), x)
    value = se.lambdify([x, part], derivative)(np.ones(6), np.arange(6.0).reshape(2, 3))
    np.testing.assert_allclose(value.reshape(6, 6), np.diag(np.arange(6.0)))


def test_sums_of_shared_nodes_are_visited_once():
    x = se.TensorSymbol("x", 9)
    y = (x**2).reshape(3, 3)
    for _ in range(40):
        y = y + y.T / 2
    value = se.lambdify([x], se.jacobian(y, x))(np.ones(9))
    np.testing.assert_allclose(value.sum(), 18 * 1.5**40)
