"""A plan as a function of C: the same loop nests as those of Numba's kernels, in one translation
unit with the helper functions that it needs."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from functools import partial

import numpy as np
from sympy import Expr

from ...core import Shape, UnsupportedError
from ...expressions import shape_of
from ..ir.code import Code
from ..ir.plans import Plan
from ..ir.solutions import solutions_refused
from ..passes.loop_nests import Kernel
from ..runtime.c_helpers import helper_parts, helper_texts
from .language import as_double
from .signature import Signature, shape_text, size_code
from .typed_printer import CPrinter, ErrorCode
from .typed_values import (
    DOUBLE,
    INTEGER,
    SUM,
    AnyValue,
    ArrayValue,
    Value,
    product_of,
    refusal,
    scalar_value,
)

# The words of C, and the names of its library that code uses.
KEYWORDS = """auto break case char const continue default do double else enum extern float for goto
if inline int long register restrict return short signed sizeof static struct switch typedef union
unsigned void volatile while _Bool _Complex _Imaginary alignas alignof and asm bool catch class
constexpr delete false friend main mutable namespace new not nullptr operator or private protected
public template this throw true try typeid typename using virtual xor"""
LIBRARY = """INFINITY NAN NULL INT64_C int64_t uint64_t size_t abs acos acosh asin asinh atan atan2
atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax fmin fmod free
frexp gamma hypot ilogb isfinite isinf isnan j0 j1 jn ldexp lgamma log log10 log1p log2 logb lrint
lround malloc memcpy memmove memset modf nan nearbyint nextafter pow realloc remainder remquo rint
round scalbn signgam sin sinh sqrt tan tanh tgamma trunc y0 y1 yn div rand labs atoi exit index
bcopy bcmp bzero"""
OWN = """four_dots memory error done release allocate Memory Factors SIMD PRAGMA ROWS COLUMNS
BLOCK_ROWS BLOCK_COLUMNS BLOCK_DEPTH add_panels pack lu cholesky factor_columns by_triangle
exchange_rows bits_of from_bits"""


def reserved_names() -> set[str]:
    """Return the names that mean something in generated C."""
    results = [f"result{k}" for k in range(100)]
    words = f"{KEYWORDS} {LIBRARY} {OWN}".split()
    return {*words, *helper_parts(), *results}


def c_text(signature: Signature, plan: Plan, bounds: Mapping[Expr, str], name: str) -> str:
    """Return the translation unit of a function that computes a plan; ``bounds`` are what mustn't
    be negative."""
    if any(step.op == "solution" for step in plan.instructions):
        raise UnsupportedError(solutions_refused("c"))
    return _Unit(signature, plan, bounds, name).text()


class _Unit:
    """A translation unit in the making."""

    def __init__(
        self, signature: Signature, plan: Plan, bounds: Mapping[Expr, str], name: str
    ) -> None:
        backend = signature.backend
        self.signature, self.bounds, self.name = signature, bounds, name
        self.size = partial(size_code, names=signature.names, backend=backend)
        kernel = Kernel(plan, signature.names, backend, partial(size_code, backend=backend))
        self.statements, self.codes = kernel.statements()
        if backend.functions.used:
            unknown = next(iter(backend.functions.used))
            raise UnsupportedError(refusal(f"the function {unknown} of Python's"))
        self.kernel = kernel
        steps, positions = kernel.plan.instructions, kernel.facts.positions
        taken = {kernel.array(k) for k in positions if steps[k].op == "argument"}
        self.kinds = [
            INTEGER if own in taken or (not shape_of(s) and s.is_integer) else DOUBLE
            for s, own in zip(signature.symbols, signature.arguments, strict=True)
        ]
        self.results = [
            (f"result{place}", steps[k].shape, INTEGER if k in positions else DOUBLE)
            for place, k in enumerate(kernel.plan.results)
        ]
        places = [
            own
            for symbol, own, kind in zip(
                signature.symbols, signature.arguments, self.kinds, strict=True
            )
            if kind == INTEGER and not shape_of(symbol)
        ]
        self.printer = CPrinter({}, self._targets(), kernel.new_name, places)

    def _targets(self) -> dict[str, str]:
        """Return the results that arrays of the kernel are, by their variables."""
        made = {value.array for value in self.kernel.values.values() if value.array}
        found: dict[str, str] = {}
        for (text, shape, _), code in zip(self.results, self.codes, strict=True):
            if shape and isinstance(code, ast.Name) and code.id in made:
                found.setdefault(code.id, text)
        return found

    def text(self) -> str:
        """Return the text of the whole unit."""
        printer, kernel = self.printer, self.kernel
        lengths = [self.signature.names[s] for s in self.signature.lengths]
        printer.values.update({own: Value(own, kind=INTEGER) for own in lengths})
        arguments = [f"int64_t {own}" for own in lengths]
        for symbol, own, kind in zip(
            self.signature.symbols, self.signature.arguments, self.kinds, strict=True
        ):
            shape = shape_of(symbol)
            printer.values[own] = (
                ArrayValue(own, self._lengths(shape), kind, is_constant=True, root=own)
                if shape
                else Value(own, kind=kind)
            )
            arguments.append(f"const {kind} *restrict {own}" if shape else f"{kind} {own}")
        arguments += [f"{kind} *restrict {own}" for own, _, kind in self.results]
        self._constants()
        self._check_lengths()
        for k in kernel.given:
            own = kernel.values[k].array
            printer.values[own] = array = printer.new_array(
                self._lengths(kernel.shape_of(k)), DOUBLE, own
            )
            printer.fill(array, Value("0.0"))
        values = printer.body(self.statements, self.codes)
        for (own, shape, kind), value in zip(self.results, values, strict=True):
            self._store(own, shape, kind, value)
        head = f"int {self.name}({', '.join(arguments) or 'void'})"
        parts = [
            self._comment(head, lengths),
            "\n".join(self._includes()),
            *helper_texts(printer.used),
            f"{head}\n{{\n{self._body()}}}",
        ]
        return "\n\n".join(parts) + "\n"

    def _lengths(self, shape: Shape) -> tuple[Value, ...]:
        return tuple([self._length(length) for length in shape])

    def _length(self, length: Expr) -> Value:
        return scalar_value(self.printer.value(self.size(length)))

    def _constants(self) -> None:
        """Define the constant arrays."""
        for k, own in self.kernel.constants.items():
            entries = self.kernel.step(k).params[0].array
            kind = INTEGER if k in self.kernel.facts.positions else DOUBLE
            name = self.kernel.new_name()
            shape = self._lengths(self.kernel.shape_of(k))
            self.printer.values[own] = ArrayValue(name, shape, kind, is_constant=True, root=name)
            numbers = _written(entries, kind)
            self.printer.lines.append(f"static const {kind} {name}[] = {{{numbers}}};")

    def _check_lengths(self) -> None:
        """Refuse lengths that are negative, and positions outside of their axes."""
        wanted: dict[str, None] = {}
        lengths = [*self.signature.lengths, *self.signature.given]
        for symbol in self.signature.symbols:
            lengths += [n for n in shape_of(symbol) if not n.is_Atom]
        for bound in [*lengths, *self.signature.sizes, *self.bounds]:
            if bound.free_symbols <= self.signature.names.keys():
                wanted[f"{self._length(bound).at(SUM)} < 0"] = None
        for test in wanted:
            self.printer.fail_if(test, ErrorCode.OUTSIDE)

    def _store(self, own: str, shape: Shape, kind: str, value: AnyValue) -> None:
        """Write a result, unless it is computed in place."""
        printer = self.printer
        if isinstance(value, ArrayValue):
            if value.text != own:
                size = product_of(self._lengths(shape))
                printer.lines.append(f"{printer.use('copy')}({own}, {value.text}, {size.text});")
            return
        text = as_double(scalar_value(value)).text if kind == DOUBLE else scalar_value(value).text
        printer.lines.append(f"*{own} = {text};")

    def _body(self) -> str:
        """Return the lines of the function's body."""
        printer = self.printer
        lines = []
        if printer.can_fail:
            lines.append("int error = 0;")
        if printer.has_memory:
            lines.append("Memory memory = {NULL, 0, 0};")
        lines += printer.lines
        if not printer.can_fail:
            lines.append("return 0;")
        else:
            lines += ["done:"]
            lines += ["release(&memory, -1);"] if printer.has_memory else []
            lines.append("return error;")
        return "".join([line if line == "done:" else f"    {line}\n" for line in lines]).replace(
            "done:", "done:\n"
        )

    def _includes(self) -> list[str]:
        lines = [f"#include <{own}.h>" for own in ("math", "stdint", "stdlib", "string")]
        if {"matrix_by_vector", "add_product"} & {*self._parts()}:
            lines += ["#ifdef USE_CBLAS", "#include <cblas.h>", "#endif"]
        return lines

    def _parts(self) -> Collection[str]:
        """Return the parts of the helper functions, with those that they need."""
        found, parts = {*self.printer.used}, helper_parts()
        for name in reversed(parts):
            if name in found:
                found.update(parts[name].needs)
        return found

    def _comment(self, head: str, lengths: Sequence[str]) -> str:
        """Return the documentation of the function."""
        signature = self.signature
        lines = [f"{head};", ""]
        if lengths:
            lines.append(f"{', '.join(lengths)} : axis length{'s' if len(lengths) > 1 else ''}")
        for symbol, own, kind in zip(
            signature.symbols, signature.arguments, self.kinds, strict=True
        ):
            lines.append(f"{own} : {self._described(shape_of(symbol), kind)}")
        for own, shape, kind in self.results:
            lines.append(f"{own} : {self._described(shape, kind)}, which is written")
        lines += [
            "",
            "Arrays are contiguous in row-major order (C order), and results overlap nothing else.",
            "Returns 0, or an error: 1 for a matrix that is singular, or isn't positive definite;",
            "2 for a length or a position that doesn't fit; 3 if there is no memory.",
            "",
            "Fastest with -O3 -march=native -ffp-contract=fast -fno-math-errno -fno-trapping-math",
            "-fopenmp-simd -DUSE_SIMD; with -DUSE_CBLAS products of matrices are a library's.",
        ]
        text = "\n   ".join(lines).replace("   \n", "\n")
        return f"/* Generated by sympy_einsum.\n\n   {text} */"

    def _described(self, shape: Shape, kind: str) -> str:
        what = "integer" if kind == INTEGER else "number"
        if not shape:
            return what
        text = shape_text(shape, self.signature.names, self.signature.backend)
        return f"array of {what}s of shape {text}"


def _written(entries: np.ndarray, kind: str) -> str:
    """Return the numbers of a constant array; C has none without entries."""
    flat: list[Code] = [ast.Constant(own) for own in np.ravel(entries).tolist()]
    printer = CPrinter({}, {}, str)
    values = [scalar_value(printer.value(own)) for own in flat]
    texts = [own.text if kind == INTEGER else as_double(own).text for own in values]
    return ", ".join(texts) or "0"
