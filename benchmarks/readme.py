"""README's part on speed, made of results.json: ``python -m benchmarks.readme`` writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .contenders import OURS, PEERS
from .report import DRAW, Rows, best, geometric_mean, lead
from .tables import shown, table

FOLDER = Path(__file__).parent
README = FOLDER.parent / "README.md"
START, END = "<!-- from benchmarks/results.json -->\n", "<!-- the end of it -->\n"


def speed_text(results: dict[str, Any]) -> str:
    """What was measured, in sentences and for the medium sizes as a table."""
    rows = results["evaluation"]
    about = results["machine"]
    libraries = ", ".join(
        f"{library} {about[key]}"
        for key, library in (("numpy", "NumPy"), ("jax", "JAX"), ("torch", "PyTorch"),
                             ("autograd", "autograd"), ("pytensor", "PyTensor"))
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
        f"From medium size on NumPy code of ours takes {geometric_mean([*own.values()]):.2f} times "
        f"as long as the hand-written program (geometric mean of {len(own)}), at most "
        f"{own[worst]:.2f} ({worst})."
    )


def _against_peers(rows: Rows) -> str:
    raced = {f"{r['case']}, {r['size']}": ratio for r in rows if (ratio := lead(r)) is not None}
    behind = sorted(((ratio, name) for name, ratio in raced.items() if ratio > DRAW), reverse=True)
    text = (
        f"The best of our backends takes {geometric_mean([*raced.values()]):.2f} times as long as "
        f"the best of the other libraries (geometric mean of {len(raced)} cases and sizes) and is "
        f"behind in {len(behind)}"
    )
    shown_cases = "; ".join(f"{name} {shown(ratio)}" for ratio, name in behind[:5])
    return f"{text}, most of all in {shown_cases}." if behind else f"{text}."


def with_speed(text: str, results: dict[str, Any]) -> str:
    """A text with its part on speed made anew."""
    before, rest = text.split(START)
    _, after = rest.split(END)
    return f"{before}{START}\n{speed_text(results)}\n\n{END}{after}"


def main() -> None:
    """Write README's part on speed."""
    results = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
    README.write_text(with_speed(README.read_text(encoding="utf-8"), results), encoding="utf-8")


if __name__ == "__main__":
    main()
