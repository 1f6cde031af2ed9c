"""Packages of ours that load when something in them is first called."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def deferred(package: str, name: str) -> Callable[..., Any]:
    """A function of another package of ours, which is imported at the first call: hooks are
    attached to nodes long before anybody asks for printers, converters or compiled code.

    >>> deferred("core", "as_shape")((2, 3))
    (2, 3)
    """

    def call(*args: Any, **options: Any) -> Any:
        return getattr(import_module(f"sympy_einsum.{package}"), name)(*args, **options)

    return call
