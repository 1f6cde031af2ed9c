"""Sessions of users who mix SymPy's functions with tensors: differential equations, multipliers,
statistics, quantum mechanics, geometry, mechanics. Each is checked by NumPy, by SymPy's matrices or
by a known result."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import sympy as sp
from sympy import (
    Derivative,
    Eq,
    Function,
    I,
    Integral,
    Matrix,
    Rational,
    Sum,
    Wild,
    cos,
    diff,
    dsolve,
    exp,
    integrate,
    log,
    oo,
    pi,
    simplify,
    sin,
    solve,
    sqrt,
    stats,
    symbols,
)
from sympy.calculus.euler import euler_equations
from sympy.physics.mechanics import LagrangesMethod, ReferenceFrame, dynamicsymbols
from sympy.physics.quantum import Commutator, Dagger, Ket, Operator, TensorProduct

import sympy_einsum as se
import sympy_einsum.numpy as snp

n = symbols("n", integer=True, positive=True)
k = symbols("k", integer=True, nonnegative=True)
t, s, u = symbols("t s u", real=True)
c, m, r, lam = symbols("c m r lambda", positive=True)
A, B = se.tensors("A B", n, n)
S = se.TensorSymbol("S", n, n, symmetric=True)
x, y, b = se.tensors("x y b", n)
p, q, v = se.tensors("p q v", 3)
z = se.TensorSymbol("z", 2)
f = Function("f")
RNG = np.random.default_rng(5)
VALUES = {name: RNG.standard_normal((3, 3)) for name in (A, B)}
VALUES[S] = VALUES[A] @ VALUES[A].T + np.eye(3)
VALUES |= {name: RNG.standard_normal(3) for name in (x, y, b, p, q, v)}
VALUES |= {z: RNG.standard_normal(2), t: 0.4, s: -0.3, u: 1.3, c: 0.7, m: 1.9, r: 1.4, lam: 0.8}
VALUES[n] = 3
SESSIONS = {}
NA, NB, NS, NX, NY, NZ = (VALUES[name] for name in (A, B, S, x, y, z))
NP, NQ, NV, Nb = (VALUES[name] for name in (p, q, v, b))


def session(function):
    SESSIONS[function.__name__.removeprefix("_")] = function
    return function


def value(expr, **others):
    """Return the value of an expression on the data, with other values of symbols by name."""
    data = {**VALUES, **{own: others[own.name] for own in VALUES if own.name in others}}
    used = [own for own in VALUES if own in expr.free_symbols or own == n]
    return se.lambdify(used, expr)(*[data[own] for own in used])


def close(found, expected):
    found = value(found) if isinstance(found, sp.Basic) else found
    np.testing.assert_allclose(np.asarray(found, complex), np.asarray(expected, complex), atol=1e-9)


# --- differential equations -----------------------------------------------------------------------


@session
def _exponential_solves_a_linear_system():
    solution = se.expm(t * A) @ x
    assert se.equal(solution.diff(t), A @ solution)
    close(solution, scipy.linalg.expm(0.4 * NA) @ NX)


@session
def _picard_iteration():
    found = x
    for _ in range(3):
        found = x + integrate((A @ found).subs(t, s), (s, 0, t))
    powers = [np.linalg.matrix_power(0.4 * NA, i) / sp.factorial(i) for i in range(4)]
    close(found, np.array(sum(powers), float) @ NX)


@session
def _steps_of_euler():
    found = x
    for _ in range(3):
        found = found + t * A @ found
    close(found, np.linalg.matrix_power(np.eye(3) + 0.4 * NA, 3) @ NX)


@session
def _growth_by_the_rate_of_a_tensor():
    solution = dsolve(Eq(f(t).diff(t), (x @ x) * f(t)), f(t), ics={f(0): c})
    assert solution.rhs == c * exp(t * (x @ x))


@session
def _oscillator_of_a_quadratic_form():
    stiffness = se.norm(x) ** 2
    start = {f(0): 1, f(t).diff(t).subs(t, 0): 0}
    solution = dsolve(f(t).diff(t, 2) + stiffness * f(t), f(t), ics=start)
    close(solution.rhs, np.cos(np.linalg.norm(NX) * 0.4))


@session
def _a_solution_is_checked():
    equation = Eq(f(t).diff(t), (x @ y) * f(t) + b @ b)
    solution = dsolve(equation, f(t))
    assert sp.checkodesol(equation, solution, func=f(t))[0]


@session
def _variation_of_constants():
    forced = Integral(se.expm((t - s) * A) @ b, (s, 0, t))
    assert str(forced.diff(t) - b) == "Integral(A @ expm(A*(-s + t)) @ b, (s, 0, t))"
    assert forced.diff(t).subs(t, 0).doit() == b


@session
def _equilibrium_is_stable():
    flow = se.stack([z[1], -sin(z[0]) - c * z[1]])
    at_rest = se.jacobian(flow, z).subs(z, [0, 0]).as_explicit()
    roots = Matrix(at_rest).eigenvals()
    assert all(sp.expand(root**2 + c * root + 1) == 0 for root in roots)


@session
def _function_of_lyapunov():
    energy = x @ S @ x
    change = energy.diff(x) @ (A @ x)
    close(change, NX @ (NS @ NA + NA.T @ NS) @ NX)


@session
def _laplace_transform_of_a_scalar():
    found = sp.laplace_transform((x @ x) * exp(-t), t, r, noconds=True)
    assert sp.simplify(found - (x @ x) / (r + 1)) == 0


@session
def _wronskian():
    rate = x @ x
    assert simplify(sp.wronskian([exp(rate * t), exp(-rate * t)], t)) == -2 * rate


@session
def _series_of_a_solution():
    found = se.series(se.expm(t * A) @ x, t, n=3)
    close(found, NX + 0.4 * NA @ NX + 0.08 * NA @ NA @ NX)


@session
def _first_integral():
    position = se.unknown("q", t, shape=3)
    energy = position.diff(t) @ position.diff(t) / 2 + c * (position @ position) / 2
    change = energy.diff(t).subs(position.diff(t, 2), -c * position)
    assert se.equal(change, sp.S.Zero)


# --- multipliers ----------------------------------------------------------------------------------


@session
def _shortest_vector_on_a_plane():
    lagrangian = x @ x - lam * (b @ x - c)
    assert se.equal(lagrangian.diff(x), 2 * x - lam * b)
    (multiplier,) = solve((lam * b / 2) @ b - c, lam)
    assert sp.simplify(multiplier - 2 * c / (b @ b)) == 0


@session
def _eigenvectors_are_stationary():
    quotient = (x @ S @ x) / (x @ x)
    _, vectors = np.linalg.eigh(NS)
    close(value(quotient.diff(x), x=vectors[:, 1]), np.zeros(3))


@session
def _largest_entropy():
    entropy = -(p * log(p)).sum() + s * (p.sum() - 1)
    (found,) = solve(se.gradient(entropy, p)[0], p[0])
    assert found == exp(s - 1)


@session
def _least_variance_portfolio():
    ones = se.Ones(n)
    weights = lam * se.inv(S) @ ones
    (multiplier,) = solve(ones @ weights - 1, lam)
    inverse = np.linalg.inv(NS)
    close(weights.subs(lam, multiplier), inverse.sum(axis=1) / inverse.sum())


@session
def _dual_function():
    best = -S.inv() @ A.T @ y / 2
    dual = sp.expand((x @ S @ x + y @ (A @ x - b)).subs(x, best))
    inner = NA @ np.linalg.inv(NS) @ NA.T
    close(dual, -NY @ inner @ NY / 4 - NY @ Nb)
    close(se.gradient(dual, y), -inner @ NY / 2 - Nb)


@session
def _kkt_system_by_linsolve():
    plane = se.TensorSymbol("a", 2)
    lagrangian = (z - [1, 2]) @ (z - [1, 2]) + s * (plane @ z - 1)
    conditions = [*se.gradient(lagrangian, z), lagrangian.diff(s)]
    values = {plane: [1, 1]}
    solution = sp.linsolve([e.subs(values).doit() for e in conditions], [z[0], z[1], s])
    assert solution == {(0, 1, 2)}


@session
def _secular_equation():
    nearest = se.inv(se.Delta(n) + t * S) @ y
    derivative = diff(nearest @ S @ nearest, t)
    step = np.linalg.inv(np.eye(3) + 0.4 * NS)
    close(derivative, -2 * NY @ step @ NS @ step @ NS @ step @ NY)


@session
def _envelope_theorem():
    minimum = c**2 / (b @ b)
    assert minimum.diff(c) == 2 * c / (b @ b)
    close(minimum.diff(b), -2 * 0.49 * Nb / (Nb @ Nb) ** 2)


@session
def _filling_water():
    power = sp.Max(1 / lam - x, 0).sum()
    close(power, np.maximum(1 / 0.8 - NX, 0).sum())
    close(power.diff(lam), -((NX < 1 / 0.8) / 0.64).sum())


@session
def _bordered_hessian():
    lagrangian = x @ A @ x - s * (x @ x - 1)
    blocks = se.hessian(lagrangian, [x, s])
    close(blocks[0][0], NA + NA.T + 0.6 * np.eye(3))
    close(blocks[0][1], -2 * NX)


@session
def _projection_on_a_line():
    (step,) = solve(diff(((x - t * b) ** 2).sum(), t), t)
    close(step, NX @ Nb / (Nb @ Nb))


@session
def _multiplier_of_a_box():
    objective = (x - y) @ (x - y)
    gradient = objective.diff(x).subs(x, se.Ones(n))
    close(sp.Max(-gradient, 0), np.maximum(2 * NY - 2, 0))


@session
def _equation_typeset_for_a_report():
    lagrangian = x @ S @ x / 2 - lam * (b @ x)
    derivative = Derivative(lagrangian, x)
    assert sp.latex(Eq(derivative, derivative.doit())) == (
        r"\frac{\partial}{\partial x} \left(- \lambda b^{\top} x + \frac{x^{\top} S x}{2}\right) "
        r"= S x - \lambda b"
    )


# --- statistics -----------------------------------------------------------------------------------


@session
def _rate_of_waiting_times():
    likelihood = n * log(lam) - lam * y.sum()
    assert solve(likelihood.diff(lam), lam) == [n / y.sum()]


@session
def _poisson_regression():
    likelihood = (y * (A @ x) - exp(A @ x)).sum()
    close(se.gradient(likelihood, x), NA.T @ (NY - np.exp(NA @ NX)))
    close(-se.hessian(likelihood, x), NA.T @ np.diag(np.exp(NA @ NX)) @ NA)


@session
def _moments_of_a_normal_direction():
    normal = stats.Normal("Z", 1, 2)
    line = x @ (y + normal * b)
    close(stats.E(line), NX @ NY + NX @ Nb)
    close(stats.variance(line), 4 * (NX @ Nb) ** 2)


@session
def _dice():
    die = stats.Die("D", 6)
    assert stats.E(die * x) == Rational(7, 2) * x
    assert Sum(k * x / 6, (k, 1, 6)).doit() == Rational(7, 2) * x


@session
def _mean_of_poisson_counts():
    found = Sum(k * lam**k * exp(-lam) / sp.factorial(k) * x, (k, 0, oo)).doit()
    close(found, 0.8 * NX)


@session
def _geometric_series():
    found = Sum((t / 2) ** k * x, (k, 0, oo)).subs(t, Rational(1, 2)).doit()
    close(found, NX / 0.75)


@session
def _moment_generating_function():
    normal = stats.Normal("Z", 0, 1)
    close(stats.E(exp(normal * (x @ y))), np.exp((NX @ NY) ** 2 / 2))
    close(stats.E(se.exp(normal * x)), np.exp(NX**2 / 2))


@session
def _covariance_of_two_forms():
    normal = stats.Normal("Z", 0, r)
    found = stats.covariance(x @ (y + normal * b), normal)
    close(found, 1.96 * NX @ Nb)


@session
def _least_squares():
    loss = ((A @ x - y) ** 2).sum()
    normal_equations = loss.diff(x).subs(x, se.inv(A.T @ A) @ A.T @ y)
    close(normal_equations, np.zeros(3))


@session
def _ridge_path():
    ridge = se.inv(S + lam * se.Delta(n)) @ y
    inverse = np.linalg.inv(NS + 0.8 * np.eye(3))
    close(ridge.diff(lam), -inverse @ inverse @ NY)


@session
def _gaussian_evidence():
    evidence = -log(se.det(S)) / 2 - y @ se.inv(S) @ y / 2
    inverse = np.linalg.inv(NS)
    close(se.gradient(evidence, S), (np.outer(inverse @ NY, inverse @ NY) - inverse) / 2)


@session
def _delta_method():
    derivative = se.gradient(sp.log(x @ x), x)
    close(derivative @ S @ derivative, 4 * NX @ NS @ NX / (NX @ NX) ** 2)


@session
def _softmax_curvature():
    curvature = se.hessian(se.logsumexp(x), x)
    shares = np.exp(NX) / np.exp(NX).sum()
    close(curvature, np.diag(shares) - np.outer(shares, shares))


@session
def _stationary_distribution():
    rows = Matrix([[Rational(1, 2), Rational(1, 2)], [Rational(1, 4), Rational(3, 4)]])
    change = z @ se.from_matrix(rows) - z
    found = sp.linsolve([change[0], z.sum() - 1], [z[0], z[1]])
    assert found == {(Rational(1, 3), Rational(2, 3))}


@session
def _divergence_of_kullback():
    divergence = (p * log(p / q)).sum()
    assert divergence.diff(p).subs(q, p) == se.Ones(3)
    close(value(divergence, p=NP**2, q=NQ**2), (NP**2 * np.log(NP**2 / NQ**2)).sum())


@session
def _mean_of_a_truncated_law():
    weight = exp(-lam * t)
    mean = integrate(t * weight * x, (t, 0, oo)) / integrate(weight, (t, 0, oo))
    close(mean, NX / 0.8)


# --- quantum mechanics ----------------------------------------------------------------------------


@session
def _commutators():
    assert Commutator(A, B) + Commutator(B, A) == se.Zeros(n, n)
    jacobi = Commutator(A, Commutator(B, S)) + Commutator(B, Commutator(S, A))
    close(jacobi + Commutator(S, Commutator(A, B)), np.zeros((3, 3)))


@session
def _pauli_matrices():
    first, second, third = (se.from_matrix(sp.physics.matrices.msigma(i)) for i in (1, 2, 3))
    assert (first @ second - I * third).as_explicit() == sp.Array.zeros(2, 2)


@session
def _state_on_the_sphere():
    state = se.stack([cos(t / 2), exp(I * u) * sin(t / 2)])
    spin = snp.vdot(state, se.from_matrix(sp.physics.matrices.msigma(3)) @ state)
    close(spin, np.cos(0.4))


@session
def _density_matrix():
    state = se.stack([cos(t), I * sin(t)])
    density = se.einsum("i,j->ij", state, snp.conj(state))
    close(density.trace(), 1)
    close(density @ density - density, np.zeros((2, 2)))


@session
def _adjoints():
    assert Dagger(A @ x) == A @ x
    assert Dagger(A @ B) == B.T @ A.T
    assert Dagger(I * A) == -I * A.T


@session
def _operators_beside_scalars():
    operator = Operator("O")
    assert Commutator(operator, x @ x) == 0
    assert (operator * (x @ x)).args == (x @ x, operator)
    state = (x @ y) * Ket("a")
    assert state.subs(y, 2 * x).coeff(Ket("a")) == 2 * (x @ x)


@session
def _composite_systems():
    product = TensorProduct(z, z)
    close(product.reshape(4) if product.order == 2 else product, np.kron(NZ, NZ))


@session
def _first_order_perturbation():
    energies = se.eigvalsh(S + t * se.diag(x))
    derivatives = value(diff(energies, t), t=0.0)
    _, vectors = np.linalg.eigh(NS)
    close(derivatives, np.einsum("ik,i,ik->k", vectors, NX, vectors))


@session
def _variational_energy():
    energy = (x @ S @ x + s**2 * (y @ S @ y) + 2 * s * (x @ S @ y)) / (x @ x)
    (best,) = solve(diff(energy, s), s)
    close(best, -(NX @ NS @ NY) / (NY @ NS @ NY))


@session
def _ladder_operators():
    lower = se.from_matrix(Matrix(4, 4, lambda i, l: sqrt(l) if l == i + 1 else 0))
    number = (lower.T @ lower).as_explicit()
    assert [number[i, i] for i in range(4)] == [0, 1, 2, 3]


@session
def _precession():
    spin = se.unknown("S", t, shape=3)
    change = (spin @ spin).diff(t).subs(spin.diff(t), se.cross(spin, p))
    assert se.simplify(change) == 0


@session
def _ehrenfest():
    rate = (x @ Commutator(A, B) @ x).diff(x)
    matrix = NA @ NB - NB @ NA
    close(rate, (matrix + matrix.T) @ NX)


@session
def _overlap_of_gaussians():
    width = x @ x
    found = integrate(exp(-c * u**2) * width, (u, -oo, oo))
    close(found, np.sqrt(np.pi / 0.7) * NX @ NX)


@session
def _dyson_series():
    first = Integral(se.expm(-s * A) @ B @ se.expm(s * A), (s, 0, t))
    assert se.equal(first.diff(t), se.expm(-t * A) @ B @ se.expm(t * A))
    assert first.diff(t).subs(t, 0) == B


# --- geometry -------------------------------------------------------------------------------------


@session
def _metric_of_a_sphere():
    place = r * se.stack([sin(t) * cos(u), sin(t) * sin(u), cos(t)])
    frame = se.stack([place.diff(t), place.diff(u)], axis=1)
    metric = (frame.T @ frame).as_explicit().applyfunc(simplify)
    assert metric == sp.Array([[r**2, 0], [0, r**2 * sin(t) ** 2]])


@session
def _area_of_a_sphere():
    place = r * se.stack([sin(t) * cos(u), sin(t) * sin(u), cos(t)])
    normal = se.cross(place.diff(t), place.diff(u))
    close(normal @ normal, 1.4**4 * np.sin(0.4) ** 2)


@session
def _length_of_a_helix():
    curve = se.stack([cos(t), sin(t), c * t])
    speed = simplify(se.norm(curve.diff(t)).as_explicit())
    assert integrate(speed, (t, 0, 2 * pi)) == 2 * pi * sqrt(c**2 + 1)


@session
def _curvature_of_a_helix():
    curve = se.stack([cos(t), sin(t), c * t])
    velocity, acceleration = curve.diff(t), curve.diff(t, 2)
    close(se.norm(se.cross(velocity, acceleration)) / se.norm(velocity) ** 3, 1 / (1 + 0.49))


@session
def _torsion_of_a_helix():
    curve = se.stack([cos(t), sin(t), c * t])
    normal = se.cross(curve.diff(t), curve.diff(t, 2))
    close(normal @ curve.diff(t, 3) / (normal @ normal), 0.7 / (1 + 0.49))


@session
def _area_of_a_triangle():
    area = se.norm(se.cross(q - p, v - p)) / 2
    close(area, np.linalg.norm(np.cross(NQ - NP, NV - NP)) / 2)


@session
def _reflection():
    mirror = se.Delta(n) - 2 * se.outer(x, x) / (x @ x)
    close(mirror @ mirror, np.eye(3))
    close(mirror @ x, -NX)


@session
def _rotations():
    turn = se.stack([se.stack([cos(t), -sin(t)]), se.stack([sin(t), cos(t)])])
    assert se.simplify(turn.T @ turn) == se.Delta(2)
    assert simplify(sp.trigsimp(Matrix(turn.as_explicit()).det())) == 1


@session
def _distance_of_skew_lines():
    normal = se.cross(q, v)
    distance = sp.Abs(p @ normal) / se.norm(normal)
    cross = np.cross(NQ, NV)
    close(distance, abs(NP @ cross) / np.linalg.norm(cross))


@session
def _tangent_plane():
    level = log(x @ S @ x)
    normal = level.diff(x)
    close(normal, 2 * NS @ NX / (NX @ NS @ NX))
    assert se.equal(sp.diff(level.subs(x, x + t * y), t).subs(t, 0), sp.simplify(normal @ y))


@session
def _curl_has_no_sources():
    field = se.unknown("F", p, shape=3)
    assert se.divergence(se.curl(field, p), p) == 0


@session
def _curvature_of_a_sphere():
    theta = z[0]
    metric = se.diag(se.stack([1, sin(theta) ** 2]))
    changes = se.jacobian(metric, z)
    lowered = changes + np.einsum("lkm->lmk", changes) - np.einsum("mkl->lmk", changes)
    gamma = se.simplify(np.einsum("il,lmk->imk", np.linalg.inv(metric), lowered) / 2)
    assert gamma[1, 0, 1] == gamma[1, 1, 0] == cos(theta) / sin(theta)
    assert gamma[0, 1, 1] == -sin(theta) * cos(theta)
    rates = se.jacobian(gamma, z)
    ricci = np.einsum("kijk->ij", rates) - np.einsum("kikj->ij", rates)
    ricci += np.einsum("kkl,lij->ij", gamma, gamma) - np.einsum("kjl,lik->ij", gamma, gamma)
    assert sp.simplify(ricci - metric) == se.Zeros(2, 2)
    assert sp.simplify(se.det(metric)) == sin(theta) ** 2


@session
def _barycentric_coordinates():
    a0, a1 = symbols("a0 a1")
    point = a0 * z + a1 * se.stack([1, 2]) - se.stack([3, 4])
    (found,) = sp.linsolve([*point], a0, a1)
    known = np.linalg.solve(np.column_stack([NZ, [1, 2]]), [3, 4])
    close([value(weight) for weight in found], known)


@session
def _points_of_sympy():
    first, second = sp.Point(z[0], z[1]), sp.Point(0, 0)
    close(first.distance(second), np.linalg.norm(NZ))


@session
def _volume_of_an_ellipsoid():
    volume = Rational(4, 3) * pi / sqrt(se.det(S))
    close(volume.diff(S), -value(volume) / 2 * np.linalg.inv(NS))


@session
def _geodesic_on_a_plane():
    path = [Function(f"w{i}")(t) for i in range(2)]
    speed = se.stack([w.diff(t) for w in path])
    equations = euler_equations(speed @ speed / 2, path, t)
    assert [e.lhs for e in equations] == [-w.diff(t, 2) for w in path]


@session
def _mean_curvature_of_a_graph():
    height = u**2 + s**2
    derivative = se.stack([height.diff(u), height.diff(s)])
    area = sqrt(1 + derivative @ derivative)
    assert simplify(area.as_explicit() - sqrt(1 + 4 * u**2 + 4 * s**2)) == 0


# --- mechanics ------------------------------------------------------------------------------------


@session
def _euler_lagrange():
    place = se.unknown("q", t, shape=3)
    velocity = place.diff(t)
    lagrangian = m * velocity @ velocity / 2 - c * (place @ place) / 2
    momentum = Derivative(lagrangian, velocity)
    equation = momentum.doit().diff(t) - Derivative(lagrangian, place).doit()
    assert se.equal(equation, m * place.diff(t, 2) + c * place)


@session
def _hamilton():
    energy = p @ p / (2 * m) + c * (q @ q) / 2
    assert energy.diff(p) == p / m
    assert energy.diff(q) == c * q
    assert se.equal(energy.diff(p) @ energy.diff(q) - energy.diff(q) @ energy.diff(p), sp.S.Zero)


@session
def _pendulum():
    angle = f(t)
    place = r * se.stack([sin(angle), -cos(angle)])
    kinetic = m * (place.diff(t) @ place.diff(t)).as_explicit() / 2
    (equation,) = euler_equations(simplify(kinetic) - m * c * place[1], [angle], [t])
    known = -c * m * r * sin(angle) - m * r**2 * angle.diff(t, 2)
    assert simplify(equation.lhs.doit() - known) == 0


@session
def _angular_momentum():
    place = se.unknown("q", t, shape=3)
    momentum = se.cross(place, m * place.diff(t))
    change = momentum.diff(t).subs(place.diff(t, 2), -c * place)
    assert se.simplify(change) == se.Zeros(3)


@session
def _inertia():
    inertia = m * ((q @ q) * se.Delta(3) - se.outer(q, q))
    close(inertia @ p, 1.9 * np.cross(NQ, np.cross(NP, NQ)))


@session
def _work_along_a_path():
    path = t * x + t**2 * y
    work = integrate((S @ path) @ path.diff(t), (t, 0, 1))
    end = NX + NY
    close(work, end @ NS @ end / 2)


@session
def _normal_modes():
    stiffness, masses = se.tensors("K M", 2, 2)
    polynomial = se.det(stiffness - lam * masses)
    given = {stiffness: Matrix([[3, -1], [-1, 3]]), masses: sp.eye(2)}
    assert solve(polynomial.subs(given).as_explicit(), lam) == [2, 4]


@session
def _lagranges_method():
    angle = dynamicsymbols("theta")
    place = se.stack([sin(angle), -cos(angle)])
    time = dynamicsymbols._t
    lagrangian = (place.diff(time) @ place.diff(time)).as_explicit() / 2 - place[1]
    method = LagrangesMethod(simplify(lagrangian), [angle])
    (equation,) = method.form_lagranges_equations()
    assert simplify(equation - angle.diff(time, 2) - sin(angle)) == 0


@session
def _reference_frames():
    frame = ReferenceFrame("N")
    velocity = (x @ y) * frame.x + t * frame.y
    assert velocity.diff(t, frame) == frame.y
    assert velocity.dot(frame.x) == x @ y
    close(velocity.magnitude(), np.hypot(NX @ NY, 0.4))


@session
def _virial_theorem():
    potential = (x @ S @ x) ** Rational(3, 2)
    close(x @ potential.diff(x), 3 * value(potential))


@session
def _deviator():
    stress = se.TensorSymbol("T", 3, 3)
    deviator = stress - stress.trace() / 3 * se.Delta(3)
    assert se.simplify(deviator.trace()) == 0


@session
def _potential_of_a_point_mass():
    potential = -c / se.norm(p)
    close(potential.diff(p), 0.7 * NP / np.linalg.norm(NP) ** 3)
    close(se.laplacian(potential, p), 0)


@session
def _rocket():
    velocity = -log(1 - t) * x
    height = integrate(velocity, (t, 0, Rational(1, 2)))
    close(height, (0.5 + 0.5 * np.log(0.5)) * NX)


@session
def _power():
    place = se.unknown("q", t, shape=3)
    kinetic = m * place.diff(t) @ place.diff(t) / 2
    assert se.equal(kinetic.diff(t), m * place.diff(t, 2) @ place.diff(t))


@session
def _average_force():
    average = Integral(cos(t) * x + y, (t, 0, pi)) / pi
    assert average.doit() == y
    close(average, NY)


# --- algebra of the results -----------------------------------------------------------------------


@session
def _coefficients_of_a_polynomial():
    square = (x + t * y) @ (x + t * y)
    assert sp.Poly(square, t).all_coeffs() == [y @ y, 2 * (x @ y), x @ x]


@session
def _partial_fractions():
    found = sp.apart(1 / (t * (t - x @ x)), t)
    close(found, 1 / (0.4 * (0.4 - NX @ NX)))


@session
def _root_by_numbers():
    equation = ((x + t * y) @ y).subs({x: [1, 2], y: [1, 1]}).doit()
    assert abs(sp.nsolve(equation, t, 0.0) + 1.5) < 1e-9


@session
def _patterns_of_a_formula():
    factor, rest = Wild("a"), Wild("b")
    found = (2 * x + A @ y).match(factor * x + rest)
    assert (found[factor], found[rest]) == (2, A @ y)


@session
def _sum_over_rows():
    close(Sum(k * A[k] * x[k], (k, 0, n - 1)), (np.arange(3) * NX) @ NA)
    total = Sum(x[k] ** 2 * y[k], (k, 0, n - 1))
    close(total, NX**2 @ NY)
    close(se.diff(total, x), 2 * NX * NY)
    norms = Sum(se.norm(A[k, :]), (k, 0, n - 1))
    assert abs(se.lambdify([A], norms)(NA) - np.linalg.norm(NA, axis=1).sum()) < 1e-12
    with pytest.raises(se.UnsupportedError, match="write the sum over entries with einsum"):
        se.diff(norms, A)


@session
def _functions_rewritten():
    found = (A @ se.tanh(x)).rewrite(exp).replace(exp, lambda e: exp(2 * e))
    close(found, NA @ np.tanh(2 * NX))


@session
def _matrix_of_derivatives():
    jacobian = Matrix([x @ x + t, t * (x @ y)]).jacobian([t])
    assert jacobian == Matrix([1, x @ y])


@session
def _limits_of_means():
    power = (x**2).mean() ** t
    close(sp.limit(power, t, 0), 1)
    assert sp.limit(sin(t * (x @ y)) / t, t, 0) == x @ y


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_is_right(name):
    SESSIONS[name]()
