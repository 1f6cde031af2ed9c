"""Rules for inverses, adjugates and determinants of matrices along the last two axes of a tensor; X
is square, and invertible where its inverse stands on either side.

A stack of matrices X_q has further axes q before these, and a matrix alone none: the labels of the
stack are on every factor that has them.

References
==========

[MC] K. B. Petersen, M. S. Pedersen, "The Matrix Cookbook", 2012.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import NamedTuple

from sympy import Abs, Expr, LeviCivita, Mul, S, log

from ..analysis import Barriers, Product, inlined_product, transposed
from ..core import same_length, tuning
from ..expressions import (
    LOG,
    Adj,
    AdjStack,
    Einsum,
    IntervalProducts,
    Inv,
    InvStack,
    LogDet,
    LogDetStack,
    MatrixPower,
    Ones,
    Operand,
    PseudoInverse,
    TensorAdd,
    TensorExpr,
    Triangle,
    Unit,
    View,
    Zeros,
    apply_body,
    contract,
    contract_part,
    det,
    inv,
    logdet,
    matrix_power,
    order_of,
    scale,
    slot,
    tensor_sum,
    total_of,
)
from .distribution import divided, sum_content

# A tensor, or a scalar, and the labels of its axes.
Labelled = tuple[Operand, tuple[int, ...]]


# --- matrices made of others ----------------------------------------------------------------------


def multiple(matrix: Operand) -> tuple[Expr, Operand, bool] | None:
    """Scalar factor, matrix, and whether it is transposed; None if it isn't a multiple.

    A sum is a multiple where its terms have a numeric factor in common.
    """
    if isinstance(matrix, TensorAdd):
        factor = sum_content(matrix)
        return None if factor is S.One else (factor, divided(matrix, factor), False)
    if not isinstance(matrix, View) or matrix.core is None:
        return None
    if matrix.order != 2 or matrix.core.order != 2:
        return None
    if len(set(matrix.output)) != 2 or set(matrix.output) != set(matrix.subscripts[-1]):
        return None
    return Mul(*matrix.scalars), matrix.core, matrix.output != matrix.subscripts[-1]


def multiple_chain(matrices: Operand) -> Chain | None:
    """Return multiples of a matrix or its transpose, or of those of a stack, as a chain of one
    factor; None for others."""
    if matrices.order > 2:
        chain = chain_of(matrices)
        return chain if chain is not None and len(chain.factors) == 1 else None
    found = multiple(matrices)
    if found is None:
        return None
    factor, core, is_transposed = found
    labels = (1, 0) if is_transposed else (0, 1)
    return Chain([(factor, ())], [(core, labels)], (), 0, 1, dict(enumerate(matrices.shape)))


class Chain(NamedTuple):
    """Matrices as a product of square matrices and of weights.

    Attributes
    ==========

    weights : the scalar factors of each matrix
    factors : the matrices, whose last two labels are those of their rows and columns
    stack, row, column : the labels of the product
    lengths : the length of each label
    """

    weights: list[Labelled]
    factors: list[Labelled]
    stack: tuple[int, ...]
    row: int
    column: int
    lengths: dict[int, Expr]

    def product(self, terms: Sequence[Labelled], output: Sequence[int]) -> Operand:
        """Return the product of factors and weights."""
        operands, labels = [own for own, _ in terms], [own for _, own in terms]
        return contract_part(operands, labels, output, self.lengths)

    def weighted(self, body: Expr, *others: Expr) -> list[Labelled]:
        """Return a function of each of the weights and of other scalars."""
        return [(apply_body(body, (own, *others)), labels) for own, labels in self.weights]


def chain_of(matrices: Operand) -> Chain | None:
    """Return matrices as a product of others; None if they are no such product.

    Of a matrix alone a product has no scalar factors: it is a multiple, and what is in its factors
    stays there.
    """
    if matrices.order == 2:
        square = square_factors(matrices)
        return None if square is None else _chain_of_factors(square)
    if isinstance(matrices, TensorAdd):
        factor = sum_content(matrices)
        if factor is S.One:
            return None
        *stack, row, column = axes = tuple(range(matrices.order))
        whole, lengths = [(divided(matrices, factor), axes)], dict(enumerate(matrices.shape))
        return Chain([(factor, ())], whole, (*stack,), row, column, lengths)
    product = inlined_product(matrices)
    *stack, row, column = product.output
    if len({*product.output}) < len(product.output):
        return None
    weights: list[Labelled] = [(own, ()) for own in product.scalars]
    factors: list[Labelled] = []
    uses: Counter[int] = Counter()
    for operand, labels in zip(product.operands, product.subscripts, strict=True):
        inner = [i for i in labels if i not in stack]
        if not inner and len({*labels}) == len(labels):
            weights.append((operand, labels))
            continue
        own = (*[i for i in labels if i in stack], *inner)
        if len({*inner}) != 2 or len({*labels}) < len(labels):
            return None
        if not same_length(*[product.lengths[i] for i in inner]):
            return None
        factors.append((contract_part((operand,), (labels,), own, product.lengths), own))
        uses.update(inner)
    ends = all(uses[i] == (1 if i in (row, column) else 2) for i in {*uses, row, column})
    is_whole = factors == [(matrices, product.output)] and not weights
    if not ends or not factors or is_whole or not _is_connected(factors, row):
        return None
    return Chain(weights, factors, tuple(stack), row, column, product.lengths)


def _chain_of_factors(matrices: Sequence[Operand]) -> Chain:
    """Return the product of square matrices of one size."""
    count = len(matrices)
    factors: list[Labelled] = [(own, (k, k + 1)) for k, own in enumerate(matrices)]
    lengths = dict.fromkeys(range(count + 1), matrices[0].shape[0])
    return Chain([], factors, (), 0, count, lengths)


def _is_connected(factors: Sequence[Labelled], start: int) -> bool:
    """Tell whether the factors are one path from a label, and no cycles beside it."""
    reached, pending = {start}, [labels[-2:] for _, labels in factors]
    while found := [pair for pair in pending if not reached.isdisjoint(pair)]:
        pending = [pair for pair in pending if reached.isdisjoint(pair)]
        reached.update(*found)
    return not pending


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


def product_of_matrices(matrices: Sequence[Operand]) -> Operand:
    """Return the product of square matrices of one size."""
    chain = _chain_of_factors(matrices)
    return chain.product(chain.factors, (chain.row, chain.column))


def power_on_diagonal(matrices: Operand, exponent: Expr) -> Operand | None:
    """Return the power diag((c v)^k) of diagonal matrices diag(c v); None for others."""
    found = diagonal_parts(matrices)
    if found is None:
        return None
    factor, vectors = found
    powers = apply_body(slot(0) ** slot(1), (vectors, exponent))
    return scale(factor**exponent, embedded_diagonal(powers))


def embedded_diagonal(vectors: TensorExpr) -> Operand:
    """Return diagonal matrices."""
    axes = tuple(range(vectors.order))
    return contract((vectors,), (axes,), (*axes, axes[-1]), dict(enumerate(vectors.shape)))


def _times(weights: Operand, tensor: Operand) -> Operand:
    """Return a tensor with each of its first axes' entries multiplied by a weight."""
    axes = range(order_of(tensor))
    labels = axes[: order_of(weights)]
    return contract_part((weights, tensor), (labels, axes), axes, dict(enumerate(tensor.shape)))


# --- inverses and adjugates -----------------------------------------------------------------------


def _inverse(chain: Chain) -> Operand:
    """inv(w A B) = inv(B) inv(A) / w: rows and columns change places."""
    terms = chain.weighted(1 / slot(0))
    for own, (*stack, row, column) in chain.factors:
        terms.append((inv(own), (*stack, column, row)))
    return chain.product(terms, (*chain.stack, chain.column, chain.row))


def inv_of_multiple(node: Operand, barriers: Barriers) -> Operand | None:
    """inv(c X') = inv(X)' / c, inv(diag(v)) = diag(1 / v)."""
    (matrices,) = node.operands
    chain = multiple_chain(matrices)
    return power_on_diagonal(matrices, S.NegativeOne) if chain is None else _inverse(chain)


def inv_of_product(node: Operand, barriers: Barriers) -> Operand | None:
    """inv(A B) = inv(B) inv(A) [MC, eq. 145]."""
    chain = chain_of(node.operands[0])
    return None if chain is None else _inverse(chain)


def inv_of_adj(node: Operand, barriers: Barriers) -> Operand | None:
    """inv(adj X) = X / det X: there is an inverse."""
    (matrices,) = node.operands
    if not isinstance(matrices, (Adj, AdjStack)):
        return None
    (X,) = matrices.operands
    return _times(apply_body(1 / slot(0), (det(X),)), X)


def adj_as_inverse(node: Operand, barriers: Barriers) -> Operand | None:
    """adj X = det(X) inv(X), where X is invertible."""
    (X,) = node.operands
    return _times(det(X), inv(X))


def cofactors_as_inverse(node: Operand, barriers: Barriers) -> Operand | None:
    """cof X = det(X) inv(X)' ∧ inv(X)' ∧ …, where X is invertible."""
    (X,), count = node.operands, node.degree
    if count > tuning.MAX_WRITTEN_COFACTORS:
        return None
    axes = range(node.order)
    stack, pairs = axes[: X.order - 2], axes[X.order - 2 :]
    rows, columns = pairs[::2], pairs[1::2]
    factors, lengths = [inv(X)] * count, dict(enumerate(node.shape))
    terms = []
    for permuted in permutations(range(count)):
        labels = [(*stack, columns[j], row) for row, j in zip(rows, permuted, strict=True)]
        terms.append(scale(LeviCivita(*permuted), contract(factors, labels, axes, lengths)))
    return _times(det(X), tensor_sum(terms))


def pinv_of_multiple(node: Operand, barriers: Barriers) -> Operand | None:
    """pinv(c X') = pinv(X)' / c, where c isn't 0."""
    found = multiple(node.operands[0])
    if found is None:
        return None
    factor, core, is_transposed = found
    inverse = PseudoInverse.of(core)
    return scale(1 / factor, transposed(inverse) if is_transposed else inverse)


def cholesky_of_diagonal(node: Operand, barriers: Barriers) -> Operand | None:
    """chol(diag v) = diag(sqrt v)."""
    return power_on_diagonal(node.operands[0], S.Half)


def symbolic_power(matrices: Operand) -> tuple[Operand, Operand] | None:
    """Return base and exponent of a symbolic power of matrices, which isn't a derivative."""
    if not isinstance(matrices, MatrixPower) or len(matrices.operands) > 1:
        return None
    return matrices.operands[0], matrices.exponent


def power_of_multiple(node: MatrixPower, barriers: Barriers) -> Operand | None:
    """(c X')^k = c^k (X^k)', diag(c v)^k = diag((c v)^k)."""
    return None if node.order > 2 else _power_of_multiple(node)


def powers_of_multiples(node: MatrixPower, barriers: Barriers) -> Operand | None:
    """(c_q X_q')^k = c_q^k (X_q^k)', diag(v_q)^k = diag(v_q^k)."""
    return _power_of_multiple(node) if node.order > 2 else None


def _power_of_multiple(node: MatrixPower) -> Operand | None:
    known = symbolic_power(node)
    if known is None:
        return None
    matrices, exponent = known
    chain = multiple_chain(matrices)
    if chain is None:
        return power_on_diagonal(matrices, exponent)
    terms = chain.weighted(slot(0) ** slot(1), exponent)
    terms += [(matrix_power(own, exponent), labels) for own, labels in chain.factors]
    return chain.product(terms, (*chain.stack, chain.row, chain.column))


# --- determinants ---------------------------------------------------------------------------------


# Each rule is one for det, and one for log|det|, by what the node is.


def is_logarithm(node: Operand) -> bool:
    """Tell whether a determinant is log|det|."""
    return isinstance(node, (LogDet, LogDetStack))


def determinant_as_power(node: Operand, matrices: Operand, exponent: Operand) -> Operand:
    """Return det(X)^k, or k log|det X|, for other matrices X than the node's."""
    if is_logarithm(node):
        return scale(exponent, logdet(matrices))
    return apply_body(slot(0) ** slot(1), (det(matrices), exponent))


def _of_chain(node: Operand, chain: Chain | None) -> Operand | None:
    """det(w A B) = w^n det A det B, log|det(w A B)| = n log|w| + log|det A| + log|det B| [MC, eq.
    21]."""
    if chain is None:
        return None
    size, is_sum = chain.lengths[chain.row], is_logarithm(node)
    function = logdet if is_sum else det
    body = slot(1) * log(Abs(slot(0))) if is_sum else slot(0) ** slot(1)
    terms = chain.weighted(body, size)
    terms += [(function(own), labels[:-2]) for own, labels in chain.factors]
    if is_sum:
        return total_of([chain.product([term], chain.stack) for term in terms])
    return chain.product(terms, chain.stack)


def determinant_of_multiple(node: Operand, barriers: Barriers) -> Operand | None:
    """det(c X') = c^n det X."""
    return _of_chain(node, multiple_chain(node.operands[0]))


def determinant_of_product(node: Operand, barriers: Barriers) -> Operand | None:
    """det(A B) = det A det B for square A, B."""
    return _of_chain(node, chain_of(node.operands[0]))


def determinant_of_power(node: Operand, barriers: Barriers) -> Operand | None:
    """det(X^k) = det(X)^k."""
    power = symbolic_power(node.operands[0])
    return None if power is None else determinant_as_power(node, *power)


def determinant_of_inverse(node: Operand, barriers: Barriers) -> Operand | None:
    """det(inv X) = 1 / det X."""
    (matrices,) = node.operands
    if not isinstance(matrices, (Inv, InvStack)):
        return None
    return determinant_as_power(node, matrices.operands[0], S.NegativeOne)


def diagonal_parts(matrices: Operand) -> tuple[Expr, TensorExpr] | None:
    """Return the factor c and the vectors v of matrices diag(c v); None for others."""
    if not isinstance(matrices, View):
        return None
    *stack, row, column = matrices.output
    if row != column or len({*stack, row}) <= len(stack):
        return None
    factor, labels = Mul(*matrices.scalars), (*stack, row)
    lengths = dict(zip(labels, matrices.shape[:-1], strict=True))
    if matrices.core is None:
        return factor, contract((), (), labels, lengths)
    return factor, contract((matrices.core,), matrices.subscripts[-1:], labels, lengths)


def determinant_of_diagonal(node: Operand, barriers: Barriers) -> Operand | None:
    """det(diag(c v)) = c^n Π v_i, log|det(diag(c v))| = n log|c| + Σ log|v_i|."""
    found = diagonal_parts(node.operands[0])
    if found is None:
        return None
    factor, vectors = found
    size = vectors.shape[-1]
    if not is_logarithm(node):
        return scale(factor**size, _product_of_entries(vectors))
    axes, lengths = tuple(range(vectors.order)), dict(enumerate(vectors.shape))
    spread = contract((size * log(Abs(factor)),), ((),), axes[:-1], lengths)
    return total_of([_sum_of_logarithms(vectors), spread])


def determinant_of_triangle(node: Operand, barriers: Barriers) -> Operand | None:
    """det(T) = Π T_ii, log|det(T)| = Σ log|T_ii| of triangular matrices."""
    vectors = _diagonal_of_triangle(node.operands[0])
    if vectors is None:
        return None
    return _sum_of_logarithms(vectors) if is_logarithm(node) else _product_of_entries(vectors)


def _diagonal_of_triangle(matrices: Operand) -> TensorExpr | None:
    """Return the diagonal of matrices of which each term has a triangular factor on one side; None
    of others, and where it is 0."""
    terms = matrices.operands if isinstance(matrices, TensorAdd) else (matrices,)
    products = [inlined_product(term) for term in terms]
    if not set.intersection(*map(_sides_with_entries, products)):
        return None
    vectors = tensor_sum([_diagonal_of(product) for product in products])
    return None if isinstance(vectors, Zeros) else vectors


def _diagonal_of(product: Product) -> Operand:
    rows, columns = product.output[-2:]
    subscripts = [tuple([rows if i == columns else i for i in own]) for own in product.subscripts]
    return replace(product, subscripts=tuple(subscripts), output=product.output[:-1]).build()


def _sides_with_entries(product: Product) -> set[bool]:
    """Return True if matrices are upper triangular by one of their factors, False if lower."""
    rows, columns = ends = product.output[-2:]
    if rows == columns:
        return {True, False}
    triangles = [
        labels
        for operand, labels in zip(product.operands, product.subscripts, strict=True)
        if isinstance(operand, Triangle) and operand.offset.is_nonnegative
    ]
    return {labels == ends for labels in triangles if labels in (ends, ends[::-1])}


def _product_of_entries(vectors: TensorExpr) -> Operand:
    """Return the product of each vector's entries; of a few they are written out, as the public
    product of entries writes them."""
    *stack, length = vectors.shape
    axes = tuple(range(vectors.order))
    if isinstance(vectors, Ones):
        return contract((), (), axes[:-1], dict(enumerate(stack)))
    if length.is_Integer and length <= tuning.MAX_WRITTEN_FACTORS:
        lengths = dict(enumerate(vectors.shape))
        units = [Unit(length, k) for k in range(int(length))]
        entries = [contract((vectors, u), (axes, axes[-1:]), axes[:-1], lengths) for u in units]
        return apply_body(Mul(*[slot(k) for k in range(len(entries))]), tuple(entries))
    intervals = IntervalProducts.of(vectors)
    size = length + 1
    ends = (Unit(size, S.Zero), Unit(size, length))
    first, last = axes[-1], len(axes)
    subscripts = ((*axes, last), (first,), (last,))
    lengths = dict(enumerate((*stack, size, size)))
    return contract((intervals, *ends), subscripts, axes[:-1], lengths)


def _sum_of_logarithms(vectors: TensorExpr) -> Operand:
    """Return the sum of the logarithms of the absolute values of each vector's entries."""
    axes, lengths = tuple(range(vectors.order)), dict(enumerate(vectors.shape))
    logarithms = apply_body(LOG, (apply_body(Abs(slot(0)), (vectors,)),))
    return contract((logarithms,), (axes,), axes[:-1], lengths)
