"""Source texts of modules: a function with all that it needs."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from symtable import Function, symtable
from typing import NamedTuple, TypeAlias

from ..backends import Backend
from .kernels import KernelText
from .printer import indented, printed


class Block(NamedTuple):
    """Lines of a function, the names in them, and how deep they stand in it."""

    lines: Sequence[str]
    names: Collection[str]
    depth: int = 0


# A statement or a line of a function, or several.
Line: TypeAlias = ast.stmt | str | Block


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
    lines: Sequence[Line],
    kernel: KernelText | None = None,
) -> SourceModule:
    """Return the module of a function with a body."""
    header = f"def {name}({', '.join(arguments)}):"
    kernels = [kernel.text] if kernel is not None else [*map(printed, backend.functions_above())]
    # Blocks aren't parsed again for the names in them.
    body, parsed, names = [header], [header], set[str]()
    for line in lines:
        if isinstance(line, Block):
            margin = "    " * (1 + line.depth)
            body += [margin + own for own in line.lines]
            parsed.append(f"{margin}pass")
            names.update(line.names)
        else:
            own = (
                indented([line]) if isinstance(line, ast.stmt) else [f"    {line}" if line else ""]
            )
            body += own
            parsed += own
    names |= global_names(_joined([*kernels, "\n".join(parsed)]))
    return _with_support(backend, _joined([*kernels, "\n".join(body) + "\n"]), names)


def kernel_module(backend: Backend, kernel: KernelText) -> str:
    """Return the source text of a kernel alone."""
    own = kernel.text + "\n"
    return _with_support(backend, own, global_names(own)).text


def _joined(functions: Sequence[str]) -> str:
    return "\n\n\n".join(functions)


def _with_support(backend: Backend, own: str, names: set[str]) -> SourceModule:
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
