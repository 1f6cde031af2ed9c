"""Conversion of index strings to matrix algebra: products of vectors and matrices in textbook form.

The labels are the vertices of a graph, the factors its edges; the graph is reduced step by step:
A_ii to tr A, A_ij B_jk to A B, x_i y_i (i kept) to x ⊙ y, A_ij d_j B_jk to A diag(d) B. What can't
be reduced to one matrix has no matrix form, as the Khatri-Rao product Σ_k A_ik B_jk C_lk.

Factors are whatever an :class:`Algebra` multiplies: parts of formulas, SymPy's matrices. Which step
is taken first decides between forms of equal value, and is stated by lists of steps.

References
==========

[LMG18] S. Laue, M. Mitterreiter, J. Giesen, "Computing Higher Order Derivatives of Matrix and
Tensor Expressions", NeurIPS 2018.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from sympy import Expr

from .lengths import Shape

Factor = TypeVar("Factor")
Label = Hashable
Edge = tuple[Factor, tuple[Label, ...]]
Key = tuple[int, ...]


class Algebra(Protocol[Factor]):
    """Operations of a matrix algebra, in which vectors are columns; a module may implement it."""

    def product(self, factors: list[Factor], /) -> Factor:
        """Scalars, then vectors and matrices side by side."""

    def transpose(self, factor: Factor, /) -> Factor:
        """Return the transpose of a matrix; that of a column is a row."""

    def hadamard(self, factors: list[Factor], /) -> Factor:
        """Factors of one shape multiplied entry by entry."""

    def dot(self, x: Factor, y: Factor, /) -> Factor:
        """Return the scalar product of two vectors."""

    def trace(self, matrix: Factor, /) -> Factor:
        """Return the trace."""

    def diagonal(self, matrix: Factor, /) -> Factor:
        """Return the diagonal of a matrix as a vector."""

    def diagonal_matrix(self, vector: Factor, /) -> Factor:
        """A vector as the diagonal of a matrix; that of ones is the identity."""

    def ones(self, shape: Shape, /) -> Factor:
        """A vector or a matrix of ones."""


class Bond(NamedTuple):
    """The vectors and matrices at a label, by number, in order of arrival."""

    label: Label
    vectors: list[int]
    matrices: list[int]
    # The first of the factors, and the axis on which it has the label.
    place: Key = ()


class Reduction(NamedTuple):
    """A step of the reduction.

    ``key`` says by what the labels are ordered at which it can be taken, None where it can't;
    ``kept`` whether they must be labels that are kept or summed over, None for either.
    """

    key: Callable[[Network[Any], Bond], Key | None]
    take: Callable[[Network[Any], Bond], None]
    kept: bool | None = None


class Network(Generic[Factor]):
    """Factors with their labels, of one or two axes each; scalars are set aside.

    Labels that are kept aren't summed over.

    Factors are numbered as they come. For each step the labels at which it can be taken wait in a
    queue; what happened at a label since then is looked at again when its turn comes.
    """

    def __init__(
        self,
        algebra: Algebra[Factor],
        edges: Iterable[Edge[Factor]],
        kept: Iterable[Label],
        lengths: Mapping[Any, Expr],
        steps: Sequence[Reduction],
    ):
        self.algebra = algebra
        self.kept = set(kept)
        self.lengths = lengths
        self.steps = steps
        self.scalars: list[Factor] = []
        self._edges: dict[int, Edge[Factor]] = {}
        self._count = 0
        self._at: dict[Label, dict[int, None]] = defaultdict(dict)
        self._touched: dict[Label, None] = {}
        self._queues: list[list[tuple[Key, int, Label]]] = [[] for _ in steps]
        for factor, labels in edges:
            self._add(factor, labels)

    @property
    def edges(self) -> list[Edge[Factor]]:
        """The factors that are left."""
        return list(self._edges.values())

    def reduce(self) -> None:
        """Take steps as long as there are any, the first ones in the list first."""
        self._enqueue_changed()
        while self._step():
            self._enqueue_changed()

    def result(self, output: Sequence[Label]) -> Factor | None:
        """Return the one factor with the given labels, at most two; None if there is none."""
        distinct = list(dict.fromkeys(output))
        absent = [label for label in distinct if label not in self._at]
        if absent:
            self._add(self.algebra.ones(tuple([self.lengths[label] for label in absent])), absent)
        self.reduce()
        edges = self.edges
        if {label for _, labels in edges for label in labels} != set(distinct):
            return None
        if len(edges) == 1:
            whole = [self._matrix(edges[0], distinct[0])]
        elif len(edges) == 2 and all(len(labels) == 1 for _, labels in edges):
            column, row = sorted(edges, key=lambda edge: distinct.index(edge[1][0]))
            whole = [column[0], self.algebra.transpose(row[0])]
        elif edges:
            return None
        else:
            whole = []
        if len(distinct) < len(output):
            whole = [self.algebra.diagonal_matrix(whole[0])]
        return self.algebra.product([*self.scalars, *whole])

    # --- bookkeeping

    def _add(self, factor: Factor, labels: Sequence[Label]) -> None:
        if not labels:
            self.scalars.append(factor)
            return
        self._edges[self._count] = factor, tuple(labels)
        for label in labels:
            self._at[label][self._count] = None
            self._touched[label] = None
        self._count += 1

    def _replace(self, old: Iterable[int], factor: Factor, labels: Sequence[Label]) -> None:
        for number in old:
            for label in self._edges.pop(number)[1]:
                self._at[label].pop(number, None)
                self._touched[label] = None
        self._add(factor, labels)

    def _enqueue_changed(self) -> None:
        """Put the labels where something happened into the queues of what can be done there."""
        for label in self._touched:
            site = self._site(label)
            for step, queue in zip(self.steps, self._queues, strict=True):
                key = self._key(step, site)
                if key is not None:
                    # Equal keys mean equal factors; labels have no order.
                    heappush(queue, (key, id(label), label))
        self._touched = {}

    def _step(self) -> bool:
        """Take the first step that can be taken, if there is one."""
        for step, queue in zip(self.steps, self._queues, strict=True):
            while queue:
                key, _, label = heappop(queue)
                site = self._site(label)
                if self._key(step, site) == key:
                    step.take(self, site)
                    return True
        return False

    def _key(self, step: Reduction, site: Bond) -> Key | None:
        allowed = site.place and step.kept in (None, site.label in self.kept)
        return step.key(self, site) if allowed else None

    def _site(self, label: Label) -> Bond:
        numbers = self._at[label]
        vectors = [number for number in numbers if len(self._edges[number][1]) == 1]
        matrices = [number for number in numbers if len(self._edges[number][1]) == 2]
        place = [(first, self._edges[first][1].index(label)) for first in [*numbers][:1]]
        return Bond(label, vectors, matrices, *place)

    def _matrix(self, edge: Edge[Factor], first: Label) -> Factor:
        """A factor as a matrix whose rows are counted by a label, or as a column."""
        factor, labels = edge
        return factor if labels[0] == first else self.algebra.transpose(factor)

    def _other_label(self, number: int, label: Label) -> Label:
        """Return the other label of a matrix."""
        return next(k for k in self._edges[number][1] if k != label)

    def _self_loops(self, site: Bond) -> list[int]:
        """Return the matrices A_ii."""
        return [k for k in site.matrices if self._edges[k][1] == (site.label, site.label)]

    def _mergeable_vectors(self, site: Bond) -> list[int]:
        """Return the vectors that become one; of vectors alone one is left to be contracted."""
        spared = len(site.vectors) > 2 and not site.matrices and site.label not in self.kept
        return site.vectors[1:] if spared else site.vectors

    def _parallel_factors(self, numbers: Iterable[int]) -> list[int]:
        """Return the first factors, two or more, that share all labels."""
        groups: dict[frozenset[Label], list[int]] = defaultdict(list)
        for number in numbers:
            groups[frozenset(self._edges[number][1])].append(number)
        return min([group for group in groups.values() if len(group) > 1], default=[])

    # --- what steps do

    def _contract_loop(self, site: Bond) -> None:
        """A_ii."""
        number = self._self_loops(site)[0]
        self._collapse([number], self._edges[number][0], site.label)

    def _collapse(self, old: Sequence[int], matrix: Factor, label: Label) -> None:
        """A matrix whose rows and columns have the same label: its trace or its diagonal."""
        if label in self.kept or not self._at[label].keys() <= set(old):
            self._replace(old, self.algebra.diagonal(matrix), (label,))
        else:
            self._replace(old, self.algebra.trace(matrix), ())

    def _sum(self, site: Bond) -> None:
        """Sum over a label of at most two matrices and a vector, or of two vectors; of one factor
        alone it is a product with ones."""
        label = site.label
        vectors = [self._edges[number][0] for number in site.vectors]
        old = [*site.vectors, *site.matrices]
        ones = [] if len(old) > 1 else [self.algebra.ones((self.lengths[label],))]
        if not site.matrices:
            self._replace(old, self.algebra.dot(*[*ones, *vectors]), ())
            return
        first = site.matrices[0]
        rows = self._other_label(first, label)
        left = self._matrix(self._edges[first], rows)
        if len(site.matrices) == 1:
            self._replace(old, self.algebra.product([left, *ones, *vectors]), (rows,))
            return
        between = [self.algebra.diagonal_matrix(vector) for vector in vectors]
        right = self._matrix(self._edges[site.matrices[1]], label)
        chain = self.algebra.product([left, *between, right])
        columns = self._other_label(site.matrices[1], label)
        if rows != columns:
            self._replace(old, chain, (rows, columns))
        else:
            self._collapse(old, chain, rows)

    def _join_vectors(self, site: Bond) -> None:
        self._join(self._mergeable_vectors(site))

    def _join_matrices(self, site: Bond) -> None:
        self._join(self._parallel_factors(site.matrices))

    def _join_beside(self, site: Bond) -> None:
        self._join(self._parallel_factors([*site.vectors, *site.matrices]))

    def _join(self, numbers: Sequence[int]) -> None:
        """Factors on the same labels as one."""
        labels = self._edges[numbers[0]][1]
        factors = [self._matrix(self._edges[number], labels[0]) for number in numbers]
        self._replace(numbers, self.algebra.hadamard(factors), labels)

    def _scale(self, site: Bond) -> None:
        """A diag(v) in the place of a vector and a matrix."""
        vector, number = site.vectors[0], site.matrices[0]
        rows = self._other_label(number, site.label)
        diagonal = self.algebra.diagonal_matrix(self._edges[vector][0])
        chain = self.algebra.product([self._matrix(self._edges[number], rows), diagonal])
        self._replace([vector, number], chain, (rows, site.label))

    # --- where steps can be taken

    def _at_loop(self, site: Bond) -> Key | None:
        return tuple(self._self_loops(site)[:1]) or None

    def _at_two(self, site: Bond) -> Key | None:
        """A label in two factors; vectors first, so that products stay short."""
        numbers = [*site.vectors, *site.matrices]
        if len(numbers) != 2:
            return None
        # What has come last waits: so long chains are put together from halves.
        return len(site.vectors) + 2 * len(site.matrices), max(numbers), *site.place

    def _at_one(self, site: Bond) -> Key | None:
        """A label in one factor alone."""
        return site.place if len(site.vectors) + len(site.matrices) == 1 else None

    def _at_few(self, site: Bond) -> Key | None:
        """A label of at most two matrices; vectors first, and columns before rows."""
        if len(site.matrices) > 2:
            return None
        rows = any(self._edges[number][1][0] == site.label for number in site.matrices[:1])
        return len(site.matrices), int(rows), *site.place

    def _at_closed_pair(self, site: Bond) -> Key | None:
        """A_ij B_ij, alone on two summed labels."""
        if site.vectors or len(site.matrices) != 2:
            return None
        rows, columns = self._edges[site.matrices[0]][1]
        closed = rows == site.label and columns not in self.kept
        return site.place if closed and self._at[rows].keys() == self._at[columns].keys() else None

    def _at_vectors(self, site: Bond) -> Key | None:
        return site.place if len(self._mergeable_vectors(site)) > 1 else None

    def _at_matrices_beside(self, site: Bond) -> Key | None:
        """Matrices on the same two labels."""
        return tuple(self._parallel_factors(site.matrices)[:1]) or None

    def _at_factors_beside(self, site: Bond) -> Key | None:
        """Factors on the same labels, but for two vectors that are a scalar product."""
        if len(site.vectors) == 2 and not site.matrices and site.label not in self.kept:
            return None
        return tuple(self._parallel_factors([*site.vectors, *site.matrices])[:1]) or None

    def _at_vector_between(self, site: Bond) -> Key | None:
        """A vector between two matrices."""
        return site.place if site.vectors and len(site.matrices) == 2 else None

    def _at_vector_beside(self, site: Bond) -> Key | None:
        """A vector and a matrix."""
        return site.place if site.vectors and len(site.matrices) == 1 else None


_LOOP = Reduction(Network._at_loop, Network._contract_loop)
_CONTRACT = Reduction(Network._at_two, Network._sum, kept=False)
_SINGLE = Reduction(Network._at_one, Network._sum, kept=False)
_MATRICES = Reduction(Network._at_matrices_beside, Network._join_matrices)
_BETWEEN = Reduction(Network._at_vector_between, Network._scale, kept=False)
_SCALE = Reduction(Network._at_vector_beside, Network._scale, kept=True)

# Products before Hadamard products, as formulas are read.
PRODUCTS_FIRST = (
    _LOOP,
    _CONTRACT,
    _SINGLE,
    Reduction(Network._at_vectors, Network._join_vectors),
    _MATRICES,
    _BETWEEN,
    _SCALE,
)
# The rules for a result that is written by its entries: factors on kept labels stay apart.
WITHOUT_ENTRYWISE_PRODUCTS = (
    _LOOP,
    _CONTRACT,
    _SINGLE,
    Reduction(Network._at_vectors, Network._join_vectors, kept=False),
    _MATRICES._replace(kept=False),
    _BETWEEN,
)
# Hadamard products before products, which then are shorter.
HADAMARD_FIRST = (
    _LOOP,
    Reduction(Network._at_closed_pair, Network._sum, kept=False),
    Reduction(Network._at_factors_beside, Network._join_beside),
    Reduction(Network._at_few, Network._sum, kept=False),
    _SCALE,
)
