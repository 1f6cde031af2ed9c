"""Source of a kernel, one function of all arguments that checks their lengths first, and of the
function that calls it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from sympy import Expr

from ...core import UnsupportedError, deferred
from ...expressions import shape_of
from ..ir.code import (
    Code,
    as_code,
    assigned,
    function as function_of,
    name,
    names_in,
    quote,
    raise_if,
)
from ..ir.plans import Plan
from .printer import printed
from .signature import Signature, size_code

_kernel = deferred("compiler.passes.loop_nests", "Kernel")


class KernelText(NamedTuple):
    """The text of a kernel; for each argument, each constant and each array of zeros that it writes
    to how many axes it has and whether it is of integers; the constants; the shapes of the zeros as
    code; and for each result whether it is an array, or a position.

    NumPy's zeros take no time before they are written to.
    """

    text: str
    arguments: list[tuple[int, bool]]
    constants: dict[str, np.ndarray]
    zeros: list[list[Code]]
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
        function: Code,
        types: tuple[Code, Code] | None = None,
    ) -> list[ast.stmt]:
        """Return the statements that call the kernel and arrange its results; ``types`` are those
        of arrays and of numbers, without which conversion is left to the called function."""
        zeros = shapes = [as_code(shape) for shape in self.zeros]
        names = [name(f"t{k + 1}") for k in range(len(self.results))]
        results = names
        if types is not None:
            kind, number = types
            zeros = [quote("np.zeros({0}, {1})", shape, kind) for shape in shapes]
            pairs = zip(names, self.results, strict=True)
            results = [own if is_kept else quote("{0}({1})", number, own) for own, is_kept in pairs]
        result = layout(results)
        used = {*names_in(result), *[own for shape in shapes for own in names_in(shape)]}
        reads = signature.read_lengths([s for s in signature.lengths if signature.names[s] in used])
        arguments = [*map(name, [*signature.arguments, *self.constants]), *zeros]
        targets = names[0] if len(names) == 1 else ast.Tuple(names)
        calling = [assigned(targets, ast.Call(function, arguments, []))] if names else []
        return [*reads, *calling, ast.Return(result)]


def kernel_text(signature: Signature, plan: Plan, bounds: Collection[Expr]) -> KernelText:
    """Return the kernel for a plan; ``bounds`` are the lengths that mustn't be negative."""
    backend = signature.backend
    kernel = _kernel(plan, signature.names, backend, partial(size_code, backend=backend))
    statements, results = kernel.statements()
    if backend.functions.used:
        function = next(iter(backend.functions.used))
        raise UnsupportedError(
            f"backend {backend.name!r} can't call the function {function} of Python's; make "
            f'it by function({function!r}, code="..."), with its text'
        )
    steps, facts = kernel.plan.instructions, kernel.facts
    integers = {kernel.array(k) for k in facts.positions if steps[k].op == "argument"}
    arguments = [
        (len(shape_of(s)), own in integers or (not shape_of(s) and bool(s.is_integer)))
        for s, own in zip(signature.symbols, signature.arguments, strict=True)
    ]
    constants = {own: steps[k].params[0].array for k, own in kernel.constants.items()}
    arguments += [
        (constants[own].ndim, k in facts.positions) for k, own in kernel.constants.items()
    ]
    arguments += [(len(steps[k].shape), False) for k in kernel.given]
    returned = ast.Return(results[0] if len(results) == 1 else ast.Tuple(results))
    given = [kernel.values[k].array for k in kernel.given]
    body = [
        *signature.read_lengths(signature.lengths),
        *_guards(signature, bounds),
        *statements,
        returned,
    ]
    names = map(name, [*signature.arguments, *constants, *given])
    own = function_of("compute", [*names], body, [name("kernel")])
    kept = [bool(steps[k].shape) or k in facts.positions for k in kernel.plan.results]
    return KernelText(
        printed(own), arguments, constants, [kernel.shape(k) for k in kernel.given], kept
    )


def _guards(signature: Signature, bounds: Collection[Expr]) -> list[ast.stmt]:
    """Return the statements that keep a kernel within its arrays, few because each frees arrays
    of the kernel."""
    names, backend = signature.names, signature.backend
    lengths = []
    for symbol in signature.symbols:
        for axis, length in enumerate(shape_of(symbol)):
            if length.free_symbols <= names.keys() and signature.axes.get(length) != (symbol, axis):
                size = size_code(length, names, backend)
                lengths.append(quote("{0}.shape[{1}] != {2}", name(names[symbol]), axis, size))
    positions = [
        quote("{0} < 0", size_code(bound, names, backend))
        for bound in bounds
        if bound.free_symbols <= names.keys()
    ]
    problems = {
        "an argument has another length": lengths,
        "a position is outside of its axis": positions,
    }
    return [raise_if(tests, "IndexError", what) for what, tests in problems.items() if tests]
