"""Measure the effect of a quarter and of four times each tuning constant of derivatives and code.

``python -m benchmarks.sensitivity`` writes ``results-tuning.md``, in half an hour on one core. Each
value has a process of its own, since nodes remember analyses. The cases are those of the
benchmarks and the graphs of ``building.py``; results with another value must be the same.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import exp, log
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sympy import Rational

import sympy_einsum as se
from sympy_einsum.core import tuning

from .building import GRAPHS
from .cases import CASES
from .loops import LOOPS
from .tables import table
from .timing import interleaved

RESULTS = Path(__file__).with_name("results-tuning.md")
# The headings in the table of constants whose constants decide about derivatives and their code.
SECTIONS = (
    "the cost model",
    "contraction orders",
    "scalar functions",
    "expressions as they are built",
    "analyses",
    "the normal form",
    "numerically stable forms",
    "derivatives",
    "plans",
    "emitted code",
)
GRAPH_NODES = 60
FACTORS = (0.25, 4)
SECONDS = 0.3
# The longest time for all cases with one value: several times the usual one.
LIMIT = 180


@dataclass
class Compiled:
    """A case compiled with a value of a constant."""

    text: str
    seconds: float
    function: Callable[..., Any]
    data: list[Any]


def constants() -> Iterator[str]:
    """Yield the names of the constants of the sections, in the order of the table."""
    section = ""
    assert tuning.__file__ is not None
    for line in Path(tuning.__file__).read_text(encoding="utf-8").splitlines():
        heading = re.match(r"# --- (.*) -+$", line)
        row = re.match(r"(\w+) = ", line)
        if heading:
            section = heading[1]
        elif row and section in SECTIONS and not isinstance(getattr(tuning, row[1]), tuple):
            yield row[1]


def scaled(value: Any, factor: float) -> Any:
    """Return a value of the same kind; of a ratio above 1 the excess is scaled."""
    if isinstance(value, int):
        return max(1, round(value * factor))
    if isinstance(value, float) and value > 1:
        return 1 + (value - 1) * factor
    return value * (Rational(factor) if isinstance(value, Rational) else factor)


def compiled() -> dict[str, Compiled]:
    """Compile all cases."""
    found = {}
    for case in (*CASES, *LOOPS):
        data = case.data(*case.sizes["mid"])
        found[case.name] = _compiled(case.build, data, case.semiring)
    for name, graph in GRAPHS.items():

        def build(graph: Any = graph) -> tuple[list[Any], Any]:
            arguments, value, wrt = graph(GRAPH_NODES, "")
            return arguments, [value, *se.gradient(value, wrt)]

        found[name] = _compiled(build, [], None)
    return found


def _compiled(
    build: Callable[[], tuple[list[Any], Any]], data: list[Any], semiring: str | None
) -> Compiled:
    start = time.process_time()
    function = se.lambdify(*build(), semiring=semiring)
    text = function.source
    return Compiled(text, time.process_time() - start, function, data)


def compare(name: str, factor: float, texts: dict[str, str], answer: Any) -> None:
    """Send the seconds of compiling each case with another value, and the quotients of the times
    of the code where its text differs."""
    value = getattr(tuning, name)
    setattr(tuning, name, scaled(value, factor))
    others = compiled()
    setattr(tuning, name, value)
    seconds = {own: case.seconds for own, case in others.items()}
    ratios = {}
    changed = [own for own, case in others.items() if case.text != texts[own]]
    if changed:
        usual = compiled()
        for own in changed:
            ratios[own] = _ratio(usual[own], others[own])
    answer.send((seconds, ratios))


def _ratio(usual: Compiled, other: Compiled) -> float | None:
    """Compare two functions in value and time."""
    if not usual.data:
        return None
    pair = {"usual": usual, "other": other}
    calls = {name: lambda case=case: case.function(*case.data) for name, case in pair.items()}
    one, two = (call() for call in calls.values())
    for left, right in zip(_arrays(one), _arrays(two), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-6, atol=1e-8)
    times = interleaved(calls, SECONDS)
    return times["other"] / times["usual"]


def _arrays(result: Any) -> Iterable[Any]:
    return result if isinstance(result, (list, tuple)) else [result]


def measured(name: str, factor: float, usual: dict[str, tuple[str, float]]) -> list[str]:
    """Return the cells for a value of a constant."""
    context = get_context("fork")
    here, there = context.Pipe(duplex=False)
    texts = {own: text for own, (text, _) in usual.items()}
    process = context.Process(target=compare, args=(name, factor, texts, there))
    process.start()
    there.close()
    try:
        if not here.poll(LIMIT):
            process.kill()
            return [f"none within {LIMIT} s", "", ""]
        seconds, ratios = here.recv()
    except EOFError:
        return ["fails", "", ""]
    finally:
        process.join()
    slower = [seconds[own] / before for own, (_, before) in usual.items()]
    compiling = exp(sum(map(log, slower)) / len(slower))
    total = sum(seconds.values()) / sum(before for _, before in usual.values())
    known = [(ratio, own) for own, ratio in ratios.items() if ratio is not None]
    spread = ""
    if known:
        (low, _), (high, case) = min(known), max(known)
        spread = f"{low:.2f}–{high:.2f}" + (f" ({case})" if high > 1.2 else "")
    return [str(len(ratios)), f"{compiling:.2f}, {total:.2f}", spread]


def baseline() -> dict[str, tuple[str, float]]:
    """Return the text of each case and the median time to compile it, each in a new process."""
    context, runs = get_context("fork"), []
    for _ in range(3):
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=_send, args=(there,))
        process.start()
        runs.append(here.recv())
        process.join()
    return {own: (text, median(run[own][1] for run in runs)) for own, (text, _) in runs[0].items()}


def _send(answer: Any) -> None:
    answer.send({own: (case.text, case.seconds) for own, case in compiled().items()})


def main(names: Iterable[str]) -> None:
    """Measure some constants, or all, and write their rows into the table."""
    usual, rows = baseline(), stored()
    for name in names or constants():
        cells = [measured(name, factor, usual) for factor in FACTORS]
        rows[name] = [f"`{name}`", str(getattr(tuning, name)), *cells[0], *cells[1]]
        print(*rows[name], sep=" | ", flush=True)
    header = ["constant", "value"]
    header += [f"{label}: {own}" for label in ("¼", "4×") for own in ("texts", "compile", "run")]
    kept = [rows[name] for name in constants() if name in rows]
    RESULTS.write_text(INTRODUCTION.format(len(usual)) + table(header, kept) + "\n", "utf-8")


def stored() -> dict[str, list[str]]:
    """Return the rows of the stored table by the names of constants."""
    lines = RESULTS.read_text("utf-8").splitlines() if RESULTS.exists() else []
    rows = [line.strip("|").split("|") for line in lines if line.startswith("| `")]
    return {row[0].strip(" `"): [cell.strip() for cell in row] for row in rows}


INTRODUCTION = """# Tuning constants: a quarter and four times each

`python -m benchmarks.sensitivity`, {} cases, NumPy. For each value: the number of cases whose code
differs; the time to derive and compile, as the geometric mean over cases and as the quotient of
the sums; the least and the largest quotient of the times of the code that differs, with the case
if it is above 1.2. Results of all code that differs are equal. Times have about 10 % of noise.

"""


if __name__ == "__main__":
    main(sys.argv[1:])
