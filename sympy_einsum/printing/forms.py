"""Forms: what a formula looks like, before any output is chosen.

May import: nothing of the package. A form is a small immutable tree. Its ``axes`` say what it
stands for: 0 a scalar, 1 a column vector, ROW a row vector, 2 a matrix, more a tensor.

Kinds of forms, and their data:

* leaves: ``stock`` (a SymPy scalar), ``symbol`` (the tensor symbol, whether it is symmetric),
  ``ones`` and ``zeros`` (the shape), ``identity`` (the length), ``unit`` (position, length),
  ``array`` (a SymPy matrix)
* sums and products: ``sum``, ``product`` (whether negative, how many of the parts are scalars),
  ``hadamard``, ``quotient`` (entry by entry), ``kron``, ``sigma`` (pairs of index and length)
* superscripts: ``transpose``, ``power`` (of a matrix), ``hadamard_power``, ``norm`` (squared)
* functions: ``call`` and ``diag`` (name, subscript), ``logdet``, ``placed`` (a scalar expression
  in slots, the parts in their places)
* indices: ``entry`` and ``delta`` (indices), ``slice`` (what stands in the brackets)
* index strings: ``wenig`` and ``star`` (the indices of the parts, of the result)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sympy.printing.precedence import PRECEDENCE, precedence_traditional

# How tightly a form holds together.
SUM, HADAMARD, PRODUCT, POWER, ATOM = range(5)
ROW = -1

_LEVELS = {
    "sum": SUM,
    "hadamard": HADAMARD,
    "quotient": HADAMARD,
    "product": PRODUCT,
    "sigma": PRODUCT,
    "logdet": PRODUCT,
    "kron": HADAMARD,
    "star": HADAMARD,
    "transpose": POWER,
    "power": POWER,
    "hadamard_power": POWER,
    "norm": POWER,
}


class Position(NamedTuple):
    """A position in the place of an index; index numbers and letters stand bare."""

    value: Any


class Form:
    """A node of the tree: a kind, the forms in it, and what else the kind needs."""

    __slots__ = ("axes", "data", "depth", "kind", "level", "parts", "pure", "size")

    size: int
    depth: int
    pure: bool

    def __init__(
        self,
        kind: str,
        parts: Sequence[Form] = (),
        data: Any = None,
        axes: int = 0,
        level: int | None = None,
    ):
        self.kind = kind
        self.parts = tuple(parts)
        self.data = data
        self.axes = axes
        self.level = _LEVELS.get(kind, ATOM) if level is None else level
        self.size = 1 + sum([part.size for part in self.parts])
        self.depth = 1 + max([part.depth for part in self.parts], default=0)
        # Whether the form says what it stands for without an index string.
        self.pure = kind not in ("wenig", "star") and all(part.pure for part in self.parts)

    def key(self) -> tuple[Any, ...]:
        """Equal for equal forms."""
        return (self.kind, self.data, self.axes, tuple([part.key() for part in self.parts]))


def same(a: Form, b: Form) -> bool:
    """Whether two forms look the same."""
    return a is b or (a.kind == b.kind and a.size == b.size and a.key() == b.key())


# --- leaves --------------------------------------------------------------------------------------


def stock(expr: Any) -> Form:
    """A SymPy scalar, left to SymPy's printer."""
    precedence = precedence_traditional(expr)
    if expr.is_Piecewise or precedence < PRECEDENCE["Mul"]:
        level = SUM
    elif precedence < PRECEDENCE["Pow"]:
        level = PRODUCT
    else:
        level = POWER if precedence == PRECEDENCE["Pow"] else ATOM
    return Form("stock", (), expr, 0, level)


def identity(length: Any) -> Form:
    """The identity matrix."""
    return Form("identity", (), length, 2)


def call(name: str, *arguments: Form, axes: int = 0, note: Any = None) -> Form:
    """A named function; ``note`` is shown at the name."""
    return Form("call", arguments, (name, note), axes)
