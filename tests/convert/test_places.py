"""Slices and what is placed among zeros, to SymPy and back."""

import pytest
from sympy import IndexedBase, Sum, ceiling, symbols

import sympy_einsum as se

m, n = symbols("m n", integer=True, positive=True)
i, j = symbols("i j", integer=True)
x, v, p = (se.TensorSymbol(*pair) for pair in (("x", n), ("v", n - 1), ("p", 6)))
X = se.TensorSymbol("X", (m, n))
base = IndexedBase("x", shape=(n,))
difference = x[1:] - x[:-1] ** 2

EXPRESSIONS = {
    "tail": x[1:],
    "head": x[:-1],
    "every second": x[::2],
    "reversed": x[::-1],
    "every second from the end": x[::-2],
    "numeric": p[4:1:-1],
    "block": X[1:, :-1],
    "columns": X[:, 1::2],
    "placed": se.Delta(n)[1:].T @ v,
    "placed in steps": se.diff((x[::2] ** 3).sum(), x),
    "chain": se.diff((difference**2).sum(), x),
    "product": se.Delta(n)[1:].T @ se.Delta(n)[1:],
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_places_come_back(name):
    e = EXPRESSIONS[name]
    indices = (i, j)[: e.order]
    pairs = list(zip(indices, e.shape, strict=True))
    assert se.simplify(se.from_indexed(se.to_indexed(e, indices), pairs) - e) == se.Zeros(*e.shape)
    assert se.simplify(se.from_array(se.to_array(e)) - e) == se.Zeros(*e.shape)


def test_matrices_of_places_come_back():
    for e in (X[::-1], X[:, ::2], X[1:, :-1], se.Triangle(n) @ X.T, se.Triangle(m, n, 1) * X):
        assert se.simplify(se.from_matrix(se.to_matrix(e)) - e) == se.Zeros(*e.shape)


def test_the_bounds_are_those_of_sympy():
    assert se.to_indexed(x[1:], [i]) == base[i + 1]
    assert se.to_indexed(x[1:] @ x[:-1]) == Sum(base[i + 1] * base[i], (i, 0, n - 2))
    assert se.to_indexed(x[::2].sum()) == Sum(base[2 * i], (i, 0, ceiling(n / 2) - 1))
    assert se.from_indexed(Sum(base[i - 1] * base[i], (i, 1, n - 1))) is x[1:] @ x[:-1]
    assert se.from_indexed(base[i + 1] - base[i], [(i, n - 1)]) is x[1:] - x[:-1]


@pytest.mark.parametrize(
    "outside",
    [
        Sum(base[i + 1] * base[i], (i, 0, n - 1)),
        Sum(base[i], (i, 1, n)),
        Sum(base[i - 1], (i, 0, n - 1)),
        base[n],
    ],
    ids=str,
)
def test_positions_outside_of_the_axis_are_refused(outside):
    with pytest.raises(se.ShapeError, match="axis of length n"):
        se.from_indexed(outside)
