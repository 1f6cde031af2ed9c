"""Derivatives of Piecewise functions whose branches are nan or infinite where they aren't
chosen."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from sympy import log, symbols

import sympy_einsum as se
from sympy_einsum.expressions import slot

n = symbols("n", integer=True, positive=True)
x, y = se.tensors("x y", n)
POINTS = np.array([0.0, 0.5, -2.0, 1000.0, -1000.0, 2.5])
OTHERS = np.arange(1.0, 7.0)

# The expression, and its derivative by x as NumPy computes it branch by branch.
CASES = {
    "elu": (
        np.where(x > 0, x, np.exp(x) - 1),
        lambda v, w: np.where(v > 0, 1, np.exp(np.minimum(v, 0))),
    ),
    "sqrt on one side": (
        np.where(x > 0, y * np.sqrt(x), 0.0),
        lambda v, w: np.where(v > 0, w / 2 / np.sqrt(np.where(v > 0, v, 1)), 0),
    ),
    "another's sign": (
        np.where(y > 3, 0, np.log(x + 2)),
        lambda v, w: np.where(w > 3, 0, 1 / np.where(w > 3, 1, v + 2)),
    ),
    "flat function": (
        np.where(x <= 0, 0.0, np.exp(-1 / x)),
        lambda v, w: np.where(v <= 0, 0, np.exp(-1 / np.where(v > 0, v, 1)) / (v**2 + (v <= 0))),
    ),
}


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("name", sorted(CASES))
def test_branches_not_taken_say_nothing_of_the_derivative(name, mode):
    e, derivative = CASES[name]
    by_x = se.lambdify([x, y], se.diff(e, x, mode=mode))(POINTS, OTHERS)
    with np.errstate(all="ignore"):
        wanted = derivative(POINTS, OTHERS)
    # A finite 2 at x = -2 has no derivative of log(x + 2): that entry is not chosen.
    safe = ~((name == "another's sign") & (POINTS <= -2) & (OTHERS <= 3))
    off = ~np.eye(len(POINTS), dtype=bool)
    assert not np.asarray(by_x)[off].any()
    np.testing.assert_allclose(np.diagonal(by_x)[safe], wanted[safe], rtol=1e-12)


@pytest.mark.parametrize(
    ("quotient", "value", "derivative", "curvature"),
    [
        (np.sin(x) / x, 1, 0, -1 / 3),
        ((np.exp(x) - 1) / x, 1, 1 / 2, 1 / 3),
        ((1 - np.cos(x)) / x**2, 1 / 2, 0, -1 / 12),
        (np.log1p(x) / x, 1, -1 / 2, 2 / 3),
        ((se.softplus(x) - log(2)) / x, 1 / 2, 1 / 8, 0),
        (np.sin(x * y) / x, y, 0, -9),
    ],
)
def test_a_singularity_that_where_removes_has_the_limit_as_its_derivative(
    quotient, value, derivative, curvature
):
    e = np.where(np.equal(x, 0), value, quotient)
    by_x = se.gradient(e.sum(), x)
    compiled = se.lambdify([x, y], [by_x, se.gradient(by_x.sum(), x)])
    first, second = compiled(np.array([0.0, 0.7]), np.array([3.0, 2.0]))
    np.testing.assert_allclose(first[0], derivative, atol=1e-14)
    np.testing.assert_allclose(second[0], curvature, atol=1e-14)
    step = 1e-5
    values = se.lambdify([x, y], e)
    above, below = (values(np.array([0.0, 0.7 + s]), [3.0, 2.0]) for s in (step, -step))
    np.testing.assert_allclose(first[1], (above - below)[1] / (2 * step), rtol=1e-7)


def test_no_limit_is_nan():
    e = np.where(np.not_equal(x, 0), x**2 * np.sin(1 / x), 0.0)
    derivative = se.lambdify([x], se.gradient(e.sum(), x))(np.array([0.0, 0.5]))
    assert np.isnan(derivative[0])
    assert derivative[1] == pytest.approx(np.sin(2) - np.cos(2))


@pytest.mark.slow
def test_choices_one_in_the_other_many_times():
    e = x
    for k in range(40):
        e = np.where(e > k / 100, e**2 / 2, e + 1 / (k + 1))
    values, derivatives = se.lambdify([x], [e, se.gradient(e.sum(), x)])(np.array([0.3, 0.4]))
    assert np.isfinite(values).all()
    assert np.isfinite(derivatives).all()


def test_terms_that_are_comparisons_have_hessians():
    """The search for common factors once evaluated the truth of a comparison."""
    steps = 1e-5 * np.eye(3)
    data = np.array([0.4, -0.8, 1.1]), np.array([0.3, 0.9, -0.5])
    f = (y * se.softmax((x > 0) * x + (x <= 0) * se.sin(x))).sum()
    derivative = se.lambdify([x, y], se.gradient(f, x))
    columns = [
        (derivative(data[0] + h, data[1]) - derivative(data[0] - h, data[1])) / 2e-5 for h in steps
    ]
    hessian = se.lambdify([x, y], se.hessian(f, x))(*data)
    np.testing.assert_allclose(hessian, columns, rtol=1e-6, atol=1e-9)


# Finite at 0, 1/2 and 2, where what isn't chosen has a derivative that is infinite or none.
POISONED = {
    "where in where": (
        lambda v: np.where(v > 0, np.where(v > 1, np.sqrt(v), np.log(v)), 0.0),
        lambda v: 0 if v == 0 else 1 / v if v < 1 else 0.5 / v**0.5,
    ),
    "three deep": (
        lambda v: np.where(v < 1, 3 * np.where(v > 0, np.where(v > 0.1, 1 / v, 5.0), v), 0.0),
        lambda v: {0: 3, 0.5: -12, 2: 0}[v],
    ),
    "the larger": (lambda v: np.maximum(np.log(v), 0.25), lambda v: (v > 1) / max(v, 1)),
    "the smaller": (lambda v: np.minimum(1 / v, 5.0), lambda v: -(v**-2.0) if v else 0),
    "the larger of two numbers": (lambda v: np.fmax(np.log(v), 0.25), lambda v: (v > 1) / 2),
    "clipped": (
        lambda v: np.clip(np.log(v) + np.sqrt(v), -1, 1),
        lambda v: 0 if v != 0.5 else 1 / v + 0.5 / v**0.5,
    ),
    "inside of another": (
        lambda v: np.sqrt(np.maximum(np.log(v), 0.25)),
        lambda v: 0 if v < 1 else 0.5 / v / np.log(v) ** 0.5,
    ),
    "rectified": (lambda v: se.relu(np.log(v) - 1), lambda v: 0),
    "the larger in where": (
        lambda v: np.where(v < 1, np.maximum(np.log(v), -5.0), np.sqrt(v - 1)),
        lambda v: {0: 0, 0.5: 2, 2: 0.5}[v],
    ),
    "overflow": (lambda v: np.minimum(np.exp(1000 * v), 3.0), lambda v: 1000 if v == 0 else 0),
}


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("backend", ["numpy", "jax", "torch"])
@pytest.mark.parametrize("name", POISONED)
# The larger of log(0) and a number warns, as in NumPy; so does JAX where it gets NumPy's arrays.
@pytest.mark.filterwarnings("ignore:divide by zero encountered:RuntimeWarning")
def test_unchosen_branches_leave_derivatives_finite(name, backend, mode):
    function, derivative = POISONED[name]
    if backend != "numpy" and mode == "forward":
        pytest.skip("the same expressions")
    points = np.array([0.0, 0.5, 2.0])
    given = pytest.importorskip("torch").tensor(points) if backend == "torch" else points
    by_x = se.diff(function(x), x, mode=mode)
    found = np.asarray(se.lambdify([x], by_x, backend=backend)(given))
    np.testing.assert_allclose(found, np.diag([derivative(p) for p in points]), rtol=1e-5)
    if name != "overflow":
        curvature = se.lambdify([x], se.gradient(se.gradient(function(x).sum(), x).sum(), x))
        assert np.isfinite(curvature(points)).all()


# What several outputs share is computed outside of the choice.
@pytest.mark.filterwarnings("ignore:divide by zero encountered:RuntimeWarning")
def test_scalars_that_are_not_chosen():
    f = x @ x
    unit = np.where(f > 0, x / sympy.sqrt(f), 0.0)
    for e in (sympy.Max(log(f), 0), se.relu(log(f)), sympy.Min(1 / f, 3), unit.sum()):
        found = se.lambdify([x], [se.gradient(e, x), se.hessian(e, x)])(np.zeros(3))
        assert not found[0].any()
        assert not found[1].any()
    value = se.lambdify([x], se.jacobian(unit, x))(np.array([3.0, 4.0]))
    np.testing.assert_allclose(value, np.array([[16, -12], [-12, 9]]) / 125)


def test_scalars_in_choices_are_part_of_their_formula():
    """Tukey's biweight: terms cancel, and the choice occurs once."""
    c, r = sympy.Symbol("c", positive=True), x - y
    inside = abs(r) <= c
    loss = np.where(inside, c**2 / 6 * (1 - (1 - (r / c) ** 2) ** 3), c**2 / 6).sum()
    derivative, by_c = se.gradient(loss, x), se.diff(loss, c)
    (branch, _), _ = derivative.body.args
    a, b, k = [slot(derivative.operands.index(s)) for s in (x, y, c)]
    assert branch == (a - b) * (1 - (a - b) ** 2 / k**2) ** 2
    assert str(by_c).count("Piecewise") == 1
    data = np.array([0.5, -2.0, 3.5]), np.array([1.0, -2.5, 0.0])
    u = (data[0] - data[1]) / 1.75
    found = se.lambdify([x, y, c], [derivative, by_c])(*data, 1.75)
    np.testing.assert_allclose(found[0], np.where(abs(u) <= 1, 1.75 * u * (1 - u**2) ** 2, 0))
    outside = np.where(abs(u) <= 1, 1 - (1 - u**2) ** 3 - 3 * (1 - u**2) ** 2 * u**2, 1)
    np.testing.assert_allclose(found[1], 1.75 / 3 * outside.sum())


@pytest.mark.parametrize(
    ("body", "derivative"),
    [
        (lambda u: sympy.Piecewise((1, u < 0), (2, u < 1), (3, u < 9)), [0, 0, 0, 0]),
        (lambda u: sympy.Piecewise((u, u < 0), (u**2, u < 9)), [1, 0.5, 1.5, 6.5]),
        (lambda u: u * sympy.Piecewise((1, u < 0), (2, u < 1), (3, u < 9)), [1, 2, 2, 3]),
        (sympy.frac, [1, 1, 1, 1]),
        (lambda u: u * sympy.floor(u), [-2, 0, 0, 3]),
    ],
    ids=["constants", "no default", "a factor", "frac", "floor"],
)
def test_pieces_of_constants(body, derivative):
    e = se.elementwise(body, x)
    found = se.lambdify([x], se.gradient(e.sum(), x))([-1.5, 0.25, 0.75, 3.25])
    np.testing.assert_allclose(found, derivative)


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize(
    ("branch", "expected"),
    [
        (lambda C: C * (1 - se.Delta(n)), 1 - np.eye(3)),
        (lambda C: C**2 * (2 - se.Delta(n)), [[0, 4, 8], [12, 8, 20], [24, 28, 16]]),
        (lambda C: C - se.diag(C.diagonal()), 1 - np.eye(3)),
        (lambda C: se.einsum("ii,ii->ii", C, C), np.diag([0.0, 8, 16])),
    ],
)
def test_diagonals_in_branches(mode, branch, expected):
    """A diagonal that is taken out isn't the whole matrix, against which it cancelled."""
    C, D = se.tensors("C D", n, n)
    chosen = np.where(D > 0, branch(C), 1).sum()
    derivative = se.diff(chosen, C, mode=mode)
    found = se.lambdify([C, D], derivative)(np.arange(9.0).reshape(3, 3), np.ones((3, 3)))
    np.testing.assert_allclose(found, expected)
