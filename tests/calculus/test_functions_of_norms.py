"""Scalar functions of a norm: their derivatives at 0, and with the norm at several places."""

import numpy as np
import pytest
import sympy
from sympy import exp, sqrt, symbols

import sympy_einsum as se

scale = symbols("s", positive=True)
rng = np.random.default_rng(0)
w, p = se.tensors("w p", 3)
norm = se.norm(w)
AT_ZERO = {
    "Rodrigues": (
        p * se.cos(norm)
        + se.cross(w, p) * se.sin(norm) / norm
        + w * (w @ p) * (1 - se.cos(norm)) / norm**2
    ),
    "sinc": se.sinc(norm),
    "cos": se.cos(norm),
    "Bessel J": sympy.besselj(0, norm),
    "Bessel I": sympy.besseli(0, norm),
    "Matern 5/2": (1 + sqrt(5) * norm / scale + 5 * norm**2 / (3 * scale**2))
    * exp(-sqrt(5) * norm / scale),
}


@pytest.mark.parametrize("name", AT_ZERO)
def test_functions_of_a_norm_at_zero(name):
    """Their derivatives up to the third are those nearby, though each term divides by the norm."""
    f = AT_ZERO[name]
    orders = 3 if name in ("Rodrigues", "sinc") else 2
    derivatives = [f]
    for _ in range(orders):
        derivatives.append(se.jacobian(derivatives[-1], w))
    compute = se.lambdify([w, p, scale], derivatives[1:])
    direction = rng.normal(size=3)
    at_zero, nearby = [compute(t * direction, np.array([1.0, -2.0, 0.5]), 1.3) for t in (0.0, 1e-6)]
    for limit, value in zip(at_zero, nearby, strict=True):
        np.testing.assert_allclose(limit, value, rtol=2e-5, atol=2e-5)


REPEATED = {
    "Matern 3/2": (1 + norm) * exp(-norm),
    "softplus": se.softplus(norm) - norm / 2,
    "entropy": norm * se.log(norm),
    "Yukawa": exp(-scale * norm) / norm,
    "saturation": scale * norm / (1 + norm),
    "Lennard-Jones": (scale / norm) ** 12 - (scale / norm) ** 6,
    "Wendland": se.Max(0, 1 - norm) ** 4 * (4 * norm + 1),
    "three places": (norm - se.sin(norm)) / norm**3 + norm**2,
}


@pytest.mark.parametrize("name", REPEATED)
def test_functions_with_a_norm_at_several_places(name):
    f = REPEATED[name]
    assert se.check_derivative(f, w)
    assert se.check_derivative(se.gradient(f, w), w)
