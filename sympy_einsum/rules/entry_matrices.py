"""Rules for matrices that are stacks of scalars, such as rotations: products and determinants are
simplified entry by entry, as those of SymPy's matrices."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product as positions

import numpy as np
from sympy import Expr, Integer, Matrix, S, trigsimp

from ..analysis import Barriers, Product, inlined_product
from ..core import tuning
from ..expressions import (
    Constant,
    Delta,
    Einsum,
    Operand,
    TensorAdd,
    TensorExpr,
    Unit,
    Zeros,
    contract,
    is_tensor,
    memoised,
    scale,
    total_of,
)


@memoised
def known_entries(node: TensorExpr) -> np.ndarray | None:
    """Return the entries of a small tensor that is made of scalars and unit vectors; else None."""
    if node._depth > tuning.MAX_ENTRY_MATRIX_DEPTH:
        return None
    if not all(n.is_Integer and n <= tuning.MAX_ENTRY_MATRIX for n in node.shape):
        return None
    shape = tuple(map(int, node.shape))
    found = np.full(shape, S.Zero, dtype=object)
    if isinstance(node, Unit) and node.position.is_Integer:
        found[int(node.position)] = S.One
        return found
    if isinstance(node, Constant):
        return node.entries
    if isinstance(node, Zeros):
        return found
    if not isinstance(node, (TensorAdd, Einsum)):
        return None
    below = []
    for operand in node.operands:
        part = known_entries(operand) if is_tensor(operand) else _scalar(operand)
        if part is None:
            return None
        below.append(part)
    if isinstance(node, TensorAdd):
        return np.array(sum(below[1:], below[0]), dtype=object)
    if not all(n.is_Integer and n <= tuning.MAX_ENTRY_MATRIX for n in node.lengths):
        return None
    for at in positions(*[range(int(n)) for n in node.lengths]):
        term = S.One
        for part, labels in zip(below, node.subscripts, strict=True):
            term *= part[tuple([at[i] for i in labels])]
        found[tuple([at[i] for i in node.output])] += term
    return found


def _scalar(value: Operand) -> np.ndarray:
    """Return an array of no axes; NumPy would take a node for an array itself."""
    array = np.empty(1, dtype=object)
    array[0] = value
    return array.reshape(())


def product_of_entries(node: Operand, barriers: Barriers) -> Operand | None:
    """Multiply two matrices of entries where their product is simpler, as R'R = I of a rotation."""
    product = inlined_product(node, barriers)
    small = [
        k
        for k, own in enumerate(product.operands)
        if len(own.shape) == 2 and own.shape[0].is_Integer and own.shape[1].is_Integer
    ]
    for first, second in combinations(small, 2):
        found = _joined(product, first, second)
        if found is not None:
            return found.build()
    return None


def _joined(product: Product, first: int, second: int) -> Product | None:
    pair = (product.operands[first], product.operands[second])
    terms = (product.subscripts[first], product.subscripts[second])
    shared = {*terms[0]}.intersection(terms[1])
    if [len({*term}) for term in terms] != [2, 2] or len(shared) != 1 or not _are_sums(pair):
        return None
    (label,) = shared
    left, right = (known_entries(tensor) for tensor in pair)
    if product.counts[label] != 2 or left is None or right is None:
        return None
    size = _size(left.flat) + _size(right.flat)
    left = left if terms[0].index(label) == 1 else left.T
    right = right if terms[1].index(label) == 0 else right.T
    entries = Matrix(left.dot(right).tolist()).applyfunc(_simplified)
    if _size(entries) >= size:
        return None
    new = [next(i for i in term if i != label) for term in terms]
    return product.replaced({first, second}, [(_matrix(entries), new)], absorbed={label})


def _size(entries: Iterable[Expr]) -> int:
    """Return the number of operations in some entries."""
    return sum([entry.count_ops() for entry in entries])


def _are_sums(tensors: tuple[Operand, ...]) -> bool:
    """Tell whether tensors are sums, as stacks are, or products of these; others have simpler
    products anyway."""
    return all(isinstance(tensor, TensorAdd) or type(tensor) is Einsum for tensor in tensors)


def det_of_entries(node: Operand, barriers: Barriers) -> Operand | None:
    """Write out the determinant of a matrix of entries, where it is simpler than the matrix."""
    (matrix,) = node.operands
    array = known_entries(matrix) if _are_sums(node.operands) else None
    if array is None:
        return None
    found = _simplified(Matrix(array.tolist()).det(method="berkowitz"))
    return found if found.count_ops() < _size(array.flat) else None


def inv_of_entries(node: Operand, barriers: Barriers) -> Operand | None:
    """Invert an orthogonal matrix of entries by transposing it."""
    (matrix,) = node.operands
    array = known_entries(matrix) if _are_sums(node.operands) else None
    if array is None:
        return None
    square = Matrix(array.T.dot(array).tolist()).applyfunc(_simplified)
    return matrix.T if square.is_Identity else None


def _simplified(entry: Expr) -> Expr:
    return trigsimp(entry.expand())


def _matrix(entries: Matrix) -> Operand:
    """Return a matrix of some entries; a multiple of the identity as such."""
    rows, columns = entries.shape
    if entries.is_square and entries == entries[0, 0] * Matrix.eye(rows):
        return scale(entries[0, 0], Delta(rows))
    if all(entry.is_number for entry in entries):
        return Constant(entries.tolist())
    terms = []
    for i, j in positions(range(rows), range(columns)):
        units = (Unit(Integer(rows), Integer(i)), Unit(Integer(columns), Integer(j)))
        operands, lengths = (entries[i, j], *units), {0: Integer(rows), 1: Integer(columns)}
        terms.append(contract(operands, ((), (0,), (1,)), (0, 1), lengths))
    return total_of(terms)
