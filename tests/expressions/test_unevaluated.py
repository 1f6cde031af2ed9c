"""Derivatives, integrals and sums of tensors that stay as they are until doit."""

import pickle

import numpy as np
import pytest
import sympy as sp
from oracles import assert_close, evaluate
from scipy.integrate import quad_vec
from sympy import Derivative, Integral, Sum, symbols

import sympy_einsum as se

n = symbols("n", integer=True, positive=True)
k = symbols("k", integer=True)
t, c, t_1 = symbols("t c t_1", real=True)
x, y, x_1 = se.tensors("x y x_1", n)
A = se.TensorSymbol("A", n, n)
f = x @ A @ x
DATA = {
    A: np.array([[0.3, -1.2, 0.5], [0.8, 0.1, -0.4], [-0.6, 0.9, 1.1]]),
    x: np.array([0.7, -0.2, 1.3]),
    y: np.array([-0.5, 0.4, 0.9]),
    t: 0.6,
    c: 1.7,
    n: 3,
}
NAMES = {str(own): own for own in (A, x, y, t, c, n, k, t_1, x_1)} | {
    **vars(sp),
    "expm": se.expm,
    "outer": se.outer,
}
a, vx, vy = DATA[A], DATA[x], DATA[y]
ONE = np.eye(3)

# An expression, its text, and its values; None where there is no closed form.
KEPT = {
    "gradient": (Derivative(f, x), "Derivative(x @ A @ x, x)", (a + a.T) @ vx),
    "Jacobian": (Derivative(A @ x, x), "Derivative(A @ x, x)", a),
    "Hessian": (Derivative(f, x, x), "Derivative(x @ A @ x, (x, 2))", a + a.T),
    "merged": (Derivative(Derivative(f, x), (x, 1)), "Derivative(x @ A @ x, (x, 2))", a + a.T),
    "mixed": (
        Derivative(Derivative(f, x), A),
        "Derivative(x @ A @ x, x, A)",
        np.einsum("ij,k->ijk", ONE, vx) + np.einsum("ik,j->ijk", ONE, vx),
    ),
    "by a scalar": (
        Derivative(sp.sin(t) * x, t, t),
        "Derivative(sin(t)*x, (t, 2))",
        -np.sin(0.6) * vx,
    ),
    "of a stock scalar": (
        Derivative(t * sp.exp(y @ x), x),
        "Derivative(t*exp(x @ y), x)",
        0.6 * np.exp(vx @ vy) * vy,
    ),
    "at another symbol": (
        Derivative(f, x).subs(x, y),
        "Derivative(y @ A @ y, y)",
        (a + a.T) @ vy,
    ),
    "at a point": (
        Derivative(f, x).subs(x, 2 * y + x),
        "Derivative(x @ A @ x, x).subs([(x, 2*y + x)])",
        (a + a.T) @ (2 * vy + vx),
    ),
    "of what depends on the point": (
        Derivative(f, x).subs(A, se.outer(x, y)),
        "Derivative(x_1 @ outer(x, y) @ x_1, x_1).subs([(x_1, x)])",
        (np.outer(vx, vy) + np.outer(vy, vx)) @ vx,
    ),
    "indefinite": (Integral(t * x, t), "Integral(t*x, t)", 0.18 * vx),
    "definite": (Integral(t * x, (t, 0, 1)), "Integral(t*x, (t, 0, 1))", vx / 2),
    "improper": (Integral(sp.exp(-t) * x, (t, 0, sp.oo)), "Integral(exp(-t)*x, (t, 0, oo))", vx),
    "added": (x + Integral(t * x, (t, 0, 1)), "x + Integral(t*x, (t, 0, 1))", 1.5 * vx),
    "nested": (
        Integral(t * c * x, (t, 0, c), (c, 0, 1)),
        "Integral(Integral(c*t*x, (t, 0, c)), (c, 0, 1))",
        vx / 8,
    ),
    "not captured": (
        Integral(t * x, (t, 0, 1)).subs(x, t * y),
        "Integral(t*t_1*y, (t_1, 0, 1))",
        0.3 * vy,
    ),
    "without closed form": (
        Integral(se.expm(t * A), (t, 0, c)),
        "Integral(expm(t*A), (t, 0, c))",
        None,
    ),
    "sum": (Sum(k * x, (k, 1, n)), "Sum(k*x, (k, 1, n))", 6 * vx),
    "sum over numbers": (
        Sum(sp.exp(k * x), (k, 1, 2)),
        "Sum(exp(k*x), (k, 1, 2))",
        np.exp(vx) + np.exp(2 * vx),
    ),
    "sum that is a loop": (
        Sum(sp.exp(k * x), (k, 2, n)),
        "Sum(exp(k*x), (k, 2, n))",
        np.exp(2 * vx) + np.exp(3 * vx),
    ),
    "sum of rows": (
        Sum(k * A[k], (k, 0, n - 1)),
        "Sum(k*A[k, :], (k, 0, n - 1))",
        np.arange(3) @ a,
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_kept_expressions_have_a_text_a_shape_and_a_value(name):
    e, text, value = KEPT[name]
    assert str(e) == text
    read = eval(text, NAMES)
    # What is free of the variable may be several operands, or one.
    assert read == e or (str(read), read.doit()) == (text, e.doit())
    assert eval(sp.srepr(e), {**vars(sp), **vars(se)}) == e
    assert pickle.loads(pickle.dumps(e)) is e
    assert e.func(*e.args) == e
    assert e.free_symbols <= {A, x, y, t, c}
    for printer in (sp.latex, sp.pretty, lambda e: sp.mathml(e, printer="presentation")):
        assert "BoundTensor" not in printer(e)
        assert "variable" not in printer(e)
    if value is None:
        assert e.doit() is e
        with pytest.raises(se.UnsupportedError, match=r"stays as it is under \.doit"):
            se.lambdify([*DATA], e)
        return
    shape = [int(length.subs(n, 3)) for length in e.shape]
    assert shape == [*np.shape(value)]
    for own in (e, e.doit(), se.simplify(e)):
        assert_close(evaluate(own, DATA), value)


@pytest.mark.parametrize("variable", [x, A, t, c, y], ids=str)
@pytest.mark.parametrize("name", [name for name, row in KEPT.items() if row[2] is not None])
def test_derivatives_of_kept_expressions_are_those_of_their_values(name, variable):
    e = KEPT[name][0]
    found, known = (se.diff(own, variable) for own in (e, e.doit()))
    assert found.shape == known.shape
    assert_close(evaluate(found, DATA), evaluate(known, DATA))
    forward = se.diff(e, variable, mode="forward")
    assert_close(evaluate(forward, DATA), evaluate(known, DATA))


def test_derivatives_go_under_the_sign_and_to_the_bounds():
    e = Integral(se.sin(t * x), (t, c, c**2))
    assert e.diff(c) == 2 * c * se.sin(c**2 * x) - se.sin(c * x)
    assert str(e.diff(x)) == "Integral(t*diag(cos(t*x)), (t, c, c**2))"
    exact = quad_vec(lambda s: s * np.diag(np.cos(s * vx)), 1.7, 1.7**2)[0]
    by_parts = se.diff((sp.cos(c * x) - sp.cos(c**2 * x)) / x, x)
    assert_close(evaluate(by_parts, DATA), exact)
    assert Integral(se.expm(t * A), (t, 0, c)).diff(c) == se.expm(c * A)
    assert Integral(se.sin(t * x), t).diff(t) == se.sin(t * x)
    inside = Sum(sp.exp(k * x), (k, 1, n)).diff(x)
    assert str(inside) == "Sum(k*diag(exp(k*x)), (k, 1, n))"
    assert Integral(se.sin(t * x), (t, c, c)) == se.Zeros(n)
    assert Derivative(f, y) == se.Zeros(n)
    with pytest.raises(se.UnsupportedError, match=r"no derivative of Sum\(.*by what bounds it"):
        Sum(sp.exp(k * x), (k, 1, c)).diff(c)


def test_they_are_what_sympy_has():
    d, integral = Derivative(f, x), Integral(t * x, (t, 0, 1))
    assert isinstance(d, Derivative)
    assert isinstance(integral, Integral)
    assert isinstance(integral, se.Unevaluated)
    assert (x + integral).has(Integral)
    assert not (x + integral).has(Derivative)
    assert (d.expr, d.variables, d.variable_count) == (f, (x,), (sp.Tuple(x, 1),))
    assert (integral.function, integral.limits) == (t * x, (sp.Tuple(t, 0, 1),))
    assert f.diff(x, evaluate=False) is sp.diff(f, x, evaluate=False) is d
    assert Derivative(f, x, evaluate=True) == d.doit() == se.gradient(f, x)
    assert Derivative(f, x, 0) == f
    assert d.diff(x) is Derivative(f, x, x)
    assert sp.integrate(t * x, (t, 0, 1)) == x / 2
    assert sp.integrate(se.expm(t * A), (t, 0, 1)) is Integral(se.expm(t * A), (t, 0, 1))
    assert sp.summation(k * x, (k, 1, 3)) == 6 * x
    assert (integral @ y).doit() == x @ y / 2
    assert se.equal(integral, x / 2)
    assert Integral(se.exp(t * x), (t, 0, 1)).has(sp.exp)
    assert_close(sp.lambdify([x], d.subs(A, se.outer(x, x)))(vx), 2 * (vx @ vx) * vx)


def test_equations_are_typeset():
    d = Derivative(f, x)
    assert sp.latex(sp.Eq(d, d.doit())) == (
        r"\frac{\partial}{\partial x} x^{\top} A x = A x + A^{\top} x"
    )
    assert (
        sp.latex(Derivative(f, x, A)) == r"\frac{\partial^{2}}{\partial A\partial x} x^{\top} A x"
    )
    integral = Integral(se.expm(t * A), (t, 0, c)) @ x
    assert sp.latex(integral) == (
        r"\left(\int\limits_{0}^{c} \operatorname{expm}\left(t A\right)\, dt\right) x"
    )
    assert sp.latex(Sum(sp.exp(k * x), (k, 1, n))) == r"\sum_{k=1}^{n} \exp\left(k x\right)"
    at = Derivative(f, x).subs(x, 2 * y)
    assert sp.latex(at) == (
        r"\left. \frac{\partial}{\partial x} x^{\top} A x \right|_{\substack{ x=2 y }}"
    )
    assert sp.pretty(Derivative(A @ x, x)) == "∂      \n──(A⋅x)\n∂x     "


def test_conversions_evaluate():
    at = {n: 3}
    for own in (Derivative(f, x), 2 * Derivative(f, x) + x, Integral(t * x, (t, 0, c))):
        value = own.doit()
        for convert in (se.to_matrix, se.to_array, se.to_indexed):
            assert convert(own) == convert(value)
        assert own.subs(at).as_explicit() == value.subs(at).as_explicit()
    z = se.TensorSymbol("z", 2)
    for kind, bounds, exponent in ((Integral, (t, 0, c), -t * z), (Sum, (k, 1, n), k * z)):
        kept = kind(se.exp(exponent**2), bounds)
        assert kept.as_explicit()[1] == kind(sp.exp(exponent[1] ** 2), bounds)
        with pytest.raises(se.UnsupportedError, match=r"or the entries of as_explicit\(\)"):
            se.to_indexed(kept)


def test_substitution_reaches_what_is_free_and_nothing_else():
    e = Integral(t * x, (t, 0, c))
    assert e.subs(t, 5) is e
    assert e.subs(c, t) == Integral(t * x, (t, 0, t))
    assert Integral(t * x, t).subs(t, 5).doit() == sp.Rational(25, 2) * x
    shorter = Derivative(f, x).subs(n, 2)
    assert shorter.shape == (2,)
    values = {x: [1, 2], A: [[1, 2], [3, 4]]}
    assert se.evaluate(Derivative(f, x), values).tolist() == [12, 21]
    assert Sum(k * x, (k, 1, c)).subs(c, 2).doit() == 3 * x


def test_unknown_functions_keep_their_own_derivatives():
    q = se.unknown("q", t, shape=3)
    v = q.diff(t)
    lagrangian = v @ v / 2 - q @ q
    momentum = Derivative(lagrangian, v)
    assert Derivative(q, t) is v
    assert momentum.doit() == v
    assert momentum.diff(t).doit() == q.diff(t, 2)
    assert Derivative(lagrangian, q).doit() == -2 * q


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: Derivative(A @ x, n), "axis length of [Ax]"),
        (lambda: Integral(t * x, (x, 0, 1)), "ordinary symbols, not over the tensor x"),
        (lambda: se.to_matrix(Integral(se.exp(t * x), (t, 0, 1))), "the matrix of.*as_explicit"),
        (lambda: se.to_array(Integral(se.exp(t * x), (t, 0, 1))), "the array of.*as_explicit"),
    ],
)
def test_refusals_name_the_remedy(made, told):
    with pytest.raises(se.TensorError, match=told):
        made()
