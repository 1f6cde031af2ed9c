"""The results as Markdown, JSON and plots."""

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
from .contenders import PEERS

PACKAGES = ["numpy", "sympy", "opt_einsum", "jax", "torch", "autograd"]


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    } | versions


def geometric_mean(values: Sequence[float]) -> float:
    """The mean of ratios."""
    return exp(sum(map(log, values)) / len(values))


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def evaluation_text(rows: list[dict[str, Any]]) -> str:
    """The ratios, and what they come to."""
    names = [name for name in ("ours", "ours, no checks", *PEERS) if any(name in r for r in rows)]
    header = ["case", "size", "hand (µs)", *names]
    body = [[r["case"], r["size"], r["hand"] * 1e6, *[r.get(name) for name in names]] for r in rows]
    parts = [table(header, body)]
    for size in dict.fromkeys(row["size"] for row in rows):
        own = [row for row in rows if row["size"] == size]
        for name in ("ours", "ours, no checks"):
            ratios = [row[name] for row in own if name in row]
            if ratios:
                parts.append(
                    f"{size}, {name}: geometric mean {geometric_mean(ratios):.2f}, "
                    f"worst {max(ratios):.2f}"
                )
        raced = [row for row in own if any(peer in row for peer in PEERS)]
        lost = [
            row["case"]
            for row in raced
            if row["ours"] > 1.05 * min(row[peer] for peer in PEERS if peer in row)
        ]
        if raced:
            parts.append(
                f"{size}: the best peer is faster in {len(lost)} of {len(raced)}"
                + (f" ({'; '.join(lost)})" if lost else "")
            )
    return "\n\n".join(parts)


def building_text(rows: list[dict[str, Any]]) -> str:
    """Milliseconds and growth exponents."""
    header = ["graph", "count", "gradient, unsimplified", "gradient", "code", "JAX trace"]
    header.append("JAX lower and compile")
    keys = ["graph", "count", "unsimplified", "build", "generate", "jax trace", "jax compile"]
    parts = [table(header, [[row[key] for key in keys] for row in rows])]
    for graph in dict.fromkeys(row["graph"] for row in rows):
        found = {key: exponent(rows, graph, key) for key in ("unsimplified", "build", "generate")}
        shown = ", ".join(f"{key} {value:.2f}" for key, value in found.items() if value)
        parts.append(f"Growth exponents, {graph}: {shown}")
    return "\n\n".join(parts)


def memory_text(rows: list[dict[str, Any]]) -> str:
    """Megabytes and ratios."""
    return table(
        ["case, large", "hand (MB)", "ours / hand"],
        [[row["case"], row["hand"] / 1e6, row["ours"]] for row in rows],
    )


SECTIONS = {
    "evaluation": ("Evaluation: time as a ratio to hand-written NumPy", evaluation_text),
    "building": ("Building the gradient and its code: milliseconds", building_text),
    "memory": ("Peak memory of a call", memory_text),
}


def write(results: dict[str, list[dict[str, Any]]], folder: Path) -> None:
    """results.json, results.md and the plots."""
    folder.mkdir(parents=True, exist_ok=True)
    about = machine()
    text = ["# Benchmark results", ", ".join(f"{k} {v}" for k, v in about.items())]
    for key, rows in results.items():
        title, render = SECTIONS[key]
        text += [f"## {title}", render(rows)]
    (folder / "results.md").write_text("\n\n".join(text) + "\n", encoding="utf-8")
    stored = json.dumps({"machine": about, **results}, indent=1)
    (folder / "results.json").write_text(stored + "\n", encoding="utf-8")
    if "evaluation" in results:
        plot(results["evaluation"], folder / "evaluation.svg")


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    """Ratios over size, a panel for each case; left out without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("no plot: matplotlib is not installed")
        return
    cases = list(dict.fromkeys(row["case"] for row in rows))
    columns = 4
    figure = Figure(figsize=(4 * columns, 2.6 * -(-len(cases) // columns)), layout="constrained")
    for number, case in enumerate(cases):
        axes = figure.add_subplot(-(-len(cases) // columns), columns, number + 1)
        own = [row for row in rows if row["case"] == case]
        for name in ("ours", *PEERS):
            points = [(row["size"], row[name]) for row in own if name in row]
            if points:
                axes.plot(*zip(*points, strict=True), marker="o", label=name)
        axes.axhline(1, color="grey", linewidth=0.8)
        axes.set_yscale("log")
        axes.set_title(case, fontsize=9)
        axes.legend(fontsize=7)
    figure.savefig(path, metadata={"Date": None})
