"""All measurements in one run: ``python -m benchmarks``; ``--help`` lists the options."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from . import building, evaluation, memory, report
from .contenders import CONTENDERS


def main() -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--parts", default="evaluation,building,memory")
    parser.add_argument("--sizes", default="tiny,mid,large")
    parser.add_argument("--contenders", default=",".join(CONTENDERS).replace("ours, no", "ours no"))
    parser.add_argument("--seconds", type=float, default=1.5, help="for each case and size")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    options = parser.parse_args()
    names = options.contenders.replace("ours no", "ours, no")
    chosen = [name for name in CONTENDERS if name in names]
    results: dict[str, list[dict[str, Any]]] = {}
    for part in options.parts.split(","):
        if part == "evaluation":
            sizes = options.sizes.split(",")
            results[part] = evaluation.run(sizes, chosen, options.only, options.seconds)
        elif part == "building":
            results[part] = building.run()
        else:
            results[part] = memory.run(only=options.only)
    report.write(results, options.out)


if __name__ == "__main__":
    main()
