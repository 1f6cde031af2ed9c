"""Unify orders and axis lengths over a whole program [L, §3.2.3–3.2.4].

Every value has :class:`Axes`. A number has unknown axes, the thesis' order −1, until a sibling,
parent or child has known ones. Axes that an operation requires to be equal are unified, so that
later knowledge about one applies to all.

References
==========

[L] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import NamedTuple

from sympy import Expr, Integer

from ...core import ParseError, Shape, transform, tuning
from ..lengths import Length, UnionFindNode, length_symbol
from ..nodes import Deadline, Location, SyntaxNode, children_of
from .functions import DELTA, ELEMENTWISE, OF_ORDER_0, SPECIAL


@dataclass(eq=False, slots=True)
class Axes(UnionFindNode[tuple[Length, ...]]):
    """Represent the axes of a value; an unknown order is inferred from the context."""

    @property
    def known(self) -> tuple[Length, ...] | None:
        """The axes, if their number is known."""
        return self.root().value

    def join(self, other: Axes) -> None:
        """Unify two, at most one of which is known."""
        a, b = self.root(), other.root()
        if a is not b:
            if a.value is None:
                a, b = b, a
            b.parent = a

    @property
    def shape(self) -> Shape:
        """The axis lengths as SymPy expressions, after inference; empty if the order is unknown."""
        return tuple([length.known() for length in self.known or ()])


class Subscripts(NamedTuple):
    """Hold the index strings of a product."""

    left: str
    right: str
    output: str


@dataclass
class Inference:
    """Infer orders, axis lengths and subscripts of the values in a program."""

    text: str
    deadline: Deadline
    variables: dict[str, Axes] = field(default_factory=dict)
    axes: dict[SyntaxNode, Axes] = field(default_factory=dict)
    subscripts: dict[SyntaxNode, Subscripts] = field(default_factory=dict)
    lengths: list[Length] = field(default_factory=list)
    constants: set[SyntaxNode] = field(default_factory=set)
    depths: dict[SyntaxNode, int] = field(default_factory=dict)

    def declare(self, name: str, order: int, lengths: Sequence[Expr] | None = None) -> None:
        """Add a variable. Its last axis is created, and named, first, so that the first matrix is
        m by n as in textbooks."""
        places = reversed(range(order))
        last_first = [
            self.fresh(None if lengths is None else lengths[k], f"axis {k + 1} of {name}")
            for k in places
        ]
        self.variables[name] = Axes(tuple(reversed(last_first)))

    def fresh(self, value: Expr | None = None, origin: str = "") -> Length:
        """Create a length, to be inferred if no value is given."""
        length = Length(value, origin=origin)
        self.lengths.append(length)
        return length

    def known_axes(self) -> dict[str, tuple[Length, ...]]:
        """Return the axes of the variables; empty where the order is unknown."""
        return {name: axes.known or () for name, axes in self.variables.items()}

    def infer(self, root: SyntaxNode) -> None:
        """Assign axes to every node of a tree."""
        transform([root], self._infer_node, children_of)

    def _infer_node(self, node: SyntaxNode, below: tuple[Axes, ...]) -> Axes:
        place = Location(self.text, node)
        self.deadline.check(place.error)
        is_named = node.kind in ("variable", "call") and node.name not in ELEMENTWISE
        if not is_named and all(child in self.constants for child in node.children):
            self.constants.add(node)
        axes = self.axes[node] = _RULES[node.kind](self, place, *below)
        self.depths[node] = self._depth(place)
        return axes

    def _depth(self, place: Location) -> int:
        """Count how deep functions are nested that may be SymPy's own."""
        node = place.node
        depth = max((self.depths[child] for child in node.children), default=0)
        if not self.axes[node].known and (node.kind == "call" or node.name == "^"):
            depth += 1
        if depth > tuning.MAX_SCALAR_DEPTH:
            raise place.error(
                f"scalar functions are nested more than {tuning.MAX_SCALAR_DEPTH} deep"
            )
        return depth

    # --- a rule for each kind of node

    def _infer_number(self, place: Location) -> Axes:
        return Axes()

    def _infer_variable(self, place: Location) -> Axes:
        name = place.node.name
        if name not in self.variables:
            hint = f"; {name}(...) is a function" if name in {*ELEMENTWISE, *SPECIAL} else ""
            raise place.error(f"{name!r} isn't declared; write declare {name} and its order{hint}")
        return self.variables[name]

    def _infer_prefix(self, place: Location, axes: Axes) -> Axes:
        return axes

    def _infer_binary(self, place: Location, left: Axes, right: Axes) -> Axes:
        if place.node.name == "^":
            if right.known:
                raise place.error(
                    f"^ needs an exponent of order 0, but {place.quote(1)} has order "
                    f"{len(right.known)}"
                )
            self._unify(place, right, Axes(()))
            return left
        self._unify(place, left, right)
        return left

    def _infer_call(self, place: Location, argument: Axes) -> Axes:
        name = place.node.name
        if name in ELEMENTWISE:
            return argument
        if name == DELTA:
            return self._delta(place)
        if name not in SPECIAL:
            close = get_close_matches(name.lower(), [*ELEMENTWISE, *SPECIAL, DELTA], n=1)
            hint = f"; perhaps {close[0]!r} is meant" if close else ""
            if name in self.variables:
                hint = f"; a product is written {name} *(,->) (...)"
            raise place.error(f"there is no function {name!r}{hint}")
        if argument.known is None:
            side = self.fresh()
            argument.join(Axes((side, side)))
        if len(argument.known or ()) != 2:
            order = len(argument.known or ())
            raise place.error(f"{name} needs a matrix, but {place.quote(0)} has order {order}")
        rows, columns = argument.known or ()
        names = f"axis 1 of {place.quote(0)}", f"axis 2 of {place.quote(0)}"
        self._merge(place, f"{name} needs a square matrix", (rows, names[0]), (columns, names[1]))
        return Axes(()) if name in OF_ORDER_0 else argument

    def _delta(self, place: Location) -> Axes:
        (child,) = place.node.children
        if (
            child.kind != "number"
            or not child.name.isdigit()
            or int(child.name) > tuning.MAX_READ_ORDER
        ):
            raise place.error(
                f"delta(n) is the delta tensor of order 2 n; n is a number up to "
                f"{tuning.MAX_READ_ORDER}, not {place.quote(0)}"
            )
        half = tuple([self.fresh() for _ in range(int(child.name))])
        return Axes((*half, *half))

    def _infer_shaped(self, place: Location, axes: Axes) -> Axes:
        axes_needed = [self.fresh(read_length(text)) for text in place.node.name.split(",")]
        if axes.known is None:
            axes.join(Axes(tuple(axes_needed)))
        known = axes.known or ()
        quoted = f"[{place.node.name}]"
        if len(known) != len(axes_needed):
            message = (
                f"{place.quote(0)} has order {len(known)}, but {quoted} has {len(axes_needed)}"
            )
            raise place.error(f"{message} lengths")
        for axis, (a, b) in enumerate(zip(known, axes_needed, strict=True), start=1):
            names = f"axis {axis} of {place.quote(0)}", f"axis {axis} of {quoted}"
            self._merge(place, "these are one axis", (a, names[0]), (b, names[1]))
        return axes

    def _infer_product(self, place: Location, left: Axes, right: Axes) -> Axes:
        subscripts = self.subscripts[place.node] = _read_subscripts(place.node.name)
        found: dict[str, tuple[Length, str]] = {}
        for k, (axes, labels) in enumerate(zip((left, right), subscripts[:2], strict=True)):
            if axes.known is None:
                axes.join(Axes(tuple([self.fresh() for _ in labels])))
            known = axes.known or ()
            if len(known) != len(labels):
                raise place.error(
                    f"{place.quote(k)} has order {len(known)}, but its index string {labels!r} "
                    f"has {len(labels)} indices"
                )
            for axis, (label, length) in enumerate(zip(labels, known, strict=True), start=1):
                name = f"axis {axis} of {place.quote(k)}"
                first, other = found.setdefault(label, (length, name))
                self._merge(place, f"index {label} is one axis", (first, other), (length, name))
        for label in subscripts.output:
            if label not in found:
                raise place.error(f"the output index {label!r} is in neither operand")
        return Axes(tuple([found[label][0] for label in subscripts.output]))

    def _unify(self, place: Location, left: Axes, right: Axes) -> None:
        """Unify the axes of both operands."""
        if left.known is None or right.known is None:
            left.join(right)
            return
        one, other = place.quote(0), place.quote(1)
        orders = len(left.known), len(right.known)
        if orders[0] != orders[1]:
            message = f"{place.node.name} needs equal orders, but {one} has order {orders[0]} and "
            message += f"{other} has order {orders[1]}"
            if 0 in orders:
                scalar, letters = one if orders[0] == 0 else other, "ijklmnopqr"[: max(orders)]
                message += f"; to repeat the scalar write {scalar} *(,{letters}->{letters}) 1"
            raise place.error(message)
        for axis, (a, b) in enumerate(zip(left.known, right.known, strict=True), start=1):
            names = f"axis {axis} of {one}", f"axis {axis} of {other}"
            self._merge(place, f"{place.node.name} needs equal axes", (a, names[0]), (b, names[1]))

    def _merge(self, place: Location, need: str, *axes: tuple[Length, str]) -> None:
        """Unify two lengths, each given with its axis."""
        (a, one), (b, other) = axes
        if not a.merge(b):
            raise place.error(f"{need}, but {_described(a, one)} and {_described(b, other)}")


_RULES: dict[str, Callable[..., Axes]] = {
    "number": Inference._infer_number,
    "variable": Inference._infer_variable,
    "prefix": Inference._infer_prefix,
    "binary": Inference._infer_binary,
    "product": Inference._infer_product,
    "call": Inference._infer_call,
    "shaped": Inference._infer_shaped,
}


def _described(length: Length, name: str) -> str:
    """Describe an axis with its length and the origin of that."""
    root = length.root()
    origin = f" as {root.origin}" if root.origin not in ("", name) else ""
    return f"{name} has length {root}{origin}"


def _read_subscripts(product: str) -> Subscripts:
    left, right, output = re.split(r",|-\s*>|→|>", product.strip("*_() \t\r\n\f\v"))
    return Subscripts(*["".join(term.split()) for term in (left, right, output)])


def read_length(text: str) -> Expr:
    """Parse a length, a positive integer or a name; ParseError for another number."""
    if not text[0].isdigit():
        return length_symbol(text)
    if not text.isdigit() or len(text) > 9 or int(text) == 0:
        raise ParseError(f"a length is a name or a positive integer, not {text}")
    return Integer(text)
