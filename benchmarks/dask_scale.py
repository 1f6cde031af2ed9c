"""Measure data larger than memory with Dask: ``python -m benchmarks.dask_scale``.

Two workers with 4 GB of memory each process 20 GB of random numbers, generated chunk by chunk on
demand. Compares ours (``backend="dask"``) with hand-written Dask code, and writes results-dask.md.
``--gigabytes`` and ``--memory`` set other sizes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from time import perf_counter
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster
from sympy import Expr, symbols

import sympy_einsum as se

from .report import machine
from .tables import table

m, n, k = symbols("m n k", integer=True, positive=True)
X = se.TensorSymbol("X", (m, n))
y = se.TensorSymbol("y", (m,))
w, v = se.tensors("w v", n)
U, V, W = se.TensorSymbol("U", (m, k)), se.TensorSymbol("V", (n, k)), se.TensorSymbol("W", (n, k))

LOGISTIC = se.log(1 + se.exp(-y * (X @ w))).sum()
FACTORIZATION = ((X - U @ V.T) ** 2).sum()
GRAM = X.T @ X + se.Delta(n)

CHUNK = 128e6  # bytes


@dataclass(frozen=True)
class Problem:
    """Define a problem: expressions, arguments, the columns of X, and the hand-written program."""

    name: str
    arguments: Sequence[Expr]
    build: Callable[[], Expr | list[Expr]]
    by_hand: Callable[..., Any]
    columns: int


def _sigmoid(z: Any) -> Any:
    return 1 / (1 + da.exp(-z))


def _softplus(z: Any) -> Any:
    return da.maximum(z, 0) + da.log1p(da.exp(-da.absolute(z)))


def logistic_by_hand(X: Any, y: Any, w: Any) -> Any:
    z = -y * (X @ w)
    return _softplus(z).sum(), -(X.T @ (y * _sigmoid(z)))


def logistic_along_by_hand(X: Any, y: Any, w: Any, v: Any) -> Any:
    s = _sigmoid(-y * (X @ w))
    return X.T @ (y**2 * s * (1 - s) * (X @ v))


def logistic_hessian_by_hand(X: Any, y: Any, w: Any) -> Any:
    s = _sigmoid(-y * (X @ w))
    return X.T @ ((y**2 * s * (1 - s))[:, None] * X)


def factorization_by_hand(X: Any, U: Any, V: Any) -> Any:
    E = X - U @ V.T
    return (E**2).sum(), -2 * (E @ V), -2 * (E.T @ U)


def factorization_along_by_hand(X: Any, U: Any, V: Any, W: Any) -> Any:
    return -2 * (X @ W) + 2 * (U @ (W.T @ V)) + 2 * (U @ (V.T @ W))


def ridge_by_hand(X: Any, y: Any) -> Any:
    gram = X.T @ X + da.eye(X.shape[1], chunks=-1)
    logdet = da.map_blocks(
        lambda G: np.linalg.slogdet(G)[1], gram, drop_axis=(0, 1), dtype=gram.dtype
    )
    right = X.T @ y
    return da.blockwise(np.linalg.solve, "i", gram, "ij", right, "j", concatenate=True), logdet


PROBLEMS = [
    Problem("logistic regression, value and gradient", [X, y, w],
            lambda: [LOGISTIC, se.gradient(LOGISTIC, w)], logistic_by_hand, 200),
    Problem("logistic regression, Hessian times vector", [X, y, w, v],
            lambda: se.hvp(LOGISTIC, w, v), logistic_along_by_hand, 200),
    Problem("logistic regression, Hessian", [X, y, w],
            lambda: se.hessian(LOGISTIC, w), logistic_hessian_by_hand, 200),
    Problem("factorization, value and gradients", [X, U, V],
            lambda: [FACTORIZATION, *se.gradient(FACTORIZATION, [U, V])],
            factorization_by_hand, 2000),
    Problem("factorization, mixed Hessian times matrix", [X, U, V, W],
            lambda: se.jvp(se.gradient(FACTORIZATION, U), V, W), factorization_along_by_hand,
            2000),
    Problem("ridge regression by normal equations, and log det", [X, y],
            lambda: [GRAM.inv() @ (X.T @ y), se.logdet(GRAM)], ridge_by_hand, 200),
]  # fmt: skip


def data(problem: Problem, gigabytes: float) -> list[Any]:
    """Make the arguments, chunked along the rows of X, from a fixed seed."""
    lengths = {m: int(gigabytes * 1e9 / 8 / problem.columns), n: problem.columns, k: 10}
    rows = int(CHUNK / 8 / problem.columns)
    random = da.random.default_rng(0)
    return [
        random.random(
            [lengths[length] for length in argument.shape],
            chunks=tuple(rows if length == m else -1 for length in argument.shape),
        )
        / (problem.columns if argument.shape[0] == n else 1)
        for argument in problem.arguments
    ]


def tasks(results: Any) -> int:
    """Count the tasks of a computation before fusion."""
    return len(dask.delayed(results).__dask_graph__())


def measured(problem: Problem, gigabytes: float, client: Client) -> dict[str, Any]:
    """Measure one row: seconds, the peak memory of a worker, tasks per chunk of X."""
    ours = se.lambdify(problem.arguments, problem.build(), "dask")
    row: dict[str, Any] = {"problem": problem.name}
    found = {}
    for name, function in {"ours": ours, "by hand": problem.by_hand}.items():
        arguments = data(problem, gigabytes)
        client.run(_forget_peak)
        start = perf_counter()
        # Sum large results, which need not fit into memory.
        results = [
            value.sum() if value.size > 1e6 else value for value in _listed(function(*arguments))
        ]
        found[name] = dask.compute(*results)
        row[f"{name} (s)"] = perf_counter() - start
        row[f"{name}: largest worker (GB)"] = max(client.run(_peak).values())
    for own, other in zip(found["ours"], found["by hand"], strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-8)
    row["chunks of X"] = arguments[0].npartitions
    row["tasks"], row["tasks by hand"] = tasks(ours(*arguments)), tasks(problem.by_hand(*arguments))
    fewer = tasks(ours(*data(problem, gigabytes / 4)))
    row["growth of tasks"] = log(row["tasks"] / fewer, 4)
    return row


def _listed(results: Any) -> Sequence[Any]:
    return results if isinstance(results, list | tuple) else [results]


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _peak() -> float:
    """Return the peak memory of this process since the reset, in GB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024 / 1e9


def written(rows: Sequence[Mapping[str, Any]], gigabytes: float, memory: str) -> str:
    """Format the page of results."""
    versions = ", ".join(f"{key} {value}" for key, value in machine().items())
    names = list(rows[0])
    parts = [
        "# Data larger than memory, with Dask",
        f"{gigabytes:g} GB in chunks of {CHUNK / 1e6:g} MB, made when they are needed; two workers "
        f"with one thread and {memory} each, none of which was restarted; {versions}, "
        f"dask {dask.__version__}",
        table(names, [[row[name] for name in names] for row in rows]),
    ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dask_scale", description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=20)
    parser.add_argument("--memory", default="4GB", help="of each worker")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("results-dask.md"))
    options = parser.parse_args()
    rows = []
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, memory_limit=options.memory)
    with cluster, Client(cluster) as client:
        workers = client.run(_peak).keys()
        for problem in PROBLEMS:
            rows.append(measured(problem, options.gigabytes, client))
            print(rows[-1], flush=True)
            if client.run(_peak).keys() != workers:
                raise SystemExit(f"a worker was restarted during {problem.name!r}")
    options.out.write_text(written(rows, options.gigabytes, options.memory), encoding="utf-8")


if __name__ == "__main__":
    main()
