"""Results as sparse matrices: their rows and columns, and the code that makes them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from math import prod
from typing import Any, TypeAlias

from sympy import Expr, Mul, S, total_degree

from ..core import Shape, UnsupportedError, same_shape, tuning
from ..expressions import (
    Einsum,
    OneHot,
    Operand,
    Positions,
    TensorAdd,
    Zeros,
    contract,
    shape_of,
)
from ..rules import AffinePlace, Blocks, GatheredPlace, Place, SparseTerm, sparse_terms
from .ir.code import Code, as_code, name, quote, subscript
from .low_rank_blocks import low_rank_sum

# The names of axes of entries, and of arrays of positions, in code.
AXES, POSITIONS = "ijkabcdefgh", "pqrsuvw"
# Spells axis lengths.
Sizes: TypeAlias = Callable[[Expr], Code]


# --- expressions ----------------------------------------------------------------------------------


@dataclass(eq=False)
class SparseMatrix:
    """A matrix as the sum of terms with known positions.

    Attributes
    ==========

    rows, columns : the lengths of the axes that rows and columns stand for
    terms : what is added
    positions : the arrays of positions, with the lengths of their axes
    part : the positions of the rows, and of the columns, that are wanted, if not all are
    """

    rows: Shape
    columns: Shape
    terms: list[SparseTerm]
    positions: dict[Operand, Expr]
    part: Operand | None = None

    @property
    def shape(self) -> Shape:
        """Return the lengths of rows and columns, those of the part that is wanted."""
        return (*self.rows, *self.columns) if self.part is None else shape_of(self.part) * 2

    @property
    def leaves(self) -> list[Operand]:
        """Return the expressions to be computed: the entries of terms, then positions."""
        part = [] if self.part is None else [self.part]
        return [*[term.entries for term in self.terms], *self.positions, *part]

    def code(self, codes: Sequence[Code], size: Sizes, taken: Iterable[str]) -> Code:
        """Spell the matrix by the code of its leaves; ``size`` spells axis lengths, by names that
        are taken."""
        writer = _Writer(self, size, taken)
        terms = [
            writer.term(term, own)
            for term, own in zip(self.terms, codes[: len(self.terms)], strict=True)
        ]
        lengths = self.positions.values()
        arrays = codes[len(self.terms) :][: len(lengths)]
        positions = [[own, writer.size(n)] for own, n in zip(arrays, lengths, strict=True)]
        rows, columns = map(writer.shape, (self.rows, self.columns))
        whole = quote(
            "sparse({0}, {1}, {2}, {3})", rows, columns, _listed(positions), _listed(terms)
        )
        return whole if self.part is None else quote("{0}[{1}][:, {1}]", whole, codes[-1])


def sparse_matrix(expr: Operand, variables: Sequence[Operand]) -> SparseMatrix | None:
    """Split a tensor into rows and columns and into terms with known positions; None for what is no
    derivative of a tensor by one of the variables. The last axes, those of the variable, are the
    columns.

    Raises
    ======

    UnsupportedError : it has a dense term, or which axes are columns is unclear
    """
    shape = shape_of(expr)
    order = len(shape)
    fitting = {len(own) for own in map(shape_of, variables) if same_shape(shape[-len(own) :], own)}
    counts = fitting - {0, order}
    is_gradient = order in fitting
    if order < 2 or (is_gradient and not counts):
        return None
    terms, dense = ([], []) if 0 in shape else sparse_terms(expr)
    if dense and (is_gradient or not counts):
        return None
    if dense:
        raise UnsupportedError(
            f"the result of shape {shape} has the dense term {dense[0]!s:.200}: compile it without "
            "sparse or, if it is no derivative, name the variables of those that are, sparse=[x, y]"
        )
    columns = _count_of_columns(shape, counts)
    return SparseMatrix(shape[:-columns], shape[-columns:], terms, _positions_in(terms))


def sparse_blocks(matrix: Blocks) -> SparseMatrix:
    """Split the blocks of a matrix into terms with known positions, the dense ones as they are."""
    tops, lefts = matrix.starts()
    terms: list[SparseTerm] = []
    for i, row in enumerate(matrix.rows):
        for j, column in enumerate(matrix.columns):
            if matrix.is_symmetric and j < i:
                continue
            for term in _terms_of_block(matrix.blocks[i][j]):
                places = (
                    _place_in(tops[i], row, term.places[: len(row)]),
                    _place_in(lefts[j], column, term.places[len(row) :]),
                )
                terms.append(replace(term, places=places))
                if matrix.is_symmetric and i < j:
                    terms.append(replace(term, places=places[::-1]))
    height, width = matrix.shape
    return SparseMatrix((height,), (width,), terms, _positions_in(terms))


def sparse_block(block: Operand, row: Shape, column: Shape) -> SparseMatrix | None:
    """Split a block into terms with known positions; None where one of them is dense."""
    terms, dense = sparse_terms(block) if shape_of(block) else ([], [block])
    return None if dense else SparseMatrix(row, column, terms, _positions_in(terms))


def sparse_system(matrix: Operand) -> SparseMatrix | None:
    """Split a square matrix, or one that it is a part of, into terms with known positions; None
    where they are so many that a dense matrix is factored as fast."""
    if not _may_be_sparse(matrix):
        return None
    whole, part = _whole(matrix)
    row = shape_of(whole)[:1]
    found = sparse_block(whole, row, row)
    if found is None or not all(_are_few(term.lengths, row[0]) for term in found.terms):
        return None
    return replace(found, part=part)


def _may_be_sparse(node: Operand) -> bool:
    """Tell whether sums and products have factors that say where entries stand, without a look at
    what these are functions of: all matrices are asked."""
    if isinstance(node, TensorAdd):
        return all(map(_may_be_sparse, node.operands))
    if not isinstance(node, Einsum):
        return isinstance(node, (OneHot, Positions))
    return len({*node.output}) < node.order or any(map(_may_be_sparse, node.operands))


def _whole(matrix: Operand) -> tuple[Operand, Operand | None]:
    """Return a matrix and positions of which an array takes rows and columns; the array itself and
    None where it isn't such a part."""
    if type(matrix) is not Einsum:
        return matrix, None
    factors = [*zip(matrix.operands, matrix.subscripts, strict=True)]
    hots = [
        (own, labels)
        for i in matrix.output
        for own, labels in factors
        if isinstance(own, OneHot) and labels[:-1] == (i,)
    ]
    if len(hots) != 2 or hots[0][0] is not hots[1][0]:
        return matrix, None
    axes = tuple([labels[-1] for _, labels in hots])
    rest = [own for own in factors if own not in hots]
    used = [i for _, labels in rest for i in labels]
    if not {*axes} <= {*used} or not {*matrix.output}.isdisjoint((*used, *axes)):
        return matrix, None
    lengths = {i: n for node, labels in factors for i, n in zip(labels, node.shape, strict=True)}
    operands, subscripts = zip(*rest, strict=True)
    return contract(operands, subscripts, axes, lengths), hots[0][0].indices


def _are_few(lengths: Shape, rows: Expr) -> bool:
    """Tell whether entries grow no faster than the rows that they are in, or are as few."""
    degree = total_degree(rows)
    if degree:
        return sum(map(total_degree, lengths)) <= degree
    count = prod(lengths, start=S.One)
    return not count.is_Integer or count <= tuning.MAX_SPARSE_SHARE * rows**2


def dense_blocks(matrix: Blocks) -> list[tuple[int, int]]:
    """Return the places of the blocks that have a dense term, but for those of low rank on the
    diagonal of a symmetric matrix."""
    return [
        (i, j)
        for i, row in enumerate(matrix.blocks)
        for j, block in enumerate(row)
        if not is_zero(block) and sparse_block(block, matrix.rows[i], matrix.columns[j]) is None
        if not (matrix.is_symmetric and i == j and low_rank_sum(block))
    ]


def is_zero(block: Operand) -> bool:
    """Tell whether a block has no entries other than 0."""
    return isinstance(block, Zeros) or block == 0 or 0 in shape_of(block)


def _terms_of_block(block: Operand) -> list[SparseTerm]:
    shape = shape_of(block)
    if is_zero(block):
        return []
    terms, dense = sparse_terms(block) if shape else ([], [block])
    axes = tuple(range(len(shape)))
    return [*[SparseTerm(part, shape, axes, ()) for part in dense], *terms]


def _place_in(start: Expr, shape: Shape, places: Sequence[Place]) -> Place:
    """Return positions on the axis of a matrix that some axes are, in C order, from a start on."""
    steps = [Mul(*shape[axis + 1 :]) for axis in range(len(shape))]
    return AffinePlace(start, tuple(zip(steps, places, strict=True)))


def _count_of_columns(shape: Shape, counts: Collection[int]) -> int:
    """Return the number of axes that are columns, given the numbers of axes of variables that these
    may be; a tensor whose halves are alike is a Hessian."""
    half = len(shape) // 2
    if len(counts) == 1:
        return next(iter(counts))
    if half in (counts or {half}) and same_shape(shape[:half], shape[half:]):
        return half
    if len(shape) == 2:
        return 1
    found = "several variables have" if counts else "no variable has"
    raise UnsupportedError(
        f"which axes of the derivative of shape {shape} are columns is unclear, since {found} "
        "its last axes; name the variable that it is by, sparse=x, or reshape it to a matrix"
    )


def _positions_in(terms: Sequence[SparseTerm]) -> dict[Operand, Expr]:
    """Return the arrays of positions, with the lengths of their axes."""
    found: dict[Operand, Expr] = {}
    for term in terms:
        for place in _nested([*term.places, *chain(*[(i, j) for i, _, j in term.above])]):
            if isinstance(place, GatheredPlace):
                found[place.indices] = place.length
    return found


def _nested(places: Sequence[Place]) -> Iterator[Place]:
    for place in places:
        yield place
        if isinstance(place, AffinePlace):
            yield from _nested([own for _, own in place.steps])
        elif isinstance(place, GatheredPlace):
            yield from _nested(place.at)


def _depth(place: Place) -> int:
    """Return the number of positions inside each other."""
    if isinstance(place, int):
        return 0
    inner = place.at if isinstance(place, GatheredPlace) else [own for _, own in place.steps]
    return 1 + max(map(_depth, inner), default=0)


# --- code -----------------------------------------------------------------------------------------


def _listed(items: Sequence[Any]) -> Code:
    return quote("[{*0}]", items)


class _Writer:
    """Spells the terms of a matrix: the positions of entries are functions of their indices and of
    the arrays of positions."""

    def __init__(self, matrix: SparseMatrix, size: Sizes, taken: Iterable[str]):
        self.size = size
        taken = {*taken}
        axes, positions = _free_names(AXES, taken), _free_names(POSITIONS, taken)
        count = max([len(term.lengths) for term in matrix.terms], default=0)
        self.axes = [next(axes) for _ in range(count)]
        self.positions = dict(zip(matrix.positions, positions, strict=False))

    def term(self, term: SparseTerm, entries: Code) -> list[Code]:
        """Spell a term: its entries, their lengths, their positions, and conditions on these."""
        names = [*self.axes[: len(term.lengths)], *self.positions.values()]
        places = [self._place(place) for place in term.places]
        found = [entries, self.shape(term.lengths), _function(names, as_code(places))]
        # Whether one holds may depend on positions that others bring within an array.
        for i, offset, j in sorted(term.above, key=lambda own: max(_depth(own[0]), _depth(own[2]))):
            parts = self._place(i), self.size(offset), self._place(j)
            found.append(_function(names, quote("{0} + {1} <= {2}", *parts)))
        return found

    def shape(self, shape: Shape) -> Code:
        """Spell the lengths of axes."""
        return as_code([self.size(n) for n in shape])

    def _place(self, place: Place) -> Code:
        if isinstance(place, int):
            return name(self.axes[place])
        if isinstance(place, GatheredPlace):
            own = name(self.positions[place.indices])
            return subscript(own, [self._place(at) for at in place.at]) if place.at else own
        parts = []
        for step, inner in place.steps:
            code = self._place(inner)
            parts.append(code if step == 1 else quote("{0} * {1}", self.size(step), code))
        parts += [self.size(place.start)] if place.start != 0 or not parts else []
        total = parts[0]
        for part in parts[1:]:
            total = quote("{0} + {1}", total, part)
        if place.divisor != 1:
            total = quote("{0} // {1}", total, self.size(place.divisor))
        return quote("{0} % {1}", total, self.size(place.modulus)) if place.modulus else total


def _free_names(letters: str, taken: set[str]) -> Iterator[str]:
    """Yield letters, then letters with numbers, that are no other variable's names."""
    yield from [own for own in letters if own not in taken]
    for number, own in product(range(1, len(taken) + 1000), letters):
        if f"{own}{number}_" not in taken:
            yield f"{own}{number}_"


def _function(names: Sequence[str], value: Code) -> Code:
    arguments = ast.arguments([], [ast.arg(own) for own in names], None, [], [], None, [])
    return ast.Lambda(arguments, value)
