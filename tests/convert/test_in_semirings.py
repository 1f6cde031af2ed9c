"""Values in semirings as ordinary expressions, and their derivatives."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from libraries import LIBRARIES
from semirings import ARGUMENTS, EXPRESSIONS, A, B, arrays, hidden_markov_model, m, matches

import sympy_einsum as se


@pytest.mark.parametrize("semiring", ["max-plus", "min-plus", "max-times", "log"])
def test_ordinary_expressions_have_the_same_values(semiring):
    given = arrays(semiring, seed=3)
    expected = se.lambdify(ARGUMENTS, EXPRESSIONS, semiring=semiring)(*given)
    chosen = [se.in_semiring(expr, semiring) for expr in EXPRESSIONS]
    for value, other in zip(se.lambdify(ARGUMENTS, chosen)(*given), expected, strict=True):
        matches(value, other, "log")


def test_counts_are_what_they_are():
    assert se.in_semiring(A @ B, "count") is A @ B


@pytest.mark.slow
def test_derivatives_of_logarithms_are_posterior_marginals():
    steps, states = 4, 3
    generator = np.random.default_rng(2)
    given = [np.log(generator.random(s)) for s in ((3,), (3, 3), (4, 3))]
    arguments, weight = hidden_markov_model(steps)
    value = se.in_semiring(weight, "log")
    found = se.lambdify(arguments, se.gradient(value, arguments))(*given)
    expected = [np.zeros(a.shape) for a in given]
    for way in product(range(states), repeat=steps):
        weights = [given[0][way[0]]]
        weights += [given[1][a, b] for a, b in pairwise(way)]
        weights += [given[2][place, state] for place, state in enumerate(way)]
        chance = np.exp(sum(weights))
        expected[0][way[0]] += chance
        for a, b in pairwise(way):
            expected[1][a, b] += chance
        for place, state in enumerate(way):
            expected[2][place, state] += chance
    total = expected[0].sum()
    for value, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(value, other / total, rtol=1e-11)
    library = LIBRARIES["jax"]()
    function = se.lambdify(arguments, weight, "jax", semiring="log")
    derivatives = library.module.grad(function, (0, 1, 2))(*map(library.into, given))
    for value, other in zip(derivatives, found, strict=True):
        np.testing.assert_allclose(library.back(value), other, rtol=1e-11)


def test_second_derivatives_of_logarithms():
    value = se.in_semiring((A @ B).sum(), "log")
    assert se.check_derivative(se.gradient(value, A), B) < 1e-6


def test_subgradients_are_the_best_ways():
    steps = 5
    generator = np.random.default_rng(4)
    given = [generator.random(s) for s in ((3,), (3, 3), (5, 3))]
    arguments, weight = hidden_markov_model(steps)
    ways = {
        sum(given[1][a, b] for a, b in pairwise(way))
        + given[0][way[0]]
        + sum(given[2][place, state] for place, state in enumerate(way)): way
        for way in product(range(3), repeat=steps)
    }
    for semiring, best in (("max-plus", ways[max(ways)]), ("min-plus", ways[min(ways)])):
        value = se.in_semiring(weight, semiring)
        first, moves, seen = se.lambdify(arguments, se.gradient(value, arguments))(*given)
        np.testing.assert_array_equal(seen, np.eye(3)[list(best)])
        np.testing.assert_array_equal(first, np.eye(3)[best[0]])
        taken = np.zeros((3, 3))
        for a, b in pairwise(best):
            taken[a, b] += 1
        np.testing.assert_array_equal(moves, taken)


def test_several_best_ways_share():
    value = se.in_semiring((A @ B).sum(), "min-plus")
    derivative = se.lambdify([A, B], se.gradient(value, A))(np.zeros((3, 4)), np.zeros((4, 5)))
    np.testing.assert_allclose(derivative, np.full((3, 4), 1 / 12))


def test_refusals():
    with pytest.raises(se.UnsupportedError, match="1/A means nothing in the semiring 'log'"):
        se.in_semiring(B.T @ (1 / A).T, "log")
    for name in ("or-and", "max-min", 3):
        with pytest.raises(se.UnsupportedError, match="no ordinary expressions for the semiring"):
            se.in_semiring(A, name)


@pytest.mark.parametrize("semiring", ["min-plus", "or-and", "log", "count"])
def test_entries_at_positions(semiring):
    p = se.TensorSymbol("p", 6)
    places = np.array([0, 2, 1, 1, 0, 2])
    a, b = arrays(semiring)[:2]
    exprs = [A[p], A[p] @ B, se.one_hot(p, m) @ A, A[p].sum(axis=0), A[p].T @ se.one_hot(p, 9)]
    values = se.lambdify([p, A, B], exprs, semiring=semiring)(places, a, b)
    expected = se.lambdify([A, B], [A, A @ B, A], semiring=semiring)(a, b)
    for value, other in zip(values, expected, strict=False):
        matches(value, np.asarray(other)[places], semiring)
    if semiring in ("min-plus", "log"):
        ordinary = [se.in_semiring(expr, semiring) for expr in exprs]
        for value, other in zip(
            se.lambdify([p, A, B], ordinary)(places, a, b), values, strict=True
        ):
            matches(value, other, "log")
    with pytest.raises(se.UnsupportedError, match="means nothing in the semiring"):
        se.lambdify([p, A], A[p + 1], semiring=semiring)
