"""Scalar expressions as code, shared by the backends.

Functions are spelled by our table, those that it doesn't know by SymPy's printer. Expressions hold
slots only, in whose places the operands' trees stand, so no name that a user chose gets here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from sympy import (
    Add,
    Basic,
    Dummy,
    Eq,
    Expr,
    Float,
    Function,
    Ge,
    I,
    KroneckerDelta,
    Le,
    Mul,
    Not,
    Number,
    NumberSymbol,
    Piecewise,
    Pow,
    Rational,
    S,
    Symbol,
    log,
    preorder_traversal,
)
from sympy.core.function import AppliedUndef
from sympy.core.mul import _keep_coeff
from sympy.core.relational import Relational
from sympy.functions.elementary.miscellaneous import Max, Min, MinMaxBase
from sympy.logic.boolalg import And, Boolean, BooleanAtom, BooleanFunction, Or
from sympy.printing.codeprinter import PrintMethodNotImplementedError
from sympy.printing.numpy import SciPyPrinter

from ...core import (
    UnsupportedError,
    UserFunction,
    code_of,
    exponents_of,
    logaddexp,
    number_bits,
    small_difference,
)
from ...expressions import Slot
from ..ir.code import (
    ADD,
    DIV,
    LENGTH,
    MULT,
    OVER,
    POW,
    TIMES,
    Code,
    Enclosed,
    Operand,
    call,
    constant,
    name,
    negative,
    product,
    quote,
    total,
    without_sign,
)
from .given_functions import GivenFunctions
from .spelling import Codes, number_code

# The bits of an integer of NumPy's.
INTEGER_BITS = 64
_LENGTH = Dummy(integer=True, nonnegative=True)
# The spelling of a Piecewise by a choice between two numbers after the other.
CHOICES = "where"
# A backend's code from a template in NumPy's names.
Quote = Callable[..., Code]


class NumberNames(dict[float, str]):
    """Names for numbers, of arrays without axes: to combine an array of doubles with one of these
    takes half the time that it takes with a number of Python's."""

    def name(self, number: Expr) -> str:
        """Return the name of a real number."""
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


def scalar_code(
    expr: Expr,
    operands: Codes,
    quote: Quote = quote,
    backend: str = "",
    spellings: Mapping[str, str] | None = None,
    functions: GivenFunctions | None = None,
    numbers: NumberNames | None = None,
) -> Code:
    """Return code for an expression in ``slot(0), slot(1), …``, given the operands; for a backend,
    whose own ``spellings`` come before those of the table and whose names ``quote`` writes. Unknown
    functions are called by the names that ``functions`` gives them, numbers by those of
    ``numbers``, if any are given; parts without slots are written as one number."""
    given = functions or GivenFunctions()
    return _Scalars(operands, quote, backend, spellings or {}, given, numbers).code(expr)


class _Scalars:
    """The lowering of one scalar expression."""

    def __init__(
        self,
        operands: Codes,
        quote: Quote,
        backend: str,
        spellings: Mapping[str, str],
        functions: GivenFunctions,
        numbers: NumberNames | None,
    ):
        self._operands = {f"s{k}": code for k, code in enumerate(operands)}
        self._quote = quote
        self._backend = backend
        self._spellings = spellings
        self._functions = functions
        self._numbers = numbers
        self._lengths = frozenset(
            [
                own
                for own, code in self._operands.items()
                if isinstance(code, Operand) and code.kind == LENGTH
            ]
        )

    def code(self, expr: Basic) -> Code:
        """Return the code of a part."""
        is_number = isinstance(expr, Expr) and bool(expr.is_number)
        if is_number and self._numbers is not None:
            return name(self._numbers.name(expr))
        if is_number and expr.args:
            # np.log(2) has a type of its own, and would make doubles of single precision.
            return self._literal(expr)
        if not self._is_of_lengths(expr):
            return self._lowered(expr)
        # np.log of a length has a type of its own too.
        lengths, self._lengths = self._lengths, frozenset()
        is_whole = expr.xreplace(dict.fromkeys(expr.free_symbols, _LENGTH)).is_integer
        code = call("int" if is_whole else "float", self._lowered(expr))
        self._lengths = lengths
        return code

    def _is_of_lengths(self, expr: Basic) -> bool:
        """Tell whether an expression has axis lengths as its only symbols and may use Python's
        numbers."""
        is_root = isinstance(expr, Pow) and not expr.exp.is_integer
        is_function = is_root or isinstance(expr, (Function, Piecewise, MinMaxBase))
        if not self._lengths or not is_function:
            return False
        return self._lengths.issuperset([symbol.name for symbol in expr.free_symbols])

    def _lowered(self, expr: Basic) -> Code:
        for kind in type(expr).__mro__:
            if kind in _LOWERINGS:
                return _LOWERINGS[kind](self, expr)
        raise UnsupportedError(f"no numerical code for {expr}")

    def _filled(self, template: str, *args: Basic) -> Code:
        return self._quote(template, *[self.code(arg) for arg in args])

    # --- leaves

    def _symbol(self, expr: Symbol) -> Code:
        if expr.name not in self._operands:
            raise UnsupportedError(f"no numerical code for the symbol {expr} bound inside")
        return self._operands[expr.name]

    def _literal(self, expr: Expr) -> Code:
        """Return a number as Python writes it."""
        value = complex(expr)
        return number_code(value if value.imag else value.real, self._quote)

    def _float(self, expr: Float) -> Code:
        """Return a number with the digits that SymPy shows."""
        return number_code(float(str(expr)), self._quote)

    def _rational(self, expr: Rational) -> Code:
        if number_bits(expr) >= INTEGER_BITS:
            return self._literal(expr)
        above = constant(int(expr.p))
        return above if expr.q == 1 else ast.BinOp(above, OVER, constant(int(expr.q)))

    def _number_symbol(self, expr: NumberSymbol) -> Code:
        return self._quote("np.pi") if expr is S.Pi else self._literal(expr)

    # --- sums, products and powers

    def _sum(self, expr: Add) -> Code:
        """Return a sum; exp(u) - 1 and 1 - exp(u) in their stable forms."""
        exponent = small_difference(expr)
        if exponent is not None:
            code = self._filled("np.expm1({0})", exponent)
            return negative(code) if S.One in expr.args else code
        terms: list[tuple[bool, Code]] = []
        for term in expr.as_ordered_terms():
            code = self.code(term)
            positive = None if term.is_Add else without_sign(code)
            terms.append((positive is not None, code if positive is None else positive))
        (is_negative, first), *rest = terms
        return total(negative(first) if is_negative else first, rest)

    def _product(self, expr: Mul) -> Code:
        factor = expr.as_coeff_Mul()[0]
        is_negative = bool(factor < 0)
        if is_negative:
            expr = _keep_coeff(-factor, expr.as_coeff_Mul()[1])
        above: list[Expr] = []
        below: list[Expr] = []
        for item in expr.as_ordered_factors():
            if item.is_Pow and item.exp.is_Rational and item.exp.is_negative:
                inverse = -item.exp
                below.append(item.base if inverse == 1 else Pow(item.base, inverse, evaluate=False))
            else:
                above.append(item)
        codes = [self._factor(item) for item in above or [S.One]]
        if is_negative and self._numbers is not None and factor != -1:
            # To turn the sign of a number takes as long as to multiply.
            codes[0] = name(self._numbers.name(factor))
            is_negative = False
        code = product(codes, TIMES)
        code = negative(code) if is_negative else code
        if not below:
            return code
        return ast.BinOp(code, OVER, product([self.code(item) for item in below], TIMES))

    def _factor(self, expr: Expr) -> Code:
        """Return a factor, a fraction in brackets."""
        code = self.code(expr)
        if isinstance(expr, Rational) and isinstance(code, ast.BinOp):
            return Enclosed(code.left, code.op, code.right)
        return code

    def _power(self, expr: Pow) -> Code:
        base, exponent = expr.base, expr.exp
        if exponent == S.Half:
            return self._filled("np.sqrt({0})", base)
        if exponent == -S.Half:
            root = self._filled("np.sqrt({0})", base)
            return Enclosed(self.code(S.One), DIV, root)
        code = self.code(base)
        if _is_exact_integer(base) and self._numbers is None:
            # NumPy takes no integer to a negative integer power.
            code = constant(float(base))
        if _is_exact_integer(exponent):
            power = _integer_power(code, abs(int(exponent)))
            return power if exponent > 0 else Enclosed(self.code(S.One), DIV, power)
        if self._numbers is not None and exponent.is_number:
            return ast.BinOp(code, POW, self._literal(exponent))
        own = self.code(exponent)
        if exponent.is_polynomial() and all(n.is_Integer for n in exponent.atoms(Number)):
            # Integers to negative integers are an error in NumPy, and any number in JAX.
            own = ast.BinOp(own, ADD, constant(0.0))
        return ast.BinOp(code, POW, own)

    # --- functions

    def _delta(self, expr: KroneckerDelta) -> Code:
        """Return a delta, which is 0 outside of its range."""
        if len(expr.args) == 2:
            return self._function(expr)
        one, other, (first, last) = expr.args
        is_inside = And(Eq(one, other), Ge(one, first), Le(one, last))
        return self.code(Piecewise((1, is_inside), (0, True)))

    def _function(self, expr: Function) -> Code:
        spelling = self._spellings.get(type(expr).__name__, code_of(expr, self._backend))
        if isinstance(expr, AppliedUndef) or (isinstance(expr, UserFunction) and spelling is None):
            function = quote(self._functions.name(type(expr)))
            return quote("{0}({*1})", function, [self.code(arg) for arg in expr.args])
        other = next((arg for arg in expr.args if not isinstance(arg, (Expr, Boolean))), None)
        if other is not None:
            raise UnsupportedError(
                f"no numerical code for {type(expr).__name__} with the argument {other}, which is "
                "no number; write it as a function of numbers, such as a Piecewise"
            )
        if spelling is None:
            kind: Any = type(expr)
            spelling = _by_sympy(kind, len(expr.args))
        return self._filled(spelling, *expr.args)

    def _logarithm(self, expr: Expr) -> Code:
        """Return log(1 + u), log(1 - exp(u)) and log(exp(a) + exp(b)) in their stable forms."""
        inside = expr.args[0]
        exponents = exponents_of(inside)
        if exponents is not None:
            return self._lowered(logaddexp(*exponents))
        if S.One not in Add.make_args(inside):
            return self._filled("np.log({0})", inside)
        exponent = small_difference(inside)
        if exponent is None:
            return self._filled("np.log1p({0})", inside - 1)
        return self._filled(
            "np.where({0} > -0.7, np.log(-np.expm1({0})), np.log1p(-np.exp({0})))", exponent
        )

    def _folded(self, expr: MinMaxBase) -> Code:
        function = "np.maximum({0}, {1})" if isinstance(expr, Max) else "np.minimum({0}, {1})"
        first, *rest = expr.args
        code = self.code(first)
        for arg in rest:
            code = self._quote(function, code, self.code(arg))
        return code

    # --- choices and conditions

    def _choice(self, expr: Piecewise) -> Code:
        spelling = self._spellings.get("Piecewise", "np.select([{*0}], [{*1}], default=np.nan)")
        if spelling == CHOICES:
            rest = self._quote("np.nan")
            for value, condition in reversed(expr.args):
                rest = call(CHOICES, self.code(condition), self.code(value), rest)
            return rest
        if spelling == "np.where":
            return self._nested_choice(expr)
        values, conditions = [
            [self.code(part) for part in parts] for parts in zip(*expr.args, strict=True)
        ]
        return self._quote(spelling, conditions, values)

    def _nested_choice(self, expr: Piecewise) -> Code:
        *before, (value, condition) = expr.args
        rest = self.code(value)
        is_zero_else = value is S.Zero and condition is S.true
        if condition is not S.true:
            rest = self._quote("np.where({0}, {1}, np.nan)", self.code(condition), rest)
        elif all(value.is_Number for value, _ in expr.args):
            rest = quote("dtype.type({0})", rest)  # numbers alone would be integers or doubles
        for value, condition in reversed(before):
            test = self.code(condition)
            if is_zero_else and value.is_Pow and value.exp is S.NegativeOne:
                # Without a division by 0, of which NumPy warns.
                below = self.code(value.base)
                chosen = self._quote("np.where({0}, {1}, np.inf)", test, below)
                rest = Enclosed(constant(1), DIV, chosen)
            else:
                rest = self._quote("np.where({0}, {1}, {2})", test, self.code(value), rest)
            is_zero_else = False
        return rest

    def _relation(self, expr: Relational) -> Code:
        return quote(f"{{0}} {expr.rel_op} {{1}}", self.code(expr.lhs), self.code(expr.rhs))

    def _conjunction(self, expr: And) -> Code:
        first, *rest = map(self.code, expr.args)
        for part in rest:
            first = quote("{0} & {1}", first, part)
        return first

    def _disjunction(self, expr: Or) -> Code:
        first, *rest = map(self.code, expr.args)
        for part in rest:
            first = quote("{0} | {1}", first, part)
        return first

    def _negation(self, expr: Not) -> Code:
        return self._filled("np.logical_not({0})", expr.args[0])

    def _composite(self, expr: BooleanFunction) -> Code:
        """Return a condition by conjunctions and disjunctions."""
        return self.code(expr.to_nnf(simplify=False))


_LOWERINGS: dict[type, Callable[..., Code]] = {
    Symbol: _Scalars._symbol,
    Slot: _Scalars._symbol,
    Rational: _Scalars._rational,
    Float: _Scalars._float,
    Number: _Scalars._literal,
    type(S.NaN): lambda scalars, expr: scalars._quote("np.nan"),
    type(S.ComplexInfinity): lambda scalars, expr: scalars._quote("np.nan"),
    NumberSymbol: _Scalars._number_symbol,
    type(I): _Scalars._literal,
    BooleanAtom: lambda scalars, expr: constant(bool(expr)),
    Add: _Scalars._sum,
    Mul: _Scalars._product,
    Pow: _Scalars._power,
    Max: _Scalars._folded,
    Min: _Scalars._folded,
    Piecewise: _Scalars._choice,
    Relational: _Scalars._relation,
    And: _Scalars._conjunction,
    Or: _Scalars._disjunction,
    Not: _Scalars._negation,
    BooleanFunction: _Scalars._composite,
    log: _Scalars._logarithm,
    KroneckerDelta: _Scalars._delta,
    Function: _Scalars._function,
}


def _integer_power(base: Code, power: int) -> Code:
    """Return small powers by multiplication: NumPy's power is slow for all but squares."""
    if power == 1:
        return base
    square = ast.BinOp(base, POW, constant(2))
    if power in (3, 6):
        cube = Enclosed(square, MULT, base)
        return cube if power == 3 else ast.BinOp(cube, POW, constant(2))
    if power == 4:
        return ast.BinOp(square, POW, constant(2))
    return ast.BinOp(base, POW, constant(power))


@lru_cache(maxsize=256)
def _by_sympy(function: Any, count: int) -> str:
    """Return a template for a function of ``count`` arguments that SymPy spells."""
    names = [f"field{k}_" for k in range(count)]
    printer = SciPyPrinter({"allow_unknown_functions": False, "fully_qualified_modules": True})
    try:
        text = printer.doprint(function(*map(Symbol, names), evaluate=False))
    except (PrintMethodNotImplementedError, TypeError) as error:
        raise UnsupportedError(f"no numerical code for {function.__name__}: {error}") from error
    if "Not supported" in text or printer._not_supported:
        raise UnsupportedError(f"no numerical code for {function.__name__}")
    text = text.replace("scipy.special.", "special.").replace("numpy.", "np.")
    for k, own in enumerate(names):
        text = text.replace(own, f"{{{k}}}")
    return str(text)


def _is_exact_integer(number: Expr) -> bool:
    """Check whether it is an integer to be written as one: libraries refuse those of more bits
    than their own have, beside doubles too."""
    return bool(number.is_Integer) and number_bits(number) < INTEGER_BITS
