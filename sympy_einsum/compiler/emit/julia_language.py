"""Julia: a function of arrays, whose axes are reversed there, so that entries have the same places
as in C."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from ...expressions import shape_of
from ..runtime.language_helpers import needed_parts
from .language import Language, Use, arithmetic, call_text
from .typed_printer import ErrorCode, TypedPrinter, inner_lines
from .typed_values import (
    ATOM,
    CHOICE,
    DOUBLE,
    INTEGER,
    OR,
    SUM,
    TRUTH,
    Arguments,
    ArrayValue,
    Value,
    difference_of,
    integer,
    sum_of,
)

if TYPE_CHECKING:
    from .typed_functions import Parameter, TypedFunction

TYPES = {DOUBLE: "Float64", INTEGER: "Int64"}
ERRORS = {ErrorCode.OUTSIDE: 'ArgumentError("a length or a position doesn\'t fit")'}
WORDS = """abstract baremodule begin break catch const continue do else elseif end export false
finally for function global if import in isa let local macro module mutable primitive quote return
struct true try type using where while"""
OWN = """Array Bool DimensionMismatch ArgumentError Factors Float64 I Inf Int64 LinearAlgebra Matrix
NaN SpecialFunctions Symmetric Vector acos acosh asin atanh cholesky clamp collect copyto! cos det
exp fill! floatmax inv isfinite isinf isinteger isnan issuccess log log10 log1p log2 logabsdet
logdet lu mul! permutedims prod reshape sign sin sinc size sqrt tan throw tr transpose trunc view"""


class Julia(Language):
    """Spells kernels in Julia."""

    name = "julia"
    file = "julia_helpers.jl"
    functions: ClassVar = {
        **{
            f"np.{own}": f"{own}_of"
            for own in ("sqrt", "sin", "cos", "tan", "log2", "log10", "arcsin", "arccos")
        },
        **{f"np.{own}": own for own in ("cbrt", "sinh", "cosh", "hypot", "floor", "ceil")},
        **{f"np.{own}": own for own in ("trunc", "copysign", "exp2")},
        "np.arcsin": "asin_of",
        "np.arccos": "acos_of",
        "np.arctan": "atan",
        "np.arcsinh": "asinh",
        "np.arccosh": "acosh_of",
        "np.arctanh": "atanh_of",
        "np.arctan2": "atan",
        "np.rint": "round",
        "np.fmod": "rem",
        "np.abs": "abs",
        "math.erf": "erf",
        "math.erfc": "erfc",
        "math.gamma": "gamma",
        "math.lgamma": "log_gamma",
        "fmax": "fmax",
        "fmin": "fmin",
    }
    intrinsics: ClassVar = {
        **{f"{own}_of": own for own in ("exp", "expm1", "tanh")},
        "smaller_integer": "min",
        "larger_integer": "max",
        "absolute_integer": "abs",
        "floor_quotient": "fld",
        "floor_remainder": "mod",
        "maximum": "max",
        "minimum": "min",
        "product": "matrix_product",
        "cumsum": "running_sums",
        "cumprod": "running_product",
    }
    infinity = "Inf"
    nan = "NaN"
    power_sign = "^"
    double_power = "power_of"
    truths = ("false", "true")
    words = f"{WORDS} {OWN}"
    end = "end"
    reads_lengths = True

    # --- numbers

    def cast_to_double(self, value: Value) -> Value:
        return Value(f"Float64({value.text})")

    def as_integer(self, value: Value) -> Value:
        if value.kind == INTEGER:
            return value
        text = f"Int64({value.text})" if value.kind == TRUTH else f"trunc(Int64, {value.text})"
        return Value(text, ATOM, INTEGER)

    def stored(self, value: Value, kind: str, use: Use) -> str:
        return self.as_double(value, use).text if kind == DOUBLE else value.text

    def choice(self, test: Value, first: Value, second: Value, use: Use) -> Value:
        kinds = {first.kind, second.kind}
        kind = TRUTH if kinds == {TRUTH} else arithmetic([first, second])
        if len(kinds) > 1 and kind == DOUBLE:
            first, second = self.as_double(first, use), self.as_double(second, use)
        text = f"{self.logical(test).at(OR)} ? {first.at(OR)} : {second.at(CHOICE)}"
        return Value(text, CHOICE, kind)

    # --- arrays

    def entry(self, array: ArrayValue, place: Value) -> str:
        return f"{array.text}[{sum_of(place, integer(1)).text}]"

    def part(self, array: ArrayValue) -> str:
        last = sum_of(array.offset, array.size)
        return f"view({array.text}, {self._first(array)}:{last.text})"

    @staticmethod
    def _first(array: ArrayValue) -> str:
        return sum_of(array.offset, integer(1)).text

    # --- statements

    def loop(self, printer: TypedPrinter, own: str, start: Value, stop: Value, step: Value) -> None:
        last = (sum_of if step.number == -1 else difference_of)(stop, integer(1))
        by = "" if step.is_integer(1) else f"{step.text}:"
        simd = f"{printer.lines.pop()} " if printer.lines[-1:] == ["@simd"] else ""
        printer.lines.append(f"{simd}for {own} in {start.at(SUM)}:{by}{last.text}")

    def vectorize(self, printer: TypedPrinter, sums: Mapping[str, str]) -> None:
        printer.lines.append("@simd")

    def fail_if(self, printer: TypedPrinter, test: Value, error: ErrorCode) -> None:
        printer.lines += [f"if {self.logical(test).text}", f"    throw({ERRORS[error]})", "end"]

    def allocate(self, printer: TypedPrinter, array: ArrayValue, is_exchanged: bool) -> None:
        self.assign(printer, array.text, f"Vector{{{TYPES[array.kind]}}}(undef, {array.size.text})")

    def exchange(self, printer: TypedPrinter, own: str, other: str, kind: str) -> None:
        self.assign(printer, f"{own}, {other}", f"{other}, {own}")

    def fill(self, printer: TypedPrinter, array: ArrayValue, text: str) -> None:
        printer.lines.append(f"fill!({self.argument(array, printer.use)}, {text})")

    def copy(self, printer: TypedPrinter, target: ArrayValue, source: ArrayValue) -> None:
        places = f"{target.text}, {self._first(target)}, {source.text}, {self._first(source)}"
        printer.lines.append(f"copyto!({places}, {source.size.text})")

    def factors(self, printer: TypedPrinter, own: str, given: Arguments) -> None:
        self.assign(printer, own, call_text(self, "factored", given, printer.use))

    def compute(
        self, printer: TypedPrinter, part: str, given: Arguments, *, memory: bool, fails: bool
    ) -> None:
        printer.lines.append(call_text(self, part, given, printer.use))

    def number(self, printer: TypedPrinter, part: str, given: Arguments, *, memory: bool) -> Value:
        own = printer.new_name()
        self.assign(printer, own, call_text(self, part, given, printer.use))
        return Value(own)

    # --- functions

    def constant_array(self, printer: TypedPrinter, own: str, kind: str, texts: list[str]) -> None:
        self.assign(printer, own, f"{TYPES[kind]}[{', '.join(texts)}]")

    def begin(self, unit: TypedFunction) -> None:
        for own in unit.results:
            if own.lengths:
                sizes = ", ".join(length.text for length in own.lengths[::-1])
                self.assign(unit.printer, own.name, f"Array{{{TYPES[own.kind]}}}(undef, {sizes})")

    def text(self, unit: TypedFunction) -> str:
        printer, signature = unit.printer, unit.signature
        read = dict(zip(unit.lengths, signature.axes.values(), strict=False))
        given = unit.lengths[len(read) :]
        names = [*given, *[own.name for own in unit.arguments]]
        parameters = [f"{own}::Int64" for own in given] + [*map(self._parameter, unit.arguments)]
        results = ", ".join(own.name for own in unit.results)
        described = [
            "Generated by sympy_einsum.",
            "",
            f"{results} = {unit.name}({', '.join(names)})",
            "",
            *[line.removesuffix(", which is written") for line in unit.described()],
            "",
            "The shapes are those of row-major order; here the axes are reversed: for shape (n, m)",
            "pass an array of size (m, n), whose entry [j + 1, i + 1] is entry (i, j). Positions",
            "count from 0. Lengths that sizes tell aren't passed. Matrices that are singular or",
            "aren't positive definite, lengths and positions that don't fit are exceptions.",
        ]
        numbers = {symbol: k for k, symbol in enumerate(signature.symbols)}
        lines = []
        for name, (symbol, axis) in read.items():
            array = unit.arguments[numbers[symbol]].name
            lines.append(f"{name} = size({array}, {len(shape_of(symbol)) - axis})")
        for own in unit.arguments:
            if own.lengths:
                sizes = ", ".join(length.text for length in own.lengths[::-1])
                sizes += "," * (len(own.lengths) == 1)
                lines += [
                    f"if size({own.name}) != ({sizes})",
                    f'    throw(DimensionMismatch("the size of {own.name}"))',
                    "end",
                ]
        lines += ["@inbounds begin", *inner_lines(printer.lines), "end", f"return {results}"]
        texts = [
            "\n".join(f"# {line}".rstrip() for line in described),
            *[part.text for part in needed_parts(self.file, printer.used).values()],
            "\n".join(
                [f"function {unit.name}({', '.join(parameters)})", *inner_lines(lines), "end"]
            ),
        ]
        return "\n\n".join(texts) + "\n"

    @staticmethod
    def _parameter(own: Parameter) -> str:
        kind = TYPES[own.kind]
        return f"{own.name}::" + (f"Array{{{kind}, {len(own.lengths)}}}" if own.lengths else kind)
