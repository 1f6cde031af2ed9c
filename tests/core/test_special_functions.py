"""Scalar functions in LaTeX."""

from __future__ import annotations

import pytest
from sympy import latex
from sympy.abc import s, t

import sympy_einsum as se


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (se.ndtr(t), r"\Phi\left(t\right)"),
        (se.ndtr(t) ** 2, r"\Phi^{2}\left(t\right)"),
        (se.log_ndtr(t), r"\log\Phi\left(t\right)"),
        (se.log_ndtr(t) ** 2, r"\log^{2}\Phi\left(t\right)"),
        (se.modulus(s, t), r"\left|s + \mathrm{i} \left(t\right)\right|"),
        (se.modulus(s, t) ** 3, r"\left|s + \mathrm{i} \left(t\right)\right|^{3}"),
    ],
    ids=str,
)
def test_latex_of_functions_and_powers(expr, text):
    assert latex(expr) == text
