"""The most memory that a call takes beyond its arguments, ours against hand-written code."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Collection
from typing import Any

from .cases import CASES
from .contenders import hand, ours


def peak(call: Callable[[], Any]) -> int:
    """Bytes, the result included; NumPy reports its arrays to tracemalloc."""
    call()
    tracemalloc.start()
    call()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def run(only: Collection[str] = ("",), size: str = "large") -> list[dict[str, Any]]:
    """A row for each case: bytes by hand and the ratio of ours."""
    rows = []
    for case in filter(lambda case: case.is_among(only), CASES):
        data = case.data(*case.sizes[size])
        base = peak(hand(case, data))
        rows.append({"case": case.name, "hand": base, "ours": peak(ours(case, data)) / base})
        print(rows[-1], flush=True)
    return rows
