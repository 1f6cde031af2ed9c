"""Decorators of Numba's helper functions where they are called as functions of Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]


def compiled(function: Function) -> Function:
    """Return the function itself."""
    return function


inlined = compiled
