"""Loops in formulas: recurrences, and their adjoints as textbooks write them."""

import pytest
import sympy
from sympy import symbols

import sympy_einsum as se

T, n = symbols("T n", integer=True, positive=True)
W, X, h = se.TensorSymbol("W", n, n), se.TensorSymbol("X", T, n), se.TensorSymbol("h", n)
LAST, STATES = se.scan(lambda c, x: 2 * (se.tanh(W @ c + x),), h, X)


def lines(e):
    return [line.strip(" &") for line in se.latex(e).split("\\\\")]


def test_a_recurrence():
    text = se.latex(LAST)
    assert r"s_{t + 1} & = \tanh{\left(W s_{t} + X_{t} \right)}" in text
    assert r"s_{0} & = h" in text
    assert r"& s_{T}" in text


def test_the_adjoint_equation():
    text = se.latex(se.gradient(LAST.sum(), h))
    assert r"& \lambda_{0}" in text
    assert (
        r"\lambda_{t} & = W^{\top} \left(\lambda_{t + 1} \odot "
        r"\left(\mathbf{1} - s_{t + 1}^{\odot 2}\right)\right)" in text
    )
    assert r"\lambda_{T} & = \mathbf{1}" in text


def test_values_of_a_carry_are_its_slices():
    assert r"s_{1:T + 1}" in se.latex(STATES)


def test_loops_over_the_same_steps_are_shown_as_one():
    text = se.latex(LAST.sum() * STATES.sum() + se.gradient(LAST.sum(), W).sum())
    assert text.count(r"\tanh") == 1


def test_unicode():
    text = se.pretty(se.gradient(LAST.sum(), h))
    assert "λ" in text
    assert "where s" in text


def test_mathml_and_drawings():
    assert "<mi>tanh</mi>" in sympy.mathml(LAST, printer="presentation")
    assert "scan" in se.to_dot(LAST)


def test_steps_that_are_counted():
    a = symbols("a")
    last, _ = se.scan(lambda c, t: (a * c + t, None), h, length=T)
    assert r"s_{t + 1} & = " in se.latex(last)


@pytest.mark.parametrize("e", [LAST, STATES, se.gradient(LAST.sum(), W)])
def test_short_and_long_texts(e):
    for text in (str(e), sympy.srepr(e), se.latex(e), se.pretty(e)):
        assert text
        assert "carry 0" not in text or text.startswith("unflatten") or "BoundTensor" in text
