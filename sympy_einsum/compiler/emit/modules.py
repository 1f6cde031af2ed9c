"""Source texts of modules: a function with all that it needs."""

from __future__ import annotations

from collections.abc import Sequence
from symtable import Function, symtable
from typing import NamedTuple

from ..backends import Backend
from .kernels import KernelText
from .printer import printed


class SourceModule(NamedTuple):
    """The text of a module in parts: import lines, helper functions, and the function that it is
    for, with its kernels before it."""

    imports: list[str]
    functions: list[str]
    own: str

    @property
    def text(self) -> str:
        """The whole text."""
        parts = ["\n".join(self.imports), "\n\n".join(self.functions).strip("\n"), self.own]
        return "\n\n\n".join([part for part in parts if part])


def module_of(
    backend: Backend,
    name: str,
    arguments: Sequence[str],
    lines: Sequence[str],
    kernel: KernelText | None = None,
) -> SourceModule:
    """Return the module of a function with a body."""
    header = f"def {name}({', '.join(arguments)}):"
    body = "\n".join(f"    {line}" if line else "" for line in lines)
    kernels = [kernel.text] if kernel is not None else [*map(printed, backend.functions_above())]
    return _with_support(backend, [*kernels, f"{header}\n{body}\n"])


def kernel_module(backend: Backend, kernel: KernelText) -> str:
    """Return the source text of a kernel alone."""
    return _with_support(backend, [kernel.text + "\n"]).text


def _with_support(backend: Backend, functions: Sequence[str]) -> SourceModule:
    own = "\n\n\n".join(functions)
    names = global_names(own)
    helpers = [backend.helper(name) for name in backend.used_support(names)]
    imports = backend.used_imports(names.union(*[helper.names for helper in helpers]))
    return SourceModule(imports, [helper.text for helper in helpers], own)


def global_names(text: str) -> set[str]:
    """Return the names in functions, and before them, that aren't arguments or variables there."""
    found: set[str] = set()
    tables = [symtable(text, "", "exec")]
    for table in tables:
        tables += table.get_children()
        if isinstance(table, Function):
            found.update(table.get_globals())
        else:
            found.update(table.get_identifiers())
    return found
