"""Newton's method in generated code."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from runtime_helpers import helper

NAMES = pytest.mark.parametrize("name", ["array_helpers.newton_root", "jax_helpers.newton_root"])


def circle(x, radius):
    """Return x₀² + x₁² - radius² and x₀ - x₁, and their Jacobian."""
    f = np.array([1.0, 0]) * (x[0] ** 2 + x[1] ** 2 - radius**2) + np.array([0, 1.0]) * (
        x[0] - x[1]
    )
    return f, np.array([[1.0, 0], [0, 0]]) * 2 * x + np.array([[0, 0], [1.0, -1]])


@NAMES
def test_systems(name):
    found = helper(name)(circle, np.array([3.0, 0.1]), 2.0)
    assert_allclose(found, [2**0.5, 2**0.5], rtol=1e-6)
    # A start that is the solution, and no unknowns.
    assert_allclose(helper(name)(lambda x: (x, 1.0), 0.0), 0)
    empty = helper(name)(lambda x: (x, np.zeros((0, 0))), np.zeros(0))
    assert empty.shape == (0,)


@NAMES
def test_values_that_are_no_numbers(name):
    """Steps are halved where they leave the domain, and a start outside of it is an error."""
    with np.errstate(all="ignore"):
        logarithm = helper(name)(lambda x: (abs(x) ** 0.5 / (x > 0) - 1, 0.5 / abs(x) ** 0.5), 9.0)
        assert_allclose(logarithm, 1, rtol=1e-5)
        with pytest.raises(ArithmeticError, match="the residual is nan after"):
            helper(name)(lambda x: (x * np.nan, 1.0), 1.0)
