"""Store results as JSON, merging those of later runs, and report them as Markdown and plots."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from math import exp, log
from pathlib import Path
from typing import Any

from .building import exponent
from .contenders import CONTENDERS, OURS, PEERS
from .experiments import experiments_text, panels
from .plots import Panel, draw
from .tables import shown, table

Rows = list[dict[str, Any]]
PACKAGES = (
    "numpy", "scipy", "sympy", "opt_einsum", "jax", "torch", "autograd", "pytensor", "tensorgrad",
    "numba",
)  # fmt: skip
SIZES = ("tiny", "mid", "large")
# Ratios closer to 1 are a draw.
DRAW = 1.05


def machine() -> dict[str, Any]:
    """Describe the machine and the versions."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    about = {"processor": model, "threads": int(os.environ.get("OMP_NUM_THREADS", cores or 1))}
    about |= {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            about[name] = version(name)
        except PackageNotFoundError:
            continue
    return about


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of ratios."""
    return exp(sum(map(log, values)) / len(values))


def evaluation_text(rows: Rows) -> str:
    """Compare the best of ours with the best peer, then list all ratios."""
    names = [name for name in CONTENDERS if name != "hand" and any(name in row for row in rows)]
    header = ["case", "size", "hand (µs)", *names]
    body = [[r["case"], r["size"], r["hand"] * 1e6, *[r.get(name) for name in names]] for r in rows]
    parts = [best_text(rows), "### Every contender: time / hand-written NumPy"]
    for size in dict.fromkeys(row["size"] for row in rows):
        for name in ("ours", "ours, no checks"):
            ratios = [row[name] for row in rows if row["size"] == size and name in row]
            if ratios:
                mean = geometric_mean(ratios)
                parts.append(f"{size}, {name}: geometric mean {mean:.2f}, worst {max(ratios):.2f}")
    failed = [
        f"{row['case']}, {row['size']}, {name}: {why}"
        for row in rows
        for name, why in row.get("failed", {}).items()
    ]
    told = ["Not timed:", "\n".join(f"- {line}" for line in failed)] if failed else []
    return "\n\n".join([*parts, table(header, body), *told])


def best(row: dict[str, Any], names: Sequence[str]) -> str | None:
    """Return the fastest of some contenders."""
    return min((name for name in names if name in row), key=row.__getitem__, default=None)


def lead(row: dict[str, Any]) -> float | None:
    """Return the time of the best of ours over that of the best peer."""
    own, peer = best(row, OURS), best(row, PEERS)
    return None if own is None or peer is None else row[own] / row[peer]


def best_text(rows: Rows) -> str:
    """Tabulate the best of ours over the best peer for each case, and count who is ahead."""
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        ratio = lead(row)
        if ratio is not None:
            cell = f"{shown(ratio)} ({best(row, OURS)} / {best(row, PEERS)})"
            found.setdefault(row["case"], {})[row["size"]] = cell
    body = [[case, *[cells.get(size) for size in SIZES]] for case, cells in found.items()]
    parts = ["### Best of ours / best peer", table(["case", *SIZES], body)]
    for size in SIZES:
        raced = {r["case"]: ratio for r in rows if r["size"] == size and (ratio := lead(r))}
        if raced:
            lost = [f"{case} {shown(ratio)}" for case, ratio in raced.items() if ratio > DRAW]
            parts.append(
                f"{size}: geometric mean {geometric_mean([*raced.values()]):.2f}; "
                f"the best peer is faster in {len(lost)} of {len(raced)}"
                + (f" ({'; '.join(lost)})" if lost else "")
            )
    return "\n\n".join(parts)


def building_text(rows: Rows) -> str:
    """Tabulate milliseconds and growth exponents."""
    header = ["graph", "count", "gradient, unsimplified", "gradient", "code", "JAX trace"]
    header.append("JAX lower and compile")
    keys = ["graph", "count", "unsimplified", "build", "generate", "jax trace", "jax compile"]
    parts = [table(header, [[row[key] for key in keys] for row in rows])]
    for graph in dict.fromkeys(row["graph"] for row in rows):
        found = {key: exponent(rows, graph, key) for key in ("unsimplified", "build", "generate")}
        text = ", ".join(f"{key} {value:.2f}" for key, value in found.items() if value)
        parts.append(f"Growth exponents, {graph}: {text}")
    return "\n\n".join(parts)


def memory_text(rows: Rows) -> str:
    """Tabulate megabytes and ratios."""
    return table(
        ["case, large", "hand (MB)", "ours / hand"],
        [[row["case"], row["hand"] / 1e6, row["ours"]] for row in rows],
    )


# The title, the text and the key of the rows of each part.
SECTIONS = {
    "evaluation": ("Evaluation", evaluation_text, ("case", "size")),
    "experiments": ("The three problems of 2018, growing", experiments_text, ("case", "n")),
    "building": ("Building the gradient and its code: milliseconds", building_text,
                 ("graph", "count")),
    "memory": ("Peak memory of a call", memory_text, ("case",)),
}  # fmt: skip


def merged(stored: dict[str, Any], measured: dict[str, Any]) -> dict[str, Any]:
    """Merge measurements into stored results; a row keeps contenders that weren't measured again.

    Raises
    ======

    ValueError : they are from different machines or libraries
    """
    about = measured["machine"]
    unlike = {k: v for k, v in stored["machine"].items() if k in about and about[k] != v}
    if unlike:
        raise ValueError(f"the stored results have {unlike}; measure all with --fresh")
    result: dict[str, Any] = {"machine": stored["machine"] | about}
    for part, (_, _, keys) in SECTIONS.items():
        rows: dict[Any, Any] = {}
        for row in stored.get(part, []) + measured.get(part, []):
            key = tuple(row[name] for name in keys)
            rows[key] = rows.get(key, {}) | row
        if rows:
            result[part] = [*rows.values()]
    return result


def results_text(results: dict[str, Any]) -> str:
    """Format all results as Markdown."""
    text = ["# Benchmark results", ", ".join(f"{k} {v}" for k, v in results["machine"].items())]
    for part, (title, render, _) in SECTIONS.items():
        if part in results:
            text += [f"## {title}", render(results[part])]
    return "\n\n".join(text) + "\n"


def write(measured: dict[str, Rows], folder: Path, fresh: bool = False) -> None:
    """Write results.json, merged with its old content unless ``fresh``, results.md and plots."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "results.json"
    results: dict[str, Any] = {"machine": machine(), **measured}
    if path.exists() and not fresh:
        results = merged(json.loads(path.read_text(encoding="utf-8")), results)
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (folder / "results.md").write_text(results_text(results), encoding="utf-8")
    if "evaluation" in results:
        draw(ratios(results["evaluation"]), folder / "evaluation.svg")
    if "experiments" in results:
        draw(panels(results["experiments"]), folder / "experiments.svg")


def ratios(rows: Rows) -> list[Panel]:
    """Plot ratios over size, a panel for each case."""
    found = []
    for case in dict.fromkeys(row["case"] for row in rows):
        own = [row for row in rows if row["case"] == case]
        lines = {
            name: [(SIZES.index(row["size"]), row[name]) for row in own if name in row]
            for name in CONTENDERS
            if name not in ("hand", "ours, no checks")
        }
        found.append(Panel(case, {name: line for name, line in lines.items() if line}, SIZES))
    return found
