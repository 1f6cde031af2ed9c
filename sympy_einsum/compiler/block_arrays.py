"""Matrices in blocks that keep the structure of these, and are solved by Schur complements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from math import prod
from typing import Any

import numpy as np

from ..core import ShapeError, UnsupportedError, sparse, tuning
from .compressed_arrays import CompressedArray
from .schur_complements import (
    Block,
    Elimination,
    Inverse,
    Lengths,
    LowRank,
    Matrix,
    as_dense,
    ends,
    factorization_of,
    is_sparse,
    joined,
)


class BlockArray:
    """A matrix in blocks, each with its own structure: ``lambdify(..., structured=True)`` returns
    it for ``pack(variables).hessian(f)``. It is computed with by NumPy, and by SciPy where a block
    is sparse.

    Systems are solved by a Schur complement: diagonal blocks that consist of small matrices are
    eliminated, the largest first; several of them if together they consist of small ones. Where
    one of them is singular, or nearly so, the whole matrix is factored instead.

    Attributes
    ==========

    blocks : the blocks by rows: None for zeros, a CompressedArray, a sparse array of SciPy's, a
        matrix, or such a block as ``core`` plus ``left @ right.T`` with few columns
    is_symmetric : whether a block below the diagonal is the transpose of the one above, and isn't
        among the blocks
    rows : the shapes of the arrays whose entries the rows stand for
    columns : the shapes of the arrays whose entries the columns stand for
    """

    def __init__(
        self,
        blocks: Sequence[Sequence[Block]],
        rows: Sequence[Lengths],
        columns: Sequence[Lengths],
        is_symmetric: bool = False,
    ):
        self.rows, self.columns = [tuple(own) for own in rows], [tuple(own) for own in columns]
        self.blocks = [
            [_as_block(own, row, column) for own, column in zip(line, self.columns, strict=True)]
            for line, row in zip(blocks, self.rows, strict=True)
        ]
        self.is_symmetric = is_symmetric
        # Blocks as matrices, which products and eliminations take.
        self._matrices: dict[tuple[int, int], Matrix] = {}

    @property
    def shape(self) -> Lengths:
        """The numbers of rows and columns."""
        return sum(map(prod, self.rows)), sum(map(prod, self.columns))

    def block(self, i: int, j: int) -> Block:
        """Return a block, also below the diagonal of a symmetric matrix."""
        if not self.is_symmetric or i <= j:
            return self.blocks[i][j]
        block = self.blocks[j][i]
        if isinstance(block, CompressedArray):
            return block.transposed(len(self.rows[j]))
        return None if block is None else self.matrix(i, j)

    def to_dense(self) -> np.ndarray:
        """Return the matrix as an array."""
        total = np.zeros(self.shape, self._kind)
        tops, lefts = ends(self.rows), ends(self.columns)
        for i in range(len(self.rows)):
            for j in range(len(self.columns)):
                place = total[tops[i] : tops[i + 1], lefts[j] : lefts[j + 1]]
                place[...] = self._dense(i, j)
        return total

    def to_scipy(self) -> Matrix:
        """Return the matrix as SciPy's ``csr_array``."""
        places = range(len(self.rows)), range(len(self.columns))
        return joined(
            [joined([self._sparse(i, j) for j in places[1]], False) for i in places[0]], True
        )

    def matvec(self, v: Any) -> np.ndarray:
        """Multiply the matrix by a vector, or by each column of a matrix.

        Raises ShapeError unless it has an entry or a row for each column of this one.
        """
        columns = self._columns_of("matvec", v, self.columns)
        parts = np.split(columns, ends(self.columns)[1:-1])
        total = []
        for i, row in enumerate(self.rows):
            kind = np.result_type(self._kind, *parts)
            found: Any = np.zeros((prod(row), columns.shape[1]), kind)
            for j, part in enumerate(parts):
                found = found + self._times(i, j, part)
            total.append(found)
        return np.concatenate(total).reshape((self.shape[0], *np.shape(v)[1:]))

    def diagonal(self) -> np.ndarray:
        """Return the diagonal of a square matrix.

        Raises UnsupportedError where rows and columns stand for other arrays.
        """
        self._check_square("the diagonal")
        parts = [np.zeros(0, self._kind)]
        for i, row in enumerate(self.rows):
            block = self.blocks[i][i]
            if isinstance(block, LowRank):
                core = self._core(block, i, i)
                parts.append(core.diagonal() + (block.left * block.right).sum(axis=1))
            else:
                parts.append(np.zeros(prod(row)) if block is None else np.ravel(block.diagonal()))
        return np.concatenate(parts)

    def plus_diagonal(self, d: Any) -> BlockArray:
        """Return the matrix with numbers added to its diagonal, as damped Newton methods do.

        Raises UnsupportedError where rows and columns stand for other arrays.
        """
        self._check_square("plus_diagonal")
        added = np.broadcast_to(np.asarray(d), self.shape[:1])
        blocks = [[*line] for line in self.blocks]
        for i, own in enumerate(np.split(added, ends(self.rows)[1:-1])):
            block = blocks[i][i]
            if isinstance(block, LowRank):
                core = self._core(block, i, i).plus_diagonal(own)
                blocks[i][i] = block._replace(core=core.blocks[0][0])
            elif isinstance(block, np.ndarray):
                blocks[i][i] = block + np.diag(own)
            else:
                blocks[i][i] = self._sparse(i, i) + sparse.diags_array(own, format="csr")
        return BlockArray(blocks, self.rows, self.columns, self.is_symmetric)

    def solve(self, b: Any) -> np.ndarray:
        """Return the x with H x = b; for a matrix b each column is a right-hand side.

        Raises
        ======

        ShapeError : b hasn't an entry or a row for each row
        UnsupportedError : rows and columns stand for other arrays
        LinAlgError : the matrix is singular, or so nearly that x is no solution
        """
        self._check_square("solve")
        right = self._columns_of("solve", b, self.rows)
        is_complex = self._kind.kind == "c"
        if np.iscomplexobj(right) and not is_complex:
            real, imaginary = np.split(self.solve(np.hstack([right.real, right.imag])), 2, axis=1)
            return np.reshape(real + 1j * imaginary, np.shape(b))
        right = right.astype(complex if is_complex else float)
        try:
            found = self._solved(right)
        except np.linalg.LinAlgError:
            found = self._whole.solve(right)
            self._check_error(found, right)
        return found.reshape(np.shape(b))

    @cached_property
    def _whole(self) -> Inverse:
        """The inverse of a matrix of which diagonal blocks that would be eliminated are singular,
        by the factors of the whole."""
        return factorization_of(self.to_dense() if find_spec("scipy") is None else self.to_scipy())

    def _solved(self, right: np.ndarray) -> np.ndarray:
        """Solve for columns, and refine the solution where the elimination of nearly singular
        blocks has lost digits."""
        solution = self._eliminated(right)
        if not self._elimination.groups:
            return solution
        for _ in range(tuning.MAX_REFINEMENTS):
            if not self._backward_error(solution, right) > tuning.REFINED_ERROR:
                return solution
            solution = solution + self._eliminated(right - self.matvec(solution))
        self._check_error(solution, right)
        return solution

    def _check_error(self, solution: np.ndarray, right: np.ndarray) -> None:
        """Raise LinAlgError where rounding has made a solution another one."""
        if self._backward_error(solution, right) > tuning.MAX_BACKWARD_ERROR:
            raise np.linalg.LinAlgError(
                "the matrix is singular, or so nearly that the result is lost in rounding"
            )

    def _backward_error(self, solution: np.ndarray, right: np.ndarray) -> float:
        """Return by how much the entries have to change for a solution to be exact, relative to the
        largest ones."""
        sizes = np.abs(solution).max(initial=0), np.abs(right).max(initial=0)
        scale = self._largest * sizes[0] + sizes[1]
        return float(np.abs(right - self.matvec(solution)).max(initial=0) / scale) if scale else 0.0

    def _eliminated(self, right: np.ndarray) -> np.ndarray:
        """Solve for columns by the elimination alone."""
        added = sum([prod(own) for own in self._elimination.shapes[len(self.rows) :]])
        zeros = np.zeros((added, right.shape[1]), right.dtype)
        return self._elimination.solve(np.concatenate([right, zeros]))[: len(right)]

    @cached_property
    def _largest(self) -> float:
        """The largest entry of what blocks are made of."""
        parts = [own for line in self.blocks for block in line for own in _arrays(block)]
        parts = [np.abs(own) if np.iscomplexobj(own) else own for own in parts]
        both = [end for own in parts for end in (np.max(own, initial=0), np.min(own, initial=0))]
        return float(np.abs(both).max(initial=0))

    def logdet(self) -> float:
        """Return the logarithm of the absolute value of the determinant.

        Raises UnsupportedError where rows and columns stand for other arrays.
        """
        self._check_square("logdet")
        try:
            return self._eliminated_logdet()
        except np.linalg.LinAlgError:
            return self._whole.logdet()

    def _eliminated_logdet(self) -> float:
        found = self._elimination.logdet()
        if self._elimination.groups and np.isfinite(found):
            # Unlike a solution it can't be refined.
            probe = np.random.default_rng(0).normal(size=(self.shape[0], 1))
            self._check_error(self._eliminated(probe), probe)
        return found

    def __repr__(self) -> str:
        places = range(len(self.rows)), range(len(self.columns))
        lines = ["  ".join([_kind_of(self.block(i, j)) for j in places[1]]) for i in places[0]]
        return f"BlockArray(shape={self.shape}, blocks: {'; '.join(lines)})"

    @property
    def _kind(self) -> np.dtype:
        parts = [own for line in self.blocks for block in line for own in _arrays(block)]
        return np.result_type(*parts) if parts else np.dtype(float)

    @cached_property
    def _elimination(self) -> Elimination:
        """The elimination of this matrix, or of the one in which each product L R' of low rank is a
        block row R' and a block column L, with -1 on the diagonal: its Schur complement is this
        one, and its determinant the same up to the sign."""
        count = len(self.rows)
        if not any(isinstance(self.blocks[i][i], LowRank) for i in range(count)):
            return Elimination(self.blocks, self.rows, self.matrix, self.is_symmetric)
        lines = [[self.block(i, j) for j in range(count)] for i in range(count)]
        shapes = [*self.rows]
        for i in range(count):
            block = self.blocks[i][i]
            if not isinstance(block, LowRank):
                continue
            lines[i][i] = block.core
            for k, line in enumerate(lines):
                line.append(block.left if k == i else None)
            rank = block.left.shape[1]
            below = [block.right.T if k == i else None for k in range(len(shapes))]
            lines.append([*below, -np.eye(rank)])
            shapes.append((rank,))
        whole = BlockArray(lines, shapes, shapes)
        return Elimination(whole.blocks, whole.rows, whole.matrix, is_symmetric=False)

    def _core(self, block: LowRank, i: int, j: int) -> BlockArray:
        """Return a block without its product of low rank."""
        return BlockArray([[block.core]], [self.rows[i]], [self.columns[j]])

    def _dense(self, i: int, j: int) -> np.ndarray:
        block, shape = self.block(i, j), (prod(self.rows[i]), prod(self.columns[j]))
        if isinstance(block, LowRank):
            return self._core(block, i, j).to_dense() + block.added()
        if block is None:
            return np.zeros(shape, self._kind)
        if isinstance(block, CompressedArray):
            return np.reshape(block.to_dense(), shape)
        return as_dense(block)

    def _sparse(self, i: int, j: int) -> Matrix:
        block, shape = self.block(i, j), (prod(self.rows[i]), prod(self.columns[j]))
        if isinstance(block, LowRank):
            return sparse.csr_array(self._dense(i, j))
        if block is None:
            return sparse.csr_array(shape)
        if isinstance(block, CompressedArray):
            return block.sparse(len(self.rows[i]))
        return sparse.csr_array(block)

    def matrix(self, i: int, j: int) -> Matrix:
        """Return a block as a sparse matrix, if it has zeros and SciPy is there."""
        if self.is_symmetric and j < i:
            block = self.matrix(j, i)
            if not is_sparse(block) or block.format != "bsr":
                return block.T
            # Unlike the others it is copied.
            if (i, j) not in self._matrices:
                self._matrices[i, j] = block.T
            return self._matrices[i, j]
        block = self.blocks[i][j]
        if is_sparse(block) and block.format in ("csr", "csc", "bsr"):
            return block
        if (i, j) not in self._matrices:
            is_dense = isinstance(block, (np.ndarray, LowRank)) or find_spec("scipy") is None
            self._matrices[i, j] = self._dense(i, j) if is_dense else self._sparse(i, j)
        return self._matrices[i, j]

    def _times(self, i: int, j: int, part: np.ndarray) -> Any:
        """Multiply a block by columns."""
        block = self.blocks[i][j] if i <= j or not self.is_symmetric else self.blocks[j][i]
        if block is None:
            return 0
        if isinstance(block, LowRank):
            return self._core(block, i, j).matvec(part) + block.left @ (block.right.T @ part)
        return self.matrix(i, j) @ part

    def _columns_of(self, method: str, vector: Any, shapes: Sequence[Lengths]) -> np.ndarray:
        """Return a vector, or a matrix, as columns."""
        array, count = np.asarray(vector), sum(map(prod, shapes))
        if array.ndim not in (1, 2) or len(array) != count:
            raise ShapeError(
                f"{method} takes a vector of {count} entries, or a matrix of as many rows, for a "
                f"matrix of shape {self.shape}, not an array of shape {array.shape}"
            )
        return array.reshape(count, -1 if count else 1)

    def _check_square(self, method: str) -> None:
        if self.rows != self.columns:
            raise UnsupportedError(
                f"{method} takes rows and columns that stand for arrays of the same shapes, not "
                f"{self.rows} and {self.columns}"
            )


def _as_block(value: Any, row: Lengths, column: Lengths) -> Block:
    if isinstance(value, tuple) and not isinstance(value, LowRank):
        core, *factors = value
        size = prod(row)
        left, right = [
            np.concatenate([np.reshape(own, (size, -1 if size else 0)) for own in part], axis=1)
            for part in (factors[::2], factors[1::2])
        ]
        return LowRank(_as_block(core, row, column), left, right)
    if value is None or isinstance(value, (CompressedArray, LowRank)) or is_sparse(value):
        return value
    return np.reshape(value, (prod(row), prod(column)))


def _arrays(block: Block) -> Sequence[Any]:
    """Return the arrays of numbers that a block holds."""
    if isinstance(block, CompressedArray):
        return block.cores
    if isinstance(block, LowRank):
        return [*_arrays(block.core), block.left, block.right]
    return [] if block is None else [block.data if is_sparse(block) else block]


def _kind_of(block: Block) -> str:
    if isinstance(block, LowRank):
        return f"{_kind_of(block.core)} plus rank {block.left.shape[1]}"
    if isinstance(block, CompressedArray):
        return block.pattern
    return "0" if block is None else "sparse" if is_sparse(block) else "dense"
