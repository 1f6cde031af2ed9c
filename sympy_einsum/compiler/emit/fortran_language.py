"""Fortran 2008: a module with one subroutine, which C can call too.

Arrays are assumed-size with lower bound 0, so that entries have the same places as in C.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from ..runtime.language_helpers import needed_parts
from .language import MATH_NAMES, Language, Use, arithmetic, call_text
from .typed_printer import ErrorCode, TypedPrinter, inner_lines
from .typed_values import (
    ATOM,
    DOUBLE,
    EQUALITY,
    INTEGER,
    PRODUCT,
    SIGN,
    SUM,
    TRUTH,
    Argument,
    Arguments,
    ArrayValue,
    Value,
    difference_of,
    integer,
    sum_of,
)

if TYPE_CHECKING:
    from .typed_functions import Parameter, TypedFunction

# Bessel functions, whose orders are integers that are written out.
BESSEL = {"jv": "bessel_jn", "yv": "bessel_yn"}
TYPES = {DOUBLE: "real(c_double)", INTEGER: "integer(c_int64_t)", TRUTH: "logical"}
# The longest line, and the most entries of a constant array in one statement.
WIDTH, ENTRIES = 132, 400
WORDS = """allocate allocated block call case contains cycle data deallocate do else elseif end
enddo endif entry error exit function goto if implicit in inout integer intent interface logical
module none out parameter private program public real result return save select size stop subroutine
then to transfer type use value where while c_double c_int c_int64_t iso_c_binding"""
OWN = """by_triangle exchange_rows exp huge iand int ior log lu max maxloc merge min modulo
move_alloc shiftl shiftr tanh transpose"""


class Fortran(Language):
    """Spells kernels in Fortran 2008."""

    name = "fortran"
    file = "fortran_helpers.f90"
    functions: ClassVar = {
        **MATH_NAMES,
        "np.abs": "abs",
        "np.floor": "floor_of",
        "np.ceil": "ceiling_of",
        "np.trunc": "aint",
        "np.fmod": "mod",
        "np.copysign": "sign",
        "math.gamma": "gamma",
        "math.lgamma": "log_gamma",
    }
    intrinsics: ClassVar = {
        "smaller_integer": "min",
        "larger_integer": "max",
        "absolute_integer": "abs",
        "floor_remainder": "modulo",
        "sign": "sign_of",
        "product": "product_of",
        "matmul": "matmul_of",
    }
    tests: ClassVar = {"np.isnan": "is_nan", "np.isinf": "is_infinite", "np.isfinite": "is_finite"}
    infinity = "infinity"
    nan = "nan"
    power_sign = "**"
    conjunction, disjunction, different = ".and.", ".or.", "/="
    sign_level = SUM
    truths = (".false.", ".true.")
    words = f"{WORDS} {OWN}"
    end = "end do"
    computes_both = True

    def folded(self, name: str) -> str:
        return name.lower()

    def allows(self, name: str) -> bool:
        return len(name) <= 56

    # --- numbers

    def double(self, value: float) -> str:
        text = repr(value)
        return text.replace("e", "d") if "e" in text else f"{text}d0"

    def cast_to_double(self, value: Value) -> Value:
        return Value(f"real({value.text}, c_double)")

    def as_integer(self, value: Value) -> Value:
        if value.kind == INTEGER:
            return value
        if value.kind == TRUTH:
            return Value(f"merge(1_c_int64_t, 0_c_int64_t, {value.text})", ATOM, INTEGER)
        return Value(f"int({value.text}, c_int64_t)", ATOM, INTEGER)

    def converted(self, value: Value, kind: str, use: Use) -> str:
        if kind == DOUBLE:
            return self.as_double(value, use).text
        own = self.as_integer(value) if kind == INTEGER else value
        return own.text if own.number is None else f"{own.number}_c_int64_t"

    def stored(self, value: Value, kind: str, use: Use) -> str:
        if value.kind == TRUTH != kind:
            return self.converted(value, kind, use)
        return value.text

    def _number(self, value: Value) -> Value:
        return self.as_integer(value) if value.kind == TRUTH else value

    # --- operators

    def negative(self, value: Value, use: Use) -> Value:
        return super().negative(self._number(value), use)

    def binary(self, operator: ast.operator, left: Value, right: Value, use: Use) -> Value:
        if isinstance(operator, (ast.Add, ast.Sub)):
            left, right = self._number(left), self._number(right)
        return super().binary(operator, left, right, use)

    def negation(self, value: Value) -> Value:
        return Value(f".not. {self.logical(value).at(ATOM)}", EQUALITY, TRUTH)

    def comparison(self, operator: ast.cmpop, left: Value, right: Value) -> Value:
        return super().comparison(operator, self._number(left), self._number(right))

    def choice(self, test: Value, first: Value, second: Value, use: Use) -> Value:
        kinds = {first.kind, second.kind}
        kind = TRUTH if kinds == {TRUTH} else arithmetic([first, second])
        texts = [self.converted(own, kind, use) for own in (first, second)]
        return Value(f"merge({texts[0]}, {texts[1]}, {self.logical(test).text})", ATOM, kind)

    def call(self, function: str, arguments: Sequence[Value], use: Use) -> Value:
        order = arguments[0].number if arguments[0].kind == INTEGER else None
        if function in BESSEL and order is not None and order >= 0:
            argument = self.as_double(arguments[1], use)
            return Value(f"{BESSEL[function]}({order}, {argument.text})")
        return super().call(function, arguments, use)

    # --- arrays

    def entry(self, array: ArrayValue, place: Value) -> str:
        return f"{array.text}({place.text})"

    def argument(self, value: Argument, use: Use) -> str:
        if isinstance(value, Value):
            return self.converted(value, value.kind, use)
        return super().argument(value, use)

    def part(self, array: ArrayValue) -> str:
        return f"{array.text}({array.offset.text})"

    def _section(self, array: ArrayValue) -> str:
        last = difference_of(sum_of(array.offset, array.size), integer(1))
        return f"{array.text}({array.offset.text}:{last.text})"

    # --- statements

    def _declared(self, printer: TypedPrinter, own: str, kind: str) -> None:
        known = printer.declared.setdefault(own, kind)
        assert known == kind, own

    def declare(self, printer: TypedPrinter, own: str, value: Value, is_fixed: bool) -> None:
        self._declared(printer, own, TYPES[value.kind])
        self.assign(printer, own, value.text)

    def augment(self, printer: TypedPrinter, target: str, operator: str, value: Value) -> None:
        term = self._number(value).at(SIGN if operator == "*" else PRODUCT)
        self.assign(printer, target, f"{target} {operator} {term}")

    def branch(
        self, printer: TypedPrinter, own: str, test: Value, first: list[str], second: list[str]
    ) -> None:
        self._declared(printer, own, TYPES[DOUBLE])
        head = f"if ({self.logical(test).text}) then"
        printer.lines += [head, *inner_lines(first), "else", *inner_lines(second), "end if"]

    def loop(self, printer: TypedPrinter, own: str, start: Value, stop: Value, step: Value) -> None:
        self._declared(printer, own, TYPES[INTEGER])
        is_down = step.number == -1
        last = (sum_of if is_down else difference_of)(stop, integer(1))
        by = "" if step.is_integer(1) else f", {step.text}"
        printer.lines.append(f"do {own} = {start.text}, {last.text}{by}")

    def vectorize(self, printer: TypedPrinter, sums: Mapping[str, str]) -> None:
        clauses = [f"reduction({operator} : {own})" for own, operator in sums.items()]
        printer.lines.append(f"!$omp simd {' '.join(clauses)}")

    def fail_if(self, printer: TypedPrinter, test: Value, error: ErrorCode) -> None:
        head = f"if ({self.logical(test).text}) then"
        printer.lines += [head, *inner_lines([f"error = {error:d}", "return"]), "end if"]

    def _checked(self, printer: TypedPrinter, call: str) -> None:
        printer.lines += [f"error = {call}", "if (error /= 0) return"]

    def allocate(self, printer: TypedPrinter, array: ArrayValue, is_exchanged: bool) -> None:
        self._declared(printer, array.text, f"{TYPES[array.kind]}, allocatable :: (0:)")
        printer.lines.append(f"allocate ({self._section(array)}, stat=error)")
        failed = Value("error /= 0", kind=TRUTH)
        self.fail_if(printer, failed, ErrorCode.NO_MEMORY)

    def released(self, printer: TypedPrinter, lines: list[str], arrays: Sequence[str]) -> list[str]:
        return [*lines, f"deallocate ({', '.join(arrays)})"] if arrays else lines

    def exchange(self, printer: TypedPrinter, own: str, other: str, kind: str) -> None:
        name = printer.new_name()
        self._declared(printer, name, f"{TYPES[kind]}, allocatable :: (0:)")
        for source, target in ((own, name), (other, own), (name, other)):
            printer.lines.append(f"call move_alloc({source}, {target})")

    def fill(self, printer: TypedPrinter, array: ArrayValue, text: str) -> None:
        self.assign(printer, self._section(array), text)

    def copy(self, printer: TypedPrinter, target: ArrayValue, source: ArrayValue) -> None:
        sized = ArrayValue(target.text, source.shape, target.kind, target.offset)
        self.assign(printer, self._section(sized), self._section(source))

    def factors(self, printer: TypedPrinter, own: str, given: Arguments) -> None:
        self._declared(printer, own, "type(factors)")
        call = call_text(self, "factored", [*given, Value(own)], printer.use)
        printer.lines.append(f"call {call}")

    def compute(
        self, printer: TypedPrinter, part: str, given: Arguments, *, memory: bool, fails: bool
    ) -> None:
        call = call_text(self, part, given, printer.use)
        if fails:
            self._checked(printer, call)
        else:
            printer.lines.append(f"call {call}")

    def number(self, printer: TypedPrinter, part: str, given: Arguments, *, memory: bool) -> Value:
        own = Value(printer.new_name())
        self._declared(printer, own.text, TYPES[DOUBLE])
        self.compute(printer, part, [*given, own], memory=memory, fails=True)
        return own

    # --- functions

    def constant_array(self, printer: TypedPrinter, own: str, kind: str, texts: list[str]) -> None:
        starts = range(0, max(1, len(texts)), ENTRIES)
        parts = [texts[start : start + ENTRIES] for start in starts]
        if kind == INTEGER:
            parts = [[f"{text}_c_int64_t" for text in part] for part in parts]
        arrays = [f"[{TYPES[kind]} :: {', '.join(part)}]" for part in parts]
        if len(parts) > 1:
            # So many that a statement would have too many lines.
            names = [f"{own}_{number}" for number in range(len(parts))]
            for name, part, array in zip(names, parts, arrays, strict=True):
                printer.declared[f"{name}({len(part)}) = {array}"] = f"{TYPES[kind]}, parameter"
            arrays = [f"[{', '.join(names)}]"]
        text = f"{own}(0:{len(texts) - 1}) = {arrays[0]}"
        printer.declared[text] = f"{TYPES[kind]}, parameter"

    def text(self, unit: TypedFunction) -> str:
        printer = unit.printer
        names = [*unit.lengths, *[own.name for own in [*unit.arguments, *unit.results]], "error"]
        head = f"subroutine {unit.name}({', '.join(names)})"
        described = [
            "Generated by sympy_einsum.",
            "",
            f"call {unit.name}({', '.join(names)})",
            "",
            *unit.described(),
            "error : 0, or 1 for a matrix that is singular or isn't positive definite; 2 for a",
            "length or a position that doesn't fit; 3 if there is no memory",
            "",
            "Arrays are contiguous, in row-major order of the shapes above. In Fortran that is the",
            "order of reversed axes: for shape (n, m) pass an array of shape (m, n), whose entry",
            "(j, i) is entry (i, j) here. Lengths are of kind c_int64_t, numbers of kind c_double.",
            "Positions count from 0. Results overlap nothing else.",
            "",
            "Fastest with -O3 -march=native -ffp-contract=fast -fno-math-errno -fno-trapping-math",
            "-fopenmp-simd.",
        ]
        parts = needed_parts(self.file, [*printer.used, "contains"])
        specifications, _, functions = "\n\n".join(
            [*[part.text for part in parts.values()], self._subroutine(unit, head)]
        ).partition("contains\n")
        lines = [
            *[f"! {line}".rstrip() for line in described],
            f"module {unit.name}_module",
            "use, intrinsic :: iso_c_binding, only: c_double, c_int, c_int64_t",
            "implicit none",
            "private",
            f"public :: {unit.name}",
            "",
            *specifications.splitlines(),
            "contains",
            *functions.splitlines(),
            "",
            "end module",
        ]
        return "\n".join(part for line in lines for part in continued(line)) + "\n"

    def _subroutine(self, unit: TypedFunction, head: str) -> str:
        declared = [f"integer(c_int64_t), intent(in), value :: {own}" for own in unit.lengths]
        declared += [self._dummy(own, "in") for own in unit.arguments]
        declared += [self._dummy(own, "out") for own in unit.results]
        declared.append("integer(c_int), intent(out) :: error")
        by_type: dict[str, list[str]] = {}
        for own, kind in unit.printer.declared.items():
            start, _, bounds = kind.partition(" :: ")
            by_type.setdefault(start, []).append(f"{own}{bounds.replace('0:', ':')}")
        for kind, names in by_type.items():
            if kind.endswith("parameter"):
                declared += [f"{kind} :: {name}" for name in names]
            else:
                declared.append(f"{kind} :: {', '.join(names)}")
        lines = inner_lines([*declared, "error = 0", *unit.printer.lines])
        return "\n".join([f'{head} bind(C, name="{unit.name}")', *lines, "end subroutine"])

    def _dummy(self, own: Parameter, intent: str) -> str:
        kind = TYPES[own.kind]
        if own.lengths:
            return f"{kind}, intent({intent}) :: {own.name}(0:*)"
        passed = ", value" if intent == "in" else ""
        return f"{kind}, intent({intent}){passed} :: {own.name}"


def continued(line: str) -> Iterable[str]:
    """Return the lines of a statement or a comment, of which none is too long."""
    own = line.lstrip()
    is_comment = own.startswith("! ")
    start = line[: len(line) - len(own)] + (
        "! " if is_comment else "!$omp " if own.startswith("!$omp") else "    "
    )
    while len(line) > WIDTH:
        place = line.rindex(" ", 0, WIDTH - 2)
        yield line[:place] + ("" if is_comment else " &")
        line = start + line[place + 1 :]
    yield line
