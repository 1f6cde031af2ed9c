"""What NumPy computes entry by entry: functions by the table's rows, rounding, parts."""

from __future__ import annotations

from collections.abc import Callable

import sympy

from .. import operations as ops
from ..core import TensorError, as_flag, floor_divide, isinf, isnan, nan_to_num as finite, trunc
from ..expressions import Operand, TensorLike, as_operand, elementwise
from ._options import named, refuse


def ufunc(name: str, function: Callable[..., Operand]) -> Callable[..., Operand]:
    """NumPy's function of a name, by a scalar function."""

    def apply(*tensors: TensorLike, **options: object) -> Operand:
        refuse(name, options)
        return elementwise(function, *tensors)

    return named(apply, name, "entry by entry, on tensors and SymPy scalars")


def negative(a: TensorLike) -> Operand:
    """``numpy.negative``."""
    return ops.multiply(-1, a)


def positive(a: TensorLike) -> Operand:
    """``numpy.positive``."""
    return as_operand(a)


def clip(
    a: TensorLike,
    a_min: TensorLike | None = None,
    a_max: TensorLike | None = None,
    out: object = None,
    *,
    min: TensorLike | None = None,
    max: TensorLike | None = None,
) -> Operand:
    """``numpy.clip``; a bound that is None is left out."""
    refuse("clip", {"out": out})
    if (a_min is not None and min is not None) or (a_max is not None and max is not None):
        raise TensorError("clip takes a bound as a_min or as min, as a_max or as max, not as both")
    return ops.clip(a, a_min if min is None else min, a_max if max is None else max)


def round(a: TensorLike, decimals: int = 0, out: object = None) -> Operand:
    """``numpy.round``: to some decimals, halves to the even digit."""
    refuse("round", {"out": out})
    return ops.around(a, decimals)


def divmod(x1: TensorLike, x2: TensorLike) -> tuple[Operand, Operand]:
    """``numpy.divmod``: the quotient rounded down, and the remainder."""
    return elementwise(floor_divide, x1, x2), elementwise(sympy.Mod, x1, x2)


def modf(x: TensorLike) -> tuple[Operand, Operand]:
    """``numpy.modf``: the fractional and the integral part."""
    whole = elementwise(trunc, x)
    return ops.subtract(x, whole), whole


def nan_to_num(
    x: TensorLike,
    copy: bool = True,
    nan: TensorLike = 0.0,
    posinf: TensorLike | None = None,
    neginf: TensorLike | None = None,
) -> Operand:
    """``numpy.nan_to_num``: numbers in the place of nan, of inf and of -inf, by default 0, the
    largest number and the smallest. Where one is put the derivative is 0.
    """
    x = as_operand(x)
    branches: list[tuple[TensorLike, TensorLike]] = [(nan, elementwise(isnan, x))]
    for value, relation in ((posinf, sympy.Gt), (neginf, sympy.Lt)):
        if value is not None:
            test = ops.logical(sympy.And, elementwise(isinf, x), ops.compare(relation, x, 0))
            branches.append((value, test))
    return ops.choose([*branches, (elementwise(finite, x), True)])


def angle(z: TensorLike, deg: bool = False) -> Operand:
    """``numpy.angle`` of real numbers: pi for negative ones, else 0."""
    half_turn = sympy.Integer(180) if as_flag(deg, "deg") else sympy.pi
    return ops.choose([(half_turn, ops.compare(sympy.Lt, ops.real(z), 0)), (0, True)])


def real_if_close(a: TensorLike, tol: float = 100) -> Operand:
    """``numpy.real_if_close``: the tensor itself, tensors are real."""
    return ops.real(a)


def isreal(x: TensorLike) -> Operand:
    """``numpy.isreal``: ones, tensors are real."""
    return ops.compare(sympy.Eq, ops.imag(x), 0)


def iscomplex(x: TensorLike) -> Operand:
    """``numpy.iscomplex``: zeros, tensors are real."""
    return ops.imag(x)


def isrealobj(x: TensorLike) -> bool:
    """``numpy.isrealobj``: True, tensors are real."""
    return ops.real(x) is not None


def iscomplexobj(x: TensorLike) -> bool:
    """``numpy.iscomplexobj``: False, tensors are real."""
    return not isrealobj(x)
