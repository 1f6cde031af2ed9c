"""Parsing stops at a deadline, also within one call that never returns."""

import random
import signal
import threading
import time

import pytest

import sympy_einsum as se
from sympy_einsum.core import tuning, with_time_limit

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no such timer")


@with_time_limit
def endless():
    while True:
        try:
            sum(range(1000))
        except Exception:
            continue


def test_endless_calls_are_stopped(monkeypatch):
    monkeypatch.setattr(tuning, "MAX_SECONDS", 0.05)
    before = signal.getsignal(signal.SIGPROF)
    for _ in range(2):
        with pytest.raises(se.ParseError, match=r"takes more than 0\.05 s"):
            endless()
        assert signal.getsignal(signal.SIGPROF) is before
        assert signal.getitimer(signal.ITIMER_PROF)[0] == 0


def test_results_and_errors_pass():
    assert with_time_limit(lambda a, b: a - b)(3, b=1) == 2
    with pytest.raises(ZeroDivisionError):
        with_time_limit(lambda: 1 // 0)()
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0


def test_a_timer_of_the_caller_stays():
    signal.setitimer(signal.ITIMER_PROF, 1000)
    try:
        assert with_time_limit(lambda: 1)() == 1
        assert signal.getitimer(signal.ITIMER_PROF)[0] > 0
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _interrupt(number, frame):
    raise KeyboardInterrupt


@with_time_limit
def nothing():
    return 1


# Looked up here: an interrupted import would keep Python's lock of imports.
parse = se.parse


@pytest.mark.parametrize(("read", "longest"), [(nothing, 2e-5), (lambda: parse("a + 1"), 2e-3)])
def test_after_ctrl_c_no_timer_is_left(read, longest):
    """After hundreds of interrupts at random points the timer is off and its signal handler
    restored."""
    read()
    before = signal.getsignal(signal.SIGPROF), signal.signal(signal.SIGALRM, _interrupt)
    rng, interrupted = random.Random(0), 0
    try:
        for _ in range(400):
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-6, longest))
                end = time.perf_counter() + 1.5 * longest
                while time.perf_counter() < end:
                    read()
            except KeyboardInterrupt:
                interrupted += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert signal.getitimer(signal.ITIMER_PROF)[0] == 0
            assert signal.getsignal(signal.SIGPROF) is before[0]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before[1])
    assert interrupted > 100


class _Slow:
    """An object whose deletion takes long, where exceptions are ignored."""

    def __del__(self):
        end = time.thread_time() + 0.1
        while time.thread_time() < end:
            pass


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_reader_is_stopped_later_where_exceptions_are_ignored(monkeypatch):
    monkeypatch.setattr(tuning, "MAX_SECONDS", 0.05)

    @with_time_limit
    def read():
        _Slow()
        while True:
            pass

    with pytest.raises(se.ParseError):
        read()


def test_other_threads_read_too():
    found = []
    thread = threading.Thread(target=lambda: found.append(se.parse("a + 1")))
    thread.start()
    thread.join()
    assert str(found[0]) == "a + 1"


@pytest.mark.parametrize(
    "text",
    [
        # One call of SymPy's that takes minutes, and its complaints.
        "log(cos(min((sqrt((((det(A)+2)-(a+det(A)))+gammaln(tr(A)*170)))+(tanh((sigmoid(10000))"
        "^((x'*x)))^(tanh(gammaln(1e-300))))),sinh((((sigmoid(sum(x)))/(b*b))^(gamma(169.5))+exp((c)"
        "^(tr(A)))*gamma(tr(A)*99))))))",
        "max((99 - 10^300)^(pi), a)",
        "min((sum(x) + sum(x))^(9^999), a)",
    ],
)
def test_texts_that_sympy_cannot_read(monkeypatch, text):
    monkeypatch.setattr(tuning, "MAX_SECONDS", 0.5)
    with pytest.raises(se.ParseError):
        se.parse(text)


def test_powers_of_multiples_are_not_computed_exactly():
    source = "def f(x):\n    return (9 * np.sum(x))**123456789.123456"
    with pytest.raises(se.TensorError, match="bits"):
        se.parse_python(source, shapes={"x": 3})
