"""Functions of the same entries are computed once."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.special import ndtr
from sympy import Piecewise, symbols

import sympy_einsum as se

m, n = symbols("m n", integer=True, positive=True)
x, y = se.tensors("x y", n)
t = symbols("t", real=True)


def body(function):
    return function.source.split("def function")[-1]


@pytest.mark.parametrize(
    ("exprs", "call", "count"),
    [
        ([se.exp(x) / (2 + se.exp(x)), se.exp(x) * y], "np.exp", 1),
        ([se.sin(se.exp(x)) * y, se.sin(se.exp(x)) + se.exp(x)], "np.exp", 1),
        ([se.sin(se.exp(x)) * y, se.sin(se.exp(x)) + se.exp(x)], "np.sin", 1),
        # Of other entries, or of other functions.
        ([se.exp(x) * y + se.exp(y)], "np.exp", 2),
        # Whose code is that of a larger part.
        ([se.log(1 + se.exp(x)) + se.exp(x) * se.sin(se.exp(x))], "np.exp", 1),
    ],
)
def test_calls(exprs, call, count):
    whole = [se.elementwise(lambda a, b: a + b, own, x) for own in exprs]
    function = se.lambdify([x, y], whole)
    assert body(function).count(call) == count
    data = [np.array([0.5, -1.0, 2.0]), np.array([1.5, 3.0, -0.2])]
    unshared = [se.lambdify([x, y], own, cse=False)(*data) for own in whole]
    for found, expected in zip(function(*data), unshared, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_a_hessian_of_differences_of_distribution_functions():
    f = se.log(se.ndtr(x + 1) - se.ndtr(x * t)).sum()
    hessian = se.lambdify([x, t], [se.hessian(f, x), se.diff(f, t, t)])
    assert body(hessian).count("ndtr_share_of_log(") == 2
    assert body(hessian).count("log_ndtr_difference(") == 1
    z = np.array([0.3, -0.4, 0.9])
    step = 1e-4

    def value(z, t=0.2):
        return np.log(ndtr(z + 1) - ndtr(z * t)).sum()

    second = (value(z, 0.2 + step) - 2 * value(z) + value(z, 0.2 - step)) / step**2
    found, curvature = hessian(z, 0.2)
    np.testing.assert_allclose(curvature, second, rtol=1e-5)
    for i, e in enumerate(step * np.eye(3)):
        second = (value(z + e) - 2 * value(z) + value(z - e)) / step**2
        np.testing.assert_allclose(found[i, i], second, rtol=1e-5)


def test_what_is_only_computed_in_choices_stays_there():
    choice = se.elementwise(lambda a: Piecewise((se.log(a) + a * se.log(a), a > 0), (0, True)), x)
    function = se.lambdify([x], choice)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(function(np.array([-1.0, 0.0, 1.0])), [0, 0, 0])
