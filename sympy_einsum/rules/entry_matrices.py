"""Rules for matrices that are stacks of scalars, such as rotations: products and determinants are
simplified entry by entry, as those of SymPy's matrices."""

from __future__ import annotations

from itertools import combinations, product as positions

import numpy as np
from sympy import Add, Expr, Integer, Matrix, Pow, S, trigsimp
from sympy.functions.elementary.trigonometric import TrigonometricFunction

from ..analysis import Barriers, Product, inlined_product, joined_labels
from ..core import cached, tuning
from ..expressions import (
    Constant,
    Delta,
    Einsum,
    Elementwise,
    Operand,
    TensorAdd,
    TensorExpr,
    Unit,
    Zeros,
    contract,
    is_tensor,
    memoised,
    scale,
    slot,
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
    is_function = isinstance(node, Elementwise) and node.body.is_rational_function()
    if not isinstance(node, (TensorAdd, Einsum)) and not is_function:
        return None
    below = []
    for operand in node.operands:
        part = known_entries(operand) if is_tensor(operand) else _scalar(operand)
        if part is None:
            return None
        below.append(part)
    if isinstance(node, TensorAdd):
        return np.array(sum(below[1:], below[0]), dtype=object)
    if isinstance(node, Elementwise):
        for at in positions(*map(range, shape)):
            values = {slot(k): part[at if part.shape else ()] for k, part in enumerate(below)}
            found[at] = node.body.xreplace(values)
        return found
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
    """Multiply two tensors of entries where their product is simpler, as R'R = I of a rotation."""
    product = inlined_product(node, barriers)
    small = [k for k, own in enumerate(product.operands) if _is_sum(own)]
    for pair in combinations(small, 2):
        found = _joined(product, pair)
        if found is not None:
            return found.build()
    return None


def _joined(product: Product, pair: tuple[int, int]) -> Product | None:
    labels = joined_labels(product.subscripts, product.output, pair)
    gone = {i for k in pair for i in product.subscripts[k]}.difference(labels)
    first, second = [known_entries(product.operands[k]) for k in pair]
    if not labels or not gone or first is None or second is None:
        return None
    array = known_entries(product.part(pair, labels))
    joined = None if array is None else _shorter(array, _size(first) + _size(second))
    if joined is None:
        return None
    return product.replaced({*pair}, [(joined, labels)], absorbed=gone)


def function_of_entries(node: Operand, barriers: Barriers) -> Operand | None:
    """Apply a rational function to each entry, as to those of a diagonal metric for its inverse."""
    array = known_entries(node)
    if array is None or any(entry.has(S.ComplexInfinity, S.NaN) for entry in array.flat):
        return None
    return _tensor(array)


def sum_of_entries(node: Operand, barriers: Barriers) -> Operand | None:
    """Add tensors of entries where trigonometric identities make the sum simpler."""
    array = known_entries(node)
    if array is None or not any(entry.has(TrigonometricFunction) for entry in array.flat):
        return None
    size = _size(array)
    return _shorter(array, size) if size <= array.size * tuning.MAX_ENTRY_PARTS else None


def _shorter(array: np.ndarray, size: int) -> Operand | None:
    """Return a tensor of simplified entries, if these have fewer operations than ``size``."""
    entries = np.empty_like(array)
    for place in np.ndindex(array.shape):
        entry = array.item(place)
        entries[place] = min(entry, _simplified(entry), key=Expr.count_ops)
    return _tensor(entries) if _size(entries) < size else None


def _size(entries: np.ndarray) -> int:
    """Return the number of operations in some entries."""
    return sum([entry.count_ops() for entry in entries.flat])


def _is_sum(tensor: Operand) -> bool:
    """Tell whether a tensor is a sum, as stacks are, or a product of these; others have simpler
    products anyway."""
    return isinstance(tensor, TensorAdd) or type(tensor) is Einsum


def det_of_entries(node: Operand, barriers: Barriers) -> Operand | None:
    """Write out the determinant of a matrix of entries, where it is no longer than the matrix, or
    the matrix has two rows."""
    (matrix,) = node.operands
    array = known_entries(matrix) if _is_sum(matrix) else None
    if array is None:
        return None
    found = _simplified(Matrix(array.tolist()).det(method="berkowitz"))
    is_short = len(array) == 2 or found.count_ops() <= _size(array)
    return found if is_short else None


def inv_of_entries(node: Operand, barriers: Barriers) -> Operand | None:
    """Invert an orthogonal matrix of entries by transposing it, and one with a single entry in each
    row and column entry by entry."""
    (matrix,) = node.operands
    array = known_entries(matrix) if _is_sum(matrix) else None
    if array is None:
        return None
    places = np.argwhere(array != 0)
    if all(sorted(axis) == list(range(len(array))) for axis in places.T):
        inverse = np.full(array.shape, S.Zero, dtype=object)
        for i, j in places:
            inverse[j, i] = 1 / array[i, j]
        return _tensor(inverse)
    square = Matrix(array.T.dot(array).tolist()).applyfunc(_simplified)
    return matrix.T if square.is_Identity else None


@cached(1000)
def _simplified(entry: Expr) -> Expr:
    """Multiply out, and apply trigonometric identities that need no functions of other angles."""
    expanded = entry.expand()
    if len(Add.make_args(expanded)) > tuning.MAX_TRIGONOMETRIC_TERMS:
        return expanded
    functions = expanded.atoms(TrigonometricFunction)
    has_square = any(isinstance(own.base, TrigonometricFunction) for own in expanded.atoms(Pow))
    if len(functions) < 2 - has_square:
        return expanded
    found = trigsimp(expanded)
    return found if found.atoms(TrigonometricFunction) <= functions else expanded


def _tensor(entries: np.ndarray) -> Operand:
    """Return a tensor of some entries; a multiple of the identity as such."""
    lengths = dict(enumerate(map(Integer, entries.shape)))
    if entries.ndim == 2 and np.array_equal(entries, np.diag([entries[0, 0]] * len(entries))):
        return scale(entries[0, 0], Delta(len(entries)))
    if all(entry.is_number for entry in entries.flat):
        return Constant(entries.tolist())
    terms = []
    for place in np.ndindex(entries.shape):
        units = [(Unit(lengths[axis], Integer(k)), (axis,)) for axis, k in enumerate(place)]
        operands, subscripts = zip((entries[place], ()), *units, strict=True)
        terms.append(contract(operands, subscripts, tuple(lengths), lengths))
    return total_of(terms)
