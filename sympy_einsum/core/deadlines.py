"""Time limits on reading a text, also within one long call of SymPy's."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from functools import wraps
from types import FrameType
from typing import NoReturn, ParamSpec, TypeVar

from . import tuning
from .errors import ParseError

P = ParamSpec("P")
R = TypeVar("R")


class _OutOfTime(BaseException):
    """Signal the end of the time; not an Exception, so that no handler on the way catches it."""


def with_time_limit(read: Callable[P, R]) -> Callable[P, R]:
    """Wrap a function that reads a text so that it raises ParseError after ``MAX_SECONDS``.

    A timer of CPU time interrupts Python between two instructions, as Ctrl+C does. That works in
    the main thread only, and only if no other code uses the timer; in other threads and on Windows
    only the readers' own checks between operations remain.
    """

    @wraps(read)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        is_main = threading.current_thread() is threading.main_thread()
        if not is_main or not hasattr(signal, "setitimer") or _is_used():
            return read(*args, **kwargs)
        before = signal.getsignal(signal.SIGPROF)
        # Ctrl+C and the timer may interrupt after any call: every change is made inside the try
        # that undoes it, and all of them inside the try that expects the timer.
        try:
            try:
                signal.signal(signal.SIGPROF, _stop)
                # Slightly late: the readers' own checks report the position in the text. Repeated,
                # because Python ignores exceptions in some places, such as __del__.
                signal.setitimer(signal.ITIMER_PROF, 1.1 * tuning.MAX_SECONDS, 0.1)
                return read(*args, **kwargs)
            finally:
                try:
                    signal.setitimer(signal.ITIMER_PROF, 0)
                finally:
                    # signal.signal is a Python function, which may be interrupted at its start.
                    try:
                        signal.signal(signal.SIGPROF, before)
                    finally:
                        signal.signal(signal.SIGPROF, before)
        except _OutOfTime:
            raise ParseError(f"the text takes more than {tuning.MAX_SECONDS:g} s to read") from None

    return limited


def _is_used() -> bool:
    """Tell whether the timer is set, or SIGPROF has a handler that Python didn't install."""
    is_set = signal.getitimer(signal.ITIMER_PROF)[0] > 0
    return is_set or signal.getsignal(signal.SIGPROF) is None


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise _OutOfTime
