"""Every problem of the benchmarks: ours gives what the hand-written program gives."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.cases import CASES
from benchmarks.contenders import flat, hand, ours
from benchmarks.memory import peak
from benchmarks.report import evaluation_text, geometric_mean


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_values(case):
    data = case.data(*case.sizes["tiny"])
    found, expected = flat(ours(case, data)()), flat(hand(case, data)())
    assert len(found) == len(expected)
    for result, value in zip(found, expected, strict=True):
        np.testing.assert_allclose(result, value, rtol=1e-9, atol=1e-9)


LEAN = ("Rosenbrock", "Laplacian, Hessian", "recurrent", "ridge", "hinge", "Cox")


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if any(part in case.name for part in LEAN)],
    ids=lambda case: case.name,
)
def test_nothing_is_built_that_hand_written_code_does_without(case):
    """The most memory that a call takes, with a temporary array to spare."""
    data = case.data(*case.sizes["mid"])
    spare = max(np.asarray(value).nbytes for value in data)
    assert peak(ours(case, data)) <= 1.3 * peak(hand(case, data)) + 2 * spare + 5000


def test_the_report_counts_what_the_best_peer_wins():
    rows = [
        {"case": "a", "size": "mid", "hand": 1e-6, "ours": 1.0, "jax": 2.0},
        {"case": "b", "size": "mid", "hand": 1e-6, "ours": 4.0, "jax": 2.0},
    ]
    text = evaluation_text(rows)
    assert "mid: the best peer is faster in 1 of 2 (b)" in text
    assert "geometric mean 2.00, worst 4.00" in text
    assert geometric_mean([1.0, 4.0]) == pytest.approx(2)
