"""Run the cases on a GPU: ``python -m benchmarks.gpu`` writes results-gpu.md.

Compares ours (``backend="cupy"``) with hand-written CuPy code, JAX jit, torch.func and
torch.compile, in float64 and float32, and counts kernel launches. Without a GPU it prints a message
and stops.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sympy_einsum as se

from . import cases as problems
from .case import Case
from .cases import CASES
from .contenders import installed
from .report import geometric_mean
from .tables import table
from .timing import interleaved

ROWS = ["quadratic", "logistic", "factorization", "CP", "chain", "16-operand"]


def main() -> None:
    """Measure and write the table."""
    try:
        import cupy

        device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    except Exception as error:
        sys.exit(f"no GPU for CuPy ({error}): nothing was measured")
    rows = []
    for case in CASES:
        if not any(case.name.startswith(name) for name in ROWS):
            continue
        for size in ("tiny", "mid", "large"):
            for kind in ("float64", "float32"):
                rows.append(measured(case, size, kind, cupy))
                print(rows[-1], flush=True)
    names = ["case", "size", "type", "hand (µs)", "ours", "jax", "torch", "torch.compile"]
    names += ["kernels by hand", "kernels of ours"]
    ratios = [row["ours"] for row in rows if row["size"] != "tiny"]
    text = [
        f"# Benchmark results on {device}",
        table(names, [[r.get(k) for k in names] for r in rows]),
    ]
    text.append(f"ours / hand from mid up: geometric mean {geometric_mean(ratios):.2f}")
    Path(__file__).with_name("results-gpu.md").write_text(
        "\n\n".join(text) + "\n", encoding="utf-8"
    )


def measured(case: Case, size: str, kind: str, cupy: Any) -> dict[str, Any]:
    """Measure one row: all contenders in turn, each followed by a synchronisation."""
    data = [np.asarray(value, kind) for value in case.data(*case.sizes[size])]
    arrays = [cupy.asarray(value) for value in data]
    arguments, exprs = case.build()
    function = se.lambdify(arguments, exprs, "cupy", check=False)
    hand = on_device(case, cupy)
    calls: dict[str, Callable[[], Any]] = {
        "hand": lambda: hand(*arrays),
        "ours": lambda: function(*arrays),
    }
    row: dict[str, Any] = {"case": case.name, "size": size, "type": kind}
    row["kernels by hand"], row["kernels of ours"] = [launches(calls[k]) for k in calls]
    wait = cupy.cuda.get_current_stream().synchronize
    timed = {name: synchronised(call, wait) for name, call in calls.items()}
    timed |= peers(case, data)
    medians = interleaved(timed)
    base = medians.pop("hand")
    return row | {"hand (µs)": base * 1e6} | {name: s / base for name, s in medians.items()}


def synchronised(call: Callable[[], Any], wait: Callable[[], Any]) -> Callable[[], Any]:
    """Wrap a call to wait for the device."""

    def run() -> None:
        call()
        wait()

    return run


def on_device(case: Case, cupy: Any) -> Callable[..., Any]:
    """Return the hand-written program with NumPy replaced by CuPy."""

    def run(*arrays: Any) -> Any:
        numpy, problems.np = problems.np, cupy
        try:
            return case.hand(*arrays)
        finally:
            problems.np = numpy

    return run


def launches(call: Callable[[], Any]) -> int | None:
    """Count the kernels that a call launches, by torch's profiler, which sees all libraries."""
    if not installed("torch"):
        return None
    import torch
    from torch.profiler import ProfilerActivity, profile

    call()
    with profile(activities=[ProfilerActivity.CUDA]) as found:
        call()
        torch.cuda.synchronize()
    return sum(1 for event in found.events() if "memcpy" not in event.name.lower())


def peers(case: Case, data: list[Any]) -> dict[str, Callable[[], Any]]:
    """Return the calls of JAX and PyTorch on the device."""
    calls: dict[str, Callable[[], Any]] = {}
    if case.plain is None:
        return calls
    if installed("jax"):
        import jax

        jax.config.update("jax_enable_x64", True)
        arrays = [jax.device_put(value) for value in data]

        def by_jax(*values: Any) -> Any:
            return case.plain(jax.numpy, *values)

        first = jax.value_and_grad(by_jax, case.wrt)
        function = jax.jit(first if case.order == 1 else jax.hessian(by_jax, case.wrt))
        calls["jax"] = lambda: jax.block_until_ready(function(*arrays))
    if installed("torch"):
        import torch

        tensors = [torch.from_numpy(np.array(value)).cuda() for value in data]

        def by_torch(*values: Any) -> Any:
            return case.plain(torch, *values)

        once = torch.func.grad_and_value(by_torch, case.wrt)
        eager = once if case.order == 1 else torch.func.hessian(by_torch, case.wrt)
        wait = torch.cuda.synchronize
        calls["torch"] = synchronised(lambda: eager(*tensors), wait)
        compiled = torch.compile(eager)
        calls["torch.compile"] = synchronised(lambda: compiled(*tensors), wait)
    return calls


if __name__ == "__main__":
    main()
