"""Diagonals of sums and of outer products without these."""

from random import Random

import numpy as np
import pytest
from oracles import assert_close
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp

n, k = symbols("n k", integer=True, positive=True)
a, b, c = se.tensors("a b c", n)
A = se.TensorSymbol("A", n, n)
T = se.TensorSymbol("T", n, n, k)
t = symbols("t", real=True)
OUTER = se.outer(a, b)
rng = np.random.default_rng(0)
VALUES = [*rng.normal(size=(3, 5)), rng.normal(size=(5, 5)), rng.normal(size=(5, 5, 3)), 0.7]
ARGUMENTS = [a, b, c, A, T, t]

CASES = {
    "a sum": OUTER + A,
    "slices": (OUTER + OUTER.T)[1:, :-1],
    "of several": (2 * OUTER - t * se.outer(b, c).T)[1:, 1:],
    "a scalar factor": t * (OUTER + 3 * A)[::2, ::2],
    "backwards": (OUTER + A)[::-1],
    "three axes": snp.multiply.outer(OUTER, c)[1:, :-1] + snp.multiply.outer(OUTER.T, c)[1:, :-1],
    "dense": (A @ A + A)[1:, 1:],
}


def by_numpy(expr, values):
    return se.lambdify(ARGUMENTS, expr, optimize=False)(*values)


@pytest.mark.parametrize("name", CASES)
def test_values(name):
    expr = CASES[name]
    whole = by_numpy(expr, VALUES)
    # The other results need the outer products, too.
    for wanted in ([snp.diagonal(expr)], [snp.diagonal(expr), OUTER @ a, snp.diagonal(expr).sum()]):
        found = se.lambdify(ARGUMENTS, wanted)(*VALUES)
        assert_close(found[0], np.diagonal(whole))


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("dense", "three axes")])
def test_no_matrix_is_computed(name):
    source = se.lambdify(ARGUMENTS, snp.diagonal(CASES[name])).source
    assert "# (n, n)" not in source
    assert "[:, None]" not in source


def test_the_gradient_by_the_bands_of_a_matrix_that_is_solved_with():
    """The cotangent of an inverse is an outer product, of which the bands are needed."""
    rates, ends = se.TensorSymbol("k", n - 1), snp.eye(n)[1:] - snp.eye(n)[:-1]
    moved = se.solve(se.Delta(n) + ends.T @ (rates[:, None] * ends), a)
    gradient = se.gradient(((moved - b) ** 2).sum(), rates)
    function = se.lambdify([rates, a, b], gradient)
    assert "[:, None]" not in function.source
    x, y, z = rng.uniform(1, 2, 6), rng.normal(size=7), rng.normal(size=7)
    steps = np.diff(np.eye(7), axis=0)
    matrix = np.eye(7) + steps.T * x @ steps
    solution = np.linalg.solve(matrix, y)
    adjoint = np.linalg.solve(matrix, 2 * (solution - z))
    assert_close(function(x, y, z), -np.diff(adjoint) * np.diff(solution))


@pytest.mark.parametrize("seed", range(60))
def test_random_sums(seed):
    random = Random(seed)
    terms = [OUTER, OUTER.T, A, A.T, se.outer(c, c), snp.diag(a), A @ A, t * se.outer(b, c)]
    terms += [se.Delta(n), t * se.Ones(n, n), a[:, None] * se.Ones(n, n), snp.eye(n, k=1)]
    terms += [t * snp.eye(n, k=-1)[:, ::-1], se.outer(A @ a, se.inv(A) @ b), T.sum(axis=2)]
    cuts = [slice(None), slice(1, None), slice(None, -1), slice(None, None, -1)]
    total, values = 0, 0
    for term in random.sample(terms, random.randint(1, 5)):
        factor = random.choice([1, -1, 2])
        total, values = total + factor * term, values + factor * by_numpy(term, VALUES)
    first, second = random.choice(cuts), random.choice(cuts)
    size = min(len(range(5)[first]), len(range(5)[second]))
    part = total[first, second][:size, :size] if random.random() < 0.5 else total
    expected = values[first, second][:size, :size] if part is not total else values
    if part.shape[0] != part.shape[1]:
        return
    found = se.lambdify(ARGUMENTS, [snp.diagonal(part), se.trace(part)])(*VALUES)
    assert_close(found[0], np.diagonal(expected))
    assert_close(found[1], np.trace(expected))
