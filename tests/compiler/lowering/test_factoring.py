"""Common factors of all terms of a long sum are multiplied once."""

import numpy as np
import pytest
from oracles import assert_close
from sympy import Float

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.compiler.lowering.factoring import common_factor

x, y, z = se.tensors("x y z", 3)


def test_one_is_no_factor_however_it_is_written():
    for one in (1, -1, Float(1), Float(-1)):
        assert common_factor([one * x, one * y]) is None
    assert common_factor([Float(-0.5) * x, Float(-0.5) * y])[0] == Float(-0.5)


@pytest.mark.slow
def test_factors_with_a_point_are_taken_out_once():
    points, values = np.linspace(1, 2, 35), np.linspace(0.1, 0.3, 35)

    def model(np, x):
        terms = [x[0] / x[1] * np.exp(-0.5 * ((p - x[2]) / x[1]) ** 2) for p in points.tolist()]
        return np.stack(terms)

    error = ((model(snp, x) - values) ** 2).sum()
    at, step = np.array([1.5, 0.7, 1.2]), 1e-6
    value, derivative, curvature = se.lambdify(
        [x], [error, se.gradient(error, x), se.hessian(error, x)]
    )(at)
    assert_close(value, ((model(np, at) - values) ** 2).sum())
    derivatives = se.lambdify([x], se.gradient(error, x))
    differences = [
        (derivatives(at + d) - derivatives(at - d)) / (2 * step) for d in step * np.eye(3)
    ]
    np.testing.assert_allclose(curvature, differences, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(derivative, derivatives(at))
