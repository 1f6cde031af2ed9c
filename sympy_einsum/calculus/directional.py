"""Products with derivatives, without building these: vjp, jvp, hvp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from ..core import ShapeError, TensorError
from ..expressions import Operand, Several, TensorExpr, TensorLike, as_operand, shape_of
from ..rules import stable, tidy
from .operators import Listed, as_function, as_scalar, as_variable, gradient, listed
from .sweeps import pullback, pushforward


@overload
def vjp(y: Listed, x: TensorExpr, u: Listed, *, simplify: bool | None = ...) -> Operand: ...


@overload
def vjp(y: Listed, x: Several, u: Listed, *, simplify: bool | None = ...) -> list[Operand]: ...


@overload
def vjp(y: Listed, x: Operand, u: Listed, *, simplify: bool | None = ...) -> Operand: ...


def vjp(
    y: Listed, x: Listed, u: Listed, *, simplify: bool | None = None
) -> Operand | list[Operand]:
    """The cotangent u, of y's shape, pulled back to x: Σ u · dy/dx, without the Jacobian.

    A list of variables gives a list; a list of functions takes a list of cotangents, and their
    pullbacks are added.

    >>> import sympy_einsum as se
    >>> A, x = se.TensorSymbol("A", (3, 2)), se.TensorSymbol("x", (2,))
    >>> u = se.TensorSymbol("u", (3,))
    >>> se.vjp(A @ x, x, u) == u @ A
    True
    """
    variables = [as_variable(v) for v in listed(x)]
    functions, _ = stable([as_function(part) for part in listed(y)], variables)
    cotangents = _fitting(u, functions, isinstance(y, (list, tuple)), "cotangent")
    results, _ = tidy(pullback(functions, variables, cotangents, ()), simplify, functions)
    return list(results) if isinstance(x, (list, tuple)) else results[0]


@overload
def jvp(y: TensorExpr, x: Listed, v: Listed, *, simplify: bool | None = ...) -> Operand: ...


@overload
def jvp(y: Several, x: Listed, v: Listed, *, simplify: bool | None = ...) -> list[Operand]: ...


@overload
def jvp(y: TensorLike, x: Listed, v: Listed, *, simplify: bool | None = ...) -> Operand: ...


def jvp(
    y: Listed, x: Listed, v: Listed, *, simplify: bool | None = None
) -> Operand | list[Operand]:
    """The tangent v, of x's shape, pushed forward to y: Σ dy/dx · v, without the Jacobian.

    A list of functions gives a list; a list of variables takes a list of tangents.

    >>> import sympy_einsum as se
    >>> A, x = se.TensorSymbol("A", (3, 2)), se.TensorSymbol("x", (2,))
    >>> v = se.TensorSymbol("v", (2,))
    >>> se.jvp(A @ x, x, v) == A @ v
    True
    """
    variables = [as_variable(variable) for variable in listed(x)]
    functions, _ = stable([as_function(part) for part in listed(y)], variables)
    tangents = _fitting(v, variables, isinstance(x, (list, tuple)), "tangent")
    pushed = [pushforward(part, variables, tangents, ()) for part in functions]
    results, _ = tidy(pushed, simplify, functions)
    return list(results) if isinstance(y, (list, tuple)) else results[0]


@overload
def hvp(f: TensorLike, x: TensorExpr, v: Listed, *, simplify: bool | None = ...) -> Operand: ...


@overload
def hvp(f: TensorLike, x: Several, v: Listed, *, simplify: bool | None = ...) -> list[Operand]: ...


@overload
def hvp(f: TensorLike, x: Operand, v: Listed, *, simplify: bool | None = ...) -> Operand: ...


def hvp(
    f: TensorLike, x: Listed, v: Listed, *, simplify: bool | None = None
) -> Operand | list[Operand]:
    """The Hessian of a scalar times v, of x's shape, without the Hessian.

    Lists of variables and of directions give a list: the rows of the Hessian of all variables
    times all directions.

    >>> import sympy_einsum as se
    >>> A, x = se.TensorSymbol("A", (2, 2)), se.TensorSymbol("x", (2,))
    >>> v = se.TensorSymbol("v", (2,))
    >>> se.hvp(x @ A @ x, x, v) == A @ v + v @ A
    True
    """
    slope = gradient(as_scalar(f, "hvp"), x, simplify=simplify)
    return jvp(slope, x, v, simplify=simplify)


def _fitting(values: Listed, likes: Sequence[Operand], several: bool, what: str) -> list[Operand]:
    """A tangent for each variable, or a cotangent for each function."""
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
        )
    return value
