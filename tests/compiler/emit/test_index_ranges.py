"""Sums over entries: a range is summed as written, and refused where it leaves its axis."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest
from sympy import IndexedBase, Integer, Mul, Sum, symbols

import sympy_einsum as se

k, m, n = symbols("k m n", integer=True, positive=True)
i, j, p = symbols("i j p", integer=True)
t = symbols("t")
M, u, w = IndexedBase("M", shape=(k, k)), IndexedBase("u", shape=(3,)), IndexedBase("w", shape=(n,))

OUTSIDE = {
    "one too many": Sum(M[i, i], (i, 0, k)),
    "too many": Sum(u[i], (i, 0, 4)),
    "before the first": Sum(u[i], (i, -1, 2)),
    "after the last": Sum(w[i], (i, 1, n)),
    "moved up": Sum(u[i + 1], (i, 0, 2)),
    "moved down": Sum(w[i - 1], (i, 0, n - 1)),
    "mirrored": Sum(w[n - i], (i, 0, n - 1)),
    "in steps": Sum(u[2 * i], (i, 0, 2)),
    "of two": Sum(w[i] * u[i], (i, 0, 3)),
    "second index": Sum(M[i, j], (i, 0, k - 1), (j, 0, k)),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_an_index_that_leaves_its_axis(name):
    with pytest.raises(se.ShapeError, match=r"index . takes positions from .* on an axis of"):
        se.from_indexed(OUTSIDE[name])


def test_a_free_index_that_leaves_its_axis():
    with pytest.raises(se.ShapeError, match="index i takes positions from 1 to n on an axis"):
        se.from_indexed(w[i + 1], [(i, n)])
    with pytest.raises(se.ShapeError, match="position 3 is out of range"):
        se.from_indexed(u[3])


def test_a_range_that_is_wrong_for_some_lengths_is_checked_at_the_call():
    x = se.TensorSymbol("w", n)
    every_second = se.lambdify([x, se.TensorSymbol("v", m)], se.from_indexed(Sum(w[i], (i, 0, m))))
    assert every_second(np.arange(5.0), np.ones(3)) == 6
    with pytest.raises(se.ShapeError, match="outside"):
        every_second(np.arange(3.0), np.ones(3))


def test_empty_ranges():
    assert se.lambdify([se.TensorSymbol("w", n)], se.from_indexed(Sum(w[i], (i, 3, 2))))([1.0]) == 0
    assert se.from_indexed(Sum(t, (i, 0, -3))) == Sum(t, (i, 0, -3)).doit()


# --- against loops --------------------------------------------------------------------------------

CHECKS = 60


def random_sum(random):
    """Return a sum of products of entries, and its value by loops."""
    lengths = {m: random.randint(2, 4), n: random.randint(3, 5), k: random.randint(2, 4)}
    data = {
        base: np.array([random.uniform(-1, 1) for _ in range(10 ** len(base.shape))])
        for base in (M, u, w)
    }
    data = {
        base: values[: np.prod([int(d.subs(lengths)) for d in base.shape])].reshape(
            [int(d.subs(lengths)) for d in base.shape]
        )
        for base, values in data.items()
    }
    indices = random.sample([i, j, p], random.randint(1, 3))
    limits = []
    for index in indices:
        low = random.choice([0, 0, 0, 1, 1, -1])
        high = random.choice([Integer(1), Integer(2), n - 1, n - 2, k - 1, k - 2, m - 1])
        limits.append((index, low, high))

    def position(length):
        index = random.choice(indices)
        return random.choice(
            [index, index, index + 1, index - 1, 2 * index, length - 1 - index, Integer(1)]
        )

    factors = [
        base[tuple(position(length) for length in base.shape)]
        for base in random.choices([M, u, w], k=random.randint(1, 3))
    ]
    return Sum(Mul(*factors, evaluate=True), *limits), factors, lengths, data


def by_loops(total, factors, lengths, data):
    """Return the value, or None where an index leaves its axis, at either end."""
    ranges = [range(int(low), int(high.subs(lengths)) + 1) for _, low, high in total.limits]
    value = 0.0
    for where in product(*ranges):
        at = dict(zip(total.variables, where, strict=True))
        term = 1.0
        for factor in factors:
            place = [int(e.subs(lengths).subs(at)) for e in factor.indices]
            array = data[factor.base]
            if any(not 0 <= a < length for a, length in zip(place, array.shape, strict=True)):
                return None
            term *= array[tuple(place)]
        value += term
    return value


def found(total, lengths, data):
    """Return the value of the tensor expression, None where it is refused, at once or at the
    call."""
    bases = {base: se.TensorSymbol(str(base), base.shape) for base in data}
    # The arguments that tell the lengths.
    extra = [se.TensorSymbol(f"of_{s}", s) for s in (k, m, n)]
    try:
        e = se.from_indexed(total)
        function = se.lambdify([*bases.values(), *extra], e)
        return function(*data.values(), *[np.zeros(lengths[s]) for s in (k, m, n)])
    except se.ShapeError:
        return None
    except se.UnsupportedError:
        return NotImplemented


@pytest.mark.parametrize("seed", range(CHECKS))
def test_random_ranges(seed):
    random = Random(seed)
    total, factors, lengths, data = random_sum(random)
    if any(high.subs(lengths) < low for _, low, high in total.limits):
        return
    expected, value = by_loops(total, factors, lengths, data), found(total, lengths, data)
    if value is NotImplemented or (expected is None and value is None):
        return
    assert expected is not None, f"{total} leaves an axis with {lengths}"
    assert value is not None, f"{total} fits with {lengths}"
    np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-12)


def test_nonnegative_values_are_not_tested():
    n = symbols("n", integer=True, positive=True)
    x = se.TensorSymbol("x", n + 2)
    assert "n + 1 >= 0" not in se.codegen([x], x[-1] * x[:n].sum())
    assert "n - 1 >= 0" in se.codegen([x], x[: n - 1].sum())
    call = se.lambdify([x], x[-1] * x[:n].sum())
    assert call(np.array([3.0, 4.0])) == 0
    assert call(np.array([3.0, 4.0, 5.0])) == 15
