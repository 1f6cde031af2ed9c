"""Every problem of the benchmarks: ours gives what the hand-written program gives."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from benchmarks.cases import CASES
from benchmarks.contenders import flat, hand, ours
from benchmarks.experiments import EXPERIMENTS, RUNNERS, experiments_text, measured, panels
from benchmarks.memory import peak
from benchmarks.plots import draw
from benchmarks.report import evaluation_text, geometric_mean, merged, ratios, results_text
from benchmarks.tables import shown


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


ROWS = [
    {"case": "a", "size": "mid", "hand": 1e-6, "ours": 1.0, "ours by JAX": 3.0, "JAX": 2.0},
    {"case": "b", "size": "mid", "hand": 1e-6, "ours": 4.0, "JAX": 2.0, "PyTensor": 0.5},
    {"case": "c", "size": "mid", "hand": 1e-6, "ours": 0.5},
]


def test_the_report_tells_the_best_of_ours_over_the_best_peer():
    text = evaluation_text(ROWS)
    assert "| a |  | 0.5 (ours / JAX) |  |" in text
    assert "| b |  | 8 (ours / PyTensor) |  |" in text
    assert "mid: geometric mean 2.00; the best peer is faster in 1 of 2 (b 8)" in text
    assert "mid, ours: geometric mean 1.26, worst 4.00" in text
    assert geometric_mean([1.0, 4.0]) == pytest.approx(2)


def test_results_are_added_to_the_stored_ones():
    stored = {"machine": {"numpy": "2"}, "evaluation": ROWS[:2]}
    again = [{"case": "a", "size": "mid", "hand": 2e-6, "JAX": 5.0}, ROWS[2]]
    both = merged(stored, {"machine": {"numpy": "2", "jax": "1"}, "evaluation": again})
    assert [row["case"] for row in both["evaluation"]] == ["a", "b", "c"]
    assert both["evaluation"][0] | {"hand": 1e-6} == ROWS[0] | {"JAX": 5.0}
    assert both["machine"] == {"numpy": "2", "jax": "1"}
    with pytest.raises(ValueError, match=r"'numpy': '2'.*--fresh"):
        merged(stored, {"machine": {"numpy": "3"}})


def test_the_stored_texts_are_those_of_the_stored_results():
    folder = Path(__file__).parent.parent / "benchmarks"
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert results_text(results) == (folder / "results.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("case", EXPERIMENTS, ids=lambda case: case.name)
def test_the_experiments_have_equal_results_and_growing_lengths(case):
    lengths = [n for (n,) in case.sizes.values()]
    assert lengths == sorted(set(lengths))
    chosen = {name: RUNNERS[name] for name in ("hand", "ours", "ours by JAX", "JAX")}
    row = measured(case, (6,), chosen, seconds=0)
    assert {"case", "n", *chosen} == {*row}


def test_growth_of_times_is_told_as_an_exponent():
    rows = [{"case": "a, Hessian", "n": n, "hand": n**2 * 1e-6, "JAX": 1e-3} for n in (10, 100)]
    text = experiments_text([*rows[:1], {k: v for k, v in rows[1].items() if k != "JAX"}])
    assert "| a, Hessian | 10 | CPU | 0.1 | 1 |" in text
    assert "| a, Hessian | 100 | CPU | 10 |  |" in text
    assert "| a, Hessian | growth | CPU | 2 |  |" in text
    assert "| a, Hessian |  | GPU, not measured |  |  |" in text


def test_plots_show_every_point(tmp_path):
    rows = [{"case": "a < b", "n": n, "hand": n * 1e-3, "ours": n * 2e-3} for n in (10, 100, 1000)]
    draw([*panels(rows), *ratios(ROWS)], tmp_path / "plot.svg")
    root = ElementTree.parse(tmp_path / "plot.svg").getroot()
    circles = root.findall(".//{*}circle")
    assert len(circles) == 6 + 3 + 3 + 1
    across = [float(circle.get("cx")) for circle in circles[:3]]
    assert across[1] - across[0] == pytest.approx(across[2] - across[1], abs=0.2)


def test_numbers_of_tables():
    given = [1.0, 0.12345, 999.4, 999.6, 12345.0, 7, None, "x"]
    assert [shown(value) for value in given] == [
        "1", "0.123", "999", "1,000", "12,300", "7", "", "x",
    ]  # fmt: skip
