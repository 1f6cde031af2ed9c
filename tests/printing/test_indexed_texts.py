"""Tensors that are indexed by arrays of positions are printed so, and their texts read back."""

import numpy as np
import pytest
from forms_meaning import assert_meaning
from sympy import symbols

import sympy_einsum as se

k, m, n = symbols("k m n", integer=True, positive=True)
SIZES = {k: 2, m: 3, n: 5}
x, y = se.TensorSymbol("x", n), se.TensorSymbol("y", k)
i, j = se.tensors("i j", m)
C = se.TensorSymbol("C", m, m)
P, A, B = se.TensorSymbol("P", n, k), se.TensorSymbol("A", n, n), se.TensorSymbol("B", n, n, k)
NAMES = {**vars(se), **{s.name: s for s in (k, m, n, x, y, i, j, P, A, B, C)}}
INDEXED = [
    (x[i], "x[i]", "x_{i}"),
    (P[i], "P[i]", "P_{i,:}"),
    (A[:, i], "A[:, i]", "A_{:,i}"),
    (A[i, j], "A[i, j]", "A_{i,j}"),
    (P[i, 1], "P[:, 1][i]", "P_{i,1}"),
    (P[i][:, 1], "P[i][:, 1]", "P_{i,1}"),
    (A[i][:, 1:], "A[i][:, 1:]", "A_{i,1:}"),
    (A[i][:, j], "A[i][:, j]", "(A_{i,:})_{:,j}"),
    (B[i, j], "B[i, j]", "B_{i,j,:}"),
    (P[[2, 0]], "P[[2, 0]]", r"P_{\left( 2, \  0\right),:}"),
    (x[i] - x[j], "x[i] - x[j]", "x_{i} - x_{j}"),
    (P[i] @ y, "P[i] @ y", "P_{i,:} y"),
    (P[i] @ P[j].T, "P[i] @ P[j].T", r"P_{i,:} P_{j,:}^{\top}"),
    (x[i] @ A[i, j], "x[i] @ A[i, j]", r"x_{i}^{\top} A_{i,j}"),
    (
        se.gradient(se.exp(P[i] @ y).sum(), y),
        "P[i].T @ exp(P[i] @ y)",
        r"P_{i,:}^{\top} \exp\left(P_{i,:} y\right)",
    ),
    # Positions are scattered by the transpose.
    (se.gradient(x[i] @ x[j], x), None, None),
    (B[:, i], "B[:, i]", None),
    (B.transpose(1, 0, 2)[i], "B[:, i].transpose(1, 0, 2)", None),
    (A[i] @ A[:, j], "A[i] @ A[:, j]", "A_{i,:} A_{:,j}"),
    (P[i][i], None, None),
    # An axis that the positions share with the tensor.
    (se.take_along_axis(C, i[:, None], axis=1)[:, 0], "(C*one_hot(i, m)).sum(axis=1)", None),
]


@pytest.mark.parametrize(("e", "text", "latex"), INDEXED, ids=lambda part: str(part)[:40])
def test_arrays_of_positions_are_indices(e, text, latex):
    if text is not None:
        assert str(e) == text
    if latex is not None:
        assert se.latex(e) == latex
    rng = np.random.default_rng(0)
    symbols_of = sorted(e.atoms(se.TensorSymbol), key=str)
    data = {s: rng.uniform(0.5, 2, [int(d.subs(SIZES)) for d in s.shape]) for s in symbols_of}
    data |= {s: rng.integers(0, SIZES[m], SIZES[m]) for s in (i, j) if s in data}
    arguments = (*data.values(), *SIZES.values())
    value = se.lambdify([*data, *SIZES], e)(*arguments)
    again = eval(str(e), dict(NAMES))
    np.testing.assert_allclose(se.lambdify([*data, *SIZES], again)(*arguments), value)
    for style in ("auto", "matrix", "index"):
        assert_meaning(e, np.asarray(value), data, SIZES, style)
    assert "onehot" in se.latex(e, notation="einsum")
