"""Functions that are imported, and properties that are computed, on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, Generic, TypeVar


def deferred(package: str, name: str) -> Callable[..., Any]:
    """Return a function that imports one of another package at the first call: hooks are attached
    to nodes long before printers, converters or compiled code are needed.

    >>> deferred("core", "as_shape")((2, 3))
    (2, 3)
    """

    function: Callable[..., Any] | None = None

    def call(*args: Any, **options: Any) -> Any:
        nonlocal function
        if function is None:
            function = getattr(import_module(f"sympy_einsum.{package}"), name)
        return function(*args, **options)

    return call


class DeferredModule:
    """A module of another library, which is imported when one of its names is first used.

    >>> DeferredModule("math").gcd(4, 6)
    2
    """

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


class DeferredClasses:
    """Classes of a module that isn't imported for them, for ``isinstance``: as long as the module
    isn't loaded, nothing is an instance of them.

    >>> isinstance(3, DeferredClasses("fractions", "Fraction"))
    False
    """

    def __init__(self, module: str, *names: str):
        self._module = module
        self._names = names
        self._classes: tuple[type, ...] = ()

    def __instancecheck__(self, value: object) -> bool:
        if not self._classes:
            module = sys.modules.get(self._module)
            if module is None:
                return False
            self._classes = tuple([getattr(module, name) for name in self._names])
        return isinstance(value, self._classes)


Key = TypeVar("Key")
T = TypeVar("T")


class once(Generic[T]):
    """A property that is computed once: ``functools.cached_property`` without the lock that it has
    in Python 3.11, on which a process deadlocks if it was forked while another thread held it.

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


class DeferredTable(Mapping[Key, T]):
    """A table that is built when it is first looked into.

    >>> DeferredTable(lambda: {"one": 1})["one"]
    1
    """

    def __init__(self, build: Callable[[], Mapping[Key, T]]):
        self._build = build

    @once
    def _table(self) -> Mapping[Key, T]:
        return self._build()

    def __getitem__(self, key: Key) -> T:
        return self._table[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)
