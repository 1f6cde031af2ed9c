"""For every test: one that hangs fails with a traceback instead of stalling the run, and garbage
is looked for among its own objects; which tests lack a library can be written down."""

import gc
import os
import signal
import threading

import pytest

GUARD_SECONDS = 300

# Run, and checked by type checkers, by test_types.py.
collect_ignore = ["data/scripts"]


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


def pytest_runtest_logreport(report):
    """What is skipped since a library isn't there goes to a file that the environment names, to be
    run again with it."""
    path = os.environ.get("LACKING_A_LIBRARY")
    if path and report.skipped and "could not import" in str(report.longrepr):
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{report.nodeid}\n")


pytest_collectreport = pytest_runtest_logreport
