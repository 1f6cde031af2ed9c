"""Formulas of maxima, sorts and positions."""

import pytest
import sympy
from sympy import symbols

import sympy_einsum as se

m, n, k = symbols("m n k", integer=True, positive=True)
x, A, p = se.TensorSymbol("x", n), se.TensorSymbol("A", (m, n)), se.TensorSymbol("p", k)


@pytest.mark.parametrize(
    ("e", "shown"),
    [
        (se.max(x), r"\max_{i} x_{i}"),
        (se.min(A), r"\min_{ij} A_{ij}"),
        (se.max(A, axis=1), r"\max_{j} A_{ij}"),
        (se.max(A + x[None], axis=1), r"\max_{j} \left(A_{ij} + x_{j}\right)"),
        (se.max(x) * x, r"\left(\max_{j} x_{j}\right) x_{i}"),
        (x[p], r"\sum_{j} \operatorname{onehot}_{n}\left(p\right)_{ij} x_{j}"),
    ],
    ids=str,
)
def test_entries(e, shown):
    assert se.latex(e, notation="index") == shown


def test_matrix_notation():
    assert sympy.latex(se.max(x)) == r"\max\left(x\right)"
    assert "_share" not in sympy.latex(se.gradient(se.max(x), x))
    assert sympy.pretty(se.sort(x)) == "sort(x)"


def test_explicit_entries():
    three = se.TensorSymbol("x", 3)
    assert se.max(three).as_explicit() == sympy.Max(*[three[k] for k in range(3)])
    picked = three[[2, 0]].as_explicit()
    assert picked.tolist() == [three[2], three[0]]
    shares = se.lambdify(three, se.max_share(three))([1.0, 4.0, 4.0])
    values = dict(zip([three[k] for k in range(3)], [1, 4, 4], strict=True))
    exact = [entry.xreplace(values) for entry in se.max_share(three).as_explicit()]
    assert exact == list(map(sympy.nsimplify, shares))
    with pytest.raises(se.UnsupportedError, match="the order of symbols isn't known"):
        se.sort(three).as_explicit()


def test_conversions():
    i = sympy.Symbol("i", integer=True)
    assert se.to_indexed(x[p], (i,)).has(sympy.KroneckerDelta)
    for convert in (se.to_matrix, se.to_array):
        with pytest.raises(se.UnsupportedError):
            convert(se.sort(x))
