"""Cancellation of a Fourier transform and its inverse."""

from __future__ import annotations

from itertools import permutations

from ..analysis import Barriers, Product, inlined_product
from ..core import same_length
from ..expressions import Delta, Fourier, Operand, are_inverse


def join_dft_bases(node: Operand, barriers: Barriers) -> Operand | None:
    """Σ_ck F[c, i, k] W[c, j, k] = n δ_ij of all frequencies, or of those up to n/2 if one of the
    two is weighted."""
    product = inlined_product(node, barriers)
    places = [k for k, o in enumerate(product.operands) if isinstance(o, Fourier)]
    for one, other in permutations(places, 2):
        joined = _joined(product, one, other)
        if joined is not None:
            return joined.build()
    return None


def _joined(product: Product, one: int, other: int) -> Product | None:
    first, second = product.operands[one], product.operands[other]
    (part, i, frequency), (same, j, k) = product.subscripts[one], product.subscripts[other]
    shared = (part, frequency)
    if (same, k) != shared or i == j or not product.is_private(shared, (one, other)):
        return None
    if not are_inverse(first, second) or not same_length(first.positions, second.positions):
        return None
    new = [(Delta(first.positions), (i, j)), (first.length, ())]
    return product.replaced((one, other), new, shared)
