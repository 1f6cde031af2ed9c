"""Backends: how each instruction of a plan is spelled for one array library.

A backend is one class in one file, which declares everything about its library; a file of another
package will do as well. Code for a library is written without it: none but NumPy is imported before
code that was generated for it runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules

from ..ir.code import assigned as assigned
from .base import Backend as Backend
from .given_functions import GivenFunctions as GivenFunctions
from .spelling import (
    ALL_ENTRIES as ALL_ENTRIES,
    NEW_AXIS as NEW_AXIS,
    Bracket as Bracket,
    Codes as Codes,
    Destination as Destination,
    along_axes as along_axes,
    bracketed as bracketed,
    called as called,
    called_along as called_along,
    is_plain_name as is_plain_name,
    numbers_code as numbers_code,
)

_SUFFIX = "_backend"
# The backends that have a file here.
_FILES = [
    module.name.removesuffix(_SUFFIX)
    for module in iter_modules(__path__)
    if module.name.endswith(_SUFFIX)
]


class _Backends(Mapping[str, type[Backend]]):
    """The backends by their names; a file of this folder is loaded when it is first asked for."""

    def __getitem__(self, name: str) -> type[Backend]:
        if name in _FILES and name not in Backend.registered:
            import_module(f".{name}{_SUFFIX}", __name__)
        return Backend.registered[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(["numpy", *_FILES, *Backend.registered]))

    def __len__(self) -> int:
        return len({*_FILES, *Backend.registered})


BACKENDS = _Backends()
