"""NumPy's sums, means and the like."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import wraps

import numpy as np
from sympy import And, Eq, Expr, Gt, Or, S

from .. import operations as ops
from ..core import TensorError, as_flag, as_scalar, isnan, same_length
from ..expressions import Operand, TensorLike, as_operand, elementwise, is_condition, shape_of
from ._making import ones_like
from ._options import Axes, Example, P, named, refuse


def chosen(a: TensorLike, where: TensorLike | None, otherwise: TensorLike) -> Operand:
    """Return the entries that a reduction takes, something else for the others; as in NumPy, a mask
    is repeated to the shape of the entries, and they aren't to its."""
    if where is None or where is True:
        return a
    shape = shape_of(as_operand(a))
    if not is_condition(where) and not isinstance(where, (builtins.bool, np.bool_)):
        where = as_operand(where)
        own = shape_of(where)
        fits = len(own) == len(shape) and builtins.all(
            mine is S.One or same_length(mine, length)
            for mine, length in zip(own, shape, strict=True)
        )
        where = where if fits else ops.broadcast_to(where, shape)
    return ops.where(where, a, otherwise)


def sum(
    a: TensorLike,
    axis: Axes = None,
    dtype: object = None,
    out: object = None,
    keepdims: bool = False,
    initial: TensorLike | None = None,
    where: TensorLike | None = True,
) -> Operand:
    """``numpy.sum`` over some axes; ``where`` is a condition or a tensor.

    Raises ShapeError for an axis that isn't there.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (2, 3))
    >>> snp.sum(A, axis=0).shape, snp.sum(A, axis=0, keepdims=True).shape
    ((3,), (1, 3))
    >>> positive_part = snp.sum(A, where=A > 0)
    >>> se.lambdify([A], positive_part)([[1.0, -2.0, 3.0], [-4.0, 5.0, -6.0]])
    np.float64(9.0)
    """
    refuse("sum", {"dtype": dtype, "out": out})
    total = ops.sum(chosen(a, where, S.Zero), axis, keepdims)
    return total if initial is None else ops.add(total, initial)


def mean(
    a: TensorLike,
    axis: Axes = None,
    dtype: object = None,
    out: object = None,
    keepdims: bool = False,
    *,
    where: TensorLike | None = True,
) -> Operand:
    """``numpy.mean`` over some axes; ``where`` is a condition or a tensor.

    Raises ShapeError for an axis that isn't there.

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> n = symbols("n", integer=True, positive=True)
    >>> x = se.TensorSymbol("x", n)
    >>> snp.mean(x), se.gradient(snp.mean(x), x)
    (x.sum()/n, Ones(n)/n)
    """
    refuse("mean", {"dtype": dtype, "out": out})
    if where is None or where is True:
        return ops.mean(a, axis, keepdims)
    count = sum(ones_like(a), axis, keepdims=keepdims, where=where)
    return ops.divide(sum(a, axis, keepdims=keepdims, where=where), count)


def prod(
    a: TensorLike,
    axis: Axes = None,
    dtype: object = None,
    out: object = None,
    keepdims: bool = False,
    initial: TensorLike | None = None,
    where: TensorLike | None = True,
) -> Operand:
    """``numpy.prod`` over some axes; ``where`` is a condition or a tensor. Its derivative divides
    by nothing: it is right at zeros.

    Raises ShapeError for an axis that isn't there.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> se.lambdify([x], se.gradient(snp.prod(x), x))([0.0, 2.0, 3.0])
    array([6., 0., 0.])
    """
    refuse("prod", {"dtype": dtype, "out": out})
    product = ops.prod(chosen(a, where, S.One), axis, keepdims)
    return product if initial is None else ops.multiply(product, initial)


def count_nonzero(a: TensorLike, axis: Axes = None, *, keepdims: bool = False) -> Operand:
    """``numpy.count_nonzero``, also of conditions: where they hold.

    Raises ShapeError for an axis that isn't there.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> se.lambdify([x], snp.count_nonzero(x > 1))([1.0, 2.0, 3.0])
    np.float64(2.0)
    """
    return ops.count_nonzero(a, axis, keepdims)


def any(
    a: TensorLike,
    axis: Axes = None,
    out: object = None,
    keepdims: bool = False,
    *,
    where: TensorLike | None = True,
) -> Operand:
    """``numpy.any``: ones and zeros, and a relation where no axis is left.

    Raises ShapeError for an axis that isn't there.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (2, 2))
    >>> se.lambdify([A], snp.any(A > 1, axis=1))([[1.0, 2.0], [0.0, 1.0]])
    array([1., 0.])
    """
    refuse("any", {"out": out})
    return ops.any_(chosen(a, where, S.Zero), axis, keepdims)


def all(
    a: TensorLike,
    axis: Axes = None,
    out: object = None,
    keepdims: bool = False,
    *,
    where: TensorLike | None = True,
) -> Operand:
    """``numpy.all``: ones and zeros, and a relation where no axis is left.

    Raises ShapeError for an axis that isn't there.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> A = se.TensorSymbol("A", (2, 2))
    >>> se.lambdify([A], snp.all(A > 0, axis=1))([[1.0, 2.0], [0.0, 1.0]])
    array([1., 0.])
    """
    refuse("all", {"out": out})
    return ops.all_(chosen(a, where, S.One), axis, keepdims)


def allclose(
    a: TensorLike,
    b: TensorLike,
    rtol: TensorLike = 1e-05,
    atol: TensorLike = 1e-08,
    equal_nan: bool = False,
) -> Operand:
    """``numpy.allclose``, as a relation: a call of compiled code decides it.

    Raises ShapeError for shapes that don't fit.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x, y = se.tensors("x y", 2)
    >>> bool(se.lambdify([x, y], snp.allclose(x, y))([1.0, 2.0], [1.0, 2.0 + 1e-12]))
    True
    """
    return ops.all_(ops.isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: TensorLike, a2: TensorLike, equal_nan: bool = False) -> Operand:
    """``numpy.array_equal``, as a relation; false where shapes differ.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x, y = se.tensors("x y", 2)
    >>> snp.array_equal(x, se.TensorSymbol("z", 3))
    False
    >>> bool(se.lambdify([x, y], snp.array_equal(x, y))([1.0, 2.0], [1.0, 2.0]))
    True
    """
    a1, a2 = as_operand(a1), as_operand(a2)
    shapes = shape_of(a1), shape_of(a2)
    if len(shapes[0]) != len(shapes[1]) or not builtins.all(map(same_length, *shapes)):
        return S.false
    same = ops.compare(Eq, a1, a2)
    if as_flag(equal_nan, "equal_nan"):
        both = ops.logical(And, elementwise(isnan, a1), elementwise(isnan, a2))
        same = ops.logical(Or, same, both)
    return ops.all_(same)


def var(
    a: TensorLike,
    axis: Axes = None,
    dtype: object = None,
    out: object = None,
    ddof: Expr | int = 0,
    keepdims: bool = False,
    *,
    where: TensorLike | None = True,
    mean: TensorLike | None = None,
    correction: Expr | int | None = None,
) -> Operand:
    """``numpy.var`` over some axes; ``where`` is a condition or a tensor, ``correction`` another
    name of ``ddof``.

    Raises ShapeError for an axis that isn't there, TensorError for both names at once.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 4)
    >>> se.lambdify([x], snp.var(x, ddof=1))([0.0, 0.0, 0.0, 6.0])
    np.float64(9.0)
    """
    refuse("var", {"dtype": dtype, "out": out})
    if mean is None and (where is None or where is True):
        return ops.var(a, axis, degrees(ddof, correction), keepdims)
    return deviations(a, axis, degrees(ddof, correction), keepdims, where, mean, S.Zero)


def deviations(
    a: TensorLike,
    axis: Axes,
    ddof: Expr,
    keepdims: bool,
    where: TensorLike | None,
    centre: TensorLike | None,
    least: Expr,
) -> Operand:
    """Return the mean square of the differences between some entries and their mean, or something
    else; ``least`` is what it is divided by where no degree of freedom is left."""
    a = as_operand(a)
    if centre is None:
        centre = mean(a, axis, keepdims=True, where=where)
    squares = ops.squared(ops.subtract(a, centre))
    count = sum(ones_like(a), axis, keepdims=keepdims, where=where)
    total = sum(squares, axis, keepdims=keepdims, where=where)
    if ddof == 0:
        return ops.divide(total, count)
    left = ops.subtract(count, ddof)
    return ops.divide(total, ops.choose([(left, ops.compare(Gt, left, 0)), (least, True)]))


def degrees(ddof: Expr | int, correction: Expr | int | None) -> Expr:
    """Return the degrees of freedom that a variance has less than entries."""
    taken = as_scalar(ddof, "ddof")
    if correction is None:
        return taken
    if taken != 0:
        raise TensorError("var and std take ddof or correction, two names of the same, not both")
    return as_scalar(correction, "correction")


def deviation(
    name: str, about: str, variance: Callable[P, Operand], example: Example
) -> Callable[P, Operand]:
    """Return the root of a variance."""

    @wraps(variance)
    def apply(*args: P.args, **kwargs: P.kwargs) -> Operand:
        return ops.power(variance(*args, **kwargs), S.Half)

    errors = f"Parameters and errors are those of :func:`{variance.__name__}`."
    return named(apply, name, about, errors, example)


std = deviation(
    "std", "over some axes", var, Example("x", "[1.0, 1.0, 3.0, 3.0]", "np.float64(1.0)")
)
