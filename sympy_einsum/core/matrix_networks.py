"""Conversion of index strings to matrix algebra: products of vectors and matrices in textbook form.

The labels are the vertices of a graph, the factors its edges; the graph is reduced step by step:
A_ii to tr A, A_ij B_jk to A B, x_i y_i (i free) to x ⊙ y, A_ij d_j B_jk to A diag(d) B. A network
that isn't reduced to one matrix has no matrix form, such as the Khatri-Rao product
Σ_k A_ik B_jk C_lk.

Factors are anything that an :class:`Algebra` multiplies: forms of a printer, SymPy's matrices. The
order of the reductions decides between forms of equal value; it is stated by lists of them.

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
    """Operations of a matrix algebra in which vectors are columns; a module may implement it."""

    def product(self, factors: list[Factor], /) -> Factor:
        """Multiply scalars, then vectors and matrices from left to right."""

    def transpose(self, factor: Factor, /) -> Factor:
        """Return the transpose of a matrix; that of a column is a row."""

    def hadamard(self, factors: list[Factor], /) -> Factor:
        """Multiply factors of one shape entrywise."""

    def dot(self, x: Factor, y: Factor, /) -> Factor:
        """Return the scalar product of two vectors."""

    def trace(self, matrix: Factor, /) -> Factor:
        """Return the trace."""

    def diagonal(self, matrix: Factor, /) -> Factor:
        """Return the diagonal of a matrix as a vector."""

    def diagonal_matrix(self, vector: Factor, /) -> Factor:
        """Return the diagonal matrix of a vector; that of ones is the identity."""

    def ones(self, shape: Shape, /) -> Factor:
        """Return a vector or a matrix of ones."""


class Bond(NamedTuple):
    """A label, and the numbers of the vectors and matrices that have it, in order of arrival."""

    label: Label
    vectors: list[int]
    matrices: list[int]
    # The number of the first of the factors, and its axis with the label.
    origin: Key = ()


class Reduction(NamedTuple):
    """A step of the reduction of a network.

    ``key`` returns the priority of a label at which it can be applied, None where it can't. It
    applies to free labels or to summed ones, as ``is_free`` says, or to both if that is None.
    """

    key: Callable[[Network[Any], Bond], Key | None]
    apply: Callable[[Network[Any], Bond], None]
    is_free: bool | None = None


class Network(Generic[Factor]):
    """Factors with one or two labels each, and scalars; free labels aren't summed over.

    Factors are numbered in the order of arrival. Each reduction has a queue of the labels at which
    it can be applied; an entry is checked again when it is popped.
    """

    def __init__(
        self,
        algebra: Algebra[Factor],
        edges: Iterable[Edge[Factor]],
        free: Iterable[Label],
        lengths: Mapping[Any, Expr],
        reductions: Sequence[Reduction],
    ):
        self.algebra = algebra
        self.free = set(free)
        self.lengths = lengths
        self.reductions = reductions
        self.scalars: list[Factor] = []
        self._edges: dict[int, Edge[Factor]] = {}
        self._count = 0
        self._at: dict[Label, dict[int, None]] = defaultdict(dict)
        self._changed: dict[Label, None] = {}
        self._queues: list[list[tuple[Key, int, Label]]] = [[] for _ in reductions]
        for factor, labels in edges:
            self._add(factor, labels)

    @property
    def edges(self) -> list[Edge[Factor]]:
        """The remaining factors."""
        return list(self._edges.values())

    def reduce(self) -> None:
        """Apply reductions as long as one can be applied, earlier ones in the list first."""
        self._enqueue_changed()
        while self._apply_first():
            self._enqueue_changed()

    def result(self, output: Sequence[Label]) -> Factor | None:
        """Reduce to one factor with at most two labels; None if that isn't possible."""
        distinct = list(dict.fromkeys(output))
        absent = [label for label in distinct if label not in self._at]
        if absent:
            self._add(self.algebra.ones(tuple([self.lengths[label] for label in absent])), absent)
        self.reduce()
        edges = self.edges
        if {label for _, labels in edges for label in labels} != set(distinct):
            return None
        if len(edges) == 1:
            matrices = [self._matrix(edges[0], distinct[0])]
        elif len(edges) == 2 and all(len(labels) == 1 for _, labels in edges):
            column, row = sorted(edges, key=lambda edge: distinct.index(edge[1][0]))
            matrices = [column[0], self.algebra.transpose(row[0])]
        elif edges:
            return None
        else:
            matrices = []
        if len(distinct) < len(output):
            matrices = [self.algebra.diagonal_matrix(matrices[0])]
        return self.algebra.product([*self.scalars, *matrices])

    # --- bookkeeping

    def _add(self, factor: Factor, labels: Sequence[Label]) -> None:
        if not labels:
            self.scalars.append(factor)
            return
        self._edges[self._count] = factor, tuple(labels)
        for label in labels:
            self._at[label][self._count] = None
            self._changed[label] = None
        self._count += 1

    def _replace(self, old: Iterable[int], factor: Factor, labels: Sequence[Label]) -> None:
        for number in old:
            for label in self._edges.pop(number)[1]:
                self._at[label].pop(number, None)
                self._changed[label] = None
        self._add(factor, labels)

    def _enqueue_changed(self) -> None:
        """Put the changed labels into the queues of the reductions that apply there."""
        for label in self._changed:
            bond = self._bond(label)
            for reduction, queue in zip(self.reductions, self._queues, strict=True):
                key = self._key(reduction, bond)
                if key is not None:
                    # Equal keys mean the same factors; labels can't be compared.
                    heappush(queue, (key, id(label), label))
        self._changed = {}

    def _apply_first(self) -> bool:
        """Apply the first reduction that can be applied; tell whether there is one."""
        for reduction, queue in zip(self.reductions, self._queues, strict=True):
            while queue:
                key, _, label = heappop(queue)
                bond = self._bond(label)
                if self._key(reduction, bond) == key:
                    reduction.apply(self, bond)
                    return True
        return False

    def _key(self, reduction: Reduction, bond: Bond) -> Key | None:
        allowed = bond.origin and reduction.is_free in (None, bond.label in self.free)
        return reduction.key(self, bond) if allowed else None

    def _bond(self, label: Label) -> Bond:
        numbers = self._at[label]
        vectors = [number for number in numbers if len(self._edges[number][1]) == 1]
        matrices = [number for number in numbers if len(self._edges[number][1]) == 2]
        origin = [(first, self._edges[first][1].index(label)) for first in [*numbers][:1]]
        return Bond(label, vectors, matrices, *origin)

    def _matrix(self, edge: Edge[Factor], first: Label) -> Factor:
        """Return a factor as a matrix whose row index is a label, or as a column."""
        factor, labels = edge
        return factor if labels[0] == first else self.algebra.transpose(factor)

    def _other_label(self, number: int, label: Label) -> Label:
        """Return the other label of a matrix with a label."""
        return next(k for k in self._edges[number][1] if k != label)

    def _self_loops(self, bond: Bond) -> list[int]:
        """Return the matrices A_ii."""
        return [k for k in bond.matrices if self._edges[k][1] == (bond.label, bond.label)]

    def _mergeable_vectors(self, bond: Bond) -> list[int]:
        """Return the vectors to multiply entrywise; all but one where only vectors are summed, so
        that a scalar product remains."""
        keeps_one = len(bond.vectors) > 2 and not bond.matrices and bond.label not in self.free
        return bond.vectors[1:] if keeps_one else bond.vectors

    def _parallel_factors(self, numbers: Iterable[int]) -> list[int]:
        """Return the first group of two or more factors with the same labels."""
        groups: dict[frozenset[Label], list[int]] = defaultdict(list)
        for number in numbers:
            groups[frozenset(self._edges[number][1])].append(number)
        return min([group for group in groups.values() if len(group) > 1], default=[])

    # --- actions of reductions

    def _contract_loop(self, bond: Bond) -> None:
        """Take the trace or the diagonal of A_ii."""
        number = self._self_loops(bond)[0]
        self._collapse([number], self._edges[number][0], bond.label)

    def _collapse(self, old: Sequence[int], matrix: Factor, label: Label) -> None:
        """Replace a matrix whose two labels are the same by its trace or its diagonal."""
        if label in self.free or not self._at[label].keys() <= set(old):
            self._replace(old, self.algebra.diagonal(matrix), (label,))
        else:
            self._replace(old, self.algebra.trace(matrix), ())

    def _sum(self, bond: Bond) -> None:
        """Sum over a label of two vectors, or of at most two matrices and a vector; a single factor
        is multiplied with ones."""
        label = bond.label
        vectors = [self._edges[number][0] for number in bond.vectors]
        old = [*bond.vectors, *bond.matrices]
        ones = [] if len(old) > 1 else [self.algebra.ones((self.lengths[label],))]
        if not bond.matrices:
            self._replace(old, self.algebra.dot(*[*ones, *vectors]), ())
            return
        first = bond.matrices[0]
        rows = self._other_label(first, label)
        left = self._matrix(self._edges[first], rows)
        if len(bond.matrices) == 1:
            self._replace(old, self.algebra.product([left, *ones, *vectors]), (rows,))
            return
        between = [self.algebra.diagonal_matrix(vector) for vector in vectors]
        right = self._matrix(self._edges[bond.matrices[1]], label)
        chain = self.algebra.product([left, *between, right])
        columns = self._other_label(bond.matrices[1], label)
        if rows != columns:
            self._replace(old, chain, (rows, columns))
        else:
            self._collapse(old, chain, rows)

    def _join_vectors(self, bond: Bond) -> None:
        self._join(self._mergeable_vectors(bond))

    def _join_matrices(self, bond: Bond) -> None:
        self._join(self._parallel_factors(bond.matrices))

    def _join_parallel(self, bond: Bond) -> None:
        self._join(self._parallel_factors([*bond.vectors, *bond.matrices]))

    def _join(self, numbers: Sequence[int]) -> None:
        """Multiply factors with the same labels entrywise."""
        labels = self._edges[numbers[0]][1]
        factors = [self._matrix(self._edges[number], labels[0]) for number in numbers]
        self._replace(numbers, self.algebra.hadamard(factors), labels)

    def _scale(self, bond: Bond) -> None:
        """Replace a vector and a matrix by A diag(v)."""
        vector, number = bond.vectors[0], bond.matrices[0]
        rows = self._other_label(number, bond.label)
        diagonal = self.algebra.diagonal_matrix(self._edges[vector][0])
        chain = self.algebra.product([self._matrix(self._edges[number], rows), diagonal])
        self._replace([vector, number], chain, (rows, bond.label))

    # --- keys of reductions

    def _key_of_loop(self, bond: Bond) -> Key | None:
        return tuple(self._self_loops(bond)[:1]) or None

    def _key_of_two(self, bond: Bond) -> Key | None:
        """Apply to a label of two factors; to vectors first, which keeps products short."""
        numbers = [*bond.vectors, *bond.matrices]
        if len(numbers) != 2:
            return None
        # The newest factors come last: long chains are multiplied as balanced trees.
        return len(bond.vectors) + 2 * len(bond.matrices), max(numbers), *bond.origin

    def _key_of_one(self, bond: Bond) -> Key | None:
        """Apply to a label of a single factor."""
        return bond.origin if len(bond.vectors) + len(bond.matrices) == 1 else None

    def _key_of_few(self, bond: Bond) -> Key | None:
        """Apply to a label of at most two matrices; to vectors first, to columns before rows."""
        if len(bond.matrices) > 2:
            return None
        rows = any(self._edges[number][1][0] == bond.label for number in bond.matrices[:1])
        return len(bond.matrices), int(rows), *bond.origin

    def _key_of_closed_pair(self, bond: Bond) -> Key | None:
        """Apply to A_ij B_ij where both labels are summed and have no other factor."""
        if bond.vectors or len(bond.matrices) != 2:
            return None
        rows, columns = self._edges[bond.matrices[0]][1]
        closed = rows == bond.label and columns not in self.free
        return bond.origin if closed and self._at[rows].keys() == self._at[columns].keys() else None

    def _key_of_vectors(self, bond: Bond) -> Key | None:
        return bond.origin if len(self._mergeable_vectors(bond)) > 1 else None

    def _key_of_parallel_matrices(self, bond: Bond) -> Key | None:
        """Apply to matrices with the same two labels."""
        return tuple(self._parallel_factors(bond.matrices)[:1]) or None

    def _key_of_parallel_factors(self, bond: Bond) -> Key | None:
        """Apply to factors with the same labels, except for the two vectors of a scalar product."""
        if len(bond.vectors) == 2 and not bond.matrices and bond.label not in self.free:
            return None
        return tuple(self._parallel_factors([*bond.vectors, *bond.matrices])[:1]) or None

    def _key_of_vector_between(self, bond: Bond) -> Key | None:
        """Apply to a vector and two matrices."""
        return bond.origin if bond.vectors and len(bond.matrices) == 2 else None

    def _key_of_vector_and_matrix(self, bond: Bond) -> Key | None:
        """Apply to a vector and a matrix."""
        return bond.origin if bond.vectors and len(bond.matrices) == 1 else None


_LOOP = Reduction(Network._key_of_loop, Network._contract_loop)
_CONTRACT = Reduction(Network._key_of_two, Network._sum, is_free=False)
_SINGLE = Reduction(Network._key_of_one, Network._sum, is_free=False)
_MATRICES = Reduction(Network._key_of_parallel_matrices, Network._join_matrices)
_BETWEEN = Reduction(Network._key_of_vector_between, Network._scale, is_free=False)
_SCALE = Reduction(Network._key_of_vector_and_matrix, Network._scale, is_free=True)

# Products before Hadamard products, as in textbook formulas.
PRODUCTS_FIRST = (
    _LOOP,
    _CONTRACT,
    _SINGLE,
    Reduction(Network._key_of_vectors, Network._join_vectors),
    _MATRICES,
    _BETWEEN,
    _SCALE,
)
# For a result written by its entries: factors on free labels aren't multiplied.
WITHOUT_ENTRYWISE_PRODUCTS = (
    _LOOP,
    _CONTRACT,
    _SINGLE,
    Reduction(Network._key_of_vectors, Network._join_vectors, is_free=False),
    _MATRICES._replace(is_free=False),
    _BETWEEN,
)
# Hadamard products before products, which makes these shorter.
HADAMARD_FIRST = (
    _LOOP,
    Reduction(Network._key_of_closed_pair, Network._sum, is_free=False),
    Reduction(Network._key_of_parallel_factors, Network._join_parallel),
    Reduction(Network._key_of_few, Network._sum, is_free=False),
    _SCALE,
)
