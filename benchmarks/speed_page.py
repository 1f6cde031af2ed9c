"""Write the documentation's page on speed and its plot from results.json:
``python -m benchmarks.speed_page``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .contenders import OURS, PEERS
from .plots import Panel, draw
from .report import DRAW, SIZES, Rows, best, geometric_mean, lead
from .tables import shown, table

FOLDER = Path(__file__).parent
PAGE = FOLDER.parent / "docs" / "speed.md"
PLOT = FOLDER / "speed.svg"
START, END = "<!-- from benchmarks/results.json -->\n", "<!-- the end of it -->\n"


def speed_text(results: dict[str, Any]) -> str:
    """Summarise the measurements in sentences, and tabulate the medium sizes."""
    rows = results["evaluation"]
    about = results["machine"]
    libraries = ", ".join(
        f"{library} {about[key]}"
        for key, library in (("numpy", "NumPy"), ("jax", "JAX"), ("torch", "PyTorch"),
                             ("autograd", "autograd"), ("pytensor", "PyTensor"),
                             ("tensorgrad", "tensorgrad"))
        if key in about
    )  # fmt: skip
    names = [n for n in (*OURS, *PEERS) if any(n in row for row in rows)]
    mid = [row for row in rows if row["size"] == "mid" and best(row, PEERS)]
    return "\n\n".join(
        [
            f"Measured on {about['processor']}, threads: {about['threads']}, "
            f"Python {about['python']}, {libraries}; float64.",
            _ours(rows),
            _against_peers(rows),
            table(
                ["medium size", "hand (µs)", *names],
                [[r["case"], r["hand"] * 1e6, *[r.get(name) for name in names]] for r in mid],
            ),
        ]
    )


def _ours(rows: Rows) -> str:
    own = {f"{row['case']}, {row['size']}": row["ours"] for row in rows if row["size"] != "tiny"}
    worst = max(own, key=own.__getitem__)
    return (
        "At medium and large sizes our NumPy code takes "
        f"{geometric_mean([*own.values()]):.2f} times as long as the hand-written program "
        f"(geometric mean of {len(own)}), at most {own[worst]:.2f} times ({worst})."
    )


def _against_peers(rows: Rows) -> str:
    raced = {f"{r['case']}, {r['size']}": ratio for r in rows if (ratio := lead(r)) is not None}
    behind = sorted(((ratio, name) for name, ratio in raced.items() if ratio > DRAW), reverse=True)
    text = (
        f"The best of our backends takes {geometric_mean([*raced.values()]):.2f} times as long as "
        f"the best other library (geometric mean of {len(raced)} cases and sizes) and is "
        f"slower in {len(behind)} of them"
    )
    shown_cases = "; ".join(f"{name} ({shown(ratio)} times)" for ratio, name in behind[:5])
    more = ", and others" if len(behind) > 5 else ""
    return f"{text}: {shown_cases}{more}." if behind else f"{text}."


def speed_panels(rows: Rows) -> list[Panel]:
    """Plot for each size the best of ours and the best peer of every case, slowest peers last."""
    panels = []
    for size in SIZES:
        raced = sorted(
            (row[peer], row[own])
            for row in rows
            if row["size"] == size and (own := best(row, OURS)) and (peer := best(row, PEERS))
        )
        lines = {
            "the best of ours": [(k, own) for k, (_, own) in enumerate(raced)],
            "the best of the other libraries": [(k, peer) for k, (peer, _) in enumerate(raced)],
        }
        title = f"{size}: time / hand-written, {len(raced)} cases"
        panels.append(Panel(title, lines, [""] * len(raced)))
    return panels


def with_speed(text: str, results: dict[str, Any]) -> str:
    """Replace the generated part of a page."""
    before, rest = text.split(START)
    _, after = rest.split(END)
    return f"{before}{START}\n{speed_text(results)}\n\n{END}{after}"


def main() -> None:
    """Write the page's figures and the plot."""
    results = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
    PAGE.write_text(with_speed(PAGE.read_text(encoding="utf-8"), results), encoding="utf-8")
    draw(speed_panels(results["evaluation"]), PLOT)


if __name__ == "__main__":
    main()
