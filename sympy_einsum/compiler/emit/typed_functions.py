"""A plan as a function of a language with types: the same loop nests as those of Numba's kernels,
with the helper functions that it needs."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from sympy import Expr

from ...core import Shape, UnsupportedError
from ...expressions import shape_of
from ..backends import is_plain_name
from ..ir.plans import Plan
from ..ir.solutions import solutions_refused
from ..passes.loop_nests import Kernel
from .language import Language
from .signature import Signature, shape_text, size_code
from .typed_printer import ErrorCode, TypedPrinter
from .typed_values import (
    DOUBLE,
    INTEGER,
    AnyValue,
    ArrayValue,
    Value,
    integer,
    refusal,
    scalar_value,
)


class Parameter(NamedTuple):
    """An argument or a result: its name, the lengths of its axes, their texts for people, and the
    type of its entries."""

    name: str
    lengths: tuple[Value, ...]
    shape: str
    kind: str

    def described(self) -> str:
        """Return what it is."""
        what = "integer" if self.kind == INTEGER else "number"
        return f"array of {what}s of shape {self.shape}" if self.lengths else what


class TypedFunction:
    """The function of a language that computes a plan.

    Attributes
    ==========

    name : the function's name
    lengths : the axis lengths that it takes, by their names
    arguments, results : the others that it takes, and what it computes
    printer : its statements
    """

    def __init__(
        self,
        language: Language,
        signature: Signature,
        plan: Plan,
        bounds: Mapping[Expr, str],
        name: str,
    ) -> None:
        """``bounds`` are what mustn't be negative."""
        if any(step.op == "solution" for step in plan.instructions):
            raise UnsupportedError(solutions_refused(language.name))
        backend = signature.backend
        self.signature, self.name = signature, name
        self._size = partial(size_code, names=signature.names, backend=backend)
        self.kernel = Kernel(plan, signature.names, backend, partial(size_code, backend=backend))
        statements, codes = self.kernel.statements()
        if backend.functions.used:
            unknown = next(iter(backend.functions.used))
            raise UnsupportedError(refusal(f"the function {unknown} of Python's"))
        self.printer = TypedPrinter(language, self.kernel.new_name)
        self._take_arguments(language)
        self._take_results(codes)
        self._constants()
        self._check_lengths(bounds)
        language.begin(self)
        for k in self.kernel.given:
            own = self.kernel.values[k].array
            self.printer.values[own] = array = self.printer.new_array(
                self._lengths_of(self.kernel.shape_of(k)), DOUBLE, own
            )
            self.printer.fill(array, Value(language.double(0.0)))
        values = self.printer.body(statements, codes)
        for result, value in zip(self.results, values, strict=True):
            self._store(result, value)

    def _take_arguments(self, language: Language) -> None:
        """Find the parameters, with names that the language has."""
        signature, steps = self.signature, self.kernel.plan.instructions
        positions = self.kernel.facts.positions
        taken = {self.kernel.array(k) for k in positions if steps[k].op == "argument"}
        given = {
            own: INTEGER if own in taken or (not shape_of(s) and s.is_integer) else DOUBLE
            for s, own in zip(signature.symbols, signature.arguments, strict=True)
        }
        lengths = [signature.names[length] for length in signature.lengths]
        names = self._spelled(language, [*given, *lengths])
        self.lengths = [names[own] for own in lengths]
        self.printer.values.update({own: Value(names[own], kind=INTEGER) for own in lengths})
        for symbol, (own, kind) in zip(signature.symbols, given.items(), strict=True):
            if not shape_of(symbol):
                self.printer.values[own] = Value(names[own], kind=kind)
                self.printer.positions += [own] * (kind == INTEGER)
        self.arguments: list[Parameter] = []
        for symbol, (own, kind) in zip(signature.symbols, given.items(), strict=True):
            parameter = self._parameter(names[own], shape_of(symbol), kind)
            self.arguments.append(parameter)
            if parameter.lengths:
                self.printer.values[own] = ArrayValue(
                    names[own], parameter.lengths, kind, is_constant=True, root=names[own]
                )

    def _spelled(self, language: Language, names: list[str]) -> dict[str, str]:
        """Return names of the language, of which no two are equal in it."""
        taken = {*language.reserved, *language.parts(), *self.signature.backend.reserved()}
        taken |= {language.folded(self.name), language.folded(f"{self.name}_module")}
        found: dict[str, str] = {}
        for number, own in enumerate(names):
            folded = language.folded(own)
            is_free = folded not in taken and is_plain_name(folded) and language.allows(own)
            found[own] = own if is_free else f"arg{number}_"
            taken.add(language.folded(found[own]))
        return found

    def _parameter(self, name: str, shape: Shape, kind: str) -> Parameter:
        text = shape_text(shape, self.signature.names, self.signature.backend)
        return Parameter(name, self._lengths_of(shape), text, kind)

    def _take_results(self, codes: list[ast.expr]) -> None:
        """Find the results, and which arrays of the kernel they are."""
        plan, positions = self.kernel.plan, self.kernel.facts.positions
        made = {value.array for value in self.kernel.values.values() if value.array}
        self.results = [
            self._parameter(
                f"result{place}",
                plan.instructions[k].shape,
                INTEGER if k in positions else DOUBLE,
            )
            for place, k in enumerate(plan.results)
        ]
        for result, code in zip(self.results, codes, strict=True):
            if result.lengths and isinstance(code, ast.Name) and code.id in made:
                self.printer.results.setdefault(code.id, result.name)

    def _lengths_of(self, shape: Shape) -> tuple[Value, ...]:
        return tuple([self.length(length) for length in shape])

    def length(self, length: Expr) -> Value:
        """Return an axis length."""
        return scalar_value(self.printer.value(self._size(length)))

    def _constants(self) -> None:
        """Define the constant arrays."""
        for k, own in self.kernel.constants.items():
            entries = self.kernel.step(k).params[0].array
            kind = INTEGER if k in self.kernel.facts.positions else DOUBLE
            name = self.kernel.new_name()
            shape = self._lengths_of(self.kernel.shape_of(k))
            self.printer.values[own] = ArrayValue(name, shape, kind, is_constant=True, root=name)
            self._constant_array(name, kind, entries)

    def _constant_array(self, name: str, kind: str, entries: np.ndarray) -> None:
        language, use = self.printer.language, self.printer.use
        values = [language.constant(own, use) for own in np.ravel(entries).tolist()]
        values = values if kind == INTEGER else [language.as_double(own, use) for own in values]
        language.constant_array(self.printer, name, kind, [own.text for own in values])

    def _check_lengths(self, bounds: Mapping[Expr, str]) -> None:
        """Refuse lengths that are negative, and positions outside of their axes."""
        wanted: dict[Value, None] = {}
        lengths = [*self.signature.lengths, *self.signature.given]
        for symbol in self.signature.symbols:
            lengths += [n for n in shape_of(symbol) if not n.is_Atom]
        language, zero = self.printer.language, integer(0)
        told = self.signature.axes if language.reads_lengths else {}
        for bound in [*lengths, *self.signature.sizes, *bounds]:
            if bound.free_symbols <= self.signature.names.keys() and bound not in told:
                wanted[language.comparison(ast.Lt(), self.length(bound), zero)] = None
        for test in wanted:
            self.printer.fail_if(test, ErrorCode.OUTSIDE)

    def _store(self, result: Parameter, value: AnyValue) -> None:
        """Write a result, unless it is computed in place."""
        printer, language = self.printer, self.printer.language
        if isinstance(value, ArrayValue):
            if value.text != result.name:
                target = ArrayValue(result.name, result.lengths, result.kind)
                language.copy(printer, target, value)
            return
        number = scalar_value(value)
        if result.kind == DOUBLE:
            number = language.as_double(number, printer.use)
        language.store(printer, result.name, number.text)

    def described(self) -> list[str]:
        """Return a line for each parameter."""
        lines = []
        if self.lengths:
            plural = "s" if len(self.lengths) > 1 else ""
            lines.append(f"{', '.join(self.lengths)} : axis length{plural}")
        lines += [f"{own.name} : {own.described()}" for own in self.arguments]
        lines += [f"{own.name} : {own.described()}, which is written" for own in self.results]
        return lines
