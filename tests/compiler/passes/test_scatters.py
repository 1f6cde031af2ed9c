"""Sums of scatters: into one array, on every backend, for all types."""

from __future__ import annotations

import numpy as np
import pytest
from libraries import EVERY, allowances_for
from sympy import symbols

import sympy_einsum as se

k, m, n = symbols("k m n", integer=True, positive=True)
p, q = se.TensorSymbol("p", m), se.TensorSymbol("q", k)
x, y, z = se.TensorSymbol("x", (m, n)), se.TensorSymbol("y", (k, n)), se.TensorSymbol("z", (m, n))
w = se.TensorSymbol("w", (n, n))
ARGUMENTS = [p, q, x, y, z, w]
X, Y, Z = se.one_hot(p, n).T @ x, se.one_hot(q, n).T @ y, se.one_hot(p, n).T @ z
SUMS = [X + Y - Z + w, -X - Y, -X - Z, X - 3 * Y]


def data(lengths=(4, 5, 6)):
    size, rows, others = lengths
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((length, size)) for length in (rows, others, rows, size)]
    return [rng.integers(-size, size, rows), rng.integers(size, size=others), *arrays]


def expected(p, q, x, y, z, w):
    def added(values, at):
        total = np.zeros(w.shape)
        np.add.at(total, at, values)
        return total

    X, Y, Z = added(x, p), added(y, q), added(z, p)
    return [X + Y - Z + w, -X - Y, -X - Z, X - 3 * Y]


@pytest.mark.parametrize("backend", EVERY)
def test_sums_have_their_values(backend):
    library = EVERY[backend]()
    for lengths in ((4, 5, 6), (4, 0, 3), (1, 2, 3)):
        values = data(lengths)
        for own, reference in zip(SUMS, expected(*values), strict=True):
            with allowances_for(backend):
                found = se.lambdify(ARGUMENTS, own, backend)(*map(library.into, values))
                np.testing.assert_allclose(library.back(found), reference, atol=1e-12)


def test_integers_and_single_precision_are_promoted():
    p, q, x, y, z, w = data()
    for values in (
        (p, q, x.astype(np.float32), (9 * y).astype(int), z, w),
        (p, q, (9 * x).astype(int), y, z.astype(np.float32), w),
    ):
        for own, reference in zip(SUMS, expected(*values), strict=True):
            found = se.lambdify(ARGUMENTS, own)(*values)
            np.testing.assert_allclose(found, reference, atol=1e-6)


def test_nothing_large_is_made_but_the_result():
    for own in SUMS:
        lines = se.lambdify(ARGUMENTS, own).source.splitlines()
        assert sum("# (n, n)" in line for line in lines) <= 2
    (line,) = [line for line in lines if "= scatter(" in line]
    assert line.count("scatter(") == 2


def test_shared_sums_are_added_once():
    source = se.lambdify(ARGUMENTS, [X + Y, X * w, Y * w]).source
    assert source[source.index("def function") :].count("scatter(") == 2


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "dask"])
def test_in_a_semiring_the_sum_is_its_own(backend):
    library = EVERY[backend]()
    p, q, x, y, _, _ = data()
    function = se.lambdify(ARGUMENTS[:4], X + Y, backend, semiring="max-plus")
    found = library.back(function(*map(library.into, (p % 4, q, x, y))))
    total = np.full((4, 4), -np.inf)
    np.maximum.at(total, p, x)
    np.maximum.at(total, q, y)
    np.testing.assert_allclose(found, total)
