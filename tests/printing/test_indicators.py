"""Comparisons as factors are printed as Iverson brackets."""

from __future__ import annotations

import pytest
import sympy
from sympy import Piecewise, symbols

import sympy_einsum as se

m, n = symbols("m n", integer=True, positive=True)
A, x, y, b = se.TensorSymbol("A", m, n), *se.tensors("x y", n), se.TensorSymbol("b", m)

ROWS = [
    (x > 0, r"\left[x > 0\right]", "[x > 0]"),
    (y * (x > 0), r"y \odot \left[x > 0\right]", "y∘[x > 0]"),
    (y * (x > y), r"y \odot \left[x > y\right]", "y∘[x > y]"),
    (3 * (x <= 2) + y, r"y + 3 \left[x \leq 2\right]", "y + 3⋅[x ≤ 2]"),
    (se.diff(se.relu(x).sum(), x), r"\left[x > 0\right]", "[x > 0]"),
    (
        se.diff(b @ se.relu(A @ x), x),
        r"A^{\top} \left(b \odot \left[A x > 0\right]\right)",
        " T              \nA ⋅(b∘[A⋅x > 0])",
    ),
]


@pytest.mark.parametrize(("e", "latex", "pretty"), ROWS, ids=range(len(ROWS)))
def test_indicator(e, latex, pretty):
    assert se.latex(e) == sympy.latex(e) == latex
    assert se.pretty(e) == pretty


def test_choices_between_formulas_are_cases():
    chosen = Piecewise((y, x > 0), (0, True))
    assert r"\begin{cases} y & \text{for}\: x > 0" in se.latex(chosen)


def test_mathml():
    shown = sympy.printing.mathml(y * (x > 0), printer="presentation")
    assert "<mo>[</mo>" in shown
    assert "cases" not in shown
    assert "mtable" not in shown
