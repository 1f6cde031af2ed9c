"""Matrices in blocks: derivatives of several tensors by several variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sympy import Add, Basic, Expr, Mul, S

from ..core import Shape
from ..expressions import (
    Operand,
    Selection,
    Zeros,
    as_operand,
    contract,
    is_tensor,
    reshape_node,
    total_of,
)


@dataclass(frozen=True, repr=False)
class Blocks:
    """A matrix whose rows stand for the entries of several tensors and whose columns for those of
    others, in C order and one after the other, such as the Hessian by several variables.

    ``pack(variables).hessian(f)`` makes one. ``lambdify`` takes it as it takes an expression: the
    function returns the matrix, whose blocks are written in place; a sparse one for
    ``sparse=True``. Wherever a tensor is taken it stands for the matrix.

    Attributes
    ==========

    blocks : the tensors of derivatives, by rows, each of the shape of its row and its column
    rows : the shapes of the tensors that the rows stand for
    columns : the shapes of the tensors that the columns stand for
    is_symmetric : whether each block below the diagonal is the transpose of the one above, and is
        not computed again
    """

    blocks: tuple[tuple[Operand, ...], ...]
    rows: tuple[Shape, ...]
    columns: tuple[Shape, ...]
    is_symmetric: bool = False

    @property
    def shape(self) -> Shape:
        """The numbers of rows and columns."""
        return Add(*map(_size, self.rows)), Add(*map(_size, self.columns))

    def starts(self) -> tuple[list[Expr], list[Expr]]:
        """Return the first row of each row of blocks, and the first column of each column."""
        return _starts(self.rows), _starts(self.columns)

    def to_dense(self) -> Operand:
        """Return the matrix, a tensor of order 2.

        >>> import sympy_einsum as se
        >>> x, y = se.TensorSymbol("x", 2), se.TensorSymbol("y", 3)
        >>> se.pack([x, y]).hessian(x @ x + (y**3).sum()).to_dense().shape
        (5, 5)
        """
        height, width = self.shape
        tops, lefts = self.starts()
        terms: list[Operand] = [Zeros(height, width)]
        for row, top, blocks in zip(self.rows, tops, self.blocks, strict=True):
            for column, left, block in zip(self.columns, lefts, blocks, strict=True):
                counts = _size(row), _size(column)
                matrix = reshape_node(block, counts) if is_tensor(block) else as_operand([[block]])
                places = Selection(height, top, 1, counts[0]), Selection(width, left, 1, counts[1])
                lengths = dict(enumerate((*counts, height, width)))
                terms.append(contract((matrix, *places), ((0, 1), (0, 2), (1, 3)), (2, 3), lengths))
        return total_of(terms)

    def xreplace(self, replacement: Mapping[Basic, Basic]) -> Blocks:
        """Return the matrix with expressions in place of symbols, in all blocks."""
        blocks = [tuple([own.xreplace(replacement) for own in row]) for row in self.blocks]
        return replace(self, blocks=tuple(blocks))

    def _sympy_(self) -> Operand:
        return self.to_dense()

    def __repr__(self) -> str:
        return f"Blocks(shape={self.shape}, rows={self.rows}, columns={self.columns})"


def _size(shape: Shape) -> Expr:
    return Mul(*shape)


def _starts(shapes: Sequence[Shape]) -> list[Expr]:
    starts: list[Expr] = [S.Zero]
    for shape in shapes[:-1]:
        starts.append(starts[-1] + _size(shape))
    return starts
