"""Distribution of products over sums."""

from __future__ import annotations

import numpy as np
import pytest
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.core import postorder
from sympy_einsum.expressions import order_of

n = symbols("n", integer=True, positive=True)


def test_a_sum_with_more_axes_than_anything_in_it_is_multiplied_out():
    """The Hessian of a hidden Markov model by its first scores is that of one log-sum-exp."""
    first, move = se.TensorSymbol("first", n), se.TensorSymbol("move", (n, n))
    state = first
    for _ in range(4):
        state = se.logsumexp(state[:, None] + move, 0)
    f = se.logsumexp(state, 0)
    hessian = se.hessian(f, first)
    assert max(map(order_of, postorder([hessian]))) == 2
    values = np.array([0.5, -1.0, 2.0]), np.arange(9.0).reshape(3, 3) % 4
    derivative, found = se.lambdify([first, move], [se.gradient(f, first), hessian])(*values)
    np.testing.assert_allclose(
        found, np.diag(derivative) - np.outer(derivative, derivative), atol=1e-12
    )
    assert se.check_derivative(se.gradient(f, first), first) < 1e-6


def test_differences_of_all_pairs_stay():
    """Far from the origin the sum of products would cancel."""
    x, y = se.TensorSymbol("x", (n, 2)), se.TensorSymbol("y", (n, 2))
    weights = se.TensorSymbol("w", (n, n))
    moment = se.einsum("ijk,ij->jk", x[:, None] - y[None], weights)
    points = 1e9 + np.arange(16.0).reshape(2, 4, 2)
    expected = np.einsum("ijk,ij->jk", points[0][:, None] - points[1], np.eye(4))
    call = se.lambdify([x, y, weights], moment)
    np.testing.assert_array_equal(call(*points, np.eye(4)), expected)


def test_such_a_sum_of_which_nothing_becomes_smaller_stays():
    X, x = se.TensorSymbol("X", (n, n)), se.TensorSymbol("x", n)
    T = se.TensorSymbol("T", (n, n, n))
    total = se.einsum("ijk,k->ij", T + se.einsum("i,jk->ijk", x, X), x)
    values = np.arange(27.0).reshape(3, 3, 3), np.arange(9.0).reshape(3, 3), np.array([1.0, -2, 3])
    expected = (values[0] + np.einsum("i,jk->ijk", values[2], values[1])) @ values[2]
    np.testing.assert_allclose(se.lambdify([T, X, x], total)(*values), expected)


def test_squares_of_residuals_with_zero_padded_terms_stay():
    """Far from the origin the products with the data would cancel."""
    x, y, P = (
        se.TensorSymbol("x", n),
        se.TensorSymbol("y", (n + 1, n)),
        se.TensorSymbol("P", (n, n)),
    )
    residual = se.concatenate([x[None], se.sinh(P)]) - y
    f = se.lambdify([x, y, P], (residual**2).sum())
    points = 1e8 + np.arange(12.0).reshape(4, 3)
    found = f(points[0] + 1, points + 2, np.arcsinh(points[1:] + 1))
    np.testing.assert_allclose(found, 12, rtol=1e-5)


@pytest.mark.parametrize("is_symmetric", [False, True])
def test_products_of_a_deviator_stay(is_symmetric):
    """Under a pressure the traces of powers would cancel against powers of the trace."""
    s = se.TensorSymbol("s", (n, n), symmetric=is_symmetric)
    deviator = s - s.trace() / n * se.eye(n)
    square = deviator @ deviator
    for f in (se.sqrt(square.trace() / 2) + s.trace(), (square @ deviator).trace()):
        assert se.gradient(f, s).has(deviator)
        call = se.lambdify([s], [se.gradient(f, s), se.hessian(f, s)])
        stress = np.array([[1.0, 2, 3], [2, -3, 1], [3, 1, 2]])
        for own, pressed in zip(call(stress), call(stress + 2**30 * np.eye(3)), strict=True):
            np.testing.assert_allclose(pressed, own, atol=1e-13)


def test_a_residual_with_running_terms_stays():
    """As in the trigonometric function of Moré, Garbow and Hillstrom."""
    x = se.TensorSymbol("x", n)
    residual = n - se.cos(x).sum() + snp.arange(1, n + 1) * (1 - se.cos(x)) - se.sin(x)
    gradient = se.gradient((residual**2).sum(), x)
    assert str(gradient).count("sin(x)") < 5
    assert se.check_derivative((residual**2).sum(), x) < 1e-6


def test_squares_of_terms_that_do_not_overlap_are_added():
    x, P = se.TensorSymbol("x", n), se.TensorSymbol("P", (n, n))
    total = (se.concatenate([x[None], se.sinh(P)]) ** 2).sum()
    f = se.lambdify([x, P], total)
    values = np.arange(3.0), np.arange(9.0).reshape(3, 3)
    expected = (values[0] ** 2).sum() + (np.sinh(values[1]) ** 2).sum()
    np.testing.assert_allclose(f(*values), expected)
