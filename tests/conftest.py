"""Run one tier of the tests or all, fail those that hang, and note which lack a library.

Without arguments pytest runs the first tier: of each test the first, the middle and the last of
its cases, none that is marked ``slow``. Whatever is named, by a path, ``-k`` or ``-m``, is run
whole; ``--whole`` runs everything.
"""

import gc
import os
import signal
import threading
from collections import defaultdict

import pytest
from hypothesis import HealthCheck, settings

# How fast examples come depends on what else the machine does. A run of the suite repeats the last
# one; ``--hypothesis-profile=random`` looks for new counterexamples.
settings.register_profile("random", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeated", settings.get_profile("random"), derandomize=True)
settings.load_profile("repeated")

GUARD_SECONDS = 300

# Expressions are kept anyway; Python's own thresholds look for garbage every 700 objects.
gc.set_threshold(20_000, 20, 20)

# The tests compile many programs and run each once: XLA compiles them faster without optimising
# them.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

# Run, and checked by type checkers, by test_types.py.
collect_ignore = ["data/scripts"]


def pytest_addoption(parser):
    parser.addoption("--whole", action="store_true", help="run every case of every test")


def pytest_configure(config):
    """Run named tests whole."""
    if hasattr(config, "workerinput"):
        config.option.whole = config.workerinput["whole"]
    elif config.args_source is config.ArgsSource.ARGS or (
        config.option.keyword or config.option.markexpr
    ):
        config.option.whole = True


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Pass the selection to a process of pytest-xdist."""
    node.workerinput["whole"] = node.config.option.whole


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Deselect what the first tier leaves out."""
    if config.option.whole:
        return
    cases = defaultdict(list)
    for item in items:
        if item.get_closest_marker("slow") is None:
            cases[item.nodeid.partition("[")[0]].append(item)
    first = {case for own in cases.values() for case in (own[0], own[len(own) // 2], own[-1])}
    config.hook.pytest_deselected(items=[item for item in items if item not in first])
    items[:] = [item for item in items if item in first]


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
    """Exclude objects of earlier modules, among them gigabytes of compiled code, from garbage
    collection."""
    gc.collect()
    gc.freeze()


def pytest_runtest_logreport(report):
    """Record tests skipped for a missing library in a file named by the environment, so that they
    can be run with it."""
    path = os.environ.get("LACKING_A_LIBRARY")
    if path and report.skipped and "could not import" in str(report.longrepr):
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{report.nodeid}\n")


pytest_collectreport = pytest_runtest_logreport
