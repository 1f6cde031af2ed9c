"""Expressions of kernels as C: operators and functions of numbers, by the types of operands."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from math import isinf, isnan
from typing import Any

from ...core import UnsupportedError
from .typed_values import (
    AND,
    ATOM,
    CHOICE,
    DOUBLE,
    EQUALITY,
    INTEGER,
    OR,
    PRODUCT,
    RELATION,
    SIGN,
    SUM,
    TRUTH,
    Value,
    integer,
    refusal,
)

# Functions of <math.h>, by the names that kernels have for them.
FUNCTIONS: dict[str, str] = {
    **{f"np.{own}": own for own in ("sqrt", "cbrt", "sin", "cos", "tan", "sinh", "cosh", "hypot")},
    **{f"np.{own}": own for own in ("floor", "ceil", "trunc", "rint", "fmod", "copysign")},
    **{f"np.{own}": own for own in ("log2", "log10", "exp2")},
    **{f"np.arc{own}": f"a{own}" for own in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "np.arctan2": "atan2",
    "np.abs": "fabs",
    "math.erf": "erf",
    "math.erfc": "erfc",
    "math.gamma": "tgamma",
    "math.lgamma": "lgamma",
    "fmax": "fmax",
    "fmin": "fmin",
}
# Functions of numbers among the helper functions.
HELPERS: dict[str, str] = {
    **{own: f"{own}_of" for own in ("exp", "expm1", "tanh", "log", "log1p")},
    **{
        own: own
        for own in (
            *("maximum", "minimum", "heaviside", "sign", "logaddexp", "nan_to_num", "sinc"),
            *("sigmoid", "sigmoid_slope", "softplus", "ndtr", "xlogy", "xlog1py", "entr"),
            *("rel_entr", "loggamma", "betaln", "exprel", "sinhc", "tanhc"),
        )
    },
    "finite": "finite_or_0",
    "np.floor_divide": "floor_divide",
    "np.remainder": "remainder_of",
}
# Tests of numbers.
TESTS = {"np.isnan": "isnan", "np.isinf": "isinf", "np.isfinite": "isfinite"}
CONSTANTS = {
    "np.pi": "3.141592653589793",
    "np.e": "2.718281828459045",
    "np.inf": "INFINITY",
    "np.nan": "NAN",
}
COMPARISONS: dict[type, tuple[str, int]] = {
    ast.Eq: ("==", EQUALITY),
    ast.NotEq: ("!=", EQUALITY),
    ast.Lt: ("<", RELATION),
    ast.LtE: ("<=", RELATION),
    ast.Gt: (">", RELATION),
    ast.GtE: (">=", RELATION),
}
_LOGIC: dict[type, tuple[str, int]] = {
    ast.BitAnd: ("&&", AND),
    ast.BitOr: ("||", OR),
    ast.And: ("&&", AND),
    ast.Or: ("||", OR),
}
# Marks that a helper function is used.
Use = Callable[[str], str]


def constant(value: Any) -> Value:
    """Return a number that is written out."""
    if isinstance(value, bool):
        return Value(str(int(value)), ATOM, TRUTH, int(value))
    if isinstance(value, int):
        return integer(value) if abs(value) < 2**63 else constant(float(value))
    if not isinstance(value, float):
        raise UnsupportedError(refusal("complex numbers"))
    if isnan(value):
        return Value("NAN")
    if isinf(value):
        return Value("INFINITY" if value > 0 else "-INFINITY", ATOM if value > 0 else SIGN)
    return Value(repr(value), SIGN if value < 0 else ATOM, DOUBLE, value)


def as_double(value: Value) -> Value:
    """Return a number as one of double precision."""
    if value.kind == DOUBLE:
        return value
    if value.number is not None:
        return constant(float(value.number))
    if value.kind == TRUTH:
        return choice(value, constant(1.0), constant(0.0))
    return Value(f"(double){value.at(SIGN)}", SIGN)


def as_integer(value: Value) -> Value:
    """Return a number as an integer, rounded towards 0."""
    if value.kind == INTEGER:
        return value
    return Value(f"(int64_t){value.at(SIGN)}", SIGN, INTEGER)


def negative(value: Value) -> Value:
    """Return a number with the other sign."""
    if value.number is not None and value.number > 0:
        return constant(-value.number)
    return Value(f"-{value.at(ATOM)}", SIGN, _arithmetic([value]))


def _arithmetic(values: Sequence[Value]) -> str:
    """Return the type of a sum or a product."""
    return DOUBLE if any(own.kind == DOUBLE for own in values) else INTEGER


def binary(operator: ast.operator, left: Value, right: Value, use: Use) -> Value:
    """Return an operation on two numbers."""
    kind = _arithmetic([left, right])
    match operator:
        case ast.Add():
            return Value(f"{left.at(SUM)} + {right.at(PRODUCT)}", SUM, kind)
        case ast.Sub():
            return Value(f"{left.at(SUM)} - {right.at(PRODUCT)}", SUM, kind)
        case ast.Mult() if TRUTH in (left.kind, right.kind):
            truths = [as_double(own) for own in (left, right) if own.number != 1]
            return truths[0] if len(truths) == 1 else binary(operator, truths[0], truths[-1], use)
        case ast.Mult():
            return Value(f"{left.at(PRODUCT)} * {right.at(SIGN)}", PRODUCT, kind)
        case ast.Div():
            left = as_double(left) if right.kind != DOUBLE or left.number is not None else left
            return Value(f"{left.at(PRODUCT)} / {as_double(right).at(SIGN)}", PRODUCT)
        case ast.FloorDiv() | ast.Mod() if kind == INTEGER:
            own = "floor_quotient" if isinstance(operator, ast.FloorDiv) else "floor_remainder"
            return Value(f"{use(own)}({left.text}, {right.text})", ATOM, INTEGER)
        case ast.FloorDiv() | ast.Mod():
            own = "floor_divide" if isinstance(operator, ast.FloorDiv) else "remainder_of"
            return Value(f"{use(own)}({left.text}, {right.text})")
        case ast.Pow():
            return _power(left, right, use)
        case ast.BitAnd() | ast.BitOr():
            return logic(operator, [left, right])
    raise UnsupportedError(refusal(f"the operator {type(operator).__name__}"))


def _power(base: Value, exponent: Value, use: Use) -> Value:
    if base.kind == INTEGER and exponent.kind == INTEGER:
        if exponent.number is None or exponent.number >= 0:
            return Value(f"{use('integer_power')}({base.text}, {exponent.text})", ATOM, INTEGER)
    elif exponent.is_integer(2):
        return Value(f"{use('square')}({base.text})")
    elif exponent.kind == INTEGER and exponent.number is not None and 0 < exponent.number < 64:
        return Value(f"{use('power_of')}({base.text}, {exponent.text})")
    elif exponent.kind == DOUBLE and exponent.number == 0.5:
        return Value(f"sqrt({base.text})")
    return Value(f"pow({base.text}, {exponent.text})")


def logic(operator: Any, values: Sequence[Value]) -> Value:
    """Return a conjunction or a disjunction."""
    text, level = _LOGIC[type(operator)]
    # Compilers warn of conjunctions in disjunctions without brackets.
    parts = [own.at(EQUALITY) for own in values]
    return Value(f" {text} ".join(parts), level, TRUTH)


def comparison(operator: ast.cmpop, left: Value, right: Value) -> Value:
    """Return the comparison of two numbers."""
    text, level = COMPARISONS[type(operator)]
    return Value(f"{left.at(SUM)} {text} {right.at(SUM)}", level, TRUTH)


def choice(test: Value, first: Value, second: Value) -> Value:
    """Return one of two numbers."""
    kinds = {first.kind, second.kind}
    kind = next(iter(kinds)) if len(kinds) == 1 else _arithmetic([first, second])
    return Value(f"{test.at(OR)} ? {first.at(OR)} : {second.at(CHOICE)}", CHOICE, kind)


def scalar_call(function: str, arguments: Sequence[Value], use: Use) -> Value:
    """Return the call of a function of numbers."""
    joined = ", ".join([own.text for own in arguments])
    first = arguments[0]
    if function in ("np.abs", "abs") and first.kind != DOUBLE:
        return Value(f"{use('absolute_integer')}({joined})", ATOM, INTEGER)
    if function in FUNCTIONS or function in HELPERS:
        own = FUNCTIONS.get(function) or use(HELPERS[function])
        return Value(f"{own}({joined})")
    if function in TESTS:
        return Value(f"({TESTS[function]}({joined}) != 0)", ATOM, TRUTH)
    match function:
        case "where":
            return choice(*arguments)
        case "np.logical_not":
            return Value(f"!{first.at(ATOM)}", SIGN, TRUTH)
        case "np.real" | "np.conj" | "np.uintp":
            return first
        case "np.imag":
            return Value("0.0")
        case "dtype" | "float":
            return as_double(first)
        case "int" | "np.int64":
            return as_integer(first)
        case "abs":
            return Value(f"fabs({joined})")
        case "max" | "min":
            return _largest(function, arguments, use)
    raise UnsupportedError(refusal(f"the function {function.rpartition('.')[2]}"))


def _largest(function: str, arguments: Sequence[Value], use: Use) -> Value:
    is_max, kind = function == "max", _arithmetic(arguments)
    if kind == INTEGER:
        own = use("larger_integer" if is_max else "smaller_integer")
    else:
        own = use("maximum" if is_max else "minimum")
    first, *rest = arguments
    for other in rest:
        first = Value(f"{own}({first.text}, {other.text})", ATOM, kind)
    return first
