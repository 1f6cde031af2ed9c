"""Exact numbers with more digits than Python converts."""

import pytest
import sympy
from sympy import Integer, Rational
from texts import TYPED

import sympy_einsum as se

n = sympy.symbols("n", integer=True, positive=True)
x, y = se.tensors("x y", n)
NAMES = {**TYPED, "x": x, "y": y, "n": n}
LONG = {"integer": Integer(2) ** 20_000 + 1, "fraction": -(Rational(2, 3) ** 20_000)}
FORMS = {
    "multiple": lambda number: number * x,
    "sum": lambda number: (number * x + y) / 7,
    "scalar": lambda number: x * (number * sympy.sin(x @ x) + 1),
    "maximum": lambda number: se.Max(x, number),
    "power": lambda number: x**number,
    "constant": lambda number: se.Constant([number, 1]),
    "function": lambda number: se.exp(number * x),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("number", LONG)
def test_texts_are_exact(number, form):
    e = FORMS[form](LONG[number])
    assert eval(str(e), NAMES) == e
    assert eval(sympy.srepr(e), TYPED) == e


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("number", LONG)
def test_formulas_are_rounded(number, form):
    e = FORMS[form](LONG[number])
    for printer in (se.latex, sympy.latex, se.pretty, sympy.pretty):
        assert len(printer(e)) < 1000
    assert len(sympy.mathml(e, printer="presentation")) < 2000


def test_a_formula():
    assert se.latex(LONG["integer"] * x) == r"3.98027684033797 \cdot 10^{6020} x"
    assert sympy.latex(LONG["integer"] * x) == se.latex(LONG["integer"] * x)
    assert se.latex(LONG["fraction"] * x) == r"- 1.49561181172777 \cdot 10^{-3522} x"


def test_numbers_that_python_writes_stay_as_they_are():
    number = Integer(10) ** 4290 + 1
    assert str(number * x) == f"{number.p}*x"
    assert str(number.p) in se.latex(number * x)
