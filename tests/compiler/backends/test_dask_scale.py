"""The benchmark of data larger than memory: the result equals that of the hand-written program."""

from __future__ import annotations

import numpy as np
import pytest

import sympy_einsum as se
from benchmarks.contenders import flat
from benchmarks.dask_scale import CHUNK, PROBLEMS, data, tasks


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_graphs_grow_linearly(problem):
    function = se.lambdify(problem.arguments, problem.build(), "dask")
    counts = [tasks(function(*data(problem, n * CHUNK / 1e9))) for n in (10, 20, 40)]
    assert counts[2] - counts[1] <= 2.3 * (counts[1] - counts[0])


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_values(problem):
    function = se.lambdify(problem.arguments, problem.build(), "dask")
    small = data(problem, 2e-5 * problem.columns)
    for own, other in zip(flat(function(*small)), flat(problem.by_hand(*small)), strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-9)
