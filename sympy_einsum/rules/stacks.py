"""Rules for the matrices along the last two axes of a tensor: those of matrices.py and inverses.py,
with the labels of the other axes, the stack, on every factor that has them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from typing import NamedTuple

from sympy import Abs, Expr, LeviCivita, S, log

from ..analysis import Closed, inlined_product
from ..core import same_length, tuning
from ..expressions import (
    Adj,
    AdjStack,
    Cofactors,
    CofactorStack,
    DetStack,
    Einsum,
    Expm,
    InvStack,
    LogDetStack,
    MatrixPower,
    Operand,
    TensorAdd,
    View,
    apply_body,
    contract_part,
    det,
    inv,
    logdet,
    matrix_power,
    order_of,
    slot,
    tensor_sum,
)
from .distribution import divided, sum_content
from .matrices import adj_as_inverse, cofactors_as_inverse
from .matrix_powers import det_of_exponential, inv_of_exponential, logdet_of_exponential
from .rewriting import Rule, any_of

# A tensor, or a scalar, and the labels of its axes.
Labelled = tuple[Operand, tuple[int, ...]]


class Chain(NamedTuple):
    """A stack of matrices as a product of stacks of square matrices and of weights.

    Attributes
    ==========

    weights : the factors that each matrix is multiplied by
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
        """A function of each of the weights and of other scalars."""
        return [(apply_body(body, (own, *others)), labels) for own, labels in self.weights]


def chain_of(matrices: Operand) -> Chain | None:
    """A stack of matrices as a product of others; None if it is no such product."""
    if isinstance(matrices, TensorAdd):
        factor = sum_content(matrices)
        *stack, row, column = axes = tuple(range(matrices.order))
        terms = [(divided(matrices, factor), axes)]
        whole = Chain(
            [(factor, ())], terms, (*stack,), row, column, dict(enumerate(matrices.shape))
        )
        return None if factor is S.One else whole
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


def _is_connected(factors: Sequence[Labelled], start: int) -> bool:
    """Tell whether the factors are one path from a label, and no cycles beside it."""
    reached, pending = {start}, [labels[-2:] for _, labels in factors]
    while found := [pair for pair in pending if not reached.isdisjoint(pair)]:
        pending = [pair for pair in pending if reached.isdisjoint(pair)]
        reached.update(*found)
    return not pending


def _inverse(chain: Chain) -> Operand:
    """inv(w A B) = inv(B) inv(A) / w: rows and columns change places."""
    terms = chain.weighted(1 / slot(0))
    for own, (*stack, row, column) in chain.factors:
        terms.append((inv(own), (*stack, column, row)))
    return chain.product(terms, (*chain.stack, chain.column, chain.row))


def inv_of_multiple(node: InvStack, barriers: Closed) -> Operand | None:
    """inv(c_q X_q') = inv(X_q)' / c_q, inv(diag(v_q)) = diag(1 / v_q)."""
    matrices = node.operands[0]
    chain = chain_of(matrices)
    if chain is not None:
        return _inverse(chain) if len(chain.factors) == 1 else None
    diagonal = _diagonal(matrices)
    return None if diagonal is None else _embed_on_stack(apply_body(1 / slot(0), (diagonal,)))


def _diagonal(matrices: Operand) -> Operand | None:
    """Return the diagonals of a stack of diagonal matrices, else None."""
    if not isinstance(matrices, View):
        return None
    *stack, row, column = matrices.output
    if row != column or len({*stack, row}) <= len(stack):
        return None
    axes = range(matrices.order - 1)
    lengths = dict(enumerate(matrices.shape[:-1]))
    return contract_part((matrices,), ((*axes, axes[-1]),), axes, lengths)


def _embed_on_stack(vectors: Operand) -> Operand:
    axes = range(order_of(vectors))
    return contract_part((vectors,), (axes,), (*axes, axes[-1]), dict(enumerate(vectors.shape)))


def inv_of_product(node: InvStack, barriers: Closed) -> Operand | None:
    """inv(A_q B_q) = inv(B_q) inv(A_q)."""
    chain = chain_of(node.operands[0])
    return None if chain is None else _inverse(chain)


def inv_of_inner(node: InvStack, barriers: Closed) -> Operand | None:
    """inv(adj X_q) = X_q / det X_q, inv(X_q^k) = X_q^-k."""
    (inner,) = node.operands
    if isinstance(inner, AdjStack):
        return _times(apply_body(1 / slot(0), (det(inner.operands[0]),)), inner.operands[0])
    if isinstance(inner, MatrixPower) and len(inner.operands) == 1:
        return matrix_power(inner.operands[0], -inner.exponent)
    return None


def _times(weights: Operand, tensor: Operand) -> Operand:
    """A tensor with each of its first axes' entries multiplied by a weight."""
    axes = range(order_of(tensor))
    labels = axes[: order_of(weights)]
    return contract_part((weights, tensor), (labels, axes), axes, dict(enumerate(tensor.shape)))


def power_of_multiple(node: MatrixPower, barriers: Closed) -> Operand | None:
    """(c_q X_q')^k = c_q^k (X_q^k)', diag(v_q)^k = diag(v_q^k)."""
    matrices = node.operands[0]
    if matrices.order == 2 or len(node.operands) > 1:
        return None
    chain, diagonal = chain_of(matrices), _diagonal(matrices)
    if diagonal is not None:
        return _embed_on_stack(apply_body(slot(0) ** slot(1), (diagonal, node.exponent)))
    if chain is None or len(chain.factors) > 1:
        return None
    terms = chain.weighted(slot(0) ** slot(1), node.exponent)
    terms += [(matrix_power(own, node.exponent), labels) for own, labels in chain.factors]
    return chain.product(terms, (*chain.stack, chain.row, chain.column))


def det_of_product(node: DetStack, barriers: Closed) -> Operand | None:
    """det(c_q A_q B_q) = c_q^n det A_q det B_q, det(inv X_q) = 1 / det X_q, det(X_q^k) = det^k."""
    (matrices,) = node.operands
    if type(node) is not DetStack:
        return None
    if isinstance(matrices, InvStack):
        return apply_body(1 / slot(0), (det(matrices.operands[0]),))
    if isinstance(matrices, MatrixPower) and len(matrices.operands) == 1:
        return apply_body(slot(0) ** slot(1), (det(matrices.operands[0]), matrices.exponent))
    chain = chain_of(matrices)
    if chain is None:
        return None
    terms = chain.weighted(slot(0) ** slot(1), matrices.shape[-1])
    terms += [(det(own), labels[:-2]) for own, labels in chain.factors]
    return chain.product(terms, chain.stack)


def logdet_of_product(node: LogDetStack, barriers: Closed) -> Operand | None:
    """log|det(c_q A_q B_q)| = n log|c_q| + log|det A_q| + log|det B_q|; log|det inv X_q| and
    log|det X_q^k| are multiples of log|det X_q|."""
    (matrices,) = node.operands
    if isinstance(matrices, InvStack):
        return _times_number(S.NegativeOne, logdet(matrices.operands[0]))
    if isinstance(matrices, MatrixPower) and len(matrices.operands) == 1:
        return _times_number(matrices.exponent, logdet(matrices.operands[0]))
    chain = chain_of(matrices)
    if chain is None:
        return None
    terms = chain.weighted(slot(1) * log(Abs(slot(0))), matrices.shape[-1])
    terms += [(logdet(own), labels[:-2]) for own, labels in chain.factors]
    return tensor_sum([chain.product([term], chain.stack) for term in terms])


def _times_number(number: Operand, tensor: Operand) -> Operand:
    axes = range(order_of(tensor))
    return contract_part((number, tensor), ((), axes), axes, dict(enumerate(tensor.shape)))


# --- where matrices with an adjugate have an inverse


def adj_of_stack(node: AdjStack, barriers: Closed) -> Operand | None:
    """adj X_q = det(X_q) inv(X_q)."""
    (matrices,) = node.operands
    return _times(det(matrices), inv(matrices))


def cofactors_of_stack(node: CofactorStack, barriers: Closed) -> Operand | None:
    """cof X_q = det(X_q) inv(X_q)' ∧ inv(X_q)' ∧ …."""
    (matrices,) = node.operands
    if node.degree > tuning.MAX_WRITTEN_COFACTORS:
        return None
    axes = range(node.order)
    stack, pairs = axes[: matrices.order - 2], axes[matrices.order - 2 :]
    rows, columns = pairs[::2], pairs[1::2]
    inverse, lengths = inv(matrices), dict(enumerate(node.shape))
    terms = []
    for permuted in permutations(range(node.degree)):
        labels = [(*stack, columns[j], row) for row, j in zip(rows, permuted, strict=True)]
        factors = [LeviCivita(*permuted), det(matrices), *[inverse] * node.degree]
        terms.append(contract_part(factors, [(), stack, *labels], axes, lengths))
    return tensor_sum(terms)


STACKS: dict[type, tuple[Rule, ...]] = {
    MatrixPower: (
        Rule(
            "powers of multiples",
            "matrix_power(2*F, p) = 2**p*matrix_power(F, p)",
            power_of_multiple,
            any_of(View, Einsum, TensorAdd),
        ),
    ),
    InvStack: (
        Rule(
            "inverses of multiples",
            "inv(2*F) = inv(F)/2",
            inv_of_multiple,
            any_of(View, Einsum, TensorAdd),
        ),
        Rule(
            "inverses of exponentials",
            "inv(expm(F)) = expm(-F)",
            inv_of_exponential,
            any_of(Expm),
        ),
        Rule(
            "inverses of functions", "inv(adj(F)) = einsum('i,ijk->ijk', 1/det(F), F)", inv_of_inner
        ),
    ),
    DetStack: (
        Rule(
            "determinants of exponentials",
            "det(expm(F)) = exp(trace(F, axis1=1, axis2=2))",
            det_of_exponential,
            any_of(Expm),
        ),
        Rule("determinants of products", "det(F @ G) = det(F)*det(G)", det_of_product),
    ),
    LogDetStack: (
        Rule(
            "determinants of exponentials",
            "logdet(expm(F)) = trace(F, axis1=1, axis2=2)",
            logdet_of_exponential,
            any_of(Expm),
        ),
        Rule(
            "determinants of products", "logdet(F @ G) = logdet(F) + logdet(G)", logdet_of_product
        ),
    ),
}
# Where matrices with an adjugate have an inverse.
WITH_INVERSES: dict[type, tuple[Rule, ...]] = {
    InvStack: (
        *STACKS[InvStack],
        Rule("inverses of products", "inv(F @ G) = inv(G) @ inv(F)", inv_of_product),
    ),
    Adj: (Rule("adjugate", "adj(A) = det(A)*inv(A)", adj_as_inverse),),
    Cofactors: (
        Rule(
            "cofactors",
            "cofactors(A, 2) = "
            "det(A)*einsum('ba,dc->abcd', inv(A), inv(A))"
            " - det(A)*einsum('da,bc->abcd', inv(A), inv(A))",
            cofactors_as_inverse,
        ),
    ),
    AdjStack: (
        Rule(
            "adjugates",
            "adj(F) = einsum('i,ijk->ijk', det(F), inv(F))",
            adj_of_stack,
        ),
    ),
    CofactorStack: (
        Rule(
            "cofactors",
            "cofactors(F, 2) = einsum('i,iba,idc->iabcd', det(F), inv(F), inv(F))"
            " - einsum('i,ida,ibc->iabcd', det(F), inv(F), inv(F))",
            cofactors_of_stack,
        ),
    ),
}
