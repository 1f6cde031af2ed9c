"""Functions and values that are loaded or computed on first use."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Generic, TypeVar


def deferred(package: str, name: str) -> Callable[..., Any]:
    """A function of another package of ours, which is imported at the first call: hooks are
    attached to nodes long before anybody asks for printers, converters or compiled code.

    >>> deferred("core", "as_shape")((2, 3))
    (2, 3)
    """

    def call(*args: Any, **options: Any) -> Any:
        return getattr(import_module(f"sympy_einsum.{package}"), name)(*args, **options)

    return call


T = TypeVar("T")


class once(Generic[T]):
    """A property that is computed once. As ``functools.cached_property``, but Python 3.11's has a
    lock, on which a process hangs that was forked while another thread held it.

    >>> class Circle:
    ...     radius = 2
    ...     @once
    ...     def area(self):
    ...         print("computed")
    ...         return 3 * self.radius**2
    >>> circle = Circle()
    >>> circle.area, circle.area
    computed
    (12, 12)
    """

    def __init__(self, compute: Callable[[Any], T]):
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __get__(self, owner: Any, kind: type | None = None) -> T:
        value = owner.__dict__[self.compute.__name__] = self.compute(owner)
        return value
