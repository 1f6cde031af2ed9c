"""Represent expressions as the thesis draws them: binary trees, and graphs with common subtrees
merged.

Unlike our nodes, which are in canonical form, these graphs contain explicit delta tensors,
differences and equal subtrees.

References
==========

[L] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022, §3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...core import LabelledGraph, UnsupportedError, postorder, transform, tuning
from ..nodes import SyntaxNode, children_of
from .functions import DELTA, SPECIAL
from .inference import Inference, Subscripts

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, eq=False, slots=True)
class Vertex:
    """Hold a node of a graph; equal nodes of one table are one object [L, §3.2.2]."""

    kind: str  # variable, number, delta, sum, product, function or special
    name: str
    below: tuple[Vertex, ...]
    order: int
    subscripts: Subscripts | None = None

    @property
    def label(self) -> str:
        """The text shown in the node."""
        if self.subscripts is not None:
            left, right, output = self.subscripts
            return f"*({left},{right}→{output})"
        return f"δ{self.order // 2}" if self.kind == "delta" else self.name


def operands(vertex: Vertex) -> tuple[Vertex, ...]:
    """Return the children."""
    return vertex.below


@dataclass
class Vertices:
    """Intern the vertices of a graph."""

    known: dict[tuple[object, ...], Vertex] = field(default_factory=dict)

    def _make(
        self, kind: str, name: str, below: Sequence[Vertex], order: int, *rest: Subscripts
    ) -> Vertex:
        if order > tuning.MAX_DRAWN_ORDER:
            raise UnsupportedError(
                f"graphs are drawn up to order {tuning.MAX_DRAWN_ORDER}, this has {order}"
            )
        key = (kind, name, *map(id, below), order, *rest)
        if key not in self.known:
            self.known[key] = Vertex(kind, name, tuple(below), order, *rest)
        return self.known[key]

    def variable(self, name: str, order: int) -> Vertex:
        return self._make("variable", name, (), order)

    def number(self, name: str, order: int) -> Vertex:
        """Return a number, broadcast to an order."""
        return self._make("number", name, (), order)

    def delta(self, half: int) -> Vertex:
        """Return the delta tensor of order 2 half, for order 0 the number 1."""
        return self._make("delta", DELTA, (), 2 * half) if half else self.number("1", 0)

    def sum(self, left: Vertex, right: Vertex) -> Vertex:
        return self._make("sum", "+", (left, right), left.order)

    def product(self, left: Vertex, right: Vertex, subscripts: Subscripts) -> Vertex:
        return self._make("product", "*", (left, right), len(subscripts.output), subscripts)

    def times(self, left: Vertex, right: Vertex) -> Vertex:
        """Return the elementwise product."""
        axes = LETTERS[8:][: left.order]
        return self.product(left, right, Subscripts(axes, axes, axes))

    def function(self, name: str, argument: Vertex) -> Vertex:
        """Return an elementwise function; negation is ``-``, the reciprocal ``1/``."""
        return self._make("function", name, (argument,), argument.order)

    def special(self, name: str, argument: Vertex) -> Vertex:
        """Return a function of a matrix."""
        return self._make("special", name, (argument,), 0 if name == "det" else 2)

    def over(self, vertex: Vertex, below: tuple[Vertex, ...]) -> Vertex:
        """Return a copy of a node with other operands of the same orders."""
        rest = () if vertex.subscripts is None else (vertex.subscripts,)
        return self._make(vertex.kind, vertex.name, below, vertex.order, *rest)

    def of(self, root: SyntaxNode, inference: Inference, variables: Mapping[str, Vertex]) -> Vertex:
        """Return the graph of a parse tree, after the substitutions that precede differentiation
        [L, table 3.1]."""

        def visit(node: SyntaxNode, below: tuple[Vertex, ...]) -> Vertex:
            order = len(inference.axes[node].shape)
            if node.kind == "variable":
                return variables[node.name]
            if node.kind == "number":
                return self.number(node.name, order)
            if node.kind == "product":
                return self.product(below[0], below[1], inference.subscripts[node])
            if node.kind == "binary":
                return self._binary(node.name, *below)
            if node.kind == "shaped" or node.name == "+":
                return below[0]
            if node.kind == "prefix":
                return self.function("-", *below)
            return self._call(node.name, order, *below)

        return transform([root], visit, children_of)[0]

    def _binary(self, name: str, left: Vertex, right: Vertex) -> Vertex:
        if name == "+":
            return self.sum(left, right)
        if name == "-":
            return self.sum(left, self.function("-", right))
        if name == "/":
            return self.times(left, self.function("1/", right))
        axes = LETTERS[8:][: left.order]
        logarithm = self.function("log", left)
        return self.function("exp", self.product(right, logarithm, Subscripts("", axes, axes)))

    def _call(self, name: str, order: int, argument: Vertex) -> Vertex:
        if name == DELTA:
            return self.delta(order // 2)
        if name == "adj":
            det, inv = self.special("det", argument), self.special("inv", argument)
            return self.product(det, inv, Subscripts("", "ij", "ij"))
        return self.special(name, argument) if name in SPECIAL else self.function(name, argument)


# --- pictures and text ----------------------------------------------------------------------------


def drawing(root: Vertex, title: str) -> LabelledGraph:
    """Return the picture of a graph."""
    order = postorder([root], operands)
    number = {vertex: k for k, vertex in enumerate(order)}
    below = tuple([tuple([number[part] for part in vertex.below]) for vertex in order])
    return LabelledGraph(tuple([vertex.label for vertex in order]), below, title, text_of(root))


def tree_drawing(root: SyntaxNode, text: str) -> LabelledGraph:
    """Return the picture of a parse tree, without merging equal subtrees."""
    order = postorder([root], children_of)
    number = {node: k for k, node in enumerate(order)}
    below = tuple([tuple([number[child] for child in node.children]) for node in order])
    labels = [f"[{n.name}]" if n.kind == "shaped" else "".join(n.name.split()) for n in order]
    return LabelledGraph(tuple(labels), below, "binary tree", text)


def text_of(root: Vertex) -> str:
    """Return the text of a graph in Lippmann's language."""

    def visit(vertex: Vertex, below: tuple[str, ...]) -> str:
        if vertex.kind == "delta":
            return f"delta({vertex.order // 2})"
        if vertex.kind == "sum":
            return f"({below[0]} + {below[1]})"
        if vertex.subscripts is not None:
            left, right, output = vertex.subscripts
            return f"({below[0]} *({left},{right}->{output}) {below[1]})"
        if vertex.kind in ("variable", "number"):
            return vertex.name
        if vertex.name in ("-", "1/"):
            return f"({vertex.name}{below[0]})"
        return f"{vertex.name}({_bare(below[0])})"

    return _bare(transform([root], visit, operands)[0])


def _bare(text: str) -> str:
    """Strip the parentheses around a whole text."""
    return text[1:-1] if text.startswith("(") else text
