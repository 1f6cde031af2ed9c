"""Every problem of the benchmarks: the result equals that of the hand-written program."""

from __future__ import annotations

import json
import re
from math import prod
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from sympy import Integer

import sympy_einsum as se
from benchmarks.cases import CASES
from benchmarks.contenders import CONTENDERS, Contender, flat, hand, ours
from benchmarks.curvature import CURVATURE
from benchmarks.evaluation import calls_of
from benchmarks.experiments import EXPERIMENTS, RUNNERS, experiments_text, measured, panels
from benchmarks.memory import peak
from benchmarks.plots import draw
from benchmarks.positions import POSITIONS
from benchmarks.report import evaluation_text, geometric_mean, merged, ratios, results_text
from benchmarks.running import RUNNING
from benchmarks.sensitivity import RESULTS as SENSITIVITY, constants
from benchmarks.sparse import cases as sparse_cases, step_calls
from benchmarks.tables import shown
from benchmarks.windows import WINDOWS
from sympy_einsum.compiler.ir.instructions import OPS
from sympy_einsum.compiler.program import Compilation, Request
from sympy_einsum.core import tuning


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_values(case):
    data = case.data(*case.sizes["tiny"])
    found, expected = flat(ours(case, data)()), flat(hand(case, data)())
    assert len(found) == len(expected)
    for result, value in zip(found, expected, strict=True):
        np.testing.assert_allclose(result, value, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("case", sparse_cases(30), ids=lambda case: case.name)
def test_sparse_derivatives(case):
    function = se.lambdify(case.arguments, case.build(), sparse=True)
    every = function(*case.values), case.by_hand(), case.with_pattern()
    for found, *others in zip(*every, strict=True):
        for expected in others:
            np.testing.assert_array_equal(found.indptr, expected.indptr)
            np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-9, atol=1e-9)


def test_a_step_by_the_schur_complement_takes_little_memory():
    calls = step_calls(sparse_cases(5000)[0])
    expected = calls["by hand"]()
    np.testing.assert_allclose(calls["ours"](), expected, atol=1e-9 * np.abs(expected).max())
    assert peak(calls["ours"]) < 0.6 * peak(calls["by hand"])


WITH_POSITIONS = [*POSITIONS, *CURVATURE, *RUNNING, *WINDOWS]


# What keeps more: of a model in steps the matrix of each, for the way back, and the first and last
# steps beside those that are a loop; a few more maps of the size of images; an array of all
# differences of pairs, where hand-written code has a loop over the centres: products in their place
# would cancel.
MORE = {
    "hidden Markov model, Hessian": 10,
    "recurrent network over rows, Hessian": 10,
    "recurrent network over rows, value and gradients": 1,
    "convolution of images, value and gradients": 3,
    "k-means by differences, value and gradient": 20,
}


@pytest.mark.parametrize("case", WITH_POSITIONS, ids=lambda case: case.name)
def test_nothing_is_built_that_hand_written_code_does_without(case):
    """The peak memory of a call, with two temporary arrays to spare."""
    data = case.data(*case.sizes["mid"])
    spare = max(np.asarray(value).nbytes for value in data)
    limit = 1.1 * peak(hand(case, data)) + (2 + MORE.get(case.name, 0)) * spare + 2000
    assert peak(ours(case, data)) <= limit


@pytest.mark.parametrize(
    "case",
    [case for case in WITH_POSITIONS if "differences" not in case.name],
    ids=lambda case: case.name,
)
def test_no_array_is_larger_than_inputs_outputs_and_hand_written_ones(case):
    arguments, exprs = case.build()
    data = case.data(*case.sizes["mid"])
    lengths = {
        length: Integer(given)
        for symbol, value in zip(arguments, data, strict=True)
        for length, given in zip(symbol.shape, np.shape(value), strict=True)
        if length.is_Symbol
    }
    plan = Compilation(Request(arguments, exprs)).plan()
    sizes = [prod([n.xreplace(lengths) for n in step.shape]) for step in plan.instructions]
    kept = {*plan.results, *[k for k, s in enumerate(plan.instructions) if s.op == "argument"]}
    limit = max([peak(hand(case, data)) // 8, *[sizes[k] for k in kept]])
    views = {k for k, step in enumerate(plan.instructions) if OPS[step.op].is_view}
    assert max([size for k, size in enumerate(sizes) if k not in views], default=0) <= limit


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


def test_wrong_results_are_reported_and_not_timed(monkeypatch):
    case = next(case for case in CASES if case.name == "quadratic, Hessian")
    broken = Contender(lambda case, data: lambda: np.zeros((5, 5)))
    monkeypatch.setitem(CONTENDERS, "broken", broken)
    calls, slow, failed = calls_of(case, case.data(5), ["hand", "ours", "broken"])
    assert (set(calls), slow, set(failed)) == ({"hand", "ours"}, {}, {"broken"})
    assert "differs from the hand-written result" in failed["broken"]
    row = ROWS[0] | {"failed": failed}
    assert "- a, mid, broken: AssertionError: it differs" in evaluation_text([row])


def test_large_hessians_are_for_few():
    case = next(case for case in CASES if case.name == "quadratic, Hessian")
    small, large, huge = ([np.zeros(0), np.zeros(size)] for size in (100, 2000, 4000))
    assert CONTENDERS["PyTorch"].takes(case, small)
    assert not CONTENDERS["PyTorch"].takes(case, large)
    assert CONTENDERS["JAX"].takes(case, large)
    assert not CONTENDERS["JAX"].takes(case, huge)
    assert CONTENDERS["ours"].takes(case, huge)


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


def test_growth_of_times_is_an_exponent():
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


def test_the_effect_of_each_tuning_constant_is_measured():
    """Another value, or a new constant, needs a new measurement of its row."""
    rows = re.findall(r"^\| `(\w+)` \| (\S+) \|", SENSITIVITY.read_text("utf-8"), re.MULTILINE)
    assert rows == [(name, str(getattr(tuning, name))) for name in constants()]
