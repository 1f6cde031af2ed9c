"""Define the values of the symbolic interpreter, and Python's operators on them.

Numbers are exact; integers stay Python's, since they count and index. Arrays and unknown values are
expressions. Operators on arrays are NumPy's: broadcasting aligns trailing axes.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import Any, TypeAlias

import numpy as np
import sympy
from sympy import Expr, Float, Integer, Rational, S
from sympy.logic.boolalg import Boolean, BooleanFalse, BooleanTrue

from .. import numpy as snp, operations as ops
from ..core import MAX_NUMBER, TensorError, cached, check_size, tuning
from ..expressions import (
    Operand,
    TensorAdd,
    TensorExpr,
    as_operand,
    is_condition,
    is_literal,
    order_of,
)

# A number, an expression, a tuple, list or range of values, a function, a module, or a type.
Value: TypeAlias = Any


@dataclass(frozen=True)
class DType:
    """Represent a dtype, which expressions don't have; only real ones are supported."""

    is_real: bool = True


@dataclass(frozen=True, eq=False)
class NamedFunction:
    """Represent a library function. Results of entrywise functions, and of those that make new
    arrays, share no memory with arguments."""

    name: str
    apply: Callable[..., Value]
    is_entrywise: bool = False
    makes_new: bool = False
    takes_lists: bool = False
    is_any_size: bool = False


def number(value: int | float | complex) -> Value:
    """Convert a literal: exact, unless it has an exponent or many digits."""
    if isinstance(value, bool) or (isinstance(value, int) and abs(value) <= MAX_NUMBER):
        return value
    if isinstance(value, int) or abs(value) == float("inf"):
        raise TensorError("the number is too large; use a floating-point number")
    if isinstance(value, complex):
        raise TensorError("the number isn't real")
    text = repr(value)
    return Float(value) if "e" in text or len(text) > 16 else Rational(text)


def plain(value: Value) -> Value:
    """Convert SymPy's integers and truth values to Python's."""
    if isinstance(value, Integer):
        return int(value)
    if isinstance(value, (BooleanTrue, BooleanFalse)):
        return bool(value)
    if type(value) is tuple:
        return tuple([int(part) if isinstance(part, Integer) else part for part in value])
    return value


def entries_of(value: Value) -> list[Value]:
    """Flatten nested lists and tuples; TensorError for too many parts."""
    found, waiting, count = [], [value], 0
    while waiting:
        count += 1
        part = waiting.pop()
        if isinstance(part, (list, tuple)):
            waiting += part
        else:
            found.append(part)
        if count + len(waiting) > tuning.MAX_LIST_ENTRIES:
            raise TensorError(
                f"nested lists and tuples have more than {tuning.MAX_LIST_ENTRIES} parts"
            )
    return found


def checked(value: Value) -> Value:
    """Return a result; refuse complex and too large ones."""
    if isinstance(value, Expr) and not isinstance(value, TensorExpr):
        if value.is_number:
            if value not in (S.Infinity, S.NegativeInfinity, S.NaN):
                _check_number(value)
        elif not value.is_Atom and tree_size(value) > tuning.MAX_SCALAR_TREE:
            raise TensorError("the scalar is too large an expression; compute with arrays")
    elif isinstance(value, int) and not isinstance(value, bool):
        check_size(value)
    return plain(value)


def _check_number(value: Expr) -> None:
    if value.is_finite is False or value.is_real is False:
        raise TensorError("the value isn't a real number")
    check_size(value if value.is_Number else value.evalf(15))


@cached(tuning.MAX_SCALAR_TREE)
def tree_size(expr: sympy.Basic) -> int:
    """Count the nodes of a stock expression as a tree: shared ones once per occurrence."""
    if isinstance(expr, TensorExpr) or not expr.args:
        return 1
    return 1 + sum(map(tree_size, expr.args))


def is_operand(value: Value) -> bool:
    """Tell whether a value is a number or an expression."""
    return isinstance(value, (int, Expr, Boolean))


def is_symbolic(value: Value) -> bool:
    """Tell whether a value, or a part of it, is symbolic."""
    kinds = (TensorExpr, Boolean, Expr)
    return any(isinstance(part, kinds) and not part.is_Number for part in entries_of(value))


def array(value: Value) -> Value:
    """Convert a list of values to a tensor."""
    entries_of(list(value) if isinstance(value, range) else value)
    return snp.array(value) if isinstance(value, (list, tuple, range)) else value


def aligned(values: Sequence[Value]) -> list[Value]:
    """Prepend axes of length 1 to operands of lower order, as NumPy's broadcasting does."""
    operands = [as_operand(array(value)) for value in values]
    order = max(map(order_of, operands))
    return [
        v if order_of(v) in (0, order) else v[(None,) * (order - order_of(v))] for v in operands
    ]


def truth(value: Value) -> bool | None:
    """Tell whether a value is true; None if that depends on arguments."""
    if isinstance(value, (BooleanTrue, BooleanFalse)) or (
        isinstance(value, Expr) and is_literal(value)
    ):
        return bool(value)
    if isinstance(value, TensorExpr) and value.order:
        raise TensorError(
            "the truth of an array is ambiguous; choose entry by entry by np.where(condition, a, b)"
        )
    if isinstance(value, (Expr, Boolean)):
        return None
    return bool(value)


def choose_value(condition: Value, a: Value, b: Value) -> Value:
    """Select ``a`` if a condition on the arguments holds, else ``b``, recursively in tuples."""
    entries_of(a)
    if a is b or (type(a) is type(b) and not isinstance(a, (list, tuple)) and a == b):
        return a
    if isinstance(a, (list, tuple)) and type(a) is type(b) and len(a) == len(b):
        return type(a)([choose_value(condition, *parts) for parts in zip(a, b, strict=True)])
    if not is_operand(a) or not is_operand(b):
        raise TensorError("both branches must give a number or an array, or tuples of one length")
    if order_of(as_operand(a)) != order_of(as_operand(b)):
        raise TensorError("both branches must give arrays of one order")
    return ops.where(condition, a, b)


# --- operators -----------------------------------------------------------------------------------


def _arithmetic(
    exact: Callable[[Value, Value], Value], apply: Callable[[Value, Value], Value]
) -> Callable[[Value, Value], Value]:
    def computed(a: Value, b: Value) -> Value:
        if isinstance(a, int) and isinstance(b, int):
            return exact(int(a), int(b))
        return apply(*aligned([a, b]))

    return computed


def _add(a: Value, b: Value) -> Value:
    if isinstance(a, list) and isinstance(b, list):
        return a + b
    if isinstance(a, tuple) and isinstance(b, tuple):
        return a + b
    return _sum(a, b)


def _times(a: Value, b: Value) -> Value:
    for some, times in ((a, b), (b, a)):
        if isinstance(some, (list, tuple)) and isinstance(times, int):
            if len(some) * times > tuning.MAX_LIST_ENTRIES:
                raise TensorError(f"a list may have {tuning.MAX_LIST_ENTRIES} entries")
            return some * times
    return _product(a, b)


def _divided(a: Value, b: Value) -> Value:
    if b == 0:
        raise TensorError("division by zero")
    return Rational(a, b) if isinstance(a, int) and isinstance(b, int) else _quotient(a, b)


def _power(a: Value, b: Value) -> Value:
    if isinstance(b, (int, Expr)) and isinstance(a, (int, Expr)):
        base, exponent = as_operand(a), as_operand(b)
        if base.is_Number and exponent.is_Number:
            size = abs(exponent) * max(abs(sympy.log(abs(base).evalf(15), 2)), 0) if base else 0
            if size > 1100 or (base == 0 and exponent < 0):
                raise TensorError("the number is too large; use a floating-point number")
            return base**exponent
    return snp.power(*aligned([a, b]))


def _whole_quotient(a: Value, b: Value) -> Value:
    if b == 0:
        raise TensorError("division by zero")
    return _floor(a, b)


def _remainder(a: Value, b: Value) -> Value:
    if isinstance(a, str):
        raise TensorError("strings aren't supported in functions of numbers")
    if b == 0:
        raise TensorError("division by zero")
    return _modulo(a, b)


_sum = _arithmetic(operator.add, ops.add)
_product = _arithmetic(operator.mul, ops.multiply)
_quotient = _arithmetic(operator.truediv, ops.divide)
_floor = _arithmetic(operator.floordiv, snp.floor_divide)
_modulo = _arithmetic(operator.mod, snp.mod)

BINARY: dict[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: _add,
    ast.Sub: _arithmetic(operator.sub, ops.subtract),
    ast.Mult: _times,
    ast.Div: _divided,
    ast.FloorDiv: _whole_quotient,
    ast.Mod: _remainder,
    ast.Pow: _power,
    ast.MatMult: lambda a, b: ops.matmul(array(a), array(b)),
    ast.BitAnd: lambda a, b: connect_conditions(sympy.And, a, b),
    ast.BitOr: lambda a, b: connect_conditions(sympy.Or, a, b),
    ast.BitXor: lambda a, b: connect_conditions(sympy.Xor, a, b),
}


def _negated(a: Value) -> Value:
    known = truth(a)
    return connect_conditions(sympy.Not, a) if known is None else not known


UNARY: dict[type[ast.unaryop], Callable[[Value], Value]] = {
    ast.UAdd: lambda a: a if isinstance(a, int) else as_operand(array(a)),
    ast.USub: lambda a: -a if isinstance(a, int) else ops.multiply(-1, array(a)),
    ast.Not: _negated,
    ast.Invert: lambda a: connect_conditions(sympy.Not, a),
}


def connect_conditions(connective: sympy.core.function.FunctionClass, *values: Value) -> Value:
    """Make an entrywise connective of conditions."""
    for value in values:
        if not isinstance(value, (bool, TensorExpr, np.ndarray)) and not is_condition(value):
            raise TensorError("& | ^ ~ and `and or not` combine conditions such as x > 0")
    known = [S.true if v is True else S.false if v is False else v for v in values]
    if all(isinstance(v, Boolean) for v in known):
        return connective(*known)
    return ops.logical(connective, *aligned_conditions(known))


def aligned_conditions(values: Sequence[Value]) -> list[Value]:
    """Prepend axes of length 1 to conditions of lower order, as NumPy's broadcasting does."""
    tensors = [v for v in values if isinstance(v, TensorExpr) and v.order]
    return aligned(values) if len({v.order for v in tensors}) > 1 else list(values)


def _compared(
    exact: Callable[[Value, Value], Value], relation: Callable[..., sympy.Basic]
) -> Callable[[Value, Value], Value]:
    def compared(a: Value, b: Value) -> Value:
        if isinstance(a, int) and isinstance(b, int):
            return exact(a, b)
        return ops.compare(relation, *aligned([a, b]))

    return compared


COMPARISONS: dict[type[ast.cmpop], Callable[[Value, Value], Value]] = {
    ast.Lt: _compared(operator.lt, sympy.Lt),
    ast.LtE: _compared(operator.le, sympy.Le),
    ast.Gt: _compared(operator.gt, sympy.Gt),
    ast.GtE: _compared(operator.ge, sympy.Ge),
    ast.Eq: _compared(operator.eq, sympy.Eq),
    ast.NotEq: _compared(operator.ne, sympy.Ne),
    ast.Is: lambda a, b: a is b,
    ast.IsNot: lambda a, b: a is not b,
}


# --- parts ---------------------------------------------------------------------------------------


def part(value: Value, index: Value) -> Value:
    """Return ``value[index]``."""
    if isinstance(value, (list, tuple, range)):
        if not isinstance(index, (int, slice)):
            raise TensorError("a list or tuple is indexed by known integers")
        return value[index]
    if is_operand(value) and index in ((), ...):
        return value
    if not isinstance(value, TensorExpr) or not value.order:
        raise TensorError("a number has no entries; give the shape of an argument by shapes=")
    return value[index]


def with_part(tensor: TensorExpr, index: Value, value: Value) -> Operand:
    """Return the tensor after ``tensor[index] = value``."""
    entries = list(index) if isinstance(index, tuple) else [index]
    if not all(isinstance(e, (int, slice, Expr, EllipsisType)) for e in entries):
        raise TensorError("entries are assigned at integers and slices; use np.where")
    if ... not in entries:
        entries.append(...)
    place = entries.index(...)
    missing = tensor.order - len(entries) + 1
    entries[place : place + 1] = [slice(None)] * missing
    old = sliced_sum(tensor, tuple(entries))
    new = as_operand(array(value))
    change = ops.subtract(ops.broadcast_to(new, old.shape) if order_of(old) else new, old)
    return ops.add(tensor, _embedded(change, tensor, entries))


def sliced_sum(tensor: TensorExpr, entries: tuple[Value, ...]) -> Operand:
    """Slice a tensor; of a sum of assigned entries keep only the terms inside of the slice."""
    if not isinstance(tensor, TensorAdd):
        return tensor[entries]
    total, *rest = [sliced_sum(term, entries) for term in tensor.operands]
    for term in rest:
        total = ops.add(total, term)
    return total


def _embedded(change: Operand, tensor: TensorExpr, entries: Sequence[Value]) -> Operand:
    """Embed a value at some positions into zeros of a tensor's shape."""
    labels, operands = list(range(tensor.order)), []
    kept: list[int] = []
    for axis, entry in enumerate(entries):
        identity = ops.eye(tensor.shape[axis])
        if isinstance(entry, slice):
            kept.append(tensor.order + axis)
            operands += [identity[:, entry], [axis, tensor.order + axis]]
        else:
            operands += [identity[:, entry], [axis]]
    return ops.einsum(change, kept, *operands, labels)
