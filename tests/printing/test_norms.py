"""Norms are printed ‖x‖ in our formulas, squared norms of matrices likewise."""

from __future__ import annotations

import copy
import pickle
import re

import numpy as np
import pytest
import sympy
from forms_meaning import assert_meaning
from oracles import LENGTHS, data_for, k, m, n
from sympy import Eq, Piecewise, symbols
from texts import assert_same_value

import sympy_einsum as se

t = symbols("t", positive=True)
x, y = se.TensorSymbol("x", n), se.TensorSymbol("y", n)
A, B = se.TensorSymbol("A", (m, n)), se.TensorSymbol("B", (m, n))
D, T = se.TensorSymbol("D", (n, n)), se.TensorSymbol("T", (m, n, k))
NAMESPACE = {**vars(sympy), **vars(se), "t": t, "x": x, "y": y, "A": A, "B": B, "D": D, "T": T}

X2, Y2 = r"\left\lVert x \right\rVert_{2}", r"\left\lVert y \right\rVert_{2}"
SCALARS = [
    (se.norm(x), X2),
    (sympy.sqrt(x @ x), X2),
    (se.norm(A), r"\left\lVert A \right\rVert_{F}"),
    (sympy.sqrt((A.T @ A).trace()), r"\left\lVert A \right\rVert_{F}"),
    (sympy.sqrt((A @ A.T).trace()), r"\left\lVert A \right\rVert_{F}"),
    (se.norm(T), r"\left\lVert T \right\rVert_{F}"),
    (se.norm(A @ x), r"\left\lVert A x \right\rVert_{2}"),
    (se.norm(A - B), r"\left\lVert A - B \right\rVert_{F}"),
    (1 / se.norm(x), rf"\frac{{1}}{{{X2}}}"),
    (se.norm(x) ** 3, rf"{X2}^{{3}}"),
    (t / se.norm(x) ** 3, rf"\frac{{t}}{{{X2}^{{3}}}}"),
    (sympy.exp(-se.norm(x)), rf"e^{{- {X2}}}"),
    (sympy.sqrt(se.norm(x) + 1), rf"\sqrt{{{X2} + 1}}"),
    ((x @ y) / (se.norm(x) * se.norm(y)), rf"\frac{{x^{{\top}} y}}{{{X2} {Y2}}}"),
    # No norms.
    (x @ x, r"x^{\top} x"),
    (1 / (x @ x), r"\frac{1}{x^{\top} x}"),
    (sympy.sqrt(x @ y), r"\sqrt{x^{\top} y}"),
    (sympy.sqrt((D @ D).trace()), r"\sqrt{\operatorname{tr}\left(D^{2}\right)}"),
    (sympy.sqrt(x @ x + 1), r"\sqrt{x^{\top} x + 1}"),
    ((x @ x) ** (t / 2), r"\left(x^{\top} x\right)^{\frac{t}{2}}"),
    ((x @ x) ** sympy.Rational(1, 4), r"\sqrt[4]{x^{\top} x}"),
]


@pytest.mark.parametrize(("e", "latex"), SCALARS, ids=[row[1] for row in SCALARS])
def test_scalars(e, latex):
    assert se.latex(e) == latex
    # Where SymPy's printer asks about a part it gets the same.
    tensor = e * se.TensorSymbol("v", n)
    assert se.latex(tensor) == sympy.latex(tensor)
    assert (r"\lVert" in latex) == (r"\lVert" in sympy.latex(tensor)) == ("norm" in str(tensor))
    for scaled in (tensor, se.sin(tensor), tensor / se.norm(y)):
        assert_same_value(eval(str(scaled), {**NAMESPACE, "v": se.TensorSymbol("v", n)}), scaled)


@pytest.mark.parametrize("power", [3, -2, t, sympy.Rational(2, 3)])
def test_powers_of_squared_norms(power):
    """Two superscripts of one base are an error in TeX, and misread elsewhere."""
    for inside in ((A**2).sum(), (A.T @ A).trace(), se.norm(A - B) ** 2):
        for e in (inside**power, inside**power * x):
            assert not re.search(r"\}\^\{2\}\^", se.latex(e))
            assert r"_{F}^{2}\right)" in se.latex(e)
            assert se.latex(e) == sympy.latex(e)
            assert "<msup><msup>" not in sympy.mathml(e, printer="presentation")
            assert_same_value(eval(str(e), dict(NAMESPACE)), e)


U, V = se.TensorSymbol("U", (m, k)), se.TensorSymbol("V", (n, k))
COMPLEX = se.Constant([[1j, 2.0]])
SQUARES = {
    "U": [(U**2).sum(), (U.T @ U).trace(), (U @ U.T).trace()],
    "\\exp\\left(U\\right)": [(se.exp(U) ** 2).sum()],
    "U V^{\\top}": [((U @ V.T) ** 2).sum()],
    "A - U V^{\\top}": [((A - U @ V.T) ** 2).sum()],
}


@pytest.mark.parametrize("inside", SQUARES)
def test_sums_of_squares_of_matrices(inside):
    for e in SQUARES[inside]:
        assert se.latex(e) == rf"\left\lVert {inside} \right\rVert_{{F}}^{{2}}"
    for e in ((COMPLEX**2).sum(), (COMPLEX.T @ COMPLEX).trace(), ((D @ D).trace())):
        assert r"\lVert" not in se.latex(e)


def test_text():
    assert str(x / se.norm(x)) == "x/norm(x)"
    assert str(se.norm(A - B) * x) == "norm(A - B)*x"
    assert str(t * x / se.norm(A) ** 3) == "t/norm(A)**3*x"


def test_in_containers_and_other_outputs():
    assert se.latex([se.norm(x), {t: se.norm(y)}]).count(r"\lVert") == 2
    assert se.latex(sympy.Matrix([[1, 1 / se.norm(x)]])).count(r"\lVert") == 1
    assert se.pretty(se.norm(x), use_unicode=True) == "‖x‖ \n   2"
    assert se.pretty(se.norm(A), use_unicode=False) == "||A|| \n     F"
    shown = sympy.mathml(se.norm(A) * x, printer="presentation")
    assert "<msub><mrow><mo>&#8214;</mo><mi>A</mi><mo>&#8214;</mo></mrow><mi>F</mi></msub>" in shown


def test_entries_and_index_strings_have_no_norms():
    assert se.latex(se.norm(x), notation="index") == r"\sqrt{\sum_{i} x_{i}^{2}}"
    for notation in ("index", "einsum", "star"):
        assert r"\lVert" not in se.latex(x / se.norm(x), notation=notation)
    # What is written by its entries doesn't stand between bars.
    assert r"\lVert" not in se.latex(se.norm(T - 2 * T * T))


def test_a_complex_tensor_has_another_norm():
    z = se.Constant([1j, 2.0])
    for tensor in (z, sympy.I * x + y, 2 * z, se.exp(sympy.I * x)):
        assert r"\lVert" not in se.latex(sympy.sqrt(tensor @ tensor))
        assert "norm" not in str(sympy.sqrt(tensor @ tensor) * x)
    # An ordinary symbol stands for a real number.
    assert r"\lVert" in se.latex(se.norm(sympy.Symbol("s") * x))


def test_names_of_long_expressions_are_used():
    layer = x
    for _ in range(8):
        layer = se.tanh(D @ layer) / se.norm(D @ layer)
    for shown in (se.latex(layer), se.latex(se.norm(layer))):
        assert r"\lVert" in shown
        names = set(re.findall(r"h_(?:\d|{\d+})", shown))
        assert names
        assert all(f"{name} & = " in shown for name in names)
        # Each definition is used: once where it stands, once elsewhere at least.
        assert all(shown.count(name) > 1 for name in names)
    assert_same_value(eval(str(layer), NAMESPACE), layer)


@pytest.mark.parametrize("e", [1, 2, 3, -1, -3])
def test_stock_printers_write_norms_too(e):
    power = se.norm(x) ** e if e != 2 else 3 * se.norm(x) + t
    shown = se.latex(power)
    assert X2 in shown
    assert sympy.latex(power) == shown
    assert power._repr_latex_() == rf"$\displaystyle {shown}$"
    assert sympy.pretty(power) == se.pretty(power)
    assert "norm(x)" in str(power)
    assert_same_value(eval(str(power), NAMESPACE), power)


def test_norms_are_powers_to_sympy():
    for f in (se.norm(x), 1 / se.norm(A), se.norm(x) ** 3, sympy.sqrt(x @ y)):
        assert isinstance(f, sympy.Pow)
        assert f.func is sympy.Pow
        for same in (
            f.func(*f.args),
            sympy.Pow(*f.args, evaluate=False),
            pickle.loads(pickle.dumps(f)),
            copy.deepcopy(f),
            eval(sympy.srepr(f), NAMESPACE),
            f.subs(x, y).subs(y, x) if f.has(x) and not f.has(y) else f,
        ):
            assert same == f
            assert hash(same) == hash(f)
            assert type(same) is type(f)
    assert type((se.norm(x) ** 3).xreplace({x @ x: t, (x**2).sum(): t})) is sympy.Pow
    assert sympy.solve(se.norm(x) * t - 1, t) == [1 / se.norm(x)]
    assert se.norm(x) ** 2 is (x**2).sum()


def test_long_norms_in_stock_formulas_define_their_names():
    layer = x
    for _ in range(8):
        layer = se.tanh(D @ layer) / se.norm(D @ layer)
    shown = sympy.latex(t + se.norm(layer))
    names = set(re.findall(r"h_(?:\d|{\d+})", shown))
    assert names
    assert all(f"{name} & = " in shown for name in names)


q = symbols("q", real=True)
INVERSE = rf"\frac{{1}}{{{X2}}}"
CASES = {
    "symbol": Piecewise((0, Eq(q, 0)), (sympy.exp(q) * t, True)),
    "three": Piecewise((t, q > 0), (1 / t, q < -1), (q, True)),
    "square": Piecewise((0, Eq(x @ x, 0)), (1 / (x @ x), True)),
    "norm": Piecewise((0, Eq(se.norm(x), 0)), (1 / se.norm(x), True)),
    "exponential": Piecewise(
        (0, Eq(se.norm(x), 0)), (sympy.exp(-se.norm(x)) / se.norm(x) * t, True)
    ),
    "matrix": Piecewise((1 / se.norm(D @ x - y), se.norm(D @ x - y) > t), (1 / t, True)),
    "maximum": sympy.Max(0, t - se.norm(x - y)) * Piecewise((1, se.norm(y) < t), (q, True)),
    "norms": 1 / se.norm(x) ** 3 - t / se.norm(D),
}
AROUND = {
    "product": lambda c: -2 * c * (D @ x),
    "sum": lambda c: x - c,
    "quotient": lambda c: c * x / y / t,
    "power": lambda c: y / (c + 3) ** 2,
    "exponent": lambda c: se.exp(x) ** c,
    "function": lambda c: se.tanh(c + t * x) * c,
    "inside": lambda c: sympy.exp(c * (x @ x)) * x,
    "scalar": lambda c: c * (x @ D @ y) + x @ x,
    "larger": lambda c: sympy.Max(c, x @ x) * x,
    "cases": lambda c: se.where(x > 0, c * x, y),
    "gradient": lambda c: se.gradient(c * sympy.sin(x @ x) * q, x),
    "hessian": lambda c: se.hessian(c * sympy.sin(x @ x) * q, x),
    "slope": lambda c: se.diff(c * D, t),
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("case", CASES)
def test_nothing_of_cases_beside_tensors_is_dropped(case, around):
    e = AROUND[around](CASES[case])
    assert se.equal(eval(str(e), {**NAMESPACE, "n": n, "q": q}), e) is True
    shown = se.latex(e, where=False)
    assert shown.count(r"\begin{cases}") >= len(e.atoms(Piecewise))
    # Between scalars stand neither Hadamard powers nor quotients.
    assert r"\odot -" not in shown
    assert "Norm" not in shown + sympy.mathml(e, printer="presentation")
    assert not re.search("Piecewise|Max\\(.*@", se.pretty(e, where=False))
    values = data_for([x, y, D])
    for own in (0.7, -1.3, 0):
        numbers = {q: own, t: 1.3}
        value = se.evaluate(e.subs(numbers), values)
        assert_meaning(e, np.asarray(value), values, {**LENGTHS, **numbers}, "auto")


def test_formulas_of_cases_beside_tensors():
    case = CASES["norm"] * se.outer(x, x)
    rows = rf"0 & \text{{for}}\: {X2} = 0 \\{INVERSE} & \text{{otherwise}}"
    shown = rf"\begin{{cases}} {rows} \end{{cases}}"
    assert se.latex(case) == sympy.latex(case) == rf"\left({shown}\right) x x^{{\top}}"
    scalar = t / se.norm(x) ** 3 - CASES["norm"]
    shown = rf"\left(- {shown} + \frac{{t}}{{{X2}^{{3}}}}\right) I"
    assert se.latex(scalar * se.Delta(n)) == shown
