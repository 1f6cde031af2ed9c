"""Replacement of attributes of SymPy, and the warning where a version lacks one."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

import sympy


class PatchWarning(UserWarning):
    """This version of SymPy lacks a name that is replaced; the message says what doesn't work."""


@dataclass(frozen=True)
class Patch:
    """An attribute of SymPy that is replaced.

    Attributes
    ==========

    owner : the module, and after a colon the class in it, or what else has the attribute
    name : the attribute
    replace : what stands in its place, given SymPy's own
    reason : what SymPy's own does with tensors, for which there is no hook
    fallback : what happens in a version of SymPy that has no such name
    is_late : whether the module is left to be imported by others: it loads slowly
    is_new : whether SymPy's own has no such attribute; ``replace`` is given None
    """

    owner: str
    name: str
    replace: Callable[[Any], Any]
    reason: str
    fallback: str
    is_late: bool = False
    is_new: bool = False

    @property
    def module(self) -> str:
        """The name of the module."""
        return self.owner.partition(":")[0]

    @property
    def path(self) -> str:
        """The attribute's full name."""
        return f"{self.owner.replace(':', '.')}.{self.name}"

    def install(self) -> None:
        """Replace the attribute, or warn that there is none."""
        owner: Any
        try:
            owner = import_module(self.module)
            for part in filter(None, self.owner.partition(":")[2].split(".")):
                owner = getattr(owner, part)
            # Classes inherit hooks that do nothing.
            is_hook = self.name.startswith("_eval_")
            own = vars(owner)[self.name] if is_hook else None
            stock = own if is_hook or self.is_new else getattr(owner, self.name)
        except (ImportError, AttributeError, KeyError):
            warnings.warn(
                f"SymPy {sympy.__version__} has no {self.path}, which sympy_einsum replaces: "
                f"{self.fallback}",
                PatchWarning,
                stacklevel=2,
            )
            return
        setattr(owner, self.name, self.replace(stock))


def wrapped_by(replacement: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return a decorator that puts ``replacement``, called with the stock function first, in its
    place."""

    def replace(stock: Any) -> Any:
        @wraps(stock)
        def call(*args: Any, **options: Any) -> Any:
            return replacement(stock, *args, **options)

        return call

    return replace


class _PatchFinder(MetaPathFinder):
    """Installs patches of a module as soon as that is imported."""

    def __init__(self, patches: Iterable[Patch]):
        self._waiting: dict[str, list[Patch]] = {}
        for patch in patches:
            self._waiting.setdefault(patch.module, []).append(patch)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in self._waiting else None
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            for patch in self._waiting[name]:
                patch.install()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def install(patches: Iterable[Patch]) -> None:
    """Install patches, those of modules that load slowly when these are imported."""
    waiting = []
    for patch in patches:
        if patch.is_late and patch.module not in sys.modules:
            waiting.append(patch)
        else:
            patch.install()
    sys.meta_path.insert(0, _PatchFinder(waiting))
