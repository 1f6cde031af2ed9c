"""Languages with types, as C: how they spell numbers, operators, functions and statements.

What they share is here: operators and functions of numbers, by the types of operands. A language is
a subclass with tables and the few statements that it writes otherwise.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from math import isinf, isnan
from typing import TYPE_CHECKING, Any, ClassVar

from ...core import UnsupportedError
from ..runtime.language_helpers import HelperPart, helper_parts
from .typed_values import (
    AND,
    ATOM,
    DOUBLE,
    EQUALITY,
    INTEGER,
    OR,
    PRODUCT,
    RELATION,
    SIGN,
    SUM,
    TRUTH,
    Argument,
    Arguments,
    ArrayValue,
    Value,
    difference_of,
    integer,
    product_of,
    refusal,
    sum_of,
)

if TYPE_CHECKING:
    from .typed_functions import TypedFunction
    from .typed_printer import ErrorCode, TypedPrinter

# Functions of numbers among the helper functions, by the names that kernels have for them.
HELPERS: dict[str, str] = {
    **{own: f"{own}_of" for own in ("exp", "expm1", "tanh", "log", "log1p")},
    **{
        own: own
        for own in (
            *("maximum", "minimum", "heaviside", "sign", "logaddexp", "nan_to_num", "sinc"),
            *("sigmoid", "sigmoid_derivative", "softplus", "ndtr", "xlogy", "xlog1py", "entr"),
            *("rel_entr", "loggamma", "betaln", "exprel", "sinhc", "tanhc"),
        )
    },
    "finite": "finite_or_0",
    "np.floor_divide": "floor_divide",
    "np.remainder": "remainder_of",
}
# Functions that C and Fortran call by the same names.
MATH_NAMES = {
    **{f"np.{own}": own for own in ("sqrt", "cbrt", "sin", "cos", "tan", "sinh", "cosh", "hypot")},
    **{f"np.{own}": own for own in ("rint", "log2", "log10", "exp2")},
    **{f"np.arc{own}": f"a{own}" for own in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "np.arctan2": "atan2",
    "math.erf": "erf",
    "math.erfc": "erfc",
    "fmax": "fmax",
    "fmin": "fmin",
}
_NUMBERS = {"np.pi": "3.141592653589793", "np.e": "2.718281828459045"}
COMPARISONS: dict[type, tuple[str, int]] = {
    ast.Eq: ("==", EQUALITY),
    ast.NotEq: ("!=", EQUALITY),
    ast.Lt: ("<", RELATION),
    ast.LtE: ("<=", RELATION),
    ast.Gt: (">", RELATION),
    ast.GtE: (">=", RELATION),
}
# Marks that a helper function is used, and returns its name.
Use = Callable[[str], str]


class Language:
    """A language, by the functions and statements that differ.

    Attributes
    ==========

    name : the name by which it is chosen
    file : the file with its helper functions
    functions : its own functions of numbers, by the names that kernels have for them
    intrinsics : its own functions in place of helper functions
    tests : the names of tests of numbers
    infinity, nan : their texts
    power_sign, conjunction, disjunction, different : the texts of these operators
    double_power : the function of powers whose exponent is no integer, if that isn't an operator
    sign_level : how tightly a sign binds
    truths : the texts of false and true
    words : names that mean something in its text, beside its functions
    reserved : all names that mean something in its text
    end : the line after a loop
    terminator : what ends a statement
    computes_both : whether a choice of two numbers computes both
    reads_lengths : whether axis lengths are read from arrays
    """

    name: ClassVar[str]
    file: ClassVar[str]
    functions: ClassVar[Mapping[str, str]]
    intrinsics: ClassVar[Mapping[str, str]] = {}
    tests: ClassVar[Mapping[str, str]] = {
        f"np.{own}": own for own in ("isnan", "isinf", "isfinite")
    }
    infinity: ClassVar[str]
    nan: ClassVar[str]
    power_sign: ClassVar[str]
    double_power: ClassVar[str] = ""
    conjunction, disjunction, different = "&&", "||", "!="
    sign_level: ClassVar[int] = SIGN
    truths: ClassVar[tuple[str, str]]
    words: ClassVar[str]
    reserved: ClassVar[frozenset[str]]
    end: ClassVar[str]
    terminator: ClassVar[str] = ""
    computes_both: ClassVar[bool] = False
    reads_lengths: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        own = [*cls.words.split(), *cls.functions.values(), *cls.intrinsics.values()]
        cls.reserved = frozenset([*own, *[f"result{k}" for k in range(100)]])

    def parts(self) -> Mapping[str, HelperPart]:
        """Return the parts of its helper functions."""
        return helper_parts(self.file)

    # --- names

    def folded(self, name: str) -> str:
        """Return what a name is compared by."""
        return name

    def allows(self, name: str) -> bool:
        """Tell whether an identifier of Python's is one."""
        return True

    # --- numbers

    def constant(self, value: Any, use: Use) -> Value:
        """Return a number that is written out."""
        if isinstance(value, bool):
            return Value(self.truths[value], ATOM, TRUTH, int(value))
        if isinstance(value, int):
            return integer(value) if abs(value) < 2**63 else self.constant(float(value), use)
        if not isinstance(value, float):
            raise UnsupportedError(refusal("complex numbers"))
        if isnan(value):
            return Value(use(self.nan))
        if isinf(value):
            positive = Value(use(self.infinity))
            return positive if value > 0 else self.negative(positive, use)
        return Value(self.double(value), self.sign_level if value < 0 else ATOM, DOUBLE, value)

    def named_constant(self, name: str, use: Use) -> str | None:
        """Return the text of a constant of Python's; None for other names."""
        found = {"np.inf": self.infinity, "np.nan": self.nan}.get(name)
        if found:
            return use(found)
        return self.double(float(_NUMBERS[name])) if name in _NUMBERS else None

    def double(self, value: float) -> str:
        """Return the text of a number."""
        return repr(value)

    def as_double(self, value: Value, use: Use) -> Value:
        """Return a number as one of double precision."""
        if value.kind == DOUBLE:
            return value
        if value.number is not None:
            return self.constant(float(value.number), use)
        if value.kind == TRUTH:
            return self.choice(value, self.constant(1.0, use), self.constant(0.0, use), use)
        return self.cast_to_double(value)

    def cast_to_double(self, value: Value) -> Value:
        """Return an integer as a double."""
        raise NotImplementedError

    def as_integer(self, value: Value) -> Value:
        """Return a number as an integer, rounded towards 0."""
        raise NotImplementedError

    def converted(self, value: Value, kind: str, use: Use) -> str:
        """Return the text of an argument of a function that takes numbers of some type."""
        return value.text

    def stored(self, value: Value, kind: str, use: Use) -> str:
        """Return the text of what a variable or an entry of some type gets."""
        return self.as_double(value, use).text if value.kind == TRUTH != kind else value.text

    # --- operators

    def negative(self, value: Value, use: Use) -> Value:
        """Return a number with the other sign."""
        if value.number is not None and value.number > 0:
            return self.constant(-value.number, use)
        return Value(f"-{value.at(ATOM)}", self.sign_level, arithmetic([value]))

    def binary(self, operator: ast.operator, left: Value, right: Value, use: Use) -> Value:
        """Return an operation on two numbers."""
        kind = arithmetic([left, right])
        match operator:
            case ast.Add() if left.kind == right.kind == INTEGER:
                return sum_of(left, right)
            case ast.Sub() if left.kind == right.kind == INTEGER:
                return difference_of(left, right)
            case ast.Mult() if left.kind == right.kind == INTEGER:
                return product_of([left, right])
            case ast.Add() | ast.Sub():
                sign = "+" if isinstance(operator, ast.Add) else "-"
                return Value(f"{left.at(SUM)} {sign} {right.at(PRODUCT)}", SUM, kind)
            case ast.Mult() if TRUTH in (left.kind, right.kind):
                truths = [self.as_double(own, use) for own in (left, right) if own.number != 1]
                if len(truths) == 1:
                    return truths[0]
                return self.binary(operator, truths[0], truths[-1], use)
            case ast.Mult():
                return Value(f"{left.at(PRODUCT)} * {right.at(SIGN)}", PRODUCT, kind)
            case ast.Div():
                if right.kind != DOUBLE or left.number is not None:
                    left = self.as_double(left, use)
                divisor = self.as_double(right, use)
                return Value(f"{left.at(PRODUCT)} / {divisor.at(SIGN)}", PRODUCT)
            case ast.FloorDiv() | ast.Mod():
                is_quotient = isinstance(operator, ast.FloorDiv)
                if kind == INTEGER:
                    own = "floor_quotient" if is_quotient else "floor_remainder"
                else:
                    own = "floor_divide" if is_quotient else "remainder_of"
                return self.called(use(own), [left, right], kind, use)
            case ast.Pow():
                return self.power(left, right, use)
            case ast.BitAnd() | ast.BitOr():
                return self.logic(operator, [left, right])
        raise UnsupportedError(refusal(f"the operator {type(operator).__name__}"))

    def power(self, base: Value, exponent: Value, use: Use) -> Value:
        """Return a power."""
        is_negative = exponent.number is not None and exponent.number < 0
        kind = DOUBLE
        if base.kind == INTEGER == exponent.kind and not is_negative:
            kind, base = INTEGER, Value(self.converted(base, INTEGER, use), base.level)
        elif exponent.number == 0.5:
            return self.call("np.sqrt", [base], use)
        elif exponent.kind == DOUBLE and self.double_power:
            return self.called(use(self.double_power), [base, exponent], DOUBLE, use)
        else:
            base = self.as_double(base, use)
        return Value(f"{base.at(ATOM)} {self.power_sign} {exponent.at(ATOM)}", SIGN, kind)

    def logic(self, operator: Any, values: Sequence[Value]) -> Value:
        """Return a conjunction or a disjunction."""
        is_and = isinstance(operator, (ast.And, ast.BitAnd))
        text, level = (self.conjunction, AND) if is_and else (self.disjunction, OR)
        # Compilers warn of conjunctions in disjunctions without brackets.
        parts = [self.logical(own).at(EQUALITY) for own in values]
        return Value(f" {text} ".join(parts), level, TRUTH)

    def logical(self, value: Value) -> Value:
        """Return a number as a truth value."""
        return value if value.kind == TRUTH else self.comparison(ast.NotEq(), value, integer(0))

    def negation(self, value: Value) -> Value:
        """Return whether something doesn't hold."""
        return Value(f"!{self.logical(value).at(ATOM)}", SIGN, TRUTH)

    def comparison(self, operator: ast.cmpop, left: Value, right: Value) -> Value:
        """Return the comparison of two numbers."""
        text, level = COMPARISONS[type(operator)]
        text = self.different if text == "!=" else text
        return Value(f"{left.at(SUM)} {text} {right.at(SUM)}", level, TRUTH)

    def choice(self, test: Value, first: Value, second: Value, use: Use) -> Value:
        """Return one of two numbers, which may both be computed."""
        raise NotImplementedError

    # --- functions

    def called(self, own: str, arguments: Sequence[Value], kind: str, use: Use) -> Value:
        """Return the call of a function whose arguments and values are of one type."""
        texts = [self.converted(argument, kind, use) for argument in arguments]
        return Value(f"{own}({', '.join(texts)})", ATOM, kind)

    def call(self, function: str, arguments: Sequence[Value], use: Use) -> Value:
        """Return the call of a function of numbers, by the name that kernels have for it."""
        first = arguments[0]
        if function in ("np.abs", "abs") and first.kind != DOUBLE:
            return self.called(use("absolute_integer"), arguments, INTEGER, use)
        if function in self.functions or function in HELPERS:
            own = self.functions.get(function) or HELPERS[function]
            return self.called(use(own), arguments, DOUBLE, use)
        if function in self.tests:
            text = f"{use(self.tests[function])}({self.as_double(first, use).text})"
            return Value(text, ATOM, TRUTH)
        match function:
            case "where":
                test, one, other = arguments
                return self.choice(test, one, other, use)
            case "np.logical_not":
                return self.negation(first)
            case "np.real" | "np.conj" | "np.uintp":
                return first
            case "np.imag":
                return self.constant(0.0, use)
            case "dtype" | "float":
                return self.as_double(first, use)
            case "int" | "np.int64":
                return self.as_integer(first)
            case "abs":
                return self.call("np.abs", arguments, use)
            case "max" | "min":
                return self._largest(function, arguments, use)
        raise UnsupportedError(refusal(f"the function {function.rpartition('.')[2]}"))

    def _largest(self, function: str, arguments: Sequence[Value], use: Use) -> Value:
        is_max, kind = function == "max", arithmetic(arguments)
        if kind == INTEGER:
            own = use("larger_integer" if is_max else "smaller_integer")
        else:
            own = use("maximum" if is_max else "minimum")
        first, *rest = arguments
        for other in rest:
            first = self.called(own, [first, other], kind, use)
        return first

    # --- arrays

    def entry(self, array: ArrayValue, place: Value) -> str:
        """Return the text of an entry, given its place in row-major order."""
        raise NotImplementedError

    def argument(self, value: Argument, use: Use) -> str:
        """Return the text of an argument of a helper function."""
        if isinstance(value, bool):
            return self.truths[value]
        if isinstance(value, ArrayValue) and not value.is_whole:
            return self.part(value)
        return value.text

    def part(self, array: ArrayValue) -> str:
        """Return the text of a part of an array."""
        raise NotImplementedError

    def named_part(self, printer: TypedPrinter, own: str, array: ArrayValue) -> ArrayValue:
        """Give a part of an array a name: a variable for the place where it begins."""
        printer.declare(own, array.offset, is_fixed=True)
        return array.at(Value(own, kind=INTEGER))

    # --- statements: each adds lines to those of the printer

    def declare(self, printer: TypedPrinter, own: str, value: Value, is_fixed: bool) -> None:
        """Declare a variable by its first value."""
        self.assign(printer, own, value.text)

    def assign(self, printer: TypedPrinter, target: str, text: str) -> None:
        """Assign to a variable or an entry."""
        printer.lines.append(f"{target} = {text}{self.terminator}")

    def augment(self, printer: TypedPrinter, target: str, operator: str, value: Value) -> None:
        """Add to a variable or an entry, or multiply it."""
        printer.lines.append(f"{target} {operator}= {value.text}{self.terminator}")

    def branch(
        self, printer: TypedPrinter, own: str, test: Value, first: list[str], second: list[str]
    ) -> None:
        """Assign a number to a new variable by the lines of one of two blocks."""
        raise NotImplementedError

    def loop(self, printer: TypedPrinter, own: str, start: Value, stop: Value, step: Value) -> None:
        """Begin a loop."""
        raise NotImplementedError

    def vectorize(self, printer: TypedPrinter, sums: Mapping[str, str]) -> None:
        """Let the sums of the next loop be added up in several parts at once."""
        raise NotImplementedError

    def fail_if(self, printer: TypedPrinter, test: Value, error: ErrorCode) -> None:
        """Add a test for an error."""
        raise NotImplementedError

    def allocate(self, printer: TypedPrinter, array: ArrayValue, is_exchanged: bool) -> None:
        """Allocate an array."""
        raise NotImplementedError

    def released(self, printer: TypedPrinter, lines: list[str], arrays: Sequence[str]) -> list[str]:
        """Return the lines of a block at whose end arrays are freed."""
        return lines

    def exchange(self, printer: TypedPrinter, own: str, other: str, kind: str) -> None:
        """Exchange two arrays."""
        raise NotImplementedError

    def fill(self, printer: TypedPrinter, array: ArrayValue, text: str) -> None:
        """Write one number into all entries of an array."""
        raise NotImplementedError

    def copy(self, printer: TypedPrinter, target: ArrayValue, source: ArrayValue) -> None:
        """Copy the entries of an array."""
        raise NotImplementedError

    def factors(self, printer: TypedPrinter, own: str, given: Arguments) -> None:
        """Factor a matrix."""
        raise NotImplementedError

    def compute(
        self, printer: TypedPrinter, part: str, given: Arguments, *, memory: bool, fails: bool
    ) -> None:
        """Call a helper function that writes into arrays; it may allocate memory, and it may fail
        otherwise."""
        raise NotImplementedError

    def number(self, printer: TypedPrinter, part: str, given: Arguments, *, memory: bool) -> Value:
        """Return the number that a helper function computes, which may fail."""
        raise NotImplementedError

    # --- functions

    def constant_array(self, printer: TypedPrinter, own: str, kind: str, texts: list[str]) -> None:
        """Define an array of numbers that are written out."""
        raise NotImplementedError

    def store(self, printer: TypedPrinter, own: str, text: str) -> None:
        """Write a result that is a number."""
        self.assign(printer, own, text)

    def begin(self, unit: TypedFunction) -> None:
        """Add the lines that come before the statements of the kernel."""

    def text(self, unit: TypedFunction) -> str:
        """Return the text of the whole unit."""
        raise NotImplementedError


def arithmetic(values: Sequence[Value]) -> str:
    """Return the type of a sum or a product."""
    return DOUBLE if any(own.kind == DOUBLE for own in values) else INTEGER


def call_text(language: Language, own: str, given: Arguments, use: Use) -> str:
    """Return the call of a helper function."""
    return f"{own}({', '.join([language.argument(argument, use) for argument in given])})"
