"""Elementwise functions of multiples and of functions: which are rewritten, and which aren't."""

import numpy as np
import pytest
from sympy import And, Eq, Ne, Or, Piecewise, Symbol, lambdify, sin

import sympy_einsum as se

A, x = se.TensorSymbol("A", 3, 3), se.TensorSymbol("x", 3)
a = np.array([[-1.0, 2.0, 3.0], [0.5, -4.0, 1.0], [2.0, 2.0, 5.0]])
v = np.array([1.0, -2.0, 0.5])


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (se.Abs(-2 * A), 2 * np.abs(a)),
        (se.Abs(-2 * A.T), 2 * np.abs(a.T)),
        (se.Abs(-2 * se.einsum("ii->ii", A)), 2 * np.diag(np.abs(a.diagonal()))),
        (se.cos(-se.einsum("ii->ii", A)), np.cos(np.diag(a.diagonal()))),
        (se.sqrt(4 * se.einsum("ii->ii", A**2)), 2 * np.diag(np.abs(a.diagonal()))),
        (se.Abs(-3 * se.diag(x)), 3 * np.diag(np.abs(v))),
        (se.exp(-se.outer(x, se.Ones(3))), np.exp(-np.outer(v, np.ones(3)))),
    ],
    ids=str,
)
def test_functions_of_multiples(expr, expected):
    np.testing.assert_allclose(se.lambdify([A, x], se.simplify(expr))(a, v), expected)


def test_a_reshaped_multiple_is_a_multiple():
    assert se.reshape(2 * A, (9,)) == 2 * se.reshape(A, (9,))


POINTS = np.array([-2.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3])
T = Symbol("t", real=True)
WITHOUT_DEFAULT = {
    "one constant": Piecewise((7, T < 0)),
    "three constants": Piecewise((1, T < 0), (2, T < 1), (3, T < 2)),
    "constants and functions": Piecewise((1, T < 0), (sin(T), T <= 1), (3, T < 2)),
    "one function": Piecewise((sin(T), And(T > 0, T < 2))),
    "alternatives": Piecewise((1, Or(T < -1, T > 1)), (2, Ne(T, 0))),
    "nested": Piecewise((Piecewise((1, T < -1), (2, T < 0)), T < 0.5), (T**3, T < 2)),
    "multiplied": T + 2 * Piecewise((1, T < 0), (2, T < 1), (3, T < 2)),
    "divided": 1 / Piecewise((1, T < 0), (2, T < 1), (3, T < 2)),
}


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("name", WITHOUT_DEFAULT)
def test_choices_without_a_default_are_nan_outside_of_their_branches(name, backend):
    """Their derivatives too; SymPy's code of the same scalar is the reference."""
    if backend == "jax":
        pytest.importorskip("jax")
    body, z = WITHOUT_DEFAULT[name], se.TensorSymbol("z", len(POINTS))
    expr = se.elementwise(lambda v: body.subs(T, v), z)
    values = [lambdify([T], Piecewise((body.diff(T, k), True))) for k in range(3)]
    wanted = [np.array([float(value(p)) for p in POINTS]) for value in values]
    gradient, hessian = se.gradient(expr.sum(), z), se.hessian(expr.sum(), z)
    found = se.lambdify([z], [expr, gradient, hessian.diagonal()], backend)(POINTS)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    np.testing.assert_allclose(se.lambdify([z], se.simplify(expr), backend)(POINTS), wanted[0])
    assert se.equal(expr, expr) is True


@pytest.mark.parametrize("name", WITHOUT_DEFAULT)
def test_sliced_choices_compile_like_whole_ones(name):
    columns = se.TensorSymbol("z", len(POINTS), 2)
    expr = se.elementwise(lambda v: WITHOUT_DEFAULT[name].subs(T, v), columns)
    data = np.column_stack([POINTS, POINTS + 0.1])
    whole = se.lambdify([columns], se.gradient(expr.sum(), columns))(data)
    cut = se.lambdify([columns], se.gradient(expr[:, 0].sum(), columns))(data)
    np.testing.assert_allclose(cut[:, 0], whole[:, 0])


def test_single_points_of_a_choice_have_no_derivative_of_their_own():
    z = se.TensorSymbol("z", 3)
    expr = se.elementwise(lambda v: Piecewise((5, Eq(v, 1)), (v**2, v > 1)), z)
    found = se.lambdify([z], se.gradient(expr.sum(), z))(np.array([0.5, 1, 2]))
    np.testing.assert_allclose(found, [np.nan, np.nan, 4])


U = se.TensorSymbol("U", 4, 5, 6)


@pytest.mark.parametrize(
    "part",
    [U[1:-1, 2:, 1:], U[1:, :, 0], U[0, ::-1, 1:], U[:, 1, :-1]],
    ids=str,
)
def test_functions_of_slices_keep_the_axis_order(part):
    """U[1:]**3 isn't (U[1:].T**3).T, and both have one form."""
    function = se.simplify(se.sinh(part))
    assert str(function) == f"sinh({part})"
    axes = range(part.order)[::-1]
    assert se.simplify(se.sinh(part.transpose(*axes)).transpose(*axes)) is function
    data = np.arange(120.0).reshape(U.shape) / 40
    expected = np.sinh(se.lambdify([U], part)(data))
    np.testing.assert_allclose(se.lambdify([U], function)(data), expected)
