"""Rules for Kronecker products of two matrices: outer products with their axes merged in pairs.

References
==========

[MN] J. R. Magnus, H. Neudecker, "Matrix Differential Calculus", 2019, §2.2.
"""

from __future__ import annotations

from ..analysis import Barriers, components, inlined_product, transposed
from ..core import same_length
from ..expressions import (
    Einsum,
    MatrixFunction,
    Operand,
    Reshape,
    TensorExpr,
    View,
    contract,
    reshape_node,
    scale,
)
from .matrices import determinant_as_power, is_logarithm, multiple


def kronecker_factors(node: Operand) -> tuple[TensorExpr, TensorExpr] | None:
    """Return the matrices A and B of A ⊗ B; None for what isn't known to be one."""
    if not isinstance(node, Reshape) or node.order != 2 or node.operands[0].order != 4:
        return None
    (pairs,) = node.operands
    if not same_length(node.shape[0], pairs.shape[0] * pairs.shape[1]):
        return None
    product = inlined_product(pairs)
    i, k, j, l = product.output
    first: list[int] = []
    second: list[int] = []
    for part in components(product.subscripts):
        labels = {label for place in part for label in product.subscripts[place]}
        if labels.isdisjoint((k, l)):
            first.extend(part)
        elif labels.isdisjoint((i, j)):
            second.extend(part)
        else:
            return None
    if {i, j} & {k, l}:
        return None
    return product.part(first, (i, j), product.scalars), product.part(second, (k, l))


def _square_factors(node: Operand) -> tuple[TensorExpr, TensorExpr] | None:
    """Return the two Kronecker factors if both are square, else None."""
    found = kronecker_factors(node)
    return found if found and all(same_length(*own.shape) for own in found) else None


def kronecker(A: Operand, B: Operand) -> Operand:
    """Return A ⊗ B."""
    lengths = dict(enumerate((A.shape[0], B.shape[0], A.shape[1], B.shape[1])))
    pairs = contract((A, B), ((0, 2), (1, 3)), range(4), lengths)
    return reshape_node(pairs, [lengths[0] * lengths[1], lengths[2] * lengths[3]])


def transpose_of_product(node: View, barriers: Barriers) -> Operand | None:
    """(A ⊗ B)' = A' ⊗ B'."""
    found = multiple(node)
    if found is None or not found[2]:
        return None
    factors = kronecker_factors(found[1])
    return None if factors is None else scale(found[0], kronecker(*map(transposed, factors)))


def trace_of_product(node: Einsum, barriers: Barriers) -> Operand | None:
    """tr(A ⊗ B) = tr A tr B."""
    if len(node.operands) != 1 or node.subscripts != ((0, 0),):
        return None
    factors = _square_factors(node.operands[0])
    if factors is None:
        return None
    A, B = (contract((own,), ((0, 0),), (), {0: own.shape[0]}) for own in factors)
    return A * B


def function_of_product(node: MatrixFunction, barriers: Barriers) -> Operand | None:
    """f(A ⊗ B) = f(A) ⊗ f(B) for inverses, where A and B have one, and pseudoinverses."""
    factors = kronecker_factors(node.operands[0])
    if factors is None or (node.keeps_shape and not _square_factors(node.operands[0])):
        return None
    return kronecker(*[node._build((own,), ()) for own in factors])


def determinant_of_kronecker(node: Operand, barriers: Barriers) -> Operand | None:
    """det(A ⊗ B) = det(A)^q det(B)^p for A of size p and B of size q, log|det(A ⊗ B)| = q log|det
    A| + p log|det B|."""
    factors = _square_factors(node.operands[0])
    if factors is None:
        return None
    A, B = factors
    first = determinant_as_power(node, A, B.shape[0])
    second = determinant_as_power(node, B, A.shape[0])
    return first + second if is_logarithm(node) else first * second
