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


# Functions whose Hessians have limits at 0 where their third derivatives have none, and with
# numbers that cancel up to rounding errors.
LIMITED = {
    "Matern 3/2": lambda r: (1 + sqrt(3) * r) * se.exp(-sqrt(3) * r),
    "Matern 3/2 by floats": lambda r: (1 + 3**0.5 * r) * se.exp(-(3**0.5) * r),
    "Matern 5/2 by floats": lambda r: (1 + 5**0.5 * r + 5 * r**2 / 3) * se.exp(-(5**0.5) * r),
    "cube": lambda r: r**3,
}
m = symbols("m", integer=True, positive=True)
Z, A, size = se.TensorSymbol("Z", m, 2), se.TensorSymbol("A", m, m), se.TensorSymbol("size", 2)


@pytest.mark.parametrize("name", LIMITED)
def test_hessians_with_a_limit_at_zero(name):
    H = se.lambdify(w, se.hessian(LIMITED[name](norm), w))
    np.testing.assert_allclose(H(np.zeros(3)), H(np.array([1e-9, 2e-9, 0])), atol=1e-7)
    assert se.check_derivative(se.gradient(LIMITED[name](norm), w), w)


@pytest.mark.parametrize("wrt", [Z, size])
@pytest.mark.parametrize("name", [key for key in LIMITED if key != "cube"])
def test_hessians_of_kernels_where_points_coincide(name, wrt):
    """The distance of a point from itself is 0 whatever the points are."""
    points = Z * se.exp(-size)[None]
    distances = se.norm(points[:, None] - points[None], axis=2)
    f = (A * LIMITED[name](distances)).sum()
    data = rng.normal(size=(4, 2)), rng.normal(size=2), rng.normal(size=(4, 4))
    found = se.lambdify([Z, size, A], se.hessian(f, wrt))(*data)
    gradient, step = se.lambdify([Z, size, A], se.gradient(f, wrt)), 1e-6
    place = [Z, size].index(wrt)
    for index in np.ndindex(data[place].shape):
        ends = []
        for sign in (1, -1):
            moved = [np.array(own) for own in data]
            moved[place][index] += sign * step
            ends.append(gradient(*moved))
        expected = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(found[(..., *index)], expected, atol=1e-7)


@pytest.mark.parametrize(
    "f", [norm, se.exp(-norm), norm**2 * se.log(norm) ** 2, w[0] ** 2 * norm / se.norm(w * p)]
)
def test_hessians_without_a_limit_at_zero(f):
    H = se.lambdify([w, p], se.hessian(f, w))
    with np.errstate(all="ignore"):
        assert not np.isfinite(H(np.zeros(3), np.array([1.0, 2, 3]))).all()


def test_a_gradient_without_a_limit_at_zero():
    with np.errstate(all="ignore"):
        assert np.isnan(se.lambdify(w, se.gradient(norm, w))(np.zeros(3))).all()


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
