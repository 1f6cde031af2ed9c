"""Square blocks that are a sparse matrix plus one of low rank, as the Hessian of a log-sum-exp."""

from __future__ import annotations

from typing import NamedTuple

from sympy import Mul

from ..analysis import inlined_product
from ..core import tuning
from ..expressions import Operand, TensorAdd, Zeros, is_tensor, shape_of, total_of
from ..rules import lift_deltas, sparse_terms


class LowRankSum(NamedTuple):
    """A tensor with as many axes of rows as of columns, split into a sparse part and products.

    Attributes
    ==========

    core : the sparse part
    factors : pairs of tensors whose last axes are summed over; before these the first of a pair has
        the axes of rows, the second those of columns
    """

    core: Operand
    factors: list[tuple[Operand, Operand]]


def low_rank_sum(tensor: Operand) -> LowRankSum | None:
    """Split a tensor into a sparse part and products of low rank; None where it isn't such a sum.

    >>> import sympy_einsum as se
    >>> x = se.TensorSymbol("x", 3)
    >>> found = low_rank_sum(se.hessian((x**3).sum() + 2 * x.sum() ** 2, x))
    >>> print(found.core, [own.shape for own in found.factors[0]])
    6*diag(x) [(3,), (3,)]
    """
    half = len(shape_of(tensor)) // 2
    (lifted,) = lift_deltas([tensor])
    if not half or not isinstance(lifted, TensorAdd):
        return None
    _, dense = sparse_terms(lifted)
    factors = [_factors(term, half) for term in dense]
    others = [term for term in lifted.operands if term not in dense]
    if not factors or not others or None in factors:
        return None
    core = total_of(others)
    if isinstance(core, Zeros):
        return None
    return LowRankSum(core, [own for own in factors if own is not None])


def _factors(term: Operand, rows: int) -> tuple[Operand, Operand] | None:
    """Return a product as one of rows and one of columns; None where an operand has axes of both,
    or the rank isn't known to be low."""
    if not is_tensor(term):
        return None
    product = inlined_product(term)
    output = product.output
    above, below = {*output[:rows]}, {*output[rows:]}
    if len({*output}) < len(output):
        return None
    sides: tuple[list[int], list[int]] = ([], [])
    for k, labels in enumerate(product.subscripts):
        if not above.isdisjoint(labels) and not below.isdisjoint(labels):
            return None
        sides[not below.isdisjoint(labels)].append(k)
    summed = [{i for k in side for i in product.subscripts[k]} - {*output} for side in sides]
    shared = sorted(summed[0] & summed[1])
    rank = Mul(*[product.lengths[i] for i in shared])
    if not rank.is_Integer or rank > tuning.MAX_RANK:
        return None
    left = product.part(sides[0], [*output[:rows], *shared], product.scalars)
    return left, product.part(sides[1], [*output[rows:], *shared])
