"""Slices and zero-padded values, to SymPy and back."""

import numpy as np
import pytest
from sympy import (
    Idx,
    Indexed,
    IndexedBase,
    KroneckerDelta,
    Piecewise,
    Product,
    Sum,
    ceiling,
    symbols,
)

import sympy_einsum as se

m, n = symbols("m n", integer=True, positive=True)
i, j, k = symbols("i j k", integer=True)
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
    "running": se.cumsum(x),
    "running sums of rows": se.cumsum(X, axis=1),
    "from the end": se.Triangle(n) @ x**2,
    "running, without the last": se.Triangle(n, n, 1).T @ x,
    "masked": X * se.Triangle(m, n, 1),
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
    assert se.to_indexed(se.Triangle(n, n, 1) @ x, [i]) == Sum(base[j], (j, i + 1, n - 1))
    products = se.to_indexed(se.interval_products(x), [i, j])
    expected = Piecewise((Product(base[k], (k, i, j - 1)), i <= j), (0, True))
    assert products == expected
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


B = IndexedBase("B", shape=(n, n))
BOUNDED = [
    (Sum(base[j], (j, 0, i - 1)), (i,)),
    (Sum(B[i, j] * base[j], (j, i + 1, n - 1)), (i,)),
    (Sum(B[i, j], (j, i, i + 1), (i, 0, n - 2)), ()),
    (Sum(base[j], (j, 0, i), (i, 0, n - 1)), ()),
    (Sum(base[j], (j, 2, i + 1), (i, 1, n - 2)), ()),
    (Sum(base[j] * base[k], (k, 0, j), (j, 0, i)), (i,)),
    (Sum(base[i], (j, 0, i)) ** 2, (i,)),
    (Sum(Sum(base[j], (j, 0, i)) ** 2, (i, 0, n - 1)), ()),
    (Piecewise((1, j - 1 <= i), (0, True)) * B[i, j], (i, j)),
]


@pytest.mark.parametrize(("expr", "indices"), BOUNDED, ids=str)
def test_sums_up_to_other_indices(expr, indices):
    """Their values equal those of the terms, added one by one."""
    data = {"x": np.array([2.0, 3, 5, 7]), "B": np.arange(1.0, 17).reshape(4, 4)}

    def value(e, at):
        if isinstance(e, Sum):
            *inner, (index, low, high) = e.limits
            positions = range(int(low.subs(at)), int(high.subs(at)) + 1)
            term = Sum(e.function, *inner) if inner else e.function
            return sum(value(term, {**at, index: position}) for position in positions)
        if isinstance(e, Indexed):
            return data[str(e.base)][tuple(int(position.subs(at)) for position in e.indices)]
        if isinstance(e, Piecewise) or not e.args:
            return float(e.subs(at))
        return e.func(*[value(part, at) for part in e.args])

    tensor = se.from_indexed(expr, [(index, n) for index in indices])
    symbols = [x, se.TensorSymbol("B", (n, n))]
    found = se.lambdify(symbols, tensor)(data["x"], data["B"])
    for at in np.ndindex(np.shape(found)):
        expected = value(expr.subs(n, 4), dict(zip(indices, at, strict=True)))
        assert found[at] == float(expected)


def test_bounds_that_no_sum_has():
    assert se.from_indexed(Sum(base[j], (j, 0, i)), [i]) is se.cumsum(x)
    with pytest.raises(se.UnsupportedError, match="may end before it begins"):
        se.from_indexed(Sum(base[j], (j, 0, i - 2)), [(i, n)])
    with pytest.raises(se.UnsupportedError, match="isn't an index plus a number"):
        se.from_indexed(Sum(base[j], (j, 0, 2 * i)), [(i, n)])
    with pytest.raises(se.ShapeError, match="takes positions from 0 to n on an axis of length n"):
        se.from_indexed(Sum(base[j], (j, 0, i + 1)), [(i, n)])
    with pytest.raises(se.ShapeError, match="index j takes the position -1"):
        se.from_indexed(Sum(base[j], (j, i - 1, n - 1)), [(i, n)])
    with pytest.raises(se.ShapeError, match="the length of index i can't be inferred"):
        se.from_indexed(Sum(base[j], (j, 0, i - 1)), [i])


@pytest.mark.parametrize("position", [-1, n, n + 2])
def test_entries_lie_on_their_axes(position):
    with pytest.raises(se.ShapeError, match="isn't between 0 and n - 1"):
        se.to_indexed(se.cumsum(x), [position])


@pytest.mark.parametrize(
    ("bounds", "part"), [((1, 2), slice(1, 3)), (2, slice(2)), ((2, 2), slice(2, 3)), (4, slice(4))]
)
def test_an_index_takes_the_positions_of_its_range(bounds, part):
    """Also where it is summed over."""
    four, entries = se.TensorSymbol("a", 4), IndexedBase("a", shape=(4,))
    index = Idx("i", bounds)
    values = np.array([1.0, 20.0, 300.0, 4000.0])
    whole = se.from_indexed(entries[index] ** 2, [index])
    total = se.from_indexed(Sum(entries[index], (index, index.lower, index.upper)))
    np.testing.assert_array_equal(se.lambdify([four], whole)(values), values[part] ** 2)
    assert se.lambdify([four], total)(values) == values[part].sum()


def test_an_index_whose_range_is_longer_than_its_axis():
    index = Idx("i", (1, 4))
    with pytest.raises(se.ShapeError, match="positions from 1 to 4 on an axis of length 4"):
        se.from_indexed(IndexedBase("a", shape=(4,))[index], [index])


def test_a_delta_within_bounds():
    assert se.from_indexed(KroneckerDelta(i, j, (0, n - 1)), [(i, n), (j, n)]) is se.Delta(n)
    some = se.from_indexed(KroneckerDelta(i, j, (1, 2)), [(i, n), (j, n)])
    np.testing.assert_array_equal(some.subs(n, 4).as_explicit().tolist(), np.diag([0, 1, 1, 0]))


@pytest.mark.parametrize("length", [1, 2, 5])
def test_an_index_may_be_a_number_in_a_term(length):
    t = symbols("t", positive=True)
    k = Idx("k", n)
    matrix = IndexedBase("A", shape=(n, n))
    rng = np.random.default_rng(length)
    vector, square, at = (
        rng.normal(size=length),
        rng.normal(size=(length, length)),
        np.arange(length),
    )
    apart = at[:, None] - at
    cases = [
        (Sum(i * base[i], (i, 0, n - 1)), (at * vector).sum()),
        (Sum(k * base[k], k), (at * vector).sum()),
        (Sum(i + base[i], (i, 0, n - 1)), (at + vector).sum()),
        (Sum(t**i * base[i], (i, 0, n - 1)), (0.7**at * vector).sum()),
        (Sum(base[i] / (i + 1), (i, 1, n - 1)), (vector / (at + 1))[1:].sum()),
        (Sum((i - j) ** 2 * matrix[i, j], (i, 0, n - 1), (j, 0, n - 1)), (apart**2 * square).sum()),
        (Sum(base[i] * Sum(j, (j, 0, i)), (i, 0, n - 1)), (vector * at * (at + 1) / 2).sum()),
    ]
    symbols_of = [se.TensorSymbol("x", n), se.TensorSymbol("A", n, n), t]
    for total, expected in cases:
        found = se.lambdify(symbols_of, se.from_indexed(total))(vector, square, 0.7)
        assert np.allclose(found, expected), total
    weights = se.diff(se.from_indexed(cases[0][0]), symbols_of[0])
    assert (se.lambdify([symbols_of[0]], weights)(vector) == at).all()
    scaled = se.from_indexed(base[i] * (i + 1), [(i, n)])
    assert np.allclose(se.lambdify([symbols_of[0]], scaled)(vector), vector * (at + 1))
