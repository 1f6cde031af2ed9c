"""What NumPy computes entry by entry: functions by the table's rows, relations, arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sympy

from .. import operations as ops
from ..core import TensorError, as_list
from ..expressions import Operand, TensorLike, as_operand, elementwise
from ._options import refuse


def ufunc(name: str, function: Callable[..., Operand]) -> Callable[..., Operand]:
    """NumPy's function of a name, by a scalar function."""

    def apply(*tensors: TensorLike, **options: object) -> Operand:
        refuse(name, options)
        return elementwise(function, *tensors)

    return _named(apply, name, "entry by entry, on tensors and SymPy scalars")


def _relation(name: str, relation: Callable[..., Operand]) -> Callable[..., Operand]:
    def apply(a: TensorLike, b: TensorLike) -> Operand:
        return ops.compare(relation, a, b)

    return _named(apply, name, "of tensors: ones where it holds, else zeros; of scalars a relation")


def _connective(name: str, connective: Callable[..., Operand]) -> Callable[..., Operand]:
    def apply(*conditions: TensorLike) -> Operand:
        return ops.logical(connective, *conditions)

    return _named(apply, name, "of conditions or of tensors, true where they aren't zero")


def _named(apply: Callable[..., Operand], name: str, text: str) -> Callable[..., Operand]:
    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"``numpy.{name}`` {text}."
    return apply


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
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    a = as_operand(a) if low is None else elementwise(sympy.Max, a, low)
    return a if high is None else elementwise(sympy.Min, a, high)


def where(condition: TensorLike, x: TensorLike, y: TensorLike) -> Operand:
    """``numpy.where`` with three arguments; the condition is a comparison such as ``A > 0``."""
    return ops.where(condition, x, y)


def select(
    condlist: Sequence[TensorLike], choicelist: Sequence[TensorLike], default: TensorLike = 0
) -> Operand:
    """``numpy.select``: the entry of the first choice whose condition holds."""
    condlist, choicelist = as_list(condlist, "conditions"), as_list(choicelist, "choices")
    if len(condlist) != len(choicelist):
        raise TensorError(
            f"select takes as many conditions as choices, not {len(condlist)} and {len(choicelist)}"
        )
    return ops.choose([*zip(choicelist, condlist, strict=True), (default, True)])


# What is made of relations and of connectives instead of a scalar function.
CONDITIONS: dict[str, Callable[..., Operand]] = {
    **{
        name: _relation(name, relation)
        for name, relation in {
            "greater": sympy.Gt,
            "greater_equal": sympy.Ge,
            "less": sympy.Lt,
            "less_equal": sympy.Le,
            "equal": sympy.Eq,
            "not_equal": sympy.Ne,
        }.items()
    },
    **{
        f"logical_{name}": _connective(f"logical_{name}", connective)
        for name, connective in {
            "and": sympy.And,
            "or": sympy.Or,
            "xor": sympy.Xor,
            "not": sympy.Not,
        }.items()
    },
}
