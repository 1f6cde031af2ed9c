"""From index strings to matrix algebra: a product of vectors and matrices as a textbook writes it.

The labels are the nodes of a graph, the factors its edges; the graph is reduced step by step: A_ii
to tr A, A_ij B_jk to A B, x_i y_i (i kept) to x ⊙ y, A_ij d_j B_jk to A diag(d) B. What can't be
reduced to one matrix has no matrix form, as the Khatri-Rao product Σ_k A_ik B_jk C_lk.

References
==========

[LMG18] S. Laue, M. Mitterreiter, J. Giesen, "Computing Higher Order Derivatives of Matrix and
Tensor Expressions", NeurIPS 2018.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import Any

from . import algebra
from .forms import Form

Edge = tuple[Form, tuple[Any, ...]]


class Network:
    """Factors with their labels, of one or two axes each; scalars are set aside.

    Labels that are kept aren't summed over. With ``entrywise`` the result will be written by
    entries, so that factors on kept labels may stay apart.

    Factors are numbered as they come, and what has come first is reduced first. For each step the
    labels at which it can be taken wait in a queue; what happened at a label since then is looked
    at again when its turn comes.
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
        self._edges: dict[int, Edge] = {}
        self._count = 0
        # The factors at a label, and those on the same two labels.
        self._at: dict[Any, dict[int, None]] = defaultdict(dict)
        self._beside: dict[frozenset[Any], dict[int, None]] = defaultdict(dict)
        self._touched: dict[Any, None] = {}
        self._loops: list[int] = []
        self._queues: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        for form, labels in edges:
            self._add(form, labels)

    @property
    def edges(self) -> list[Edge]:
        """The factors that are left."""
        return list(self._edges.values())

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
            return algebra.product([*self.scalars, _matrix(self.edges[0], i)])
        if len(output) == 2 and len(self.edges) == 2 and shapes == {(i,), (j,)}:
            form = {labels[0]: form for form, labels in self.edges}
            return algebra.product([*self.scalars, form[i], algebra.transpose(form[j])])
        return None

    # --- bookkeeping

    def _run(self, steps: Sequence[Callable[[], bool]]) -> None:
        self._settle()
        while any(step() for step in steps):
            self._settle()

    def _add(self, form: Form, labels: Sequence[Any]) -> None:
        if not labels:
            self.scalars.append(form)
            return
        number = self._count
        self._count += 1
        self._edges[number] = form, tuple(labels)
        for label in labels:
            self._at[label][number] = None
            self._touched[label] = None
        if len(set(labels)) < len(labels):
            self._loops.append(number)
        elif len(labels) == 2 and not (self.entrywise and self.kept.issuperset(labels)):
            pair = frozenset(labels)
            self._beside[pair][number] = None
            self._push("parallel", (next(iter(self._beside[pair])),), pair)

    def _replace(self, old: Iterable[int], form: Form, labels: Sequence[Any]) -> bool:
        for number in old:
            _, gone = self._edges.pop(number)
            for label in gone:
                self._at[label].pop(number, None)
                self._touched[label] = None
            self._beside[frozenset(gone)].pop(number, None)
        self._add(form, labels)
        return True

    def _settle(self) -> None:
        """Put the labels where something happened into the queues of what can be done there."""
        for label in self._touched:
            for name, key in self._chances(label).items():
                self._push(name, key, label)
        self._touched = {}

    def _push(self, name: str, key: tuple[int, ...], where: Any) -> None:
        # What has the same key is the same thing twice; the places themselves have no order.
        heappush(self._queues[name], (*key, id(where), where))

    def _next(self, name: str) -> Any:
        """The label whose turn it is, None if there is none."""
        queue = self._queues[name]
        while queue:
            entry = heappop(queue)
            label = entry[-1]
            if self._chances(label).get(name) == entry[:-2]:
                return label
        return None

    def _chances(self, label: Any) -> dict[str, tuple[int, ...]]:
        """The steps that can be taken at a label, and what they are ordered by."""
        edges = self._at[label]
        if not edges:
            return {}
        first = next(iter(edges))
        place = (first, self._edges[first][1].index(label))
        vectors, matrices = self._kinds(label)
        found: dict[str, tuple[int, ...]] = {}
        if label in self.kept:
            if vectors and len(matrices) == 1:
                found["scale kept"] = place
        else:
            if len(edges) == 2:
                # What has come last waits: so long chains are put together from halves.
                found["contract"] = len(vectors) + 2 * len(matrices), next(reversed(edges)), *place
            if len(edges) == 1:
                found["single"] = place
            if vectors and len(matrices) == 2:
                found["scale"] = place
        if len(self._together(label)) > 1 and not (self.entrywise and label in self.kept):
            found["vectors"] = place
        return found

    def _kinds(self, label: Any) -> tuple[list[int], list[int]]:
        """The vectors and the matrices at a label."""
        vectors = [number for number in self._at[label] if len(self._edges[number][1]) == 1]
        return vectors, [number for number in self._at[label] if len(self._edges[number][1]) == 2]

    def _together(self, label: Any) -> list[int]:
        """The vectors on a label that become one; of vectors alone one is left to be contracted."""
        vectors, matrices = self._kinds(label)
        if len(vectors) > 2 and not matrices and label not in self.kept:
            return vectors[1:]
        return vectors

    # --- the steps; each says whether it changed something

    def _loop(self) -> bool:
        while self._loops:
            number = self._loops.pop(0)
            if number in self._edges:
                form, (label, _) = self._edges[number]
                if label in self.kept or len(self._at[label]) > 1:
                    return self._replace([number], algebra.diagonal(form), (label,))
                return self._replace([number], algebra.trace(form), ())
        return False

    def _contract(self) -> bool:
        """A label that is summed in two factors; vectors first, so that products stay short."""
        label = self._next("contract")
        if label is None:
            return False
        pair = list(self._at[label])
        one, two = sorted([self._edges[number] for number in pair], key=lambda edge: len(edge[1]))
        if len(two[1]) == 1:
            return self._replace(pair, algebra.dot(one[0], two[0]), ())
        other = next(k for k in two[1] if k != label)
        if len(one[1]) == 1:
            return self._replace(pair, algebra.product([_matrix(two, other), one[0]]), [other])
        first = next(k for k in one[1] if k != label)
        chain = algebra.product([_matrix(one, first), _matrix(two, label)])
        if first != other:
            return self._replace(pair, chain, (first, other))
        if first not in self.kept and len(self._at[first]) == 2:
            return self._replace(pair, algebra.trace(chain), ())
        return self._replace(pair, algebra.diagonal(chain), (first,))

    def _single(self) -> bool:
        """A label that is summed in one factor alone: a product with ones."""
        label = self._next("single")
        if label is None:
            return False
        numbers = list(self._at[label])
        edge = self._edges[numbers[0]]
        ones = algebra.ones((self.lengths[label],))
        if len(edge[1]) == 1:
            return self._replace(numbers, algebra.dot(ones, edge[0]), ())
        other = next(k for k in edge[1] if k != label)
        return self._replace(numbers, algebra.product([_matrix(edge, other), ones]), (other,))

    def _vectors(self) -> bool:
        """Vectors on one label."""
        label = self._next("vectors")
        if label is None:
            return False
        vectors = self._together(label)
        form = algebra.hadamard([self._edges[number][0] for number in vectors])
        return self._replace(vectors, form, (label,))

    def _parallel(self) -> bool:
        """Matrices on the same two labels; then a vector between two matrices."""
        queue = self._queues["parallel"]
        while queue:
            *_, pair = heappop(queue)
            beside = list(self._beside[pair])
            if len(beside) > 1:
                labels = self._edges[beside[0]][1]
                matrices = [_matrix(self._edges[number], labels[0]) for number in beside]
                return self._replace(beside, algebra.hadamard(matrices), labels)
        label = self._next("scale")
        return False if label is None else self._scale(label, *self._kinds(label))

    def _scale_kept(self) -> bool:
        label = self._next("scale kept")
        return False if label is None else self._scale(label, *self._kinds(label))

    def _scale(self, label: Any, vectors: Sequence[int], matrices: Sequence[int]) -> bool:
        """diag(v) A in the place of v and A."""
        vector, edge = self._edges[vectors[0]][0], self._edges[matrices[0]]
        other = next(k for k in edge[1] if k != label)
        chain = algebra.product([_matrix(edge, other), algebra.diagonal_matrix(vector)])
        return self._replace([vectors[0], matrices[0]], chain, (other, label))


def _matrix(edge: Edge, first: Any) -> Form:
    """The factor as a matrix whose rows are counted by a label."""
    form, labels = edge
    return form if labels[0] == first else algebra.transpose(form)
