"""The formula printed for an expression, in all notations and output formats, and its value."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.dom.minidom

import numpy as np
import pytest
import sympy
from einsum_programs import LENGTHS, SIZES, Generator, product
from forms_meaning import assert_meaning
from sympy import Lambda, Matrix, Piecewise, Symbol, besselj, symbols

import sympy_einsum as se
from sympy_einsum.printing import presentation

m, n, k, r = symbols("m n k r", integer=True, positive=True)
t, u, i = symbols("t u i")


def tensor(name, *shape, **assumptions):
    return se.TensorSymbol(name, shape, **assumptions)


x, y, z = (tensor(name, n) for name in "xyz")
b = tensor("b", m)
A, C, X = (tensor(name, n, n) for name in "ACX")
B, D = tensor("B", m, n), tensor("D", m, n)
K = tensor("K", n, k)
S = tensor("S", n, n, symmetric=True)
T = tensor("T", m, n, k)
f = x @ A @ x


def einsum(*arguments):
    return se.einsum(*arguments)


MATRIX = [
    # products
    (A @ x, r"A x"),
    (A.T @ x, r"A^{\top} x"),
    (x @ y, r"x^{\top} y"),
    (x @ A @ y, r"x^{\top} A y"),
    (x @ A.T @ y, r"y^{\top} A x"),
    (B @ A @ x, r"B A x"),
    ((B @ A).T, r"A^{\top} B^{\top}"),
    (B.T @ B, r"B^{\top} B"),
    (einsum("i,j->ij", b, x), r"b x^{\top}"),
    (einsum("i,j->ij", B @ x, x), r"B x x^{\top}"),
    (einsum("i,ij,j->", b, B, x), r"b^{\top} B x"),
    (A @ A @ A, r"A^{3}"),
    (A.T @ A.T, r"\left(A^{2}\right)^{\top}"),
    # traces
    (A.trace(), r"\operatorname{tr}\left(A\right)"),
    (A.T.trace(), r"\operatorname{tr}\left(A\right)"),
    ((A @ C).trace(), r"\operatorname{tr}\left(A C\right)"),
    (einsum("ij,ij->", B, D), r"\operatorname{tr}\left(B^{\top} D\right)"),
    (einsum("ij,ij->", B, B), r"\left\lVert B \right\rVert_{F}^{2}"),
    (((B + D) * (B + D)).sum(), r"\left\lVert B + D \right\rVert_{F}^{2}"),
    (einsum("ij,jk,ki->", A, C, X), r"\operatorname{tr}\left(A C X\right)"),
    (einsum("ii,jj->", A, C), None),
    # entry by entry
    (x * y, r"x \odot y"),
    (A * C, r"A \odot C"),
    (A * C.T, r"A \odot C^{\top}"),
    (x * (A @ y), r"x \odot \left(A y\right)"),
    (x / y, r"x \oslash y"),
    (2 * x / y, r"2 x \oslash y"),
    (1 / x, r"x^{\odot -1}"),
    (x**2, r"x^{\odot 2}"),
    ((x + y) ** 2, r"\left(x + y\right)^{\odot 2}"),
    (se.exp(x), r"\exp\left(x\right)"),
    (se.exp(A), r"\exp\left(A\right)"),
    (se.sin(A @ x), r"\sin{\left(A x \right)}"),
    (se.sigmoid(x), r"\operatorname{sigmoid}{\left(x \right)}"),
    (se.elementwise(lambda v: besselj(2, v), x), r"J_{2}\left(x\right)"),
    (se.exp(-(x**2)), r"\exp\left(- x^{\odot 2}\right)"),
    (se.elementwise(Lambda(u, u * (1 - u)), x), r"x \odot \left(\mathbf{1} - x\right)"),
    (se.Max(x, y), r"\max\left(x, y\right)"),
    # diagonals, ones
    (se.diag(x), r"\operatorname{diag}\left(x\right)"),
    (se.diag(x) @ A, r"\operatorname{diag}\left(x\right) A"),
    (A @ se.diag(x) @ C, r"A \operatorname{diag}\left(x\right) C"),
    (einsum("ij,j,jk->ik", A, x, C), r"A \operatorname{diag}\left(x\right) C"),
    (einsum("ij,i->ij", B, b), r"\operatorname{diag}\left(b\right) B"),
    (A.diagonal(), r"\operatorname{diag}\left(A\right)"),
    (einsum("ij,ji->i", A, C), r"\operatorname{diag}\left(A C\right)"),
    (x.sum(), r"\mathbf{1}^{\top} x"),
    (B.sum(axis=1), r"B \mathbf{1}"),
    (B.sum(axis=0), r"B^{\top} \mathbf{1}"),
    (B.sum(), r"\mathbf{1}^{\top} B \mathbf{1}"),
    (se.Ones(m, n), r"\mathbf{1} \mathbf{1}^{\top}"),
    (se.Ones(n), r"\mathbf{1}"),
    (se.Zeros(m, n), r"\mathbf{0}"),
    (se.Delta(n), r"I"),
    (x - 1, r"x - \mathbf{1}"),
    (1 - x, r"\mathbf{1} - x"),
    (A + t * se.Delta(n), r"A + t I"),
    (x[None, :].broadcast_to(m, n), r"\mathbf{1} x^{\top}"),
    (x.mean(), r"\frac{\mathbf{1}^{\top} x}{n}"),
    # superscripts
    (se.inv(A), r"A^{-1}"),
    (se.inv(A).T, r"A^{- \top}"),
    (se.inv(A.T @ C), r"\left(A^{\top} C\right)^{-1}"),
    (se.inv(A @ A.T).T, r"\left(A A^{\top}\right)^{-1}"),
    (se.inv(S).T, r"S^{-1}"),
    (S.T @ x, r"S x"),
    ((A + C).T, r"\left(A + C\right)^{\top}"),
    (se.exp(A).T, r"\exp\left(A\right)^{\top}"),
    # functions
    (se.det(A), r"\det\left(A\right)"),
    (se.logdet(A), r"\log \det\left(A\right)"),
    (se.adj(A), r"\operatorname{adj}\left(A\right)"),
    (se.softmax(x), r"\operatorname{softmax}\left(x\right)"),
    (se.softmax(B, axis=1), r"\operatorname{softmax}_{1}\left(B\right)"),
    (se.logsumexp(x), r"\operatorname{logsumexp}\left(x\right)"),
    # signs, numbers and scalars
    (-x, r"- x"),
    (2 * x, r"2 x"),
    (x / 2, r"\frac{1}{2} x"),
    (-A @ x, r"- A x"),
    (t * x, r"t x"),
    ((t + 1) * x, r"\left(t + 1\right) x"),
    (-t * x / 2, r"- \frac{t}{2} x"),
    (t * A @ x - 2 * y, r"t A x - 2 y"),
    (f * x, r"\left(x^{\top} A x\right) x"),
    (x / f, r"\frac{1}{x^{\top} A x} x"),
    (A @ (2 * x - 2 * y), r"2 A \left(x - y\right)"),
    (-(B.T) @ (B @ x - b), r"- B^{\top} \left(B x - b\right)"),
    # indexing, reshaping
    (x[0], r"x_{0}"),
    (A[1, 2], r"A_{1,2}"),
    (A[0, :], r"A_{0,:}"),
    (A[:, 0], r"A_{:,0}"),
    (x[1:], r"x_{1:}"),
    (x[i], r"x_{i}"),
    (T[0], r"T_{0,:,:}"),
    (B.reshape(-1), r"\operatorname{vec}\left(B^{\top}\right)"),
    (B.T.reshape(-1), r"\operatorname{vec}\left(B\right)"),
    (x.reshape(1, n), None),
    (se.kron(A, B), r"A \otimes B"),
    (tensor("x", 6).reshape(2, 3), r"\operatorname{reshape}_{\left(2, 3\right)}\left(x\right)"),
    (se.Constant([[1, 2], [3, 4]]), r"\left[\begin{matrix}1 & 2\\3 & 4\end{matrix}\right]"),
]

ENTRIES = [
    (se.Delta(m, n), r"\delta_{ik} \delta_{jl}"),
    (se.diff(se.inv(X), X), r"- \left(X^{-1}\right)_{ik} \left(X^{-1}\right)_{lj}"),
    (se.diff(A @ X @ C, X), r"A_{ik} C_{lj}"),
    (se.diff(X @ x, X), r"\delta_{ij} x_{k}"),
    (T, r"T"),
    (2 * T, r"2 T_{ijk}"),
    (T + 1, r"T_{ijk} + 1"),
    (se.exp(T), r"e^{T_{ijk}}"),
    (se.exp(T) ** 2, None),
    (T.transpose(2, 0, 1), r"T_{jki}"),
    (einsum("ij,k->ijk", A @ C, x), r"\left(A C\right)_{ij} x_{k}"),
    (einsum("ijk,k->ij", T, tensor("c", k)), r"\sum_{k} T_{ijk} c_{k}"),
    (einsum("ijk->", T), r"\sum_{ijk} T_{ijk}"),
    (einsum("ijk,ijk->ij", T, T), r"\sum_{k} T_{ijk}^{2}"),
    (einsum("ijk,ijk,k->ij", T - 1, T - 1, tensor("c", k)), None),
    (einsum("ir,jr,kr->ijk", B, A, C), r"\sum_{l} A_{jl} B_{il} C_{kl}"),
    (einsum("ir,jr,kr->i", B, A, C), None),
    (T[0, 1], r"T_{0,1,:}"),
]


@pytest.mark.parametrize(("e", "expected"), MATRIX, ids=lambda part: str(part)[:40])
def test_matrix_notation(e, expected):
    if expected is not None:
        assert se.latex(e) == expected
        assert sympy.latex(e) == expected
        assert se.latex(e, notation="matrix") == expected
    assert_outputs(e)


@pytest.mark.parametrize(("e", "expected"), ENTRIES, ids=lambda part: str(part)[:40])
def test_index_notation_with_matrix_blocks(e, expected):
    if expected is not None:
        assert se.latex(e) == expected
    assert_outputs(e)


def assert_outputs(e):
    """Check that all outputs exist in all notations, and that MathML is well-formed."""
    for notation in ("auto", "index", "einsum", "star"):
        assert se.latex(e, notation=notation)
        for use_unicode in (True, False):
            text = se.pretty(e, notation=notation, use_unicode=use_unicode)
            assert text
            if not use_unicode:
                assert text.isascii()
    for printer in ("presentation", "content"):
        text = sympy.mathml(e, printer=printer)
        # SymPy's own elements use entities of HTML.
        xml.dom.minidom.parseString(re.sub("&(InvisibleTimes|ExponentialE|[a-z]+);", "", text))
    assert "Einsum" not in sympy.mathml(e) + sympy.mathml(e, printer="presentation")


def test_all_notations():
    product = B @ x
    assert se.latex(product, notation="matrix") == "B x"
    assert se.latex(product, notation="index") == r"\sum_{j} B_{ij} x_{j}"
    assert se.latex(product, notation="einsum") == r"\#\left(ij,j \to i;\, B, x\right)"
    assert se.latex(product, notation="star") == r"B *_{\left(ij,j \to i\right)} x"
    triple = einsum("ij,jk,k->i", A, C, x)
    assert se.latex(triple, notation="einsum") == r"\#\left(ij,jk,k \to i;\, A, C, x\right)"
    assert se.latex(triple, notation="star") == se.latex(triple, notation="einsum")
    assert se.latex(A, notation="index") == "A_{ij}"
    assert se.latex(A.T, notation="index") == "A_{ji}"
    assert se.latex(se.diag(x), notation="index") == r"\delta_{ij} x_{i}"
    assert se.latex(A.trace(), notation="index") == r"\sum_{i} A_{ii}"
    assert se.latex(A.T, notation="einsum") == r"\#\left(ij \to ji;\, A\right)"
    assert se.pretty(B @ x, notation="einsum", use_unicode=False) == "#(ij,j -> i; B, x)"


def test_where_there_is_no_matrix_notation():
    with pytest.raises(se.UnsupportedError, match="order 3"):
        se.latex(T, notation="matrix")
    with pytest.raises(se.UnsupportedError, match="ij,kj,lj->ikl"):
        se.latex(einsum("ir,jr,kr->ijk", A, C, X).sum(), notation="matrix")
    with pytest.raises(se.UnsupportedError):
        se.latex(sympy.sin(T.sum()), notation="matrix")
    with pytest.raises(se.TensorError, match="unknown notation 'matrices'"):
        se.latex(A, notation="matrices")
    with pytest.raises(se.TensorError):
        se.pretty(A, notation="x")


Q = tensor("Q", m, n, 2)
MIXED = [
    (t * sympy.exp(f), r"t e^{x^{\top} A x}", "t*exp(x @ A @ x)"),
    (f**2, r"\left(x^{\top} A x\right)^{2}", "(x @ A @ x)**2"),
    (1 / f, r"\frac{1}{x^{\top} A x}", "1/(x @ A @ x)"),
    (t - f, r"t - x^{\top} A x", "t - (x @ A @ x)"),
    (-f, r"- x^{\top} A x", "-(x @ A @ x)"),
    (2 * f, r"2 x^{\top} A x", "2*(x @ A @ x)"),
    (t * f, r"t x^{\top} A x", "t*(x @ A @ x)"),
    (sympy.sin(f) ** 2, r"\sin^{2}{\left(x^{\top} A x \right)}", "sin(x @ A @ x)**2"),
    (A.trace() ** 2, r"\operatorname{tr}\left(A\right)^{2}", "A.trace()**2"),
    (se.det(A) ** 2, r"\det\left(A\right)^{2}", "det(A)**2"),
    (se.logdet(A) ** 2, r"\left(\log \det\left(A\right)\right)^{2}", "(logdet(A))**2"),
    (x[0] ** 2, r"x_{0}^{2}", "x[0]**2"),
    (Q.sum() ** 2, r"\left(\sum_{ijk} Q_{ijk}\right)^{2}", "(Q.sum())**2"),
    (t**f, r"t^{x^{\top} A x}", "t**(x @ A @ x)"),
    (
        -((x - y) @ (x - y)) / 2,
        r"- \frac{\left(x - y\right)^{\top} \left(x - y\right)}{2}",
        "-((x - y) @ (x - y))/2",
    ),
]


@pytest.mark.parametrize(("e", "latex", "text"), MIXED, ids=[row[2] for row in MIXED])
def test_in_stock_expressions(e, latex, text):
    assert se.latex(e) == sympy.latex(e) == latex
    assert str(e) == text
    namespace = {**vars(sympy), **vars(se), "x": x, "y": y, "A": A, "Q": Q, "t": t}
    assert eval(text, namespace) == e
    assert_outputs(e)


def test_pretty():
    def shown(e, **settings):
        return [line.rstrip() for line in sympy.pretty(e, **settings).split("\n")]

    assert shown(2 * B.T @ (B @ x - b)) == [
        "   T",
        "2⋅B ⋅(B⋅x - b)",
    ]
    assert shown(f**2) == [
        "        2",
        "⎛ T    ⎞",
        "⎝x ⋅A⋅x⎠",
    ]
    assert shown(t - f) == [
        "     T",
        "t - x ⋅A⋅x",
    ]
    assert shown(1 / f) == [
        "  1",
        "──────",
        " T",
        "x ⋅A⋅x",
    ]
    assert shown(se.inv(A).T) == [" -T", "A"]
    assert shown(se.inv(A).T, use_unicode=False) == [" -T", "A"]
    assert shown(x * y) == ["x∘y"]
    assert shown(A - se.Delta(n)) == ["A - 𝕀"]
    assert shown(1 - x) == ["𝟙 - x"]
    assert shown(x / 2) == ["1", "─⋅x", "2"]
    assert shown(x * y, use_unicode=False) == ["x.*y"]
    assert shown(se.diff(se.inv(X), X)) == [
        " ⎛ -1⎞   ⎛ -1⎞",
        "-⎝X  ⎠  ⋅⎝X  ⎠",
        "      ik      lj",
    ]
    assert shown(sympy.sin(f) ** 2)[-1] == "sin ⎝x ⋅A⋅x⎠"
    assert shown(-f)[-1] == "-x ⋅A⋅x"
    assert shown(A.trace() ** 2) == ["     2", "tr(A)"]


def test_brackets_in_other_notations():
    """SymPy queries brackets without knowing the notation."""
    squared = A.trace() ** 2
    assert se.latex(squared, notation="index") == r"\left(\sum_{i} A_{ii}\right)^{2}"
    assert se.latex(squared, notation="einsum") == r"\#\left(ii \to ;\, A\right)^{2}"
    assert se.latex((x @ y) ** 2, notation="star").startswith(r"\left(x *_{")
    assert se.latex(A.trace(), notation="index") == r"\sum_{i} A_{ii}"


def test_containers():
    assert se.latex([A @ x, x @ y]) == r"\left[ A x, \  x^{\top} y\right]"
    assert se.latex((A.T,)) == r"\left( A^{\top},\right)"
    assert se.latex({t: A @ x}) == r"\left\{ t : A x\right\}"
    assert "x^{\\top} y" in se.latex(Matrix([[x @ y, 1]]))
    assert se.latex([B @ x], notation="index") == r"\left[ \sum_{j} B_{ij} x_{j}\right]"
    assert se.latex(t * f, notation="einsum").startswith(r"t \#\left(")
    assert se.latex(B @ x, mode="inline") == "$B x$"
    assert se.pretty([A @ x], use_unicode=False) == "[A*x]"


JUPYTER = """
import sympy, sympy_einsum as se
from IPython.core.interactiveshell import InteractiveShell
A, x = se.TensorSymbol("A", (3, 3)), se.TensorSymbol("x", 3)
shell = InteractiveShell.instance()
shell.display_formatter.active_types = ["text/latex"]
def shown(value):
    return shell.display_formatter.format(value)[0].get("text/latex")
print(shown(A @ x))
sympy.init_printing(ip=shell, use_latex="mathjax")
for value in (A @ x, [A @ x], {sympy.Symbol("t"): A @ x}, (A.T,)):
    print(shown(value))
"""


def test_jupyter():
    pytest.importorskip("IPython")
    assert (2 * A @ x)._repr_latex_() == r"$\displaystyle 2 A x$"
    assert (t * f)._repr_latex_() == r"$\displaystyle t x^{\top} A x$"
    run = subprocess.run(
        [sys.executable, "-c", JUPYTER], capture_output=True, text=True, check=True, env=os.environ
    )
    assert run.stdout.splitlines() == [
        r"$\displaystyle A x$",
        r"$\displaystyle A x$",
        r"$\displaystyle \left[ A x\right]$",
        r"$\displaystyle \left\{ t : A x\right\}$",
        r"$\displaystyle \left( A^{\top},\right)$",
    ]


def test_names():
    shown = {
        "x_1": "x_{1}",
        "alpha": r"\alpha",
        "y_hat": r"y_{hat}",
        "yhat": r"\hat{y}",
        r"\hat{y}": r"\hat{y}",
        "A_ij": "A_{ij}",
    }
    for name, latex in shown.items():
        assert se.latex(tensor(name, n)) == latex == sympy.latex(Symbol(name))
    assert se.latex(tensor("x_1", n)[0]) == "(x_{1})_{0}"
    assert se.latex(tensor("X^2", n, n).T) == r"{X^{2}}^{\top}"
    assert se.latex(tensor("$x$", n)) == r"\mathtt{\$x\$}"
    assert se.latex(se.diff(tensor("i", m, n) @ x, x, 1) + 1 * tensor("i", m, n)) == "2 i"


def test_index_letters_avoid_names():
    """A summed index never has the name of something else in the formula."""
    i_tensor, j_scalar = tensor("i", m, n, k), Symbol("j")
    assert se.latex(j_scalar * i_tensor) == r"j i_{klm}"
    assert se.latex(T[i], notation="index") == "T_{i,j,k}"
    assert se.latex(B[:, i], notation="index") == "B_{j,i}"


def test_index_letters_avoid_printed_lengths():
    """Nor that of a length printed in it, by our printers and SymPy's."""
    i, j = symbols("i j", integer=True, positive=True)
    cube = tensor("T", i, j, 3)
    mean = r"\frac{\sum_{klm} T_{klm}}{3 i j}"
    assert se.latex(cube.mean()) == sympy.latex(cube.mean()) == mean
    assert "k l m" in se.pretty(cube.mean(), use_unicode=False).replace("klm", "k l m")
    assert se.latex([j, cube.sum()]) == r"\left[ j, \  \sum_{ikl} T_{ikl}\right]"
    assert se.latex({j: cube.sum()}) == r"\left\{ j : \sum_{ikl} T_{ikl}\right\}"
    assert se.latex(Matrix([[j, cube.sum()]])).count("ikl") == 2
    assert se.latex(cube.sum()) == r"\sum_{ijk} T_{ijk}"
    joined = se.latex(cube.reshape(i * j, 3), notation="index")
    assert joined == r"\operatorname{reshape}_{\left(i j, 3\right)}\left(T\right)_{kl}"


@pytest.mark.slow
def test_big_graphs_are_printed_with_names():
    """A text grows with the graph, not with the number of paths; nothing is left out."""
    shared = x
    for _ in range(60):
        shared = se.sin(shared * shared + shared)
    chain = x
    for _ in range(500):
        chain = se.tanh(A @ chain)
    wide = sum(tensor(f"x{j}", n) * j for j in range(3000))
    for e, size in ((shared, 60), (chain, 500), (wide, 3000)):
        for inside in (e, e.sum(), t * e.sum() + 1):
            for notation in ("auto", "matrix", "index", "einsum"):
                text = se.latex(inside, notation=notation)
                assert len(text) < 100 * size
                assert re.search(r"\\text{where } \(?h_{1}", text)
            assert len(se.pretty(inside)) < 1500 * size
            assert len(sympy.mathml(inside, printer="presentation")) < 2000 * size


# --- meaning -------------------------------------------------------------------------------------


class Matrices(Generator):
    """Products of many vectors and matrices, of sums, squares and functions of them."""

    def leaf(self):
        axes = "".join(self.choice.choice("abc") for _ in range(self.choice.randint(1, 2)))
        if self.choice.random() < 0.1:
            return se.Ones(LENGTHS[axes[0]]), np.ones(SIZES[axes[0]]), axes[0]
        symbol = tensor(f"T{axes}{self.choice.randint(0, 2)}", *[LENGTHS[axis] for axis in axes])
        if symbol not in self.data:
            self.data[symbol] = self.normal([SIZES[axis] for axis in axes])
        return symbol, self.data[symbol], axes

    def expression(self, depth):
        if depth == 0:
            return self.leaf()
        parts = [self.expression(depth - 1) for _ in range(self.choice.randint(1, 4))]
        terms = [[(axis, self.choice.randint(0, 2)) for axis in axes] for _, _, axes in parts]
        labels = sorted({label for term in terms for label in term})
        output = self.choice.choices(labels, k=self.choice.randint(0, 2)) if labels else []
        e, value, axes = product(parts, terms, output)
        kind = self.choice.random()
        if kind < 0.1 and axes:
            return 3 * e**2 - e, 3 * value**2 - value, axes
        if kind < 0.2:
            return -2 * e, -2 * value, axes
        if kind < 0.3 and axes:
            return (
                se.elementwise(lambda v: (1 - v) / (2 + v**2), e),
                (1 - value) / (2 + value**2),
                axes,
            )
        if kind < 0.4 and axes:
            return e[-1], value[-1], axes[1:]
        return e, value, axes


def assert_true_formulas(generator, depth):
    e, value, _ = generator.expression(depth)
    if not isinstance(e, se.TensorExpr):
        return
    lengths = {LENGTHS[axis]: SIZES[axis] for axis in "abc"}
    for style in ("auto", "matrix", "index"):
        assert_meaning(e, value, generator.data, lengths, style)


@pytest.mark.parametrize("seed", range(60))
def test_formulas_are_true(seed):
    """Evaluating the formula gives the value, in three notations."""
    assert_true_formulas(Generator(1000 + seed), 2)


@pytest.mark.parametrize("seed", range(200))
def test_matrix_formulas_are_true(seed):
    assert_true_formulas(Matrices(seed), 1 + seed % 2)


SIZE = {m: 4, n: 3, k: 2, r: 5}


@pytest.mark.parametrize(
    "e", [row[0] for row in MATRIX + ENTRIES], ids=lambda e: str(e)[:50].replace("\n", " ")
)
def test_the_examples_are_true(e):
    if not isinstance(e, se.TensorExpr) or e.has(i) or e.has(se.Softmax, se.LogSumExp):
        return
    if e.has(se.Adj, se.Reshape) or e.has(Piecewise):
        return
    rng = np.random.default_rng(3)
    symbols_in = sorted(e.atoms(se.TensorSymbol), key=str)
    data = {
        s: rng.uniform(0.5, 2, [int(sympy.sympify(d).subs(SIZE)) for d in s.shape])
        for s in symbols_in
    }
    for s in symbols_in:
        if s is S:
            data[s] = data[s] + data[s].T
    scalars = {t: 0.7}
    arguments = [*data, *SIZE, *scalars]
    function = se.lambdify(arguments, e)
    value = function(*data.values(), *SIZE.values(), *scalars.values())
    for style in ("auto", "matrix", "index"):
        assert_meaning(e, np.asarray(value), data, {**SIZE, **scalars}, style)


@pytest.mark.parametrize(
    "e",
    [x - y, -x, x @ y - 1, t - x @ y, -t * (x @ y), x[1:] - x[:-1], x**-2, A.inv() @ (x - y) / -2],
    ids=str,
)
def test_mathml_has_minus_signs(e):
    """U+2212, not a hyphen, which MathML shows shorter, from our printer and from SymPy's."""
    text = presentation(e)
    assert "-" not in text
    assert "&#8722;" in text
    if isinstance(e, se.TensorExpr):
        assert "<mo>-</mo>" not in sympy.mathml(e, printer="presentation")


NAMES = """
x x_* x* x^* x' x'' x_i' y'_1 x_1 x_12 x12 x1_2 x_i_j x__a x__a_b x_1__2 x__T x_0+ x_+ x_-
x+ x- x! a.b alpha Alpha beta_1 alpha_i alphahat xhat xbar x_hat xdot xddot x_dot xtilde
xvec xprime xprm xacute xgrave xcheck xbreve xmathring xnorm xabs xmag xavg xbold xcal xscr
xfrak Gamma_ij omega_0 lambda lamda theta1 thetahat_0 hbar ell aleph hslash digamma epsilon
varepsilon phi varphi Phi eps nabla partial infty x_max x_mu x_alpha mu_x W1 W_1 W_h b_h h_t
h_t1 A_inv X_train X_test foo foobar foo_bar w_new x_new x_star xstar x_dagger x_T K_XX
K_xx_inv Sigma_inv mu_0 S_1__2 q_r q1dot x_{1} x^{2} x_{*} x_{ab}^{*} x^{(k)} x_{i+1}
x^2 R__ x_ x__ a_b_c_d x_1_2 theta_hat
Theta1 d2x dx π α α_1 β̂ x₁ x² ŷ é 变量 \\alpha x_\\alpha
"""


def test_names_are_typeset_as_sympy_does():
    """Greek letters, accents, indices, primes, stars and signs, and letters of other alphabets."""
    names = NAMES.split()
    assert len(set(names)) > 100
    for show in (sympy.latex, sympy.pretty, lambda e: sympy.mathml(e, printer="presentation")):
        found = {name: show(se.TensorSymbol(name, n)) for name in names}
        assert found == {name: show(sympy.Symbol(name)) for name in names}


@pytest.mark.parametrize("name", ["x_1", "h_2", "theta_0", "x_*"])
def test_indices_are_distinct_from_that_of_the_name(name):
    shown = sympy.latex(sympy.Symbol(name))
    A = se.TensorSymbol(name, n, n)
    assert se.latex(A, notation="index") == f"({shown})_{{ij}}"
    assert se.latex(A[0, 1] ** 2) == f"({shown})_{{0,1}}^{{2}}"
    assert "</msub><mo>)</mo></mrow>" in sympy.mathml(A[0, 1], printer="presentation")
    assert se.latex(A) == shown
