"""Sparse matrices from the entries of their terms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import sympy_einsum as se
from sympy_einsum.compiler.runtime.sparse_arrays import SparseMatrices


@pytest.fixture
def sparse():
    return SparseMatrices("numpy", "scipy.sparse", "csr_array")


def test_terms_that_overlap_are_added(sparse):
    x = np.array([1.0, 2.0, 3.0])
    terms = [(x, (3,), lambda i: (i, i)), (10, (2,), lambda i: (i + 1, i + 1))]
    found = sparse((3,), (3,), [], terms)
    assert isinstance(found, csr_array)
    np.testing.assert_array_equal(found.toarray(), np.diag([1, 12, 13]))
    assert found.has_canonical_format


def test_positions_that_repeat_are_added(sparse):
    p = np.array([2, -1, 0, 2])
    term = np.arange(4.0), (4,), lambda i, p: (p[i], p[i])
    found = sparse((3,), (3,), [(p, 3)], [term])
    np.testing.assert_array_equal(found.toarray(), np.diag([2.0, 0, 4]))


def test_several_axes_are_rows_and_columns(sparse):
    term = np.ones((1, 3)), (2, 3), lambda i, j: (i, j, j, 1)
    found = sparse((2, 3), (3, 2), [], [term])
    expected = np.zeros((2, 3, 3, 2))
    for i in range(2):
        for j in range(3):
            expected[i, j, j, 1] = 1
    np.testing.assert_array_equal(found.toarray(), expected.reshape(6, 6))


def test_entries_at_regular_distances_are_written_as_a_view(sparse):
    terms = [(np.ones((2, 3)), (2, 3), lambda i, j: (2 - i, 2 * j))]
    sparse((3,), (5,), [], terms)
    (((_, pattern),),) = sparse._plans.values()
    assert [own.strides for own in pattern.targets] == [(-3, 1)]


def test_conditions_select_entries(sparse):
    term = np.arange(9.0).reshape(3, 3), (3, 3), lambda i, j: (i, j), lambda i, j: i < j
    found = sparse((3,), (3,), [], [term])
    np.testing.assert_array_equal(found.toarray(), np.triu(term[0], 1))
    assert found.nnz == 3


def test_entries_that_a_condition_leaves_out_have_no_positions(sparse):
    conditions = lambda i, p: i <= 1, lambda i, p: p[i + 1] < 2
    term = np.arange(4.0), (4,), lambda i, p: (i, p[i + 1]), *conditions
    found = sparse((4,), (3,), [(np.array([0, 2, 1]), 3)], [term])
    assert found.nnz == found[1, 1] == 1


def test_patterns_are_planned_once(sparse):
    calls = []

    def places(i, p, calls=calls):
        calls.append(len(p))
        return i, p[i]

    for p in ([0, 1], [1, 0], [0, 1], [1, 0], [0, 1, 1]):
        term = np.ones(len(p)), (len(p),), places
        found = sparse((len(p),), (2,), [(np.array(p), 2)], [term])
        np.testing.assert_array_equal(found.indices, p)
    assert calls == [2, 2, 3]


def test_few_patterns_are_kept(sparse):
    places = lambda i, p: (i, p[i])  # noqa: E731
    for count in range(20):
        sparse((count,), (1,), [(np.zeros(count, int), 1)], [(1.0, (count,), places)])
    (known,) = sparse._plans.values()
    assert len(known) <= 4


def at(sparse, start):
    return sparse((1,), (3,), [], [(5, (1,), lambda i: (i, i + start))])


def test_numbers_in_positions_are_part_of_the_pattern(sparse):
    for start in (0, 2, 1):
        found = at(sparse, start)
        assert found.indices[0] == start


@pytest.mark.parametrize("lengths", [(0,), (2, 0), ()])
def test_no_entries_and_one(sparse, lengths):
    found = sparse((3,), (4,), [], [(np.ones(lengths), lengths, lambda *at: (1, 2))])
    assert found.nnz == (0 if 0 in lengths else 1)
    assert sparse((0,), (4,), [], []).shape == (0, 4)


def test_types(sparse):
    for kind in (np.float32, np.int64, np.complex128):
        terms = [(np.ones(2, kind), (2,), lambda i: (i, i)), (2, (2,), lambda i: (i, 1 - i))]
        assert sparse((2,), (2,), [], terms).dtype == kind
    assert sparse((1,), (1,), [], [(2, (), lambda: (0, 0))]).dtype == float


def test_wrong_positions(sparse):
    for p in ([3], [-4]):
        with pytest.raises(se.ShapeError, match=f"outside of its axis: {p[0]} .* length 3"):
            sparse((1,), (3,), [(np.array(p), 3)], [(1, (1,), lambda i, p: (i, p[i]))])
    with pytest.raises(se.ShapeError, match=r"outside of its axis: 5 .* length 4"):
        sparse((1,), (4,), [], [(1, (1,), lambda i: (i, i + 5))])
    with pytest.raises(se.TensorError, match="integers, not of type float64"):
        sparse((1,), (3,), [(np.array([0.5]), 3)], [(1, (1,), lambda i, p: (i, p[i]))])
