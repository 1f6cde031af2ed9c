"""Hooks of SymPy's printers on our nodes, which load ``printing``; that package replaces them by
its own."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..expressions import HalfPower, TensorExpr

_HOOKS = ("_sympystr", "_latex", "_pretty", "_mathml_presentation")


def _load() -> None:
    import_module("sympy_einsum.printing")


def _load_then_print(kind: type, name: str) -> Callable[..., Any]:
    def hook(self: Any, *args: Any, **options: Any) -> Any:
        _load()
        return getattr(kind, name)(self, *args, **options)

    return hook


def _precedence(self: TensorExpr) -> Any:
    _load()
    return self.precedence


for _kind, _names in (
    (TensorExpr, (*_HOOKS, "_sympyrepr", "_mathml_content")),
    (HalfPower, _HOOKS),
):
    for _name in _names:
        setattr(_kind, _name, _load_then_print(_kind, _name))
TensorExpr.precedence = property(_precedence)
