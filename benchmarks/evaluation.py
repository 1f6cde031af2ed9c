"""How long a call takes, from tiny to large, as a ratio to the program written by hand."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from .cases import CASES
from .contenders import CONTENDERS, PEERS, flat, installed
from .timing import interleaved, timed

# A contender that takes so much longer than the hand-written code is timed once only, in seconds.
SLOW = 0.5


def run(
    sizes: Collection[str], contenders: Collection[str], only: str = "", seconds: float = 1.5
) -> list[dict[str, Any]]:
    """A row for each case and size: the seconds by hand, and the ratios of all others to that."""
    rows = []
    for case in CASES:
        for size in sizes:
            if only not in case.name:
                continue
            data = case.data(*case.sizes[size])
            calls, slow = {}, {}
            expected: list[Any] | None = None
            for name, make in CONTENDERS.items():
                if name not in contenders or not installed(name):
                    continue
                if name in PEERS and (case.plain is None or name not in case.peers):
                    continue
                if name in PEERS and case.order == 2 and _entries(case, data) > 3e6:
                    continue
                call = make(case, data)
                found = flat(call())
                expected = expected or found
                _check(case.name, size, name, found, expected)
                once = timed(call, 1)
                if once > SLOW:
                    slow[name] = once
                else:
                    calls[name] = call
            # Two races against the hand-written code: the threads of other libraries go on
            # spinning after a call, and would disturb whoever comes next.
            own = {name: call for name, call in calls.items() if name not in PEERS}
            medians = interleaved(own, seconds)
            base = medians.pop("hand")
            row = {"case": case.name, "size": size, "hand": base}
            row |= {name: value / base for name, value in medians.items()}
            others = {name: call for name, call in calls.items() if name not in own}
            if others or slow:
                medians = interleaved({"hand": calls["hand"], **others}, seconds) | slow
                base = medians.pop("hand")
                row |= {name: value / base for name, value in medians.items()}
            rows.append(row)
            print(_line(rows[-1]), flush=True)
    return rows


def _entries(case: Any, data: list[Any]) -> int:
    return int(np.size(data[case.wrt])) ** 2


def _check(case: str, size: str, name: str, found: list[Any], expected: list[Any]) -> None:
    # Peers with one gradient are compared with the first results.
    for result, value in zip(found, expected, strict=False):
        scale = np.abs(value).max(initial=1e-300)
        if np.abs(np.subtract(result, value, dtype=float)).max(initial=0) > 1e-6 * scale:
            raise AssertionError(f"{case}, {size}: {name} differs from the hand-written result")


def _line(row: dict[str, Any]) -> str:
    ratios = "  ".join(
        f"{k} {v:.2f}" for k, v in row.items() if isinstance(v, float) and k != "hand"
    )
    return f"{row['case']:42s} {row['size']:6s} {row['hand'] * 1e6:10.1f} µs   {ratios}"
