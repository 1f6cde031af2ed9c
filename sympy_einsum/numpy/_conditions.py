"""NumPy's comparisons and connectives, and its choices by them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps

import numpy as np
import sympy
from sympy.core.function import FunctionClass

from .. import operations as ops
from ..core import ShapeError, TensorError, UnsupportedError, as_list
from ..expressions import Constant, Elementwise, Operand, TensorLike, as_operand, is_condition
from ._options import Example, named, refuse

_VALUES = "[0.0, 1.0, 2.0]"
_ERRORS = "Raises ShapeError for shapes that don't fit."


def _relation(name: str, relation: Callable[..., Operand], result: str) -> Callable[..., Operand]:
    def apply(x1: TensorLike, x2: TensorLike, /) -> Operand:
        return ops.compare(relation, x1, x2)

    about = "of tensors: ones where it holds, else zeros; of scalars a relation"
    return named(apply, name, about, _ERRORS, Example("x, 1", _VALUES, result))


def _connective(name: str, connective: FunctionClass, result: str) -> Callable[..., Operand]:
    about = "of conditions or of tensors, true where they aren't zero"
    call = "x > 0" if connective is sympy.Not else "x > 0, x < 2"
    example = Example(call, _VALUES, result)
    return named(_of_conditions(connective), name, about, _ERRORS, example)


def _of_conditions(connective: FunctionClass) -> Callable[..., Operand]:
    """Return a logical connective with the arity of NumPy's."""

    def of_one(x: TensorLike, /) -> Operand:
        return ops.logical(connective, x)

    def of_two(x1: TensorLike, x2: TensorLike, /) -> Operand:
        return ops.logical(connective, x1, x2)

    return of_one if connective is sympy.Not else of_two


def _bitwise(
    name: str, connective: FunctionClass, instead: str, result: str
) -> Callable[..., Operand]:
    logical = _of_conditions(connective)

    @wraps(logical)
    def apply(*conditions: TensorLike) -> Operand:
        if not all(map(_is_truth, conditions)):
            raise UnsupportedError(
                f"numpy.{name} is for integers and truth values; tensors are real: compare them "
                f"first, or use {instead}, for which what isn't 0 is true"
            )
        return logical(*conditions)

    about = "of conditions and of arrays of truth values"
    errors = f"{_ERRORS[:-1]}, UnsupportedError for other tensors: ``{instead}`` takes them."
    call = "x > 0" if connective is sympy.Not else "x > 0, x < 2"
    return named(apply, name, about, errors, Example(call, _VALUES, result))


def _is_truth(value: TensorLike) -> bool:
    if isinstance(value, Elementwise):
        return value.condition is not None
    if isinstance(value, Constant):
        value = value.array
    return is_condition(value) or (isinstance(value, np.ndarray) and value.dtype.kind == "b")


def where(condition: TensorLike, x: TensorLike, y: TensorLike) -> Operand:
    """``numpy.where`` with three arguments; the condition is a comparison such as ``A > 0``.

    The derivative is that of the branch that is taken, also where the other one has none. Raises
    ShapeError for shapes that don't fit.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> leaky = snp.where(x > 0, x, 0.125 * x)
    >>> se.lambdify([x], se.gradient(leaky.sum(), x))([4.0, -1.0, 0.0])
    array([1.   , 0.125, 0.125])
    """
    return ops.where(condition, x, y)


def select(
    condlist: Sequence[TensorLike], choicelist: Sequence[TensorLike], default: TensorLike = 0
) -> Operand:
    """``numpy.select``: the entry of the first choice whose condition holds.

    Raises TensorError for unequal numbers of conditions and choices.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> huber = snp.select([abs(x) < 1], [x**2 / 2], abs(x) - 0.5)
    >>> se.lambdify([x], huber)([0.5, 1.0, -3.0])
    array([0.125, 0.5  , 2.5  ])
    """
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

    Raises TensorError for numbers of conditions and functions that don't fit.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x = se.TensorSymbol("x", 3)
    >>> pieces = snp.piecewise(x, [x > 0, x > 1], [snp.square, 1])
    >>> se.lambdify([x], pieces)([-1.0, 0.5, 9.0])
    array([0.  , 0.25, 1.  ])
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

    Raises UnsupportedError for an array of symbols, ShapeError for a number without a choice.

    >>> import sympy_einsum as se
    >>> import sympy_einsum.numpy as snp
    >>> x, y = se.tensors("x y", 3)
    >>> snp.choose([0, 1, 0], [x, y]).as_explicit()
    [x[0], x[1], x[2]]
    """
    refuse("choose", {"out": out})
    a, choices = as_operand(a), [as_operand(choice) for choice in as_list(choices, "choices")]
    places = a.array if isinstance(a, Constant) else np.array(int(a) if a.is_Integer else 0.5)
    if places.dtype.kind not in "iu":
        raise UnsupportedError(
            "numpy.choose takes an array of known integers first; select takes conditions on "
            "tensors"
        )
    if choices and mode in ("clip", "wrap"):
        count = len(choices)
        places = places.clip(0, count - 1) if mode == "clip" else places % count
    elif mode != "raise":
        raise TensorError(f"the mode of choose is raise, clip or wrap, not {str(mode)[:80]!r}")
    if not choices or places.min(initial=0) < 0 or places.max(initial=0) >= len(choices):
        raise ShapeError(f"choose takes positions from 0 to {len(choices) - 1}, not {places}")
    pairs = [(choice, Constant(places == k)) for k, choice in enumerate(choices[:-1])]
    return ops.choose([*pairs, (choices[-1], True)])


# Functions made of relations and connectives instead of a scalar function.
CONDITIONS: dict[str, Callable[..., Operand]] = {
    **{
        name: _relation(name, relation, result)
        for name, relation, result in (
            ("greater", sympy.Gt, "array([0., 0., 1.])"),
            ("greater_equal", sympy.Ge, "array([0., 1., 1.])"),
            ("less", sympy.Lt, "array([1., 0., 0.])"),
            ("less_equal", sympy.Le, "array([1., 1., 0.])"),
            ("equal", sympy.Eq, "array([0., 1., 0.])"),
            ("not_equal", sympy.Ne, "array([1., 0., 1.])"),
        )
    }
}
for _name, _function, _result in (
    ("and", sympy.And, "array([0., 1., 0.])"),
    ("or", sympy.Or, "array([1., 1., 1.])"),
    ("xor", sympy.Xor, "array([1., 0., 1.])"),
    ("not", sympy.Not, "array([1., 0., 0.])"),
):
    _instead = f"logical_{_name}"
    _bits = f"bitwise_{_name}" if _name != "not" else "invert"
    CONDITIONS[_instead] = _connective(_instead, _function, _result)
    CONDITIONS[_bits] = _bitwise(_bits, _function, _instead, _result)
CONDITIONS["bitwise_not"] = CONDITIONS["bitwise_invert"] = CONDITIONS["invert"]
