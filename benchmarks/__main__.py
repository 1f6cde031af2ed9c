"""Measure, and merge the measurements into the stored results.

``python -m benchmarks --help`` lists the options. With OMP_NUM_THREADS=1 and on one core
(``taskset -c 0``) no library uses more than one thread.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from . import building, evaluation, experiments, memory, report
from .contenders import CONTENDERS

PARTS = tuple(report.SECTIONS)


def main() -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--parts", nargs="*", default=PARTS, choices=PARTS)
    parser.add_argument("--cases", nargs="*", default=[""], help="whose names contain one of these")
    parser.add_argument("--sizes", nargs="*", default=report.SIZES, choices=report.SIZES)
    parser.add_argument("--contenders", nargs="*", default=[], help="hand runs always")
    parser.add_argument("--seconds", type=float, default=0.7, help="for each race")
    parser.add_argument("--fresh", action="store_true", help="forget the stored results")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    options = parser.parse_args()
    runners = options.contenders and ["hand", *options.contenders]
    results: dict[str, list[dict[str, Any]]] = {}
    for part in options.parts:
        if part == "evaluation":
            results[part] = evaluation.run(
                options.sizes, runners or CONTENDERS, options.cases, options.seconds
            )
        elif part == "experiments":
            results[part] = experiments.run(
                runners or experiments.RUNNERS, options.cases, options.seconds
            )
        elif part == "building":
            results[part] = building.run()
        else:
            results[part] = memory.run(options.cases)
    report.write(results, options.out, options.fresh)


if __name__ == "__main__":
    main()
