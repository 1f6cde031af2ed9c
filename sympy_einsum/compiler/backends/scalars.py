"""Scalar expressions as Python code: SymPy's own printer, with the spellings of our table.

Shared by the backends. Expressions hold slots only, and slots print as the operands' texts, so no
name that a user chose ever gets here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import isfinite

from sympy import (
    Add,
    Basic,
    Dummy,
    Expr,
    Function,
    Number,
    Piecewise,
    Pow,
    S,
    preorder_traversal,
)
from sympy.core.function import AppliedUndef
from sympy.functions.elementary.miscellaneous import MinMaxBase
from sympy.printing.codeprinter import PrintMethodNotImplementedError
from sympy.printing.numpy import SciPyPrinter
from sympy.printing.precedence import PRECEDENCE, precedence

from ...core import (
    OwnFunction,
    Row,
    UnsupportedError,
    code_of,
    exponents_of,
    fill_template,
    for_each_row,
    number_bits,
    small_difference,
)
from .given_functions import GivenFunctions
from .spelling import is_bracketed

# The bits of an integer of NumPy's.
INTEGER_BITS = 64
# Prefix of the text of an axis length that is a number of Python's.
LENGTH = "_length"
_LENGTH = Dummy(integer=True, nonnegative=True)
# And that of an array that is known to be of doubles.
DOUBLES = "_doubles"
# The spelling of a Piecewise by a choice between two numbers after the other.
CHOICES = "where"


class NumberNames(dict[float, str]):
    """Names for numbers, of arrays without axes: to combine an array of doubles with one of these
    takes half the time that it takes with a number of Python's."""

    def name(self, number: Expr) -> str:
        """The name of a real number."""
        return self.setdefault(float(number), f"_number{len(self)}")

    @staticmethod
    def fit(expr: Expr) -> bool:
        """Tell whether all numbers can be named: they are real, and none is an order or a
        degree."""
        return not any(_needs_numbers(part) for part in preorder_traversal(expr))


def _needs_numbers(part: Basic) -> bool:
    is_choice = isinstance(part, (Piecewise, MinMaxBase))
    if isinstance(part, Function) and not is_choice:
        return any(arg.is_number for arg in part.args)
    return isinstance(part, Expr) and part.is_number and not part.is_extended_real


class _ScalarPrinter(SciPyPrinter):
    """SciPyPrinter that takes function names from the table first."""

    def __init__(
        self,
        names: dict[str, str],
        backend: str,
        spellings: Mapping[str, str],
        functions: GivenFunctions,
        numbers: NumberNames | None,
    ):
        super().__init__({"allow_unknown_functions": False, "fully_qualified_modules": True})
        self._numbers = numbers
        self.printmethod = "_no_hook"  # what stock printing would ask our functions for
        self._names = names
        self._backend = backend
        self._spellings = spellings
        self._functions = functions
        self._lengths = frozenset(name for name, text in names.items() if text.startswith(LENGTH))

    def _print(self, expr: Expr, **kwargs: object) -> str:
        if self._numbers is not None and isinstance(expr, Expr) and expr.is_number:
            return self._numbers.name(expr)
        if isinstance(expr, Expr) and expr.is_number and expr.args:
            # np.log(2) has a type of its own, and would make doubles of single precision.
            return _literal(expr)
        if not self._is_of_lengths(expr):
            return str(super()._print(expr, **kwargs))
        # np.log of a length has a type of its own too.
        lengths, self._lengths = self._lengths, frozenset()
        is_whole = expr.xreplace(dict.fromkeys(expr.free_symbols, _LENGTH)).is_integer
        text = f"{'int' if is_whole else 'float'}({super()._print(expr, **kwargs)})"
        self._lengths = lengths
        return text

    def _is_of_lengths(self, expr: Basic) -> bool:
        """Tell whether an expression has axis lengths as its only symbols and may use Python's
        numbers."""
        is_root = isinstance(expr, Pow) and not expr.exp.is_integer
        is_function = is_root or isinstance(expr, (Function, Piecewise, MinMaxBase))
        if not self._lengths or not is_function:
            return False
        return self._lengths.issuperset([symbol.name for symbol in expr.free_symbols])

    def _print_Symbol(self, expr: Expr) -> str:
        if expr.name not in self._names:
            raise UnsupportedError(f"no numerical code for the symbol {expr} bound inside")
        return self._names[expr.name]

    _print_Slot = _print_Symbol

    def _print_Function(self, expr: Expr) -> str:
        if isinstance(expr, AppliedUndef) or (
            isinstance(expr, OwnFunction) and code_of(expr, self._backend) is None
        ):
            texts = [self._print(arg) for arg in expr.args]
            return f"{self._functions.name(type(expr))}({', '.join(texts)})"
        spelling = self._spellings.get(type(expr).__name__, code_of(expr, self._backend))
        if spelling is not None:
            texts = [self._print(arg) for arg in expr.args]
            are_whole = [precedence(arg) >= PRECEDENCE["Func"] for arg in expr.args]
            text = fill_template(spelling, texts, are_whole)
            return text if is_bracketed(text) else f"({text})"
        return str(super()._print_Function(expr))

    def _print_log(self, expr: Expr) -> str:
        """log(1 + u), log(1 - exp(u)) and log(exp(a) + exp(b)) in their stable forms."""
        total = expr.args[0]
        exponents = exponents_of(total)
        if exponents is not None:
            return f"np.logaddexp({', '.join(map(self._print, exponents))})"
        if S.One not in Add.make_args(total):
            return f"np.log({self._print(total)})"
        exponent = small_difference(total)
        if exponent is None:
            return f"np.log1p({self._print(total - 1)})"
        u = self._print(exponent)
        small, large = f"np.log(-np.expm1({u}))", f"np.log1p(-np.exp({u}))"
        return f"np.where({u} > -0.7, {small}, {large})"

    def _print_Mul(self, expr: Expr) -> str:
        factor = expr.as_coeff_Mul()[0]
        if self._numbers is None or not factor < 0 or factor == -1:
            return str(super()._print_Mul(expr))
        # To turn the sign of a number takes as long as to multiply.
        name = self._numbers.name(factor)
        text = super()._print_Mul(-expr)
        text, found = re.subn(r"^_number\d+|^\(_number\d+\)", name, text)
        assert found, f"{expr} is written without its number"
        return text

    def _print_Add(self, expr: Expr, order: str | None = None) -> str:
        """exp(u) - 1 and 1 - exp(u) in their stable forms."""
        exponent = small_difference(expr)
        if exponent is None:
            return str(super()._print_Add(expr, order))
        return f"{'-' if S.One in expr.args else ''}np.expm1({self._print(exponent)})"

    def _print_Piecewise(self, expr: Expr) -> str:
        spelling = self._spellings.get("Piecewise", "np.select([{0}], [{1}], default=np.nan)")
        if spelling == CHOICES:
            rest = "np.nan"
            for value, condition in reversed(expr.args):
                rest = f"where({self._print(condition)}, {self._print(value)}, {rest})"
            return rest
        if spelling == "np.where":
            return self._nested_choice(expr)
        values, conditions = [
            ", ".join([self._print(part) for part in parts])
            for parts in zip(*expr.args, strict=True)
        ]
        return spelling.format(conditions, values)

    def _nested_choice(self, expr: Expr) -> str:
        *before, (value, condition) = expr.args
        rest = self._print(value)
        is_zero_else = value is S.Zero and condition is S.true
        if condition is not S.true:
            rest = f"np.where({self._print(condition)}, {rest}, np.nan)"
        elif all(value.is_Number for value, _ in expr.args):
            rest = f"dtype.type({rest})"  # numbers alone would be integers or doubles
        for value, condition in reversed(before):
            test = self._print(condition)
            if is_zero_else and value.is_Pow and value.exp is S.NegativeOne:
                # Without a division by 0, of which NumPy warns.
                rest = f"(1 / np.where({test}, {self._print(value.base)}, np.inf))"
            else:
                rest = f"np.where({test}, {self._print(value)}, {rest})"
            is_zero_else = False
        return rest

    def _print_Relational(self, expr: Expr) -> str:
        return f"({self._print(expr.lhs)} {expr.rel_op} {self._print(expr.rhs)})"

    def _print_And(self, expr: Expr) -> str:
        return " & ".join(f"({self._print(arg)})" for arg in expr.args)

    def _print_ComplexInfinity(self, expr: Expr) -> str:
        return "np.nan"

    def _print_ITE(self, expr: Expr) -> str:
        return self._print(expr.to_nnf(simplify=False))

    def _print_Or(self, expr: Expr) -> str:
        return " | ".join(f"({self._print(arg)})" for arg in expr.args)

    def _folded(self, name: str, args: Sequence[Expr]) -> str:
        text = self._print(args[0])
        for arg in args[1:]:
            text = f"np.{name}({text}, {self._print(arg)})"
        return text

    def _print_Max(self, expr: Expr) -> str:
        return self._folded("maximum", expr.args)

    def _print_Min(self, expr: Expr) -> str:
        return self._folded("minimum", expr.args)

    def _print_Integer(self, expr: Expr) -> str:
        return str(expr) if _is_exact_integer(expr) else _literal(expr)

    def _print_Rational(self, expr: Expr) -> str:
        is_exact = number_bits(expr) < INTEGER_BITS
        return str(super()._print_Rational(expr)) if is_exact else _literal(expr)

    def _print_NumberSymbol(self, expr: Expr) -> str:
        return "np.pi" if expr is S.Pi else repr(float(expr))

    _print_Pi = _print_Exp1 = _print_GoldenRatio = _print_EulerGamma = _print_NumberSymbol
    _print_Catalan = _print_TribonacciConstant = _print_NumberSymbol

    def _print_Pow(self, expr: Expr, rational: bool = False) -> str:
        base = self.parenthesize(expr.base, PRECEDENCE["Pow"] + 1)
        if _is_exact_integer(expr.base) and self._numbers is None:
            # NumPy takes no integer to a negative integer power.
            base = f"{base}.0" if expr.base > 0 else f"({int(expr.base)}.0)"
        one = self._print(S.One)
        if expr.exp is S.NegativeOne:
            return f"({one} / {base})"
        if expr.exp == S.Half:
            return f"np.sqrt({self._print(expr.base)})"
        if expr.exp == -S.Half:
            return f"({one} / np.sqrt({self._print(expr.base)}))"
        if _is_exact_integer(expr.exp) and expr.exp < 0:
            return f"({one} / {self._integer_power(base, -int(expr.exp))})"
        if _is_exact_integer(expr.exp):
            return self._integer_power(base, int(expr.exp))
        if self._numbers is not None and expr.exp.is_number:
            return f"{base}**{_literal(expr.exp)}"
        if expr.exp.is_polynomial() and all(n.is_Integer for n in expr.exp.atoms(Number)):
            # Integers to negative integers are an error in NumPy, and any number in JAX.
            return f"{base}**({self._print(expr.exp)} + 0.0)"
        return f"{base}**{self.parenthesize(expr.exp, PRECEDENCE['Pow'])}"

    def _integer_power(self, base: str, power: int) -> str:
        """Small powers by multiplication: NumPy's power is slow for all but squares."""
        if power in (3, 6):
            cube = f"{base}**2 * {base}"
            return f"({cube})" if power == 3 else f"({cube})**2"
        return f"({base}**2)**2" if power == 4 else f"{base}**{power}"


@for_each_row
def _come_first(row: Row) -> None:
    # SymPy's printers have methods for single functions, which would come before ours.
    method = f"_print_{row.function.__name__}"
    if row.code is not None and method not in vars(_ScalarPrinter):
        setattr(_ScalarPrinter, method, _ScalarPrinter._print_Function)


def _is_exact_integer(number: Expr) -> bool:
    """Check whether it is an integer to be written as one: libraries refuse those of more bits
    than their own have, beside doubles too."""
    return bool(number.is_Integer) and number_bits(number) < INTEGER_BITS


def _literal(expr: Expr) -> str:
    """A number as Python writes it."""
    value = complex(expr)
    if value.imag:
        return repr(value)
    return repr(value.real) if isfinite(value.real) else f"({value.real})".replace("inf", "np.inf")


def print_scalar(
    expr: Expr,
    operands: Sequence[str],
    backend: str = "",
    spellings: Mapping[str, str] | None = None,
    functions: GivenFunctions | None = None,
    numbers: NumberNames | None = None,
) -> str:
    """Python code for an expression in ``slot(0), slot(1), …``, given the operands' texts; for a
    backend, whose own ``spellings`` come before those of the table. Unknown functions are called by
    the names that ``functions`` gives them, numbers by those of ``numbers``, if any are given;
    parts without slots are written as one number."""
    names = {f"s{k}": text for k, text in enumerate(operands)}
    given = functions or GivenFunctions()
    printer = _ScalarPrinter(names, backend, spellings or {}, given, numbers)
    try:
        text = printer.doprint(expr)
    except PrintMethodNotImplementedError as error:
        raise UnsupportedError(f"no numerical code for {expr}: {error}") from error
    if "Not supported" in text or printer._not_supported:
        raise UnsupportedError(f"no numerical code for {expr}")
    # Whole words only: an operand may be called xnumpy.
    text = re.sub(r"\bscipy\.special\.", "special.", text)
    return re.sub(r"\bnumpy\.", "np.", text)
