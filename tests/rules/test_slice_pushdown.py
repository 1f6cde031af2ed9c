"""Slices are pushed down to operands."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view as sliding
from sympy import symbols

import sympy_einsum as se
from sympy_einsum.rules import push_slices_down

m, n = symbols("m n", integer=True, positive=True)
X, x = se.TensorSymbol("X", m, n), se.TensorSymbol("x", n)
CASES = {
    "function": (se.exp(X)[0], se.exp(X[0])),
    "entry": (se.sin(X + x[None])[0, 1], se.sin(X[0, 1] + x[1])),
    "sum": ((X + 2 * X**2)[1:], X[1:] + 2 * X[1:] ** 2),
    "nested": (se.exp(se.sin(X) + X)[::2], se.exp(se.sin(X[::2]) + X[::2])),
}


@pytest.mark.parametrize("name", CASES)
def test_slices_are_pushed_through_functions_and_sums(name):
    before, after = CASES[name]
    (found,) = push_slices_down([before])
    assert found == after


def test_shared_operands_are_sliced_afterwards():
    whole = se.exp(X)
    assert push_slices_down([whole[0], whole.sum()]) == [whole[0], whole.sum()]
    assert push_slices_down([whole[0] @ whole[1]])[0] == whole[0] @ whole[1]


def test_the_logarithm_of_softmax_stays_whole():
    logarithms = se.log(se.softmax(x))
    assert push_slices_down([logarithms[0]]) == [logarithms[0]]


def test_values_and_derivatives_stay():
    f = (se.tanh(X * x[None] + 1)[1:, 0] ** 2).sum() + se.exp(X)[0, 1]
    rng = np.random.default_rng(2)
    data = rng.normal(size=(3, 4)), rng.normal(size=4)
    found = se.lambdify([X, x], [f, se.gradient(f, X), se.gradient(f, x)])(*data)
    plain = se.lambdify([X, x], [f, se.gradient(f, X), se.gradient(f, x)], optimize=False)(*data)
    for a, b in zip(found, plain, strict=True):
        np.testing.assert_allclose(a, b)
    expected = (np.tanh(data[0][1:, 0] * data[1][0] + 1) ** 2).sum() + np.exp(data[0][0, 1])
    np.testing.assert_allclose(found[0], expected)


def test_an_entry_takes_no_memory():
    compute = se.lambdify([X], se.exp(se.sin(X) + 1)[0].sum())
    data = np.ones((1000, 100))
    compute(data)
    tracemalloc.start()
    compute(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < data.nbytes / 10


def test_sums_of_entries_and_zero_padding_are_no_slices():
    """cos(0) isn't 0, and the cosine of a sum isn't the sum of cosines."""
    w = se.TensorSymbol("w", 6)
    windows, placed = se.Positions(8, 0, (1, 1), (6, 3)), se.Delta(8)[1:-1]
    among = np.zeros(8)
    among[1:-1] = 1
    for f, expected in (
        (se.einsum("ijk,lk,l->ij", windows, placed, se.cos(w)), sliding(among, 3)),
        (se.einsum("ijk,k->i", windows, se.cos(placed.T @ w)), np.full(6, 3.0)),
    ):
        np.testing.assert_array_equal(se.lambdify([w], f)(np.zeros(6)), expected)
