"""The index symbol graph of a product in a product.

References
==========

[W] M. Wenig, P. Rump, M. Blacher, J. Giesen, "The Syntax and Semantics of einsum", 2025.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from ..core import LabelledGraph, TensorError
from ..expressions import Operand
from ..operations import IndexString, Written, WrittenProduct, product_at, written


@dataclass(frozen=True)
class IndexGraph(LabelledGraph):
    """The undirected index symbol graph of a product in a product [W, def. 6.4]; ``draw`` and
    ``to_dot`` show it.

    The vertices are ``u1, …, ud`` for the result of the inner product, ``x1, …, xd`` for its axes,
    and ``v1, …, vd`` for its index string in the outer product.

    Attributes
    ==========

    inner, outer : the two index strings
    edges : pairs of vertices that must get one symbol
    components : the connected components, each as its outer and its inner symbols
    """

    inner: IndexString = ()
    outer: IndexString = ()
    edges: tuple[tuple[str, str], ...] = ()
    components: tuple[tuple[IndexString, IndexString], ...] = ()

    @property
    def vertices(self) -> tuple[str, ...]:
        """The names of the vertices."""
        return tuple([f"{kind}{k + 1}" for kind in "uxv" for k in range(len(self.inner))])


def index_graph(expr: Written | Operand, path: Sequence[int] | None = None) -> IndexGraph:
    """Return the index symbol graph of a product in a product [W, def. 6.4].

    Symbols in one connected component become one symbol when the product is inlined (``denest``).

    Parameters
    ==========

    expr : a written form or an expression
    path : the argument numbers that lead to the inner product, as for :func:`denest`; by default
        the first argument that is a product

    Returns
    =======

    An object with ``vertices``, ``edges`` and ``components``, which ``draw`` and ``to_dot`` show.

    Raises
    ======

    TensorError : there is no product in a product at the path

    Examples
    ========

    >>> import sympy_einsum as se
    >>> graph = se.index_graph(se.read_einsum("#(ik,kj->ij; A, #(i->ii; v))"))
    >>> graph.edges
    (('u1', 'u2'), ('u1', 'x1'), ('v1', 'x1'), ('u2', 'x2'), ('v2', 'x2'))
    >>> graph.components
    ((('k', 'j'), ('i',)),)
    """
    root = written(expr)
    if path is None:
        found = [k for k, a in enumerate(root.arguments) if isinstance(a, WrittenProduct)]
        if not found or not isinstance(root, WrittenProduct):
            raise TensorError(f"{str(root)[:200]} has no product in a product; give path=")
        path = found[:1]
    above, numbers = product_at(root, path)
    around, number = above[-1], numbers[-1]
    product = around.arguments[number]
    assert isinstance(around, WrittenProduct)
    assert isinstance(product, WrittenProduct)
    inner, outer = product.output, around.inputs[number]
    pairs = [*combinations(range(len(inner)), 2)]
    edges = [(f"u{i + 1}", f"u{j + 1}") for i, j in pairs if inner[i] == inner[j]]
    edges += [(f"v{i + 1}", f"v{j + 1}") for i, j in pairs if outer[i] == outer[j]]
    for k in range(1, len(inner) + 1):
        edges += [(f"u{k}", f"x{k}"), (f"v{k}", f"x{k}")]
    return IndexGraph(
        *_drawn(inner, outer, pairs),
        title="index symbol graph",
        text=str(root),
        inner=inner,
        outer=outer,
        edges=tuple(edges),
        components=_components(inner, outer),
    )


def _drawn(
    inner: IndexString, outer: IndexString, pairs: Sequence[tuple[int, int]]
) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """Return the labels of the vertices and the edges downwards, for the picture."""
    d = len(inner)
    labels = (*inner, *[f"x{k + 1}" for k in range(d)], *outer)
    below: list[tuple[int, ...]] = [
        tuple([i for i, j in pairs if j == k and inner[i] == inner[j]]) for k in range(d)
    ]
    below += [(k,) for k in range(d)]
    below += [
        (d + k, *[2 * d + i for i, j in pairs if j == k and outer[i] == outer[j]]) for k in range(d)
    ]
    return labels, tuple(below)


def _components(
    inner: IndexString, outer: IndexString
) -> tuple[tuple[IndexString, IndexString], ...]:
    """Return the outer and inner symbols of each connected component, in order of appearance."""
    found: list[tuple[list[str], list[str]]] = []
    for one, other in zip(outer, inner, strict=True):
        touched = [pair for pair in found if one in pair[0] or other in pair[1]]
        merged: tuple[list[str], list[str]] = ([], [])
        for pair in [*touched, ([one], [other])]:
            merged[0].extend(pair[0])
            merged[1].extend(pair[1])
        place = found.index(touched[0]) if touched else len(found)
        found = [pair for pair in found if pair not in touched]
        found.insert(place, merged)
    return tuple([(tuple(dict.fromkeys(a)), tuple(dict.fromkeys(b))) for a, b in found])
