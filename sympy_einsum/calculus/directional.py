"""Products with derivatives, without building these: vjp, jvp, hvp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack, overload

from ..core import ShapeError, TensorError, same_name_hint
from ..expressions import Operand, Several, TensorLike, as_operand, order_of, shape_of, total_of
from ..operations import tensordot
from ..rules import stabilise, tidy
from .layouts import check_layout
from .operators import (
    Listed,
    Options,
    as_function,
    as_scalar_function,
    as_variable,
    gradient,
    listed,
)
from .sweeps import check_mode, pullback, pushforward, sweep


@overload
def vjp(y: Listed, x: Several, u: Listed, **options: Unpack[Options]) -> list[Operand]: ...


@overload
def vjp(y: Listed, x: Operand, u: Listed, **options: Unpack[Options]) -> Operand: ...


def vjp(
    y: Listed,
    x: Listed,
    u: Listed,
    *,
    mode: str = "auto",
    layout: str = "function-first",
    simplify: bool | None = None,
) -> Operand | list[Operand]:
    """Pull the cotangent u, of y's shape, back to x: Σ u · dy/dx, without the Jacobian.

    A list of variables gives a list; a list of functions takes a list of cotangents, and their
    pullbacks are added. The mode is the reverse one; in another the Jacobian is built. Both layouts
    are one: the result has x's axes.

    >>> import sympy_einsum as se
    >>> A, x = se.TensorSymbol("A", (3, 2)), se.TensorSymbol("x", (2,))
    >>> u = se.TensorSymbol("u", (3,))
    >>> se.vjp(A @ x, x, u) == u @ A
    True
    """
    variables = [as_variable(v) for v in listed(x)]
    functions, _ = stabilise([as_function(part, variables) for part in listed(y)], variables)
    cotangents = _fitting(u, functions, isinstance(y, (list, tuple)), "cotangent")
    check_layout(layout)
    check_mode(mode)
    if mode in ("auto", "reverse"):
        pulled = pullback(functions, variables, cotangents, ())
    else:
        blocks = [sweep(part, tuple(variables), mode, simplify)[0] for part in functions]
        columns = zip(*blocks, strict=True)
        pulled = [_pulled(cotangents, column) for column in columns]
    results, _ = tidy(pulled, simplify, functions)
    return list(results) if isinstance(x, (list, tuple)) else results[0]


@overload
def jvp(y: Several, x: Listed, v: Listed, **options: Unpack[Options]) -> list[Operand]: ...


@overload
def jvp(y: TensorLike, x: Listed, v: Listed, **options: Unpack[Options]) -> Operand: ...


def jvp(
    y: Listed,
    x: Listed,
    v: Listed,
    *,
    mode: str = "auto",
    layout: str = "function-first",
    simplify: bool | None = None,
) -> Operand | list[Operand]:
    """Push the tangent v, of x's shape, forward to y: Σ dy/dx · v, without the Jacobian.

    A list of functions gives a list; a list of variables takes a list of tangents. The mode is the
    forward one; in another the Jacobian is built. Both layouts are one: the result has y's axes.

    >>> import sympy_einsum as se
    >>> A, x = se.TensorSymbol("A", (3, 2)), se.TensorSymbol("x", (2,))
    >>> v = se.TensorSymbol("v", (2,))
    >>> se.jvp(A @ x, x, v) == A @ v
    True
    """
    variables = [as_variable(variable) for variable in listed(x)]
    functions, _ = stabilise([as_function(part, variables) for part in listed(y)], variables)
    tangents = _fitting(v, variables, isinstance(x, (list, tuple)), "tangent")
    check_layout(layout)
    check_mode(mode)
    if mode in ("auto", "forward"):
        pushed = [pushforward(part, variables, tangents, ()) for part in functions]
    else:
        blocks = [sweep(part, tuple(variables), mode, simplify)[0] for part in functions]
        pushed = [_pushed(row, tangents) for row in blocks]
    results, _ = tidy(pushed, simplify, functions)
    return list(results) if isinstance(y, (list, tuple)) else results[0]


@overload
def hvp(f: TensorLike, x: Several, v: Listed, **options: Unpack[Options]) -> list[Operand]: ...


@overload
def hvp(f: TensorLike, x: Operand, v: Listed, **options: Unpack[Options]) -> Operand: ...


def hvp(
    f: TensorLike,
    x: Listed,
    v: Listed,
    *,
    mode: str = "auto",
    layout: str = "function-first",
    simplify: bool | None = None,
) -> Operand | list[Operand]:
    """Multiply the Hessian of a scalar by v, of x's shape, without forming it.

    Lists of variables and of directions give a list: the rows of the Hessian of all variables
    times all directions. The mode is that of the gradient, which is then pushed forward. Both
    layouts are one: the result has x's axes.

    >>> import sympy_einsum as se
    >>> A, x = se.TensorSymbol("A", (2, 2)), se.TensorSymbol("x", (2,))
    >>> v = se.TensorSymbol("v", (2,))
    >>> se.hvp(x @ A @ x, x, v) == A @ v + v @ A
    True
    """
    first = gradient(as_scalar_function(f, "hvp"), x, mode=mode, layout=layout, simplify=simplify)
    return jvp(first, x, v, simplify=simplify)


def _pulled(cotangents: Sequence[Operand], blocks: Sequence[Operand]) -> Operand:
    pairs = zip(cotangents, blocks, strict=True)
    return total_of([tensordot(u, block, order_of(u)) for u, block in pairs])


def _pushed(blocks: Sequence[Operand], tangents: Sequence[Operand]) -> Operand:
    pairs = zip(blocks, tangents, strict=True)
    return total_of([tensordot(block, v, order_of(v)) for block, v in pairs])


def _fitting(values: Listed, likes: Sequence[Operand], several: bool, what: str) -> list[Operand]:
    """Convert and check the tangents of variables or the cotangents of functions."""
    if several:
        if not isinstance(values, (list, tuple)) or len(values) != len(likes):
            raise TensorError(f"a list takes a list of {what}s, one for each of the {len(likes)}")
        return [_same_shape(value, like, what) for value, like in zip(values, likes, strict=True)]
    return [_same_shape(values, likes[0], what)]


def _same_shape(value: TensorLike, like: Operand, what: str) -> Operand:
    value = as_operand(value)
    if shape_of(value) != shape_of(like):
        raise ShapeError(
            f"the {what} of {str(like)[:80]} has its shape, {shape_of(like)}, not {shape_of(value)}"
            + same_name_hint(*shape_of(like), *shape_of(value))
        )
    return value
