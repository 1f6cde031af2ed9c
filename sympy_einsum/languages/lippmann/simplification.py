"""Simplify the graphs of reverse mode, with explicit delta tensors, one rule at a time.

References
==========

[L] F. Lippmann, "Designing and Implementing a Tensor Calculus", 2022, §4.
[W] M. Wenig, P. Rump, M. Blacher, J. Giesen, "The Syntax and Semantics of einsum", 2025.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ...core import LabelledGraph, transform
from .inference import Subscripts
from .vertices import LETTERS, Vertex, Vertices, drawing, operands


def simplifications(root: Vertex, vertices: Vertices) -> Iterator[LabelledGraph]:
    """Yield the graph after each rule that applies, until none does."""
    changed = True
    while changed:
        changed = False
        for title, rule in RULES.items():
            new = transform([root], partial(_applied, rule, vertices), operands)[0]
            if new is not root:
                root, changed = new, True
                yield drawing(root, title)


def _applied(
    rule: Callable[[Vertex, Vertices], Vertex | None],
    vertices: Vertices,
    vertex: Vertex,
    below: tuple[Vertex, ...],
) -> Vertex:
    same = vertices.over(vertex, below) if below else vertex
    return rule(same, vertices) or same


def _sides(vertex: Vertex) -> Iterator[tuple[Vertex, str, Vertex, str, str]]:
    """Yield a product's operands with their indices in both orders, and the output."""
    if vertex.subscripts is not None:
        (left, right), (one, two, output) = vertex.below, vertex.subscripts
        yield left, one, right, two, output
        yield right, two, left, one, output


def _renamed(text: str, names: dict[str, str]) -> str:
    for _ in names:
        text = "".join(names.get(letter, letter) for letter in text)
    return text


def _merge_delta(vertex: Vertex, vertices: Vertices) -> Vertex | None:
    """Merge a delta: replace its second indices by its first ones [W, thm 6.7]."""
    for delta, labels, other, own, output in _sides(vertex):
        half = len(labels) // 2
        first, second = labels[:half], labels[half:]
        is_plain = delta.kind == "delta" and len(set(labels)) == len(labels)
        names = dict(zip(second, first, strict=True)) if is_plain else {}
        own = _renamed(own, names)
        if names and set(first) <= set(own):
            one = vertices.number("1", 0)
            return vertices.product(other, one, Subscripts(own, "", _renamed(output, names)))
    return None


def _without_one(vertex: Vertex, vertices: Vertices) -> Vertex | None:
    """Remove ones from a product that doesn't permute axes."""
    for one, labels, other, own, output in _sides(vertex):
        is_same = own == output == "".join(dict.fromkeys(own))
        if one.label == "1" and set(labels) <= set(own) and is_same:
            return other
    return None


def _without_zero(vertex: Vertex, vertices: Vertices) -> Vertex | None:
    """Apply 0 + A = A and 0 A = 0."""
    if "0" not in [operand.label for operand in vertex.below]:
        return None
    if vertex.kind == "sum":
        return next((v for v in vertex.below if v.label != "0"), vertex.below[0])
    return vertices.number("0", vertex.order) if vertex.kind == "product" else None


def _denest(vertex: Vertex, vertices: Vertices) -> Vertex | None:
    """Inline a factor that only permutes the axes of a tensor [W, thm 6.5]."""
    for inner, labels, other, own, output in _sides(vertex):
        for one, none, tensor, term, placed in _sides(inner):
            if one.label != "1" or none:
                continue
            fresh = iter([c for c in LETTERS if c not in labels + own + output])
            outer: dict[str, str] = {}
            names: dict[str, str] = {}
            for letter, label in zip(placed, labels, strict=True):
                first = outer.setdefault(letter, label)
                if first != label:
                    names[label] = first
            term = "".join(outer.setdefault(i, "") or next(fresh) for i in term)
            if any(not outer[i] for i in outer):
                continue
            new = [_renamed(text, names) for text in (term, own, output)]
            return vertices.product(tensor, other, Subscripts(*new))
    return None


RULES: dict[str, Callable[[Vertex, Vertices], Vertex | None]] = {
    "delta tensors merged into products": _merge_delta,
    "rearrangements absorbed by products": _denest,
    "ones left out": _without_one,
    "zeros left out": _without_zero,
}
