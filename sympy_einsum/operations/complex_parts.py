"""The real and the imaginary part of an expression with complex numbers inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sympy import (
    Add,
    Basic,
    Dummy,
    Expr,
    Function,
    I,
    Piecewise,
    Pow,
    S,
    arg,
    atan2,
    cos,
    exp,
    im,
    log,
    re,
    sin,
)

from ..core import UnsupportedError, children, deferred, postorder
from ..expressions import (
    Elementwise,
    Expm,
    Inv,
    InvStack,
    Operand,
    Zeros,
    apply_body,
    conjugated,
    expm,
    holds_complex,
    inv,
    of_real_constants,
    shape_of,
    slot,
)
from .arithmetic import add, divide, multiply, subtract
from .pieces import block

_expand = deferred("rules", "expand")

# Analytic functions of matrices, by the class of their nodes.
_OF_MATRICES: Mapping[type, Callable[[Operand], Operand]] = {Inv: inv, InvStack: inv, Expm: expm}


def complex_parts(val: Operand) -> tuple[Operand, Operand]:
    """Return the real and the imaginary part of an expression; UnsupportedError if they can't be
    separated."""
    if not holds_complex(val):
        return val, Zeros(*shape_of(val))
    val = _with_parts_of_functions(of_real_constants(val))
    conjugate = conjugated(val)
    parts = divide(add(val, conjugate), 2), divide(subtract(val, conjugate), 2 * I)
    x, y = map(_expand, parts)
    if holds_complex(x) or holds_complex(y):
        raise UnsupportedError(
            "the real and imaginary parts of a function of complex numbers can't be separated; "
            "keep them as two real tensors"
        )
    return x, y


def _with_parts_of_functions(val: Operand) -> Operand:
    """Write scalar functions of complex numbers, also within tensors, as a sum of two parts."""
    written: dict[Basic, Basic] = {}
    for node in postorder([val], lambda node: children(node) if holds_complex(node) else ()):
        if type(node) in _OF_MATRICES and holds_complex(node):
            parts = complex_parts(node.operands[0].xreplace(written))
            x, y = _parts_of_matrix_function(_OF_MATRICES[type(node)], *parts)
            written[node] = add(x, multiply(I, y))
            continue
        if isinstance(node, Elementwise):
            body, arguments = node.body, list(node.operands)
            places = [slot(k) for k in range(len(arguments))]
        elif isinstance(node, Function) or (isinstance(node, Pow) and not _is_polynomial(node)):
            arguments = [part for part in node.args if not part.is_number]
            places = [Dummy() for _ in arguments]
            body = node.xreplace(dict(zip(arguments, places, strict=True)))
        else:
            continue
        if not holds_complex(node):
            continue
        pairs = [complex_parts(argument.xreplace(written)) for argument in arguments]
        slots = [(slot(2 * k), slot(2 * k + 1)) for k in range(len(pairs))]
        values = {
            place: x if pair[1] == 0 or isinstance(pair[1], Zeros) else x + I * y
            for place, (x, y), pair in zip(places, slots, pairs, strict=True)
        }
        separated = _parts_of_body(body.xreplace(values))
        operands = [part for pair in pairs for part in pair]
        x, y = (apply_body(part, operands) for part in separated)
        written[node] = add(x, multiply(I, y))
    return val.xreplace(written) if written else val


def _parts_of_matrix_function(
    function: Callable[[Operand], Operand], A: Operand, B: Operand
) -> tuple[Operand, Operand]:
    """Return the parts of an analytic function of A + i B, which are blocks of that of a real
    matrix."""
    length = A.shape[-1]
    value = function(block([[A, multiply(-1, B)], [B, A]]))
    return value[..., :length, :length], value[..., length:, :length]


def _is_polynomial(power: Pow) -> bool:
    return bool(power.exp.is_Integer and power.exp.is_positive)


def _parts_of_body(body: Basic) -> tuple[Expr, Expr]:
    """Return the real and the imaginary part of a scalar function of real slots."""
    if not body.has(I):
        return body, S.Zero
    if isinstance(body, Piecewise):
        branches = [(*_parts_of_body(value), condition) for value, condition in body.args]
        return (
            Piecewise(*((x, condition) for x, _, condition in branches)),
            Piecewise(*((y, condition) for _, y, condition in branches)),
        )
    if body is I:
        return S.Zero, S.One
    pairs = [_parts_of_body(part) for part in body.args]
    if body.is_Add:
        return Add(*(x for x, _ in pairs)), Add(*(y for _, y in pairs))
    if body.is_Mul:
        product: tuple[Expr, Expr] = S.One, S.Zero
        for x, y in pairs:
            product = product[0] * x - product[1] * y, product[0] * y + product[1] * x
        return product
    if body.is_Pow and not body.exp.is_Rational:
        (x, y), (p, q) = pairs
        size, turn = log(x**2 + y**2) / 2, atan2(y, x)
        length, direction = exp(p * size - q * turn), q * size + p * turn
        return length * cos(direction), length * sin(direction)
    values: dict[Basic, Expr] = {}
    arguments = []
    for x, y in pairs:
        u, v = Dummy(real=True), Dummy(real=True)
        values |= {u: x, v: y}
        arguments.append(x if y == 0 else u + I * v)
    parts = [
        part.replace(arg, lambda z: atan2(*reversed(z.as_real_imag()))).xreplace(values)
        for part in body.func(*arguments).as_real_imag()
    ]
    if any(part.has(I, re, im) for part in parts):
        raise UnsupportedError(
            f"the real and imaginary parts of {body.func.__name__} of complex numbers can't be "
            "separated; keep them as two real tensors"
        )
    return parts[0], parts[1]
