"""Interpret the helper functions of generated code by their meaning."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import sympy
from sympy import Eq

from .. import operations as ops
from ..compiler import BACKENDS, checking_text
from ..core import UnsupportedError
from ..expressions import (
    DirectionalFunction,
    Operand,
    Positions,
    cofactors,
    det,
    elementwise,
    inv,
    logdet,
    order_of,
    shape_of,
)
from .values import NamedFunction, Value


def _cofactors(X: Operand, order: int, *directions: Operand) -> Operand:
    found = cofactors(X, order)
    for direction in directions[::-1]:
        found = ops.tensordot(found, direction, 2)
    return found


def _tie_averaged_subgradient(x: Operand, top: Operand, axis: ops.Axes = None) -> Operand:
    """Return the tie-averaged subgradient of a maximum or minimum, given its result."""
    for found, shares in ((ops.max, ops.max_share), (ops.min, ops.min_share)):
        if top in (found(x, axis), found(x, axis, keepdims=True)):
            return shares(x, axis)
    hits = ops.compare(Eq, x, ops.broadcast_to(top, shape_of(x)))
    return ops.divide(hits, ops.sum(hits, axis, keepdims=True))


def _scatter(
    values: Operand, lengths: Sequence[Value], *positions: Operand, once: bool = False
) -> Operand:
    """Add values at positions on the first axes to zeros."""
    order = max(map(order_of, positions))
    at, count = shape_of(values)[:order], len(positions)
    rest = [order + count + k for k in range(order_of(values) - order)]
    parts: list[Value] = [values, [*range(order), *rest]]
    for k, (own, length) in enumerate(zip(positions, lengths, strict=True)):
        parts += [ops.one_hot(ops.broadcast_to(own, at), length), [*range(order), order + k]]
    return ops.einsum(*parts, [*range(order, order + count), *rest])


def _running_products(x: Operand, backwards: bool) -> Operand:
    """Return 1 and the running products along the last axis, or those from its end and 1."""
    products = ops.interval_products(x)
    return products[..., :, -1] if backwards else products[..., 0, :]


def _summed(weights: Operand, c: Operand, backwards: bool) -> Operand:
    """Sum c[i] weights[i, j] over i, or over j for ``backwards``."""
    if backwards:
        return ops.matmul(weights, c[..., None])[..., 0]
    return ops.matmul(c[..., None, :], weights)[..., 0, :]


def _windows(
    x: Operand, axis: int, start: Value, steps: Sequence[Value], counts: Sequence[Value]
) -> Operand:
    """Return the entries at start + steps[0] i + steps[1] k of an axis, at [i, k]."""
    order = order_of(x)
    places = Positions(shape_of(x)[axis], start, steps, counts)
    kept = [*range(axis), order, order + 1, *range(axis + 1, order)]
    return ops.einsum(x, [*range(order)], places, [order, order + 1, axis], kept)


@dataclass(frozen=True)
class _Factors:
    """Represent a factorization, which only helper functions take."""

    matrix: Operand


def _solved(factors: _Factors, B: Operand, transposed: bool = False) -> Operand:
    X = factors.matrix
    return ops.matmul(inv(ops.transpose(X) if transposed else X), B)


def _of_factored(function: Callable[[Operand], Value]) -> Callable[[_Factors], Value]:
    return lambda factors: function(factors.matrix)


def _directional_derivative(
    function: Callable[[Operand], Operand], X: Operand, *directions: Operand
) -> Operand:
    """Return the directional derivatives of a function of a matrix."""
    value = function(X)
    if not isinstance(value, DirectionalFunction):
        raise UnsupportedError("derivatives in directions are read of expm and matrix_power")
    return value.with_operands(X, *directions)


_SUPPORT: dict[str, Callable[..., Value]] = {
    "scatter": _scatter,
    "one_hot": lambda positions, length: ops.one_hot(positions, length),
    "running_products": _running_products,
    "recurrence": lambda x, b, backwards: _summed(ops.interval_products(x), b, backwards),
    "running_weights": lambda x: x,
    "running_mean": lambda x, c, backwards: _summed(ops.running_softmax(x), c, backwards),
    "factored": lambda X, definite=False: _Factors(X),
    "solved": _solved,
    "inverted": _of_factored(inv),
    "trace_of_inverse": _of_factored(lambda X: ops.trace(inv(X))),
    "determinant": _of_factored(det),
    "log_determinant": _of_factored(logdet),
    "signed_log_determinant": _of_factored(ops.slogdet),
    "windows": _windows,
    "diagonal_in": lambda X: ops.einsum("ii->i", X),
    "correlate": lambda x, w: ops.correlate(x, w, "valid"),
    "derivative_along": _directional_derivative,
    "softmax": lambda x, axis=None: ops.softmax(x, axis),
    "logsumexp": lambda x, axis=None: ops.logsumexp(x, axis),
    "cofactors": _cofactors,
    "share": _tie_averaged_subgradient,
    "logcumsumexp": lambda x: ops.logcumsumexp(x, axis=-1),
    "sigmoid": lambda z: ops.FUNCTIONS["sigmoid"](z),
    "softplus": lambda z: ops.FUNCTIONS["softplus"](z),
    "sigmoid_derivative": lambda z: ops.multiply(
        ops.FUNCTIONS["sigmoid"](z), ops.FUNCTIONS["sigmoid"](ops.multiply(-1, z))
    ),
    "add_transposed": lambda X: ops.add(X, ops.transpose(X)),
    "weighted_gram": lambda X, w: ops.matmul(ops.multiply(ops.transpose(X), w[None, :]), X),
    "sums": lambda x, axis=None, keepdims=False: ops.sum(x, axis, keepdims=keepdims),
    "max_shift": lambda x, axis=None: ops.max(x, axis, keepdims=True),
    "log_total": lambda weights, total, axis=None: elementwise(sympy.log, total),
}
# Helper functions whose results may share memory with arguments.
_VIEWS = ("windows", "diagonal_in", "running_weights", "sums")


@cache
def _supporting() -> dict[str, NamedFunction]:
    backend = BACKENDS["numpy"]
    found = {
        ast.dump(ast.parse(backend.helper(name).text).body[0]): NamedFunction(
            name, function, makes_new=name not in _VIEWS
        )
        for name, function in _SUPPORT.items()
    }
    return found | dict(
        zip(map(ast.dump, ast.parse(checking_text()).body), _CHECKING.values(), strict=True)
    )


def helper_function(node: ast.FunctionDef) -> NamedFunction | None:
    """Return the implementation of a helper function of generated code; None for others."""
    return _supporting().get(ast.dump(node)) if node.name in _SUPPORT | _CHECKING else None


# --- argument checks


def _checked(*args: Value) -> Value:
    raise UnsupportedError("arguments are checked where generated code does, at its beginning")


_CHECKING = {
    name: NamedFunction(name, _checked)
    for name in ("checked_array", "checked_integer", "check_shapes")
}


def is_check(quick: ast.Try, whole: ast.stmt, known: Callable[[str], Value]) -> bool:
    """Tell whether statements are the argument check of generated code: a quick test, and the full
    check if it fails. It defines axis lengths and has no other effect."""
    if not isinstance(whole, ast.If) or ast.unparse(whole.test) != "not fits":
        return False
    first, *rest = whole.body
    handlers = [ast.unparse(s) for handler in quick.handlers for s in handler.body]
    return (
        handlers == ["fits = False"]
        and not (quick.orelse or quick.finalbody or whole.orelse)
        and _stored([quick.body[-1]]) == {"fits"}
        and isinstance(first, ast.Assign)
        and _reassigns_its_arguments(first)
        and all(known(name) is function for name, function in _CHECKING.items())
        and all(isinstance(s, ast.Assign) or _only_raises(s) for s in rest)
        and _stored(rest) <= _stored(quick.body[:-1]) | {"_"}  # a length that is known already
    )


def _reassigns_its_arguments(assignment: ast.Assign) -> bool:
    """Tell whether the checked arrays are assigned to their own names."""
    target, call = assignment.targets[0], assignment.value
    if not isinstance(call, ast.Call) or ast.unparse(call.func) != "check_shapes":
        return False
    entries = call.args[0]
    if not isinstance(target, ast.Tuple) or not isinstance(entries, ast.Tuple):
        return False
    given = [ast.unparse(e.elts[1]) for e in entries.elts if isinstance(e, ast.Tuple)]
    return given == list(map(ast.unparse, target.elts))


def _only_raises(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and [*map(type, statement.body)] == [ast.Raise]


def _stored(statements: Sequence[ast.stmt]) -> set[str]:
    nodes = [node for statement in statements for node in ast.walk(statement)]
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
