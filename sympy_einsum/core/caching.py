"""Caches of results for expressions, with one bound on the memory that they keep alive.

A bound on the number of entries doesn't bound memory: an entry may hold a constant of a gigabyte,
or a graph of a million nodes. SymPy's caches hold our scalars as well. All are emptied together
when the live nodes have grown by :data:`tuning.CACHE_GROWTH_BYTES`.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import _lru_cache_wrapper, lru_cache
from typing import TypeVar

from sympy.core.cache import clear_cache

from . import tuning

Result = TypeVar("Result")
# The functions that empty the caches.
_cache_clears: list[Callable[[], None]] = [clear_cache]


def register_cache_clear(empty: Callable[[], None]) -> Callable[[], None]:
    """Register a function that empties a cache, to be called when live memory grows."""
    _cache_clears.append(empty)
    return empty


def cached(
    maxsize: int,
) -> Callable[[Callable[..., Result]], _lru_cache_wrapper[Result]]:
    """Memoise a function of expressions: an LRU cache that is also emptied when live memory grows.

    >>> @cached(16)
    ... def double(expr):
    ...     return 2 * expr
    >>> double(3), double(3), double.cache_info().hits
    (6, 6, 1)
    """

    def decorate(function: Callable[..., Result]) -> _lru_cache_wrapper[Result]:
        memoised = lru_cache(maxsize)(function)
        register_cache_clear(memoised.cache_clear)
        return memoised

    return decorate


class LiveMemory:
    """Count the bytes of all live nodes, and their minimum since the caches were emptied.

    Count with the lock of the interning table held, empty caches without it.
    """

    def __init__(self) -> None:
        self.total = 0
        self.least = 0

    def add(self, count: int) -> None:
        """Add the bytes of a new node."""
        self.total += count

    def free(self, count: int) -> None:
        """Subtract the bytes of a freed node."""
        self.total -= count
        self.least = min(self.least, self.total)

    @property
    def has_grown(self) -> bool:
        """Whether memory has grown enough for the caches to be emptied."""
        growth = self.total - self.least
        return growth > tuning.CACHE_GROWTH_BYTES and 2 * growth > self.least

    def relieve(self) -> None:
        """Empty the caches, and run the garbage collector for cycles of nodes, unless it is
        paused."""
        for empty in _cache_clears:
            empty()
        if self.has_grown and gc.isenabled():
            gc.collect()
        self.least = self.total


LIVE = LiveMemory()
