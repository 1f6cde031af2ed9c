"""Derivatives of stable forms: correct, and as short as in textbooks."""

from __future__ import annotations

import numpy as np
import pytest
from sympy import Rational, symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

m, n, k = symbols("m n k", integer=True, positive=True)
A, X = se.TensorSymbol("A", m, n), se.TensorSymbol("X", n, k)
x, y, b = se.TensorSymbol("x", n), se.TensorSymbol("y", n), se.TensorSymbol("b", m)
DATA = {
    A: np.cos(np.arange(6.0)).reshape(2, 3) + 1.5,
    X: np.sin(np.arange(12.0)).reshape(3, 4),
    x: np.array([0.3, -1.2, 2.0]),
    y: np.array([0.5, 1.5, 0.75]),
    b: np.array([1.25, 0.5]),
}
p, q = se.softmax(x), se.softmax(X, axis=0)
r = 1 / (A @ p)
loss = 1 - b * (A @ x)
GRADIENTS = [
    (se.log(A @ se.exp(x)).sum(), x, p * (A.T @ r)),
    (b @ se.log(A @ se.exp(x)), x, p * (A.T @ (b / (A @ p)))),
    (se.log(b * (A @ se.exp(x))).sum(), x, p * (A.T @ r)),
    (se.log(A @ p).sum(), x, p * (A.T @ r) - m * p),
    (se.log(A @ se.exp(X)).sum(), X, q * (A.T @ (1 / (A @ q)))),
    (-(p @ se.log(p)), x, (p @ se.log(p)) * p - p * se.log(p)),
    ((se.relu(loss) ** 2).sum(), x, -2 * A.T @ (b * se.relu(loss))),
    ((snp.maximum(loss, 0) ** 2).sum(), x, -2 * A.T @ (b * se.Max(loss, 0))),
    (snp.maximum(x, y).sum(), x, se.step(x - y, Rational(1, 2))),
    (se.softplus(se.log(y)).sum(), y, 1 / (y + 1)),
    (p @ se.log(p / y), y, -p / y),
]
HESSIANS = [
    (se.log(A @ se.exp(x)).sum(), x,
     se.diag(p * (A.T @ r)) - se.diag(p) @ A.T @ se.diag(r**2) @ A @ se.diag(p)),
    (se.log(y @ p), x,
     se.diag(y * p) / (y @ p) + se.outer(p, p) - se.diag(p)
     - se.outer(y * p, y * p) / (y @ p) ** 2),
]  # fmt: skip


def assert_right(f, x, derivative):
    """Compare a derivative with central differences."""
    value, found = se.lambdify(list(DATA), f), se.lambdify(list(DATA), derivative)
    base = np.zeros(DATA[x].shape)
    found = found(*DATA.values())
    for at in np.ndindex(base.shape):
        step = base.copy()
        step[at] = 1e-5
        ahead, behind = ({**DATA, x: DATA[x] + s * step}.values() for s in (1, -1))
        difference = (value(*ahead) - value(*behind)) / 2e-5
        np.testing.assert_allclose(found[(..., *at)], difference, atol=1e-7)


@pytest.mark.parametrize(("f", "v", "expected"), GRADIENTS, ids=[str(f) for f, _, _ in GRADIENTS])
def test_gradient(f, v, expected):
    gradient = se.gradient(f, v)
    assert str(gradient) == str(se.simplify(expected))
    assert_right(f, v, gradient)


@pytest.mark.parametrize(("f", "v", "expected"), HESSIANS, ids=[str(f) for f, _, _ in HESSIANS])
def test_hessian(f, v, expected):
    hessian = se.hessian(f, v)
    assert len(str(hessian)) <= len(str(se.simplify(expected)))
    assert_right(se.gradient(f, v), v, hessian)


def test_hessian_of_an_entropy_is_written_out():
    """The Hessian has vectors and no product of matrices."""
    text = str(se.hessian(p @ p, x))
    assert "Delta" not in text
    assert len(text) < 200


@pytest.mark.parametrize(("function", "derivative"), [(se.softplus, 1.0), (se.sigmoid, 1.0)])
def test_derivative_at_0_of_a_function_of_a_logarithm(function, derivative):
    gradient = se.lambdify([y], se.gradient(function(se.log(y)).sum(), y))
    np.testing.assert_allclose(gradient(np.array([0.0, 1e-9])), derivative)
