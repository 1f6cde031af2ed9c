"""A context that pauses Python's garbage collector while a large graph is built."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the garbage collector: a sweep or compilation allocates objects that live until its
    end, and collections would take most of its time."""
    if not gc.isenabled():
        yield
        return
    # Registered for longer than it is paused: another thread may fork in between.
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
    """Enable the collector in a forked child, which lacks the threads that paused it."""
    if _pausing.difference([threading.get_ident()]):
        _pausing.clear()
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_collect_in_child)
