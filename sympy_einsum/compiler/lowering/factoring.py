"""Factoring of long sums whose terms all share a factor.

The rules of the normal form do that too, where it pays and where a sum is short enough to be
searched; for the compiler a factor of every term always stays outside.
"""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Mul

from ...core import sort_key
from ...expressions import Einsum, Operand, View, contract, is_tensor, scale


def common_factor(terms: Sequence[Operand]) -> tuple[Operand, list[Operand]] | None:
    """Return a scalar, or a tensor of the terms' axes, that is a factor of all terms, and the terms
    without it; None if there is none.

    >>> import sympy_einsum as se
    >>> x, y, z = se.tensors("x y z", 3)
    >>> common_factor([x * y, y * z])
    (y, [x, z])
    """
    common = _factors(terms[0])
    for term in terms[1:]:
        common &= _factors(term)
        if not common:
            return None
    factor = min(common, key=sort_key)
    return factor, [_divided(term, factor) for term in terms]


def _factors(term: Operand) -> set[Operand]:
    found: set[Operand] = set()
    if isinstance(term, View):
        found = {factor for scalar in term.scalars for factor in Mul.make_args(scalar)}
    product = _product_in(term)
    if product is not None:
        pairs = zip(product.operands, product.subscripts, strict=True)
        found |= {operand for operand, labels in pairs if labels == product.output}
    # Also of the numbers with a point, which no division takes away.
    return {factor for factor in found if not factor.is_Number or abs(factor) not in (1, 1.0)}


def _product_in(term: Operand) -> Einsum | None:
    """Return the product in a term without scalar factors, if it has the term's axes."""
    core = term
    if isinstance(term, View):
        core = term.core if term.core is not None and term.output == term.subscripts[-1] else None
    return core if type(core) is Einsum else None


def _divided(term: Operand, factor: Operand) -> Operand:
    product = _product_in(term) if is_tensor(factor) else None
    if product is None:
        return scale(1 / factor, term)
    pairs = list(zip(product.operands, product.subscripts, strict=True))
    pairs.remove((factor, product.output))
    operands, subscripts = zip(*pairs, strict=True)
    rest = contract(operands, subscripts, product.output, dict(enumerate(product.lengths)))
    if product is term:
        return rest
    axes = term.subscripts[-1]
    subscripts = (*[()] * len(term.scalars), axes)
    return contract((*term.scalars, rest), subscripts, term.output, dict(enumerate(term.lengths)))
