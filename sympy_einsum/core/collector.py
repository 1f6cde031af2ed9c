"""Python's garbage collector, paused while a large graph is built."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Without the garbage collector: what a sweep or the compiler makes is needed until the end, so
    that looking for garbage is most of the time of a big one."""
    if not gc.isenabled():
        yield
        return
    # Told before and until after: another thread may fork in between.
    thread = threading.get_ident()
    _pausing.add(thread)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        _pausing.discard(thread)


_pausing: set[int] = set()


def _collect_in_child() -> None:
    """A forked child has none of the threads that would turn the collector on again."""
    if _pausing.difference([threading.get_ident()]):
        _pausing.clear()
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_collect_in_child)
