"""Carry out the thesis' reverse mode step by step, on graphs with explicit delta tensors.

References
==========

[L] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022, §4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ...core import LabelledGraph, UnsupportedError, postorder, transform
from ..nodes import Deadline
from .inference import Inference, Subscripts
from .parser import read
from .vertices import LETTERS, Vertex, Vertices, drawing, operands

# Table 4.1: the derivatives of functions of x, .* being the elementwise product. The subscripts of
# inv are (ij,kl->iljk), because those of the thesis hold for symmetric matrices only.
DERIVATIVES = {
    "-": "-1",
    "sin": "cos(x)",
    "cos": "-sin(x)",
    "tan": "1/(cos(x) .* cos(x))",
    "arcsin": "1/(1 - x .* x)^0.5",
    "arccos": "-(1/(1 - x .* x)^0.5)",
    "arctan": "1/(1 + x .* x)",
    "exp": "exp(x)",
    "log": "1/x",
    "tanh": "1 - tanh(x) .* tanh(x)",
    "abs": "sign(x)",
    "sign": "0",
    "relu": "relu(sign(x))",
    "1/": "-(1/(x .* x))",
    "inv": "-inv(x) *(ij,kl->iljk) inv(x)",
    "det": "adj(x) *(ij,->ji) 1",
}


@dataclass
class ReverseMode:
    """Run algorithms 3 and 4 of the thesis.

    Attributes
    ==========

    contributions : for each visited node its parents, each with a function from the parent's
        pullback to its contribution
    """

    vertices: Vertices
    root: Vertex
    argument: Vertex
    contributions: dict[Vertex, list[tuple[Vertex, Callable[[Vertex], Vertex]]]] = field(
        default_factory=dict
    )

    def steps(self) -> Iterator[LabelledGraph]:
        """Yield a node's pullback after each contribution; the last is the derivative."""
        seed = self.vertices.delta(self.root.order)
        yield drawing(seed, f"pullback of the root {self.root.label}")
        pending = [(self.root, k) for k in reversed(range(len(self.root.below)))]
        leads = self._leading()
        while pending:
            parent, k = pending.pop()
            child = parent.below[k]
            if child not in leads:
                continue
            is_new = child not in self.contributions
            rule = self._rule(parent, k)
            self.contributions.setdefault(child, []).append((parent, rule))
            count = "" if is_new else f", now of {len(self.contributions[child])} parents"
            yield drawing(self.pullback(child), f"pullback of {child.label}{count}")
            if is_new and child is not self.argument:
                pending.extend([(child, j) for j in reversed(range(len(child.below)))])
        yield drawing(self.derivative(), f"derivative with respect to {self.argument.label}")

    def _leading(self) -> set[Vertex]:
        """Return the ancestors of the argument, and itself."""
        found = {self.argument}
        for vertex in postorder([self.root], operands):
            if found.intersection(vertex.below):
                found.add(vertex)
        return found

    def derivative(self) -> Vertex:
        """Return the pullback of the argument; zeros if the root doesn't depend on it."""
        if self.argument is not self.root and self.argument not in self.contributions:
            return self.vertices.number("0", self.root.order + self.argument.order)
        return self.pullback(self.argument)

    def pullback(self, vertex: Vertex) -> Vertex:
        """Compute the pullback dy/dv as the sum of the contributions so far [L, eq. 4.1]."""
        parents = {v: [p for p, _ in pairs] for v, pairs in self.contributions.items()}
        found: dict[Vertex, Vertex] = {self.root: self.vertices.delta(self.root.order)}
        for v in postorder([vertex], lambda v: parents.get(v, [])):
            for parent, rule in self.contributions.get(v, ()):
                new = rule(found[parent])
                found[v] = self.vertices.sum(found[v], new) if v in found else new
        return found[vertex]

    def _rule(self, parent: Vertex, k: int) -> Callable[[Vertex], Vertex]:
        """Return the contribution of a node to the pullback of its operand k [L, §4.2]."""
        child = parent.below[k]
        if parent.kind == "sum":
            return lambda pullback: pullback
        if parent.subscripts is not None:
            own = parent.subscripts
            s1, s2, s3 = own[k], own[1 - k], own.output
            factor = parent.below[1 - k]
        else:
            factor = self._derivative(parent)
            s1 = LETTERS[: child.order]
            s3 = s1 if parent.kind == "function" else LETTERS[child.order :][: parent.order]
            s2 = s1 if parent.kind == "function" else s3 + s1
        outer = "".join([c for c in LETTERS if c not in s1 + s2 + s3][: self.root.order])
        subscripts = Subscripts(outer + s3, s2, outer + s1)
        return lambda pullback: self.vertices.product(pullback, factor, subscripts)

    def _derivative(self, parent: Vertex) -> Vertex:
        """Return f'(x) of a function."""
        if parent.name not in DERIVATIVES:
            raise UnsupportedError(f"table 4.1 of the thesis has no derivative of {parent.name}")
        child = parent.below[0]
        axes = LETTERS[8:][: child.order]
        text = DERIVATIVES[parent.name].replace(".*", f"*({axes},{axes}->{axes})")
        return _read_vertex(text, self.vertices, child)


def _read_vertex(text: str, vertices: Vertices, x: Vertex) -> Vertex:
    """Parse a text in which x is another graph."""
    inference = Inference(text, Deadline(60.0))
    inference.declare("x", x.order)
    tree = read(text, "sum")
    inference.infer(tree)
    if inference.axes[tree].known is None:
        # A single number.
        inference.axes[tree].join(inference.variables["x"])
    return vertices.of(tree, inference, {"x": x})


def explicit_sums(root: Vertex, vertices: Vertices) -> Vertex:
    """Rewrite sums over an index of one factor as products with ones, to which the product rule
    applies [L, §4.6]."""

    def visit(vertex: Vertex, below: tuple[Vertex, ...]) -> Vertex:
        if vertex.subscripts is None:
            return vertices.over(vertex, below)
        left, right, output = vertex.subscripts
        alone = [i for i in left if i not in right] + [i for i in right if i not in left]
        missing = "".join(i for i in dict.fromkeys(alone) if i not in output)
        if not missing:
            return vertices.over(vertex, below)
        kept = "".join(dict.fromkeys(output)) + missing
        product = vertices.product(below[0], below[1], Subscripts(left, right, kept))
        ones = vertices.number("1", len(missing))
        return vertices.product(product, ones, Subscripts(kept, missing, output))

    return transform([root], visit, operands)[0]
