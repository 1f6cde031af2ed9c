"""Source of a kernel, one function of all arguments that checks their lengths first, and of the
function that calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from sympy import Expr

from ...core import UnsupportedError
from ...expressions import shape_of
from ..ir.code import Code, name, names_in, quote
from ..ir.plans import Plan
from .loops import Kernel
from .printer import printed
from .signature import Signature, size_text

HEADER = "@compiled\ndef compute("


class KernelText(NamedTuple):
    """The text of a kernel; for each argument, each constant and each array of zeros that it writes
    to how many axes it has and whether it is of integers; the constants; the shapes of the zeros as
    texts; and for each result whether it is an array, or a position.

    NumPy's zeros take no time before they are written to.
    """

    text: str
    arguments: list[tuple[int, bool]]
    constants: dict[str, np.ndarray]
    zeros: list[str]
    results: list[bool]

    def numbers(self, signature: Signature) -> list[tuple[str, bool]]:
        """Return the arguments that aren't positions or lengths, and whether each is an array."""
        pairs = zip(signature.arguments, self.arguments, strict=False)
        return [(name, order > 0) for name, (order, is_integer) in pairs if not is_integer]

    def integers(self, signature: Signature) -> list[str]:
        """Return the arguments without axes that are positions or lengths."""
        pairs = zip(signature.arguments, self.arguments, strict=False)
        return [name for name, (order, is_integer) in pairs if is_integer and not order]

    def calling(
        self,
        signature: Signature,
        layout: Callable[[Sequence[Code]], Code],
        function: str,
        kind: str = "",
    ) -> list[str]:
        """Return the lines that call the kernel by a name and arrange its results, of which numbers
        become of the arrays' type; without one, that is left to what is called."""
        zeros = [f"np.zeros({shape}, {kind})" if kind else shape for shape in self.zeros]
        arguments = ", ".join([*signature.arguments, *self.constants, *zeros])
        names = [f"t{k + 1}" for k in range(len(self.results))]
        number = kind if kind == "dtype" else f"{kind}.type"
        result = layout(
            [
                name(own) if is_array or not kind else quote(f"{number}({own})")
                for own, is_array in zip(names, self.results, strict=True)
            ]
        )
        used = {*names_in(result), *[own for text in self.zeros for own in names_in(quote(text))]}
        reads = signature.read_lengths([s for s in signature.lengths if signature.names[s] in used])
        return [
            *reads,
            *[f"{', '.join(names)} = {function}({arguments})"][: len(names)],
            f"return {printed(result)}",
        ]


def kernel_text(signature: Signature, plan: Plan, bounds: Sequence[Expr]) -> KernelText:
    """Return the kernel for a plan; ``bounds`` are the lengths that mustn't be negative."""
    kernel = Kernel(plan, signature.names, signature.backend)
    lines, results = kernel.write_all()
    if signature.backend.functions.used:
        name = next(iter(signature.backend.functions.used))
        raise UnsupportedError(
            f"backend {signature.backend.name!r} can't call the function {name} of Python's; make "
            f'it by function({name!r}, code="..."), with its text'
        )
    integers = {kernel.array(k) for k in kernel.integers if kernel.step(k).op == "argument"}
    arguments = [
        (len(shape_of(s)), name in integers or (not shape_of(s) and bool(s.is_integer)))
        for s, name in zip(signature.symbols, signature.arguments, strict=True)
    ]
    constants = {name: kernel.step(k).params[0].array for k, name in kernel.constants.items()}
    arguments += [
        (constants[name].ndim, k in kernel.integers) for k, name in kernel.constants.items()
    ]
    arguments += [(len(kernel.step(k).shape), False) for k in kernel.given]
    returned = ", ".join(results)
    body = [
        *signature.read_lengths(signature.lengths),
        *_guards(signature, bounds),
        *lines,
        f"return {f'({returned})' if len(results) > 1 else returned}",
    ]
    given = [kernel.values[k].array for k in kernel.given]
    names = ", ".join([*signature.arguments, *constants, *given])
    text = "\n".join([f"{HEADER}{names}):", *[f"    {line}" for line in body]])
    kept = [bool(kernel.step(k).shape) or k in kernel.integers for k in kernel.plan.results]
    zeros = [kernel.shape(k) for k in kernel.given]
    return KernelText(text, arguments, constants, zeros, kept)


def _guards(signature: Signature, bounds: Sequence[Expr]) -> list[str]:
    """Return the lines that keep a kernel within its arrays."""
    lines = []
    names, backend = signature.names, signature.backend
    for symbol in signature.symbols:
        for axis, length in enumerate(shape_of(symbol)):
            if length.free_symbols <= names.keys() and signature.axes.get(length) != (symbol, axis):
                lines.append(
                    f"if {names[symbol]}.shape[{axis}] != {size_text(length, names, backend)}:"
                )
                lines.append(
                    f'    raise IndexError("an argument has another length on axis {axis}")'
                )
    for bound in bounds:
        if bound.free_symbols <= names.keys():
            lines.append(f"if {size_text(bound, names, backend)} < 0:")
            lines.append('    raise IndexError("a position is outside of its axis")')
    return lines
