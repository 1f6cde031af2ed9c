"""Positions in formulas: entries, slices, zero padding, running sums."""

import numpy as np
import pytest
import sympy
from forms_meaning import assert_meaning
from sympy import symbols

import sympy_einsum as se
from sympy_einsum import numpy as snp

m, n, r = symbols("m n r", integer=True, positive=True)
x, v = se.TensorSymbol("x", n), se.TensorSymbol("v", n - 1)
p, q = se.TensorSymbol("p", 6), se.TensorSymbol("q", 100)
X = se.TensorSymbol("X", m, n)
T = se.TensorSymbol("T", (m, n, r))
SIZES = {m: 5, n: 7, r: 4}

# What is typed is printed, and is the same object again.
TYPED = {
    "x[1:]": "x_{1:}",
    "x[:-1]": "x_{:-1}",
    "x[-3:]": "x_{-3:}",
    "x[2:-3]": "x_{2:-3}",
    "x[:3]": "x_{:3}",
    "x[::2]": "x_{::2}",
    "x[1::2]": "x_{1::2}",
    "x[:-1:3]": "x_{:-1:3}",
    "x[::-1]": "x_{::-1}",
    "x[::-2]": "x_{::-2}",
    "x[-2::-1]": "x_{-2::-1}",
    "x[0]": "x_{0}",
    "x[n - 1]": "x_{n - 1}",
    "X[1:, :]": "X_{1:,:}",
    "X[:, 1:]": "X_{:,1:}",
    "X[1:, :-1]": "X_{1:,:-1}",
    "X[::-1, ::2]": "X_{::-1,::2}",
    "X[0, 1:]": "X_{0,1:}",
    "X[:, 1:].T": r"X_{:,1:}^{\top}",
    "T[1:, :, :-1]": "T_{1:,:,:-1}",
    "p[1:]": "p_{1:}",
    "p[:-1]": "p_{:-1}",
    "p[2:4]": "p_{2:4}",
    "p[1::2]": "p_{1::2}",
    "p[4:1:-1]": "p_{4:1:-1}",
    "q[:-3]": "q_{:-3}",
    "x[1:] - x[:-1]": "x_{1:} - x_{:-1}",
    "Delta(n)[1:].T @ v": r"I_{1:,:}^{\top} v",
    "Delta(n)[0]": "e_{0}",
    "Triangle(n).T @ x": r"\operatorname{tril}\left(\mathbf{1} \mathbf{1}^{\top}\right) x",
}


@pytest.mark.parametrize(("text", "expected"), TYPED.items())
def test_input_is_printed_back(text, expected):
    e = eval(text, {**vars(se), **globals()})
    assert str(e) == text
    assert eval(str(e), {**vars(se), **globals()}) is e
    assert eval(sympy.srepr(e), {**vars(sympy), **vars(se), **globals()}) is e
    assert se.latex(e) == expected
    assert sympy.latex(e) == expected


def test_a_slice_of_a_slice_is_one():
    assert str(X[::-1, :][:, ::-1]) == "X[::-1, ::-1]"
    assert X[1:, :][:, 0] is X[1:, 0]
    assert T[1:].T[2:, 1].T is T[1:, 1, 2:]


def test_positions_that_no_slice_gives():
    step = sympy.Symbol("s", integer=True)
    for e in (se.Selection(n, r, step, 3), se.Positions(7, 1, (2, 1), (3, 2))):
        assert eval(str(e), {**vars(se), **globals(), "s": step}) is e


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2).sum()


def total(e, *by):
    for variable in by:
        e = se.diff(e, variable)
    return e


INDEXED = [
    (x[1:], "x_{i + 1}"),
    (x[::-1], "x_{n - 1 - i}"),
    (X[:, 1::2], "X_{i,2 j + 1}"),
    (se.sin(x)[1:] * v, r"v_{i} \sin{\left(x_{i + 1} \right)}"),
    (x[1:] @ x[:-1], r"\sum_{i=0}^{n - 2} x_{i + 1} x_{i}"),
    (x[1:].sum(), r"\sum_{i=1}^{n - 1} x_{i}"),
    (se.Delta(n)[0], r"\delta_{i,0}"),
    (se.Delta(n)[1:].T @ v, r"\left[1 \leq i\right] v_{i - 1}"),
    (se.Delta(n + 1)[1:-1].T @ v, r"\left[1 \leq i \leq n - 1\right] v_{i - 1}"),
    (se.Delta(n)[:-1].T @ se.diag(v) @ se.Delta(n)[1:], None),
    (
        total(rosenbrock(x), x),
        r"200 \left[1 \leq i\right] \left(x_{i} - x_{i - 1}^{2}\right) - "
        r"400 \left[i \leq n - 2\right] x_{i} \left(x_{i + 1} - x_{i}^{2}\right)",
    ),
    (total(rosenbrock(x), x, x), None),
    (total(rosenbrock(p), p, p), None),
    (total(((x[1:] - x[:-1]) ** 2).sum() / 2, x, x), None),
    (total((abs(X[1:] - X[:-1]) + abs(X[:1])).sum(), X), None),
    (total(((X[1:-1, 2:] + X[2:, 1:-1] - 2 * X[1:-1, 1:-1]) ** 2).sum(), X), None),
    (total((X[:, 1:] ** 3).sum(), X), r"3 \left[1 \leq j\right] X_{ij}^{2}"),
    (total((x[::2] ** 3).sum(), x), None),
    (total((x[::-1] ** 3 * x).sum(), x), r"x_{n - 1 - i}^{3} + 3 x_{n - 1 - i} x_{i}^{2}"),
    (total((T[1:, :, ::-1] ** 3).sum(), T), None),
    (snp.concatenate([x, v]), r"\left[n \leq i\right] v_{i - n} + \left[i \leq n - 1\right] x_{i}"),
    (snp.cumsum(x), r"\sum_{j=0}^{i} x_{j}"),
    (se.simplify(snp.cumsum(x).sum()), r"\sum_{i} \sum_{j=0}^{i} x_{j}"),
    (total((snp.cumsum(x) ** 2).sum(), x), r"2 \sum_{j=i}^{n - 1} \sum_{k=0}^{j} x_{k}"),
    (snp.triu(X[:, 1:], 1), r"\left[i + 1 \leq j\right] X_{i,j + 1}"),
    (snp.trace(X[:, 1:] @ X[:, 1:].T), None),
    (x - 1, "x_{i} - 1"),
]


@pytest.mark.parametrize(("e", "expected"), INDEXED, ids=lambda part: str(part)[:40])
def test_formulas_of_positions_are_true(e, expected):
    if expected is not None:
        assert se.latex(e, notation="index") == expected
    again = eval(str(e), {**vars(se), **globals()})
    rng = np.random.default_rng(3)
    tensors = sorted(e.atoms(se.TensorSymbol), key=str)
    shapes = [[int(sympy.sympify(length).subs(SIZES)) for length in s.shape] for s in tensors]
    data = {s: rng.uniform(0.5, 2, shape) for s, shape in zip(tensors, shapes, strict=True)}
    numbers = (*data.values(), *SIZES.values())
    value = se.lambdify([*data, *SIZES], e)(*numbers)
    np.testing.assert_allclose(se.lambdify([*data, *SIZES], again)(*numbers), value)
    for style in ("auto", "matrix", "index"):
        assert_meaning(e, np.asarray(value), data, SIZES, style)
    for style in ("auto", "index", "einsum", "star"):
        assert se.latex(e, notation=style)
        assert se.pretty(e, notation=style, use_unicode=False).isascii()
    assert sympy.mathml(e, printer="presentation")


def test_pictures_of_sums():
    assert se.pretty(x[1:] @ x[:-1], notation="index").splitlines() == [
        "n - 2          ",
        "  ∑   x     ⋅x ",
        " i=0   i + 1  i",
    ]


def test_the_text_of_a_convolution_evaluates_back():
    """Python reads n/2 - 1/2 as n/2 - 0.5; a position stays a number."""
    b, c = se.tensors("b c", n)
    e = se.convolve(b[::-1], c, "same")
    assert "floor(n/2 - 1/2)" in str(e)
    assert eval(str(e), {**vars(se), "b": b, "c": c, "n": n}) is e
