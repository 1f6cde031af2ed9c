"""Systems with matrices in blocks, solved by the elimination of diagonal blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib.util import find_spec
from itertools import starmap
from math import gcd, prod
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from ..core import lapack, sparse, sparse_algebra, sparse_graphs, tuning
from .compressed_arrays import CompressedArray

Lengths: TypeAlias = tuple[int, ...]
# A block: None for zeros, a CompressedArray, one of SciPy's sparse arrays, or a matrix.
Block: TypeAlias = Any
# A matrix of NumPy's, or a sparse one of SciPy's.
Matrix: TypeAlias = Any


class LowRank(NamedTuple):
    """A square block plus a product of two matrices with few columns, left @ right.T."""

    core: Block
    left: np.ndarray
    right: np.ndarray

    def added(self) -> np.ndarray:
        """Return the product."""
        return self.left @ self.right.T


class Inverse(Protocol):
    """The inverse of a matrix."""

    def solve(self, right: Matrix) -> Matrix:
        """Multiply a matrix by it from the left."""
        ...

    def logdet(self) -> float:
        """Return log |det| of the matrix."""
        ...


class Factorization(Inverse, Protocol):
    """The factors of a matrix."""

    def solve(self, right: Matrix, transposed: bool = False) -> Matrix:
        """Multiply a matrix by the inverse, or by that of the transpose, from the left."""
        ...


class _Eliminated(NamedTuple):
    """Diagonal blocks that are eliminated together, and the inverse of the matrix of them and of
    the blocks between them."""

    members: list[int]
    inverse: Inverse


class Elimination:
    """A square matrix in blocks after the elimination of groups of diagonal blocks; the blocks
    between two groups are zero.

    Attributes
    ==========

    groups : the groups, with their inverses
    kept : the numbers of the other diagonal blocks
    complement : the Schur complement
    """

    def __init__(
        self,
        blocks: Sequence[Sequence[Block]],
        shapes: Sequence[Lengths],
        matrix: Callable[[int, int], Matrix],
        is_symmetric: bool,
    ):
        self.blocks = blocks
        self.shapes = shapes
        self.matrix = matrix
        self.groups: list[_Eliminated] = []
        for i in sorted(range(len(shapes)), key=lambda k: -prod(shapes[k])):
            self._try(i)
        members = {i for group in self.groups for i in group.members}
        self.kept = [i for i in range(len(shapes)) if i not in members]
        self.complement = self._between(self.kept, self.kept)
        for group in self.groups:
            self._subtract(group, is_symmetric)

    def _subtract(self, group: _Eliminated, is_symmetric: bool) -> None:
        """Subtract a product from the complement; one that has few zeros takes as much memory, so
        it is computed by parts of its columns, of a symmetric one the half."""
        members, kept = group.members, self.kept
        shapes = [[self.shapes[i] for i in part] for part in (kept, members)]
        below = in_blocks(self._between(kept, members), *shapes)
        beside = below if is_symmetric else in_blocks(self._between(members, kept).T, *shapes)
        count = below.shape[0]
        if not count:
            return
        width = gcd(*[shape[-1] if shape else 1 for shape in shapes[0]])
        step = -(-count // (width * tuning.COMPLEMENT_PARTS)) * width

        def product(first: int, columns: slice) -> Matrix:
            above = self._solved(group, _rows(beside, columns).T)
            return _rows(below, slice(first, count)) @ above

        found = product(0, slice(step))
        if is_sparse(found) and not _is_filled(found):
            self.complement = self.complement - product(0, slice(count))
            return
        was_sparse, kind = is_sparse(self.complement), np.result_type(self.complement, found)
        self.complement = as_dense(self.complement).astype(kind, copy=not was_sparse)
        for start in range(0, count, step):
            first, columns = start * is_symmetric, slice(start, start + step)
            if start:
                found = product(first, columns)
            self.complement[first:, columns] -= as_dense(found)
            if is_symmetric:
                self.complement[columns, first:] = self.complement[first:, columns].T

    def _try(self, i: int) -> None:
        """Eliminate a diagonal block, together with the groups that it is coupled with, if that
        takes small or sparse systems."""
        blocks = self.blocks
        coupled = [
            group
            for group in self.groups
            if any(blocks[i][j] is not None or blocks[j][i] is not None for j in group.members)
        ]
        members = sorted([i, *[j for group in coupled for j in group.members]])
        if any(isinstance(blocks[j][k], np.ndarray) for j in members for k in members):
            return
        inverse = self._inverse(members)
        if inverse is not None:
            self.groups = [own for own in self.groups if own not in coupled]
            self.groups.append(_Eliminated(members, inverse))

    def _inverse(self, members: Sequence[int]) -> Inverse | None:
        """Return the inverse of a group; None where that takes a large dense system."""
        first = members[0]
        block, is_alone = self.blocks[first][first], len(members) == 1
        if 0 in self.shapes[first]:
            return None
        if is_alone and isinstance(block, CompressedArray):
            return (
                _CompressedInverse(block, self.shapes[first]) if block.is_block_diagonal else None
            )
        if find_spec("scipy") is None or block is None or self._has_long_rows(members):
            return None
        matrix = self._between(members, members)
        width = self.shapes[first][-1] if is_alone and self.shapes[first] else 1
        components = _components(matrix, width if width <= tuning.MAX_ELIMINATED_BLOCK else 1)
        with self._naming(members):
            if components is not None:
                return _ComponentsInverse(matrix, components)
            is_large = is_alone and matrix.shape[0] > tuning.MAX_DENSE_SYSTEM
            return factorization_of(matrix) if is_large else None

    def _has_long_rows(self, members: Sequence[int]) -> bool:
        """Tell whether several blocks, which aren't joined for that, can't consist of small
        matrices."""
        # The first rows that are long suffice.
        lengths = (sum([_row_lengths(self.matrix(i, j)) for j in members]) for i in members)
        most = tuning.MAX_ELIMINATED_BLOCK
        return len(members) > 1 and any(np.max(own, initial=0) > most for own in lengths)

    @contextmanager
    def _naming(self, members: Sequence[int]) -> Iterator[None]:
        """Name the diagonal blocks that turn out to be singular."""
        try:
            yield
        except np.linalg.LinAlgError as error:
            raise self._singular(members) from error

    def _singular(self, members: Sequence[int]) -> np.linalg.LinAlgError:
        numbers = ", ".join(map(str, members))
        shapes = ", ".join([str(self.shapes[i]) for i in members])
        return np.linalg.LinAlgError(
            f"the diagonal block {numbers}, of variables of shape {shapes}, is singular, so it "
            "can't be eliminated"
        )

    def _between(self, rows: Sequence[int], columns: Sequence[int]) -> Matrix:
        """Return some rows and columns of blocks as one matrix."""
        sizes = [sum(prod(self.shapes[i]) for i in part) for part in (rows, columns)]
        if 0 in sizes:
            return np.zeros(sizes)
        return joined([joined([self.matrix(i, j) for j in columns], False) for i in rows], True)

    def _solved(self, group: _Eliminated, right: Matrix) -> Matrix:
        """Multiply by the inverse of a group."""
        with self._naming(group.members), np.errstate(all="ignore"):
            found = group.inverse.solve(right)
        if not _is_finite(found) and _is_finite(right):
            raise self._singular(group.members)
        return found

    @cached_property
    def _factors(self) -> Inverse:
        return factorization_of(self.complement, is_own=bool(self.groups))

    @cached_property
    def _sides(self) -> list[tuple[Matrix, Matrix]]:
        """The blocks below each group, and those beside it."""
        kept, groups = self.kept, [group.members for group in self.groups]
        return [(self._between(kept, own), self._between(own, kept)) for own in groups]

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solve for a matrix of right-hand sides."""
        parts = np.split(right, ends(self.shapes)[1:-1])
        total = np.concatenate([right[:0], *[parts[i] for i in self.kept]])
        own = []
        for group, (below, _) in zip(self.groups, self._sides, strict=True):
            found = self._solved(group, np.concatenate([parts[i] for i in group.members]))
            total = total - below @ found
            own.append(found)
        solution = self._factors.solve(total) if len(total) else total
        self._put(parts, self.kept, solution)
        for group, found, (_, beside) in zip(self.groups, own, self._sides, strict=True):
            self._put(parts, group.members, found - self._solved(group, beside @ solution))
        return np.concatenate(parts)

    def _put(self, parts: list[np.ndarray], places: Sequence[int], rows: np.ndarray) -> None:
        """Put the rows of some blocks into their places."""
        own = np.split(rows, ends([self.shapes[i] for i in places])[1:-1])
        for i, part in zip(places, own if places else [], strict=True):
            parts[i] = part

    def logdet(self) -> float:
        """Return log |det|."""
        total = sum([float(group.inverse.logdet()) for group in self.groups])
        return total + (self._factors.logdet() if self.kept else 0.0)


class _CompressedInverse:
    """The inverse of a core with a pattern."""

    def __init__(self, block: CompressedArray, shape: Lengths):
        self.block = block
        self.shape = shape

    def solve(self, right: Matrix) -> Matrix:
        found = self.block.solve(np.reshape(as_dense(right), (*self.shape, right.shape[1])))
        return np.reshape(found, right.shape)

    def logdet(self) -> float:
        return float(self.block.logdet())


class _ComponentsInverse:
    """The inverse of a matrix that consists of small ones, up to the order of its rows; ``rows``
    are those of each, for each size of theirs."""

    def __init__(self, matrix: Matrix, rows: Sequence[np.ndarray]):
        self.shape = matrix.shape
        self.rows = rows
        numbers, places, kinds = np.empty((3, self.shape[0]), np.int64)
        for kind, own in enumerate(rows):
            numbers[own] = np.arange(len(own))[:, None]
            places[own] = np.arange(own.shape[1])
            kinds[own] = kind
        entries = matrix.tocoo()
        values, (i, j) = entries.data, entries.coords
        self.inverses: list[np.ndarray] = []
        self.logarithm = 0.0
        for kind, own in enumerate(rows):
            is_own = kinds[i] == kind
            stack = np.zeros((*own.shape, own.shape[1]), entries.dtype)
            at = numbers[i[is_own]], places[i[is_own]], places[j[is_own]]
            np.add.at(stack, at, values[is_own])
            self.inverses.append(np.linalg.inv(stack))
            self.logarithm += float(np.linalg.slogdet(stack)[1].sum())

    @cached_property
    def _sparse(self) -> Matrix:
        pairs = [*zip(self.rows, self.inverses, strict=True)]
        i = [np.broadcast_to(rows[:, :, None], own.shape).ravel() for rows, own in pairs]
        j = [np.broadcast_to(rows[:, None], own.shape).ravel() for rows, own in pairs]
        data = np.concatenate([own.ravel() for own in self.inverses])
        return sparse.csr_array((data, (np.concatenate(i), np.concatenate(j))), shape=self.shape)

    def solve(self, right: Matrix) -> Matrix:
        if is_sparse(right):
            is_in_blocks = right.format == "bsr"
            own = self._sparse.tobsr((right.blocksize[0],) * 2) if is_in_blocks else self._sparse
            return own @ right
        found = np.empty(right.shape, np.result_type(right, *self.inverses))
        for rows, own in zip(self.rows, self.inverses, strict=True):
            found[rows] = np.matmul(own, right[rows])
        return found

    def logdet(self) -> float:
        return self.logarithm


class _DenseSystem:
    """A dense system; ``is_own`` says whether its matrix may be overwritten by the factors."""

    def __init__(self, matrix: np.ndarray, is_own: bool):
        self.matrix = matrix
        self.is_own = is_own
        # Those of complex numbers are left to NumPy.
        self.has_factors = matrix.size and matrix.dtype == float and find_spec("scipy")

    @cached_property
    def _factors(self) -> tuple[np.ndarray, np.ndarray]:
        """The factors of the transpose, which is in Fortran's order, and the exchanges of rows."""
        found: tuple[np.ndarray, np.ndarray] = lapack.dgetrf(
            self.matrix.T, overwrite_a=self.is_own
        )[:2]
        return found

    def solve(self, right: np.ndarray, transposed: bool = False) -> np.ndarray:
        if not self.has_factors:
            return np.linalg.solve(self.matrix.T if transposed else self.matrix, right)
        if not self._factors[0].diagonal().all():
            raise np.linalg.LinAlgError("the matrix is singular")
        return np.asarray(lapack.dgetrs(*self._factors, right, trans=int(not transposed))[0])

    def logdet(self) -> float:
        if not self.has_factors:
            return float(np.linalg.slogdet(self.matrix)[1])
        with np.errstate(divide="ignore"):
            return float(np.log(np.abs(self._factors[0].diagonal())).sum())


class _SparseFactors:
    """The factors of a sparse matrix."""

    def __init__(self, matrix: Matrix):
        columns, rows = matrix.tocsc(), matrix.tocsr()
        pairs = (columns.indptr, rows.indptr), (columns.indices, rows.indices)
        # Of a matrix with the pattern of its transpose the diagonal is preferred for pivots: up to
        # six times faster, with up to a third of the fill.
        options: dict[str, Any] = {}
        if all(starmap(np.array_equal, pairs)):
            options = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.1}
            options["options"] = {"SymmetricMode": True}
        try:
            self.factors = sparse_algebra.splu(columns, **options)
        except RuntimeError as error:
            raise np.linalg.LinAlgError(f"the matrix is singular: {error}") from error

    def solve(self, right: Matrix, transposed: bool = False) -> np.ndarray:
        kind = np.result_type(self.factors.U.dtype, float)
        columns = np.ascontiguousarray(as_dense(right), kind)
        found: np.ndarray = self.factors.solve(columns, "T" if transposed else "N")
        return found

    def logdet(self) -> float:
        return float(np.log(np.abs(self.factors.U.diagonal())).sum())


class _BandedFactors:
    """The factors of a matrix with few diagonals."""

    def __init__(self, matrix: Matrix, lower: int, upper: int):
        n = matrix.shape[0]
        band = np.zeros((2 * lower + upper + 1, n))
        for k in range(-lower, upper + 1):
            band[lower + upper - k, max(k, 0) : n + min(k, 0)] = matrix.diagonal(k)
        self.lower, self.upper = lower, upper
        self.factors, self.pivots, zero_pivot = lapack.dgbtrf(band, lower, upper)
        if zero_pivot > 0:
            raise np.linalg.LinAlgError("the matrix is singular")

    def solve(self, right: Matrix, transposed: bool = False) -> np.ndarray:
        columns = np.asarray(as_dense(right), float)
        own = self.factors, self.lower, self.upper, columns, self.pivots
        found: np.ndarray = lapack.dgbtrs(*own, trans=int(transposed))[0]
        return found

    def logdet(self) -> float:
        return float(np.log(np.abs(self.factors[self.lower + self.upper])).sum())


class _TridiagonalFactors:
    """The factors of a tridiagonal matrix."""

    def __init__(self, matrix: Matrix):
        diagonals = [matrix.diagonal(k).astype(float) for k in (-1, 0, 1)]
        *self.factors, zero_pivot = lapack.dgttrf(*diagonals)
        if zero_pivot > 0:
            raise np.linalg.LinAlgError("the matrix is singular")

    def solve(self, right: Matrix, transposed: bool = False) -> np.ndarray:
        columns, trans = np.asarray(as_dense(right), float), "T" if transposed else "N"
        found: np.ndarray = lapack.dgttrs(*self.factors, columns, trans=trans)[0]
        return found

    def logdet(self) -> float:
        return float(np.log(np.abs(self.factors[1])).sum())


def factorization_of(matrix: Matrix, is_own: bool = True) -> Factorization:
    """Factor a matrix: a large sparse one as such, by its band if that is narrow; a dense one may
    be overwritten if ``is_own`` says so.

    Raises LinAlgError where it is singular; a dense one is factored where it is used.
    """
    if not is_sparse(matrix):
        return _DenseSystem(np.asarray(matrix), is_own)
    if matrix.shape[0] <= tuning.MAX_DENSE_SYSTEM or _is_filled(matrix):
        return _DenseSystem(matrix.toarray(), True)
    i, j = matrix.tocoo().coords
    lower, upper = [int((own).max(initial=0)) for own in (i - j, j - i)]
    if lower + upper >= tuning.MAX_BANDWIDTH or matrix.dtype.kind != "f":
        return _SparseFactors(matrix)
    if max(lower, upper) <= 1:
        return _TridiagonalFactors(matrix)
    return _BandedFactors(matrix, lower, upper)


def in_blocks(found: Matrix, rows: Sequence[Lengths], columns: Sequence[Lengths]) -> Matrix:
    """Return a matrix, if it is sparse, by the small blocks of the last axes of what its rows and
    columns stand for, whose products are faster than those of single entries."""
    if not is_sparse(found):
        return found
    sizes = [gcd(*[shape[-1] if shape else 1 for shape in part]) for part in (rows, columns)]
    if found.format == "bsr" and [*found.blocksize] == sizes:
        return found
    small = found.tocsr()
    blocks = small.tobsr(tuple(sizes)) if min(sizes) > 1 else small
    return blocks if blocks.nnz <= tuning.MAX_FILLED_BLOCKS * found.nnz else small


def _rows(matrix: Matrix, rows: slice) -> Matrix:
    """Return some rows of a matrix; SciPy has none of a matrix in blocks."""
    if not is_sparse(matrix) or matrix.format != "bsr":
        return matrix[rows]
    height, width = matrix.blocksize
    start, stop, _ = rows.indices(matrix.shape[0])
    starts = matrix.indptr[start // height : stop // height + 1]
    own = [part[starts[0] : starts[-1]] for part in (matrix.data, matrix.indices)]
    parts = *own, starts - starts[0]
    return sparse.bsr_array(parts, shape=(stop - start, matrix.shape[1]), blocksize=(height, width))


def _is_filled(matrix: Matrix) -> bool:
    """Tell whether so few entries of a sparse matrix are 0 that a dense one is as good."""
    return bool(matrix.nnz >= tuning.MAX_SPARSE_SHARE * prod(matrix.shape))


def _row_lengths(matrix: Matrix) -> np.ndarray:
    """Return the number of entries in each row of a sparse matrix."""
    if matrix.format == "csc":
        return np.bincount(matrix.indices, minlength=matrix.shape[0])
    if matrix.format == "bsr":
        height, width = matrix.blocksize
        return width * np.diff(matrix.indptr).repeat(height)
    return np.diff(matrix.indptr)


def _components(matrix: Matrix, width: int) -> list[np.ndarray] | None:
    """Return the rows of the small matrices that a sparse one consists of, for each size of these;
    None where it doesn't. Blocks of a width are found fastest."""
    if _row_lengths(matrix).max(initial=0) > tuning.MAX_ELIMINATED_BLOCK:
        return None
    size = matrix.shape[0]
    own = np.arange(size) // width
    if size > width and np.array_equal(own.repeat(np.diff(matrix.indptr)), own[matrix.indices]):
        return [np.arange(size).reshape(-1, width)]
    edges = abs(matrix) if matrix.dtype.kind == "c" else matrix  # SciPy takes real numbers only
    count, labels = sparse_graphs.connected_components(edges, directed=False)
    counts = np.bincount(labels)
    if count < 2 or counts.max() > tuning.MAX_ELIMINATED_BLOCK:
        return None
    order = np.argsort(labels, kind="stable")
    sizes = counts[labels[order]]
    return [order[sizes == size].reshape(-1, size) for size in np.unique(counts)]


def _is_finite(matrix: Matrix) -> bool:
    return bool(np.isfinite(matrix.data if is_sparse(matrix) else matrix).all())


def is_sparse(value: object) -> bool:
    """Tell whether a matrix is one of SciPy's."""
    return hasattr(value, "tocsr")


def as_dense(matrix: Matrix) -> np.ndarray:
    """Return a matrix as an array."""
    return np.asarray(matrix.toarray() if is_sparse(matrix) else matrix)


def ends(shapes: Sequence[Lengths]) -> list[int]:
    """Return the first row of each block, and the number of all rows."""
    found: list[int] = np.cumsum([0, *map(prod, shapes)]).tolist()
    return found


def joined(parts: Sequence[Matrix], below: bool) -> Matrix:
    """Join matrices side by side, or below each other: sparse ones to a sparse matrix."""
    if len(parts) == 1:
        return parts[0]
    if all(map(is_sparse, parts)):
        return (sparse.vstack if below else sparse.hstack)(parts, format="csr")
    return np.concatenate([*map(as_dense, parts)], axis=0 if below else 1)
