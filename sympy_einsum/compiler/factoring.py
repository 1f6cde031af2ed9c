"""What all terms of a long sum have in common, taken out of it.

The rules of the normal form do that too, where it pays and where a sum is short enough to be
searched; for the compiler a factor of every term always stays outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Mul, S

from ..core import sort_key
from ..expressions import Einsum, View, contract, is_tensor, scale


def common_factor(terms: Sequence[Any]) -> tuple[Any, list[Any]] | None:
    """A scalar, or a tensor of the terms' axes, that is a factor of all terms, and the terms
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


def _factors(term: Any) -> set[Any]:
    core = term
    found: set[Any] = set()
    if isinstance(term, View):
        found = {factor for scalar in term.scalars for factor in Mul.make_args(scalar)}
        core = term.core if term.core is not None and term.output == term.subscripts[-1] else None
    if type(core) is Einsum:
        pairs = zip(core.operands, core.subscripts, strict=True)
        found |= {operand for operand, labels in pairs if labels == core.output}
    return found - {S.One, S.NegativeOne}


def _divided(term: Any, factor: Any) -> Any:
    if not is_tensor(factor):
        return scale(1 / factor, term)
    core: Any = term.core if isinstance(term, View) else term
    place = core.operands.index(factor)
    while core.subscripts[place] != core.output:
        place = core.operands.index(factor, place + 1)
    rest = contract(
        core.operands[:place] + core.operands[place + 1 :],
        core.subscripts[:place] + core.subscripts[place + 1 :],
        core.output,
        dict(enumerate(core.lengths)),
    )
    if core is term:
        return rest
    axes = term.subscripts[-1]
    scalars = term.operands[:-1]
    subscripts = (*[()] * len(scalars), axes)
    return contract((*scalars, rest), subscripts, term.output, dict(enumerate(term.lengths)))
