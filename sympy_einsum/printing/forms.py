"""Define forms, the tree of a formula before an output format is chosen.

A form is a small immutable tree. Its ``axes`` are 0 for a scalar, 1 for a column vector, ROW for
a row vector, 2 for a matrix, more for a tensor.

Kinds of forms and their data:

* leaves: ``stock`` (a SymPy scalar), ``symbol`` (the tensor symbol, whether it is symmetric),
  ``ones`` and ``zeros`` (the shape), ``identity`` (the length), ``unit`` (position, length),
  ``array`` (a SymPy matrix)
* ``block``: parts in rows and columns (how many of each)
* sums and products: ``sum``, ``product`` (whether negative, how many of the parts are scalars),
  ``hadamard``, ``quotient`` (entry by entry), ``kron``, ``cross``, ``sigma``, ``max`` and
  ``min`` (indices, each with its lowest and highest position, which may be indices)
* superscripts: ``transpose``, ``power`` (of a matrix), ``hadamard_power``, ``norm`` (squared)
* functions: ``field`` (curl, divergence or laplacian), ``unknown`` (name, order of the derivative,
  whether of a scalar), ``unevaluated`` (the name of SymPy's class, how many of the parts are
  variables, those of a derivative with counts), ``call`` and ``diag`` (name, subscript),
  ``logdet``, ``applied`` (a scalar expression whose slots are the parts)
* indices: ``entry``, ``delta`` and ``ordered``, which is 1 where the indices don't decrease
  (indices), ``slice`` (the items in the brackets), ``triangle`` (offset, whether it is lower)
* index strings: ``wenig`` and ``star`` (the indices of the parts, of the result)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from sympy import Expr, S
from sympy.printing.precedence import PRECEDENCE, precedence_traditional

# Precedence levels.
SUM, HADAMARD, PRODUCT, POWER, ATOM = range(5)
# The kinds of forms whose data are labels.
INDEXED = ("entry", "delta", "ordered")
ROW = -1

_LEVELS = {
    "sum": SUM,
    "hadamard": HADAMARD,
    "quotient": HADAMARD,
    "product": PRODUCT,
    "sigma": PRODUCT,
    "max": PRODUCT,
    "min": PRODUCT,
    "logdet": PRODUCT,
    "field": PRODUCT,
    "unevaluated": PRODUCT,
    "kron": HADAMARD,
    "cross": HADAMARD,
    "star": HADAMARD,
    "transpose": POWER,
    "power": POWER,
    "hadamard_power": POWER,
    "norm": POWER,
}


class Position(NamedTuple):
    """Hold an affine position in place of an index, ``value + Σ step·index``."""

    value: Expr
    terms: tuple[tuple[Expr, int | str], ...] = ()


# The kinds of forms whose data are indices with bounds.
BINDERS = ("sigma", "max", "min")
# The label of an axis: a number until it gets its letter.
Label = int | str | Position


def position(value: Expr, terms: Sequence[tuple[Expr, Label]]) -> Label:
    """Return the label ``value + Σ step·label``.

    >>> from sympy import S
    >>> position(S(-1), [(S(1), Position(S(1), ((S(1), 0),)))])
    0
    """
    steps: dict[int | str, Expr] = {}
    for step, label in terms:
        inner = label if isinstance(label, Position) else Position(S.Zero, ((S.One, label),))
        value += step * inner.value
        for own, index in inner.terms:
            steps[index] = steps.get(index, S.Zero) + step * own
    left = tuple([(step, index) for index, step in steps.items() if step != 0])
    if value.is_zero and len(left) == 1 and left[0][0] is S.One:
        return left[0][1]
    return Position(value, left)


def rename_label(label: Label, names: Mapping[Label, Label]) -> Label:
    """Rename the indices in a label."""
    if not isinstance(label, Position) or not label.terms:
        return names.get(label, label)
    return position(label.value, [(step, names.get(k, k)) for step, k in label.terms])


def indices(label: Label) -> tuple[int | str, ...]:
    """Return the indices in a label."""
    return tuple([k for _, k in label.terms]) if isinstance(label, Position) else (label,)


class Form:
    """Hold a node of the tree: a kind, its parts, and the data of the kind.

    Forms are interned, so comparison is identity, and size, depth and transpose are computed once.
    ``extent`` is the size and depth of the data.
    """

    __slots__ = (
        "__weakref__",
        "axes",
        "data",
        "depth",
        "kind",
        "labels",
        "level",
        "parts",
        "pure",
        "size",
        "transpose",
        "transposes",
    )

    kind: str
    parts: tuple[Form, ...]
    data: Any
    axes: int
    labels: frozenset[Label]
    level: int
    size: int
    depth: int
    transposes: int
    pure: bool
    transpose: Form | None

    def __new__(
        cls,
        kind: str,
        parts: Sequence[Form] = (),
        data: Any = None,
        axes: int = 0,
        level: int | None = None,
        extent: tuple[int, int] = (0, 0),
    ) -> Form:
        level = _LEVELS.get(kind, ATOM) if level is None else level
        # By id, as a form lives as long as a form of which it is a part: a key that held the parts
        # would keep a form alive for ever that holds its transpose.
        key = (kind, tuple(map(id, parts)), data, axes, level, extent)
        known = _forms.get(key)
        if known is not None:
            return known
        self = object.__new__(cls)
        self.kind, self.parts, self.data, self.axes, self.level = kind, (*parts,), data, axes, level
        size, depth = extent
        self.size = 1 + size + sum([part.size for part in self.parts])
        self.depth = 1 + max([depth, *[part.depth for part in self.parts]])
        # The number of transposed matrices in the form.
        self.transposes = sum([part.transposes for part in self.parts])
        self.transposes += kind == "transpose" and axes == 2
        # Whether the form contains no index string.
        self.pure = kind not in ("wenig", "star") and all(part.pure for part in self.parts)
        # All labels in the form.
        self.labels = frozenset(data if kind in INDEXED else ())
        self.labels = self.labels.union(*[part.labels for part in self.parts if part.labels])
        # Memoised by the algebra.
        self.transpose = None
        return _forms.setdefault(key, self)


_forms: WeakValueDictionary[tuple[object, ...], Form] = WeakValueDictionary()


# --- leaves --------------------------------------------------------------------------------------


def stock(expr: Expr, extent: tuple[int, int] = (0, 0)) -> Form:
    """Make the form of a SymPy scalar, which SymPy's printer prints."""
    precedence = precedence_traditional(expr)
    if expr.is_Piecewise or precedence < PRECEDENCE["Mul"]:
        level = SUM
    elif precedence < PRECEDENCE["Pow"]:
        level = PRODUCT
    else:
        level = POWER if precedence == PRECEDENCE["Pow"] else ATOM
    return Form("stock", (), expr, 0, level, extent)


def identity(length: Expr) -> Form:
    """Return the identity matrix."""
    return Form("identity", (), length, 2)


def call(
    name: str, *arguments: Form, axes: int = 0, note: Sequence[Expr | int] | None = None
) -> Form:
    """Call a named function; ``note`` is its subscript."""
    return Form("call", arguments, (name, note), axes)
