"""README's commands, length and picture; test_docs.py runs its examples."""

import re
from html import unescape
from pathlib import Path

import sympy

import sympy_einsum as se

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_has_the_two_commands():
    """The continuous-integration script runs the first two bash lines verbatim."""
    commands = re.findall(r"^```bash\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)
    assert len(commands) == 2
    assert commands[0].startswith('pip install ".[notebook]" && ')
    assert commands[1] == 'pip install ".[test]" && pytest -n auto\n'


def test_is_short():
    assert len(TEXT.splitlines()) <= 110


def test_the_picture_shows_the_formulas_of_the_example():
    """Otherwise typeset the lines of its description anew."""
    picture = (ROOT / "docs" / "images" / "factorization.svg").read_text(encoding="utf-8")
    shown = unescape(re.search("<desc>(.*)</desc>", picture, re.S)[1]).splitlines()
    m, n, k = sympy.symbols("m n k", integer=True, positive=True)
    shapes = {"X": (m, n), "U": (m, k), "V": (n, k)}
    X, U, V = (se.TensorSymbol(name, shape) for name, shape in shapes.items())
    f = ((X - U @ V.T) ** 2).sum()
    formulas = [se.latex(derivative(f, U)) for derivative in (se.gradient, se.hessian)]
    assert [line.split(" = ")[1] for line in shown] == formulas
