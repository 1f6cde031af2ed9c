"""Compute with values of the language: numbers, tensors, and tuples of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sympy import Dummy, S

from ... import operations
from ...core import ShapeError, TensorError
from ...expressions import Operand, TensorSymbol, as_operand, shape_of
from ..lippmann.functions import ELEMENTWISE
from ..numbers import bounded_power, read_number
from .inference import ENTRYWISE, Value


def as_value(given: object) -> Value:
    """Convert numbers, tensors, and tuples and lists of these."""
    if isinstance(given, (tuple, list)):
        return tuple([as_value(part) for part in given])
    return as_operand(given)


def components_of(value: Value) -> tuple[Value, ...]:
    """Return the components of a tuple, or the entries of a vector."""
    if isinstance(value, tuple):
        return value
    shape = shape_of(value)
    if not shape or not shape[0].is_Integer:
        raise TensorError(f"{str(value)[:80]} is no tuple")
    return tuple([value[k] for k in range(int(shape[0]))])


def component(value: Value, number: int) -> Value:
    """Return a component, counted from 1."""
    if value is S.Zero:
        return S.Zero
    parts = components_of(value)
    if not 1 <= number <= len(parts):
        raise TensorError(f"a tuple of {len(parts)} has no component #{number}")
    return parts[number - 1]


def as_expression(value: Value) -> Operand | None:
    """Return a tuple of tensors of one shape as their stack, or None for another tuple."""
    if not isinstance(value, tuple):
        return value
    parts = [as_expression(part) for part in value]
    known = [part for part in parts if part is not None]
    if not value or len(known) < len(parts) or len({shape_of(part) for part in known}) > 1:
        return None
    return operations.stack(known)


def negated(value: Value) -> Value:
    """Return minus a value."""
    return _mapped(lambda part: -part, value)


def add_values(one: Value, other: Value) -> Value:
    """Add component by component; the number 0 is the zero of any type."""
    if one is S.Zero or other is S.Zero:
        return other if one is S.Zero else one
    if not isinstance(one, tuple) and not isinstance(other, tuple):
        if shape_of(one) != shape_of(other):
            raise ShapeError(f"a sum of values of shapes {shape_of(one)} and {shape_of(other)}")
        return one + other
    pairs = zip(components_of(one), components_of(other), strict=True)
    return tuple([add_values(a, b) for a, b in pairs])


def subtract_values(one: Value, other: Value) -> Value:
    """Subtract component by component."""
    return add_values(one, negated(other))


def multiply_values(one: Value, other: Value) -> Value:
    """Multiply a value by a number."""
    return _mapped(lambda part: _number(one) * part, other)


def raised_to(exponent: str) -> Callable[[Value], Value]:
    """Return the function that raises a number to a power."""
    sign = exponent[:1] == "-"
    number = read_number(exponent.removeprefix("-"))
    return lambda value: bounded_power(_number(value), -number if sign else number)


def dprod(pair: Value) -> Value:
    """Return the scalar product of a pair of vectors."""
    one, other = components_of(pair)
    if not isinstance(one, tuple) and not isinstance(other, tuple):
        return operations.dot(one, other)
    parts = zip(components_of(one), components_of(other), strict=True)
    total: Value = S.Zero
    for a, b in parts:
        total = add_values(total, multiply_values(a, b))
    return total


def cross_product(pair: Value) -> Value:
    """Return the cross product of a pair of triples."""
    one, other = components_of(pair)
    if not isinstance(one, tuple) and not isinstance(other, tuple):
        return operations.cross(one, other)
    a, b = components_of(one), components_of(other)
    places = ((1, 2), (2, 0), (0, 1))
    return tuple(
        [
            subtract_values(multiply_values(a[j], b[k]), multiply_values(a[k], b[j]))
            for j, k in places
        ]
    )


def _norm2sq(pair: Value) -> Value:
    one, other = map(_number, components_of(pair))
    return one**2 + other**2


def _entrywise(name: str) -> Callable[[Value], Value]:
    function = ELEMENTWISE[name]
    return lambda value: function(_number(value))


FUNCTIONS: dict[str, Callable[[Value], Value]] = {
    **{own: _entrywise(name) for own, name in ENTRYWISE.items()},
    "dprod": dprod,
    "dprod3": dprod,
    "cprod3": cross_product,
    "cross": cross_product,
    "sprod": lambda pair: multiply_values(*components_of(pair)),
    "norm2sq": _norm2sq,
}
BINARY: dict[str, Callable[[Value, Value], Value]] = {
    "+": add_values,
    "-": subtract_values,
    "*": multiply_values,
    "*>": multiply_values,
}


def _number(value: Value) -> Operand:
    if isinstance(value, tuple) or shape_of(value):
        raise TensorError("expected a number, not a tuple")
    return value


def mapped(function: Callable[[Value], Value], array: Value) -> Value:
    """Apply a function to each entry of an array."""
    if isinstance(array, tuple):
        return tuple([function(entry) for entry in array])
    shape = shape_of(array)
    if not shape:
        raise TensorError(f"{str(array)[:80]} is no array")
    name = "entry"
    entry = TensorSymbol(name, shape[1:]) if shape[1:] else Dummy(name, real=True)
    body = as_expression(function(entry))
    if body is None:
        raise TensorError("the function of a map gives a tuple of several shapes")
    if not body.has_free(entry):
        return operations.broadcast_to(body, (shape[0], *shape_of(body)))
    return operations.batch(body, {entry: array})


def _mapped(function: Callable[[Operand], Operand], value: Value) -> Value:
    if isinstance(value, tuple):
        return tuple([_mapped(function, part) for part in value])
    return function(value)


def symbols_in(value: Value) -> Sequence[Operand]:
    """Return the symbols that an argument consists of."""
    if isinstance(value, tuple):
        return [symbol for part in value for symbol in symbols_in(part)]
    return [value]
