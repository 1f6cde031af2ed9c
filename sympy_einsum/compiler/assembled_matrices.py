"""Matrices in blocks as one array: where the entries of each block go, and the code that writes
them there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sympy import Expr, Mul, S

from ..analysis import Product, components, inlined_product
from ..core import Shape
from ..expressions import Operand, drop_constant_axes, is_tensor, shape_of, varying_axes
from ..rules import AffinePlace, Blocks, Place, SparseTerm, sparse_terms
from .backends import ALL_ENTRIES, NEW_AXIS
from .ir.code import Code, as_code, quote, subscript
from .sparse_matrices import is_zero


class _EvenPositions(NamedTuple):
    """Positions along an axis: the first one, and the step along each axis of entries."""

    start: Expr
    steps: tuple[Expr, ...]

    def plus(self, factor: Expr, other: _EvenPositions) -> _EvenPositions:
        """Return the positions plus a multiple of others."""
        steps = [a + factor * b for a, b in zip(self.steps, other.steps, strict=True)]
        return _EvenPositions(self.start + factor * other.start, tuple(steps))


class _Factor(NamedTuple):
    """An array, and the axes of entries that are its axes; along others it is repeated."""

    value: Operand
    axes: tuple[int, ...]


@dataclass(frozen=True)
class _BlockTerm:
    """Entries that are added to a matrix at positions of equal distances.

    Attributes
    ==========

    factors : the entries, or two arrays whose product they are
    lengths : the lengths of their axes
    row, column : their positions
    """

    factors: tuple[_Factor, ...]
    lengths: Shape
    row: _EvenPositions
    column: _EvenPositions

    def transposed(self) -> _BlockTerm:
        """Return the same entries in the transpose of the matrix."""
        return _BlockTerm(self.factors, self.lengths, self.column, self.row)


@dataclass
class Assembly:
    """A matrix as the terms of each block that isn't 0.

    Attributes
    ==========

    shape : the numbers of rows and columns
    blocks : the terms, of which the first in a block is written, others are added
    mirrored : the dense blocks above the diagonal that are copied to below it: the first row, the
        first column, the numbers of rows and columns
    """

    shape: Shape
    blocks: list[list[_BlockTerm]]
    mirrored: list[Shape]

    @property
    def leaves(self) -> list[Operand]:
        """Return the expressions to be computed."""
        found = [own.value for block in self.blocks for term in block for own in term.factors]
        return [*dict.fromkeys(found)]

    def code(self, codes: Sequence[Code], size: Callable[[Expr], Code]) -> Code:
        """Spell the matrix by the code of its leaves; ``size`` spells axis lengths."""
        known = dict(zip(self.leaves, codes, strict=True))

        def spelled(shape: Shape) -> Code:
            return as_code(tuple(map(size, shape)))

        def term_code(term: _BlockTerm) -> Code:
            count = len(term.lengths)
            factors = [_stretched(known[own.value], own.axes, count) for own in term.factors]
            steps = [*zip(term.row.steps, term.column.steps, strict=True)]
            start = term.row.start, term.column.start
            parts = as_code(tuple(factors)), spelled(term.lengths), spelled(start)
            return as_code((*parts, as_code([spelled(pair) for pair in steps])))

        blocks = [as_code([term_code(term) for term in block]) for block in self.blocks]
        mirrored = [spelled(own) for own in self.mirrored]
        return quote("assembled({0}, {1}, {2})", spelled(self.shape), blocks, mirrored)


def _stretched(code: Code, axes: Sequence[int], count: int) -> Code:
    """Spell an array with axes of length 1 beside its own, as far as it doesn't get them anyway."""
    if not axes or len(axes) == count - axes[0]:
        return code
    entries = [ALL_ENTRIES.code if k in axes else NEW_AXIS for k in range(axes[0], count)]
    return subscript(code, entries)


def assembly_of(matrix: Blocks) -> Assembly:
    """Split the blocks of a matrix into terms whose entries stand at equal distances."""
    tops, lefts = matrix.starts()
    blocks: list[list[_BlockTerm]] = []
    mirrored: list[Shape] = []
    for i, row in enumerate(matrix.rows):
        for j, column in enumerate(matrix.columns):
            if matrix.is_symmetric and j < i:
                continue
            terms = [*_terms(matrix.blocks[i][j], len(row), (tops[i], lefts[j]))]
            blocks.append(terms)
            if not matrix.is_symmetric or i == j or not terms:
                continue
            if len(terms[0].lengths) < len(row) + len(column):
                blocks.append([term.transposed() for term in terms])
            else:
                mirrored.append((tops[i], lefts[j], Mul(*row), Mul(*column)))
    return Assembly(matrix.shape, [block for block in blocks if block], mirrored)


def _terms(block: Operand, rows: int, start: tuple[Expr, Expr]) -> Iterator[_BlockTerm]:
    """Yield the terms of a block, the dense ones first."""
    shape = shape_of(block)
    if is_zero(block):
        return
    sparse, dense = sparse_terms(block) if shape else ([], [block])
    placed = [_placed(term, shape, rows, start) for term in sparse]
    if None in placed:
        placed, dense = [], [block]
    axes = tuple(range(len(shape)))
    for part in dense:
        yield from filter(None, [_placed(SparseTerm(part, shape, axes, ()), shape, rows, start)])
    yield from filter(None, placed)


def _placed(
    term: SparseTerm, shape: Shape, rows: int, start: tuple[Expr, Expr]
) -> _BlockTerm | None:
    """Return a term with its positions in the matrix; None where these aren't at equal distances,
    or may be the same for several entries."""
    count = len(term.lengths)
    lines = [_line(place, count) for place in term.places]
    if term.above or not all(lines):
        return None
    alone = {k for line in lines if line for k in [_only_axis(line)] if k is not None}
    if len(alone) < count:
        return None
    both = []
    for first, axes in zip(start, (range(rows), range(rows, len(shape))), strict=True):
        total = _EvenPositions(first, (S.Zero,) * count)
        for axis in axes:
            line = lines[axis]
            assert line is not None
            total = total.plus(Mul(*shape[axis + 1 : axes.stop]), line)
        both.append(total)
    return _BlockTerm(_factors(term.entries, term.lengths), term.lengths, *both)


def _line(place: Place, count: int) -> _EvenPositions | None:
    """Return positions as a start and steps; None where they are others."""
    if isinstance(place, int):
        return _EvenPositions(
            S.Zero, tuple([S.One if k == place else S.Zero for k in range(count)])
        )
    if not isinstance(place, AffinePlace) or place.divisor != 1 or place.modulus != 0:
        return None
    total = _EvenPositions(place.start, (S.Zero,) * count)
    for step, inner in place.steps:
        line = _line(inner, count)
        if line is None:
            return None
        total = total.plus(step, line)
    return total


def _only_axis(line: _EvenPositions) -> int | None:
    """Return the only axis of entries that positions depend on."""
    axes = [k for k, step in enumerate(line.steps) if step != 0]
    return axes[0] if len(axes) == 1 and line.steps[axes[0]].is_number else None


def _factors(entries: Operand, lengths: Shape) -> tuple[_Factor, ...]:
    """Return entries as two factors, if they are a product without a sum, so that it is written
    without an array between; else as they are. Each has the axes along which it varies."""
    product = inlined_product(entries) if is_tensor(entries) else None
    groups = [] if product is None else _unsummed_groups(product)
    if product is None or len(groups) < 2:
        kept = varying_axes([entries]) if is_tensor(entries) else []
        (short,) = drop_constant_axes([entries], kept) if len(kept) < len(lengths) else (entries,)
        return (_Factor(short, tuple(kept)),)
    output = product.output
    present = [{i for k in group for i in product.subscripts[k]} for group in groups]
    largest = max(range(len(groups)), key=lambda k: len(present[k].intersection(output)))
    others = sorted(k for own, group in enumerate(groups) if own != largest for k in group)
    found = []
    for group, scalars in ((groups[largest], ()), (others, product.scalars)):
        own = {i for k in group for i in product.subscripts[k]}
        kept = [axis for axis, i in enumerate(output) if i in own]
        part = product.part(group, [output[axis] for axis in kept], scalars)
        found.append(_Factor(part, tuple(kept)))
    return tuple(found)


def _unsummed_groups(product: Product) -> list[list[int]]:
    """Return the groups of operands of a product that no sum connects."""
    if len({*product.output}) < len(product.output):
        return []
    # Each operand has a label of its own.
    labels = [
        {~k, *[i for i in own if i not in product.output]}
        for k, own in enumerate(product.subscripts)
    ]
    return components(labels) if len(labels) > 1 else []
