"""Run a function in several threads at once."""

from __future__ import annotations

import sys
import threading


def at_once(work, threads=8):
    """Return the result of each thread; the interpreter switches threads as often as possible."""
    barrier = threading.Barrier(threads)
    found, errors = [None] * threads, []

    def run(slot):
        try:
            barrier.wait()
            found[slot] = work(slot)
        except Exception as error:
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        running = [threading.Thread(target=run, args=(slot,)) for slot in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not errors
    return found
