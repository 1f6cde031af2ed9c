"""NumPy's comparisons and connectives, and its choices by them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import sympy
from sympy.core.function import FunctionClass

from .. import operations as ops
from ..core import ShapeError, TensorError, UnsupportedError, as_list
from ..expressions import Constant, Elementwise, Operand, TensorLike, as_operand, is_condition
from ._options import named, refuse


def _relation(name: str, relation: Callable[..., Operand]) -> Callable[..., Operand]:
    def apply(a: TensorLike, b: TensorLike) -> Operand:
        return ops.compare(relation, a, b)

    return named(apply, name, "of tensors: ones where it holds, else zeros; of scalars a relation")


def _connective(name: str, connective: FunctionClass) -> Callable[..., Operand]:
    def apply(*conditions: TensorLike) -> Operand:
        return ops.logical(connective, *conditions)

    return named(apply, name, "of conditions or of tensors, true where they aren't zero")


def _bitwise(name: str, connective: FunctionClass, instead: str) -> Callable[..., Operand]:
    def apply(*conditions: TensorLike) -> Operand:
        if not all(map(_is_truth, conditions)):
            raise UnsupportedError(
                f"numpy.{name} is for integers and truth values; tensors are real: compare them "
                f"first, or use {instead}, for which what isn't 0 is true"
            )
        return ops.logical(connective, *conditions)

    return named(apply, name, "of conditions and of arrays of truth values")


def _is_truth(value: TensorLike) -> bool:
    if isinstance(value, Elementwise):
        return value.condition is not None
    if isinstance(value, Constant):
        value = value.array
    return is_condition(value) or (isinstance(value, np.ndarray) and value.dtype.kind == "b")


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


def piecewise(
    x: TensorLike,
    condlist: Sequence[TensorLike],
    funclist: Sequence[TensorLike | Callable[..., TensorLike]],
    *args: object,
    **kw: object,
) -> Operand:
    """``numpy.piecewise``: the function, or the value, of the last condition that holds; one more
    function is for where none does, which is 0 without.
    """
    x, conditions = as_operand(x), as_list(condlist, "conditions")
    values = [
        f(x, *args, **kw) if callable(f) and not isinstance(f, sympy.Basic) else f
        for f in as_list(funclist, "functions")
    ]
    otherwise = values.pop() if len(values) == len(conditions) + 1 else sympy.S.Zero
    if len(values) != len(conditions):
        raise TensorError(
            f"piecewise takes as many functions as conditions, or one more, not {len(values)} for "
            f"{len(conditions)}"
        )
    pairs = list(zip(values, conditions, strict=True))[::-1]
    return ops.choose([*pairs, (otherwise, True)])


def choose(
    a: TensorLike, choices: Sequence[TensorLike], out: object = None, mode: str = "raise"
) -> Operand:
    """``numpy.choose`` by an array of integers, known numbers: entries of the choices that it
    counts.
    """
    refuse("choose", {"out": out, "mode": None if mode == "raise" else mode})
    a, choices = as_operand(a), [as_operand(choice) for choice in as_list(choices, "choices")]
    places = a.array if isinstance(a, Constant) else np.array(int(a) if a.is_Integer else 0.5)
    if places.dtype.kind not in "iu":
        raise UnsupportedError(
            "numpy.choose takes an array of known integers first; select takes conditions on "
            "tensors"
        )
    if not choices or places.min(initial=0) < 0 or places.max(initial=0) >= len(choices):
        raise ShapeError(f"choose takes positions from 0 to {len(choices) - 1}, not {places}")
    pairs = [(choice, Constant(places == k)) for k, choice in enumerate(choices[:-1])]
    return ops.choose([*pairs, (choices[-1], True)])


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
    **{
        name: _bitwise(name, connective, f"logical_{instead}")
        for name, connective, instead in (
            ("bitwise_and", sympy.And, "and"),
            ("bitwise_or", sympy.Or, "or"),
            ("bitwise_xor", sympy.Xor, "xor"),
            ("invert", sympy.Not, "not"),
        )
    },
}
CONDITIONS["bitwise_not"] = CONDITIONS["bitwise_invert"] = CONDITIONS["invert"]
