"""NumPy's shapes, tensors created from shapes, and ranges of numbers."""

from __future__ import annotations

import numpy as np
import sympy
from sympy import Expr, S

from .. import operations as ops
from ..core import TensorError, UnsupportedError, as_flag, as_scalar, as_shape
from ..expressions import Delta, Operand, TensorLike, Zeros, as_operand, order_of, shape_of
from ._rows import NO_AXIS, NO_NUMBER, Lengths, NumpyRow as Row, check_type
from ._shapes import broadcast_arrays


def size(a: TensorLike, axis: int | None) -> Operand:
    lengths = shape_of(as_operand(a))
    return sympy.Mul(*lengths) if axis is None else lengths[ops.as_axis(axis, len(lengths))]


def full(shape: Lengths, fill_value: TensorLike) -> Operand:
    value = as_operand(fill_value)
    if order_of(value):
        return ops.broadcast_to(value, shape)
    lengths = as_shape((shape,))
    return ops.filled(value, lengths) if lengths else value


def full_like(
    a: TensorLike, fill_value: TensorLike, dtype: object, shape: Lengths | None
) -> Operand:
    if dtype is not None:
        check_type(dtype)
    return _like(a, shape, fill_value)


def _like(a: TensorLike, shape: Lengths | None, value: TensorLike) -> Operand:
    return full(shape_of(as_operand(a)) if shape is None else shape, value)


def ones_like(a: TensorLike) -> Operand:
    """Return ones of the shape of a tensor."""
    return _like(a, None, S.One)


def linspace(
    start: TensorLike,
    stop: TensorLike,
    num: int,
    endpoint: bool,
    retstep: bool,
    axis: int,
) -> Operand | tuple[Operand, Operand]:
    points, closed = as_scalar(num, "the number of points"), as_flag(endpoint, "endpoint")
    if not points.is_Integer or points < 0:
        raise UnsupportedError(f"linspace takes a known number of points, not {num}")
    start, width = as_operand(start), ops.subtract(stop, start)
    parts = int(points) - 1 if closed else int(points)
    ramp = as_operand(np.arange(int(points)) / max(parts, 1))
    axes = list(range(order_of(width)))
    steps = ops.expand_dims(width, axis) if axes else width
    place = ops.as_axis(axis, len(axes) + 1)
    shape = [S.One] * (len(axes) + 1)
    shape[place] = points
    between = ops.multiply(ops.reshape(ramp, shape), steps)
    first = ops.expand_dims(start, axis) if order_of(start) else start
    result = ops.add(first, between)
    return (result, ops.divide(width, parts)) if as_flag(retstep, "retstep") else result


def logspace(
    start: TensorLike, stop: TensorLike, num: int, endpoint: bool, base: TensorLike, axis: int
) -> Operand:
    if order_of(as_operand(base)):
        start, stop, base = broadcast_arrays([start, stop, base])
        base = ops.expand_dims(base, axis)
    exponents = linspace(start, stop, num, endpoint, False, axis)
    assert not isinstance(exponents, tuple)
    return ops.power(base, exponents)


def arange(start_or_stop: Expr | float, stop: Expr | float | None, step: Expr | float) -> Operand:
    first, last = (S.Zero, start_or_stop) if stop is None else (start_or_stop, stop)
    bounds = [as_scalar(bound, "a bound of arange") for bound in (first, last, step)]
    if bounds[2].is_zero:
        raise TensorError("arange takes a step other than 0")
    if all(bound.is_number and bound.is_extended_real for bound in bounds):
        integers = all(bound.is_Integer for bound in bounds)
        return as_operand(np.arange(*[int(b) if integers else float(b) for b in bounds]))
    if bounds[2] != 1:
        raise UnsupportedError(
            f"arange of {', '.join(map(str, bounds))}: of symbols it takes the step 1; multiply it "
            "by another"
        )
    return ops.counting(bounds[1] - bounds[0], bounds[0])


def _constant(signature: str, call: str) -> Row:
    """Return the row of a function of known numbers, which NumPy computes."""
    name = signature.partition("(")[0]
    function = getattr(np, name)

    def constant(first: object, **others: object) -> Operand:
        try:
            given = {option: _plain(value) for option, value in others.items()}
            return as_operand(function(_plain(first), **given))
        except (TypeError, ValueError) as error:
            raise UnsupportedError(
                f"numpy.{name} gives a constant, and takes known numbers: {error}"
            ) from error

    return Row(
        signature,
        constant,
        "NumPy's result for known numbers, as a constant",
        f"np.allclose(snp.{name}({call}).array, np.{name}({call}))",
        "True",
        "Raises UnsupportedError for arguments that aren't known numbers.",
    )


def _plain(argument: object) -> object:
    """Convert a SymPy number to a Python number."""
    if isinstance(argument, Expr):
        if not argument.is_number or order_of(argument):
            raise TypeError(f"{str(argument)[:80]} is no number")
        return int(argument) if argument.is_Integer else float(argument)
    return argument


# fmt: off
ROWS = (
    Row("shape(a) -> Shape", lambda a: shape_of(as_operand(a)),
        "the tuple of axis lengths, which are SymPy expressions",
        'snp.shape(se.TensorSymbol("A", n, 3)), snp.shape(2)', "((n, 3), ())"),
    Row("ndim(a) -> int", lambda a: order_of(as_operand(a)),
        "the number of axes",
        "snp.ndim(A), snp.ndim(2)", "(2, 0)"),
    Row("size(a, axis: int | None = None)", size,
        "the number of entries, or the length of an axis",
        'B = se.TensorSymbol("B", m, n)\n'
        "snp.size(B), snp.size(B, 1)", "(m*n, n)", NO_AXIS),
    Row("full(shape, fill_value)", full,
        "a tensor filled with a scalar, which may be a symbol, or with an array that is broadcast",
        "snp.full((n, 2), t).shape, snp.full(n, t).sum()", "((n, 2), n*t)", NO_NUMBER),
    Row("ones(shape, dtype=None)", lambda shape: full(shape, S.One),
        "ones, which compiled code never materialises in products",
        "snp.ones((n, 2)).shape, snp.ones(n).sum()", "((n, 2), n)", NO_NUMBER, ignored="dtype"),
    Row("zeros(shape, dtype=None)", lambda shape: Zeros(*as_shape((shape,))),
        "zeros, which vanish from sums",
        "snp.zeros((n, 2)).shape, snp.zeros(3) + x", "((n, 2), x)", NO_NUMBER, ignored="dtype"),
    Row("eye(N, M=None, k=0, dtype=None)", ops.eye,
        "ones on the k-th diagonal and zeros elsewhere",
        "snp.eye(3) @ x, snp.eye(2, 3, k=1).as_explicit()", "(x, [[0, 1, 0], [0, 0, 1]])",
        NO_NUMBER, ignored="dtype"),
    Row("identity(n, dtype=None)", lambda n: Delta(n),
        "the identity matrix",
        "snp.identity(n) == se.Delta(n)", "True", NO_NUMBER, ignored="dtype"),
    Row("tri(N, M=None, k=0, dtype=None)", ops.tri,
        "ones on and below the k-th diagonal, zeros above it",
        "snp.tri(2, 3).as_explicit()", "[[1, 0, 0], [1, 1, 0]]", NO_NUMBER, ignored="dtype"),
    Row("ones_like(a, dtype=None, *, shape: Lengths | None = None)",
        lambda a, shape: _like(a, shape, S.One),
        "ones of the shape of a tensor, or of another shape",
        "snp.ones_like(A)", "Ones(2, 3)", NO_NUMBER, ignored="dtype"),
    Row("zeros_like(a, dtype=None, *, shape: Lengths | None = None)",
        lambda a, shape: _like(a, shape, S.Zero),
        "zeros of the shape of a tensor, or of another shape",
        "snp.zeros_like(A)", "Zeros(2, 3)", NO_NUMBER, ignored="dtype"),
    Row("full_like(a, fill_value, dtype=None, *, shape: Lengths | None = None)", full_like,
        "a tensor filled with a scalar, of the shape of a tensor, or of another shape",
        "snp.full_like(A, 7).sum()", "42",
        "Raises ShapeError for a value with more axes, or a length that isn't an integer, "
        "UnsupportedError for a type that would change the value."),
    Row("linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis: int = 0)"
        " -> Operand | tuple[Operand, Operand]", linspace,
        "a known number of evenly spaced points between scalars or tensors",
        "snp.linspace(0, t, 3).as_explicit()", "[0, 0.5*t, 1.0*t]",
        "Raises UnsupportedError for a symbolic number of points."),
    Row("logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis: int = 0)",
        logspace,
        "powers of the base, whose exponents are a known number of evenly spaced points between "
        "scalars or tensors",
        "snp.logspace(0, t, 3, base=2).as_explicit()", "[1, 2**(0.5*t), 2**(1.0*t)]",
        "Raises UnsupportedError for a symbolic number of points."),
    Row("arange(start_or_stop: Expr | float, /, stop: Expr | float | None = None, step: Expr | "
        "float = 1)", arange,
        "evenly spaced numbers as a constant; for step 1 the bounds may be symbols that differ "
        "by an axis length",
        "first_moment = (snp.arange(3) * x).sum()\n"
        "se.lambdify([x], first_moment)([5.0, 7.0, 1.0])", "np.float64(9.0)",
        "Raises UnsupportedError for symbolic bounds with another step."),
    _constant(
        "geomspace(start, stop, num=50, endpoint=True, dtype=None, axis: int = 0)", "1, 8, 4"
    ),
    _constant("hamming(M: Length)", "4"),
    _constant("hanning(M: Length)", "4"),
    _constant("blackman(M: Length)", "4"),
    _constant("bartlett(M: Length)", "4"),
    _constant("kaiser(M: Length, beta)", "4, 14"),
)
