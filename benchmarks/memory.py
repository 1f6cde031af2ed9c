"""Measure the peak memory of a call beyond its arguments, ours against hand-written code."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Collection
from typing import Any

from .cases import CASES
from .contenders import hand, ours


def peak(call: Callable[[], Any]) -> int:
    """Return the peak in bytes, result included; NumPy reports its arrays to tracemalloc."""
    call()
    tracemalloc.start()
    call()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def run(only: Collection[str] = ("",), size: str = "large") -> list[dict[str, Any]]:
    """Return a row for each case: bytes by hand and the ratio of ours."""
    rows = []
    for case in filter(lambda case: case.is_among(only), CASES):
        data = case.data(*case.sizes[size])
        base = peak(hand(case, data))
        rows.append({"case": case.name, "hand": base, "ours": peak(ours(case, data)) / base})
        print(rows[-1], flush=True)
    return rows
