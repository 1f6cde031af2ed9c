"""Time calls interleaved: every contender in turn, medians over many rounds."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from random import Random
from statistics import median

# The approximate duration of a sample of a repeated short call, in seconds.
SAMPLE = 3e-4


def interleaved(
    calls: Mapping[str, Callable[[], object]],
    seconds: float = 1.5,
    rounds: int = 200,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Return the median duration of each call in seconds, excluding first calls. Rounds permute the
    calls, because the heap that one call leaves affects the next.
    """
    shuffled, order = Random(0), list(calls)
    repeats = {}
    for name, call in calls.items():
        call()
        repeats[name] = max(1, int(SAMPLE / max(timed(call, 1), 1e-8)))
    samples: dict[str, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + seconds
    gc.disable()
    try:
        for count in range(rounds):
            if count >= 7 and time.perf_counter() > end:
                break
            shuffled.shuffle(order)
            for name in order:
                samples[name].append(timed(calls[name], repeats[name], clock))
    finally:
        gc.enable()
    return {name: median(values) for name, values in samples.items()}


def timed(
    call: Callable[[], object], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return the seconds of one call, averaged over a repetition."""
    start = clock()
    for _ in range(repeats):
        call()
    return (clock() - start) / repeats
