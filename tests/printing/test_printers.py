"""``str`` evaluates back to the same value, ``srepr`` to the same object."""

import re

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from random_settings import CONFIG
from sympy import symbols
from texts import TYPED, assert_same_value, leaves_of

import sympy_einsum as se
from sympy_einsum import testing
from sympy_einsum.operations import FUNCTIONS

m, n, k = symbols("m n k", integer=True, positive=True)
t = symbols("t")
A, C = (se.TensorSymbol(name, (n, n)) for name in "AC")
B, D = (se.TensorSymbol(name, (m, n)) for name in "BD")
T = se.TensorSymbol("T", (m, n, k))
x, y = (se.TensorSymbol(name, n) for name in "xy")
b = se.TensorSymbol("b", m)
NAMES = {s.name: s for s in (A, C, B, D, T, x, y, b, m, n, k, t)}

# What is typed is what is printed.
SAME = [
    "A @ x",
    "A.T @ x",
    "x @ y",
    "x @ A @ y",
    "A @ C",
    "A @ C @ x",
    "A.T @ C.T",
    "B.T @ B",
    "A*C",
    "A*C.T",
    "x*y",
    "x/y",
    "1/x",
    "2*x",
    "x/2",
    "-x",
    "2*A @ x",
    "-A @ x/2",
    "2*B.T @ (B @ x - b)",
    "A @ x + y",
    "A + A.T",
    "1 - x",
    "x + 1",
    "x**2 - 1",
    "2*x**2/3",
    "exp(x)",
    "x*exp(-x)",
    "A.sum()",
    "B.sum(axis=0)",
    "B.sum(axis=1)",
    "T.sum(axis=(0, 2))",
    "T.transpose(1, 2, 0)",
    "T.T",
    "A.trace()",
    "A.diagonal()",
    "(A @ C).trace()",
    "diag(x)",
    "diag(A @ x)",
    "B[0, :]",
    "x[1:]",
    "x[n - 1]",
    "inv(A)",
    "inv(A).T @ x",
    "x @ inv(A) @ x",
    "logdet(A)",
    "softmax(x)",
    "softmax(B, axis=1)",
    "logsumexp(B, axis=0)",
    "logsumexp(x)",
    "(A - C).T @ x",
    "2*((A - C) @ x)",
    "(x - y) @ (x - y)",
    "outer(b, x)",
    "Delta(n)",
    "Ones(m, n)",
    "t*x",
    "t*(x @ y)",
    "x*(t + 1)",
    "(x @ y)**2*x",
    "t*exp(x @ A @ x)",
    "-((x - y) @ (x - y))/2",
    "B.reshape(m*n)",
    "x*(1 - x)",
    "sqrt(x)",
    "y/sqrt(x)",
    "sqrt(x**2 + 1)",
    "x**Rational(1, 3)",
    "elementwise(lambda s0: Piecewise((s0, s0 > 0), (0, True)), x)",
    "A @ C @ x",
    "A @ diag(x) @ C",
    "softmax(A @ C, axis=1)",
    "softmax(A @ C, axis=0)",
    "softmax(A @ C.T, axis=1) @ x",
    "x[:, None] - x[None, :]",
    "exp(-(x[:, None] - x[None, :])**2/2).sum(axis=1)",
    "B - b[:, None]/t",
    "B + 1 - 2*x[None, :]",
    "B + outer(b, x) + b[:, None]",
]


@pytest.mark.parametrize("text", SAME)
def test_input_is_printed_back(text):
    assert str(eval(text, {**TYPED, **NAMES})) == text


DIFFERENCE = A @ x - y
EXACT = [
    (2 * (DIFFERENCE / (x @ y)), "2/(x @ y)*(A @ x - y)"),
    (-(DIFFERENCE / (x @ y)), "-1/(x @ y)*(A @ x - y)"),
    (3 * (DIFFERENCE / (x @ y)) / 2, "3/(x @ y)*(A @ x - y)/2"),
    (2.5 * (DIFFERENCE / (x @ y)), "2.5/(x @ y)*(A @ x - y)"),
    ((t + 1) * DIFFERENCE * 2, "(A @ x - y)*(t + 1)*2"),
    ((t + 1) * DIFFERENCE / -3, "(A @ x - y)*(t + 1)*(-Rational(1, 3))"),
    (y * (x @ x - sympy.Rational(1, 2)), "y*(x @ x - Rational(1, 2))"),
    (2 * se.einsum("ij->iij", A + C), "2*einsum('ij->iij', A + C)"),
    (se.softmax(A @ C / t, axis=1).T @ x, "softmax(A @ C/t, axis=1).T @ x"),
    (se.softmax(A + C, axis=1).T @ x, "softmax(A + C, axis=1).T @ x"),
    (se.softmax(3 * B, axis=1).T, "softmax(3*B, axis=1).T"),
]


@pytest.mark.parametrize(("e", "text"), EXACT, ids=[text for _, text in EXACT])
def test_texts_give_the_very_node(e, text):
    assert str(e) == text
    assert eval(text, {**TYPED, **NAMES}) is e


def test_symmetric_matrices_are_printed_without_a_transpose():
    S = se.TensorSymbol("S", (n, n), symmetric=True)
    for e, text in [
        (se.inv(S).T, "inv(S)"),
        (x @ se.inv(S), "inv(S) @ x"),
        (A @ se.expm(S).T, "A @ expm(S)"),
        (se.inv(A.T @ A).T @ x, "inv(A.T @ A) @ x"),
    ]:
        assert str(e) == text
        assert se.equal(eval(text, {**TYPED, **NAMES, "S": S}), e)


# What is typed otherwise than it is printed.
SPELLED = [
    ("einsum('ij,jk,k->i', A, C, x)", "A @ C @ x"),
    ("einsum('i,ij,j->', x, A, y)", "x @ A @ y"),
    ("einsum('ij,j,jk->ik', A, x, C)", "A @ diag(x) @ C"),
    ("einsum('ij,jk,kl->li', A, C, A)", "A.T @ C.T @ A.T"),
    ("einsum('ij,i,j->', B, b, Ones(n))", "(b @ B).sum()"),
    ("einsum('ij,ij->j', B, D)", "(B*D).sum(axis=0)"),
    ("einsum('ij,ij->i', B, B)", "(B**2).sum(axis=1)"),
    ("einsum('ij,ij', B, D)", "(B*D).sum()"),
    ("einsum('i,i,i->i', x, x, y)", "x**2*y"),
    ("einsum('ij,jk,ki->', A, C, A)", "(A @ A @ C).trace()"),
    ("einsum('ij,jk,kl->i', A, C, A)", "(A @ C @ A).sum(axis=1)"),
    ("einsum('ij,j,kl,l->ik', A, x, C, y)", "outer(A @ x, C @ y)"),
    ("outer(x, Ones(m)) + 1", "outer(x + 1, Ones(m))"),
    ("einsum('ij,k->ikj', B, Ones(n)) + x[None, :, None]", "x[None, :, None] + B[:, None, :]"),
    ("elementwise(lambda s: s*(1 - s), sigmoid(x))", "sigmoid(x)*(1 - sigmoid(x))"),
    ("elementwise(lambda s: 1/(s + 1)**2, A @ x)", "(A @ x + 1)**(-2)"),
    ("sp.exp(A @ x) + sp.sqrt(x)", "sqrt(x) + exp(A @ x)"),
]


@pytest.mark.parametrize(("typed", "text"), SPELLED)
def test_spellings(typed, text):
    e = eval(typed, {**TYPED, **NAMES, "sp": sympy})
    e = se.exp(e) if e is NotImplemented else e
    assert str(e) == text
    assert_same_value(eval(text, {**TYPED, **NAMES}), e)


def assert_exact(e, names=()):
    """Check that both texts evaluate back, also nested in stock expressions."""
    if not isinstance(e, se.TensorExpr):
        return
    typed = {**TYPED, **{s.name: s for s in names}}
    assert_same_value(eval(str(e), typed), e)
    assert eval(sympy.srepr(e), TYPED) is e
    for inside in () if e.order else (-e, t - e, t - e / 2, 1 / e, e**2, t * e):
        assert_same_value(eval(str(inside), {**typed, "t": t}), inside)


@pytest.mark.slow
@given(testing.programs())
@settings(CONFIG, max_examples=150)
def test_random_expressions_are_exact(made):
    shown = [e for e in made.values if isinstance(e, sympy.Basic)]
    known = {*made.tensors, *leaves_of(*made.tensors, *shown)}
    for e in shown:
        assert_exact(e, known)
    derivative = se.diff(made.result, made.tensors[0])
    if isinstance(derivative, se.TensorExpr):
        names = {s.name: s for s in (*known, *leaves_of(derivative))}
        assert_same_value(eval(str(derivative), {**TYPED, **names}), derivative)


MATRIX_TEXTS = ["A", "C", "A.T", "x", "y", "(x - y)", "(A - C)", "A @ x", "x @ A", "A*C", "(2*A)"]


@pytest.mark.parametrize("left", MATRIX_TEXTS)
@pytest.mark.parametrize("right", MATRIX_TEXTS)
@pytest.mark.parametrize("last", ["x", "A", "(A + C)", "A.T"])
def test_products_are_exact(left, right, last):
    """Chains of @, with numbers in front of them."""
    for text in (f"({left}) @ ({right})", f"({left}) @ (({right}) @ {last})"):
        try:
            e = eval(text, {**TYPED, **NAMES})
        except se.ShapeError:
            continue
        if getattr(e, "order", 0):
            for scaled in (e, 2 * e, -e / 2, t * e, e + 1, e.T, (t + 1) * e.T):
                assert_same_value(eval(str(scaled), {**TYPED, **NAMES}), scaled)
        else:
            assert_exact(e, NAMES.values())
            for scaled in (e * x, -2 * e * x, x / e):
                assert_same_value(eval(str(scaled), {**TYPED, **NAMES}), scaled)


def test_code_printers():
    """Generated code doesn't depend on str."""
    for e in (t * (x @ A @ x), 1 / (x @ x), se.exp(A @ x)):
        function = sympy.lambdify([t, A, x], e, "numpy")
        own = se.lambdify([t, A, x], e)
        data = 0.5, np.arange(9.0).reshape(3, 3) / 9, np.arange(1.0, 4)
        np.testing.assert_allclose(function(*data), own(*data))


PRINTERS = {
    "str": str,
    "latex": se.latex,
    "pretty": se.pretty,
    "ascii": lambda e: se.pretty(e, use_unicode=False),
    "stock latex": sympy.latex,
    "stock pretty": sympy.pretty,
    "presentation": lambda e: sympy.mathml(e, printer="presentation"),
    "latex of entries": lambda e: se.latex(e, notation="index"),
    "pretty of entries": lambda e: se.pretty(e, notation="index"),
    "pretty of index strings": lambda e: se.pretty(e, notation="einsum"),
}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_no_printer_shows_the_slots_of_a_function(name):
    n = symbols("n", integer=True, positive=True)
    x, y, z = se.tensors("x y z", n)
    for arguments in ((x,), (x, y), (2, x), (x, y, z)):
        try:
            e = FUNCTIONS[name](*arguments)
        except (TypeError, ValueError):
            continue
        if not isinstance(e, se.TensorExpr):
            continue
        for printer, output in PRINTERS.items():
            text = output(e)
            assert not re.search("_s(?![a-z])", text), (printer, text)


def test_a_derivative_with_meijers_function_can_be_read():
    n = symbols("n", integer=True, positive=True)
    x, y = se.tensors("x y", n)
    derivative = se.gradient(se.expint(x, y).sum(), x)
    assert "G_{2, 3}^{3, 0}" in se.latex(derivative)
    assert "x" in se.pretty(derivative)


def test_the_order_of_exprel_is_a_number():
    n = symbols("n", integer=True, positive=True)
    x, y = se.tensors("x y", n)
    assert se.latex(se.exprel(x, y)) == r"\operatorname{exprel}^{(y)}{\left(x \right)}"
    with pytest.raises(
        se.UnsupportedError, match="the order of exprel must be an integer from 0 on"
    ):
        se.lambdify([x, y], se.exprel(x, y))
