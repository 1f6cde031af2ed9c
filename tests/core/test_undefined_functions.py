"""Undefined functions: their derivatives, in SymPy's form and in ours."""

import copy
import pickle

import numpy as np
import pytest
import sympy
from sympy import Derivative, Dummy, Function, Lambda, Subs, cos, exp, sin, symbols

import sympy_einsum as se
from sympy_einsum.core import (
    as_stock_derivative,
    named_derivatives,
    with_function,
    with_stock_derivatives,
)

f, g = Function("f"), Function("g")
s, t = symbols("s t", real=True)
x, y = se.TensorSymbol("x", 3), se.TensorSymbol("y", 3)
A = se.TensorSymbol("A", (2, 3))


def name_of(expr):
    return type(expr).__name__


def test_names_of_derivatives():
    derivatives = [named_derivatives(f(s).diff(s, order)) for order in (1, 2, 3, 4)]
    assert [name_of(first_derivative) for first_derivative in derivatives] == [
        "f'",
        "f''",
        "f'''",
        "f^(4)",
    ]
    assert name_of(named_derivatives(f(s, t).diff(s, 2, t))) == "f^(2,1)"
    assert named_derivatives(f(s, t).diff(s, t)) == named_derivatives(f(s, t).diff(t, s))


def of_two(a, b):
    return sin(a) * b**3


ONE, TWO = (sin, cos), (of_two, cos)


@pytest.mark.parametrize(
    ("make", "known"),
    [
        (lambda f, g: f(s).diff(s), ONE),
        (lambda f, g: s * f(2 * s + t).diff(s, 2) + f(s).diff(s), ONE),
        (lambda f, g: f(g(s)).diff(s), ONE),
        (lambda f, g: Subs(Derivative(f(t), t), t, s**2), ONE),
        (lambda f, g: f(s, t).diff(s, t) * g(s), TWO),
        (lambda f, g: f(s * t, s).diff(s, 2), TWO),
        (lambda f, g: f(s, s).diff(s), TWO),
    ],
)
def test_derivatives_by_their_names_and_as_sympy_writes_them(make, known):
    """Substituting known functions gives SymPy's derivatives of these."""
    named = named_derivatives(make(f, g))
    assert not named.has(Derivative, Subs)
    assert named_derivatives(with_stock_derivatives(named)) == named
    found = with_function(with_function(named, f, known[0]), g, known[1])
    assert sympy.simplify(found - make(*known).doit()) == 0


def test_derivatives_by_other_symbols_stay():
    for expr in (Derivative(f(s), f(s)), Derivative(f(s**2, evaluate=False), t, evaluate=False)):
        assert named_derivatives(expr) == expr
    plain = s**2 + f(s)
    assert named_derivatives(plain) is plain
    assert as_stock_derivative(f(s)) == f(s)
    assert with_stock_derivatives(plain) is plain


def test_assumptions_of_the_function_are_kept():
    positive = Function("f", positive=True)
    first_derivative = named_derivatives(positive(s).diff(s))
    assert first_derivative.is_positive is None
    assert as_stock_derivative(first_derivative) == positive(s).diff(s)
    assert first_derivative != named_derivatives(f(s).diff(s))


def test_pickle_and_copies():
    """SymPy's own undefined functions can't be pickled without a name in a module."""
    for expr in (Function("no name of a module")(s), named_derivatives(f(s, t).diff(s))):
        assert pickle.loads(pickle.dumps(expr)) == expr
        assert copy.deepcopy(expr) == expr
    for e in (f(x), se.hessian(f(A @ x).sum(), x), se.diff(f(t) * x, t)):
        assert pickle.loads(pickle.dumps(e)) is e


def test_derivatives_of_tensors():
    e = f(A @ x).sum()
    assert str(se.gradient(e, x)) == "A.T @ f'(A @ x)"
    assert str(se.hessian(e, x)) == "A.T @ diag(f''(A @ x)) @ A"
    assert se.latex(se.gradient(e, x)) == r"A^{\top} f'{\left(A x \right)}"
    assert se.latex(se.gradient(f(x, y).sum(), x)) == r"f^{(1,0)}{\left(x, y \right)}"
    assert sympy.latex(se.diff(f(x @ x) ** 2, x)).count("'") == 1
    assert sympy.latex(named_derivatives(f(s).diff(s)) ** 2) == (
        r"\left(f'{\left(s \right)}\right)^{2}"
    )
    assert se.diff(f(x, y).sum(), x, y) == se.diff(f(x, y).sum(), y, x).T
    assert f(x @ x).diff(x) == se.diff(f(x @ x), x) == sympy.diff(f(x @ x), x)


@pytest.mark.parametrize("new", [sin, exp, Lambda(t, t**3 - t), se.softplus])
def test_a_function_in_its_place_gives_its_derivatives(new):
    for e, known in (
        (f(A @ x).sum(), se.elementwise(new, A @ x).sum()),
        (f(x @ x) * f(x).sum(), new(x @ x) * se.elementwise(new, x).sum()),
    ):
        assert e.subs(f, new) == known
        for order in (1, 2):
            derivative = se.diff(e, x, order)
            values = np.array([[0.3, -0.2, 0.5], [0.1, 0.7, -0.4]]), np.array([0.2, 0.9, 0.4])
            both = [derivative.subs(f, new), se.diff(known, x, order)]
            np.testing.assert_allclose(*se.lambdify([A, x], both)(*values), rtol=1e-12)
            assert derivative.replace(f, new) == derivative.subs(f, new)
            assert not derivative.subs([(f, new), (x, y)]).has(x)


def test_scalars_are_as_sympy_has_them():
    assert se.diff(f(t) * x, t) == f(t).diff(t) * x == sympy.diff(f(t) * x, t)
    assert se.diff(f(t) * x, t, 2) == f(t).diff(t, 2) * x
    assert se.diff(f(t) * (x @ x), t) == sympy.diff(f(t) * (x @ x), t)
    solution = sympy.dsolve(se.diff(f(t) * (x @ x), t) - f(t) * (x @ x), f(t))
    assert solution.rhs.diff(t) == solution.rhs
    first_derivative = Lambda(t, f(t).diff(t))
    assert se.elementwise(first_derivative, x) == se.gradient(f(x).sum(), x)


def test_texts_read_back():
    namespace = {**vars(sympy), **vars(se)}
    for e in (se.hessian(f(A @ x).sum(), x), se.gradient(f(2 * x + 1).sum(), x), f(x, y) * 2):
        assert eval(sympy.srepr(e), namespace) == e
    assert eval(str(f(A @ x) + f(t)), {"A": A, "x": x, "f": f, "t": t, "Ones": se.Ones}) == (
        f(A @ x) + f(t)
    )


def test_conversions_write_sympys_derivatives():
    gradient = se.gradient(f(A @ x).sum(), x)
    matrix = se.to_matrix(gradient)
    assert matrix.atoms(Derivative)
    assert se.from_matrix(matrix, vectors=True) == gradient
    assert se.from_array(se.to_array(gradient)) == gradient
    i = symbols("i", integer=True)
    entry = se.to_indexed(gradient, [i])
    assert se.equal(se.from_indexed(entry), gradient[i])
    u = Dummy("u")
    assert se.from_matrix(sympy.MatrixSymbol("X", 2, 2).applyfunc(Lambda(u, f(u).diff(u)))) == (
        se.elementwise(Lambda(u, f(u).diff(u)), se.TensorSymbol("X", (2, 2)))
    )


def test_entries_of_small_ones():
    assert [name_of(e) for e in se.gradient(f(x).sum(), x).as_explicit()] == ["f'"] * 3


# --- functions of one's own


def test_a_function_with_a_derivative():
    swish = se.function("swish_", derivative=lambda u: swish(u) + se.sigmoid(u) * (1 - swish(u)))
    e = swish(A @ x).sum()
    known = Lambda(t, t * se.sigmoid(t))
    for order in (1, 2):
        own = se.diff(e, x, order)
        assert own.subs(swish, sin) != own
        both = [own.subs(swish, known), se.diff(e.subs(swish, known), x, order)]
        values = np.array([[0.3, -0.2, 0.5], [0.1, 0.7, -0.4]]), np.array([0.2, 0.9, 0.4])
        np.testing.assert_allclose(*se.lambdify([A, x], both)(*values), rtol=1e-12)


def test_a_function_of_two_arguments():
    hypot = se.function(
        "hypot_",
        derivative=lambda a, b: (a / hypot(a, b), b / hypot(a, b)),
        code="np.hypot({0}, {1})",
    )
    gradient = se.gradient(hypot(x, y).sum(), y)
    values = np.array([3.0, 5, 8]), np.array([4.0, 12, 15])
    np.testing.assert_allclose(
        se.lambdify([x, y], [hypot(x, y), gradient])(*values),
        [[5, 13, 17], [4 / 5, 12 / 13, 15 / 17]],
    )
    assert "np.hypot(x, y)" in se.codegen([x, y], hypot(x, y))
    with pytest.raises(se.TensorError, match="2 arguments"):
        hypot(x)


def test_without_a_derivative_its_derivatives_have_names():
    h = se.function("h_", code="np.exp({0})")
    assert str(se.hessian(h(x).sum(), x)) == "diag(h_''(x))"
    assert str(se.diff(h(t) * x, t)) == "Derivative(h_(t), t)*x"


def test_the_same_function_is_the_same_object():
    assert se.function("k_", code="np.exp({0})") is se.function("k_", code="np.exp({0})")
    assert se.function("k_", code="np.exp({0})") is not se.function("k_")
    e = se.function("k_", code="np.exp({0})", derivative=derivative_of_k)(x)
    assert pickle.loads(pickle.dumps(e)) is e


def derivative_of_k(u):
    return exp(u)


@pytest.mark.parametrize("name", ["sin", "Mul", "relu", "a b", "", 3, "x'"])
def test_names_that_mean_something_else_are_refused(name):
    with pytest.raises(se.TensorError, match="name"):
        se.function(name)


def test_a_derivative_of_the_wrong_kind():
    wrong = se.function("wrong_", derivative=lambda u: (u, u))
    with pytest.raises(se.TensorError, match="one for each"):
        se.gradient(wrong(x).sum(), x)
    text = se.function("text_", derivative=lambda u: "u")
    with pytest.raises((se.TensorError, sympy.SympifyError)):
        se.gradient(text(x).sum(), x)
