"""Caches of what is computed from expressions, with one bound on the memory that they keep alive.

A bound on the number of entries alone would be none on memory: an entry may hold a constant of a
gigabyte, or a graph of a million nodes. SymPy's own caches hold our scalars as well. All of them
are emptied together when the nodes alive have grown by :data:`tuning.CACHE_GROWTH_BYTES`.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import _lru_cache_wrapper, lru_cache
from typing import TypeVar

from sympy.core.cache import clear_cache

from . import tuning

Result = TypeVar("Result")
# How to empty each of the caches.
_cache_clears: list[Callable[[], None]] = [clear_cache]


def register_cache_clear(empty: Callable[[], None]) -> Callable[[], None]:
    """Have a function, which empties a cache, called whenever the caches hold too much."""
    _cache_clears.append(empty)
    return empty


def cached(
    maxsize: int,
) -> Callable[[Callable[..., Result]], _lru_cache_wrapper[Result]]:
    """Remember the results of a function of expressions, up to a number of them and within the
    bound on memory.

    >>> @cached(16)
    ... def double(expr):
    ...     return 2 * expr
    >>> double(3), double(3), double.cache_info().hits
    (6, 6, 1)
    """

    def decorate(function: Callable[..., Result]) -> _lru_cache_wrapper[Result]:
        remembering = lru_cache(maxsize)(function)
        register_cache_clear(remembering.cache_clear)
        return remembering

    return decorate


class LiveMemory:
    """The bytes of all nodes alive, and the least that they have been since caches were emptied.

    Counting needs the lock of the table of nodes, emptying must not have it.
    """

    def __init__(self) -> None:
        self.total = 0
        self.least = 0

    def add(self, count: int) -> None:
        """Count the bytes of a new node."""
        self.total += count

    def free(self, count: int) -> None:
        """Count the bytes of a node that is gone."""
        self.total -= count
        self.least = min(self.least, self.total)

    @property
    def has_grown(self) -> bool:
        """Whether caches may hold too much of it."""
        growth = self.total - self.least
        return growth > tuning.CACHE_GROWTH_BYTES and 2 * growth > self.least

    def relieve(self) -> None:
        """Empty the caches; nodes that hold each other are freed by the collector, unless it is
        paused."""
        for empty in _cache_clears:
            empty()
        if self.has_grown and gc.isenabled():
            gc.collect()
        self.least = self.total


LIVE = LiveMemory()
