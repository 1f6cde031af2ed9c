"""Functions of adjacent slices are called once in loops."""

import numpy as np
import pytest
from sympy import symbols

import sympy_einsum as se

T, n = symbols("T n", integer=True, positive=True)
X, h = se.TensorSymbol("X", T, 4 * n), se.TensorSymbol("h", 4 * n)


def gate(z):
    return 1 / (1 + np.exp(-z))


def parts(z, size):
    return [z[k * size : (k + 1) * size] for k in range(4)]


@pytest.mark.parametrize(
    ("step", "by_hand", "count"),
    [
        # The first two and the last.
        (
            lambda a, b, c, d: (se.sigmoid(a), se.sigmoid(b) * c, se.sigmoid(d)),
            lambda a, b, c, d: (gate(a), gate(b) * c, gate(d)),
            2,
        ),
        # The last three, in another order.
        (
            lambda a, b, c, d: (se.sigmoid(d), se.sigmoid(b), se.sigmoid(c) - a),
            lambda a, b, c, d: (gate(d), gate(b), gate(c) - a),
            1,
        ),
        # Neither adjacent nor of the same function.
        (
            lambda a, b, c, d: (se.sigmoid(a), se.sigmoid(c), se.tanh(b) * d),
            lambda a, b, c, d: (gate(a), gate(c), np.tanh(b) * d),
            2,
        ),
    ],
)
def test_adjacent_slices(step, by_hand, count):
    def row(carry, x):
        z = se.sin(carry) + x
        values = step(*parts(z, n))
        return z, (*values, values[0] * values[1])

    f = se.lambdify([X, h], se.scan(row, h, X)[1])
    assert f.source.split("def loop1")[1].count("sigmoid(") == count
    for size in (3, 1):
        generator = np.random.default_rng(size)
        rows, h0 = generator.normal(size=(5, 4 * size)), generator.normal(size=4 * size)
        values, start = [], h0
        for x in rows:
            start = np.sin(start) + x
            values.append(by_hand(*parts(start, size)))
        expected = [np.array([v[k] for v in values]) for k in range(3)]
        for found, own in zip(f(rows, h0), [*expected, expected[0] * expected[1]], strict=True):
            np.testing.assert_allclose(found, own, rtol=1e-13)


def test_outside_of_loops_results_are_arrays_of_their_own():
    z = se.TensorSymbol("z", 2 * n)
    f = se.lambdify([z], [se.sigmoid(z[:n]), se.sigmoid(z[n:])])
    assert all(own.base is None for own in f(np.arange(6.0)))
