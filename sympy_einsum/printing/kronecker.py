"""Write matrices whose rows and columns are numbered by pairs of indices as Kronecker products.

With pairs in C order A_ac B_bd is A ⊗ B, A_ad B_bc is (A ⊗ B) K with the commutation matrix
K vec(X) = vec(Xᵀ), A_ba B_dc is vec(A) vec(B)ᵀ, and a
product with equal row and column pairs is diag(vec(A)) (Magnus and Neudecker, Matrix Differential
Calculus, §2.4 and §3.7).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from sympy import Expr

from ..core import PRODUCTS_FIRST, Network
from . import algebra, forms
from .forms import Form
from .slices import Labels

Edges = Sequence[tuple[Form, tuple[Hashable, ...]]]
# The index of a row or column; None where there is only one.
Index = int | None


def paired(edges: Edges, lengths: Mapping[int, Expr], rows: Labels, columns: Labels) -> Form | None:
    """Write a product of labelled factors as a matrix with one or two labels for its rows and its
    columns; return None if it has none of these forms."""
    if rows == columns and len({*rows}) == 2:
        return _Paired(edges, lengths, rows, ()).diagonal()
    edges, lengths = list(edges), dict(lengths)
    distinct: list[int] = []
    for label in (*rows, *columns):
        own = label
        if label in distinct:  # an identity ties it to a label of its own
            own = max(lengths) + 1
            lengths[own] = lengths[label]
            edges.append((forms.identity(lengths[own]), (label, own)))
        distinct.append(own)
    return _Paired(edges, lengths, distinct[: len(rows)], distinct[len(rows) :]).matrix()


class _Paired:
    """Match the factors of a product with matrices and vectors."""

    def __init__(
        self, edges: Edges, lengths: Mapping[int, Expr], rows: Sequence[int], columns: Sequence[int]
    ):
        self.lengths, self.rows, self.columns = lengths, rows, columns
        kept = [*rows, *columns]
        present = {label for _, labels in edges for label in labels}
        ones = [(algebra.ones((lengths[k],)), (k,)) for k in kept if k not in present]
        network = Network[Form](algebra, [*edges, *ones], kept, lengths, PRODUCTS_FIRST)
        network.reduce()
        self.scalars = network.scalars
        self.edges = network.edges
        self.factors = {labels: factor for factor, labels in network.edges}
        left = [label for labels in self.factors for label in labels]
        self.is_reduced = len(left) == len(kept) and {*left} == {*kept}

    def diagonal(self) -> Form | None:
        """Return the diagonal matrix of the entries."""
        if not self.is_reduced:
            return None
        if self._has(self.rows[0]):
            parts = [algebra.diagonal_matrix(self._part(label, None)) for label in self.rows]
            return self._scaled(_kron(*parts))
        return self._scaled(algebra.diagonal_matrix(self._vec(self.rows)))

    def matrix(self) -> Form | None:
        """Return the matrix."""
        if not self.is_reduced:
            return self._scaled_along(self.rows) or self._scaled_along(self.columns)
        a, b = (None, *self.rows)[-2:]
        c, d = (None, *self.columns)[-2:]
        if self._has(a, c) and self._has(b, d):
            return self._scaled(_kron(self._part(a, c), self._part(b, d)))
        if self._has(*self.rows) and self._has(*self.columns):
            row = algebra.transpose(self._vec(self.columns))
            return self._scaled(algebra.product([self._vec(self.rows), row]))
        if a is None:
            return self._scaled(_kron(self._part(b, c), self._part(None, d)))
        crossed = _kron(self._part(a, d), self._part(b, c))
        if c is not None and d is not None:
            commutation = forms.call("K", axes=2, note=(self.lengths[d], self.lengths[c]))
            crossed = algebra.product([crossed, commutation])
        return self._scaled(crossed)

    def _scaled_along(self, labels: Sequence[int]) -> Form | None:
        """Write a factor of all rows or of all columns as a diagonal matrix."""
        given = [edge for edge in self.edges if {*edge[1]} == {*labels}]
        if not given:
            return None
        others = [edge for edge in self.edges if edge is not given[0]]
        rest = _Paired(others, self.lengths, self.rows, self.columns).matrix()
        if rest is None:
            return None
        scale = algebra.diagonal_matrix(self._vec(labels))
        return self._scaled(
            algebra.product([scale, rest] if labels is self.rows else [rest, scale])
        )

    def _scaled(self, form: Form) -> Form:
        return algebra.product([*self.scalars, form])

    def _has(self, *labels: Index) -> bool:
        """Tell whether one factor has all of some labels, or each label has its own factor."""
        given = tuple([label for label in labels if label is not None])
        one = given in self.factors or given[::-1] in self.factors
        return one or all((label,) in self.factors for label in given)

    def _part(self, row: Index, column: Index) -> Form:
        """Return the matrix of two labels, or a column or a row."""
        if row is None:
            return algebra.transpose(self._part(column, None))
        if column is None:
            return self.factors[row,]
        if (row,) in self.factors:
            return algebra.product([self.factors[row,], self._part(None, column)])
        if (row, column) in self.factors:
            return self.factors[row, column]
        return algebra.transpose(self.factors[column, row])

    def _vec(self, labels: Sequence[int]) -> Form:
        """Return the entries numbered by labels in C order, as a column."""
        if len(labels) == 1:
            return self.factors[labels[0],]
        return forms.call("vec", self._part(*reversed(labels)), axes=1)


def _kron(one: Form, other: Form) -> Form:
    if one.kind == other.kind == "identity":
        return forms.identity(one.data * other.data)
    return Form("kron", [one, other], None, 2)
