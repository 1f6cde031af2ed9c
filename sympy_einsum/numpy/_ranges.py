"""NumPy's ranges of numbers and windows: constants, but for symbols at the ends."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import numpy as np
from sympy import Expr, S

from .. import operations as ops
from ..core import UnsupportedError, as_flag, as_scalar
from ..expressions import Operand, TensorLike, as_operand, order_of
from ._options import refuse


def linspace(
    start: TensorLike,
    stop: TensorLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: object = None,
    axis: int = 0,
) -> Operand | tuple[Operand, Operand]:
    """``numpy.linspace`` of a known number of points between scalars or tensors.

    Raises UnsupportedError for a symbolic number of points.

    >>> from sympy import symbols
    >>> import sympy_einsum.numpy as snp
    >>> a, b = symbols("a b")
    >>> snp.linspace(a, b, 3).as_explicit()
    [a, 0.5*a + 0.5*b, 1.0*b]
    """
    refuse("linspace", {"dtype": dtype})
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
    start: TensorLike,
    stop: TensorLike,
    num: int = 50,
    endpoint: bool = True,
    base: TensorLike = 10.0,
    dtype: object = None,
    axis: int = 0,
) -> Operand:
    """``numpy.logspace`` of a known number of points between scalars or tensors.

    Raises UnsupportedError for a symbolic number of points.

    >>> from sympy import symbols
    >>> import sympy_einsum.numpy as snp
    >>> b = symbols("b")
    >>> snp.logspace(0, b, 3, base=2).as_explicit()
    [1, 2**(0.5*b), 2**(1.0*b)]
    """
    refuse("logspace", {"dtype": dtype})
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    assert not isinstance(exponents, tuple)
    return ops.power(base, exponents)


def arange(
    start_or_stop: Expr | float, /, stop: Expr | float | None = None, step: Expr | float = 1
) -> Operand:
    """``numpy.arange``: a constant; also of symbols, if the step is 1 and the bounds differ by a
    length.

    Raises UnsupportedError for another step between symbols.

    >>> from sympy import symbols
    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> n = symbols("n", integer=True, positive=True)
    >>> x = se.TensorSymbol("x", n)
    >>> first_moment = (snp.arange(n) * x).sum()
    >>> se.lambdify([x], first_moment)([5.0, 7.0, 1.0])
    np.float64(9.0)
    """
    first, last = (S.Zero, start_or_stop) if stop is None else (start_or_stop, stop)
    bounds = [as_scalar(bound, "a bound of arange") for bound in (first, last, step)]
    if all(bound.is_number and bound.is_extended_real for bound in bounds):
        integers = all(bound.is_Integer for bound in bounds)
        return as_operand(np.arange(*[int(b) if integers else float(b) for b in bounds]))
    if bounds[2] != 1:
        raise UnsupportedError(
            f"arange of {', '.join(map(str, bounds))}: of symbols it takes the step 1; multiply it "
            "by another"
        )
    return ops.counting(bounds[1] - bounds[0], bounds[0])


def _constant(name: str, call: str) -> Callable[..., Operand]:
    function = getattr(np, name)

    @wraps(function)
    def apply(*args: object, **options: object) -> Operand:
        try:
            return as_operand(function(*map(_plain, args), **options))
        except (TypeError, ValueError) as error:
            raise UnsupportedError(
                f"numpy.{name} gives a constant, and takes known numbers: {error}"
            ) from error

    apply.__doc__ = f"""``numpy.{name}`` as a constant.

    Raises UnsupportedError for arguments that are no known numbers.

    >>> import numpy as np
    >>> import sympy_einsum.numpy as snp
    >>> np.allclose(snp.{name}({call}).array, np.{name}({call}))
    True
    """
    return apply


def _plain(argument: object) -> object:
    """A number of SymPy's as Python's."""
    if isinstance(argument, Expr):
        if not argument.is_number or order_of(argument):
            raise TypeError(f"{str(argument)[:80]} is no number")
        return int(argument) if argument.is_Integer else float(argument)
    return argument


CONSTANTS: dict[str, Callable[..., Operand]] = {
    name: _constant(name, call)
    for name, call in (
        ("geomspace", "1, 8, 4"),
        ("hamming", "4"),
        ("hanning", "4"),
        ("blackman", "4"),
        ("bartlett", "4"),
        ("kaiser", "4, 14"),
    )
}
