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
    """Not an Exception, so that nothing on the way catches it."""


def with_time_limit(read: Callable[P, R]) -> Callable[P, R]:
    """A function that reads a text, stopped by a ParseError when it has taken too long.

    A timer of the processor's time interrupts Python between two instructions, as Ctrl+C does.
    Only the main thread can be interrupted so, and only if nobody else uses that timer; elsewhere,
    and on Windows, readers look at the time between operations.
    """

    @wraps(read)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        is_main = threading.current_thread() is threading.main_thread()
        if not is_main or not hasattr(signal, "setitimer") or _is_used():
            return read(*args, **kwargs)
        before = signal.getsignal(signal.SIGPROF)
        # Ctrl+C and the timer interrupt after any call: what is changed is changed inside of the
        # try that undoes it, and all of that inside of the one that expects the timer.
        try:
            try:
                signal.signal(signal.SIGPROF, _stop)
                # Readers look at the time themselves, and say at which place of the text it was
                # over. Where Python ignores an exception, as in __del__, the next one comes soon.
                signal.setitimer(signal.ITIMER_PROF, 1.1 * tuning.MAX_SECONDS, 0.1)
                return read(*args, **kwargs)
            finally:
                try:
                    signal.setitimer(signal.ITIMER_PROF, 0)
                finally:
                    # A function of Python's, which may be interrupted before it does anything.
                    try:
                        signal.signal(signal.SIGPROF, before)
                    finally:
                        signal.signal(signal.SIGPROF, before)
        except _OutOfTime:
            raise ParseError(f"the text takes more than {tuning.MAX_SECONDS:g} s to read") from None

    return limited


def _is_used() -> bool:
    """Tell whether somebody else uses the timer, or has a handler that Python didn't install."""
    is_set = signal.getitimer(signal.ITIMER_PROF)[0] > 0
    return is_set or signal.getsignal(signal.SIGPROF) is None


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise _OutOfTime
