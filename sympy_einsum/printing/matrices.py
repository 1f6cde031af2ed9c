"""From index strings to matrix algebra: a product of vectors and matrices as a textbook writes it.

May import: forms, algebra. The labels are the nodes of a graph, the factors its edges; the graph is
reduced step by step: A_ii to tr A, A_ij B_jk to A B, x_i y_i (i kept) to x ⊙ y, A_ij d_j B_jk to
A diag(d) B. What can't be reduced to one matrix has no matrix form, as the Khatri-Rao product
Σ_k A_ik B_jk C_lk.

References
==========

[LMG18] S. Laue, M. Mitterreiter, J. Giesen, "Computing Higher Order Derivatives of Matrix and
Tensor Expressions", NeurIPS 2018.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from . import algebra
from .forms import Form

Edge = tuple[Form, tuple[Any, ...]]


class Network:
    """Factors with their labels, of one or two axes each; scalars are set aside.

    Labels that are kept aren't summed over. With ``entrywise`` the result will be written by
    entries, so that factors on kept labels may stay apart.
    """

    def __init__(
        self,
        edges: Iterable[Edge],
        kept: Iterable[Any],
        lengths: Mapping[Any, Any],
        entrywise: bool = False,
    ):
        self.lengths = lengths
        self.kept = set(kept)
        self.entrywise = entrywise
        self.scalars: list[Form] = []
        self.edges: list[Edge] = []
        for form, labels in edges:
            self._add(form, labels)

    def reduce(self) -> None:
        """Multiply what is summed over, as far as it goes."""
        self._run([self._loop, self._contract, self._single, self._vectors, self._parallel])

    def result(self, output: Sequence[Any]) -> Form | None:
        """The one form with the given distinct labels, at most two; None if there is none."""
        steps = [self._loop, self._contract, self._single, self._vectors, self._parallel]
        self._run([*steps, self._scale_kept])
        shapes = {labels for _, labels in self.edges}
        i, j = (*output, None, None)[:2]
        if len(output) == 0 and not self.edges:
            return algebra.product(self.scalars)
        if len(output) == 1 and shapes == {(i,)} and len(self.edges) == 1:
            return algebra.product([*self.scalars, self.edges[0][0]])
        if len(output) == 2 and len(self.edges) == 1 and shapes <= {(i, j), (j, i)}:
            return algebra.product([*self.scalars, self._matrix(self.edges[0], i)])
        if len(output) == 2 and len(self.edges) == 2 and shapes == {(i,), (j,)}:
            column, row = (self._at(label)[0][0] for label in (i, j))
            return algebra.product([*self.scalars, column, algebra.transpose(row)])
        return None

    # --- bookkeeping

    def _run(self, steps: Sequence[Callable[[], bool]]) -> None:
        while any(step() for step in steps):
            pass

    def _add(self, form: Form, labels: Sequence[Any]) -> None:
        if labels:
            self.edges.append((form, tuple(labels)))
        else:
            self.scalars.append(form)

    def _replace(self, old: Sequence[Edge], form: Form, labels: Sequence[Any]) -> bool:
        self.edges = [edge for edge in self.edges if not any(edge is gone for gone in old)]
        self._add(form, labels)
        return True

    def _at(self, label: Any) -> list[Edge]:
        return [edge for edge in self.edges if label in edge[1]]

    def _labels(self) -> list[Any]:
        return list(dict.fromkeys(label for _, labels in self.edges for label in labels))

    def _summed(self) -> list[Any]:
        return [label for label in self._labels() if label not in self.kept]

    def _matrix(self, edge: Edge, first: Any) -> Form:
        """The factor as a matrix whose rows are counted by a label."""
        form, labels = edge
        return form if labels[0] == first else algebra.transpose(form)

    # --- the steps; each says whether it changed something

    def _loop(self) -> bool:
        for edge in self.edges:
            form, labels = edge
            if len(labels) == 2 and labels[0] == labels[1]:
                if labels[0] in self.kept or len(self._at(labels[0])) > 1:
                    return self._replace([edge], algebra.diagonal(form), labels[:1])
                return self._replace([edge], algebra.trace(form), ())
        return False

    def _contract(self) -> bool:
        """A label that is summed in two factors; vectors first, so that products stay short."""
        pairs = [self._at(label) for label in self._summed()]
        found = [
            (label, pair)
            for label, pair in zip(self._summed(), pairs, strict=True)
            if len(pair) == 2
        ]
        found.sort(key=lambda item: sum(len(labels) for _, labels in item[1]))
        return any(self._multiply(label, *pair) for label, pair in found)

    def _multiply(self, label: Any, one: Edge, two: Edge) -> bool:
        pair = (one, two)
        if len(one[1]) > len(two[1]):
            one, two = two, one
        if len(two[1]) == 1:
            return self._replace(pair, algebra.dot(one[0], two[0]), ())
        other = next(k for k in two[1] if k != label)
        if len(one[1]) == 1:
            return self._replace(pair, algebra.product([self._matrix(two, other), one[0]]), [other])
        first = next(k for k in one[1] if k != label)
        chain = algebra.product([self._matrix(one, first), self._matrix(two, label)])
        if first != other:
            return self._replace(pair, chain, (first, other))
        if first not in self.kept and len(self._at(first)) == 2:
            return self._replace(pair, algebra.trace(chain), ())
        return self._replace(pair, algebra.diagonal(chain), (first,))

    def _single(self) -> bool:
        """A label that is summed in one factor alone: a product with ones."""
        for label in self._summed():
            edges = self._at(label)
            if len(edges) == 1:
                form, labels = edges[0]
                ones = algebra.ones((self.lengths[label],))
                if len(labels) == 1:
                    return self._replace(edges, algebra.dot(ones, form), ())
                other = next(k for k in labels if k != label)
                matrix = self._matrix(edges[0], other)
                return self._replace(edges, algebra.product([matrix, ones]), (other,))
        return False

    def _vectors(self) -> bool:
        """Vectors on one label."""
        for label in self._summed() if self.entrywise else self._labels():
            vectors = [edge for edge in self._at(label) if len(edge[1]) == 1]
            if len(vectors) > 2 and len(vectors) == len(self._at(label)) and label not in self.kept:
                vectors = vectors[1:]
            if len(vectors) > 1:
                form = algebra.hadamard([form for form, _ in vectors])
                return self._replace(vectors, form, (label,))
        return False

    def _parallel(self) -> bool:
        """Matrices on the same two labels; then a vector between two matrices."""
        for _, labels in self.edges:
            if len(labels) == 2 and not (self.entrywise and self.kept.issuperset(labels)):
                beside = [edge for edge in self.edges if set(edge[1]) == set(labels)]
                if len(beside) > 1:
                    matrices = [self._matrix(edge, labels[0]) for edge in beside]
                    return self._replace(beside, algebra.hadamard(matrices), labels)
        for label in self._summed():
            vectors = [edge for edge in self._at(label) if len(edge[1]) == 1]
            matrices_here = [edge for edge in self._at(label) if len(edge[1]) == 2]
            if vectors and len(matrices_here) == 2:
                return self._scale(label, vectors[0], matrices_here[0])
        return False

    def _scale_kept(self) -> bool:
        for label in self._labels():
            vectors = [edge for edge in self._at(label) if len(edge[1]) == 1]
            matrices = [edge for edge in self._at(label) if len(edge[1]) == 2]
            if label in self.kept and vectors and len(matrices) == 1:
                return self._scale(label, vectors[0], matrices[0])
        return False

    def _scale(self, label: Any, vector: Edge, matrix: Edge) -> bool:
        """diag(v) A in the place of v and A."""
        other = next(k for k in matrix[1] if k != label)
        chain = [self._matrix(matrix, other), algebra.diagonal_matrix(vector[0])]
        return self._replace([vector, matrix], algebra.product(chain), (other, label))
