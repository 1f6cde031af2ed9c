"""Measure functions of C and Fortran against Numba's kernels, which have the same loop nests."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sys
import tempfile
import time
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
FLAGS = ["-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd"]
FLAGS += ["-ffp-contract=fast"]
COMPILERS = {
    "c": ["gcc", "-std=c99", "-DUSE_SIMD", *FLAGS],
    "fortran": ["gfortran", "-std=f2008", *FLAGS],
}
ENDINGS = {"c": "c", "fortran": "f90"}


def flat(values: Any) -> list[Any]:
    """Return the leaves of a nested list."""
    if isinstance(values, (list, tuple)):
        return [leaf for part in values for leaf in flat(part)]
    return [values]


def compiled(text: str, language: str, folder: Path) -> Any:
    """Return the function of a translation unit."""
    source, shared = folder / f"unit.{ENDINGS[language]}", folder / f"{language}.so"
    source.write_text(text, encoding="utf-8")
    command = [*COMPILERS[language], "-shared", "-fPIC", "-o", shared, source, "-lm"]
    subprocess.run(command, check=True, cwd=folder)
    return ctypes.CDLL(str(shared)).measured


def call_of(
    text: str,
    language: str,
    folder: Path,
    symbols: list[Any],
    data: list[Any],
    like: list[Any],
) -> tuple[Callable[[], int], list[np.ndarray]]:
    """Return a call of a function on arrays, which returns its error code, and its results."""
    lengths: dict[str, int] = {}
    for symbol, value in zip(symbols, data, strict=True):
        for length, count in zip(getattr(symbol, "shape", ()), np.shape(value), strict=True):
            lengths.setdefault(str(length), count)
    prototype = text[text.index("measured(") :].partition(")")[0].partition("(")[2]
    parameters = prototype.replace("!", " ").split(",")
    error = ctypes.c_int()
    after = [ctypes.byref(error)] if language == "fortran" else []
    count = len(parameters) - len(data) - len(like) - len(after)
    # Names may differ from those of the lengths, but not their order.
    inferred = [*lengths.values()]
    given: list[Any] = [
        ctypes.c_int64(lengths.get(parameter.split()[-1], inferred[k % len(inferred)]))
        for k, parameter in enumerate(parameters[:count])
    ]
    results = [np.empty(np.shape(own), np.result_type(own)) for own in like]
    arrays = [np.ascontiguousarray(value) if np.ndim(value) else value for value in data]
    for own in [*arrays, *results]:
        is_array = isinstance(own, np.ndarray)
        given.append(ctypes.c_void_p(own.ctypes.data) if is_array else ctypes.c_double(own))
    function = compiled(text, language, folder)

    def call(kept: object = (arrays, results)) -> int:
        code = int(function(*given, *after))
        return error.value if after else code

    return call, results


def measured(case: Case, size: str) -> dict[str, float]:
    """Return the durations by C, Fortran and Numba, after a comparison of their results."""
    symbols, exprs = case.build()
    data = [*case.data(*case.sizes[size])]
    texts = {own: se.codegen(symbols, exprs, name="measured", language=own) for own in COMPILERS}
    by_numba = se.lambdify(symbols, exprs, "numba", check=False)
    expected = flat(by_numba(*data))
    calls: dict[str, Callable[[], object]] = {"numba": lambda: by_numba(*data)}
    with tempfile.TemporaryDirectory() as folder:
        for language, text in texts.items():
            call, found = call_of(text, language, Path(folder), symbols, data, expected)
            if call():
                raise ValueError(f"{case.name}: an error code of {language}")
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6 * np.abs(other).max())
            calls[language] = call
        # All run in one thread: other processes take no part in its time.
        return interleaved(calls, 0.3, 30, time.process_time)


def main(wanted: list[str]) -> None:
    """Measure cases, those with some text in their names or all, and write the table."""
    lines = [
        "# Functions of C and Fortran, compared with Numba",
        "",
        f"{platform.processor() or platform.machine()}, time of one thread, "
        + ", ".join(f"`{' '.join(command)}`" for command in COMPILERS.values())
        + ". Products and factors of matrices are loops in C and Fortran, and OpenBLAS's with "
        "Numba.",
        "",
        "| case | size | C, µs | Fortran, µs | Numba, µs | C / Numba | Fortran / Numba |",
        "| --- | --- | --- | --- | --- | --- | --- |",
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
        times = [1e6 * found[name] for name in ("c", "fortran", "numba")]
        ratios = [own / times[-1] for own in times[:-1]]
        sizes = " × ".join(map(str, case.sizes["mid"]))
        cells = [*[f"{own:.1f}" for own in times], *[f"{own:.2f}" for own in ratios]]
        lines.append(f"| {' | '.join([case.name, sizes, *cells])} |")
        print(lines[-1], flush=True)
    lines += ["", "Refused:", "", *refused] if refused else []
    if not wanted:
        RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(refused))


if __name__ == "__main__":
    main(sys.argv[1:])
