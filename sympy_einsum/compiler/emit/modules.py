"""Source texts of modules: a function with all that it needs."""

from __future__ import annotations

from collections.abc import Sequence

from ..backends import Backend
from .kernels import KernelText
from .printer import printed


def module_text(
    backend: Backend,
    name: str,
    arguments: Sequence[str],
    lines: Sequence[str],
    kernel: KernelText | None = None,
) -> str:
    """A whole source text: imports, supporting functions, and a function with its body."""
    header = f"def {name}({', '.join(arguments)}):"
    body = "\n".join(f"    {line}" if line else "" for line in lines)
    kernels = [kernel.text] if kernel is not None else [*map(printed, backend.functions_above())]
    return _with_support(backend, kernels, f"{header}\n{body}\n")


def kernel_module(backend: Backend, kernel: KernelText) -> str:
    """Return the source text of a kernel alone."""
    return _with_support(backend, [], kernel.text + "\n")


def _with_support(backend: Backend, kernels: Sequence[str], function: str) -> str:
    own = "\n".join([*kernels, function])
    support = backend.used_support(own)
    imports = "\n".join(backend.used_imports(support + own))
    parts = [part for part in (imports, support.strip("\n"), *kernels) if part]
    return "\n\n\n".join([*parts, function])
