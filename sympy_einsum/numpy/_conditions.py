"""NumPy's comparisons and connectives, and its choices by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import sympy
from sympy.core.function import FunctionClass

from .. import operations as ops
from ..core import ShapeError, TensorError, UnsupportedError, as_list
from ..expressions import Constant, Elementwise, Operand, TensorLike, as_operand, is_condition
from ._rows import NO_FIT, NumpyRow as Row


def _relation(name: str, relation: Callable[..., Operand], result: str) -> Row:
    return Row(
        f"{name}(x1, x2, /)",
        lambda x1, x2: ops.compare(relation, x1, x2),
        "ones where the relation holds, else zeros; for scalars the relation itself",
        f"se.lambdify([x], snp.{name}(x, 1))([0.0, 1.0, 2.0])",
        result,
        NO_FIT,
    )


def _connective(name: str, connective: FunctionClass, result: str) -> tuple[Row, Row]:
    """Return the rows of a logical connective and of NumPy's bitwise function."""
    is_unary = connective is sympy.Not
    parameters, call = ("x, /", "x > 0") if is_unary else ("x1, x2, /", "x > 0, x < 2")
    logical, bitwise = f"logical_{name}", "invert" if is_unary else f"bitwise_{name}"

    def of_all(*conditions: TensorLike) -> Operand:
        return ops.logical(connective, *conditions)

    def of_truths(*conditions: TensorLike) -> Operand:
        if not all(map(_is_truth, conditions)):
            raise UnsupportedError(
                f"numpy.{bitwise} is for integers and truth values; tensors are real: compare them "
                f"first, or use {logical}, for which what isn't 0 is true"
            )
        return of_all(*conditions)

    def row(own: str, function: Callable[..., Operand], about: str, errors: str) -> Row:
        return Row(
            f"{own}({parameters})",
            function if is_unary else lambda x1, x2: function(x1, x2),
            about,
            f"se.lambdify([x], snp.{own}({call}))([0.0, 1.0, 2.0])",
            result,
            errors,
        )

    what = f"the logical {name} of"
    others = f"{NO_FIT[:-1]}, UnsupportedError for other tensors, which ``{logical}`` takes."
    return (
        row(logical, of_all, f"{what} conditions, or of tensors, where nonzero is true", NO_FIT),
        row(bitwise, of_truths, f"{what} conditions or of arrays of truth values", others),
    )


def _is_truth(value: TensorLike) -> bool:
    if isinstance(value, Elementwise):
        return value.condition is not None
    if isinstance(value, Constant):
        value = value.array
    return is_condition(value) or (isinstance(value, np.ndarray) and value.dtype.kind == "b")


def select(
    condlist: Sequence[TensorLike], choicelist: Sequence[TensorLike], default: TensorLike
) -> Operand:
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
    args: Sequence[object],
    kw: Mapping[str, object],
) -> Operand:
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


def choose(a: TensorLike, choices: Sequence[TensorLike], mode: str) -> Operand:
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


# fmt: off
ROWS = (
    _relation("greater", sympy.Gt, "array([0., 0., 1.])"),
    _relation("greater_equal", sympy.Ge, "array([0., 1., 1.])"),
    _relation("less", sympy.Lt, "array([1., 0., 0.])"),
    _relation("less_equal", sympy.Le, "array([1., 1., 0.])"),
    _relation("equal", sympy.Eq, "array([0., 1., 0.])"),
    _relation("not_equal", sympy.Ne, "array([1., 0., 1.])"),
    *_connective("and", sympy.And, "array([0., 1., 0.])"),
    *_connective("or", sympy.Or, "array([1., 1., 1.])"),
    *_connective("xor", sympy.Xor, "array([1., 0., 1.])"),
    *_connective("not", sympy.Not, "array([1., 0., 0.])"),
    Row("where(condition, x, y)", lambda condition, x, y: ops.where(condition, x, y),
        "the entries of x where a condition such as ``A > 0`` holds, else those of y",
        "leaky = snp.where(x > 0, x, 0.125 * x)\n"
        "se.lambdify([x], se.gradient(leaky.sum(), x))([4.0, -1.0, 0.0])",
        "array([1.   , 0.125, 0.125])",
        "The derivative is that of the selected branch, also where the other one has none. "
        f"{NO_FIT}"),
    Row("select(condlist: Sequence[TensorLike], choicelist: Sequence[TensorLike], default: "
        "TensorLike = 0)", select,
        "the entries of the first choice whose condition holds",
        "huber = snp.select([abs(x) < 1], [x**2 / 2], abs(x) - 0.5)\n"
        "se.lambdify([x], huber)([0.5, 1.0, -3.0])", "array([0.125, 0.5  , 2.5  ])",
        "Raises TensorError for unequal numbers of conditions and choices."),
    Row("piecewise(x, condlist: Sequence[TensorLike], funclist: Sequence[TensorLike | "
        "Callable[..., TensorLike]], *args: object, **kw: object)", piecewise,
        "the function, or the value, of the last condition that holds; where none does, that of "
        "one further function, else 0",
        "pieces = snp.piecewise(x, [x > 0, x > 1], [snp.square, 1])\n"
        "se.lambdify([x], pieces)([-1.0, 0.5, 9.0])", "array([0.  , 0.25, 1.  ])",
        "Raises TensorError if the numbers of conditions and functions don't match."),
    Row("choose(a, choices: Sequence[TensorLike], out=None, mode='raise')", choose,
        "the entries of the choices that an array of known integers selects",
        "snp.choose([0, 1, 0], [x, y]).as_explicit()", "[x[0], y[1], x[2]]",
        "Raises UnsupportedError for an array of symbols, ShapeError for an integer without a "
        "choice."),
)
