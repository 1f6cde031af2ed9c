"""``str`` and ``srepr`` evaluate back to the very same object; ``str`` is what one would type."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from sympy import symbols
from test_random_einsums import Generator
from test_random_expressions import CONFIG, programs, symbolic_values, symbols_for

import sympy_einsum as se

m, n, k = symbols("m n k", integer=True, positive=True)
t = symbols("t")
TYPED = {**vars(sympy), **vars(se)}
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
    "x[1:n]",
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
    "einsum('ij,jk,k->i', A, C, x)",
    "einsum('i,j->ij', b, x)",
    "Delta(n)",
    "Ones(m, n)",
    "t*x",
    "t*(x @ y)",
    "x*(t + 1)",
    "(x @ y)**2*x",
    "t*exp(x @ A @ x)",
    "-(x - y).dot(x - y)/2",
    "B.reshape(m*n)",
    "elementwise(lambda s0: s0*(1 - s0), x)",
    "elementwise(lambda s0: sqrt(s0**2 + 1), x)",
    "elementwise(lambda s0: s0**(S(1)/3), x)",
]


@pytest.mark.parametrize("text", SAME)
def test_what_is_typed_is_printed(text):
    assert str(eval(text, {**TYPED, **NAMES})) == text


def assert_exact(e, names=()):
    """Both texts evaluate to the object itself; nested in stock expressions too."""
    if not isinstance(e, se.TensorExpr) or len(str(e)) > 8000 or e.atoms(sympy.Float):
        return
    typed = {**TYPED, **{s.name: s for s in names}}
    assert eval(str(e), typed) is e
    assert eval(sympy.srepr(e), TYPED) is e
    for inside in () if e.order else (-e, t - e, t - e / 2, 1 / e, e**2, t * e):
        assert eval(str(inside), {**typed, "t": t}) == inside


def leaves_of(*exprs):
    found = set()
    for e in exprs:
        for node in e.atoms(se.TensorSymbol, sympy.Symbol) if isinstance(e, sympy.Basic) else ():
            found |= {node} | ({s for d in getattr(node, "shape", ()) for s in d.free_symbols})
    return found


@pytest.mark.parametrize("seed", range(150))
def test_random_einsums_are_exact(seed):
    generator = Generator(5000 + seed)
    e, _, _ = generator.expression(2)
    lengths = {s for symbol in generator.data for d in symbol.shape for s in d.free_symbols}
    names = {*generator.data, *lengths, *leaves_of(e)}
    assert_exact(e, names)
    for symbol in list(generator.data)[:1]:
        if isinstance(e, se.TensorExpr):
            assert_exact(se.diff(e, symbol), names)


@given(programs(size=6))
@settings(CONFIG, max_examples=120)
def test_random_expressions_are_exact(made):
    leaves, program, _ = made
    names = symbols_for(leaves)
    values = symbolic_values(leaves, program)[len(leaves) :]
    known = {*names, *leaves_of(*names), *leaves_of(*values)}
    for e in values:
        if isinstance(e, sympy.Basic):
            assert_exact(e, known)


MATRIX_TEXTS = ["A", "C", "A.T", "x", "y", "(x - y)", "(A - C)", "A @ x", "x @ A", "A*C", "(2*A)"]


@pytest.mark.parametrize("left", MATRIX_TEXTS)
@pytest.mark.parametrize("right", MATRIX_TEXTS)
@pytest.mark.parametrize("last", ["x", "A", "(A + C)", "A.T"])
def test_products_are_exact(left, right, last):
    """Chains of @, and numbers in front of them."""
    for text in (f"({left}) @ ({right})", f"({left}) @ (({right}) @ {last})"):
        try:
            e = eval(text, {**TYPED, **NAMES})
        except se.ShapeError:
            continue
        if getattr(e, "order", 0):
            for scaled in (e, 2 * e, -e / 2, t * e, e + 1, e.T, (t + 1) * e.T):
                assert eval(str(scaled), {**TYPED, **NAMES}) is scaled
        else:
            assert_exact(e, NAMES.values())
            for scaled in (e * x, -2 * e * x, x / e):
                assert eval(str(scaled), {**TYPED, **NAMES}) is scaled


def test_code_printers():
    """Generated code doesn't go through str."""
    for e in (t * (x @ A @ x), 1 / (x @ x), se.exp(A @ x)):
        function = sympy.lambdify([t, A, x], e, "numpy")
        own = se.lambdify([t, A, x], e)
        data = 0.5, np.arange(9.0).reshape(3, 3) / 9, np.arange(1.0, 4)
        np.testing.assert_allclose(function(*data), own(*data))
