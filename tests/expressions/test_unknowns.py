"""Unknown functions of tensors: the chain rule, filling them in, derivatives by them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sympy
from sympy import Derivative, Eq, Function, Lambda, symbols
from sympy.calculus.euler import euler_equations

import sympy_einsum as se

n = symbols("n", integer=True, positive=True)
t, k, m = symbols("t k m")
A, B = se.TensorSymbol("A", 4, 3), se.TensorSymbol("B", n, n)
x, z, y = se.TensorSymbol("x", 3), se.TensorSymbol("z", 4), se.TensorSymbol("y", n)
Z = se.TensorSymbol("Z", 2, 5)
f, g = se.unknown("f", z), se.unknown("g", x)
F = se.unknown("F", x, shape=3)
G = se.unknown("G", z, shape=(2, 5))
h = se.unknown("h", Z)
q, p = se.unknown("q", t, shape=3), se.unknown("p", t, shape=3)
rng = np.random.default_rng(0)
DATA = {A: rng.standard_normal((4, 3)), x: rng.standard_normal(3), z: rng.standard_normal(4),
        Z: rng.standard_normal((2, 5))}  # fmt: skip


def value(e):
    args = [leaf for leaf in DATA if leaf in sympy.sympify(e).free_symbols]
    return np.asarray(se.lambdify(args, e)(*[DATA[leaf] for leaf in args]), dtype=float)


# Functions with derivatives of any order, in the place of f: R⁴ → R.
SCALAR = [
    Lambda(z, z @ z), Lambda(z, se.exp(z).sum()), Lambda(z, sympy.sin(z @ z) * z.sum()),
    Lambda(z, se.logsumexp(z)), Lambda(z, z[1] * z[2] ** 3),
]  # fmt: skip


@pytest.mark.parametrize("order", [0, 1, 2, 3])
@pytest.mark.parametrize("given", SCALAR, ids=str)
def test_chain_rule(given, order):
    """Filling in before differentiating is the same as after."""
    e = sympy.cos(f(A @ x)) * (x @ x) + f(2 * z) * f(z + 1)
    after = (se.diff(e, x, order) if order else e).subs(f, given)
    filled = sympy.cos(given(A @ x)) * (x @ x) + given(2 * z) * given(z + 1)
    before = se.diff(filled, x, order) if order else filled
    np.testing.assert_allclose(value(after), value(before), rtol=1e-8, atol=1e-9)


TENSORS = [(G, Lambda(z, se.outer(se.sin(z[:2]), se.exp(z @ A)[:1] * se.Ones(5))), z),
           (F, Lambda(x, se.cross(x, se.sin(x))), x), (F, Lambda(x, se.softmax(x)), x),
           (h, Lambda(Z, (Z**3).sum() * Z[0, 1]), Z)]  # fmt: skip


@pytest.mark.parametrize(("function", "given", "at"), TENSORS, ids=str)
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_functions_with_other_shapes(function, given, at, mode):
    e = function(se.sin(at) + at) * 2
    for order in (1, 2):
        derivative = se.diff(e, at, order, mode=mode)
        assert derivative.shape == function.shape + at.shape * order
        expected = se.diff(2 * given(se.sin(at) + at), at, order)
        found = derivative.subs(function, given)
        np.testing.assert_allclose(value(found), value(expected), rtol=1e-9, atol=1e-10)


def test_shapes_and_symmetry():
    gradient, hessian, third = (se.diff(f, z, order) for order in (1, 2, 3))
    assert (gradient.shape, hessian.shape, third.shape) == ((4,), (4, 4), (4, 4, 4))
    assert hessian.T is hessian
    assert hessian.is_symmetric
    assert third.transpose(2, 0, 1) is third
    assert len(third.permutations) == 6
    assert se.diff(G, z, 2).transpose(0, 1, 3, 2) is se.diff(G, z, 2)
    assert se.diff(h, Z, 2).transpose(2, 3, 0, 1) is se.diff(h, Z, 2)
    assert se.diff(h, Z, 2).transpose(1, 0, 2, 3) is not se.diff(h, Z, 2)
    composed = se.hessian(f(A @ x), x)
    assert se.simplify(composed - composed.T) == se.Zeros(3, 3)
    assert se.equal(*[se.diff(f(A @ x), x, 3).transpose(*axes) for axes in ((0, 1, 2), (2, 0, 1))])
    assert not se.diff(F, x).is_symmetric


def test_many_derivatives():
    """There are too many permutations of their axes to be compared."""
    high = se.diff(f, z, 9)
    assert high.order == 9
    assert high.transpose(1, 0, *range(2, 9)) is high
    assert str(high) == "grad(f, 9)(z)"
    s = se.TensorSymbol("s", 1)
    r = se.unknown("r", s)
    filled = se.diff(r, s, 7).subs(r, Lambda(s, se.exp(2 * s).sum()))
    assert float(filled.subs(s, [0]).sum()) == 128


def test_vector_calculus():
    assert se.curl(se.gradient(g, x), x) == se.Zeros(3)
    assert se.divergence(se.curl(F, x), x) == 0
    double = se.gradient(se.divergence(F, x), x) - se.laplacian(F, x)
    assert se.equal(se.curl(se.curl(F, x), x), double)
    scaled = se.einsum(",i->i", g, se.curl(F, x)) + se.cross(se.gradient(g, x), F)
    assert se.equal(se.curl(g * F, x), scaled)
    assert se.equal(
        se.laplacian(g**2, x),
        2 * g * se.laplacian(g, x) + 2 * se.gradient(g, x) @ se.gradient(g, x),
    )


def test_symbolic_lengths():
    u = se.unknown("u", y, shape=n)
    jacobian = se.jacobian(u(B @ y), y)
    assert jacobian.shape == (n, n)
    assert jacobian.subs(n, 3).shape == (3, 3)
    assert se.equal(jacobian.subs(u, Lambda(y, y**2)), 2 * (B @ y)[:, None] * B)


def test_functions_of_the_time():
    assert q.diff(t).shape == (3,)
    assert q.diff(t, 2) is q.diff(t).diff(t)
    assert (q @ q).diff(t) == 2 * (q.diff(t) @ q)
    L = m * (q.diff(t) @ q.diff(t)) / 2 - k * (q @ q) / 2
    momentum = se.gradient(L, q.diff(t))
    assert momentum == m * q.diff(t)
    assert momentum.diff(t) - se.gradient(L, q) == m * q.diff(t, 2) + k * q
    assert se.gradient(L, [q, q.diff(t)]) == [-k * q, momentum]
    assert sympy.diff(L, q) == L.diff(q) == -k * q
    assert se.hessian(L, q.diff(t)) == m * se.Delta(3)
    assert se.gradient(L, q.diff(t, 2)) == se.Zeros(3)
    H = p @ p / (2 * m) + k * (q @ q) / 2
    assert [se.gradient(H, p), -se.gradient(H, q)] == [p / m, -k * q]
    assert H.has(q)
    assert L.atoms(se.Unknown) == {q, q.diff(t)}


def test_a_pendulum():
    """Of length 1 in a plane, as in a textbook."""
    angle = se.unknown("theta", t)
    at = se.stack([sympy.sin(angle), -sympy.cos(angle)])
    L = m * (at.diff(t) @ at.diff(t)) / 2 - m * k * at[1]
    motion = se.gradient(L, angle.diff(t)).diff(t) - se.gradient(L, angle)
    expected = m * angle.diff(t, 2) + m * k * sympy.sin(angle)
    assert sympy.simplify(se.simplify(motion) - expected) == 0


def test_filling_in_functions_of_the_time():
    circle = se.stack([sympy.cos(t), sympy.sin(t), t])
    filled = (q.diff(t) + q).subs(q, circle)
    expected = np.array([np.cos(0.3) - np.sin(0.3), np.cos(0.3) + np.sin(0.3), 1.3])
    np.testing.assert_allclose(se.lambdify([t], filled)(0.3), expected)
    assert q(0).subs(q, circle) == circle.subs(t, 0)
    assert (q @ q).subs({q: x, q.diff(t): 2 * x}) == x @ x
    L = q.diff(t) @ q.diff(t) + q @ q
    assert L.subs({q: x, q.diff(t): 2 * x}) == 5 * (x @ x)
    assert q.diff(t).subs(q, [1, 2, 3]) == se.Zeros(3)
    assert q(2 * t).diff(t).subs(q, Lambda(t, t**2 * x)).subs(t, 3) == 24 * x


def test_derivatives_by_sympys_functions():
    r = Function("r")(t)
    L = se.sin(r * x) @ x + r.diff(t) ** 2 * (x @ x) + r.diff(t) * r
    by_r, by_velocity = se.gradient(L, [r, r.diff(t)])
    assert by_r == se.cos(r * x) @ x**2 + r.diff(t)
    assert by_velocity == 2 * r.diff(t) * (x @ x) + r
    assert se.diff(L, r) == L.diff(r) == by_r
    assert se.diff(r.diff(t) * r * x, r) == r.diff(t) * x
    assert se.diff(r * x, r.diff(t)) == se.Zeros(3)
    assert se.diff(r**3 * x, r, 2) == 6 * r * x
    (equation,) = euler_equations(L, [r], [t])
    assert isinstance(equation, Eq)
    assert se.equal(equation.lhs, by_r - by_velocity.diff(t))
    second = se.diff(r.diff(t, 2) * r.diff(t) * x, Derivative(r, t))
    assert second == r.diff(t, 2) * x


TEXTS = [
    (f(A @ x), "f(A @ x)", r"f\left(A x\right)"),
    (se.gradient(f(A @ x), x), "A.T @ grad(f)(A @ x)", r"A^{\top} \nabla f\left(A x\right)"),
    (
        se.hessian(f(A @ x), x), "A.T @ hess(f)(A @ x) @ A",
        r"A^{\top} \nabla^{2}f\left(A x\right) A",
    ),
    (se.diff(f, z, 3), "grad(f, 3)(z)", None),
    (q, "q(t)", r"q\left(t\right)"), (q.diff(t), "diff(q(t), t)", r"q'\left(t\right)"),
    (q.diff(t, 2), "diff(q(t), t, 2)", r"q''\left(t\right)"),
    (se.curl(F, x), "curl(F(x), x)", r"\nabla \times F\left(x\right)"),
    (-2 * se.curl(F, x), "-2*curl(F(x), x)", None),
    (se.divergence(F, x), "divergence(F(x), x)", r"\nabla \cdot F\left(x\right)"),
    (se.laplacian(g, x), "laplacian(g(x), x)", r"\nabla^{2}g\left(x\right)"),
    (se.jacobian(F, x) @ x, "grad(F)(x) @ x", r"\nabla F\left(x\right) x"),
    (se.diff(G(A @ x), x), None, None), (h, "h(Z)", None), (q(2 * t).diff(t), None, None),
]  # fmt: skip


@pytest.mark.parametrize(("e", "text", "formula"), TEXTS, ids=str)
def test_texts(e, text, formula):
    if text is not None:
        assert str(e) == text
    if formula is not None:
        assert se.latex(e) == formula
    namespace = {**vars(sympy), **vars(se)}
    assert eval(sympy.srepr(e), namespace) is e
    assert pickle.loads(pickle.dumps(e)) is e
    assert se.pretty(e, use_unicode=False).isascii()
    assert sympy.mathml(e, printer="presentation")
    assert se.to_dot(e)
    leaves = {"f": f, "g": g, "F": F, "h": h, "q": q, "A": A, "x": x, "z": z, "Z": Z, "t": t}
    if "grad" not in str(e) and "hess" not in str(e):
        assert eval(str(e), {**namespace, **leaves}) == e


def test_code_takes_them_as_arguments():
    L = m * (q.diff(t) @ q.diff(t)) / 2 - k * (q @ q) / 2
    function = se.lambdify([q, q.diff(t), m, k], [L, se.gradient(L, q)])
    position, velocity = rng.standard_normal((2, 3))
    energy, force = function(position, velocity, 2.0, 3.0)
    np.testing.assert_allclose(energy, velocity @ velocity - 1.5 * position @ position)
    np.testing.assert_allclose(force, -3 * position)
    with pytest.raises(se.UnsupportedError, match=r"f is an unknown function.*f\(A @ x\) as an"):
        se.lambdify([A, x], f(A @ x))


def test_stock_code():
    assert f(A @ x).free_symbols == {A, x}
    assert f(z) is f
    assert f(A @ x).xreplace({A: 2 * A}) is f(2 * A @ x)
    assert (f + 1).subs(z, 2 * z) == f(2 * z) + 1
    assert f.as_explicit() == f
    assert [*F.as_explicit()] == [F[0], F[1], F[2]]
    assert F.subs(F, Lambda(x, x)) is x
    assert g(A.T @ z).subs(g(A.T @ z), z @ z) == z @ z


def test_bad_arguments():
    with pytest.raises(se.TensorError, match="the name of an unknown function"):
        se.unknown("", x)
    with pytest.raises(se.TensorError, match="the name of an unknown function"):
        se.unknown(3, x)
    with pytest.raises(se.ShapeError, match="length"):
        se.unknown("f", x, shape=-1)
    with pytest.raises(se.ShapeError, match=r"of shape \(4,\), not of one of shape \(3,\)"):
        f(x)
    with pytest.raises(se.TensorError, match="f is a function of one variable"):
        f.subs(f, Lambda((k, m), k))
    with pytest.raises(se.ShapeError, match=r"shape \(4,\), and x has shape \(3,\)"):
        f.subs(f, Lambda(x, x @ x))
    with pytest.raises(se.ShapeError, match=r"has values of shape \(3,\).* has shape \(\)"):
        F.subs(F, x @ x)
    with pytest.raises(se.TensorError, match=r"fill in f itself; grad\(f\)\(z\) is a derivative"):
        f.subs(se.gradient(f, z), Lambda(z, z))
    for convert in (se.to_matrix, se.to_array):
        with pytest.raises(se.UnsupportedError):
            convert(F)


def test_the_fock_matrix_of_symmetric_integrals():
    """The derivative of the energy by the density: two terms, Coulomb and exchange."""
    eightfold = [(1, 0, 2, 3), (0, 1, 3, 2), (2, 3, 0, 1)]
    integrals = se.TensorSymbol("I", n, n, n, n, symmetric=eightfold)
    D, core = se.TensorSymbol("D", n, n, symmetric=True), se.TensorSymbol("H", n, n, symmetric=True)
    coulomb = se.einsum("ijkl,ij,kl->", integrals, D, D) / 2
    exchange = se.einsum("ijkl,ik,jl->", integrals, D, D) / 4
    fock = se.simplify(se.gradient(coulomb - exchange + (core * D).sum(), D) - core)
    assert len(fock.operands) == 2
    entries = rng.standard_normal((3, 3, 3, 3))
    axes = [(0, 1, 2, 3), (1, 0, 2, 3), (0, 1, 3, 2), (1, 0, 3, 2)]
    axes += [(c, d, a, b) for a, b, c, d in axes]
    entries = sum(entries.transpose(own) for own in axes)
    density = rng.standard_normal((3, 3))
    density = density + density.T
    found = se.lambdify([integrals, D], fock)(entries, density)
    expected = np.einsum("ijkl,kl->ij", entries, density)
    expected = expected - np.einsum("ikjl,kl->ij", entries, density) / 2
    np.testing.assert_allclose(found, expected)
