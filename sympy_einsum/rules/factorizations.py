"""Rules for the factors of a Cholesky, eigenvalue, singular value or QR decomposition in a product:
those that give the matrix again, or the identity [GV].

Where a matrix isn't known to be symmetric, the derivative by it would be another one.

[GV] G. H. Golub, C. F. Van Loan, Matrix Computations, 4th edition, Johns Hopkins 2013, sections
    2.4, 4.2, 5.2 and 8.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from sympy import S, log

from ..analysis import Barriers, Product, inlined_product, is_symmetric
from ..core import same_length
from ..expressions import (
    Cholesky,
    Delta,
    EigenValues,
    EigenVectors,
    Einsum,
    Elementwise,
    Inv,
    InvStack,
    LeftVectors,
    Operand,
    QFactor,
    RFactor,
    RightVectors,
    SingularValues,
    StackFunction,
    TensorExpr,
    Triangle,
    View,
    inline_products,
    inv,
    logdet,
    scale,
    slot,
)
from .matrices import determinant_as_power

# Indices of an identity: those of the stack, the one that is summed, and the two that stay.
STACK, SUMMED, ROW, COLUMN = range(4)


def mask_of_factor(node: Operand, barriers: Barriers) -> Operand | None:
    """Replace the mask of the wrong triangle of a triangular factor, or of its inverse, by the
    identity, that of its own triangle by ones: [i ≤ j] L_ij = δ_ij L_ij, [i ≤ j] R_ij = R_ij."""
    product = inlined_product(node, barriers)
    pairs = list(zip(product.operands, product.subscripts, strict=True))
    for t, (mask, ends) in enumerate(pairs):
        if not isinstance(mask, Triangle) or not mask.offset.is_zero:
            continue
        for operand, labels in pairs:
            factor = operand.operands[0] if isinstance(operand, (Inv, InvStack)) else operand
            if not isinstance(factor, (Cholesky, RFactor)) or {*labels[-2:]} != {*ends}:
                continue
            if (labels[-2:] == ends) == isinstance(factor, RFactor):
                return product.replaced({t}).build()
            if same_length(*mask.shape):
                return product.replaced({t}, [(Delta(mask.shape[0]), ends)]).build()
    return None


class _Identity(NamedTuple):
    """A product of factors of one matrix, which is the matrix, its inverse, or the identity."""

    factors: tuple[tuple[type[StackFunction], tuple[int, ...]], ...]
    is_identity: bool = False
    is_inverse: bool = False


IDENTITIES = (
    _Identity(((Cholesky, (ROW, SUMMED)), (Cholesky, (COLUMN, SUMMED)))),
    _Identity(((Cholesky, (SUMMED, ROW)), (Cholesky, (SUMMED, COLUMN))), is_inverse=True),
    _Identity(((EigenVectors, (SUMMED, ROW)), (EigenVectors, (SUMMED, COLUMN))), True),
    _Identity(((EigenVectors, (ROW, SUMMED)), (EigenVectors, (COLUMN, SUMMED))), True),
    _Identity(
        (
            (EigenVectors, (ROW, SUMMED)),
            (EigenValues, (SUMMED,)),
            (EigenVectors, (COLUMN, SUMMED)),
        )
    ),
    _Identity(((LeftVectors, (SUMMED, ROW)), (LeftVectors, (SUMMED, COLUMN))), True),
    _Identity(((RightVectors, (ROW, SUMMED)), (RightVectors, (COLUMN, SUMMED))), True),
    _Identity(
        (
            (LeftVectors, (ROW, SUMMED)),
            (SingularValues, (SUMMED,)),
            (RightVectors, (SUMMED, COLUMN)),
        )
    ),
    _Identity(((QFactor, (SUMMED, ROW)), (QFactor, (SUMMED, COLUMN))), True),
    _Identity(((QFactor, (ROW, SUMMED)), (RFactor, (SUMMED, COLUMN)))),
)
KINDS = tuple({kind for identity in IDENTITIES for kind, _ in identity.factors})


class _MatrixFactor(NamedTuple):
    """A factor of the decomposition of some matrices, or its inverse."""

    kind: type
    is_inverse: bool
    matrices: TensorExpr


def join_factors(node: Operand, barriers: Barriers) -> Operand | None:
    """L L' = S, L'⁻¹ L⁻¹ = S⁻¹, V diag(w) V' = S, U diag(s) V' = X, Q R = X, Q'Q = I and others."""
    product = _opened(node, barriers)
    factors = [_factor(operand) for operand in product.operands]
    for matrices in {own.matrices: None for own in factors if own is not None}:
        for identity in IDENTITIES:
            for used, found in _places(identity, matrices, factors, product):
                summed = {*found[SUMMED]}
                ends = (*found[ROW], *found[COLUMN])
                if summed & {*ends, *found[STACK]} or not product.is_private(summed, used):
                    continue
                if identity.is_identity:
                    new = (Delta(product.lengths[ends[0]]), ends)
                else:
                    value = inv(matrices) if identity.is_inverse else matrices
                    new = (value, (*found[STACK], *ends))
                return product.replaced(used, [new], absorbed=summed).build()
    return None


def _opened(node: Operand, barriers: Barriers) -> Product:
    """Return a product in which products with factors are inlined also where they occur twice, as
    in (L⁻¹ y)·(L⁻¹ y)."""
    product = inlined_product(node, barriers)
    if len({*product.operands}) == len(product.operands):
        return product
    operands, subscripts, lengths = inline_products(
        product.operands,
        product.subscripts,
        product.lengths,
        lambda own, _: type(own) is Einsum and any(map(_factor, own.operands)),
    )
    return replace(product, operands=tuple(operands), subscripts=tuple(subscripts), lengths=lengths)


def _factor(operand: Operand) -> _MatrixFactor | None:
    """Return what an operand is a factor of; None where an identity wouldn't hold."""
    is_inverse = isinstance(operand, (Inv, InvStack))
    own = operand.operands[0] if is_inverse else operand
    if not isinstance(own, KINDS):
        return None
    (matrices,) = own.operands
    holds = is_symmetric(matrices) or not own.is_of_symmetric
    return _MatrixFactor(type(own), is_inverse, matrices) if holds else None


def _places(
    identity: _Identity,
    matrices: TensorExpr,
    factors: Sequence[_MatrixFactor | None],
    product: Product,
    used: tuple[int, ...] = (),
    found: Mapping[int, tuple[int, ...]] = MappingProxyType({}),
) -> Iterator[tuple[tuple[int, ...], Mapping[int, tuple[int, ...]]]]:
    """Yield the ways to find the factors of an identity in a product: their places, and the labels
    of its indices."""
    if len(used) == len(identity.factors):
        yield used, found
        return
    kind, indices = identity.factors[len(used)]
    for k, factor in enumerate(factors):
        if k in used or factor != (kind, identity.is_inverse, matrices):
            continue
        labels = product.subscripts[k]
        own = {STACK: labels[: -len(indices)]}
        own |= {
            index: (label,) for index, label in zip(indices, labels[-len(indices) :], strict=True)
        }
        if all(found.get(index, label) == label for index, label in own.items()):
            yield from _places(identity, matrices, factors, product, (*used, k), {**found, **own})


def log_of_factor(node: Operand, barriers: Barriers) -> Operand | None:
    """The sum of log L_ii is log(det S)/2, for the Cholesky factor L of S."""
    product = inlined_product(node, barriers)
    for k, operand in enumerate(product.operands):
        matrices = _under_logarithm(operand)
        if matrices is None or not product.is_private({product.subscripts[k][-1]}, {k}):
            continue
        half = scale(S.Half, logdet(matrices))
        *stack, summed = product.subscripts[k]
        return product.replaced({k}, [(half, stack)], absorbed={summed}).build()
    return None


def _under_logarithm(operand: Operand) -> TensorExpr | None:
    """Return S for log(chol(S).diagonal())."""
    if not isinstance(operand, Elementwise) or operand.body != log(slot(0)):
        return None
    (inner,) = operand.operands
    if not isinstance(inner, View) or inner.scalars or not isinstance(inner.core, Cholesky):
        return None
    *stack, row, column = inner.subscripts[-1]
    factor = _factor(inner.core)
    is_diagonal = row == column and inner.output == (*stack, row)
    return factor.matrices if is_diagonal and factor is not None else None


def determinant_of_cholesky(node: Operand, barriers: Barriers) -> Operand | None:
    """det chol(S) is the square root of det S."""
    factor = _factor(node.operands[0])
    return None if factor is None else determinant_as_power(node, factor.matrices, S.Half)
