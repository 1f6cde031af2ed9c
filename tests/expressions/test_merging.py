"""Common positions of two entries or slices of one axis."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sympy import S, symbols

import sympy_einsum as se
from sympy_einsum.expressions.merging import are_disjoint, intersect_selectors

n, k = symbols("n k", integer=True, positive=True)
LENGTH = 12


SLICES = [
    se.Selection(LENGTH, start, step, count)
    for start, step, count in product((0, 1, 4, 11), (1, 2, 3, -1, -2), (1, 2, 4))
    if 0 <= start + step * (count - 1) < LENGTH
]


def positions(selection):
    (step,), (count,) = selection.steps or (S.One,), selection.counts or (S.One,)
    return [selection.start + step * t for t in range(count)]


def test_common_positions():
    known = 0
    for first, second in product([*SLICES, se.Unit(LENGTH, 4)], repeat=2):
        common = [p for p in positions(first) if p in positions(second)]
        found = intersect_selectors(first, second)
        if found is None:
            continue
        known += 1
        assert found.count == len(common)
        assert are_disjoint(first, second) == (not common)
        for own, start, step in zip((first, second), found.starts, found.steps, strict=True):
            if common:
                assert [positions(own)[start + step * t] for t in range(found.count)] == common
    assert known > 1000


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (se.Selection(n * k, 0, k, n), se.Selection(n * k, 1, 1, k)),
        (se.Selection(4 * n, 0, 2, n), se.Selection(4 * n, k, 4, 1)),
        (se.Selection(4 * n, 0, 2, n), se.Selection(4 * n, 0, 3, n)),
        (se.Selection(n + k, 0, 1, n), se.Selection(n + k, 0, 1, k)),
        (se.Selection(4 * n + k, k, 2, n), se.Selection(4 * n + k, 0, 2, n)),
    ],
)
def test_properties_that_depend_on_lengths_are_unknown(first, second):
    assert intersect_selectors(first, second) is None
    assert not are_disjoint(first, second)


def test_slices_that_no_length_decides_are_multiplied():
    """Every second and every third position of an axis of unknown length."""
    x = se.TensorSymbol("x", 6 * n)
    derivative = se.gradient((x[::2] ** 2).sum(), x)
    values = np.arange(12.0)
    found = se.lambdify([x], derivative[::3])(values)
    np.testing.assert_array_equal(found, np.where(values % 2 == 0, 2 * values, 0)[::3])


def test_slices_of_length_one():
    """Sums over an axis of length 1 are entries: a matrix of blocks that are numbers."""
    x = se.TensorSymbol("x", 3)
    first, last = se.Delta(3)[:1], se.Delta(3)[2:]
    assert first.sum(axis=0) is se.Delta(3)[0]
    assert first.T @ last is se.outer(se.Delta(3)[0], se.Delta(3)[2])
    rotation = se.block([[x[0], -x[2]], [x[2], x[0]]])
    assert str(rotation) == str(se.stack([se.stack(row) for row in ([x[0], -x[2]], [x[2], x[0]])]))
    found = se.lambdify([x], [rotation, se.jacobian(rotation, x)])([3.0, 5.0, 7.0])
    np.testing.assert_array_equal(found[0], [[3, -7], [7, 3]])
    np.testing.assert_array_equal(found[1][0], [[1, 0, 0], [0, 0, -1]])


def test_products_with_unit_vectors_are_entries_times_these():
    X, x = se.TensorSymbol("X", n, 4), se.TensorSymbol("x", n)
    assert se.Unit(n, k) * x == x[k] * se.Unit(n, k)
    row = se.einsum("i,ij,j->ij", se.Unit(n, 2), X, x[:4])
    assert str(row) == "outer(Delta(n)[2], x[:4]*X[2, :])"
    assert str(se.einsum("i,ij->i", se.Unit(n, k), X)) == "X[k, :].sum()*Delta(n)[k]"


def test_entries_and_slices_whose_positions_are_not_compared():
    entry, part = se.Delta(n**2)[n**2 - 4], se.Delta(n**2)[:-2]
    e = se.simplify(entry @ part.T @ (part @ entry))
    values = se.lambdify([n], e)
    assert [float(values(length)) for length in (2, 3)] == [1.0, 1.0]
