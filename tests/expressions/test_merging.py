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
    slope = se.gradient((x[::2] ** 2).sum(), x)
    values = np.arange(12.0)
    found = se.lambdify([x], slope[::3])(values)
    np.testing.assert_array_equal(found, np.where(values % 2 == 0, 2 * values, 0)[::3])
