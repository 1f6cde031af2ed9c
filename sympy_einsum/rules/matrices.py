"""Rules for inverses, adjugates and determinants; X is square, and invertible where its inverse
stands on either side.

References
==========

[MC] K. B. Petersen, M. S. Pedersen, "The Matrix Cookbook", 2012.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from sympy import Abs, Expr, LeviCivita, Mul, S, log

from ..analysis import Closed, transposed
from ..core import same_length, tuning
from ..expressions import (
    LOG,
    Adj,
    Einsum,
    IntervalProducts,
    Inv,
    Ones,
    Operand,
    PseudoInverse,
    TensorAdd,
    TensorExpr,
    Unit,
    View,
    apply_body,
    contract,
    det as det_of,
    inv as inverse_of,
    logdet as logdet_of,
    order_of,
    scale,
    slot,
    tensor_sum,
)
from .distribution import divided, sum_content


def multiple(matrix: Operand) -> tuple[Expr, Operand, bool] | None:
    """Scalar factor, matrix, and whether it is transposed; None if it isn't a multiple.

    A sum is a multiple where its terms have a numeric factor in common.
    """
    if isinstance(matrix, TensorAdd):
        factor = sum_content(matrix)
        return None if factor is S.One else (factor, divided(matrix, factor), False)
    if not isinstance(matrix, View) or matrix.core is None or matrix.core.order != 2:
        return None
    if len(set(matrix.output)) != 2 or set(matrix.output) != set(matrix.subscripts[-1]):
        return None
    return Mul(*matrix.scalars), matrix.core, matrix.output != matrix.subscripts[-1]


def power_on_diagonal(matrix: Operand, exponent: Expr) -> Operand | None:
    """A power of a matrix diag(c v), diag((c v)^k); None for other matrices."""
    if not isinstance(matrix, View) or len(set(matrix.output)) != 1:
        return None
    lengths = {0: matrix.shape[0]}
    factors = [scalar**exponent for scalar in matrix.scalars]
    if matrix.core is not None:
        # Of a matrix its own diagonal.
        entries = contract((matrix.core,), [(0,) * matrix.core.order], (0,), lengths)
        factors.append(apply_body(slot(0) ** slot(1), (entries, exponent)))
    subscripts = [(0,) * order_of(factor) for factor in factors]
    return contract(factors, subscripts, (0, 0), lengths)


def inv_of_view(node: Operand, barriers: Closed) -> Operand | None:
    """inv(c X') = inv(X)' / c, inv(diag(c v)) = diag(1 / (c v))."""
    matrix = node.operands[0]
    found = multiple(matrix)
    if found is not None:
        factor, core, is_transposed = found
        inverse = inverse_of(core)
        return scale(1 / factor, transposed(inverse) if is_transposed else inverse)
    return power_on_diagonal(matrix, S.NegativeOne)


def inv_of_adj(node: Operand, barriers: Closed) -> Operand | None:
    """inv(adj X) = X / det X: there is an inverse."""
    matrix = node.operands[0]
    if not isinstance(matrix, Adj):
        return None
    (X,) = matrix.operands
    return scale(1 / det_of(X), X)


def adj_as_inverse(node: Operand, barriers: Closed) -> Operand | None:
    """adj X = det(X) inv(X), where X is invertible."""
    (X,) = node.operands
    return scale(det_of(X), inverse_of(X))


def cofactors_as_inverse(node: Operand, barriers: Closed) -> Operand | None:
    """cof X = det(X) inv(X)' ∧ inv(X)' ∧ …, where X is invertible."""
    X, order = node.operands[0], node.degree
    if order > tuning.MAX_WRITTEN_COFACTORS:
        return None
    lengths = dict(enumerate(node.shape))
    rows, columns = range(0, 2 * order, 2), range(1, 2 * order, 2)
    terms = []
    for permuted in permutations(columns):
        labels = [(j, i) for i, j in zip(rows, permuted, strict=True)]
        factors = [inverse_of(X)] * order
        product = contract(factors, labels, range(2 * order), lengths)
        terms.append(scale(LeviCivita(*[(j - 1) // 2 for j in permuted]), product))
    return scale(det_of(X), tensor_sum(terms))


def square_factors(matrix: Operand) -> list[Operand] | None:
    """Return the factors of a matrix product if all of them are square matrices."""
    if type(matrix) is not Einsum or len(matrix.operands) < 2:
        return None
    if any(len(set(term)) != 2 for term in matrix.subscripts):
        return None
    start, end = matrix.output
    pending = list(zip(matrix.operands, matrix.subscripts, strict=True))
    factors = []
    label = start
    while pending:
        found = [pair for pair in pending if label in pair[1]]
        if len(found) != 1 or not same_length(*found[0][0].shape):
            return None
        pending.remove(found[0])
        factor, (first, second) = found[0]
        factors.append(factor if first == label else transposed(factor))
        label = second if first == label else first
    return factors if label == end else None


def inv_of_product(node: Operand, barriers: Closed) -> Operand | None:
    """inv(A B) = inv(B) inv(A) [MC, eq. 145]."""
    factors = square_factors(node.operands[0])
    if factors is None:
        return None
    return matrix_product([inverse_of(factor) for factor in reversed(factors)])


def matrix_product(factors: Sequence[Operand]) -> Operand:
    """Return the product of square matrices of one size."""
    labels = [(k, k + 1) for k in range(len(factors))]
    lengths = dict.fromkeys(range(len(factors) + 1), factors[0].shape[0])
    return contract(factors, labels, (0, len(factors)), lengths)


def det_of_view(node: Operand, barriers: Closed) -> Operand | None:
    """det(c X') = c^n det X."""
    found = multiple(node.operands[0])
    return None if found is None else found[0] ** node.operands[0].shape[0] * det_of(found[1])


def det_of_inverse(node: Operand, barriers: Closed) -> Operand | None:
    """det(inv X) = 1 / det X."""
    matrix = node.operands[0]
    return 1 / det_of(matrix.operands[0]) if isinstance(matrix, Inv) else None


def det_of_product(node: Operand, barriers: Closed) -> Operand | None:
    """det(A B) = det A det B for square A, B [MC, eq. 21]."""
    factors = square_factors(node.operands[0])
    result = S.One
    for factor in factors or ():
        result *= det_of(factor)
    return None if factors is None else result


def logdet_of_view(node: Operand, barriers: Closed) -> Operand | None:
    """log|det(c X')| = n log|c| + log|det X|."""
    found = multiple(node.operands[0])
    if found is None:
        return None
    return node.operands[0].shape[0] * log(Abs(found[0])) + logdet_of(found[1])


def logdet_of_inverse(node: Operand, barriers: Closed) -> Operand | None:
    """log|det(inv X)| = -log|det X|."""
    matrix = node.operands[0]
    return -logdet_of(matrix.operands[0]) if isinstance(matrix, Inv) else None


def logdet_of_product(node: Operand, barriers: Closed) -> Operand | None:
    """log|det(A B)| = log|det A| + log|det B| for square A, B [MC, eq. 21]."""
    factors = square_factors(node.operands[0])
    return None if factors is None else sum((logdet_of(f) for f in factors), S.Zero)


def cholesky_of_diagonal(node: Operand, barriers: Closed) -> Operand | None:
    """chol(diag v) = diag(sqrt v)."""
    return power_on_diagonal(node.operands[0], S.Half)


def pinv_of_multiple(node: Operand, barriers: Closed) -> Operand | None:
    """pinv(c X') = pinv(X)' / c, where c isn't 0."""
    found = multiple(node.operands[0])
    if found is None:
        return None
    factor, core, is_transposed = found
    inverse = PseudoInverse.of(core)
    return scale(1 / factor, transposed(inverse) if is_transposed else inverse)


def diagonal_parts(matrix: Operand) -> tuple[Expr, Operand] | None:
    """Return the factor c and the vector v of a matrix diag(c v); None for other matrices."""
    if not isinstance(matrix, View) or matrix.order != 2 or len(set(matrix.output)) != 1:
        return None
    factor = Mul(*matrix.scalars)
    lengths = {0: matrix.shape[0]}
    if matrix.core is None:
        return factor, contract((), (), (0,), lengths)
    return factor, contract((matrix.core,), [(0,) * matrix.core.order], (0,), lengths)


def det_of_diagonal(node: Operand, barriers: Closed) -> Operand | None:
    """det(diag(c v)) = c^n Π v_i."""
    found = diagonal_parts(node.operands[0])
    if found is None:
        return None
    factor, vector = found
    return factor ** vector.shape[0] * _product_of_entries(vector)


def _product_of_entries(vector: TensorExpr) -> Operand:
    """Return the product of a vector's entries; of a few they are written out, as the public
    product of entries writes them."""
    (length,) = vector.shape
    if isinstance(vector, Ones):
        return S.One
    if length.is_Integer and length <= tuning.MAX_WRITTEN_FACTORS:
        units = [Unit(length, k) for k in range(int(length))]
        return Mul(*[contract((vector, unit), ((0,), (0,)), (), {0: length}) for unit in units])
    intervals = IntervalProducts.of(vector)
    size = length + 1
    ends = (Unit(size, S.Zero), Unit(size, length))
    return contract((intervals, *ends), ((0, 1), (0,), (1,)), (), {0: size, 1: size})


def logdet_of_diagonal(node: Operand, barriers: Closed) -> Operand | None:
    """log|det(diag(c v))| = n log|c| + Σ log|v_i|."""
    found = diagonal_parts(node.operands[0])
    if found is None:
        return None
    factor, vector = found
    logarithms = apply_body(LOG, (apply_body(Abs(slot(0)), (vector,)),))
    total = contract((logarithms,), ((0,),), (), {0: vector.shape[0]})
    return vector.shape[0] * log(Abs(factor)) + total
