"""Systems with large sparse matrices inside of compiled functions."""

from __future__ import annotations

import pickle
from random import Random

import numpy as np
import pytest
import test_sparse_matrices as terms
from oracles import assert_close
from sympy import symbols

import sympy_einsum as se
import sympy_einsum.numpy as snp
from sympy_einsum.compiler.sparse_systems import SparseSystem
from sympy_einsum.core import tuning

m, n, q = symbols("m n q", integer=True, positive=True)
k = symbols("k", positive=True)
f, w, u = se.tensors("f w u", n)
B = se.TensorSymbol("B", n, 2)
i, j, g = se.tensors("i j g", m)
free = se.TensorSymbol("free", q)
one = se.Delta(n)
LAPLACE = 2 * one - snp.eye(n, k=1) - snp.eye(n, k=-1)
SKEWED = LAPLACE + snp.diag(w) + w[:, None] * snp.eye(n, k=2)
ENDS = se.one_hot(i, n) - se.one_hot(j, n)
GRAPH = se.einsum("ei,ej,e->ij", ENDS, ENDS, g)
ARGUMENTS = [f, w, u, B, i, j, g, free, k]
rng = np.random.default_rng(0)


@pytest.fixture(params=["band", "sparse"])
def sparse(monkeypatch, request):
    """Count the systems that are factored as sparse ones, by bands or not, of whatever size."""
    monkeypatch.setattr(tuning, "MAX_DENSE_SYSTEM", 4)
    monkeypatch.setattr(tuning, "MAX_SPARSE_SHARE", 2)
    monkeypatch.setattr(tuning, "MAX_BANDWIDTH", 64 if request.param == "band" else 0)
    made = []
    first = SparseSystem.__init__

    def counted(self, matrix):
        made.append(matrix)
        first(self, matrix)

    monkeypatch.setattr(SparseSystem, "__init__", counted)
    return made


def data(count=7, edges=11):
    """Return values of all arguments."""
    ends = rng.integers(0, count, (2, edges))
    ends[0, :count], ends[1, :count] = np.arange(count), (np.arange(count) + 1) % count
    parts = [rng.normal(size=count), rng.uniform(1, 2, count), rng.normal(size=count)]
    chosen = np.array([5, 0, -1, 3, 1])
    return [*parts, rng.normal(size=(count, 2)), *ends, rng.uniform(1, 2, edges), chosen, 0.7]


CASES = {
    "bands": (LAPLACE + k * one, f),
    "a product of bands": (LAPLACE @ LAPLACE + k * one, f),
    "not symmetric": (SKEWED, f),
    "transposed": (SKEWED.T, f),
    "several right-hand sides": (SKEWED, B),
    "a graph": (GRAPH + k * one, f),
    "a part": ((GRAPH + k * one)[free][:, free], f[free]),
    "a part of a sum over elements": (
        (se.einsum("ei,ej,e->ij", se.one_hot(i, n), se.one_hot(i, n), g))[free][:, free],
        f[free],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_solutions(name, sparse):
    matrix, right = CASES[name]
    values = data()
    found = se.lambdify(ARGUMENTS, se.solve(matrix, right))(*values)
    array, vector = (se.lambdify(ARGUMENTS, own)(*values) for own in (matrix, right))
    assert_close(found, np.linalg.solve(array, vector))
    assert len(sparse) == 1


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name, sparse):
    """Of a solution and a determinant, against differences of those by NumPy."""
    matrix, right = CASES[name]
    values = data()
    objective = (se.solve(matrix, right) ** 2).sum() + se.logdet(matrix)
    variables = [own for own in (f, w, g, k) if own in objective.free_symbols]
    found = se.lambdify(ARGUMENTS, [objective, *se.gradient(objective, variables)])(*values)
    assert sparse
    parts = se.lambdify(ARGUMENTS, [matrix, right])

    def value(changed):
        array, vector = parts(*changed)
        return (np.linalg.solve(array, vector) ** 2).sum() + np.linalg.slogdet(array)[1]

    assert_close(found[0], value(values))
    for variable, slope in zip(variables, found[1:], strict=True):
        place = ARGUMENTS.index(variable)
        direction = rng.normal(size=np.shape(values[place]))
        ends = [[*values], [*values]]
        for sign, own in zip((1, -1), ends, strict=True):
            own[place] = values[place] + sign * 1e-5 * direction
        difference = (value(ends[0]) - value(ends[1])) / 2e-5
        np.testing.assert_allclose(np.vdot(slope, direction), difference, rtol=1e-6, atol=1e-8)


def test_one_matrix_is_factored_once(sparse):
    solved = se.solve(SKEWED, f), se.solve(SKEWED.T, u), se.solve(SKEWED, B), se.logdet(SKEWED)
    values = data()
    function = se.lambdify(ARGUMENTS, list(solved))
    array = se.lambdify(ARGUMENTS, SKEWED)(*values)
    known = [np.linalg.solve(array, values[0]), np.linalg.solve(array.T, values[2])]
    known += [np.linalg.solve(array, values[3]), np.linalg.slogdet(array)[1]]
    for found, expected in zip(function(*values), known, strict=True):
        assert_close(found, expected)
    assert len(sparse) == 1
    again = pickle.loads(pickle.dumps(function))
    assert_close(again(*values)[0], known[0])


def test_small_and_large_systems_alternate(sparse):
    function = se.lambdify([f, w], se.solve(SKEWED, f))
    matrix = se.lambdify([w], SKEWED)
    for count, made in [(3, 0), (7, 1), (4, 1), (9, 2)]:
        values = rng.normal(size=count), rng.uniform(1, 2, count)
        assert_close(function(*values), np.linalg.solve(matrix(values[1]), values[0]))
        assert len(sparse) == made


def test_known_lengths(sparse):
    own = 2 * se.Delta(6) - snp.eye(6, k=1)
    found = se.lambdify([], se.solve(own, np.arange(6.0)))()
    assert_close(found, np.linalg.solve(2 * np.eye(6) - np.eye(6, k=1), np.arange(6.0)))
    assert len(sparse) == 1


def test_dense_matrices_stay(sparse):
    triangle, A = snp.tril(se.outer(f, w)), se.TensorSymbol("A", n, n)
    se.lambdify([f, w], se.solve(triangle + one, f))(rng.normal(size=7), rng.normal(size=7))
    se.lambdify([f, A], se.solve(A + one, f))(rng.normal(size=7), np.eye(7))
    assert not sparse


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex128])
def test_types(kind, sparse):
    values = rng.normal(size=7).astype(kind), rng.uniform(1, 2, 7).astype(kind)
    found = se.lambdify([f, w], se.solve(SKEWED, f))(*values)
    assert found.dtype == kind
    array = se.lambdify([w], SKEWED)(values[1]).astype(complex)
    np.testing.assert_allclose(found, np.linalg.solve(array, values[0]), rtol=1e-5)
    assert len(sparse) == 1


@pytest.mark.parametrize("name", ["bands", "a product of bands", "not symmetric", "transposed"])
def test_complex_right_hand_sides_of_real_matrices(name, sparse):
    matrix, right = CASES[name]
    values = data()
    values[0] = values[0] + 1j * rng.normal(size=7)
    solutions = [se.solve(matrix, right), se.solve(matrix.T, right)]
    found = se.lambdify(ARGUMENTS, solutions)(*values)
    array = se.lambdify(ARGUMENTS, matrix)(*values)
    assert_close(found[0], np.linalg.solve(array, values[0]))
    assert_close(found[1], np.linalg.solve(array.T, values[0]))
    assert sparse


def test_singular_matrices(sparse):
    function = se.lambdify([f], se.solve(LAPLACE - LAPLACE[0, 0] * one + snp.eye(n, k=1), f))
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        function(np.ones(7))
    logdet = se.lambdify([w], se.logdet(snp.diag(w) + snp.eye(n, k=1)))
    assert logdet(np.zeros(7)) == -np.inf
    assert sparse


@pytest.mark.parametrize("start", range(0, 120, 40))
def test_random_sums_of_structured_terms(start, sparse):
    for seed in range(start, start + 40):
        random = Random(seed)
        size = random.choice([5, 6])
        found = [terms.random_term(random, [size, size]) for _ in range(random.randrange(1, 4))]
        total, array = sum([own for own, _ in found]), sum([own for _, own in found])
        system, right = array + 20 * np.eye(size), np.arange(1.0, size + 1)
        solved = se.lambdify([k], se.solve(total + k * se.Delta(size), right))(20.0)
        assert_close(solved, np.linalg.solve(system, right))
    assert len(sparse) >= 20
