"""Repeat the experiments of Laue, Mitterreiter and Giesen (NeurIPS 2018, section 4): three
problems, value with gradient and Hessian, over growing lengths.

The paper measured TensorFlow 1.10, PyTorch 0.4, Theano 1.0 and autograd 1.2; PyTensor is
Theano's successor. A contender that exceeds the time limit skips larger problems.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from math import log
from typing import Any

import numpy as np

from .case import Case, normal
from .cases import CASES
from .contenders import CONTENDERS, Contender, by_pytensor, flat
from .evaluation import check
from .plots import Panel
from .tables import shown, table
from .timing import interleaved, timed

RANK = 5
# Time limit of a call in seconds.
LONGEST = 0.1
RUNNERS = {name: CONTENDERS[name] for name in CONTENDERS if name != "ours, no checks"} | {
    "PyTensor in C": Contender(partial(by_pytensor, mode="CVM"), "pytensor", is_peer=True)
}


def logistic_data(n: int) -> list[Any]:
    X, y, w = normal((2 * n, n), (2 * n,), (n,))
    return [X, np.sign(y), w / n]


PROBLEMS: dict[str, tuple[Callable[[int], list[Any]], tuple[int, ...]]] = {
    "quadratic": (lambda n: normal((n, n), (n,)), (10, 30, 100, 300, 1000, 3000)),
    "logistic": (logistic_data, (10, 30, 100, 300, 1000)),
    "factorization": (lambda n: normal((n, n), (n, RANK), (n, RANK)), (10, 30, 100, 300)),
}
EXPERIMENTS = [
    replace(case, data=data, sizes={str(n): (n,) for n in lengths})
    for what in ("value and gradient", "Hessian")
    for problem, (data, lengths) in PROBLEMS.items()
    for case in CASES
    if case.name == f"{problem}, {what}"
]


def run(
    contenders: Collection[str], only: Collection[str] = ("",), seconds: float = 0.7
) -> list[dict[str, Any]]:
    """Return a row for each problem and length: the seconds of a call."""
    rows = []
    for case in filter(lambda case: case.is_among(only), EXPERIMENTS):
        chosen = {k: v for k, v in RUNNERS.items() if k in contenders and v.is_installed}
        for sizes in case.sizes.values():
            row = measured(case, sizes, chosen, seconds)
            rows.append(row)
            print(row, flush=True)
            chosen = {k: v for k, v in chosen.items() if k == "hand" or row[k] < LONGEST}
    return rows


def measured(
    case: Case, sizes: tuple[int, ...], chosen: dict[str, Contender], seconds: float
) -> dict[str, Any]:
    """Measure one row, after comparing the results."""
    data = case.data(*sizes)
    calls, slow = {}, {}
    expected = flat(case.hand(*data))
    for name, contender in chosen.items():
        call = contender.make(case, data)
        check(flat(call()), expected)
        once = timed(call, 1)
        if once < LONGEST:
            calls[name] = call
        else:
            slow[name] = once
    return {"case": case.name, "n": sizes[0]} | interleaved(calls, seconds) | slow


def exponent(rows: list[dict[str, Any]], name: str) -> float | None:
    """Return the growth exponent between the two largest lengths of a contender."""
    found = [(row["n"], row[name]) for row in rows if name in row][-2:]
    if len(found) < 2:
        return None
    (a, s), (b, t) = found
    return log(t / s) / log(b / a)


def experiments_text(rows: list[dict[str, Any]]) -> str:
    """Format milliseconds, growth exponents, and what wasn't measured."""
    names = [name for name in RUNNERS if any(name in row for row in rows)]
    body: list[list[Any]] = []
    for case in dict.fromkeys(row["case"] for row in rows):
        own = [row for row in rows if row["case"] == case]
        for row in own:
            times = [row[name] * 1e3 if name in row else None for name in names]
            body.append([case, row["n"], "CPU", *times])
        body.append([case, "growth", "CPU", *[exponent(own, name) for name in names]])
        body.append([case, "", "GPU, not measured", *[None] * len(names)])
    return "\n\n".join(
        [
            "Milliseconds of a call, and the exponent of n by which they grow between the two "
            f"largest lengths. m = 2n examples, rank {RANK}. Left out: what took more than "
            f"{shown(LONGEST * 1e3)} ms at the length before.",
            table(["problem", "n", "device", *names], body),
        ]
    )


def panels(rows: list[dict[str, Any]]) -> list[Panel]:
    """Plot time in ms over n, a panel for each problem."""
    found = []
    for case in dict.fromkeys(row["case"] for row in rows):
        own = [row for row in rows if row["case"] == case]
        lines = {
            name: [(row["n"], row[name] * 1e3) for row in own if name in row] for name in RUNNERS
        }
        kept = {name: line for name, line in lines.items() if line}
        found.append(Panel(f"{case}: ms over n", kept))
    return found
