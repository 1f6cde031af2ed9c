"""Typical SymPy sessions with tensors: mechanics, geometry, likelihoods."""

import numpy as np
import pytest
import sympy
from sympy import Array, Derivative, Eq, Function, Matrix, cos, eye, log, sin, solve, symbols
from sympy.calculus.euler import euler_equations

import sympy_einsum as se

n = symbols("n", integer=True, positive=True)
t = symbols("t")
mass, omega = symbols("m omega", positive=True)
x, v = se.TensorSymbol("x", 2), se.TensorSymbol("v", 2)
K = se.TensorSymbol("K", 2, 2)
q = [Function(f"q{k}")(t) for k in range(2)]
L = mass * (v @ v) / 2 - x @ K @ x / 2
ALONG = {x: Array(q), v: Array([a.diff(t) for a in q])}


def explicit_lagrangian():
    stiffness = Matrix(2, 2, lambda i, j: K[i, j])
    position = Matrix(q)
    kinetic = mass * sum(a.diff(t) ** 2 for a in q) / 2
    return kinetic - (position.T * stiffness * position)[0] / 2


def test_unknown_functions_inside_are_seen_from_outside():
    inside = L.subs(ALONG)
    assert inside.atoms(Derivative) == {a.diff(t) for a in q}
    assert inside.has(q[0])
    assert inside.has(Derivative)
    square = (x @ x).subs(x, Array(q))
    assert square.func(*square.args) == square
    assert square.free_symbols == {t}
    assert solve(square - 4, q[0]) == [-sympy.sqrt(4 - q[1] ** 2), sympy.sqrt(4 - q[1] ** 2)]
    assert square.replace(Function("q0"), sin).expand() == sin(t) ** 2 + q[1] ** 2


def test_euler_lagrange():
    found = euler_equations(L.subs(ALONG), q, t)
    known = euler_equations(explicit_lagrangian(), q, t)
    for own, other in zip(found, known, strict=True):
        assert sympy.expand(own.lhs - other.lhs) == 0


def test_an_equation_of_motion_is_solved():
    one = L.subs(ALONG).subs({q[1]: 0, K: omega**2 * eye(2)}).doit()
    motion = one.diff(q[0].diff(t)).diff(t) - one.diff(q[0])
    solution = sympy.dsolve(motion, q[0]).rhs
    assert sympy.simplify(mass * solution.diff(t, 2) + omega**2 * solution) == 0
    assert solution.has(sin, cos)


def test_christoffel_symbols():
    r, theta = symbols("r theta", positive=True)
    metric = Matrix([[1, 0], [0, r**2]])
    inverse = se.inv(metric)
    derivatives = se.stack([se.diff(se.from_matrix(metric), s) for s in (r, theta)], axis=2)
    lowered = derivatives + se.einsum("dcb->dbc", derivatives) - se.einsum("bcd->dbc", derivatives)
    found = (se.einsum("ad,dbc->abc", inverse, lowered) / 2).as_explicit()
    assert found.applyfunc(sympy.simplify) == Array([[[0, 0], [0, -r]], [[0, 1 / r], [1 / r, 0]]])


@pytest.mark.parametrize("name", [f"n{k}" for k in range(12)])
def test_likelihoods_are_maximised_for_any_name_of_a_length(name):
    """SymPy's solve differentiates by all symbols, in an order that depends on their names."""
    count = symbols(name, integer=True, positive=True)
    y = se.TensorSymbol("y", count)
    mu, sigma = symbols("mu sigma", positive=True)
    gaussian = -((y - mu) ** 2).sum() / (2 * sigma**2) - count * log(sigma)
    assert solve(gaussian.diff(mu), mu) == [y.sum() / count]
    (deviation,) = solve(gaussian.diff(sigma), sigma)
    data = np.array([1.0, 2.0, 4.0])
    value = se.lambdify([y, mu], deviation)(data, 2.0)
    assert value == pytest.approx(np.sqrt(((data - 2.0) ** 2).mean()))
    rate = (y * log(mu)).sum() - count * mu
    assert solve(rate.diff(mu), mu) == [y.sum() / count]


def test_conditions_of_optimality():
    A, b = se.TensorSymbol("A", (1, 2)), se.TensorSymbol("b", 1)
    Q, c = se.TensorSymbol("Q", (2, 2)), se.TensorSymbol("c", 2)
    z, multiplier = se.TensorSymbol("z", 2), se.TensorSymbol("lambda", 1)
    system = se.gradient(z @ Q @ z / 2 + c @ z + multiplier @ (A @ z - b), [z, multiplier])
    values = {A: Matrix([[1, 2]]), b: Array([3]), Q: 2 * eye(2), c: Array([-1, 0])}
    unknowns = symbols("z0 z1 l")
    values |= {z: Array(unknowns[:2]), multiplier: Array(unknowns[2:])}
    equations = [Eq(e, 0) for part in system for e in part.subs(values).as_explicit()]
    (solution,) = sympy.linsolve(equations, *unknowns)
    matrix = np.array([[2.0, 0, 1], [0, 2, 2], [1, 2, 0]])
    np.testing.assert_allclose(
        np.array(solution, dtype=float), np.linalg.solve(matrix, [1.0, 0, 3])
    )


def test_derivatives_by_entries_for_sympys_matrices():
    jacobian = Matrix([x[0] ** 2, x[1] * x[0]]).jacobian([x[0], x[1]])
    assert jacobian == Matrix([[2 * x[0], 0], [x[1], x[0]]])
    hessian = sympy.hessian(x[0] ** 2 * x[1], [x[0], x[1]])
    assert hessian == Matrix([[2 * x[1], 2 * x[0]], [2 * x[0], 0]])
    assert (x[0] ** 3).diff(x[0], 2) == 6 * x[0]
    assert sympy.diff(sin(x[0]), x[0]) == cos(x[0])
    assert Matrix([(x[0] + t) * x[1]]).expand() == Matrix([t * x[1] + x[0] * x[1]])
