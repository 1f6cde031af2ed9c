"""Joined tensors are printed as the calls that join them, and parsed back."""

from __future__ import annotations

import re

import numpy as np
import pytest
import sympy
from forms_meaning import assert_meaning
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

m, n = symbols("m n", integer=True, positive=True)
x, y = se.tensors("x y", n)
z, (v, w) = se.TensorSymbol("z", m), se.tensors("v w", 3)
X, Y, A = se.TensorSymbol("X", m, n), se.TensorSymbol("Y", m, n), se.TensorSymbol("A", n, n)
R = se.TensorSymbol("R", m, 3)
NAMES = {**vars(sympy), **vars(se), "m": m, "n": n}
NAMES |= {symbol.name: symbol for symbol in (x, y, z, v, w, X, Y, A, R)}
SHOWN = [
    (np.concatenate([x, y]), "concatenate([x, y])"),
    (np.concatenate([x, z, -y]), "concatenate([x, z, -y])"),
    (np.concatenate([X, 2 * Y], axis=1), "concatenate([X, 2*Y], axis=1)"),
    (np.concatenate([X.T, A], axis=1), "concatenate([X.T, A], axis=1)"),
    (np.hstack([x, se.exp(y)]), "concatenate([x, exp(y)])"),
    (np.vstack([x, y]), "stack([x, y])"),
    (np.column_stack([x, y]), "stack([x, y], axis=1)"),
    (np.stack([x, y]), "stack([x, y])"),
    (np.stack([X, Y], axis=2), "stack([X, Y], axis=2)"),
    (np.stack([x @ y, x @ x]), "stack([x @ y, x @ x])"),
    (np.roll(x, 1), "roll(x, 1)"),
    (np.roll(R, -2, axis=1), "roll(R, 1, axis=1)"),
    (np.cross(w, v), "-cross(v, w)"),
    ((np.concatenate([x, y]) ** 2).sum(), "(concatenate([x, y])**2).sum()"),
    (se.stack([v[0], v[1] ** 2]) + z[:2], "stack([v[0], v[1]**2]) + z[:2]"),
    (se.stack([v[0], 0, v.sum()]), "stack([v[0], 0, v.sum()])"),
    (se.stack([1, v[0]]), "stack([1, v[0]])"),
    (
        se.stack([se.stack([1, v[0]]), se.stack([0, v[1]])]),
        "stack([stack([1, v[0]]), v[1]*Delta(2)[1]])",
    ),
    # Two terms for each entry: those with one factor go together.
    (
        se.stack([v[0], v[1]]) / 2 + se.stack([w[0] * w[1], w[2]]),
        "stack([v[0], v[1]])/2 + stack([w[0]*w[1], w[2]])",
    ),
    (
        se.gradient(v[0] * v[1] ** 2 * v[2], v),
        "stack([v[1]**2*v[2], 2*v[0]*v[1]*v[2], v[0]*v[1]**2])",
    ),
    (
        se.stack([v[0], 0, 0]) + se.stack([0, 0, 0, 0, w[1]])[2:],
        "stack([v[0], 0, w[1]])",
    ),
    (
        np.block([[A, A.T], [x[None, :], y[None, :]]]),
        "concatenate([concatenate([A, A.T], axis=1), concatenate([x, y])[None, :]])",
    ),
]
# What isn't put together of pieces side by side is a sum.
OTHERS = [
    np.pad(x, 1),
    np.pad(x, (0, 1)) + np.pad(y, (1, 0)),
    se.Delta(2 * n)[:n].T @ x + se.Delta(2 * n)[n:].T @ y + np.concatenate([y, x]),
    np.stack([x, x]) + np.stack([x, y], axis=1).T * 2,
    se.outer(se.Delta(3)[0], x) + se.outer(se.Delta(3)[2], y),
    np.concatenate([x, y]) + 1,
]


@pytest.mark.parametrize(("e", "shown"), SHOWN, ids=[shown for _, shown in SHOWN])
def test_calls_are_shown(e, shown):
    assert str(e) == shown
    assert eval(shown, dict(NAMES)) == e
    assert eval(sympy.srepr(e), dict(NAMES)) == e


@pytest.mark.parametrize("e", OTHERS, ids=str)
def test_other_sums_read_back(e):
    assert eval(str(e), dict(NAMES)) == e


def test_long_texts_read_back():
    e = snp.concatenate([x, y])
    for _ in range(30):
        e = snp.roll(se.sin(e) * e, 1) + e
    assert eval(str(e), dict(NAMES)) == e


def bmatrix(*rows):
    return r"\left[\begin{matrix}" + r"\\".join(rows) + r"\end{matrix}\right]"


a, b = v, w
FORMULAS = [
    (np.concatenate([x, y]), bmatrix("x", "y")),
    (np.concatenate([x, z, -y]), bmatrix("x", "z", "- y")),
    (np.vstack([X, A]), bmatrix("X", "A")),
    (np.hstack([X, 2 * Y]), bmatrix("X & 2 Y")),
    (np.vstack([x, y]), bmatrix(r"x^{\top}", r"y^{\top}")),
    (np.column_stack([x, y]), bmatrix("x & y")),
    (np.stack([x, y]), bmatrix(r"x^{\top}", r"y^{\top}")),
    (np.stack([x, y], axis=1), bmatrix("x & y")),
    (np.stack([x @ y, x @ x]), bmatrix(r"x^{\top} y", r"x^{\top} x")),
    (np.concatenate([x, y])[None, :][0] @ np.concatenate([y, x]), None),
    (np.roll(x, 1), r"\operatorname{roll}\left(x, 1\right)"),
    (np.roll(R, -2, axis=1), r"\operatorname{roll}_{1}\left(R, 1\right)"),
    (np.roll(X, 1, axis=0), r"\operatorname{roll}_{0}\left(X, 1\right)"),
    (np.cross(a, b), r"v \times w"),
    # Entry by entry where that is how they are given.
    (se.hessian(v[0] * v[1] ** 2, v)[:2, :2], None),
    (
        se.hessian(w[0] * w[1] ** 2, w),
        None,
    ),
    (se.stack([v[0], 0, v[1]]) + w, "w + " + bmatrix("v_{0}", "0", "v_{1}")),
    (se.Delta(2) + se.outer(se.Delta(2)[0], se.Delta(2)[1]) * a[0], bmatrix("1 & v_{0}", "0 & 1")),
    (
        se.stack([se.stack([v[0], -v[1]]), se.stack([v[1], v[0]])]),
        bmatrix("v_{0} & - v_{1}", "v_{1} & v_{0}"),
    ),
    (se.Delta(2) * a[0] + se.Ones(2, 2), bmatrix("v_{0} + 1 & 1", "1 & v_{0} + 1")),
    (se.stack([v[0], v[1]]) / 2 + se.stack([w[0] * w[1], w[2]]), None),
    (-np.cross(a, b), r"- v \times w"),
    (2 * np.cross(a, b), None),
    (np.cross(a, b) @ a, r"v^{\top} \left(v \times w\right)"),
    (np.cross(a, b) / 2 - a, r"\frac{1}{2} v \times w - v"),
    (2 * np.cross(a, b) + np.roll(a, 1) * b, None),
    (np.outer(np.concatenate([x, y]), x), bmatrix("x", "y") + r" x^{\top}"),
    (
        (np.concatenate([x, y]) ** 2).sum(),
        bmatrix(r"x^{\top} & y^{\top}") + " " + bmatrix("x", "y"),
    ),
    (np.concatenate([x, y])[:n], bmatrix("x", "y") + "_{:n}"),
    (
        np.block([[A, A.T], [x[None, :], y[None, :]]]),
        bmatrix(bmatrix(r"A & A^{\top}"), bmatrix(r"x^{\top} & y^{\top}")),
    ),
    (np.roll(x, 1) * np.roll(y, 2) - np.roll(y, 1) * np.roll(x, 2), None),
    (np.roll(a, 2) * np.roll(b, 1) - 3 * np.roll(b, 2) * np.roll(a, 1), None),
    (np.roll(a, 2) * np.roll(b, 1) - np.roll(a, 2) * np.roll(a, 1), None),
    (np.concatenate([x, y]) + np.concatenate([y, x]), None),
    *[(e, None) for e in OTHERS],
]
SIZES = {n: 4, m: 2}


@pytest.mark.parametrize(("e", "expected"), FORMULAS, ids=lambda part: str(part)[:60])
def test_formulas_show_joined_tensors(e, expected):
    if expected is not None:
        assert se.latex(e) == expected
    rng = np.random.default_rng(2)
    shapes = {s: [int(sympy.sympify(k).subs(SIZES)) for k in s.shape] for s in leaves(e)}
    data = {s: rng.uniform(0.5, 2, shape) for s, shape in shapes.items()}
    value = se.lambdify([*data, *SIZES], e)(*data.values(), *SIZES.values())
    for style in ("auto", "matrix", "index"):
        assert_meaning(e, np.asarray(value), data, SIZES, style)
    assert se.pretty(e, use_unicode=False).isascii()
    assert sympy.mathml(e, printer="presentation")


def leaves(e):
    return sorted(e.atoms(se.TensorSymbol), key=str)


def test_pictures():
    assert se.pretty(np.concatenate([x, y])).splitlines() == ["⎡x⎤", "⎢ ⎥", "⎣y⎦"]
    assert se.pretty(np.stack([x, y], axis=1)) == "[x  y]"
    assert se.pretty(np.cross(v, w)) == "v×w"
    assert se.pretty(np.roll(x, 1)) == "roll(x, 1)"
    found = sympy.mathml(np.vstack([X, A]), printer="presentation")
    assert "<mtr><mtd><mi>X</mi></mtd></mtr><mtr><mtd><mi>A</mi></mtd></mtr>" in found


def test_cross_products_in_long_sums():
    e = np.cross(np.cross(v, w), w) - v
    assert se.latex(e) == r"- v - w \times \left(v \times w\right)"


def test_long_formulas_define_no_more_than_they_show():
    e = v
    for _ in range(30):
        e = np.cross(np.roll(se.sin(e), 1), w) + e
    formula = se.latex(e)
    defined = set(re.findall(r"(h_\{\d+\}) & =", formula))
    assert len(defined) > 20
    assert all(formula.count(name) > 1 for name in defined)
    assert "I_" not in formula
