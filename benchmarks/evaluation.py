"""Measure the time of a call, from tiny to large, as a ratio to the hand-written program."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from .case import Case
from .cases import CASES
from .contenders import CONTENDERS, flat
from .timing import interleaved, timed

# A contender slower by this many seconds is timed only once.
SLOW = 0.5


def run(
    sizes: Collection[str],
    contenders: Collection[str],
    only: Collection[str] = ("",),
    seconds: float = 0.7,
) -> list[dict[str, Any]]:
    """Return a row for each case and size: seconds by hand, and ratios of all others to that."""
    rows = []
    for case in filter(lambda case: case.is_among(only), CASES):
        for size in sizes:
            data = case.data(*case.sizes[size])
            calls, slow, failed = calls_of(case, data, contenders)
            # Time ours and peers separately against the hand-written code, because threads of
            # other libraries keep spinning after a call and would slow down the next one.
            own = {name: call for name, call in calls.items() if not CONTENDERS[name].package}
            others = {name: call for name, call in calls.items() if name not in own}
            medians = interleaved(own, seconds)
            base = medians.pop("hand")
            row = {"case": case.name, "size": size, "hand": base}
            row |= {name: value / base for name, value in medians.items()}
            if others or slow:
                medians = interleaved({"hand": calls["hand"], **others}, seconds) | slow
                base = medians.pop("hand")
                row |= {name: value / base for name, value in medians.items()}
            rows.append(row | {"failed": failed})
            print(_line(row), *[f"\n    {name}: {why}" for name, why in failed.items()], flush=True)
    return rows


def calls_of(
    case: Case, data: list[Any], contenders: Collection[str]
) -> tuple[dict[str, Callable[[], Any]], dict[str, float], dict[str, str]]:
    """Compare results, and return the calls to time, the times of slow ones, and why others aren't
    timed."""
    calls, slow, failed = {}, {}, {}
    expected = flat(case.hand(*data))
    for name, contender in CONTENDERS.items():
        if name not in contenders or not contender.is_installed or not contender.takes(case, data):
            continue
        try:
            call = contender.make(case, data)
            check(flat(call()), expected)
        except Exception as error:
            failed[name] = f"{type(error).__name__}: {error!s:.100}".split("\n")[0]
            continue
        once = timed(call, 1)
        if once > SLOW and name != "hand":
            slow[name] = once
        else:
            calls[name] = call
    return calls, slow, failed


def check(found: list[Any], expected: list[Any]) -> None:
    """Assert that results equal the first ones of the hand-written program."""
    for result, value in zip(found, expected, strict=False):
        scale = np.abs(value).max(initial=1e-300)
        error = np.abs(np.subtract(result, value, dtype=float)).max(initial=0)
        if not error <= 1e-6 * scale:
            raise AssertionError(f"it differs from the hand-written result by {error:.1e}")


def _line(row: dict[str, Any]) -> str:
    ratios = "  ".join(
        f"{k} {v:.2f}" for k, v in row.items() if isinstance(v, float) and k != "hand"
    )
    return f"{row['case']:42s} {row['size']:6s} {row['hand'] * 1e6:10.1f} µs   {ratios}"
