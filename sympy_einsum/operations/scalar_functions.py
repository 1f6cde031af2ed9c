"""The public scalar functions, under SymPy's names, for tensors as well as scalars.

Any function that has no row in the table is reached by ``elementwise(f, x)``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

from sympy import Expr, Symbol

from ..core import Row, UnsupportedError, derivative, of_each_row
from ..expressions import Operand, TensorLike, elementwise

_ARGUMENTS = [Symbol(name, real=True) for name in "abcd"]


class _Docstring:
    """The docstring of a scalar function, written when somebody reads it: derivatives take time."""

    def __get__(self, function: ScalarFunction | None, kind: type) -> str:
        if function is None:
            return "A scalar function that is applied to tensors entry by entry."
        row, name = function.row, function.__name__
        arguments = _ARGUMENTS[: row.arity]
        call = f"{name}({', '.join(map(str, arguments))})"
        parts = [
            f"``{call}`` entry by entry. {about(row)}",
            "A tensor gives a tensor of its shape, scalars SymPy's own object. Tensors have one "
            "shape, in which axes of length 1 stretch; a ShapeError says where they don't fit.",
        ]
        if row.definition is not None:
            parts.append(f"Defined as {row.definition(*arguments)}.")
        if row.numpy or row.scipy:
            names = [f"``numpy.{own}``" for own in row.numpy.split()]
            names += [f"``scipy.special.{own}``" for own in row.scipy.split()]
            parts.append(f"Also called by {', '.join(names)} of tensors.")
        return "\n\n".join([*parts, "Examples\n========", _example(row, call, arguments)])


class ScalarFunction:
    """A scalar function that is applied to tensors entry by entry."""

    __doc__ = _Docstring()

    def __init__(self, row: Row):
        self.row = row
        self.__name__ = self.__qualname__ = row.name

    def __call__(self, *tensors: TensorLike) -> Operand:
        return elementwise(self.row.function, *tensors)

    def __get__(self, owner: object, kind: type) -> ScalarFunction:
        # So that help() takes it for a function.
        return self

    def _sympy_(self) -> Callable[..., Expr]:
        """SymPy's function, where one is substituted."""
        return self.row.function

    def __repr__(self) -> str:
        return f"<function {self.__name__}>"


def about(row: Row) -> str:
    """What a function is, in a sentence."""
    text = row.about or (inspect.getdoc(row.function) or "").partition("\n\n")[0]
    text = re.sub(r"\s+", " ", text)
    return text if text.endswith(".") else f"{text}."


def _example(row: Row, call: str, arguments: list[Symbol]) -> str:
    """A doctest: the shape for a tensor, and the derivatives that there are."""
    names = " ".join(map(str, arguments))
    lines = [
        ">>> from sympy import symbols",
        ">>> import sympy_einsum as se",
        f">>> {', '.join(map(str, arguments))} = symbols({names!r}, real=True)",
    ]
    expr = row.function(*arguments)
    for symbol in arguments:
        try:
            slope: Expr = derivative(expr, symbol)
        except UnsupportedError:
            continue
        lines += [f">>> se.diff(se.{call}, {symbol})", str(slope)]
    tensor = call.replace("(a", "(x", 1) if len(arguments) == 1 else call[:-2] + "x)"
    lines += ['>>> x = se.TensorSymbol("x", 3)', f">>> se.{tensor}.shape", "(3,)"]
    return "\n".join(lines)


FUNCTIONS: dict[str, ScalarFunction] = {}


@of_each_row
def _export(row: Row) -> None:
    if row.name:
        FUNCTIONS[row.name] = ScalarFunction(row)
