"""The public scalar functions, under SymPy's names, for tensors as well as scalars.

Any function that has no row in the table is reached by ``elementwise(f, x)``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from textwrap import fill

from sympy import Expr, Symbol

from ..core import Row, UnsupportedError, derivative, for_each_row
from ..expressions import Operand, TensorLike, elementwise

SHAPES = (
    "A tensor gives a tensor of its shape, scalars SymPy's own object. Tensors have one shape, in "
    "which axes of length 1 stretch; a ShapeError says where they don't fit."
)

# Characters of a derivative that a docstring shows.
READABLE = 200


class Docstring:
    """The docstring of a scalar function, written when somebody reads it: derivatives take time."""

    def __init__(self, of_class: str):
        self.of_class = of_class

    def __get__(self, function: ScalarFunction | None, kind: type) -> str:
        return self.of_class if function is None else function.written_docstring()


class _Signature:
    """The signature of a scalar function: the parameters of SymPy's."""

    def __get__(self, function: ScalarFunction | None, kind: type) -> Signature | None:
        if function is None:
            return None  # that of the class is its own
        return Signature(function.parameters(), return_annotation="Operand")


class ScalarFunction:
    __doc__ = Docstring("A scalar function that is applied to tensors entry by entry.")
    __signature__ = _Signature()

    def __init__(self, row: Row, name: str = ""):
        self.row = row
        self.__name__ = self.__qualname__ = name or row.name

    def parameters(self) -> Sequence[Parameter]:
        """Those of SymPy's function, by position."""
        for source in (self.row.function, self.row.definition):
            found = inspect.signature(source).parameters.values() if source else ()
            if not any(own.kind is Parameter.VAR_POSITIONAL for own in found):
                break
        named = [own.replace(name="x") if own.name == "arg" else own for own in found]
        return [
            own.replace(kind=Parameter.POSITIONAL_ONLY, annotation="TensorLike")
            for own in named
            if own.name != "evaluate"
        ] or [Parameter("tensors", Parameter.VAR_POSITIONAL, annotation="TensorLike")]

    def arguments(self) -> list[Symbol]:
        """Symbols for the arguments that the function is shown with."""
        names = [own.name for own in self.parameters()]
        names = list("ab") if names == ["tensors"] else names
        return [Symbol(name, real=True) for name in names[: self.row.arity]]

    def written_docstring(self) -> str:
        """Compose the docstring from the row, with an example."""
        row, arguments = self.row, self.arguments()
        call = f"{self.__name__}({', '.join(map(str, arguments))})"
        parts = [f"``{call}`` entry by entry. {about(row)}", SHAPES]
        if row.definition is not None:
            parts.append(f"Defined as {row.definition(*arguments)}.")
        if row.numpy or row.scipy:
            names = [f"``numpy.{own}``" for own in row.numpy.split()]
            names += [f"``scipy.special.{own}``" for own in row.scipy.split()]
            parts.append(f"Also called by {', '.join(names)} of tensors.")
        return paragraphs(*parts, "Examples\n========", example("se", call, row, arguments))

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


def paragraphs(*parts: str) -> str:
    """Join the parts of a docstring, and wrap its lines to the width of a terminal."""
    return "\n\n".join([part if "\n" in part else fill(part, 80) for part in parts])


def about(row: Row) -> str:
    """Return a one-sentence description of a function."""
    text = row.about or (inspect.getdoc(row.function) or "").partition("\n\n")[0]
    text = re.sub(r":math:`(.*?)`", r"``\1``", re.sub(r"\s+", " ", text))
    return text if text.endswith(".") else f"{text}."


def example(namespace: str, call: str, row: Row, arguments: list[Symbol]) -> str:
    """A doctest: the derivatives that there are, and the shape for a tensor."""
    names = " ".join(map(str, arguments))
    lines = [
        ">>> from sympy import symbols",
        ">>> import sympy_einsum as se",
        *[">>> import sympy_einsum.numpy as snp"] * (namespace == "snp"),
        f'>>> {", ".join(names.split())} = symbols("{names}", real=True)',
    ]
    expr = row.function(*arguments)
    for symbol in arguments:
        try:
            slope = str(derivative(expr, symbol))
        except UnsupportedError:
            continue
        if len(slope) <= READABLE:
            lines += [f">>> se.diff({namespace}.{call}, {symbol})", slope]
    tensor = f"{call[: -1 - len(str(arguments[-1]))]}v)"
    lines += ['>>> v = se.TensorSymbol("v", 3)', f">>> {namespace}.{tensor}.shape", "(3,)"]
    return "\n".join(lines)


FUNCTIONS: dict[str, ScalarFunction] = {}


@for_each_row
def _export(row: Row) -> None:
    if row.name:
        FUNCTIONS[row.name] = ScalarFunction(row)
