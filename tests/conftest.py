"""For every test: one that hangs fails with a traceback instead of stalling the run, and garbage
is looked for among its own objects."""

import gc
import signal
import threading

import pytest

GUARD_SECONDS = 300


def _expired(signum, frame):
    raise TimeoutError(f"the test ran longer than {GUARD_SECONDS} seconds")


@pytest.fixture(autouse=True)
def guard_against_hanging():
    possible = hasattr(signal, "SIGALRM")
    if not possible or threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGALRM, _expired)
    signal.alarm(GUARD_SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, previous)


@pytest.fixture(autouse=True, scope="module")
def leave_earlier_objects_alone():
    """What other modules left, gigabytes of compiled code among it, isn't searched again."""
    gc.collect()
    gc.freeze()
