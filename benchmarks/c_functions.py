"""Measure functions of C against Numba's kernels, which have the same loop nests."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sympy_einsum as se

from .case import Case
from .cases import CASES
from .loops import LOOPS
from .timing import interleaved

RESULTS = Path(__file__).with_name("results-c.md")
FLAGS = ["-O3", "-march=native", "-std=c99", "-fno-math-errno", "-fno-trapping-math"]
FLAGS += ["-fopenmp-simd", "-DUSE_SIMD", "-ffp-contract=fast"]


def flat(values: Any) -> list[Any]:
    """Return the leaves of a nested list."""
    if isinstance(values, (list, tuple)):
        return [leaf for part in values for leaf in flat(part)]
    return [values]


def compiled(text: str, folder: Path) -> Any:
    """Return the function of a translation unit."""
    (folder / "unit.c").write_text(text, encoding="utf-8")
    shared = folder / "unit.so"
    subprocess.run(
        ["gcc", *FLAGS, "-shared", "-fPIC", "-o", shared, folder / "unit.c", "-lm"], check=True
    )
    return ctypes.CDLL(str(shared)).function


def call_of(
    text: str, folder: Path, symbols: list[Any], data: list[Any], like: list[Any]
) -> tuple[Callable[[], int], list[np.ndarray]]:
    """Return a call of C's function on arrays, and its results."""
    lengths: dict[str, int] = {}
    for symbol, value in zip(symbols, data, strict=True):
        for length, count in zip(getattr(symbol, "shape", ()), np.shape(value), strict=True):
            lengths.setdefault(str(length), count)
    prototype = text[text.index("int function(") :].partition(");")[0].partition("(")[2]
    parameters = prototype.split(", ")
    count = len(parameters) - len(data) - len(like)
    given: list[Any] = [
        ctypes.c_int64(lengths[parameter.split()[-1]]) for parameter in parameters[:count]
    ]
    results = [np.empty(np.shape(own), np.result_type(own)) for own in like]
    arrays = [np.ascontiguousarray(value) if np.ndim(value) else value for value in data]
    for own in [*arrays, *results]:
        is_array = isinstance(own, np.ndarray)
        given.append(ctypes.c_void_p(own.ctypes.data) if is_array else ctypes.c_double(own))
    function = compiled(text, folder)

    def call(kept: object = arrays) -> int:
        return int(function(*given))

    return call, results


def measured(case: Case, size: str) -> dict[str, float]:
    """Return the durations by C and by Numba, after a comparison of their results."""
    symbols, exprs = case.build()
    data = [*case.data(*case.sizes[size])]
    text = se.codegen(symbols, exprs, language="c")
    by_numba = se.lambdify(symbols, exprs, "numba", check=False)
    expected = flat(by_numba(*data))
    with tempfile.TemporaryDirectory() as folder:
        call, found = call_of(text, Path(folder), symbols, data, expected)
        if call():
            raise ValueError(f"{case.name}: an error code")
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6 * np.abs(other).max())
        return interleaved({"C": call, "Numba": lambda: by_numba(*data)}, 0.3, 30)


def main(wanted: list[str]) -> None:
    """Measure cases, those with some text in their names or all, and write the table."""
    lines = [
        "# Functions of C, compared with Numba",
        "",
        f"{platform.processor() or platform.machine()}, one thread, `gcc {' '.join(FLAGS)}`. "
        "Products and factors of matrices are C loops here, and OpenBLAS's with Numba.",
        "",
        "| case | size | C, µs | Numba, µs | C / Numba |",
        "| --- | --- | --- | --- | --- |",
    ]
    refused = []
    for case in [*CASES, *LOOPS]:
        if case.semiring or (wanted and not case.is_among(wanted)):
            continue
        try:
            found = measured(case, "mid")
        except se.UnsupportedError as error:
            refused.append(f"- {case.name}: {error}")
            continue
        c, numba = [1e6 * found[name] for name in ("C", "Numba")]
        sizes = " × ".join(map(str, case.sizes["mid"]))
        lines.append(f"| {case.name} | {sizes} | {c:.1f} | {numba:.1f} | {c / numba:.2f} |")
        print(lines[-1], flush=True)
    lines += ["", "Refused:", "", *refused] if refused else []
    if not wanted:
        RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(refused))


if __name__ == "__main__":
    main(sys.argv[1:])
