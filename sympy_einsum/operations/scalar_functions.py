"""The public scalar functions, with SymPy's names, for tensors and scalars.

Functions without a row in the table are applied by ``elementwise(f, x)``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from textwrap import fill

from sympy import Expr, Symbol

from ..core import Row, UnsupportedError, derivative, for_each_row, tuning
from ..expressions import Operand, TensorLike, elementwise

SHAPES = (
    "Tensors give a tensor of their shape, in which axes of length 1 are broadcast, scalars a "
    "SymPy expression. Raises ShapeError for incompatible shapes."
)


class Docstring:
    """The docstring of a scalar function, composed on access, because derivatives take time."""

    def __init__(self, of_class: str):
        self.of_class = of_class

    def __get__(self, function: ScalarFunction | None, kind: type) -> str:
        return self.of_class if function is None else function.written_docstring()


class _Signature:
    """The signature of a scalar function: the parameters of SymPy's function."""

    def __get__(self, function: ScalarFunction | None, kind: type) -> Signature | None:
        if function is None:
            return None  # the class has its own signature
        return Signature(function.parameters(), return_annotation="Operand")


class ScalarFunction:
    __doc__ = Docstring("A scalar function that is applied to tensors entry by entry.")
    __signature__ = _Signature()

    def __init__(self, row: Row, name: str = ""):
        self.row = row
        self.__name__ = self.__qualname__ = name or row.name

    def parameters(self) -> Sequence[Parameter]:
        """Return the parameters of SymPy's function, positional only."""
        for source in (self.row.function, self.row.definition):
            found = inspect.signature(source).parameters.values() if source else ()
            if not any(p.kind is Parameter.VAR_POSITIONAL for p in found):
                break
        named = [p.replace(name="x") if p.name == "arg" else p for p in found]
        return [
            p.replace(kind=Parameter.POSITIONAL_ONLY, annotation="TensorLike")
            for p in named
            if p.name != "evaluate"
        ] or [Parameter("tensors", Parameter.VAR_POSITIONAL, annotation="TensorLike")]

    def arguments(self) -> list[Symbol]:
        """Return symbols for the arguments in the documentation."""
        names = [parameter.name for parameter in self.parameters()]
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
            names = [f"``numpy.{name}``" for name in row.numpy.split()]
            names += [f"``scipy.special.{name}``" for name in row.scipy.split()]
            parts.append(f"Also called by {', '.join(names)} of tensors.")
        return paragraphs(*parts, "Examples\n========", example("se", call, row, arguments))

    def __call__(self, *tensors: TensorLike) -> Operand:
        return elementwise(self.row.function, *tensors)

    def __get__(self, owner: object, kind: type) -> ScalarFunction:
        # For help(), which expects a method descriptor.
        return self

    def _sympy_(self) -> Callable[..., Expr]:
        """Return SymPy's function, for substitution."""
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
    """Compose a doctest: the derivatives by all arguments, and the shape for a tensor."""
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
            partial = str(derivative(expr, symbol))
        except UnsupportedError:
            continue
        if len(partial) <= tuning.MAX_SHOWN_DERIVATIVE:
            lines += [f">>> se.diff({namespace}.{call}, {symbol})", partial]
    tensor = f"{call[: -1 - len(str(arguments[-1]))]}v)"
    lines += ['>>> v = se.TensorSymbol("v", 3)', f">>> {namespace}.{tensor}.shape", "(3,)"]
    return "\n".join(lines)


FUNCTIONS: dict[str, ScalarFunction] = {}


@for_each_row
def _export(row: Row) -> None:
    if row.name:
        FUNCTIONS[row.name] = ScalarFunction(row)
