"""C99: translation units that need nothing but the standard library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from ..runtime.language_helpers import needed_parts
from .language import MATH_NAMES, Language, Use, arithmetic, call_text
from .typed_printer import ErrorCode, TypedPrinter
from .typed_values import (
    ATOM,
    CHOICE,
    DOUBLE,
    INTEGER,
    OR,
    SIGN,
    Argument,
    Arguments,
    ArrayValue,
    FactorsValue,
    Value,
)

if TYPE_CHECKING:
    from .typed_functions import TypedFunction

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


class C(Language):
    """Spells kernels in C99."""

    name = "c"
    file = "c_helpers.c"
    functions: ClassVar = {
        **MATH_NAMES,
        **{f"np.{own}": own for own in ("floor", "ceil", "trunc", "fmod", "copysign")},
        "np.abs": "fabs",
        "math.gamma": "tgamma",
        "math.lgamma": "lgamma",
    }
    infinity = "INFINITY"
    nan = "NAN"
    truths = ("0", "1")
    words = f"{KEYWORDS} {LIBRARY} {OWN}"
    end = "}"
    terminator = ";"

    def cast_to_double(self, value: Value) -> Value:
        return Value(f"(double){value.at(SIGN)}", SIGN)

    def as_integer(self, value: Value) -> Value:
        if value.kind == INTEGER:
            return value
        return Value(f"(int64_t){value.at(SIGN)}", SIGN, INTEGER)

    def power(self, base: Value, exponent: Value, use: Use) -> Value:
        if base.kind == INTEGER and exponent.kind == INTEGER:
            if exponent.number is None or exponent.number >= 0:
                return self.called(use("integer_power"), [base, exponent], INTEGER, use)
        elif exponent.is_integer(2):
            return Value(f"{use('square')}({base.text})")
        elif exponent.kind == INTEGER and exponent.number is not None and 0 < exponent.number < 64:
            return Value(f"{use('power_of')}({base.text}, {exponent.text})")
        elif exponent.kind == DOUBLE and exponent.number == 0.5:
            return Value(f"sqrt({base.text})")
        return Value(f"pow({base.text}, {exponent.text})")

    def choice(self, test: Value, first: Value, second: Value, use: Use) -> Value:
        kinds = {first.kind, second.kind}
        kind = next(iter(kinds)) if len(kinds) == 1 else arithmetic([first, second])
        text = f"{test.at(OR)} ? {first.at(OR)} : {second.at(CHOICE)}"
        return Value(text, CHOICE, kind)

    def entry(self, array: ArrayValue, place: Value) -> str:
        return f"{array.text}[{place.text}]"

    def argument(self, value: Argument, use: Use) -> str:
        if isinstance(value, FactorsValue):
            return f"&{value.text}"
        return super().argument(value, use)

    def part(self, array: ArrayValue) -> str:
        return f"{array.text} + {array.offset.text}"

    def named_part(self, printer: TypedPrinter, own: str, array: ArrayValue) -> ArrayValue:
        kind = f"const {array.kind}" if array.is_constant else array.kind
        printer.lines.append(f"{kind} *{own} = {self.argument(array, printer.use)};")
        whole = Value("0", ATOM, INTEGER, 0)
        return ArrayValue(own, array.shape, array.kind, whole, array.is_constant, array.root)

    # --- statements

    def declare(self, printer: TypedPrinter, own: str, value: Value, is_fixed: bool) -> None:
        kind = f"const {value.kind}" if is_fixed else value.kind
        printer.lines.append(f"{kind} {own} = {value.text};")

    def loop(self, printer: TypedPrinter, own: str, start: Value, stop: Value, step: Value) -> None:
        relation = ">" if step.number == -1 else "<"
        change = {1: "++", -1: "--"}.get(int(step.number or 0), f" += {step.text}")
        test = f"{own} {relation} {stop.text}"
        printer.lines.append(f"for (int64_t {own} = {start.text}; {test}; {own}{change}) {{")

    def vectorize(self, printer: TypedPrinter, sums: Mapping[str, str]) -> None:
        printer.use("words")
        clauses = [f"reduction({operator} : {own})" for own, operator in sums.items()]
        printer.lines.append(f"SIMD({' '.join(clauses)})")

    def fail_if(self, printer: TypedPrinter, test: Value, error: ErrorCode) -> None:
        lines = [f"if ({test.text}) {{", f"    error = {error:d};", "    goto done;", "}"]
        printer.lines += lines

    def _checked(self, printer: TypedPrinter, call: str) -> None:
        printer.can_fail = True
        printer.lines += [f"if ((error = {call}) != 0)", "    goto done;"]

    def _memory(self, printer: TypedPrinter) -> str:
        return f"&{printer.use('memory')}"

    def allocate(self, printer: TypedPrinter, array: ArrayValue, is_exchanged: bool) -> None:
        pointer = f"{array.kind} *{'' if is_exchanged else 'restrict '}{array.text}"
        size = f"{array.size.text}, sizeof({array.kind})"
        printer.lines.append(f"{pointer} = allocate({self._memory(printer)}, {size});")
        printer.fail_if(Value(f"{array.text} == NULL"), ErrorCode.NO_MEMORY)

    def released(self, printer: TypedPrinter, lines: list[str], arrays: Sequence[str]) -> list[str]:
        if not arrays:
            return lines
        kept = printer.new_name()
        return [f"const int64_t {kept} = memory.count;", *lines, f"release(&memory, {kept});"]

    def exchange(self, printer: TypedPrinter, own: str, other: str, kind: str) -> None:
        name = printer.new_name()
        lines = [f"{kind} *{name} = {own};", f"{own} = {other};", f"{other} = {name};"]
        printer.lines += lines

    def fill(self, printer: TypedPrinter, array: ArrayValue, text: str) -> None:
        part = printer.use("fill" if array.kind == DOUBLE else "fill_integers")
        target = self.argument(array, printer.use)
        printer.lines.append(f"{part}({target}, {array.size.text}, {text});")

    def copy(self, printer: TypedPrinter, target: ArrayValue, source: ArrayValue) -> None:
        call = call_text(self, printer.use("copy"), [target, source, source.size], printer.use)
        printer.lines.append(f"{call};")

    def factors(self, printer: TypedPrinter, own: str, given: Arguments) -> None:
        printer.lines.append(f"Factors {own};")
        printer.allocated.append(own)
        texts = [self.argument(argument, printer.use) for argument in given]
        call = f"factored({', '.join([self._memory(printer), *texts])}, &{own})"
        self._checked(printer, call)

    def compute(
        self, printer: TypedPrinter, part: str, given: Arguments, *, memory: bool, fails: bool
    ) -> None:
        texts = [self._memory(printer)] if memory else []
        texts += [self.argument(argument, printer.use) for argument in given]
        call = f"{part}({', '.join(texts)})"
        if memory or fails:
            self._checked(printer, call)
        else:
            printer.lines.append(f"{call};")

    def number(self, printer: TypedPrinter, part: str, given: Arguments, *, memory: bool) -> Value:
        own = Value(printer.new_name())
        self.declare(printer, own.text, Value("0.0"), is_fixed=False)
        reference = Value(f"&{own.text}")
        self.compute(printer, part, [*given, reference], memory=memory, fails=True)
        return own

    # --- functions

    def constant_array(self, printer: TypedPrinter, own: str, kind: str, texts: list[str]) -> None:
        # C has no arrays without entries.
        numbers = ", ".join(texts) or "0"
        printer.lines.append(f"static const {kind} {own}[] = {{{numbers}}};")

    def store(self, printer: TypedPrinter, own: str, text: str) -> None:
        self.assign(printer, f"*{own}", text)

    def text(self, unit: TypedFunction) -> str:
        printer = unit.printer
        arguments = [f"int64_t {own}" for own in unit.lengths]
        for own in unit.arguments:
            const = f"const {own.kind} *restrict {own.name}"
            arguments.append(const if own.lengths else f"{own.kind} {own.name}")
        arguments += [f"{own.kind} *restrict {own.name}" for own in unit.results]
        head = f"int {unit.name}({', '.join(arguments) or 'void'})"
        parts = needed_parts(self.file, printer.used)
        includes = [f"#include <{own}.h>" for own in ("math", "stdint", "stdlib", "string")]
        if {"matrix_by_vector", "add_product"} & parts.keys():
            includes += ["#ifdef USE_CBLAS", "#include <cblas.h>", "#endif"]
        described = [
            f"{head};",
            "",
            *unit.described(),
            "",
            "Arrays are contiguous in row-major order (C order), and results overlap nothing else.",
            "Returns 0, or an error: 1 for a matrix that is singular, or isn't positive definite;",
            "2 for a length or a position that doesn't fit; 3 if there is no memory.",
            "",
            "Fastest with -O3 -march=native -ffp-contract=fast -fno-math-errno -fno-trapping-math",
            "-fopenmp-simd -DUSE_SIMD; with -DUSE_CBLAS products of matrices are a library's.",
        ]
        comment = "\n   ".join(described).replace("   \n", "\n")
        texts = [
            f"/* Generated by sympy_einsum.\n\n   {comment} */",
            "\n".join(includes),
            *[part.text for part in parts.values()],
            f"{head}\n{{\n{self._body(printer)}}}",
        ]
        return "\n\n".join(texts) + "\n"

    def _body(self, printer: TypedPrinter) -> str:
        """Return the lines of the function's body."""
        before = ["int error = 0;"] if printer.can_fail else []
        before += ["Memory memory = {NULL, 0, 0};"] if "memory" in printer.used else []
        lines = [f"    {line}\n" for line in [*before, *printer.lines]]
        if not printer.can_fail:
            return "".join([*lines, "    return 0;\n"])
        lines += ["done:\n"]
        lines += ["    release(&memory, -1);\n"] if "memory" in printer.used else []
        return "".join([*lines, "    return error;\n"])
